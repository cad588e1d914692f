"""Finds the loops that ranks go round for ever at the end of a run."""

from __future__ import annotations

from pgasrob.analysis.futures import futures
from pgasrob.analysis.relevance import relevance
from pgasrob.program.control import Transition
from pgasrob.program.graphs import components
from pgasrob.program.instance import Instance, Memory, Registers
from pgasrob.semantics.sequential import SequentialSpace, SequentialState, assumes_are_guesses
from pgasrob.semantics.standstill import Standstill


def spinning(
    instance: Instance, control: tuple[int, ...], registers: tuple[Registers, ...], memory: Memory
) -> list[tuple[Transition, ...]]:
    """For each rank the commands of the loop in which it spins at this end of an SC run, a deadlock; none where it
    waits, or has ended.

    A search that forgets values which decide nothing may have ended where these still change; there it is the text that
    says in which loop a rank is.
    """
    state = SequentialState(control, registers, memory)
    deciding = relevance(instance).registers
    live = [[some & deciding[rank] for some in own] for rank, own in enumerate(futures(instance).live)]
    standstill = Standstill(SequentialSpace, instance, assumes_are_guesses(instance), live)
    stays = standstill.stays(state)
    if stays is not None:
        return [stay.loop if stay.how == "spins" else () for stay in stays]
    space = SequentialSpace(instance)
    moving = [any(True for _ in space.issues_of(state, rank)) for rank in range(instance.processes)]
    return [_around(instance, rank, control[rank]) if moves else () for rank, moves in enumerate(moving)]


def _around(instance: Instance, rank: int, control: int) -> tuple[Transition, ...]:
    """The commands on the ways from a control state back to it."""
    out = instance.automata[rank].out
    component = components([[edge.target for edge in leaving] for leaving in out])
    return tuple(
        edge
        for state, leaving in enumerate(out)
        for edge in leaving
        if component[state] == component[edge.target] == component[control]
    )
