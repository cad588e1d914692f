"""The attack search with reductions.

States are normalised before they are stored, so that of many that come to the same thing there is one; persistent sets
say which ranks are expanded at all.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from typing import NamedTuple, Protocol

from pgasrob.analysis.futures import futures
from pgasrob.program.instance import Instance
from pgasrob.reference.attack import AttackSpace, Choosable, Edge, Found, State
from pgasrob.reference.liveness_reduction import has_ended
from pgasrob.reference.normalised import Normaliser, Order
from pgasrob.reference.persistent_sets import Awaited, persistent_sets
from pgasrob.robustness.normal_form import Word
from pgasrob.robustness.reduction import REDUCTIONS


class Predecessor(NamedTuple):
    """How a state was reached: from which, by which events, and how ranks changed places afterwards."""

    before: State | None
    word: Word
    order: Order


class Space(Protocol):
    """What is searched: the moves of each rank, and the barriers, as :class:`~pgasrob.reference.attack.AttackSpace`
    has them."""

    initial: State | Found

    def moves(self, state: State, rank: int) -> Iterator[Edge]: ...
    def barriers(self, state: State) -> Iterator[Edge]: ...


class Exploration:
    """Breadth-first through a space, with some of the reductions; ``awaited``: in search for races, as for
    :func:`~pgasrob.reference.persistent_sets.persistent_sets`."""

    def __init__(
        self, instance: Instance, space: Space, reductions: Collection[str], awaited: Awaited | None = None
    ) -> None:
        self.path: list[Word] | None = None
        self.transitions = 0
        self._instance = instance
        self._space = space
        self._futures = futures(instance)
        self._persistent = "persistent" in reductions
        self._awaited = awaited
        self._normaliser = Normaliser(instance, self._futures, reductions, races=awaited is not None)
        self._same: Order = tuple(range(instance.processes))
        self._reached: dict[State | Found, Predecessor] = {}
        self._frontier: deque[State | Found] = deque()

    @property
    def states(self) -> int:
        return len(self._reached)

    def _begin(self) -> None:
        assert isinstance(self._space.initial, State)
        self._normalise_and_store(None, (), self._space.initial, self._same)

    def _expand(self, state: State) -> None:
        """Follow the moves of a persistent set that leads to something new, or else all of them.

        The moves put off must not be put off for ever, so one that was followed has to be new; and it must be a move
        that they do not depend on. That is no choice of the source, which changes what all of them are
        (`proofs/reductions.md`, section 6).
        """
        ranks = range(self._instance.processes)
        going = [rank for rank in ranks if not has_ended(self._instance, state, rank)]

        @cache
        def moves(rank: int) -> list[Edge]:
            return list(self._space.moves(state, rank))

        followed: dict[int, bool] = {}  # rank -> whether an ordinary move of it has led to something new
        sets = persistent_sets(self._instance, self._futures, state, self._awaited)
        for members in sets if self._persistent else []:
            if any(_is_ordinary(state, target) for rank in members for _, target in moves(rank)):
                for rank in members:
                    if rank not in followed:
                        followed[rank] = self._follow(state, moves(rank), [rank])
                if any(followed[rank] for rank in members):
                    return
        for rank in going:
            if rank not in followed:
                self._follow(state, moves(rank), [rank])
        if len({self._instance.home[rank] for rank in going}) == self._instance.nodes:
            self._follow(state, self._space.barriers(state), going)

    def _follow(self, state: State, edges: Iterable[Edge], moved: Iterable[int]) -> bool:
        """Meet the states that ``edges`` by ``moved`` lead to; says whether an ordinary one led to a new state."""
        fresh = False
        for word, target in edges:
            self.transitions += 1
            if isinstance(target, Found):
                self._store(target, Predecessor(state, word, self._same))
            else:
                fresh |= self._normalise_and_store(state, word, target, moved) and _is_ordinary(state, target)
        return fresh

    def _normalise_and_store(self, before: State | None, word: Word, target: State, moved: Iterable[int]) -> bool:
        """Whether ``target`` is new. What leads nowhere is as good as new: nothing is put off by it."""
        local, state, order = self._normaliser.normalised(target, moved)
        return state is None or self._store(state, Predecessor(before, word + local, order))

    def _store(self, state: State | Found, origin: Predecessor) -> bool:
        if state in self._reached:
            return False
        self._reached[state] = origin
        self._frontier.append(state)
        return True

    def _path(self, state: State | Found) -> tuple[list[Word], list[int]]:
        """The words on the way to ``state``, by the ranks that the program has, and which of them has each place."""
        origins = [self._reached[state]]
        while (before := origins[-1].before) is not None:
            origins.append(self._reached[before])
        words, ranks = [], list(self._same)  # for every place the rank that has it
        for origin in reversed(origins):
            words.append(self._normaliser.renamed(origin.word, ranks))
            ranks = [rank for _, rank in sorted(zip(origin.order, ranks, strict=True))]
        return words, ranks


class ReducedSearch(Exploration):
    """A breadth-first search for the state after e, with some of the reductions.

    It is used like an :class:`~pgasrob.automata.emptiness.EmptinessSearch`: after ``advance`` says True, ``path`` holds
    the words along a path to the state after e, None when there is none. ``has_source``: whether some step may be
    chosen as the source; if none is, what is searched are SC runs alone.
    """

    def __init__(self, instance: Instance, reductions: Collection[str]) -> None:
        unknown = sorted(set(reductions) - set(REDUCTIONS))
        if unknown:
            raise ValueError(f"no such reduction: {', '.join(unknown)} (there are {', '.join(REDUCTIONS)})")
        sources: list[int] | None = None
        if "infeasibility" in reductions:
            from pgasrob.robustness.reduction.infeasibility import choosable, is_settled

            sources = choosable(instance)
        self.has_source = sources is None or any(sources)
        space = AttackSpace(instance, None if sources is None else by_command(instance, sources))
        super().__init__(instance, space, reductions)
        if sources is None or not is_settled(instance, sources):
            self._begin()

    def advance(self, states: int) -> bool:
        """Look at up to ``states`` more states; True when the search is over, one way or the other."""
        while self._frontier and self.path is None:
            if states == 0:
                return False
            states -= 1
            state = self._frontier.popleft()
            if isinstance(state, Found):
                self.path, _ = self._path(state)
            else:
                self._expand(state)
        return True


def _is_ordinary(state: State, target: State | Found) -> bool:
    """Whether a move neither chooses the source nor is e."""
    return isinstance(target, State) and (target.attack is None) == (state.attack is None)


def by_command(instance: Instance, choosable: Iterable[int]) -> Choosable:
    """``choosable``, by transition, as :class:`~pgasrob.reference.attack.AttackSpace` takes it."""
    steps = iter(choosable)
    return {
        (rank, state, transition.occurrence): next(steps)
        for rank, automaton in enumerate(instance.automata)
        for state, leaving in enumerate(automaton.out)
        for transition in leaving
    }
