"""Lemma 10: an n-headed automaton intersected with finite automata is again n-headed.

The joined word is read head by head, but its letters are generated out of order. So a finite automaton is run on all
heads at once: head 1 from its initial state, every other head from a guessed boundary state, and in the end each head
must have arrived at the boundary state guessed for the next one. A guess is made only when a head reads its first
letter that the finite automaton does not ignore; until then the head's run is empty and needs none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, Generic

from pgasrob.automata.acceptor import Acceptor, AcceptorState, Symbol
from pgasrob.automata.automaton import Automaton, Interned, Letter, number_of

Run = tuple[AcceptorState, AcceptorState] | None
"""The run of one head so far: boundary state it began in and state it is in, None for an empty run."""


class Boundaries(Generic[Letter]):
    """The runs of one acceptor on all heads, numbered; 0 is where all runs are empty."""

    def __init__(self, acceptor: Acceptor[Letter], heads: int) -> None:
        self.acceptor = acceptor
        empty: tuple[Run, ...] = (None,) * heads
        self._numbers: dict[tuple[Run, ...], int] = {empty: 0}
        self._runs = [empty]
        self._moves: dict[tuple[int, int, Symbol], list[int]] = {}

    def read(self, number: int, head: int, letter: Letter) -> list[int]:
        """The runs that ``head`` can go on to by reading ``letter``, for every guess; hopeless ones left out."""
        symbol = self.acceptor.read(letter)
        if symbol is None:
            return [number]
        key = (number, head, symbol)
        known = self._moves.get(key)
        if known is None:
            known = self._moves[key] = list(self._extend(self._runs[number], head - 1, symbol))
        return known

    def is_final(self, number: int) -> bool:
        """Whether the runs fit together: each head ends where the next begins, the last in a final state."""
        state = self.acceptor.initial
        for run in self._runs[number]:
            if run is not None:
                start, end = run
                if start != state:
                    return False
                state = end
        return state in self.acceptor.finals

    def _extend(self, runs: tuple[Run, ...], index: int, symbol: Symbol) -> Iterator[int]:
        run = runs[index]
        for start, end in [run] if run is not None else self._guesses(index):
            for target in sorted(self.acceptor.step(end, symbol), key=repr):
                extended = (*runs[:index], (start, target), *runs[index + 1 :])
                if self._is_hopeful(extended):
                    yield number_of(extended, self._numbers, self._runs)

    def _guesses(self, index: int) -> list[tuple[AcceptorState, AcceptorState]]:
        states = [self.acceptor.initial] if index == 0 else sorted(self.acceptor.states, key=repr)
        return [(state, state) for state in states]

    def _is_hopeful(self, runs: tuple[Run, ...]) -> bool:
        """Whether longer runs could still fit together: each head can get to where the next one began."""
        state = self.acceptor.initial
        for run in runs:
            if run is not None:
                start, end = run
                if start not in self.acceptor.reaches[state]:
                    return False
                state = end
        return state in self.acceptor.hopeful


class Intersection(Generic[Letter]):
    """The multiheaded automaton of L(left) with the languages of all ``acceptors`` (finite automata), made on the fly.

    A state is the pair of numbers of a state of ``left`` and of a vector with one `Boundaries` number per acceptor.
    """

    initial = (0, 0)

    def __init__(
        self,
        left: Automaton[Any, tuple[int, Letter]] | Interned[Any, tuple[int, Letter]],
        acceptors: Sequence[Acceptor[Letter]],
        heads: int,
    ) -> None:
        self.left = left if isinstance(left, Interned) else Interned(left)
        self._boundaries = [Boundaries(acceptor, heads) for acceptor in acceptors]
        start = (0,) * len(acceptors)
        self._vectors = [start]
        self._numbers = {start: 0}
        self._moves: dict[tuple[int, int], list[int]] = {}

    def successors(self, state: tuple[int, int]) -> Iterator[tuple[tuple[tuple[int, Letter], ...], tuple[int, int]]]:
        number, vector = state
        for word, target in self.left.edges(number):
            key = (word, vector)
            reached = self._moves.get(key)
            if reached is None:
                reached = self._moves[key] = self._read(self.left.words[word], vector)
            for after in reached:
                yield self.left.words[word], (target, after)

    def is_final(self, state: tuple[int, int]) -> bool:
        number, vector = state
        return self.left.is_final(number) and all(
            boundaries.is_final(runs) for boundaries, runs in zip(self._boundaries, self._vectors[vector], strict=True)
        )

    def _read(self, word: tuple[tuple[int, Letter], ...], vector: int) -> list[int]:
        """The vectors that the acceptors can go on to by reading ``word``."""
        choices = []
        for boundaries, runs in zip(self._boundaries, self._vectors[vector], strict=True):
            current = [runs]
            for head, letter in word:
                current = [after for before in current for after in boundaries.read(before, head, letter)]
            choices.append(current)
        return [number_of(combination, self._numbers, self._vectors) for combination in product(*choices)]
