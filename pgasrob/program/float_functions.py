"""The functions of <math.h> on doubles, by their names, as the C library of this machine computes them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping


def _whole(round: Callable[[float], int]) -> Callable[[float], float]:
    """``round`` for all doubles: keeps the sign of a zero, and numbers of 2^52 or more, which are whole."""
    return lambda x: math.copysign(round(x), x) if abs(x) < 2.0**52 else x


def _half_away(x: float) -> int:
    whole = math.floor(abs(x))
    return int(math.copysign(whole + (abs(x) - whole >= 0.5), x))


def _positive_difference(x: float, y: float) -> float:
    return math.nan if x != x or y != y else x - y if x > y else 0.0


ON_FLOATS: Mapping[str, Callable[..., float]] = {
    "sqrt": math.sqrt, "fabs": math.fabs, "floor": _whole(math.floor), "ceil": _whole(math.ceil), "sin": math.sin,
    "cos": math.cos, "tan": math.tan, "exp": math.exp, "log": math.log, "log2": math.log2, "log10": math.log10,
    "fmin": lambda x, y: y if x != x else x if y != y else min(x, y), "pow": math.pow, "hypot": math.hypot,
    "fmax": lambda x, y: y if x != x else x if y != y else max(x, y), "fmod": math.fmod, "trunc": _whole(math.trunc),
    "atan": math.atan, "atan2": math.atan2, "cbrt": math.cbrt, "round": _whole(_half_away), "rint": _whole(round),
    "nearbyint": _whole(round), "sinh": math.sinh, "cosh": math.cosh, "tanh": math.tanh, "asin": math.asin,
    "acos": math.acos, "exp2": math.exp2, "log1p": math.log1p, "expm1": math.expm1, "copysign": math.copysign,
    "fdim": _positive_difference,
}  # fmt: skip
FUNCTIONS = (
    "sqrt", "round", "rint", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "exp2",
    "expm1", "log", "log2", "log10", "log1p",
)  # fmt: skip
"""Those of one number that expressions of the calculus may call; floor and the like are made of other operations."""
FUNCTIONS_OF_TWO = ("pow", "fmod", "atan2", "copysign", "fdim")
"""Those of two. Python has a hypot of its own, and Rust a cbrt, which may be other numbers in the last bit."""


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
