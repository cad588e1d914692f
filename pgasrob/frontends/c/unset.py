"""Which variables in cells a rank has set."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from pgasrob.frontends.c.facts import shortest
from pgasrob.frontends.c.initialised import ALL, PERHAPS
from pgasrob.frontends.c.rank_position import Position
from pgasrob.frontends.c.symbolic import NumberNeeded
from pgasrob.frontends.c.values import Address, ObjectId
from pgasrob.program import core
from pgasrob.program.expressions import Apart
from pgasrob.program.statements import Choose, Do, Goto, If, Labelled, Loop, Skip, Statement, While

Places = set[tuple[ObjectId, int | None]]
Accesses = dict[int, tuple[core.Access[core.Place], ...]]
"""The accesses of commands, by the `id` of the statement that issues them."""


class Unset:
    """Keeps track of which variables in cells a rank has set (`State.initialised`): a cell always
    holds a number, set or not."""

    def __init__(self, position: Position) -> None:
        self.position = position
        self.world = position.world
        self.facts = position.facts

    def is_set(self, address: Address, size: int) -> bool:
        """Whether the scalar of ``size`` bytes at ``address``, which lies in cells, has been set, or may have been.

        Raises :class:`NumberNeeded` where that is not known and the program is made for every number of nodes: on some
        of them the variable is in no cell, and so it is known.
        """
        id = address.object
        known = self.position.state.is_set(id)
        if known is ALL or self.position.whose(address):
            return True
        object = self.facts.objects[id]
        if isinstance(address.offset, int):
            found = known.holds(address.offset, address.offset + size)
        else:
            found = known.holds_at(address.offset, size, object.size)
        if found is False and object.reached:
            found = None
        if found is None and self.position.rank.is_symbol:
            what = f"whether `{shortest(id, object)}` has been set here"
            raise NumberNeeded(f"{what} differs between ranks or numbers of nodes", self.position.span)
        return found is not False

    def initialise(self, address: Address, size: int, undone: bool = False) -> None:
        """The scalar of ``size`` bytes at ``address``, which lies in one's own cells, has been set; or what is put
        there has not been set itself, and it is ``undone``."""
        id, at = address.object, address.offset
        known = self.position.state.is_set(id)
        if known is ALL and not undone:
            return
        if isinstance(at, int):
            new = known.unset(at, at + size) if undone else known.set(at, at + size)
        else:
            new = PERHAPS if undone else known.set_at(at, size, self.facts.objects[id].size)
        if new is not known:
            self.position.state.initialised[id] = new

    def look_for_initialised(self, statements: Iterable[Statement], accesses: Accesses) -> None:
        """Note what ``statements`` set by their ``accesses``."""
        try:
            certainly, perhaps = self._set_by(statements, accesses)
        except Apart:
            cells = (each.cell.address for made in accesses.values() for each in made if each.writes)
            named = (id for cell in cells for id, _ in self.world.cells.named_by_any(cell))
            if all(self.position.state.is_set(id) is ALL for id in named):
                return
            raise
        for id, offset in perhaps:
            known = self.position.state.is_set(id)
            if known is ALL:
                continue
            start, size = (
                (0, self.facts.objects[id].size) if offset is None else (offset, self.facts.size_at(id, offset))
            )
            new = known.set(start, start + size, offset is not None and (id, offset) in certainly)
            if new is not known:
                self.position.state.initialised[id] = new

    def look_for_reached(self, accesses: Iterable[core.Access[core.Place]]) -> None:
        """Note what a command with these ``accesses`` sets in the memory of other ranks."""
        for made in accesses:
            if made.writes and made.cell.rank not in (None, self.position.me):
                for id, _ in self.world.cells.named_by(made.cell.address):
                    self.facts.reach(id)

    def _set_by(self, statements: Iterable[Statement], accesses: Accesses) -> tuple[Places, Places]:
        """The cells of this rank that ``statements`` set in any case, and those that they may set."""
        certainly: Places = set()
        perhaps: Places = set()
        for statement in statements:
            match statement:
                case Do():
                    own = (
                        each
                        for each in accesses[id(statement)]
                        if each.writes and each.cell.rank in (None, self.position.me)
                    )
                    found = {place for each in own for place in self.world.cells.named_by(each.cell.address)}
                    ways = [(found, found)]
                case If(_, then, otherwise):
                    ways = [self._set_by(each.statements if each else (), accesses) for each in (then, otherwise)]
                case Choose(branches):
                    ways = [self._set_by(each.statements, accesses) for each in branches]
                case Loop(body) | While(_, body):
                    ways = [self._set_by(body.statements, accesses), (set(), set())]
                case Labelled(_, inner):
                    ways = [self._set_by((inner,), accesses)]
                case Skip() | Goto():
                    continue
                case _:
                    assert_never(statement)
            certainly |= set.intersection(*(in_any_case for in_any_case, _ in ways))
            perhaps |= set.union(*(possible for _, possible in ways))
        return certainly, perhaps
