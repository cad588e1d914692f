"""Random C programs with unknown values, and what they must agree with: the same programs with known values for them.

A program of `random_c` is written with `U0`, `U1` ... where constants and ranks would stand, alone or in a small
expression. With `-DU0="rand()"` it has unknown values; with `-DU0=7` it is one of the programs that it stands for. So
it is not robust when one of those is not, and may be not robust when all of them are: what is known of a value is not
carried through memory and long computations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from random import Random

import pgasrob
from pgasrob import Limits, Verdict
from pgasrob.frontends.lower import parse_c
from pgasrob.frontends.options import FrontEnd
from tests.frontends.random_c import Drawn, Statement, _indented, _Writer

DOMAIN = (0, 1, 2, 3, 5, 7, 12)
LIMITS = Limits(max_states=60_000, timeout=60, memory=500_000_000)
FORMS = ("{u}", "({u} % 2)", "({u} % 3)", "({u} & 3)", "({u} % 10 == 7)", "({u} > 4)", "({u} == 3 ? 2 : 1)", "-{u}")


class _Unknowing(_Writer):
    """Writes some constants and ranks as unknown values, each in one place."""

    def __init__(self, program: Drawn, random: Random, most: int) -> None:
        super().__init__(program, random)
        self.places, self.most = 0, most

    def _body(self, body: Sequence[Statement]) -> list[str]:
        lines = super()._body(body)
        if not body or self.places >= self.most or self.random.random() < 0.4:
            return lines
        unknown, name, own = self._unknown(FORMS), self._fresh("held"), self._cell("own")
        block = ["{", *_indented(lines), "}"]
        match self.random.randrange(7):
            case 0 | 1:
                return [f"if ({unknown})", *block]
            case 2:
                return [f"switch ({unknown}) {{", "case 1: case 7: {", *block, "    break; }", "default: ; }"]
            case 3:
                return [f"for (int {name} = 0; {name} < {unknown} % 3; {name}++)", *block]
            case 4:
                return [f"long {name} = {unknown} ? 4 : 9;", f"if ({name} == 4)", *block]
            case 5:
                return [f"*({own}) = {unknown};", f"if (*({own}) == 1 || *({own}) == 7)", *block]
            case _:
                put = f"shmem_{self.name}_p({own}, {unknown}, me); shmem_quiet();"
                return [put, f"if (*({own}) > 4 || *({own}) == 1)", *block]

    def _number(self, value: int) -> str:
        if self.places < self.most and self.random.random() < 0.1:
            return self._unknown(FORMS)
        return super()._number(value)

    def _pe(self, pe: int) -> str:
        if self.places < self.most and self.random.random() < 0.15:
            return self._unknown(("({u} % n)", "({u} & 1)"))
        return super()._pe(pe)

    def _unknown(self, forms: Sequence[str]) -> str:
        self.places += 1
        return self.random.choice(forms).format(u=f"U{self.places - 1}")


# Small programs that mostly depend on the values

STEPS = (
    "v = v {op} {k};",
    "v = v {op} {u};",
    "kept[1] = v; v = kept[1];",
    "own = v; v = own;",
    "x = v; v = x;",
    "shmem_int_p(&x, v, 1 - me); shmem_barrier_all(); v = x; shmem_barrier_all();",
    "shmem_int_p(&x, v, me); shmem_quiet(); v = x;",
    "v += shmem_int_atomic_fetch_add(&y, v, me);",
    "v = shmem_int_atomic_swap(&y, v, 1 - me) + {k};",
    "shmem_int_atomic_compare_swap(&y, {k}, v, me); v = y;",
    "a[1] = v; shmem_int_put(b, a, 2, 1 - me); shmem_barrier_all(); v = b[1]; shmem_barrier_all();",
    "memcpy(&own, &v, sizeof v); v = own;",
    "if (v {rel} {k}) v = {k}; else v--;",
    "if (v {rel} {k}) v++;",
    "v = v {rel} {k} ? {k} : v;",
    "{{ int w = 0; for (int i = 0; i < v % 4; i++) w++; v = w; }}",
    "{{ int w = 0; while (v > 0) {{ v -= 2; if (++w == 3) break; }} v = w; }}",
    "for (int i = 0; i < 2; i++) v += {u};",
    "v = folded(v);",
    "v = (int[]){{3, 0, 2, 1}}[v & 3];",
    "kept[v & 1] = {k}; v = kept[0] + kept[1];",
    "v = shmem_int_g(&y, v & 1) + v;",
    "switch (v) {{ case 1: v = 4; break; case 2: case 7: v = 0; }}",
    "{{ struct {{ int f, g; }} s = {{v, {k}}}; v = s.f - s.g; }}",
    "v = (int)(v * 0.5);",
    "v = v / (v % 3 + {k} + 3);",
    "if (me == 0) {{ x = v; }} shmem_barrier_all(); v = shmem_int_g(&x, 0); shmem_barrier_all();",
)
GUARDS = (
    "if (v {rel} {k}) {core}",
    "if (!(v {rel} {k})) ; else {core}",
    "switch (v) {{ case 0: break; case {k1}: {core} break; }}",
    "while (v {rel} {k}) {{ {core} break; }}",
    "for (int i = 0; i < v; i++) if (i == {k}) {core}",
    "shmem_int_p(&x, v, me); shmem_int_wait_until(&x, SHMEM_CMP_EQ, {k}); {core}",
    "assert(v != {k1}); if (v {rel} {k}) {core}",
)
RELATIONS = ("==", "!=", "<", ">", "<=", ">=")
OPERATORS = ("+", "-", "*", "%", "&", "|", "^", ">>")
CORE = """{ if (me == 0) { shmem_int_p(&data, 1, 1); shmem_int_p(&flag, 1, 1); }
        else { int f = flag, d = data; shmem_int_p(&seen, f + 2 * d, 0); } }"""


def guarded(random: Random) -> tuple[str, int]:
    """A program in which a chain of computations with unknown values decides whether ranks communicate carelessly, and
    how many unknown values it has."""
    places = random.choice((1, 1, 2))
    steps = random.choices(STEPS, k=random.randint(1, 4))

    def filled(text: str) -> str:
        return text.format(
            k=random.choice((0, 1, 2, 3, 5, 7)), k1=random.choice((1, 4, 7)), op=random.choice(OPERATORS),
            rel=random.choice(RELATIONS), u=f"U{places - 1}", core=CORE,
        ).replace("% 0", "% 4")  # fmt: skip

    body = [f"int v = {random.choice(FORMS[:6]).format(u='U0')};", *map(filled, steps), filled(random.choice(GUARDS))]
    text = f"""// nodes: 2
