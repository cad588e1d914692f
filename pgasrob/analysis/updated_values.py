"""What an update makes of the values of a cell."""

from __future__ import annotations

from pgasrob.analysis.effects import updating
from pgasrob.analysis.value_sets import NONE, Values, between, hull, united, ways
from pgasrob.program import core
from pgasrob.program.expressions import Expr
from pgasrob.semantics.effect import updated


def applied(update: core.Update[Expr], old: Values, operand: Values, expected: Values) -> tuple[Values, Values]:
    """What a cell holds after an ``update`` if it held one of ``old``, and the values among these that change it.

    ``operand`` and ``expected`` have some value, whether or not it is used; ``old`` need not, where that is not used.
    """
    if not update.reads:
        return operand, operand
    combinations = ways([old, operand, expected])
    if combinations is None:
        found = updating(update.operation, update.type)(hull(old), hull(operand), hull(expected))
        written = NONE if found is None else between(*found)
        return united(written, old), written
    made = [(was, updated(update.operation, was, by, other, update.type)) for was, by, other in combinations]
    changed = frozenset(new for was, new in made if new != was)
    return united(NONE, frozenset(new for _, new in made)), united(NONE, changed)


def operand_and_expected(update: core.Update[Expr] | None, given: list[Values]) -> tuple[Values, Values]:
    """The operands of an ``update``, which are ``given`` where it has them, and 0 where not."""
    left, zero = iter(given), frozenset((0,))
    operand = next(left) if update is not None and update.operand is not None else zero
    expected = next(left) if update is not None and update.expected is not None else zero
    return operand, expected
