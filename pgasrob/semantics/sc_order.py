"""The SC run that a computation looks like (the paper, section 3: an acyclic happens-before relation).

A computation without a happens-before cycle has the relation of an SC run: its commands in an order that respects the
relation, each directly followed by its steps. A shortest violating computation looks like one without e, the command
that is issued last of all (the paper, section 4; `proofs/normal-form.md`).
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

from pgasrob.program.instance import Instance
from pgasrob.semantics.computation import Computation
from pgasrob.semantics.happens_before import HappensBefore
from pgasrob.semantics.replay import ReplayError, Run, replay
from pgasrob.stop_points import stop_point


class SequentialOrder(NamedTuple):
    """``run`` is the SC run; ``places[i]`` is the place in the computation of its event i; ``without`` has the places
    of the events of e, which are left out: none of an acyclic computation."""

    without: tuple[int, ...]
    places: tuple[int, ...]
    run: Run


def last_command(computation: Computation) -> tuple[int, ...]:
    """The places of the events of the command that is issued last, of all ranks if that is a barrier."""
    commands = HappensBefore(computation).commands
    last = max((place for place, event in enumerate(computation) if not event.is_step), default=None)
    if last is None:
        return ()
    return tuple(place for place, command in enumerate(commands) if command == commands[last])


def sc_places(relation: HappensBefore) -> tuple[int, ...] | None:
    """The places of the events of a computation in an order in which it is an SC run; None if there is a cycle.

    Of several orders it is the one that keeps to the order of the issues.
    """
    commands = relation.commands
    events: dict[int, list[int]] = {}
    for place, command in enumerate(commands):
        events.setdefault(command, []).append(place)
    after: dict[int, set[int]] = {command: set() for command in events}
    for edge in relation.edges:
        source, target = commands[edge.source], commands[edge.target]
        if source != target:
            after[source].add(target)
    before = dict.fromkeys(events, 0)
    for targets in after.values():
        for target in targets:
            before[target] += 1
    # Commands are numbered by their first event, their issue.
    ready = [command for command, count in before.items() if not count]
    heapq.heapify(ready)
    order: list[int] = []
    while ready:
        stop_point()
        command = heapq.heappop(ready)
        order += events[command]
        for target in after[command]:
            before[target] -= 1
            if not before[target]:
                heapq.heappush(ready, target)
    return tuple(order) if len(order) == len(commands) else None


def sequential_order(instance: Instance, computation: Computation) -> SequentialOrder | None:
    """The SC run that ``computation`` looks like, or that it looks like without e where it has a cycle.

    None when there is no such run: something is pending at its end, or it is longer than it has to be and a cycle is
    left without e.
    """
    try:
        return order_of(HappensBefore.of(replay(instance, computation)), instance)
    except ReplayError:
        return None


def order_of(relation: HappensBefore, instance: Instance) -> SequentialOrder | None:
    """The same, where the relation of the computation is known."""
    computation, without = relation.computation, tuple[int, ...]()
    try:
        places = sc_places(relation)
        if places is None:
            without = last_command(computation)
            gone = set(without)
            left = [place for place in range(len(computation)) if place not in gone]
            rest = tuple(computation[place] for place in left)
            # Which conditions change is known from the values of the run.
            of_rest = HappensBefore.of(replay(instance, rest)) if relation.turning else HappensBefore(rest)
            found = sc_places(of_rest)
            if found is None:
                return None
            places = tuple(left[place] for place in found)
        run = replay(instance, tuple(computation[place] for place in places))
    except ReplayError:
        return None
    return SequentialOrder(without, places, run) if run.complete else None
