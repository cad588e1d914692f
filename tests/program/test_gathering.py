"""Reads that gather flags: which do, and that nothing is lost (`proofs/polling.md`, section 5).

Random programs are judged by all their runs in which every read is an event: of a robust program the network must end
just as SC runs do. What the package finds must also be what the oracle finds, which knows registers by their values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pytest

from pgasrob.frontends.lower import parse_c
from pgasrob.program import gathering
from pgasrob.program.gathering import Gathering
from pgasrob.program.instance import Instance
from pgasrob.program.parser import parse
from pgasrob.program.program import Program
from pgasrob.program.raised_flags import Flag, Flags
from pgasrob.program.reading import LITERAL_READING
from pgasrob.reference.attack_search import AttackSearch
from pgasrob.robustness.reduction import REDUCTIONS
from pgasrob.semantics.sequential import SequentialFacts, SequentialSpace
from pgasrob.semantics.state_space import StateSpace
from tests.oracle import readings
from tests.oracle.definition import decide
from tests.oracle.gathered_flags import random_program
from tests.program.rounds_of_flags import random_rounds
from tests.robustness.test_engines_agree import translated
from tests.robustness.test_readings_agree import translated_reading
from tests.semantics.test_polls_and_memory import ends
from tests.support import examples

MOST_STATES = 8_000
SETTER = "process 0 { put(one, 1, x, q); put(one, 1, y, q); put(one, 1, z, q); }"
HEAD = "memory x, y, z, d, one = 1; register r, s, t, k; queue q unordered;"
ROUND = "if (r == 0) { r <- mem[x]; %s } if (s == 0) { s <- mem[y]; } if (t == 0) { t <- mem[z]; }"


def is_violated(program: Instance) -> bool | None:
    search = AttackSearch(program, REDUCTIONS)
    for _ in search.run():
        if search.states > MOST_STATES:
            return None
    return search.violation is not None


def instance(looker: str, setter: str = SETTER) -> Instance:
    return parse(f"program p; nodes 2; {HEAD} {setter} process 1 {{ {looker} }}").instantiate()


def gathers(program: Instance) -> bool:
    return any((until := getattr(form, "until", None)) is not None and until.gathers for form in program.forms)


def loop(then: str = "", setter: str = SETTER, condition: str = "!(r && s && t)") -> Instance:
    return instance(f"while ({condition}) {{ {ROUND % then} }}", setter)


DOWN = "process 0 { put(one, 1, x, q); put(one, 1, y, q); put(one, 1, z, q); put(d, 1, x, q); }"
TWICE = "process 0 { put(one, 1, x, q); put(one, 1, x, q); put(one, 1, y, q); put(one, 1, z, q); }"


@pytest.mark.parametrize(
    ("program", "robust"),
    [
        (loop(), True),
        (loop(setter=TWICE), False),  # the two puts themselves
        (loop("k <- r;"), True),  # nobody uses it
        (loop("if (r) { k <- k * 3 + s * 2 + t; }"), True),
        (instance(f"while (!(r && s && t)) {{ {ROUND % 'if (r) { k <- s + t; }'} }} mem[d] <- k;"), False),
        (loop("wait(q);"), True),  # for its own operations
        (loop("wait_local(q);"), True),
        (loop("fence(q);"), False),
        (loop("if (r) { mem[d] <- s; }"), False),  # others may see it
        (loop("if (r) { k <- mem[d]; }"), True),  # nobody writes it
        (loop("if (r) { k <- mem[d]; }", SETTER.replace("}", "put(one, 1, d, q); }")), False),
        (loop(setter=DOWN), False),
        (loop(condition="!(r && (s || t))"), False),  # it may leave without
        (loop("if (r) { assert(s == 0); }"), False),
        (instance("r <- mem[z]; s <- mem[x]; if (!r) { await(mem[z] == 1); } if (!s) { await(mem[x] == 1); }"), True),
        (instance("r <- mem[z]; s <- mem[x]; if (!r) { await(mem[z] == 1); }"), False),  # x is not waited for
        (instance("r <- mem[z]; s <- mem[x]; if (!r) { await(mem[z] == 1); } await(mem[x] == 2);"), False),
        (instance("r <- mem[z]; s <- mem[x]; if (!r) { await(mem[z] == 1); } await(mem[x] == 1); assert(s);"), False),
    ],
)
def test_what_gathers_is_no_event(program: Instance, robust: bool) -> None:
    assert is_violated(program) is not robust


def test_the_condition_says_what_the_other_flags_are() -> None:
    """The read of y in a round, with r and t not known: it gathers as long as y is 0."""
    (until,) = {form.until for form in loop().forms if getattr(form, "register", None) == 1}
    assert until is not None and until.gathers and until.spins
    assert not until.satisfied((1, 0, 0, 0)) and not until.satisfied((0, 0, 1, 0)) and until.satisfied((0, 1, 0, 0))


def test_rounds_that_are_too_large_have_events(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gathering, "MOST_CONFIGURATIONS", 5)
    assert not gathers(loop()) and is_violated(loop())


LOOKS = """#include <shmem.h>
static long a, b;
int main(void) {
    shmem_init();
    if (shmem_my_pe() == 1) {
        shmem_long_p(&a, 1, 0);
        shmem_long_p(&b, 1, 0);
    } else {
        int second = shmem_long_test(&b, SHMEM_CMP_EQ, 1), first = shmem_long_test(&a, SHMEM_CMP_EQ, 1);
        if (!second) shmem_long_wait_until(&b, SHMEM_CMP_EQ, 1);
        if (!first) shmem_long_wait_until(&a, SHMEM_CMP_EQ, 1);
    }
    shmem_finalize();
}
"""


def test_control_states_with_the_same_future_are_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The way on which both flags have been there has a copy of its own of what comes after."""
    assert is_violated(parse_c(LOOKS).program(2).instantiate()) is False
    for shown in ('puts("done");', "return 1;"):
        text = LOOKS.replace("    shmem_finalize();", f"    shmem_finalize(); {shown}")
        assert is_violated(parse_c(f"#include <stdio.h>\n{text}").program(2).instantiate()) is True, shown
    monkeypatch.setattr(gathering, "MOST_MERGED", 0)
    assert is_violated(parse_c(LOOKS).program(2).instantiate()) is True


