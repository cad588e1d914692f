"""The syntax tree of C texts, and the errors of texts that have none."""

from __future__ import annotations

import re

import pytest

from pgasrob.diagnostics import SourceError
from pgasrob.frontends.c.brackets import MAX_NESTING
from pgasrob.frontends.c.syntax_tree import Node, parse
from pgasrob.frontends.c.tokens import Source, tokenise


def tree(text: str) -> Node:
    source = Source("x.c", text)
    parsed = parse(tokenise(source), source)
    if parsed.wrong:
        raise SourceError([*parsed.wrong])
    return parsed.root


def expression(text: str) -> Node:
    """The node of an expression, the only statement of a function."""
    (function,) = tree(f"int f(void) {{ {text}; }}").children
    return function["body"].children[0].children[0]


def test_an_operator_behind_its_operand_binds_more_than_one_before_it() -> None:
    negation = expression("- x ++")
    assert (negation.type, negation["argument"].type) == ("unary_expression", "update_expression")
    dereferenced = expression("* p [1]")
    assert (dereferenced.type, dereferenced["argument"].type) == ("pointer_expression", "subscript_expression")
    cast = expression("(int) f (2)")
    assert (cast.type, cast["value"].type) == ("cast_expression", "call_expression")


def test_strings_side_by_side_are_one() -> None:
    assert expression('f("a" "b")')["arguments"].children[0].type == "string_literal"
    assert len(expression('f("a" "b")')["arguments"].children) == 1


def test_what_changes_no_meaning_is_left_out() -> None:
    plain = tree("int x;")
    assert [each.type for each in tree("static inline const int x __attribute__((aligned(8)));").children] == [
        each.type for each in plain.children
    ]
    assert tree('int f(void) { __asm__ volatile ("" ::: "memory"); }').children


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("int x = ;", "missing after `=`"),
        ("int f(int 3) { return 1; }", "syntax error at `3`"),
        ("int y; $", "does not belong to C"),
        ("int f(void) { f(1]; }", r"`\]` does not close `\(` of line 1"),
        ("int f(void) { (", "this `[{(]` is not closed"),
        ("int f(void) } {", "closes nothing"),
        ("struct s { char c; int a __attribute__((packed)); };", "members that are packed"),
        ("__attribute__((unused, constructor)) void f(void) {}", "before `main`"),
        ("__attribute__((__destructor__(101))) void f(void) {}", "behind `main`"),
        ("int f(void) { int x __attribute__((cleanup(g))) = 0; return x; }", "end of a scope"),
        ("int __attribute__((vector_size(16))) x;", "vectors"),
        ("int x = " + "(" * (MAX_NESTING + 1), "nest more than"),
    ],
)
def test_a_text_that_is_no_c_is_refused(text: str, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        tree(text)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return 1", "`;` is missing before `}`"),
        ("return 1\nreturn 2;", "a `;` is missing after `1`"),
        ("int y = 3 +; return y;", "missing after `\\+`"),
        ("if (x) { y = = 2; }", "missing before `=`"),
        ("return y $ 2;", "does not belong to C"),
        ("unknown *p = 0; p->x", "unknown type|is missing"),
        ("for (;;) case", "syntax error|missing"),
        ("a b c d;", "missing"),
    ],
)
def test_what_is_wrong_in_a_function_is_left_to_who_calls_it(body: str, message: str) -> None:
    """The rest of the file is read, and the function has a body without what is wrong."""
    text = (
        f"static int before(int k) {{ return k; }} int *f(int n)\n{{ {body} }}\nint after(a) int a; {{ return 2 * a; }}"
    )
    source = Source("x.c", text)
    parsed = parse(tokenise(source), source)
    before, wrong, after = (each["body"].children for each in parsed.root.children)
    assert before and after and len(wrong) < 3
    ((name, why),) = parsed.broken.items()
    assert name == "f"
    assert re.search(message, why.diagnostics[0].message), why.diagnostics[0].message


def test_several_functions_that_are_wrong() -> None:
    source = Source("x.c", "int f(void) { 1 +; } int g(void) { return 1; } int h(void) { int; if }")
    assert set(parse(tokenise(source), source).broken) == {"f", "h"}
