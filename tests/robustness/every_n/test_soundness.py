"""No proof for every number of nodes is wrong: random programs, and what each rule is for (`proofs/every-n.md`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from operator import add
from typing import Any

import pytest

from pgasrob.api import check
from pgasrob.program.parser import parse
from pgasrob.program.program import Program
from pgasrob.program.reading import DEFAULT_READING
from pgasrob.robustness.every_n import flow, rank_cases, symbolic_values
from pgasrob.robustness.every_n.linear import Value, exactly
from pgasrob.robustness.every_n.named_commands import Ranks, Target
from pgasrob.robustness.every_n.proof import Proof
from pgasrob.robustness.every_n.prove import Prover
from pgasrob.robustness.every_n.rank_cases import Case, Frame
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.reduction import fixpoint
from tests.robustness.every_n.drawn import drawn, messages
from tests.support import examples

FRAMES = (None, Frame(0, 1), Frame(0, 1, 2), Frame(1, 1), Frame(0, 1, 3), Frame(0, 1, 4), Frame(1, 1, 2))
"""Proofs are right with whatever frame; None: the one that fits the program."""
LIMITS = Limits(max_states=4_000, timeout=60)


def proof(program: Program, frame: Frame | None = None) -> Proof:
    """A proof, or the first that is in its way: to look for all takes most of the time."""
    prover = Prover(program, DEFAULT_READING, frame)
    for _ in prover.run():
        if prover.proof.obstacles:
            break
    return prover.proof


def counts(found: Proof) -> Iterator[int]:
    """The numbers of nodes that a proof is compared with: the first ones it is about, and smaller ones, on which no
    program has been found that is not robust."""
    assert found.cutoff is not None
    yield from (found.cutoff, found.cutoff + 1)
    yield from (count for count in range(2, 8) if count >= found.cutoff + 2)


def wrong(seed: int, draw: Callable[[int], str] = drawn) -> tuple[bool, int | None, str]:
    """Whether the program of ``seed`` is proved, on how many nodes wrongly so, and by which verdict. What decides has
    nothing in common with the proof (`traces`)."""
    program = parse(draw(seed))
    found = proof(program, FRAMES[seed % len(FRAMES)])
    if not found.holds:
        return False, None, ""
    for count in counts(found):
        verdict = check(program, count, "traces", LIMITS, effect=False).verdict
        if verdict in ("not robust", "error"):
            return True, count, verdict
        if verdict == "unknown":
            break
    return True, None, ""


def test_no_proof_of_a_random_program_is_wrong() -> None:
    found = Counter[str]()
    for seed in range(examples(12, nightly=20_000)):
        proved, count, verdict = wrong(seed)
        assert count is None, f"the program of {seed} is proved, and {verdict} on {count} nodes"
        found["proved" if proved else "not"] += 1
    assert found["proved"] > 0.25 * found.total()


def test_no_proof_of_random_messages_is_wrong() -> None:
    """Some are proved by what is known of two ranks at once."""
    found = Counter[str]()
    seeds = range(364, 364 + examples(9, nightly=10_000) * len(FRAMES), len(FRAMES))  # with the frames that fit
    for seed in seeds:
        holds, count, verdict = wrong(seed, messages)
        assert count is None, f"the messages of {seed} are proved, and {verdict} on {count} nodes"
        found["proved"] += holds
        found["by views"] += holds and bool(proof(parse(messages(seed))).views)
    assert found["proved"] > len(seeds) / 4 and found["by views"] > 0


# What each rule is for

HEADER = "program some;\nmemory x, y, z, a, b;\nregister r, s;\nqueue q, u unordered;\nprocess {\n"
RING = "write(x, (me + 1) % nodes, y, q); r <- mem[y];"


def without_reaching_names_from_the_rest(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Ranks, "_may_come_from_rest", lambda *_: False)


def without_other_ranks_of_the_rest(patch: pytest.MonkeyPatch) -> None:
    before = fixpoint._AccessesByRank.__init__
    patch.setattr(fixpoint._AccessesByRank, "__init__", lambda self, many: before(self, frozenset()))


def without_accesses_from_elsewhere_to_own_memory(patch: pytest.MonkeyPatch) -> None:
    before = Ranks._made

    def made(self: Ranks, rank: int, target: Target, here: int, there: int, own: bool) -> tuple[int, int]:
        found, against = before(self, rank, target, here, there, own)
        return found, 0 if own else against

    patch.setattr(Ranks, "_made", made)


def without_faults(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(flow.Flow, "faults", lambda self: iter(()))


def without_passing_barriers(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(fixpoint.Fixpoint, "_arrive", lambda *_: None)


def with_tests_that_fail_unless_they_hold(patch: pytest.MonkeyPatch) -> None:
    before = symbolic_values.Values.may_be

    def may_be(self: symbolic_values.Values, symbol: str, one: Value, other: Value) -> bool:
        return before(self, symbol, one, other) and not (symbol == "==" and one != other)

    patch.setattr(symbolic_values.Values, "may_be", may_be)


def with_the_first_case_alone(patch: pytest.MonkeyPatch) -> None:
    before = Frame.cases

    def first(self: Frame) -> Iterator[Case]:
        yield next(before(self))

    patch.setattr(Frame, "cases", first)


def without_the_rest(patch: pytest.MonkeyPatch) -> None:
    before = rank_cases.Frame._with_rest

    def with_rest(self: Frame, *names: Any) -> Case:
        return Case(tuple(name for name in before(self, *names).names if not name.rest))

    patch.setattr(Frame, "_with_rest", with_rest)


def with_one_target_for_all(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Ranks, "_key", lambda *_: 0)


def without_waiting_for_updates(patch: pytest.MonkeyPatch) -> None:
    before = Ranks.commands
    patch.setattr(Ranks, "commands", lambda self: replace(before(self), waited_for=0))


def with_bits_that_are_added(patch: pytest.MonkeyPatch) -> None:
    patch.setitem(symbolic_values.BITS, "^", add)


def with_quotients_that_leave_nothing(patch: pytest.MonkeyPatch) -> None:
    def quotient(self: symbolic_values.Values, one: Value, divisor: int) -> Value:
        return one[0].over(divisor), one[1].over(divisor)

    patch.setattr(symbolic_values.Values, "_quotient", quotient)


def without_powers_of_two(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(symbolic_values.Values, "_without_last_bit", lambda _, form: exactly(form.shifted(-1)))


def without_remainders_of_nodes(patch: pytest.MonkeyPatch) -> None:
    before = Frame._at_an_end, Frame._far
    patch.setattr(Frame, "_at_an_end", lambda self, _, place, side: before[0](self, 1, place, side))
    patch.setattr(Frame, "_far", lambda self, _, rank: before[1](self, 1, rank))


Mutation = Callable[[pytest.MonkeyPatch], None]
TWO = "r <- fetch_add(0, z, 1); }} or {{ r <- fetch(0, z); {}"
"""The end of what one rank does, and the beginning of what another one does after it."""


def in_the_middle(branches: str, ends: int = 1) -> str:
    return f"if (me >= {ends} && me < nodes - {ends}) {{ choose {{ {branches} }} }}"


RULES: list[tuple[Mutation, str, Frame | None, int, str]] = [
    (
        without_reaching_names_from_the_rest,
        in_the_middle("write(x, me, y, q); " + TWO.format("r <- fetch((me + 1) % nodes, y);")),
        Frame(0, 1), 5, "not robust",
    ),
    (
        without_accesses_from_elsewhere_to_own_memory,
        "if (me == 2) { write(x, me + 1, y, q); r <- fetch_add(0, z, 1); } "
        "if (me == 3) { r <- fetch(0, z); r <- mem[y]; }",
        Frame(0, 3), 8, "not robust",
    ),
    (
        without_other_ranks_of_the_rest,
        in_the_middle(
            "write(x, 0, y, q); " + TWO.format("mem[a @ 0] <- 1; } or { r <- fetch(0, a); r <- fetch(0, y);")
        ),
        Frame(0, 1), 5, "not robust",
    ),
    (without_faults, "write(x, me + 1, y, q); wait(q);", None, 7, "error"),
    (without_passing_barriers, "write(x, (me + 1) % nodes, y, q); barrier; r <- mem[y];", None, 7, "not robust"),
    (
        with_tests_that_fail_unless_they_hold,
        "r <- fetch(me, z); if (r == 0) { write(x, (me + 1) % nodes, y, q); barrier; r <- mem[y]; mem[z] <- 1; }",
        None, 7, "not robust",
    ),
    (
        with_the_first_case_alone,
        "if (me > 0) { write(x, (me + 1) % nodes, y, q); barrier; r <- mem[y]; } else { barrier; }",
        None, 7, "not robust",
    ),
    (
        without_the_rest,
        in_the_middle("write(x, 0, y, q); " + TWO.format("r <- fetch(0, y);")),
        Frame(0, 1), 4, "not robust",
    ),
    (
        with_one_target_for_all,
        "choose { write(x, 0, y, u); fence(u); write(x, 1, a, u); } or { r <- fetch(1, a); r <- fetch(0, y); }",
        None, 6, "not robust",
    ),
    (
        with_bits_that_are_added,
        "if (me == 1) { write(x, me ^ 1, y, q); } barrier; if (me == 0) { r <- mem[y]; }",
        None, 10, "not robust",
    ),
    (
        with_quotients_that_leave_nothing,
        "if (me == 3) { write(x, me / 2, y, q); } barrier; if (me == 1) { r <- mem[y]; }",
        Frame(0, 4, 2), 12, "not robust",
    ),
    (
        without_reaching_names_from_the_rest,
        in_the_middle("write(x, me, y, q); " + TWO.format("r <- fetch(me / 2, y);")),
        Frame(0, 1, 2), 6, "not robust",
    ),
    (without_powers_of_two, f"if ((nodes & (nodes - 1)) == 0) {{ {RING} }}", Frame(1, 1, 2), 8, "not robust"),
    (without_remainders_of_nodes, f"if (nodes % 2 == 0) {{ {RING} }}", Frame(1, 1, 2), 8, "not robust"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("mutation", "block", "frame", "nodes", "verdict"), RULES, ids=[mutation.__name__ for mutation, *_ in RULES]
)
def test_without_a_rule_there_is_a_wrong_proof(
    mutation: Mutation, block: str, frame: Frame | None, nodes: int, verdict: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = parse(f"{HEADER}{block}\n}}")
    found = proof(program, frame)
    assert not found.holds and (found.cutoff or nodes) <= nodes
    assert check(program, nodes, "traces", effect=False).verdict == verdict
    mutation(monkeypatch)
    assert proof(program, frame).holds
