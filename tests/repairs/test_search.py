"""Repairs against brute force over the same catalogue, and what they promise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pgasrob.api import check
from pgasrob.frontends.lower import parse_c
from pgasrob.program.parser import parse
from pgasrob.program.program import Program
from pgasrob.repairs import Answer, Costs, Repair, repair
from pgasrob.repairs.edits import Edit, applied
from pgasrob.repairs.search import MOST_CHECKS
from pgasrob.repairs.source_statements import Statements
from pgasrob.repairs.verifier import Tried, Verifier
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.load import load
from pgasrob.stop_points import stop_point
from tests.oracle.polls_and_updates import random_program
from tests.oracle.syntax import Program as Abstract
from tests.oracle.threads import random_threads
from tests.repairs.brute_force import catalogue, sets
from tests.support import examples, translated

PROGRAMS = Path(__file__).parents[2] / "programs"


def repaired(path: Path, **options: int) -> Repair:
    program = load(path)
    parser = partial(parse_c if path.suffix == ".c" else parse, file=str(path))
    return repair(program, parser, (program.nodes or 2,), **options)  # type: ignore[arg-type]


def told(answer: Answer) -> list[tuple[int, str]]:
    return [(each.line, each.text) for each in answer.candidates]


def waits_everywhere(program: Program) -> str:
    """The text in which nothing is late: behind every command there is a wait for each queue."""
    statements = Statements.of(program)
    waits = " ".join(f"wait({queue.name});" for queue in program.queues)
    edits = [edit for each in statements.all() if not each.head for edit in statements.after(each, waits)]
    return applied(program.source.text, edits)


def of_one_thread(seed: int) -> Abstract:
    return random_program(9_000_000 + seed, hard=seed % 3 == 0)


@pytest.mark.parametrize("made", [of_one_thread, random_threads])
def test_nothing_cheaper_than_what_brute_force_finds(made: Callable[[int], Abstract]) -> None:
    """And where nothing is found, waits everywhere do not help.

    Texts that poll are left out: a fence within a loop, which does nothing, may make a read of it a failed poll.
    """
    counts: Counter[str] = Counter()
    for seed in range(examples(30, 3_000)):
        program = translated(made(seed)).program
        if not program.queues:
            continue
        found = repair(program, parse, (program.nodes or 2,), max_answers=2)
        counts[found.state] += 1
        if found.state == "not repaired":
            assert check(parse(waits_everywhere(program)), engine="attack").verdict == "not robust", seed
        if found.state != "repaired":
            continue
        cost = found.answers[0].cost
        counts[f"{min(len(found.answers[0].candidates), 3)} candidates"] += 1
        for answer in found.answers:
            assert answer.cost == cost == sum(each.cost for each in answer.candidates)
            assert check(parse(answer.text), engine="attack").verdict == "robust", seed
        tried = 0
        for several in sets(catalogue(program), cost, examples(60, 2_000)):
            tried += 1
            text = applied(program.source.text, [edit for each in several for edit in each.edits])
            verdict = check(parse(text), engine="attack")
            assert verdict.verdict == "not robust" or verdict.polls, (seed, text)
        counts["compared"] += tried > 0
    assert counts["repaired"] >= examples(2, 500) and counts["compared"] >= examples(1, 150), counts
    assert counts["2 candidates"] >= (examples(1, 80) if made is of_one_thread else examples(0, 20)), counts


def test_what_is_learned_of_grown_sets_changes_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    counts: Counter[str] = Counter()
    for seed in range(examples(15, 3_000)):
        program = translated(random_program(9_500_000 + seed, hard=seed % 3 == 0)).program
        found = {}
        for every in (1, MOST_CHECKS):
            monkeypatch.setattr("pgasrob.repairs.search.GROW_EVERY", every)
            found[every] = repair(program, parse, (program.nodes or 2,), max_answers=1)
        grown, alone = found.values()
        assert grown.state == alone.state, seed
        if grown.state == "repaired":
            assert grown.answers[0].cost == alone.answers[0].cost, seed
        counts[grown.state] += 1
        counts["grown"] += grown.checks != alone.checks
    assert counts["repaired"] >= examples(2, 500) and counts["grown"] >= examples(1, 150), counts


ELSEWHERE = """memory x = 1, y; register r; queue q, p;
process {
  write(x, (me + 1) % nodes, y, q);
  wait(p);
  barrier;
  r <- mem[y];
}
"""


def test_a_wait_for_another_queue_is_made_one_for_that_of_the_operation() -> None:
    found = repair(parse(ELSEWHERE), parse, (2,))
    assert told(found.answers[0]) == [(4, "wait(q)")] and not found.answers[0].candidates[0].inserted
    assert ELSEWHERE.replace("wait(p)", "wait(q)") == found.answers[0].text
    assert [told(each) for each in found.answers[1:]] == [[(5, "wait(q);")], [(4, "wait(q);")]]


def test_a_wait_is_not_moved_before_what_it_may_be_for() -> None:
    late = ELSEWHERE.replace("  wait(p);\n", "").replace("barrier;", "barrier;\n  wait(q);")
    [moved, inserted] = repair(parse(late), parse, (2,)).answers
    assert [each.candidates[0].takes for each in (moved, inserted)] == [True, False]
    for between in ("read(x, me, x, q)", "r <- 2"):
        found = repair(parse(late.replace("barrier;", f"barrier;\n  {between};")), parse, (2,))
        assert any(each.candidates[0].takes for each in found.answers) == (between == "r <- 2")


TWO_EXCHANGES = """memory item, slot[2], count, other[2], count2;
register r, s, t, u;
queue q unordered;
process {
  write(item, 0, slot + me, q); write(item, 1, slot + me, q);
  r <- fetch_add(0, count, 1); r <- fetch_add(1, count, 1);
  wait(q);
  await(mem[count] == nodes);
  r <- mem[slot]; s <- mem[slot + 1];
  write(item, 0, other + me, q); write(item, 1, other + me, q);
  t <- fetch_add(0, count2, 1); t <- fetch_add(1, count2, 1);
  wait(q);
  await(mem[count2] == nodes);
  t <- mem[other]; u <- mem[other + 1];
}
"""


def test_a_repair_has_one_barrier_at_most() -> None:
    """Each of two exchanges could do with one; so the other gets a wait, however much that costs."""
    found = repair(parse(TWO_EXCHANGES), parse, (2,), Costs(completion=60, barrier=2), max_answers=1)
    assert sorted(each.kind for each in found.answers[0].candidates) == ["barrier", "completion"]


TWO_QUEUES = """memory a = 1, b, c;
queue q0, q1;
process 0 {
  FIRST
  SECOND
}
process 1 { skip; }
"""


def test_one_queue_for_two_operations_with_different_targets() -> None:
    """A FIFO queue keeps the order of the reads of sources, and of gets, wherever the operations go."""
    for first, second in (
        ("write(c, 1, b, q0);", "write(b, 0, c, q1);"),  # the source is written again
        ("read(b, 1, a, q0);", "write(c, 0, b, q1);"),  # where the get is to go, another goes first
    ):
        text = TWO_QUEUES.replace("FIRST", first).replace("SECOND", second)
        found = repair(parse(text), parse, (2,))
        moved = [(5, second.replace("q1", "q0")[:-1]), (4, first.replace("q0", "q1")[:-1])]
        assert [told(each) for each in found.answers] == [[each] for each in moved]
        assert found.answers[0].cost == 1


THIRD_QUEUE = """memory x = 1, y, z, w;
queue q unordered, p unordered, f;
process 0 {
  write(x, 1, z, q);
  read(x, 1, y, p);
  write(w, 1, w, f);
}
process 1 { skip; }
"""


def test_two_operations_in_a_third_queue() -> None:
    """Each of the two alone changes nothing there, and neither of their own queues keeps an order."""
    costs = Costs(order=1, local_completion=9, completion=9)
    found = repair(parse(THIRD_QUEUE), parse, (2,), costs)
    assert found.answers[0].cost == 2
    assert [(4, "write(x, 1, z, f)"), (5, "read(x, 1, y, f)")] in map(told, found.answers)


NESTED = """memory x = 1, y;
register r, s;
queue q;
process 0 {
  r <- 0;
  while (r < 2) {
    s <- 0;
    while (s < 2) {
      write(y, 1, x, q);
      s <- s + 1;
    }
    // here
  }
}
process 1 { r <- mem[x]; }
"""


def test_a_place_behind_an_inner_loop() -> None:
    """It is in one loop less than what is within."""
    text = NESTED.replace("    // here\n", "    mem[y] <- 1;\n    r <- r + 1;\n")
    behind = repair(parse(text), parse, (2,)).answers[0]
    assert (behind.cost, told(behind)) == (6, [(12, "wait_local(q);")])


class Broken(Exception):
    pass


@pytest.fixture
def breaks(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Has the check of a changed text raise an exception where the text has some words in it."""
    tried = Verifier._tried

    def break_at(words: str) -> None:
        def wrong(self: Verifier, edits: Collection[Edit], *others: Any) -> Tried:
            if words in applied(self.statements.text, edits):
                raise Broken("something is wrong")
            return tried(self, edits, *others)

        monkeypatch.setattr(Verifier, "_tried", wrong)

    return break_at


def test_an_internal_error_is_the_result_of_one_candidate(breaks: Callable[[str], None]) -> None:
    path = PROGRAMS / "store_buffering/store_buffering.pgas"
    whole = repaired(path)
    assert whole.answers
    breaks(f"{whole.answers[0].candidates[0].text}\n")
    found = repaired(path)
    assert found.state == "unknown" and found.reason == "no change is known to repair it"
    (crashed, *_) = [each for each in found.rejected if each.crashed]
    assert crashed.undecided and crashed.why == "not tried: internal error: Broken: something is wrong"


def test_the_limit_that_was_given_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """And not what was left of it when the change was tried."""

    def endless(*_: object) -> Tried:
        while True:
            stop_point()

    monkeypatch.setattr(Verifier, "_tried", endless)
    program = load(PROGRAMS / "store_buffering/store_buffering_wait.pgas")
    assert isinstance(program, Program)
    tried = Verifier(program, parse, (2,), Limits(timeout=2), 10).tried((), False)
    assert tried.undecided and tried.why == "the time limit of 2 s was reached while trying a change"
