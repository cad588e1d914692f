"""A directed test for each rule, and for each premise and conclusion of it, that fails when it is taken out.

Each names an outcome that the model has or has not; with the rule or premise taken out it is the other way round. What
no test can notice is listed with the reason.
"""

from __future__ import annotations

import pytest

from pgasrob.models.corerma import CoreRma
from pgasrob.models.corerma.order_rules import RULES
from pgasrob.models.litmus.litmus_parser import parse
from pgasrob.models.litmus.litmus_program import Outcome, Value
from tests.models.corerma import oracle
from tests.models.corerma.premises import MUTANTS, Replaced, candidates

STORE_BUFFERING = "x@1=0 u@2=5 y@2=1 z@2=0 w@1=5 :: 1: x = y^2; flush(2); w = z^2 || 2: z = 1; u = x^1"
MESSAGE = "p@1=1 z@1=0 y@2=0 w@2=0 :: 1: y^2 = p; flush(2); z = 1 || 2: w = z^1; flush(1); a = w; b = y"
CIRCLE = "x@1=0 y@2=1 z@2=0 :: 1: x = {} || 2: z = x^1; flush(1); y = 7"
TWO_PEERS = "x@1=0 y@2=1 z@3=0 :: 1: x = y^2; flush(2); z^3 = x"

WITHOUT: dict[str, tuple[str, str]] = {
    "R1": ("x@1=0 :: 1: x = 1; a = x", "forbidden a=0"),
    "R2": ("x@1=0 :: 1: a = x; x = 1", "forbidden a=1"),
    "C": ("x@1=1 y@2=0 :: 1: y^2 = x.n; x = 2", "allowed y=T"),
    "no-C": ("x@1=0 :: 1: x = 1; a = x", "allowed a=1"),
    "IR": ("x@1=5 y@2=1 z@1=2 :: 1: y^2 = z; x = y^2", "forbidden x=1"),
    "GA": ("x@1=1 y@2=4 :: 1: x = rga(y^2, x)", "forbidden y=8"),
    "CAS-F": (CIRCLE.format("cas(y^2, 2, 3)"), "forbidden z=7"),
    "CAS-T": (CIRCLE.format("cas(y^2, 7, 3)"), "forbidden z=7"),
    "F1": ("x@1=0 y@2=1 :: 1: y^2 = x; flush(2); x = 1", "forbidden y=1"),
    "F2": ("x@1=0 y@2=1 :: 1: y^2 = x; flush(2); x = 1", "forbidden y=1"),
    "F3": ("x@1=0 y@2=1 :: 1: x = y^2; flush(2); y^2 = x", "forbidden y=0"),
    "PG": ("x@1=0 y@2=0 z@1=1 :: 2: x^1 = y; y = z^1", "forbidden x=1"),
    "LO": ("x@1=0 :: 1: x = 1; x = 2", "forbidden x=1"),
    "WS": ("x@1=1 y@2=0 :: 2: y = x^1; y = 2; a = y; b = y; c = y", "forbidden a=1 b=2 c=1"),
    "VPI": ("x@1=0 y@2=0 :: 1: y^2 = 1; y^2 = x", "forbidden y=1"),
}
"""For each rule a program, and an outcome that it has, or has not, because of that rule."""

