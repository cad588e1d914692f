"""Whether the network has an outcome that no SC run has, from the definition: all runs of both, and their ends.

Runs are those without reads that fail. An end is a set of states that no such run leaves, with nothing pending in one
of them, from where all runs with failed reads, on the network, stay in one set of states, in which nobody reads what
another rank changes. For programs without assertions, exits, faults and looks before waits.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from .ends import Graph, View, _forgetful, closed_sets
from .readings import DEFAULT, Reading
from .semantics import Machine, Run
from .syntax import Program, Statement, numbered

Fact = tuple[str, int, object]
"""A register of a rank ("register"), or a cell of its memory ("cell")."""


class TooMany(Exception):
    """There are too many states."""


class Outcome(NamedTuple):
    """How the ranks are at the end, the values that stay, and what goes on changing."""

    ranks: tuple[str, ...]
    values: frozenset[tuple[Fact, int]]
    changing: frozenset[Fact]

    def is_like(self, other: Outcome) -> bool:
        differ = {of for of, _ in self.values ^ other.values}
        return _ending(self.ranks) == _ending(other.ranks) and differ <= self.changing | other.changing


def _ending(ranks: tuple[str, ...]) -> str:
    if {"waits", "spins"} & set(ranks):
        return "deadlock"
    return "stopped" if "stopped" in ranks else "ended"


@dataclass
class Seen:
    outcomes: set[Outcome] = field(default_factory=set)
    places: set[tuple[int, int]] = field(default_factory=set)  # rank, control state


def has_effect(program: Program, most: int = 1_500) -> tuple[bool, Seen, Seen]:
    """Whether some run on the network shows what no SC run does, and what both show. Raises `TooMany`."""
    source = numbered(program)
    reading, counted = Machine(source, None, DEFAULT), Machine(source, None, Reading("count", "all"))
    sc = _seen(reading, counted, reading.sc_successors, most)
    network = _seen(reading, counted, reading.successors, most)
    polled = Graph(counted)
    _explore(polled, counted.initial(), counted.sc_successors, most)
    commands = {_next(counted, run, rank) for run in polled.runs for rank in range(len(counted.homes))}
    known = {each for some in commands for each in some}
    new_place = any(not set(_commands_at(reading, rank, control)) & known for rank, control in network.places)
    new_end = any(not any(end.is_like(other) for other in sc.outcomes) for end in network.outcomes)
    return new_place or new_end, sc, network


def _commands_at(machine: Machine, rank: int, control: int) -> list[tuple[int, Statement | None]]:
    """Told apart by their lines, and not by the place of an assume among its if."""
    edges = machine.automata[rank][control]
    return [(rank, edge.command) for edge in edges] or [(rank, None)]


def _next(machine: Machine, run: Run, rank: int) -> tuple[tuple[int, Statement | None], ...]:
    return tuple(_commands_at(machine, rank, run.control[rank]))


def _key(run: Run) -> Hashable:
    """What decides what may come: operations before the first pending one do not."""
    pending = dict.fromkeys(rank for rank, _ in run.pending())
    first = {rank: min(number for its, number in run.pending() if its == rank) for rank in pending}
    left = tuple(
        tuple(
            (operation, tuple(sorted((step, value) for (its, at, step), value in run.done.items()
                                     if (its, at) == (rank, number))))
            for number, operation in enumerate(run.issued[rank])
            if rank in first and number >= first[rank]
        )
        for rank in range(len(run.control))
    )  # fmt: skip
    return run.control, run.registers, run.memory, left, run.been


def _explore(graph: Graph, start: Run, successors: Callable[[Run], Iterator[Run]], most: int) -> None:
    numbers: dict[Hashable, int] = {}

    def number_of(run: Run) -> int:
        key = _key(run)
        if key not in numbers:
            numbers[key] = len(numbers)
            if len(numbers) > most:
                raise TooMany
            graph.states.append((run.control, run.registers, run.memory))
            graph.runs.append(run)
            graph.edges.append([])
        return numbers[key]

    number_of(start)
    for each, run in enumerate(graph.runs):  # grows on the way
        for after in successors(run):
            events = after.history[len(run.history) :]
            movers = tuple(event.rank for event in events if event.kind == "barrier") or (events[0].rank,)
            graph.edges[each].append((movers, number_of(after)))


def _seen(reading: Machine, counted: Machine, successors: Callable[[Run], Iterator[Run]], most: int) -> Seen:
    graph, found = Graph(reading), Seen()
    _explore(graph, reading.initial(), successors, most)
    for run in graph.runs:
        found.places |= set(enumerate(run.control))
    network = successors == reading.successors
    for inside in closed_sets([[to for _, to in edges] for edges in graph.edges]):
        quiet = [each for each in inside if not graph.runs[each].pending()]
        if quiet:
            outcome = _outcome(reading, counted, graph.runs[quiet[0]], network, most)
            found.outcomes |= {outcome} if outcome else set()
    return found


def _outcome(reading: Machine, counted: Machine, run: Run, network: bool, most: int) -> Outcome | None:
    after = Graph(counted)
    _explore(after, _forgetful(run), counted.successors if network else counted.sc_successors, most)
    view = View(after, list(range(len(after.runs))))
    if not view.nobody_sees_a_change:
        return None
    closed = closed_sets([[to for _, to in edges] for edges in after.edges])
    if len(closed) != 1:
        return None
    (inside,) = closed
    assert reading.polls is not None
    polls, decides = reading.polls, view.deciding.registers

    def where(some: Run, rank: int) -> Hashable:
        control, values = polls.configuration(rank, some.control[rank], some.registers[rank])
        registers = zip(counted.register_index, values, strict=True)
        return control, tuple(value for name, value in registers if (rank, name) in decides)

    later = [after.runs[each] for each in inside if not after.runs[each].pending()]
    live = [[where(some, rank) for rank in range(len(counted.homes))] for some in (run, *later)]
    if live[0] not in live[1:]:
        return None
    ranks, changing = [], {("cell", *place) for _, place in view.changes}
    for rank in range(len(counted.homes)):
        ranks.append(after.is_in(inside, rank, view))
        for each in inside:
            for mover, to in after.edges[each]:
                if mover == (rank,):
                    changing |= _set_by(counted, after.runs[each], after.runs[to], rank)
    values: set[tuple[Fact, int]] = set()
    for kind, of_ranks in (("register", run.registers), ("cell", run.memory)):
        for rank, own in enumerate(of_ranks):
            values |= {((kind, rank, index), value) for index, value in enumerate(own)}
    kept = frozenset(each for each in values if each[0] not in changing)
    return Outcome(tuple(ranks), kept, frozenset(changing))


def _set_by(machine: Machine, run: Run, after: Run, rank: int) -> set[Fact]:
    """The registers that a command sets which may have led from ``run`` to ``after``."""
    taken = [edge.command for edge in machine.edges(run, rank) if edge.target == after.control[rank]]
    names = [getattr(command, "register", None) for command in taken]
    return {("register", rank, machine.register_index[name]) for name in names if name is not None}
