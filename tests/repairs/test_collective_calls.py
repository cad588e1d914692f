"""Barriers that all ranks reach in the same branches and rounds, and others."""

from __future__ import annotations

import pytest

from pgasrob.frontends.lower import parse_c
from pgasrob.program.parser import parse
from pgasrob.program.statements import Span
from pgasrob.repairs import Costs, repair
from pgasrob.repairs.collective_calls import NEW, Answer, reached_alike
from pgasrob.repairs.edits import Edit
from pgasrob.repairs.verifier import Verifier
from pgasrob.robustness.limits import Limits

CHEAP_BARRIERS = Costs(50, 50, 50, barrier=1)


def answer(body: str, nodes: int = 2, declared: str = "memory x, f; register r, s;") -> Answer:
    """For a program with the barrier `barrier; // new`, and marks `barrier; // 1` and so on."""
    text = f"{declared}\n{body}\n"
    lines = text.splitlines()

    def mark(span: Span) -> int | None:
        comment = lines[span.line - 1].partition("// ")[2]
        return {"new": NEW, "": None}[comment] if comment in ("new", "") else int(comment)

    return reached_alike(parse(text).instantiate(nodes), mark)


ROUNDS = """process {{
  s <- 0;
  while (s < {rounds}) {{
    barrier; // 1
    if (s == {branch}) {{
      barrier; // new
    }}
    s <- s + 1;
  }}
  barrier; // 2
}}"""
BODIES: dict[str, tuple[str, Answer]] = {
    "the same branch and rounds": (ROUNDS.format(rounds=2, branch=1), "alike"),
    "in each its own round": (ROUNDS.format(rounds=2, branch="me"), "not alike"),
    "more rounds afterwards": (ROUNDS.format(rounds="2 + me", branch=1), "not alike"),
    "one rank alone": ("process {\nif (me == 0) {\nbarrier; // new\n}\n}", "not alike"),
    "one of two barriers": ("process {\nif (me == 0) {\nbarrier; // new\n} else {\nbarrier;\n}\n}", "not alike"),
    "the same choice by what is read": (
        "process 0 {\nmem[f] <- 1;\nbarrier;\nbarrier; // new\n}\nprocess {\nbarrier;\nr <- mem[f @ 0];\n"
        "if (r == 1) {\nbarrier; // new\n}\n}",
        "alike",
    ),
    "another choice on some run": (
        "process 0 {\nmem[f] <- 1;\nbarrier; // new\n}\nprocess {\nr <- mem[f @ 0];\n"
        "if (r == 1) {\nbarrier; // new\n}\n}",
        "not alike",
    ),
    "nobody comes": (
        "process 0 {\nbarrier; // new\n}\nprocess {\nr <- 1;\nwhile (r > 0) {\nmem[x] <- r;\nr <- 3 - r;\n}\n}",
        "not alike",
    ),
    "late, but sooner or later": (
        "process 0 {\nmem[f] <- 1;\nbarrier; // new\n}\nprocess {\nr <- 0; s <- 0;\n"
        "while (r == 0) {\nr <- mem[f @ 0];\ns <- 1 - s;\n}\nbarrier; // new\n}",
        "alike",
    ),
    "one has left": ("process 0 {\nr <- 1;\n}\nprocess {\nr <- 1;\nbarrier; // 1\n}", "not alike"),
    "one thread of each rank": (
        "process {\nif (me < 2) {\nbarrier; // new\n}\n}\nprocess 0 thread 1 {\nmem[f] <- 1;\n}",
        "alike",
    ),
    "a thread in its own round": (
        ROUNDS.format(rounds=2, branch="mem_f").replace("s <- 0;", "s <- 0; r <- mem[f];").replace("mem_f", "r")
        + "\nprocess 0 thread 1 {\nmem[f] <- 1;\n}",
        "not alike",
    ),
    "any thread": (
        "process {\nbarrier; // new\n}\nprocess 0 thread 1 {\nr <- mem[f];\nif (r == 1) {\nbarrier; // new\n}\n}",
        "unknown",
    ),
    "an exit ends all": ("process 0 {\nexit;\n}\nprocess {\nbarrier; // new\n}", "alike"),
}


@pytest.mark.parametrize("name", BODIES)
def test_whether_all_ranks_reach_it_alike(name: str) -> None:
    body, expected = BODIES[name]
    assert answer(body) == expected


