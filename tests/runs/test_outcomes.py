"""Outcomes against enumerations that list every run, and what a robust program cannot have."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pgasrob.api import check
from pgasrob.diagnostics import SourceError
from pgasrob.program.instance import Instance
from pgasrob.robustness.definition import HappensBeforeSpace
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.load import load
from pgasrob.robustness.reasons import StateLimit, TimeLimit
from pgasrob.robustness.watch import Watch
from pgasrob.runs.chosen import UnknownPlace, chosen
from pgasrob.runs.enumeration import Enumeration, heights_of
from pgasrob.runs.outcomes import HasLoop, Outcome, Outcomes, joined, outcomes
from pgasrob.semantics.endings import ending_of, is_sequential, places
from pgasrob.semantics.happens_before import HappensBefore
from pgasrob.semantics.replay import replay
from pgasrob.semantics.sequential import SequentialSpace
from pgasrob.semantics.state_space import StateSpace
from tests.oracle.semantics import Machine, Run
from tests.oracle.strategies import COMMANDS, EXTENSIONS, random_program
from tests.oracle.syntax import Assume, numbered
from tests.support import (
    FURTHER,
    SHARING,
    Drawn,
    TooMany,
    computations,
    examples,
    instance,
    is_nightly,
    longest,
    one_to_one,
    sampled,
    tiny_instances,
    translated,
)

ROOT = Path(__file__).parents[2]
CORPUS = sorted(path for path in (ROOT / "programs").rglob("*.pgas"))

Seen = Counter[tuple[Any, ...]]


# Every run, one by one, by the oracle


def oracle_runs(machine: Machine, sc: bool, most: int) -> Seen:
    """How many runs the oracle has for each outcome, every one followed from its start. There may be ``most``."""
    found: Seen = Counter()
    stack = [machine.initial()]
    while stack:
        run = stack.pop()
        assert found.total() <= most
        after = list(machine.sc_successors(run) if sc else machine.successors(run))
        if not after:
            found[oracle_outcome(machine, run)] += 1
        stack += after
    return found


def oracle_outcome(machine: Machine, run: Run) -> tuple[Any, ...]:
    assert not run.pending()
    ranks = range(machine.nodes)
    leaving = [machine.edges(run, rank) for rank in ranks]
    if machine.faults(run):
        ending = "fault"
    elif not any(leaving):
        ending = "ended"
    elif all(isinstance(edge.command, Assume) for edges in leaving for edge in edges):
        ending = "stopped"
    else:
        ending = "deadlock"
    registers = [run.registers[rank][index] for index in machine.register_index.values() for rank in ranks]
    cells = [run.memory[rank][index] for index in range(len(machine.cell_names)) for rank in ranks]
    failed = {(event.rank, event.line) for event in run.history if not event.holds}
    return ending, (*registers, *cells), frozenset(failed)


def found_runs(found: Outcomes, sc: bool) -> Seen:
    """The same of what is to be tested."""
    seen: Seen = Counter()
    for outcome in found.outcomes:
        runs = outcome.sc_runs if sc else outcome.network_runs
        assert runs is not None
        failed = frozenset((each.rank, each.line) for each in outcome.failed)
        seen[outcome.ending, outcome.values, failed] += runs
    return +seen


def compare(drawn: Drawn, most: int) -> Outcomes | None:
    """The outcomes of ``drawn``, equal to the oracle's; None when there are too many runs to follow."""
    found = outcomes(drawn.instance, limits=Limits(max_states=most))
    if not found.complete or (found.network_runs or 0) > most:
        return None
    machine = Machine(numbered(drawn.oracle))
    network, sc = oracle_runs(machine, False, most), oracle_runs(machine, True, most)
    assert found_runs(found, sc=False) == network
    assert found_runs(found, sc=True) == sc
    assert found.network_runs == network.total()
    assert found.sc_runs == sc.total()
    for outcome in found.outcomes:
        assert outcome.network_only is (outcome.sc_runs == 0)
    return found


