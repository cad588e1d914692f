"""Y^M(P, N): normal-form computations with guessed entry and exit events (the paper, section 5.3).

The paper leaves the construction to its long version; `proofs/marked-normal-form.md` has ours and its proof. For every
rank of a cycle type, one event is marked `enter` and one `leave`, so that enter <->* b ->*po c <->* leave. Y generates
the commands of a rank in program order and a command in one shot, so it is enough to remember per rank whether its
entry and its exit have been marked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Generic, NamedTuple, TypeVar

from pgasrob.automata.automaton import Interned
from pgasrob.robustness.normal_form import Letter

ENTER, LEAVE = "enter", "leave"

Marks = frozenset[str]
UNMARKED: Marks = frozenset()

# What has been marked at a rank so far.
OUTSIDE, INSIDE, DONE = range(3)

Status = tuple[int, ...]


class Marked(NamedTuple):
    """An event with the marks it carries, a letter of the alphabet E x M."""

    event: Letter
    marks: Marks


S = TypeVar("S")
MarkedWord = tuple[tuple[int, Marked], ...]


class MarkedNormalForm(Generic[S]):
    """Y^M(P, N) for the ranks of a cycle type: each of them gets both marks, no other rank any.

    States are pairs of a state number of the interned Y and a status per rank of the cycle. Only events that access a
    cell and barriers are marked, since the edges that enter and leave a rank are conflicts and barrier identities.
    """

    def __init__(self, normal_form: Interned[S, tuple[int, Letter]], ranks: Sequence[int]) -> None:
        self._normal_form = normal_form
        self._ranks = {rank: index for index, rank in enumerate(ranks)}
        self.initial: tuple[int, Status] = (0, (OUTSIDE,) * len(ranks))
        self._marked: dict[tuple[int, Status], list[tuple[MarkedWord, Status]]] = {}

    def is_final(self, state: tuple[int, Status]) -> bool:
        number, status = state
        return self._normal_form.is_final(number) and all(mark == DONE for mark in status)

    def successors(self, state: tuple[int, Status]) -> Iterator[tuple[MarkedWord, tuple[int, Status]]]:
        number, status = state
        for action, target in self._normal_form.edges(number):
            key = (action, status)
            markings = self._marked.get(key)
            if markings is None:
                markings = self._marked[key] = list(self._markings(self._normal_form.words[action], status))
            for word, after in markings:
                yield word, (target, after)

    def _markings(self, word: tuple[tuple[int, Letter], ...], status: Status) -> Iterator[tuple[MarkedWord, Status]]:
        """Every way to mark the events of ``word``, which is one command, or one barrier of all ranks."""
        choices: list[tuple[dict[int, set[str]], Status]] = [({}, status)]
        for rank, index in self._ranks.items():
            places = [
                place
                for place, (_, letter) in enumerate(word)
                if letter.rank == rank and (letter.cell is not None or letter.kind == "barrier")
            ]
            if places:
                choices = [extended for choice in choices for extended in self._mark(choice, index, places)]
        for marks, after in choices:
            marked = tuple(
                (head, Marked(letter, frozenset(marks.get(place, ())))) for place, (head, letter) in enumerate(word)
            )
            yield marked, after

    def _mark(
        self, choice: tuple[dict[int, set[str]], Status], index: int, places: list[int]
    ) -> Iterator[tuple[dict[int, set[str]], Status]]:
        """``choice`` with none, one or both marks of one rank added to the events at ``places``."""
        marks, status = choice
        before = status[index]
        # A cycle inside one rank needs two commands: an edge from a command to itself is no violation.
        alone = len(self._ranks) == 1

        def with_marks(after: int, *placed: tuple[int, str]) -> tuple[dict[int, set[str]], Status]:
            extended = {place: set(names) for place, names in marks.items()}
            for place, name in placed:
                extended.setdefault(place, set()).add(name)
            return extended, (*status[:index], after, *status[index + 1 :])

        # No mark comes first: among shortest words the one marked latest is found, as in the paper's Example 15.
        yield choice
        if before == OUTSIDE:
            for entry in places:
                if not alone:
                    for exit in places:
                        yield with_marks(DONE, (entry, ENTER), (exit, LEAVE))
                yield with_marks(INSIDE, (entry, ENTER))
        if before == INSIDE:
            for exit in places:
                yield with_marks(DONE, (exit, LEAVE))
