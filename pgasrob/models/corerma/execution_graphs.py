"""Makes the execution graph of a consistent execution of coreRMA."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from pgasrob.models.corerma.consistent_executions import Candidate, Frame
from pgasrob.models.corerma.program_actions import Action, Actions
from pgasrob.models.model_interface import Event, Execution
from pgasrob.models.relations import Rows, converse
from pgasrob.program.bits import members


def execution_of(frame: Frame, candidate: Candidate) -> Execution:
    """The graph of ``candidate``. po and hb have their immediate pairs; mo (hb among the writes to a location) and rb
    have all pairs."""
    actions = frame.actions
    values, size = candidate.values, len(actions.actions)
    events = tuple(
        Event(
            action.thread,
            max(action.statement, 0),
            action.type,
            action.location,
            values[action.number] if action.rloc is not None else None,
            values[size + action.number] if action.wloc is not None else None,
            action.span,
            _towards(actions, action),
        )
        for action in actions.actions
    )
    relations = {
        "po": frozenset(pair for thread in actions.threads for pair in pairwise(thread)),
        "rf": frozenset((candidate.source[read], read) for read in actions.readers),
        "mo": frozenset(_mo(actions, candidate.hb)),
        "rb": frozenset(_rb(actions, candidate.source, candidate.hb)),
        "hb": frozenset(_immediate(candidate.hb)),
    }
    return Execution(actions.program, events, relations, candidate.outcome)


def _towards(actions: Actions, action: Action) -> int | None:
    """The node at the other end: the target of an operation, the node that a flush waits for."""
    if action.kind == "flush":
        return action.dst
    remote = actions.statements[actions.statement_of[action.number]].remote
    return None if remote is None else actions.actions[remote].dst


def _mo(actions: Actions, hb: Rows) -> Iterator[tuple[int, int]]:
    for writers in actions.writers_of:
        for write in members(writers):
            yield from ((write, later) for later in members(hb[write] & writers))


def _rb(actions: Actions, source: Sequence[int], hb: Rows) -> Iterator[tuple[int, int]]:
    for read in actions.readers:
        location = actions.actions[read].rloc
        assert location is not None
        later = hb[source[read]] & actions.writers_of[location] & ~(1 << read)
        yield from ((read, write) for write in members(later))


def _immediate(hb: Rows) -> Iterator[tuple[int, int]]:
    before = converse(hb)
    for number, after in enumerate(hb):
        yield from ((number, later) for later in members(after) if not after & before[later])
