"""Which races matter: against an oracle that lists the SC runs, and by programs whose answer is worked out by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest

from pgasrob import api
from pgasrob.frontends.lower import parse_c
from pgasrob.program.parser import parse
from pgasrob.program.program import Program
from pgasrob.races import consequences as decided_by
from pgasrob.races.consequences import race_consequences
from pgasrob.races.end_sets import AllEnds, ScNode, Step, least_states
from pgasrob.robustness.check import check
from pgasrob.robustness.maximal_runs import Viewer, Word
from pgasrob.robustness.question import Question, Robustness
from pgasrob.robustness.reasons import AnyValue, ConsequencesLimit, StateLimit
from pgasrob.robustness.session import Session
from pgasrob.robustness.verdict import RaceConsequences
from pgasrob.robustness.watch import LimitReached
from pgasrob.semantics.sequential import SequentialFacts
from tests.oracle import dead_values
from tests.oracle.race_order import RaceOrder, TooLarge
from tests.oracle.strategies import random_program
from tests.oracle.syntax import numbered, to_pgas
from tests.support import examples, program, session_about

CHOICES = (
    ("load", "store", "write", "wait", "barrier", "if", "choose"),
    ("load", "write", "read", "put", "wait", "assert", "fetch_add"),
    ("load", "store", "load_there", "store_there", "await", "assert", "if"),
    ("write", "put", "wait", "barrier", "await", "swap", "compare_swap", "load"),
    ("load", "store", "write", "fetch_add", "fetch", "barrier", "exit", "assume"),
    ("store", "store_there", "load_there", "barrier", "assign"),
)
MOST = 3_000
CORPUS = Path(__file__).parents[2] / "programs"


def decided(text: str) -> tuple[str, RaceConsequences]:
    """The verdict about robustness and the answer about races that matter."""
    session = Session(Question(parse(text), asked=Robustness(effect=False)))
    verdict = check(session)
    return verdict.verdict, race_consequences(session, verdict)


def compare(seed: int) -> Counter[str]:
    """Compare the answer with the oracle's on the program of ``seed``; what there was to see."""
    found = numbered(random_program(seed, ranks=(2, 3), commands=CHOICES[seed % len(CHOICES)], faults=False))
    try:
        oracle = RaceOrder(found, MOST)
    except TooLarge:
        return Counter(("too large",))
    robust, answer = decided(to_pgas(found))
    if robust == "error":
        return Counter(("error",))
    assert answer.reason is None, f"{seed}: {answer.reason}"
    matters, harmless = {each.race.lines for each in answer.matters}, {each.lines for each in answer.harmless}
    assert matters == oracle.matters, f"{seed}: {matters} {oracle.matters}"
    assert matters | harmless == oracle.racing, f"{seed}: {matters | harmless} {oracle.racing}"
    for each in answer.matters:
        assert all(run.complete for run in each.runs) and each.differs, seed
    return Counter((answer.answer, f"{answer.answer}, {robust}", "one end" if oracle.ends == 1 else "several ends"))


def compare_in_c(seed: int) -> Counter[str]:
    """Compare the answer about a program in C, in which not all values that are read are looked at, with the
    oracle's."""
    found = dead_values.random_program(seed)
    looked_at = dead_values.looked_at(found)
    oracle = RaceOrder(found, MOST, looked_at)
    answer = answer_of(parse_c(dead_values.to_c(found), "random.c").program(2))
    assert answer.reason is None, f"{seed}: {answer.reason}"
    matters, harmless = {each.race.lines for each in answer.matters}, {each.lines for each in answer.harmless}
    # A value that is given to a call on a way that no run takes is taken for one that is looked at.
    most = RaceOrder(found, MOST, dead_values.looked_at(found, calls=True)).matters
    assert oracle.matters <= matters <= most, f"{seed}: {matters} {oracle.matters}"
    assert matters | harmless == oracle.racing, f"{seed}: {matters | harmless} {oracle.racing}"
    without = RaceOrder(found, MOST, dead_values.all_reads(found))
    seen = {"dead value": without.matters != matters, "exact": matters == oracle.matters}
    return Counter((answer.answer, *(name for name in seen if seen[name])))


