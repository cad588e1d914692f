"""Finds where the store buffer of an x86 processor may matter: a store that may still be in it when its rank loads.

On x86 a store waits in the buffer of its processor before it is in memory, and later loads of the rank need not wait
for it (P. Sewell, S. Sarkar, S. Owens, F. Zappa Nardelli, M. O. Myreen, *x86-TSO*, CACM 2010; with transfers, which go
through the buffer like stores: Ambal et al. 2024, section 3). This does not change happens-before unless some rank
stores to a cell that others access and then, with nothing between that empties the buffer, loads another cell
that others write (`proofs/store-buffers.md`). The pairs found here by the text of the program include all that matter.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum, auto
from typing import NamedTuple, assert_never

from pgasrob.analysis.pending import Sets, forwards, pending_transfers
from pgasrob.analysis.phases import meanwhile_touched
from pgasrob.analysis.ranges import ranges, single
from pgasrob.analysis.remembered import remembered
from pgasrob.program import core
from pgasrob.program.bits import members
from pgasrob.program.commands import FULL_FENCE, Command, Mark
from pgasrob.program.control import Transition
from pgasrob.program.instance import Instance


class Buffering(Enum):
    """How a command uses the store buffer of its processor."""

    NOTHING = auto()
    STORES = auto()
    """It puts a store into the buffer."""
    LOADS = auto()
    """It takes the latest store to the cell that is in the buffer, else what is in memory."""
    EMPTY = auto()
    """It waits until the buffer is empty."""


def buffering(command: Command, form: core.Shape[core.V, core.P], own: bool) -> Buffering:
    """How ``command``, with the core form ``form``, uses the buffer; ``own``: the cell that it accesses at its issue is
    in the memory of its rank."""
    match form:
        case core.Immediate(access):
            if access.writes:
                # An access that reads and writes is a locked instruction, or its result comes from the network card.
                return Buffering.EMPTY if access.reads else Buffering.STORES
            # A load of shared memory is one of the processor; a fetch from another rank goes through the network card,
            # behind all stores in the buffer.
            return Buffering.EMPTY if command.kind == "fetch" and not own else Buffering.LOADS
        case core.Transfer(captured=captured):
            return Buffering.NOTHING if captured is None else Buffering.LOADS
        case core.Barrier():
            return Buffering.EMPTY
        case core.Test():
            return Buffering.EMPTY if isinstance(command, Mark) and command.fact == FULL_FENCE else Buffering.NOTHING
        case core.Assign() | core.Wait() | core.Fence() | core.Bundle():
            return Buffering.NOTHING
        case _:
            assert_never(form)


class Overtaken(NamedTuple):
    """A store and a load of ``rank`` that may come before it: the transitions that issue them, the cells of the store
    that others access and those of the load that others write, as bit sets."""

    rank: int
    store: Transition
    load: Transition
    stored: int
    loaded: int


class Pair(NamedTuple):
    """A store and a load that may overtake it, by what reports call them: lines, and cells as ``x@0``."""

    rank: int
    store: int
    stored: tuple[str, ...]
    load: int
    loaded: tuple[str, ...]


def named(pairs: Iterable[Overtaken], instance: Instance) -> tuple[Pair, ...]:
    """The pairs as lines and names of cells, each once, in the order of the text."""

    def cells(bits: int) -> tuple[str, ...]:
        return tuple(instance.cell_name(cell) for cell in members(bits))

    found = {
        Pair(
            instance.home[each.rank], each.store.span.line, cells(each.stored), each.load.span.line, cells(each.loaded)
        ): None
        for each in pairs
    }
    return tuple(sorted(found, key=lambda pair: (pair.store, pair.load, pair.rank)))


Site = tuple[int, int, int]
"""A rank, a control state of it, and the occurrence of a command there."""


class StoreBuffers(NamedTuple):
    """The result of :func:`store_buffers`.

    ``shared``: for each store the cells, as a bit set, that other accesses may reach while the store is in the buffer.
    ``late``: for each store those cells at which a load may overtake it; without any the buffer does not matter to it.
    """

    pairs: tuple[Overtaken, ...]
    shared: dict[Site, int]
    late: dict[Site, int]


@remembered
def store_buffers(instance: Instance) -> StoreBuffers:
    """The pairs of stores and loads of ``instance`` for which store buffers may matter."""
    found = StoreBuffers((), {}, {})
    for rank in range(instance.processes):
        pairs, shared, late = _of_rank(instance, rank)
        found = StoreBuffers((*found.pairs, *pairs), found.shared | shared, found.late | late)
    return found


def _of_rank(instance: Instance, rank: int) -> StoreBuffers:
    known, automaton = ranges(instance), instance.automata[rank]
    pending = pending_transfers(instance, rank)
    ways = [
        [_statically(instance, rank, state, each) for each in leaving] for state, leaving in enumerate(automaton.out)
    ]
    stores = [
        (state, each)
        for state, leaving in enumerate(automaton.out)
        for each, way in zip(leaving, ways[state], strict=True)
        if way is Buffering.STORES and known.named(rank, state, each).possible
    ]
    if not stores:
        return StoreBuffers((), {}, {})
    others = meanwhile_touched(instance)[rank]
    shared: dict[Site, int] = {}
    for state, each in stores:
        cells = known.made(rank, state, each).at_issue.cells
        shared[rank, state, each.occurrence] = cells & (others[state].cells | pending[state].touched.cells)
    numbers = {(state, each.occurrence): number for number, (state, each) in enumerate(stores)}
    kept = {place: number for place, number in numbers.items() if shared[rank, *place]}
    buffered = _buffered(instance, rank, kept, ways)
    pairs: list[Overtaken] = []
    late: dict[Site, int] = {}
    for state, leaving in enumerate(automaton.out):
        for each, way in zip(leaving, ways[state], strict=True):
            if way is not Buffering.LOADS or not buffered[state]:
                continue
            read = known.made(rank, state, each).at_issue.cells
            read &= others[state].changed | pending[state].touched.changed
            for number in members(buffered[state]) if read else ():
                store_state, store = stores[number]
                site = rank, store_state, store.occurrence
                # A load of the cell itself takes the value from the buffer.
                stored = shared[site] & ~(read if read.bit_count() == 1 else 0)
                if stored:
                    loaded = read & ~(stored if stored.bit_count() == 1 else 0)
                    pairs.append(Overtaken(rank, store, each, stored, loaded))
                    late[site] = late.get(site, 0) | stored
    return StoreBuffers(tuple(pairs), shared, late)


def _statically(instance: Instance, rank: int, state: int, transition: Transition) -> Buffering:
    """How a command may use the buffer at a control state, for all cells that it may access: it is taken to empty the
    buffer only if it does so for all of them."""
    named = ranges(instance).named(rank, state, transition)
    place = core.at_issue(transition.form)
    if (
        place is not None
        and instance.thread(rank) is not None
        and _is_between_threads(instance, rank, state, transition)
    ):
        return Buffering.EMPTY
    own = place is None or place.cell.rank is None or instance.home[rank] in named.rank
    return buffering(transition.command, transition.form, own)


def _is_between_threads(instance: Instance, rank: int, state: int, transition: Transition) -> bool:
    """Whether an access is to a cell within a library of threads, which goes there by locked instructions."""
    cells, own = ranges(instance).made(rank, state, transition).at_issue.cells, instance.program.own
    return bool(cells) and not any(instance.index(cell) in own for cell in members(cells))


def _buffered(
    instance: Instance, rank: int, numbers: dict[tuple[int, int], int], ways: Sequence[Sequence[Buffering]]
) -> list[int]:
    """For each control state the stores that may be in the buffer, of those that have ``numbers``, as a bit set of
    these. ``ways``: how the commands there use the buffer.

    A wait lasts until its transfers have been done, and with them the stores before these. So the analysis also has,
    for each kind of wait, the stores after which, on some way, no such transfer has been issued.
    """
    known, automaton = ranges(instance), instance.automata[rank]
    kinds: dict[tuple[int, bool], int] = {}
    for state, leaving in enumerate(automaton.out):
        for each in leaving:
            if isinstance(each.form, core.Wait):
                queue = single(known.named(rank, state, each).queue)
                if queue is not None:
                    kinds.setdefault((queue, each.form.local), len(kinds) + 1)
    way_of = {
        (state, each.occurrence): way
        for state, leaving in enumerate(automaton.out)
        for each, way in zip(leaving, ways[state], strict=True)
    }
    nothing = (0,) * (len(kinds) + 1)  # all stores, then for each kind of wait those that it does not wait for

    def after(state: int, each: Transition, before: Sets) -> Sets:
        way = way_of[state, each.occurrence]
        if way is Buffering.EMPTY:
            return nothing
        if way is Buffering.STORES:
            number = numbers.get((state, each.occurrence))
            bit = 0 if number is None else 1 << number
            return tuple(stores | bit for stores in before)
        match each.form:
            case core.Transfer():
                queue = single(known.named(rank, state, each).queue)
                steps = each.form.steps
                covered = {
                    kinds.get((queue, local))
                    for local in (False, True)
                    if queue is not None and any(step.local or not local for step in steps)
                }
                return tuple(0 if place in covered else stores for place, stores in enumerate(before))
            case core.Wait(_, local):
                queue = single(known.named(rank, state, each).queue)
                place = None if queue is None else kinds.get((queue, local))
                return before if place is None else tuple(stores & before[place] for stores in before)
            case _:
                return before

    return [stores[0] for stores in forwards(instance, rank, nothing, after)]