def test_the_oracle_counts_as_many_runs() -> None:
    count = examples(75, 5_000)
    kinds: Counter[str] = Counter()
    for seed in range(count):
        ranks = 1 + seed % 3
        commands = (*COMMANDS, *EXTENSIONS) if seed % 2 else COMMANDS
        drawn = translated(random_program(seed, (ranks, ranks), commands))
        found = compare(drawn, examples(400, 3_000))
        if found is not None:
            kinds[f"{ranks} ranks"] += 1
            kinds.update({outcome.ending for outcome in found.outcomes})
            kinds["network-only"] += bool(found.network_only)
            kinds["failed"] += any(outcome.failed for outcome in found.outcomes)
    # What is compared has everything in it that is to be told apart.
    assert min(kinds[f"{ranks} ranks"] for ranks in (1, 2, 3)) >= count // 40
    assert min(kinds[each] for each in ("ended", "deadlock", "stopped", "fault", "network-only", "failed")) > 0


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.data(), st.sampled_from([FURTHER, SHARING]))
def test_runs_are_the_longest_computations(data: st.DataObject, commands: tuple[str, ...]) -> None:
    """X(P, N) itself, path by path: a maximal computation is a prefix of no other."""
    drawn = data.draw(tiny_instances(3, commands))
    try:
        everything = computations(drawn, 20_000)
    except TooMany:
        return
    runs = longest(everything)
    found = outcomes(drawn)
    assert found.network_runs == len(runs)
    assert found.sc_runs == sum(map(is_sequential, runs))
    ends: Counter[tuple[int, ...]] = Counter()
    for computation in runs:
        run = replay(drawn, computation)
        ends[tuple(place.value(run.registers, run.memory) for place in places(drawn))] += 1
    told: Counter[tuple[int, ...]] = Counter()
    for outcome in found.outcomes:  # some differ by their ending alone
        told[outcome.values] += outcome.network_runs
    assert ends == told


# The definition engine: outcomes of acyclic computations are those of the SC runs


def outcomes_by_definition(instance_: Instance, most: int = 30_000) -> tuple[set[Any], set[Any]] | None:
    """The outcomes of all runs and of those without a happens-before cycle, by the engine's own enumeration."""
    space = HappensBeforeSpace(instance_)
    acyclic, everything = set(), set()
    # The engine stops at a cycle, so that its states do not tell of one that was closed before.
    stack = [(space.initial, False)]
    seen = set(stack)
    while stack:
        node, cyclic = stack.pop()
        after = [(target, cyclic or target[2]) for _, target in space.successors(node)]
        if not after:
            state = node[0]
            values = tuple(place.value(state.registers, state.memory) for place in places(instance_))
            outcome = ending_of(instance_, state.control, state.registers, state.memory), values
            everything.add(outcome)
            if not cyclic:
                acyclic.add(outcome)
        fresh = {each for each in after if each not in seen}
        seen |= fresh
        stack += fresh
        if len(seen) > most:
            return None
    assert not space.cut
    return acyclic, everything


@pytest.mark.parametrize("ranks", [(1, 2), (3, 3)])
def test_the_definition_engine_has_the_same_outcomes(ranks: tuple[int, int]) -> None:
    only = compared = 0
    for seed in range(10_000, 10_000 + examples(8, 1_000)):
        drawn = translated(random_program(seed, ranks, (*COMMANDS, *EXTENSIONS) if seed % 2 else COMMANDS)).instance
        sets = outcomes_by_definition(drawn, examples(3_000, 30_000))
        if sets is None:
            continue
        compared += 1
        found = outcomes(drawn)
        assert sets[0] == {(outcome.ending, outcome.values) for outcome in found.outcomes if outcome.sc_runs}
        assert sets[1] == {(outcome.ending, outcome.values) for outcome in found.outcomes}
        only += bool(found.network_only)
    assert compared > examples(8, 1_000) // 2
    assert only > compared // 20 - 1


# Examples


def assert_example(found: Outcomes, outcome: Outcome) -> None:
    """It replays, is a maximal run, ends in the outcome, and is an SC run exactly when there is one."""
    run = replay(found.instance, outcome.example)
    assert run.complete
    assert tuple(place.value(run.registers, run.memory) for place in found.places) == outcome.values
    assert ending_of(found.instance, run.control, run.registers, run.memory) == outcome.ending
    failed = {(each.event.rank, each.span.line) for each in run.events if each.holds is False}
    assert failed == {(each.rank, each.line) for each in outcome.failed}
    if outcome.network_only:
        assert HappensBefore(outcome.example).cycle is not None
    else:
        assert is_sequential(outcome.example)


@pytest.mark.parametrize("seed", range(40))
def test_examples_end_as_they_should(seed: int) -> None:
    found = outcomes(translated(random_program(seed, (1, 3), (*COMMANDS, *EXTENSIONS))).instance)
    for outcome in found.outcomes:
        assert_example(found, outcome)


