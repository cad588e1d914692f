"""Waits by condition: all engines that know them and the oracle give one answer, and the rule matters."""

from __future__ import annotations

from collections import Counter

import pytest

from pgasrob import twins
from pgasrob.api import check
from pgasrob.program import core
from pgasrob.program.instance import Instance
from pgasrob.program.parser import parse
from pgasrob.program.reading import Reading
from pgasrob.reference.attack_search import AttackSearch
from pgasrob.reference.trace_search import TraceSearch
from pgasrob.robustness.definition import DefinitionSearch
from pgasrob.robustness.engine import Engine
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.native_traces import NativeTraceSearch
from pgasrob.semantics.happens_before import HappensBefore, is_violating
from pgasrob.semantics.replay import replay
from pgasrob.semantics.tested_conditions import Condition, Conditions
from tests.oracle import strategies
from tests.oracle.definition import decide
from tests.oracle.syntax import to_pgas
from tests.robustness.drawn_counts import drawn_counts
from tests.robustness.drawn_waits import drawn_waits
from tests.support import examples, instance

MOST_STATES = 1_500
BY_VALUE_ONLY = (88, 95, 151)
"""Seeds of random programs that are robust, but not if waits are read by value."""
CHOICES = (
    ("load", "write", "await", "store", "wait", "barrier"),
    ("await", "write", "put", "store"),
    ("await", "write", "read", "swap", "compare_swap"),
    ("await", "put", "await_add", "swap", "notify", "store"),
    ("await", "write", "update", "update_from", "fetch", "store"),
    ("await", "write", "read", "store", "choose", "wait"),
)


def answer(search: Engine, most: int = MOST_STATES) -> bool | None:
    """Whether there is a violation; None when that is not known."""
    for _ in search.run():
        if search.states > most:
            return None
    return None if search.violation is None and search.gave_up is not None else search.violation is not None


def traces(program: Instance) -> Engine:
    """By the kernel where there is one: it goes the same way (below)."""
    return NativeTraceSearch(program) if twins.available() else TraceSearch(program)


def has_tests(program: Instance) -> bool:
    return any(isinstance(form, core.Immediate) and bool(form.access.tests) for form in program.forms)


def drawn(first: int, count: int) -> list[Instance]:
    """Random programs with such waits."""
    every = (parse(drawn_waits(seed)).instantiate() for seed in range(first, first + count))
    return [program for program in every if has_tests(program)]


def test_the_traces_and_the_check_agree_with_the_definition() -> None:
    """100,000 programs when nightly. What is violating is violating by value."""
    seen: Counter[str] = Counter()
    for program in [*(drawn(seed, 1)[0] for seed in BY_VALUE_ONLY), *drawn(0, examples(100, nightly=100_000))]:
        defined = answer(DefinitionSearch(program))
        if defined is None:
            seen["not known"] += 1
            continue
        search = traces(program)
        assert answer(search) == defined
        if search.violation is not None:
            assert is_violating(program, search.violation.computation)
        by_value = answer(DefinitionSearch(program.program.instantiate(program.nodes, Reading().by_value)))
        if by_value is not None:
            assert by_value or not defined
            seen["robust by condition only"] += by_value and not defined
        seen["violating" if defined else "robust"] += 1
        if sum(seen.values()) % 4 == 0:
            verdict = check(program.program.source.text, program.nodes, limits=Limits(20_000))
            assert verdict.verdict == ("not robust" if defined else "robust")
            seen["check"] += 1
    assert min(seen["violating"], seen["robust"], seen["check"]) > 10 and seen["robust by condition only"] > 1, seen


def test_the_oracle_agrees() -> None:
    seen: Counter[str] = Counter()
    for seed in range(examples(60, nightly=20_000)):
        source = strategies.random_program(seed, commands=CHOICES[seed % len(CHOICES)])
        program = parse(to_pgas(source)).instantiate(source.nodes or 2)
        if not has_tests(program):
            continue
        expected, found = decide(source, max_runs=3_000).violating, answer(DefinitionSearch(program))
        if None not in (expected, found):
            assert expected == found
            seen["violating" if found else "robust"] += 1
    assert min(seen["violating"], seen["robust"]) >= 5, seen


def test_the_oracle_agrees_on_adds_that_are_compared() -> None:
    seen: Counter[str] = Counter()
    for seed in range(examples(40, nightly=30_000)):
        source = drawn_counts(seed)
        program = parse(to_pgas(source)).instantiate()
        expected, found = decide(source, max_runs=3_000).violating, answer(DefinitionSearch(program))
        assert answer(traces(program)) == found
        if None not in (expected, found):
            assert expected == found
            seen["violating" if found else "robust"] += 1
        seen["counted"] += any(True for _ in Conditions(program).counted)
    assert min(seen["violating"], seen["robust"]) >= 4 and seen["counted"] > 20, seen


CENTRAL = """
    r <- fetch_add(0, x, 1);
    if (r == nodes - 1) { while (s < nodes) { notify(set, 1, s, y, q); s <- s + 1; } }
    await(mem[y] == 1);
"""


@pytest.mark.parametrize(("nodes", "counts"), [(2, (2, 0)), (3, (6, 0)), (4, (12, 1)), (5, (20, 4))])
def test_only_the_last_two_in_a_central_barrier_are_ordered(nodes: int, counts: tuple[int, int]) -> None:
    declarations = "memory x, y;\nqueue q;\nregister r, s;"
    search = TraceSearch(instance(CENTRAL, nodes=nodes, declarations=declarations))
    assert answer(search) is False and (search.traces, search.exploration.redundant) == counts


