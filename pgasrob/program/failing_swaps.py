"""Compare-and-swaps as two commands, one that swaps and one that fails, which only reads (the design, section 2).

A blocking compare_swap whose cell does not hold what is expected changes nothing, so that it conflicts with changes of
the cell alone, as a fetch does. Which of the two it is depends on the cell: each waits for a value, and one of them is
always enabled (`proofs/commuting.md`, section 5). Operations whose step compares later are one command each.
"""

from __future__ import annotations

from dataclasses import fields, replace

from pgasrob.program import core
from pgasrob.program.commands import CompareSwap, FailedCompareSwap
from pgasrob.program.control import ControlAutomaton, Transition


def with_failing_swaps(automaton: ControlAutomaton) -> ControlAutomaton:
    """``automaton`` with each compare_swap as two transitions. The one that fails has an occurrence of its own, after
    those of the program."""
    swaps = sorted({each.occurrence for each in automaton.transitions if isinstance(each.command, CompareSwap)})
    first = 1 + max(each.occurrence for each in automaton.transitions)
    failing = {occurrence: first + number for number, occurrence in enumerate(swaps)}
    return automaton.with_edges(
        lambda edge: _both(edge, failing[edge.occurrence]) if edge.occurrence in failing else (edge,)
    )


def without_failing_swaps(automaton: ControlAutomaton) -> ControlAutomaton:
    """``automaton`` without the transitions that `with_failing_swaps` has added."""
    return automaton.with_edges(lambda edge: () if isinstance(edge.command, FailedCompareSwap) else (edge,))


def _both(edge: Transition, failing: int) -> tuple[Transition, Transition]:
    """The transition that swaps, and the one that fails, with its occurrence."""
    swap, form = edge.command, edge.form
    assert isinstance(swap, CompareSwap) and isinstance(form, core.Immediate)
    fails = FailedCompareSwap(**{each.name: getattr(swap, each.name) for each in fields(swap)})
    swaps = edge.with_form(replace(form, condition=core.Comparison("==", swap.expected)))
    return swaps, Transition(fails, edge.target, failing, edge.span, edge.last)