def test_examples_are_as_short_as_can_be() -> None:
    """A branch that is left out makes a run shorter; the way to a state that is found first need not be the best."""
    long_way = instance("choose { r <- 1; r <- 2; r <- 3; } or { r <- 3; } mem[x] <- r;")
    (outcome,) = outcomes(long_way).outcomes
    assert (outcome.sc_runs, len(outcome.example)) == (2, 2)
    # Two ways lead to r = 3. Much could follow where the longer one comes by, so that it is the first to be followed.
    longer = "r <- 1; r <- 2; choose { s <- 1; s <- 2; s <- 3; s <- 4; } or { r <- 3; }"
    found = outcomes(instance(f"choose {{ {longer} }} or {{ r <- 4; r <- 3; }} mem[x] <- 5;"), ["r"])
    assert [(outcome.values, outcome.sc_runs, len(outcome.example)) for outcome in found.outcomes] == [
        ((2,), 1, 7),
        ((3,), 2, 3),
    ]
    # The same of two ends that only r tells apart.
    found = outcomes(instance(f"choose {{ {longer} }} or {{ r <- 4; r <- 5; }}"), ["s"])
    assert [(outcome.values, len(outcome.example)) for outcome in found.outcomes] == [((0,), 2), ((4,), 6)]


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(tiny_instances(3))
def test_no_run_to_an_outcome_is_shorter_than_its_example(drawn: Instance) -> None:
    try:
        runs = longest(computations(drawn, 20_000))
    except TooMany:
        return
    found = outcomes(drawn)
    best: dict[Any, int] = {}
    for computation in runs:
        run = replay(drawn, computation)
        values = tuple(place.value(run.registers, run.memory) for place in places(drawn))
        best[values] = min(best.get(values, len(computation)), len(computation))
    for outcome in found.outcomes:
        assert len(outcome.example) == best[outcome.values]


# The corpus


def corpus_instances() -> list[tuple[Path, Instance]]:
    found = []
    for path in sampled(CORPUS, 2):
        try:
            found.append((path, load(path).instantiate()))
        except SourceError:
            continue
    return found


def test_robust_programs_have_no_network_only_outcome() -> None:
    """One in two of the corpus without loops, with --nightly all; and what has one is not robust, or faults."""
    enumerated = only = neither = 0
    for path, each in corpus_instances():
        try:
            found = outcomes(each, limits=Limits(max_states=3_000))
        except HasLoop:
            continue
        enumerated += 1
        if not found.complete:
            continue
        verdict = check(each.program, each.nodes)
        if verdict.verdict == "robust":
            assert not found.network_only, path
        neither += verdict.verdict == "not robust" and not found.network_only
        if found.network_only:
            only += 1
            assert verdict.verdict == "not robust", path
            for outcome in found.outcomes:
                assert_example(found, outcome)
    # The last ones are not robust, and no final value tells.
    assert (enumerated, only, neither) == ((364, 162, 7) if is_nightly() else (169, 66, 0))


# Endings


def only_outcome(*blocks: str, **more: Any) -> Outcome:
    (outcome,) = outcomes(instance(*blocks, **more)).outcomes
    return outcome


@pytest.mark.parametrize(
    ("blocks", "ending"),
    [
        (("mem[x] <- 1;",), "ended"),
        (("",), "ended"),
        (("await(mem[x] == 2);",), "deadlock"),
        (("barrier;", ""), "deadlock"),
        (("assume(r == 1);",), "stopped"),
        (("assume(r == 1);", ""), "stopped"),
        (("assume(r == 1);", "assume(r == 2);"), "stopped"),
        (("assume(r == 1);", "barrier;"), "deadlock"),  # the other rank is stuck, and not before an assume
        (("r <- 1 / r;",), "fault"),
        (("r <- 1 / r;", "barrier;"), "fault"),
        (("choose { assume(r == 1); } or { await(mem[x] == 2); }",), "deadlock"),
    ],
)
def test_how_runs_end(blocks: tuple[str, ...], ending: str) -> None:
    assert only_outcome(*blocks).ending == ending


def test_other_ranks_go_on_when_one_cannot() -> None:
    found = outcomes(instance("r <- 1 / r; mem[y] <- 1;", "mem[y] <- 5;"), ["y"])
    (outcome,) = found.outcomes
    assert (outcome.ending, outcome.values) == ("fault", (0, 5))
    (fault,) = found.faults
    assert (fault.rank, fault.reason, fault.in_sc) == (0, "division by zero: 1 / 0", True)


