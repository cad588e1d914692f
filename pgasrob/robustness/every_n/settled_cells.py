"""Cells to which each rank writes one and the same value, in its own memory, and no other rank does
(`proofs/every-n.md`, section 4).

    mem[mine] <- me; write(mine, p, next, q)

Behind the store the cell holds this value for ever, so a transfer that reads it after its issue brings no other one.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from pgasrob.program import core
from pgasrob.program.core import Place
from pgasrob.program.graphs import reached
from pgasrob.robustness.every_n.known import Known
from pgasrob.robustness.every_n.linear import Value


class SettledCells:
    """The cells that ranks of ``known`` store to in their own memory, and which of these are settled."""

    def __init__(self, known: Known) -> None:
        self._known = known
        self._values: dict[int, dict[int, Value | None]] = {}  # by slots and ranks; None: it is not always the same
        self._without_store = cache(self._states_without_store)
        for rank, ranks in enumerate(known.ranks):
            for state, leaving in enumerate(ranks.automaton.out):
                for each in leaving if known.files[rank][state] is not None else ():
                    if known.possible(rank, state, each):
                        self._note(rank, state, each.form)

    def held(self, rank: int, state: int, place: Place) -> Value | None:
        """What a settled cell of a rank's own holds when a command before ``state`` reads it, at its issue or later;
        None where that is not known."""
        slots = self._known.slots(rank, state, place.address)
        if place.rank is not None or len(slots) != 1 or not self.is_stored(rank, state, slots[0]):
            return None
        of = self._values.get(slots[0], {})
        return None if None in of.values() else of.get(rank)

    def is_stored(self, rank: int, state: int, slot: int) -> bool:
        """Whether a rank has surely stored to a cell of its own when it comes to ``state``; of what grows, it may be to
        another element."""
        return slot < self._known.layout.cells and state not in self._without_store(rank, slot)

    def _note(self, rank: int, state: int, form: core.Form) -> None:
        """Note what a command writes."""
        for access in core.accesses_of(form):
            slots = self._known.slots(rank, state, access.cell.address) if access.writes else ()
            for slot in slots:
                value = self._stored(rank, state, form) if len(slots) == 1 and self._stores(form) else None
                of = self._values.setdefault(slot, {})
                of[rank] = value if of.get(rank, value) == value else None

    def _stored(self, rank: int, state: int, form: core.Form) -> Value | None:
        """What a store writes, if it is always the same of a rank."""
        update = form.update if isinstance(form, core.Immediate) else None
        value = None if update is None or update.operand is None else self._known.operand(rank, state, update.operand)
        return value if value is not None and value[0] == value[1] else None

    @staticmethod
    def _stores(form: core.Form) -> bool:
        """Whether a command does nothing but store to a cell of the rank's own memory."""
        match form:
            case core.Immediate(core.Access(Place(rank=None)), update=core.Update("set")):
                return True
        return False

    def _states_without_store(self, rank: int, slot: int) -> set[int]:
        """The states to which a rank may come without having stored to a cell of its own."""
        known, out = self._known, self._known.ranks[rank].automaton.out

        def before(at: int) -> Iterator[int]:
            for each in out[at] if known.files[rank][at] is not None else ():
                stores = self._stores(each.form) and [slot] == [
                    *known.slots(rank, at, core.accesses_of(each.form)[0].cell.address)
                ]
                if known.possible(rank, at, each) and not stores:
                    yield each.target

        return reached({0}, before)
