"""Loops that run as Python functions do what they do instruction by instruction, and what gcc makes of them."""

from __future__ import annotations

import shutil
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgasrob import SourceError
from pgasrob.frontends.c import merge_points
from pgasrob.frontends.c.contents import Contents
from pgasrob.frontends.c.machine import Machine
from pgasrob.frontends.c.merge_points import MergePoints
from pgasrob.frontends.c.types import CHAR, DOUBLE, FLOAT, INT, LONG_DOUBLE, UCHAR, UINT, CType, Floating
from pgasrob.frontends.c.values import UNDEFINED, Known
from pgasrob.frontends.lower import parse_c
from pgasrob.program.expressions import float_bits
from pgasrob.program.printer import to_source
from pgasrob.program.program import Program
from tests.frontends import looping_c
from tests.frontends.c.against_gcc import by_gcc, folded
from tests.support import examples

NEVER = 1 << 60
OPERATORS = """
static int a[40]; static unsigned char bytes[64]; static double d[9]; static float f[9]; static long wide[20];
static long double exact[5]; static _Bool truths[8]; static int grid[5][7]; static unsigned big[6];
struct pair { short key; double value; struct { int deep[2]; } in; };
static struct pair pairs[6];
static long weigh(int n) { long s = 0; for (int j = 0; j < n; j++) { if (j == 2) continue; s += j * n; } return s; }
int main(void) {
  long n = input(0), m = input(1), sum = 0; int last = -1, count; unsigned u = (unsigned)m; struct pair *p = pairs;
  int *list[3] = {a, a + 10, a + 20};
  for (int i = 0; i < 40; i++) { a[i] = i * (int)n - 7; bytes[i] = a[i]; sum += bytes[i] >> 1;
    if (i % 9 == 4) last = i; }
  emit(sum); emit(last);
  for (int i = 0; i < 40; i++) { sum ^= (long)a[i] << (i & 15); u = u * 1664525u + (unsigned)i; u ^= u >> 3; }
  emit(sum); emit(u);
  for (int i = 0; i < 9; i++) { d[i] = n * 1.5 - i / 3.0; f[i] = (float)d[i] / 3; exact[i % 5] = d[i]; }
  for (int i = 0; i < 9; i++) { sum += (long)(d[i] * 8) + (d[i] < f[i]) + !d[i] + (int)-f[i]; truths[i % 8] = d[i]; }
  emit(sum); for (int i = 0; i < 8; i++) { sum = sum * 3 + truths[i]; sum += (long)exact[i % 5]; } emit(sum);
  for (int i = 0; i < 5; i++) for (int j = 0; j < 7; j++) { if (j == i) continue;
    if (j > 5) break; grid[i][j] = i * j - ~i; }
  for (int j = 6; j >= 0; j--) for (int i = 0; i < 5; i++) sum = sum * 7 + grid[i][j] % (j + 1) - grid[i][j] / -3;
  emit(sum);
  for (int i = 0; i < 6; i++) { p[i].key = i * 20000; p[i].value = i; p[i].in.deep[i & 1] = -i; big[i] = -i; }
  for (struct pair *q = p; q < p + 6; q++) { sum += q->key + (int)q->value + q->in.deep[1]; }
  emit(sum); emit(big[3] > 5);
  for (int i = 0; i < 30; i++) { count = i % 7; while (count > 0) { count -= 2; sum += list[i % 3][count + 1]; } }
  emit(sum);
  for (int i = 0; i < 20; i++) { wide[19 - i] = weigh(i) + sum;
    sum += (int)(wide[19 - i] >> 5) | (i == 3 && last > 3); }
  emit(sum); long *w = wide; do { *w++ += w - wide; } while (w < wide + 20); emit(wide[7]); emit(wide[19]);
  ((char *)wide)[3] = 5; for (int i = 0; i < 20; i++) { sum += wide[i]; ((int *)a)[i] += (int)((short *)&wide[i])[1]; }
  emit(sum); emit(a[0]); emit(a[19]);
  for (int i = 0; i < 19; i++) { wide[i + 1] ^= i * n; ((short *)wide)[i * 4 + 4] = i; ((int *)wide)[i * 2 + 3] += 5; }
  for (int i = 0; i < 20; i++) sum = sum * 3 + wide[i]; emit(sum);
  int left = 100; again: left -= 3; if (left > 7) goto again; emit(left);
  for (int i = 0; i < 12; i++) switch (i % 4) { case 0: sum += 1; case 1: sum *= 2; break; default: sum -= i; }
  emit(sum);
  return 0;
}
"""


def counted(monkeypatch: pytest.MonkeyPatch, hot: int) -> list[int]:
    """With so many iterations before a loop is translated: how often what is translated has run."""
    monkeypatch.setattr(merge_points, "HOT", hot)
    runs = [0]
    original = MergePoints._run_known

    def run(self: MergePoints, head: tuple[str, int]) -> bool:
        ran = original(self, head)
        runs[0] += ran
        return ran

    monkeypatch.setattr(MergePoints, "_run_known", run)
    return runs


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
@pytest.mark.parametrize("inputs", [[3, 5], [-2, 123456789]])
def test_a_loop_computes_what_it_does_by_gcc(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, inputs: list[int]
) -> None:
    runs = counted(monkeypatch, 0)
    assert folded(OPERATORS, inputs) == by_gcc(OPERATORS, inputs, tmp_path)
    assert runs[0] > 20


def lowered(text: str) -> Program | str:
    try:
        return parse_c(text).program(2)
    except SourceError as error:
        return error.diagnostics[0].message