def test_a_fault_that_a_choice_avoids_is_told() -> None:
    found = outcomes(instance("choose { r <- 1 / r; } or { r <- 2; }"))
    assert [outcome.ending for outcome in found.outcomes] == ["ended"]
    assert [(fault.line, fault.in_sc) for fault in found.faults] == [(1, True)]


def test_a_fault_that_only_the_network_has() -> None:
    found = outcomes(one_to_one("", 2))
    assert not found.faults
    path = ROOT / "programs/faults/division_by_zero_on_the_network.pgas"
    found = outcomes(load(path).instantiate())
    assert [(fault.rank, fault.in_sc) for fault in found.faults] == [(0, False), (1, False)]
    assert {outcome.ending for outcome in found.network_only} == {"fault"}


def test_failed_assertions_make_outcomes_of_their_own() -> None:
    """The values at the end are the same, whatever the register was when it was looked at."""
    found = outcomes(instance("r <- mem[y]; assert(r == 0); r <- 0;", "write(x, 0, y, q);"), ["r"])
    # write, popa, popb of one rank, and load, assert, assign of the other: under SC one command and three.
    assert [(outcome.failed != (), outcome.sc_runs) for outcome in found.outcomes] == [(False, 3), (True, 1)]
    assert found.sc_runs == 4


def test_an_assertion_fails_once_in_an_outcome_however_often_it_fails() -> None:
    both = only_outcome("choose { r <- 1; } or { r <- 2; } assert(r == 0); r <- 0;")
    assert len(both.failed) == 1
    assert both.sc_runs == 2


# Counting


def test_paths_of_different_lengths_to_one_state() -> None:
    """After the branch the states are the same, and every way to them counts, whenever it arrives."""
    branch = "choose { r <- 3; } or { r <- 1; r <- 3; } or { r <- 1; r <- 2; r <- 3; }"
    assert only_outcome(f"{branch} mem[x] <- r;").sc_runs == 3
    # With a store of another rank anywhere between: 3 + 4 + 5 places.
    (outcome,) = outcomes(instance(f"{branch} mem[x] <- r;", "mem[y] <- 1;")).outcomes
    assert outcome.sc_runs == 3 + 4 + 5


def test_counts_are_exact_beyond_what_a_float_has() -> None:
    """100 commands on each of two ranks: C(200, 100) runs."""
    from math import comb

    body = "r <- r + 1; " * 100
    (outcome,) = outcomes(instance(body, body)).outcomes
    assert outcome.sc_runs == outcome.network_runs == comb(200, 100)


def test_one_to_one() -> None:
    """Each rank has write, popa and popb, a barrier and a load. SC: two orders of the writes, two of the loads."""
    found = outcomes(one_to_one(), ["r"])
    assert found.sc_runs == 2 * 2
    assert [outcome.values for outcome in found.outcomes] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert [outcome.network_only for outcome in found.outcomes] == [True, True, True, False]


# Choosing, loops, limits


def test_choosing_merges_outcomes() -> None:
    drawn = one_to_one()
    everything = outcomes(drawn)
    some = outcomes(drawn, ["r@0"])
    assert [place.name for place in some.places] == ["r@0"]
    assert [outcome.values for outcome in some.outcomes] == [(0,), (1,)]
    assert some.network_runs == everything.network_runs
    assert some.sc_runs == everything.sc_runs


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["r@0"], ["r@0"]),
        (["s"], ["s@0", "s@1"]),
        (["a[1]@1", "r@0"], ["a[1]@1", "r@0"]),
        (["a@1"], ["a[0]@1", "a[1]@1"]),
        (["a"], ["a[0]@0", "a[0]@1", "a[1]@0", "a[1]@1"]),
        (["a[0]"], ["a[0]@0", "a[0]@1"]),
        (["x", "x@1"], ["x@0", "x@1"]),
    ],
)
def test_names(names: list[str], expected: list[str]) -> None:
    drawn = instance("skip;", nodes=2, declarations="memory x, a[2]; register r, s;")
    assert [place.name for place in chosen(drawn, names)] == expected


