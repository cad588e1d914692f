"""Decides robustness on RDMA-TSO for programs with loops, by runs in normal form (`proofs/rdma-normal-form.md`).

The states of a run in normal form are finite but for the number of operations of each queue pair that can be polled.
More of these never do harm, so that the search is one for coverability, with the acceleration of Karp and Miller: where
a state comes back with more operations than before, they count as unboundedly many.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from pgasrob.models.litmus.instructions import Instruction, Poll, accesses
from pgasrob.models.litmus.litmus_program import Graph, Program
from pgasrob.models.operational import at
from pgasrob.models.rdma_tso.delays import UNBOUNDED, Delays, Pair, Variant
from pgasrob.models.rdma_tso.late_accesses import HUNG, Access, Command, Issue, State
from pgasrob.models.rdma_tso.processor import ahead, nodes_of_pairs
from pgasrob.program.graphs import reached
from pgasrob.stop_points import stop_point


class Issued(NamedTuple):
    """A command of ``thread`` that is executed, with its ``accesses``; the first ``executed`` of its instructions are,
    the others come late."""

    thread: int
    command: Command
    accesses: tuple[Access, ...]
    executed: int


@dataclass(frozen=True, slots=True)
class NormalForm:
    """A violation in normal form: commands in their order, the last of which does its accesses up to number ``closing``
    before all that come late, and the others at the end."""

    commands: tuple[Issued, ...]
    closing: int


class LateSearch:
    """The runs in normal form of ``program``. A thread may end in each state in which its graph may.

    ``states``: how many there are so far. ``most_polls``: the operations of a pair that can be polled, where there are
    more; None: any number, by acceleration.
    """

    def __init__(self, program: Program, variant: Variant, most_polls: int | None = None) -> None:
        self._program, self._variant, self._most_polls = program, variant, most_polls
        graphs = [thread.graph for thread in program.threads]
        self._commands = [_commands(graph) for graph in graphs]
        self._nodes = [nodes_of_pairs(program, graph) for graph in graphs]
        self._polls_ahead = [ahead(program, graph, Poll) for graph in graphs]
        self._shared = _shared(program)
        self._nothing_late = [Delays(False, (Pair(),) * len(nodes)) for nodes in self._nodes]
        self._came_from: dict[State, tuple[State, Issued] | None] = {}
        self._polls_in: dict[State, list[State]] = {}

    @property
    def states(self) -> int:
        return len(self._came_from)

    def run(self) -> Iterator[NormalForm | None]:
        """Go through all states, with None after each, until there is a violation, which has the fewest commands."""
        program = self._program
        first = State(
            (0,) * len(program.threads),
            tuple((0,) * len(thread.registers) for thread in program.threads),
            tuple(location.initial for location in program.locations),
            tuple(self._nothing_late),
            None,
            tuple((0,) * len(nodes) for nodes in self._nodes),
        )
        queue: deque[State] = deque()
        self._meet(first, None, queue)
        while queue:
            stop_point()
            state = queue.popleft()
            for thread, control in enumerate(state.controls):
                for command in self._commands[thread][control] if control != HUNG else ():
                    if (closing := self._closes(state, thread, command)) is not None:
                        yield self._normal_form(state, closing)
                        return
                    if state.attack is not None and state.attack.torn:
                        continue  # nothing but the last command follows
                    for issue in self._issues(state, thread, command):
                        step = _issued(thread, command, issue)
                        self._meet(self._plain(issue.after(command.target), thread), (state, step), queue)
            yield None

    def _issues(self, state: State, thread: int, command: Command) -> Iterator[Issue]:
        """The ways in which a command can be executed: with nothing late that need not be, or as the source."""
        issue = self._issue(state, thread)
        if not issue.execute(command):
            return
        yield issue
        if state.attack is None:
            for number, access in enumerate(issue.accesses):
                if self._may_be_source(access):
                    attacked = self._issue(state, thread)
                    if attacked.execute(command, number):
                        yield attacked

    def _issue(self, state: State, thread: int) -> Issue:
        return Issue(self._program, self._variant, self._nodes[thread], state, thread)

    def _may_be_source(self, access: Access) -> bool:
        """Whether a violation may have this access as its source. A remote atomic comes late as a whole by its read, or
        by its write alone where others may come between; a load if it is a later part of a command."""
        if access.queue[0] == "update" and (self._variant.glob or not access.writes):
            return False
        return (access.queue[0] != "cpu" or access.place > 0) and access.location in self._shared

    def _closes(self, state: State, thread: int, command: Command) -> tuple[Issued, int] | None:
        """The command as the last one of a violation, with the access by which it comes before the source."""
        if state.attack is None:
            return None
        issue = self._issue(state, thread)
        if not issue.execute(command, last=True):
            return None
        for number in range(len(issue.accesses)):
            if issue.closes(number):
                return _issued(thread, command, issue), number
        return None

    def _plain(self, state: State, thread: int) -> State:
        """``state`` without what no command of ``thread`` asks for any more."""
        control = state.controls[thread]
        delays, registers, polls = state.delays, state.registers, state.polls
        if control == HUNG or not self._commands[thread][control]:
            nothing = (0,) * len(self._nodes[thread])
            return state._replace(
                delays=at(delays, thread, self._nothing_late[thread]),
                registers=at(registers, thread, (0,) * len(registers[thread])),
                polls=at(polls, thread, nothing),
            )
        most = UNBOUNDED if self._most_polls is None else self._most_polls
        polled = self._polls_ahead[thread][control]
        counts = tuple(min(count, most) if pair in polled else 0 for pair, count in enumerate(polls[thread]))
        return state if counts == polls[thread] else state._replace(polls=at(polls, thread, counts))

    def _meet(self, state: State, origin: tuple[State, Issued] | None, queue: deque[State]) -> None:
        """Note a state, unless one with as many operations that can be polled is known, where any number counts."""
        if state in self._came_from:
            return
        if self._most_polls is None:
            known = self._polls_in.setdefault(state._replace(polls=()), [])
            if origin is not None:
                for other in known:
                    if _covers(state, other) and self._is_before(other, origin[0]):
                        state = state._replace(polls=_accelerated(other.polls, state.polls))
            if any(_covers(other, state) for other in known):
                return
            known.append(state)
        self._came_from[state] = origin
        queue.append(state)

    def _is_before(self, state: State, other: State) -> bool:
        """Whether the way to ``other`` passes ``state``."""
        while other != state:
            origin = self._came_from[other]
            if origin is None:
                return False
            other = origin[0]
        return True

    def _normal_form(self, state: State, closing: tuple[Issued, int]) -> NormalForm:
        commands = [closing[0]]
        while (origin := self._came_from[state]) is not None:
            state = origin[0]
            commands.append(origin[1])
        return NormalForm(tuple(reversed(commands)), closing[1])


def _issued(thread: int, command: Command, issue: Issue) -> Issued:
    return Issued(thread, command, tuple(issue.accesses), issue.executed)


def _covers(state: State, other: State) -> bool:
    """Whether ``state`` has at least as many operations that can be polled as ``other``, pair by pair."""
    return all(
        one >= two
        for mine, others in zip(state.polls, other.polls, strict=True)
        for one, two in zip(mine, others, strict=True)
    )


def _accelerated(
    before: tuple[tuple[int, ...], ...], after: tuple[tuple[int, ...], ...]
) -> tuple[tuple[int, ...], ...]:
    """``after``, with unboundedly many where there are more than ``before``."""
    return tuple(
        tuple(UNBOUNDED if two > one else two for one, two in zip(first, second, strict=True))
        for first, second in zip(before, after, strict=True)
    )


def _commands(graph: Graph) -> list[list[Command]]:
    """For each state in which a thread may end the commands that leave it."""
    found: list[list[Command]] = [[] for _ in graph.out]
    for start in reached([0], lambda state: [target for _, target in graph.out[state]]):
        if start not in graph.ends:
            continue
        begun: list[tuple[tuple[Instruction, ...], int]] = [((each,), target) for each, target in graph.out[start]]
        while begun:
            instructions, target = begun.pop(0)
            if target in graph.ends:
                found[start].append(Command(instructions, target))
            else:
                begun += [((*instructions, each), then) for each, then in graph.out[target]]
    return found


def _shared(program: Program) -> frozenset[int]:
    """The locations that instructions of two places access, one of which writes: a violation has such a source."""
    accessed: Counter[int] = Counter()
    written: set[int] = set()
    for thread in program.threads:
        for instruction in thread.graph.instructions:
            for access in accesses(instruction):
                accessed[program.place(access.cell)] += 1 if thread.graph.bounded else 2
                if access.writes:
                    written.add(program.place(access.cell))
    return frozenset(location for location in written if accessed[location] > 1)
