"""The `traces` engine, the attack search and the definition give one answer; witnesses replay."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from pgasrob import twins
from pgasrob.analysis.placement import NOW
from pgasrob.program import core
from pgasrob.program.instance import Instance
from pgasrob.program.parser import parse
from pgasrob.program.reading import Reading
from pgasrob.reference import closing, delaying
from pgasrob.reference.attack_search import AttackSearch
from pgasrob.reference.trace_search import TraceSearch
from pgasrob.robustness.definition import DefinitionSearch
from pgasrob.robustness.native_attack import NativeSearch
from pgasrob.robustness.native_traces import NativeTraceSearch
from pgasrob.robustness.reduction.infeasibility import choosable
from pgasrob.semantics.happens_before import HappensBefore
from pgasrob.semantics.replay import replay
from pgasrob.semantics.sequential import SequentialFacts
from tests.oracle import polls_and_updates, strategies
from tests.oracle.syntax import to_pgas
from tests.robustness.contended import contended
from tests.robustness.test_engines_agree import CHOICES, FURTHER_CHOICES
from tests.support import examples, instance

MOST_EVENTS, MOST_STATES, MOST_STATES_OF_X = 300, 50_000, 250


def programs(first: int, count: int) -> Iterator[Instance]:
    """Random programs in both readings (waits by value), half of them with polls and updates that commute."""
    choices = (*CHOICES, *FURTHER_CHOICES)
    for seed in range(first, first + count):
        drawn = (
            polls_and_updates.random_program(seed)
            if seed % 2
            else strategies.random_program(seed, commands=choices[seed // 2 % len(choices)])
        )
        program = parse(to_pgas(drawn))
        for reading in (Reading().by_value, Reading("count", "all", "value")):
            yield program.instantiate(drawn.nodes or 2, reading)


def answer(search: TraceSearch | NativeTraceSearch) -> bool | None:
    """Whether there is a violation; None when that is not known."""
    for _ in search.run():
        if search.transitions > MOST_EVENTS:
            return None
    if search.violation is None and search.gave_up is not None:
        return None
    return search.violation is not None


def attack(program: Instance) -> bool | None:
    if twins.available():
        search: AttackSearch | NativeSearch = NativeSearch(program)
    else:
        search = AttackSearch(program, ("persistent", "merging"))
    for _ in search.run():
        if search.states > MOST_STATES:
            return None
    return search.violation is not None


def by_definition(program: Instance) -> bool | None:
    search = DefinitionSearch(program)
    for _ in search.run():
        if search.states > MOST_STATES_OF_X:
            return None
    return search.violation is not None


def test_traces_attack_and_definition_agree() -> None:
    """200,000 programs when nightly, by the kernel where there is one: it goes the same way (below)."""
    seen: Counter[str] = Counter()
    for program in programs(0, examples(50, nightly=100_000)):
        search = NativeTraceSearch(program) if twins.available() else TraceSearch(program)
        found, expected, defined = answer(search), attack(program), by_definition(program)
        if found is None or expected is None:
            seen["not known"] += 1
            continue
        assert found == expected
        if defined is not None:
            assert found == defined
            seen["by definition"] += 1
        seen["violating" if found else "robust"] += 1
        if search.violation is not None:
            assert HappensBefore(replay(program, search.violation.computation).computation).cycle is not None
        for form in program.forms:
            seen[type(form).__name__] += 1
            if isinstance(form, core.Transfer):
                seen["captured"] += form.captured is not None
                seen["notifies"] += any(step.after_writes for step in form.steps)
                seen["signals"] += any(step.after_bundle for step in form.steps)
                seen["located"] += any(step.located for step in form.steps)
                seen["results"] += any(step.kind == "popc" for step in form.steps)
                seen["commutes"] += any(step.access.commutes for step in form.steps)
            seen["waits for a value"] += isinstance(form, core.Immediate) and form.may_block
    assert min(seen["violating"], seen["robust"]) > 20 and seen["by definition"] > 60, seen
    features = ("captured", "notifies", "signals", "located", "results", "commutes", "waits for a value", "Fence")
    assert min(seen[name] for name in (*features, "Bundle", "Barrier", "Wait")) >= 3, seen


@pytest.mark.skipif(not twins.available(), reason="needs the kernel")
def test_the_kernel_goes_the_same_way() -> None:
    for program in programs(1_000, examples(150, nightly=20_000)):
        slow, fast = TraceSearch(program), NativeTraceSearch(program)
        if answer(slow) is None and slow.gave_up is None:
            continue
        for _ in fast.run():
            pass
        assert (slow.traces, slow.exploration.redundant, slow.states) == (
            fast.traces,
            fast.exploration.redundant,
            fast.states,
        )
        assert slow.violation == fast.violation and slow.gave_up == fast.gave_up
        facts = fast.facts
        assert (slow.failed.get(None), slow.deadlock) == (facts.failed.get(None), facts.deadlock)
        assert (slow.fault is None) == (facts.fault is None)


@pytest.mark.skipif(not twins.available(), reason="needs the kernel")
def test_what_infeasibility_has_settled_can_be_left_out() -> None:
    left_out = 0
    for program in programs(2_000, examples(150, nightly=20_000)):
        found, expected = NativeTraceSearch(program, choosable(program)), NativeTraceSearch(program)
        answers = answer(found), answer(expected)
        assert None in answers or answers[0] == answers[1]
        left_out += not any(choosable(program))
    assert left_out > 20


def wrong(count: int = 300) -> bool:
    """Whether the answer for some program is another one than that of the attack search."""
    answers = ((answer(TraceSearch(program)), attack(program)) for program in programs(5_000, count))
    return any(None not in each and each[0] != each[1] for each in answers)


@pytest.mark.parametrize(
    ("module", "rule", "other"),
    [
        (delaying, "lower_bounds", lambda instance, placement, operands: [NOW] * len(operands.steps)),
        (delaying, "wait_is_over", lambda placement, operands: True),
        (closing, "lower_bounds", lambda instance, placement, operands: [NOW] * len(operands.steps)),
        (closing.Closing, "_passes", lambda self, candidate, value: True),
        (delaying.Left, "has", lambda self, clock: False),
    ],
    ids=["what D orders", "what D blocks", "what D orders of e", "what e waits for", "what comes after"],
)
def test_every_rule_matters(module: object, rule: str, other: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, rule, other)
    monkeypatch.setattr("pgasrob.robustness.moves.execute", lambda *given: given[1:3])  # what is found is no run
    monkeypatch.setattr("pgasrob.reference.trace_search.in_two_parts", lambda words: ((), ()))
    assert wrong()


def test_contended_programs_agree() -> None:
    """Facts too: where both search to the end."""
    seen: Counter[str] = Counter()
    for seed in range(10_000, 10_000 + examples(200, nightly=50_000)):
        program = contended(seed)
        search = TraceSearch(program)
        found, expected = answer(search), attack(program)
        if found is None or expected is None:
            continue
        assert found == expected, seed
        seen["violating" if found else "robust"] += 1
        if not found:
            facts = SequentialFacts(program)
            for _ in facts.explore():
                pass
            assert (search.failed.get(None) is None) == (facts.failed.get(None) is None), seed
            assert (search.deadlock is None) == (facts.deadlock is None), seed
            seen["assertion"] += facts.failed.get(None) is not None
            seen["deadlock"] += facts.deadlock is not None
    assert min(seen.values()) >= 10 and len(seen) == 4, seen


def test_a_rank_before_a_fault_is_in_no_deadlock() -> None:
    search = TraceSearch(instance("r <- 1 / r; mem[x] <- 1;", "r <- mem[y]; await_add(0, mem[y] == 1, 1);"))
    assert answer(search) is False and search.fault is not None and search.deadlock is None
    assert not search.fault.run


COUNTER = "update(add, 1, 0, y, q); wait(q); mem[w] <- 1; update(add, 1, 0, z, q);"


@pytest.mark.parametrize(
    ("waits", "violating"),
    [("mem[y] == 1", False), ("mem[y] == 2", True), ("mem[y] >= 2", True), ("mem[y] >= 3", False)],
)
def test_updates_beside_the_source(waits: str, violating: bool) -> None:
    """Rank 0 adds as well, and does not wait for it; others have added before it comes to the await."""
    program = instance(f"update(add, 1, 0, y, u); await(mem[z] == 2); await({waits});", COUNTER, COUNTER)
    assert answer(TraceSearch(program)) == attack(program) == violating


def test_there_may_be_too_much_to_choose_from() -> None:
    others = ["update(add, 1, 0, x, u); await(mem[x] == 9);", *["update(add, 1, 0, x, q);"] * 15]
    search = TraceSearch(instance(*others))
    assert answer(search) is None and str(search.gave_up).startswith("there are too many ways")


@pytest.mark.skipif(not twins.available(), reason="needs the kernel")
def test_what_is_tried_for_a_source_has_one_bound_for_all_who_wait() -> None:
    """Each of many awaits may be met with 11 updates in 2^11 ways; trying them is effort."""

    def effort(awaits: int) -> int:
        loop = f"while (s < {awaits}) {{ choose {{ await(mem[y] == 40); }} or {{ skip; }} s <- s + 1; }}"
        others = "update(add, 1 << me, 0, y, q); wait(q); update(add, 1, 0, z, u);"
        search = NativeTraceSearch(
            instance(f"await(mem[z] == 11); {loop}", *[others] * 10, others.replace("wait(q);", ""))
        )
        assert answer(search) is None and str(search.gave_up).startswith("there are too many ways")
        return search.effort

    few, many = effort(20), effort(80)
    assert few > 40_000 and many < few + 60 * 100


def test_the_reference_has_that_bound_too(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []
    monkeypatch.setattr(closing, "MOST_FURTHER", 20)
    monkeypatch.setattr(closing.Closing, "_with_further", lambda *given: tried.append(given[1]))
    loop = "while (s < 9) { choose { await(mem[y] == 14); } or { skip; } s <- s + 1; }"
    search = TraceSearch(
        instance(f"await(mem[z] == 4); {loop}", *["update(add, 1 << me, 0, y, q); update(add, 1, 0, z, u);"] * 4)
    )
    assert answer(search) is None and str(search.gave_up).startswith("there are too many ways")
    assert max(Counter(source.event.number for source in tried).values()) == 20
