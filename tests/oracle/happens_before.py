"""The happens-before relation of a computation, as written (the design: section 2; the paper: section 3).

Nothing is kept from one prefix to the next: the relation is read off the whole history each time.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence

from .semantics import Event, Machine, Run

HbEdge = tuple[int, int, str]  # two positions of the history, and "po", "cf" or "id"


def commands(history: Sequence[Event]) -> list[tuple[int, ...]]:
    """For every event the command it is of, that is, its class of id: a barrier is one command of all ranks."""
    barriers: Counter[int] = Counter()
    classes: list[tuple[int, ...]] = []
    for event in history:
        if event.kind == "barrier":
            barriers[event.home] += 1
            classes.append((-1, barriers[event.home]))  # the rank's n-th barrier is every other rank's n-th too
        else:
            classes.append((event.rank, event.operation))
    return classes


def conflicts(history: Sequence[Event], i: int, j: int) -> bool:
    """cf from i to j: two accesses that conflict, i first, with no write between that conflicts with both."""
    first, second = history[i], history[j]
    return (
        i < j
        and conflict(first, second)
        and not any(event.writes and conflict(first, event) and conflict(event, second) for event in history[i + 1 : j])
    )


def conflict(first: Event, second: Event) -> bool:
    """Two accesses to one cell, one of which writes, that are not two updates that commute; of a test and a write, one
    that turns its condition, and of two adds that are only compared, one that turns a condition."""
    if first.is_test or second.is_test:
        return first.place == second.place and (first.tests in second.turns or second.tests in first.turns)
    if first.counts is not None and (first.place, first.counts) == (second.place, second.counts):
        return bool(first.turns or second.turns)
    return (
        first.place is not None
        and first.place == second.place
        and (first.writes or second.writes)
        and (first.commutes is None or first.commutes != second.commutes)
    )


def happens_before(history: Sequence[Event]) -> list[HbEdge]:
    """Every edge: po between successive issued events of a rank, cf, and id both ways."""
    classes = commands(history)
    edges: list[HbEdge] = []
    previous: dict[int, int] = {}
    for j, event in enumerate(history):
        if not event.is_step:
            if event.rank in previous:
                edges.append((previous[event.rank], j, "po"))
            previous[event.rank] = j
        for i in range(j):
            if conflicts(history, i, j):
                edges.append((i, j, "cf"))
            if classes[i] == classes[j]:
                edges += [(i, j, "id"), (j, i, "id")]
    return edges


def is_violating(history: Sequence[Event]) -> bool:
    """Whether the quotient by id has a cycle of length two or more; an edge from a command to itself is none."""
    classes = commands(history)
    before: dict[tuple[int, ...], set[tuple[int, ...]]] = {command: set() for command in classes}
    for i, j, _ in happens_before(history):
        if classes[i] != classes[j]:
            before[classes[j]].add(classes[i])
    # take away commands that nothing left comes before, until there are none such: a cycle is what stays
    while free := [command for command, earlier in before.items() if not earlier & before.keys()]:
        for command in free:
            del before[command]
    return bool(before)


def find_cycle(history: Sequence[Event]) -> list[HbEdge] | None:
    """A shortest closed walk of edges with a conflict between two different commands in it."""
    classes = commands(history)
    edges = happens_before(history)
    leaving: dict[int, list[HbEdge]] = {position: [] for position in range(len(history))}
    for edge in edges:
        leaving[edge[0]].append(edge)
    best: list[HbEdge] | None = None
    for edge in edges:
        if edge[2] == "cf" and classes[edge[0]] != classes[edge[1]]:
            back = _shortest(leaving, edge[1], edge[0])
            if back is not None and (best is None or 1 + len(back) < len(best)):
                best = [edge, *back]
    return best


def _shortest(leaving: dict[int, list[HbEdge]], start: int, goal: int) -> list[HbEdge] | None:
    arrived: dict[int, HbEdge | None] = {start: None}
    unread = deque([start])
    while unread:
        position = unread.popleft()
        if position == goal:
            break
        for edge in leaving[position]:
            if edge[1] not in arrived:
                arrived[edge[1]] = edge
                unread.append(edge[1])
    if goal not in arrived:
        return None
    path: list[HbEdge] = []
    while (edge := arrived[goal]) is not None:
        path.append(edge)
        goal = edge[0]
    return path[::-1]


def event_json(machine: Machine, event: Event) -> dict[str, object]:
    """One event of a witness (the design: section 6)."""
    address = None
    if event.place is not None:
        rank, index = event.place
        address = {"rank": rank, "index": index, "name": machine.cell_names[index]}
    return {
        "event": event.kind,
        "rank": event.rank,
        "operation": event.operation,
        "address": address,
        "line": event.line,
    }


def witness(machine: Machine, run: Run) -> dict[str, object]:
    """The computation of `run` with its pending steps emptied, and a cycle of it or null."""
    complete = machine.emptied(run).history
    cycle = find_cycle(complete)
    return {
        "computation": [event_json(machine, event) for event in complete],
        "cycle": None if cycle is None else [{"from": i, "to": j, "relation": name} for i, j, name in cycle],
    }
