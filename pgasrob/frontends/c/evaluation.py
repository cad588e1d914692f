"""Values of C that are too large to be kept as expressions, or that may fail, when they are computed."""

from __future__ import annotations

from dataclasses import replace

from pgasrob.frontends.c import arithmetic
from pgasrob.frontends.c.issuing import Issuer
from pgasrob.frontends.c.nondeterminism import leaves, only_leaves
from pgasrob.frontends.c.registers import Registers
from pgasrob.frontends.c.together import LARGEST, weight
from pgasrob.frontends.c.undecided import Undecided
from pgasrob.frontends.c.values import UNDEFINED, Unknown, Value
from pgasrob.frontends.c.writer import Writer
from pgasrob.program import commands
from pgasrob.program.expressions import Binary, Const, Expr, Register, may_fault
from pgasrob.program.statements import Block, Choose, Do

LARGEST_EXPRESSION = 16
"""Operations and leaves; what is larger is computed into a register, or is an unknown value of its own."""


class Evaluation:
    """Computes what cannot be kept as an expression."""

    def __init__(self, writer: Writer, registers: Registers, undecided: Undecided, issuer: Issuer) -> None:
        self.position = writer.position
        self.writer = writer
        self.registers = registers
        self.undecided = undecided
        self.issuer = issuer

    def materialised(self, value: Value, hint: str = "t") -> Value:
        """``value`` in a register when it is a large expression, or one that may fault."""
        if not isinstance(value, Unknown) or isinstance(value.expr, Register):
            return value
        expr = self.undecided.with_known(value.expr)
        if expr is not value.expr:
            value = arithmetic.value_of(expr)
        if isinstance(expr, Register | Const):
            return value
        faults, large = may_fault(expr), arithmetic.size(expr) > LARGEST_EXPRESSION
        if not faults and not large:
            return value
        if not leaves(expr):
            register = self.registers.register(hint)
            self.issuer.issue(commands.Assign(register, expr))
            return Unknown(register)
        if faults and isinstance(expr, Binary):
            self._may_fail(expr)
            if not self.writer.open:
                return UNDEFINED
        if large or not only_leaves(expr):
            return Unknown(self._apart(expr))
        return value

    def _apart(self, expr: Expr) -> Expr:
        """``expr`` as an unknown value of its own, of which no more is known but what it has been computed of."""
        value = self.undecided.blurred(expr)
        return replace(value, made=expr) if only_leaves(expr) and weight(expr) <= LARGEST else value

    def _may_fail(self, expr: Binary) -> None:
        """``expr``, a division or a shift, has no value for some of what it may be."""
        right = expr.right
        if not leaves(right):
            # Of what is divided no more is known, but of this: it faults here or nowhere.
            self.issuer.issue(
                commands.Assign(self.registers.register("t"), Binary(expr.operator, Const(0), right, expr.type))
            )
            return
        bounds, divides = self.undecided.bounds(right), expr.operator in ("/", "%")
        if divides:
            fails = bounds is None or (bounds.low <= 0 <= bounds.high and 0 not in bounds.others)
        else:
            fails = bounds is None or bounds.low < 0 or bounds.high >= expr.type.bits
        if not fails:
            return
        if self.undecided.drawn(right, lambda value: not value if divides else not 0 <= value < expr.type.bits):
            without = Binary(expr.operator, Const(0), Const(0 if divides else -1), expr.type)
            failing = Do(commands.Assign(self.registers.register("undefined"), without), self.position.span)
            self.writer.write(Choose((Block((failing,)), Block(()))))
        else:
            self.position.gap(
                f"the right side of `{expr.operator}` is an unknown value, and for some values the result is undefined"
            )
        if divides and only_leaves(right):
            self.undecided.assume(self.position.state, Binary("!=", right, Const(0), expr.type), True)