#include <assert.h>
#include <shmem.h>
#include <stdlib.h>
#include <string.h>
static int data, flag, seen, x, y, a[2], b[2], own;
static int folded(int v) {{ if (v > 2) return v - 2; return v * 2; }}
int main(void) {{
    shmem_init();
    int me = shmem_my_pe(), kept[2] = {{0, 1}};
    {"".join(f"{chr(10)}    {line}" for line in body)}
    shmem_finalize();
}}
"""
    return text, places


# Small programs whose ranks pass values on, and branch by what they get

PASSED = (
    "src = v; shmem_int_broadcast(SHMEM_TEAM_WORLD, &dst, &src, 1, {root}); v = dst; shmem_barrier_all();",
    "src = v; shmem_int_{reduction}_reduce(SHMEM_TEAM_WORLD, &dst, &src, 1); v = dst;",
    "src = v; shmem_int_{reduction}_reduce(SHMEM_TEAM_WORLD, &dst, &src, 1);",
    "src = v; shmem_int_fcollect(SHMEM_TEAM_WORLD, a, &src, 1); v = a[{root}]; shmem_barrier_all();",
    "if (me == {root}) {{ shmem_int_p(&x, v, 0); shmem_int_p(&x, v, 1); }} shmem_barrier_all(); v = x; "
    "shmem_barrier_all();",
    "x = v; shmem_barrier_all(); v = shmem_int_g(&x, {root}); shmem_barrier_all();",
    "x = v; shmem_barrier_all(); shmem_int_get(&y, &x, 1, {root}); v = y; shmem_barrier_all();",
    "x = v; v = x;",
    "v = v {op} {k};",
    "if (v {rel} {k}) v = {k};",
    "if (v {rel} {k}) v = v + 1; else x = {k};",
    "if (me == {root}) v = v {op} {k};",
    "if (me == {root}) v = {u};",
    "if (me == {root}) shmem_int_atomic_add(&x, {k}, me); shmem_barrier_all();",
    "kept[1] = v; v = kept[1];",
    "{{ int w = v; src = v; shmem_int_fcollect(SHMEM_TEAM_WORLD, a, &src, 1); v = me == {root} ? w : a[0]; }}",
)
TOGETHER = (
    "if (v {rel} {k}) shmem_barrier_all();",
    "if (!(v {rel} {k})) shmem_barrier_all();",
    "if (me == {root} ? v {rel} {k} : v {rel2} {k2}) shmem_barrier_all();",
    "if (v {rel} {k}) shmem_barrier_all(); if (v {rel2} {k2}) shmem_barrier_all();",
    "if (v {rel} {k}) {core}",
    "if (me == 0 ? v {rel} {k} : v {rel2} {k2}) {core}",
    "switch (v) {{ case {k}: shmem_barrier_all(); break; case 4: shmem_barrier_all(); shmem_barrier_all(); }}",
    """for (int i = 0; i < 2 && v {rel} {k}; i++) {{
        src = v + i; shmem_int_{reduction}_reduce(SHMEM_TEAM_WORLD, &dst, &src, 1); v = dst; }}""",
    "if (dst {rel} {k}) shmem_barrier_all();",
)
OLDER = ("older = v; src = {u}; shmem_int_{reduction}_reduce(SHMEM_TEAM_WORLD, &dst, &src, 1); v = dst;",)
OF_TWO = (
    "if (v {rel} older) shmem_barrier_all();",
    "if (me == {root} ? v {rel} older : v {rel2} older) shmem_barrier_all();",
    "if (v {rel} older + {k}) shmem_barrier_all(); if (v {rel2} {k2}) shmem_barrier_all();",
    "for (int i = 0; i < 3 && v {rel} older; i++) {{ if (i < {k}) older = v; src = v - i; "
    "shmem_int_{reduction}_reduce(SHMEM_TEAM_WORLD, &dst, &src, 1); v = dst; }}",
)


def passing(random: Random, of_two: bool = False) -> tuple[str, int]:
    """A program whose ranks begin with one or two unknown values, pass them on, and branch by what they get, or by two
    of these (``of_two``); and how many unknown values it has."""
    places = random.choice((1, 2))

    def filled(text: str) -> str:
        return text.format(
            k=random.choice((0, 1, 2, 3, 5, 7)), k2=random.choice((0, 1, 2, 3, 5, 7)), op=random.choice("+-*&"),
            rel=random.choice(RELATIONS), rel2=random.choice(RELATIONS), root=random.choice((0, 0, 1)),
            reduction=random.choice(("max", "min", "sum")), u=f"U{places - 1}", core=CORE,
        )  # fmt: skip

    first = f"me == 0 ? {random.choice(FORMS[:5]).format(u='U0')} : " + ("0" if places == 1 else "U1")
    steps = [*random.choices(PASSED[:7], k=random.randint(1, 2)), *random.choices(PASSED, k=random.randint(0, 2))]
    if of_two:
        steps.append(random.choice(OLDER))
    lasts = OF_TWO if of_two else TOGETHER
    body = [f"int v = {first}, older = 0;", *map(filled, steps), filled(random.choice(lasts))]
    text = f"""// nodes: 2
