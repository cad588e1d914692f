"""Lemma 11: a (multiheaded) automaton is empty when no final state is reachable; otherwise there is a word to show."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

from pgasrob.automata.automaton import Automaton, Letter, Reached

State = TypeVar("State", bound=Hashable)


class EmptinessSearch(Generic[State, Letter]):
    """A breadth-first search for a final state that can be run a piece at a time.

    After ``advance`` says True, ``path`` holds the words along a shortest path to a final state; joined with
    :func:`~pgasrob.automata.multiheaded.comp` they are a word of the language. When ``empty`` is True there is none.
    """

    def __init__(self, automaton: Automaton[State, Letter]) -> None:
        self._automaton = automaton
        self._reached = Reached(automaton)
        self.path: list[tuple[Letter, ...]] | None = None

    @property
    def states(self) -> int:
        return len(self._reached)

    @property
    def transitions(self) -> int:
        return self._reached.transitions

    @property
    def empty(self) -> bool:
        return self.path is None and self._reached.complete

    def advance(self, states: int) -> bool:
        """Look at up to ``states`` more states; True when the search is over, whatever its result.

        It returns early in the middle of a state with very many transitions.
        """
        if self.path is not None or self._reached.complete:
            return True
        for state in self._reached.expand():
            if states == 0 or self._reached.midway:
                return False
            states -= 1
            if self._automaton.is_final(state):
                self.path = self._reached.path(state)
                return True
        return True
