"""The functions of <math.h>, and those of <stdlib.h> and compilers on integers and bits."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial, reduce
from itertools import chain

from pgasrob.analysis.intervals import Interval
from pgasrob.frontends.apis.call_steps import Steps
from pgasrob.frontends.apis.interface import Call, Outcome
from pgasrob.frontends.c.arithmetic import value_of
from pgasrob.frontends.c.libc.library_calls import TABLE, calls, unknown_result, unknown_value
from pgasrob.frontends.c.nondeterminism import ANY, Leaf, application, leaves, leaves_of, only_leaves
from pgasrob.frontends.c.together import LARGEST, weight
from pgasrob.frontends.c.types import Integer
from pgasrob.frontends.c.values import UNDEFINED, Known, Undefined, Unknown
from pgasrob.program.commands import Assign
from pgasrob.program.expressions import (
    Binary,
    Conditional,
    Const,
    Expr,
    IntType,
    Unary,
    constant,
    evaluator,
    float_bits,
    float_value,
    folded,
    parts,
)
from pgasrob.program.float_functions import ON_FLOATS, applied

LONG = IntType(64, True)
LARGEST_OPERANDS = 16
"""Parts of what floor and the like are computed of unknown values: the result has three times as many."""


@TABLE.calls("int abs(int x); long labs(long x); long long llabs(long long x); int __builtin_abs(int x);")
def absolute(call: Call) -> Outcome:
    expr = call.expression(0)
    type = call.types[0].type if isinstance(call.types[0], Integer) else LONG
    known = constant(expr)
    if known is not None:
        return Outcome(result=Known(type.wrap(abs(known))))
    negative = Binary("<", expr, Const(0), type)
    return Outcome(result=Unknown(Conditional(negative, Unary("-", expr, type), expr)))


_EXACT = ("fabs", "fmin", "fmax", "floor", "ceil", "trunc")
"""Those that are made of other operations of the calculus."""
_OF_TWO = ("pow", "fmin", "fmax", "fmod", "atan2", "hypot", "copysign", "fdim")
_TO_LONG = {"lround": "round", "llround": "round", "lrint": "rint", "llrint": "rint"}


def on_floats(call: Call) -> Outcome:
    """A function on floating-point numbers: computed where runs know these, and what is ``_EXACT`` of unknown ones too,
    if they are not large. What else it gives is not known, but of what it is computed."""
    name, single = _named(call.name)
    whole = _TO_LONG.get(name)
    if any(isinstance(value, Undefined) for value in call.arguments):
        return Outcome(result=UNDEFINED)
    numbers = [float_value(value.value) for value in call.arguments if isinstance(value, Known)]
    if len(numbers) == len(call.arguments):
        result = applied(whole or name, *numbers)
        if whole is None:
            bits = Const(float_bits(result))
            return Outcome(result=value_of(folded(Unary("float32", bits)) if single else bits))
        if abs(result) < 2.0**63:
            return Outcome(result=Known(int(result)))
    of = {leaf for value in call.arguments for leaf in leaves_of(value)}
    # The verdict names a random number or a time already.
    reported = not of
    operands = [call.expression(at) for at in range(len(call.arguments))]
    small = all(leaf.made is None for leaf in of) and len([*chain(*map(parts, operands))]) <= LARGEST_OPERANDS
    if whole is None and name in _EXACT and (reported or small):
        return Outcome(result=value_of(_expression(name, operands)))
    if reported and name not in ("hypot", "cbrt") and len(numbers) < len(operands):
        return Outcome(result=value_of(_called(name, whole, single, operands)))
    return _made(call, name, operands, LONG.range if whole else ANY, single, reported=reported)


def _made(
    call: Call, name: str, operands: list[Expr], interval: Interval, single: bool = False, *, reported: bool = False
) -> Outcome:
    """What the function ``name``, which the calculus does not have, gives for ``operands``."""
    value = unknown_value(call, interval, reported=reported, computed=True)
    assert isinstance(value, Unknown) and isinstance(value.expr, Leaf)
    if any(map(leaves, operands)) and all(map(only_leaves, operands)) and sum(map(weight, operands)) < LARGEST:
        of = f"{name}f" if single and name != "sqrt" else name
        made = replace(value.expr, made=application(of, operands))
        return Outcome(result=value_of(Unary("float32", made) if single and name == "sqrt" else made))
    return Outcome(result=value)


def _called(name: str, whole: str | None, single: bool, operands: list[Expr]) -> Expr:
    """The function ``name``, which the calculus calls, of ``operands``; ``whole``: that one, as a long."""
    function = f"{ {'nearbyint': 'rint'}.get(whole or name, whole or name) }."
    result = Unary(function, operands[0]) if len(operands) == 1 else Binary(function, operands[0], operands[1])
    if whole is not None:
        return Unary("int", result, LONG)
    return Unary("float32", result) if single else result


def _double(value: float) -> Const:
    return Const(float_bits(value))


def _named(name: str) -> tuple[str, bool]:
    """The name for doubles of the function ``name``, and whether it is one on floats."""
    name = name.removeprefix("__builtin_")
    if name in ON_FLOATS or name in _TO_LONG:
        return name, False
    return name[:-1], name[-1] == "f"


def _expression(name: str, operands: list[Expr]) -> Expr:
    first = operands[0]
    size = Conditional(Binary("<.", first, Const(0)), Unary("-.", first), first)
    if name == "fabs":
        return size
    if name in ("floor", "ceil", "trunc"):
        # What has 2^52 or more has no fraction, and need not fit a long.
        whole: Expr = Unary("float", Unary("int", first, LONG), LONG)
        if name in ("floor", "ceil"):
            above = Binary(">." if name == "floor" else "<.", whole, first)
            one = _double(1.0 if name == "floor" else -1.0)
            whole = Conditional(above, Binary("-.", whole, one), whole)
        return Conditional(Binary("<.", size, _double(2.0**52)), whole, first)
    second = operands[1]
    if isinstance(first, Const):
        first, second = second, first
    condition: Expr = Binary("<." if name == "fmin" else ">.", first, second)
    # Of a number and none it is the number.
    if not isinstance(second, Const) or math.isnan(float_value(second.value)):
        condition = Binary("||", Binary("!=.", second, second), condition)
    return Conditional(condition, first, second)


for _name in (*ON_FLOATS, *_TO_LONG):
    for _type, _suffix in (("double", ""), ("float", "f"), ("long double", "l")):
        _parameters = ", ".join(f"{_type} {each}" for each in ("x", "y")[: 1 + (_name in _OF_TWO)])
        for _prefix in ("", "__builtin_"):
            _result = "long" if _name in _TO_LONG else _type
            calls(f"{_result} {_prefix}{_name}{_suffix}({_parameters});")(on_floats)


@calls("int isnan(double x); int isinf(double x); int isfinite(double x); int signbit(double x);")
def float_class(call: Call) -> Outcome:
    if leaves_of(call.arguments[0]):
        return _made(call, call.name, [call.expression(0)], (0, 1))
    value = call.expression(0)
    match call.name:
        case "isnan":
            found = Binary("!=.", value, value)
        case "signbit":
            found = Binary("<", value, Const(0), LONG)
        case "isinf":
            found = Binary("==.", _expression("fabs", [value]), _double(math.inf))
        case _:
            found = Binary("<.", _expression("fabs", [value]), _double(math.inf))
    return Outcome(result=value_of(found if constant(value) is None else Const(evaluator(found)(()))))


def _trailing(value: int, bits: int) -> int:
    return (value & -value).bit_length() - 1


_BITS: Mapping[str, Callable[[int, int], int]] = {
    "popcount": lambda value, bits: value.bit_count(), "ctz": _trailing,
    "parity": lambda value, bits: value.bit_count() & 1,
    "clz": lambda value, bits: bits - value.bit_length(), "ffs": lambda value, bits: _trailing(value, bits) + 1,
}  # fmt: skip


@calls(
    " ".join(
        f"int __builtin_{name}{suffix}(unsigned {type} x);"
        for name in _BITS
        for suffix, type in (("", "int"), ("l", "long"), ("ll", "long"))
    )
    + "int ffs(int x); int ffsl(long x); int ffsll(long x);"
)
def bits(call: Call) -> Outcome:
    """The result of a bit function; ctz and clz have none for 0, so theirs is unknown there, or as great as can be."""
    name = call.name.removeprefix("__builtin_")
    stem = next(each for each in _BITS if name.startswith(each))
    width = 32 if name == stem else 64
    value = call.arguments[0]
    if isinstance(value, Unknown) and not leaves(value.expr):
        return _bits_counted(call, stem, IntType(width, False))
    if isinstance(value, Unknown):
        return _made(call, call.name, [value.expr], (0, width))
    if not isinstance(value, Known) or (stem in ("ctz", "clz") and not value.value):
        return unknown_result(call, (0, width))
    return Outcome(result=Known(_BITS[stem](value.value & ((1 << width) - 1), width)))


def _bits_counted(call: Call, stem: str, type: IntType) -> Outcome:
    """The function ``stem`` of a number that runs know, by a count of its bits in parallel."""
    steps, everything = Steps(call), (1 << type.bits) - 1

    def kept(expr: Expr) -> Expr:
        register = call.register("bits")
        steps.do(Assign(register, expr))
        return register

    def both(symbol: str, left: Expr, right: int | Expr) -> Expr:
        return Binary(symbol, left, Const(right) if isinstance(right, int) else right, type)

    number = counted = kept(Unary("cast", call.expression(0), type))
    if stem in ("ctz", "ffs"):
        counted = kept(both("-", both("&", number, Unary("-", number, type)), 1))
    if stem == "clz":
        for places in (1, 2, 4, 8, 16, 32)[: 5 + (type.bits == 64)]:
            counted = kept(both("|", counted, both(">>", counted, places)))
    pairs, fours, bytes = (everything // (2**width - 1) * (2 ** (width // 2) - 1) for width in (2, 4, 8))
    counted = kept(both("-", counted, both("&", both(">>", counted, 1), pairs)))
    counted = kept(both("+", both("&", counted, fours), both("&", both(">>", counted, 2), fours)))
    counted = kept(both("&", both("+", counted, both(">>", counted, 4)), bytes))
    counted = kept(both(">>", both("*", counted, everything // 255), type.bits - 8))
    match stem:
        case "parity":
            counted = both("&", counted, 1)
        case "clz":
            counted = both("-", Const(type.bits), counted)
        case "ffs":
            counted = Conditional(number, both("+", counted, 1), Const(0))
    return steps.outcome(counted)


_DIGITS, _LARGE, _SMALL = (48, 57), (65, 90), (97, 122)
_CLASSES = {
    "isdigit": [_DIGITS], "isupper": [_LARGE], "islower": [_SMALL], "isalpha": [_LARGE, _SMALL],
    "isalnum": [_DIGITS, _LARGE, _SMALL], "isxdigit": [_DIGITS, (65, 70), (97, 102)], "isspace": [(9, 13), (32, 32)],
    "isblank": [(9, 9), (32, 32)], "isprint": [(32, 126)], "isgraph": [(33, 126)], "iscntrl": [(0, 31), (127, 127)],
    "ispunct": [(33, 47), (58, 64), (91, 96), (123, 126)],
}  # fmt: skip
"""The characters of each class, from the first to the last."""


@calls("int isdigit(int c); int isalpha(int c); int isspace(int c); int isupper(int c); int islower(int c); "
       "int isalnum(int c); int isxdigit(int c); int isprint(int c); int ispunct(int c); int iscntrl(int c); "
       "int isgraph(int c); int isblank(int c); int toupper(int c); int tolower(int c);")  # fmt: skip
def character(call: Call) -> Outcome:
    """The class of a character in ASCII, or what it is in capitals or not."""
    if isinstance(call.arguments[0], Undefined):
        return Outcome(result=unknown_result(call, (-1, 255)).result)
    code = call.expression(0)
    match call.name:
        case "toupper":
            found: Expr = Conditional(_is_in("islower", code), Binary("-", code, Const(32)), code)
        case "tolower":
            found = Conditional(_is_in("isupper", code), Binary("+", code, Const(32)), code)
        case name:
            found = _is_in(name, code)
    return Outcome(result=value_of(found if constant(code) is None else Const(evaluator(found)(()))))


def _is_in(name: str, code: Expr) -> Expr:
    """Whether ``code`` is in the class ``name``."""
    ranges = (
        Binary("&&", Binary(">=", code, Const(low)), Binary("<=", code, Const(high))) for low, high in _CLASSES[name]
    )
    return reduce(partial(Binary, "||"), ranges)
