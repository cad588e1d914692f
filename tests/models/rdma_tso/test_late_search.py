"""Runs in normal form find a violation exactly where there is one: against all runs of programs without loops, against
programs with loops that are unrolled, and with each rule left out (`proofs/rdma-normal-form.md`)."""

from __future__ import annotations

import inspect
import time
from collections import Counter
from random import Random

import pytest

from pgasrob.models.litmus.litmus_parser import parse
from pgasrob.models.litmus.litmus_program import Program
from pgasrob.models.networks.robustness import by_normal_forms, by_runs
from pgasrob.models.rdma_tso import RdmaTso
from pgasrob.models.rdma_tso.delays import Orders
from pgasrob.models.rdma_tso.late_accesses import Issue
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.watch import Watch
from tests.models.strategies import random_program, random_text

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
    return RdmaTso(pcie=random.random() < 0.6, placed=random.random() < 0.3)


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


def test_all_runs_say_the_same() -> None:
    assert agreement(300, 5) == (220, 80)
    assert agreement(150, 6, **BRANCHING) == (81, 69)


@pytest.mark.nightly
def test_all_runs_say_the_same_on_many() -> None:
    assert agreement(12_000, 7) == (0, 0)
    assert agreement(8_000, 8, **BRANCHING) == (0, 0)


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
    assert against_unrolled(60, 1) == {"robust": 39, "violated at 1": 16, "violated at 2": 5}


@pytest.mark.nightly
def test_programs_with_loops_are_what_they_are_unrolled_on_many() -> None:
    assert against_unrolled(20_000, 2) == {}


# Rules left out


def with_text(where: type, method: str, old: str, new: str, patch: pytest.MonkeyPatch) -> None:
    """A class with another text of one of its methods."""
    text, known = inspect.getsource(getattr(where, method)), {**vars(inspect.getmodule(where))}
    assert old in text
    exec(f"class Changed:\n{text.replace(old, new)}", known)
    patch.setattr(where, method, getattr(known["Changed"], method))


SEEN_BY_THIRD = "x@1=1 w@1 o@1=1 z@2 g@2 :: 1: z^2 = x; w = z^2 || 1: a = w; g^2 = o || 2: b = g; c = z"
FENCED_GET = "x@1=1 y@2 z@2 :: 1: x = y^2; rfence(2); z^2 = x"
ACKNOWLEDGED = "y@1 x@2 o@1=1 p@2=1 :: 1: x^2 = o; poll(2); a = y || 2: y^1 = p; poll(1); b = x"
OWN_STORE = "x@1 y@1 :: 1: x = 1; a = x; b = y || 1: y = 1; mfence; c = x"
PUT_GET = "x@1=1 y@2 z@2 :: 1: z^2 = x; y = z^2".replace("y@2", "y@1")
TWO_GETS = "x@1 y@1 v@2 w@2 :: 1: x = v^2; rfence(2); y = w^2 || 2: w = 1; v = 1"
GET_THEN_PUT = "x@1 u@1=1 v@2 w@2 :: 1: x = v^2; rfence(2); w^2 = u || 2: a = w; v = 1"

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
     "x@1 o@1 f@1 p@2=1 y@2=1 z@2 :: 1: x = y^2; rfence(2); z^2 = x || 2: a = z; f^1 = p || 1: b = f; c = x", "no-pcie"),
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
] # fmt: on
"""Not noticed by any of 5,000 random programs: `after_fence`, sources (a put that reads late keeps the reads of later puts
back, and by its late write those of gets); `closes`, late before (what is behind a late access of a command is late);
`closes`, late behind (a violation that needs it has another form that does not); `get`, returns (a put that reads where
a get without an rfence lands is a violation in any case)."""


@pytest.mark.parametrize(("where", "method", "old", "new", "text", "variant"), NEEDED)
def test_each_rule_is_needed(
    where: type, method: str, old: str, new: str, text: str, variant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the rule the answer is that of all runs; without it another, or one whose run is none of the machine."""
    model = RdmaTso(pcie="no-pcie" not in variant, placed="placed" in variant)
    program = parse(text).program.everywhere
    found, runs = by_normal_forms(program, model), by_runs(model.machine(program))
    assert (found.violation is None, found.reason) == (runs.violation is None, None)
    with_text(where, method, old, new, monkeypatch)
    try:
        changed = by_normal_forms(program, model)
    except AssertionError:
        return
    assert (changed.violation is None) != (found.violation is None) or changed.reason is not None
