"""Liveness of registers at the control states of a rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pgasrob.program import core
from pgasrob.program.bits import members
from pgasrob.program.expressions import faults_inside
from pgasrob.stop_points import stop_point


class Edge(Protocol):
    """A command and the control state after it."""

    @property
    def form(self) -> core.Form: ...
    @property
    def target(self) -> int: ...


def live_registers(out: Sequence[Sequence[Edge]]) -> tuple[frozenset[int], ...]:
    """For each control state, whose edges are ``out``, the registers whose values may still be used: read by some
    command before they are set.

    An assign to a register that is not live uses none. Commands that cannot be issued count as well: an assume reads
    its registers to find out whether it holds.
    """
    flows = [[(edge.target, *_used(edge.form)) for edge in leaving] for leaving in out]
    live = [0] * len(flows)
    changed = True
    while changed:
        stop_point()
        changed = False
        for state in reversed(range(len(live))):  # states are numbered forwards, so most of it is done in one go
            found = 0
            for target, read, unset, needed in flows[state]:
                later = live[target]
                found |= later & unset
                if needed or later & ~unset:
                    found |= read
            if found != live[state]:
                live[state], changed = found, True
    sets = {bits: frozenset(members(bits)) for bits in set(live)}
    return tuple(sets[bits] for bits in live)


def _used(form: core.Form) -> tuple[int, int, bool]:
    """The registers that a command reads and those that it does not set, as bits; and whether it reads them even where
    the register that it sets is not live."""
    read = sum(1 << each for each in core.registers_read(form))
    register = core.register_set(form)
    unset = -1 if register is None else ~(1 << register)
    return read, unset, not isinstance(form, core.Assign) or faults_inside(form.value)
