"""All engines, the tests' oracle and the plain definition give one answer, and every witness stands up to two judges.

The oracle (`tests/oracle`) shares no code with the package: it decides by brute force, and its replay judges the
witnesses beside the package's own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgasrob.api import check
from pgasrob.automata.automaton import Reached
from pgasrob.program import core
from pgasrob.program.expressions import Fault
from pgasrob.program.instance import Instance
from pgasrob.reference.attack_search import AttackSearch
from pgasrob.reference.trace_search import TraceSearch
from pgasrob.robustness.definition import DefinitionSearch
from pgasrob.robustness.engine import Violation
from pgasrob.robustness.engines import ENGINES
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.load import load
from pgasrob.robustness.product import ProductSearch
from pgasrob.robustness.verdict import Verdict, Witness
from pgasrob.semantics.happens_before import HappensBefore
from pgasrob.semantics.replay import Run, replay
from pgasrob.semantics.sequential import SequentialFacts
from pgasrob.semantics.state_space import State, StateSpace
from tests.oracle.definition import Result, decide
from tests.oracle.litmus import LITMUS
from tests.oracle.readings import Reading
from tests.oracle.replay import check_deadlock, check_failed_assert, check_fault, check_witness
from tests.oracle.strategies import COMMANDS, EXTENSIONS, MEETINGS
from tests.oracle.syntax import Program as OracleProgram
from tests.support import (
    FURTHER,
    SHARING,
    Drawn,
    drawn_programs,
    examples,
    json_events,
    tiny_instances,
    translated,
)

MOST_STATES = {
    "definition": 50_000,
    "two heads": 50_000,
    "four heads": examples(8_000, nightly=60_000),
    "attack": 50_000,
    "traces": 20_000,
}
"""States after which an engine is not asked any further: four heads are slow, and loops may have no end."""
MOST_STATES_OF_LOOPS = {name: examples(3_000, nightly=most) for name, most in MOST_STATES.items()}

BY_VALUE = Reading(waits="value")
"""How all engines can read waits; those that read them by condition are compared in `test_waits_agree`."""

# Everything, and choices that bring out one thing.
CHOICES = (
    COMMANDS,
    COMMANDS,
    ("load", "store", "write", "read", "wait", "wait_local", "barrier"),
    ("load", "store", "write", "fence", "wait", "fetch_add"),
    ("load", "write", "await", "fetch_add", "swap", "compare_swap", "wait", "choose"),
)


# The same with what lies beyond the paper and the design's first commands: all of it, and by what it brings.
FURTHER_CHOICES = (
    (*COMMANDS, *EXTENSIONS),
    ("load", "store", "put", "update", "fence", "notify", "wait", "wait_local", "fetch"),
    ("load", "store", "write", "put", "bundle", "signal", "await", "barrier"),
    ("load", "store", "update", "update_from", "wait", "wait_local", "fetch_update", "choose"),
    ("load", "write", "put", "await_add", "await", "signal", "notify", "fetch_add"),
    ("load", "store", "write", "put", "load_there", "store_there", "fence", "wait"),
    MEETINGS,
)


def programs(loops: bool = False) -> st.SearchStrategy[Drawn]:
    return st.sampled_from(CHOICES).flatmap(lambda commands: drawn_programs(commands=commands, loops=loops))


def further_programs(loops: bool = False) -> st.SearchStrategy[Drawn]:
    return st.sampled_from(FURTHER_CHOICES).flatmap(lambda commands: drawn_programs(commands=commands, loops=loops))


def engines(program: Instance, most: dict[str, int] = MOST_STATES) -> Iterator[tuple[str, Violation | None, bool]]:
    """Each engine's name, the violation it found, and whether it knows the answer."""
    for name, search in (
        ("definition", DefinitionSearch(program)),
        ("two heads", ProductSearch(program, 2)),
        ("four heads", ProductSearch(program, 4)),
        ("attack", AttackSearch(program)),
        ("traces", TraceSearch(program)),
    ):
        over = True
        for _ in search.run():
            if search.states > most[name]:
                over = False
                break
        yield name, search.violation, search.violation is not None or (over and search.gave_up is None)


def judge(oracle: OracleProgram, run: Run) -> None:
    """The run is complete and its cycle right, for both judges."""
    cycle = HappensBefore(run.computation).cycle
    assert run.complete and cycle is not None
    edges = [{"from": edge.source, "to": edge.target, "relation": edge.relation} for edge in cycle]
    check_witness(oracle, None, json_events(run), edges, reading=BY_VALUE)


