"""What happens in a trace when some steps are delayed: D, and what must be left out of a run because of it.

D are the steps that have to come after those that are delayed, by the completion rules and the conflicts of the trace.
A command that would be issued after D is left out, with all that comes after it in the trace; what remains is the
greatest usable ideal U of `proofs/traces.md`. Both are found in one pass along what comes after the sources, by the
rules (m1), (m3) and (m4) of `proofs/attack.md`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from pgasrob.analysis.placement import DELAYED, NOW, Placement, fenced, lower_bounds, placed, wait_is_over
from pgasrob.analysis.touched import Touched
from pgasrob.program import core
from pgasrob.program.core import Cell
from pgasrob.program.instance import Instance
from pgasrob.reference.attack import Attack
from pgasrob.semantics.accesses import Access
from pgasrob.semantics.mazurkiewicz_trace import Cells, Clock, Entry, Event, Trace


class Source(NamedTuple):
    """A step: ``place`` among the steps of ``event``, the access that it makes, and the conditions that this turns."""

    event: Event
    step: int
    access: Access
    turned: frozenset[Cell] = frozenset()


class Reached(NamedTuple):
    """An access of a command that comes after the sources' commands, or is one; ``part``: when it is made."""

    event: Event
    access: Access
    part: int


class Left(NamedTuple):
    """What is left out of a run: of each of ``ranks``, the event with the number that stands there, and all that comes
    after it."""

    ranks: Mapping[int, int]

    def has(self, clock: Clock) -> bool:
        """Whether the event with this past is left out."""
        return any(clock[rank] > index for rank, index in self.ranks.items())

    def joined(self, other: Iterable[tuple[int, int]]) -> Left:
        ranks = dict(self.ranks)
        for rank, index in other:
            ranks[rank] = min(index, ranks.get(rank, index))
        return Left(ranks)


class Delaying:
    """One pass: the sources are delayed.

    Attributes: ``left`` (what U has not), ``parts`` (those of the steps of each operation that comes after the sources,
    by its event), ``valid`` (whether the sources are in U).
    """

    def __init__(self, instance: Instance, trace: Trace, cells: Order, sources: Sequence[Source]) -> None:
        self._instance, self._trace, self._order = instance, trace, cells
        self._sources = {source.event.number: source for source in sources}
        self._cuts: dict[int, int] = {}
        self.left = Left(self._cuts)
        self.parts: dict[int, list[int]] = {}
        self._tainted: dict[int, int] = {}
        self._reached: dict[Cell, list[Reached]] = defaultdict(list)
        self._attack = Attack(sources[0].access, 0)
        self._placements: dict[int, list[tuple[int, Placement]]] = defaultdict(list)
        self._waiting = [source.event.number for source in sources]
        heapify(self._waiting)
        self._run()
        self.valid = all(not self.left.has(source.event.clock) for source in sources)

    def tainted(self, rank: int, events: int) -> bool:
        """Whether one of the first ``events`` of ``rank`` comes after the sources' commands, or is one."""
        return self._tainted.get(rank, events) < events

    def placement(self, rank: int, events: int) -> Placement:
        """Where the steps of the first ``events`` of ``rank`` lie."""
        return next((placement for number, placement in reversed(self._placements[rank]) if number <= events), ())

    def attack(self, source: Access, rank: int, events: int, without: Left, cells: Iterable[Cell]) -> Attack:
        """The attack on ``source`` after U but for ``without``, restricted to accesses to ``cells``, and to whether
        ``rank`` is tainted after ``events`` of its events: (T, t, d) of `proofs/attack.md`, section 2."""
        parts = {NOW: Touched(), DELAYED: Touched()}
        for cell in cells:
            for event, access, part in self._reached.get(cell, ()):
                if not self.left.has(event.clock) and not without.has(event.clock):
                    parts[part] = parts[part].adding(access)
        return Attack(source, 1 << rank if self.tainted(rank, events) else 0, parts[NOW], parts[DELAYED])

    def is_done(self, entry: Entry) -> bool:
        """Whether the step of an entry that is in U happens now."""
        parts = self.parts.get(entry.event.number)
        assert entry.place is not None
        return parts is None or parts[entry.place - (core.at_issue(entry.event.operands) is not None)] == NOW

    def _run(self) -> None:
        looked = -1
        while self._waiting:
            number = heappop(self._waiting)
            if number != looked:
                looked = number
                self._look_at(self._trace.events[number])

    def _look_at(self, event: Event) -> None:
        if self.left.has(event.clock):
            return
        if event.is_barrier:
            for rank in event.ranks:
                self._tainted.setdefault(rank, event.clock[rank] - 1)
                self._go_on(rank, event.clock[rank])
            return
        rank, operands, index = event.rank, event.operands, event.index
        attack, placement = self._attack, self.placement(rank, index)
        bound = [made.access for made in event.chain[: len(event.chain) - len(core.steps_of(operands))]]
        if not wait_is_over(placement, operands) or any(map(attack.delayed.hits, bound)):
            self._cuts[rank] = min(index, self._cuts.get(rank, index))
            return
        steps, parts = core.steps_of(operands), list[int]()
        source = self._sources.get(event.number)
        if isinstance(operands, core.Transfer):
            bounds = lower_bounds(self._instance, placement, operands)
            for number, (step, least) in enumerate(zip(steps, bounds, strict=True)):
                here = DELAYED if attack.delayed.hits(step.access) or (source and number == source.step) else NOW
                parts.append(max(least, here, *parts[-1:]))
        places = [*[NOW] * len(bound), *parts]
        chain = [(made.access, places[place]) for place, made in enumerate(event.chain)]
        chain += [(made.access, places[made.by]) for made in event.turned]
        if not (
            source
            or self.tainted(rank, index)
            or any(attack.done.hits(each) or attack.delayed.hits(each) for each, _ in chain)
        ):
            return
        self._tainted.setdefault(rank, index)
        done, delayed = attack.done, attack.delayed
        for access, part in chain:
            self._reached[access.cell].append(Reached(event, access, part))
            done, delayed = (done.adding(access), delayed) if part == NOW else (done, delayed.adding(access))
        self._attack = attack._replace(done=done, delayed=delayed)
        if isinstance(operands, core.Transfer):
            self.parts[event.number] = parts
            after = placed(self._instance, placement, operands, parts)
        else:
            after = fenced(placement, operands)
        if after != placement:
            self._placements[rank].append((index + 1, after))
        self._go_on(rank, index + 1)
        for entry in self._order.next_to(event):
            heappush(self._waiting, entry.event.number)

    def _go_on(self, rank: int, index: int) -> None:
        if index < len(self._trace.of_rank[rank]):
            heappush(self._waiting, self._trace.of_rank[rank][index].number)


class Order:
    """The conflicts of a trace, cell by cell."""

    def __init__(self, trace: Trace) -> None:
        self.cells = Cells()
        self._layer_of = {(entry.event.number, entry.place): self.cells.enter(entry) for entry in trace.entries()}

    def layer_of(self, event: Event, place: int) -> int:
        """The layer of an access among those of its cell."""
        return self._layer_of[event.number, place]

    def next_to(self, event: Event) -> Iterator[Entry]:
        """The accesses directly after those of ``event`` that conflict with them."""
        for place in range(len(event.made)):
            yield from self.after(event, place)

    def after(self, event: Event, place: int) -> Sequence[Entry]:
        """The accesses directly after one of ``event`` that conflict with it."""
        layers = self.cells.layers(event.made[place].access.cell)
        layer = self._layer_of[event.number, place] + 1
        return layers[layer].entries if layer < len(layers) else ()
