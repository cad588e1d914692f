"""Records: equal and hashed by their fields, and made without what a frozen dataclass does for each field."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pgasrob.frontends.c.values import Known
from pgasrob.program.expressions import Const, Register
from pgasrob.program.statements import Span
from pgasrob.program.value_classes import record


@record
class _Point:
    x: int
    y: int = 0


@record(kw_only=True)
class _Named:
    name: str


def test_equal_and_hashed_by_fields() -> None:
    assert _Point(1) == _Point(1, 0) == replace(_Point(2), x=1)
    assert len({_Point(1), _Point(1, 0), _Point(1, 2)}) == 2


def test_slots() -> None:
    assert not hasattr(_Point(1), "__dict__")


def test_keywords_alone() -> None:
    assert _Named(name="a") == _Named(name="a")
    with pytest.raises(TypeError):
        _Named("a")  # type: ignore[misc]


@pytest.mark.parametrize("kind", [_Point, Known, Const, Register, Span])
def test_nothing_is_looked_at_when_fields_are_set(kind: type) -> None:
    assert kind.__setattr__ is object.__setattr__
