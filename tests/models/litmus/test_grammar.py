"""What the grammar takes, and how deep and how long."""

from __future__ import annotations

import pytest

from pgasrob.diagnostics import SourceError
from pgasrob.models.litmus.litmus_parser import parse
from pgasrob.models.litmus.litmus_printer import in_one_line


def test_the_same_in_several_lines_with_comments() -> None:
    text = """// store buffering
    x@1=0 /* both on
    one node */ y@1 ::
      1: x = 1;
         a = y;
    ||
      1: y = 1
         ; b = x  // the end
    allowed a=0 b=0  forbidden sc: a=0, b=2
    """
    assert in_one_line(parse(text).program) == "x@1=0 y@1=0 :: 1: x = 1; a = y; || 1: y = 1; b = x;"
    assert [str(line) for line in parse(text).expectations] == ["allowed a=0 b=0", "forbidden sc: a=0 b=2"]
    assert [line.span.line for line in parse(text).expectations] == [9, 9]


def test_integers_have_32_bits() -> None:
    assert parse("x@1=2147483648 :: 1: skip").program.locations[0].initial == -(2**31)


@pytest.mark.parametrize("text", ["a = x = 1", "x = (y = 1)", "a = CAS(x, y = 0, 1)"])
def test_one_equals_sign_compares_in_assume_alone(text: str) -> None:
    with pytest.raises(SourceError) as error:
        parse(f"x@1 y@1 :: 1: {text}")
    assert [found.code for found in error.value.diagnostics] == ["PG170"]


@pytest.mark.parametrize(
    "text",
    [
        "x@1 :: 1: a = " + "(" * 5000,
        "x@1 :: 1: a = " + "-" * 5000 + "1",
        "x@1 :: 1: a = " + "1 + (" * 5000,
        "x@1 :: 1: a = " + "(1 || 1 && 1 | 1 ^ 1 & 1 == 1 < 1 << 1 + 1 * " * 500,
        "x@1 :: 1: a = " + "1 ? 1 : " * 5000 + "1",
        "x@1 :: 1: a = " + "+".join("1" * 5000),
        "x@1 :: 1: " + "choose { " * 5000,
        "x@1 :: 1: " + "loop 2 { " * 5000,
        "x@1 :: 1: " + "loop 2 { " * 60 + "x = 1" + "}" * 60,
        "x@1 :: 1: " + "choose { x = 1 } or { } " * 5000,
        "x@1 :: 1: loop 2000000000 { x = 1 }",
    ],
)
def test_what_is_too_deep_or_too_long_is_refused(text: str) -> None:
    with pytest.raises(SourceError) as error:
        parse(text)
    assert {found.code for found in error.value.diagnostics} <= {"PG022", "PG179", "PG170", "PG171"}
    assert {found.code for found in error.value.diagnostics} & {"PG022", "PG179"}
