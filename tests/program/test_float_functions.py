"""<math.h>: what C says where Python raises, and how halves are rounded."""

from __future__ import annotations

import math

import pytest

from pgasrob.program.float_functions import ON_FLOATS, applied


@pytest.mark.parametrize(
    ("name", "numbers", "result"),
    [
        ("round", (2.5,), 3.0), ("round", (-2.5,), -3.0), ("rint", (2.5,), 2.0), ("rint", (3.5,), 4.0),
        ("floor", (-0.5,), -1.0), ("ceil", (-0.5,), -0.0), ("trunc", (-1.9,), -1.0), ("floor", (2.0**60,), 2.0**60),
        ("exp", (1000.0,), math.inf), ("sinh", (-1000.0,), -math.inf), ("pow", (-10.0, 309.0), -math.inf),
        ("pow", (-10.0, 310.0), math.inf), ("pow", (0.0, -1.0), math.inf), ("pow", (-0.0, -1.0), -math.inf),
        ("log", (0.0,), -math.inf), ("log1p", (-1.0,), -math.inf), ("fmin", (math.nan, 3.0), 3.0),
        ("fmax", (2.0, math.nan), 2.0), ("fdim", (1.0, 3.0), 0.0),
        ("fdim", (math.inf, math.inf), 0.0), ("fmod", (-7.0, 3.0), -1.0),
    ],
)  # fmt: skip
def test_values_of_c(name: str, numbers: tuple[float, ...], result: float) -> None:
    found = applied(name, *numbers)
    assert (found, math.copysign(1, found)) == (result, math.copysign(1, result))


@pytest.mark.parametrize(
    ("name", "numbers"), [("sqrt", (-1.0,)), ("log", (-1.0,)), ("pow", (-1.0, 0.5)), ("acos", (2.0,))]
)
def test_what_is_not_defined_is_no_number(name: str, numbers: tuple[float, ...]) -> None:
    assert math.isnan(applied(name, *numbers))


def test_every_function_has_values() -> None:
    for name in ON_FLOATS:
        numbers = (
            (0.5, 0.25) if name in ("pow", "fmin", "fmax", "fmod", "atan2", "hypot", "copysign", "fdim") else (0.5,)
        )
        assert math.isfinite(applied(name, *numbers)), name
