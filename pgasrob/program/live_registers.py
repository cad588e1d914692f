"""Liveness of registers at the control states of a rank."""

from __future__ import annotations

from pgasrob.program import core
from pgasrob.program.control import ControlAutomaton
from pgasrob.program.expressions import faults_inside
from pgasrob.stop_points import stop_point


def live_registers(automaton: ControlAutomaton) -> list[frozenset[int]]:
    """For each control state the registers whose values may still be used: read by some command before they are set.

    An assign to a register that is not live uses none. Commands that cannot be issued count as well: an assume reads
    its registers to find out whether it holds.
    """
    live = [frozenset[int]()] * len(automaton.out)
    changed = True
    while changed:
        stop_point()
        changed = False
        for state in reversed(range(len(live))):  # states are numbered forwards, so most of it is done in one go
            found = frozenset[int]()
            for transition in automaton.out[state]:
                form, later = transition.form, live[transition.target]
                found |= later - {core.register_set(form)}
                if not isinstance(form, core.Assign) or form.register in later or faults_inside(form.value):
                    found |= core.registers_read(form)
            if found != live[state]:
                live[state], changed = found, True
    return live
