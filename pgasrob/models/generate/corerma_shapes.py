"""Enumerates the coreRMA programs of one or two processes up to a size in actions, one for each class of symmetry."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pgasrob.models.generate.conventions import Conventions
from pgasrob.models.generate.programs import ACTIONS, ON_NODES, Shape, Statement, renamed

WRITTEN, READ = 1, -1
UNREAD = {
    "load": ((0, READ),),
    "store": ((0, WRITTEN),),
    "get": ((0, WRITTEN),),
    "put": ((0, WRITTEN),),
    "rga": ((0, WRITTEN), (1, WRITTEN)),
    "cas": ((0, WRITTEN), (1, WRITTEN)),
    "flush": (),
}
"""By how much a statement changes the number of unread writes to which of its operands: only local reads read them."""
OPERANDS = ((("load", "store"), "n"), (("get",), "nf"), (("put",), "fn"), (("rga",), "nfn"), (("cas",), "nfnn"))
"""The statements with the ends of their operands: n for a location of the own process, f for one of any process."""
REMOTE = ("get", "put", "rga", "cas")
NEEDS: dict[str, tuple[tuple[str, ...], ...]] = {
    "F1": (("flush",), REMOTE),
    "F2": (("flush",), REMOTE),
    "F3": (("flush",), REMOTE),
    "IR": (REMOTE,),
    "GA": (("rga",),),
    "PG": (("get", "put"),),
    "CAS-F": (("cas",),),
    "CAS-T": (("cas",),),
}
"""Every program with a pivot of a rule has a statement of each of these groups. (For F1: a cycle enters the flush by
F2, since a local action before the flush is before the later one anyway.)"""


def shapes(
    size: int,
    processes: int,
    conventions: Conventions,
    exactly: bool = False,
    needs: tuple[tuple[str, ...], ...] = (),
) -> Iterator[Shape]:
    """Programs of at most (``exactly``) ``size`` actions in which every process has a statement and every location is
    accessed (there is at least one), with the local reads that ``conventions`` asks for: the least of each class, in no
    special order. ``needs``: only those with a statement of each of these groups of kinds."""
    if processes not in (1, 2):
        raise ValueError("tests are generated for one or two processes")
    for shape in _Growing(processes, conventions, exactly).shapes(size, needs):
        if processes == 2:
            if conventions.interacting and not interact(shape):
                continue
            if conventions.processes == "alike" and shape > renamed(shape, (1, 0)):
                continue
        yield shape


def interact(shape: Shape) -> bool:
    """Whether some statement is about the memory of another process."""
    return any(
        kind not in ON_NODES and any(shape.owners[place] != process for place in operands)
        for process, thread in zip(shape.nodes, shape.threads, strict=True)
        for kind, operands in thread
    )


def all_read(unread: Iterable[int], reads: str) -> bool:
    """Whether a program has the local reads that the convention ``reads`` asks for; ``unread``: how many writes to each
    location are not read, negative where there are more local reads."""
    return reads == "none" or all(n == 0 or (n < 0 and reads == "more") for n in unread)


Group = tuple[frozenset[str], int, int]
"""Kinds of statements of which there must be one, with the least numbers of actions and of writes of such a
statement."""


class _Growing:
    """Enumerates programs by adding one statement after the other.

    ``owners``: the process of each location that is mentioned; ``unread``: how many writes to it are not read, negative
    where there are more local reads. A new location is removed again together with the statement that first mentions
    it.
    """

    def __init__(self, processes: int, conventions: Conventions, exactly: bool) -> None:
        self.processes, self.exactly = processes, exactly
        self.reads = conventions.reads
        self.own_targets = processes == 1 or conventions.own_targets == "always"
        self.owners: list[int] = []
        self.unread: list[int] = []
        self.threads: list[list[Statement]] = [[] for _ in range(processes)]

    def shapes(self, size: int, needs: tuple[tuple[str, ...], ...]) -> Iterator[Shape]:
        groups = []
        for kinds in needs:
            writes = min(sum(change == WRITTEN for _, change in UNREAD[kind]) for kind in kinds)
            groups.append((frozenset(kinds), min(ACTIONS[kind] for kind in kinds), writes))
        return self._grown(0, size, tuple(groups))

    def _grown(self, process: int, left: int, missing: tuple[Group, ...]) -> Iterator[Shape]:
        """The programs that have at most ``left`` more actions, locations counted, of ``process`` and later ones.
        ``missing``: the groups that have no statement yet."""
        thread, unread = self.threads[process], self.unread
        if thread and process + 1 < self.processes:
            # What is unread here must stay unread: only this process reads its locations.
            own = (n for n, owner in zip(unread, self.owners, strict=True) if owner <= process)
            if self.reads == "none" or not any(n > 0 for n in own):
                yield from self._grown(process + 1, left, missing)
        elif thread and self.owners and not (left and self.exactly) and not missing and all_read(unread, self.reads):
            yield Shape(tuple(self.owners), tuple(range(self.processes)), tuple(map(tuple, self.threads)))
        for statement, cost in self._statements(process, left):
            kind, operands = statement
            for at, change in UNREAD[kind]:
                unread[operands[at]] += change
            rest = tuple(group for group in missing if kind not in group[0]) if missing else missing
            if self._least(rest) <= left - cost:
                thread.append(statement)
                yield from self._grown(process, left - cost, rest)
                thread.pop()
            for at, change in UNREAD[kind]:
                unread[operands[at]] -= change

    def _least(self, missing: tuple[Group, ...]) -> int:
        """How many actions must still come: statements of the groups that are missing, and reads of what is written."""
        least = writes = 0
        for _, actions, written in missing:
            least += actions
            writes += written
        if self.reads == "none":
            return least
        for count in self.unread:
            if count > 0:
                least += count
            else:  # a write to come may be read by a local read that is there already
                writes += count
        return least + writes if writes > 0 else least

    def _statements(self, process: int, left: int) -> Iterator[tuple[Statement, int]]:
        """Each statement of ``process`` of at most ``left`` actions, new locations counted."""
        known = len(self.owners)
        for node in range(self.processes if left >= 1 else 0):
            if self.own_targets or node != process:
                yield ("flush", (node,)), 1
        for kinds, ends in OPERANDS:
            cost = ACTIONS[kinds[0]]
            for operands in self._operands(process, ends, known + left - cost) if left >= cost else ():
                for kind in kinds:
                    yield (kind, operands), cost + len(self.owners) - known

    def _operands(self, process: int, ends: str, most: int) -> Iterator[tuple[int, ...]]:
        """Each choice of locations for these ``ends``, with ``most`` locations in all at most."""
        near, further = ends[0] == "n", ends[1:]
        for place in self._cells(process if near else None, len(self.owners) < most):
            if near or self.own_targets or self.owners[place] != process:
                if not further:
                    yield (place,)
                    continue
                for rest in self._operands(process, further, most):
                    yield place, *rest

    def _cells(self, owner: int | None, more: bool) -> Iterator[int]:
        """Locations of ``owner`` (None: of any process) that may be mentioned next, and new ones if there may be
        ``more``."""
        for place in range(len(self.owners)):
            if owner is None or self.owners[place] == owner:
                yield place
        for node in range(self.processes if more else 0):
            if owner is None or node == owner:
                self.owners.append(node)
                self.unread.append(0)
                yield len(self.owners) - 1
                self.owners.pop()
                self.unread.pop()
