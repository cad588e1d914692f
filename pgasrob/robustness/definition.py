"""The `definition` engine: every computation of X(P, N), and whether its happens-before relation is cyclic.

X(P, N) is the automaton of all computations (`semantics.state_space`). Walking every one of them would visit the same
situation again and again. Two prefixes with the same state of X(P, N) have the same continuations, and these close a
cycle in the same way when the two agree on which pending commands come before what an edge can still begin at. So the
search keeps the state and that summary (`semantics.monitor`), which is exact and not an approximation
(`proofs/definition-engine.md`; words: `proofs/glossary.md`). It ends whenever the pending operations of the program are
bounded, loops or not.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator
from typing import Generic, Protocol, TypeVar

from pgasrob.automata.automaton import Automaton, Reached
from pgasrob.program import core
from pgasrob.program.core import Cell
from pgasrob.program.instance import Instance
from pgasrob.robustness.engine import InOnePart, Violation, WithoutFacts
from pgasrob.robustness.reasons import PendingBound, Reason
from pgasrob.semantics.accesses import access_of
from pgasrob.semantics.computation import POPS, has_steps
from pgasrob.semantics.monitor import READ, WRITTEN, Monitor, Reach, nothing_yet
from pgasrob.semantics.state_space import Letter, State, StateSpace, computation_of
from pgasrob.semantics.tested_conditions import Access, conditions_of, tested
from pgasrob.stop_points import stop_point

DefinitionState = tuple[State, Reach, bool]
"""A state of X(P, N), what the monitor knows, and whether happens-before has a cycle already."""


MOST_PENDING = 32
"""Pending operations of one rank up to which the search goes on: with unbounded queues it must end somewhere."""

SearchState = TypeVar("SearchState", bound=Hashable)
Label = TypeVar("Label", bound=Hashable)
Label_co = TypeVar("Label_co", bound=Hashable, covariant=True)


class CutSpace(Automaton[SearchState, Label_co], Protocol[SearchState, Label_co]):
    """An automaton of which some states are not expanded. ``cut``: why not, once there was one."""

    cut: Reason | None


TESTING = ("await", "fetch_add", "load", "fetch")
"""Commands that may test a condition."""


class CutSearch(Generic[SearchState, Label]):
    """Breadth-first through a space that may be cut; then ``gave_up`` says why not all of it was seen."""

    gave_up: Reason | None = None

    def __init__(self, space: CutSpace[SearchState, Label]) -> None:
        self._space, self._reached = space, Reached(space)

    @property
    def states(self) -> int:
        return len(self._reached)

    @property
    def transitions(self) -> int:
        return self._reached.transitions

    def _expanded(self) -> Iterator[SearchState]:
        """The states; one with very many transitions comes several times."""
        yield from self._reached.expand()
        self.gave_up = self._space.cut


class CyclicRuns(ABC, Generic[SearchState, Label]):
    """The runs of ``machine`` with the happens-before relation of the run so far; final are the cyclic ones.

    It is cut where a rank has more than MOST_PENDING operations pending.
    """

    cut: Reason | None = None

    def __init__(self, machine: Automaton[SearchState, Label], nodes: int) -> None:
        self._machine = machine
        self.initial: tuple[SearchState, Reach, bool] = (machine.initial, nothing_yet(nodes), False)

    def is_final(self, state: tuple[SearchState, Reach, bool]) -> bool:
        return state[2]

    def successors(
        self, state: tuple[SearchState, Reach, bool]
    ) -> Iterator[tuple[tuple[Label, ...], tuple[SearchState, Reach, bool]]]:
        here, reach, _ = state
        if max(map(len, reach.pending)) > MOST_PENDING:
            self.cut = PendingBound(MOST_PENDING)
            return
        for word, target in self._machine.successors(here):
            monitor = Monitor(reach)
            self._follow(monitor, here, word, target)
            yield word, (target, monitor.reach(), monitor.cyclic)

    @abstractmethod
    def _follow(self, monitor: Monitor, state: SearchState, word: tuple[Label, ...], target: SearchState) -> None:
        """Let ``monitor`` follow ``word``, which happens in ``state`` and leads to ``target``."""


class HappensBeforeSpace(CyclicRuns[State, Letter]):
    """X(P, N) with the happens-before relation of the computation so far."""

    def __init__(self, instance: Instance) -> None:
        super().__init__(StateSpace(instance), instance.processes)
        self._instance, self._conditions = instance, conditions_of(instance)

    def _follow(self, monitor: Monitor, state: State, word: tuple[Letter, ...], target: State) -> None:
        kind, rank, _, which, last, _, _ = word[0]
        if kind in POPS:
            command = monitor.pending[rank][which]
        else:
            command = monitor.issue(*(letter.rank for letter in word))
            last = not has_steps(kind)
        if made := access_of(word[0]):
            tests = self._tests(state, rank, which) if kind in TESTING else ()
            turns = list[Cell]()
            if made.writes and not made.commutes:
                turns = self._conditions.turned(made.cell, state.memory[made.cell], target.memory[made.cell])
            for each in (*(tests or (made,)), *(core.Access(turned, False, True) for turned in turns)):
                monitor.access(command, each.cell, each.commutes or (WRITTEN if each.writes else READ))
        if last:
            monitor.finish(command)

    def _tests(self, state: State, rank: int, occurrence: int) -> tuple[Access, ...]:
        """The accesses of the command of ``rank`` with this occurrence, if it is a test."""
        leaving = self._instance.automata[rank].out[state.control[rank]]
        edge = next(edge for edge in leaving if edge.occurrence == occurrence)
        operands = self._instance.operands(rank, edge, state.registers[rank])
        made = core.at_issue(operands)
        return () if made is None else self._conditions.accesses(tested(operands), made.counts)


class Draining(Protocol[SearchState, Label_co]):
    """A machine that says what is left to happen when no rank issues any more."""

    def is_final(self, state: SearchState) -> bool: ...

    def drains(self, state: SearchState) -> Iterator[tuple[tuple[Label_co, ...], SearchState]]: ...


def drain(
    machine: Draining[SearchState, Label], path: list[tuple[Label, ...]], state: SearchState
) -> list[tuple[Label, ...]]:
    """``path``, which leads to ``state``, continued by what is pending there, so that it is a whole run."""
    words = list(path)
    while not machine.is_final(state):
        stop_point()
        word, state = next(machine.drains(state))
        words.append(word)
    return words


class DefinitionSearch(CutSearch[DefinitionState, Letter], WithoutFacts, InOnePart):
    """The search for a violating computation of an instance, breadth-first by events.

    Attributes: ``violation`` once found; ``states``, ``transitions``. When ``run`` ends without a violation, the
    instance is robust, unless ``gave_up`` says why the search could not see all computations.
    """

    def __init__(self, instance: Instance) -> None:
        super().__init__(HappensBeforeSpace(instance))
        self._instance = instance
        self._most_pending = 0

    @property
    def doing(self) -> str:
        """What the search is at, for a progress display."""
        return f"up to {self._most_pending} operations pending at a rank"

    def run(self) -> Iterator[None]:
        """Search, yielding after every state, and within one that has very many transitions.

        Ends when a violation is found or all computations have been seen.
        """
        for state in self._expanded():
            if self._space.is_final(state):
                words = drain(StateSpace(self._instance), self._reached.path(state), state[0])
                self.violation = Violation(computation_of(words))
                return
            self._most_pending = max(self._most_pending, *map(len, state[1].pending))
            yield
