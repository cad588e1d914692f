"""All coreRMA programs of one or two processes up to a size in actions, one for each class of symmetry."""

from __future__ import annotations

from collections.abc import Iterator

from pgasrob.models.generate.conventions import Conventions
from pgasrob.models.generate.programs import ACTIONS, ON_NODES, Shape, Statement, renamed

WRITES = {"load": (), "store": (0,), "get": (0,), "put": (0,), "rga": (0, 1), "cas": (0, 1), "flush": ()}
"""Which operands a statement writes."""
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
"""A program with a pivot of a rule has a statement of each of these groups. (For F1: a cycle through a flush comes to
it by F2, for a local action before the flush is before the later one anyway.)"""


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
    for shape in _completions(size, processes, conventions, exactly, needs):
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


def _completions(
    size: int, processes: int, conventions: Conventions, exactly: bool, needs: tuple[tuple[str, ...], ...]
) -> Iterator[Shape]:
    owners: list[int] = []
    lack: list[int] = []
    threads: list[list[Statement]] = [[] for _ in range(processes)]
    reads = conventions.reads
    own_targets = processes == 1 or conventions.own_targets == "always"
    groups = [
        (
            frozenset(kinds),
            min(ACTIONS[kind] for kind in kinds),
            0 if reads == "none" else min(len(WRITES[kind]) for kind in kinds),
        )
        for kinds in needs
    ]

    def cells(owner: int | None, count: int) -> Iterator[int]:
        """Locations of ``owner`` (None: anybody) that may be mentioned next; a new one is taken back afterwards."""
        for place in range(len(owners)):
            if owner is None or owners[place] == owner:
                yield place
        if count > 0:
            for node in range(processes):
                if owner is None or node == owner:
                    owners.append(node)
                    lack.append(0)
                    yield len(owners) - 1
                    owners.pop()
                    lack.pop()

    def statements(process: int, left: int) -> Iterator[tuple[Statement, int]]:
        """Each statement of ``process`` of at most ``left`` actions, new locations counted."""
        known = len(owners)

        def room(cost: int) -> int:
            return left - cost - (len(owners) - known)

        def targets(cost: int) -> Iterator[int]:
            for place in cells(None, room(cost)):
                if own_targets or owners[place] != process:
                    yield place

        def done(cost: int) -> int:
            return cost + len(owners) - known

        if left < 1:
            return
        for node in range(processes):
            if own_targets or node != process:
                yield ("flush", (node,)), 1
        for x in cells(process, room(1)):
            yield ("load", (x,)), done(1)
            yield ("store", (x,)), done(1)
        if left >= 2:
            for x in cells(process, room(2)):
                for z in targets(2):
                    yield ("get", (x, z)), done(2)
            for z in targets(2):
                for x in cells(process, room(2)):
                    yield ("put", (z, x)), done(2)
        if left >= 3:
            for x in cells(process, room(3)):
                for z in targets(3):
                    for y in cells(process, room(3)):
                        yield ("rga", (x, z, y)), done(3)
        if left >= 4:
            for x in cells(process, room(4)):
                for z in targets(4):
                    for y in cells(process, room(4)):
                        for w in cells(process, room(4)):
                            yield ("cas", (x, z, y, w)), done(4)

    def grow(process: int, left: int, missing: tuple[tuple[frozenset[str], int, int], ...]) -> Iterator[Shape]:
        """``lack``: writes of a location that are not yet read, negative for reads beyond that. ``missing``: the groups
        that there is no statement of yet, with the actions and the writes that one has at least."""
        thread = threads[process]
        if thread:
            if process + 1 < processes:
                # What is unread here must stay unread: only this process reads its locations.
                if reads == "none" or not any(n > 0 and o <= process for n, o in zip(lack, owners, strict=True)):
                    yield from grow(process + 1, left, missing)
            elif (
                owners
                and (left == 0 or not exactly)
                and not missing
                and (reads == "none" or all(n == 0 or (n < 0 and reads == "more") for n in lack))
            ):
                yield Shape(tuple(owners), tuple(range(processes)), tuple(map(tuple, threads)))
        for statement, cost in statements(process, left):
            kind, operands = statement
            changes = [(operands[at], 1) for at in WRITES[kind]]
            if kind == "load":
                changes.append((operands[0], -1))
            for place, change in changes:
                lack[place] += change
            rest = tuple(group for group in missing if kind not in group[0])
            least = sum(group[1] for group in rest)
            if reads != "none":
                # A write to come may be read by a local read that is there already.
                early = -sum(n for n in lack if n < 0)
                least += sum(n for n in lack if n > 0) + max(0, sum(group[2] for group in rest) - early)
            if least <= left - cost:
                thread.append(statement)
                yield from grow(process, left - cost, rest)
                thread.pop()
            for place, change in changes:
                lack[place] -= change

    yield from grow(0, size, tuple(groups))
