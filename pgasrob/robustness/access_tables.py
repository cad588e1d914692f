"""What ranks may access and which queues they may use, as rows of integers for the kernel."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import reduce
from itertools import chain
from operator import or_
from typing import Any

from pgasrob.analysis.touched import Touched
from pgasrob.analysis.waited import updates_waited_for
from pgasrob.program.bits import members
from pgasrob.program.core import EVERY_QUEUE
from pgasrob.program.instance import Instance
from pgasrob.stop_points import stop_point

ANY_QUEUE, NO_QUEUE = -1, -2
"""What stands for a queue in `Tables.queues`: any of them, or what does not depend on the queue."""

READ, WRITTEN, UPDATED = 1, 2, 4
"""In which ways a cell may be touched: bits. Those from :data:`UPDATED` on are for the kinds of updates that commute
with their own (`Instance.update_kinds`)."""
DELAYED = 32  # so many bits higher stand the ways in which steps touch it (only steps are delayed)


def of_futures(instance: Instance, reductions: Collection[str]) -> dict[str, Any]:
    """What ranks may still access (persistent sets, liveness), and what of it may decide anything (liveness)."""
    sets: dict[Touched, int] = {}  # many control states have the same
    soon: list[int] = []
    ever: list[int] = []
    barriers: list[int] = []
    live: list[list[int]] = []
    relevant: list[int] = []
    queues: list[list[int]] = []
    if not {"persistent", "liveness"}.isdisjoint(reductions):
        from pgasrob.analysis.futures import futures

        known = futures(instance)
        soon = [sets.setdefault(touched, len(sets)) for rank in known.before_barrier for touched in rank]
        if "liveness" in reductions:
            from pgasrob.analysis.relevance import relevance

            ever = [sets.setdefault(touched, len(sets)) for rank in known.ever for touched in rank]
            barriers = [int(later) for rank in known.barrier_later for later in rank]
            deciding = relevance(instance)
            relevant = list(members(deciding.cells))
            live = [
                sorted(registers & deciding.registers[rank])
                for rank, states in enumerate(known.live)
                for registers in states
            ]
            queues = [
                [entry for queue, use in used.items() for entry in (_queue(queue), use)]
                for rank in known.queues
                for used in rank
            ]
    return {
        **_rows(instance, sets),
        "soon": soon,
        "ever": ever,
        "barrier_later": barriers,
        **pieces("live", live, 1),
        "relevant": relevant,
        **pieces("queues", queues, 2, "queue_starts"),
    }


def _queue(queue: int | None) -> int:
    """What stands for a queue of `analysis.futures`."""
    if queue is None:
        return ANY_QUEUE
    return NO_QUEUE if queue == EVERY_QUEUE else queue


def _planes(instance: Instance, touched: Touched) -> list[tuple[int, int]]:
    """The cells that are touched, as bits, by ways; first all of them."""
    kinds = instance.update_kinds.index
    updated = [(UPDATED << kinds(kind), cells) for kind, cells in touched.updated]
    return [(0, touched.cells), (READ, touched.read), (WRITTEN, touched.written), *updated]


def _ways(instance: Instance, touched: Touched) -> dict[int, int]:
    """The ways in which cells are touched, by cells, ascending."""
    ways: dict[int, int] = {}
    for way, cells in _planes(instance, touched):
        for cell in members(cells):
            ways[cell] = ways.get(cell, 0) | way
    return ways


def _rows(instance: Instance, sets: Iterable[Touched]) -> dict[str, list[int]]:
    """Rows (cell, ways) of the cells of each of ``sets``, ascending, and where each begins. One differs little from the
    one before: what they have in common is not made anew."""
    starts, rows, ways = [0], list[int](), dict[int, int]()
    before: dict[int, int] = {}
    for touched in sets:
        stop_point()
        now = dict(_planes(instance, touched))
        changed = reduce(or_, (now.get(way, 0) ^ before.get(way, 0) for way in {*now, *before}))
        for cell in members(changed & ~now[0]):
            del ways[cell]
        new = now[0] & ~before.get(0, 0)
        for cell in members(changed & now[0]):
            ways[cell] = reduce(or_, (way for way, cells in now.items() if cells >> cell & 1))
        if new:
            ways = dict(sorted(ways.items()))
        rows += chain.from_iterable(ways.items())
        starts.append(len(rows) // 2)
        before = now
    return {"set_starts": starts, "sets": rows}


def pieces(name: str, pieces: list[list[int]], row: int, starts: str | None = None) -> dict[str, list[int]]:
    """The tables ``name``, all pieces one after the other, and ``starts``, where each begins, counted in rows."""
    where = [0]
    for piece in pieces:
        where.append(where[-1] + len(piece) // row)
    return {starts or f"{name}_starts": where, name: [entry for piece in pieces for entry in piece]}


def waited(instance: Instance) -> list[int]:
    """For every cell whether updates of it that commute are waited for (:func:`updates_waited_for`)."""
    cells = updates_waited_for(instance).cells
    return [cells >> cell & 1 for cell in range(len(instance.memory))]


def touchable(instance: Instance) -> list[int]:
    """For every cell the ways in which some command of some rank may touch it, wherever it stands.

    An operand that depends on a register may be what `analysis.ranges` says; interchangeable ranks may touch the same.
    """
    from pgasrob.analysis.ranges import ranges

    known = ranges(instance)
    any_time = delayed = Touched()
    for rank, automaton in enumerate(instance.automata):
        for state, leaving in enumerate(automaton.out):
            for transition in leaving:
                made = known.made(rank, state, transition)
                delayed = reduce(Touched.joined, made.steps, delayed)
                any_time = any_time.joined(made.at_issue)
    ways = [0] * len(instance.memory)
    for cell, bits in _ways(instance, any_time.joined(delayed)).items():
        ways[cell] |= bits
    for cell, bits in _ways(instance, delayed).items():
        ways[cell] |= bits << DELAYED
    return ways
