"""The values that expressions may have on every number of nodes, and what conditions say of registers.

As `analysis.intervals`, with `me` and `nodes` in the expressions and linear forms for bounds. None stands for an empty
set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import and_, or_, xor

from pgasrob.analysis.intervals import DOUBLES, operation
from pgasrob.program.expressions import (
    INT32,
    MIRRORED,
    NEGATED,
    RELATIONS,
    Binary,
    Conditional,
    Const,
    Expr,
    IntType,
    Me,
    Nodes,
    Register,
    Symbol,
    Unary,
    registers_of,
)
from pgasrob.robustness.every_n.linear import (
    EITHER,
    FALSE,
    NODES,
    TRUE,
    Domain,
    Linear,
    Value,
    any_of,
    between,
    exactly,
    number,
)

BITS: dict[str, Callable[[int, int], int]] = {"&": and_, "|": or_, "^": xor}

File = tuple[Value, ...]
"""What the registers of a rank may hold."""
Ways = tuple[File | None, File | None]
"""What is left of a file when a condition is true, and when it is false."""


class Values:
    """The values of expressions of the ranks that ``me`` stands for, a linear form over ``domain``."""

    def __init__(self, domain: Domain, me: Linear) -> None:
        self.domain, self.me = domain, me
        self._known: dict[tuple[object, ...], Value | None] = {}
        self._mentioned: dict[int, tuple[Expr, tuple[int, ...]]] = {}  # by identity: they last

    def of(self, expr: Expr, file: File) -> Value | None:
        """The values of ``expr`` over ``file``; None: it has none."""
        _, registers = self._mentioned.get(id(expr)) or self._note(expr)
        key = (id(expr), *(file[index] for index in registers))
        if key not in self._known:
            self._known[key] = self._of(expr, file)
        return self._known[key]

    def _note(self, expr: Expr) -> tuple[Expr, tuple[int, ...]]:
        found = self._mentioned[id(expr)] = expr, tuple(registers_of(expr))
        return found

    def _of(self, expr: Expr, file: File) -> Value | None:
        match expr:
            case Const(value) | Symbol(_, value):
                return between(value, value)
            case Register(_, index):
                return file[index]
            case Me():
                return exactly(self.me)
            case Nodes():
                return exactly(NODES)
            case Unary(symbol, operand, type):
                inner = self.of(operand, file)
                return None if inner is None else self._unary(symbol, inner, type)
            case Binary("&&" | "||" as symbol, left, right):
                return self._short_circuit(symbol, left, right, file)
            case Binary(symbol, left, right, type):
                one, other = self.of(left, file), self.of(right, file)
                return None if one is None or other is None else self.binary(symbol, one, other, type)
            case Conditional(condition, then, otherwise):
                ways = zip(self.split(condition, file), (then, otherwise), strict=True)
                return self._one_of(None if rest is None else self.of(branch, rest) for rest, branch in ways)
        raise AssertionError(f"{expr} is no expression")

    def _one_of(self, values: Iterable[Value | None]) -> Value | None:
        found: Value | None = None
        for value in values:
            if value is not None:
                found = value if found is None else self.domain.joined(found, value)
        return found

    def _unary(self, symbol: str, inner: Value, type: IntType) -> Value:
        low, high = inner
        match symbol:
            case "!":
                return _truth(true=self.may_be("==", inner, FALSE), false=self.may_be("!=", inner, FALSE))
            case "-" | "~":
                less = int(symbol == "~")
                turned = number(-less).minus(high), number(-less).minus(low)
                return self.domain.fitting(turned, type)
            case "cast":
                return self.domain.fitting(inner, type)
            case "int":
                return any_of(type)
        return between(*DOUBLES)

    def _short_circuit(self, symbol: str, left: Expr, right: Expr, file: File) -> Value | None:
        decides = symbol == "||"
        first, further = _in_turn(self.split(left, file), decides)
        decided = first is not None
        last = None if further is None else self.of(right, further)
        false, true = decided and not decides, decided and decides
        if last is not None:
            false, true = false or self.may_be("==", last, FALSE), true or self.may_be("!=", last, FALSE)
        return _truth(true=true, false=false) if true or false else None

    def binary(self, symbol: str, one: Value, other: Value, type: IntType = INT32) -> Value | None:
        """The values of a binary operation, except && and ||."""
        domain, found = self.domain, None
        if symbol in RELATIONS:
            return _truth(true=self.may_be(symbol, one, other), false=self.may_be(NEGATED[symbol], one, other))
        match symbol:
            case "+":
                return domain.fitting((one[0].plus(other[0]), one[1].plus(other[1])), type)
            case "-":
                return domain.fitting((one[0].minus(other[1]), one[1].minus(other[0])), type)
            case "*":
                for value, factor in ((one, other), (other, one)):
                    times = constant(factor)
                    if times is not None:
                        ends = [end.times(times) for end in value]
                        return domain.fitting((ends[0], ends[1]) if times >= 0 else (ends[1], ends[0]), type)
            case "%":
                found = self._remainder(one, other)
            case "/":
                found = self._quotient(one, constant(other))
            case "<<" | ">>":
                places = constant(other)
                power = 1 << places if places is not None and 0 <= places < type.bits else None
                if symbol == ">>":
                    found = self._quotient(one, power)
                elif power is not None and domain.range(one[0])[0] >= 0:
                    return self.binary("*", one, between(power, power), type)
            case "&" | "|" | "^":
                found = self._bits(symbol, one, other, type) or self._bits(symbol, other, one, type)
        if found is not None:
            return found
        result = operation(symbol)(domain.span(one), domain.span(other), type)
        return None if result is None else between(*result)

    def _remainder(self, one: Value, other: Value) -> Value | None:
        """The remainder by a number that is always the same and greater than 0; None: no more than
        intervals say."""
        domain, (low, high), divisor = self.domain, one, other[0]
        if other[0] != other[1] or domain.range(divisor)[0] <= 0:
            return None
        greatest = divisor.shifted(-1)
        if domain.always(number(0).minus(greatest), low) and domain.always(high, greatest):
            return one
        if domain.always(divisor, low) and domain.always(high, greatest.plus(divisor)):
            return low.minus(divisor), high.minus(divisor)
        if domain.range(low)[0] < 0:
            return number(0).minus(greatest), greatest
        by = constant(other)
        known = domain.remainder(low, by) if by is not None and low == high else None
        if known is not None:
            return exactly(number(known))
        return number(0), greatest

    def _quotient(self, one: Value, divisor: int | None) -> Value | None:
        """The quotient by ``divisor``, without the remainder; None: no more than intervals say."""
        low, high = one
        if divisor is None or divisor <= 0 or self.domain.range(low)[0] < 0:
            return None
        least, most = (self.domain.remainder(end, divisor) for end in one)
        low = low.shifted(1 - divisor if least is None else -least)
        return low.over(divisor), high.shifted(-(most or 0)).over(divisor)

    def _bits(self, symbol: str, one: Value, other: Value, type: IntType) -> Value | None:
        """What taking, setting or turning some bits gives where the last bits are known, as far as those of ``other``
        are not all alike; None: no more than intervals say."""
        form, domain = one[0], self.domain
        if one[0] != one[1]:
            return None
        if symbol == "&" and other == exactly(form.shifted(-1)) and domain.range(form)[0] > 0:
            return self._without_last_bit(form)
        mask = constant(other)
        if mask is None:
            return None
        if symbol == "&" and not type.signed and mask >> (type.bits - 1):
            mask -= 1 << type.bits
        last = domain.remainder(form, 1 << (mask if mask >= 0 else ~mask).bit_length())
        if last is None or (mask < 0 and symbol != "&"):
            return None
        assert isinstance(last, int), "values are whole numbers"
        found = number(BITS[symbol](last, mask))
        return exactly(found if symbol == "&" and mask >= 0 else form.shifted(-last).plus(found))

    def _without_last_bit(self, form: Linear) -> Value:
        """The values of ``form & form - 1``, which is 0 for powers of two alone."""
        known = self.domain.modulus & -self.domain.modulus
        last = self.domain.remainder(form, known)
        if last:
            return exactly(form.shifted(-(int(last) & -int(last))))
        return number(0), form.shifted(-known if last == 0 else -1)

    # Conditions

    def may_be(self, symbol: str, one: Value, other: Value) -> bool:
        """Whether the relation may hold between some value of the one and some value of the other."""
        domain = self.domain
        exact = one[0] == one[1] and other[0] == other[1]
        match symbol:
            case "==":
                apart = exact and domain.differ(one[0], other[0])
                return not apart and self._reaches(one[0], other[1], 0) and self._reaches(other[0], one[1], 0)
            case "!=":
                return not exact or one[0] != other[0]
            case "<" | "<=":
                return self._reaches(one[0], other[1], int(symbol == "<"))
        return self._reaches(other[0], one[1], int(symbol == ">"))

    def _reaches(self, low: Linear, high: Linear, by: int) -> bool:
        """Whether ``high`` may be greater than ``low`` by so much."""
        return self.domain.range(high.minus(low))[1] >= by

    def narrowed(self, condition: Expr, truth: bool, file: File) -> File | None:
        """The registers of ``file`` for which ``condition`` has a value and is true, or is false."""
        match condition:
            case Unary("!", operand):
                return self.narrowed(operand, not truth, file)
            case Binary("&&" | "||" as symbol, left, right):
                decides, first, further = symbol == "||", None, None
                if truth == decides:
                    first, further = _in_turn(self.split(left, file), decides)
                else:
                    further = self.narrowed(left, truth, file)
                return self.either(first, None if further is None else self.narrowed(right, truth, further))
            case Binary(symbol, left, right) if symbol in RELATIONS:
                return self._related(left, symbol if truth else NEGATED[symbol], right, file)
            case Conditional(test, then, otherwise):
                yes, no = self.split(test, file)
                one = None if yes is None else self.narrowed(then, truth, yes)
                return self.either(one, None if no is None else self.narrowed(otherwise, truth, no))
        return self._related(condition, "!=" if truth else "==", Const(0), file)

    def split(self, condition: Expr, file: File) -> Ways:
        """The registers of ``file`` for which ``condition`` is true, and those for which it is false: :meth:`narrowed`
        twice, but with one walk through the condition, since both ask for both of its parts."""
        match condition:
            case Unary("!", operand):
                return _in_turn(self.split(operand, file), False)
            case Binary("&&" | "||" as symbol, left, right):
                decides = symbol == "||"
                decided, further = _in_turn(self.split(left, file), decides)
                like, other = (None, None) if further is None else _in_turn(self.split(right, further), decides)
                return _in_turn((self.either(decided, like), other), decides)
            case Conditional(test, then, otherwise):
                yes, no = self.split(test, file)
                first: Ways = (None, None) if yes is None else self.split(then, yes)
                second: Ways = (None, None) if no is None else self.split(otherwise, no)
                return self.either(first[0], second[0]), self.either(first[1], second[1])
        return self.narrowed(condition, True, file), self.narrowed(condition, False, file)

    def either(self, one: File | None, other: File | None) -> File | None:
        """The least set of registers that contains both."""
        if one is None or other is None:
            return other if one is None else one
        if one == other:
            return one
        return tuple(a if a == b else self.domain.joined(a, b) for a, b in zip(one, other, strict=True))

    def _related(self, left: Expr, symbol: str, right: Expr, file: File) -> File | None:
        for expr, relation, limit in ((left, symbol, right), (right, MIRRORED[symbol], left)):
            one, other = self.of(expr, file), self.of(limit, file)
            if one is None or other is None or not self.may_be(relation, one, other):
                return None
            narrowed = self.limited(expr, file, *self._bounds(relation, one, other))
            if narrowed is None:
                return None
            file = narrowed
        return file

    def _bounds(self, symbol: str, one: Value, other: Value) -> tuple[Linear | None, Linear | None]:
        """Between which bounds values of ``one`` lie that are related to some value of ``other``."""
        low, high = other
        match symbol:
            case "==":
                return low, high
            case "<":
                return None, high.shifted(-1)
            case "<=":
                return None, high
            case ">":
                return low.shifted(1), None
            case ">=":
                return low, None
        if low != high:
            return None, None
        return one[0].shifted(1) if one[0] == low else None, one[1].shifted(-1) if one[1] == low else None

    def related(self, symbol: str, one: Value, other: Value) -> Value | None:
        """The part of ``one`` that is related to some value of ``other``."""
        if not self.may_be(symbol, one, other):
            return None
        low, high = self._bounds(symbol, one, other)
        return self._between(one, low, high)

    def _between(self, value: Value, low: Linear | None, high: Linear | None) -> Value | None:
        """The part of ``value`` between two bounds, each of which may be missing."""
        least, greatest = value
        if low is not None and not self.domain.always(low, least):
            least = low
        if high is not None and not self.domain.always(greatest, high):
            greatest = high
        return None if self.domain.range(greatest.minus(least))[1] < 0 else (least, greatest)

    def limited(self, expr: Expr, file: File, low: Linear | None, high: Linear | None) -> File | None:
        """The registers of ``file`` for which ``expr`` has a value between two bounds, if any."""
        match expr:
            case Register(_, index):
                left = self._between(file[index], low, high)
                return None if left is None else (*file[:index], left, *file[index + 1 :])
            case Binary("+" | "-" as symbol, left, Const(value), type):
                by, inner = value if symbol == "+" else -value, self.of(left, file)
                if inner is None:
                    return None
                span = self.domain.span(inner)
                if span[0] + by < type.range[0] or span[1] + by > type.range[1]:
                    return file  # it may wrap around
                ends = (None if end is None else end.shifted(-by) for end in (low, high))
                return self.limited(left, file, *ends)
        return file

    # Faults

    def may_fault(self, expr: Expr, file: File) -> bool:
        """Whether ``expr`` may have no value for some registers in ``file``."""
        match expr:
            case Unary("int"):
                return True
            case Unary(_, operand):
                return self.may_fault(operand, file)
            case Binary("&&" | "||" as symbol, left, right):
                return self.may_fault(left, file) or self._may_fault_after(left, symbol == "&&", right, file)
            case Binary(symbol, left, right, type):
                if self.may_fault(left, file) or self.may_fault(right, file):
                    return True
                found = self.of(right, file)
                if found is None:
                    return True
                low, high = self.domain.span(found)
                if symbol in ("/", "%"):
                    return low <= 0 <= high
                return symbol in ("<<", ">>") and (low < 0 or high >= type.bits)
            case Conditional(condition, then, otherwise):
                return (
                    self.may_fault(condition, file)
                    or self._may_fault_after(condition, True, then, file)
                    or self._may_fault_after(condition, False, otherwise, file)
                )
        return False

    def _may_fault_after(self, condition: Expr, truth: bool, expr: Expr, file: File) -> bool:
        narrowed = self.narrowed(condition, truth, file)
        return narrowed is not None and self.may_fault(expr, narrowed)


def constant(value: Value) -> int | None:
    """The only number that the value can be, if there is just one."""
    low, high = value
    return int(low.c) if low == high and low.x == low.n == 0 else None


def _truth(false: bool, true: bool) -> Value:
    return EITHER if false and true else TRUE if true else FALSE


def _in_turn(ways: Ways, truth: bool) -> Ways:
    """The registers for which a condition is ``truth``, and those for which it is not."""
    return ways if truth else (ways[1], ways[0])
