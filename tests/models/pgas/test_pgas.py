"""The calculus as a memory model: what is translated, what is refused, and outcomes against two others ways to them."""

from __future__ import annotations

from random import Random

import pytest

from pgasrob.analysis.mixed_atomics import Writing, mixed_atomics
from pgasrob.models.litmus.litmus_parser import parse
from pgasrob.models.litmus.litmus_program import Program
from pgasrob.models.model_interface import Refused
from pgasrob.models.pgas import Pgas
from pgasrob.models.pgas.from_litmus import translate
from pgasrob.models.sc import Sc
from tests.models.pgas import oracle
from tests.models.strategies import random_program
from tests.support import examples


def program(text: str) -> Program:
    return parse(text).program


def found(text: str, semantics: str = "fifo") -> set[tuple[object, ...]]:
    return set(Pgas(semantics).outcomes(program(text)).found)  # type: ignore[arg-type]


def refused(text: str) -> list[str]:
    return [refusal.reason for refusal in Pgas().refusals(program(text))]


def test_a_put_is_late_and_a_flush_waits_for_it() -> None:
    late = "x@1=0 y@2=0 :: 1: y^2 = 1; {}a = x || 2: x^1 = 1; {}b = y"
    assert found(late.format("", "")) == {(1, 1, a, b) for a in (0, 1) for b in (0, 1)}
    assert found(late.format("flush(2); ", "flush(1); ")) == {(1, 1, 0, 1), (1, 1, 1, 0), (1, 1, 1, 1)}


def test_the_source_of_a_put_is_read_late_and_a_poll_waits_for_that_alone() -> None:
    reuse = "x@1=0 z@2=0 :: 1: z^2 = x; {}x = 1; "
    assert found(reuse.format("")) == {(1, 0), (1, 1)}
    assert found(reuse.format("poll(2); ")) == {(1, 0)}
    seen = "x@1=1 z@2=0 w@3=0 :: 1: z^2 = x; {}w^3 = x; || 2: || 3: assume(w == 1); a = z^2; flush(2)"
    assert (1, 1, 1, 0) in found(seen.format("poll(2); "))
    assert (1, 1, 1, 0) not in found(seen.format("flush(2); "))


def test_mfence_does_nothing() -> None:
    text = "x@1=0 y@2=0 :: 1: y^2 = 1; {0}a = x || 2: x^1 = 1; {0}b = y"
    assert found(text.format("mfence; ")) == found(text.format(""))


def test_queues_are_in_order_or_not() -> None:
    text = "x@1=1 y@2=0 z@2=0 :: 1: y^2 = x; z^2 = x || 2: a = z; b = y"
    assert (1, 1, 1, 1, 0) not in found(text)
    assert (1, 1, 1, 1, 0) in found(text, "unordered")
    assert Pgas("unordered").variant == "unordered"


def test_queues_to_two_peers_are_two() -> None:
    text = "x@1=1 y@2=0 z@3=0 :: 1: y^2 = x; z^3 = x || 3: a = z; b = y^2; flush(2); c = b"
    assert any(outcome[-2:] == (1, 0) for outcome in found(text))


def test_polls_in_a_row_take_all_and_others_are_refused() -> None:
    assert found("x@1=0 y@1=0 z@2=1 :: 1: x = z^2; y = z^2; poll(2); poll(2); a = x; b = y") == {(1, 1, 1, 1, 1)}
    oldest = "this poll(2) is of the oldest while others are pending"
    (reason,) = refused("x@1=0 y@1=0 z@2=1 :: 1: x = z^2; y = z^2; poll(2); a = x")
    assert reason == f"the calculus waits for all operations to node 2 or none: {oldest}"
    assert refused("x@1=0 y@1=0 z@2=1 :: 1: x = z^2; y = z^2; poll(2); a = x; poll(2)") == [reason]
    assert refused("x@1=0 z@2=1 :: 1: x = z^2; poll(2); x = z^2; poll(2); a = x") == []
    assert refused("x@1=0 z@2=1 w@3=0 :: 1: x = z^2; w^3 = x; poll(2); a = x; poll(3)") == []


def test_how_many_are_pending_depends_on_the_way() -> None:
    assert refused("x@1=0 z@2=1 :: 1: loop 2 { x = z^2; poll(2) }; a = x") == []
    assert len(refused("x@1=0 z@2=1 :: 1: loop 2 { x = z^2 }; poll(2); a = x")) == 1
    once = "x@1=0 z@2=1 :: 1: choose { x = z^2 } or { skip }; poll(2); a = x"
    assert found(once) == {(1, 1, 1)}, "where nothing is pending the poll waits for ever"


