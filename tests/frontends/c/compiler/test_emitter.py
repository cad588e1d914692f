"""The code of functions: loops that branches leave, results, places of instructions."""

from __future__ import annotations

import pytest

from pgasrob.frontends.c.code import Branch, Call, LoopHead
from tests.frontends.c.compiler.net import function, unit


def leaving(body: str) -> list[int]:
    """How many loops each branch leaves."""
    return [len(each.leaves) for each in function(body).code if isinstance(each, Branch)]


@pytest.mark.parametrize(
    ("body", "loops", "leaves"),
    [
        ("while (n) n--;", 1, [1]),
        ("for (;;) if (n) break;", 1, [1]),
        ("for (;;) if (n) n--; else return;", 1, [1]),
        ("do n--; while (n);", 1, [1]),
        ("do { if (n) break; n++; } while (0);", 0, [0]),
        ("while (*p) { if (n) continue; n++; }", 1, [1, 0]),
        ("while (n && *p) ;", 1, [1, 1]),
        ("while (n || *p) ;", 1, [0, 1]),
        ("while (n) while (*p) if (n > 3) goto out; else n++; out: ;", 2, [1, 1, 2]),
        ("while (n) { while (*p) if (n > 3) break; }", 2, [1, 1, 1]),
        ("again: n++; if (n < 4) goto again;", 1, [1]),
        ("if (n) goto end; n++; end: ;", 0, [0]),
        ("while (n) switch (*p) { case 1: return; case 2: n--; }", 1, [1, 1, 0]),
    ],
)
def test_branches_say_which_loops_they_leave(body: str, loops: int, leaves: list[int]) -> None:
    assert sum(isinstance(each, LoopHead) for each in function(body).code) == loops
    assert leaving(body) == leaves


def test_results_go_straight_to_the_variable() -> None:
    code = function("int x = net_rank(); n = net_rank(); net_rank();")
    names = [code.slots[each.target].name for each in code.code if isinstance(each, Call) and each.target is not None]
    assert names == ["x", "n", None]


def test_instructions_have_the_place_of_their_call_or_assignment() -> None:
    found = unit(
        "#include <net.h>\nint f(int n) {\n  n = 2 *\n    net_rank();\n  if (n > 3)\n    return 1;\n  return 2;\n}"
    )
    code = found.functions["f"]
    places = {type(each).__name__: (span.line, span.column) for each, span in zip(code.code, code.spans, strict=True)}
    assert places["Call"] == (4, 5) and places["Branch"] == (5, 7)
    (call,) = (span for each, span in zip(code.code, code.spans, strict=True) if isinstance(each, Call))
    assert (call.line, call.column, call.end_line, call.end_column) == (4, 5, 4, 15)
