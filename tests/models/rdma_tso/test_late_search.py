"""Runs in normal form find a violation exactly where there is one: against all runs of programs without loops, against
programs with loops that are unrolled, and with each rule left out (`proofs/rdma-normal-form.md`)."""

from __future__ import annotations

import inspect
import time
from collections import Counter
from random import Random
from typing import Literal

import pytest

from pgasrob.models.litmus.litmus_parser import parse
from pgasrob.models.litmus.litmus_program import Program
from pgasrob.models.networks.network_verdict import decide
from pgasrob.models.networks.robustness import by_normal_forms, by_runs
from pgasrob.models.networks.to_litmus import translate
from pgasrob.models.rdma_tso import RdmaTso, late_search
from pgasrob.models.rdma_tso.delays import Orders
from pgasrob.models.rdma_tso.late_accesses import Issue
from pgasrob.models.rdma_tso.late_search import LateSearch
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.question import RobustnessOnNetwork
from pgasrob.robustness.reasons import StateLimit
from pgasrob.robustness.watch import Watch
from tests.models.networks.test_to_litmus import random_block
from tests.models.strategies import random_program, random_text
from tests.support import instance

DEPTHS = (1, 2, 3)
MOST = 20_000


def everywhere(text: str) -> Program:
    """The program with threads that may end behind each instruction, as a prefix of a run is one."""
    return parse(text).program.everywhere


def watch() -> Watch:
    return Watch(Limits(max_states=MOST), None, time.monotonic())


def robust(text: str, **variant: bool) -> bool:
    """By runs in normal form; a violation is a run of the machine that has a cycle."""
    found = by_normal_forms(everywhere(text), RdmaTso(**variant))  # type: ignore[arg-type]
    assert found.reason is None
    return found.violation is None


def variant_of(random: Random) -> RdmaTso:
    pcie, placed = random.random() < 0.6, random.random() < 0.3
    return RdmaTso(pcie=pcie, placed=placed, atomics="glob" if random.random() < 0.25 else "hca")


def agreement(count: int, seed: int, **sizes: object) -> tuple[int, int]:
    """Programs without loops that are robust, and that are not, by runs in normal form and by all runs."""
    said = Counter[bool]()
    for number in range(count):
        random = Random(seed * 1_000_000 + number)
        program = random_program(random, "rdma-tso", **sizes).everywhere
        model = variant_of(random)
        found, runs = by_normal_forms(program, model), by_runs(model.machine(program))
        assert (found.reason, runs.reason) == (None, None), number
        assert (found.violation is None) == (runs.violation is None), number
        said[found.violation is None] += 1
    return said[True], said[False]


BRANCHING = {"statements": 7, "threads": (2, 3), "nodes": (2, 3), "branching": True}
ATOMICS = {"statements": 5, "threads": (2, 3), "nodes": (2, 3), "locations": 3, "remote_atomics": True}


def test_all_runs_say_the_same() -> None:
    assert agreement(100, 5) == (75, 25)
    assert agreement(40, 6, **BRANCHING) == (24, 16)
    assert agreement(40, 9, **ATOMICS) == (17, 23)


@pytest.mark.nightly
def test_all_runs_say_the_same_on_many() -> None:
    assert agreement(12_000, 7) == (9157, 2843)
    assert agreement(8_000, 8, **BRANCHING) == (4342, 3658)
    assert agreement(12_000, 10, **ATOMICS) == (4473, 7527)


def block_with_two_loads(random: Random, rank: int, ranks: int, most: int) -> str:
    """Commands of ``rank``, at most so many, about half of them with both operands in memory."""
    made = []
    for _ in range(random.randint(1, most)):
        one, two, three = random.choices("xyz", k=3)
        peer = random.choice([other for other in range(ranks) if other != rank])
        from_memory = f"update_from(compare_swap, {one}, {two}, {peer}, {three}, q, {random.choice('wxyz')});"
        made.append(
            random.choice(
                (
                    *[from_memory] * 5,
                    from_memory + " wait(q);",
                    f"mem[{one}] <- r + {random.randint(1, 3)};",
                    f"r <- mem[{one}];",
                    f"await(mem[{one}] == {random.choice((0, 1, 5))});",
                    f"s <- compare_swap(me, {one}, 0, 5);",
                    f"write({one}, {peer}, {two}, q);",
                    f"read({one}, {peer}, {two}, u);",
                    f"read({one}, {peer}, {two}, u); wait(u);",
                    f"r <- fetch_add({peer}, {one}, 2);",
                    f"s <- compare_swap({peer}, {one}, 0, r + 3);",
                    f"update_from(add, {one}, {peer}, {three}, q, w);",
                )
            )
        )
    return " ".join(made)


