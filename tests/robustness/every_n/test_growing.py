"""Memory with elements for every rank, on every number of nodes: `malloc(n * sizeof *p)` and its like."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random

import pytest

import pgasrob
from pgasrob.api import check
from pgasrob.frontends.lower import parse_c
from pgasrob.program.parser import parse
from pgasrob.robustness.every_n.again import Again
from pgasrob.robustness.every_n.memory import Layout
from pgasrob.robustness.every_n.named_commands import Ranks
from pgasrob.robustness.every_n.prove import prove
from pgasrob.robustness.limits import Limits
from tests.support import examples

LIMITS = Limits(max_states=1_500, timeout=1)
HEADER = """#include <shmem.h>
int main(void) {
  shmem_init();
  int me = shmem_my_pe(), n = shmem_n_pes(), peer = 0, i = 0; long r = 0, one = 1;
  long *a = shmem_malloc(n * sizeof *a), *b = shmem_malloc(2 * n * sizeof *b), *c = shmem_malloc((n + 1) * sizeof *c);
"""
MPI_HEADER = """#include <mpi.h>
int main(void) {
  int me, n, i = 0; long r = 0, one = 1, *a; MPI_Win win;
  MPI_Init(0, 0); MPI_Comm_rank(MPI_COMM_WORLD, &me); MPI_Comm_size(MPI_COMM_WORLD, &n);
  MPI_Win_allocate(8 * n, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &a, &win); MPI_Win_fence(0, win);
"""
EVERYWHERE = ("me", "me", "(me + 1) % n", "0", "n - 1", "n - 1 - me", "me > 0 ? me - 1 : 0")
IN_LOOP = ("i", "i", "i", "(me + i) % n", "(me + n - i) % n")
PLACES = {
    "a": ("{p}", "{p}", "me", "me"),
    "b": ("{p}", "me", "n + me", "2 * me", "2 * me + 1", "n + {p}", "2 * {p}"),
    "c": ("{p}", "me", "me + 1", "n", "n - {p}"),
}
STATEMENTS = (
    "shmem_long_put_nbi({x}, &one, 1, {to}); {done}",
    "shmem_long_put_nbi({x}, {y}, 1, {to}); {done}",
    "shmem_long_put_nbi({x}, {y}, 1, {to}); {done}",
    "shmem_long_p({x}, r, {to}); {done}",
    "shmem_long_get_nbi({x}, {y}, 1, {to}); {done}",
    "r = shmem_long_g({x}, {to});",
    "shmem_long_atomic_add({x}, 1, {to}); {done}",
    "r = shmem_long_atomic_fetch_add({x}, 1, {to});",
    "*({x}) = r;",
    "r = *({x});",
    "r = *({x});",
)
MPI_STATEMENTS = (
    "MPI_Put(&one, 1, MPI_LONG, {to}, {i}, 1, MPI_LONG, win); {done}",
    "MPI_Put(&a[{i}], 1, MPI_LONG, {to}, {j}, 1, MPI_LONG, win); {done}",
    "MPI_Get(&r, 1, MPI_LONG, {to}, {i}, 1, MPI_LONG, win); {done}",
    "MPI_Accumulate(&one, 1, MPI_LONG, {to}, {i}, 1, MPI_LONG, MPI_SUM, win); {done}",
    "a[{i}] = one;",
    "one = a[{i}];",
)
TESTS = ("me == 0", "me < n - 1", "me", "me % 2", "r == 0", "n > 3")


class _Draw:
    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.mpi = seed % 4 == 3
        self.arrays = self.random.sample("abc", self.random.choice((1, 1, 2)))
        self.done = (
            ("MPI_Win_fence(0, win);", "")
            if self.mpi
            else self.random.sample(("shmem_quiet();", "shmem_barrier_all();", "shmem_barrier_all();", ""), 2)
        )
        self.left = self.random.randint(2, 4)

    def place(self, array: str, index: str) -> str:
        return self.random.choice(PLACES[array]).format(p=f"({index})")

    def statement(self, *, loop: bool = False) -> str:
        self.left -= 1
        pick, ranks = self.random.choice, IN_LOOP + EVERYWHERE[:2] if loop else EVERYWHERE
        done = "" if loop and self.mpi else pick(self.done) if not loop or pick((True, False)) else ""
        if self.mpi:
            i, j = (pick(ranks) for _ in range(2))
            return pick(MPI_STATEMENTS).format(i=i, j=j, to=pick(ranks), done=done)
        x, y = (f"&{array}[{self.place(array, pick(ranks))}]" for array in (pick(self.arrays), pick(self.arrays)))
        return pick(STATEMENTS).format(x=x, y=y, to=pick(ranks), done=done)

    def program(self) -> str:
        lines = []
        while self.left > 0:
            match self.random.randrange(6):
                case 0 | 1 | 2:
                    first, last = self.random.choice(
                        (("0", "i < n"), ("0", "i < n"), ("1", "i < n"), ("0", "i <= n / 2"))
                    )
                    lines.append(f"for (i = {first}; {last}; i++) {{ {self.statement(loop=True)} }}")
                case 3 if not self.mpi:
                    lines.append(f"if ({self.random.choice(TESTS)}) {{ {self.statement()} }}")
                case _:
                    lines.append(self.statement())
            lines.append(self.random.choice(self.done))
        return "\n  ".join((MPI_HEADER if self.mpi else HEADER, *lines, "return r; }"))


def drawn(seed: int) -> str:
    """The program of ``seed``."""
    return _Draw(seed).program()


def test_no_proof_of_a_random_program_is_wrong() -> None:
    found = Counter[str]()
    few = examples(6, nightly=3_000)
    for seed in range(few):
        text = drawn(seed)
        program = parse_c(text)
        without = program.for_every_count()
        assert without.growing
        proof = prove(without)
        found["proved"] += proof.holds
        found["with a loop"] += proof.holds and "for" in text
        counts = {2, 3, *((4, proof.cutoff or 2) if proof.holds and few > 100 else ())}
        for nodes in sorted(counts):
            one, other = (check(each, nodes, limits=LIMITS, effect=False).verdict for each in (program, without))
            assert "unknown" in (one, other) or one == other, f"{text}\non {nodes} nodes"
            if proof.holds and nodes >= (proof.cutoff or 2):
                assert one in ("robust", "unknown"), f"{text}\nis proved, and {one} on {nodes} nodes"
            found["compared"] += "unknown" not in (one, other)
            found[one] += 1
    assert found["proved"] >= few / 5 and found["with a loop"] >= few // 12, found
    assert found["compared"] > few and found["not robust"] and found["robust"], found


def shmem(*lines: str) -> str:
    return "\n  ".join((HEADER, *lines, "return r; }"))


ALL_TO_ALL = "for (i = 0; i < n; i++) { peer = i; shmem_long_put_nbi(&a[me], &one, 1, peer); }"
PROVED = {
    "all to all": shmem(ALL_TO_ALL, "shmem_barrier_all(); r = a[0];"),
    "in turn": shmem("for (i = 0; i < n; i++) shmem_long_put_nbi(&a[me], &one, 1, (me + i) % n);"),
    "collected": shmem("for (i = 0; i < n; i++) shmem_long_get_nbi(&a[i], &b[n + me], 1, i);"),
    "two each": shmem("for (i = 0; i < n; i++) shmem_long_put_nbi(&b[2 * me], a, 2, i);"),
    "two rows": shmem("for (i = 0; i < n; i++) { a[i] = i; shmem_long_put_nbi(&b[n + me], &b[i], 1, i); }"),
    "at one": shmem("shmem_long_put_nbi(&a[me], &one, 1, 0); shmem_barrier_all(); if (!me) r = a[n - 1];"),
}
NOT_PROVED = {
    "no barrier": shmem(ALL_TO_ALL, "r = a[0];"),
    "one element": shmem("for (i = 0; i < n; i++) shmem_long_put_nbi(&a[0], &one, 1, (me + i) % n);"),
    "again": shmem("for (i = 0; i <= n; i++) shmem_long_put_nbi(&a[me], &one, 1, (me + i) % n);"),
    "two rounds": shmem(f"for (int k = 0; k < n; k++) {{ {ALL_TO_ALL} }}"),
    "neighbour": shmem("shmem_long_put_nbi(&a[(me + 1) % n], &one, 1, 0); shmem_long_put(&a[me], &one, 1, 0);"),
    "other end": shmem("shmem_long_put_nbi(&b[2 * n - 1 - me], &one, 1, 0); shmem_long_put(&b[n + me], &one, 1, 0);"),
    "outside": shmem("r = a[n];"),
    "before": shmem("a[me - 1] = 1;"),
    "another element": shmem(
        "if (!me) { a[0] = 1; shmem_long_put_nbi(b, &one, 1, 1); r = a[1]; }",
        "if (me == 1) { shmem_long_atomic_inc(&a[1], 0); r = *b; }",
    ),
    "updates": shmem("shmem_long_atomic_add(&a[(me + 1) % n], 1, 0); r = shmem_long_g(&a[me], 0);"),
}


@pytest.mark.parametrize("name", PROVED)
def test_what_is_proved(name: str) -> None:
    program = parse_c(PROVED[name])
    assert prove(program.for_every_count()).holds
    assert all(check(program, nodes, limits=LIMITS, effect=False).verdict != "not robust" for nodes in (2, 3, 4))


@pytest.mark.parametrize("name", NOT_PROVED)
def test_what_is_not_robust_is_not_proved(name: str) -> None:
    program = parse_c(NOT_PROVED[name])
    assert not prove(program.for_every_count()).holds
    verdicts = {check(program, nodes, limits=LIMITS, effect=False).verdict for nodes in (2, 3, 4)}
    assert verdicts & {"not robust", "error"}, verdicts


def test_an_index_less_than_0_is_no_fault_where_something_is_added() -> None:
    text = """program again; nodes 2; memory item, slot[8]; register j; queue q unordered;
        process { while (j < 6) { write(item, (me + 1) % nodes, slot + 1 + (j < 1 ? j : -1), q); j <- j + 1; } }"""
    assert not prove(parse(text)).holds and check(parse(text), 3, effect=False).verdict == "not robust"
    assert prove(parse(text.replace("(j < 1 ? j : -1)", "j"))).holds


Breaks = Callable[[pytest.MonkeyPatch], None]


def with_elements_of_one_form_alone(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Ranks, "_may_be", lambda self, one, other, apart: one == other)


def without_reaching_named_elements_from_the_rest(patch: pytest.MonkeyPatch) -> None:
    before = Ranks._may_be

    def may_be(self: Ranks, one: object, other: object, apart: bool) -> bool:
        return (one.rest is None) == (other.rest is None) and before(self, one, other, apart)  # type: ignore[attr-defined, arg-type]

    patch.setattr(Ranks, "_may_be", may_be)


def with_places_that_are_legal(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Layout, "may_be_illegal", lambda *_: False)


def with_counters_that_are_set_anew(patch: pytest.MonkeyPatch) -> None:
    before = Again._step
    patch.setattr(Again, "_step", lambda *args: before(*args) or 1)


def with_remainders_of_any_number(patch: pytest.MonkeyPatch) -> None:
    before = Again._differs
    patch.setattr(Again, "_differs", lambda self, expr, *args: "%" in str(expr) or before(self, expr, *args))


@pytest.mark.parametrize(
    ("broken", "name"),
    [
        (with_elements_of_one_form_alone, "neighbour"),
        (without_reaching_named_elements_from_the_rest, "neighbour"),
        (with_places_that_are_legal, "outside"),
        (with_places_that_are_legal, "before"),
        (with_counters_that_are_set_anew, "two rounds"),
        (with_remainders_of_any_number, "again"),
    ],
)
def test_without_a_rule_there_is_a_wrong_proof(broken: Breaks, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    without = parse_c(NOT_PROVED[name]).for_every_count()
    assert not prove(without).holds
    broken(monkeypatch)
    assert prove(without).holds


def test_there_is_no_certificate() -> None:
    from pgasrob.certificates.write import NoCertificate, write_for_every_count

    with pytest.raises(NoCertificate):
        write_for_every_count(parse_c(PROVED["all to all"]))
    assert pgasrob.check(parse_c(PROVED["all to all"]), 2).verdict == "robust"
