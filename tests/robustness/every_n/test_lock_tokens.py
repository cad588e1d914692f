"""What one rank at a time has (`proofs/every-n.md`, section 4): no proof is wrong, and what the conditions are for."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable
from textwrap import indent
from types import ModuleType

import pytest

from pgasrob.program.parser import parse
from pgasrob.robustness.every_n import lock_tokens, prove
from pgasrob.robustness.every_n.lock_tokens import _Search
from pgasrob.robustness.every_n.token_edges import Edges
from pgasrob.robustness.reduction.fixpoint import Fixpoint
from pgasrob.robustness.reduction.pairwise import Token
from tests.robustness.every_n.drawn_lock_tokens import drawn_lock_tokens
from tests.robustness.every_n.test_named_views import check_that_it_needs, proof, verdict
from tests.support import examples

HEADER = "program some; memory lock, f, full = 1, x, y, z, w, one = 1; register r, s, i; queue q; process {{ {} }}"
USE = "r <- fetch_add(0, z, 1); write(x, 0, y, q); r <- fetch_add(0, z, 1);"
TAKE, BACK = "s <- swap(0, lock, 1); assume(s == 0);", "mem[lock @ 0] <- 0;"
FEW = "me * nodes % 7"
"""Of which only is known that it is 0 to 6, but for the first rank."""
TO_NEXT = "if (me + 1 < nodes) { write(one, me + 1, f, q); }"


def without_tokens(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(prove, "lock_tokens", lambda *_: [])


def test_no_proof_of_a_random_program_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Counter[str]()
    for seed in range(examples(2, nightly=5_000)):
        program = parse(drawn_lock_tokens(seed))
        proved = proof(program)
        if not proved.holds or proved.cutoff is None:
            continue
        with monkeypatch.context() as patch:
            without_tokens(patch)
            found["by tokens"] += not proof(program).holds
        answers = {verdict(program, proved.cutoff, engine=engine) for engine in ("traces", "attack")}
        assert answers <= {"robust", "unknown"}, f"the program of {seed} is proved, and {answers}"
        found["robust"] += "robust" in answers
    assert examples(2, nightly=5_000) < 100 or found["by tokens"] > 20, found


PROVED = {
    "never given back": f"{TAKE} {USE}",
    "given back by a put in the same queue": f"{TAKE} {USE} write(w, 0, lock, q);",
    "given back when it is complete": f"loop {{ {TAKE} {USE} wait(q); {BACK} }}",
    "from rank to rank": f"if (me > 0) {{ await(mem[f] == 1); }} {USE} {TO_NEXT} r <- fetch(0, lock);",
    "round after round": "loop { if (me > 0 || i > 0) { await(mem[f] == 1); mem[f] <- 0; } i <- 1; "
    f"{USE} write(one, (me + 1) % nodes, f, q); }}",
    "a lock of the first that asks": f"{TAKE} {USE} write(one, 1, f, q); r <- fetch(0, z);",
}


@pytest.mark.parametrize("name", PROVED)
def test_what_is_proved(name: str) -> None:
    assert proof(parse(HEADER.format(PROVED[name]))).holds


def test_what_needs_the_token(monkeypatch: pytest.MonkeyPatch) -> None:
    program = parse(HEADER.format(PROVED["round after round"]))
    assert proof(program).holds
    without_tokens(monkeypatch)
    assert not proof(program).holds


# What each rule is for

Mutation = Callable[[pytest.MonkeyPatch], None]


def with_text(where: type | ModuleType, method: str, *changes: tuple[str, str]) -> Mutation:
    """A class, or a module, with another text of one of its methods."""

    def mutated(patch: pytest.MonkeyPatch) -> None:
        text, known = inspect.getsource(getattr(where, method)), {**vars(inspect.getmodule(where))}
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        exec(f"class Changed:\n{text if isinstance(where, type) else indent(text, '    ')}", known)
        patch.setattr(where, method, getattr(known["Changed"], method))

    return mutated


def with_tokens(change: Callable[[Token], Token]) -> Mutation:
    def mutated(patch: pytest.MonkeyPatch) -> None:
        before = prove.lock_tokens
        patch.setattr(prove, "lock_tokens", lambda *arguments: [change(each) for each in before(*arguments)])

    return mutated


def with_tokens_of_the_source_alone(patch: pytest.MonkeyPatch) -> None:
    before = Fixpoint.__init__

    def init(self: Fixpoint, setting: object, others: object, rank: int, *further: object) -> None:
        before(self, setting, others, rank, *further)  # type: ignore[arg-type]
        self.tokens = self.setting.tokens  # type: ignore[assignment]

    patch.setattr(Fixpoint, "__init__", init)


RULES: dict[str, tuple[Mutation, str]] = {
    "only who has it puts it": (
        with_text(_Search, "token", ("before < HOLDING or len(puts) > 1", "len(puts) > 1")),
        f"choose {{ {BACK} }} or {{ {TAKE} {USE} }}",
    ),
    "it is put once": (
        with_text(_Search, "token", (" or len(puts) > 1", "")),
        f"{TAKE} update_from(set, w, 0, lock, q, f); await(mem[f] == 1); {USE}",
    ),
    "who puts it has it no more": (
        with_text(_Search, "_after", ("return after_put(before)", "return before")),
        f"{TAKE} {USE} wait(q); {BACK} write(x, 0, y, q); r <- fetch_add(0, z, 1);",
    ),
    "it is nowhere else in the beginning": (
        with_text(_Search, "_followed", ("NOTHING if lies else WAITING", "WAITING")),
        f"if (me > 0) {{ await(mem[full] == 1); }} {USE}",
    ),
    "it is taken": (
        with_text(_Search, "_takes_free", ("not edge.sure or ", ""), ("return not", "return True or")),
        f"s <- fetch(0, lock); assume(s == 0); {USE} mem[lock @ 0] <- 1;",
    ),
    "a rank that waits does not give it to itself": (
        with_text(Edges, "after_own", ("has = min(has, HOLDING) if has >= HOLDING else NOTHING", "pass")),
        f"if (me > 0) {{ mem[f] <- 1; await(mem[f] == 1); }} {USE}",
    ),
    "a cell is cleared for certain": (
        with_text(Edges, "after_own", ("elif edge.sure:", "else:")),
        f"if (me > 0) {{ s <- compare_swap(me, full, {FEW}, 0); await(mem[full] == 1); }} {USE}",
    ),
    "it is taken for certain": (
        with_text(_Search, "_takes_free", ("not edge.sure or ", "")),
        f"s <- compare_swap(0, lock, {FEW}, 1); assume(s == 0); {USE}",
    ),
    "it is seen for certain": (
        with_text(Edges, "after_own", ("self.is_surely", "self.may_be")),
        "if (me == 0) { mem[f @ 1] <- 1; mem[f @ 2] <- 1; } else { r <- mem[f]; assume(r != 0); "
        f"if (r == 2) {{ await(mem[f] >= 2); }} {USE} wait(q); mem[f @ (me + 1) % nodes] <- nodes; }}",
    ),
    "it may be handed on": (with_tokens(lambda each: each._replace(putting=frozenset())), f"{TAKE} {USE} {BACK}"),
    "the source has it": (
        with_tokens_of_the_source_alone,
        f"write(x, 0, y, q); r <- fetch_add(0, z, 1); {TAKE} r <- fetch_add(0, z, 1); r <- fetch(0, y); {BACK}",
    ),
    "by whatever way": (
        lambda patch: patch.setattr(lock_tokens, "at_least", max),
        f"choose {{ {TAKE} }} or {{ r <- fetch(0, w); }} {USE}",
    ),
    "what has been taken may lie there yet": (
        lambda patch: patch.setattr(lock_tokens, "at_least", min),
        "if (me == 0) { mem[f @ 1] <- 1; } if (me == 1) { choose { await(mem[f] == 1); write(x, 0, y, q); } "
        "or { r <- fetch(0, w); } await(mem[f] == 1); r <- fetch(0, y); }",
    ),
}


@pytest.mark.parametrize("name", RULES)
def test_without_a_condition_there_is_a_wrong_proof(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mutation, block = RULES[name]
    check_that_it_needs(mutation, parse(HEADER.format(block)), monkeypatch)
