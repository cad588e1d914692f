"""Whatever the text is, the compiler gives code or says what is wrong; it never breaks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pgasrob.diagnostics import Diagnostic, SourceError
from pgasrob.diagnostics.catalogue import CATALOGUE
from pgasrob.frontends.c.compiler import compile_unit
from tests.frontends.c.interpreter import REGISTRY
from tests.frontends.c.snippets import SNIPPETS, program

TEXTS = [program(name) for name in SNIPPETS]
PIECES = [
    "(", ")", "{", "}", "[", "]", ";", ",", "*", "&", "->", ".", "...", "=", "==", "?", ":", "#", "##", "\\", "\n",
    '"', "'", "/*", "//", "0", "1", "0x", "1e", "-", "~", "!", "%", "<<", "&&", "int", "char", "void", "unsigned",
    "double", "struct", "union", "enum", "typedef", "static", "extern", "const", "if", "else", "for", "while", "do",
    "switch", "case", "default", "break", "continue", "return", "goto", "sizeof", "x", "y", "main", "printf",
    "NULL", "_Generic", "_Static_assert", "asm", "\n#if 1\n", "\n#endif\n", "\n#else\n", "\n#define x ",
    "\n#define f(a) ", "\n#include <foo.h>\n", "\n#undef x\n", "\u0000", "\u0080", "\u00e9",
    "__attribute__((packed))", "offsetof(", "({", "})", "'ab'", "L'x'", "1.5", "99999999999999999999",
]  # fmt: skip


def compiled(text: str) -> None:
    found: list[Diagnostic] = []
    try:
        compile_unit("fuzz.c", text, REGISTRY)
    except SourceError as error:
        found = error.diagnostics
        assert found
    for diagnostic in found:
        assert diagnostic.code in CATALOGUE and diagnostic.render()


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A program with some words taken away, doubled, or put in."""
    words = re.findall(r"\w+|\s+|[^\w\s]", draw(st.sampled_from(TEXTS)))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(words)))
        end = draw(st.integers(at, min(at + 3, len(words))))
        kind = draw(st.sampled_from(("delete", "insert", "copy")))
        if kind == "delete":
            words[at:end] = []
        elif kind == "insert":
            words[at:end] = draw(st.lists(st.sampled_from(PIECES), min_size=1, max_size=3))
        else:
            other = draw(st.integers(0, len(words)))
            words[at:at] = words[other : other + 4]
    return "".join(words)


@given(mutated())
@settings(max_examples=250, deadline=None)
def test_mutated_programs(text: str) -> None:
    compiled(text)


@given(st.lists(st.sampled_from(PIECES), max_size=25).map(" ".join))
@settings(max_examples=150, deadline=None)
@example("#")
@example("#define")
@example("#if")
@example("#if (")
@example("#include")
@example("#include <")
@example('#include "fuzz.c"')
@example("#define f(")
@example("#define f(a) #\nf(1)")
@example("#define f(a) a ##\nf(1)")
@example("#define f(a) ## a\nf(1)")
@example("#define f f(f)\nf(f)")
@example("int")
@example("int x = x;")
@example("int a[] = a;")
@example("int a[];")
@example("struct s { struct s x; };")
@example("struct s { int a[sizeof(struct s)]; };")
@example("typedef int t; t t;")
@example("int f(void) { return f; }")
@example("void f(void) { f() + 1; }")
@example("int main(void) { case 1: ; }")
@example("int main(void) { int a[3] = {[5] = 1}; }")
@example("int a[1 << 62][1 << 62];")
@example("int x = 1 / 0;")
@example("int x = (int)1e300;")
@example("enum { A = B }; enum { B };")
@example("_Static_assert(")
@example("_Static_assert();")
@example("int main(void) { goto x; }")
@example("int main(void) { x: x: ; }")
@example("int main(void) { int x, x; }")
@example("int main(void) { ({ }); ({ 1; }) + 1; }")
@example("int main(void) { int i = {}; int j = {{1}}; }")
@example("int main(int argc, char **argv) { return argv[0][0] ? 1 : *argv; }")
@example("int f(int n, int a[n][n]) { return a[1][1]; }")
@example("char *s = (char[]){1, 2};")
@example("void f(void) { struct { int x; } s; s.y; s->x; (&s)->x.z; }")
@example("int main(void) { return sizeof(int[]); }")
@example('int x[2] = {1, 2, 3}; char s[2] = "abc";')
@example("int main() { char c = ''; }")
@example("int main() { return 0x; }")
@example("int main() { return 1.2.3; }")
@example("f(a, b) int a, b; { return a; }")
def test_pieces(text: str) -> None:
    compiled(text)