# Nothing is lost


def facts(program: Instance) -> tuple[bool, bool]:
    found = SequentialFacts(program)
    for _ in found.explore():
        pass
    assert found.complete
    return found.deadlock is not None, found.failed.get(None) is not None


def without_flags(program: Instance) -> bool | None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Flags, "of", lambda *_: {})
        return is_violated(program.program.instantiate())  # type: ignore[union-attr]


def judged(program: Program) -> Counter[str]:
    """What is so of ``program``; nothing where it is too large."""
    seen: Counter[str] = Counter()
    read, literal = program.instantiate(), program.instantiate(reading=LITERAL_READING)
    violated, before = is_violated(read), without_flags(read)
    network, sequential = ends(StateSpace(literal)), ends(SequentialSpace(literal))
    if violated is None or network is None or sequential is None:
        return seen
    differs = network != sequential
    seen["facts differ"] += facts(read) != facts(literal)
    seen["gathers"] += gathers(read)
    seen["missed"] += differs and not violated
    seen["found"] += differs and violated
    seen["false alarms"] += violated and not differs
    seen["false alarms before"] += bool(before) and not differs
    seen["new violations"] += violated and before is False
    seen["freed"] += bool(before) and not violated
    return seen


def compared(seeds: Iterable[int]) -> Counter[str]:
    """How often what is said of random programs is so."""
    return sum((judged(translated(random_program(seed)).program) for seed in seeds), Counter[str]())


def test_robust_programs_that_gather_end_as_sc_runs_do() -> None:
    tried = examples(16, nightly=10_000)
    seen = compared(range(tried))
    assert seen["missed"] == seen["facts differ"] == seen["new violations"] == 0, seen
    assert seen["gathers"] >= tried // 2 and seen["found"] > 0, seen
    assert seen["false alarms"] < seen["false alarms before"] * 3 // 4, seen


