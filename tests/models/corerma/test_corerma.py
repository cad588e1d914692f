"""What the model says of programs beside outcomes: refusals, graphs, why something is forbidden, limits."""

from __future__ import annotations

import time

import pytest

from pgasrob.models.corerma import CoreRma
from pgasrob.models.corerma.consistent_executions import is_acyclic
from pgasrob.models.litmus.litmus_parser import parse
from pgasrob.models.litmus.litmus_program import Program, Value
from pgasrob.models.model_interface import Axiomatic, Forbidden, Refused
from pgasrob.models.model_table import Options, model
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.watch import Watch
from tests.models.corerma.premises import candidates

FIGURE_6 = "x@0=1 y@1=0 :: 0: a = x || 1: x^0 = y; y = x^0; flush(0); b = y"
FIGURE_8 = "x@0=1 y@1=0 :: 0: a = x; x = 2; b = x || 1: y = x^0; x^0 = y; flush(0); c = y"


def why(asked: CoreRma, text: str, **values: Value) -> tuple[list[str], list[str]]:
    """The sets of rules, and the cycle in words."""
    program = parse(text).program
    found = asked.forbidden(program, values)
    assert found is not None
    return [" ".join(sorted(rules)) for rules in found.rules], cycle(program, found)


def cycle(program: Program, found: Forbidden) -> list[str]:
    if found.execution is None:
        return []
    events = found.execution.events

    def named(number: int) -> str:
        location = events[number].location
        return f"{events[number].kind} {'' if location is None else program.locations[location].name}".strip()

    return [f"{named(edge.source)} -{edge.relation}-> {named(edge.target)} by {edge.rule}" for edge in found.cycle]


def test_it_is_a_model() -> None:
    stock = CoreRma()
    assert isinstance(stock, Axiomatic)
    assert (stock.name, stock.semantics, stock.variant) == ("corerma", None, "")
    other = CoreRma(without=("IR", "GA"), vpi=True, hb="least", repair=False, local_order="text")
    assert other.variant == "vpi, hb-least, no-repair, local-order-text, without GA, without IR"
    assert len({stock, CoreRma(), other, model("corerma", Options(vpi=True))}) == 3
    with pytest.raises(ValueError, match="coreRMA has no rule R3; it has R1, R2, C, no-C, IR"):
        CoreRma(without=("R3",))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x@1 z@2 :: 1: x = z^2; poll(2)", "coreRMA has no poll: flush(2) waits for all operations to node 2"),
        ("x@1 z@2 :: 1: x = z^2; rfence(2)", "coreRMA has no rfence: flush(2) waits for all operations to node 2"),
        ("x@1 :: 1: x = 1; mfence", "coreRMA has no mfence: what a CPU does is in program order"),
        ("x@1 :: 1: a = CAS(x, 0, 1)", "coreRMA has no CAS of the CPU: cas is an operation of the adapter"),
        (
            "x@1 z@2 :: 1: x = rcas(z^2, 0, 1)",
            "coreRMA has no rcas: its remote atomics, rga and cas, read their operands from memory",
        ),
        (
            "x@1 z@2 :: 1: x = rfaa(z^2, 1)",
            "coreRMA has no rfaa: its remote atomics, rga and cas, read their operands from memory",
        ),
        ("x@1 :: 1: a = x; assume(a == 1)", "coreRMA has no control flow, so no assume"),
        ("x@1 :: 1: choose { x = 1 } or { x = 2 }", "coreRMA has no control flow: neither choose nor loop"),
        ("x@1 :: 1: loop 2 { x = 1 }", "coreRMA has no control flow: neither choose nor loop"),
        (
            "x@1 :: 1: x = 1 || 1: x = 2",
            "coreRMA has one thread on a node, and there are two or more on node 1",
        ),
    ],
)
def test_what_it_refuses(text: str, reason: str) -> None:
    program = parse(text).program
    assert reason in [refusal.reason for refusal in CoreRma().refusals(program)]
    with pytest.raises(Refused, match=reason.partition(":")[0]):
        CoreRma().outcomes(program)
    with pytest.raises(Refused):
        next(CoreRma().executions(program))
    with pytest.raises(Refused):
        CoreRma().forbidden(program, {})