def agree(drawn: Drawn, most: dict[str, int] = MOST_STATES, most_runs: int = 20_000) -> dict[str, bool | None]:
    """Compare the engines and the oracle on one program; says what each of them knows."""
    program, expected = drawn.instance, decide(drawn.oracle, max_runs=most_runs, reading=BY_VALUE)
    answers: dict[str, bool | None] = {"oracle": expected.violating}
    for name, violation, known in engines(program, most):
        answers[name] = violation is not None if known else None
        if violation is not None:
            judge(drawn.oracle, replay(program, violation.computation))
    assert len(set(answers.values()) - {None}) <= 1, answers
    return answers


@given(programs())
@settings(max_examples=examples(6, nightly=10_000))
def test_all_engines_and_the_oracle_agree(drawn: Drawn) -> None:
    """Theorems 5 and 16 with four parts and with two, and the attack search."""
    agree(drawn)


@given(further_programs())
@settings(max_examples=examples(6, nightly=10_000))
def test_all_engines_and_the_oracle_agree_on_further_commands(drawn: Drawn) -> None:
    """Captured, updating, notifying and bundled operations, and the atomics that came with them."""
    agree(drawn)


@given(further_programs(loops=True))
@settings(max_examples=examples(5, nightly=10_000))
def test_all_engines_and_the_oracle_agree_on_further_commands_in_loops(drawn: Drawn) -> None:
    agree(drawn, MOST_STATES_OF_LOOPS, examples(2_000, nightly=20_000))


@given(tiny_instances(5, (*FURTHER, *SHARING)))
@settings(max_examples=examples(10, nightly=10_000))
def test_the_engines_agree_where_every_operation_meets_every_other(program: Instance) -> None:
    """A few commands on two cells, so that nearly all of them conflict."""
    answers = {}
    for name, violation, known in engines(program):
        answers[name] = violation is not None if known else None
        if violation is not None:
            run = replay(program, violation.computation)
            assert run.complete and HappensBefore(run.computation).cycle is not None
    assert len(set(answers.values()) - {None}) == 1, answers


@given(programs(loops=True))
@settings(max_examples=examples(5, nightly=10_000))
def test_all_engines_and_the_oracle_agree_on_loops(drawn: Drawn) -> None:
    """As far as each of them knows the answer."""
    agree(drawn, MOST_STATES_OF_LOOPS, examples(2_000, nightly=20_000))


def test_the_random_programs_are_no_sham() -> None:
    """Both answers come up, and nearly always everybody knows."""
    seen: Counter[object] = Counter()

    @given(programs())
    @settings(max_examples=20)
    def look(drawn: Drawn) -> None:
        answers = agree(drawn)
        seen[answers["definition"]] += 1
        seen.update(name for name, answer in answers.items() if answer is not None)

    look()
    assert seen[True] >= 3 and seen[False] >= 3
    assert min(seen[name] for name in ("oracle", "definition", "two heads", "attack")) >= 18
    assert seen["four heads"] >= 10


@pytest.mark.parametrize("name", LITMUS)
def test_the_litmus_programs(name: str) -> None:
    """Small programs whose verdict follows from the text of the design."""
    program, expected = LITMUS[name]
    drawn = translated(program)
    violations = {name: violation is not None for name, violation, known in engines(drawn.instance) if known}
    if expected == "unknown":
        assert "two heads" in violations
        return
    assert set(violations.values()) == {expected == "not robust"}
    agree(drawn)


OUR_OWN = sorted(set(ENGINES) - {"spin"})
"""The engines that need no compiler for every program; `test_spin` has the other."""
STALE_POLL = sorted(Path(__file__).parents[2].glob("programs/stale_poll/*.pgas"))


@pytest.mark.parametrize("engine", OUR_OWN)
@pytest.mark.parametrize("path", STALE_POLL, ids=lambda path: path.stem)
def test_a_poll_that_reads_a_stale_value_is_a_violation_and_waiting_is_none(path: Path, engine: str) -> None:
    """`proofs/waiting.md`: the programs state their verdicts."""
    program = load(path)
    assert program.source.line(1) == f"// expect: {check(program, engine=engine).verdict}"


def test_there_are_programs_that_poll_and_programs_that_wait() -> None:
    assert {"poll_shadow", "wait_instead"} <= {path.stem for path in STALE_POLL}


# The whole check


def verdicts(drawn: Drawn) -> list[Verdict]:
    limits = Limits(max_states=200_000)
    return [check(drawn.program, engine=engine, limits=limits) for engine in OUR_OWN]


