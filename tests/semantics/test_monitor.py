"""The monitor against happens-before itself: every command kept, every edge drawn, a cycle looked for each time."""

from __future__ import annotations

import random

import pytest

from pgasrob.models import relations
from pgasrob.semantics.monitor import READ, WRITTEN, Monitor, nothing_yet

WAYS = (READ, WRITTEN, "add int32", "or int32")
CELLS = 3


class Naive:
    """Happens-before as a graph of all commands. Conflict edges go from every earlier conflicting access."""

    def __init__(self, threads: int) -> None:
        self.threads: list[list[int]] = [[] for _ in range(threads)]
        self.edges: set[tuple[int, int]] = set()
        self.accesses: dict[int, list[tuple[int, str]]] = {cell: [] for cell in range(CELLS)}
        self.count = 0

    def issue(self, *threads: int) -> int:
        command, self.count = self.count, self.count + 1
        for thread in threads:
            self.edges |= {(earlier, command) for earlier in self.threads[thread]}
            self.threads[thread].append(command)
        return command

    def access(self, command: int, cell: int, way: str, place: int | None = None) -> None:
        """``place``: where in the order of the accesses to the cell; the end where it is not said."""
        made = self.accesses[cell]
        made.insert(len(made) if place is None else place, (command, way))

    @property
    def cyclic(self) -> bool:
        edges = set(self.edges)
        for made in self.accesses.values():
            for number, (command, way) in enumerate(made):
                edges |= {(earlier, command) for earlier, other in made[:number] if way == WRITTEN or other != way} - {
                    (command, command)
                }
        closure = relations.closed(relations.of_pairs(self.count, edges))
        return any(row >> command & 1 for command, row in enumerate(closure))


def run(seed: int, barriers: bool) -> tuple[bool, int, int]:
    """A random run: whether it became cyclic, and how many commands there were and were pending at most.

    A thread may write into a buffer of its own, which it empties in order and looks into when it reads."""
    rng = random.Random(seed)
    threads = rng.randint(1, 3)
    naive, reach = Naive(threads), nothing_yet(threads)
    pending: list[list[tuple[int, int]]] = [[] for _ in range(threads)]  # naive command, buffered cell or -1
    unplaced: dict[int, list[int]] = {}  # readers of a buffered write
    most = 0
    for _ in range(rng.randint(4, 26)):
        monitor, thread = Monitor(reach), rng.randrange(threads)
        kind = rng.choice(("issue", "step", "step", "cpu", "store", "drain", "drain", "load"))
        cell = rng.randrange(CELLS)
        buffered = [place for place, (_, where) in enumerate(pending[thread]) if where >= 0]
        if kind == "issue":
            if barriers and threads > 1 and rng.random() < 0.3:
                command = naive.issue(*range(threads))
                monitor.finish(monitor.issue(*range(threads)))
            else:
                pending[thread].append((naive.issue(thread), -1))
                monitor.issue(thread)
        elif kind == "step" and (open_ := [p for p, (_, where) in enumerate(pending[thread]) if where < 0]):
            place, way = rng.choice(open_), rng.choice(WAYS)
            command = monitor.pending[thread][place]
            monitor.access(command, cell, way)
            naive.access(pending[thread][place][0], cell, way)
            if rng.random() < 0.4:
                monitor.finish(command)
                del pending[thread][place]
        elif kind == "cpu":
            command, way = monitor.issue(thread), rng.choice(WAYS)
            monitor.access(command, cell, way)
            monitor.finish(command)
            naive.access(naive.issue(thread), cell, way)
        elif kind == "store":
            pending[thread].append((naive.issue(thread), cell))
            monitor.issue(thread)
        elif kind == "drain" and buffered:
            number, where = pending[thread].pop(buffered[0])
            command = monitor.pending[thread][buffered[0]]
            monitor.access(command, where, WRITTEN)
            monitor.finish(command)
            naive.access(number, where, WRITTEN)
            for reader in unplaced.pop(number, ()):
                naive.access(reader, where, READ)
        elif kind == "load":
            own = [place for place in buffered if pending[thread][place][1] == cell]
            command, number = monitor.issue(thread), naive.issue(thread)
            if own:
                monitor.read_unplaced(command, monitor.pending[thread][own[-1]])
                unplaced.setdefault(pending[thread][own[-1]][0], []).append(number)
            else:
                monitor.access(command, cell, READ)
                naive.access(number, cell, READ)
            monitor.finish(command)
        most = max(most, sum(map(len, pending)))
        assert monitor.cyclic == naive.cyclic, seed
        if monitor.cyclic:
            return True, naive.count, most
        reach = monitor.reach()
        assert [len(commands) for commands in reach.pending] == [len(commands) for commands in pending]
    return False, naive.count, most


@pytest.mark.parametrize("barriers", [False, True])
def test_the_monitor_finds_a_cycle_exactly_when_the_graph_of_all_commands_has_one(barriers: bool) -> None:
    found = [run(seed, barriers) for seed in range(1500)]
    cyclic = sum(one for one, _, _ in found)
    assert 400 < cyclic < 1300  # both happen often
    assert max(most for _, _, most in found) >= 8


def test_nothing_is_kept_of_what_no_pending_command_comes_before() -> None:
    reach = nothing_yet(2)
    for thread in (0, 1, 0):
        monitor = Monitor(reach)
        command = monitor.issue(thread)
        monitor.access(command, 0, WRITTEN)
        monitor.finish(command)
        reach = monitor.reach()
    assert reach == nothing_yet(2)


def test_an_operation_that_reads_what_it_then_writes_closes_no_cycle() -> None:
    monitor = Monitor(nothing_yet(1))
    command = monitor.issue(0)
    monitor.access(command, 0, READ)
    monitor.access(command, 0, WRITTEN)
    assert not monitor.cyclic


def test_but_it_does_when_another_one_has_read_in_between_after_it() -> None:
    monitor = Monitor(nothing_yet(1))
    command = monitor.issue(0)
    monitor.access(command, 0, READ)
    monitor.access(monitor.issue(0), 0, READ)
    assert not monitor.cyclic
    monitor.access(command, 0, WRITTEN)
    assert monitor.cyclic


def test_who_reads_from_the_store_buffer_comes_before_the_writes_behind_that_store_alone() -> None:
    """Thread 0 stores and loads; thread 1's write of the cell comes first in memory, which the load does not see."""
    monitor = Monitor(nothing_yet(2))
    store = monitor.issue(0)
    load = monitor.issue(0)
    monitor.read_unplaced(load, store)
    monitor.finish(load)
    other = monitor.issue(1)
    monitor.access(other, 0, WRITTEN)
    assert not monitor.before[other]
    monitor.access(store, 0, WRITTEN)
    assert monitor.before[store] >> other & 1 and not monitor.cyclic
    assert not monitor.before[other]
