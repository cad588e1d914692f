"""Computations to explain: of a program that is not robust the violating one with its ranks taking turns, of a robust
one a run on the network that delays what it can."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import islice

from pgasrob.program.instance import Instance
from pgasrob.semantics.accesses import access_of, conflict
from pgasrob.semantics.computation import POPS, Computation, Event
from pgasrob.semantics.happens_before import HappensBefore
from pgasrob.semantics.sc_order import last_command
from pgasrob.semantics.state_space import Edge, Letter, StateSpace, computation_of
from pgasrob.stop_points import stop_point

MOST_COMMANDS = 24
"""Commands of a run that delays much: a loop has no end of them."""
MOST_EVENTS = 400
MOST_EDGES = 5_000
"""Ways on that are looked at: with choices at a barrier there are millions."""


def without_unneeded_commands(computation: Computation) -> Computation:
    """``computation``, which is violating, without last commands that it does not need for that.

    What is left is violating, and without its own last command it is not (the paper, Lemma 6 and what follows it).
    """
    while True:
        stop_point()
        last = set(last_command(computation))
        rest = tuple(event for place, event in enumerate(computation) if place not in last)
        if HappensBefore(rest).cycle is None:
            return computation
        computation = rest


def round_robin(computation: Computation) -> Computation:
    """The events of ``computation`` with its ranks taking turns, before and after its last command.

    Every rank keeps its order, and so do conflicting accesses, which keeps all completion rules and what every event
    reads: it is a computation with the same happens-before relation (`proofs/state-space.md`, Lemma A).
    """
    last = last_command(computation)
    if not last:
        return computation
    issue = [place for place in last if not computation[place].is_step]
    before, middle, after = computation[: issue[0]], computation[issue[0] : issue[-1] + 1], computation[issue[-1] + 1 :]
    begun = _turns(before, 0)
    ended = _turns(after, computation[issue[-1]].rank + 1)
    return (*begun, *middle, *ended)


def _turns(events: Sequence[Event], rank: int) -> list[Event]:
    """``events`` with the ranks taking turns from ``rank`` on."""
    ranks = max((event.rank for event in events), default=0) + 1
    left: dict[int, list[int]] = {}
    for place, event in enumerate(events):
        left.setdefault(event.rank, []).append(place)
    accesses = [access_of(event) for event in events]
    open_: list[int] = list(range(len(events)))  # places not taken yet, in order
    found: list[Event] = []

    def ready(place: int) -> bool:
        made = accesses[place]
        return made is None or not any(
            (other := accesses[earlier]) is not None and conflict(other, made) for earlier in open_ if earlier < place
        )

    def take(place: int) -> None:
        event = events[place]
        left[event.rank].remove(place)
        open_.remove(place)
        found.append(event)

    waiting = 0
    while open_:
        stop_point()
        rank %= ranks
        mine = left.get(rank) or []
        waiting += 1
        if mine and events[mine[0]].kind == "barrier":
            everyone = [places[0] for places in left.values() if places and events[places[0]].kind == "barrier"]
            # A barrier is the events of all ranks at once, so it waits until all of them have come.
            if rank == 0 and len(everyone) == ranks:
                for place in sorted(everyone, key=lambda place: events[place].rank):
                    take(place)
                waiting = 0
                continue
        elif mine and ready(mine[0]):
            take(mine[0])
            waiting = 0
        rank += 1
        assert waiting <= ranks + 1, "the order given is one, so there is always a next event"
    return found


def delayed_run(instance: Instance, most: int = MOST_COMMANDS) -> Computation:
    """A complete computation in which steps come as late as they can, for a while: commands go first, ranks in turns.

    A rank that has a choice takes what it has taken least often. After so many commands as there are ranks, and two
    more, a step is due, so that a rank that polls for its effect sees it in the end.
    """
    space = StateSpace(instance)
    state = space.initial
    path: list[tuple[Letter, ...]] = []
    taken: Counter[tuple[int, int]] = Counter()
    rank = issued = since = 0
    patience = instance.processes + 2
    while len(path) < MOST_EVENTS:
        stop_point()
        edges = list(islice(space.successors(state), MOST_EDGES))
        steps = [edge for edge in edges if edge[0][0].kind in POPS]
        issues = [edge for edge in edges if edge[0][0].kind not in POPS] if issued < most else []
        if not issues and not steps:
            break
        if issues and not (steps and since >= patience):
            (word, state), rank = _next_issue(issues, taken, rank, instance.processes)
            taken[word[0].rank, word[0].which] += 1
            issued += 1
            since += bool(steps)
        else:
            word, state = steps[issued % len(steps)]
            since = 0
        path.append(word)
    while not space.is_final(state):
        stop_point()
        word, state = next(edge for edge in space.successors(state) if edge[0][0].kind in POPS)
        path.append(word)
    return computation_of(path)


def _next_issue(issues: list[Edge], taken: Counter[tuple[int, int]], rank: int, ranks: int) -> tuple[Edge, int]:
    """A command of the first rank from ``rank`` on that has one, and whose turn it is then; else a barrier."""
    for turn in range(ranks):
        mine = [edge for edge in issues if len(edge[0]) == 1 and edge[0][0].rank == (rank + turn) % ranks]
        if mine:
            edge = min(mine, key=lambda edge: taken[edge[0][0].rank, edge[0][0].which])
            return edge, rank + turn + 1
    return issues[0], rank
