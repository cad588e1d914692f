"""Whole files: the errors of every part of the compiler."""

from __future__ import annotations

import pytest

from pgasrob.diagnostics import MAX_ERRORS, SourceError
from pgasrob.frontends.lower import parse_c
from tests.frontends.c.compiler.net import unit
from tests.frontends.several_mistakes import SOURCES


def test_several_mistakes_are_reported_at_once() -> None:
    with pytest.raises(SourceError) as caught:
        unit("int f(void) { return a; }\nint g(void) { return b; }\nint h(void) { return 1; }")
    assert [each.line for each in caught.value.diagnostics] == [1, 2]


@pytest.mark.parametrize("which", SOURCES)
def test_all_mistakes_are_told(which: str) -> None:
    expected, text = SOURCES[which]
    with pytest.raises(SourceError) as caught:
        parse_c(text).program(2)
    assert [(each.code, each.line) for each in caught.value.diagnostics] == expected, str(caught.value)


def test_no_more_than_twenty() -> None:
    text = "int main(void) {\n" + "".join(f"  x{number} = 1;\n" for number in range(30)) + "  return 0;\n}\n"
    with pytest.raises(SourceError) as caught:
        parse_c(text).program(1)
    assert [each.line for each in caught.value.diagnostics] == list(range(2, 2 + MAX_ERRORS))


def test_a_function_with_a_mistake_is_not_called_without_it() -> None:
    """The statement that cannot be read is left out only to find further mistakes."""
    text = "int x;\nint f(void) { x = 1 1; return x; }\nint main(void) { return f(); }\n"
    with pytest.raises(SourceError) as caught:
        parse_c(text).program(1)
    assert [(each.code, each.line) for each in caught.value.diagnostics] == [("PG107", 2)]
    parse_c(text.replace("f();", "0;")).program(1)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("union u { int a; float b; } x = {1, 2};", "PG123"),
        ("struct s { int a : 3; } x;", "PG120"),
        ("struct s { int : 0; int a; } x;", "PG120"),
        ("_Complex double x;", "PG120"),
        ("__int128 x;", "PG120"),
        ("_Atomic int x;", "PG120"),
        ('void f(void) { __asm__("nop"); }', "PG120"),
        ("void f(int n, ...) { va_list l; va_arg(l, int); }", "PG120"),
        ("extern int x; int f(void) { return x; }", "PG122"),
        ("int f(void) { struct s x; return 0; }", "PG122"),
        ("int x[] ;", "PG124"),
        ("void x;", "PG121"),
        ("int f(void) { break; }", "PG121"),
        ("int f(void) { continue; }", "PG121"),
        ("int f(int x) { switch (x) { case 1: case 1: ; } }", "PG121"),
        ("int f(int x) { switch (x) { case x: ; } }", "PG124"),
        ("int f(void) { return 1", "PG107"),
        ("int f(void) { return (1; }", "PG107"),
        ("int f(void) { 1 = 2; }", "PG107"),
        ("int f(void) { int x; return (&x) = 0; }", "PG123"),
        ("int f(void) { return \"a\" * 2; }", "PG123"),
        ("void f(void) {} int g(void) { return f() + 1; }", "PG123"),
        ("int f(int a); int g(void) { return f(1); }", "PG125"),
        ("int f(int a) { return 0; } int g(void) { return f(); }", "PG126"),
        ("_Static_assert(sizeof(int) == 8, \"int\");", "PG103"),
        ("wchar_t c = L'x';", "PG120"),
        ("int main(void) x { return 0; }", "PG107"),
        ("int else(void) { return 0; }", "PG107"),
        ("int x @ 3;", "PG101"),
    ],
)  # fmt: skip
def test_what_is_refused(text: str, code: str) -> None:
    with pytest.raises(SourceError) as caught:
        unit(text)
    assert code in [each.code for each in caught.value.diagnostics]


@pytest.mark.parametrize(
    "function",
    [
        "int f(int n, ...) { va_list l; va_start(l, n); int x = va_arg(l, int) + 1; va_end(l); return x; }",
        'int f(void) { int r; __asm__ volatile("rdtsc" : "=a"(r)); return r; }',
        "int f(void) { _Atomic(int) x = 1; return x; }",
        "int f(void) { unsigned __int128 x = 1; return x; }",
        "#include <complex.h>\ndouble complex f(double complex x) { return x; }",
        "int f(void) { struct no *p = 0; return p->x; }",
        "int f(struct { int a : 2; } x) { return x.a; }",
        "int f(void) { return nobody(1); }",
        "int f(int, float _Complex);",
        "int g(void) { return f(); } int f(no x) { return x; }",
        "int f(void) {\n#pragma omp parallel for\nwhile (1) ; return 0; }",
        'int f(void) { _Pragma("acc kernels") return 0; }',
        "int f(void) { return 3 +; }",
        "int f(void) { return 3 ` 4; }",
    ],
)
def test_what_is_wrong_in_a_function_does_not_matter_beside_main(function: str) -> None:
    kept = unit(f"{function}\nint main(void) {{ return 0; }}")
    assert "f" in kept.broken and "main" in kept.functions
    for main in ("", f"int main(void) {{ return f({'1' if 'f(int n' in function else ''}) + missing; }}"):
        with pytest.raises(SourceError) as caught:
            unit(f"{function}\n{main}")
        first = kept.broken["f"].diagnostics[0]
        assert any((each.code, each.message) == (first.code, first.message) for each in caught.value.diagnostics)


def test_variables_and_types_must_be_right_beside_main() -> None:
    for text in ("no x;", "int x = nobody();", "struct s { int a : 2; };", "int f(void); int f = 2;"):
        with pytest.raises(SourceError):
            unit(f"{text}\nint main(void) {{ return 0; }}")