def test_random_programs_stay_what_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [looping_c.drawn(Random(seed)) for seed in range(examples(8, 1_000))]
    monkeypatch.setattr(merge_points, "HOT", NEVER)
    written = [lowered(text) for text in texts]
    runs = counted(monkeypatch, 0)
    for seed, text in enumerate(texts):
        assert lowered(text) == written[seed], f"seed {seed}\n{text}"
    assert runs[0] > len(texts)


SUM = """#include <shmem.h>
static int a[%10d], x;
int main(void) { shmem_init(); long sum = 0;
  for (int i = 0; i < %10d; i++) a[i] = i;
  shmem_int_p(&x, 1, 0);
  for (int i = 0; i < %10d; i++) sum += a[i];
  if (sum != %10d) x = 1 / x; shmem_barrier_all(); }
"""


def test_long_computations_take_few_instructions_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of them is left but what is compared now and then."""
    steps = [0]
    step = Machine.step

    def counting(self: Machine) -> None:
        steps[0] += 1
        step(self)

    monkeypatch.setattr(Machine, "step", counting)
    n = 30_000
    program = parse_c(SUM % (n, n, n, n * (n - 1) // 2)).program(1)
    assert steps[0] < n // 4
    assert to_source(program) == to_source(parse_c(SUM % (20, 20, 20, 190)).program(1))


def test_a_computation_behind_long_code_is_no_loop_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loops are kept there that would make the code longer; this one does not."""
    monkeypatch.setattr(merge_points, "LONG_CODE", 3)
    monkeypatch.setattr(merge_points, "FEW_VALUES", 2)
    text = """#include <shmem.h>
        static int x; int main(void) { shmem_init(); long sum = 0; shmem_int_p(&x, 1, 0);
        for (int i = 0; i < 20; i++) shmem_int_p(&x, 1, 0);
        for (int i = 0; i < 9000; i++) sum += i; shmem_int_p(&x, sum / 9000, 0); }"""
    source = to_source(parse_c(text).program(1))
    assert "set, 4499, 0, x" in source and "sum <-" not in source and "i <- i + 1" in source


def test_what_is_in_cells_is_left_to_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    text = """#include <shmem.h>
        static int a[8], b[8], flag;
        int main(void) { shmem_init(); int me = shmem_my_pe(), s = 0;
          for (int i = 0; i < 8; i++) { a[i] = i; b[i] = a[i] + s; s += i; }
          shmem_int_p(&b[5], s, 1 - me); shmem_int_put_nbi(&b[2], &a[3], 1, 1 - me); shmem_barrier_all();
          for (int i = 0; i < 8; i++) { s += b[i]; b[i] = i; if (i > 3) a[i] = s & 1; }
          shmem_int_p(&flag, s, 0); }"""
    monkeypatch.setattr(merge_points, "HOT", NEVER)
    program = parse_c(text).program(2)
    runs = counted(monkeypatch, 0)
    assert parse_c(text).program(2) == program
    assert runs[0]


def test_a_loop_that_never_ends_ends_the_rank_when_it_comes_round(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = counted(monkeypatch, 16)
    text = """#include <shmem.h>
        static int x; int main(void) { shmem_init();
        if (shmem_my_pe()) for (unsigned char i = 0; i != 300; i++) ; shmem_int_p(&x, 1, 0); }"""
    short = text.replace("unsigned char i = 0; i != 300; i++", ";;")
    assert to_source(parse_c(text).program(2)) == to_source(parse_c(short).program(2))
    assert runs[0] > 5


def test_states_that_differ_in_a_row_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing but the array says how many rounds there have been."""
    text = """#include <shmem.h>
        static int x, y; static int a[300]; int main(void) { shmem_init();
        for (int i = 0; i < 300; i++) a[i] = 0;
        while (shmem_int_g(&x, 0) == 0) if (a[9] < 3) for (int i = -1; i < 300; i++) if (i >= 0) a[i]++;
        shmem_int_p(&y, a[299], 0); }"""
    monkeypatch.setattr(merge_points, "HOT", NEVER)
    program = parse_c(text).program(1)
    runs = counted(monkeypatch, 0)
    assert parse_c(text).program(1) == program and "set, 3, 0, y" in to_source(program)
    assert runs[0]


TYPES: list[CType] = [CHAR, UCHAR, INT, UINT, LONG_DOUBLE, DOUBLE, FLOAT]
SIZE = 1 << 12


@settings(max_examples=examples(10))
@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 40), st.sampled_from(TYPES), st.integers(-300, 300)), max_size=25
    )
)
def test_contents_are_the_same_in_rows(operations: list[tuple[int, int, CType, int]]) -> None:
    """Stores, fills and copies, of which one object has rows for some types; equal contents have equal keys."""
    plain, rows = Contents(0), Contents(0)
    for kind, place, type, number in operations:
        size, floating = (type.bits if isinstance(type, Floating) else type.type.bits) // 8, isinstance(type, Floating)  # type: ignore[union-attr]
        offset = place * (size if number % 3 else 3)
        if kind == 0:
            rows.row((size, floating), SIZE)
        elif kind == 1:
            plain.fill(offset, offset + size * 3, number & 255)
            rows.fill(offset, offset + size * 3, number & 255)
        elif kind == 2:
            assert rows.key == plain.key
            plain, rows = plain.copy(), rows.copy()
        else:
            value = UNDEFINED if number == 0 else Known(float_bits(float(number)) if floating else number)
            plain.store(offset, value, type)
            rows.store(offset, value, type)
        for each in TYPES:
            assert plain.load(offset, each) == rows.load(offset, each)
    assert rows.key == plain.key
    assert rows.inside(0, SIZE) == plain.inside(0, SIZE)
    plain.store(77, Known(1), CHAR)
    assert rows.load(77, CHAR) == Known(1) or rows.key != plain.key