# What is done with each flag that has come


def in_rounds(first: str = "", second: str = "", test: str = "== 1") -> str:
    """Rank 1 looks at x + 1, then at x, until both have been seen, which bits of b say; what it does with each."""
    return (
        f"b <- 0; while (b != 3) {{ if (!(b & 2)) {{ s <- mem[x + 1]; if (s {test}) {{ b <- b | 2; {second} }} }}"
        f" if (!(b & 1)) {{ s <- mem[x]; if (s {test}) {{ b <- b | 1; {first} }} }} }}"
    )


def puts(*places: str) -> str:
    """Rank 0 puts 1 in these places, 2 in those behind a `2`; other texts are commands."""
    values = {"2": "two", "0": "zero"}
    return " ".join(
        f"put({values.get(each[0], 'one')}, 1, {each.lstrip('02 ')}, q);" if ";" not in each else each
        for each in places
    )


def with_flags(setter: str, looker: str) -> Instance:
    head = "memory x[2], d[2], o[2], one = 1, two = 2, zero; register r, s, t, k, b; queue q unordered;"
    return parse(f"program p; nodes 2; {head} process 0 {{ {setter} }} process 1 {{ {looker} }}").instantiate()


DATA = ("d", "2 d + 1")
LATE = with_flags(puts("d", "x", "wait(q);", "x + 1"), in_rounds("t <- mem[d];") + "mem[o] <- t;")
SUM = with_flags(
    puts(*DATA, "fence(q, 1);", "x", "x + 1"),
    in_rounds("t <- mem[d]; k <- k + t;", "t <- mem[d + 1]; k <- t + k;") + "mem[o] <- k;",
)
KEPT = with_flags(
    puts(*DATA, "fence(q);", "x", "x + 1"),
    in_rounds("t <- mem[d]; mem[o] <- t;", "t <- mem[d + 1]; mem[o + 1] <- t;"),
)
ORDERED = with_flags(
    puts(*DATA, "fence(q);", "x", "x + 1"),
    in_rounds("t <- mem[d]; mem[o] <- t;", "t <- mem[d + 1]; mem[o] <- t;") + "r <- mem[o]; assert(r == 1);",
)
AGAIN = ("x", "x + 1", "wait(q);", "barrier;", "2 x", "2 x + 1")
PHASES = with_flags(puts(*AGAIN), in_rounds() + "barrier;" + in_rounds(test="== 2"))
ASKED = with_flags(
    "put(one, 1, x, q); while (!r) { r <- fetch(1, o); } put(one, 1, x + 1, q); assert(!r);", in_rounds("mem[o] <- 1;")
)
TWICE_EACH = (
    "update(add, 1, 1, x, q); update(add, 1, 1, x, q); update(add, 1, 1, x + 1, q); update(add, 1, 1, x + 1, q);"
)
COUNTED = with_flags(TWICE_EACH, in_rounds(test=">= 2"))
COUNTED_TOO_FEW = with_flags(TWICE_EACH, in_rounds(test=">= 1") + "r <- mem[x]; mem[o] <- r;")
OVERTAKEN = with_flags(puts("x", "2 x", "x + 1", "2 x + 1"), in_rounds(test=">= 1") + "r <- mem[x]; mem[o] <- r;")


@pytest.mark.parametrize(
    ("program", "robust"),
    [
        (LATE, False),
        (with_flags(puts("d", "wait(q);", "x", "x + 1"), in_rounds("t <- mem[d];") + "mem[o] <- t;"), True),
        (with_flags(puts("d", "fence(q);", "x", "x + 1", "wait(q);", "2 d"), in_rounds("t <- mem[d];")), True),
        (SUM, True),
        (KEPT, True),
        (PHASES, True),
        (COUNTED, True),
        (COUNTED_TOO_FEW, False),
        (OVERTAKEN, False),
    ],
    ids=["late", "waited for", "overwritten", "sum", "kept", "phases", "counted", "too few", "overtaken"],
)
def test_data_of_flags_that_have_come_may_be_read_in_between(program: Instance, robust: bool) -> None:
    assert is_violated(program) is not robust
    literal = program.program.instantiate(reading=LITERAL_READING)  # type: ignore[union-attr]
    assert (ends(StateSpace(literal)) == ends(SequentialSpace(literal))) or not robust
    assert is_violated(literal) is True


