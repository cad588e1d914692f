"""The ends of SC runs, from their definition: sets of states that no run leaves and in which nothing changes any more.

All polls are events here (the reading must count them). The whole graph of SC states is made first. A set of states is
an end when runs lead from each of them to each other, and nowhere else, and nothing decides there what a rank does that
another one still changes. A rank without a move in it has ended, stands before false assumes alone, before an exit, or
*waits*; one with a move *spins*, unless it may stop or end there by a choice of its own, or goes round a loop without a
way out in which it passes data on to others, or takes it from them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from .control import may_end
from .deciding import Deciding, Doing, cells_of, names
from .operations import Place
from .semantics import Machine, Run
from .syntax import Assume, Exit, Statement

State = tuple[tuple[int, ...], tuple[tuple[int, ...], ...], tuple[tuple[int, ...], ...]]


@dataclass(slots=True)
class End:
    """A set of states, and how each rank is in it: "ended", "stopped", "exits", "waits", "spins", or "free" where it
    goes round and may end or stop by its own choice."""

    states: list[State]
    ranks: list[str] = field(default_factory=list)

    @property
    def is_deadlock(self) -> bool:
        return not {"waits", "spins"}.isdisjoint(self.ranks) and "exits" not in self.ranks


@dataclass(slots=True)
class Graph:
    """The SC states of a program. `edges`: by state, the processes that move, several at a barrier, and where to."""

    machine: Machine
    states: list[State] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    edges: list[list[tuple[tuple[int, ...], int]]] = field(default_factory=list)
    complete: bool = True

    def ends(self) -> list[End]:
        found = []
        for inside in closed_sets([[to for _, to in edges] for edges in self.edges]):
            view = View(self, inside)
            if view.nobody_sees_a_change:
                ranks = [self.is_in(inside, rank, view) for rank in range(len(self.machine.homes))]
                found.append(End([self.states[each] for each in inside], ranks))
        return found

    def is_in(self, inside: list[int], rank: int, view: View) -> str:
        machine = self.machine
        moves = [(each, to) for each in inside for movers, to in self.edges[each] if rank in movers]
        nexts = [machine.edges(self.runs[each], rank) for each in inside]
        if any(isinstance(edge.command, Exit) for edges in nexts for edge in edges):
            return "exits"
        if not moves:
            (edges, *_) = nexts
            if not edges:
                return "ended"
            return "stopped" if all(isinstance(edge.command, Assume) for edge in edges) else "waits"
        if any(may_end(machine.bodies[rank])[self.states[to][0][rank]] for _, to in moves):
            return "free"
        if any(self._may_stop(each, rank) for each in inside) or (
            view.passes(rank) and not self._has_a_way_out(inside, rank)
        ):
            return "free"
        return "spins"

    def _has_a_way_out(self, inside: list[int], rank: int) -> bool:
        """Whether a command that `rank` comes to would lead to where it never is, but for false constants."""
        places = {self.runs[each].control[rank] for each in inside}
        for each in inside:
            run = self.runs[each]
            for number, edge in enumerate(self.machine.edges(run, rank)):
                never = isinstance(edge.command, Assume) and not set(names(edge.command.condition)) & set(
                    self.machine.register_index
                )
                if (
                    not (never and not self.machine.operands(run, rank, number)["condition"])
                    and edge.target not in places
                ):
                    return True
        return False

    def _may_stop(self, each: int, rank: int) -> bool:
        """Whether `rank` has the choice between a false assume and another command."""
        edges = self.machine.edges(self.runs[each], rank)
        assumes = [number for number, edge in enumerate(edges) if isinstance(edge.command, Assume)]
        run = self.runs[each]
        false = [number for number in assumes if not self.machine.operands(run, rank, number)["condition"]]
        return bool(false) and len(assumes) < len(edges)


class View:
    """What the ranks have to do with each other in some states of a graph."""

    def __init__(self, graph: Graph, inside: list[int]) -> None:
        doings: dict[tuple[int, Statement], Doing] = {}
        self.changes: set[tuple[int, Place]] = set()
        for each in inside:
            run = graph.runs[each]
            for rank in range(len(graph.machine.homes)):
                for number, edge in enumerate(graph.machine.edges(run, rank)):
                    used, written = cells_of(
                        edge.command, graph.machine.homes[rank], graph.machine.operands(run, rank, number)
                    )
                    doing = doings.setdefault((rank, edge.command), Doing(rank, edge.command, set(), set()))
                    doing.used |= used
                    doing.written |= written
            for movers, to in graph.edges[each]:
                for place in _differing(graph.states[each][2], graph.states[to][2]):
                    (mover,) = movers
                    self.changes.add((mover, place))
        self.doings, self.deciding = list(doings.values()), Deciding(list(doings.values()))

    @property
    def nobody_sees_a_change(self) -> bool:
        """Whether nothing decides what a rank does that another one changes."""
        reads = {(doing.rank, place) for doing in self.doings for place in doing.used & self.deciding.places}
        return not any(rank != mover and place == its for mover, place in self.changes for rank, its in reads)

    def passes(self, rank: int) -> bool:
        """Whether a rank passes data that decides nothing to another one, or takes it from there."""
        return any(
            (one.used & other.written) - self.deciding.places
            for one in self.doings
            for other in self.doings
            if one.rank != other.rank and rank in (one.rank, other.rank)
        )


def leads_to_a_deadlock(machine: Machine, run: Run) -> bool:
    """Whether each end after `run`, in which nothing is pending, is a deadlock."""
    graph = graph_of(machine, start=_forgetful(run))
    ends = graph.ends()
    return graph.complete and bool(ends) and all(end.is_deadlock for end in ends)


def graph_of(machine: Machine, most: int = 5_000, start: Run | None = None) -> Graph:
    """The states to which SC runs lead from `start`, the initial state when None; not all of them when there are more
    than `most`, or before a fault."""
    assert machine.polls is None, "polls that fail are events here"
    graph = Graph(machine)
    numbers: dict[State, int] = {}

    def number_of(run: Run) -> int:
        state = (run.control, run.registers, run.memory)
        if state not in numbers:
            numbers[state] = len(numbers)
            graph.states.append(state)
            graph.runs.append(_forgetful(run))
            graph.edges.append([])
        return numbers[state]

    number_of(start or machine.initial())
    for each, run in enumerate(graph.runs):  # grows on the way
        if len(graph.runs) > most or machine.faults(run):
            graph.complete = False
            return graph
        for after in machine.sc_successors(run):
            issued = after.history[len(run.history) :]
            movers = tuple(each.rank for each in issued if not each.is_step)
            graph.edges[each].append((movers, number_of(after)))
    return graph


def _forgetful(run: Run) -> Run:
    """The run without its past, on which nothing depends when nothing is pending."""
    return Run(run.control, run.registers, run.memory, tuple(() for _ in run.control), {})


def _differing(one: tuple[tuple[int, ...], ...], other: tuple[tuple[int, ...], ...]) -> Iterator[Place]:
    for rank, (cells, others) in enumerate(zip(one, other, strict=True)):
        for address, (value, another) in enumerate(zip(cells, others, strict=True)):
            if value != another:
                yield rank, address


def closed_sets(successors: list[list[int]]) -> list[list[int]]:
    """The sets of nodes that lead to each other and nowhere else (Tarjan's algorithm, without recursion)."""
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    on_stack: set[int] = set()
    of: dict[int, int] = {}
    sets: list[list[int]] = []
    for root in range(len(successors)):
        work = [(root, 0)] if root not in index else []
        while work:
            node, place = work.pop()
            if place == 0:
                index[node] = low[node] = len(index)
                stack.append(node)
                on_stack.add(node)
            if place < len(successors[node]):
                work.append((node, place + 1))
                target = successors[node][place]
                if target not in index:
                    work.append((target, 0))
                elif target in on_stack:
                    low[node] = min(low[node], index[target])
                continue
            if low[node] == index[node]:
                found = []
                while not found or found[-1] != node:
                    found.append(stack.pop())
                    on_stack.discard(found[-1])
                    of[found[-1]] = len(sets)
                sets.append(found)
            if work:
                before = work[-1][0]
                low[before] = min(low[before], low[node])
    return [inside for inside in sets if all(of[to] == of[node] for node in inside for to in successors[node])]