@pytest.mark.parametrize(
    ("name", "hint"),
    [("R@0", "did you mean `r@0`?"), ("a[7]@1", "did you mean `a["), ("nothing", "there is r, s, x, a"), ("x@2", "x@")],
)
def test_a_name_that_nothing_has(name: str, hint: str) -> None:
    drawn = instance("skip;", nodes=2, declarations="memory x, a[2]; register r, s;")
    with pytest.raises(UnknownPlace) as raised:
        chosen(drawn, [name])
    assert f"no register or cell '{name}' on 2 nodes" in str(raised.value)
    assert hint in str(raised.value)


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("skip;\nwhile (r < 3)\n{ r <- r + 1; }", 2),
        ("r <- 1;\nloop {\nr <- 2; }", 3),
        ("r <- 1;\nagain: r <- 2;\nr <- 3;\ngoto again;", 2),
        ("r <- 1;\nchoose { r <- 2; } or { r <- 3; }\nloop { r <- 4;\n choose { r <- 5; } or { r <- 6; } }", 3),
    ],
)
def test_a_loop_is_named(body: str, line: int) -> None:
    with pytest.raises(HasLoop) as raised:
        outcomes(instance("r <- 7;", body))
    assert (raised.value.rank, raised.value.line) == ("1", line)


def test_a_loop_that_is_never_entered_is_none() -> None:
    assert only_outcome("while (0) { r <- r + 1; }").ending == "ended"


def test_long_programs_are_no_deep_recursion() -> None:
    assert only_outcome("r <- r + 1; " * 3_000).sc_runs == 1


def test_a_limit_leaves_open_what_it_costs() -> None:
    drawn = one_to_one("", 3)
    whole = outcomes(drawn)
    assert whole.sc_states < 100 < whole.network_states
    cut = outcomes(drawn, limits=Limits(max_states=100))
    assert cut.reason == StateLimit(100)
    assert not cut.complete
    assert cut.sc_complete
    assert cut.network_runs is None
    assert cut.sc_runs == whole.sc_runs
    assert {outcome.network_runs for outcome in cut.outcomes} == {None}
    shorter = outcomes(drawn, limits=Limits(max_states=1))
    assert not shorter.sc_complete
    assert shorter.sc_runs is None
    assert not shorter.network_only
    assert all(outcome.network_only is None for outcome in shorter.outcomes if not outcome.sc_runs)


@pytest.mark.parametrize("most", [1, 5, 20, 60, 100, 150, 200, 250, 300, 400, 1_000, 5_000])
def test_what_a_cut_enumeration_says_is_so(most: int) -> None:
    """Whatever it calls network-only, and whatever count it gives, the whole enumeration has it so."""
    drawn = one_to_one("", 3)
    whole = {outcome.values: outcome for outcome in outcomes(drawn).outcomes}
    for outcome in outcomes(drawn, limits=Limits(max_states=most)).outcomes:
        same = whole[outcome.values]
        assert outcome.network_only in (None, same.network_only)
        assert outcome.sc_runs in (None, same.sc_runs)
        assert outcome.network_runs in (None, same.network_runs)


def test_without_all_sc_runs_nothing_is_called_network_only() -> None:
    drawn = one_to_one()
    sc, network = (
        Enumeration(drawn, space, places(drawn), [heights_of(drawn, rank) for rank in range(2)])
        for space in (SequentialSpace(drawn), StateSpace(drawn))
    )
    assert network.run(Watch(Limits(), None, 0.0), "") is None
    found = list(joined(sc, network))
    assert len(found) == 4
    assert {(outcome.sc_runs, outcome.network_only) for outcome in found} == {(None, None)}
    assert sum(outcome.network_runs or 0 for outcome in found) == outcomes(drawn).network_runs


def test_a_timeout() -> None:
    cut = outcomes(one_to_one("", 5), limits=Limits(max_states=None, timeout=0.2))
    assert cut.reason == TimeLimit(0.2)


def test_progress_is_told() -> None:
    told: list[tuple[str, int]] = []
    outcomes(one_to_one("", 4), progress=lambda snapshot: told.append((snapshot.phase, snapshot.states)))
    assert told
    assert told[-1][0] == "network runs"
    assert [states for phase, states in told if phase == "network runs"] == sorted(
        states for phase, states in told if phase == "network runs"
    )


# Limits and empty branches


def test_a_limit_holds_where_one_state_has_millions_of_ways() -> None:
    subject = instance("choose { barrier; r <- 1; } or { barrier; r <- 2; }", nodes=22)
    found = outcomes(subject, limits=Limits(timeout=0.2))
    assert found.reason == TimeLimit(0.2)


def test_what_no_rank_can_reach_is_not_left_out() -> None:
    text = "if (me == 5) {{ choose {{ mem[x] <- 2; }} or {{ }} }} {}"
    assert outcomes(instance(text.format("r <- 1;"))).left_out == ()
    assert outcomes(instance("choose { mem[x] <- 2; } or { }")).left_out == (1,)
