"""The marks of a happens-before cycle: where it enters and leaves each rank (the paper, section 5.3).

A cycle can be made to visit each rank at most once (`proofs/cycle-types.md`, Lemma 13). It comes to a rank by an event
that is marked `enter`, goes on in program order, and leaves by one marked `leave`, for the next rank of its *cycle
type*, the ranks in the order in which it visits them. An engine that works with cycle types guesses the marks; here
they are read off a cycle that is there to see. Words: `proofs/glossary.md`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from pgasrob.robustness.marked_normal_form import ENTER, LEAVE, Marks
from pgasrob.semantics.computation import Computation
from pgasrob.semantics.happens_before import Edge, HappensBefore
from pgasrob.stop_points import stop_point

if TYPE_CHECKING:
    from pgasrob.robustness.cycle_types import CycleType


class Visit(NamedTuple):
    """The part of a cycle within one rank: the places of the events by which it comes and goes, and whether it goes
    by a conflict (otherwise to another rank's event of the same barrier)."""

    enter: int
    leave: int
    by_conflict: bool


def marks_of(cycle: Sequence[Edge], computation: Computation) -> tuple[tuple[Marks, ...], CycleType]:
    """The marks of the events of ``computation`` and the cycle type, for a happens-before cycle of it.

    ``cycle`` is one as :attr:`~pgasrob.semantics.happens_before.HappensBefore.cycle` gives it. The marked events are
    those of a circuit that visits each rank at most once, made of steps of the cycle (Lemma 13); the cycle type begins
    with its least rank. In a normal form they are what Y^M and Z^cyc accept.
    """
    visits = _simple(_visits(cycle, computation), computation)
    first = min(range(len(visits)), key=lambda index: computation[visits[index].enter].rank)
    visits = visits[first:] + visits[:first]
    marks: list[set[str]] = [set() for _ in computation]
    for visit in visits:
        marks[visit.enter].add(ENTER)
        marks[visit.leave].add(LEAVE)
    return tuple(map(frozenset, marks)), tuple(computation[visit.enter].rank for visit in visits)


def _visits(cycle: Sequence[Edge], computation: Computation) -> list[Visit]:
    """The visits of a cycle, one after the other: what lies between two conflicts of different commands, cut where the
    rank changes, which is at barriers."""
    commands = HappensBefore(computation).commands
    conflicts = [
        index
        for index, edge in enumerate(cycle)
        if edge.relation == "cf" and commands[edge.source] != commands[edge.target]
    ]
    if not conflicts:
        raise ValueError("a cycle without a conflict between two commands")
    turned = [*cycle[conflicts[0] + 1 :], *cycle[: conflicts[0] + 1]]  # ends with a conflict
    visits: list[Visit] = []
    enter = turned[-1].target
    for edge in turned:
        conflict = edge.relation == "cf" and commands[edge.source] != commands[edge.target]
        if conflict or computation[edge.source].rank != computation[edge.target].rank:
            visits.append(Visit(enter, edge.source, conflict))
            enter = edge.target
    return visits


def _simple(visits: list[Visit], computation: Computation) -> list[Visit]:
    """A circuit that visits each rank at most once, out of one that need not: the proof of Lemma 13."""
    while True:
        stop_point()
        met: dict[int, int] = {}
        for later, visit in enumerate(visits):
            rank = computation[visit.enter].rank
            if rank in met:
                visits = _shorter(visits, met[rank], later, computation)
                break
            met[rank] = later
        else:
            return visits


def _shorter(visits: list[Visit], first: int, second: int, computation: Computation) -> list[Visit]:
    """One of the two circuits into which a rank that is visited twice, as ``first`` and ``second``, cuts a circuit."""
    outer, inner = visits[second + 1 :] + visits[:first], visits[first + 1 : second]
    one, other = visits[first], visits[second]
    for enter, leave, rest in ((one, other, outer), (other, one, inner)):
        in_order = computation[enter.enter].operation <= computation[leave.leave].operation
        joined = Visit(enter.enter, leave.leave, leave.by_conflict)
        if in_order and (joined.by_conflict or any(visit.by_conflict for visit in rest)):
            return [joined, *rest]
    raise AssertionError("Lemma 13: one of the two is a circuit")
