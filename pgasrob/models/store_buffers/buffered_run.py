"""Records a run with store buffers, and finds the cycle in its happens-before relation by the definition.

The order of the accesses to a cell is that in memory: a store accesses its cell when it leaves the buffer, and a load
that has taken its value from there comes right after it. So the run, with these accesses as steps of their commands,
has the happens-before relation that `semantics.happens_before` finds for a computation; the summary that the search
keeps is not used.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pgasrob.analysis.store_buffers import StoreBuffers
from pgasrob.models.store_buffers.buffered_space import BufferedSpace, Move, State
from pgasrob.program.instance import Instance
from pgasrob.robustness.verdict import BufferedEvent, BufferedRun
from pgasrob.semantics.accesses import access_of
from pgasrob.semantics.computation import Event, has_steps
from pgasrob.semantics.happens_before import Edge, HappensBefore


class _Store(NamedTuple):
    """A store in a buffer: its event as it is issued, the place of that in the run, and the places of the reads from
    it."""

    event: Event
    place: int
    readers: list[int]


class _Recorder:
    """Records the events of a run in the order in which they happen, and in the order of their effects on memory."""

    def __init__(self, ranks: int) -> None:
        self.events: list[BufferedEvent] = []
        self._in_memory: list[tuple[Event, int]] = []  # with the place in the run that it is shown by
        self._issued = [0] * ranks
        self._pending: list[list[Event]] = [[] for _ in range(ranks)]
        self._buffers: list[list[_Store]] = [[] for _ in range(ranks)]

    def add(self, move: Move, before: State, after: State) -> None:
        """Record ``move``, which leads from one state to the other."""
        letter, how, source = move
        rank, place, cell = letter.rank, len(self.events), letter.cell
        buffer = self._buffers[rank]
        made = access_of(letter)
        read = None if made is None or not made.reads or cell is None else before.x.memory[cell]
        written = None if made is None or not made.writes or cell is None else after.x.memory[cell]
        if how == "drain":
            oldest = buffer.pop(0)
            self.events.append(BufferedEvent(oldest.event, how, written=written, source=oldest.place))
            self._in_memory.append((oldest.event._replace(kind="popb", cell=cell), place))
            self._in_memory += [
                (self.events[reader].event._replace(kind="popa", cell=cell), reader) for reader in oldest.readers
            ]
            return
        if how == "step":
            command = self._pending[rank][letter.which]
            if letter.last:
                del self._pending[rank][letter.which]
            event = command._replace(kind=letter.kind, cell=cell, commutes=letter.commutes)
        else:
            event = Event(letter.kind, rank, self._issued[rank], cell, letter.which, letter.commutes)
            self._issued[rank] += 1
            if has_steps(letter.kind):
                self._pending[rank].append(event)
        reads_from = None
        if how == "buffered":
            written = after.buffers[rank][-1].value
            buffer.append(_Store(event, place, []))
        elif source is not None:
            read, reads_from = before.buffers[rank][source].value, buffer[source].place
            buffer[source].readers.append(place)
        at_once = how != "buffered" and source is None
        self.events.append(BufferedEvent(event, how, read, written, reads_from))
        self._in_memory.append((event if at_once else event._replace(cell=None), place))

    def cycle(self) -> tuple[Edge, ...] | None:
        """A cycle of happens-before, between places in the run."""
        found = HappensBefore(tuple(event for event, _ in self._in_memory)).cycle
        if found is None:
            return None
        places = [place for _, place in self._in_memory]
        edges = (Edge(places[source], places[target], relation) for source, target, relation in found)
        return tuple(edge for edge in edges if edge.source != edge.target)


def written_down(
    instance: Instance, known: StoreBuffers | None, words: Sequence[tuple[Move, ...]]
) -> BufferedRun | None:
    """The run of ``words`` of the machine for ``known``; None where its happens-before relation has no cycle."""
    machine, recorder = BufferedSpace(instance, known), _Recorder(instance.nodes)
    state = machine.initial
    for word in words:
        after = next(target for moves, target in machine.successors(state) if moves == word)
        for move in word:
            recorder.add(move, state, after)
        state = after
    assert machine.is_final(state), "it is a whole run"
    cycle = recorder.cycle()
    return None if cycle is None else BufferedRun(instance, tuple(recorder.events), cycle)
