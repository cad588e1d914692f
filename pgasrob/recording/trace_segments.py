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
from pgasrob.program.expressions import Const, Expr
from pgasrob.program.unknown_value import Unknown
from pgasrob.recording.events import Recorded, Recording, value_of
from pgasrob.recording.memory_places import SHIFT, NotSupported
from pgasrob.recording.recorded_names import Called
from pgasrob.recording.recorded_values import typed
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


class Known(NamedTuple):
    """What is known of memory: the name of so many bytes at an address, and what these of a rank held before the
    segment, as a number without a sign."""

    called: Callable[[int, int], Called]
    held: Callable[[int, int, int], int]


def in_cells(name: str, source: Source, segment: Segment, known_of: Known) -> Recording:
    """The recording of a segment, whose memory is cells: the largest pieces of which every access has all or nothing.
    What is not in one piece is done piece by piece. The value of a cell is that of its first element. Raises
    :class:`NotSupported` where an atomic is not in one piece."""
    events, following = segment.events, segment.next_commands
    cut = _Cuts([*events, *following])
    names: dict[int, int] = {}
    named: list[Called] = []
    addresses: list[int] = []

    def cell(address: int) -> int:
        found = names.get(address)
        if found is None:
            found = names[address] = len(names)
            addresses.append(address)
            made_up = address >> SHIFT in segment.made_up
            named.append(known_of.called(address, 0 if made_up else cut.piece(address)))
        return found

    def held(rank: int, cell: int) -> int:
        of = named[cell]
        if addresses[cell] >> SHIFT in segment.made_up:
            return 0
        return typed(known_of.held(rank, addresses[cell], of.bytes), of.bytes, of.kind)

    cells = _Cells(cell, named)

    known: dict[int, tuple[Recorded, list[Recorded]]] = {}
    found: list[Recorded] = []
    for event in events:
        stop_point()
        pieces = known.get(id(event))
        if pieces is None:
            pieces = known[id(event)] = event, [*_in_pieces(event, cut, cells)]
        found += pieces[1]
    unissued = [piece for event in following for piece in list(_in_pieces(event, cut, cells))[:1]]
    memory = [
        MemoryObject(named[number].name, number, None, (0,), made_up=address >> SHIFT in segment.made_up)
        for address, number in names.items()
    ]
    doubles = frozenset(each.name for each in named if each.kind == "float")
    unordered = [Queue(f"queue {number}", number, unordered=True) for number in range(segment.queues)]
    return Recording(
        name, segment.nodes, memory, unordered, found, source, unissued, values=False, held=held, doubles=doubles
    )


class _Cells(NamedTuple):
    """``cell``: the number of the cell at an address; ``named``: what the cells are called."""

    cell: Callable[[int], int]
    named: Sequence[Called]

    def typed(self, expr: Expr, address: int, bytes: int, further: int = 0) -> Const:
        """The value of so many bytes at an address, as the cell there has it; ``further``: those of it that lie before
        the cell."""
        number, of = self.cell(address), value_of(expr)
        cell = self.named[number]
        if isinstance(of, Unknown) or not cell.bytes:
            return Const(of)
        size = min(cell.bytes, bytes - further)
        return Const(typed(of >> 8 * further, size, cell.kind if size == cell.bytes else "signed"))


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

    def piece(self, address: int) -> int:
        """How many bytes there are from an address to where memory is cut next."""
        cuts = self._sorted.get(address >> SHIFT, ())
        at = bisect_right(cuts, address & MASK)
        return cuts[at] - (address & MASK) if at < len(cuts) else 0

    def inside(self, address: int, size: int) -> list[int]:
        """How far from its beginning an access is cut."""
        cuts, start = self._sorted[address >> SHIFT], address & MASK
        return [cut - start for cut in cuts[bisect_right(cuts, start) : bisect_left(cuts, start + size)]]


def _in_pieces(event: Recorded, cuts: _Cuts, cells: _Cells) -> Iterator[Recorded]:
    if not event.sizes:
        yield event
        return
    addresses = _addresses(event.command)
    if len(addresses) == 1 and not cuts.inside(addresses[0], event.sizes[0]):
        command = _moved(event.command, 0, cells, event.sizes[0])
        yield Recorded(event.rank, command, event.span, event.seen)
        return
    inner = sorted({cut for each in zip(addresses, event.sizes, strict=True) for cut in cuts.inside(*each)})
    if inner and not may_be_cut(event.command):
        raise NotSupported(f"the memory of an atomic is accessed in other sizes, in line {event.span.line}")
    for start in (0, *inner):
        yield event._replace(command=_moved(event.command, start, cells, event.sizes[0]), sizes=())


def may_be_cut(command: Command) -> bool:
    """Whether a command may be done piece by piece."""
    return command.kind in ("load", "store", "read", "write", "put") or getattr(command, "atomic", "") == ""


_ADDRESSES = ("address", "local", "remote", "result")


def _addresses(command: Command) -> list[int]:
    """The address of each access of ``command``, in their order."""
    if isinstance(command, commands.Load | commands.Store):
        return [value_of(command.address)]
    return [value_of(access.cell.address) for access in core.accesses_of(core.lower(command))]


def _moved(command: Command, further: int, cells: _Cells, size: int) -> Command:
    """``command`` with the cells of its addresses, so many bytes further, and with the values that these have."""
    if isinstance(command, commands.Load):
        address = Const(cells.cell(value_of(command.address) + further))
        return commands.Load(command.register, address, command.rank, polling=command.polling, atomic=command.atomic)
    if isinstance(command, commands.Store):
        at = value_of(command.address) + further
        value = cells.typed(command.value, at, size, further)
        return commands.Store(Const(cells.cell(at)), value, command.rank, atomic=command.atomic)
    changed: dict[str, Any] = {}
    for name in (*_ADDRESSES, *(("expected",) if command.kind == "update_from" else ())):
        expr = getattr(command, name, None)
        if expr is not None:
            changed[name] = Const(cells.cell(value_of(expr) + further))
    at = value_of(getattr(command, "remote", None) or command.address)  # type: ignore[union-attr]
    for name in ("value", "operand", "new", *(() if command.kind == "update_from" else ("expected",))):
        expr = getattr(command, name, None)
        if expr is not None and command.kind not in _MADE_UP:
            changed[name] = cells.typed(expr, at + further, size, further)
    return replace(command, **changed)


_MADE_UP = ("notify", "signal", "await_add")
"""Commands on what a library has for itself."""