def agreement_of_ranks(count: int, seed: int, ranks: int = 2, two_loads: int = 0) -> tuple[int, int]:
    """The same for programs of ``ranks``, whose commands may be several instructions. ``two_loads``: how many commands
    a rank has at most, some of which load two operands; 0: none of two ranks does."""
    said = Counter[bool]()
    for number in range(count):
        random = Random(seed * 1_000_000 + number)
        blocks = [
            block_with_two_loads(random, rank, ranks, two_loads) if two_loads else random_block(random, rank)
            for rank in range(ranks)
        ]
        atomics: Literal["hca", "glob"] = "glob" if two_loads and random.random() < 0.25 else "hca"
        model = RdmaTso(pcie=random.random() < 0.6, placed=True, atomics=atomics)
        program = translate(instance(*blocks), "rdma-tso", pcie=model.pcie, placed=True).program
        found, runs = by_normal_forms(program, model), by_runs(model.machine(program.everywhere))
        assert (found.reason, runs.reason) == (None, None), number
        assert (found.violation is None) == (runs.violation is None), number
        said[found.violation is None] += 1
    return said[True], said[False]


def test_all_runs_say_the_same_of_ranks() -> None:
    assert agreement_of_ranks(60, 1) == (47, 13)
    assert agreement_of_ranks(60, 3, two_loads=3) == (16, 44)
    assert agreement_of_ranks(40, 4, ranks=3, two_loads=2) == (21, 19)


