"""The lines of whether a program is correctly synchronised, from verdicts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pgasrob.batch.answer import about_robustness
from pgasrob.batch.job import Checked
from pgasrob.frontends.lower import parse_c
from pgasrob.program.parser import parse
from pgasrob.robustness.question import FACTS, Question, RobustnessOnEveryCount, Synchronisation
from pgasrob.robustness.reasons import NotAsked, StateLimit
from pgasrob.robustness.session import Session
from pgasrob.robustness.synchronisation import Line, answer_of, as_expected_in_headers, synchronised
from pgasrob.robustness.verdict import LINES, LineName, RaceConsequences, Verdict

STUCK = "nodes 2; memory x; process 0 { await(mem[x] == 1); assert(me == 1); } process 1 { skip; }"
FAILS = "nodes 2; memory x; process { mem[x] <- 1; assert(me == 0); }"
LATE = """
nodes 2; memory x, y = 1; register r; queue q;
process 0 { put(y, 1, x, q); barrier; } process 1 { barrier; r <- mem[x]; }
"""
C = """
#include <shmem.h>
long x;
int main(void) { shmem_init(); if (shmem_my_pe() == 0) { shmem_long_wait_until(&x, SHMEM_CMP_EQ, 1); } }
"""


def asked(text: str, lines: tuple[LineName, ...] | None = None) -> Verdict:
    return about_robustness(Session(Question(parse(text))), Synchronisation(lines))


def answers(verdict: Verdict) -> dict[str, tuple[str, bool]]:
    found = synchronised(verdict)
    assert found is not None
    return {line.name: (line.answer, line.asked) for line in found.lines}


def test_of_the_core_language_robustness_is_asked_and_other_findings_count() -> None:
    verdict = asked(STUCK)
    assert (verdict.verdict, verdict.asked, verdict.facts) == ("robust", ("robust",), FACTS)
    assert answers(verdict) == {"progress": ("no", False), "assertions": ("yes", False), "robust": ("yes", True)}
    assert synchronised(verdict).answer == "no"  # type: ignore[union-attr]


def test_an_assertion_that_fails_counts_and_where_robustness_alone_is_asked_it_does_not() -> None:
    assert answers(asked(FAILS)) == {"progress": ("yes", False), "assertions": ("no", False), "robust": ("yes", True)}
    alone = asked(FAILS, ("robust",))
    assert (answers(alone), alone.assertions) == ({"robust": ("yes", True)}, "violated")


def test_of_c_all_lines_are_asked() -> None:
    verdict = about_robustness(Session(Question(parse_c(C))), Synchronisation())
    assert (verdict.asked, verdict.facts) == (LINES, ())
    assert answers(verdict) == {
        "legal": ("yes", True), "progress": ("no", True), "robust": ("yes", True), "races": ("yes", True)
    }  # fmt: skip


def test_what_is_not_robust_is_a_no_and_the_other_lines_are_answered_all_the_same() -> None:
    assert answers(asked(LATE, ("progress", "robust"))) == {"progress": ("yes", True), "robust": ("no", True)}


@pytest.mark.parametrize(
    ("deadlock", "facts", "whole"),
    [("unknown", ("progress",), "yes"), ("unknown", (), "yes"), (True, ("progress",), "no"), (True, (), "yes")],
)
def test_a_fact_counts_where_it_is_bad_and_not_where_it_is_open(
    deadlock: bool, facts: tuple[LineName, ...], whole: str
) -> None:
    found = synchronised(replace(asked(LATE), verdict="robust", deadlock=deadlock, facts=facts))
    assert found is not None
    assert found.answer == whole


def test_what_was_asked_and_is_open_makes_the_answer_open_unless_another_line_is_bad() -> None:
    open_, bad, good = Line("progress", "unknown"), Line("races", "no", True, 2), Line("robust", "yes")
    assert answer_of((open_, good)) == "unknown"
    assert answer_of((open_, good, bad)) == "no"
    assert answer_of((replace(open_, asked=False), good)) == "yes"


@pytest.mark.parametrize(
    ("races", "answer"),
    [
        (RaceConsequences("none"), "yes"),
        (RaceConsequences("harmless"), "yes"),
        (RaceConsequences("unknown", reason=StateLimit(5)), "unknown"),
        (RaceConsequences("unknown", reason=NotAsked()), None),
        (None, None),
    ],
)
def test_the_line_of_races(races: RaceConsequences | None, answer: str | None) -> None:
    verdict = replace(asked(LATE), asked=LINES, races=races)
    assert answers(verdict).get("races", (None, True)) == (answer, True)
    assert synchronised(verdict).whole  # type: ignore[union-attr]


def test_a_program_in_error_has_no_lines() -> None:
    assert synchronised(asked("nodes 2; memory a[2]; process { mem[a + 9] <- 1; }")) is None


def test_before_anything_is_known_all_lines_are_open() -> None:
    verdict = Verdict("f", None, None, "portfolio", "unknown", asked=("progress", "assertions", "robust"))
    assert set(answers(verdict).values()) == {("unknown", True)}


def test_where_a_fault_is_not_excluded_a_rank_may_get_stuck_by_it() -> None:
    open_ = replace(asked("nodes 2; memory x; process { mem[x] <- 1; }"), faults="unknown")
    assert answers(open_) == {"progress": ("unknown", False), "robust": ("yes", True)}


def test_races_are_counted_where_their_runs_are_left_out() -> None:
    text = """
nodes 2; memory x, y; register r; queue q;
process 0 { mem[x] <- 1; } process 1 { read(y, 0, x, q); wait(q); r <- mem[y]; }
"""
    verdict = asked(text, ("robust", "races"))
    less = Checked("f", verdict).without_runs().verdict
    assert less.races is not None and not less.races.matters
    for found in map(synchronised, (verdict, less)):
        assert found is not None and found.lines[-1] == Line("races", "no", True, 1)


EQUAL = "nodes 2; memory x, one = 1; queue q unordered; process 0 { put(one, 1, x, q); put(one, 1, x, q); }"
EQUAL += " process 1 { %s }"


def test_what_is_not_robust_may_be_harmless_and_the_other_lines_say_what_else_is_wrong() -> None:
    verdict = asked(EQUAL % "skip;")
    found = synchronised(verdict)
    assert verdict.verdict == "not robust" and verdict.harmless
    assert found is not None and found.answer == "harmless" and as_expected_in_headers(found) == "no (not robust)"
    stuck = synchronised(asked(EQUAL % "await(mem[x] == 2);"))
    assert stuck is not None and stuck.answer == "no" and as_expected_in_headers(stuck) == "no (stuck, not robust)"


def test_what_no_effect_was_looked_for_of_is_not_harmless() -> None:
    session, text = Session(Question(parse(EQUAL % "skip;"))), Synchronisation(None, effect=False)
    without = about_robustness(session, text)
    assert without.verdict == "not robust" and not without.harmless
    every = about_robustness(Session(Question(parse(EQUAL % "skip;"))), RobustnessOnEveryCount())
    assert every.verdict == "not robust" and not every.harmless