#include <shmem.h>
#include <stdlib.h>
static int data, flag, seen, x, y, a[2], src, dst;
int main(void) {{
    shmem_init();
    int me = shmem_my_pe(), kept[2] = {{0, 1}};
    {"".join(f"{chr(10)}    {line}" for line in body)}
    shmem_finalize();
}}
"""
    return text, places


@dataclass(frozen=True, slots=True)
class Compared:
    """``unknown`` is the verdict of a program with unknown values, ``known`` are those of the ones it stands for."""

    text: str
    places: int
    unknown: Verdict
    known: tuple[Verdict, ...]

    @property
    def wrong(self) -> str:
        """What is said of the program that does not hold for one that it stands for."""
        found = []
        worse = {each.verdict for each in self.known} & {"not robust", "error"}
        if self.unknown.verdict == "robust" and worse:
            found.append(f"robust, but with some values {', '.join(sorted(worse))}")
        if self.unknown.assertions in ("hold", None) and any(each.assertions == "violated" for each in self.known):
            found.append("assertions hold, but with some values they do not")
        if self.unknown.deadlock in (False, None) and any(each.deadlock is True for each in self.known):
            found.append("no deadlock, but with some values there is one")
        # A fault ends the search, and what comes after it is not looked at.
        return "" if self.unknown.verdict == "error" else "; ".join(found)

    @property
    def depends(self) -> bool:
        """Whether the answer depends on the values."""
        return len({each.verdict for each in self.known}) > 1

    @property
    def avoidable(self) -> bool:
        """Whether all that it stands for are robust, and it is not."""
        return self.unknown.verdict != "robust" and all(each.verdict == "robust" for each in self.known)

    @property
    def excused(self) -> bool:
        """Whether none that it stands for has a deadlock, and it has none."""
        return self.unknown.deadlock is False and all(each.deadlock is False for each in self.known)

    @property
    def suspect(self) -> bool:
        """Whether none that it stands for has a deadlock, and it has one."""
        return self.unknown.deadlock is True and all(each.deadlock is False for each in self.known)


def written(program: Drawn, random: Random, most: int = 2) -> tuple[str, int]:
    """The program in C, and how many unknown values are in it."""
    writer = _Unknowing(program, random, most)
    text = writer.text().replace("#include <string.h>", "#include <string.h>\n#include <stdlib.h>")
    return text, writer.places


def verdict(text: str, values: Sequence[object]) -> Verdict:
    """The verdict of ``text`` with ``values`` for the unknown ones."""
    defines = tuple((f"U{index}", f"({value})") for index, value in enumerate(values))
    return pgasrob.check(parse_c(text, "test.c", FrontEnd(defines=defines)), limits=LIMITS, threads=1, effect=False)


def assignments(places: int, random: Random, most: int = 7) -> Iterator[tuple[int, ...]]:
    """Values for all places, some of all when there are many."""
    found = list(product(DOMAIN, repeat=places))
    yield from found if len(found) <= most else random.sample(found, most)


def compare(text: str, places: int, random: Random, most: int = 7) -> Compared:
    known = tuple(verdict(text, values) for values in assignments(places, random, most))
    return Compared(text, places, verdict(text, ["rand()"] * places), known)
