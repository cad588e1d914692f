"""Random programs: the model against the oracle that tries all partial orders, and its two searches and the machine
against each other."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from random import Random

import pytest

from pgasrob.models.corerma import CoreRma
from pgasrob.models.corerma.explanation import _matters
from pgasrob.models.corerma.order_rules import RULES
from pgasrob.models.litmus.litmus_parser import parse
from pgasrob.models.litmus.litmus_program import Program
from pgasrob.models.operational import outcomes
from tests.models.corerma import oracle
from tests.models.corerma.atomic_machine import NETWORK, machine
from tests.models.corerma.premises import candidates
from tests.models.strategies import random_text


def model(random: Random, share: float = 0.1) -> CoreRma:
    """A model with some rules taken out, each with this probability, and other options drawn."""
    return CoreRma(
        without=[rule for rule in RULES if random.random() < share],
        vpi=random.random() < 0.2,
        hb=random.choice(("any", "any", "least")),
        repair=random.random() < 0.8,
        local_order=random.choice(("figure", "figure", "text")),
    )


def options(asked: CoreRma) -> dict[str, object]:
    return {
        "without": asked.without,
        "vpi": asked.vpi,
        "hb": asked.hb,
        "repair": asked.repair,
        "local_order": asked.local_order,
    }


def against_the_oracle(seed: int, count: int, statements: int, limit: int) -> Counter[str]:
    random, seen = Random(seed), Counter[str]()
    for _ in range(count):
        text = random_text(
            random,
            "corerma",
            statements=statements,
            atomic=random.random() < 0.3,
            locations=random.choice((2, 3)),
            nodes=(2, 3),
        )
        program, asked = parse(text).program, model(random)
        try:
            executions = list(oracle.executions(program, limit=limit, **options(asked)))  # type: ignore[arg-type]
        except oracle.TooLarge:
            continue
        expected = {outcome for outcome, _ in executions}
        assert set(asked.outcomes(program).found) == expected == candidates(asked, program), (text, asked)
        seen["programs"] += 1
        seen["non-atomic"] += ".n" in text
        seen["rga"] += "rga" in text
        seen["least"] += asked.hb == "least"
        seen["stock"] += not asked.variant
        seen["several outcomes"] += len(expected) > 1
        seen.update(f"without {rule}" for rule in asked.without)
        seen.update(set().union(*(happens for _, happens in executions)))
    return seen


def test_the_oracle_agrees() -> None:
    seen = against_the_oracle(1, 220, 3, 1_000)
    assert {feature: seen[feature] for feature in ("programs", "non-atomic", "rga", "T", "cas true", "cas false")} == {
        "programs": 153,
        "non-atomic": 88,
        "rga": 19,
        "T": 39,
        "cas true": 8,
        "cas false": 3,
    }
    assert all(seen[f"without {rule}"] >= 5 for rule in RULES), seen


@pytest.mark.nightly
def test_the_oracle_agrees_on_many() -> None:
    seen = against_the_oracle(2, 1_500, 3, 2_000)
    assert seen["programs"] >= 800 and seen["T"] >= 150 and seen["cas true"] >= 20 and seen["cas false"] >= 20


def searches_agree(seed: int, count: int, statements: int, most: int) -> Counter[str]:
    """All executions of ``most`` at most."""
    random, seen = Random(seed), Counter[str]()
    for _ in range(count):
        text = random_text(random, "corerma", statements=statements, atomic=random.random() < 0.4, locations=3)
        program, asked = parse(text).program, model(random)
        if text.count("cas(") > 1 and len({"CAS-F", "CAS-T"} & set(asked.without)) == 1:
            continue  # all guesses which of them succeed are enumerated, and most are wrong
        if enumerated := few_executions(asked, program, most):
            seen["programs"] += 1
            seen["non-atomic"] += ".n" in text
            found = asked.outcomes(program).found
            assert set(found) == enumerated, (text, asked)
            assert all(execution.outcome == outcome for outcome, execution in found.items())
    return seen


def few_executions(asked: CoreRma, program: Program, most: int) -> set[object] | None:
    found: set[object] = set()
    for count, candidate in enumerate(asked.frame(program).candidates(), 1):
        if count > most:
            return None
        found.add(candidate.outcome)
    return found


def test_outcomes_are_those_of_all_executions() -> None:
    seen = searches_agree(3, 400, 4, 300)
    assert dict(seen) == {"programs": 382, "non-atomic": 211}


@pytest.mark.nightly
def test_outcomes_are_those_of_all_executions_of_many() -> None:
    seen = searches_agree(9, 6_000, 4, 1_000)
    assert seen["programs"] >= 5_000


def machine_agrees(seed: int, count: int, statements: int) -> Counter[str]:
    random, seen = Random(seed), Counter[str]()
    for _ in range(count):
        text = random_text(random, "corerma", statements=statements, locations=random.choice((2, 3, 4)), nodes=(2, 3))
        program = parse(text).program
        drawn = model(random)
        asked = CoreRma(drawn.without & NETWORK, drawn.vpi, local_order=drawn.local_order)  # type: ignore[operator]
        expected = set(asked.outcomes(program).found)
        assert set(outcomes(machine(program, asked)).found) == expected, (text, asked)
        seen["programs"] += 1
        seen["several outcomes"] += len(expected) > 1
        seen["rga"] += "rga" in text
        seen["cas"] += "cas" in text
        if len(oracle.Small(program).acts) <= 6:
            seen["total orders"] += 1
            orders = oracle.by_total_orders(program, asked.without, asked.vpi, asked.local_order)
            assert orders == expected, (text, asked)
        least = few_executions(CoreRma(asked.without, asked.vpi, "least", local_order=asked.local_order), program, 300)
        if least is not None:
            seen["least"] += 1
            assert least == expected, (text, asked)
    return seen


def test_the_machine_of_atomic_programs() -> None:
    assert dict(machine_agrees(5, 500, 4)) == {
        "programs": 500,
        "several outcomes": 241,
        "rga": 105,
        "cas": 117,
        "total orders": 285,
        "least": 499,
    }


@pytest.mark.nightly
def test_the_machine_of_many_atomic_programs() -> None:
    seen = machine_agrees(6, 10_000, 6)
    assert seen["several outcomes"] >= 3_000


def test_the_machine_makes_graphs_of_its_runs() -> None:
    """The relations of a run are those of the execution that it is."""
    program = parse("x@0=1 y@1=0 :: 0: a = x || 1: x^0 = y; y = x^0; flush(0); b = y").program
    found = outcomes(machine(program)).found
    assert len(found) == 2
    for execution in found.values():
        kinds = [execution.events[number].kind for number in execution.order]
        assert sorted(kinds) == ["er", "er", "ew", "ew", "flush", "r", "r"]
        assert {pair for pair in execution.relations["rf"] if execution.events[pair[1]].kind == "erw"} == set()


def test_what_the_machine_refuses() -> None:
    atomic = parse("x@1=0 :: 1: x = 1").program
    with pytest.raises(ValueError, match="the machine cannot be without R1"):
        machine(atomic, CoreRma({"R1", "IR"}))
    with pytest.raises(Exception, match="the machine has atomic accesses alone"):
        machine(parse("x@1=0 :: 1: x.n = 1").program)


def minimal_sets(asked: CoreRma, program: Program, outcome: object) -> list[frozenset[str]]:
    """The smallest sets of rules, by trying all sets."""
    frame = asked.frame(program)
    names = [rule for rule in RULES if rule in ("C", "no-C") or _matters(frame, rule)]
    found: list[frozenset[str]] = []
    for size in range(1, len(names) + 1):
        for some in map(frozenset, combinations(names, size)):
            if {"C", "no-C"} <= some or any(each <= some for each in found):
                continue
            if outcome in CoreRma(some, asked.vpi).outcomes(program).found:
                found.append(some)
    return found


def explanations_agree(seed: int, count: int, statements: int, most: int) -> Counter[str]:
    random, seen = Random(seed), Counter[str]()
    for _ in range(count):
        text = random_text(random, "corerma", statements=statements, atomic=random.random() < 0.5, nodes=(2, 2))
        program, asked = parse(text).program, CoreRma(vpi=random.random() < 0.2)
        allowed = asked.outcomes(program).found
        weak = CoreRma(set(RULES) - {"C", "no-C"}).outcomes(program).found
        forbidden = sorted(weak.keys() - allowed.keys(), key=str)
        frame = asked.frame(program)
        if not forbidden or sum(_matters(frame, rule) for rule in RULES) > most:
            continue
        outcome = random.choice(forbidden)
        why = asked.forbidden(program, dict(zip(program.names, outcome, strict=True)))
        assert why is not None and why.execution is not None
        assert set(why.rules) == set(minimal_sets(asked, program, outcome)), (text, outcome)
        assert why.execution.outcome == outcome
        seen["programs"] += 1
        seen[f"of {len(why.rules[0])}"] += 1
        seen["non-atomic"] += ".n" in text
        if why.rules[0] & {"C", "no-C"}:
            seen["by values"] += 1
            continue
        assert any(edge.rule in why.rules[0] for edge in why.cycle), (text, outcome)
        for edge, following in zip(why.cycle, (*why.cycle[1:], why.cycle[0]), strict=True):
            assert edge.target == following.source
    return seen


def test_sets_of_rules_that_forbid() -> None:
    assert dict(explanations_agree(7, 500, 3, 7)) == {"programs": 64, "non-atomic": 34, "of 1": 64}


@pytest.mark.nightly
def test_sets_of_rules_that_forbid_of_many() -> None:
    seen = explanations_agree(8, 1_200, 4, 8)
    assert seen["programs"] >= 250
