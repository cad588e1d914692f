"""Turns a run into a witness: with its cycle, or the SC run that it looks like, and the fault at its end."""

from __future__ import annotations

from pgasrob.program.instance import Instance
from pgasrob.robustness.verdict import Fault, Witness
from pgasrob.semantics.computation import Computation
from pgasrob.semantics.endings import is_sequential
from pgasrob.semantics.happens_before import HappensBefore
from pgasrob.semantics.replay import Run, replay
from pgasrob.semantics.sc_order import sequential_order
from pgasrob.semantics.sequential import SequentialSpace, SequentialState


def shown(instance: Instance, computation: Computation) -> Witness:
    """A maximal run of ``instance``, with the cycle of its happens-before relation if there is one, else the SC run
    that it looks like, and the fault where it ends at one."""
    run = replay(instance, computation)
    cycle = HappensBefore.of(run).cycle
    order = None if is_sequential(computation) else sequential_order(instance, computation)
    return Witness("run", run, cycle, fault=_fault_at_the_end(run), sequential=order)


def _fault_at_the_end(run: Run) -> Fault | None:
    """The first fault among the next commands of ranks, at the end of a run in which none can move."""
    space = SequentialSpace(run.instance)
    state = SequentialState(run.control, run.registers, run.memory)
    if any(True for _ in space.successors(state)):
        return None
    return next(
        (
            Fault.at(run.instance, rank, transition, (str(fault), fault.code), run.registers[rank])
            for rank, transition, fault in space.faults(state)
        ),
        None,
    )
