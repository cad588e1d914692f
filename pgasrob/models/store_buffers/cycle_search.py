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
from pgasrob.robustness.definition import CutSearch
from pgasrob.robustness.reasons import PendingBound, Reason
from pgasrob.semantics.accesses import access_of
from pgasrob.semantics.computation import has_steps
from pgasrob.semantics.monitor import READ, WRITTEN, Monitor, Reach, nothing_yet
from pgasrob.stop_points import stop_point

SearchState = tuple[State, Reach, bool]
"""A state of the machine, the summary, and whether happens-before has a cycle already."""
Word = tuple[Move, ...]
MOST_PENDING = 32
"""Pending operations and stores in the buffer of one rank up to which the search goes on."""


class CyclicRuns:
    """The machine with the happens-before relation of the run so far; final are the cyclic runs.

    It is cut where too much is pending.
    """

    cut: Reason | None = None

    def __init__(self, instance: Instance, known: StoreBuffers | None) -> None:
        self.machine = BufferedSpace(instance, known)
        self.initial: SearchState = (self.machine.initial, nothing_yet(instance.nodes), False)

    def is_final(self, state: SearchState) -> bool:
        return state[2]

    def successors(self, state: SearchState) -> Iterator[tuple[Word, SearchState]]:
        here, reach, _ = state
        if max(map(len, reach.pending)) > MOST_PENDING:
            self.cut = PendingBound(MOST_PENDING)
            return
        for word, target in self.machine.successors(here):
            monitor = Monitor(reach)
            _follow(monitor, here, word)
            yield word, (target, monitor.reach(), monitor.cyclic)


def _follow(monitor: Monitor, state: State, word: Word) -> None:
    """Let ``monitor`` follow ``word``, which happens in ``state``.

    The pending commands of a rank, in the order of issue, are its operations and the stores in its buffer.
    """
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
        self._runs = CyclicRuns(instance, known)
        super().__init__(self._runs)
        self.found: list[Word] | None = None

    def run(self) -> Iterator[None]:
        """Search, yielding after every state, and within one that has very many transitions."""
        for state in self._expanded():
            if self._space.is_final(state):
                self.found = self._completed(self._reached.path(state), state[0])
                return
            yield

    def _completed(self, path: list[Word], state: State) -> list[Word]:
        """``path`` continued by what still happens when no rank issues any more."""
        words = list(path)
        machine = self._runs.machine
        while not machine.is_final(state):
            stop_point()
            word, state = next(machine.drains(state))
            words.append(word)
        return words
