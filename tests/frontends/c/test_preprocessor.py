# ruff: noqa: E501
"""Macros expand as gcc expands them; directives and places."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from pgasrob.diagnostics import SourceError
from pgasrob.frontends.c.preprocessor import Preprocessed, preprocess
from pgasrob.frontends.c.tokens import Source, tokenise
from pgasrob.frontends.options import Flags
from tests.frontends.c.interpreter import REGISTRY

GCC = shutil.which("gcc")


def preprocessed(text: str, file: str = "x.c", **defines: str) -> Preprocessed:
    found = preprocess(Source(file, text), REGISTRY, Flags(tuple(defines.items())))
    if found.wrong:
        raise SourceError(found.wrong)
    return found


def words(text: str, **defines: str) -> list[str]:
    return [token.text for token in preprocessed(text, **defines).tokens]


MACROS = {
    "objects": "#define A B + 1\n#define B 2\nA * B",
    "functions": "#define F(a, b) (a) - b\nF(1, 2) F((1, 2), [3]) F(F(1, 2), F (3,4)) F",
    "empty arguments": "#define F(a, b) <a|b>\n#define E\nF(,) F(E, 1) F(, F(,))",
    "no parameters": "#define F() f\nF() F( ) F ()",
    "recursion": "#define f(x) x + f(x)\n#define a b\n#define b a c\nf(f(1)) a b",
    "rescan takes what follows": "#define f(x) x\n#define g f\ng(1) g (2)\n#define h f(\nh 3)",
    "strings": '#define S(x) #x\n#define X(x) S(x)\n#define N 3\nS(N + 1) X(N + 1) S( a  "b\\n" \'"\' ) S()',
    "pasting": "#define C(a, b) a ## b\n#define X(a, b) C(a, b)\n#define N 3\nC(x, N) X(x, N) C(, y) C(y, ) C(,) C(N, N) C(>, >)",
    "variadic": "#define V(...) f(__VA_ARGS__)\n#define W(a, ...) g(a, #__VA_ARGS__)\nV() V(1) V(1, 2) W(1, 2, 3)",
    "gnu variadic": "#define L(f, ...) p(f, ##__VA_ARGS__)\n#define M(args...) m(args)\n#define Q(f, a...) q(f, ## a)\nL(1) L(1, 2) M(1, 2) Q(1) Q(1, 2, 3)",
    "over lines": "#define F(a, b) \\\n  do { a; \\\n b; } while (0)\nF(x,\n y) F\n(1,\n2)",
    "undef": "#define A 1\nA\n#undef A\nA\n#define A 2\nA",
    "conditions": "#define A 3\n#if A == 3 && defined(A) && !defined B\nyes\n#else\nno\n#endif\n#if 0\n#if 1\nx\n#endif\n'x\n#elif A > 2\ny\n#elif 1\nz\n#endif",
    "arithmetic": "#if (1 << 4) / 3 == 5 && -7 / 2 == -3 && -7 % 2 == -1 && (5 > 3 ? 1 : 0) && ~0 == -1 && 'a' == 97 && 0x10 == 020\ny\n#endif",
    "short cuts": "#if 0 && 1 / 0\n#elif 1 || 1 / 0\ny\n#endif\n#if undefined_name\n#else\nz\n#endif",
    "comments": "a /* b\n c */ d // e \\\n f\ng /**/ h \"/* no */\" '\"' i",
    "the standard's first example": (
        "#define x 3\n#define f(a) f(x * (a))\n#undef x\n#define x 2\n#define g f\n#define z z[0]\n#define h g(~\n"
        "#define m(a) a(w)\n#define w 0,1\n#define t(a) a\n#define p() int\n#define q(x) x\n#define r(x,y) x ## y\n"
        "#define str(x) # x\nf(y+1) + f(f(z)) % t(t(g)(0) + t)(1);\ng(x+(3,4)-w) | h 5) & m\n(f)^m(m);\n"
        "p() i[q()] = { q(1), r(2,3), r(4,), r(,5), r(,) };\nchar c[2][6] = { str(hello), str() };"
    ),
    "the standard's second example": (
        "#define str(s) # s\n#define xstr(s) str(s)\n#define debug(s, t) printf(\"x\" # s \"= %d, x\" # t \"= %s\", \\\n"
        " x ## s, x ## t)\n#define INCFILE(n) vers ## n\n#define glue(a, b) a ## b\n#define xglue(a, b) glue(a, b)\n"
        "#define HIGHLOW \"hello\"\n#define LOW LOW \", world\"\ndebug(1, 2);\n"
        "fputs(str(strncmp(\"abc\\0d\", \"abc\", '\\4') == 0) str(: @\\n), s);\n"
        "xstr(INCFILE(2).h)\nglue(HIGH, LOW);\nxglue(HIGH, LOW)"
    ),
    "the standard's third example": (
        "#define t(x,y,z) x ## y ## z\nint j[] = { t(1,2,3), t(,4,5), t(6,,7), t(8,9,), t(10,,), t(,11,), t(,,12), t(,,) };"
    ),
}  # fmt: skip


@pytest.mark.skipif(GCC is None, reason="there is no gcc")
@pytest.mark.parametrize("name", MACROS)
def test_macros_expand_as_gcc_says(name: str) -> None:
    arguments = [str(GCC), "-E", "-P", "-w", "-undef", "-x", "c", "-std=gnu11", "-"]
    ran = subprocess.run(arguments, input=MACROS[name], capture_output=True, text=True, check=True)
    assert words(MACROS[name]) == [token.text for token in tokenise(Source("gcc", ran.stdout))]


def test_tokens_of_macros_stand_at_their_use_and_arguments_where_they_are() -> None:
    tokens = preprocessed("#define F(a) g(a, 1)\nint x;\n  F(\n  y);").tokens
    places = {token.text: (token.span.line, token.span.column) for token in tokens}
    assert places["x"] == (2, 5) and places["g"] == (3, 3) and places["1"] == (3, 3) and places["y"] == (4, 3)
    lines = [token.text for token in preprocessed("__LINE__\n\n#define L __LINE__\nL\n__FILE__").tokens]
    assert lines == ["1", "4", '"x.c"']


def test_definitions_from_outside_and_from_the_standard_headers() -> None:
    assert words("N INT_MAX", N="4") == ["4", "2147483647"]
    assert words("#define INT_MAX 3\nINT_MAX") == ["3"]
    assert words('"%" PRIu64') == ['"%"', '"lu"']


def test_headers_are_noted() -> None:
    found = preprocessed(
        "#include <stdio.h>\n#define H <stdlib.h>\n#include H\n#include <numa.h>\n#include <sys/epoll.h>"
    )
    assert found.headers == ()
    assert found.unread == [("numa.h", 4), ("sys/epoll.h", 5)]


def test_files_beside_it_are_included(tmp_path: Path) -> None:
    (tmp_path / "mine.h").write_text("#pragma once\n#ifndef N\n#define N 5\n#endif\nint from_mine;\n")
    (tmp_path / "other.h").write_text('#include "mine.h"\nint other;\n')
    text = '\n#include "mine.h"\n#include "other.h"\nint x = N;'
    found = preprocess(Source(str(tmp_path / "x.c"), text), REGISTRY)
    assert [token.text for token in found.tokens] == "int from_mine ; int other ; int x = 5 ;".split()  # noqa: SIM905
    assert [str(found.tokens[at].span.line) for at in (1, 4, 7)] == ["mine.h:5", "other.h:2", "4"]
    assert [Path(found.tokens[at].source.file).name for at in (1, 4, 7)] == ["mine.h", "other.h", "x.c"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("#error no", "PG103"),
        ("#if 1", "PG102"),
        ("#endif", "PG102"),
        ("#else", "PG102"),
        ("#if 1\n#else\n#else\n#endif", "PG102"),
        ("#if 1\n#else\n#elif 1\n#endif", "PG102"),
        ("#if 1 / 0\n#endif", "PG102"),
        ("#if 1.5\n#endif", "PG102"),
        ("#if f(1)\n#endif", "PG102"),
        ("#nonsense", "PG102"),
        ("#define 3", "PG102"),
        ("#define f(a", "PG102"),
        ("#define f(3) x", "PG102"),
        ("#include x", "PG102"),
        ("#define f(a, b) a\nf(1)", "PG105"),
        ("#define f(a, b) a\nf(1, 2, 3)", "PG105"),
        ("#define f(a) a\nf(1", "PG105"),
        ("#define f(a, b) a ## b\nf(+, 1)", "PG105"),
        ("/* open", "PG101"),
    ],
)
def test_what_is_wrong_is_said(text: str, code: str) -> None:
    with pytest.raises(SourceError) as caught:
        preprocessed(text)
    assert [each.code for each in caught.value.diagnostics] == [code]


def test_pragmas_of_threads_and_accelerators_are_left_to_the_parser() -> None:
    tokens = preprocessed(
        'a\n#pragma omp parallel for\n#pragma once\n_Pragma("acc loop") _Pragma("GCC ivdep") b'
    ).tokens
    kinds = [(token.kind, token.text) for token in tokens]
    pragmas = [("omp", "#pragma omp parallel for"), ("pragma", '_Pragma("acc loop")')]
    assert kinds == [("name", "a"), *pragmas, ("name", "b")]


def test_what_is_left_out_may_be_anything() -> None:
    assert words("#if 0\ndon't @ `\n#error no\n#pragma omp parallel\n#nonsense\n#include <omp.h>\n#endif\nx") == ["x"]
    assert words('#pragma GCC ivdep\n#pragma once\n#line 3\n#ident "x"\n#warning y\n#\nx') == ["x"]


def test_a_call_over_a_directive_is_known_by_its_parenthesis_up_to_200_tokens_back() -> None:
    call = "#define F(x) x\nF(%s\n#define Y 2\nY)"
    assert words(call % ("1 " * 199))[-2:] == ["1", "2"]
    with pytest.raises(SourceError, match="PG105"):
        words(call % ("1 " * 200))


def test_headers_of_the_system_that_are_not_read() -> None:
    """What needs threads is an error where it is called."""
    assert preprocessed("#include <semaphore.h>\n#include <poll.h>\n").unread == [
        ("semaphore.h", 1), ("poll.h", 2),
    ]  # fmt: skip


def test_a_word_of_complex_h_is_a_name_without_it() -> None:
    assert words("complex") == ["complex"]
    assert words("#include <complex.h>\ncomplex") == ["_Complex"]


def test_generated_headers_that_are_not_there_may_be_empty(tmp_path: Path) -> None:
    text = '#include "config.h"\n#include <sub/my_conf.h>\n#ifdef HAVE_X\nx\n#else\ny\n#endif\n'
    with pytest.raises(SourceError, match="give --define-missing-config"):
        preprocessed(text)
    found = preprocess(Source(str(tmp_path / "x.c"), text), REGISTRY, Flags(empty_configs=True))
    assert found.unread == [("config.h", 1), ("sub/my_conf.h", 2)] and [each.text for each in found.tokens] == ["y"]
    (tmp_path / "config.h").write_text("#define HAVE_X 1\n")
    found = preprocess(Source(str(tmp_path / "x.c"), text), REGISTRY, Flags(empty_configs=True))
    assert found.unread == [("sub/my_conf.h", 2)] and [each.text for each in found.tokens] == ["x"]
    for header in ("config2.h", "configure.h", "other.h"):
        with pytest.raises(SourceError, match="cannot find the header"):
            preprocess(Source("x.c", f'#include "{header}"\n'), REGISTRY, Flags(empty_configs=True))