def check_facts(drawn: Drawn, verdict: Verdict, expected: Result) -> None:
    assert verdict.verdict in expected.allowed
    if verdict.verdict == "error":
        witness = verdict.witness
        assert witness is not None and witness.fault is not None
        found = check_fault(drawn.oracle, None, json_events(witness.run))
        assert (witness.fault.rank, witness.fault.line) in [place[:2] for place in found]
        return
    if verdict.verdict == "not robust":
        assert verdict.witness is not None
        judge(drawn.oracle, verdict.witness.run)
    kinds = {edge.command.kind for automaton in drawn.instance.automata for edge in automaton.transitions}
    # A command in a branch that is dead for every rank is nothing to check; the oracle does not look into branches.
    assert verdict.assertions == (expected.assertions if "assert" in kinds else None)
    waits = bool(kinds & {"barrier", "await", "await_add"}) or drawn.instance.has_loops
    assert verdict.deadlock == (expected.deadlock if waits else None)
    check_runs(drawn, verdict.assertion_run, verdict.deadlock_run)


def check_runs(drawn: Drawn, assertion: Witness | None, deadlock: Witness | None) -> None:
    if assertion is not None:
        check_failed_assert(drawn.oracle, None, json_events(assertion.run))
    if deadlock is not None:
        check_deadlock(drawn.oracle, None, json_events(deadlock.run))


@given(programs())
@settings(max_examples=examples(10, nightly=10_000))
def test_verdict_assertions_deadlock_and_faults_are_those_of_the_oracle(drawn: Drawn) -> None:
    expected = decide(drawn.oracle, reading=BY_VALUE)
    if expected.verdict == "unknown":
        return
    for verdict in verdicts(drawn):
        check_facts(drawn, verdict, expected)


# What SC runs say holds for all computations of a robust program


def stuck(program: Instance, state: State) -> bool:
    """A deadlock of X (`proofs/sc-runs.md`): nothing is pending, no rank can move, and one of them is stuck before
    something other than false assumes alone."""
    leaving = [automaton.out[control] for automaton, control in zip(program.automata, state.control, strict=True)]
    kinds = {edge.command.kind for out in leaving for edge in out}
    waits = bool(kinds - {"assume"}) and "exit" not in kinds
    moves = any(True for _ in StateSpace(program).successors(state))
    return not any(state.pending) and not moves and waits


def faulting(program: Instance, state: State) -> bool:
    """Whether some rank stands before a command that cannot be evaluated."""
    for rank, automaton in enumerate(program.automata):
        for transition in automaton.out[state.control[rank]]:
            try:
                program.operands(rank, transition, state.registers[rank])
            except Fault:
                return True
    return False


def failing(program: Instance, state: State) -> bool:
    """Whether some rank stands before an assertion that is false (and can be evaluated)."""
    for rank, automaton in enumerate(program.automata):
        for transition in automaton.out[state.control[rank]]:
            try:
                match program.operands(rank, transition, state.registers[rank]):
                    case core.Test(condition, blocks=False) if not condition:
                        return True
            except Fault:
                continue
    return False


@given(programs())
@settings(max_examples=examples(10))
def test_sc_facts_carry_over_to_all_computations_of_a_robust_program(drawn: Drawn) -> None:
    """The corollary of `proofs/sc-runs.md`: assertions, deadlocks and faults."""
    program = drawn.instance
    search = ProductSearch(program)
    for _ in search.run():
        pass
    if search.violation is not None:
        return
    facts = SequentialFacts(program)
    for _ in facts.explore():
        pass
    reached = Reached(StateSpace(program))
    states = list(reached.expand())
    assert (facts.fault is not None) == any(faulting(program, state) for state in states)
    if facts.fault is None:
        assert (facts.failed.get(None) is not None) == any(failing(program, state) for state in states)
        assert (facts.deadlock is not None) == any(stuck(program, state) for state in states)


def test_sc_facts_say_nothing_of_the_computations_of_a_program_that_is_not_robust() -> None:
    """Here the assertion holds in all SC runs."""
    drawn = translated(LITMUS["1to1"][0])
    facts = SequentialFacts(drawn.instance)
    for _ in facts.explore():
        pass
    assert facts.failed.get(None) is None
    assert any(failing(drawn.instance, state) for state in Reached(StateSpace(drawn.instance)).expand())


@pytest.mark.nightly
@given(programs(loops=True))
@settings(max_examples=examples(40, nightly=10_000))
def test_verdict_assertions_deadlock_and_faults_are_those_of_the_oracle_on_loops(drawn: Drawn) -> None:
    expected = decide(drawn.oracle, reading=BY_VALUE)
    if expected.verdict == "unknown":
        return
    verdict = check(drawn.program, limits=Limits(max_states=200_000))
    if verdict.verdict != "unknown":
        check_facts(drawn, verdict, expected)