def campaign(seeds: Iterable[int], compare: Callable[[int], Counter[str]] = compare) -> Counter[str]:
    seen: Counter[str] = Counter()
    for seed in seeds:
        seen.update(compare(seed))
    return seen


FEW = (*range(120), 947, 950)
"""In the last two a race matters in some state, and not in that to which the search for races has led."""


def test_the_answer_is_that_of_the_oracle() -> None:
    seen = campaign(FEW)
    assert min(seen["matters, robust"], seen["matters, not robust"], seen["none, robust"]) > 15
    assert min(seen["harmless, robust"], seen["harmless, not robust"]) > 8


@pytest.mark.nightly
@pytest.mark.parametrize("part", range(6))
def test_the_answer_is_that_of_the_oracle_on_many(part: int) -> None:
    seen = campaign(range(10_000 + 1_000 * part, 11_000 + 1_000 * part))
    assert min(seen["matters"], seen["harmless"], seen["none"]) > 150


def test_values_at_which_nothing_looks_make_no_race_matter() -> None:
    seen = campaign(range(examples(40, nightly=3_000)), compare_in_c)
    assert min(seen["matters"], seen["harmless"], seen["none"], seen["dead value"]) > 3, seen
    assert seen["exact"] > 0.98 * examples(40, nightly=3_000)


LOOKS = """#include <shmem.h>
#include <stdio.h>
static int x, y;
static int far(void) {{ return shmem_int_g(&x, 0); }}
static int near(int value) {{ return value; }}
int main(void) {{
    int mine = 0;
    shmem_init();
    if (shmem_my_pe() == 0) shmem_int_p(&x, 1, 0);
    else {{ {} }}
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}}
"""


@pytest.mark.parametrize(
    ("body", "looks"),
    [
        ("int r = far(), s = r * 2 + 1; s = far(); s = 0;", False),
        ("far(); (void)far();", False),
        ("int r = 0; for (int i = 0; i < 3; i++) r = r + far();", False),
        ("y = far(); y = 0;", False),
        ("int r = far(); y = r; y = 0; return r;", True),
        ("int r = far(); y = r; y = 0; if (r) puts(\"1\"); else puts(\"0\");", True),
        ("int r = far(); if (r) puts(\"1\"); else puts(\"0\");", True),
        ("int r = far(), s = 1 / (r + 1);", True),
        ("int r = far(), s = (r + 1) / 2;", False),
        ("printf(\"%d\", far()); far();", True),
        ("far(); printf(\"%d\", far());", True),
        ("near(far());", True),
        ("shmem_get32(&mine, &x, 1, 0);", False),
        ("shmem_get32(&mine, &x, 1, 0); printf(\"%d\", mine);", True),
        ("shmem_get32(&y, &x, 1, 0);", True),
    ],
)  # fmt: skip
def test_at_which_values_a_program_in_c_looks(body: str, looks: bool) -> None:
    """At what is given to a function it may look."""
    answer = answer_of(parse_c(LOOKS.format(body)).program(2))
    assert answer.answer == ("matters" if looks else "harmless")


def test_no_race_is_harmless_where_memory_holds_unknown_values() -> None:
    """Both orders read and leave an unknown value, and each run another one."""
    text = LOOKS.format('printf("%d", far());').replace("(&x, 1, 0)", "(&x, rand(), 0)")
    answer = answer_of(parse_c(text.replace("<stdio.h>", "<stdlib.h>")).program(2))
    assert (answer.answer, answer.harmless, answer.reason) == ("unknown", (), AnyValue(("x",)))


def test_a_variable_of_main_counts_where_other_ranks_write_it() -> None:
    window = Path(__file__).parents[2] / "programs/c/mpi/hoefler/figure_10.c"
    assert answer_of(parse_c(window.read_text()).program(2)).answer == "matters"


def claims_one_end(viewer: Viewer, most: int) -> Any:
    yield
    return True


def first_alone(self: AllEnds, first: list[Step], second: Step) -> list[tuple[list[Word], ScNode]]:
    return [([step.word], step.after) for step in first]


