"""Prints each command of a model by the rules of the attack search (`reference.attack`, `analysis.placement`).

A command can be taken as one of sigma, as the source, or as the command that closes the cycle. `proofs/attack.md` has
the rules.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import assert_never

from pgasrob.export.cases import Case
from pgasrob.export.delay_bits import Bit, Bits
from pgasrob.export.promela_expressions import OLD, OLD_WIDE, Scope, updated
from pgasrob.export.promela_statements import Lines, Option, any_of, branch, set_bits
from pgasrob.export.tables import Tables, marked
from pgasrob.program import core
from pgasrob.program.core import Cell
from pgasrob.program.expressions import Binary, Expr, Register, constant, registers_of, rewritten
from pgasrob.semantics.accesses import Access, conflict

STAGES = ("src", "dst", "res")
"""What the bits of a FIFO queue for its stages are called."""


class Rules:
    """The rules for the commands of one rank.

    ``globals``: the bits that all processes see which have been named so far. ``scratch``: the names of the variables
    that hold for a moment what a cell held before.
    """

    def __init__(self, tables: Tables, rank: int, bits: Bits, moves: bool) -> None:
        self.tables = tables
        self._instance = tables.instance
        self.rank = rank
        self._bits = bits
        self.moves = moves
        cases = [
            case for leaving in tables.leaving[rank] for edge in leaving for case in self.tables.cases.get(edge, ())
        ]
        self._queues = sorted({case.queue for case in cases if isinstance(case.form, core.Transfer)})
        self.globals: set[Bit] = set()
        self.scratch: set[str] = set()

    def options(self, state: int, edge: int, target: int, waits: bool) -> Iterator[Option]:
        """The ways of taking a transition from ``state`` to ``target``; ``waits``: only when the rank has been released
        from its last barrier."""
        for case in self.tables.cases.get(edge, ()):
            yield from _Command(self, state, edge, target, case, waits).options()

    # The bits that all processes share

    def me(self) -> list[Bit]:
        """The bit for the taint of this rank."""
        if not self.tables.sources:
            return []
        bit = f"tainted_{self.rank}"
        self._bits.ask(bit)  # barriers set it too
        return [self._named(bit)]

    def taint(self) -> list[Bit]:
        """The same bit to be set, if a later command of the rank asks for it."""
        return [self._named(bit) for bit in self._bits.put(f"tainted_{self.rank}")] if self.tables.sources else []

    def _named(self, bit: Bit) -> Bit:
        self.globals.add(bit)
        return bit

    def mark(self, part: str, access: Access) -> list[Bit]:
        """The bit to set for an access in the part t or d; none when no command asks for it."""
        return [self._noted(part, made) for made in self._marks(part, access.cell) if made == marked(access)]

    def hit(self, part: str, access: Access) -> list[Bit]:
        """The bits of what is in a part that conflicts with an access."""
        return [self._noted(part, made) for made in self._marks(part, access.cell) if conflict(made, access)]

    def _marks(self, part: str, cell: Cell) -> list[Access]:
        return self.tables.marks[part].get(cell, []) if self.tables.sources else []

    def _noted(self, part: str, made: Access) -> Bit:
        way = f"u_{made.commutes.replace(' ', '_')}" if made.commutes else "w" if made.writes else "r"
        return self._named(f"{part}{way}_{self.tables.cell_names[made.cell]}")

    def source(self, access: Access) -> int | None:
        """The number of an access as the source; None when it cannot be."""
        return self.tables.sources.get(marked(access))

    def leaves(self, access: Access) -> list[str]:
        """The conditions under which the source is a step that conflicts with ``access``."""
        sources = self.tables.sources
        found = [sources[made] for made in self.tables.marks["d"].get(access.cell, ()) if conflict(made, access)]
        return [f"source == {number}" for number in sorted(found)]

    # Where steps of the rank lie

    def queue(self, queue: int) -> str:
        return f"q_{self._instance.program.queue_name(queue)}"

    def waited(self, queue: int, local: bool) -> list[Bit]:
        """The bits that keep a wait from being over. In a FIFO queue every operation ends with one of two stages."""
        if local:
            ends = ["loc"]
        elif self._instance.is_unordered(queue):
            ends = ["any"]
        else:
            ends = list(STAGES[1:])
        return self._bits.ask(*(f"{self.queue(queue)}_{end}" for end in ends))

    def bound(self, case: Case, step: core.Step[Cell], everywhere: bool) -> list[Bit]:
        """The bits that put a step of a new operation after what is delayed."""
        queue, found = self.queue(case.queue), list[Bit]()
        if not self._instance.is_unordered(case.queue):
            found.append(f"{queue}_{STAGES[step.stage]}")
        elif step.fenced:
            found.append(f"{queue}_bound_{case.target}")
        if step.after_writes and everywhere:
            found += [f"{self.queue(each)}_to_{case.target}" for each in self._queues]
        elif step.after_writes:
            found.append(f"{queue}_to_{case.target}")
        if step.after_bundle:
            found.append("bundled")
        if step.located:
            found.append(f"at_{self.tables.cell_names[step.access.cell]}")
        return self._bits.ask(*found)

    def placed(self, case: Case, steps: tuple[core.Step[Cell], ...]) -> list[Bit]:
        """The bits to set when ``steps`` are delayed."""
        queue, found = self.queue(case.queue), list[Bit]()
        fifo = not self._instance.is_unordered(case.queue)
        for step in steps:
            found.append(f"{queue}_{STAGES[step.stage] if fifo else 'any'}")
            if step.local:
                found.append(f"{queue}_loc")
            if step.fenced and (not fifo or self._instance.notifies_everywhere):
                found.append(f"{queue}_to_{case.target}")
            if step.located:
                found.append(f"at_{self.tables.cell_names[step.access.cell]}")
            found.append("bundled")
        return self._bits.put(*found) if self.tables.sources else []

    def fence(self, queue: int, target: int | None) -> Lines:
        """The statements of a fence: delayed fenced steps to a rank hold back later ones."""
        if not self._instance.is_unordered(queue):
            return []
        name, lines = self.queue(queue), list[str]()
        for rank in range(self._instance.nodes) if target is None else (target,):
            bound = f"{name}_bound_{rank}"
            if self._bits.is_asked(bound):
                lines += [f"{self._bits.put(bound)[0]} = {bit};" for bit in self._bits.ask(f"{name}_to_{rank}")]
        return lines

    def bundle(self) -> Lines:
        """The statements of a bundle: later signals do not wait for steps delayed before it."""
        return [f"{bit} = 0;" for bit in self._bits.clear("bundled")]


class _Command:
    """One case of a command of a rank before its issue."""

    def __init__(self, rules: Rules, state: int, edge: int, target: int, case: Case, waits: bool) -> None:
        self._rules = rules
        self._tables = rules.tables
        self._rank = rules.rank
        self._edge = edge
        self._needed = self._tables.needed[self._rank][target]
        self._case = case
        self._waits = waits
        self._scope, self._cells = self._tables.with_cells(self._tables.scope(self._rank, state), case.form)
        self._guards = ((f"!arrived_{self._rank}",) if waits else ()) + tuple(map(self._scope.condition, case.guards))

    def options(self) -> Iterator[Option]:
        match self._case.form:
            case core.Immediate() as form:
                yield from self._immediate(form)
            case core.Transfer() as form:
                yield from self._transfer(form)
            case core.Barrier():
                yield Option(self._guards, [])  # its arrival is part of landing
            case core.Test(condition, True):
                value = constant(condition)
                if value is None:
                    yield self._private([], self._scope.condition(condition))
                elif value:
                    yield self._private([])
            case core.Assign(register, value):
                yield self._private(self._into(register, value))
            case core.Wait(_, local):
                yield self._private([], *(f"!{bit}" for bit in self._rules.waited(self._case.queue, local)))
            case core.Fence():
                yield self._private(self._rules.fence(self._case.queue, self._case.target))
            case core.Bundle():
                yield self._private(self._rules.bundle())
            case core.Test():
                yield self._private([])
            case _:
                assert_never(self._case.form)

    def _printed(self, parts: str = "-") -> Lines:
        return [f'printf("move {self._rank} {self._edge} {parts}\\n");'] if self._rules.moves else []

    def _private(self, body: Lines, *guards: str) -> Option:
        """A command that accesses no cell."""
        return Option((*self._guards, *guards), [*body, *self._printed()], private=not self._waits)

    def _closed(self, parts: str, *guards: str) -> Option:
        return Option((*self._guards, *guards), [*self._printed(parts), "assert(false);"], ends=True)

    # Values

    def _into(self, register: int, value: Expr) -> Lines:
        """Set a register, if a later command reads it."""
        if register not in self._needed:
            return []
        return self._scope.assigned(self._tables.registers[self._rank][register], value)

    def _stored(self, cell: Cell, value: Expr) -> Lines:
        """Set a cell, if a later command reads it."""
        return self._scope.assigned(self._tables.stored[cell], value) if cell in self._tables.stored else []

    def _saved(self, cell: Cell) -> tuple[Lines, Scope, Expr]:
        """The statement that saves the value of a cell, and the saved value as an expression with its scope."""
        held = self._tables.stored[cell]
        saved = OLD if held.is_plain else OLD_WIDE
        self._rules.scratch.add(saved.name)
        scope, (expr,) = self._scope.adding(replace(saved, values=held.values))
        return scope.assigned(saved, self._cells[cell]), scope, expr

    # Commands that are one event

    def _immediate(self, form: core.Immediate[Cell, Expr]) -> Iterator[Option]:
        rules, made = self._rules, form.access
        guards = list[str]()
        if form.condition is not None:
            compared = Binary(form.condition.relation, self._cells[made.cell], form.condition.value)
            guards.append(self._scope.condition(compared))
        if form.until is not None:
            passes = self._brought(form, form.until.holds)
            value = constant(passes)
            if value == 0:
                return
            guards += [self._scope.condition(passes)] if value is None else []
        delayed, done, me = rules.hit("d", made), rules.hit("t", made), rules.me()
        # In sigma it would come after what is delayed, so it can only be the command that closes the cycle.
        marks = set_bits([*rules.taint(), *rules.mark("t", made)])
        body = branch([*me, *done], marks, []) + self._changed(form)
        yield Option((*self._guards, *guards, *(f"!{bit}" for bit in delayed)), [*body, *self._printed()])
        closing = rules.leaves(made)
        if delayed and closing:
            yield self._closed("-", *guards, any_of(delayed), any_of(closing), any_of([*me, *done]))

    def _brought(self, form: core.Immediate[Cell, Expr], holds: Expr) -> Expr:
        """The condition that a poll succeeds: ``holds`` is over the registers after the read and does not fault."""

        def after(expr: Expr) -> Expr | None:
            is_set = isinstance(expr, Register) and expr.index == form.register
            return self._cells[form.access.cell] if is_set else None

        return rewritten(holds, after)

    def _changed(self, form: core.Immediate[Cell, Expr]) -> Lines:
        """The changes of a register and a cell at the issue of a command."""
        cell, update, register = form.access.cell, form.update, form.register
        change: Lines = []
        operands: tuple[Expr, ...] = ()
        if update is not None and cell in self._tables.stored:
            assert update.operand is not None, "what is updated at the issue has its operand then"
            change = self._stored(cell, updated(update, self._cells[cell], update.operand, update.expected))
            operands = (update.operand, *(() if update.expected is None else (update.expected,)))
        if register is None or register not in self._needed:
            return change
        if change and any(register in registers_of(expr) for expr in operands):
            # The register is an operand of the update too, so it must change last.
            first, scope, old = self._saved(cell)
            return [*first, *change, *scope.assigned(self._tables.registers[self._rank][register], old)]
        return self._into(register, self._cells[cell]) + change

    # Commands with steps

    def _transfer(self, form: core.Transfer[Cell, Expr]) -> Iterator[Option]:
        """The ways of a transfer: in sigma, as the source, or as the command that closes the cycle."""
        rules, steps = self._rules, form.steps
        captured = [] if form.captured is None else [form.captured]
        chain = [*captured, *(step.access for step in steps)]
        bounds = [rules.bound(self._case, step, form.everywhere) for step in steps]
        me = rules.me()
        entered = [*me, *(bit for made in chain for bit in rules.hit("t", made))]

        def marked(now: int) -> list[Bit]:
            """The bits of what happens after the source's command, when ``now`` of the steps happen now."""
            here = len(captured) + now
            return [
                *rules.taint(),
                *(bit for made in chain[:here] for bit in rules.mark("t", made)),
                *(bit for made in chain[here:] for bit in rules.mark("d", made)),
            ]

        def parts(now: int) -> str:
            return "1" * now + "2" * (len(steps) - now)

        def delayed(now: int) -> Lines:
            bits = set_bits([*marked(now), *rules.placed(self._case, steps[now:])])
            return [*bits, *self._happened(form, now), *self._printed(parts(now))]

        body = branch(entered, set_bits(marked(len(steps))), [])
        body += [*self._happened(form, len(steps)), *self._printed(parts(len(steps)))]
        for place in reversed(range(len(steps))):
            body = branch([*bounds[place], *rules.hit("d", steps[place].access)], delayed(place), body)
        # In sigma an issue that conflicts with what is delayed would come after it.
        free = [f"!{bit}" for made in captured for bit in rules.hit("d", made)]
        yield Option((*self._guards, *free), body)

        for place, step in enumerate(steps):
            free += [f"!{bit}" for bit in (*bounds[place], *rules.hit("d", step.access))]
            number = rules.source(step.access)
            if number is not None:
                yield Option((*self._guards, "source == 0"), [f"source = {number};", *delayed(place)])
                if self._tables.waited_for.has(step.access):
                    # e may wait for a value that this update would change (`proofs/attack.md`, section 5).
                    yield Option((*self._guards, *dict.fromkeys(free), f"source == {number}"), delayed(place))

        # It closes the cycle by one of its accesses; the steps after that come last of all.
        for place, made in enumerate(chain):
            now = max(0, place + 1 - len(captured))
            closing = rules.leaves(made)
            entering = [*entered, *(bit for step in steps[now:] for bit in rules.hit("d", step.access))]
            if closing and entering:
                before = dict.fromkeys(f"!{bit}" for each in bounds[:now] for bit in each)
                yield self._closed(parts(now), *before, any_of(closing), any_of(entering))

    def _happened(self, form: core.Transfer[Cell, Expr], count: int) -> Lines:
        """The statements for the effect of the first ``count`` steps on memory."""
        update, scope, lines = form.update, self._scope, list[str]()
        value = None if update is None else update.operand
        expected = None if update is None else update.expected
        if form.captured is not None:
            value = self._cells.get(form.captured.cell)
        for place, step in enumerate(form.steps[:count]):
            cell = step.access.cell
            match step.kind:
                case "popa":
                    value = self._cells.get(cell)
                case "popd":
                    expected = self._cells.get(cell)
                case "popb" if update is not None and cell in self._tables.stored:
                    assert value is not None, "a relevant cell is computed from relevant values"
                    old = self._cells[cell]
                    change = self._stored(cell, updated(update, old, value, expected))
                    later_cells = (later.access.cell for later in form.steps[place + 1 : count])
                    if change and any(each in self._tables.stored for each in later_cells):
                        first, scope, old = self._saved(cell)
                        lines += first
                    lines += change
                    value = old
                case "popb" if update is not None:
                    value = self._cells.get(cell)
                case "popb" | "popc":
                    if cell in self._tables.stored:
                        assert value is not None, "a relevant cell is computed from relevant values"
                        lines += scope.assigned(self._tables.stored[cell], value)
                case _:
                    assert_never(step.kind)
        return lines
