"""Why accesses of robust programs are in order: what is said, that it is so, and that nothing is said unchecked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

import pgasrob.robustness.why as asking
from pgasrob.api import check
from pgasrob.program.parser import parse
from pgasrob.program.program import Program
from pgasrob.render.why_text import why_to_json
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.load import load
from pgasrob.robustness.question import Question
from pgasrob.robustness.suspects import Suspect
from pgasrob.robustness.why import Why, why
from pgasrob.semantics.happens_before import HappensBefore
from pgasrob.semantics.replay import replay
from tests.oracle.polls_and_updates import random_program
from tests.oracle.syntax import Program as Abstract
from tests.oracle.threads import random_threads
from tests.support import examples, translated

PROGRAMS = Path(__file__).parents[2] / "programs"


def asked(text: str, first: int, second: int, limits: Limits | None = None) -> Why:
    program = parse(text, "p.pgas")
    return why(Question(program, limits=limits or Limits()), check(program).verdict, (first, second))


def without(program: Program, *suspects: Suspect) -> Program:
    for suspect in suspects:
        program = suspect.taken(program)
    return program


ORDERED = {
    ("openshmem/lock.c", 14, 14): "The shmem_clear_lock in line 15 completes the shmem_int_p in line 14.",
    ("openshmem/message_passing_fence.c", 16, 18): "The shmem_fence in line 17 orders the shmem_long_put in line 16 "
    "before the shmem_int_p in line 18.",
    ("openshmem/source_reuse.c", 17, 16): "The shmem_int_put in line 16 has read its source when it returns.",
    ("openshmem/source_reuse.c", 16, 21): "The shmem_barrier_all in line 19 completes the shmem_int_put in line 16.",
    ("openshmem/put_signal.c", 17, 21): "The signal of the shmem_int_put_signal_nbi in line 17 comes after its data.",
    ("gaspi/gaspi_notify_same_queue.c", 35, 42): "The gaspi_notify in line 36 comes after the gaspi_write in line 35, "
    "as notifications and signals do.",
    ("mpi/accumulate_order.c", 18, 19): "The MPI_Accumulate in line 18 keeps its place among the rank's updates of one "
    "cell.",
    ("mpi/lock_exclusive.c", 18, 20): "The MPI_Win_flush in line 19 completes the MPI_Get in line 18.",
    ("gasnet/gasnet_put.c", 38, 40): "The gasnet_put in line 38 is complete when it returns.",
}


@pytest.mark.parametrize("asked_for", ORDERED, ids=lambda each: each[0])
def test_what_is_said_of_c(asked_for: tuple[str, int, int]) -> None:
    name, *lines = asked_for
    program = load(PROGRAMS / "c" / name)
    found = why(Question(program), "robust", (lines[0], lines[1]))
    told = why_to_json(found)
    assert told["answer"] == "ordered" and told["sentences"][0].startswith(ORDERED[asked_for])
    assert "Without that, in some run on the network " in told["sentences"][0]
    assert [len(each) for each in told["orders"]] == [1] * len(told["without"])


TWO = """memory a = 1, b = 1, c, d; queue q unordered; register r;
process 0 {
  write(a, 1, c, q);
  write(b, 1, d, q);
  wait(q);
  barrier;
}
process 1 {
  barrier;
  r <- mem[c];
  r <- mem[d];
}
"""


@pytest.mark.parametrize("lines", [(3, 10), (4, 11)])
def test_operations_that_are_late_as_well_are_held_in_place(lines: tuple[int, int]) -> None:
    """Only one of the two is shown at first."""
    found = asked(TWO, *lines)
    assert found.answer == "ordered"
    [told] = why_to_json(found)["without"]
    assert told.startswith(f"rank 1 reads {'cd'[lines[0] - 3]} in line {lines[1]} before the write of rank 0 in line")


def test_what_is_found_about_others_is_not_said_of_these(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "MOST_PINNED", 1)
    answers = {lines: asked(TWO, *lines).answer for lines in ((3, 10), (4, 11))}
    assert sorted(answers.values()) == ["ordered", "other"]


def test_two_of_which_one_would_do() -> None:
    found = asked(TWO.replace("  wait(q);\n", "  wait(q);\n  wait(q);\n"), 3, 11)
    assert found.answer == "several"
    [shown] = found.without
    assert len(shown.suspects) == 2 and {each.does for each in shown.suspects} == {"completes"}
    [told] = why_to_json(found)["sentences"]
    assert "the wait in line 6 completes the write in line 3" in told and "neither of them is needed" in told


def test_of_many_only_those_are_named_of_which_one_has_to_be_there() -> None:
    """Three waits for a write, of which one would do, a fence and a wait for another queue that do nothing for it."""
    waits = "  wait(q);\n  fence(q);\n  wait(q);\n  wait(p);\n  wait(q);\n"
    text = TWO.replace("queue q unordered;", "queue q unordered; queue p unordered;").replace("  wait(q);\n", waits)
    found = asked(text, 3, 14)
    assert found.answer == "several"
    [shown] = found.without
    program = parse(text, "p.pgas")
    assert {each.does for each in shown.suspects} == {"completes"}
    assert [each.span.line for each in shown.suspects] == [5, 7, 9]
    assert check(without(program, *shown.suspects)).verdict == "not robust"
    for each in shown.suspects:
        assert check(without(program, *(other for other in shown.suspects if other != each))).verdict == "robust"


def test_commands_are_named_as_in_the_program() -> None:
    """Without what a put promises it is a write, and without its notification a notify is an update."""
    put = "memory x = 1, y; queue q unordered;\nprocess 0 {\n  put(x, 1, y, q);\n  mem[x] <- 2;\n}\nprocess 1 { }"
    found = why_to_json(asked(put, 3, 4))
    assert found["sentences"] == [
        "The put in line 3 has read its source when it returns. Without that, in some run on the network rank 0 "
        "overwrites x in line 4 before its put in line 3 has read it."
    ]
    names = "memory x = 1, y, f; register r; queue q unordered;"
    notify = f"{names}\nprocess 0 {{\n  put(x, 1, y, q);\n  notify(add, 1, 1, f, q);"
    found = why_to_json(asked(f"{notify}\n}}\nprocess 1 {{\n  await(mem[f] == 1);\n  r <- mem[y];\n}}", 3, 8))
    [sentence] = found["sentences"]
    assert sentence.startswith("The notify in line 4 comes after the put in line 3, as notifications and signals do.")
    assert "the put of rank 0" in sentence and "the notify of rank 0" in sentence and "update" not in sentence


def test_the_order_of_a_queue() -> None:
    text = (
        "memory x, y; queue q; register r;\nprocess 0 {\n  write(x, 1, x, q);\n  write(y, 1, x, q);\n}\nprocess 1 { }"
    )
    found = asked(text, 3, 4)
    assert why_to_json(found)["sentences"][0].startswith(
        "Queue q, in which the write in line 3 is, keeps its operations in order. Without that, "
    )


@pytest.mark.parametrize(
    ("statements", "answer"),
    [
        ("mem[x] <- 1;\n  mem[y] <- 1;", "no cell"),
        ("r <- mem[x];\n  r <- mem[x];", "no conflict"),
        ("mem[x] <- 1;\n  r <- mem[x];", "not needed"),
        ("mem[x] <- 1;\n  r <- 1;", "no access"),
        ("write(x, 1 - me, y, 0);\n  r <- mem[y];", "not robust"),
    ],
)
def test_when_nothing_orders_them(statements: str, answer: str) -> None:
    found = asked(f"memory x, y; register r; process {{\n  {statements}\n  barrier;\n}}", 2, 3)
    assert found.answer == answer
    [told] = why_to_json(found)["sentences"]
    assert told and not found.without


def test_limits_hold_for_the_question() -> None:
    found = asked(TWO, 3, 10, Limits(timeout=1e-9))
    assert found.answer == "not known" and not found.checks
    assert "--timeout" in why_to_json(found)["sentences"][0]
    unsure = asked(TWO, 3, 10, Limits(max_states=1, max_sc_states=1))
    assert unsure.answer in ("ordered", "not known")
    assert unsure.answer == "ordered" or unsure.reason


def test_too_many_to_try_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "MOST_SINGLES", 1)
    found = asked(TWO.replace("  wait(q);\n", "  wait(q);\n  wait(q);\n"), 3, 11)
    assert found.answer == "not known" and found.reason == "of 4 commands between them 1 were tried"


THREADS = """memory one = 1, x, f, done, go; register r; queue q;
process 0 { await(mem[done] == 1); barrier; mem[go] <- 1; }
process 0 thread 1 {
  write(one, 1, x, q);
  mem[done] <- 1;
  await(mem[go] == 1);
  r <- mem[f];
}
process 1 {
  write(one, 0, f, q);
  wait(q);
  r <- mem[x];
  barrier;
}
"""


def test_a_barrier_that_another_thread_passes_for_them() -> None:
    found = why_to_json(asked(THREADS, 4, 12))
    [told] = found["sentences"]
    assert told.startswith("The barrier in line 2 comes between") and "the write of rank 0.1 in line 4" in told


def of_one_thread(seed: int) -> Abstract:
    return random_program(seed, hard=seed % 3 == 0)


def of_several(seed: int) -> Abstract:
    return random_threads(840 + seed)


@pytest.mark.parametrize(("made", "ordered"), [(of_one_thread, 100), (of_several, 5)])
def test_of_random_programs_all_that_is_said_is_so(made: Callable[[int], Abstract], ordered: int) -> None:
    """The runs are replayed without what is said to order the accesses, and the definition agrees that it does."""
    answers: Counter[str] = Counter()
    for seed in range(examples(125, 5_000)):
        program = translated(made(seed)).program
        verdict = check(program, effect=False).verdict
        if verdict != "robust":
            continue
        lines = sorted({edge.span.line for each in program.instantiate().automata for edge in each.transitions})
        first, second = lines[seed % len(lines)], lines[(seed // 7) % len(lines)]
        found = why(Question(program), verdict, (first, second))
        answers[found.answer] += 1
        for shown in found.without:
            less = without(program, *shown.suspects)
            run = replay(less.instantiate(), shown.run.computation)
            assert run.complete and HappensBefore(run.computation).cycle == shown.cycle
            late = run.events[shown.late.step].span.line
            assert late in (first, second)
            assert check(less, engine="definition", effect=False).verdict != "robust"
    assert answers["ordered"] >= examples(1, ordered), answers