@given(st.text(max_size=60))
@settings(max_examples=100, deadline=None)
def test_any_text(text: str) -> None:
    compiled(text)


N = 10_000


@pytest.mark.parametrize(
    "text",
    [
        f"int x = {'(' * N}1{')' * N};",
        f"int main(void) {{ return {'-' * N} 1; }}",
        f"int main(void) {{ return {'- ' * N} 1; }}",
        f"int main(void) {{ return {'! ' * N} 1; }}",
        f"int main(void) {{ return {'1 + ' * N} 1; }}",
        f"int main(void) {{ int x; return {'x = ' * N} 1; }}",
        f"int main(void) {{ return {'1 ? 1 : ' * N} 1; }}",
        f"int main(void) {{ return {'1, ' * N} 1; }}",
        f"int main(void) {{ return {'(char) ' * N} 1; }}",
        f"int main(void) {{ int {'*' * N} x; }}",
        f"int x{'[1]' * N};",
        f"int main(void) {{ {'{' * N}{'}' * N} }}",
        f"int main(void) {{ {'if (1) ' * N}; }}",
        f"int main(void) {{ if (1) ; {'else if (1) ; ' * N} }}",
        f"int main(void) {{ {'while (1) ' * N}; }}",
        f"int main(void) {{ {''.join(f'l{i}: ' for i in range(N))}; }}",
        f"int main(void) {{ switch (1) {{ {''.join(f'case {i}: ' for i in range(N))}; }} }}",
        f"struct {'{ struct ' * N} s;",
        f"#if {'(' * N}1{')' * N}\n#endif",
        f"#if {'!' * N}1\n#endif",
        f"#if {'1 ? ' * N}1{': 1' * N}\n#endif",
        "#if 1\n" * N + "#endif\n" * N,
        f"#define f(x) x\nint x = {'f(' * N}1{')' * N};",
        "".join(f"#define a{i} a{i + 1} a{i + 1}\n" for i in range(60)) + "int x = a0;",
        f"int x = {'{' * N}{'}' * N};",
        f"int f(int {'(*' * N}x{')()' * N});",
        f"int main(void) {{ return x{'.x' * N}; }}",
        f"int main(void) {{ return x{'[0]' * N}; }}",
        f"int main(void) {{ return f{'()' * N}; }}",
        f"int main(void) {{ return {'sizeof ' * N} 1; }}",
        "char *s = " + '"a" ' * N + ";",
        f"int main(void) {{ {'do ' * N} ; {'while (0);' * N} }}",
        f"int main(void) {{ return {'1 && ' * N} 1; }}",
        f"int main(int x) {{ return {'x && ' * N} 1; }}",
        f"int main(int x) {{ return {'x ? x : ' * 150} 1; }}",
        f"int x = {'9' * N};",
        f"double x = 0x{'f' * 900}p{'9' * 20};",
    ],
    ids=lambda text: text[:30],
)
def test_deep_and_long_programs(text: str) -> None:
    compiled(text)


def test_a_file_that_includes_itself(tmp_path: Path) -> None:
    path = tmp_path / "self.c"
    path.write_text('#include "self.c"\nint x;\n')
    with pytest.raises(SourceError, match="include"):
        compile_unit(str(path), path.read_text(), REGISTRY)
