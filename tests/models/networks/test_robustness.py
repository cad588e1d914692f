"""Robustness on a network: executions against runs, against runs without reduction, against every run one by one, and
against outcomes."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest

from pgasrob.models.corerma import CoreRma
from pgasrob.models.litmus.instructions import WHOLE
from pgasrob.models.litmus.litmus_parser import parse
from pgasrob.models.litmus.litmus_program import Graph, Program, Thread
from pgasrob.models.networks.robustness import by_executions, by_normal_forms, by_runs, cycle_of, violation_in
from pgasrob.models.networks.to_litmus import translate
from pgasrob.models.operational import Step, execution
from pgasrob.models.rdma_tso import RdmaTso
from pgasrob.models.sc import Sc
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.reasons import PendingBound, StateLimit
from pgasrob.robustness.watch import Watch
from tests.models.corerma.atomic_machine import machine as corerma_machine
from tests.models.strategies import random_program
from tests.support import instance


def litmus(text: str) -> Program:
    return parse(text).program


def both(program: Program, **options: object) -> bool:
    """Whether it is robust, by executions and by runs."""
    model = RdmaTso(**options)  # type: ignore[arg-type]
    by_graphs, by_steps = by_executions(model, program), by_runs(model.machine(program))
    assert (by_graphs.violation is None) == (by_steps.violation is None)
    return by_graphs.violation is None


@pytest.mark.parametrize(
    ("text", "robust"),
    [
        ("x@1, y@1 :: 1: x = 1; a = y || 1: y = 1; b = x", False),
        ("x@1, y@1 :: 1: x = 1; mfence; a = y || 1: y = 1; mfence; b = x", True),
        ("x@1, y@1 :: 1: x = 1; a = x; b = y || 1: y = 1; c = y; d = x", False),  # out of the store buffer
        ("x@1, y@1 :: 1: x = 1; y = 1 || 1: a = y; b = x", True),
        ("x@1, z@2 :: 1: z^2 = x; x = 1", False),
        ("x@1, z@2 :: 1: z^2 = x; poll(2); x = 1", True),
        ("x@1=1, z@2=0 :: 1: z^2 = x; x = z^2", True),
        ("x@1=1, y@2=0, z@2=0 :: 1: x = y^2; z^2 = x", False),
        ("x@1=1, y@2=0, z@2=0 :: 1: x = y^2; rfence(2); z^2 = x", True),
        ("x@1, z@2 :: 1: z^2 = x || 2: z = 1; a = z", True),  # one location is coherent, buffer or not
        ("x@1 :: 1: a = CAS(x, 0, 1) || 1: b = CAS(x, 0, 1)", True),
        ("x@1, y@1 :: 1: a = CAS(x, 1, 2); b = y || 1: y = 1; x = 1", True),
        ("x@1, z@2 :: 1: x = rfaa(z^2, 1) || 2: z = 5", False),  # between the fetch and the write
        ("x@1, z@2 :: 1: x = rcas(z^2, 1, 2) || 2: z = 5", True),
        ("x@1, z@2 :: 1: x = rfaa(z^2, 1) || 3: z^2 = 5", False),
        ("x@1, y@3, z@2 :: 1: x = rfaa(z^2, 1) || 3: y = rfaa(z^2, 1)", True),
        ("x@1, y@1, z@2 :: 1: x = rfaa(z^2, 1); y = rfaa(z^2, 2)", False),
        ("x@1, y@1, z@2 :: 1: x = rfaa(z^2, 1); rfence(2); y = rfaa(z^2, 2)", True),
    ],
)
def test_small_programs(text: str, robust: bool) -> None:
    assert both(litmus(text)) is robust


def test_a_remote_atomic_that_nothing_tears() -> None:
    assert both(litmus("x@1, z@2 :: 1: x = rfaa(z^2, 1) || 2: z = 5"), atomics="glob")
    assert not both(litmus("x@1, y@1, z@2 :: 1: x = rfaa(z^2, 1); y = rfaa(z^2, 2)"), atomics="glob")


def test_an_operation_is_one_node() -> None:
    """The get reads x before the store and writes y after the load: two events, one node, and a cycle by it alone."""
    program = litmus("x@2, y@1 :: 1: y = x^2 || 1: a = y || 2: x = 1")
    found = by_executions(RdmaTso(), program)
    assert found.violation is None
    split = litmus("x@2, y@1, z@2 :: 1: y = x^2 || 2: x = 1; a = z || 1: b = y; z^2 = y")
    assert both(split) is (by_executions(RdmaTso(), split).violation is None)


def by_itself(program: Program) -> Program:
    """The program with each instruction as a command of its own."""
    threads = []
    for thread in program.threads:
        out = tuple(tuple((replace(each, part=WHOLE), target) for each, target in edges) for edges in thread.graph.out)
        threads.append(replace(thread, graph=Graph(out, thread.graph.ends)))
    return replace(program, threads=tuple(threads))


def test_a_captured_put_is_one_command() -> None:
    """Between the load of the source and the arrival another rank writes both: no cycle but by the put as a whole."""
    program = instance("put(x, 1, y, q);", "write(z, 0, x, q); read(w, 0, z, q); wait(q); mem[y] <- 5;")
    translated = translate(program, "rdma-tso")
    model = RdmaTso()
    assert both(by_itself(translated.program))
    found = by_executions(model, translated.program)
    assert found.violation is not None and len(found.violation.cycle) >= 2
    runs = by_runs(model.machine(translated.program))
    assert runs.violation is not None


def test_a_captured_put_is_one_command_on_corerma() -> None:
    """The second rank reads what the put has brought before it writes the source, which the put has read before."""
    program = instance("put(x, 1, y, q);", "write(z, 0, x, q); wait(q); r <- mem[y];")
    translated = translate(program, "corerma").program
    assert by_executions(CoreRma(), by_itself(translated)).violation is None
    assert by_executions(CoreRma(), translated).violation is not None


def test_a_violation_has_a_cycle_of_different_commands() -> None:
    found = by_executions(RdmaTso(), litmus("x@1, y@1 :: 1: x = 1; a = y || 1: y = 1; b = x"))
    assert found.violation is not None
    cycle, events = found.violation.cycle, found.violation.execution.events
    assert sorted(edge.relation for edge in cycle) == ["po", "po", "rb", "rb"]
    for edge, following in zip(cycle, cycle[1:] + cycle[:1], strict=True):
        first, second = events[edge.target], events[following.source]
        assert (first.thread, first.operation) == (second.thread, second.operation)


# Against each other


def agreement(count: int, seed: int, **sizes: object) -> tuple[int, int]:
    """Programs that are robust, and that are not, by both."""
    found = Counter[bool]()
    for number in range(count):
        random = Random(seed * 1_000_000 + number)
        program = random_program(random, "rdma-tso", **sizes)
        options: dict[str, object] = {"pcie": random.random() < 0.7, "placed": random.random() < 0.3}
        if "remote_atomics" in sizes:
            options["atomics"] = random.choice(("hca", "glob"))
        found[both(program, **options)] += 1
    return found[True], found[False]


def test_executions_and_runs_agree() -> None:
    assert agreement(300, 5) == (220, 80)
    assert agreement(120, 6, statements=7, threads=(2, 3), nodes=(2, 3), branching=True) == (70, 50)
    assert agreement(100, 7, nodes=(2, 3), remote_atomics=True) == (44, 56)


@pytest.mark.nightly
def test_executions_and_runs_agree_on_remote_atomics() -> None:
    assert agreement(6_000, 8, nodes=(2, 3), remote_atomics=True) == (2_420, 3_580)
    assert agreement(600, 9, threads=(2, 3), nodes=(2, 3), remote_atomics=True, branching=True) == (238, 362)


COMMANDS = (
    "mem[{a}] <- r + 1;", "r <- mem[{a}];", "write({a}, {peer}, {b}, q);", "put({a}, {peer}, {b}, q);",
    "read({a}, {peer}, {b}, q);", "update(set, 5, {peer}, {a}, q) as plain;", "s <- compare_swap(me, {a}, 0, 5);",
    "wait_local(q);", "if (r == 1) {{ mem[{a}] <- 4; }}",
)  # fmt: skip
ATOMICS = (
    "r <- fetch_add({peer}, {a}, 1);", "s <- compare_swap({peer}, {a}, 0, r + 5);", "r <- fetch({peer}, {a});",
    "update(add, r + 1, {peer}, {a}, q);", "update(compare_swap, 5, 1, {peer}, {a}, q, {b});",
    "update_from(add, {a}, {peer}, {b}, q, {a});", "update_from(compare_swap, {a}, {b}, {peer}, {a}, q, {b});",
    "fence(q);",
)  # fmt: skip


def translations(count: int, seed: int, commands: Sequence[str], **options: bool) -> tuple[int, int]:
    """Programs of ranks whose translations are robust, and that are not, by executions, runs and normal forms."""
    found = Counter[bool]()
    for number in range(count):
        random = Random(seed * 1_000_000 + number)
        blocks = [
            " ".join(
                random.choice(commands).format(a=random.choice("xy"), b=random.choice("xyz"), peer=1 - rank)
                for _ in range(random.randint(1, 3))
            )
            for rank in range(2)
        ]
        program = translate(instance(*blocks), "rdma-tso", **options).program  # type: ignore[arg-type]
        robust = both(program, **options)
        normal = by_normal_forms(program, RdmaTso(**options))  # type: ignore[arg-type]
        assert (normal.violation is None) == robust, blocks
        found[robust] += 1
    return found[True], found[False]


def test_executions_and_runs_agree_on_translations() -> None:
    assert translations(60, 1, COMMANDS) == (52, 8)
    assert translations(60, 2, COMMANDS + ATOMICS) == (37, 23)
    assert translations(60, 3, COMMANDS[:3] + ATOMICS, pcie=False) == (33, 27)


@pytest.mark.nightly
def test_executions_and_runs_agree_on_many_translations() -> None:
    assert translations(1500, 4, COMMANDS + ATOMICS, placed=True) == (900, 600)
    assert translations(1000, 5, ATOMICS + COMMANDS[:3]) == (468, 532)


@pytest.mark.nightly
def test_executions_and_runs_agree_on_many() -> None:
    assert agreement(6000, 2) == (4515, 1485)
    assert agreement(6000, 3, statements=7, threads=(2, 3), nodes=(2, 3), branching=True) == (3389, 2611)


def test_the_search_without_reduction_says_the_same() -> None:
    model = RdmaTso()
    for seed in range(60):
        program = random_program(Random(seed), "rdma-tso", statements=4)
        plain = by_runs(model.machine(program, reduced=False))
        assert (plain.violation is None) == both(program), seed


def every_run(program: Program, pcie: bool) -> bool:
    """Whether it is robust, by the graph of every complete run, nothing remembered and nothing left out."""
    machine = RdmaTso(pcie=pcie).machine(program, reduced=False)
    stack: list[tuple[tuple[int, ...], tuple[Step, ...]]] = [(machine.initial, ())]
    runs = 0
    while stack:
        state, steps = stack.pop()
        if machine.is_final(state):
            runs += 1
            if cycle_of(execution(program, steps, machine.outcome(state))):
                return False
        stack += [(target, (*steps, *word)) for word, target in machine.successors(state)]
        if runs > 3000:
            raise TooManyRuns
    return True


class TooManyRuns(Exception):
    pass


def test_the_monitor_says_what_every_run_one_by_one_says() -> None:
    said = Counter[bool]()
    for seed in range(120):
        random = Random(seed + 77)
        program = random_program(random, "rdma-tso", statements=3, threads=(1, 2))
        pcie = random.random() < 0.5
        try:
            naive = every_run(program, pcie)
        except TooManyRuns:
            continue
        assert both(program, pcie=pcie) == naive, seed
        said[naive] += 1
    assert (said[True], said[False]) == (102, 5)


def test_corerma_by_executions_and_by_its_machine() -> None:
    said = Counter[bool]()
    for seed in range(120):
        program = random_program(Random(seed), "corerma", statements=5)
        by_graphs = by_executions(CoreRma(), program).violation is None
        by_steps = by_runs(corerma_machine(program)).violation is None
        assert by_graphs == by_steps, seed
        said[by_graphs] += 1
    assert min(said.values()) > 20


# Outcomes


def test_robust_programs_have_the_outcomes_of_sc() -> None:
    """hb-robust implies outcome-robust, and not the other way round."""
    sc, model = Sc(), RdmaTso()
    found = Counter[tuple[bool, bool]]()
    for seed in range(400):
        program = random_program(Random(seed), "rdma-tso")
        robust = by_executions(model, program).violation is None
        equal = set(model.outcomes(program).found) == set(sc.outcomes(program).found)
        assert equal or not robust, seed
        found[robust, equal] += 1
    assert (found[True, True], found[False, False], found[False, True]) == (313, 57, 30)


def test_corerma_without_a_cycle_has_the_outcomes_of_sc() -> None:
    sc, model = Sc(), CoreRma()
    found = Counter[tuple[bool, bool]]()
    for seed in range(200):
        program = random_program(Random(seed), "corerma", statements=5)
        robust = by_executions(model, program).violation is None
        equal = set(model.outcomes(program).found) == set(sc.outcomes(program).found)
        assert equal or not robust, seed
        found[robust, equal] += 1
    assert found[True, True] > 20 and found[False, False] > 20 and found[False, True] > 0


# Loops and limits


def looping(text: str) -> Program:
    """The program of ``text``, each thread again and again; it may end after each round."""
    program = litmus(text)
    threads = []
    for thread in program.threads:
        out = [list(edges) for edges in thread.graph.out]
        last = len(out) - 1
        out[last - 1] = [(instruction, 0) for instruction, _ in out[last - 1]]
        threads.append(Thread(thread.node, thread.registers, Graph(tuple(map(tuple, out[:last])), frozenset((0,)))))
    return Program(program.locations, tuple(threads))


@pytest.mark.parametrize(
    ("text", "robust"),
    [
        ("x@1, z@2 :: 1: z^2 = x; poll(2); a = x || 2: b = z", True),
        ("x@1, z@2 :: 1: x = 1; z^2 = x; poll(2) || 2: b = z", True),
        ("x@1, y@1, z@2 :: 1: x = z^2; poll(2); y = x || 2: z = 1; mfence", True),
        ("x@1, z@2, v@2 :: 1: z^2 = x; v^2 = x; poll(2); poll(2) || 2: a = v; b = z", True),
        ("x@1, z@2, y@1 :: 1: z^2 = x; poll(2); a = y || 2: y^1 = z; poll(1); b = z", False),
    ],
)
def test_loops_are_decided_by_runs(text: str, robust: bool) -> None:
    program = looping(text)
    assert not program.bounded
    found = by_runs(RdmaTso(placed=True).machine(program))
    assert found.reason is None
    assert (found.violation is None) is robust


def test_operations_without_end_leave_it_unknown() -> None:
    """A put that has been polled need not be placed, and puts may pile up."""
    found = by_runs(RdmaTso().machine(looping("x@1, z@2 :: 1: z^2 = x; poll(2) || 2: b = z")))
    assert found.violation is None and found.reason == PendingBound(16)


@pytest.mark.parametrize("third", ["", "while (1) { mem[x] <- 1; }"])
def test_a_read_of_an_await_that_fails_is_none(third: str) -> None:
    """Two ranks put to each other and await that. Only reads that fail would come before the puts of the other one; a
    rank that goes round for ever does not make them count."""
    ranks = ("write(z, 1, x, q); await(mem[y] == 1);", "write(z, 0, y, q); await(mem[x] == 1);", third)
    program = translate(instance(*ranks, declarations="memory x, y, z = 1; queue q;"), "rdma-tso").program
    assert by_normal_forms(program, RdmaTso()).violation is None
    runs = by_runs(RdmaTso().machine(program.everywhere))
    assert (runs.violation, runs.reason) == (None, None)
    assert program.bounded is (not third) and (third or both(program))


def test_an_await_is_over_with_its_condition() -> None:
    """Another rank puts and gets between the await and the command behind it, which are no one command."""
    program = instance("await(mem[x] == 1); mem[y] <- 1;", "write(z, 0, x, q); read(w, 0, y, q);")
    assert both(translate(program, "rdma-tso").program.everywhere)


@pytest.mark.parametrize("atomic", ["update(add, 1, 1, x, q);", "update_from(add, y, 1, x, q, y);"])
def test_a_fetch_that_waits_for_a_value_may_overtake_an_atomic(atomic: str) -> None:
    """It finds the old value, which is not 0 either, before the atomic adds: the value is known behind the atomic, and
    is not the one that its place held before."""
    program = translate(instance(f"{atomic} r <- fetch(1, x); while (r == 0) {{ r <- fetch(1, x); }}", ""), "rdma-tso")
    assert not program.program.bounded
    found = by_normal_forms(program.program, RdmaTso())
    assert found.violation is not None and found.reason is None


def test_limits_hold() -> None:
    program = litmus("x@1, y@2 :: 1: x = 1; y^2 = x; a = x || 2: y = 1; x^1 = y; b = y")
    watch = Watch(Limits(max_states=5), None, time.monotonic())
    assert by_runs(RdmaTso().machine(program), watch).reason == StateLimit(5)
    assert by_executions(RdmaTso(), litmus("x@1 :: 1: x = 1 || 1: a = x || 1: b = x"), most=2).reason == StateLimit(2)


def test_undefined_values_are_violations() -> None:
    program = litmus("y@2 :: 1: put(y^2.n, 1) || 2: y.n = 2; a = y.n")
    found = [violation_in(run) for run in CoreRma().executions(program)]
    assert any(each is not None and not each.cycle for each in found)
