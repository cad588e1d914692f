"""Generates tests for a rule of coreRMA: programs with a pivot of the rule, with the outcomes allowed and forbidden."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations, product
from typing import cast

from pgasrob.models.corerma import CoreRma
from pgasrob.models.generate.conventions import DEFAULT, Conventions
from pgasrob.models.generate.corerma_shapes import NEEDS, UNREAD, all_read, shapes
from pgasrob.models.generate.cycles import Pivot, pivots, values
from pgasrob.models.generate.programs import REGISTERS, Shape, plainest
from pgasrob.models.generate.static_order import RULES, Actions, actions_of
from pgasrob.models.litmus.expected_outcomes import Expectation, LitmusTest
from pgasrob.models.litmus.litmus_printer import printed
from pgasrob.models.litmus.litmus_program import Program
from pgasrob.program.declarations import Source

Registers = tuple[int, ...]
"""The values of all registers, in the order of the text."""


def initial_states(count: int, conventions: Conventions) -> list[tuple[int, ...]]:
    """The initial values of ``count`` locations that ``conventions`` asks for, one tuple for each test."""
    match conventions.initial:
        case "distinct":
            return [tuple(range(count))]
        case "zero":
            return [(0,) * count]
        case "each":
            return list(product((0, 1), repeat=count))


@dataclass(frozen=True)
class GeneratedTest:
    """A program with executions that have an edge of ``rule`` as their pivot; ``pivot``: the first one whose outcome is
    forbidden, if there is such, and else the first.

    ``allowed``: all outcomes of the model. ``forbidden``: those of executions that only a pivot of the rule rules out,
    unless another execution allows them; empty where the rule affects hb but no outcome.
    """

    rule: str
    shape: Shape
    initial: tuple[int, ...]
    pivot: Pivot
    allowed: frozenset[Registers]
    forbidden: frozenset[Registers]

    @property
    def program(self) -> Program:
        return self.shape.litmus(self.initial)

    @property
    def name(self) -> str:
        """The name of its file, without a number."""
        return f"{self.rule}-{len(self.shape.threads)}p-{self.shape.actions}"

    def litmus(self, name: str = "") -> LitmusTest:
        """The test, with a line for each allowed outcome, for each that the pivot forbids (and which is allowed without
        the rule), and one for all others."""
        lines = [self._line(True, registers, "") for registers in sorted(self.allowed)]
        for registers in sorted(self.forbidden):
            lines.append(self._line(False, registers, ""))
        lines.append(Expectation(False, (), (("corerma", ""),)))
        for registers in sorted(self.forbidden):
            lines.append(self._line(True, registers, f"without {self.rule}"))
        return LitmusTest(self.program, tuple(lines), Source(f"{name or self.name}.litmus", ""), name or self.name)

    def _line(self, allowed: bool, registers: Registers, variant: str) -> Expectation:
        named = tuple(zip(REGISTERS, registers, strict=False))
        return Expectation(allowed, named, (("corerma", variant),))

    def text(self, name: str = "") -> str:
        """The `.litmus` file."""
        return f"// coreRMA, rule {self.rule}: {self.pivot_text()}\n{printed(self.litmus(name))}"

    def pivot_text(self) -> str:
        """Describes the pivot: "ew of `put(x^1, y)` before er of `y = x^1` closes a cycle"."""
        actions = actions_of(self.shape).actions
        edges = []
        for edge in self.pivot.edges:
            ends = []
            for number in edge:
                action = actions[number]
                ends.append(f"{action.kind} of `{self._statement(action.thread, action.statement)}`")
            edges.append(" before ".join(ends))
        return f"{' and '.join(edges)} closes a cycle of happens-before"

    def _statement(self, thread: int, number: int) -> str:
        text = printed(self.program).split("::", 1)[1].split(" ||\n")[thread].split(":", 1)[1]
        return text.split(";")[number].strip()


def generate(
    rule: str,
    size: int,
    processes: int = 2,
    conventions: Conventions = DEFAULT,
    note: Callable[[int, int], None] | None = None,
) -> Iterator[GeneratedTest]:
    """All tests for ``rule`` of at most ``size`` actions (initial writes counted), by size, then
    plain ones first. ``note`` is called with the programs looked at and the tests found."""
    if rule not in RULES:
        raise ValueError(f"coreRMA has no rule {rule!r} that orders actions; it has {', '.join(RULES)}")
    looked = found = 0
    for exactly in range(1, size + 1):
        kept: list[tuple[Shape, tuple[int, ...], Actions, Pivot]] = []
        for shape in shapes(exactly, processes, conventions, True, NEEDS.get(rule, ())):
            looked += 1
            if note is not None:
                note(looked, found)
            actions = actions_of(shape, conventions.ir_own, conventions.local_order)
            for initial in initial_states(len(shape.owners), conventions):
                pivot = next(pivots(actions, rule, conventions, initial), None)
                if pivot is not None and not _spare(shape, rule, initial, conventions):
                    kept.append((shape, initial, actions, pivot))
        kept.sort(key=lambda each: (plainest(each[0]), each[1]))
        for _, initial, actions, pivot in kept:
            test = _test(rule, actions, initial, pivot, conventions)
            if test.forbidden or not conventions.observable:
                found += 1
                yield test


def _spare(shape: Shape, rule: str, initial: tuple[int, ...], conventions: Conventions) -> bool:
    """Whether ``conventions`` rejects the test because some statements (flushes) can be left out and it is still a
    test."""
    spare = [
        (process, place)
        for process, thread in enumerate(shape.threads)
        for place, (kind, _) in enumerate(thread)
        if conventions.minimal or (conventions.flushes == "useful" and kind == "flush")
    ]
    for count in range(1, len(spare) + 1):
        for left_out in combinations(spare, count):
            smaller, values = shape.without(frozenset(left_out), initial)
            if all(smaller.threads) and _read(smaller, conventions):
                actions = actions_of(smaller, conventions.ir_own, conventions.local_order)
                if next(pivots(actions, rule, conventions, values), None) is not None:
                    return True
    return False


def _read(shape: Shape, conventions: Conventions) -> bool:
    """Whether the program has the local reads that ``conventions`` asks for."""
    unread = [0] * len(shape.owners)
    for thread in shape.threads:
        for kind, operands in thread:
            for at, change in UNREAD[kind]:
                unread[operands[at]] += change
    return all_read(unread, conventions.reads)


def _test(
    rule: str, actions: Actions, initial: tuple[int, ...], pivot: Pivot, conventions: Conventions
) -> GeneratedTest:
    shape = actions.shape
    program = shape.litmus(initial)
    first = len(program.names) - shape.loads
    # All accesses are atomic, so that no value is undefined.
    allowed = frozenset(cast(Registers, found[first:]) for found in CoreRma().outcomes(program).found)
    by_outcome: dict[Registers, Pivot] = {}
    registers = [number for number, action in enumerate(actions.actions) if action.kind == "r"]
    for each in pivots(actions, rule, conventions, initial):
        read, _ = values(actions, each.source, initial)
        outcome = tuple(value for register in registers if (value := read[register]) is not None)
        if len(outcome) == len(registers):
            by_outcome.setdefault(outcome, each)
    forbidden = frozenset(by_outcome.keys() - allowed)
    if forbidden:
        pivot = by_outcome[min(forbidden)]
    return GeneratedTest(rule, shape, initial, pivot, allowed, forbidden)
