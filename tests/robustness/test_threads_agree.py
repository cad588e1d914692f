"""Ranks with several threads: all engines and the oracle give one answer, and every witness stands up to two judges.

The oracle knows threads from `proofs/threads.md` alone: its processes share the memory of their rank, and have all else
for themselves.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgasrob.program.instance import Instance
from pgasrob.program.parser import parse
from pgasrob.program.reading import Reading
from pgasrob.reference.attack_search import AttackSearch
from pgasrob.reference.trace_search import TraceSearch
from pgasrob.robustness.definition import DefinitionSearch
from pgasrob.robustness.engine import Engine, Settings, knows_traces
from pgasrob.robustness.native_attack import NativeSearch
from pgasrob.robustness.native_traces import NativeTraceSearch
from pgasrob.robustness.portfolio import PortfolioSearch
from pgasrob.robustness.product import ProductSearch
from pgasrob.robustness.reduction import REDUCTIONS
from pgasrob.semantics.happens_before import HappensBefore
from pgasrob.semantics.replay import replay
from pgasrob.semantics.sequential import SequentialFacts
from tests.oracle.definition import decide
from tests.oracle.readings import Reading as OracleReading
from tests.oracle.syntax import Program, to_pgas
from tests.oracle.threads import CHOICES, as_ranks, random_threads, threaded_programs
from tests.robustness.test_engines_agree import judge
from tests.support import examples

ENGINES: dict[str, Callable[[Instance], Engine]] = {
    "definition": DefinitionSearch,
    "product": lambda instance: ProductSearch(instance, 2),
    "attack": lambda instance: AttackSearch(instance, ()),
    "reduced attack": lambda instance: AttackSearch(instance, REDUCTIONS),
    "native attack": NativeSearch,
    "traces": lambda instance: TraceSearch(instance),
    "native traces": NativeTraceSearch,
    "portfolio": lambda instance: PortfolioSearch(instance, Settings()),
}
OF_TRACES = frozenset(("traces", "native traces"))
MOST_STATES = 20_000

BY_VALUE = OracleReading(waits="value")


def answer(engine: Engine) -> bool | None:
    """Whether there is a violation; None where that is not known."""
    for _ in engine.run():
        if engine.states > MOST_STATES:
            return None
    return None if engine.violation is None and engine.gave_up is not None else engine.violation is not None


def agree(program: Program) -> bool | None:
    """Compare all engines, and the facts of SC runs, with the oracle; what it says."""
    instance, expected = (
        parse(to_pgas(program)).instantiate(reading=Reading(waits="value")),
        decide(program, max_runs=6_000, reading=BY_VALUE),
    )
    for name, make in ENGINES.items():
        if name in OF_TRACES and not knows_traces(instance):
            continue
        engine = make(instance)
        found = answer(engine)
        assert None in (found, expected.violating) or found == expected.violating, (name, to_pgas(program))
        if engine.violation is not None:
            judge(program, replay(instance, engine.violation.computation))
    facts = SequentialFacts(instance)
    for _ in facts.explore(MOST_STATES):
        pass
    if facts.complete and isinstance(expected.deadlock, bool) and not facts.fault:
        assert (facts.deadlock is not None) == expected.deadlock, to_pgas(program)
    return expected.violating


@given(st.sampled_from(CHOICES).flatmap(threaded_programs))
@settings(max_examples=examples(10, nightly=20_000))
def test_all_engines_and_the_oracle_agree(program: Program) -> None:
    agree(program)


@given(st.sampled_from(CHOICES).flatmap(lambda commands: threaded_programs(commands, loops=True)))
@settings(max_examples=examples(4, nightly=5_000))
def test_they_agree_on_loops(program: Program) -> None:
    agree(program)


def test_threads_decide_many_verdicts() -> None:
    """Some programs would be judged otherwise if their threads were ranks, and both answers are frequent."""
    programs = [random_threads(seed) for seed in range(25)]
    found = [agree(program) for program in programs]
    others = [decide(as_ranks(program), max_runs=2_000, reading=BY_VALUE).violating for program in programs]
    assert found.count(True) > 5 and found.count(False) > 8
    assert sum(None not in pair and pair[0] != pair[1] for pair in zip(found, others, strict=True)) >= 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # A thread's wait is for its own operations: those of the other thread may be late.
        ("process 0 { write(z, 1, x, q); mem[y] <- 1; } process 0 thread 1 { await(mem[y] == 1); wait(q); "
         "read(w, 1, x, q); wait(q); } process 1 { skip; }", True),
        ("process 0 { write(z, 1, x, q); wait(q); mem[y] <- 1; } process 0 thread 1 { await(mem[y] == 1); "
         "read(w, 1, x, q); wait(q); } process 1 { skip; }", False),
        # Local accesses of two threads are in order.
        ("process 0 { mem[x] <- 1; r <- mem[y]; } process 0 thread 1 { mem[y] <- 1; r <- mem[x]; } process 1 { skip; }",
         False),
        # The queue of a thread is its own: two writes to one cell by two threads come in any order.
        ("process 0 { write(z, 1, x, q); mem[y] <- 1; } process 0 thread 1 { await(mem[y] == 1); write(w, 1, x, q); } "
         "process 1 { skip; }", True),
        # A barrier orders what comes before and after it of those who pass it, not of the other threads.
        ("process 0 { mem[x] <- 1; barrier; } process 0 thread 1 { write(z, 1, x, q); mem[y] <- 1; } "
         "process 1 { barrier; r <- mem[x]; }", False),
        ("process 0 { await(mem[y] == 1); barrier; } process 0 thread 1 { write(z, 1, x, q); mem[y] <- 1; } "
         "process 1 { barrier; r <- mem[x]; }", True),
        ("process 0 { await(mem[y] == 1); barrier; } process 0 thread 1 { write(z, 1, x, q); wait(q); mem[y] <- 1; } "
         "process 1 { barrier; r <- mem[x]; }", False),
        # The same where thread 1 passes it.
        ("process 0 { write(z, 1, x, q); mem[y] <- 1; } process 0 thread 1 { await(mem[y] == 1); barrier; } "
         "process 1 { barrier; r <- mem[x]; }", True),
        ("process 0 { write(z, 1, x, q); r <- mem[y]; } process 0 thread 1 { barrier; } "
         "process 1 { barrier; r <- mem[x]; }", False),
    ],
)  # fmt: skip
def test_what_is_ordered_between_threads(text: str, expected: bool) -> None:
    instance = parse(f"nodes 2; memory x, y, z, w; register r; queue q; {text}").instantiate()
    engines = {name: make(instance) for name, make in ENGINES.items()}
    assert {name: answer(engine) for name, engine in engines.items()} == dict.fromkeys(ENGINES, expected)
    for violation in filter(None, (engine.violation for engine in engines.values())):
        order = HappensBefore(replay(instance, violation.computation).computation)
        events = order.computation
        assert all(events[edge.source].rank == events[edge.target].rank for edge in order.program_order)
