"""Detects while a run goes on, with a summary of bounded size, when its happens-before relation becomes cyclic.

A run is fed in as a sequence of issues and accesses. Commands of one thread are ordered as they are issued; of two
accesses to one cell that conflict the earlier command comes before the later one. A new edge always leads into the
command that makes the access (or is issued), so a cycle is closed when a command gets an edge from one that it comes
before already. A command that has made all its accesses gets no edge any more: what matters of the past are the
*pending* commands, and which of them come before what new edges can begin at: the latest command of each thread, and
for each cell its last writer and those who have read or updated it since. Of these nothing else need be known, not even
how many there are. So the summary is a few sets of pending commands, and there are finitely many as long as these are
bounded (`proofs/definition-engine.md`).

A write may be seen before its place among the writes of the cell is fixed: a store in the store buffer by loads of its
own thread. Such a read comes after the write (:meth:`Monitor.read_unplaced`) and before the writes that are placed
after it, but not before those that are placed earlier, even if they get their place only after the read.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, TypeVar

Key = TypeVar("Key")

Command = int
"""A pending command, by its number: those of the first thread come first, each thread's in the order of issue."""
Way = str
"""How a command has accessed a cell: :data:`WRITTEN`, :data:`READ`, or by which kind of update that commutes."""
WRITTEN, READ = "", "read"


class Latest(NamedTuple):
    """Commands that new edges begin at: the pending ones that come ``before`` one of them, and the pending ones that
    are ``among`` them."""

    before: int = 0
    among: int = 0


NOBODY = Latest()


class Reach(NamedTuple):
    """The pending commands, as bit sets, that come before what new edges can begin at.

    ``last``: before the latest command of each thread, or it itself. ``pending``: for each thread, for each of its
    pending commands, those before that. ``readers``: of each pending command that has them, those who have read its
    write before that had its place. ``cells``: for each cell and way those who have accessed it so since it was
    written, and who wrote it, where a pending command is before them or among them.
    """

    last: tuple[int, ...]
    pending: tuple[tuple[int, ...], ...]
    readers: tuple[tuple[Command, Latest], ...] = ()
    cells: tuple[tuple[int, tuple[tuple[Way, Latest], ...]], ...] = ()


def nothing_yet(threads: int) -> Reach:
    """The summary at the beginning of a run."""
    return Reach((0,) * threads, ((),) * threads)


class Monitor:
    """A summary that is updated along a run; ``cyclic``: whether happens-before has a cycle by now.

    Commands keep their numbers, and new ones get further numbers, until :meth:`reach` numbers those still pending anew.
    """

    def __init__(self, reach: Reach) -> None:
        self.last = list(reach.last)
        self.before = [before for commands in reach.pending for before in commands]
        self.pending: list[list[Command]] = []
        first = 0
        for commands in reach.pending:
            self.pending.append(list(range(first, first + len(commands))))
            first += len(commands)
        self.readers = dict(reach.readers)
        self.cells = {cell: dict(ways) for cell, ways in reach.cells}
        self.cyclic = False

    def issue(self, *threads: int) -> Command:
        """A new command of ``threads`` (of several: a barrier), pending until it is finished."""
        command = len(self.before)
        before = 0
        for thread in threads:
            before |= self.last[thread]
        self.before.append(before)
        for thread in threads:
            self.last[thread] = before | 1 << command
        self.pending[threads[0]].append(command)
        return command

    def access(self, command: Command, cell: int, way: Way) -> None:
        """``command`` accesses ``cell``. A write is placed after all other writes of the cell."""
        ways = self.cells.setdefault(cell, {})
        for other in tuple(ways):
            if way == WRITTEN or other != way:
                self._edges(ways[other], command)
        own, bit = self.before[command], 1 << command
        if way == WRITTEN:
            # The write is itself the place that later accesses refer to, whether or not it also reads.
            ways.clear()
            ways[WRITTEN] = Latest(own, bit)
            if command in self.readers:
                ways[READ] = self.readers.pop(command)
        else:
            before, among = ways.get(way, NOBODY)
            ways[way] = Latest(before | own, among | bit)

    def read_unplaced(self, command: Command, writer: Command) -> None:
        """``command`` reads what the pending ``writer`` writes, which has not got its place yet."""
        self._edges(Latest(self.before[writer], 1 << writer), command)
        before, among = self.readers.get(writer, NOBODY)
        self.readers[writer] = Latest(before | self.before[command], among | 1 << command)

    def finish(self, command: Command) -> None:
        """Note that ``command`` has made all its accesses."""
        for commands in self.pending:
            if command in commands:
                commands.remove(command)

    def _edges(self, first: Latest, second: Command) -> None:
        """Edges from each of ``first`` to ``second``; one from a command to itself is none."""
        if first.before >> second & 1:
            self.cyclic = True
        gained = (first.before | first.among & ~(1 << second)) & ~self.before[second]
        if not gained:
            return
        self.before[second] |= gained
        for places in (self.last, self.before):
            for number, bits in enumerate(places):
                if bits >> second & 1:
                    places[number] = bits | gained
        _gain(self.readers, second, gained)
        for ways in self.cells.values():
            _gain(ways, second, gained)

    def reach(self) -> Reach:
        """The summary, of the commands that are pending now."""
        order = [command for commands in self.pending for command in commands]
        every = (1 << len(order)) - 1
        if order == list(range(len(order))):

            def renumbered(bits: int) -> int:
                return bits & every
        else:
            places = [(1 << command, 1 << number) for number, command in enumerate(order)]

            def renumbered(bits: int) -> int:
                return sum(new for old, new in places if bits & old)

        numbers = {command: number for number, command in enumerate(order)}
        cells = []
        for cell, ways in sorted(self.cells.items()):
            found = _some((way, Latest(*map(renumbered, latest))) for way, latest in sorted(ways.items()))
            if found:
                cells.append((cell, found))
        return Reach(
            tuple(map(renumbered, self.last)),
            tuple(tuple(renumbered(self.before[command]) for command in commands) for commands in self.pending),
            _some(
                (numbers[writer], Latest(*map(renumbered, latest)))
                for writer, latest in sorted(self.readers.items(), key=lambda item: numbers[item[0]])
            ),
            tuple(cells),
        )


def _gain(entries: dict[Key, Latest], command: Command, gained: int) -> None:
    """Order ``gained``, which now comes before ``command``, before all entries that ``command`` comes before."""
    for key, (before, among) in entries.items():
        if (before | among) >> command & 1:
            entries[key] = Latest(before | gained, among)


def _some(entries: Iterable[tuple[Key, Latest]]) -> tuple[tuple[Key, Latest], ...]:
    """``entries`` without empty ones."""
    return tuple((key, latest) for key, latest in entries if latest.before or latest.among)
