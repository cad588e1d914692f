"""Turns a run of the calculus into a schedule: the order in which ranks execute statements and calls, and steps happen.

The events of one execution of a statement, or of one call, form one turn, since a rank cannot be stopped inside. If
several orders of turns are possible, the schedule keeps that of the run; if none is, it gives up the order of some
conflicts, but never that within a rank.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from pgasrob.semantics.computation import writes

if TYPE_CHECKING:
    from pgasrob.program.statements import Span
    from pgasrob.semantics.replay import Run

READ_SOURCE, PERFORM, DELIVER = 1, 2, 4
"""The steps of an operation, as hold.h has them."""

Kind = Literal["P", "C", "S"]


@dataclass(slots=True)
class Entry:
    """A turn of ``rank``. P: it executes the ``statement``. C: it calls ``name``, the ``call`` with this number; a
    ``step`` of 1 holds its operations back. S: the ``step`` of an ``element`` of the call (-1: all) happens.

    ``events``: places in the run. ``shown``: the numbers of the values to report when the statement is executed.
    """

    rank: int
    kind: Kind
    events: list[int]
    statement: int = 0
    call: int = 0
    element: int = -1
    step: int = 0
    name: str = "-"
    shown: list[int] = field(default_factory=list)

    def line(self, turn: int) -> str:
        match self.kind:
            case "P":
                element, action = sum(1 << number for number in self.shown), 0
            case "C":
                element, action = 0, self.step
            case "S":
                element, action = self.element, self.step
        return f"{self.rank} {self.kind} {turn} {self.statement} {self.call} {element} {action} {self.name}"


@dataclass(slots=True)
class Schedule:
    """The turns in order; ``of``: the turn of each event of the run."""

    entries: list[Entry]
    of: dict[int, Entry]

    def text(self) -> str:
        """As hold.c reads it."""
        return "".join(f"{entry.line(turn)}\n" for turn, entry in enumerate(self.entries))


Pieces = Callable[["Run"], Sequence[tuple[int, str | None]]]
"""For each event of a run the number of its piece of source, as `pieces` of `render.source_commands` gives it, and the
library function that it comes from, None for the program's own accesses."""


@dataclass(frozen=True, slots=True)
class Shim:
    """The abilities of the shim: the ``pieces`` of a run, the functions that it replaces (``interposed``), those whose
    operations it can hold back (``holds``), if so element by element (``elements``), and those in which ranks wait for
    each other by specification (``collective``) or in some libraries (``synchronising``)."""

    pieces: Pieces
    interposed: Collection[str]
    holds: Callable[[str], bool]
    elements: bool
    collective: Callable[[str], bool]
    synchronising: Collection[str]


def schedule(run: Run, statement: Callable[[Span], int | None], shim: Shim, needed: Collection[int] = ()) -> Schedule:
    """The turns of ``run``. ``statement``: the number of the statement around a span, None if it cannot be reported.
    ``needed``: events whose statements have turns even if no other rank accesses their cells."""
    entries = list(_entries(run, statement, shim))
    kept = _relevant(run, entries, needed)
    entries = [entry for entry in entries if entry.kind != "P" or entry.statement in kept]
    ordered = _ordered(run, entries, shim)
    return Schedule(ordered, {event: entry for entry in ordered for event in entry.events})


def _entries(run: Run, statement: Callable[[Span], int | None], shim: Shim) -> Iterator[Entry]:
    pieces = shim.pieces(run)
    groups: dict[int, list[int]] = {}
    steps: dict[tuple[int, int], list[int]] = {}
    for place, (replayed, (piece, _)) in enumerate(zip(run.events, pieces, strict=True)):
        event = replayed.event
        if event.is_step:
            steps.setdefault(event.issued, []).append(place)
        else:
            groups.setdefault(piece, []).append(place)
    executed: dict[int, tuple[Entry, set[Span]]] = {}  # by ranks: the last execution of a statement
    for number, places in enumerate(groups.values()):
        rank = run.events[places[0]].event.rank
        called = [pieces[place][1] for place in places]
        first = next((i for i, name in enumerate(called) if name in shim.interposed), len(places))
        if first:
            span = run.events[places[0]].span
            found = statement(span)
            if found is not None:
                last = executed.get(rank)
                if last is not None and last[0].statement == found and span not in last[1] and first == len(places):
                    last[0].events += places
                    last[1].add(span)
                else:
                    entry = Entry(rank, "P", places[:first], found)
                    executed[rank] = entry, {span}
                    yield entry
        if first < len(places):
            executed.pop(rank, None)
            name = called[first] or "-"
            entry = Entry(rank, "C", places[first:], call=number, name=name)
            yield entry
            yield from _steps(run, entry, [steps.get(run.events[place].event.issued, []) for place in places], shim)


def _steps(run: Run, call: Entry, steps: list[list[int]], shim: Shim) -> Iterator[Entry]:
    """The turns of the steps of ``call``; steps that cannot be held back become part of the turn of the call."""
    operations = [found for found in steps if found]
    if shim.collective(call.name):
        return
    if not shim.holds(call.name):
        call.events += [place for found in operations for place in found]
        return
    call.step = int(bool(operations))
    made: dict[tuple[int, int], Entry] = {}
    issues = {run.events[place].event.issued: run.events[place].event for place in call.events}
    for element, places in enumerate(operations):
        for place in places:
            event = run.events[place].event
            # A get performs its read at the target and delivers here; all others read here and perform there.
            if issues[event.issued].kind == "read":
                step = PERFORM if event.kind in ("popa", "popd") else DELIVER
            else:
                step = {"popa": READ_SOURCE, "popd": READ_SOURCE, "popb": PERFORM}.get(event.kind, DELIVER)
            which = element if shim.elements else -1
            entry = made.setdefault(
                (which, step), Entry(call.rank, "S", [], call=call.call, element=which, step=step, name="-")
            )
            entry.events.append(place)
    yield from made.values()


