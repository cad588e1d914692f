"""Calls that an API forbids where they stand: found where an SC run comes to them, each once, and no assertions."""

from __future__ import annotations

from collections import Counter

import pytest

from pgasrob import twins
from pgasrob.api import check
from pgasrob.frontends.apis.mpi import rules
from pgasrob.frontends.lower import parse_c
from pgasrob.program.instance import Instance
from pgasrob.program.parser import parse
from pgasrob.program.printer import to_source
from pgasrob.program.statements import Span
from pgasrob.reference.trace_search import TraceSearch
from pgasrob.robustness.engine import Facts, Stepwise
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.native_attack import NativeFacts, NativeSearch
from pgasrob.robustness.native_traces import NativeTraceSearch
from pgasrob.robustness.reduction import REDUCTIONS
from pgasrob.robustness.verdict import Verdict
from pgasrob.runs.outcomes import outcomes
from pgasrob.semantics.sequential import SequentialFacts
from tests.support import check_every_count

PROGRAM = """#include <mpi.h>
#include <assert.h>
static int mem[4], got;
int main(int argc, char **argv) {
  int me, n; MPI_Win w;
  MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &me); MPI_Comm_size(MPI_COMM_WORLD, &n);
  MPI_Win_create(mem, sizeof mem, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &w);
  %s
  MPI_Win_free(&w); MPI_Finalize(); return 0; }
"""
UNLOCK = "MPI_Win_unlock(0, w);"
LOCKED = "MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w); {} MPI_Win_unlock(0, w);"
AGAIN = LOCKED.format("\n    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w);")
SET = "if (me == 0) mem[0] = 1;"
READ = "MPI_Get(&got, 1, MPI_INT, 0, 0, 1, MPI_INT, w); MPI_Win_flush(0, w);"


def of(text: str, nodes: int = 2) -> Verdict:
    return check(parse_c(PROGRAM.replace("%s", text)), nodes=nodes)


def found(verdict: Verdict) -> list[tuple[str, int, int]]:
    return [(each.call.rule.code, each.rank, each.call.span.line) for each in verdict.illegal_calls]


def test_a_program_without_illegal_calls_has_none_in_it() -> None:
    verdict = of(LOCKED.format(""))
    assert (verdict.legal, verdict.illegal_calls, verdict.assertions) == ("yes", (), None)
    assert not parse_c(PROGRAM.replace("%s", LOCKED.format(""))).instantiate(2).illegal_calls


def test_the_core_language_has_no_calls() -> None:
    assert check(parse("nodes 2; memory x; process { mem[x] <- 1; assert(me == 0); }")).legal is None


def test_an_illegal_call_is_a_finding_with_its_rule_the_call_before_and_a_run() -> None:
    verdict = of(AGAIN)
    assert (verdict.verdict, verdict.legal, verdict.assertions) == ("robust", "no", None)
    (call,) = verdict.illegal_calls
    assert (call.call.rule, call.call.sentence) == (rules.LOCK_TWICE, "MPI_Win_lock of rank 0, which is locked already")
    assert call.call.opened is not None and (call.call.opened.name, call.call.opened.span.line) == ("MPI_Win_lock", 8)
    assert call.run is not None and call.run.shows == "illegal call"
    last = call.run.run.events[-1]
    assert (last.event.rank, last.event.kind, last.span.line, last.holds) == (call.rank, "assert", 9, None)


def test_all_are_found_each_once_for_all_ranks_and_iterations() -> None:
    text = f"""for (int k = 0; k < 3; k++) {{ {UNLOCK} }}
      {UNLOCK} MPI_Win_unlock(1, w);
      {AGAIN} if (me == 1)
      {UNLOCK}"""
    verdict = of(text)
    expected = [("mpi-unlock-unlocked", line) for line in (8, 9, 9)]
    assert [(rule, line) for rule, _, line in found(verdict)] == [
        *expected, ("mpi-lock-twice", 11), ("mpi-unlock-unlocked", 12),
    ]  # fmt: skip
    assert found(verdict)[-1][1] == 1  # the rank that comes to it


@pytest.mark.parametrize(
    "text",
    [
        f"if (n == 3) {UNLOCK}",  # known
        f"{SET} {LOCKED.format(READ)} if (got == 5) {UNLOCK}",  # only a run could tell
        f"while (1) {{ }} {UNLOCK}",
    ],
)
def test_what_no_run_comes_to_is_no_finding(text: str) -> None:
    assert (of(text).legal, of(text).illegal_calls) == ("yes", ())


def test_what_some_run_comes_to_is_one() -> None:
    verdict = of(f"{SET} {LOCKED.format(READ)} if (got == 0) {UNLOCK}")
    assert found(verdict) == [("mpi-unlock-unlocked", 1, 8)]


