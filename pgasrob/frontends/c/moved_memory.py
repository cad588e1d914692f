"""The numbers that ranks bring to the memory of one another, as far as each is the only one that comes to a cell.

They are looked for where those are that collectives lay out (:mod:`~pgasrob.frontends.c.moved`). Where every command
that writes a cell writes one number there, the cell holds it from the first of them on."""

from __future__ import annotations

from collections.abc import Sequence

from pgasrob.frontends.c.facts import LARGEST_CELL
from pgasrob.frontends.c.moved import NotLaid
from pgasrob.frontends.c.objects import Objects
from pgasrob.frontends.c.types import CType, Integer
from pgasrob.frontends.c.values import Address, Known, ObjectId
from pgasrob.program import core
from pgasrob.program.commands import Command, Store
from pgasrob.program.expressions import Const, Expr, IntType, Register, constant


class MovedMemory:
    """What one rank knows of such cells, of collectives and in its own memory."""

    def __init__(self, objects: Objects) -> None:
        self.objects = objects
        self.position = objects.position
        self.world = objects.position.world
        self.facts = objects.position.facts

    @property
    def looked_for(self) -> bool:
        """Whether such numbers are looked for."""
        return self.facts.moved.folding > 0 and not self.position.rank.is_symbol

    # Cells of collectives

    def lays(self, cell: Expr, value: Expr) -> None:
        """This rank lays out ``value`` in ``cell``, one of a collective."""
        self.facts.moved.seen = True
        for id, _ in self.world.cells.named_by(cell) if self.looked_for else ():
            if self.facts.moved.lay(self.position.rank.number, id, constant(value)):
                self.facts.changed()

    def laid(self, rank: int, cell: Expr, register: Register) -> Expr:
        """What ``rank`` has laid out in ``cell``, of which ``register`` has been loaded. Raises :class:`NotLaid`."""
        if not self.looked_for:
            return register
        for id, _ in self.world.cells.named_by(cell):
            number = self.facts.moved.laid(rank, id)
            return register if number is None else Const(number)
        raise NotLaid  # the cell is new, and has its place in the next pass

    # Memory of the program

    def holds(self, id: ObjectId, offset: int, number: int) -> bool:
        """Whether the cell of the scalar at ``offset`` holds ``number``, which it has held before."""
        if self.facts.is_steady(id, offset):
            return True
        return self.looked_for and self.facts.moved.only(self.position.rank.number, id, offset) == number

    def number_in(self, cell: Expr) -> int | None:
        """The number in a ``cell`` of this rank's memory, where it is known."""
        match self.world.cells.named_by(cell):
            case [(id, int() as offset)] if self.looked_for:
                return self.number_at(Address(id, offset))
        return None

    def number_at(self, address: Address) -> int | None:
        """The same of the scalar that has its cell at ``address``."""
        id, offset = address.object, address.offset
        assert isinstance(offset, int)
        offset = self.facts.objects[id].covered.get(offset, offset)
        if self.facts.size_at(id, offset) > LARGEST_CELL:
            return None
        value = self.objects.contents(id).load(offset, self._type(id, offset))
        return value.value if isinstance(value, Known) and self.holds(id, offset, value.value) else None

    def held(self, cell: Expr, register: Register) -> Expr:
        """The same, or else ``register``, which has been loaded from there."""
        number = self.number_in(cell)
        return register if number is None else Const(number)

    def note(self, command: Command, form: core.Form) -> None:
        """Note what ``command`` writes, and where."""
        if not self.looked_for or (isinstance(command, Store) and command.ends):
            return
        number = self._written(form)
        for access in core.accesses_of(form):
            if access.writes:
                set_whole = not (isinstance(form, core.Transfer) and access is not form.steps[-1].access)
                self._lay(access.cell, number if set_whole else None)

    def _written(self, form: core.Form) -> int | None:
        """The number that the last write of a command writes, whatever the cell held."""
        match form:
            case (
                core.Immediate(update=core.Update("set", operand))
                | core.Transfer(update=core.Update("set", operand), steps=[_])
            ):
                return None if operand is None else constant(operand)
            case core.Transfer(update=None, captured=core.Access(cell=place)):
                return self.number_in(place.address)
        return None

    def _lay(self, place: core.Place, number: int | None) -> None:
        rank = self.position.rank.number if place.rank is None else constant(place.rank)
        ranks: Sequence[int] = self.world.everyone if rank is None else (rank,)
        for id, offset in self.world.cells.named_by(place.address):
            for owner in ranks if not id.of_api else ():
                if self.facts.moved.lay(owner, (id, offset), None if offset is None else number):
                    self.facts.changed()

    def stored(self, command: Command) -> bool:
        """Keep what a ``command`` stores in this rank's own memory, where that is a number that is known; whether it
        is."""
        match command:
            case Store(address, Const(number), None, ends=False) if self.looked_for:
                return self._put(address, number)
        return False

    def arrived(self, cells: Sequence[Expr]) -> None:
        """Keep what has come to ``cells`` of this rank, each of which has just been written. Raises :class:`NotLaid`
        where nothing has been noted."""
        self.facts.moved.seen = True
        if self.looked_for:
            for cell in cells:
                self._put(cell, self._laid(cell))

    def _laid(self, cell: Expr) -> int | None:
        match self.world.cells.named_by(cell):
            case [(id, int() as offset)]:
                self.facts.moved.laid(self.position.rank.number, (id, offset))
                return self.facts.moved.only(self.position.rank.number, id, offset)
            case []:
                raise NotLaid  # the cell is new, and has its place in the next pass
        return None

    def _put(self, cell: Expr, number: int | None) -> bool:
        """Keep the ``number`` that is in a ``cell`` of this rank now, where it is known; whether it is."""
        match self.world.cells.named_by(cell):
            case [(id, int() as offset)] if number is not None and not id.of_api:
                if self.facts.size_at(id, offset) > LARGEST_CELL:
                    return False
                self.objects.contents(id, write=True).store(offset, Known(number), self._type(id, offset))
                return True
        return False

    def _type(self, id: ObjectId, offset: int) -> CType:
        if self.facts.objects[id].pieces is not None:
            return Integer(IntType(8 * self.facts.size_at(id, offset), True))
        return self.objects.scalar_type(Address(id, offset), self.facts.size_at(id, offset))
