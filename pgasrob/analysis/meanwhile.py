"""Decides which accesses other ranks may make from a state up to the next barrier while one rank issues nothing.

It interprets the other ranks over intervals, one for every register at every control state and one for every cell. The
intervals start from the values of the state, so counters and flags have their values of that moment, and nothing
happens that only the staying rank could write or release. The kernel does the same for its states
(`kernel/src/meanwhile.rs`), command for command, so it must be fast: expressions are exact where their registers are,
else intervals of sums, products and comparisons, and anything at all otherwise.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from functools import cache
from typing import Final, NamedTuple, assert_never

from pgasrob.analysis.intervals import Interval, may_be_related, related_to, wrapped
from pgasrob.analysis.ranges import ranges
from pgasrob.analysis.remembered import remembered
from pgasrob.analysis.touched import Touched
from pgasrob.program import core
from pgasrob.program.control import Transition
from pgasrob.program.core import Access, Cell, Form, Place
from pgasrob.program.expressions import (
    MIRRORED,
    NEGATED,
    Binary,
    Const,
    Expr,
    Fault,
    Register,
    Symbol,
    Unary,
    constant,
    evaluator,
    parts,
    registers_of,
)
from pgasrob.program.instance import Instance
from pgasrob.stop_points import stop_point

MOST_COMMANDS: Final = 2_000
"""Commands that are interpreted before the analysis gives up; the kernel has the same number."""
MOST_CELLS: Final = 256
"""Cells that one access may be to before the analysis gives up."""
ANY: Final[Interval] = (-(1 << 63), (1 << 64) - 1)
"""Whatever fits 64 bits."""
_ZERO: Final[Interval] = (0, 0)

Passes = Callable[[int, Transition], bool]
"""Whether the command of a transition that leaves the control state of a rank may ever be issued by a rank of sigma."""


class Standing(NamedTuple):
    """A state of all ranks: control states, registers and memory."""

    control: Sequence[int]
    registers: Sequence[Sequence[int]]
    memory: Sequence[int]


@remembered
def landmarks(instance: Instance) -> list[int]:
    """The values to which growing intervals are widened, ascending: the program's constants and their neighbours."""
    values = {0, 1}
    for form in instance.forms:
        for _, expr in core.expressions(form):
            for part in parts(expr):
                if (value := constant(part)) is not None:
                    values |= {value - 1, value, value + 1}
    return sorted(values)


def is_left_alone(
    instance: Instance, standing: Standing, staying: int, next: Touched, passes: Passes, awaited: Touched | None = None
) -> bool:
    """Whether no other rank than ``staying`` may make an access that conflicts with ``next`` before its next barrier.

    With ``awaited``: nor reach an await that conflicts with that, or an await_add that conflicts with ``next``, whether
    or not it may succeed.
    """
    try:
        _Fixpoint(instance, standing, staying, next, awaited).run(passes)
    except _Answered:
        return False
    return True


class _Answered(Exception):
    """Raised when there may be such an access, or the analysis takes too long."""


class _Region(NamedTuple):
    """A cell at some ranks and some addresses."""

    ranks: range
    addresses: range


