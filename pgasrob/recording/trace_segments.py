"""Cuts a long recording into segments, each of which can be decided by itself.

A segment ends at a barrier of all ranks where nothing is pending: every operation has been waited for by its rank. No
step from before can be delayed past such a barrier, and all before it comes before all after it, so no attack and no
race spans it (`proofs/recorded-traces.md`, section 4). So no more is held in memory than the longest segment.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import replace
from typing import Any, NamedTuple

from pgasrob.program import commands, core
from pgasrob.program.commands import Command
from pgasrob.program.declarations import MemoryObject, Queue, Source
from pgasrob.program.expressions import Const
from pgasrob.recording.events import Recorded, Recording, value_of
from pgasrob.recording.memory_places import SHIFT, NotSupported
from pgasrob.stop_points import stop_point

MASK = (1 << SHIFT) - 1


def segments(events: Iterable[Recorded], nodes: int) -> Iterator[list[Recorded]]:
    """The events of each segment, the barrier at its end included. Raises :class:`NotSupported` behind them where a
    rank went on from a barrier that not all ranks have come to."""
    held: list[Recorded] = []
    pending: list[set[int]] = [set() for _ in range(nodes)]
    arrived: dict[str, int] = defaultdict(int)
    waiting: list[bool] = [False] * nodes
    for event in events:
        stop_point()
        if waiting[event.rank]:
            yield held
            raise NotSupported(f"rank {event.rank} went on before all had come to a barrier, in line {event.span.line}")
        held.append(event)
        if isinstance(event.command, commands.Load | commands.Store):
            continue
        form = core.lower(event.command)
        match form:
            case core.Transfer(queue=queue):
                pending[event.rank].add(value_of(queue))
            case core.Wait(queue, local=False):
                pending[event.rank].discard(value_of(queue))
            case core.Barrier(name):
                arrived[name] += 1
                waiting[event.rank] = True
                if arrived[name] == nodes:
                    arrived[name] = 0
                    waiting = [False] * nodes
                    if not any(pending) and not any(arrived.values()):
                        yield held
                        held = []
            case core.Assign() | core.Test() | core.Immediate() | core.Wait() | core.Fence() | core.Bundle():
                pass
    if held:
        yield held


class Segment(NamedTuple):
    """Recorded commands whose addresses count bytes, and the next commands of ranks at its end. ``queues``: how many
    there are; ``made_up``: the places that a library has for itself."""

    nodes: int
    queues: int
    events: Sequence[Recorded]
    next_commands: Sequence[Recorded] = ()
    made_up: Set[int] = frozenset()


def in_cells(name: str, source: Source, segment: Segment, called: Callable[[int], str]) -> Recording:
    """The recording of a segment, whose memory is cells: the largest pieces of which every access has all or nothing.
    What is not in one piece is done piece by piece. ``called``: what is at an address. Raises :class:`NotSupported`
    where an atomic is not in one piece."""
    events, following = segment.events, segment.next_commands
    cut = _Cuts([*events, *following])
    names: dict[int, int] = {}

    def cell(address: int) -> int:
        return names.setdefault(address, len(names))

    known: dict[int, tuple[Recorded, list[Recorded]]] = {}
    found: list[Recorded] = []
    for event in events:
        stop_point()
        pieces = known.get(id(event))
        if pieces is None:
            pieces = known[id(event)] = event, [*_in_pieces(event, cut, cell)]
        found += pieces[1]
    unissued = [piece for event in following for piece in list(_in_pieces(event, cut, cell))[:1]]
    memory = [
        MemoryObject(called(address), number, None, (0,), made_up=address >> SHIFT in segment.made_up)
        for address, number in names.items()
    ]
    unordered = [Queue(f"queue {number}", number, unordered=True) for number in range(segment.queues)]
    return Recording(name, segment.nodes, memory, unordered, found, source, unissued, values=False)


class _Cuts:
    """Where accesses begin and end, by places."""

    def __init__(self, events: Sequence[Recorded]) -> None:
        at: dict[int, set[int]] = defaultdict(set)
        ranges: dict[tuple[tuple[int, int], ...], None] = {}
        for event in {id(event): event for event in events}.values():
            stop_point()
            if event.sizes:
                ranges[tuple(zip(_addresses(event.command), event.sizes, strict=True))] = None
        for accesses in ranges:
            for address, size in accesses:
                at[address >> SHIFT].update((address & MASK, (address & MASK) + size))
        self._sorted = {place: sorted(cuts) for place, cuts in at.items()}
        pairs = [accesses for accesses in ranges if len(accesses) > 1]
        changed = bool(pairs)
        while changed:  # a transfer is cut at home where it is cut at its target
            stop_point()
            changed = False
            for accesses in pairs:
                stop_point()
                inner = {cut for each in accesses for cut in self.inside(*each)}
                for address, _ in accesses:
                    cuts = at[address >> SHIFT]
                    more = {(address & MASK) + cut for cut in inner} - cuts
                    if more:
                        cuts |= more
                        changed = True
                        self._sorted[address >> SHIFT] = sorted(cuts)

    def inside(self, address: int, size: int) -> list[int]:
        """How far from its beginning an access is cut."""
        cuts, start = self._sorted[address >> SHIFT], address & MASK
        return [cut - start for cut in cuts[bisect_right(cuts, start) : bisect_left(cuts, start + size)]]


def _in_pieces(event: Recorded, cuts: _Cuts, cell: Callable[[int], int]) -> Iterator[Recorded]:
    if not event.sizes:
        yield event
        return
    addresses = _addresses(event.command)
    if len(addresses) == 1 and not cuts.inside(addresses[0], event.sizes[0]):
        command = _moved(event.command, 0, cell)
        yield Recorded(event.rank, command, event.span, event.seen)
        return
    inner = sorted({cut for each in zip(addresses, event.sizes, strict=True) for cut in cuts.inside(*each)})
    if inner and event.command.kind not in ("load", "store", "read", "write", "put") and not _is_plain(event.command):
        raise NotSupported(f"the memory of an atomic is accessed in other sizes, in line {event.span.line}")
    for start in (0, *inner):
        yield event._replace(command=_moved(event.command, start, cell), sizes=())


def _is_plain(command: Command) -> bool:
    return getattr(command, "atomic", "") == ""


_ADDRESSES = ("address", "local", "remote", "result")


def _addresses(command: Command) -> list[int]:
    """The address of each access of ``command``, in their order."""
    if isinstance(command, commands.Load | commands.Store):
        return [value_of(command.address)]
    return [value_of(access.cell.address) for access in core.accesses_of(core.lower(command))]


def _moved(command: Command, further: int, cell: Callable[[int], int]) -> Command:
    """``command`` with the cells of its addresses, so many bytes further."""
    if isinstance(command, commands.Load):
        address = Const(cell(value_of(command.address) + further))
        return commands.Load(command.register, address, command.rank, polling=command.polling, atomic=command.atomic)
    if isinstance(command, commands.Store):
        address = Const(cell(value_of(command.address) + further))
        return commands.Store(address, command.value, command.rank, atomic=command.atomic)
    changed: dict[str, Any] = {}
    for name in (*_ADDRESSES, *(("expected",) if command.kind == "update_from" else ())):
        expr = getattr(command, name, None)
        if expr is not None:
            changed[name] = Const(cell(value_of(expr) + further))
    return replace(command, **changed)
