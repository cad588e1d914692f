"""Proofs by where two ranks may be at once (`proofs/every-n.md`, section 4): none is wrong, and what rules are for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import pytest

from pgasrob.program.parser import parse
from pgasrob.robustness.every_n import pair_states
from pgasrob.robustness.every_n.linear import NODES, Linear
from pgasrob.robustness.every_n.pair_states import PairStates
from pgasrob.robustness.every_n.prove import Prover
from pgasrob.robustness.reduction.fixpoint import Fixpoint
from tests.robustness.every_n.drawn_rounds import drawn_rounds
from tests.robustness.every_n.test_named_views import (
    COUNTED,
    DEFAULT_READING,
    FRAMES,
    HEADER,
    check_that_it_needs,
    proof,
    verdict,
)
from tests.support import examples


def without_pairs(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Prover, "_by_pairs", lambda *_: {})


def test_no_proof_of_random_rounds_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Counter[str]()
    for seed in range(examples(5, nightly=10_000)):
        program, reading = parse(drawn_rounds(seed)), COUNTED if seed % 5 == 0 else DEFAULT_READING
        frame = FRAMES[seed % len(FRAMES)] if seed % 3 == 0 else None
        proved = proof(program, frame, reading)
        if not proved.holds or not proved.views:
            continue
        found["by views"] += 1
        with monkeypatch.context() as patch:
            without_pairs(patch)
            if proof(program, frame, reading).holds:
                continue
        found["by pairs"] += 1
        assert proved.cutoff is not None
        for nodes in (proved.cutoff, proved.cutoff + 1):
            answers = {verdict(program, nodes, reading, engine) for engine in ("traces", "attack")}
            assert answers <= {"robust", "unknown"}, f"the program of {seed} is proved, and {answers} on {nodes} nodes"
            if "robust" not in answers:
                break
    assert found["by pairs"] > 0.08 * examples(5, nightly=10_000), found


RIGHT, LEFT = "(me + 1) % nodes", "(me + nodes - 1) % nodes"
SENT = f"write(x, {RIGHT}, y, q); write(one, {RIGHT}, f, q);"
COUNTED_UP = "write(x, 0, y, q); update(add, 1, 0, c, q);"
PROVED = {
    "a flag that is reset, and a barrier": f"loop {{ {SENT} await(mem[f] == 1); r <- mem[y]; mem[f] <- 0; barrier; }}",
    "a flag and an answer": f"loop {{ {SENT} await(mem[f] == 1); mem[f] <- 0; r <- mem[y]; mem[g @ {LEFT}] <- 1; "
    "await(mem[g] == 1); mem[g] <- 0; }",
    "a flag and an answer between two": "if (me == 0) { loop { write(x, 1, y, q); write(one, 1, f, q); "
    "await(mem[g] == 1); mem[g] <- 0; } } "
    "if (me == 1) { loop { await(mem[f] == 1); mem[f] <- 0; r <- mem[y]; mem[g @ 0] <- 1; } }",
    "sense reversal": f"loop {{ {SENT} await(mem[f] == 1); r <- mem[y]; barrier; "
    f"write(x, {RIGHT}, y, q); write(zero, {RIGHT}, f, q); await(mem[f] == 0); r <- mem[y]; barrier; }}",
    "all count": f"{COUNTED_UP} if (me == 0) {{ await(mem[c] == nodes); r <- mem[y]; }}",
    "all count, and are told": f"{COUNTED_UP} if (me == 0) {{ await(mem[c] == nodes); mem[g] <- 1; }} "
    "r <- 0; while (r == 0) { r <- fetch(0, g); } r <- fetch(0, y);",
    "all count in rounds": f"loop {{ {COUNTED_UP} "
    "if (me == 0) { await(mem[c] == nodes); r <- mem[y]; mem[c] <- 0; } barrier; }",
    "a pipeline with credits": "mem[g] <- 1; barrier; loop { "
    "if (me > 0) { await(mem[f] == 1); mem[f] <- 0; r <- mem[y]; put(one, me - 1, g, q); } "
    "if (me + 1 < nodes) { await(mem[g] == 1); mem[g] <- 0; put(x, me + 1, y, q); put(one, me + 1, f, q); } }",
    "all count on": f"{COUNTED_UP} if (me == 0) {{ await(mem[c] == nodes); r <- mem[y]; }} barrier; "
    f"{COUNTED_UP} if (me == 0) {{ await(mem[c] == 2 * nodes); r <- mem[y]; }}",
}


@pytest.mark.parametrize("name", PROVED)
def test_what_is_proved(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program = parse(f"{HEADER.replace('f, g,', 'f, g, c, zero,')}{PROVED[name]} }}")
    assert proof(program).holds
    without_pairs(monkeypatch)
    assert not proof(program).holds


# What each rule is for

Mutation = Callable[[pytest.MonkeyPatch], None]


def beyond_the_next_barrier(patch: pytest.MonkeyPatch) -> None:
    before = Fixpoint._may_be_issued
    patch.setattr(Fixpoint, "_may_be_issued", lambda self, command, phase=0: before(self, command) and phase in (0, 1))


def without_other_ranks(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(PairStates, "_moves_of_others", lambda *_: iter(()))


def without_what_the_source_rank_writes(patch: pytest.MonkeyPatch) -> None:
    before = PairStates.before_barrier

    def before_barrier(self: PairStates, others: Sequence[set[int]], source: int, delayed: object, _: object) -> object:
        return before(self, others, source, delayed, frozenset())  # type: ignore[arg-type]

    patch.setattr(PairStates, "before_barrier", before_barrier)


def without_barriers(patch: pytest.MonkeyPatch) -> None:
    before = PairStates._successors

    def behind(self: PairStates, pair: pair_states._Pair, state: pair_states._State) -> Iterator[pair_states._State]:
        return (each for each in before(self, pair, state) if each.first == state.first or each.second == state.second)

    patch.setattr(PairStates, "_successors", behind)


def with_each_rank_adding_once(patch: pytest.MonkeyPatch) -> None:
    def most(self: PairStates, *_: object) -> Linear:
        return NODES.shifted(-2)

    patch.setattr(PairStates, "_most_of_others", most)


def with_whatever_is_added_for_one(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(pair_states, "constant", lambda _: 1)


def with_counts_from_anywhere(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(pair_states, "MOST_NODES", (1 << 31) - 1)


def with_updates_that_always_write(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(PairStates, "_is_written", lambda *_: True)


def with_targets_that_are_known_alone(patch: pytest.MonkeyPatch) -> None:
    before = PairStates._at

    def at(self: PairStates, *arguments: object) -> tuple[list[pair_states._Cell], bool]:
        found, sure = before(self, *arguments)  # type: ignore[arg-type]
        return found if sure else [], sure

    patch.setattr(PairStates, "_at", at)


def with_the_source_rank_where_it_pleases(patch: pytest.MonkeyPatch) -> None:
    before = PairStates.before_barrier

    def before_barrier(self: PairStates, others: Sequence[set[int]], source: int, *further: object) -> object:
        return before(self, others, 0, *further)  # type: ignore[arg-type]

    patch.setattr(PairStates, "before_barrier", before_barrier)


def count_of(twice: str) -> str:
    return (
        "if (me == 1) { write(x, 0, y, q); update(add, 1, 0, c, q); mem[z @ 0] <- 1; } "
        f"if (me > 1) {{ {twice} }} if (me == 0) {{ await(mem[c] >= nodes - 1); r <- mem[z]; r <- mem[y]; }}"
    )


RULES: list[tuple[Mutation, str]] = [
    (beyond_the_next_barrier, f"write(x, {RIGHT}, y, q); barrier; r <- mem[y];"),
    (
        without_other_ranks,
        "if (me == 0) { s <- fetch(1, f); write(x, 1, y, q); mem[g @ 2] <- 1; } "
        "if (me == 2) { await(mem[g] == 1); mem[f @ 1] <- 1; } if (me == 1) { await(mem[f] == 1); r <- mem[y]; }",
    ),
    (
        without_what_the_source_rank_writes,
        "if (me == 0) { write(x, 1, y, q); mem[f @ 1] <- 1; } if (me == 1) { await(mem[f] == 1); r <- mem[y]; }",
    ),
    (
        without_barriers,
        f"mem[g @ {RIGHT}] <- 1; await(mem[g] == 1); barrier; write(x, {RIGHT}, y, q); r <- mem[y];",
    ),
    (with_each_rank_adding_once, count_of("s <- fetch_add(0, c, 1); s <- fetch_add(0, c, 1);")),
    (with_whatever_is_added_for_one, count_of("s <- fetch_add(0, c, 2);")),
    (
        with_counts_from_anywhere,
        "if (me == 1) { s <- fetch_add(0, most, 1); await(mem[f] == 1); r <- mem[y]; } "
        "if (me == 0) { await(mem[most] < 0); write(x, 1, y, u); write(one, 1, f, u); }",
    ),
    (
        with_updates_that_always_write,
        "if (me == 0) { write(x, 1, y, q); mem[f @ 1] <- 1; } "
        "if (me == 1) { await(mem[f] == 1); s <- compare_swap(1, f, 0, 2); r <- mem[y]; }",
    ),
    (
        with_targets_that_are_known_alone,
        "if (me == 0) { s <- fetch(1, f); write(x, 1, y, q); s <- mem[g]; mem[f @ s] <- 1; } "
        "if (me > 0) { mem[g @ 0] <- me; } if (me == 1) { await(mem[f] == 1); r <- mem[y]; }",
    ),
    (
        with_the_source_rank_where_it_pleases,
        "if (me == 0) { mem[f @ 1] <- 1; write(x, 1, y, q); s <- fetch(1, z); } "
        "if (me == 1) { await(mem[f] == 1); mem[z] <- 1; r <- mem[y]; }",
    ),
]


@pytest.mark.parametrize(("mutation", "block"), RULES, ids=[mutation.__name__ for mutation, _ in RULES])
def test_without_a_condition_there_is_a_wrong_proof(
    mutation: Mutation, block: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = parse(f"{HEADER.replace('f, g,', 'f, g, c, zero, most = 2147483647,')}{block} }}")
    check_that_it_needs(mutation, program, monkeypatch)