def test_a_rank_may_still_wait_for_its_atomic(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has read, and its write comes late, behind that of the CPU."""
    program = translate(instance("s <- compare_swap(me, y, 0, 5);", "r <- fetch_add(0, y, 2);"), "rdma-tso").program
    assert by_normal_forms(program, RdmaTso()).violation is not None
    with_text(Issue, "poll", "self.hangs = bool(self.accesses)", "self.hangs = False", monkeypatch)
    assert by_normal_forms(program, RdmaTso()).violation is None


@pytest.mark.parametrize(("wanted", "is_robust"), [(1, False), (0, True), (2, True)], ids=["before", "after", "never"])
def test_a_fetch_that_is_repeated_overtakes_an_atomic_only_if_it_finds_what_was_before(
    wanted: int, is_robust: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """x is 1, then 0. A fetch before the atomic gives 1, and lands behind it."""
    spins = f"again: r <- fetch(0, x); if (r != {wanted}) {{ goto again; }}"
    ranks = instance("skip;", f"update(compare_swap, 0, 1, 0, x, q); {spins}")
    program, model = translate(ranks, "rdma-tso").program, RdmaTso()
    found, runs = by_normal_forms(program, model), by_runs(model.machine(program.everywhere))
    assert (found.violation is None, runs.violation is None) == (is_robust, is_robust)
    assert (found.reason, runs.reason) == (None, None)
    if wanted < 2:
        with_text(Issue, "_in_memory", " and all(location != written for written, _ in self.writers)", "", monkeypatch)
        changed = by_normal_forms(program, model)
        assert (changed.violation is None) != is_robust or changed.reason is not None


@pytest.mark.parametrize(
    ("operands", "other", "is_robust"),
    [
        ("y, x", "write(z, 0, y, q); wait(q); write(z, 0, x, q);", False),
        ("x, y", "write(z, 0, y, q); wait(q); write(z, 0, x, q);", False),
        ("y, x", "write(z, 0, x, q);", True),
        ("x, x", "r <- compare_swap(0, x, 1, 0);", False),
        ("w, w", "write(z, 0, y, q);", True),
    ],
)
def test_others_may_come_between_the_two_loads_of_a_command(operands: str, other: str, is_robust: bool) -> None:
    """A compare-and-set with both operands in memory. The other rank may end before the second load, and have waited
    for its operation behind the first."""
    ranks = instance(f"update_from(compare_swap, {operands}, 1, z, q, w);", f"{other} loop {{ r <- mem[w]; }}")
    found = decide(translate(ranks, "rdma-tso", placed=True).program, RobustnessOnNetwork("rdma-tso", placed=True))
    assert (found.violation is None, found.reason) == (is_robust, None)


@pytest.mark.parametrize(
    ("where", "method", "old", "new", "operands", "other"),
    [
        (
            LateSearch,
            "_may_be_source",
            " or access.place > 0",
            "",
            "y, x, 1, z, q, w",
            "write(z, 0, y, q); wait(q); write(z, 0, x, q);",
        ),
        (Issue, "_access", "access.late or self.hangs or", "access.late or", "z, x, 1, x, q, z", "write(x, 0, x, q);"),
    ],
)
def test_each_rule_of_two_loads_is_needed(
    where: type, method: str, old: str, new: str, operands: str, other: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """(That a second load may come late where it is not the source is not noticed by any of 2,000 random programs.)"""
    model = RdmaTso(placed=True)
    program = translate(instance(f"update_from(compare_swap, {operands});", other), "rdma-tso", placed=True).program
    found, runs = by_normal_forms(program, model), by_runs(model.machine(program.everywhere))
    assert found.violation is not None and runs.violation is not None
    with_text(where, method, old, new, monkeypatch)
    changed = by_normal_forms(program, model)
    assert changed.violation is None


@pytest.mark.nightly
def test_all_runs_say_the_same_of_many_ranks() -> None:
    assert agreement_of_ranks(6_000, 2) == (4647, 1353)
    assert agreement_of_ranks(8_000, 5, two_loads=3) == (3463, 4537)
    assert agreement_of_ranks(6_000, 6, ranks=3, two_loads=2) == (2845, 3155)


# Loops


def looped(random: Random) -> str:
    """A program with a loop or two; {0} stands for how often they run. Nothing counts, so that it has few states."""
    while True:
        text = random_text(random, "rdma-tso", statements=5, threads=(2, 3), nodes=(2, 3))
        if "+" in text or "*" in text:
            continue
        head, _, rest = text.partition(" :: ")
        threads = []
        loops = 0
        for thread in rest.split(" || "):
            node, _, body = thread.partition(": ")
            statements = body.split("; ") if body else []
            if statements and random.random() < 0.6:
                first = random.randrange(len(statements))
                last = random.randint(first + 1, len(statements))
                inner = "; ".join(statements[first:last])
                statements[first:last] = [f"loop {{0}} {{{{ {inner} }}}}"]
                loops += 1
            threads.append(f"{node}: {'; '.join(statements)}")
        if loops:
            return f"{head} :: {' || '.join(threads)}"


def unrolled(text: str, model: RdmaTso) -> int | None:
    """How often the loops run at most in the first violation that there is; 0 where there is none up to DEPTHS, None
    where it has too many states."""
    for depth in DEPTHS:
        runs = by_runs(model.machine(everywhere(text.format(depth))), watch())
        if runs.violation is not None:
            return depth
        if runs.reason is not None:
            return None
    return 0


def against_unrolled(count: int, seed: int) -> Counter[str]:
    """How often programs with loops are said to be what."""
    said = Counter[str]()
    for number in range(count):
        random = Random(seed * 1_000_000 + number)
        text, model = looped(random), variant_of(random)
        found, depth = by_normal_forms(everywhere(text.format("")), model, watch()), unrolled(text, model)
        assert found.reason is None, text
        if found.violation is None:
            assert not depth, (number, text)
        said["robust" if found.violation is None else f"violated at {depth}"] += 1
    return said


def test_programs_with_loops_are_what_they_are_unrolled() -> None:
    assert against_unrolled(30, 1) == {"robust": 21, "violated at 2": 1, "violated at 1": 8}


@pytest.mark.nightly
def test_programs_with_loops_are_what_they_are_unrolled_on_many() -> None:
    assert against_unrolled(10_000, 2) == {"robust": 6462, "violated at 1": 2824, "violated at 2": 714}
    assert against_unrolled(10_000, 3) == {"robust": 6496, "violated at 1": 2745, "violated at 2": 759}


TEN_POLLS = "x@1 v@1 o@1 y@2 :: 1: loop {{ y^2 = o }} {polls}; x = 1; {fence}a = v || 1: v = 1; mfence; b = x"


def test_a_violation_may_need_a_loop_to_go_round_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten operations have to be polled before it. That a loop makes any number of them is found where a state comes
    back with more; else there would be no end."""
    polls = "; ".join(["poll(2)"] * 10)
    found = by_normal_forms(parse(TEN_POLLS.format(polls=polls, fence="")).program, RdmaTso())
    assert found.violation is not None
    rounds = sum(event.kind == "nrW" for event in found.violation.execution.events)
    assert rounds == 10
    program = parse(TEN_POLLS.format(polls=polls, fence="mfence; ")).program
    assert (kept := by_normal_forms(program, RdmaTso())).violation is None and kept.states == 171
    monkeypatch.setattr(late_search, "_accelerated", lambda before, after: after)
    endless = by_normal_forms(program, RdmaTso(), Watch(Limits(max_states=2_000), None, time.monotonic()))
    assert isinstance(endless.reason, StateLimit)


# Rules left out


def with_text(where: type, method: str, old: str, new: str, patch: pytest.MonkeyPatch) -> None:
    """A class with another text of one of its methods."""
    text, known = inspect.getsource(getattr(where, method)), {**vars(inspect.getmodule(where))}
    assert old in text
    exec(f"class Changed:\n{text.replace(old, new)}", known)
    changed = getattr(known["Changed"], method)
    for name in (method, "nic_compare_and_set", "nic_fetch_add") if method == "_atomic" else (method,):
        patch.setattr(where, name, changed)


SEEN_BY_THIRD = "x@1=1 w@1 o@1=1 z@2 g@2 :: 1: z^2 = x; w = z^2 || 1: a = w; g^2 = o || 2: b = g; c = z"
FENCED_GET = "x@1=1 y@2 z@2 :: 1: x = y^2; rfence(2); z^2 = x"
ACKNOWLEDGED = "y@1 x@2 o@1=1 p@2=1 :: 1: x^2 = o; poll(2); a = y || 2: y^1 = p; poll(1); b = x"
OWN_STORE = "x@1 y@1 :: 1: x = 1; a = x; b = y || 1: y = 1; mfence; c = x"
PUT_GET = "x@1=1 y@2 z@2 :: 1: z^2 = x; y = z^2".replace("y@2", "y@1")
TWO_GETS = "x@1 y@1 v@2 w@2 :: 1: x = v^2; rfence(2); y = w^2 || 2: w = 1; v = 1"
GET_THEN_PUT = "x@1 u@1=1 v@2 w@2 :: 1: x = v^2; rfence(2); w^2 = u || 2: a = w; v = 1"

FENCED_ATOMICS = "x@1 y@2=1 z@1 :: 1: z = rfaa(y^2, 1); rfence(2); x = rcas(y^2, 2, 2)"
LATE_READ = "x@1 y@2 z@3 :: 3: z = rfaa(x^1, 1) || 1: y^2 = x || 1: x = 2; x = 3"
TWO_ATOMICS = "x@1 y@2 z@3 :: 2: y = rfaa(x^1, 1) || 3: z = rfaa(x^1, 2)"
FAILING = "y@2 z@1 :: 2: y = 1 || 1: z = rcas(y^2, 2, 2)"
TORN_BY_STORE = "x@1 z@2 :: 1: x = 1 || 2: z = rfaa(x^1, 2)"

# fmt: off
NEEDED = [  # a class, its method, what is changed in it, a program, its variant
    (Orders, "source_waits", "delays.stores or ", "", "x@1 y@2 :: 1: x = 1; y^2 = x", ""),
    (Orders, "source_waits", "pair.fence_waits or ", "", GET_THEN_PUT, "no-pcie"),
    (Orders, "source_waits", "pair.sources or ", "", "x@1 y@2 z@2 :: 1: y^2 = x; z^2 = x || 1: x = 1", ""),
    (Orders, "source_waits", " or (self._pcie and pair.behind_landings)", "", FENCED_GET, ""),
    (Orders, "place_waits", "delays.pairs[number].placings", "False", "x@1 y@1=1 z@2 :: 1: z^2 = x; z^2 = y", ""),
    (Orders, "fetch_waits", "delays.stores or ", "", "x@1 w@2 :: 1: x = 1; x = w^2", ""),
    (Orders, "fetch_waits", "pair.fence_waits or ", "", TWO_GETS, ""),
    (Orders, "fetch_waits", "pair.placings if self._pcie else ", "", PUT_GET, ""),
    (Orders, "fetch_waits", " if self._pcie else pair.sources", "",
     "x@1 u@1 v@2 z@2 :: 1: z^2 = x; u = v^2 || 2: v = 1; mfence; a = z", "no-pcie"),
    (Orders, "fetch_waits", "else pair.sources", "else False", PUT_GET.replace("y = z^2", "x = z^2"), "no-pcie"),
    (Orders, "landing_waits", "delays.pairs[number].landings", "False", "x@1 y@2=1 z@2=2 :: 1: x = y^2; x = z^2", ""),
    (Orders, "after_put", "pair.notifications or source or ", "pair.notifications or ",
     "x@1 z@2 :: 1: z^2 = x; poll(2); x = 1", ""),
    (Orders, "after_put", " or (self._placed and placing)", "", ACKNOWLEDGED, "placed"),
    (Orders, "after_put", "self._placed and ", "", ACKNOWLEDGED, ""),
    (Orders, "after_get", "pair.fetches or fetch", "pair.fetches", TWO_GETS, ""),
    (Orders, "after_get", "pair.notifications or landing", "pair.notifications",
     "x@1 y@2 :: 1: x = y^2; poll(2); x = 1", ""),
    (Orders, "after_fence", " or pair.fetches", "", TWO_GETS, ""),
    (Orders, "after_fence", " or pair.landings", "", FENCED_GET, ""),
    (Issue, "store", "self.delays.stores, (", "False, (", "x@1 :: 1: x = 1; x = 2", ""),
    (Issue, "store", "self.delays.stores or late", "self.delays.stores",
     "x@1 y@1 :: 1: x = 1; y = 1 || 1: a = y; b = x", ""),
    (Issue, "memory_fence", "not self.delays.stores", "True", OWN_STORE.replace("a = x", "mfence"), ""),
    (Issue, "compare_and_set", "self.delays.stores or ", "", "x@1 :: 1: x = 1; CAS(x, 1, 2)", ""),
    (Issue, "compare_and_set", " or (not self.last and self._hits(location, succeeds))", "",
     "x@1 :: 1: x = 1 || 1: b = CAS(x, 1, 2); x = 3", ""),
    (Issue, "load", "self.last and self._attacks(location) and mine in self._own", "False",
     "x@1 :: 1: x = 1; a = x", ""),
    (Issue, "load", "not self.last and self._sees(location, mine)", "False", OWN_STORE, ""),
    (Issue, "load", "not self.last and not seen and self._hits(location, False)", "False",
     "x@1 :: 1: x = 1 || 1: a = x; b = x", ""),
    (Issue, "_access", "seen and not late and not self.last", "False",
     "x@1 y@1 z@2 :: 2: x^1 = z || 1: x = 1; a = x", ""),
    (Issue, "_access", "self._hits(access.location, access.writes)", "False",
     "x@1 y@2 :: 1: x = y^2 || 1: b = CAS(x, 2, 1) || 1: x = y^2", ""),
    (Issue, "put", "not self._variant.pcie and self._sees", "False and self._sees",
     FENCED_GET.replace("z@2", "z@2 f@1 p@2=1") + " || 2: a = z; f^1 = p || 1: b = f; c = x", "no-pcie"),
    (Issue, "put", "self._in_buffer(local", "False and self._in_buffer(local", FENCED_GET, "no-pcie"),
    (Issue, "put", "waits = source or ", "waits = ", "x@1 z@2 :: 1: z^2 = x; x = z^2", ""),
    (Issue, "get", "not self._variant.pcie and self._sees", "False and self._sees", SEEN_BY_THIRD, "no-pcie"),
    (Issue, "get", "self._in_buffer(remote", "False and self._in_buffer(remote", PUT_GET, "no-pcie"),
    (Issue, "get", "waits = fetch or ", "waits = ", "x@1 y@2=1 u@1=7 :: 1: x = y^2 || 1: a = x; y^2 = u", ""),
    (Issue, "remote_fence", "landing in self._own and not self._variant.pcie", "False", FENCED_GET, "no-pcie"),
    (Issue, "poll", "if self.polls[number]:", "if True:", "x@1 y@2 :: 1: x = y^2; poll(2); x = 1", ""),
    (Issue, "_operated", "not pair.notifications and ", "", "x@1 y@2 :: 1: x = y^2; poll(2); x = 1", ""),
    (Issue, "_comes_after", "attack.touched.hit_by(access.location, access.writes) or ", "", OWN_STORE, ""),
    (Issue, "_comes_after", "self._thread in attack.threads or ", "", OWN_STORE, ""),
    (Issue, "closes", "access.buffered or ", "", PUT_GET, "no-pcie"),
    (Issue, "closes", "self._thread in attack.threads", "False", OWN_STORE, ""),
    (Issue, "closes", "any(attack.touched.hit_by(each.location, each.writes) for each in self.accesses)", "False",
     "x@1 z@2 :: 2: x^1 = z || 1: z^2 = x", ""),
    (Orders, "atomic_waits", "delays.stores or ", "", "x@1 y@2=1 :: 2: y = 1; y = rfaa(x^1, 2)", ""),
    (Orders, "atomic_waits", "pair.fence_waits or ", "", FENCED_ATOMICS, ""),
    (Orders, "atomic_waits", "pair.placings", "False", "x@1 y@2 z@2 :: 1: y^2 = x; x = rcas(z^2, 1, 1)", "no-pcie"),
    (Issue, "_atomic", "self._in_memory(remote)", "self.memory[remote]",
     "x@1=1 y@2 z@3 :: 2: y = rcas(x^1, 0, 1) || 3: x^1 = z", ""),
    (Issue, "_atomic", "not self.last and not torn and self._hits(remote, new is not None)", "False",
     LATE_READ, "glob"),
    (Issue, "_atomic", "self._hits(remote, new is not None)", "self._hits(remote, True)",
     "x@1=1 y@2 z@3=1 :: 2: a = y; y = rcas(z^3, 2, 1) || 3: x^1 = z", ""),
    (Issue, "_atomic", "new is not None, fetch, (", "new is not None, False, (",
     "x@1=1 z@2 :: 1: x = rfaa(z^2, 1); x = rfaa(z^2, 2)", ""),
    (Issue, "_atomic", "new is not None, fetch, (", "True, fetch, (",
     "y@2 z@1 :: 2: z^1 = y || 1: z = rcas(y^2, 2, 1)", ""),
    (Issue, "_atomic", "waits = update or", "waits =",
     "y@2 z@1 :: 2: y = rfaa(z^1, 1); poll(1); y = rcas(z^1, 0, 2)", ""),
    (Issue, "_atomic", "after_get(pair, update, landing)", "after_get(pair, False, landing)", FENCED_ATOMICS, ""),
    (Issue, "_has_the_lock", "if attack.torn and any", "if False and any", TWO_ATOMICS, ""),
    (Issue, "_has_the_lock", " and update.queue[1] not in attack.atomics", "", TWO_ATOMICS, ""),
    (Issue, "_has_the_lock", "update.writes and ", "", FAILING, ""),
    (Issue, "_has_the_lock", " and not self._variant.glob", "", TORN_BY_STORE, "glob"),
    (LateSearch, "_may_be_source", "self._variant.glob or not access.writes", "True",
     "y@2 z@1 :: 2: b = CAS(y, 0, 1) || 1: z = rfaa(y^2, 2)", ""),
    (LateSearch, "_may_be_source", "self._variant.glob or ", "", TORN_BY_STORE, "glob"),
    (LateSearch, "_may_be_source", " or not access.writes", "", FAILING, ""),
]
# fmt: on
@pytest.mark.parametrize(("where", "method", "old", "new", "text", "variant"), NEEDED)
def test_each_rule_is_needed(
    where: type, method: str, old: str, new: str, text: str, variant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the rule the answer is that of all runs; without it another, or one whose run is none of the machine.

    Not noticed by any of 5,000 random programs: `after_fence`, sources (a put that reads late keeps the reads of later
    puts back, and by its late write those of gets); `closes`, late before (what is behind a late access of a command is
    late), and late behind; `get`, returns (a put that reads where a get without an rfence lands is a violation in any
    case); that a remote atomic that is the last command may be torn, as there is another form in which its write is the
    source; that nothing but the last command follows a torn one."""
    atomics: Literal["hca", "glob"] = "glob" if variant == "glob" else "hca"
    model = RdmaTso(pcie=variant != "no-pcie", placed=variant == "placed", atomics=atomics)
    program = parse(text).program.everywhere
    found, runs = by_normal_forms(program, model), by_runs(model.machine(program))
    assert (found.violation is None, found.reason) == (runs.violation is None, None)
    with_text(where, method, old, new, monkeypatch)
    try:
        changed = by_normal_forms(program, model)
    except AssertionError:
        return
    assert (changed.violation is None) != (found.violation is None) or changed.reason is not None