def test_a_fault_is_told() -> None:
    program = parse("x@1=0 y@2=1 :: 1: x = y^2; a = 6 / x").program
    for asked in (CoreRma(), CoreRma(hb="least", repair=False)):
        with pytest.raises(Refused, match="an execution faults: division by zero: 6 / 0"):
            asked.outcomes(program)
    # Also where nothing depends on it.
    program = parse("x@1=1 y@2=0 :: 1: x = y^2; a = x; b = 6 / a; a = 1; b = 2").program
    with pytest.raises(Refused, match="an execution faults: division by zero: 6 / 0"):
        CoreRma().outcomes(program)
    # Behind the flush x is 1 in every execution, whatever the enumeration tries on the way.
    program = parse("x@1=0 y@2=1 :: 1: x = y^2; flush(2); a = 6 / x").program
    assert set(CoreRma().outcomes(program).found) == {(1, 1, 6)}


def test_values() -> None:
    """Registers, 32 bits, locations that are not shown, and T in whatever is computed from it."""

    def outcomes(text: str) -> set[tuple[Value, ...]]:
        return set(CoreRma().outcomes(parse(text).program).found)

    assert outcomes("x@1=2147483647 :: 1: a = x; a = a + 1; x = a; b = 7") == {(-2147483648, -2147483648, 7)}
    assert outcomes("x@1=2147483647 y@2=0 :: 2: y = rga(x^1, 1)") == {(-2147483648, 2147483647)}
    assert outcomes("x@1=5 :: 1: a = 1") == {(5, 1)}
    assert outcomes("x@1=0 y@2=3 :: 1: x.n = y^2; a = x.n; b = a * 0 + 1") == {
        (3, 3, 0, 1),
        (3, 3, 3, 1),
        (3, 3, "T", "T"),
    }
    # What a cas compares is T, so is what it leaves; it brings what it has found.
    text = "x@1=0 y@2=0 z@2=1 :: 1: x.n = 1 || 2: y = cas(x^1.n, 0, z)"
    assert ("T", "T", 1) in outcomes(text) and (1, 1, 1) in outcomes(text)
    assert ("T", 5, 5) in outcomes("x@1=5 y@2=0 z@2=1 :: 2: z = cas(x^1, y.n, z); y.n = 5")


@pytest.mark.parametrize(
    ("text", "without"),
    [
        # A race that is over leaves no T at the end.
        ("x@1=0 y@2=2 :: 1: x.n = y^2; x.n = 1; flush(2); x = 3", ()),
        # Which cas succeed makes a difference although the outcome does not depend on what they read.
        ("x@1=1, y@2=0, z@1=0 :: 2: z^1 = y; y = cas(x^1, y, y); x^1 = 1", ("CAS-T",)),
        # The writes of x have no order in which a1 could be T and x be 0.
        ("x@1=0, y@2=0 :: 1: x = y^2.n; x.n = 1; a1 = x.n; x = y^2", ("GA", "PG")),
    ],
)
def test_what_the_search_must_not_forget(text: str, without: tuple[str, ...]) -> None:
    program = parse(text).program
    assert set(CoreRma(without).outcomes(program).found) == candidates(CoreRma(without), program)


def test_reads_from_has_no_cycle() -> None:
    assert is_acyclic([-1, 0, 1, 0])
    assert not is_acyclic([-1, 2, 1])
    assert not is_acyclic([1, 2, 1])