BROKEN: dict[str, tuple[object, str, object]] = {
    "the second command is not made": (AllEnds, "_in_order", first_alone),
    "one end is claimed": (decided_by, "one_end", claims_one_end),
    "nothing is looked at in the state of a race": (AllEnds, "_both_next", lambda self, node: iter(())),
}


@pytest.mark.parametrize("rule", BROKEN)
def test_without_a_rule_the_answer_is_another_one(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*BROKEN[rule])
    with pytest.raises(AssertionError):
        campaign(FEW)


# Single programs


def lines(answer: RaceConsequences) -> list[tuple[int, int]]:
    return [each.race.lines for each in answer.matters]


def answer_of(found: Program, nodes: int | None = None) -> RaceConsequences:
    session = Session(Question(found, nodes, asked=Robustness(effect=False)))
    return race_consequences(session, check(session))


def test_what_goes_on_for_ever_is_an_end() -> None:
    """Rank 1 leaves its loop only if the write comes between its store and its load."""
    answer = answer_of(
        program(
            "write(x, 1, y, q); wait(q);",
            "mem[y] <- 2; r <- mem[y]; while (r == 2) { mem[z] <- 1; mem[z] <- 0; }",
        )
    )
    assert answer.answer == "matters" and answer.reason is None
    assert answer.matters[0].differs == (
        "it ends in a deadlock, or the run ends",
        "r@1 at the end is 2 or 1",
        "y@1 at the end is 2 or 1",
    )
    assert all(run.complete for each in answer.matters for run in each.runs)


def test_beyond_the_limit_nothing_is_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    harmless = program(
        "write(x, 1, y, q); wait(q);", "mem[y] <- 1; s <- fetch_add(1, z, 1);", "r <- fetch_add(1, z, 1);"
    )
    assert answer_of(harmless).answer == "harmless"
    monkeypatch.setattr(decided_by, "MOST_STATES", 3)
    answer = answer_of(harmless)
    assert answer.answer == "unknown" and answer.reason == ConsequencesLimit(3)


def test_where_there_are_too_many_states_only_the_first_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    two = program("write(x, 1, y, q); r <- mem[z];", "write(x, 0, z, q); r <- mem[y];")
    monkeypatch.setattr(decided_by, "COUNTED_FROM", 2)
    seen: list[AllEnds] = []
    monkeypatch.setattr(decided_by, "AllEnds", lambda *args: seen.append(AllEnds(*args)) or seen[-1])
    whole = answer_of(two)
    states = seen[-1].states
    assert whole.reason is None and states > 4
    monkeypatch.setattr(decided_by, "MOST_STATES", states - 1)
    answer = answer_of(two)
    assert answer.answer == "unknown" and answer.reason == ConsequencesLimit(states - 1)
    assert seen[-1].states == 3
    monkeypatch.setattr(decided_by, "MOST_STATES", states)
    assert (answer_of(two).answer, seen[-1].states) == (whole.answer, states)


def test_a_limit_before_the_search_is_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    """C is lowered for it once more: the time may be up by then."""

    def late(*_: object, **__: object) -> bool:
        raise LimitReached(StateLimit(5))

    monkeypatch.setattr(decided_by, "updates_may_race", late)
    robust, answer = decided(
        str(program("write(x, 1, y, q); r <- mem[z];", "write(x, 0, z, q); r <- mem[y];").source.text)
    )
    assert (robust, answer.answer, answer.reason) == ("not robust", "unknown", StateLimit(5))


def test_the_run_to_a_race_decides_where_there_are_too_many_states(monkeypatch: pytest.MonkeyPatch) -> None:
    """The put is complete before rank 0 goes on in the one run, and behind it in the other."""
    monkeypatch.setattr(decided_by, "MOST_STATES", 1)
    answer = answer_of(program("mem[w] <- 3; write(x, 1, y, q); wait(q); mem[w] <- 4;", "mem[z] <- 1; r <- mem[y];"))
    assert answer.reason is None
    (each,) = answer.matters
    assert each.differs == ("r@1 at the end is 1 or 0",)
    assert [run.registers[1][0] for run in each.runs] == [1, 0]