PREMISES: dict[str, tuple[str, str]] = {
    "R1: the read is atomic": ("x@1=0 :: 1: x = 1; a = x.n", "allowed a=0"),
    "R1: the write it reads from is atomic": ("x@1=0 :: 1: x.n = 1; x = 2; a = x", "allowed a=1"),
    "R1: the later write is atomic": ("x@1=0 :: 1: x.n = 1; a = x", "allowed a=0"),
    "R1: one location": ("x@1=0 z@1=0 :: 1: z = 1; a = x", "allowed a=0"),
    "R1: the one write happens before the other": ("x@1=0 :: 1: x = 1; x = 2; a = x", "allowed a=2"),
    "R1: the read is not the later write": ("x@1=1 y@2=0 :: 2: y = rga(x^1, 1)", "allowed x=2 y=1"),
    "R2: the read is atomic": ("x@1=0 :: 1: a = x.n; x = 1", "allowed a=1"),
    "R2: the write is atomic": ("x@1=0 :: 1: a = x; x.n = 1", "allowed a=1"),
    "WS: the one write is atomic": ("x@1=0 y@2=2 :: 1: x.n = y^2; x = 1", "allowed x=T"),
    "WS: a write is atomic": ("x@1=0 y@2=2 :: 1: x.n = y^2; x.n = 1", "allowed x=T"),
    "WS: one location": ("x@1=0 y@2=0 z@1=0 :: 1: y^2 = z.n || 2: z^1 = y.n", "allowed y=T z=T"),
    "conflict: in parallel": ("x@1=0 :: 1: x.n = 1; a = x", "allowed a=1"),
    "conflict: one location": ("x@1=0 y@2=0 :: 1: y^2.n = 1; x = 2", "forbidden x=T"),
    "conflict: one is not atomic": ("x@1=0 y@2=2 :: 1: x = y^2; x.n = 1; a = x", "forbidden x=2 a=T"),
    "conflict: one not atomic suffices": ("x@1=1 y@2=0 :: 1: y^2 = x.n; x = 2", "allowed y=T"),
    "conflict: with another action": ("x@1=0 :: 1: x.n = 1", "allowed x=1"),
    "C: the read is in conflict": ("x@1=1 y@2=0 :: 1: y^2 = x.n; x = 2", "allowed y=T"),
    "C: the write is in conflict": ("x@1=0 y@2=2 :: 1: x.n = y^2; x = 1; flush(2); a = x", "allowed a=T"),
    "repair: no read before its write": ("x@1=0 :: 1: a = x; x.n = 1", "forbidden a=1"),
    "repair: no read of what is overwritten": ("x@1=0 :: 1: x.n = 1; a = x", "forbidden a=0"),
    "IR: one target": ("x@1=0 y@2=0 z@3=1 :: 1: y^2 = x; x = z^3", "allowed y=1"),
    "IR: another node": ("x@1=0 y@1=1 z@1=5 :: 1: x^1 = y; z = x^1", "allowed z=0"),
    "VPI: puts": ("x@1=0 y@2=0 :: 1: y^2 = 1; y^2 = x", "forbidden y=1"),
    "VPI: gets": ("x@1=0 y@2=0 z@2=0 w@1=0 :: 1: x = y^2; w = z^2 || 2: z = 1; y = 1", "forbidden x=1 w=0"),
    "VPI: not put and get": ("x@1=5 y@2=1 z@1=2 :: 1: y^2 = z; x = y^2", "allowed x=1"),
    "VPI: not get and put": ("x@1=1 y@2=0 :: 1: x = y^2; y^2 = 3", "allowed x=3"),
    "VPI: not rga": ("x@1=0 y@2=1 z@1=5 w@1=0 :: 1: z = rga(y^2, 1); w = rga(y^2, 2)", "allowed z=3 w=1"),
    "GA: er, erw": ("x@1=1 y@2=4 :: 1: x = rga(y^2, x)", "forbidden y=8"),
    "GA: erw, ew": (CIRCLE.format("rga(y^2, 1)"), "forbidden z=7"),
    "CAS: er1, erw": ("x@1=1 y@2=5 :: 1: x = cas(y^2, x, 2)", "forbidden y=2"),
    "CAS: er2, erw": ("x@1=7 y@2=1 :: 1: x = cas(y^2, 1, x)", "forbidden x=1 y=1"),
    "CAS: erw, ew": (CIRCLE.format("cas(y^2, 2, 3)"), "forbidden z=7"),
    "CAS: er1, er2 by po alone": ("x@1=5 y@2=1 z@2=2 :: 2: z = cas(x^1, y, y); y = 5", "allowed x=1"),
    "F1: the later is local": (TWO_PEERS, "allowed z=0"),
    "F1: of reads": ("x@1=0 y@2=1 :: 1: x = y^2; flush(2); a = x", "forbidden a=0"),
    "F1: of writes": ("x@1=0 y@2=1 :: 1: y^2 = x; flush(2); x = 1", "forbidden y=1"),
    "F2: one target": ("x@1=0 y@2=1 :: 1: x = y^2; flush(1); a = x", "allowed a=0"),
    "F2: e is in Remote": ("x@1=0 y@2=1 :: 1: x = y^2; flush(1); a = x", "allowed a=0"),
    "F2: the action at the target": (MESSAGE, "forbidden a=1 b=0"),
    "F2: the actions at the origin": ("x@1=0 y@2=1 :: 1: x = y^2; flush(2); a = x", "forbidden a=0"),
    "F3: one target": (TWO_PEERS, "allowed z=0"),
    "F3: e is in Remote": ("x@1=0 y@2=5 z@1=1 :: 1: x^1 = z; flush(1); y^2 = x", "allowed y=0"),
    "F3: the action at the target": (STORE_BUFFERING, "forbidden w=0 u=0"),
    "F3: the actions at the origin": ("x@1=0 y@2=1 :: 1: x = y^2; flush(2); y^2 = x", "forbidden y=0"),
    "PG: of puts": ("x@1=0 y@2=0 z@1=1 :: 2: x^1 = y; y = z^1", "forbidden x=1"),
    "PG: of gets": (CIRCLE.format("y^2"), "forbidden z=7"),
    "LO: the first is local": ("x@1=0 y@2=2 :: 1: x = y^2; x = 1", "allowed x=2"),
    "LO: later local reads": ("x@1=0 :: 1: x = 1; a = x", "forbidden a=0"),
    "LO: later local writes": ("x@1=0 :: 1: x = 1; x = 2", "forbidden x=1"),
    "LO: later external reads": ("x@1=0 y@2=2 :: 1: x = 1; y^2 = x", "forbidden y=0"),
}
"""For each premise or conclusion that can be noticed a program, and an outcome that hangs on it."""