def test_the_graph_of_an_execution() -> None:
    program = parse(FIGURE_6).program
    found = CoreRma().outcomes(program).found
    assert {(outcome[2], outcome[3]) for outcome in found} == {(0, 0), (1, 0)}
    for outcome, execution in found.items():
        kinds = [(event.thread, event.operation, event.kind, event.towards) for event in execution.events]
        assert kinds == [
            (None, 0, "init", None),
            (None, 0, "init", None),
            (0, 0, "r", None),
            (1, 0, "er", 0),
            (1, 0, "ew", 0),
            (1, 1, "er", 0),
            (1, 1, "ew", 0),
            (1, 2, "flush", 0),
            (1, 3, "r", None),
        ]
        assert execution.relations["po"] == {(3, 4), (4, 5), (5, 6), (6, 7), (7, 8)}
        assert execution.outcome == outcome
        before, after = (0, 2), (4, 2)
        assert ((before if outcome[2] == 1 else after) in execution.relations["rf"]) is True
        assert execution.relations["mo"] == {(0, 4), (1, 6)}
        assert ((2, 4) in execution.relations["rb"]) is (outcome[2] == 1)
        assert {(3, 4), (4, 5), (5, 6), (6, 7), (7, 8)} <= execution.relations["hb"]


def test_read_writes_have_no_edge_to_themselves() -> None:
    program = parse("x@1=1 y@2=0 :: 2: y = rga(x^1, 1)").program
    (execution,) = CoreRma().executions(program)
    assert all(source != target for pairs in execution.relations.values() for source, target in pairs)


def test_all_executions() -> None:
    """Figure 3a has nine: the two writes in one order, in the other or in none, by what the read can read from."""
    program = parse("x@1=0 y@2=0 :: 1: x.n = y^2.n; x.n = 1; a = x.n").program
    assert len(list(CoreRma().executions(program))) == 9
    assert len(list(CoreRma(hb="least").executions(program))) == 2


def test_why_an_outcome_is_forbidden() -> None:
    stock = CoreRma()
    assert stock.forbidden(parse(FIGURE_6).program, {"a": 1, "b": 0}) is None
    assert why(stock, FIGURE_6, a=0, b=1) == (
        ["IR", "R1"],
        ["ew x -po-> er x by IR", "er x -rb-> ew x by R1"],
    )
    assert why(stock, FIGURE_8, c=0)[0] == ["IR", "F1", "F2", "R1", "R2"]
    # Nobody writes a 3.
    assert why(stock, FIGURE_6, b=3) == ([], [])
    text = "x@1=0 y@2=1 :: 1: x = y^2; flush(2); a = x"
    assert why(stock, text, a=0) == (
        ["F1", "F2", "R1"],
        ["ew x -po-> flush by F2", "flush -po-> r x by F1", "r x -rb-> ew x by R1"],
    )
    with pytest.raises(ValueError, match="the program has no c"):
        stock.forbidden(parse(FIGURE_6).program, {"c": 0})


def test_why_an_outcome_needs_two_rules() -> None:
    """The get comes behind the put by IR, and behind the flush that does."""
    text = "x@1=1 y@2=0 z@1=0 :: 1: y^2 = x; flush(2); z = y^2"
    assert why(CoreRma(), text, z=0) == (
        ["R1", "F2 IR", "F3 IR"],
        ["ew y -po-> er y by IR", "er y -rb-> ew y by R1"],
    )


def test_why_there_has_to_be_no_race() -> None:
    """T is forbidden where the rules order what would have to race."""
    sets, around = why(CoreRma(), "x@1=0 y@2=1 :: 1: x.n = y^2; flush(2); a = x.n", a="T")
    assert sets == ["F1", "F2", "no-C"]
    assert around == ["ew.n x -po-> flush by F2", "flush -po-> r.n x by F1", "r.n x -race-> ew.n x by C"]
    assert why(CoreRma(hb="least"), "x@1=0 y@2=1 :: 1: x.n = y^2; a = x.n", a=0) == (["C"], [])


def test_limits() -> None:
    program = parse(FIGURE_8).program
    watch = Watch(Limits(max_states=3), None, time.monotonic())
    result = CoreRma().outcomes(program, watch)
    assert str(result.reason) == "the limit of 3 states was reached"
    assert 0 < len(result.found) < 6
    assert CoreRma().outcomes(program).reason is None


def test_there_may_be_many_locations() -> None:
    locations = " ".join(f"x{number}@1" for number in range(1100))
    assert len(CoreRma().outcomes(parse(f"{locations} :: 1: x1 = 1; a = x2").program).found) == 1
