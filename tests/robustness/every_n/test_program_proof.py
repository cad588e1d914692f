"""A check on one number of nodes that has become long rests on a proof for every number, if there is one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pgasrob.api import check
from pgasrob.frontends.lower import parse_c
from pgasrob.program.assumptions import Assumption, Kind
from pgasrob.program.parser import parse
from pgasrob.program.program import Program
from pgasrob.races.consequences import race_consequences
from pgasrob.render.verdict_json import to_json
from pgasrob.render.verdict_text import sentences
from pgasrob.robustness import check as checking
from pgasrob.robustness.every_count_check import check_every_count
from pgasrob.robustness.every_n import program_proof
from pgasrob.robustness.every_n.proof import Proof
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.question import Question
from pgasrob.robustness.session import Session
from pgasrob.robustness.verdict import Verdict
from tests.robustness.every_n.drawn import drawn
from tests.robustness.every_n.drawn_facts import drawn_facts, drawn_facts_in_c
from tests.support import examples

PROGRAMS = Path(__file__).parents[3] / "programs"
MCS = PROGRAMS / "mcs_lock/mcs_lock.pgas"
HEADER = "program some;\nmemory x, y, z;\nregister r, s;\nqueue q;\nprocess {\n"
NEVER = 1 << 40


@contextmanager
def asked_after(states: int) -> Iterator[None]:
    """Proofs are asked for after so many states, however many commands there are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checking, "MUCH", states)
        patch.setattr(checking, "MUCH_PER_COMMAND", 0)
        yield


def test_a_lock_is_proved_on_more_ranks_than_are_searched() -> None:
    with asked_after(2_000), pytest.MonkeyPatch.context() as patch:
        patch.setattr(checking, "MUCH_FOR_FACTS", 0)
        verdict = check(MCS, 40, limits=Limits(max_sc_states=10))
    assert (verdict.verdict, verdict.faults, verdict.stats.settled_by) == ("robust", "none", "a proof")
    assert verdict.proved_from == 4
    assert 2_000 < verdict.stats.states < 40_000
    assert (to_json(verdict)["proved_from"], to_json(verdict)["stats"]["settled_by"]) == (4, "a proof")
    said = " ".join(text for text, _ in sentences(to_json(verdict)))
    assert "looks like a sequentially consistent (SC) run: proved for every number of nodes from 4 on." in said


def test_where_the_proof_begins_later_the_search_decides() -> None:
    with asked_after(-1), pytest.MonkeyPatch.context() as patch:
        patch.setattr(checking, "MUCH_FOR_FACTS", 0)
        below, from_there = check(MCS, 3), check(MCS, 4)
    assert (below.verdict, below.stats.settled_by, below.proved_from) == ("robust", "traces", None)
    assert (from_there.verdict, from_there.proved_from, from_there.stats.states) == ("robust", 4, 0)


def test_what_the_proof_leaves_open_is_looked_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    with asked_after(0):
        assert check(MCS, 4).deadlock is False
    with asked_after(-1):
        monkeypatch.setattr(checking, "MUCH_FOR_FACTS", 0)
        monkeypatch.setattr(checking, "A_FEW", 10)
        verdict = check(MCS, 7, limits=Limits(max_sc_states=20))
    assert (verdict.verdict, verdict.proved_from, verdict.deadlock) == ("robust", 4, "unknown")


@pytest.mark.parametrize("engine", ["attack", "traces"])
def test_other_engines_search_alone(engine: str) -> None:
    with asked_after(-1), pytest.MonkeyPatch.context() as patch:
        patch.setattr(checking, "MUCH_FOR_FACTS", 0)
        assert check(MCS, 4, engine).proved_from is None


def test_a_proof_is_of_one_reading() -> None:
    program = parse(f"{HEADER}update(add, 1, 0, x, q);\nif (me == 0) {{ await(mem[x] >= nodes); }}\n}}")
    session = Session(Question(program, 5))
    by_condition = session.proof()
    by_value = session.asking(replace(session.question, reading=session.question.reading.by_value)).proof()
    assert by_condition is session.proof() is not by_value


def test_a_limit_that_ends_the_search_leaves_what_is_proved() -> None:
    with asked_after(0):
        verdict = check(MCS, 8, limits=Limits(max_states=3_000, max_sc_states=100))
    assert (verdict.verdict, verdict.proved_from, verdict.stats.settled_by) == ("robust", 4, "a proof")
    assert verdict.deadlock == "unknown"
    with asked_after(NEVER):
        assert check(MCS, 8, limits=Limits(max_states=3_000, max_sc_states=100)).verdict == "unknown"


