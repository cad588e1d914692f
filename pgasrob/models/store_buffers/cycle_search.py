"""The search for a run with store buffers whose happens-before relation has a cycle.

The state of the machine, with the summary of happens-before that the `definition` engine keeps (`semantics.monitor`),
is all that the rest of a run depends on. A store is a pending command from its issue until it is put into memory, which
is its place among the accesses to its cell; a load that has taken its value before that comes after it.
"""

from __future__ import annotations

from collections.abc import Iterator

from pgasrob.analysis.store_buffers import StoreBuffers
from pgasrob.models.store_buffers.buffered_space import BufferedSpace, Move, State
from pgasrob.program.instance import Instance
from pgasrob.robustness.definition import CutSearch, CyclicRuns, drain
from pgasrob.semantics.accesses import access_of
from pgasrob.semantics.computation import has_steps
from pgasrob.semantics.monitor import READ, WRITTEN, Monitor, Reach

SearchState = tuple[State, Reach, bool]
"""A state of the machine, the summary, and whether happens-before has a cycle already."""
Word = tuple[Move, ...]


class _BufferedRuns(CyclicRuns[State, Move]):
    """The machine with the happens-before relation of the run so far, cut where too much is pending or buffered."""

    def _follow(self, monitor: Monitor, state: State, word: Word, target: State) -> None:
        """The pending commands of a rank, in the order of issue, are its operations and the stores in its buffer."""
        letter, how, source = word[0]
        rank = letter.rank
        before = state.before[rank]

        def stored(place: int) -> int:
            return monitor.pending[rank][place + sum(count <= place for count in before)]

        if how == "drain":
            command, over = stored(0), True
        elif how == "step":
            command, over = monitor.pending[rank][letter.which + before[letter.which]], letter.last
        else:
            writer = None if source is None else stored(source)
            command = monitor.issue(*(move.letter.rank for move in word))
            over = how == "issue" and not has_steps(letter.kind)
            if writer is not None:
                monitor.read_unplaced(command, writer)
        if how != "buffered" and source is None and (made := access_of(letter)):
            monitor.access(command, made.cell, made.commutes or (WRITTEN if made.writes else READ))
        if over:
            monitor.finish(command)


class BufferedSearch(CutSearch[SearchState, Move]):
    """The search, breadth-first by events.

    ``found``: the words of a run with a cycle, which ends with nothing pending. ``states``, ``transitions``. When
    ``run`` ends without one, there is none, unless ``gave_up`` says why not all runs were seen.
    """

    def __init__(self, instance: Instance, known: StoreBuffers | None) -> None:
        self._machine = BufferedSpace(instance, known)
        super().__init__(_BufferedRuns(self._machine, instance.nodes))
        self.found: list[Word] | None = None

    def run(self) -> Iterator[None]:
        """Search, yielding after every state, and within one that has very many transitions."""
        for state in self._expanded():
            if self._space.is_final(state):
                self.found = drain(self._machine, self._reached.path(state), state[0])
                return
            yield