LETTER = ("R1: the read", "R1: the write it", "R1: the later", "R2:")
"""Premises that make a difference in the letter of the paper alone (``repair=False``). With the repair a read that is
in no conflict has the last write before it, which is more; and one that is in conflict gives T whatever it reads from,
and may read from what it is in conflict with, or from the last atomic write before it."""

IMPLIED = {
    "IR: the first is in Remote": "an external action whose destination is not its source is at the target",
    "IR: the second is in Remote": "its destination is that of the first one, which is not its source",
    "LO: later external writes": "PG, GA or CAS have the first reads of the operation before, and LO orders these",
    "LO: later read-writes": "the same",
    "LO: later flushes": "what F1 and F3 order after the flush LO orders after the local action",
}
"""What is taken out here and changes nothing, and why."""


def has(model: CoreRma, text: str, wanted: str, replaced: Replaced | None = None) -> bool:
    program = parse(text).program
    values: dict[str, Value] = {}
    for item in wanted.split()[1:]:
        name, _, value = item.partition("=")
        values[name] = "T" if value == "T" else int(value)
    places = {name: program.names.index(name) for name in values}

    def fits(outcome: Outcome) -> bool:
        return all(outcome[places[name]] == value for name, value in values.items())

    return any(map(fits, candidates(model, program, replaced)))


def model_of(name: str, without: frozenset[str] = frozenset()) -> CoreRma:
    return CoreRma(without, vpi=name.startswith("VPI"), repair=not name.startswith(LETTER))


@pytest.mark.parametrize("rule", RULES)
def test_each_rule_is_noticed(rule: str) -> None:
    text, wanted = WITHOUT[rule]
    allowed = wanted.startswith("allowed")
    assert has(model_of(rule), text, wanted) is allowed
    assert has(model_of(rule, frozenset({rule})), text, wanted) is not allowed


@pytest.mark.parametrize("name", PREMISES)
def test_each_premise_is_noticed(name: str) -> None:
    text, wanted = PREMISES[name]
    allowed = wanted.startswith("allowed")
    assert has(model_of(name), text, wanted) is allowed
    assert has(model_of(name), text, wanted, MUTANTS[name]) is not allowed


def test_score() -> None:
    noticed, implied = len(PREMISES), len(IMPLIED)
    print(f"coreRMA: {len(WITHOUT)} of {len(RULES)} rules, {noticed} of {len(MUTANTS)} premises; {implied} are implied")
    assert WITHOUT.keys() == set(RULES)
    assert not PREMISES.keys() & IMPLIED.keys()
    assert PREMISES.keys() | IMPLIED.keys() == MUTANTS.keys()
    assert (len(RULES), noticed, implied) == (15, 50, 5)


@pytest.mark.parametrize("text", sorted({text for text, _ in (WITHOUT | PREMISES).values()}))
def test_the_oracle_agrees(text: str) -> None:
    program = parse(text).program
    for model in (CoreRma(), CoreRma(repair=False)):
        try:
            found = {outcome for outcome, _ in oracle.executions(program, repair=model.repair, limit=2_000)}
        except oracle.TooLarge:
            continue
        assert set(model.outcomes(program).found) == found == candidates(model, program)
