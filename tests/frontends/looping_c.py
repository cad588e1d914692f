"""Random C programs with OpenSHMEM that are made of loops: nested, left early, with counters of all types, indices,
sums, messages from iteration to iteration, and mistakes that only some iterations make."""

from __future__ import annotations

from random import Random

HEADER = """#include <assert.h>
#include <shmem.h>
static int x, y, flag, sum, a[8], b[8];
static int weigh(int n) { int s = 0; for (int j = 0; j < n; j++) { if (j == 2) continue; s += j; } return s; }
static void send(int *to, int n, int pe) { for (int j = 0; j < n; j++) shmem_int_p(&to[j], j + n, pe); }
int main(void) {
  shmem_init();
  int me = shmem_my_pe(), other = 1 - me, s = 0, t = 0, last;
"""
COMMUNICATION = (
    "shmem_int_p(&x, {v}, other);",
    "shmem_int_p(&a[{i}], {v}, other);",
    "shmem_int_p(&y, {v}, other); shmem_fence();",
    "shmem_int_put_nbi(&b[{i}], &a[{i}], 1, other);",
    "shmem_int_put(&b[{i}], a, 2, other);",
    "s += shmem_int_g(&x, other);",
    "t = shmem_int_g(&a[{i}], other);",
    "shmem_int_get_nbi(&b[{i}], &a[{i}], 1, other);",
    "s += shmem_int_atomic_fetch_add(&x, {v}, other);",
    "shmem_int_atomic_add(&y, {v}, other);",
    "shmem_int_atomic_set(&a[{i}], {v}, {i} % 2);",
    "if (me == {i} % 2) shmem_int_p(&flag, {v}, other);",
    "send(b, {i} % 3, other);",
    "shmem_quiet();",
    "shmem_fence();",
)
MEETING = ("shmem_barrier_all();", "shmem_sync_all();")
COMPUTATION = (
    "s += {v};",
    "t = {v};",
    "a[{i}] = {v};",
    "s += a[{i}] + x;",
    "sum += y; t = sum;",
    "t = a[({i} + s) & 7];",
    "a[t & 7] += {v};",
    "x = s;",
    "s += weigh({i});",
    "s = t; t = {v};",
    "last = {v};",
    "if ({i}) s += last; last = {v};",
    "if (last > {i}) s++;",
    "{{ int held[3] = {{1, 2, 3}}; held[{i} % 3] = s; s += held[1]; }}",
    "{{ static int count; count += {v}; t = count; }}",
    "s += 6 / ({i} - {k});",
    "s += a[{i} * {k}];",
    "s = {i} ? s * 5 : 1;",
    "s ^= 1 << {i};",
    "{{ int *p = {i} % 2 ? &x : &y; *p = {v}; }}",
    "assert(s != {k});",
    "assert(t <= {i} + {k});",
    "assert(x >= 0 || {i} < {k});",
    "if ({i} == {k}) break;",
    "if ({i} % 2 == {p}) continue;",
    "if (x > {i}) break;",
)
LOOPS = (
    "for (int {i} = 0; {i} < {n}; {i}++) {{",
    "for (int {i} = {n}; {i} > 0; {i}--) {{",
    "for (unsigned char {i} = 256 - {n}; {i} != 0; {i}++) {{",
    "for (long {i} = 0; {i} <= 2 * me + 1; {i} += 1) {{",
    "for (double {i}_d = 0; {i}_d < {n}; {i}_d += 1) {{ int {i} = (int){i}_d;",
    "for (int {i} = 0; {i} * {i} < {n} + s; {i}++) {{ if ({i} > 3) break;",
    "{{ int {i} = 0; while ({i}++ < {n}) {{",
    "{{ int {i} = 0; do {{ {i}++;",
)


def drawn(random: Random) -> str:
    """A program on 2 ranks; some are not C that has a meaning, and fault."""
    lines = []
    for _ in range(random.choice((1, 1, 2))):
        lines += _loop(random, 2 if random.random() < 0.35 else 1, "i")
        if random.random() < 0.5:
            lines.append(random.choice(MEETING))
    if random.random() < 0.6:
        lines.append(f"assert({random.choice(('s', 't', 'x', 'sum', 'a[1]'))} != {random.randint(0, 6)});")
    if random.random() < 0.4:
        lines.append("shmem_int_wait_until(&flag, SHMEM_CMP_GE, 1);")
    return HEADER + "".join(f"  {line}\n" for line in lines) + "  shmem_finalize();\n}\n"


def _loop(random: Random, depth: int, i: str) -> list[str]:
    header = random.choice(LOOPS)
    count = random.randint(2, 3 if depth > 1 else 4)
    lines = []
    for _ in range(random.randint(1, 3)):
        lines.append(_statement(random, i))
    if random.random() < 0.3:
        lines.append(random.choice(MEETING))
    if depth > 1:
        lines[random.randint(0, len(lines)) :] = _loop(random, depth - 1, "k")
    if random.random() < 0.25:
        lines = [f"if (me == {random.randint(0, 1)}) {{", *lines, "}"]
    ends = {"do": f"}} while ({i} < {count}); }}", "while": "} }"}
    end = next((text for word, text in ends.items() if f" {word} " in header), "}")
    return [header.format(i=i, n=count), *(f"  {line}" for line in lines), end]


def _statement(random: Random, i: str) -> str:
    pool = COMMUNICATION if random.random() < 0.45 else COMPUTATION
    value = random.choice((i, i, f"{i} + 1", "1", "s", f"{i} * {i}"))
    text = random.choice(pool).format(i=i, v=value, k=random.randint(1, 3), p=random.randint(0, 1))
    return f"if ({i} % 2 == 0) {{ {text} }}" if random.random() < 0.12 else text
