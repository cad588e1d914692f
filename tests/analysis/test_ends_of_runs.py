"""Which programs come to their ends in every SC run, by their text."""

from __future__ import annotations

from collections import Counter

import pytest

from pgasrob.analysis import ends_of_runs as module
from pgasrob.analysis.ends_of_runs import every_run_ends
from pgasrob.program.instance import Instance
from pgasrob.program.parser import parse
from pgasrob.program.reading import READINGS
from pgasrob.twins import search_of_sc_runs
from tests.analysis.drawn_rounds import drawn_rounds
from tests.support import examples

HEAD = "nodes 3; memory x, y, z; register t, s, i; queue q; process { $ }"
TASKS = "t <- fetch(0, x); while (t < 8) { s <- compare_swap(0, x, t, t + 1); $ t <- fetch(0, x); } "


def ends(text: str) -> bool:
    return every_run_ends(parse(HEAD.replace("$", text)).instantiate())


@pytest.mark.parametrize(
    "text",
    [
        "write(z, 0, y, q); wait(q); barrier; s <- mem[y];",
        "while (i < 5) { s <- fetch_add(0, y, 1); i <- i + 1; } barrier;",
        "if (me == 0) { barrier; s <- mem[y]; } else { barrier; }",
        TASKS.replace("$", "if (s == t) { write(z, 0, y, q); wait(q); }") + "barrier;",
        "t <- fetch_add(0, x, 1); while (t < 8) { mem[z] <- t; t <- fetch_add(0, x, 1); } barrier;",
        "t <- fetch(0, x); while (t <= 8) { s <- compare_swap(0, x, t, t + 2); t <- s; }",
        "t <- fetch(0, x); while (8 > t) { t <- compare_swap(0, x, t, t + 1); }",
    ],
)
def test_these_end(text: str) -> None:
    assert ends(text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("await(mem[y] == 0);", "waits"),
        ("assume(y == 0);", "waits"),
        ("t <- mem[y]; while (!t) { t <- mem[y]; }", "polls"),
        ("if (me == 0) { barrier; }", "not all pass it"),
        ("s <- mem[y]; if (s) { barrier; }", "not on each way"),
        ("while (i < 2) { barrier; i <- i + 1; }", "in a loop"),
        (TASKS.replace("$", "mem[x] <- 0;"), "is set back"),
        (TASKS.replace("$", "write(z, 0, x, q);"), "is set back"),
        (TASKS.replace("$", "") + "while (i < 5) { s <- fetch_add(0, x, 1); i <- i + 1; }", "grows in another loop"),
        (TASKS.replace("$", "").replace("t < 8", "t != 8"), "no bound"),
        (TASKS.replace("$", "").replace("t <- fetch(0, x); }", "}"), "t stays"),
        (TASKS.replace("$", "").replace("t <- fetch(0, x); }", "t <- fetch(0, y); }"), "t is of another cell"),
        (TASKS.replace("$", "").replace("t + 1", "t"), "does not count"),
        ("t <- fetch_add(0, x, 1); while (t < 8) { t <- fetch_add(0, x, -1); }", "counts down"),
        (
            "t <- fetch_add(0, x, 1); while (t < 8) { if (t == 9) { t <- fetch_add(0, x, 1); } }",
            "not on each way round",
        ),
    ],
)
def test_of_these_it_is_not_known(text: str, why: str) -> None:
    assert not ends(text), why


def deadlock(program: Instance) -> bool | None:
    """Whether some SC run has one; None when that is not known, or a fault may end runs."""
    facts = search_of_sc_runs(program, (), None)
    for _ in facts.explore(5_000):
        pass
    return None if facts.fault or not (facts.complete or facts.deadlock) else facts.deadlock is not None


def drawn(seed: int) -> Instance:
    return parse(drawn_rounds(seed)).instantiate(None, READINGS[seed % len(READINGS)])


def test_what_ends_has_no_deadlock() -> None:
    """20,000 programs when nightly."""
    seen, count = Counter[str](), examples(400, 20_000)
    for program in map(drawn, range(count)):
        if every_run_ends(program):
            assert deadlock(program) is False
            seen["ends"] += 1
            seen["loops"] += any(map(any, program.endless))
    assert seen["ends"] > count / 6 and seen["loops"] > count / 40


@pytest.mark.parametrize(
    ("where", "name", "left_out", "seed"),
    [
        (module, "_never_waits", lambda _: True, 84),
        (module, "_barriers", lambda _: (), 14),
        (module._Loops, "_only_grows", lambda *_: True, 2824),
        (module._Numbers, "_gets", lambda *_: True, 116),
        (module._Numbers, "_tries", lambda *_: True, 31),
    ],
)
def test_each_condition_is_needed(
    where: object, name: str, left_out: object, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert deadlock(drawn(seed)) and not every_run_ends(drawn(seed))
    monkeypatch.setattr(where, name, left_out)
    assert every_run_ends(drawn(seed))
