"""Decides robustness on a network: no execution has a cycle in po + rf + mo + rb, an operation being one node.

Three ways to decide it. Programs without loops have finitely many executions, which the axiomatic model gives one by
one. Their runs are searched over a machine, with the monitor of happens-before that the `definition` engine has
(`semantics.monitor`, `proofs/models.md`): that ends when finitely many operations can be pending. On RDMA-TSO programs
with loops are decided by runs in normal form (`proofs/rdma-normal-form.md`).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Generic, TypeVar

from pgasrob.automata.automaton import Reached
from pgasrob.models.litmus.instructions import Poll
from pgasrob.models.litmus.litmus_program import UNDEFINED, Program
from pgasrob.models.model_interface import Axiomatic, CycleEdge, Execution
from pgasrob.models.operational import Machine, Queue, Step, Word, execution
from pgasrob.models.operational import State as MachineState
from pgasrob.models.rdma_tso import RdmaTso
from pgasrob.models.rdma_tso.delays import Variant
from pgasrob.models.rdma_tso.late_search import LateSearch, NormalForm
from pgasrob.models.rdma_tso.late_witness import run_of
from pgasrob.models.relations import shortest_path
from pgasrob.robustness.reasons import InternalError, PendingBound, Reason, StateLimit
from pgasrob.robustness.stopping import until_limit
from pgasrob.robustness.watch import Watch
from pgasrob.semantics.monitor import READ, WRITTEN, Command, Monitor, Reach, nothing_yet

Local = TypeVar("Local", bound=Hashable)

MOST_PENDING = 16
"""Pending operations and stores of one thread up to which a search goes on."""
ROUNDS = (1, 8, 64)
"""For each poll in a violation so many operations of a queue pair are counted in search of a run, where a loop has to
go round often enough for these polls, and may poll some itself."""
RELATIONS = ("rf", "mo", "rb", "po")
"""The relations in a cycle; where several relations have an edge between two nodes, the first of these is shown."""


@dataclass(frozen=True, slots=True)
class Violation:
    """An execution that no sequentially consistent one looks like. ``cycle``: its edges in order, between events of
    different commands; empty where a value is undefined (coreRMA)."""

    execution: Execution
    cycle: tuple[CycleEdge, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """The result of a search: a ``violation``; None means that there is none at all, unless a ``reason`` says why the
    search is incomplete. ``states``: how many states, or executions, were looked at."""

    violation: Violation | None
    reason: Reason | None = None
    states: int = 0


# Executions


Node = tuple[int, int]
"""The thread of a command, and the number of its first instruction among those executed."""


def nodes_of(run: Execution) -> list[Node | None]:
    """The command of each event; None for initial writes."""
    return [None if event.thread is None else (event.thread, event.operation) for event in run.events]


def cycle_of(run: Execution) -> tuple[CycleEdge, ...]:
    """A shortest cycle in po + rf + mo + rb of ``run``, commands merged; empty when there is none."""
    nodes = nodes_of(run)
    edges: dict[Node, dict[Node, CycleEdge]] = {}
    for relation in RELATIONS[:3]:
        for source, target in sorted(run.relations.get(relation, ())):
            first, second = nodes[source], nodes[target]
            if first is not None and second is not None and first != second:
                edges.setdefault(first, {}).setdefault(second, CycleEdge(source, target, relation, ""))
    events: dict[int, dict[Node, tuple[int, int]]] = {}  # of each command its first and its last event
    for number, node in enumerate(nodes):
        if node is not None:
            of_thread = events.setdefault(node[0], {})
            of_thread[node] = (of_thread.get(node, (number, number))[0], number)
    for of_thread in events.values():
        order = sorted(of_thread)
        for place, earlier in enumerate(order):
            for later in order[place + 1 :]:
                edge = CycleEdge(of_thread[earlier][1], of_thread[later][0], "po", "")
                edges.setdefault(earlier, {}).setdefault(later, edge)
    cycles = (shortest_path(edges, start, start) for start in edges)
    best = min(filter(None, cycles), key=len, default=[])
    return tuple(edges[node][following] for node, following in pairwise(best))


def violation_in(run: Execution) -> Violation | None:
    """The consistent execution ``run`` as a violation; None where it has no cycle and no undefined value."""
    cycle = cycle_of(run)
    undefined = UNDEFINED in run.outcome or any(UNDEFINED in (event.reads, event.writes) for event in run.events)
    return Violation(run, cycle) if cycle or undefined else None


def by_executions(model: Axiomatic, program: Program, watch: Watch | None = None, most: int | None = None) -> Found:
    """Look at every consistent execution of a bounded program until one is a violation, or ``most`` have been seen.

    Raises :class:`~pgasrob.models.model_interface.Refused`."""
    count = 0
    with until_limit() as stopped:
        for count, run in enumerate(model.executions(program, watch), 1):
            if watch is not None:
                watch.look_around("executions", count)
            if most is not None and count > most:
                return Found(None, StateLimit(most), count)
            if violation := violation_in(run):
                return Found(violation, states=count)
    return Found(None, stopped.reason, count)


# Runs in normal form


def by_normal_forms(program: Program, model: RdmaTso, watch: Watch | None = None) -> Found:
    """The search for a violation in normal form (`proofs/rdma-normal-form.md`), which ends for every program. Threads
    may end behind each command. A violation that is found has the fewest commands; the run of it is one of the machine.

    Raises :class:`~pgasrob.models.model_interface.Refused` when an expression has no value in some run."""
    program = program.everywhere
    machine, looked_at = model.machine(program, reduced=False), 0
    variant = Variant(model.pcie, model.placed, model.atomics == "glob")

    def first(most_polls: int | None) -> NormalForm | None:
        nonlocal looked_at
        search, found = LateSearch(program, variant, most_polls), None
        for each in search.run():
            found = each
            if watch is not None:
                watch.look_around("runs in normal form", looked_at + search.states)
        looked_at += search.states
        return found

    with until_limit() as stopped:
        found = first(None)
        if found is None:
            return Found(None, None, looked_at)
        polls = sum(isinstance(each, Poll) for issued in found.commands for each in issued.command.instructions)
        for rounds in (*ROUNDS, None):
            run = None if found is None else run_of(machine, found)
            violation = None if run is None else violation_in(run)
            if violation is not None:
                return Found(violation, states=looked_at)
            if rounds is None or not polls:
                break
            found = first(polls * rounds)
        why = "is none of the machine, or no violation"
        return Found(None, InternalError.of_run("normal forms", why), looked_at)
    return Found(None, stopped.reason, looked_at)


# Runs


Summary = tuple[Reach, tuple[tuple[tuple[tuple[Queue, ...], bool], ...], ...]]
"""A summary of the run so far: the monitor's, and for each pending command of each thread the queues in which its
events wait, and whether more of its instructions are still to come."""
Watched = tuple[MachineState, Summary | None]
"""A state of the machine; None: there is a cycle already."""


class MonitoredRuns(Generic[Local]):
    """The runs of a machine, watched by a monitor of happens-before. Final states end complete runs with a cycle.

    ``cut``: whether a state was not expanded because a thread had more than MOST_PENDING commands pending.
    """

    def __init__(self, machine: Machine[Local]) -> None:
        self._machine = machine
        self.cut = False
        threads = len(machine.program.threads)
        self.initial: Watched = (machine.initial, (nothing_yet(threads), ((),) * threads))

    def is_final(self, state: Watched) -> bool:
        return state[1] is None and self._machine.is_final(state[0])

    def successors(self, state: Watched) -> Iterator[tuple[Word, Watched]]:
        here, summary = state
        if summary is None:
            for word, target in self._machine.successors(here):
                yield word, (target, None)
            return
        if max(map(len, summary[1])) > MOST_PENDING:
            self.cut = True
            return
        for word, target in self._machine.successors(here):
            yield word, (target, self._after(summary, word))

    def _after(self, summary: Summary, word: Word) -> Summary | None:
        if not any(map(_matters, word)):
            return summary
        monitor = Monitor(summary[0])
        waiting = [
            dict(zip(commands, known, strict=True)) for commands, known in zip(monitor.pending, summary[1], strict=True)
        ]
        for step in word:
            self._step(monitor, waiting[step.thread], step)
            if monitor.cyclic:
                return None
        pending = tuple(
            tuple(known[command] for command in commands)
            for commands, known in zip(monitor.pending, waiting, strict=True)
        )
        return monitor.reach(), pending

    def _step(self, monitor: Monitor, waiting: dict[Command, tuple[tuple[Queue, ...], bool]], step: Step) -> None:
        if step.instruction is not None:
            begun = tuple(each.queue for each in step.begins if each.location is not None)
            more, latest = step.instruction.part.more, monitor.pending[step.thread][-1:]
            if latest and waiting[latest[0]][1]:
                waiting[latest[0]] = (*waiting[latest[0]][0], *begun), more
            elif begun:
                waiting[monitor.issue(step.thread)] = begun, more
        for access in step.accesses:
            if access.location is None:
                continue
            command = _nth(waiting, access.queue, access.before)
            writer = None if access.own is None else _nth(waiting, *access.own)
            queues, more = waiting[command]
            place = queues.index(access.queue)
            waiting[command] = ((*queues[:place], *queues[place + 1 :]), more)
            if access.nothing:
                continue
            if writer is None:
                monitor.access(command, access.location, READ if access.writes is None else WRITTEN)
            elif writer != command:
                monitor.read_unplaced(command, writer)
        for command, (queues, more) in list(waiting.items()):
            if not queues and not more:
                monitor.finish(command)
                del waiting[command]


def _matters(step: Step) -> bool:
    """Whether it begins or accesses something, or may be the last part of a command that has."""
    return bool(step.begins or step.accesses or (step.instruction is not None and step.instruction.part.place))


def _nth(waiting: dict[Command, tuple[tuple[Queue, ...], bool]], queue: Queue, before: int) -> Command:
    """The command of the event with ``before`` others ahead of it in ``queue``."""
    for command in waiting:
        count = waiting[command][0].count(queue)
        if before < count:
            return command
        before -= count
    raise AssertionError("nothing waits there")


def by_runs(machine: Machine[Local], watch: Watch | None = None, most: int | None = None) -> Found:
    """The search over the runs of ``machine``, among ``most`` states; a violation that is found has the fewest
    transitions.

    Raises :class:`~pgasrob.models.model_interface.Refused` when an expression has no value in some run."""
    space = MonitoredRuns(machine)
    reached: Reached[Watched, Step] = Reached(space)
    with until_limit() as stopped:
        for state in reached.expand():
            if watch is not None:
                watch.look_around("the runs", len(reached))
            if most is not None and len(reached) > most:
                return Found(None, StateLimit(most), len(reached))
            if space.is_final(state):
                steps = [step for word in reached.path(state) for step in word]
                run = execution(machine.program, steps, machine.outcome(state[0]))
                violation = violation_in(run)
                assert violation is not None, "the monitor has seen a cycle"
                return Found(violation, states=len(reached))
    cut = PendingBound(MOST_PENDING) if space.cut else None
    return Found(None, stopped.reason or cut, len(reached))
