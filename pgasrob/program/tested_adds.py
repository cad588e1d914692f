"""Blocking updates that fetch a value only to compare it: which of them comes last matters, and not their order.

`r <- fetch_add(0, count, 1); if (r == nodes - 1) ...` learns of the old value whether it is `nodes - 1`. It is read as
one command for each outcome of the comparison, which waits for this and leads to where the comparison would
(`proofs/waiting.md`, section 8). Two such updates with the same operand conflict only where one of them turns a
condition that the cell is compared with: adding 1 to a counter, all but the last two may come in any order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pgasrob.program import core
from pgasrob.program.commands import FetchAdd, TestedAdd
from pgasrob.program.comparisons import Comparison, KnownCells, branches
from pgasrob.program.control import ControlAutomaton, Transition
from pgasrob.program.expressions import Const, constant


def with_tested_adds(automaton: ControlAutomaton, known: KnownCells) -> ControlAutomaton:
    """``automaton`` with these updates of ``known`` cells. Their transitions have occurrences of their own, after all
    others."""
    adds = [edge for edge in automaton.transitions if isinstance(edge.command, FetchAdd)]
    if not adds:
        return automaton
    first = 1 + max(each.occurrence for each in automaton.transitions)
    numbers: dict[tuple[int, int], int] = {}

    def read(edge: Transition) -> Sequence[Transition]:
        ways = _ways(automaton, edge, known)
        if not ways:
            return (edge,)
        found = []
        for comparison, target in ways:
            number = numbers.setdefault((edge.occurrence, target.occurrence), first + len(numbers))
            found.append(_testing(edge, *comparison, target, number))
        return found

    return automaton.with_edges(read)


def _ways(
    automaton: ControlAutomaton, edge: Transition, known: KnownCells
) -> list[tuple[Comparison, Transition]] | None:
    """The comparisons of what ``edge`` fetches that come next, each with the assume by which the rank goes on; None
    where it is used otherwise, or too little is known."""
    form, command = edge.form, edge.command
    if not isinstance(command, FetchAdd) or not isinstance(form, core.Immediate):
        return None
    if constant(command.operand) is None or not known.has(form.access.cell):
        return None
    ways = branches(automaton, edge.target, command.register.index)
    if not ways or edge.last:
        return None
    # A loop that draws tickets ends when there are no more: the analysis of counters has to see that.
    draws = automaton.goes_round[edge.target] and ways[0][0].relation not in ("==", "!=")
    return None if draws or known.shows(edge) else ways


def _testing(edge: Transition, relation: str, value: int, after: Transition, occurrence: int) -> Transition:
    """``edge`` where what it fetches compares so, which leads to where ``after`` does."""
    add = edge.command
    assert isinstance(add, FetchAdd)
    tested = TestedAdd(add.register, add.rank, add.address, relation, Const(value), add.operand, add.type)
    made = Transition(tested, after.target, occurrence, edge.span, after.last)
    form = made.form
    assert isinstance(form, core.Immediate)
    kind = f"{constant(add.operand)} {'' if add.type.signed else 'u'}int{add.type.bits}"
    access = form.access._replace(tests=(value,), counts=kind)
    return made.with_form(replace(form, access=access))
