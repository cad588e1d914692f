"""The machines of RDMA-TSO: the paper's programs, readings, graphs of runs, and that the semantics are the same."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from random import Random
from typing import Any

import pytest

from pgasrob.models.litmus.instructions import Instruction, NicAtomic
from pgasrob.models.litmus.litmus_parser import parse
from pgasrob.models.litmus.litmus_printer import in_one_line
from pgasrob.models.litmus.litmus_program import Graph, Program, Thread
from pgasrob.models.model_interface import Execution, Refused
from pgasrob.models.operational import Machine, Step, execution
from pgasrob.models.operational import outcomes as outcomes_of
from pgasrob.models.rdma_tso import Atomics, RdmaTso, Semantics
from pgasrob.models.rdma_tso.orders import Rules
from pgasrob.models.relations import closed, of_pairs, pairs
from pgasrob.models.sc import Sc
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.watch import Watch
from tests.models.rdma_tso.campaign import (
    ATOMICS,
    SEMANTICS,
    AtomicFigures,
    Figures,
    compare,
    compare_atomics,
    outcomes,
)
from tests.models.rdma_tso.conditions import violated
from tests.models.strategies import random_program, small_programs
from tests.support import examples

MACHINES: tuple[Semantics, ...] = ("concrete", "simplified")
VARIANTS = [(pcie, placed) for pcie in (True, False) for placed in (False, True)]

# Figures 1 to 3 and what is said of other programs: the program, the values, and in which variants they are allowed.
EVERYWHERE, NOWHERE = "pcie no-pcie placed", ""
PAPER = {
    "1a": ("x@1 y@1 :: 1: x = 1; a = y || 1: y = 1; b = x", "a=0 b=0", EVERYWHERE),
    "1b": ("x@1 y@1 :: 1: x = 1; mfence; a = y || 1: y = 1; mfence; b = x", "a=0 b=0", NOWHERE),
    "1c": ("x@1 y@1 :: 1: a = x; y = 1 || 1: b = y; x = 1", "a=1 b=1", NOWHERE),
    "1d": ("x@1 y@1 :: 1: x = 1; y = 1 || 1: a = y; b = x", "a=1 b=0", NOWHERE),
    "2a": ("x@1 z@2 :: 1: x = 1; z^2 = x", "z=0", NOWHERE),
    "2b, as written": ("x@1 z@2 :: 1: z^2 = x; x = 1", "z=0", EVERYWHERE),
    "2b, reordered": ("x@1 z@2 :: 1: z^2 = x; x = 1", "z=1", EVERYWHERE),
    "2c": ("x@1 z@2 :: 1: z^2 = x; poll(2); x = 1", "z=1", NOWHERE),
    "2d": ("x@1 z@2 :: 1: z^2 = x; z^2 = x; poll(2); x = 1", "z=1", EVERYWHERE),
    "2e": ("x@1 y@2=2 z@3=1 :: 1: x = y^2; x = z^3", "x=2", EVERYWHERE),
    "2f": ("x@1 y@2=1 z@3 :: 1: x = y^2; z^3 = x", "z=0", EVERYWHERE),
    "2g": ("x@1=1 y@2 z@2 :: 1: z^2 = x; x = y^2", "z=0", NOWHERE),
    "2h": ("x@1=1 y@2 z@2 :: 1: x = y^2; z^2 = x", "z=1", EVERYWHERE),
    "2i": ("x@1=1 y@2 z@2 :: 1: x = y^2; rfence(2); z^2 = x", "z=1", NOWHERE),
    "3a": ("y@1 x@2 :: 1: x^2 = 1; a = y || 2: y^1 = 1; b = x", "a=0 b=0", EVERYWHERE),
    "3b": ("x@1 y@2 :: 1: a = y^2; x = 1 || 2: b = x^1; y = 1", "a=1 b=1", EVERYWHERE),
    "3c": ("x@1 y@2 :: 1: a = y^2; poll(2); x = 1 || 2: b = x^1; poll(1); y = 1", "a=1 b=1", NOWHERE),
    "3d": ("y@1 x@2 :: 1: x^2 = 1; poll(2); a = y || 2: y^1 = 1; poll(1); b = x", "a=0 b=0", "pcie no-pcie"),
    "3e": (
        "y@1 w@1 x@2 z@2 :: 1: x^2 = 1; c = z^2; poll(2); poll(2); a = y"
        " || 2: y^1 = 1; d = w^1; poll(1); poll(1); b = x",
        "a=0 b=0",
        "no-pcie",
    ),
    "rfence and mfence are no flush": ("x@1 z@2 :: 1: z^2 = x; rfence(2); mfence; x = 1", "z=1", EVERYWHERE),
    "placed is said at the poll, an rfence does not wait": (
        "x@1 f@1 z@2 w@2 g@2 :: 1: z^2 = 1; rfence(2); w^2 = x || 2: x^1 = 1; g = f^1; poll(1); poll(1); a = z",
        "a=0 w=0",
        EVERYWHERE,
    ),
    "without PCIe a get may land before an older put is placed": (
        "x@1 z@2 w@2=1 f@2 :: 1: z^2 = 1; x = w^2 || 1: f^2 = x || 2: c = f; d = z",
        "c=1 d=0",
        "no-pcie",
    ),
}


@pytest.mark.parametrize("semantics", SEMANTICS)
@pytest.mark.parametrize("name", PAPER)
def test_the_paper(name: str, semantics: Semantics) -> None:
    text, values, where = PAPER[name]
    program = parse(text).program
    wanted = {(key, int(value)) for key, value in (pair.split("=") for pair in values.split())}
    for variant, options in (("pcie", {}), ("no-pcie", {"pcie": False}), ("placed", {"placed": True})):
        found = outcomes(program, semantics, **options)
        assert any(wanted <= set(zip(program.names, outcome, strict=True)) for outcome in found) == (
            variant in where.split()
        )


@pytest.mark.parametrize("semantics", MACHINES)
def test_a_poll_without_an_operation_has_no_outcome(semantics: Semantics) -> None:
    program = parse("x@1 z@2 :: 1: z^2 = x; poll(2); poll(2)").program
    assert not outcomes(program, semantics)


@pytest.mark.parametrize("semantics", MACHINES)
def test_everything_is_drained_at_the_end_but_for_notifications(semantics: Semantics) -> None:
    program = parse("x@1=1 y@2 z@2=3 :: 1: x = 2; y^2 = x; x = z^2").program
    assert outcomes(program, semantics) == {(3, 2, 3)}


@pytest.mark.parametrize("semantics", SEMANTICS)
def test_what_is_refused(semantics: Semantics) -> None:
    model = RdmaTso(semantics)
    for text, reason in (
        ("x@1 z@2 :: 1: x = rga(z^2, x)", "no rga: the operands of its remote atomics, rcas and rfaa"),
        ("x@1 z@2 :: 1: x = cas(z^2, x, x)", "no cas: the operands of its remote atomics, rcas and rfaa"),
        ("x@1 z@2 :: 1: flush(2)", r"no flush: poll\(2\) waits for the oldest"),
        ("x@1 :: 1: a = x.n", "no non-atomic accesses"),
        ("x@1 z@2 :: 1: z.n^2 = x", "no non-atomic accesses"),
        ("x@1 y@1 :: 1: x^1 = y", "no operations of a node on itself"),
        ("x@1 y@1 :: 1: x = y^1", "no operations of a node on itself"),
    ):
        program = parse(text).program
        assert len(model.refusals(program)) == 1
        with pytest.raises(Refused, match=reason):
            model.outcomes(program)


@pytest.mark.parametrize("semantics", SEMANTICS)
def test_a_remote_addition_wraps_and_operands_are_those_of_the_issue(semantics: Semantics) -> None:
    program = parse("x@1 z@2=2147483647 :: 1: a = 1; x = rfaa(z^2, a); a = 5").program
    assert outcomes(program, semantics) == {(2**31 - 1, -(2**31), 5)}


@pytest.mark.parametrize("semantics", MACHINES)
def test_a_fault_is_said(semantics: Semantics) -> None:
    program = parse("x@1=1 :: 1: a = x; b = 1 / (a - 1) || 1: x = 2").program
    with pytest.raises(Refused, match="no value in some run: division by zero"):
        RdmaTso(semantics).outcomes(program)


# Agreement


@pytest.mark.parametrize("branching", [False, True])
@pytest.mark.parametrize(("pcie", "placed"), VARIANTS)
def test_the_semantics_agree_on_random_programs(pcie: bool, placed: bool, branching: bool) -> None:
    random = Random(f"{pcie} {placed} {branching}")
    for _ in range(examples(20, 3_000)):
        program = random_program(random, "rdma-tso", statements=7, branching=branching)
        found = {each: outcomes(program, each, pcie, placed) for each in SEMANTICS}
        assert len(set(found.values())) == 1, in_one_line(program)


MOST_STATES = 5_000


def with_atomics(random: Random, statements: int, branching: bool = False, **sizes: object) -> Program:
    """A random program with a remote atomic, of at most MOST_STATES: loops with gets have any number."""
    while True:
        program = random_program(
            random, "rdma-tso", statements=statements, branching=branching, remote_atomics=True, **sizes
        )
        if any(isinstance(each, NicAtomic) for thread in program.threads for each in thread.graph.instructions):
            watch = Watch(Limits(max_states=MOST_STATES), None, time.monotonic())
            if RdmaTso("simplified", False).outcomes(program, watch).reason is None:
                return program


@pytest.mark.parametrize(("pcie", "states"), [(True, 3_322), (False, 3_684)])
def test_programs_without_remote_atomics_have_the_states_that_they_had_before_there_were_any(
    pcie: bool, states: int
) -> None:
    random = Random("states")
    programs = [random_program(random, "rdma-tso", statements=7, branching=number % 2 == 1) for number in range(40)]
    for semantics in SEMANTICS:
        found = sum(RdmaTso(semantics, pcie).outcomes(program).states for program in programs)
        assert found == (380 if semantics == "declarative" else states)


@pytest.mark.parametrize("atomics", ATOMICS)
@pytest.mark.parametrize(("pcie", "placed"), VARIANTS)
def test_the_semantics_agree_on_random_programs_with_remote_atomics(pcie: bool, placed: bool, atomics: Atomics) -> None:
    random = Random(f"{pcie} {placed} {atomics}")
    for number in range(examples(8, 3_000)):
        program = with_atomics(random, 6, branching=number % 2 == 1)
        found = {each: outcomes(program, each, pcie, placed, atomics) for each in SEMANTICS}
        assert len(set(found.values())) == 1, in_one_line(program)


@pytest.mark.parametrize("semantics", MACHINES)
@pytest.mark.parametrize("atomics", ATOMICS)
def test_what_can_be_done_first_loses_no_outcome_of_remote_atomics(atomics: Atomics, semantics: Semantics) -> None:
    random, states = Random(f"{semantics} {atomics}"), [0, 0]
    for number in range(examples(16, 4_000)):
        pcie, placed = VARIANTS[number % 4]
        model = RdmaTso(semantics, pcie, placed, atomics=atomics)
        program = with_atomics(random, 5, branching=number % 8 > 3)
        few, all_of_them = outcomes_of(model.machine(program)), outcomes_of(model.machine(program, reduced=False))
        assert few.found.keys() == all_of_them.found.keys(), in_one_line(program)
        states[0] += few.states
        states[1] += all_of_them.states
    assert states[0] * 3 < states[1]


@pytest.mark.parametrize("semantics", MACHINES)
@pytest.mark.parametrize(("pcie", "placed"), VARIANTS)
def test_what_can_be_done_first_loses_no_outcome(semantics: Semantics, pcie: bool, placed: bool) -> None:
    random, states = Random(f"{semantics} {pcie} {placed}"), [0, 0]
    model = RdmaTso(semantics, pcie, placed)
    for number in range(examples(13, 2_000)):
        program = random_program(random, "rdma-tso", statements=5, branching=number % 2 == 1)
        few, all_of_them = outcomes_of(model.machine(program)), outcomes_of(model.machine(program, reduced=False))
        assert few.found.keys() == all_of_them.found.keys(), in_one_line(program)
        states[0] += few.states
        states[1] += all_of_them.states
    assert states[0] * 5 < states[1]


def test_small_programs_and_what_is_counted_of_them() -> None:
    """All programs of at most three statements on two locations; larger ones: the campaign."""
    figures = compare(small_programs(3, locations=2, threads=2), Figures())
    assert figures.disagreements == []
    assert figures.counts() == (526, 526, 183, 319, 0, 0)


CAMPAIGN = {
    "4 statements, 4 locations": (small_programs(4, locations=4), (71_502, 71_502, 27_869, 62_190, 114, 0)),
    "5 statements, 2 locations": (small_programs(5, locations=2), (57_794, 57_794, 32_047, 114_190, 107, 0)),
    "4 statements, 3 nodes, 3 threads": (
        small_programs(4, nodes=3, threads=3),
        (60_718, 60_718, 25_666, 73_462, 45, 0),
    ),
    "no network": (small_programs(4, nodes=1, locations=3, remote=()), (4_122, 0, 6, 6, 0, 0)),
}


@pytest.mark.nightly
@pytest.mark.parametrize("sizes", CAMPAIGN)
def test_the_campaign(sizes: str) -> None:
    """All programs of these sizes, of two nodes and threads where nothing else is said, each once up to names."""
    programs, counts = CAMPAIGN[sizes]
    figures = compare(programs, Figures())
    assert figures.disagreements == []
    assert figures.counts() == counts


NIC_ATOMICS = ("rcas", "rfaa")


def small_atomics(statements: int, **sizes: int) -> Iterator[Program]:
    return small_programs(statements, remote=NIC_ATOMICS, others=("get", "put"), **sizes)


def test_small_programs_with_remote_atomics_and_what_is_counted_of_them() -> None:
    """One in eight of all programs of at most three statements on two locations; larger ones: the campaign."""
    figures = compare_atomics(islice(small_atomics(3, locations=2), 0, None, 8), AtomicFigures())
    assert figures.disagreements == []
    assert figures.counts() == (125, 86, 37, 67, 25, 0)


CAMPAIGN_WITH_ATOMICS = {
    "3 statements, 2 locations": (small_atomics(3, locations=2), (998, 672, 311, 589, 185, 0)),
    "3 statements, 3 locations, 3 nodes, 3 threads": (
        small_atomics(3, nodes=3, threads=3),
        (7_398, 4_891, 2_498, 5_123, 1_271, 0),
    ),
    "4 statements, 2 locations": (small_atomics(4, locations=2), (14_724, 11_601, 5_387, 16_772, 3_786, 0)),
    "4 statements, one in six": (
        islice(small_atomics(4), 0, None, 6),
        (18_060, 14_044, 6_544, 19_991, 5_100, 0),
    ),
}


@pytest.mark.nightly
@pytest.mark.parametrize("sizes", CAMPAIGN_WITH_ATOMICS)
def test_the_campaign_with_remote_atomics(sizes: str) -> None:
    """All programs of these sizes with a remote atomic, of two nodes and threads where nothing else is said."""
    programs, counts = CAMPAIGN_WITH_ATOMICS[sizes]
    figures = compare_atomics(programs, AtomicFigures())
    assert figures.disagreements == []
    assert figures.counts() == counts


# Runs


@pytest.mark.parametrize("atomics", [None, *ATOMICS])
@pytest.mark.parametrize("semantics", MACHINES)
@pytest.mark.parametrize(("pcie", "placed"), VARIANTS)
def test_the_graph_of_a_run_is_a_consistent_execution(
    semantics: Semantics, pcie: bool, placed: bool, atomics: Atomics | None
) -> None:
    """Definition 4.4 as it is printed holds of each run that is shown, with nfo and locks as things happened;
    ``atomics``: of programs with remote atomics."""
    random = Random(f"{placed} {pcie} {semantics}" + f" {atomics}" * (atomics is not None))
    rules = Rules.of(pcie=pcie, placed=placed, glob=atomics == "glob")
    model, seen = RdmaTso(semantics, pcie, placed, atomics=atomics or "hca"), 0
    for number in range(examples(10 if atomics else 40, 1_000)):
        branching = number % 2 == 1
        program = (
            with_atomics(random, 6, branching)
            if atomics
            else random_program(random, "rdma-tso", statements=7, branching=branching)
        )
        for outcome, run in model.outcomes(program).found.items():
            assert outcome == run.outcome
            assert not violated(with_flush_order(run), rules), in_one_line(program)
            seen += 1
    assert seen > (15 if atomics else 50)


def with_flush_order(run: Execution) -> Execution:
    """With nfo: nlR and nlW of a queue pair, and nrR and nrW, in the order in which they took effect; with the order of
    remote atomics on each node; and with pf."""
    order, lock = set(), set()
    last = {event - 1: event for event in run.order if run.events[event].kind == "naW"}
    for place, one in enumerate(run.order):
        for other in run.order[place + 1 :]:
            first, second = run.events[one], run.events[other]
            if (first.thread, first.towards) == (second.thread, second.towards) and {first.kind, second.kind} in (
                {"nlR", "nlW"},
                {"nrR", "nrW"},
                {"naR", "nrW"},
            ):
                order.add((one, other))
            if first.kind == second.kind == "naR" and first.towards == second.towards:
                lock.add((last.get(one, one), other))
    more = {"nfo": frozenset(order), "lock": frozenset(lock)}
    return replace(run, relations={"pf": frozenset(), **run.relations, **more})


def test_a_run_as_a_graph() -> None:
    program = parse("x@1 z@2 :: 1: x = 1; a = x; z^2 = x; poll(2)").program
    ((outcome, run),) = RdmaTso("simplified").outcomes(program).found.items()
    assert outcome == (1, 1, 1)
    assert [(event.thread, event.operation, event.kind) for event in run.events] == [
        (None, 0, "lW"),
        (None, 1, "lW"),
        (0, 0, "lW"),
        (0, 1, "lR"),
        (0, 2, "nlR"),
        (0, 2, "nrW"),
        (0, 3, "P"),
    ]
    assert run.events[5].towards == run.events[6].towards == 2
    assert [event.reads for event in run.events] == [None, None, None, 1, 1, None, None]
    assert [event.writes for event in run.events] == [0, 0, 1, None, None, 1, None]
    assert run.relations == {
        "po": {(2, 3), (3, 4), (4, 5), (5, 6)},
        "rf": {(2, 3), (2, 4)},
        "mo": {(0, 2), (1, 5)},
        "rb": frozenset(),
        "pf": {(5, 6)},
    }
    assert sorted(run.order) == [2, 3, 4, 5, 6]


def test_a_read_from_the_own_store_buffer_comes_before_the_store_takes_effect() -> None:
    program = parse("x@1 y@1 :: 1: x = 1; a = x; b = y || 1: y = 1; c = y; d = x").program
    run = RdmaTso("concrete").outcomes(program).found[1, 1, 1, 0, 1, 0]
    kinds = [(event.thread, event.kind) for event in run.events]
    stores = [number for number, kind in enumerate(kinds) if kind[0] is not None and kind[1] == "lW"]
    loads = [number for number, kind in enumerate(kinds) if kind[1] == "lR"]
    assert {(stores[0], loads[0]), (stores[1], loads[2])} <= run.relations["rf"]
    assert all(run.order.index(load) < run.order.index(store) for load in loads for store in stores[:1])
    assert run.relations["rb"] == {(loads[1], stores[1]), (loads[3], stores[0])}


def test_sc_runs_are_runs() -> None:
    """An operation that is two steps in program order is nothing new."""
    random = Random(9)
    for number in range(examples(60, 1_000)):
        program = random_program(random, "rdma-tso", statements=6, branching=number % 2 == 1)
        split = Sc("split").outcomes(program).found.keys()
        assert split <= outcomes(program, "simplified", placed=True)
        assert Sc("merged").outcomes(program).found.keys() <= split


# Executions: more than outcomes


@pytest.mark.parametrize("atomics", [None, *ATOMICS])
@pytest.mark.parametrize("semantics", MACHINES)
@pytest.mark.parametrize(("pcie", "placed"), VARIANTS)
def test_runs_have_the_graphs_of_consistent_executions(
    semantics: Semantics, pcie: bool, placed: bool, atomics: Atomics | None
) -> None:
    """All complete runs of a machine, with what can be done first done first, have together the same po, rf and mo as
    all consistent executions: a cycle of happens-before is in some run when it is in some execution. ``atomics``: on
    programs with remote atomics."""
    random = Random(f"{pcie} {placed}" + f" {atomics}" * (atomics is not None))
    model = RdmaTso(semantics, pcie, placed, atomics=atomics or "hca")
    declarative, seen = RdmaTso("declarative", pcie, placed, atomics=atomics or "hca"), 0
    for number in range(examples(5 if atomics else 20, 1_000)):
        branching = number % 2 == 1
        program = (
            with_atomics(random, 5, branching, threads=(2, 2), nodes=(2, 2))
            if atomics
            else random_program(random, "rdma-tso", threads=(2, 2), nodes=(2, 2), statements=5, branching=branching)
        )
        runs = {graph(execution(program, run, ())) for run in complete_runs(model.machine(program))}
        assert runs == {graph(each) for each in declarative.executions(program)}, in_one_line(program)
        seen += len(runs)
    assert seen > examples(10 if atomics else 40, 80)


def complete_runs(machine: Machine[Any]) -> Iterator[list[Step]]:
    """A run to a final state for each graph that such runs have: of those that have met with the same graph so far one
    goes on."""
    left: list[tuple[tuple[int, ...], list[Step]]] = [(machine.initial, [])]
    met: set[object] = set()
    while left:
        state, run = left.pop()
        if machine.is_final(state):
            yield run
        for word, target in machine.successors(state):
            longer = run + list(word)
            so_far = target, graph(execution(machine.program, longer, ()))
            if so_far not in met:
                met.add(so_far)
                left.append((target, longer))


def graph(run: Execution) -> object:
    """What there is to tell executions apart by; mo with all of its pairs, initial writes only where they matter."""
    names: list[object] = []
    for event in run.events:
        name = event.location if event.thread is None else (event.thread, event.operation, event.kind, event.location)
        names.append((name, event.reads, event.writes))
    order = closed(of_pairs(len(names), run.relations["mo"]))
    return (
        tuple(name for name, event in zip(names, run.events, strict=True) if event.thread is not None),
        frozenset((names[source], names[target]) for source, target in run.relations["rf"]),
        frozenset((names[source], names[target]) for source, target in pairs(order)),
    )


@pytest.mark.parametrize("semantics", MACHINES)
def test_notifications_that_nobody_polls_are_not_kept(semantics: Semantics) -> None:
    """A loop that never polls has finitely many states, but for the puts that are on their way."""
    source = parse("x@1 z@2 :: 1: z^2 = x; poll(2)").program
    put, poll = (edges[0][0] for edges in source.threads[0].graph.out[:2])

    def ends(*loop: Instruction) -> bool:
        """Whether there are fewer than 1,000 states: nobody else has to do with z, so that puts are placed at once."""
        out = tuple(((instruction, (place + 1) % len(loop)),) for place, instruction in enumerate(loop))
        thread = Thread(1, (), Graph(out, frozenset((0,))))
        machine = RdmaTso(semantics).machine(Program(source.locations, (thread,)))
        met, left = {machine.initial}, [machine.initial]
        while left and len(met) < 1_000:
            for _, state in machine.successors(left.pop()):
                if state not in met:
                    met.add(state)
                    left.append(state)
        return len(met) < 1_000

    assert ends(put)
    assert ends(put, poll)
    assert not ends(put, put, poll)
