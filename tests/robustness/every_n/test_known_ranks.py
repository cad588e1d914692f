"""Ranks that line up behind those whose numbers they take, as in MCS locks (`proofs/every-n.md`, sections 2 and 4): no
proof is wrong, and what the conditions are for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from pgasrob.program.parser import parse
from pgasrob.program.reading import DEFAULT_READING
from pgasrob.robustness.every_n.known_ranks import KnownRanks
from pgasrob.robustness.every_n.named_views import _Search
from pgasrob.robustness.every_n.taken_numbers import TakenNumbers
from tests.robustness.every_n.drawn_queues import drawn_queues
from tests.robustness.every_n.test_named_views import proof, verdict
from tests.support import examples

HEADER = "program mcs; memory tail = -1, next = -1, locked = 1, x, y, zero; register p, n, r; queue q; process { "
NAMED, WOKEN = "update(set, me, p, next, q);", "n <- mem[next]; write(zero, n, locked, q);"
MCS = (
    "p <- swap(0, tail, {put}); if (p != -1) {{ {linked} await(mem[locked] == 0); }} {data} "
    "n <- compare_swap(0, tail, me, -1); if (n != me) {{ await(mem[next] != -1); {woken} }}"
)


def mcs(put: str = "me", linked: str = NAMED, data: str = "", woken: str = WOKEN) -> str:
    return f"{HEADER}{MCS.format(put=put, linked=linked, data=data, woken=woken)} }}"


def test_no_proof_of_a_random_program_is_wrong() -> None:
    found = Counter[str]()
    for seed in range(examples(3, nightly=5_000)):
        program = parse(drawn_queues(seed))
        proved = proof(program)
        found["proved"] += proved.holds
        if proved.holds and proved.cutoff is not None:
            answers = {verdict(program, proved.cutoff, engine=engine) for engine in ("traces", "attack")}
            assert answers <= {"robust", "unknown"}, f"the program of {seed} is proved, and {answers}"
            found["robust"] += "robust" in answers
    assert found["proved"]


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        (mcs(), True),
        (mcs(data="write(x, 0, y, q); wait(q);"), True),
        (mcs(data="write(x, 0, y, q);"), False),
        (mcs(woken="n <- mem[next]; r <- swap(n, locked, 0);"), True),
        (mcs(linked="update(set, me, (p + 1) % nodes, next, q);"), False),
    ],
)
def test_an_mcs_lock(text: str, holds: bool) -> None:
    """The last one: ranks link themselves to a wrong one, so that nobody may be woken, and it may be the same one."""
    assert proof(parse(text)).holds is holds


# What each rule is for

Mutation = Callable[[pytest.MonkeyPatch], None]


def without_who_is_told(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(KnownRanks, "instead", lambda *_: None)


def without_numbers_that_are_taken(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(TakenNumbers, "is_taken", lambda *_: False)


@pytest.mark.parametrize("mutation", [without_who_is_told, without_numbers_that_are_taken])
def test_what_the_proof_needs(mutation: Mutation, monkeypatch: pytest.MonkeyPatch) -> None:
    mutation(monkeypatch)
    assert not proof(parse(mcs())).holds


def with_numbers_put_again(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(TakenNumbers, "_once", lambda *_: True)


def with_all_registers_taken(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(TakenNumbers, "_takes", lambda *_: True)


def with_cells_that_are_overwritten(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(_Search, "_is_overwritten", lambda *_: True)


RULES: list[tuple[Mutation, str, int]] = [
    (
        with_numbers_put_again,  # rank 1 and rank 2 take the number of rank 0 one after the other
        f"{HEADER} if (me == 0) {{ p <- swap(0, tail, me); await(mem[locked] == 0); p <- swap(0, tail, me); "
        "mem[locked @ 2] <- 0; } "
        "if (me == 1) { p <- swap(0, tail, me); if (p == 0) { mem[locked @ 0] <- 0; write(x, p, y, q); "
        "mem[next @ 2] <- 1; } } "
        "if (me == 2) { await(mem[locked] == 0); p <- swap(0, tail, me); if (p == 0) { await(mem[next] == 1); "
        "update(set, 1, p, y, q); } } }",
        6,
    ),
    (
        with_all_registers_taken,
        f"{HEADER} p <- swap(0, tail, me); p <- mem[x]; if (me > 0) {{ write(zero, p, y, q); "
        "mem[next @ (me + 1) % nodes] <- 1; await(mem[next] == 1); write(zero, p, y, q); } }",
        4,
    ),
    (
        with_cells_that_are_overwritten,
        f"{HEADER} if (me == 0) {{ update(set, 1, 1, y, q); r <- mem[x]; }} "
        "if (me == 1) { await(mem[zero] == 0); r <- fetch_add(0, x, 1); r <- mem[y]; } }",
        6,
    ),
]


@pytest.mark.parametrize(("mutation", "text", "nodes"), RULES, ids=[mutation.__name__ for mutation, *_ in RULES])
def test_without_a_condition_there_is_a_wrong_proof(
    mutation: Mutation, text: str, nodes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = parse(text)
    assert not proof(program).holds
    assert "not robust" in (verdict(program, nodes, DEFAULT_READING, engine) for engine in ("traces", "attack"))
    mutation(monkeypatch)
    assert proof(program).holds
