"""Finds the conditions that have held on all ways to a control state, and whose registers have not been set since."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pgasrob.program import core
from pgasrob.program.control import ControlAutomaton
from pgasrob.program.expressions import MIRRORED, NEGATED, Binary, Expr, Nodes, Unary, registers_of
from pgasrob.stop_points import stop_point

Guards = frozenset[Expr]


def guards(automaton: ControlAutomaton) -> list[Guards]:
    """The conditions that hold at each state, as they stand in the program; none where no rank comes."""
    found: list[Guards | None] = [frozenset(), *[None] * (len(automaton.out) - 1)]
    left = [0]
    while left:
        stop_point()
        state = left.pop()
        for transition in automaton.out[state]:
            known, form = found[state] or frozenset(), transition.form
            if isinstance(form, core.Test) and form.blocks:
                known |= {form.condition}
            elif (register := core.register_set(form)) is not None:
                known = frozenset(each for each in known if register not in registers_of(each))
            old = found[transition.target]
            new = known if old is None else old & known
            if new != old:
                found[transition.target] = new
                left.append(transition.target)
    return [each or frozenset() for each in found]


def is_below_nodes(expr: Expr, conditions: Iterable[Expr]) -> bool:
    """Whether one of ``conditions`` says that ``expr`` is less than the number of nodes."""
    return any((expr, Nodes()) in _less(condition, True) for condition in conditions)


def _less(condition: Expr, truth: bool) -> Iterator[tuple[Expr, Expr]]:
    """The pairs of which one is less than the other where ``condition`` is true, or is not."""
    match condition:
        case Unary("!", operand):
            yield from _less(operand, not truth)
        case Binary("&&" | "||" as symbol, left, right) if truth == (symbol == "&&"):
            yield from _less(left, truth)
            yield from _less(right, truth)
        case Binary(symbol, left, right) if symbol in MIRRORED:
            relation = symbol if truth else NEGATED[symbol]
            if relation == "<":
                yield left, right
            if MIRRORED[relation] == "<":
                yield right, left
