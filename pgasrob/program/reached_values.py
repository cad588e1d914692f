"""What a rank may have at each of its control states in registers and in cells of its own, as far as its own commands
and the values of flags say (`proofs/polling.md`, section 5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from pgasrob.program import core
from pgasrob.program.control import Transition
from pgasrob.program.core import Cell
from pgasrob.program.expressions import Const, Expr, constant, faults_inside
from pgasrob.program.raised_flags import Flag, Flags, addresses
from pgasrob.program.walks import Values, Walks, over

MOST_SITUATIONS = 4_000


class Situation(NamedTuple):
    """The values of some registers and cells of a rank, of each that is known."""

    registers: tuple[tuple[int, int], ...] = ()
    cells: tuple[tuple[Cell, int], ...] = ()

    @property
    def values(self) -> Values:
        return {register: Const(value) for register, value in self.registers}


NOTHING_KNOWN = Situation()


class ReachedValues:
    """The situations of the rank of ``walks``, by control state: of its ``registers``, and ``cells`` of its own."""

    def __init__(self, walks: Walks, flags: Flags, registers: frozenset[int], cells: frozenset[Cell]) -> None:
        number = constant(walks.rank)
        assert number is not None
        self._walks, self._flags, self.rank = walks, flags, number
        self._registers, self._cells = registers, cells

    def flags_at(self, state: int) -> Mapping[Cell, Flag]:
        """The cells that are flags while the rank is at ``state``."""
        return self._flags.of(self.rank, self._flags.phase(self.rank, state))

    @cached_property
    def at(self) -> list[set[Situation]]:
        """For each control state all situations in which the rank may be there."""
        found: list[set[Situation]] = [set() for _ in self._walks.out]
        cells = ((cell, self._flags.initial(cell)) for cell in sorted(self._cells))
        start = self._kept(
            0, dict.fromkeys(self._registers, 0), {cell: each for cell, each in cells if each is not None}
        )
        found[0].add(start)
        stack, left = [(0, start)], MOST_SITUATIONS
        while stack:
            state, here = stack.pop()
            left -= 1
            if left < 0:
                return [{NOTHING_KNOWN}] * len(found)
            for edge in self._walks.out[state]:
                for after in self._after(state, here, edge):
                    if after not in found[edge.target]:
                        found[edge.target].add(after)
                        stack.append((edge.target, after))
        return found

    def _kept(self, state: int, registers: Mapping[int, int], cells: Mapping[Cell, int]) -> Situation:
        live = self._walks.live[state] & self._registers
        kept = sorted((each, value) for each, value in registers.items() if each in live)
        return Situation(tuple(kept), tuple(sorted(cells.items())))

    def _after(self, state: int, here: Situation, edge: Transition) -> Iterator[Situation]:
        """What may be so after ``edge``; nothing where it cannot be taken, or faults."""
        form, values, registers, cells = edge.form, here.values, dict(here.registers), dict(here.cells)
        match form:
            case core.Test(condition, blocks=True) if constant(over(condition, values)) == 0:
                return
            case core.Assign(register, value):
                _set(registers, register, None if faults_inside(value) else constant(over(value, values)))
            case core.Immediate(register=register):
                yield from self._accessed(state, registers, cells, values, edge)
                return
        yield self._kept(edge.target, registers, cells)

    def _accessed(
        self, state: int, registers: dict[int, int], cells: dict[Cell, int], values: Values, edge: Transition
    ) -> Iterator[Situation]:
        """As :meth:`_after`, of an access at the issue."""
        form = edge.form
        assert isinstance(form, core.Immediate)
        cell = cell_of(form, values, self.rank, self._walks.size)
        if cell is None and constant(over(form.access.cell.address, values)) is not None:
            return  # outside of memory
        flag = None if form.update is not None or cell is None else self.flags_at(state).get(cell)
        if form.update is not None and form.access.cell.rank in (None, self._walks.rank):
            written = constant(over(form.update.operand, values)) if _is_store(form) and form.update.operand else None
            of = addresses(over(form.access.cell.address, values))
            for each in self._cells:
                if each == cell:
                    _set(cells, each, written)
                elif cell is None and (of is None or each % self._walks.size in of):
                    cells.pop(each, None)
        if form.register is None:
            yield self._kept(edge.target, registers, cells)
            return
        known = None if cell is None else cells.get(cell)
        for value in (known,) if flag is None else flag.values:
            _set(registers, form.register, value if form.update is None else None)
            yield self._kept(edge.target, registers, cells)


def cell_of(form: core.Form, values: Values, rank: int, size: int) -> Cell | None:
    """The cell that a command of ``rank`` accesses at its issue where registers have ``values``, if that is known."""
    if not isinstance(form, core.Immediate):
        return None
    place = form.access.cell
    index, owner = constant(over(place.address, values)), rank if place.rank is None else constant(place.rank)
    return None if index is None or owner is None or not 0 <= index < size else owner * size + index


def _is_store(form: core.Immediate[core.Place, Expr]) -> bool:
    return form.update is not None and form.update.operation == "set"


def _set(of: dict[int, int], key: int, value: int | None) -> None:
    """Note that ``key`` has ``value``, or that it has some value."""
    if value is None:
        of.pop(key, None)
    else:
        of[key] = value