def _relevant(run: Run, entries: Iterable[Entry], needed: Collection[int]) -> set[int]:
    """The statements with a conflict with another rank or a step, and those of the events ``needed``."""
    touched: dict[int, set[tuple[bool, int]]] = defaultdict(set)
    written = set()
    for replayed in run.events:
        event = replayed.event
        if event.cell is not None:
            touched[event.cell].add((event.is_step, event.rank))
            if writes(event.kind):
                written.add(event.cell)
    shared = {cell for cell, those in touched.items() if len(those) > 1 and cell in written}
    return {
        entry.statement
        for entry in entries
        if entry.kind == "P"
        and any(run.events[place].event.cell in shared or place in needed for place in entry.events)
    }


def _ordered(run: Run, entries: list[Entry], shim: Shim) -> list[Entry]:
    """``entries`` in an order that keeps that of each rank, and of conflicting events where that is possible."""
    key = [max(entry.events) if entry.kind == "C" else min(entry.events) for entry in entries]
    hard: list[set[int]] = [set() for _ in entries]  # what each comes before
    soft: list[set[int]] = [set() for _ in entries]
    of = {event: number for number, entry in enumerate(entries) for event in entry.events}
    own: dict[int, list[int]] = defaultdict(list)
    stepping: dict[int, list[int]] = defaultdict(list)
    issue: dict[int, int] = {}
    for number, entry in enumerate(entries):
        (stepping if entry.kind == "S" else own)[entry.rank].append(number)
        if entry.kind == "C":
            issue[entry.call] = number
    following: dict[int, int] = {}
    for rank, numbers in own.items():
        for one, other in pairwise(numbers):
            hard[one].add(other)
            following[one] = other
        calls = [number for number in numbers if entries[number].kind == "C"]
        for step in stepping[rank]:
            hard[issue[entries[step].call]].add(step)
            for call in calls:
                if max(entries[step].events) < min(entries[call].events):
                    hard[step].add(call)
                elif max(entries[call].events) < min(entries[step].events):
                    hard[call].add(step)
        last = sorted(stepping[rank], key=lambda number: key[number])
        for one, other in pairwise(last):
            hard[one].add(other)
    for barrier in (*_barriers(run, of), *_further_barriers(entries, shim)):
        for one in barrier:
            for other in barrier:
                if other in following and one != other:
                    hard[one].add(following[other])
    writer: dict[int, int] = {}
    readers: dict[int, set[int]] = defaultdict(set)
    for place, replayed in enumerate(run.events):
        event = replayed.event
        here = of.get(place)
        if event.cell is None or here is None:
            continue
        before = {writer[event.cell]} if event.cell in writer else set()
        if writes(event.kind):
            before |= readers.pop(event.cell, set())
            writer[event.cell] = here
        else:
            readers[event.cell].add(here)
        for earlier in before - {here}:
            soft[earlier].add(here)
    return [entries[number] for number in _sorted(key, hard, soft, [entry.kind == "S" for entry in entries])]


def _barriers(run: Run, of: dict[int, int]) -> Iterator[set[int]]:
    """The calls of all ranks that pass a barrier of ``run`` together."""
    nodes = run.instance.nodes
    arrivals = [place for place, replayed in enumerate(run.events) if replayed.event.kind == "barrier"]
    for first in range(0, len(arrivals), nodes):
        yield {of[place] for place in arrivals[first : first + nodes] if place in of}


def _further_barriers(entries: list[Entry], shim: Shim) -> Iterator[set[int]]:
    """The calls in which the library synchronises ranks: the first of each rank, the second, and so on."""
    numbered: dict[tuple[str, int], set[int]] = defaultdict(set)
    counts: dict[tuple[str, int], int] = defaultdict(int)
    for number, entry in enumerate(entries):
        if entry.kind == "C" and entry.name in shim.synchronising:
            numbered[entry.name, counts[entry.name, entry.rank]].add(number)
            counts[entry.name, entry.rank] += 1
    yield from numbered.values()


def _sorted(key: list[int], hard: list[set[int]], soft: list[set[int]], late: list[bool]) -> Iterator[int]:
    """The numbers ordered by their keys and along all edges; in a cycle ``soft`` edges are given up, and ``late``
    entries come last."""
    waits_hard, waits_soft = [0] * len(key), [0] * len(key)
    for waits, edges in ((waits_hard, hard), (waits_soft, soft)):
        for others in edges:
            for other in others:
                waits[other] += 1
    ready = [(key[n], n) for n in range(len(key)) if not waits_hard[n] and not waits_soft[n]]
    heapify(ready)
    left = set(range(len(key)))
    while left:
        if ready:
            number = heappop(ready)[1]
            if number not in left:
                continue
        else:
            number = min((n for n in left if not waits_hard[n]), key=lambda n: (late[n], key[n]), default=min(left))
        left.remove(number)
        yield number
        for waits, edges in ((waits_hard, hard), (waits_soft, soft)):
            for other in edges[number]:
                waits[other] -= 1
                if not waits_hard[other] and not waits_soft[other]:
                    heappush(ready, (key[other], other))
