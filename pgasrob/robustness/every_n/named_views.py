"""Where other ranks have been when one is at some state of its unfolded automaton (`proofs/every-n.md`, section 4).

A rank that reads a value that was not there in the beginning comes after a command that may have written it. So the
rank of that command is somewhere after it by then, and what that one knew of others holds as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from operator import or_

from pgasrob.program import core
from pgasrob.program.bits import members
from pgasrob.program.graphs import following
from pgasrob.robustness.every_n.linear import Value, exactly, number
from pgasrob.robustness.every_n.named_commands import Ranks
from pgasrob.robustness.every_n.unfold import Unfolded
from pgasrob.robustness.reduction.abstract_commands import Command, Commands
from pgasrob.robustness.reduction.pairwise import States, Views, Writer
from pgasrob.stop_points import stop_point

ANYWHERE: States = -1


def views_of(unfolded: Unfolded, ranks: Ranks, commands: Commands, initial: Sequence[int]) -> Views:
    """What is known of two ranks of a case whose ``commands`` are those of ``ranks``, with ``unfolded`` automata."""
    return _Search(unfolded, ranks, commands, initial).views()


class _Search:
    def __init__(self, unfolded: Unfolded, ranks: Ranks, commands: Commands, initial: Sequence[int]) -> None:
        self.unfolded, self.ranks, self.commands = unfolded, ranks, commands
        self.initial = [exactly(number(value)) for value in initial]
        self.names = range(len(commands.of))
        self.after = [self._after(rank) for rank in self.names]
        self.barriers = [
            [
                (state, command.target)
                for state, leaving in enumerate(of)
                for command in leaving
                if command.possible and isinstance(command.operands, core.Barrier)
            ]
            for of in commands.of
        ]
        self.written: dict[int, list[tuple[Writer, Value]]] = {}  # by cell
        for writer, cells, value in self._writes():
            for cell in members(cells):
                self.written.setdefault(cell, []).append((writer, value))
        self.writers = {
            id(command): writers
            for rank, state, place, command in self._all()
            if (writers := self._writers(rank, state, place)) is not None
        }
        self.known: list[list[tuple[States, ...] | None]] = [[None] * len(of) for of in commands.of]

    def views(self) -> Views:
        """The least set of facts that is closed under all commands."""
        for rank in self.names:
            self.known[rank][0] = tuple(
                ANYWHERE if other == rank or other in self.commands.many else self.after[other][0]
                for other in self.names
            )
        changed = True
        while changed:
            stop_point()
            changed = False
            for rank, state, _, command in self._all():
                before = self.known[rank][state]
                found = None if before is None else self._issued(rank, state, command, before)
                old = self.known[rank][command.target]
                if found is not None and found != old:
                    new = found if old is None else tuple(map(or_, old, found))
                    changed = changed or new != old
                    self.known[rank][command.target] = new
        possible = {
            id(command): [writer for writer in self.writers[id(command)] if self._may_come_before(writer, rank, state)]
            for rank, state, _, command in self._all()
            if id(command) in self.writers
        }
        return Views(self.known, self.after, possible)

    def _all(self) -> Iterator[tuple[int, int, int, Command]]:
        """All commands that are possible, with their rank, state and place there."""
        for rank, of in enumerate(self.commands.of):
            for state, leaving in enumerate(of):
                for place, command in enumerate(leaving):
                    if command.possible:
                        yield rank, state, place, command

    def _after(self, rank: int) -> list[States]:
        """For each state the states that may follow it, and the state itself."""
        return following([[each.target for each in of if each.possible] for of in self.commands.of[rank]])

    def _writes(self) -> Iterator[tuple[Writer, int, Value]]:
        """All writes that may be made: by which command, to which cells, and which value, with bounds that do not
        depend on the rank."""
        for rank, state, place, command in self._all():
            transition = self.unfolded.ranks[rank].automaton.out[state][place]
            domain = self.unfolded.ranks[rank].name.domain
            for access, cell, value in self.unfolded.writes(rank, state, transition.form):
                writer = Writer(rank, state, command.target, id(command), access)
                yield writer, self.ranks.cells(rank, state, cell)[0], domain.without_rank(value)

    def _writers(self, rank: int, state: int, place: int) -> list[Writer] | None:
        """The commands of which one has been issued before a command: those that may have written the value that it
        reads; None where it may be the initial one."""
        value = self.unfolded.read[rank][state][place]
        form = self.unfolded.ranks[rank].automaton.out[state][place].form
        if value is None or not isinstance(form, core.Immediate):
            return None
        _, cells = self.ranks.cells(rank, state, form.access.cell)
        values = self.unfolded.values[rank]
        slots = {self.ranks.slots[cell % self.ranks.size] for cell in members(cells)}
        from_the_beginning = any(values.may_be("==", value, self.initial[slot]) for slot in slots)
        if from_the_beginning and not self._is_overwritten(rank, state, form.access.cell):
            return None
        found = (each for cell in members(cells) for each in self.written.get(cell, ()))
        return [writer for writer, written in found if values.may_be("==", value, written)]

    def _is_overwritten(self, rank: int, state: int, place: core.Place) -> bool:
        """Whether a rank has surely stored to a cell of its own when it comes to ``state``."""
        slots = self.unfolded.slots(rank, state, place.address)
        if place.rank is not None or rank in self.commands.many or len(slots) != 1:
            return False
        return self.unfolded.settled.is_stored(rank, state, slots[0])

    def _issued(self, rank: int, state: int, command: Command, known: tuple[States, ...]) -> tuple[States, ...] | None:
        """What is known once a command is issued; None when it cannot be."""
        if isinstance(command.operands, core.Barrier):
            return tuple(
                each if other == rank or other in self.commands.many else self._after_barrier(other, each)
                for other, each in enumerate(known)
            )
        writers = self.writers.get(id(command))
        if writers is not None:
            gained = [0] * len(known)
            for writer in writers:
                then = self.known[writer.rank][writer.state]
                if then is not None and self._may_come_before(writer, rank, state):
                    for other in self.names:
                        if other in self.commands.many:
                            gained[other] = ANYWHERE
                        else:
                            gained[other] |= self.after[other][writer.target] if other == writer.rank else then[other]
            known = tuple(
                each if other == rank else each & new
                for other, (each, new) in enumerate(zip(known, gained, strict=True))
            )
        return known if all(known) else None

    def _may_come_before(self, writer: Writer, rank: int, state: int) -> bool:
        """Whether a command may be issued before ``rank`` comes to ``state``."""
        if writer.rank == rank and rank not in self.commands.many:
            return bool(self.after[rank][writer.target] >> state & 1)
        then = self.known[writer.rank][writer.state]
        return then is not None and bool(then[rank] >> state & 1)

    def _after_barrier(self, rank: int, states: States) -> States:
        """Where a rank may be once it has passed the barrier before one of ``states``."""
        passed = (self.after[rank][target] for state, target in self.barriers[rank] if states >> state & 1)
        return reduce(or_, passed, 0)
