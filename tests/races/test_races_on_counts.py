"""What is said about races where every number of nodes is asked for, by programs worked out by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgasrob.batch.answer import about_robustness
from pgasrob.frontends.lower import parse_c
from pgasrob.races import races_on_counts
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.question import Question, RobustnessOnEveryCount
from pgasrob.robustness.reasons import ConsequencesLimit, CountLeft, RacesOnCounts, TimeLimit
from pgasrob.robustness.session import Session
from pgasrob.robustness.synchronisation import Line, synchronised
from pgasrob.robustness.verdict import LineName, RaceConsequences, Verdict
from pgasrob.robustness.watch import LimitReached
from tests.cli.commands import check as command
from tests.cli.commands import objects

PROGRAM = """#include <shmem.h>
static int x, y = 2;
int main(void) {
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
%s
    shmem_finalize();
    return 0;
}
"""
RACE = """    if (me == 0)
        shmem_int_p(&x, 1, n - 1);
    else if (me == n - 1)
        y = x;
"""
ORDERED = """    if (me == 0)
        shmem_int_p(&x, 1, n - 1);
    shmem_barrier_all();
    if (me == n - 1)
        y = x;
"""
OF_THREE = """    shmem_int_p(&y, 1, me);
    if (n == 3 && me > 0)
        shmem_int_p(&x, me, 0);
"""
HARMLESS = """    if (me > 0)
        shmem_int_p(&x, 1, 0);
"""
STEPS = "    shmem_int_p(&y, 1, me == 3 ? 3 : me);\n    shmem_barrier_all();\n"
FOR_THREE = "    if (n != 3)\n        return 1;\n"
LATE = """    if (me == 0) {
        shmem_int_put_nbi(&x, &y, 1, n - 1);
        y = 1;
    } else {
        y = x;
    }
"""
UNPROVED = RacesOnCounts.of((2, 3))


def decided(body: str, lines: tuple[LineName, ...] | None = None, limits: Limits | None = None) -> Verdict:
    asked = RobustnessOnEveryCount(lines)
    question = Question(parse_c(PROGRAM % body, "some.c"), None, asked, limits=limits or Limits())
    return about_robustness(Session(question), asked)


@pytest.mark.parametrize(
    ("body", "answer", "on"),
    [
        (RACE, "matters", 2),
        (OF_THREE, "matters", 3),
        (ORDERED, "none", None),
        (HARMLESS, "unknown", None),
        (FOR_THREE + RACE, "matters", 3),
        (FOR_THREE + ORDERED, "none", None),
        (FOR_THREE + HARMLESS, "harmless", None),
        (LATE, "matters", 2),
    ],
)
def test_answers(body: str, answer: str, on: int | None) -> None:
    """A race that matters on one number of nodes is one of the program; that there is none is known where the program
    is for a few numbers alone."""
    races = decided(body).races
    assert races is not None and races.answer == answer
    assert [race.race.run.instance.nodes for race in races.matters] == [on] * bool(on)
    assert races.reason == (UNPROVED if answer == "unknown" else None)


def test_what_counts() -> None:
    """Of C races are a fact, which counts where it is bad; asked for by name it counts where it is open, too."""
    fact, named = synchronised(decided(HARMLESS)), synchronised(decided(HARMLESS, ("robust", "races")))
    assert fact is not None and (fact.answer, fact.whole) == ("yes", False)
    assert fact.lines[-1] == Line("races", "unknown", asked=False)
    assert named is not None and named.answer == "unknown" and named.lines[-1] == Line("races", "unknown")
    known = synchronised(decided(ORDERED, ("robust", "races")))
    assert known is not None and known.answer == "yes" and known.lines[-1] == Line("races", "yes")
    bad = synchronised(decided(RACE))
    assert bad is not None and bad.answer == "no" and bad.lines[-1] == Line("races", "no", asked=False, found=1)
    assert decided(ORDERED, ("robust",)).races is None


def test_all_below_the_cutoff_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a proof is about the others; else a few."""
    asked: list[int | None] = []

    def answer(session: Session, known: Verdict) -> RaceConsequences:
        asked.append(session.question.nodes)
        return RaceConsequences("none")

    monkeypatch.setattr(races_on_counts, "race_consequences", answer)
    for body, counts in ((STEPS + ORDERED, range(2, 10)), (STEPS + HARMLESS, range(2, 5))):
        asked.clear()
        found = decided(body)
        assert found.every is not None and [each.nodes for each in found.every.checked] == [*range(2, 10)]
        assert asked == [*counts]


def test_a_limit_of_time_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_late(session: Session, known: Verdict) -> RaceConsequences:
        raise LimitReached(TimeLimit(1.0))

    monkeypatch.setattr(races_on_counts, "race_consequences", too_late)
    races = decided(ORDERED).races
    assert races is not None and (races.answer, races.reason) == ("unknown", TimeLimit(1.0))


def test_a_count_that_is_left_open(monkeypatch: pytest.MonkeyPatch) -> None:
    found = decided(HARMLESS).races
    monkeypatch.setattr("pgasrob.races.consequences.MOST_STATES", 5)
    left = decided(HARMLESS).races
    assert found is not None and found.reason == UNPROVED
    assert left is not None and left.reason == CountLeft(3, ConsequencesLimit(5))


def test_the_last_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(races_on_counts, "LAST_COUNT", 2)
    races = decided(HARMLESS).races
    assert races is not None and races.reason == RacesOnCounts.of((2,))
    assert str(races.reason).endswith(": on 2 none does, and -n asks about others")
    assert str(RacesOnCounts.of(())).endswith("; -n 2..4 asks about some")


def test_output(tmp_path: Path) -> None:
    """Each output says that races are open, or on how many nodes one matters."""
    racing, ordered, proved = (tmp_path / f"{name}.c" for name in ("racing", "ordered", "proved"))
    racing.write_text(PROGRAM % OF_THREE)
    ordered.write_text(PROGRAM % HARMLESS)
    proved.write_text(PROGRAM % ORDERED)
    found = command(str(racing), "-n", "all")
    assert found.exit_code == 1
    assert "robust on every number of nodes, but 1 race changes the result on 3 nodes" in " ".join(found.output.split())
    for form in (("--brief",), ("--format", "gcc"), ("--only", "races")):
        assert "on 3 nodes" in " ".join(command(str(racing), "-n", "all", *form).output.split())
    said = "t is not proved for every number of nodes that no race changes the result: on 2..3 none does"
    for form in ((), ("--brief",), ("--format", "gcc"), ("--format", "github"), ("--format", "json")):
        found = command(str(ordered), "-n", "all", *form)
        assert found.exit_code == 0 and said in " ".join(found.output.split()), form
        assert "orrectly synchronised" not in found.output
    said = "On every number of nodes no race changes the result."
    assert said in " ".join(command(str(proved), "-n", "all").output.split())
    (result,) = objects(command(str(ordered), "-n", "all", "--format", "json"))
    assert result["consequences"]["reason_code"] == "races-on-counts"
    assert command(str(ordered), "-n", "all", "--only", "robust,races").exit_code == 3