class _Fixpoint:
    def __init__(
        self, instance: Instance, standing: Standing, staying: int, next: Touched, awaited: Touched | None
    ) -> None:
        self.instance, self.standing, self.next, self.awaited = instance, standing, next, awaited
        self.ranks = [rank for rank in range(instance.processes) if rank != staying]
        self.most = ranges(instance).most
        self.files: dict[tuple[int, int], list[Interval]] = {}
        self.cells: dict[Cell, Interval] = {}
        self.commands = 0
        self.changed = True
        # Of the command at work.
        self.rank = -1
        self.file: list[Interval] = []

    def run(self, passes: Passes) -> None:
        while self.changed:
            stop_point()
            self.changed = False
            for rank in self.ranks:
                self.rank = rank
                automaton, here = self.instance.automata[self.rank], self.standing.control[self.rank]
                for transition in automaton.out[here] if here < len(automaton.out) else ():
                    self.file = [(value, value) for value in self.standing.registers[self.rank]]
                    self.follow(transition, passes(self.rank, transition))
                for state, leaving in enumerate(automaton.out):
                    if (self.rank, state) in self.files:
                        for transition in leaving:
                            self.file = list(self.files[self.rank, state])
                            self.follow(transition, True)

    def follow(self, transition: Transition, passes: bool) -> None:
        """Issue a command over the registers in ``file``, and go on if it ``passes``."""
        self.commands += 1
        if self.commands > MOST_COMMANDS:
            raise _Answered
        if self.issue(transition.form) and passes:
            self.arrive(transition.target)

    def arrive(self, state: int) -> None:
        known = self.files.get((self.rank, state))
        if known is None:
            self.files[self.rank, state] = self.file
            self.changed = True
            return
        for index, arriving in enumerate(self.file):
            known[index] = self.grown(known[index], arriving)

    def grown(self, known: Interval, arriving: Interval) -> Interval:
        """An interval that contains both: a bound that moves goes on to the next landmark, so that growing ends."""
        low, high = known
        if low <= arriving[0] and arriving[1] <= high:
            return known
        self.changed = True
        values = landmarks(self.instance)
        if arriving[0] < low:
            place = bisect_right(values, arriving[0])
            low = values[place - 1] if place else ANY[0]
        if arriving[1] > high:
            place = bisect_left(values, arriving[1])
            high = values[place] if place < len(values) else ANY[1]
        return low, high

    def issue(self, form: Form) -> bool:
        """Apply a command to ``file`` and to the cells; whether it may be issued at all."""
        match form:
            case core.Assign(register, expr):
                value = rough(expr, self.file)
                if value is not None:
                    self.file[register] = value
                return value is not None
            case core.Test(condition, blocks):
                return self.test(condition, blocks)
            case core.Immediate():
                return self.immediate(form)
            case core.Transfer():
                return self.transfer(form)
            case core.Wait() | core.Fence() | core.Bundle():
                return True
            case core.Barrier():
                return False
            case _:
                assert_never(form)

    def test(self, condition: Expr, blocks: bool) -> bool:
        holds = rough(condition, self.file)
        if holds is None or (blocks and holds == _ZERO):
            return False
        compared = comparison(condition, self.file) if blocks else None
        if compared is not None:
            relation, (left, in_left), (right, in_right) = compared
            if in_left is not None:
                self.file[in_left] = related_to(relation, left, right)
            if in_right is not None:
                self.file[in_right] = related_to(MIRRORED[relation], right, left)
        return True

    def region(self, place: Place) -> _Region | None:
        """The cells that a place may be; None when it is none."""
        home = self.instance.home[self.rank]
        here = range(home, home + 1)
        found = here if place.rank is None else self.within(place.rank, self.instance.nodes)
        addresses = self.within(place.address, self.instance.size)
        if not found or not addresses:
            return None
        if len(found) * len(addresses) > MOST_CELLS:
            raise _Answered
        return _Region(found, addresses)

    def within(self, expr: Expr, end: int) -> range:
        value = rough(expr, self.file)
        return range(0) if value is None else range(max(value[0], 0), min(value[1], end - 1) + 1)

    def of(self, region: _Region) -> list[Cell]:
        return [rank * self.instance.size + address for rank in region.ranks for address in region.addresses]

    def held(self, region: _Region) -> Interval:
        """What one of the cells may hold."""
        found = [self.cell(cell) for cell in self.of(region)]
        return min(low for low, _ in found), max(high for _, high in found)

    def cell(self, cell: Cell) -> Interval:
        value = self.standing.memory[cell]
        return self.cells.get(cell, (value, value))

    def meet(self, region: _Region, access: Access[Place], next: Touched) -> None:
        if any(next.hits(Access(cell, *access[1:])) for cell in self.of(region)):
            raise _Answered

    def write(self, region: _Region, values: Interval) -> None:
        for cell in self.of(region):
            most = self.most(self.instance.index(cell))
            self.cells[cell] = self.grown(self.cell(cell), (min(values[0], most), min(values[1], most)))

    def immediate(self, form: core.Immediate[Place, Expr]) -> bool:
        region = self.region(form.access.cell)
        if region is None:
            return False
        held = self.held(region)
        if form.condition is not None:
            if self.awaited is not None:
                self.meet(region, form.access, self.awaited if form.update is None else self.next)
            value = rough(form.condition.value, self.file)
            if value is None or not may_be_related(form.condition.relation, held, value):
                return False
            held = related_to(form.condition.relation, held, value)
        updated = None
        if form.update is not None:
            given = self.given(form.update)
            if given is None:
                return False
            most = self.most(region.addresses[0])
            if form.update.operation == "add" and len(region.addresses) == 1 and most < ANY[1]:
                # A counter never exceeds its limit, so it was at least one step below it before.
                before = most - given[0][0]
                held = min(held[0], before), min(held[1], before)
            updated = _updated(form.update, held, *given)
        self.meet(region, form.access, self.next)
        if updated is not None:
            self.write(region, updated)
        if form.register is not None:
            self.file[form.register] = held
        return True

    def transfer(self, form: core.Transfer[Place, Expr]) -> bool:
        given: tuple[Interval, Interval] | None = (_ZERO, _ZERO)
        if form.update is not None:
            given = self.given(form.update)
        if given is None:
            return False
        carried, expected = given
        regions = []
        for access in core.accesses_of(form):
            region = self.region(access.cell)
            if region is None:
                return False
            regions.append(region)
        if form.captured is not None:
            captured = regions.pop(0)
            self.meet(captured, form.captured, self.next)
            carried = self.held(captured)
        for region, step in zip(regions, form.steps, strict=True):
            self.meet(region, step.access, self.next)
            held = self.held(region)
            match step.kind:
                case "popa":
                    carried = held
                case "popd":
                    expected = held
                case "popb" if form.update is not None:
                    updated = _updated(form.update, held, carried, expected)
                    if updated is not None:
                        self.write(region, updated)
                    carried = held
                case "popb" | "popc":
                    self.write(region, carried)
                case _:
                    assert_never(step.kind)
        return True

    def given(self, update: core.Update[Expr]) -> tuple[Interval, Interval] | None:
        """The operand of an update and what it expects, 0 for what it does not have or reads in a step."""
        exprs = update.operand, update.expected
        operand, expected = (_ZERO if expr is None else rough(expr, self.file) for expr in exprs)
        return None if operand is None or expected is None else (operand, expected)


