"""The transfer functions of the interval analysis: the effect of one command on the ranges of registers and cells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import assert_never

from pgasrob.analysis.intervals import (
    File,
    Interval,
    Value,
    limiting,
    may_be_related,
    narrowing,
    operation,
    related_to,
    value_of,
    value_within,
)
from pgasrob.analysis.regions import Location, Region, Regions
from pgasrob.program import core
from pgasrob.program.core import Form, Place, Role
from pgasrob.program.expressions import MIRRORED, Expr, IntType
from pgasrob.semantics.effect import OPERATOR_OF

Effect = Callable[[File, Location | None], File | None]
"""From the file before a command to the file after it, or None when it cannot be issued; it also writes to the abstract
memory and enters the location as a reader of what it reads. Without a location it leaves the memory alone."""

_LAST_QUEUE = 1 << 64


def legal(role: Role, nodes: int, size: int) -> Interval | None:
    """The values of an operand of this role with which a command does not fault; None: all."""
    match role:
        case Role.RANK:
            return 0, nodes - 1
        case Role.QUEUE:
            return 0, _LAST_QUEUE
        case Role.ADDRESS:
            return 0, size - 1
        case Role.VALUE:
            return None
        case _:
            assert_never(role)


def effect_of(memory: Regions, nodes: int, rank: int, form: Form) -> Effect:
    """The effect of a command of ``rank``."""
    checked = [
        (value_of(expr), value_within(expr, *bound), limiting(expr), bound)
        for role, expr in core.expressions(form)
        if (bound := legal(role, nodes, memory.size)) is not None
    ]
    inner = _inner_effect(memory, rank, form)

    def effect(file: File, location: Location | None) -> File | None:
        # After the command its operands are known to be legal, else it would have faulted.
        named = []
        after = file
        for value, value_if_legal, limit, (low, high) in checked:
            found, is_legal = value(file), value_if_legal(file)
            if found is None or is_legal is None:
                return None
            named.append(is_legal)
            if found[0] < low or high < found[1]:
                limited = limit(after, low, high)
                if limited is None:
                    return None
                after = limited
        return inner(after, named, location)

    return effect


_Named = Sequence[Interval]
"""The intervals of a command's addresses, rank and queue, in the order of `core.expressions`."""
_Inner = Callable[[File, _Named, Location | None], File | None]


def _inner_effect(memory: Regions, rank: int, form: Form) -> _Inner:
    """The effect over a file in which operands are legal."""
    match form:
        case core.Assign(register, assigned):
            value = value_of(assigned)
            return lambda file, named, location: (
                None if (new := value(file)) is None else with_register(file, register, new)
            )
        case core.Test(condition, True):
            narrow = narrowing(condition, True)
            return lambda file, named, location: narrow(file)
        case core.Test(condition):
            claimed = value_of(condition)
            return lambda file, named, location: None if claimed(file) is None else file
        case core.Immediate():
            return _immediate(memory, (rank, rank), form)
        case core.Transfer():
            return _transfer(memory, (rank, rank), form)
        case core.Wait() | core.Fence() | core.Bundle() | core.Barrier():
            return lambda file, named, location: file
        case _:
            assert_never(form)


def _immediate(memory: Regions, here: Interval, form: core.Immediate[Place, Expr]) -> _Inner:
    loaded, names_rank, reads = form.register, form.access.cell.rank is not None, form.access.reads
    condition = None if form.condition is None else _condition(form.condition)
    update = None if form.update is None else _Update(form.update)
    counted = form.update is not None and form.update.operation == "add"

    def effect(file: File, named: _Named, location: Location | None) -> File | None:
        region = memory.region(named[1] if names_rank else here, named[0])
        held = old = _read(region, location) if reads else _ZERO
        after: File | None = file
        if condition is not None:
            after, old = condition(file, held)
        if after is not None and update is not None:
            given = update.given(after)
            if given is None:
                return None
            if counted and region.most is not None:
                # A counter never exceeds its limit, so it was at least one step below it before.
                held = old = min(old[0], region.most - given[0][0]), min(old[1], region.most - given[0][0])
            if location is not None:
                _write(memory, region, update.compute(old, *given))
        return after if after is None or loaded is None else with_register(after, loaded, held)

    return effect


