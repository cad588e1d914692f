"""Prints the process of one rank: its control automaton as Promela statements, labels and jumps."""

from __future__ import annotations

import re

from pgasrob.export.delay_bits import Bits
from pgasrob.export.promela_statements import Lines, Option, alternative, comment, indented
from pgasrob.export.rules import Rules
from pgasrob.export.tables import Tables
from pgasrob.program import core
from pgasrob.program.commands import show

MOST_NESTED = 8
"""Branches within branches before a label is used."""


class Process:
    """The process of a rank that starts at the control state ``start``.

    After :meth:`lines` it also has ``rules`` with the bits that they named, ``has_barriers``, and ``bytes``, an upper
    bound of the size of its own variables.
    """

    def __init__(self, tables: Tables, rank: int, start: int, moves: bool) -> None:
        self._tables = tables
        self._rank = rank
        self._start = start
        self._moves = moves
        self._out = tables.instance.automata[rank].out
        # After a barrier the rank has to be released first.
        self._after_barriers = {
            edge.target for edge in tables.instance.automata[rank].transitions if isinstance(edge.form, core.Barrier)
        }
        self._bits = Bits()
        self.rules = Rules(tables, rank, self._bits, moves)
        self._options: dict[int, list[Option]] = {}
        self._landing: dict[int, tuple[Lines, int]] = {}
        self._labels: set[int] = set()
        self._pending: list[int] = []
        self._written: set[int] = set()
        self.has_barriers = False
        self.bytes = 0

    def lines(self) -> Lines:
        self._visit()
        while self._bits.settle():
            self._visit()
        body = self._code(self._start, 0)
        while self._pending:
            state = self._pending.pop()
            if state not in self._written:
                body += self._code(state, 0)
        read = frozenset[int]().union(*self._tables.needed[self._rank])
        registers = [register for index, register in enumerate(self._tables.registers[self._rank]) if index in read]
        declared = [register.declaration("") for register in registers if register.is_plain]
        names = [name for name in self._bits.names if name != f"tainted_{self._rank}"]
        declared += [f"bit {name};" for name in names]
        self.bytes = 16 + 4 * len(names) + sum(register.bytes for register in registers)
        return [
            *(register.declaration(f"Local rank_{self._rank}") for register in registers if not register.is_plain),
            f"active proctype rank_{self._rank}() {{",
            *indented(declared),
            *([""] if declared else []),
            *(line if re.match(r"\w+:$", line) else f"  {line}" for line in body),
            "end_of_rank:",
            "  false  /* a process that ended would be one more transition */",
            "}",
            "",
        ]

    # Control

    def _visit(self) -> None:
        """Find the options of every control state that can be reached, and the states that need a label."""
        self.rules.globals.clear()
        self.rules.scratch.clear()
        incoming: dict[int, int] = {}
        seen, stack = {self._start}, [self._start]
        while stack:
            state = stack.pop()
            for edge in self._tables.leaving[self._rank][state]:
                _, target = self._landing[edge] = self._landed(state, edge)
                waits = state in self._after_barriers
                self._options[edge] = list(self.rules.options(state, edge, target, waits))
                if not self._options[edge]:
                    self._bits.drop()
                    continue
                self.has_barriers |= waits
                incoming[target] = incoming.get(target, 0) + 1
                if target not in seen:
                    seen.add(target)
                    stack.append(target)
        self._labels = {state for state, count in incoming.items() if count > 1 or state == self._start}

    def _leaving(self, state: int) -> list[int]:
        """The transitions that leave ``state`` and can be taken."""
        return [edge for edge in self._tables.leaving[self._rank][state] if self._options.get(edge)]

    def _landed(self, state: int, edge: int) -> tuple[Lines, int]:
        """The statements of the arrival at a barrier that belong to a transition, and the state to which it leads."""
        target = self._tables.edges[edge].target
        if isinstance(self._tables.edges[edge].form, core.Barrier):
            arriving: int | None = edge
        else:
            arriving = None if target in self._after_barriers else self._tables.barrier(self._rank, target)
        if arriving is None:
            self._bits.enter(edge, state, target)
            return [], target
        target = self._tables.edges[arriving].target
        self._bits.enter(edge, state, target)
        return self._arrival(arriving), target

    def _arrival(self, edge: int) -> Lines:
        self.has_barriers = True
        self._bits.clear(f"tainted_{self._rank}")  # after it either all ranks are tainted or none
        printed = [f'printf("barrier {self._rank} {edge}\\n");'] if self._moves else []
        number = self._tables.barrier_at(edge)
        return [f"arrived_{self._rank} = {number};  {self._at(edge)}", *printed, "arrive();"]

    def _at(self, edge: int) -> str:
        transition = self._tables.edges[edge]
        return f"/* {transition.span.line}: {comment(show(transition.command))} */"

    def _code(self, state: int, depth: int) -> Lines:
        """The code from ``state`` on, up to a place that is or will be written elsewhere."""
        lines: Lines = []
        while True:
            label = state in self._labels
            if label:
                if state in self._written:
                    return [*lines, f"goto state_{state};"]
                lines.append(f"state_{state}:")
            self._written.add(state)
            edges = self._leaving(state)
            if not edges:
                return [*lines, "goto end_of_rank;"]
            if len(edges) > 1:
                return lines + self._branches(edges, depth)
            statements, state = self._taken(edges[0])
            lines.append(self._at(edges[0]))
            if len(statements) == 1 and not (label and statements[0][0].startswith("d_step")):
                lines += statements[0]
                continue
            lines.append("if")
            for statement in statements:
                lines += alternative(statement)
            lines.append("fi;")

    def _branches(self, edges: list[int], depth: int) -> Lines:
        lines = ["if"]
        for edge in edges:
            statements, target = self._taken(edge)
            inside = len(statements) == 1 and target not in self._labels and depth < MOST_NESTED
            if not inside:
                self._labels.add(target)
                self._pending.append(target)
            for statement in statements:
                lines += [self._at(edge)] if statement is statements[0] else []
                lines += alternative(statement)
                lines += indented(self._code(target, depth + 1), 2) if inside else [f"   goto state_{target};"]
        return [*lines, "fi;"]

    def _taken(self, edge: int) -> tuple[list[Lines], int]:
        """The alternatives of taking a transition, with the commands merged into it, and where it leads."""
        after, target = self._landing[edge]
        options = self._options[edge]
        if not all(option.is_free or option.private for option in options) or after:
            extra = list(after)
            while not after and (follower := self._follower(target)) is not None:
                self._written.add(target)
                extra += [self._at(follower), *self._options[follower][0].body]
                after, target = self._landing[follower]
                extra += after
            return [option.lines(extra) for option in options], target
        return [option.lines([]) for option in options], target

    def _follower(self, state: int) -> int | None:
        """The transition that leaves ``state`` when it is the only one, is always enabled and no other rank can observe
        it."""
        edges = self._leaving(state)
        if state in self._labels or len(edges) != 1:
            return None
        options = self._options[edges[0]]
        return edges[0] if len(options) == 1 and options[0].is_free else None
