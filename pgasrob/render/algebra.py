"""Simplified guards and addresses, for people to read: sympy does the algebra on terms built from our own trees.

Sums and products are simplified as polynomials, which is sound for wrapped integers (they form a ring); comparisons
are negated and joined by the laws of logic, but nothing is moved across a comparison, where wrapping would matter.
Everything else (division, shifts, bit operations) is opaque. The result has the same value wherever the original has
one; it is for display only, since it may have a value where the original faults.

What would not get simpler is left as it is: products with too many terms, and expressions too large to be read at all.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce
from typing import Any

from pgasrob.program.expressions import INT32, NEGATED, Binary, Conditional, Const, Expr, Unary, operands_of, render

MOST_TERMS = 50
"""Terms up to which a product of sums is multiplied out."""
MOST_COMPARISONS = 6
"""Different comparisons in a condition up to which it is simplified as a formula: its truth table is looked through."""
MOST_PARTS = 1_000
"""Operators and operands of an expression up to which it is simplified."""
RING = frozenset("+-*")


def simplify_guard(condition: Expr) -> Expr:
    """A condition that is true exactly where ``condition`` is non-zero, simplified."""

    def simplified(atoms: _Atoms) -> Expr:
        import sympy

        formula = atoms.logic(condition)
        plain = atoms.logic_back(formula)
        if len(formula.free_symbols) > MOST_COMPARISONS:
            return plain
        return _shorter(atoms.logic_back(sympy.simplify_logic(formula)), plain)

    return _attempt(simplified, condition)


def simplify_value(expr: Expr) -> Expr:
    """An expression with the value of ``expr`` (32 bits, wrapped), simplified."""

    def simplified(atoms: _Atoms) -> Expr:
        import sympy

        return _shorter(atoms.value_back(sympy.expand(atoms.value(expr))), expr)

    return _attempt(simplified, expr)


def _attempt(simplified: Callable[[_Atoms], Expr], expr: Expr) -> Expr:
    """``expr`` simplified, or as it is when it is too large or too deep for that."""
    if _parts(expr) > MOST_PARTS:
        return expr
    try:
        return simplified(_Atoms())
    except RecursionError:
        return expr


def _shorter(first: Expr, second: Expr) -> Expr:
    return min(first, second, key=lambda expr: len(render(expr)))


def _parts(expr: Expr) -> int:
    """The operators and operands of ``expr``."""
    return 1 + sum(map(_parts, operands_of(expr)))


def _terms(expr: Expr) -> int:
    """How many terms ``expr`` has at most when its products are multiplied out; beyond MOST_TERMS it is one more."""
    match expr:
        case Unary("-", operand, type) if type == INT32:
            return _terms(operand)
        case Binary(symbol, left, right, type) if symbol in RING and type == INT32:
            first, second = _terms(left), _terms(right)
            return min(first * second if symbol == "*" else first + second, MOST_TERMS + 1)
    return 1


def _factors(expr: Expr) -> list[Expr]:
    match expr:
        case Binary("*", left, right, type) if type == INT32:
            return _factors(left) + _factors(right)
    return [expr]


class _Atoms:
    """Opaque parts of an expression as sympy symbols, and the way back."""

    def __init__(self) -> None:
        self._symbols: dict[Expr, Any] = {}
        self._exprs: dict[Any, Expr] = {}

    def _atom(self, expr: Expr, boolean: bool = False) -> Any:
        import sympy

        if expr not in self._symbols:
            # Numbered by first use: sympy sorts by name, so the order of terms stays that of the source.
            name = f"{'b' if boolean else 'v'}{len(self._symbols):03}"
            symbol = sympy.Symbol(name) if boolean else sympy.Symbol(name, integer=True)
            self._symbols[expr] = symbol
            self._exprs[symbol] = expr
        return self._symbols[expr]

    def value(self, expr: Expr) -> Any:
        """``expr`` as a sympy polynomial over its opaque parts."""
        import sympy

        match expr:
            case Const(value):
                return sympy.Integer(value)
            case Unary("-", operand, type) if type == INT32:
                return -self.value(operand)
            case Binary("*", _, _, type) if type == INT32 and _terms(expr) > MOST_TERMS:
                return self._atom(reduce(partial(Binary, "*"), map(simplify_value, _factors(expr))))
            case Binary(symbol, left, right, type) if symbol in RING and type == INT32:
                first, second = self.value(left), self.value(right)
                return first + second if symbol == "+" else first - second if symbol == "-" else first * second
            case Unary(symbol, operand, type):
                return self._atom(Unary(symbol, simplify_value(operand), type))
            case Binary(symbol, left, right, type):
                return self._atom(Binary(symbol, simplify_value(left), simplify_value(right), type))
            case Conditional(condition, then, otherwise):
                return self._atom(
                    Conditional(simplify_guard(condition), simplify_value(then), simplify_value(otherwise))
                )
        return self._atom(expr)

    def value_back(self, term: Any) -> Expr:
        """A sympy polynomial as an expression, coefficients wrapped to 32 bits."""
        result: Expr | None = None
        terms = term.as_coefficients_dict().items()
        for factor, coefficient in sorted(terms, key=lambda item: (item[0] == 1, str(item[0]))):
            amount = INT32.wrap(int(coefficient))
            if amount == 0:
                continue
            part: Expr = Const(abs(amount))
            if factor != 1:
                product = self._product(factor)
                part = product if abs(amount) == 1 else Binary("*", Const(abs(amount)), product)
            if result is None:
                result = part if amount > 0 else Unary("-", part) if factor != 1 else Const(amount)
            else:
                result = Binary("+" if amount > 0 else "-", result, part)
        return Const(0) if result is None else result

    def _product(self, factor: Any) -> Expr:
        result: Expr | None = None
        for base, power in factor.as_powers_dict().items():
            for _ in range(int(power)):
                part = self._exprs[base]
                result = part if result is None else Binary("*", result, part)
        assert result is not None
        return result

    def logic(self, condition: Expr) -> Any:
        """The truth of ``condition`` as a sympy formula over its comparisons."""
        import sympy

        match condition:
            case Const(value):
                return sympy.true if value else sympy.false
            case Unary("!", operand):
                return sympy.Not(self.logic(operand))
            case Binary("&&", left, right):
                return sympy.And(self.logic(left), self.logic(right))
            case Binary("||", left, right):
                return sympy.Or(self.logic(left), self.logic(right))
            case Binary(symbol, left, right, type) if symbol in NEGATED:
                first, second = simplify_value(left), simplify_value(right)
                # One atom for a comparison and its negation, so that the two cancel.
                if symbol in ("!=", ">=", "<="):
                    return sympy.Not(self._atom(Binary(NEGATED[symbol], first, second, type), boolean=True))
                return self._atom(Binary(symbol, first, second, type), boolean=True)
        return sympy.Not(self._atom(Binary("==", simplify_value(condition), Const(0)), boolean=True))

    def logic_back(self, formula: Any) -> Expr:
        """A sympy formula as an expression that is 0 or 1."""
        import sympy

        if formula in (sympy.true, sympy.false):
            return Const(int(bool(formula)))
        if isinstance(formula, sympy.Not):
            inner = self.logic_back(formula.args[0])
            if isinstance(inner, Binary) and inner.operator in NEGATED:
                return Binary(NEGATED[inner.operator], inner.left, inner.right, inner.type)
            return Unary("!", inner)
        if isinstance(formula, sympy.And | sympy.Or):
            symbol = "&&" if isinstance(formula, sympy.And) else "||"
            first, *rest = sorted(formula.args, key=str)
            result = self.logic_back(first)
            for part in rest:
                result = Binary(symbol, result, self.logic_back(part))
            return result
        return self._exprs[formula]
