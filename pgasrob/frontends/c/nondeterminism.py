"""Times and random numbers: values that nothing in the program decides.

Such a value is a leaf of an expression, a register with a negative index. As long as it is only moved, computed with
and printed, it costs nothing. Where it is stored in a cell, handed to an API or decides a branch it is chosen
(`Choose`), once for everything that depends on it: a random number from 0 to 3, a time 0 or 1. A branch on times alone
goes both ways, for how much time passes is anybody's guess.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from pgasrob.frontends.c.values import Address, Unknown, Value
from pgasrob.program.expressions import Binary, Conditional, Expr, Register, Unary

if TYPE_CHECKING:
    from pgasrob.frontends.apis.interface import Call

CLOCK = "clock"
RANDOM = "rand"
CHOICES = {CLOCK: (0, 1), RANDOM: (0, 1, 2, 3)}


def clock(call: Call) -> Value:
    """A time, for the result of a call."""
    from pgasrob.frontends.c.calls import MachineCall

    assert isinstance(call, MachineCall)
    return call.machine.new_leaf(CLOCK)


def leaves(expr: Expr) -> list[Register]:
    """The times and random numbers in ``expr``, each once."""
    return list(dict.fromkeys(each for each in _registers(expr) if each.index < 0))


def leaves_of(value: Value) -> list[Register]:
    return leaves(value.expr) if isinstance(value, Unknown) else []


def choices(leaf: Register) -> tuple[int, ...]:
    return CHOICES[leaf.name]


def is_time(expr: Expr) -> bool:
    """Whether ``expr`` depends on times and on nothing else that is unknown."""
    found = list(_registers(expr))
    return bool(found) and all(each.index < 0 and each.name == CLOCK for each in found)


def only_leaves(expr: Expr) -> bool:
    """Whether no true register is in ``expr``."""
    return all(each.index < 0 for each in _registers(expr))


def mentions(value: Value, leaf: Register) -> bool:
    return isinstance(value, Unknown) and leaf in _registers(value.expr)


def value_replaced(value: Value, leaf: Register, register: Register) -> Value:
    if isinstance(value, Unknown):
        return Unknown(replaced(value.expr, leaf, register))
    if isinstance(value, Address) and not isinstance(value.offset, int):
        return replace(value, offset=replaced(value.offset, leaf, register))
    return value


def replaced(expr: Expr, old: Register, new: Expr) -> Expr:
    """``expr`` with ``new`` for the register ``old``."""
    match expr:
        case Register():
            return new if expr == old else expr
        case Unary(symbol, operand, type):
            return Unary(symbol, replaced(operand, old, new), type)
        case Binary(symbol, left, right, type):
            return Binary(symbol, replaced(left, old, new), replaced(right, old, new), type)
        case Conditional(condition, then, otherwise):
            return Conditional(replaced(condition, old, new), replaced(then, old, new), replaced(otherwise, old, new))
    return expr


def _registers(expr: Expr) -> Iterator[Register]:
    match expr:
        case Register():
            yield expr
        case Unary(_, operand):
            yield from _registers(operand)
        case Binary(_, left, right):
            yield from _registers(left)
            yield from _registers(right)
        case Conditional(condition, then, otherwise):
            yield from _registers(condition)
            yield from _registers(then)
            yield from _registers(otherwise)
