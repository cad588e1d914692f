"""Every premise and every rule of the two machines of RDMA-TSO has a program that tells when it is taken out.

A premise keeps an outcome away, which comes with it gone; a rule gives an outcome, which goes with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest

from pgasrob.models.litmus.litmus_parser import parse
from pgasrob.models.litmus.litmus_program import Outcome
from pgasrob.models.operational import Machine, Step, Word, outcomes
from pgasrob.models.rdma_tso import concrete, simplified
from tests.models.strategies import random_program

MAKE: dict[str, Callable[..., Machine[Any]]] = {"concrete": concrete.concrete, "simplified": simplified.simplified}
PREMISES = {"concrete": concrete.PREMISES, "simplified": simplified.PREMISES}
IMPLIED = {"simplified": {"arrival-behind-rfence": "a put behind an rfence has no value yet, by source-behind-rfence"}}

FIGURE_2C = "x@1 z@2 :: 1: z^2 = x; poll(2); x = 1"
FIGURE_2I = "x@1=1 y@2 z@2 :: 1: x = y^2; rfence(2); z^2 = x"
FIGURE_3D = "y@1 x@2 :: 1: x^2 = 1; poll(2); a = y || 2: y^1 = 1; poll(1); b = x"
PUT_GET = "x@1=1 y@1 z@2 :: 1: z^2 = x; y = z^2"
TWO_PUTS = "x@1=1 w@1=2 z@2 :: 1: z^2 = x; z^2 = w"
TWO_GETS = "x@1 y@2=1 z@2=2 :: 1: x = y^2; x = z^2"
POLLED_GET = "x@1 y@2=1 :: 1: x = y^2; poll(2); a = x"
PUT_ATOMIC = "x@1=1 y@1 z@2 :: 1: z^2 = x; y = rfaa(z^2, 2)"

# A premise, a program, and what it keeps away; "no-pcie" and "placed" where that is so there.
CPU = {
    "load-looks-in-the-store-buffer": ("x@1=1 :: 1: x = 3; a = x", {"a": 1}, ""),
    "load-takes-the-latest-store": ("x@1 :: 1: x = 1; x = 2; a = x", {"a": 1}, ""),
    "CAS-empties-the-store-buffer": ("x@1=1 :: 1: x = 3; a = CAS(x, 1, 4)", {"a": 1}, ""),
    "failed-CAS-empties-the-store-buffer": ("x@1=1 :: 1: x = 3; a = CAS(x, 3, 4)", {"a": 1}, ""),
    "mfence-empties-the-store-buffer": (
        "x@1 y@1 :: 1: x = 1; mfence; a = y || 1: y = 1; mfence; b = x",
        {"a": 0, "b": 0},
        "",
    ),
    "fifo-store-buffer": ("x@1 z@2 :: 1: x = 1; z^2 = x", {"z": 0}, ""),
    "poll-waits": (FIGURE_2C, {"z": 1}, ""),
    "poll-takes-the-oldest": (POLLED_GET, {"a": 0}, ""),
    "poll-takes-away": ("x@1 y@2 z@2 :: 1: y^2 = x; z^2 = x; poll(2); poll(2); x = 1", {"z": 1}, ""),
    "placed-before-polled": (FIGURE_3D, {"a": 0, "b": 0}, "placed"),
}
BUFFERS = {
    "put-reads-behind-wbL": (FIGURE_2I, {"z": 1}, ""),
    "put-looks-in-wbL": (FIGURE_2I, {"z": 1}, "no-pcie"),
    "put-takes-the-latest-in-wbL": (
        "x@1=1 y@2=2 w@2=3 z@2 :: 1: x = y^2; x = w^2; rfence(2); z^2 = x",
        {"z": 2},
        "no-pcie",
    ),
    "get-waits-for-wbR": (PUT_GET, {"y": 0}, ""),
    "get-looks-in-wbR": (PUT_GET, {"y": 0}, "no-pcie"),
    "get-takes-the-latest-in-wbR": (
        "x@1=1 w@1=2 y@1 z@2 :: 1: z^2 = x; z^2 = w; y = z^2",
        {"y": 1},
        "no-pcie",
    ),
    "value-before-notification": (POLLED_GET, {"a": 0}, ""),
    "fifo-wbR": (TWO_PUTS, {"z": 1}, ""),
    "fifo-wbL": (TWO_GETS, {"x": 1}, ""),
    "atomic-waits-for-wbR": (PUT_ATOMIC, {"y": 0}, "no-pcie"),
    "atomic-waits-for-the-lock": (
        "x@1 y@3 z@2 :: 1: x = rfaa(z^2, 1) || 3: y = rfaa(z^2, 1)",
        {"x": 0, "y": 0},
        "",
    ),
    # The first atomic fetches before 5 is placed and writes after 6 is; the one that fails comes between the puts.
    "failed-atomic-waits-for-the-lock": (
        "y@2 z@2 :: 1: a = rfaa(z^2, 1) || 3: z^2 = 5; b = rcas(y^2, 7, 8); poll(2); poll(2); z^2 = 6",
        {"a": 0, "z": 1},
        "",
    ),
}
NOTICED = {
    "concrete": CPU
    | BUFFERS
    | {
        "fifo-reqL": (PUT_GET, {"y": 0}, ""),
        "fifo-inR": (PUT_GET, {"y": 0}, ""),
        "fifo-outR": (TWO_GETS, {"x": 1}, ""),
        "fifo-rspL": (TWO_GETS, {"x": 1}, ""),
        "fetch-in-outR": (PUT_GET, {"y": 0}, ""),
        "atomic-in-outR": (PUT_ATOMIC, {"y": 0}, ""),
        "rfence-waits-for-inR": (FIGURE_2I, {"z": 1}, ""),
        "rfence-waits-for-outR": (FIGURE_2I, {"z": 1}, ""),
        "rfence-waits-for-rspL": (FIGURE_2I, {"z": 1}, ""),
    },
    "simplified": CPU
    | BUFFERS
    | {
        "source-behind-puts": ("x@1 y@2 z@2 :: 1: y^2 = x; z^2 = x || 1: x = 1", {"y": 1, "z": 0}, ""),
        "source-behind-rfence": (FIGURE_2I, {"z": 1}, ""),
        "arrival-behind-puts": (TWO_PUTS, {"z": 1}, ""),
        "fetch-behind-puts": (PUT_GET, {"y": 0}, ""),
        "fetch-behind-rfence": (
            "x@1 w@1 y@2 z@2 :: 1: x = y^2; rfence(2); w = z^2 || 2: z = 1; y = 1",
            {"x": 1, "w": 0},
            "",
        ),
        "atomic-behind-puts": (PUT_ATOMIC, {"y": 0}, ""),
        "atomic-behind-rfence": (
            "x@1 w@1 y@2 z@2 :: 1: x = y^2; rfence(2); w = rfaa(z^2, 1) || 2: z = 1; y = 1",
            {"x": 1, "w": 0},
            "",
        ),
        "acknowledged-at-the-head": ("x@1 w@1 y@2=1 z@2 :: 1: x = y^2; z^2 = w; poll(2); a = x", {"a": 0}, ""),
        "returned-at-the-head": (TWO_GETS, {"x": 1}, ""),
        "rfence-at-the-head": (FIGURE_2I, {"z": 1}, ""),
    },
}


def found(kind: str, text: str, variant: str = "", without: frozenset[str] = frozenset()) -> list[dict[str, object]]:
    program = parse(text).program
    machine = MAKE[kind](program, pcie="no-pcie" not in variant, placed="placed" in variant, without=without)
    return [dict(zip(program.names, outcome, strict=True)) for outcome in outcomes(machine).found]


def has(outcomes: list[dict[str, object]], values: dict[str, int]) -> bool:
    return any(values.items() <= outcome.items() for outcome in outcomes)


@pytest.mark.parametrize(("kind", "premise"), [(kind, premise) for kind in NOTICED for premise in NOTICED[kind]])
def test_a_premise_keeps_an_outcome_away(kind: str, premise: str) -> None:
    text, values, variant = NOTICED[kind][premise]
    assert not has(found(kind, text, variant), values)
    assert has(found(kind, text, variant, frozenset({premise})), values)


def test_the_score() -> None:
    """How many premises there are, are noticed, and follow from others."""
    score = {}
    for kind, premises in PREMISES.items():
        implied = IMPLIED.get(kind, {})
        assert set(premises) == NOTICED[kind].keys() | implied.keys()
        assert len(premises) == len(NOTICED[kind]) + len(implied)
        score[kind] = len(premises), len(NOTICED[kind]), len(implied)
        print(f"{kind}: {score[kind][0]} premises, {score[kind][1]} noticed, {score[kind][2]} implied by others")
    assert score == {"concrete": (31, 31, 0), "simplified": (33, 32, 1)}


def test_what_is_implied_changes_nothing() -> None:
    random = Random(5)
    for _ in range(150):
        program = random_program(random, "rdma-tso", nodes=(2, 2), statements=5)
        for premise in IMPLIED["simplified"]:
            for pcie in (True, False):
                whole = outcomes(simplified.simplified(program, pcie, reduced=False))
                less = outcomes(simplified.simplified(program, pcie, without=frozenset({premise})))
                assert (whole.found.keys(), whole.states) == (less.found.keys(), less.states)


def test_a_premise_that_there_is_not() -> None:
    program = parse("x@1 :: 1: x = 1").program
    for kind, make in MAKE.items():
        with pytest.raises(ValueError, match="no premise gets-wait"):
            make(program, without=frozenset({"gets-wait"}))
        assert len(set(PREMISES[kind])) == len(PREMISES[kind])


# Rules

INSTRUCTIONS = {
    "store": "x@1 :: 1: x = 1",
    "drain": "x@1 :: 1: x = 1",
    "load": "x@1=1 :: 1: a = x",
    "mfence": "x@1 :: 1: mfence",
    "CAS": "x@1 :: 1: CAS(x, 0, 1)",
    "failed CAS": "x@1 :: 1: CAS(x, 1, 2)",
    "assign": "x@1 :: 1: a = 1",
    "assume": "x@1 :: 1: assume(x == 0)",
    "put": "x@1=1 z@2 :: 1: z^2 = x",
    "get": "x@1 z@2=1 :: 1: x = z^2",
    "rfence": "x@1 z@2 :: 1: rfence(2)",
    "poll": FIGURE_2C,
    "send": FIGURE_2C,
    "read source": FIGURE_2C,
    "acknowledge": FIGURE_2C,
    "place": FIGURE_2C,
    "notify": FIGURE_2C,
    "fetch": POLLED_GET,
    "return": POLLED_GET,
    "land": POLLED_GET,
    "pass rfence": FIGURE_2I,
    "rcas": "x@1 z@2=1 :: 1: x = rcas(z^2, 1, 2)",
    "rfaa": PUT_ATOMIC,
    "fetch to update": PUT_ATOMIC,
    "update": PUT_ATOMIC,
    "failed rcas": "x@1 z@2=1 :: 1: x = rcas(z^2, 2, 3)",
    "fetch and update": PUT_ATOMIC,
}
GLOB = {"fetch and update"}
"""Rules that there are with IBV_ATOMIC_GLOB alone."""
RULES = {
    "concrete": INSTRUCTIONS | {"to inR": POLLED_GET, "to outR": POLLED_GET, "to rspL": POLLED_GET},
    "simplified": INSTRUCTIONS,
}


class Lacking(Machine[Any]):
    """A machine without the transitions of one rule."""

    def __init__(self, machine: Machine[Any], rule: str) -> None:
        super().__init__(machine.program, machine._components, hidden=machine._hidden)
        self._rule = rule

    def successors(self, state: tuple[int, ...]) -> list[tuple[Word, tuple[int, ...]]]:
        return [(word, to) for word, to in super().successors(state) if all(step.name != self._rule for step in word)]


@pytest.mark.parametrize(("kind", "rule"), [(kind, rule) for kind in RULES for rule in RULES[kind]])
def test_a_rule_gives_outcomes(kind: str, rule: str) -> None:
    program = parse(RULES[kind][rule]).program
    assert len(outcomes(MAKE[kind](program, glob=rule in GLOB)).found) == 1
    assert not outcomes(Lacking(MAKE[kind](program, reduced=False, glob=rule in GLOB), rule)).found


@pytest.mark.parametrize("kind", MAKE)
def test_these_are_all_rules(kind: str) -> None:
    """The names of all steps of the machine on random programs."""
    random, names = Random(1), set[str]()
    for number in range(60):
        program = random_program(
            random, "rdma-tso", nodes=(2, 2), statements=6, branching=True, remote_atomics=number % 2 == 1
        )
        machine = MAKE[kind](program, reduced=False, glob=number % 4 == 1)
        names |= {step.name for step in _steps(machine)}
    assert names == RULES[kind].keys()


def _steps(machine: Machine[Any]) -> Iterator[Step]:
    met, left = {machine.initial}, [machine.initial]
    while left:
        for word, state in machine.successors(left.pop()):
            yield from word
            if state not in met:
                met.add(state)
                left.append(state)


def test_the_first_outcome_of_each_program_is_the_right_one() -> None:
    """Where a rule gives one outcome alone it is this."""
    expected: dict[str, Outcome] = {
        FIGURE_2C: (1, 0),
        POLLED_GET: (1, 1, 1),
        FIGURE_2I: (0, 0, 0),
        INSTRUCTIONS["CAS"]: (1,),
        INSTRUCTIONS["failed CAS"]: (0,),
        INSTRUCTIONS["put"]: (1, 1),
        INSTRUCTIONS["get"]: (1, 1),
    }
    for text, outcome in expected.items():
        for make in MAKE.values():
            assert set(outcomes(make(parse(text).program)).found) == {outcome}
