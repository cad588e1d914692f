"""The protocol that every automaton here satisfies, and the generic things one can do with it."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Iterator
from typing import Generic, Protocol, TypeVar

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
        self.words: list[tuple[Letter, ...]] = []

    def __len__(self) -> int:
        """How many states have been met so far."""
        return len(self._states)

    def state(self, number: int) -> State:
        return self._states[number]

    def edges(self, number: int) -> list[tuple[int, int]]:
        """The transitions that leave state ``number`` as pairs (number of the word, number of the target)."""
        known = self._edges.get(number)
        if known is None:
            known = self._edges[number] = [
                (
                    number_of(word, self._word_numbers, self.words),
                    number_of(target, self._numbers, self._states),
                )
                for word, target in self._automaton.successors(self._states[number])
            ]
        return known

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

    def expand(self) -> Iterator[State]:
        """Yield each state when its turn comes, in breadth-first order, and expand it afterwards.

        Stopping the iteration pauses the search; the state yielded last is expanded first when it goes on.
        """
        while self._frontier:
            state = self._frontier[0]
            yield state
            for word, target in self._automaton.successors(state):
                self.transitions += 1
                if target not in self._parents:
                    self._parents[target] = (state, word)
                    self._frontier.append(target)
            self._frontier.popleft()

    def path(self, state: State) -> list[tuple[Letter, ...]]:
        """The words along a shortest path (in transitions) from the initial state to ``state``."""
        words = []
        step = self._parents[state]
        while step is not None:
            state, word = step
            words.append(word)
            step = self._parents[state]
        return words[::-1]