def test_a_check_on_one_number_is_content_with_one_obstacle() -> None:
    program = parse(f"{HEADER}write(x, 0, y, q); r <- mem[y]; write(x, 0, z, q); r <- mem[z];\n}}")
    one = Session(Question(program, 5)).proof()
    every = check_every_count(Session(Question(program, 5))).every
    assert every is not None and len(one.obstacles) == 1 < len(every.proof.obstacles)


def test_a_verdict_rests_on_what_its_proof_rests_on(monkeypatch: pytest.MonkeyPatch) -> None:
    before, more = program_proof.prove, Assumption(Kind.QUEUE_ROOM, ("`some call`",), (7,))
    monkeypatch.setattr(program_proof, "prove", lambda *given: replace(before(*given), assumptions=(more,)))
    with asked_after(-1):
        monkeypatch.setattr(checking, "MUCH_FOR_FACTS", 0)
        assert more in check(MCS, 4).assumptions
    with asked_after(NEVER):
        assert more not in check(MCS, 4).assumptions


# Facts

UNLOCKED = "MPI_Win_unlock_all(win);"
LOCK = PROGRAMS / "c/gaspi/gaspi_lock_101.c"


def test_facts_that_are_proved_need_no_search() -> None:
    """A lock in C on so many ranks has more SC runs than are looked at, and races among as many."""
    limits = Limits(max_states=20_000, max_sc_states=5_000)
    found = {}
    for states in (NEVER, 2_000):
        with asked_after(states), pytest.MonkeyPatch.context() as patch:
            patch.setattr("pgasrob.races.consequences.LONG", states)
            if states == NEVER:
                patch.setattr("pgasrob.races.consequences.is_free_of_races", lambda _: False)
            program = parse_c(LOCK.read_text(), str(LOCK))
            session = Session(Question(program, 12, limits=limits))
            verdict = checking.check(session)
            found[states] = verdict.verdict, verdict.deadlock, race_consequences(session, verdict).answer
    assert found == {NEVER: ("robust", "unknown", "unknown"), 2_000: ("robust", False, "none")}


@pytest.mark.parametrize(
    ("claim", "file", "good"),
    [
        ("deadlock", "gaspi/gaspi_lock_101", False),
        ("assertions", "gaspi/gaspi_lock_101", "hold"),
        ("legal", "mpi/spin_lock", "yes"),
    ],
)
def test_each_fact_rests_on_a_claim_of_its_own(
    claim: str, file: str, good: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The illegal call is behind a condition that is always false."""
    path = PROGRAMS / f"c/{file}.c"

    def facts() -> dict[str, object]:
        with asked_after(100):
            text = path.read_text().replace(UNLOCKED, f"{UNLOCKED}\nif (mem[LOCK] > 1) MPI_Win_flush(0, win);")
            verdict = check(
                parse_c(text, str(path)), 12, limits=Limits(max_states=3_000, max_sc_states=500), effect=False
            )
        return {each: getattr(verdict, each) for each in ("deadlock", "assertions", "legal")}

    known = facts()
    assert known[claim] == good
    before = program_proof.prove

    def without(*given: Any) -> Proof:
        proof = before(*given)
        open_claim = program_proof.Claim("left open")
        return replace(proof, **{claim: open_claim if claim == "deadlock" else [open_claim]})

    monkeypatch.setattr(program_proof, "prove", without)
    assert facts() == known | {claim: "unknown"}


# Random programs

LIMITS = Limits(max_states=3_000, max_sc_states=3_000, timeout=60)


def answers(verdict: Verdict) -> tuple[object, ...]:
    return verdict.verdict, verdict.faults, verdict.deadlock, verdict.assertions, verdict.legal


def compared(program: Program | Any, nodes: int) -> Counter[str]:
    """What the check says that asks for a proof at once, against one that asks for none; what one of them leaves open
    the other may know."""
    with asked_after(NEVER):
        searched = check(program, nodes, limits=LIMITS, effect=False)
    with asked_after(-1):
        proved = check(program, nodes, limits=LIMITS, effect=False)
    for one, other in zip(answers(searched), answers(proved), strict=True):
        assert one == other or "unknown" in (one, other), (answers(searched), answers(proved))
    return Counter(by_a_proof=proved.proved_from is not None)


def test_random_programs_are_answered_as_without_proofs() -> None:
    found = Counter[str]()
    for seed in range(examples(4, nightly=3_000)):
        for draw in (drawn, drawn_facts):
            program = parse(draw(seed))
            try:
                found += compared(program, 4 + seed % 4)
            except AssertionError as problem:
                raise AssertionError(f"{draw.__name__}({seed}): {problem}") from None
        if seed % 4 == 0:
            found += compared(parse_c(drawn_facts_in_c(seed)), 3 + seed % 4)
    assert found["by_a_proof"]