def test_a_poll_of_nothing_gives_no_outcome() -> None:
    assert found("x@1=0 z@2=1 :: 1: poll(2); a = x") == set()


def test_an_atomic_of_the_cpu_is_none_of_the_adapter() -> None:
    """The note on hardware names a CAS of the CPU beside a remote one, and no second remote one."""
    for text, found in (
        ("z@0 :: 0: a = CAS(z, 0, 1) || 1: b = rcas(z^0, 0, 2)", [Writing.ATOMIC]),
        ("z@0 :: 1: a = rcas(z^0, 0, 1) || 2: b = rcas(z^0, 0, 2)", []),
    ):
        instance = translate(parse(text).program).program.instantiate(None)
        assert [write.how for mixed in mixed_atomics(instance) for write in mixed.writes] == found


def test_a_thread_may_end_where_it_could_go_on() -> None:
    assert found("x@1=0 :: 1: loop 2 { x = x + 1 }") == {(0,), (1,), (2,)}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x@1=0 :: 1: x = 1 || 1: a = x", "the calculus has one thread a node, and there are several on node 1"),
        ("z@2=0 :: 1: rfence(2)", "the calculus has no rfence(2): its fences do not order gets"),
        (
            "x@1=0 z@2=0 :: 1: x.n = z^2",
            "the calculus has no undefined value, so it does not know the non-atomic access x.n",
        ),
        (
            "x@1=0 z@2=0 :: 1: x = z^2; poll(2); flush(2)",
            "no model has both flush(2) and poll, so what they do together is not known",
        ),
        (
            "x@1=0 z@2=0 :: 1: x = rga(z^2, 1); poll(2)",
            "no model has both remote atomics and poll, so what they do together is not known",
        ),
    ],
)
def test_what_has_no_counterpart_is_refused(text: str, reason: str) -> None:
    assert refused(text) == [reason]
    with pytest.raises(Refused) as error:
        Pgas().outcomes(program(text))
    assert str(error.value) == reason


def test_a_value_that_there_is_not_is_refused_by_name() -> None:
    with pytest.raises(Refused) as error:
        Pgas().outcomes(program("x@1=0 :: 1: a = x; b = 1 / a"))
    assert str(error.value) == "an expression has no value: division by zero: 1 / 0"
    assert error.value.refusals[0].span.line == 1


def test_an_execution_of_each_outcome() -> None:
    test = program("x@1=0 z@2=5 :: 1: x = z^2; poll(2); mfence; a = x || 2: b = CAS(z, 5, 7)")
    outcomes = Pgas().outcomes(test)
    execution = outcomes.found[7, 7, 7, 5]
    threads = [event.kind for event in execution.events if event.thread == 0]
    assert threads == ["popa", "popb", "poll", "mfence", "load"]
    (swap,) = (event for event in execution.events if event.kind == "compare_swap")
    assert (swap.reads, swap.writes) == (5, 7)
    by_kind = {event.kind: number for number, event in enumerate(execution.events) if event.thread is not None}
    assert (by_kind["compare_swap"], by_kind["popa"]) in execution.relations["rf"]
    assert (by_kind["popb"], by_kind["load"]) in execution.relations["rf"]
    for outcome, each in outcomes.found.items():
        assert each.outcome == outcome
        assert sorted(each.order) == list(range(len(each.events)))


def of_one_thread_a_node(random: Random, dialect: str, branching: bool = False) -> Program:
    atomics = dialect == "rdma-tso"
    while True:
        made = random_program(random, dialect, statements=6, branching=branching, remote_atomics=atomics)  # type: ignore[arg-type]
        if not Pgas().refusals(made):
            return made


@pytest.mark.parametrize("dialect", ["corerma", "rdma-tso"])
def test_sequential_runs_are_those_of_sc(dialect: str) -> None:
    random = Random(f"sc {dialect}")
    weak = 0
    for _ in range(examples(17, nightly=3_000)):
        test = of_one_thread_a_node(random, dialect, branching=True)
        sequential = set(Pgas().sequential(test).found)
        assert sequential == set(Sc("merged").outcomes(test).found)
        network = set(Pgas().outcomes(test).found)
        assert sequential <= network
        weak += sequential < network
    assert weak >= examples(1, nightly=300)


@pytest.mark.parametrize("semantics", ["fifo", "unordered"])
@pytest.mark.parametrize("dialect", ["corerma", "rdma-tso"])
def test_outcomes_are_those_of_the_rules(dialect: str, semantics: str) -> None:
    random = Random(f"{semantics} {dialect}")
    for _ in range(examples(12, nightly=3_000)):
        test = of_one_thread_a_node(random, dialect)
        assert set(Pgas(semantics).outcomes(test).found) == oracle.outcomes(test, semantics == "unordered")  # type: ignore[arg-type]
