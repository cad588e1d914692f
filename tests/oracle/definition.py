"""The verdict by the plain definition: try every run (the design: sections 2, 5 and 6)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import Any

from .ends import graph_of
from .happens_before import is_violating, witness
from .precedence import Precedence, key
from .readings import DEFAULT, Reading
from .semantics import Machine, Run
from .syntax import Assert, Await, AwaitAdd, Barrier, Program, numbered, statements

MAX_RUNS, MAX_STEPS = 20_000, 100
COUNTING = Reading("count", "all", "value")


@dataclass(frozen=True, slots=True)
class Result:
    """Every fact by itself. None for `violating` and `fault`: a limit was hit before it could be told.

    `assertions` and `deadlock` are as in the JSON (the design: section 6) and about SC runs. Where `fault` is true they
    mean little: a rank before a faulting command cannot move, and tools end with the fault.
    """

    verdict: str  # "robust", "not robust", "error", "unknown"
    violating: bool | None
    fault: bool | None
    assertions: str | None  # "hold", "violated", "unknown"; None: no assert in the program
    deadlock: bool | str | None  # True, False, "unknown"; None: no barrier, await, await_add or loop in the program
    runs: int  # prefixes of runs that were looked at, SC ones not counted
    sc_runs: int
    witness: dict[str, Any] | None  # computation and cycle of a violation
    fault_witness: dict[str, Any] | None  # an SC run to a fault
    fault_text: str | None
    failed_read: bool = False  # whether a read failed in a run that was looked at
    commuting_met: bool = False  # whether two updates that commute met in one
    cut: bool = False  # whether a bound was hit where it was to be told whether a read fails

    @property
    def allowed(self) -> frozenset[str]:
        """The verdicts that a tool may give: with a fault and a violation either may be reported (the design: section
        3). "unknown" is not counted: whether a tool may give up is for the test to say."""
        verdicts = {"error"} if self.fault is not False else set()
        if self.violating is not False:
            verdicts.add("not robust")
        if self.violating is not True and self.fault is not True:
            verdicts.add("robust")
        return frozenset(verdicts)


def decide(
    program: Program,
    nodes: int | None = None,
    max_runs: int = MAX_RUNS,
    max_steps: int = MAX_STEPS,
    memo: bool = True,
    reading: Reading = DEFAULT,
) -> Result:
    """Decide `program` on `nodes` nodes (its own count when None) by trying every run.

    `max_runs` bounds the prefixes looked at (by each of the two searches: all runs, SC runs), `max_steps` the events of
    one run. Without `memo` every run is tried, and every prefix is tested by `is_violating` alone. `reading` says what
    a violation is; the facts of SC runs are the same for all readings.
    """
    machine = Machine(numbered(program), nodes, reading)
    search = _Search(max_runs, max_steps)
    violation, complete = _violation(machine, search, memo)
    facts = _sc_facts(Machine(numbered(program), nodes, COUNTING), max_runs, max_steps, memo)
    violating = True if violation is not None else (False if complete else None)
    fault = True if facts.fault is not None else (False if facts.complete else None)
    if fault:
        verdict = "error"
    elif violating:
        verdict = "not robust"
    else:
        verdict = "robust" if violating is False and fault is False else "unknown"
    return Result(
        verdict,
        violating,
        fault,
        facts.assertions(machine),
        facts.deadlocks(machine),
        search.runs,
        facts.runs,
        None if violation is None else witness(machine, violation),
        None if facts.fault is None else witness(machine, facts.fault),
        facts.text,
        machine.failed,
        machine.met,
        machine.polls is not None and machine.polls.cut,
    )


class _Search:
    """Visits everything that `successors` reaches, up to the limits."""

    def __init__(self, max_runs: int, max_steps: int) -> None:
        self.max_runs, self.max_steps = max_runs, max_steps
        self.runs = 0
        self.complete = True  # whether no limit has cut anything

    def visit(
        self,
        start: Any,
        successors: Callable[[Any], Iterator[Any]],
        history: Callable[[Any], tuple[Any, ...]],
        key: Callable[[Any], Hashable] | None,
        depth_first: bool,
    ) -> Iterator[Any]:
        """Depth first finds a violation sooner. Breadth first comes to a state by a shortest run, so that the step
        limit cuts no more than it must where there are loops."""
        waiting = deque([start])
        seen = set() if key is None else {key(start)}
        while waiting:
            if self.runs >= self.max_runs:
                self.complete = False
                return
            node = waiting.pop() if depth_first else waiting.popleft()
            self.runs += 1
            yield node
            after = successors(node)
            if len(history(node)) >= self.max_steps:
                if next(after, None) is not None:
                    self.complete = False
                continue
            for successor in after:
                if key is not None:
                    name = key(successor)
                    if name in seen:
                        continue
                    seen.add(name)
                waiting.append(successor)


def _violation(machine: Machine, search: _Search, memo: bool) -> tuple[Run | None, bool]:
    """A run whose prefix already has a cycle (its pending steps can always be emptied, and emptying them takes no edge
    away), and whether all runs were tried."""
    if not memo:
        for run in search.visit(machine.initial(), machine.successors, lambda run: run.history, None, True):
            if is_violating(run.history):
                return run, True
        return None, search.complete

    def successors(node: tuple[Run, Precedence]) -> Iterator[tuple[Run, Precedence]]:
        run, precedence = node
        for after in machine.successors(run):
            yield after, precedence.extended(after.history[len(run.history) :])

    start = (machine.initial(), Precedence.empty(len(machine.homes)))
    depth_first = not _has_loops(machine)
    for run, precedence in search.visit(start, successors, lambda node: node[0].history, _memo_key, depth_first):
        if precedence.cyclic:
            return run, True
    return None, search.complete


def _memo_key(node: tuple[Run, Precedence]) -> Hashable:
    run, precedence = node
    # a run with a cycle ends the search, so that it must not be taken for one seen before
    return ("cyclic",) if precedence.cyclic else key(run, precedence)


def _has_loops(machine: Machine) -> bool:
    """Whether some control state comes back to itself."""
    for table in {tuple(map(tuple, table)) for table in machine.automata}:
        left = set(range(len(table)))
        while ended := {state for state in left if not any(edge.target in left for edge in table[state])}:
            left -= ended
        if left:
            return True
    return False


class _ScFacts:
    """What SC runs can come to."""

    def __init__(self) -> None:
        self.fault: Run | None = None
        self.text: str | None = None
        self.violated = False
        self.deadlock: bool | str = "unknown"
        self.complete = True
        self.runs = 0

    def assertions(self, machine: Machine) -> str | None:
        if not _has(machine, Assert):
            return None
        return "violated" if self.violated else ("hold" if self.complete else "unknown")

    def deadlocks(self, machine: Machine) -> bool | str | None:
        return self.deadlock if _has(machine, Barrier, Await, AwaitAdd) or _has_loops(machine) else None


def _has(machine: Machine, *kinds: type) -> bool:
    """Whether a rank that takes part has such a statement, reachable or not."""
    return any(isinstance(statement, kinds) for body in machine.bodies for statement in statements(body))


def _sc_facts(machine: Machine, max_runs: int, max_steps: int, memo: bool) -> _ScFacts:
    facts = _ScFacts()
    search = _Search(max_runs, max_steps)
    # An SC run has no pending steps between two commands, so that what may follow depends on control, registers and
    # memory alone. An assert leads to the same state whether it holds, so that the last event counts too.
    memo_key = (lambda run: (run.control, run.registers, run.memory, _fails(run))) if memo else None
    for run in search.visit(machine.initial(), machine.sc_successors, lambda run: run.history, memo_key, False):
        facts.violated |= _fails(run)
        if facts.fault is None and (found := machine.faults(run)):
            rank, command, text = found[0]
            facts.fault, facts.text = run, f"line {command.line}, rank {rank}: {text}"
    facts.complete, facts.runs = search.complete, search.runs
    graph = graph_of(machine, max_runs)
    if graph.complete:
        facts.deadlock = any(end.is_deadlock for end in graph.ends())
    return facts


def _fails(run: Run) -> bool:
    return bool(run.history) and not run.history[-1].holds
