"""By which writes other ranks know a rank in whose memory they write (`proofs/every-n.md`, section 4).

In a queue of ranks, as of an MCS lock, each writes its number to another one, and is woken by a write to the rank whose
number was read. So before a rank is woken it has written its number: no other one does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pgasrob.program import core
from pgasrob.program.bits import members
from pgasrob.robustness.every_n.linear import Value, exactly
from pgasrob.robustness.every_n.named_commands import Ranks
from pgasrob.robustness.every_n.taken_numbers import BEGINNING, TakenNumbers, named_by
from pgasrob.robustness.every_n.unfold import Unfolded
from pgasrob.robustness.reduction.abstract_commands import Commands
from pgasrob.robustness.reduction.pairwise import Writer

Written = Mapping[int, Sequence[tuple[Writer, Value]]]
"""All writes, by cells."""


class KnownRanks:
    """What ranks know of the numbers of others."""

    def __init__(self, unfolded: Unfolded, ranks: Ranks, commands: Commands, initial: Sequence[Value]) -> None:
        self._unfolded, self._ranks, self._commands, self._initial = unfolded, ranks, commands, initial
        self._registers = TakenNumbers(unfolded)

    def instead(self, rank: int, writers: Sequence[Writer], written: Written) -> list[Writer] | None:
        """In place of those ``writers`` that access the memory of ``rank`` by a number that they have read its own
        writes of this number; None where that says no more."""
        found: list[Writer] = []
        for writer in writers:
            instead = self._instead_of(rank, writer, written)
            found += [writer] if instead is None else instead
        found = list(dict.fromkeys(found))
        return None if found == list(writers) else found

    def _instead_of(self, rank: int, writer: Writer, written: Written) -> list[Writer] | None:
        """The writes of ``rank`` by which that of ``writer`` knows it; None where it may know it otherwise."""
        by, state = writer.rank, writer.state
        transition = self._unfolded.ranks[by].automaton.out[state][self._place_of(writer)]
        named = named_by(core.accesses_of(transition.form)[writer.access].cell)
        if named is None or not self._registers.fits(by, state, named):
            return None
        register, more = named
        found: list[Writer] = []
        for at, place in self._registers.set_at(by, state, register):
            instead = None if (at, place) == BEGINNING else self._by_read(rank, more, by, (at, place), written)
            if instead is None:
                return None
            found += instead
        return found

    def _place_of(self, writer: Writer) -> int:
        of = self._commands.of[writer.rank][writer.state]
        return next(place for place, command in enumerate(of) if id(command) == writer.command)

    def _by_read(self, rank: int, more: int, by: int, edge: tuple[int, int], written: Written) -> list[Writer] | None:
        """The writes of ``rank`` that a command of another one may have read its number, and so much ``more``, from;
        None where that may come from elsewhere."""
        state, place = edge
        form, read = self._unfolded.ranks[by].automaton.out[state][place].form, self._unfolded.read[by][state][place]
        if not isinstance(form, core.Immediate) or read is None:
            return None
        values, me = self._unfolded.values[rank], self._ranks.names[rank].me.shifted(more)
        if by in self._commands.many:
            read = self._unfolded.values[by].domain.without_rank(read)
        if not values.may_be("==", read, exactly(me)):
            return []
        found: list[Writer] = []
        for cell in members(self._ranks.cells(by, state, form.access.cell)[1]):
            if values.may_be("==", self._initial[self._ranks.slots[cell % self._ranks.size]], exactly(me)):
                return None
            for writer, value in written.get(cell, ()):
                if not values.may_be("==", value, exactly(me)):
                    continue
                if writer.rank == rank:
                    found.append(writer)
                elif not self._writes_own(writer, more):
                    return None
        return found

    def _writes_own(self, writer: Writer, more: int) -> bool:
        """Whether what is written is the number of the rank that writes it, and so much more."""
        rank, state = writer.rank, writer.state
        transition = self._unfolded.ranks[rank].automaton.out[state][self._place_of(writer)]
        own = exactly(self._ranks.names[rank].me.shifted(more))
        found = [
            value for access, _, value in self._unfolded.writes(rank, state, transition.form) if access == writer.access
        ]
        return found == [own]
