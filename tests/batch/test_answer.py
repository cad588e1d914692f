"""Each kind of question is answered by what decides it."""

from __future__ import annotations

import pytest

from pgasrob.batch.answer import about_robustness
from pgasrob.frontends.lower import CProgram, parse_c
from pgasrob.program.assumptions import Kind
from pgasrob.program.parser import parse
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.question import (
    AboutRobustness,
    Question,
    Races,
    Robustness,
    RobustnessOnEveryCount,
    RobustnessOnTso,
    Synchronisation,
)
from pgasrob.robustness.session import Session
from pgasrob.robustness.synchronisation import as_expected_in_headers, synchronised
from pgasrob.robustness.verdict import LineName
from pgasrob.stop_points import stop_point

# Robust on a network, and where processors have store buffers not.
BUFFERED = parse("memory x, y; register r; nodes 1; process { mem[x] <- 1; r <- mem[y]; }")


@pytest.mark.parametrize(
    ("asked", "nodes", "on_tso", "every"),
    [
        (Robustness(), 1, False, False),
        (RobustnessOnTso(), 1, True, False),
        (RobustnessOnEveryCount(), None, False, True),
    ],
)
def test_who_is_asked(asked: AboutRobustness, nodes: int | None, on_tso: bool, every: bool) -> None:
    """Whatever the session was made for."""
    verdict = about_robustness(Session(Question(BUFFERED, asked=Races())), asked)
    assert (verdict.verdict, verdict.nodes) == ("robust", nodes)
    assert (verdict.on_tso is not None, verdict.every is not None) == (on_tso, every)


STORE_BUFFERS = """#include <shmem.h>
static int x, y, s, t;
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    if (me == 0) {
        x = 1;
        s = %s;
    } else {
        shmem_int_p(&y, 1, 0);
        shmem_quiet();
        t = shmem_int_g(&x, 0);
    }
    shmem_finalize();
    return 0;
}
"""


@pytest.mark.parametrize(
    ("loaded", "lines", "expected"),
    [
        ("y", None, "no (not robust, race)"),
        ("2", None, "no (race)"),
        ("y", ("robust",), "no (not robust)"),
        ("2", ("robust", "legal"), "yes"),
    ],
)
def test_races_with_store_buffers(loaded: str, lines: tuple[LineName, ...] | None, expected: str) -> None:
    """All lines are asked of C, and races of the SC runs, which know of no store buffers: they are found as without."""
    program = parse_c(STORE_BUFFERS % loaded, "some.c")
    with_buffers, without = (
        about_robustness(Session(Question(program, 2, asked)), asked)
        for asked in (RobustnessOnTso(lines), Synchronisation(lines))
    )
    found = synchronised(with_buffers)
    assert found is not None and as_expected_in_headers(found) == expected and found.whole == (lines is None)
    assert without.verdict == "robust" and with_buffers.on_tso is not None
    assert (with_buffers.races is None) == (without.races is None)
    if with_buffers.races is not None and without.races is not None:
        assert with_buffers.races.stats.states == without.races.stats.states
        assert [each.race.lines for each in with_buffers.races.matters] == [
            each.race.lines for each in without.races.matters
        ]


def test_the_limit_holds_while_it_is_lowered_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """To see whether it has windows in shared memory: on each number of nodes for which that is asked."""

    def rests_on(program: CProgram, kind: Kind, nodes: int) -> bool:
        while True:
            stop_point()

    monkeypatch.setattr(CProgram, "rests_on", rests_on)
    asked = Synchronisation(("legal",))
    question = Question(parse_c(STORE_BUFFERS % "2", "some.c"), 2, asked, limits=Limits(timeout=1.0))
    verdict = about_robustness(Session(question), asked)
    assert (verdict.verdict, verdict.legal) == ("robust", "unknown")
    assert verdict.reason is not None and "the time limit of 1 s was reached" in str(verdict.reason)
