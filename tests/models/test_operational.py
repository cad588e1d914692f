"""The engine for machines: limits, final states, what is done first, and runs as graphs."""

from __future__ import annotations

import time
from random import Random

import pytest

from pgasrob.models.litmus.instructions import Assign, Load, Store
from pgasrob.models.litmus.instructions import Cell as At
from pgasrob.models.litmus.litmus_parser import parse
from pgasrob.models.litmus.litmus_program import Graph, Location, Program, Thread
from pgasrob.models.model_interface import Refused
from pgasrob.models.operational import Sharing, Step, execution, outcomes
from pgasrob.models.rdma_tso import RdmaTso
from pgasrob.models.sc import Sc
from pgasrob.models.tso import Tso
from pgasrob.program.expressions import Const
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.reasons import StateLimit
from pgasrob.robustness.watch import Watch
from tests.models.strategies import random_program

SB = "x@1 y@1 :: 1: x = 1; a = y || 1: y = 1; b = x"


def watch(states: int) -> Watch:
    return Watch(Limits(max_states=states), None, time.monotonic())


def test_a_limit_leaves_what_was_found() -> None:
    program = parse(SB).program
    machine = Tso().machine(program)
    whole = outcomes(machine)
    assert (whole.reason, whole.states, len(whole.found)) == (None, 27, 4)
    assert outcomes(machine, watch(27)).reason is None
    part = outcomes(machine, watch(26))
    assert part.reason == StateLimit(26)
    assert part.found.keys() < whole.found.keys()
    none = outcomes(machine, watch(3))
    assert (none.reason, none.found) == (StateLimit(3), {})


def test_states_are_gone_through_again_without_computing_them_anew() -> None:
    machine = RdmaTso("concrete").machine(parse(SB).program)
    assert outcomes(machine) == outcomes(machine)


def test_a_thread_without_an_end_has_no_outcome_and_takes_no_time() -> None:
    """A cycle of what can be done first: a register that is set for ever."""
    forever = Graph((((Assign(0, Const(1)), 1),), ((Assign(0, Const(0)), 0),)), frozenset())
    program = Program((Location("x", 1),), (Thread(1, ("a",), forever), Thread(1, ("b",), forever)))
    for model in (Sc(), Tso(), RdmaTso("simplified"), RdmaTso("concrete")):
        assert outcomes(model.machine(program)).found == {}


def test_more_and_more_to_do_first() -> None:
    """A loop without an end whose puts can all be issued before any is placed."""
    source = parse("x@1 z@2 :: 1: z^2 = x || 2: a = z").program
    put = source.threads[0].graph.out[0][0][0]
    forever = Thread(1, (), Graph((((put, 0),),), frozenset()))
    program = Program(source.locations, (forever, source.threads[1]))
    for semantics in ("simplified", "concrete"):
        found = outcomes(RdmaTso(semantics).machine(program), watch(20))
        assert (found.found, found.reason) == ({}, StateLimit(20))


def test_a_thread_may_end_or_go_on() -> None:
    """Polling for ever or stopping: a cyclic graph with its end in the middle, with a peer."""
    loop = Graph((((Load(0, At("x")), 0), (Store(At("y"), Const(1)), 1)), ()), frozenset((0, 1)))
    other = parse("x@1 y@1 :: 1: x = 1").program
    program = Program(other.locations, (*other.threads, Thread(1, ("a",), loop)))
    for model in (Sc(), Tso(), RdmaTso("simplified"), RdmaTso("concrete")):
        for reduced in (True, False):
            found = outcomes(model.machine(program, reduced)).found
            assert set(found) == {(1, 0, 0), (1, 0, 1), (1, 1, 0), (1, 1, 1)}


def test_a_fault_in_a_run_is_said_and_one_in_none_is_not() -> None:
    for model in (Sc(), Tso(), RdmaTso("simplified")):
        with pytest.raises(Refused, match=r"no value in some run: division by zero: 1 / 0"):
            model.outcomes(parse("x@1 :: 1: x = 1 || 1: a = x; b = 1 / a").program)
        assert model.outcomes(parse("x@1 :: 1: x = 1 || 1: a = x; assume(a != 0); b = 1 / a").program).found


def test_every_outcome_comes_with_a_run_to_it() -> None:
    """What is read and written in the order of the run gives the outcome again."""
    random = Random(3)
    for number in range(60):
        program = random_program(
            random, "rdma-tso", statements=6, branching=number % 2 == 1, remote_atomics=number % 3 == 0
        )
        shown = [x for x, location in enumerate(program.locations) if location.shown]
        for model in (Sc(), Sc("split"), RdmaTso("simplified"), RdmaTso("concrete", pcie=False)):
            for outcome, run in model.outcomes(program).found.items():
                memory = [location.initial for location in program.locations]
                for place in run.order:
                    event = run.events[place]
                    if event.writes is not None:
                        assert event.location is not None and isinstance(event.writes, int)
                        memory[event.location] = event.writes
                assert tuple(memory[x] for x in shown) == outcome[: len(shown)]
                assert sorted(run.order) == list(range(len(memory), len(run.events)))
                for source, target in run.relations["rf"]:
                    assert run.events[source].writes == run.events[target].reads
                    assert run.events[source].location == run.events[target].location
                reads = [place for place, event in enumerate(run.events) if event.reads is not None]
                assert sorted(target for _, target in run.relations["rf"]) == reads


def test_a_run_of_nothing() -> None:
    program = parse("x@1=3 :: 1: ").program
    graph = execution(program, [Step(0, "nothing")], (3,))
    assert [(event.thread, event.writes) for event in graph.events] == [(None, 3)]
    assert graph.order == ()
    assert all(not pairs for pairs in graph.relations.values())


def test_sharing() -> None:
    program = parse("x@1 y@1 z@1 v@2 :: 1: CAS(x, 0, 1); a = y || 1: y = 2; v^2 = y").program
    sharing = Sharing(program, lambda thread, access, node: "b" if access.stage == "source" else "a")
    assert sharing.constant == {2}
    assert [sharing.calm("a", x) for x in range(3)] == [True, True, True]
    assert [sharing.calm("b", x) for x in range(3)] == [False, False, True]
    assert [sharing.own("a", x) for x in range(3)] == [True, False, True]