def test_the_second_of_two_adds_turns_a_condition_whichever_it_is() -> None:
    """So an add that does not turn it at first is woken by the other one."""
    blocks = (
        "write(w, 1, y, q); r <- fetch_add(0, x, 1); if (r < 0) { }",
        "r <- fetch_add(0, x, 1); if (r <= 1) { mem[z] <- 1; } s <- fetch_add(1, y, 1);",
    )
    program = instance(*blocks, declarations="memory x, y, z, w = 2;\nqueue q;\nregister r, s;")
    assert answer(DefinitionSearch(program)) is True
    assert answer(TraceSearch(program)) is True
    assert not twins.available() or answer(NativeTraceSearch(program)) is True


def test_who_waits_and_changes_the_cell_turns_conditions_of_others() -> None:
    """So it comes before what looks at them, in some run."""
    blocks = (
        "choose { await(mem[y] == 3); assert(r == 1); } or { mem[z] <- 1; }",
        "mem[y] <- 4; await(mem[y] >= 2); write(x, 0, y, q); await_add(0, mem[y] == 1, 2);",
        "await_add(0, mem[y] == 1, 1);",
    )
    program = instance(*blocks, declarations="memory x = 1, y, z;\nqueue q;\nregister r;")
    searches = [TraceSearch(program), *([NativeTraceSearch(program)] if twins.available() else [])]
    for search in searches:
        assert answer(search) is False
        assert len(search.failed) == 1


@pytest.mark.skipif(not twins.available(), reason="needs the kernel")
def test_the_kernel_goes_the_same_way() -> None:
    for program in drawn(5_000, examples(60, nightly=5_000)):
        ours, native = TraceSearch(program), NativeTraceSearch(program)
        assert answer(ours) == answer(native)
        assert (ours.traces, ours.exploration.redundant, ours.exploration.events) == (
            native.traces, native.exploration.redundant, native.exploration.events
        )  # fmt: skip


@pytest.mark.parametrize("turns", [False, True])
def test_the_rule_matters(monkeypatch: pytest.MonkeyPatch, turns: bool) -> None:
    """Where nothing turns a condition violations are lost; where everything does, as by value, there are more."""
    programs = [instance(*BELOW, declarations="memory x;\nqueue q;"), *(drawn(seed, 1)[0] for seed in BY_VALUE_ONLY)]
    expected = [answer(DefinitionSearch(program)) for program in programs]
    monkeypatch.setattr(Condition, "turns", lambda self, before, after: turns)
    found = [answer(DefinitionSearch(program)) for program in programs]
    assert [each for each in zip(expected, found, strict=True) if each == (not turns, turns)]


COUNTED = """
    mem[z] <- 1; notify(set, 1, (me + 1) % nodes, x, q); notify(set, 2, (me + 1) % nodes, x, q);
    await(mem[x] >= 1); await(mem[x] >= 2);
"""


def test_flags_that_count_have_one_trace() -> None:
    declarations = "memory x, y, z;\nqueue q;"
    search = TraceSearch(instance(COUNTED, nodes=2, declarations=declarations))
    assert answer(search) is False and (search.traces, search.states) == (1, 11)
    assert answer(TraceSearch(instance(COUNTED, nodes=2, declarations=declarations, reading=Reading(waits="value"))))


LATE = ("notify(set, 1, 1, x, q); notify(set, 2, 1, x, q); wait(q);", "await(mem[x] >= 1); mem[y] <- 1;")
EARLY = ("notify(set, 1, 0, x, q); await(mem[x] >= 0); notify(set, 2, 0, x, q);",)
BELOW = ("notify(set, -1, 0, x, q); await(mem[x] >= 0);",)


@pytest.mark.parametrize(
    ("blocks", "by_condition", "by_value"), [(LATE, False, False), (EARLY, False, True), (BELOW, True, True)]
)
def test_which_changes_an_await_conflicts_with(blocks: tuple[str, ...], by_condition: bool, by_value: bool) -> None:
    declarations = "memory x, y;\nqueue q;"
    program = instance(*blocks, declarations=declarations)
    assert answer(DefinitionSearch(program)) == answer(traces(program)) == by_condition
    literal = instance(*blocks, declarations=declarations, reading=Reading(waits="value"))
    assert answer(DefinitionSearch(literal)) == answer(traces(literal)) == answer(AttackSearch(literal)) == by_value


def test_an_engine_that_reads_by_value_claims_nothing_else() -> None:
    text = "nodes 1;\nmemory x, y;\nqueue q;\nprocess { " + EARLY[0] + " }\n"
    assert [check(text, engine=engine).verdict for engine in ("portfolio", "traces", "definition")] == ["robust"] * 3
    verdict = check(text, engine="attack")
    assert verdict.verdict == "unknown" and verdict.reason is not None and verdict.reason.code == "waits-by-value"
    assert check(text, engine="attack", waits="value").verdict == "not robust"


def test_a_run_has_the_edges_of_its_reading() -> None:
    program = instance(*EARLY, declarations="memory x, y;\nqueue q;")
    search = AttackSearch(program)
    assert answer(search) and search.violation is not None
    run = replay(program, search.violation.computation)
    assert HappensBefore.of(run).cycle is None and HappensBefore(run.computation).cycle is not None
