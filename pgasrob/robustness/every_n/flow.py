"""What registers and cells may hold on every number of nodes, in all runs, by names of ranks.

As `analysis.range_analysis`: control automata are followed with an interval for each register, and each address has one
interval, for all times and all ranks, which every write widens. It is about whatever runs in some order and reads what
has been written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import heappop, heappush

from pgasrob.program import core
from pgasrob.program.core import Form, Place
from pgasrob.program.expressions import INT32, constant, parts
from pgasrob.robustness.every_n.known import Known, Ranks
from pgasrob.robustness.every_n.linear import ANYTHING, NODES, Domain, Linear, Value, between, number
from pgasrob.robustness.every_n.memory import Layout
from pgasrob.robustness.every_n.symbolic_values import File, Values
from pgasrob.stop_points import stop_point

EXACT_GROWTHS = 10
"""How often the values of a control state or an address may grow before they are widened."""
MOST_FOLLOWED = 60_000
"""Commands that are followed in all cases together; one is followed again whenever more is known before it."""

NOTHING_KNOWN: Mapping[int, Value] = {}


class TooLong(Exception):
    """More than `MOST_FOLLOWED` commands would have to be followed."""


class Flow(Known):
    """The fixpoint. ``files``: for every name and control state what registers may hold there, None when no such rank
    comes there. ``memory``: by address. ``first``: the registers in the beginning. ``followed``: how many commands have
    been followed, here and before. ``known``: what some slots hold at any time.

    Raises :class:`TooLong`.
    """

    def __init__(
        self,
        ranks: Sequence[Ranks],
        layout: Layout,
        initial: Sequence[int],
        first: File,
        followed: int = 0,
        known: Mapping[int, Value] = NOTHING_KNOWN,
    ) -> None:
        """``initial``: what the slots hold in the beginning."""
        nowhere: list[list[File | None]] = [[None] * len(each.automaton.out) for each in ranks]
        values = [Values(each.name.domain, each.name.me) for each in ranks]
        memory = [known.get(slot, between(value, value)) for slot, value in enumerate(initial)]
        super().__init__(ranks, values, layout, initial, memory, nowhere)
        self.first, self.followed, self._known = first, followed, known
        self._growths: dict[tuple[int, int], int] = {}
        self._steps = _steps(ranks)
        self._readers: list[set[tuple[int, int]]] = [set() for _ in initial]
        self._queue: list[tuple[int, int]] = []  # a heap: what comes first in the text is followed first
        self._queued: set[tuple[int, int]] = set()
        for rank in range(len(ranks)):
            self._arrive(rank, 0, first)
        while self._queue:
            stop_point()
            rank, state = heappop(self._queue)
            self._queued.discard((rank, state))
            for transition in ranks[rank].automaton.out[state]:
                self.followed += 1
                if self.followed > MOST_FOLLOWED:
                    raise TooLong
                after = self._after(rank, state, transition.form)
                if after is not None:
                    self._arrive(rank, transition.target, after)

    def _arrive(self, rank: int, state: int, file: File) -> None:
        known = self.files[rank][state]
        if known is not None:
            joined = self.values[rank].either(known, file)
            if joined is None or joined == known:
                return
            times = self._growths[rank, state] = self._growths.get((rank, state), 0) + 1
            domain = self.ranks[rank].name.domain
            file = tuple(
                old if old == new else self._grown(domain, old, new, times)
                for old, new in zip(known, joined, strict=True)
            )
        self.files[rank][state] = file
        self._enqueue((rank, state))

    def _enqueue(self, place: tuple[int, int]) -> None:
        if place not in self._queued:
            self._queued.add(place)
            heappush(self._queue, place)

    def _grown(self, domain: Domain, old: Value, new: Value, times: int) -> Value:
        """``new``, or a wider interval: an end that has grown many times jumps to the next step, so that the fixpoint
        ends."""
        if times <= EXACT_GROWTHS:
            return new
        if times > EXACT_GROWTHS + 4 * len(self._steps):
            return ANYTHING
        low, high = new
        if low != old[0]:
            low = next((step for step in reversed(self._steps) if domain.always(step, low)), ANYTHING[0])
        if high != old[1]:
            high = next((step for step in self._steps if domain.always(high, step)), ANYTHING[1])
        return low, high

    # Effects

    def _after(self, rank: int, state: int, form: Form) -> File | None:
        """The registers after a command, None if it cannot be issued. What it writes is added to the memory."""
        file = self.files[rank][state]
        assert file is not None, "only what has been reached is followed"
        # Which values are awaited is left to the unfolded automata, which keep them one by one.
        read = None
        if isinstance(form, core.Immediate) and form.register is not None:
            read = self.held(rank, state, form.access.cell)
        after = self.registers_after(rank, file, form, read)
        if after is None:
            return None
        for _, place, value in self.writes(rank, state, form):
            self._write(rank, state, place, value)
        return after

    def held(self, rank: int, state: int, place: Place) -> Value:
        """The values that a command before ``state`` may find in a cell so far; it is followed again when these become
        more."""
        for slot in self.slots(rank, state, place.address):
            self._readers[slot].add((rank, state))
        return super().held(rank, state, place)

    def _write(self, rank: int, state: int, place: Place, value: Value) -> None:
        domain = self.ranks[rank].name.domain
        value = domain.without_rank(value)
        for slot in self.slots(rank, state, place.address):
            if slot in self._known:
                continue
            known = self.memory[slot]
            joined = domain.joined(known, value)
            if joined == known:
                continue
            times = self._growths[-1, slot] = self._growths.get((-1, slot), 0) + 1
            self.memory[slot] = domain.without_rank(self._grown(domain, known, joined, times))
            for reader in self._readers[slot]:
                self._enqueue(reader)


def _steps(ranks: Sequence[Ranks]) -> list[Linear]:
    """The bounds to which intervals are widened, ascending."""
    numbers = {0, 1, *INT32.range}
    for automaton in {id(each.automaton): each.automaton for each in ranks}.values():
        for transition in automaton.transitions:
            for _, expr in core.expressions(transition.form):
                for part in parts(expr):
                    value = constant(part)
                    if value is not None:
                        numbers |= {value - 1, value, value + 1}
    ascending = [number(value) for value in sorted(numbers)]
    about_nodes = [NODES.shifted(by) for by in (-1, 0, 1)]
    return [*ascending[:-1], *about_nodes, ascending[-1]]