def _condition(condition: core.Comparison[Expr]) -> Callable[[File, Interval], tuple[File | None, Interval]]:
    """The file where the condition holds, None when it cannot, and what the cell, which held these values, holds
    then."""
    relation, value, limit = condition.relation, value_of(condition.value), limiting(condition.value)
    mirrored = MIRRORED[relation]

    def holds(file: File, held: Interval) -> tuple[File | None, Interval]:
        other = value(file)
        if other is None or not may_be_related(relation, held, other):
            return None, held
        return limit(file, *related_to(mirrored, other, held)), related_to(relation, held, other)

    return holds


def _transfer(memory: Regions, here: Interval, form: core.Transfer[Place, Expr]) -> _Inner:
    accesses = core.accesses_of(form)
    observed = core.observed(form)
    first = len(accesses) - len(form.steps)  # of the steps
    update = None if form.update is None else _Update(form.update)

    def effect(file: File, named: _Named, location: Location | None) -> File | None:
        rank = named[len(accesses)]
        given = (_ZERO, _ZERO) if update is None else update.given(file)
        if given is None:
            return None
        carried, expected = given

        def region(place: int) -> Region:
            return memory.region(here if accesses[place].cell.rank is None else rank, named[place])

        if form.captured is not None:
            carried = _read(region(0), location)
        for place, step in enumerate(form.steps, first):
            cells = region(place)
            held = _read(cells, location) if observed[place] else _ZERO
            match step.kind:
                case "popa":
                    carried = held
                case "popd":
                    expected = held
                case "popb" if update is not None:
                    if location is not None:
                        _write(memory, cells, update.compute(held, carried, expected))
                    carried = held
                case "popb" | "popc":
                    if location is not None:
                        memory.write(cells, carried)
                case _:
                    assert_never(step.kind)
        return file

    return effect


class _Update:
    """What an update writes: ``given`` has its operand and what it expects, None when they have no value; ``compute``
    the new values by those of the cell and these, None for what the cell held."""

    def __init__(self, update: core.Update[Expr]) -> None:
        self._operand = _ALWAYS_ZERO if update.operand is None else value_of(update.operand)
        self._expected = _ALWAYS_ZERO if update.expected is None else value_of(update.expected)
        self.compute = updating(update.operation, update.type)

    def given(self, file: File) -> tuple[Interval, Interval] | None:
        operand, expected = self._operand(file), self._expected(file)
        return None if operand is None or expected is None else (operand, expected)


_ZERO = (0, 0)
_ALWAYS_ZERO: Value = lambda file: _ZERO  # noqa: E731
_Updating = Callable[[Interval, Interval, Interval], Interval | None]


def updating(name: str, type: IntType) -> _Updating:
    """What an atomic writes to a cell, by the values of the cell, the operand and what is expected; None: nothing, or
    what the cell held."""
    match name:
        case "set":
            return lambda old, operand, expected: operand
        case "fetch":
            return lambda old, operand, expected: None
        case "compare_swap":
            return lambda old, operand, expected: operand if may_be_related("==", old, expected) else None
        case "min":
            return lambda old, operand, expected: (min(old[0], operand[0]), min(old[1], operand[1]))
        case "max":
            return lambda old, operand, expected: (max(old[0], operand[0]), max(old[1], operand[1]))
        case "min." | "max.":
            return lambda old, operand, expected: operand
    compute = operation(OPERATOR_OF[name])
    return lambda old, operand, expected: compute(old, operand, type)


def _read(region: Region, location: Location | None) -> Interval:
    if location is not None:
        region.readers.add(location)
    return region.values


def _write(memory: Regions, region: Region, values: Interval | None) -> None:
    if values is not None:
        memory.write(region, values)


def with_register(file: File, index: int, values: Interval) -> File:
    """``file`` with other values in a register."""
    return (*file[:index], values, *file[index + 1 :])
