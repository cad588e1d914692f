"""Computes what a member of a collective reads and writes, and for whom it waits: only as far as data flow requires.

As in the C front ends (`messages.py` of MPI, `collectives.py` of OpenSHMEM in `frontends/apis`), a rank that needs data
of all members waits for all, and the root of a broadcast waits for none.
"""

from __future__ import annotations

from typing import NamedTuple

Bytes = tuple[int, int]
"""An address and a number of bytes."""

SYNC, BARRIER, BROADCAST, COLLECT, COLLECT_EQUAL, ALL_TO_ALL, _STRIDED, REDUCE_ALL, REDUCE, GATHER, SCATTER = range(11)
SCAN, SCAN_BEFORE, REDUCE_SCATTER = range(11, 14)
_ROOTED = {BROADCAST, REDUCE, GATHER, SCATTER}
_IN_PLACE = (1, -1)
"""The addresses that stand for `MPI_IN_PLACE` in Open MPI and in MPICH."""


class Flow(NamedTuple):
    """The data flow of one member. ``waits_for_all``: it and all others wait for each other. ``sends_to``: the ranks
    that it signals after its reads; ``receives_from``: those whose signals it awaits before its writes."""

    reads: tuple[Bytes, ...] = ()
    waits_for_all: bool = False
    sends_to: tuple[int, ...] = ()
    receives_from: tuple[int, ...] = ()
    writes: tuple[Bytes, ...] = ()


def flow(rank: int, members: tuple[int, ...], named: dict[str, int], brought: int | None) -> Flow | None:
    """The data flow of a call of ``rank`` with the operands ``named``; None if it is unknown. ``brought``: the number
    of elements that all members bring to a collect, once known."""
    kind, root, size, count = (named[name] for name in ("kind", "root", "element", "elements"))
    source, to = named["source"], named["destination"]
    others, place = tuple(member for member in members if member != rank), members.index(rank)
    if kind in (SYNC, BARRIER):
        return Flow(waits_for_all=True)
    if count < 0 or kind == _STRIDED or source in _IN_PLACE or to in _IN_PLACE:
        return None
    if kind in _ROOTED and root not in members:
        return None
    one, all_ = count * size, count * size * len(members)
    is_root = rank == root
    match kind:
        case 2:
            if is_root:
                return Flow(((source, one),), sends_to=others)
            return Flow(receives_from=(root,), writes=((to, one),))
        case 3 | 4:
            own = source + place * one if source == to else source
            whole = all_ if kind == COLLECT_EQUAL else (brought or 0) * size
            return Flow(((own, one),), True, writes=((to, whole),))
        case 5:
            return Flow(((source, all_),), True, writes=((to, all_),))
        case 7:
            return Flow(((source, one),), True, writes=((to, one),))
        case 8 | 9:
            if not is_root:
                return Flow(((source, one),), sends_to=(root,))
            if kind == GATHER and source == to:
                return None  # the root gathers in place, and the recorded count is not significant
            return Flow(((source, one),), receives_from=others, writes=((to, all_ if kind == GATHER else one),))
        case 10:
            read = ((source, all_),) if is_root else ()
            sends_to, receives_from = (others, ()) if is_root else ((), (root,))
            return Flow(read, sends_to=sends_to, receives_from=receives_from, writes=((to, one),))
        case 11 | 12:
            written = () if kind == SCAN_BEFORE and not place else ((to, one),)
            return Flow(((source, one),), sends_to=members[place + 1 :], receives_from=members[:place], writes=written)
        case 13:
            return Flow(((source, all_),), True, writes=((to, one),))
    return None
