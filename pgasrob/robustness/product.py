"""The `product` engine: the paper's decision procedure (Theorem 16), with two heads unless more are asked for.

For every cycle type, is L(Y^M(P, N)) intersected with L(Z^cyc) empty? The intersection is the multiheaded automaton of
Lemma 10, made on the fly, and its emptiness the search of Lemma 11. The cycle types take turns with growing shares of
the search, so that a violation is found early even when another type is expensive to rule out.

The paper's automaton has four heads, one for each part of its normal form. A shortest violation can be brought into a
normal form with two parts (`proofs/two-parts.md`), which makes the search smaller by an order of magnitude and more.
Both are tested against the definition; four heads are there for those who want the procedure to the letter.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from pgasrob.automata.automaton import Interned
from pgasrob.automata.emptiness import EmptinessSearch
from pgasrob.automata.intersection import Intersection
from pgasrob.automata.multiheaded import comp
from pgasrob.program.instance import Instance
from pgasrob.robustness.cycle_types import CycleType, CycleTypeAutomata, possible_cycle_types
from pgasrob.robustness.engine import PIECE, InOnePart, Violation, WithoutFacts
from pgasrob.robustness.marked_normal_form import Marked, MarkedNormalForm, MarkedWord
from pgasrob.robustness.normal_form import NormalForm, numbered
from pgasrob.stop_points import stop_point

HEADS = 2

Search = EmptinessSearch[tuple[int, int], tuple[int, Marked]]


class ProductSearch(WithoutFacts, InOnePart):
    """The search over all cycle types of an instance.

    Attributes: ``violation`` once found; ``states`` and ``transitions`` of all intersections so far; ``refuted`` the
    number of cycle types searched in vain. When ``run`` ends without a violation, the instance is robust.
    """

    def __init__(self, instance: Instance, heads: int = HEADS) -> None:
        if not 2 <= heads <= 4:
            raise ValueError(f"{heads} heads: the normal forms have 2 to 4 parts")
        self._processes = instance.processes
        self._heads = heads
        self._normal_form = Interned(NormalForm(instance, heads))
        self._marked: dict[frozenset[int], Interned[tuple[int, tuple[int, ...]], tuple[int, Marked]]] = {}
        self._automata = CycleTypeAutomata(instance)
        self._open: list[tuple[CycleType, Search]] = []
        self._closed_states = self._closed_transitions = 0
        self.refuted = 0

    @property
    def states(self) -> int:
        return self._closed_states + sum(search.states for _, search in self._open)

    @property
    def transitions(self) -> int:
        return self._closed_transitions + sum(search.transitions for _, search in self._open)

    @property
    def doing(self) -> str:
        """What the search is at, for a progress display."""
        return f"cycle types: {self.refuted} refuted, {len(self._open)} open; {len(self._normal_form)} states of Y"

    def run(self) -> Iterator[None]:
        """Search, yielding after every piece; ends when a violation is found or every cycle type is refuted."""
        turns: deque[tuple[CycleType, Search, int]] = deque()
        for cycle in possible_cycle_types(self._processes, self._automata.joined):
            if cycle is None:
                yield
                continue
            search = self._search(cycle)
            self._open.append((cycle, search))
            yield from self._turn(cycle, search, 1, turns)
            if self.violation:
                return
        while turns:
            stop_point()
            yield from self._turn(*turns.popleft(), turns)
            if self.violation:
                return

    def _turn(
        self, cycle: CycleType, search: Search, pieces: int, turns: deque[tuple[CycleType, Search, int]]
    ) -> Iterator[None]:
        """Give one cycle type its turn; unless that settles it, it queues for one twice as long."""
        for _ in range(pieces):
            over = search.advance(PIECE)
            yield
            if over:
                break
        else:
            turns.append((cycle, search, 2 * pieces))
            return
        if search.path is not None:
            self.violation = self._violation(cycle, search.path)
            return
        self._open.remove((cycle, search))
        self._closed_states += search.states
        self._closed_transitions += search.transitions
        self.refuted += 1

    def _search(self, cycle: CycleType) -> Search:
        """The emptiness search for one cycle type."""
        acceptors = self._automata.acceptors(cycle)
        ranks = frozenset(cycle)
        if ranks not in self._marked:
            self._marked[ranks] = Interned(MarkedNormalForm(self._normal_form, sorted(ranks)))
        return EmptinessSearch(Intersection(self._marked[ranks], acceptors, self._heads))

    def _violation(self, cycle: CycleType, path: list[MarkedWord]) -> Violation:
        """The normal-form computation along a path, with its parts and marks."""
        marks = [letter.marks for word in path for _, letter in word]
        events = numbered([tuple((head, letter.event) for head, letter in word) for word in path])
        # comp sorts by head and keeps the order within one, so it can carry the marks and heads along.
        joined = comp(
            [(head, (event, mark, head)) for (head, event), mark in zip(events, marks, strict=True)], self._heads
        )
        return Violation(
            tuple(event for event, _, _ in joined),
            tuple(head for _, _, head in joined),
            tuple(mark for _, mark, _ in joined),
            cycle,
        )
