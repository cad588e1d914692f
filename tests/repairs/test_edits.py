"""Edits of texts, and where statements are put."""

from __future__ import annotations

import pytest

from pgasrob.frontends.lower import parse_c
from pgasrob.program.parser import parse
from pgasrob.repairs.edits import Edit, Origins, Overlap, applied, unified_diff
from pgasrob.repairs.remedies import CallText
from pgasrob.repairs.source_statements import Statements

TEXT = "one two three"


def test_edits_are_put_together_in_order() -> None:
    assert applied(TEXT, [Edit(8, 13, 0, "3"), Edit(4, 4, 1, "b "), Edit(4, 4, 0, "a ")]) == "one a b two 3"
    with pytest.raises(Overlap):
        applied(TEXT, [Edit(0, 5, 0, "x"), Edit(4, 7, 0, "y")])


def test_where_what_stands_in_an_edited_text_was() -> None:
    edits = [Edit(4, 4, 0, "a "), Edit(8, 13, 0, "3")]
    text, origins = applied(TEXT, edits), Origins(edits)
    for place, char in enumerate(text):
        origin, new = origins.of(place)
        assert new or TEXT[origin] == char
    assert [origins.of(place)[1] for place in (4, 5, 10)] == [True, True, True]


def test_a_diff_is_one_for_patch() -> None:
    assert unified_diff("x", "a\nb", "a\nc") == (
        "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n"
    )


C = """#include <shmem.h>
int x; /* ä */ static void tell(int to) { if (to) shmem_int_p(&x, 1, to); else shmem_int_p(&x, 2, 0); }
int main(void) {
  shmem_init();
  for (int i = 0; i < 2; i++)
    tell(i);   // told
  while (x) { x = 0; }
  return 0;
}
"""


def c_with(before: str, text: str, behind: bool = False) -> str:
    """``C`` with ``text`` put before (or behind) the statement that begins with ``before``."""
    statements = Statements.of(parse_c(C))
    statement = statements.around(C.index(before))
    assert statement is not None
    return applied(C, (statements.after if behind else statements.before)(statement, text))


def test_statements_of_c() -> None:
    assert "{ quiet(); shmem_int_p(&x, 1, to); } else" in c_with("shmem_int_p(&x, 1", "quiet();")
    assert "else { shmem_int_p(&x, 2, 0); quiet(); } }" in c_with("shmem_int_p(&x, 2", "quiet();", behind=True)
    braced = "  for (int i = 0; i < 2; i++) {\n    tell(i);   // told\n    quiet();\n  }\n"
    assert braced in c_with("tell(i)", "quiet();", behind=True)
    assert "i++) {\n    quiet();\n    tell(i);   // told\n  }\n" in c_with("tell(i)", "quiet();")
    assert "  quiet();\n  while (x) { x = 0; }\n" in c_with("while", "quiet();")
    assert "while (x) { quiet(); x = 0; }" in c_with("x = 0", "quiet();")
    statements = Statements.of(parse_c(C))
    told = {name: statements.around(C.index(name)) for name in ("tell(i)", "x = 0", "shmem_int_p(&x, 1")}
    assert [each and (each.loops, each.function) for each in told.values()] == [(1, "main"), (1, "main"), (1, "tell")]
    inner = told["shmem_int_p(&x, 1"]
    assert inner is not None and [C[each.start : each.end] for each in statements.callers(inner)] == ["tell(i);"]


def test_statements_of_pgas() -> None:
    text = """memory x; register r; queue q;
process {
  a: r <- mem[x];
  if (r == 0) { wait(q); } else if (r) { barrier; }
  loop {
    barrier;  // b
  }
}
"""
    statements = Statements.of(parse(text))

    def put(at: str, behind: bool = False) -> str:
        statement = statements.around(text.index(at))
        assert statement is not None
        return applied(text, (statements.after if behind else statements.before)(statement, "fence(q);"))

    assert "a: fence(q); r <- mem[x];" in put("r <- mem")
    assert "  fence(q);\n  if (r == 0)" in put("if (r == 0")
    assert "{ wait(q); fence(q); }" in put("wait(q)", behind=True)
    assert "    barrier;  // b\n    fence(q);\n" in put("barrier;  // b", behind=True)
    otherwise = statements.around(text.index("if (r)"))
    assert otherwise is not None and not otherwise.insertable
    first = statements.around(text.index("if (r == 0)"))
    assert first is not None and text[first.start : first.end].endswith("} else if (r) { barrier; }")
    looped = statements.around(text.index("barrier;  // b"))
    assert looped is not None and looped.loops == 1
    parse(put("wait(q)")), parse(put("r <- mem"))


def test_lines_end_where_compilers_end_them() -> None:
    text = "a;\f\nb; /* \x0b \u2028 \x85 */\nc;\r\nd;"
    assert [Statements(text, []).line(text.index(each)) for each in "abcd"] == [1, 2, 3, 4]
    assert unified_diff("f", text, text.replace("d", "e")).split("\n")[2:4] == ["@@ -1,4 +1,4 @@", " a;\f"]


def test_brackets_in_strings_and_comments_are_none() -> None:
    found = CallText.read("""put(a, ")(,"[0] == ')', /* ( , */ b) + 1;""")
    assert found is not None
    assert (found.arguments, found.end) == (("a", """")(,"[0] == ')'""", "/* ( , */ b"), 36)


def test_braces_are_written_once() -> None:
    statements = Statements.of(parse_c(C))
    statement = statements.around(C.index("tell(i)"))
    assert statement is not None
    edits = [*statements.before(statement, "fence();", 1), *statements.before(statement, "quiet();", 2)]
    edits += statements.after(statement, "quiet();", 2)
    body = "    fence();\n    quiet();\n    tell(i);   // told\n    quiet();\n"
    assert f"i++) {{\n{body}  }}\n  while" in applied(C, edits)
    within = statements.around(C.index("shmem_int_p(&x, 1"))  # in a line with what is around it
    assert within is not None
    edits = [*statements.before(within, "fence();", 1), *statements.before(within, "quiet();", 1)]
    edits += statements.after(within, "quiet();", 1)
    assert "if (to) { fence(); quiet(); shmem_int_p(&x, 1, to); quiet(); } else" in applied(C, edits)


def test_loops_around_are_those_of_the_callers_too() -> None:
    loops = {C[each.start : each.end]: each.loops for each in Statements.of(parse_c(C)).all()}
    assert loops["shmem_int_p(&x, 1, to);"] == loops["tell(i);"] == 1
    assert loops["shmem_init();"] == 0


def test_calls_of_c_within_a_macro_or_alone() -> None:
    statements = Statements.of(parse_c(C.replace("shmem_init();", "CHECK(shmem_init()); shmem_init();").replace(
        "int x;", "#define CHECK(call) call\nint x;")))  # fmt: skip
    found = [statements.text[start:end] for _, start, end in statements.calls("shmem_i[a-z]+")]
    assert found == ["shmem_init()", "shmem_init()"]


def test_what_stands_outside_comes_behind_the_brace() -> None:
    text = "#include <shmem.h>\nint x;\nint main(void) {\n  if (x)\n    x = 1;\n  x = 2;\n  return x;\n}\n"
    statements = Statements.of(parse_c(text))
    inner, following = statements.around(text.index("x = 1")), statements.around(text.index("x = 2"))
    assert inner is not None and following is not None
    edits = [*statements.before(following, "outside();"), *statements.after(inner, "inside();", 4)]
    assert "  if (x) {\n    x = 1;\n    inside();\n  }\n  outside();\n  x = 2;\n" in applied(text, edits)
