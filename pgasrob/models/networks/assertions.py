"""Finds a run on the network in which an assertion of a program of ranks fails.

Where every run looks like a sequentially consistent one this is a question about those. Else the runs of the machine
are searched: its threads branch where an assertion is, and one in which it fails does nothing more.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from pgasrob.automata.automaton import Reached
from pgasrob.models.litmus.instructions import Assign, Assume, Instruction
from pgasrob.models.litmus.litmus_program import Graph, Program, Thread
from pgasrob.models.model_interface import Execution
from pgasrob.models.operational import State, Step, execution
from pgasrob.models.rdma_tso import RdmaTso
from pgasrob.program import core
from pgasrob.program.expressions import Const, Unary
from pgasrob.program.graphs import reached
from pgasrob.program.instance import Instance
from pgasrob.program.statements import Span
from pgasrob.robustness.reasons import Reason, StateLimit
from pgasrob.robustness.stopping import until_limit
from pgasrob.robustness.watch import Watch

MOST_STATES = 20_000
"""States of the machine that are looked at: some seconds. In a program with loops there may be any number."""


@dataclass(frozen=True, slots=True)
class FailingRun:
    """A ``run`` in which the assertion at ``span`` fails in ``thread``, which does nothing more."""

    thread: int
    span: Span
    run: Execution


@dataclass(frozen=True, slots=True)
class Sought:
    """A failing assertion; without one they all hold, unless a ``reason`` says why not all runs were looked at, or some
    are ``left_out``."""

    failed: FailingRun | None
    reason: Reason | None = None
    states: int = 0
    left_out: bool = False


def failing_assertion(instance: Instance, program: Program, model: RdmaTso, watch: Watch | None = None) -> Sought:
    """Look for a run of ``program``, the translation of ``instance``, in which an assertion fails, the shortest one.

    Threads of a translation may end wherever they may be unable to go on, so each run to a failing assertion can be
    completed. Assertions behind a barrier are left out, as translations have no barrier to wait at. Raises
    :class:`~pgasrob.models.model_interface.Refused` when an expression has no value in some run."""
    claimed, behind_barriers = _claimed(instance)
    branching = replace(program, threads=tuple(_branching(thread, claimed) for thread in program.threads))
    machine = model.machine(branching)
    failing = {branching.names.index(thread.registers[-1]) for thread in branching.threads}
    found: Reached[State, Step] = Reached(machine)
    with until_limit() as stopped:
        for state in found.expand():
            if watch is not None:
                watch.look_around("runs in which an assertion fails", len(found))
            if machine.is_final(state):
                outcome = machine.outcome(state)
                if any(outcome[place] for place in failing):
                    steps = [step for word in found.path(state) for step in word]
                    thread, span = _first_failing(branching, steps)
                    shown = tuple(value for place, value in enumerate(outcome) if place not in failing)
                    run = execution(program, steps, shown)
                    return Sought(FailingRun(thread, span, run), None, len(found))
            if len(found) > MOST_STATES:
                return Sought(None, StateLimit(MOST_STATES), len(found))
    return Sought(None, stopped.reason, len(found), bool(behind_barriers))


_Claimed = set[tuple[int, Span]]
"""For each assertion the register to which the translation assigns whether it holds, and its place."""


def _claimed(instance: Instance) -> tuple[_Claimed, _Claimed]:
    """The assertions of ``instance``, and apart from them those that some rank has behind a barrier."""
    before, behind = _Claimed(), _Claimed()
    for automaton in instance.automata:
        after = [[edge.target for edge in edges] for edges in automaton.out]
        barriers = [edge.target for edge in automaton.transitions if isinstance(edge.form, core.Barrier)]
        late = reached(barriers, after.__getitem__)
        for state, edges in enumerate(automaton.out):
            for edge in edges:
                if isinstance(edge.form, core.Test) and not edge.form.blocks and edge.form.claim is None:
                    (behind if state in late else before).add((len(instance.program.registers), edge.span))
    return before - behind, behind


def _branching(thread: Thread, claimed: _Claimed) -> Thread:
    """``thread`` with a last register that is 1 where it has ended because one of the ``claimed`` assertions fails."""
    failed = len(thread.registers)
    out: list[tuple[tuple[Instruction, int], ...]] = []
    sink, added = len(thread.graph.out), list[tuple[tuple[Instruction, int], ...]]()
    for edges in thread.graph.out:
        found: list[tuple[Instruction, int]] = []
        for instruction, target in edges:
            if isinstance(instruction, Assign) and (instruction.register, instruction.span) in claimed:
                holds, span = instruction.value, instruction.span
                added.append(((Assign(failed, Const(1), span=span), sink),))
                found.append((Assume(holds, span=span), target))
                found.append((Assume(Unary("!", holds), span=span), sink + len(added)))
            else:
                found.append((instruction, target))
        out.append(tuple(found))
    graph = Graph((*out, (), *added), thread.graph.ends | {sink})
    return replace(thread, registers=(*thread.registers, f"an assertion fails at {thread.node}"), graph=graph)


def _first_failing(program: Program, steps: list[Step]) -> tuple[int, Span]:
    """The thread that sets its last register, and the place of the assertion."""
    for step in steps:
        made = step.instruction
        if isinstance(made, Assign) and made.register == len(program.threads[step.thread].registers) - 1:
            return step.thread, made.span
    raise AssertionError("some assertion has failed")