def test_assertions_of_the_program_are_told_apart() -> None:
    verdict = of(f"{UNLOCK} assert(me == 0);")
    assert (verdict.assertions, verdict.legal, len(verdict.illegal_calls)) == ("violated", "no", 1)
    assert verdict.assertion_run is not None and verdict.assertion_run.run.events[-1].holds is False
    assert of(f"{UNLOCK} {SET} {LOCKED.format(READ)} assert(got < 2);").assertions == "hold"
    assert of(f"{SET} {LOCKED.format(READ)} assert(got);").legal == "yes"


def test_when_not_all_runs_were_looked_at_it_is_not_known() -> None:
    text = PROGRAM.replace("%s", f"{SET} {LOCKED.format(READ) * 2} if (got == 5) {UNLOCK}")
    limits = Limits(max_states=100, max_sc_states=100)
    assert check(parse_c(text), nodes=5, limits=limits).legal == "unknown"
    assert check(parse_c(text), nodes=5).legal == "yes"
    without = PROGRAM.replace("%s", f"{SET} {LOCKED.format(READ) * 2}")
    assert check(parse_c(without), nodes=5, limits=limits).legal == "yes"  # there is no such call in it


def instances() -> list[Instance]:
    texts = [
        AGAIN,
        f"{UNLOCK} {LOCKED.format(READ)} if (got) {UNLOCK} {SET} {LOCKED.format(READ)} if (got) {{ {AGAIN} }}",
        f"if (me) {{ {UNLOCK} }} else {{ MPI_Win_unlock(1, w); }} assert(me);",
        f"{LOCKED.format(READ)} mem[0] = 1; assert(!got);",
    ]
    return [parse_c(PROGRAM.replace("%s", text)).instantiate(nodes) for text in texts for nodes in (2, 3)]


def explored(search: Facts | Stepwise) -> Facts:
    for _ in search.explore() if isinstance(search, SequentialFacts | NativeFacts) else search.run():  # type: ignore[union-attr]
        pass
    return search if isinstance(search, SequentialFacts | NativeFacts) else search.facts  # type: ignore[return-value,union-attr]


@pytest.mark.skipif(not twins.available(), reason="needs the kernel")
def test_every_search_of_sc_runs_finds_the_same() -> None:
    seen: Counter[str] = Counter()
    for program in instances():
        reference = explored(SequentialFacts(program))
        assert explored(NativeFacts(program)).failed == reference.failed
        searches = (
            NativeFacts(program, REDUCTIONS),
            NativeSearch(program),
            NativeSearch(program, ()),
            NativeTraceSearch(program),
            TraceSearch(program),
        )
        for search in searches:
            facts = explored(search)
            assert facts.failed.keys() == reference.failed.keys()
        seen.update(claim.rule.code if claim else "assertion" for claim in reference.failed)
    assert seen == {"mpi-lock-twice": 4, "mpi-unlock-unlocked": 8, "assertion": 4}, seen


def test_several_that_fail_in_one_state_are_all_found() -> None:
    """Both ranks stand before their illegal call in the first state; a reduced search lets one of them go first."""
    program = instances()[4]
    assert {claim.span.column for claim in explored(NativeFacts(program, REDUCTIONS)).failed if claim} == {
        claim.span.column for claim in program.illegal_calls
    }


def test_no_outcome_has_one() -> None:
    program = instances()[0]
    assert [outcome.failed for outcome in outcomes(program).outcomes] == [()]


def test_printed_it_is_an_assert_and_a_comment_says_what_it_stands_for() -> None:
    lowered = parse_c(PROGRAM.replace("%s", UNLOCK)).program(2)
    text = to_source(lowered)
    assert "// An assert stands for a call that is not allowed: MPI_Win_unlock of rank 0, which is not locked" in text
    assert "assert(0);" in text
    again = check(parse(text), nodes=2)
    assert (again.verdict, again.assertions, again.legal) == ("robust", "violated", None)


def test_every_number_of_nodes() -> None:
    legal = check_every_count(parse_c(PROGRAM.replace("%s", LOCKED.format(READ))))
    assert (legal.verdict, legal.legal) == ("robust", "yes")
    dead = check_every_count(parse_c(PROGRAM.replace("%s", f"{LOCKED.format(READ)} if (me < 0) {UNLOCK}")))
    assert (dead.verdict, dead.legal) == ("robust", "yes")
    illegal = check_every_count(parse_c(PROGRAM.replace("%s", f"{UNLOCK} {LOCKED.format(READ)}")))
    assert (illegal.verdict, illegal.legal) == ("robust", "no") and found(illegal) == [("mpi-unlock-unlocked", 0, 8)]
    later = check_every_count(parse_c(PROGRAM.replace("%s", f"{LOCKED.format(READ)} if (me == 6) {UNLOCK}")))
    assert later.legal != "yes"


def test_findings_are_equal_by_rule_and_place() -> None:
    (one,), (other,) = (of(AGAIN, nodes).illegal_calls for nodes in (2, 3))
    assert one.call == other.call and one.call.span != Span(0, 0, 0, 0)
    assert str(one.call) == "MPI_Win_lock of rank 0, which is locked already (MPI-4.1, 12.5.3)"
