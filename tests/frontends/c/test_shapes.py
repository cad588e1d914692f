"""What C's grammar says a text is, the parser says too, whatever is a type and whatever looks like a declaration."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from random import Random

import pytest

from pgasrob.diagnostics import SourceError
from pgasrob.frontends.c.compiler import compile_unit
from pgasrob.frontends.c.syntax_tree import parse
from pgasrob.frontends.c.tokens import Source, tokenise
from tests.frontends.c.interpreter import REGISTRY
from tests.frontends.c.random_statements import PRELUDE, Statements, tree_of
from tests.support import examples

BATCHES = 5


@pytest.mark.parametrize("batch", range(BATCHES))
def test_random_statements_are_read_as_the_grammar_has_them(batch: int) -> None:
    for seed in range(batch, examples(500, 10_000), BATCHES):
        text, tree = Statements(Random(seed)).statement(3)
        source = Source("test.c", f"{PRELUDE} int g(int a, int b, int p) {{ {text} }}")
        parsed = parse(tokenise(source), source)
        (statement,) = parsed.root.children[-1]["body"].children
        assert tree_of(statement, parsed) == tree, (seed, text)


MISLEADING = r"""
#include <stdio.h>
#include <stdlib.h>
#include <stddef.h>
typedef int T; typedef struct s { int m, T; struct s *next; } S; typedef int (*F)(int);
typedef unsigned char uint8, *bytes; typedef int row[3], *prow;
enum { RED, GREEN = 3, BLUE } color; enum e { X = 1 << 2, Y = X * 2 };
static int h(int x) { return x; }
static int f(int *a, int x) { return a ? x : 0; }
static int ok(int x) { return x + 1; }
static F pick(int a) { return a ? h : ok; }
static int (*picked(int T))(int) { T * 2; return T ? h : ok; }
static int two(int T, int (*g)(int T)) { return T * g(T); }
extern int undefined_thing;
int g1, *g2 = &g1, g3[2] = {1, [1] = 2}, (*g4)(int) = h, (g5), g6(int), *g7(void);
int g6(int T) { T++; return T & 1; }
int *g7(void) { return g2; }
struct big { struct { int a; } in; union { int u; } un; int bits[X * 2]; T t; row r; F fn; int (*arr)[3]; };
static const struct big B = { .in = { .a = 1 }, .bits = { [0 ... 1] = X * Y }, .fn = h };
int variadic(const char *format, ...);
int variadic(const char *format, ...) { return format != 0; }
static int proto(int, char *, int [], int (*)(int), F, S *, const T *, int n, T m[n]);
static int proto(int a, char *b, int c[], int (*d)(int), F e, S *x, const T *y, int n, T m[n]) { return a + n; }
#define CHECK(c) do { if (!(c)) exit(1); } while (0)
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define CALL(fn, ...) fn(__VA_ARGS__)
#define EMPTY
int main(void) {
  int n = 2, m = 3, a[4] = {1, 2, 3, 4}, *p = a, i; S s = {1, 2, NULL}, *q = &s;
  ok(h(n * m)); ok(f(a, n * sizeof(int))); ok(n * m); ok(n & m); n * m; n & m; (ok)(n); (*ok)(n * m); (&ok)(n);
    pick(1)(n * m);
  if (ok(n * m)) n = 3; else ok(n & m); while (ok(-n * m) > 100) ; for (i = 0; ok(i * n) < 3;
    ok(i * m), i++) ok(i * i);
  switch (ok(n * m)) { case 1: ok(n * m); break; case 2 + 3: case RED: { ok(n); } default: ok(m * n); }
  { int T = 2; T * 3; ok(T * n); (T) * n; (T) + 1; (T)[a]; T = T * T; ok((T) * (T)); ok((T)-1); { T++; } }
  { typedef long n; n m = 3; n * x = 0; (void)x; ok((n) * (&i)); (void)(n)m; sizeof(n) * m; }
  T t = (T)-1, u = (T)*p, w = (n)-1, x = (n)*m, y = -(n)*-m; (void)w; (void)x;
  sizeof(T) * n; sizeof n * m; sizeof (n) * m; sizeof(int) + 1; sizeof (T){1} * 2; sizeof(S){1}.m; sizeof *p * 2;
    sizeof(*p) * n;
  *p++ = n; *p-- = m; (*p)++; ++*p; -*p++; -p[0]--; !*p--; ~n++; !n--; &q->m; *&n; &*p; &p[1] - &p[0]; !q->next;
    *p * *p; n & *p; n && *p;
  (s).m * n; (q)->m & 1; q->T * 2; s.T = s.T * n; q->m = -q->m; (&s)->m = 1; (*q).m *= 2;
  a[n * 0], a[(n, 0)], a[n, 0]; n ? m : n, m; n = m ? n * m : n & m; n ? ok(n), m : n; n ? : m;
  (void)n; (void)(n * m); (void)ok(n * m); (void)0; ((void)0); (T *)p; (S **)0; (int (*)(int))h;
    ((int (*)(int))h)(n * m); (F)h; ((F)h)(n * n);
  (int [2]){1, 2}[n * 0]; ((S){1, 2}).m; f((int []){n * m, n & m}, n * m); f(&(int){n}, sizeof(int [4]) * n);
    ((T){n}) * 2;
  int k = n * m, *r = &k, z[n * m], (*fn)(int) = ok, (*fns[2])(int) = {ok, h}, (l), (*pa)[4] = &a; fn(n * m);
    (*fn)(n & m); fns[n & 1](n * m); (*fns[0])(n); (void)z; (void)l; (void)pa; (void)r;
  struct s local = {n * m, n & m}, *lp = &local; struct { int a, b; } anon = {1}; struct s; enum e ee = X; (void)lp;
    (void)anon; (void)ee;
  static int st = X * Y, *sp = &st; extern int g1; register int rg = n * m; volatile T vt = 1; const S *cs = &s;
    unsigned uu = n * 2u; (void)sp; (void)rg; (void)vt; (void)cs; (void)uu;
  ({ int T = n * m; T * T; }); n = ({ ok(n * m); n * m; }); __typeof__(n * m) tt = n; __typeof__(int *) tp = p;
    typeof(n) tn = 1; (void)tt; (void)tp; (void)tn;
  _Generic(n * m, int: ok(n * m), S *: 1, default: 2); offsetof(S, m) * n; _Alignof(T) * n; _Alignof(S) + 1;
    _Static_assert(sizeof(T) * 2 == 8, "T");
  goto T; T: ok(n * m); if (n) goto end; else goto out; out: ; lab: ok(n); if (0) goto lab;
  do ok(n * m); while (n * m < 0); do { n * m; } while (0); for (T T = 0; T < 2; T++) ok(T * n); for (;;) break;
    for (int j = n * m, *jp = &j; *jp < 0; ) ;
  CHECK(ok(n * m)); CHECK(n * m > 0 && ok(n & m)); CALL(ok, n * m); CALL(f, a, n * sizeof(T));
    n = MAX(n * m, ok(n * m)); EMPTY ; ;
  return n * m + y + t + u - (n * m + y + t + u); end: ok(n * m);
}
"""


@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no gcc")
def test_what_is_misleading_is_c(tmp_path: Path) -> None:
    (tmp_path / "test.c").write_text(MISLEADING)
    command = ["gcc", "-std=gnu11", "-fsyntax-only", "-w", "test.c"]
    assert subprocess.run(command, cwd=tmp_path, check=False, timeout=60).returncode == 0


def test_misleading_text_is_compiled() -> None:
    compile_unit("test.c", MISLEADING, REGISTRY)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("foo x;", "unknown type `foo`"),
        ("foo *x = 0;", "unknown name `foo`"),
        ("n = (foo)n;", "unknown type `foo`"),
        ("p = (foo *)p;", "unknown type `foo`"),
        ("n = sizeof(foo *);", "unknown type `foo`"),
        ("h(foo n);", "an operator, a comma or a `;` is missing before `n`"),
        ("h(n * m) n;", "is missing before `n`"),
        ("n++ m;", "is missing before `m`"),
        ("n = m\n; n = 2 m;", "is missing before `m`"),
        ("n = m\nn = 2;", "a `;` is missing after `m`"),
        ("sizeof(int) n;", "is missing before `n`"),
        ("if (n == == m) n = 1;", "an expression is missing before `==`"),
        ("n = (m +);", r"an expression is missing after `\+`"),
        ("h(n, , m);", "an expression is missing before `,`"),
        ("h(n,);", "an expression is missing after `,`"),
        ("h(int n);", "`int` is a type, and an expression was expected here"),
        ("n = 1\nint k;", "a `;` is missing after `1`"),
        ("if n == 1) n = 2;", r"a `\(` is missing after `if`"),
        ("while n--;", r"a `\(` is missing after `while`"),
        ("n k;", "`n` is no type"),
        ("p = &&n;", "an expression is missing before `&&`"),
    ],
)
def test_what_is_no_type_is_said(text: str, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        compile_unit("test.c", f"int h(int x); int main(void) {{ int n = 1, m, *p; {text} }}", REGISTRY)


def test_a_parameter_hides_a_type_in_its_function_only() -> None:
    text = "typedef int T; int f(int T) { return T * 2; } int g(int x) { T *p = &x; return *p; } int main(void) {}"
    assert not compile_unit("test.c", text, REGISTRY).broken
    assert [*compile_unit("test.c", text.replace("int x", "int T, int x"), REGISTRY).broken] == ["g"]