def test_too_many_states_to_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pgasrob.repairs.collective_calls.MOST_STATES", 3)
    assert answer(ROUNDS.format(rounds=2, branch=1)) == "unknown"


TURNS = """memory x = 1, y, f;
register r, s;
queue q unordered;
process {
  s <- 0;
  while (s < 2) {
    if (s == TURN) {
      if (me == 1) { r <- mem[f]; r <- mem[y]; r <- 0; }
      if (me == 0) { write(x, 1, y, q); write(x, 1, f, q); }
    }
    s <- s + 1;
  }
}
"""


def test_no_barrier_where_each_rank_has_its_own_round() -> None:
    """The ranks would meet in line 9, one in the first round and one in the second: on three nodes one would wait."""
    alike, apart = (repair(parse(TURNS.replace("TURN", turn)), parse, (2,), CHEAP_BARRIERS) for turn in ("1", "me"))
    assert [[each.kind for each in answer.candidates] for answer in alike.answers] == [["barrier"]]
    assert alike.answers[0].candidates[0].line == 9
    assert {each.kind for answer in apart.answers for each in answer.candidates} == {"order", "completion"}
    assert "not all ranks reach it in the same branches and rounds" in {each.why for each in apart.rejected}


STUCK = """memory x = 1, y, f, g;
register r;
queue q unordered;
process {
  if (me == 0) { write(x, 1, y, q); write(x, 1, f, q); }
  if (me == 1) {
    r <- mem[f];
    r <- mem[y];
    await(mem[g] == 1);
  }
}
"""
FENCED = Edit(STUCK.index(" write(x, 1, f"), STUCK.index(" write(x, 1, f"), 0, " fence(q);")


def test_no_barrier_that_one_rank_alone_reaches_in_a_program_that_ends_in_a_deadlock() -> None:
    """Rank 0 would wait in it for good, and rank 1 does so in line 9 anyway."""
    found = repair(parse(STUCK), parse, (2,), CHEAP_BARRIERS, max_answers=9)
    assert found.state == "repaired" and found.verdicts[0].deadlock is True
    assert all({each.line for each in answer.candidates} <= {5, 6} for answer in found.answers)
    assert not any(each.kind == "barrier" for answer in found.answers for each in answer.candidates)
    assert "on 2 nodes SC runs end or read otherwise than before" in {each.why for each in found.rejected}


def test_ranks_that_never_end_stand_where_they_stood() -> None:
    """Memory, registers and what is read are the same where rank 1 waits in the inserted line, and in its own."""
    program = parse(STUCK)
    verifier = Verifier(program, parse, (2,), Limits(), 9)
    for line, inserted, why in (
        ("    await", "    await(mem[g] == 2);\n", "on 2 nodes SC runs end or read otherwise than before"),
        ("    await", "    await(mem[g] == 0);\n", ""),
        ("  if (me == 0)", "  barrier;\n", ""),
    ):
        place = STUCK.index(line)
        tried = verifier.tried([Edit(place, place, 0, inserted), FENCED], acts_in_sc=True)
        assert (tried.violation, tried.why) == (None, why)


IN_C = """#include <shmem.h>
static long y, f;
static void turn(int me) {
    if (me == 1) { long r = f; r = y; }
    if (me == 0) { shmem_long_p(&y, 1, 1); shmem_long_p(&f, 1, 1); }
}
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    for (int i = 0; i < 2; i++)
        if (i == me) turn(me);
    shmem_finalize();
    return 0;
}
"""


def test_ways_to_a_barrier_in_a_function_of_c() -> None:
    """The loop is written out and the conditions are known: only the marks say in which round a rank is."""
    found = repair(parse_c(IN_C, "p.c"), lambda changed: parse_c(changed, "p.c"), (2,), CHEAP_BARRIERS)
    assert found.state == "repaired"
    assert not any(each.kind == "barrier" for answer in found.answers for each in answer.candidates)
    refused = [each for each in found.rejected if "not all ranks reach it" in each.why]
    assert {each.line for tried in refused for each in tried.candidates} == {6, 11}


ORDERED = STUCK.replace("    await(mem[g] == 1);\n", "")


def test_what_a_barrier_orders_is_no_reason_for_others() -> None:
    """With a barrier in line 8 the second write is late, too; a fence alone, the cheapest, leaves no violation."""
    found = repair(parse(ORDERED), parse, (2,), Costs(20, 20, 20, barrier=1))
    assert sorted(each.text for answer in found.answers for each in answer.candidates) == ["fence(q);", "wait(q);"]
