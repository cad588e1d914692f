"""Ranks that line up behind those whose numbers they take, as in MCS locks, and what goes with their numbers
(`proofs/every-n.md`, section 4): no proof is wrong, and what the conditions are for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from pgasrob.program.parser import parse
from pgasrob.program.reading import DEFAULT_READING
from pgasrob.robustness.every_n import number_tokens, prove
from pgasrob.robustness.every_n.named_views import _Search as Views
from pgasrob.robustness.every_n.number_tokens import _Search
from pgasrob.robustness.every_n.prove import Prover
from tests.robustness.every_n.drawn_queues import drawn_queues
from tests.robustness.every_n.test_lock_tokens import with_text
from tests.robustness.every_n.test_named_views import check_that_it_needs, proof, verdict
from tests.support import examples

HEADER = "program mcs; memory tail = -1, next = -1, locked = 1, x, y, zero; register p, n, r; queue q; process { "
NAMED, WOKEN = "update(set, me, p, next, q);", "n <- mem[next]; write(zero, n, locked, q);"
MCS = (
    "p <- swap(0, tail, {put}); if (p != -1) {{ {linked} await(mem[locked] == 0); }} {data} "
    "n <- compare_swap(0, tail, me, -1); if (n != me) {{ await(mem[next] != -1); {woken} }}"
)


def mcs(put: str = "me", linked: str = NAMED, data: str = "", woken: str = WOKEN, rounds: str = "") -> str:
    lock = MCS.format(put=put, linked=linked, data=data, woken=woken)
    return f"{HEADER}{f'{rounds} {{ mem[next] <- -1; mem[locked] <- 1; {lock} }}' if rounds else lock} }}"


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


DATA = "write(x, 0, y, q); wait(q);"


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        (mcs(), True),
        (mcs(data=DATA), True),
        (mcs(data="write(x, 0, y, q);"), False),
        (mcs(woken="n <- mem[next]; r <- swap(n, locked, 0);"), True),
        (mcs(linked="update(set, me, (p + 1) % nodes, next, q);"), False),
        (mcs(data=DATA, rounds="loop"), True),
        (mcs(data=DATA, rounds="loop", linked="update(set, me, (p + 1) % nodes, next, q);"), False),
    ],
)
def test_an_mcs_lock(text: str, holds: bool) -> None:
    """Where it does not hold the data is not waited for, or ranks link themselves to a wrong one, so that no rank may
    be woken, and it may be the same one."""
    assert proof(parse(text)).holds is holds


def test_what_the_proof_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prove, "number_tokens", lambda *_: [])
    assert not proof(parse(mcs())).holds


# What each rule is for

ALONE = (
    "program some; memory v, f, tail, full = 1, x, y, z, mine, one = 1; register p, n, r; queue q, u; process {{ {} }}"
)
SEEN = "r <- fetch_add(0, z, 1);"
GIVEN = f"if (me == 0) {{ mem[mine] <- me + 1; write(mine, 1, v, q); await(mem[f] == 1); {SEEN} }}"
WAKING = f"if (me == 1) {{ n <- mem[v]; if (n != 0) {{ write(one, n - 1, f, q); }} {SEEN} r <- mem[v]; }}"
LOOKING = (
    f"if (me == 0) {{ mem[mine] <- 1; write(mine, 1, v, q); wait(q); {SEEN} r <- mem[f]; }} "
    f"if (me == 1) {{ await(mem[v] != 0); n <- mem[v]; write(one, n - 1, f, q); {SEEN} }}"
)
TWICE = (
    f"if (me == 1 || me == 2) {{{{ {{}} if (p == 1) {{{{ {SEEN} write(one, p - 1, v, q); {SEEN} }}}} }}}} "
    "if (me == 3) {{ await(mem[v] != 0); }}"
)


def of(method: str, *changes: tuple[str, str]) -> Callable[[pytest.MonkeyPatch], None]:
    return with_text(_Search, method, *changes)


def without_handing_on(patch: pytest.MonkeyPatch) -> None:
    before = prove.number_tokens
    patch.setattr(prove, "number_tokens", lambda *rest: [each._replace(putting=frozenset()) for each in before(*rest)])


RULES: dict[str, tuple[Callable[[pytest.MonkeyPatch], None], str]] = {
    "only who has the number wakes": (
        of("_is_right", ("for write in wakes", "for write in ()")),
        f"{GIVEN} {WAKING} if (me == 2) {{ mem[f @ 0] <- 1; }}",
    ),
    "ranks give their own numbers": (
        of("_is_right", ("write.value == own and", "")),
        f"{GIVEN} {WAKING} if (me == 2) {{ mem[v @ 1] <- 1; }}",
    ),
    "ranks give numbers that they have": (
        of("_is_right", ("and before.own >= HOLDING", "")),
        "if (me == 0) { mem[mine] <- 1; write(mine, 1, v, q); write(mine, 2, v, q); } if (me == 1 || me == 2) { "
        f"await(mem[v] != 0); n <- mem[v]; {SEEN} write(one, n - 1, f, q); {SEEN} }} "
        "if (me == 3) { await(mem[f] == 1); }",
    ),
    "who has given a number has it no more": (
        lambda patch: patch.setattr(number_tokens, "after_put", lambda has: has),
        LOOKING,
    ),
    "no number lies there in the beginning": (
        of("_followed", ("0 if numbered else IN_CELL", "IN_CELL")),
        (GIVEN + WAKING).replace("v]", "full]").replace("1, v,", "1, full,"),
    ),
    "no number lies there when it has been read": (
        lambda patch: patch.setattr(_Search, "_is_cleared", lambda *_: True),
        (GIVEN + WAKING.replace("n <-", "r <- mem[v]; n <-", 1)).replace("v]", "full]").replace("1, v,", "1, full,"),
    ),
    "a number is read once": (
        of("_after_set", ("others & IN_CELL", "True")),
        f"if (me == 0) {{ mem[mine] <- 1; write(mine, 1, v, q); wait(q); await(mem[f] == 1); mem[f] <- 0; "
        f"write(mine, 1, v, q); await(mem[f] == 1); {SEEN} }} "
        "if (me == 1) { await(mem[v] != 0); n <- mem[v]; mem[f @ n - 1] <- 1; n <- mem[v]; "
        f"if (n != 0) {{ mem[f @ n - 1] <- 1; }} {SEEN} r <- mem[v]; }}",
    ),
    "a number may be given": (
        without_handing_on,
        GIVEN.replace("write(mine", "write(x, 1, y, u); write(mine")
        + "if (me == 1) { n <- mem[v]; if (n != 0) { write(one, n - 1, f, q); } } "
        f"if (me == 2) {{ {SEEN} r <- fetch(1, y); }}",
    ),
    "who waits may look": (of("token", ("(takes or before.own >= HOLDING)", "True")), LOOKING),
    "no number is there in the beginning": (
        of("schemes", ("at is not None and self", "False and self")),
        "if (me == 0) { r <- swap(0, full, 1); } " + TWICE.format("p <- swap(0, full, me + 1);"),
    ),
    "who takes a number leaves none": (
        of("_after_set", ("edge.sure if scheme.at is not None", "True if scheme.at is not None")),
        "if (me == 0) { mem[tail @ 4] <- 1; } " + TWICE.format("p <- fetch(4, tail);"),
    ),
    "a rank takes its own number back": (
        of("_takes_back", ("and edge.read[2] == own", "")),
        "if (me == 0) { r <- swap(0, tail, 1); r <- swap(0, tail, 0); r <- swap(0, tail, 1); } "
        + TWICE.format("p <- swap(0, tail, me + 1);"),
    ),
    "what has been given back may lie there yet": (
        lambda patch: patch.setattr(number_tokens, "at_least", min),
        "if (me == 0) { mem[mine] <- 1; write(mine, 1, v, q); wait(q); "
        "choose { await(mem[f] == 1); write(x, 0, y, u); } or { r <- fetch(0, z); } "
        "await(mem[f] == 1); r <- fetch(0, y); } "
        "if (me == 1) { n <- mem[v]; if (n != 0) { write(one, n - 1, f, q); } }",
    ),
    "a cell is overwritten by its rank": (
        lambda patch: patch.setattr(Views, "_is_overwritten", lambda *_: True),
        "if (me == 0) { update(set, 1, 1, y, q); r <- mem[x]; } "
        "if (me == 1) { await(mem[z] == 0); r <- fetch_add(0, x, 1); r <- mem[y]; }",
    ),
}


@pytest.mark.parametrize("name", RULES)
def test_without_a_condition_there_is_a_wrong_proof(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mutation, block = RULES[name]
    check_that_it_needs(mutation, parse(ALONE.format(block)), monkeypatch)


def test_what_is_proved_of_two() -> None:
    assert proof(parse(ALONE.format(GIVEN + WAKING))).holds


def test_what_was_there_first_is_read_by_itself_where_it_names_a_rank() -> None:
    """Else there would be more states than are needed."""
    text = "mem[x @ (me + 1) % nodes] <- nodes; r <- mem[x]; n <- mem[x]; if (n < nodes) { write(one, n, y, q); }"
    prover = Prover(parse(ALONE.format(text)), DEFAULT_READING)
    unfolded = prover.unfolded(prover.flow(next(iter(prover.frame.cases()))))
    reads = [sum(value is not None for value in values) for values in unfolded.read[0]]
    assert sorted(filter(None, reads)) == [1, 2]