def test_a_lost_update_of_many_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The others go first, so that few states are left behind the two."""
    monkeypatch.setattr(decided_by, "MOST_STATES", 1)
    monkeypatch.setattr(decided_by, "MOST_STATES_AT_ONE_PLACE", 30)
    answer = answer_of(program("r <- mem[y @ 0];\nmem[y @ 0] <- r + 1;\nbarrier;", nodes=6))
    assert lines(answer) == [(1, 2)] and isinstance(answer.reason, ConsequencesLimit)
    assert all(run.complete for each in answer.matters for run in each.runs)


def test_an_assertion_that_fails_is_a_difference() -> None:
    answer = answer_of(program("write(x, 1, y, q); wait(q);", "r <- mem[y]; assert(r == 0); r <- 0;"))
    assert [each.differs for each in answer.matters] == [("the assertion of rank 1 in line 1 fails or holds",)]


def test_a_program_with_an_error_has_no_answer() -> None:
    assert answer_of(program("mem[x + 9] <- 1;")).answer == "unknown"


def test_a_call_that_looks_whether_a_value_has_come_is_no_race() -> None:
    plain, looking = "r <- mem[y];", "r <- mem[y] as int;"
    assert answer_of(program("write(x, 1, y, q); wait(q);", plain)).answer == "matters"
    assert answer_of(program("write(x, 1, y, q); wait(q);", looking)).answer == "none"


ADDS = "update(add, 1, 1, y, q) as long by {}; wait(q);"
LOST = "atomics of long by rmw and by accumulate need not exclude each other"


VIOLATION = ("write(x, 1, w, q); s <- mem[z]; barrier;\n", "write(x, 0, z, q); s <- mem[w]; barrier;\n")


@pytest.mark.parametrize("before", [("", ""), VIOLATION], ids=["robust", "not robust"])
def test_an_update_that_may_be_lost_matters_whatever_the_order(before: tuple[str, str]) -> None:
    """Both add, so that SC runs end alike from there on: they are no race if they exclude each other."""
    for other, lost in (("rmw", False), ("accumulate", True)):
        matters = answer_of(program(before[0] + ADDS.format("rmw"), before[1] + ADDS.format(other))).matters
        losing = [each for each in matters if each.differs[0].startswith(LOST)]
        assert len(losing) == lost and all(run.complete for each in losing for run in each.runs)


def test_atomics_that_only_write_lose_nothing() -> None:
    sets = "update(set, 1, 1, y, q) as {}; wait(q);"
    assert answer_of(program(sets.format("long"), sets.format("int"))).answer == "harmless"


@pytest.mark.parametrize("most", [1, 100])
def test_that_all_runs_end_alike_does_not_make_a_lost_update_harmless(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decided_by, "MOST_STATES_AT_ONE_PLACE", 1)
    monkeypatch.setattr(decided_by, "MOST_STATES", most)
    answer = answer_of(program(ADDS.format("rmw"), ADDS.format("accumulate")))
    assert answer.answer == ("unknown" if most == 1 else "matters")


# Programs in C. With REPAIRED defined each is as it should be.

ANSWERS = Path(__file__).parents[1] / "frontends" / "answers"


def of_file(path: Path, *defines: str) -> tuple[str, RaceConsequences]:
    session = session_about(path, Robustness(effect=False), *defines)
    verdict = check(session)
    return verdict.verdict, race_consequences(session, verdict)


@pytest.mark.parametrize("path", sorted((ANSWERS / "matters").glob("*.c")), ids=lambda path: path.stem)
def test_a_race_that_matters_in_c(path: Path) -> None:
    _, answer = of_file(path)
    assert answer.answer == "matters" and answer.reason is None
    assert of_file(path, "REPAIRED") == ("robust", RaceConsequences("none", stats=ANY))


@pytest.mark.parametrize("path", sorted((ANSWERS / "harmless").glob("*.c")), ids=lambda path: path.stem)
def test_a_race_that_changes_nothing_in_c(path: Path) -> None:
    _, answer = of_file(path)
    assert answer.answer == "harmless" and len(answer.harmless) == 1 and answer.reason is None


ONE_LINE = """#include <shmem.h>
#include <stdio.h>
static int flag, data;
static void send(int *p, int v) { shmem_int_p(p, v, 1); }
int main(void) {
    shmem_init();
    if (shmem_my_pe() == 0) { %s }
    else { if (shmem_int_test(&flag, SHMEM_CMP_EQ, 1)) printf("%%d", data); }
    shmem_finalize();
    return 0;
}
"""


@pytest.mark.parametrize(
    ("commands", "answer"),
    [
        ("shmem_int_p(&flag, 1, 1); shmem_fence(); shmem_int_p(&data, 7, 1);", "matters"),
        ("send(&flag, 1); shmem_fence(); send(&data, 7);", "matters"),
        ("shmem_int_p(&data, 7, 1); shmem_fence(); shmem_int_p(&flag, 1, 1);", "none"),
    ],
)
def test_a_look_hides_no_race_in_its_line(commands: str, answer: str) -> None:
    """One race is listed for each pair of lines: here that of the flag, which is on purpose."""
    session = Session(Question(parse_c(ONE_LINE % commands), 2, asked=Robustness(effect=False)))
    verdict = check(session)
    assert (verdict.verdict, race_consequences(session, verdict).answer) == ("robust", answer)


def test_there_are_as_many_sc_states_as_are_promised() -> None:
    several = 0
    for seed in range(examples(40, 4_000)):
        found = to_pgas(numbered(random_program(seed, ranks=(2, 3), commands=CHOICES[seed % len(CHOICES)])))
        instance = parse(found).instantiate()
        facts = SequentialFacts(instance)
        for _ in facts.explore(MOST):
            pass
        assert facts.states >= least_states(instance) or facts.fault, found
        several += least_states(instance) > 1
    assert several > 10


def test_so_many_ranks_have_too_many_sc_states() -> None:
    assert least_states(parse("program p; nodes 15; memory x; process { mem[x] <- 1; }").instantiate()) == 1 << 15
    assert least_states(parse("program p; nodes 15; memory x; process { await(mem[x] == 0); }").instantiate()) == 1


def compare_by_traces(seed: int) -> Counter[str]:
    """The oracle has no race where there is one trace alone."""
    found = numbered(random_program(seed, ranks=(2, 3), commands=CHOICES[seed % len(CHOICES)], faults=False))
    try:
        oracle = RaceOrder(found, MOST)
    except TooLarge:
        return Counter(("too large",))
    session = Session(Question(parse(to_pgas(found)), asked=Robustness(effect=False)))
    one = decided_by.has_one_trace(session, small=0)
    assert not (one and oracle.racing), f"{seed}: {oracle.racing}"
    return Counter(("one trace" if one else "several" if oracle.racing else "several, and no race",))


def test_where_there_is_one_trace_no_accesses_race() -> None:
    seen = sum((compare_by_traces(seed) for seed in range(examples(400, 60_000))), Counter[str]())
    assert seen["one trace"] > examples(20, 3_000), seen


@pytest.mark.parametrize("file", ["barrier_halo.c", "request_wait.c"])
def test_races_of_many_ranks_with_a_mistake_are_excluded(file: str) -> None:
    """As on few ranks, where all SC states are looked at."""
    answers = []
    for nodes in (2, 40):
        session = Session(Question(api.load(CORPUS / "c" / "mpi" / file), nodes=nodes, asked=Robustness(effect=False)))
        verdict = check(session)
        assert verdict.verdict == "not robust"
        answers.append(race_consequences(session, verdict).answer)
    assert answers == ["none", "none"]


def test_a_wait_for_what_lies_elsewhere_may_race_with_what_it_waits_for() -> None:
    """However few traces there are: it is next all the time."""
    there = """program there; nodes 2; memory f; register r;
    process 0 { mem[f] <- 1; }
    process 1 { r <- mem[f @ 0]; while (r == 0) { r <- mem[f @ 0]; } }"""
    answer = decided(there)[1]
    assert len(answer.harmless) + len(answer.matters) == 1
    session = Session(Question(parse(there), asked=Robustness(effect=False)))
    assert not decided_by.has_one_trace(session, small=0)
