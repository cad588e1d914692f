"""Directives of OpenMP as they are read."""

from __future__ import annotations

import pytest

from pgasrob.diagnostics import SourceError
from pgasrob.frontends.c.openmp import CLAUSES, Directive, directive
from tests.frontends.c.test_preprocessor import preprocessed


def read(text: str) -> Directive:
    return directive(next(each for each in preprocessed(f"#pragma omp {text}\nx").tokens if each.kind == "omp"))


@pytest.mark.parametrize("name", CLAUSES)
def test_every_directive_is_read_by_its_whole_name(name: str) -> None:
    assert read(f"{name} (x)" if name == "threadprivate" else name).name == name


def test_clauses() -> None:
    found = read(
        "parallel for private(a, b), reduction(+ : s, t[0:n]) schedule(static, f(2, 3)) collapse(2) if(n > (3))"
    )
    assert [each.name for each in found.clauses] == ["private", "reduction", "schedule", "collapse", "if"]
    assert [*found.variables("private", "reduction")] == ["a", "b", "s", "t"]
    assert found.clauses[1].operator == "+" and found.clauses[1].parts == {"t"}
    assert found.number("collapse") == 2 and found.number("if") is None and found.leaves == {"parallel", "for"}
    assert [*read("simd linear(i : 2) aligned(p : 16)").variables("linear", "aligned")] == ["i", "p"]
    assert [*read("for lastprivate(conditional : k)").variables("lastprivate")] == ["k"]
    assert [each.text for each in read("critical (name) hint(1)").list] == ["name"]


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("paralel for", "OpenMP has no directive `paralel`", "did you mean `parallel`?"),
        ("parallel for reducton(+:s)", "has no clause `reducton`", "did you mean `reduction`?"),
        ("parallel nowait", "does not take the clause `nowait`", ""),
        ("target teams", "`#pragma omp target` is not supported", "check the program without the accelerator"),
        ("declare reduction(a : int : b)", "`#pragma omp declare reduction` is not supported", ""),
        ("task depend(in : x)", "`depend` in `#pragma omp task` is not supported", "order the tasks with `taskwait`"),
        ("for ordered(2)", "`ordered(n)` is not supported", ""),
        ("parallel private", "`private` needs something in parentheses", ""),
        ("parallel private()", "has nothing in its parentheses", ""),
        ("parallel private(a", "is not closed", ""),
        ("parallel private(a,)", "a variable is missing", ""),
        ("parallel private(1)", "a list of variables was expected, not `1`", ""),
        ("for nowait(1)", "takes nothing in parentheses", ""),
        ("for reduction(s)", "`reduction` needs an operator", "`reduction(+: s)`"),
        ("for reduction(mine : s)", "the reduction `mine` is not supported", ""),
        ("threadprivate", "needs a list of variables", ""),
    ],
)
def test_what_is_wrong_is_said(text: str, message: str, hint: str) -> None:
    with pytest.raises(SourceError) as caught:
        read(text)
    (found,) = caught.value.diagnostics
    assert found.code == ("PG104" if "not supported" in message else "PG110")
    assert message in found.message and hint in found.hint.lower()


def test_macros_are_expanded() -> None:
    assert [*read("parallel private(EACH)").variables("private")] == ["EACH"]
    tokens = preprocessed("#define EACH a, b\n#pragma omp parallel private(EACH)\nx").tokens
    assert [*directive(tokens[0]).variables("private")] == ["a", "b"]
