"""What the machine makes of C: folded or left to the program, it computes what gcc's programs compute."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pgasrob import SourceError, check
from pgasrob.frontends.c import rank_position
from pgasrob.frontends.lower import parse_c
from pgasrob.frontends.options import FrontEnd
from pgasrob.program.parser import parse
from tests.frontends.apis.lowering import printed
from tests.frontends.c.against_gcc import by_gcc, executed, folded

ARITHMETIC = """
typedef struct { int a; short b; unsigned char c; double d; struct { long x[3]; } in; } S;
static int g = 5; unsigned int ug = 0xfffffff0u; static S gs = { 1, 2, 3, 4.5, {{7,8,9}} };
int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
static long apply(long (*f)(long), long v) { return f(v); }
long twice(long v) { return v * 2; }
static int counter(void) { static int c = 10; return c++; }
S make(int a) { S s = gs; s.a = a; s.in.x[1] = a * 3; return s; }
void swap(int *p, int *q) { int t = *p; *p = *q; *q = t; }
int main(void) {
  long n = input(0), m = input(1);
  int i, a[8], x = (int)n, y = (int)m;
  unsigned char uc = (unsigned char)(n + 250); short sh = (short)(n * 40000);
  emit(uc); emit(sh); emit(n / 3); emit(-n / 3); emit(-n % 3); emit((unsigned)(-x) >> 3); emit(-x >> 1); emit(x << 3);
  emit(x & y); emit(x | y); emit(x ^ ~y); emit(!x); emit(!!y); emit(x && y); emit(x > 3 || y++ > 1); emit(y);
  emit(fib(10)); emit(apply(twice, n)); emit(counter()); emit(counter()); emit(counter());
  for (i = 0; i < 8; i++) a[i] = i * x + (i % 2 ? y : -y);
  for (i = 7; i >= 0; i -= 2) emit(a[i]);
  swap(&a[0], &a[7]); emit(a[0]); emit(a[7]); swap(&x, &y); emit(x); emit(y);
  S s = make(x); emit(s.a); emit(s.b); emit(s.c); emit_double(s.d); emit(s.in.x[0]); emit(s.in.x[1]); emit(s.in.x[2]);
  switch (x) { case 1: emit(101); break; case 2: emit(102); case 3: emit(103); break; default: emit(199); }
  double d = n * 1.5 + 0.25; float f = (float)d / 3; emit_double(d); emit_double(f); emit((int)(d * 2)); emit(d < f);
  emit(ug + x); emit(g += x); emit(--g); emit((ug > x)); emit(x < 0 ? -1 : 1); emit_double(-d); emit_double(f * f);
  int w = 0, k = 0; while (w < n) { w += 2; if (w == 6) continue; if (k > 20) break; k++; } emit(w); emit(k);
  do { w--; } while (w > 3); emit(w);
  char str[] = "hello"; emit(str[1]); emit(sizeof str); long sum = 0; for (char *p = str; *p; p++) sum = sum * 31 + *p;
  emit(sum); unsigned long long big = 1ULL << 63; emit(big >> 60); emit((long)(big + n)); emit((int)big);
  goto out; emit(-1); out: emit(77);
  return 0;
}
"""
INDICES = """
int main(void) {
  long n = input(0); int a[6] = {0}; int index = (int)(n % 6); if (index < 0) index += 6;
  a[2] = 7; a[index] = 5; a[(index + 1) % 6] += 3;
  for (int i = 0; i < 6; i++) emit(a[i]);
  int *p = a + index; emit(*p); p[0]++; emit(a[index]); emit(p - a);
  struct { int k; long v; } t[4]; for (int i = 0; i < 4; i++) { t[i].k = i; t[i].v = i * 10 + n; }
  emit(t[n & 3].v); t[n & 3].k = 99; for (int i = 0; i < 4; i++) emit(t[i].k);
  return 0;
}
"""
LOOPS = """
int main(void) {
  long n = input(0), c = 0; while (n != 1 && c < 200) { n = n % 2 ? 3 * n + 1 : n / 2; c++; } emit(c);
  int x = 0, y = 1; for (int i = 0; i < input(1); i++) { int z = x + y; x = y; y = z; } emit(x); emit(y);
  int count = 0; for (int i = 0; i < 200; i++) { if ((i * input(1)) % 7 == 3) count++; if (count > 12) break; }
  emit(count);
  long acc = 1; for (int i = 0; i < 30; i++) { acc = acc * 31 + input(0) + i; acc ^= acc >> 3; } emit(acc);
  int bits = 0; for (int i = 0; i < 12; i++) if (input(0) >> i & 1) bits++; emit(bits);
  long least = 1000, most = -1000; for (int i = 0; i < 5; i++) { long v = input(0) * i % 5; if (v < least) least = v;
    if (v > most) most = v; } emit(least); emit(most);
  return 0;
}
"""
MEMORY = """
#include <string.h>
#include <stdlib.h>
struct node { struct node *next; long value; };
static struct node *push(struct node *list, long value) {
  struct node *made = malloc(sizeof *made); made->next = list; made->value = value; return made;
}
int main(void) {
  long n = input(0); int a[4] = {1, 2, 3, 4}, b[4]; memcpy(b, a, sizeof a); b[1] = (int)n; memmove(b + 1, b, 8);
  for (int i = 0; i < 4; i++) emit(b[i]);
  memset(a, 0, sizeof a); emit(a[3]); memset(b, 255, 8); emit(b[0]); emit(b[1]); emit(b[2]);
  struct node *list = 0; for (int i = 0; i < 3; i++) list = push(list, i + n);
  while (list) { emit(list->value); struct node *next = list->next; free(list); list = next; }
  long *z = calloc(3, sizeof(long)); z[1] = n; emit(z[0] + z[1] + z[2]); free(z);
  for (int i = 0; i < 50; i++) { int *p = malloc(4); *p = i; if (i == 49) emit(*p); free(p); }
  char text[16]; strcpy(text, "ab"); strcat(text, "cd"); emit(strlen(text)); emit(strcmp(text, "abcd"));
  emit(atoi("42")); emit(abs((int)n)); struct { char c; int i; } s, t; s.c = 'x'; s.i = (int)n; t = s; emit(t.i + t.c);
  emit(memcmp("abc", "abd", 3) < 0); union { int i; } u; u.i = 3; emit(u.i);
  return 0;
}
"""
PROGRAMS = {"arithmetic": ARITHMETIC, "indices": INDICES, "loops": LOOPS, "memory": MEMORY}


@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no gcc")
@pytest.mark.parametrize("inputs", [[7, 2], [-5, 3], [27, 10], [0, 0], [2, 1]], ids=str)
@pytest.mark.parametrize("name", PROGRAMS)
def test_pure_c_does_what_gcc_says(name: str, inputs: list[int], tmp_path: Path) -> None:
    expected = by_gcc(PROGRAMS[name], inputs, tmp_path)
    assert folded(PROGRAMS[name], inputs) == expected
    assert executed(PROGRAMS[name], inputs) == expected


# With an API


def lowered(body: str, nodes: int = 2, before: str = "static int x, y, flag, a[4];", **options: object) -> str:
    """The program, as text, that `main` with ``body`` is lowered to."""
    text = (
        f"#include <shmem.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <time.h>\n{before}\nint main(void) {{\n"
    )
    text += f"shmem_init(); int me = shmem_my_pe(), n = shmem_n_pes();\n{body}\n}}\n"
    return printed(parse_c(text, "test.c", FrontEnd(**options)).program(nodes))  # type: ignore[arg-type]


def process(text: str, rank: int) -> list[str]:
    """The commands of ``rank``."""
    _, _, rest = text.partition(f"process {rank} {{\n")
    return [line.strip() for line in rest.partition("\n}\n")[0].split("\n")]


def test_what_only_its_own_rank_accesses_has_no_cell() -> None:
    text = lowered("x = me; y = x + 1; a[1] = y; shmem_int_p(&flag, a[1], 0);")
    assert "memory flag;" in text
    assert process(text, 1) == ["update(set, 2, 0, flag, 0) as plain;"]


def test_only_the_elements_that_others_access_have_cells() -> None:
    text = lowered("a[0] = 7; a[3] = 1; shmem_int_p(&a[3], a[0], 0);")
    assert "memory a[3];" in text
    assert process(text, 0) == ["mem[a[3]] <- 1;", "update(set, 7, 0, a[3], 0) as plain;"]


def test_an_unknown_index_puts_the_whole_array_into_cells() -> None:
    text = lowered("int i = shmem_int_g(&x, 0); a[i] = 1;")
    assert "a[4]" in text and "i >= 0 && i < 4 ? a + i : -1" in text


def test_a_branch_with_nothing_but_an_else_is_turned_round() -> None:
    text = lowered("if (shmem_int_g(&x, 0) == 1) { } else { shmem_int_p(&flag, 1, 0); } shmem_barrier_all();")
    assert "  if (result != 1) {\n" in text and "else" not in text


def test_spinning_is_a_loop_and_its_counter_is_left_out() -> None:
    text = lowered('int tries = 0; if (!me) shmem_int_p(&flag, 1, 1); else while (!flag) tries++; printf("%d", tries);')
    assert process(text, 1)[1:3] == ["if (!t) {", "goto s1;"]
    assert "tries" not in text


def test_a_counter_that_matters_becomes_a_register() -> None:
    text = lowered("int k = 0; while (shmem_int_g(&flag, 0) == 0) k++; shmem_int_p(&x, k, 0);")
    assert "k <- k + 1;" in text and "update(set, k, 0, x, 0) as plain;" in text


def test_many_ways_through_a_join_do_not_multiply() -> None:
    text = lowered("int k = 0; for (int i = 0; i < 12; i++) if (shmem_int_g(&x, i % n)) k++; shmem_int_p(&y, k, 0);")
    assert text.count("fetch(") < 80 and "update(set, k, 0, y, 0) as plain;" in text


def test_a_condition_on_a_random_number_goes_the_way_it_went() -> None:
    text = lowered("int r = rand() % 2; if (r == 0) shmem_int_p(&x, 1, 0); if (r == 1) shmem_int_p(&y, 1, 0);", 1)
    puts = [line for line in process(text, 0) if line.startswith(("update", "}"))]
    assert puts == ["update(set, 1, 0, x, 0) as plain;", "} or {", "update(set, 1, 0, y, 0) as plain;", "}"]
    assert "rand" not in text


def test_random_numbers_are_chosen_once_where_they_are_places() -> None:
    text = lowered("int r = rand() % 4; shmem_int_p(&a[r], 1, 0); shmem_int_p(&a[r], 2, 0);", 1)
    assert text.count("rand <- 3;") == 1 and "rand <- 4" not in text
    assert "rand" not in lowered('int r = rand(); printf("%d", r);')


def test_time_passes_as_it_likes() -> None:
    text = lowered("time_t start = time(NULL); while (time(NULL) - start < 5) shmem_int_p(&x, 1, 0);", 1)
    assert "clock" not in text and "choose" in text
    assert "choose" not in lowered('time_t start = time(NULL); printf("%ld", time(NULL) - start);')


def test_what_has_no_meaning_faults_only_where_a_run_gets_there() -> None:
    source = "#include <shmem.h>\nstatic int x, a[2];\nint main(void) {{ shmem_init(); {} }}"
    for mistake in (
        "a[2] = x;",
        "int *p = 0; *p = 1;",
        "int z = x / 0; shmem_int_p(&x, z, 0);",
        "int u; if (u) x = 1;",
    ):
        assert check(parse_c(source.format(mistake)), 1).verdict == "error"
        unreached = f"if (shmem_int_g(&x, 0) == 5) {{ {mistake} }}"
        assert check(parse_c(source.format(unreached)), 1).verdict == "robust"


def test_in_a_loop_in_which_nothing_happens_a_rank_spins() -> None:
    assert process(lowered("if (me) while (1) ; shmem_int_p(&x, 1, 0);"), 1) == ["s1: assume(1);", "goto s1;"]


@pytest.mark.parametrize(
    ("body", "ends"),
    [
        ("for (;;) ;", False),
        ("while (1) { k++; if (k > 10) k = 0; }", False),
        ("do { k = (k + 1) % 3; } while (k < 3);", False),
        ("if (shmem_my_pe() == 1) for (;;) ;", False),
        ("k = rand(); while (k > 3) ;", False),
        ("for (;;) if (k++ > 10) break;", True),
        ("for (;;) { shmem_barrier_all(); exit(0); }", True),
    ],
)
def test_whether_ranks_end(body: str, ends: bool) -> None:
    headers = "#include <shmem.h>\n#include <stdlib.h>\n"
    verdict = check(parse_c(f"{headers}int main(void) {{ int k = 0; shmem_init();\n{body}\nshmem_finalize(); }}"), 2)
    assert (verdict.verdict, verdict.deadlock) == ("robust", not ends)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("int k = shmem_int_g(&x, 0); shmem_int_put(a, a, k, 0);", "PG140"),
        ("for (long i = 0; i < 1000000000; i++) x += i;", "PG141"),
        ("for (int i = 0; ; i++) shmem_int_p(&x, i, 0);", None),
        ("for (int i = 0; ; i++) shmem_int_p(&x, 1, i % n);", None),
        ("shmem_int_p(a, 1, 0); *(short *)((char *)a + 3) = 3;", None),
        ("shmem_int_atomic_inc(a, 0); shmem_long_atomic_inc((long *)a, 0);", "PG142"),
    ],
)
def test_what_is_too_much(monkeypatch: pytest.MonkeyPatch, body: str, code: str | None) -> None:
    monkeypatch.setattr(rank_position, "MOST_INSTRUCTIONS", 100_000)
    if code is None:
        lowered(body)
        return
    with pytest.raises(SourceError) as error:
        lowered(body)
    found = error.value.diagnostics[0]
    assert found.code == code and found.line == 8 and found.hint


IDIOMS = [
    ("shmem_int_p(&x, 1, 1); {} shmem_int_p(&flag, 1, 1);", "shmem_int_wait_until(&flag, SHMEM_CMP_EQ, 1); y = x;",
     "update(set, 1, 1, x, q); {} update(set, 1, 1, flag, q);", "await(mem[flag] == 1); r <- mem[x];"),
    ("shmem_int_put_nbi(&x, &y, 1, 1); {} y = 2;", "",
     "write(y, 1, x, q); {} mem[y] <- 2;", "skip;"),
    ("shmem_int_p(&x, 1, 1); {} int got = shmem_int_g(&x, 1);", "",
     "update(set, 1, 1, x, q); {} r <- fetch(1, x);", "skip;"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("between", "core"), [("", ""), ("shmem_fence();", "fence(q);"), ("shmem_quiet();", "wait(q);")]
)
@pytest.mark.parametrize("idiom", range(len(IDIOMS)))
def test_an_idiom_has_the_same_verdict_in_c(idiom: int, between: str, core: str) -> None:
    first, second, core_first, core_second = IDIOMS[idiom]
    c = f"""#include <shmem.h>
        static int x, y, flag;
        int main(void) {{ shmem_init(); if (shmem_my_pe() == 0) {{ {first.format(between)} }} else {{ {second} }} }}"""
    header = "memory x, y, flag; register r; queue q unordered;"
    pgas = f"{header} process 0 {{ {core_first.format(core)} }} process 1 {{ {core_second} }}"
    assert check(parse_c(c), 2).verdict == check(parse(pgas), 2).verdict


def test_a_witness_speaks_of_the_source() -> None:
    from pgasrob.render.verdict_json import to_json

    source = """#include <shmem.h>
        static int x, flag;
        int main(void) {
            shmem_init();
            if (shmem_my_pe() == 0) { shmem_int_p(&x, 1, 1); shmem_int_p(&flag, 1, 1); }
            else { while (!flag) ; int got = x; if (got) flag = 2; }
        }"""
    result = to_json(check(parse_c(source, "p.c"), 2))
    assert result["verdict"] == "not robust" and result["witness"]
    told = {(event["line"], event["command"]) for event in result["witness"]["computation"]}
    assert {(5, "shmem_int_p(&x, 1, 1)"), (5, "shmem_int_p(&flag, 1, 1)"), (6, "got = x")} <= told
    names = {event["address"]["name"] for event in result["witness"]["computation"] if event["address"]}
    assert names <= {"x", "flag"}
