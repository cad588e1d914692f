"""Assertions on a network: whether one fails is what all runs of the machine say, none done first."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

import pgasrob
from pgasrob.automata.automaton import Reached
from pgasrob.models.litmus.instructions import Assign
from pgasrob.models.litmus.litmus_program import Program
from pgasrob.models.networks import assertions
from pgasrob.models.networks.assertions import failing_assertion
from pgasrob.models.networks.robustness import by_normal_forms
from pgasrob.models.networks.to_litmus import translate
from pgasrob.models.operational import State, Step
from pgasrob.models.rdma_tso import RdmaTso
from pgasrob.models.sc import Sc
from pgasrob.program.instance import Instance
from pgasrob.robustness.reasons import StateLimit
from tests.models.networks.test_to_litmus import random_block
from tests.support import instance


def some_run_fails(program: Program, scratch: int, lines: set[object], model: RdmaTso) -> bool:
    """Whether in some run, complete or not, the value of an assertion is assigned that does not hold."""
    machine = model.machine(program, reduced=False)
    reached: Reached[State, Step] = Reached(machine)
    for state in reached.expand():
        for word, target in machine.successors(state):
            for step in word:
                made = step.instruction
                if isinstance(made, Assign) and made.register == scratch and made.span in lines:
                    assert len(word) == 1
                    local: object = machine.local(target, step.thread)
                    if not machine._components[step.thread].registers(local)[scratch]:  # type: ignore[arg-type]
                        return True
    return False


def asserting_blocks(random: Random) -> list[str]:
    """Blocks of two ranks, one of which has an assertion in the end: that it has not got the registers of an outcome
    (or nearly so), of one that SC has not where there is such an outcome."""
    reads = (
        "r <- mem[x];",
        "r <- mem[y];",
        "s <- mem[y];",
        "s <- mem[z];",
        "r <- fetch(PEER, x);",
        "s <- fetch(PEER, y);",
    )
    blocks = [
        " ".join((random_block(random, rank), *random.sample(reads, 2))).replace("PEER", str(1 - rank))
        for rank in range(2)
    ]
    program = translate(instance(*blocks), "rdma-tso", placed=True).program
    weak, strong = (
        [dict(zip(program.names, found, strict=True)) for found in model.outcomes(program).found]
        for model in (RdmaTso(placed=True), Sc())
    )
    rank = random.randrange(2)
    got = [sorted({(each[f"r@{rank}"], each[f"s@{rank}"]) for each in found}) for found in (weak, strong)]
    one, two = random.choice(sorted(set(got[0]) - set(got[1])) or got[1])
    two += random.random() < 0.4
    blocks[rank] += f" assert(!(r == {one} && s == {two}));"
    return blocks


def claimed(ranks: Instance) -> set[object]:
    edges = (edge for automaton in ranks.automata for edge in automaton.transitions)
    return {edge.span for edge in edges if type(edge.command).__name__ == "Assert"}


def said(count: int, seed: int) -> Counter[str]:
    found = Counter[str]()
    for number in range(count):
        random = Random(seed * 1_000_000 + number)
        ranks = instance(*asserting_blocks(random))
        model = RdmaTso(pcie=random.random() < 0.6, placed=True, atomics="glob" if random.random() < 0.2 else "hca")
        program = translate(ranks, "rdma-tso", pcie=model.pcie, placed=True).program
        sought = failing_assertion(ranks, program, model)
        assert sought.reason is None
        fails = some_run_fails(program, len(ranks.program.registers), claimed(ranks), model)
        assert (sought.failed is not None) == fails, number
        robust = by_normal_forms(program, model).violation is None
        in_sc = pgasrob.check(ranks.program, nodes=2).assertions == "violated"
        assert not in_sc or fails, number
        if robust:
            assert in_sc == fails, number
        found[
            f"{'robust' if robust else 'not robust'}{', fails' * fails}{', and not in SC' * (fails and not in_sc)}"
        ] += 1
    return found


def test_an_assertion_fails_where_some_run_says_so() -> None:
    assert said(60, 1) == {
        "robust": 17, "robust, fails": 26, "not robust": 8, "not robust, fails": 8,
        "not robust, fails, and not in SC": 1,
    }  # fmt: skip


@pytest.mark.nightly
def test_an_assertion_fails_where_some_run_says_so_in_many_programs() -> None:
    assert said(4_000, 2) == {
        "robust": 1164, "robust, fails": 1867, "not robust": 353, "not robust, fails": 563,
        "not robust, fails, and not in SC": 53,
    }  # fmt: skip


REUSE = "write(x, 1, y, q); mem[x] <- 1; r <- 2;"


def test_assertions_behind_a_barrier_are_left_open() -> None:
    """Rank 1 never comes to the barrier, so that rank 0 does not pass it. No translation knows that."""
    for block, fails, left_out in (
        (f"{REUSE} barrier; assert(r == 1);", False, True),
        (f"{REUSE} assert(r == 1); barrier;", True, False),
        (f"{REUSE} assert(r == 2); barrier;", False, False),
    ):
        ranks = instance(block, "await(mem[w] == 77); barrier;")
        sought = failing_assertion(ranks, translate(ranks, "rdma-tso").program, RdmaTso())
        assert (sought.failed is not None, sought.left_out, sought.reason) == (fails, left_out, None)


def test_the_run_and_what_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    ranks = instance("write(x, 1, y, q); mem[x] <- 7;", "r <- mem[y]; assert(r != 7); s <- mem[z]; assert(s != 99);")
    program = translate(ranks, "rdma-tso").program
    failed = failing_assertion(ranks, program, RdmaTso()).failed
    assert failed is not None
    assert (failed.thread, ranks.program.source.piece(failed.span)) == (1, "assert(r != 7)")
    assert dict(zip(program.names, failed.run.outcome, strict=True))["r@1"] == 7
    monkeypatch.setattr(assertions, "MOST_STATES", 3)
    assert failing_assertion(ranks, program, RdmaTso()) == assertions.Sought(None, StateLimit(3), 5)
