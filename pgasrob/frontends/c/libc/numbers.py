"""The functions of <math.h>, and those of <stdlib.h> and compilers on integers and bits."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import chain

from pgasrob.analysis.intervals import Interval
from pgasrob.frontends.apis.interface import Call, Outcome
from pgasrob.frontends.c.arithmetic import value_of
from pgasrob.frontends.c.libc.library_calls import TABLE, VALUE, calls, unknown_answer, unknown_value
from pgasrob.frontends.c.nondeterminism import ANY, Leaf, application, leaves, leaves_of, only_leaves
from pgasrob.frontends.c.together import LARGEST, weight
from pgasrob.frontends.c.types import Integer
from pgasrob.frontends.c.values import UNDEFINED, Known, Undefined, Unknown
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


def _whole(round: Callable[[float], int]) -> Callable[[float], float]:
    """``round`` for all doubles: keeps the sign of a zero, and numbers of 2^52 or more, which are whole."""
    return lambda x: math.copysign(round(x), x) if abs(x) < 2.0**52 else x


def _half_away(x: float) -> int:
    whole = math.floor(abs(x))
    return int(math.copysign(whole + (abs(x) - whole >= 0.5), x))


ON_FLOATS: Mapping[str, Callable[..., float]] = {
    "sqrt": math.sqrt, "fabs": math.fabs, "floor": _whole(math.floor), "ceil": _whole(math.ceil), "sin": math.sin,
    "cos": math.cos, "tan": math.tan, "exp": math.exp, "log": math.log, "log2": math.log2, "log10": math.log10,
    "fmin": lambda x, y: y if x != x else x if y != y else min(x, y), "pow": math.pow, "hypot": math.hypot,
    "fmax": lambda x, y: y if x != x else x if y != y else max(x, y), "fmod": math.fmod, "trunc": _whole(math.trunc),
    "atan": math.atan, "atan2": math.atan2, "cbrt": math.cbrt, "round": _whole(_half_away), "rint": _whole(round),
    "nearbyint": _whole(round), "sinh": math.sinh, "cosh": math.cosh, "tanh": math.tanh, "asin": math.asin,
    "acos": math.acos, "exp2": math.exp2, "log1p": math.log1p, "expm1": math.expm1, "copysign": math.copysign,
    "fdim": lambda x, y: math.nan if x != x or y != y else max(x - y, 0.0),
}  # fmt: skip
_EXACT = ("fabs", "fmin", "fmax", "floor", "ceil", "trunc")
"""Those that the calculus computes."""
_OF_TWO = ("pow", "fmin", "fmax", "fmod", "atan2", "hypot", "copysign", "fdim")
_TO_LONG = {"lround": "round", "llround": "round", "lrint": "rint", "llrint": "rint"}


def applied(name: str, *numbers: float) -> float:
    """The function ``name`` of :data:`ON_FLOATS` at ``numbers``, also where Python raises (C11, F.10)."""
    try:
        return float(ON_FLOATS[name](*numbers))
    except OverflowError:
        odd = name == "pow" and numbers[0] < 0 and numbers[1] % 2 == 1
        return -math.inf if odd or (name == "sinh" and numbers[0] < 0) else math.inf
    except ValueError:
        if name in ("log", "log2", "log10", "log1p") and numbers[0] == (-1 if name == "log1p" else 0):
            return -math.inf
        if name == "pow" and numbers[0] == 0:
            return math.copysign(math.inf, numbers[0]) if numbers[1] % 2 == 1 else math.inf
        return math.nan


def on_floats(call: Call) -> Outcome:
    """A function on floating-point numbers: of known values, and what is ``_EXACT`` of others too, of unknown ones if
    they are not large. What else it gives is not known, but of a root what it is the root of."""
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
    return _made(call, name, operands, LONG.range if whole else ANY, single, reported=reported)


def _made(
    call: Call, name: str, operands: list[Expr], interval: Interval, single: bool = False, *, reported: bool = False
) -> Outcome:
    """What the function ``name``, which the calculus does not have, gives for ``operands``."""
    value = unknown_value(call, interval, reported=reported)
    assert isinstance(value, Unknown) and isinstance(value.expr, Leaf)
    if any(map(leaves, operands)) and all(map(only_leaves, operands)) and sum(map(weight, operands)) < LARGEST:
        of = f"{name}f" if single and name != "sqrt" else name
        made = replace(value.expr, made=application(of, operands))
        return Outcome(result=value_of(Unary("float32", made) if single and name == "sqrt" else made))
    return Outcome(result=value)


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
    return Conditional(Binary("<." if name == "fmin" else ">.", first, operands[1]), first, operands[1])


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
    """The result of a bit function on a known value; ctz and clz have none for 0, so theirs is unknown there."""
    name = call.name.removeprefix("__builtin_")
    stem = next(each for each in _BITS if name.startswith(each))
    width = 32 if name == stem else 64
    value = call.arguments[0]
    if not isinstance(value, Known) or (stem in ("ctz", "clz") and not value.value):
        return unknown_answer(call, (0, width))
    return Outcome(result=Known(_BITS[stem](value.value & ((1 << width) - 1), width)))


@calls("int isdigit(int c); int isalpha(int c); int isspace(int c); int isupper(int c); int islower(int c); "
       "int isalnum(int c); int isxdigit(int c); int isprint(int c); int ispunct(int c); int iscntrl(int c); "
       "int isgraph(int c); int isblank(int c); int toupper(int c); int tolower(int c);")  # fmt: skip
def character(call: Call) -> Outcome:
    value = call.arguments[0]
    changes = call.name.startswith("to")
    if not isinstance(value, Known):
        return Outcome(result=unknown_value(call, (-1, 255) if changes else (0, 1), reported=not leaves_of(value)))
    code = value.value
    if not 0 <= code < 128:
        return Outcome(result=value if changes else VALUE)
    text = chr(code)
    if changes:
        return Outcome(result=Known(ord(getattr(text, call.name[2:])())))
    found = {
        "isxdigit": text in "0123456789abcdefABCDEF", "isprint": 32 <= code < 127, "isgraph": 32 < code < 127,
        "iscntrl": code < 32 or code == 127, "ispunct": 32 < code < 127 and not text.isalnum(),
        "isblank": text in " \t", "isspace": text in " \t\n\v\f\r",
    }  # fmt: skip
    return Outcome(result=Known(int(found[call.name] if call.name in found else getattr(text, call.name)())))