def _updated(update: core.Update[Expr], held: Interval, operand: Interval, expected: Interval) -> Interval | None:
    """The values that an update may write; None: only what the cell held."""
    match update.operation:
        case "fetch":
            return None
        case "set":
            return operand
        case "compare_swap":
            return operand if may_be_related("==", held, expected) else None
        case "add":
            return wrapped(held[0] + operand[0], held[1] + operand[1], update.type)
    return ANY


# Expressions

_Entry = tuple[Interval, int | None]
"""The interval of an expression, and the index of the register that it is, None for all other expressions."""
_Compared = tuple[str, _Entry, _Entry]

_read = cache(registers_of)
_exactly = cache(evaluator)


class _Unknown(Exception):
    """Raised for an operation that the analysis has no rule for."""


def rough(expr: Expr, file: Sequence[Interval]) -> Interval | None:
    """The interval of values of ``expr``; None when it has none."""
    if all(file[index][0] == file[index][1] for index in _read(expr)):
        try:
            value = _exactly(expr)([low for low, _ in file])
        except Fault:
            return None
        return value, value
    try:
        return _entry(expr, file)[0]
    except _Unknown:
        return ANY


def comparison(condition: Expr, file: Sequence[Interval]) -> _Compared | None:
    """The comparison that ``condition`` is, or the negation of one; None when it is something else."""
    try:
        match condition:
            case Unary("!", operand):
                found = comparison(operand, file)
                return None if found is None else (NEGATED[found[0]], found[1], found[2])
            case Binary(symbol, left, right) if symbol in NEGATED:
                return symbol, _entry(left, file), _entry(right, file)
    except _Unknown:
        pass
    return None


def _entry(expr: Expr, file: Sequence[Interval]) -> _Entry:
    match expr:
        case Const(value) | Symbol(_, value):
            return (value, value), None
        case Register(_, index):
            return file[index], index
        case Unary("!", operand):
            (low, high), _ = _entry(operand, file)
            if (low, high) == _ZERO:
                return (1, 1), None
            return ((0, 1) if low <= 0 <= high else _ZERO), None
        case Unary("cast", operand, type):
            return wrapped(*_entry(operand, file)[0], type), None
        case Unary("-", operand, type):
            (low, high), _ = _entry(operand, file)
            return wrapped(-high, -low, type), None
        case Binary("+" | "-" | "*" as symbol, left, right, type):
            return wrapped(*_COMPUTE[symbol](_entry(left, file)[0], _entry(right, file)[0]), type), None
        case Binary(symbol, left, right) if symbol in NEGATED:
            (one, _), (other, _) = _entry(left, file), _entry(right, file)
            yes, no = may_be_related(symbol, one, other), may_be_related(NEGATED[symbol], one, other)
            return (int(yes and not no), int(yes)), None
    raise _Unknown


def _product(one: Interval, other: Interval) -> Interval:
    if min(one[0], other[0]) < ANY[0] or max(one[1], other[1]) > -ANY[0]:
        return ANY  # the kernel has 128 bits
    products = [left * right for left in one for right in other]
    return min(products), max(products)


_COMPUTE: dict[str, Callable[[Interval, Interval], Interval]] = {
    "+": lambda one, other: (one[0] + other[0], one[1] + other[1]),
    "-": lambda one, other: (one[0] - other[1], one[1] - other[0]),
    "*": _product,
}