def test_a_condition_that_faults_is_none_that_may_be_chosen() -> None:
    assert with_flags(puts("x", "x + 1"), in_rounds("if (1 / 0) { k <- 1; }")).polls


@pytest.mark.parametrize(
    ("patched", "name", "instead", "program", "lost"),
    [
        (Flags, "settled", lambda *_: True, LATE, "missed"),
        (Flags, "_may_follow_one", lambda *_: False, LATE, "missed"),
        (Flags, "is_own", lambda *_: True, ASKED, "facts differ"),
        (Gathering, "_agrees", lambda self, here, goal: here.values == goal.at.values, ORDERED, "facts differ"),
    ],
)
def test_without_a_condition_on_data_the_rule_loses_something(
    patched: type, name: str, instead: object, program: Instance, lost: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not judged(program.program)[lost]  # type: ignore[arg-type]
    monkeypatch.setattr(patched, name, instead)
    assert judged(program.program)[lost]  # type: ignore[arg-type]


def test_robust_programs_with_rounds_end_as_sc_runs_do() -> None:
    tried = examples(3, nightly=2_000)
    seen = sum((judged(parse(random_rounds(seed))) for seed in range(10, 10 + tried)), Counter[str]())
    assert seen["missed"] == seen["facts differ"] == seen["new violations"] == 0, seen
    assert seen["gathers"] >= tried // 2 and seen["freed"] > 0, seen


# Without the rules it would be


def every_cell_is_a_flag(self: Flags, rank: int, phase: int | None = None) -> dict[int, Flag]:
    return {cell: Flag((0, 2), (1,), {0: (0, 1), 1: (1,), 2: (1, 2)}) for cell in self._writes}


@pytest.mark.parametrize(
    ("patched", "name", "instead", "seed", "lost"),
    [
        (Flags, "of", every_cell_is_a_flag, 308, "facts differ"),
        (Gathering, "_is_bound", lambda *_: True, 255, "facts differ"),
        (Gathering, "_agrees", lambda self, here, goal: here.seen in goal.given, 30, "missed"),
    ],
    ids=["a flag may be taken down", "it may be stuck though all are raised", "it matters what was seen first"],
)
def test_without_one_of_its_conditions_the_rule_loses_something(
    patched: type, name: str, instead: object, seed: int, lost: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not compared([seed])[lost]
    monkeypatch.setattr(patched, name, instead)
    assert compared([seed])[lost]


# The oracle


def both_answers(seed: int) -> tuple[bool | None, bool | None]:
    """Whether the program of ``seed`` has a violation, by the oracle and by the package."""
    reading = readings.Reading("wait", "commuting")
    program = random_program(seed)
    expected = decide(program, max_runs=3_000, max_steps=40, reading=reading).violating
    return expected, is_violated(translated(program).program.instantiate(reading=translated_reading(reading)))


def test_the_oracle_says_the_same() -> None:
    tried, known = examples(12, nightly=3_000), 0
    for seed in range(20_000, 20_000 + tried):
        expected, found = both_answers(seed)
        assert None in (expected, found) or expected == found, seed
        known += expected is not None and found is not None
    assert known >= tried * 2 // 3


@pytest.mark.parametrize("seed", [21_070, 21_591, 21_860])
def test_another_register_decides_whether_a_read_only_looks_or_gathers(seed: int) -> None:
    """Rank 1 is stuck at `await(mem[y] == 1)` whatever it has seen before, for 2 is put; or `t != 0` and `t == 1` both
    say that t has been seen."""
    assert both_answers(seed) == (False, False)
