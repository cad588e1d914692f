"""The protocol of all automata here, and two ways to explore one: interned for products, and breadth-first."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Iterator
from itertools import islice
from typing import Generic, Protocol, TypeVar

from pgasrob.stop_points import stop_point

PIECE = 1024
"""Transitions of one state that are computed at a time: with choices at a barrier one state has millions."""

State = TypeVar("State", bound=Hashable)
Letter = TypeVar("Letter", bound=Hashable)
Letter_co = TypeVar("Letter_co", bound=Hashable, covariant=True)


class Automaton(Protocol[State, Letter_co]):
    """An automaton whose transitions are labelled with words.

    A transition over the word abc stands for the three transitions over a, b and c with auxiliary states between that
    are not final (the paper's s_aux in Table 2); a transition over () is silent.
    """

    @property
    def initial(self) -> State: ...

    def successors(self, state: State) -> Iterable[tuple[tuple[Letter_co, ...], State]]:
        """The transitions that leave ``state``, always in the same order."""
        ...

    def is_final(self, state: State) -> bool: ...


class Interned(Generic[State, Letter]):
    """An automaton with its states and words numbered and its transitions computed once, for use by many products.

    States are numbers in the order of discovery, ``state(number)`` gives the original back; ``edges`` gives the
    transitions with the number of their word, ``words[number]`` is that word.
    """

    initial = 0

    def __init__(self, automaton: Automaton[State, Letter]) -> None:
        self._automaton = automaton
        self._numbers: dict[State, int] = {automaton.initial: 0}
        self._states: list[State] = [automaton.initial]
        self._word_numbers: dict[tuple[Letter, ...], int] = {}
        self._edges: dict[int, list[tuple[int, int]]] = {}
        self._further: dict[int, Iterator[tuple[tuple[Letter, ...], State]]] = {}  # those not in _edges yet
        self.words: list[tuple[Letter, ...]] = []

    def __len__(self) -> int:
        """How many states have been met so far."""
        return len(self._states)

    def state(self, number: int) -> State:
        return self._states[number]

    def edges(self, number: int) -> Iterable[tuple[int, int]]:
        """The transitions that leave state ``number`` as pairs (number of the word, number of the target)."""
        known = self._edges.get(number)
        if known is None:
            known = self._edges[number] = []
            self._further[number] = iter(self._automaton.successors(self._states[number]))
            self._learn(number)
        return self._piecewise(number) if number in self._further else known

    def _learn(self, number: int) -> None:
        """Compute the next transitions of state ``number``."""
        fresh = [
            (number_of(word, self._word_numbers, self.words), number_of(target, self._numbers, self._states))
            for word, target in islice(self._further[number], PIECE)
        ]
        self._edges[number] += fresh
        if len(fresh) < PIECE:
            del self._further[number]

    def _piecewise(self, number: int) -> Iterator[tuple[int, int]]:
        """All transitions of state ``number``, computed as they are asked for, by whichever product comes first."""
        known, place = self._edges[number], 0
        while place < len(known) or number in self._further:
            if place == len(known):
                self._learn(number)
            else:
                yield known[place]
                place += 1

    def successors(self, number: int) -> Iterator[tuple[tuple[Letter, ...], int]]:
        return ((self.words[word], target) for word, target in self.edges(number))

    def is_final(self, number: int) -> bool:
        return self._automaton.is_final(self._states[number])


Item = TypeVar("Item", bound=Hashable)


def number_of(item: Item, numbers: dict[Item, int], items: list[Item]) -> int:
    """The number of ``item``, a new one when it has not been met before."""
    number = numbers.setdefault(item, len(items))
    if number == len(items):
        items.append(item)
    return number


class Reached(Generic[State, Letter]):
    """The states of an automaton in breadth-first order, with a shortest path to each; can be paused and resumed.

    ``transitions`` counts the transitions seen, ``len`` the states.
    """

    def __init__(self, automaton: Automaton[State, Letter]) -> None:
        self._automaton = automaton
        start = automaton.initial
        self._parents: dict[State, tuple[State, tuple[Letter, ...]] | None] = {start: None}
        self._frontier: deque[State] = deque([start])
        self._leaving: Iterator[tuple[tuple[Letter, ...], State]] | None = None  # what is left of the first state's
        self.transitions = 0

    def __len__(self) -> int:
        return len(self._parents)

    def __iter__(self) -> Iterator[State]:
        """The states met so far, in the order of discovery."""
        return iter(self._parents)

    @property
    def complete(self) -> bool:
        """Whether every reachable state has been expanded."""
        return not self._frontier

    @property
    def midway(self) -> bool:
        """Whether some transitions of the state yielded last have been followed already."""
        return self._leaving is not None

    def expand(self) -> Iterator[State]:
        """Yield each state when its turn comes, in breadth-first order, and expand it afterwards.

        Stopping the iteration pauses the search; the state yielded last is expanded first when it goes on. A state with
        very many transitions is yielded again, ``midway``, after every piece of them, so that its caller can stop.
        """
        while self._frontier:
            stop_point()
            state = self._frontier[0]
            if self._leaving is None:
                yield state
                self._leaving = iter(self._automaton.successors(state))
            while self._follow(state, self._leaving):
                yield state
            self._leaving = None
            self._frontier.popleft()

    def _follow(self, state: State, leaving: Iterator[tuple[tuple[Letter, ...], State]]) -> bool:
        """Follow the next transitions that leave ``state``; whether there may be more."""
        before = self.transitions
        for word, target in islice(leaving, PIECE):
            self.transitions += 1
            if target not in self._parents:
                self._parents[target] = (state, word)
                self._frontier.append(target)
        return self.transitions == before + PIECE

    def path(self, state: State) -> list[tuple[Letter, ...]]:
        """The words along a shortest path (in transitions) from the initial state to ``state``."""
        words = []
        step = self._parents[state]
        while step is not None:
            state, word = step
            words.append(word)
            step = self._parents[state]
        return words[::-1]
