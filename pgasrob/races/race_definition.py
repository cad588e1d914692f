"""The definition of a race: every state of X(P, N), every two accesses that are next there.

This is the oracle. It is slow and follows the definition word by word: breadth-first over the reachable states of X
(`semantics.state_space`), each with the commands that its pending operations belong to, which X itself forgets; all
pairs of accesses that are next; compatibility (`races.racing_pairs`). Where the pending operations of a program are not
bounded it has to give up.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

from pgasrob.program import core
from pgasrob.program.instance import Instance
from pgasrob.races.found import FoundRace
from pgasrob.races.racing_pairs import Next, Pairs, Places, next_at_issue, places
from pgasrob.robustness.definition import MOST_PENDING, CutSearch
from pgasrob.robustness.reasons import PendingBound, Reason
from pgasrob.semantics.computation import POPS, has_steps
from pgasrob.semantics.sequential import FoundFault
from pgasrob.semantics.state_space import Letter, Operation, StateSpace, computation_of
from pgasrob.semantics.state_space import State as XState


class State(NamedTuple):
    """A state of X and, per rank, the occurrences of the commands of its pending operations, in their order."""

    x: XState
    commands: tuple[tuple[int, ...], ...]


class CommandSpace:
    """X(P, N) with the commands that are pending. It is cut where a rank has more than MOST_PENDING operations
    pending."""

    cut: Reason | None = None

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self._space = StateSpace(instance)
        self._transitions = [
            {transition.occurrence: transition for transition in automaton.transitions}
            for automaton in instance.automata
        ]
        self.initial = State(self._space.initial, ((),) * instance.processes)

    def is_final(self, state: State) -> bool:
        return True

    def successors(self, state: State) -> Iterator[tuple[tuple[Letter, ...], State]]:
        if max(map(len, state.commands)) > MOST_PENDING:
            self.cut = PendingBound(MOST_PENDING)
            return
        for word, target in self._space.successors(state.x):
            commands = list(state.commands)
            for kind, rank, _, which, last, *_ in word:
                if kind not in POPS and has_steps(kind):
                    commands[rank] = (*commands[rank], which)
                elif kind in POPS and last:
                    commands[rank] = (*commands[rank][:which], *commands[rank][which + 1 :])
            yield word, State(target, tuple(commands))

    def next(self, state: State) -> Iterator[tuple[Next, int | None]]:
        """All accesses that are next, those of pending operations with the place among these of the rank."""
        for rank in range(self.instance.processes):
            for each in next_at_issue(self.instance, rank, state.x.control[rank], state.x.registers[rank]):
                yield each, None
            place = 0
            for position, entry in enumerate(state.x.pending[rank]):
                if isinstance(entry, Operation):
                    if self._space.step(state.x, rank, position) is not None:
                        transition = self._transitions[rank][state.commands[rank][place]]
                        number = len(core.accesses_of(transition.form)) - len(entry.left)
                        yield Next(rank, transition, number, entry.left[0].access, at_issue=False), place
                    place += 1


class DefinitionSearch(CutSearch[State, Letter]):
    """All races of ``instance``, by the definition; a :class:`~pgasrob.races.found.RaceSearch`.

    A fault is nothing to it: a command that cannot be evaluated accesses nothing.
    """

    fault: FoundFault | None = None
    needs_robust = False
    doing = ""

    def __init__(self, instance: Instance, strict: bool = False) -> None:
        self._pairs = Pairs(instance, strict)
        self._commands = CommandSpace(instance)
        super().__init__(self._commands)
        self.races: dict[Places, FoundRace] = {}

    def run(self) -> Iterator[None]:
        """Search, yielding after every state; ends when all have been seen."""
        for state in self._expanded():
            if not self._reached.midway:
                self._look_at(state)
            yield

    def _look_at(self, state: State) -> None:
        for (one, first), (other, second) in combinations(self._commands.next(state), 2):
            if one.at_issue and other.at_issue and one.rank == other.rank:
                continue  # alternatives
            if self._pairs.race(one, other) and places(one, other) not in self.races:
                path = self._reached.path(state)
                operations = (
                    None if first is None else _operations(path, one.rank)[first],
                    None if second is None else _operations(path, other.rank)[second],
                )
                self.races[places(one, other)] = FoundRace((one, other), operations, computation_of(path))


def _operations(path: list[tuple[Letter, ...]], rank: int) -> list[int]:
    """The operations of ``rank`` that are pending at the end of ``path``, in the order of their issue."""
    issued, pending = 0, []
    for letter in (letter for word in path for letter in word if letter.rank == rank):
        if letter.kind not in POPS:
            if has_steps(letter.kind):
                pending.append(issued)
            issued += 1
        elif letter.last:
            del pending[letter.which]
    return pending
