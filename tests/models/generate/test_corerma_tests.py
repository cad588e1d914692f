"""Tests generated for rules of coreRMA: how many there are, and that their lines are right."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import pytest

from pgasrob.models.corerma import CoreRma
from pgasrob.models.generate.conventions import (
    DEFAULT,
    Conventions,
    UnknownConvention,
    choices,
    conventions,
)
from pgasrob.models.generate.corerma_shapes import shapes
from pgasrob.models.generate.corerma_tests import GeneratedTest, generate
from pgasrob.models.generate.static_order import RULES, actions_of
from pgasrob.models.litmus.expected_outcomes import compare
from pgasrob.models.litmus.litmus_parser import parse
from pgasrob.models.litmus.litmus_program import Program
from pgasrob.models.model_table import asked
from tests.models.generate.brute_force import LETTER
from tests.models.generate.one_memory import Registers, outcomes

COUNTS = {
    (1, 7): "R1 84, R2 477, F1 5, F2 7, F3 0, IR 4, GA 9, PG 104, CAS-F 1, CAS-T 1, LO 182, WS 14",
    (2, 8): "R1 28, R2 120, F1 1, F2 0, F3 0, IR 3, GA 6, PG 4, CAS-F 1, CAS-T 1, LO 64, WS 9",
}
OBSERVABLE = {
    (1, 7): "R1 67, R2 300, F1 2, F2 4, F3 0, IR 0, GA 2, PG 10, CAS-F 0, CAS-T 0, LO 168, WS 12",
    (2, 8): "R1 26, R2 104, F1 1, F2 0, F3 0, IR 1, GA 1, PG 0, CAS-F 0, CAS-T 1, LO 62, WS 8",
}


def counts(processes: int, size: int, given: Conventions) -> str:
    return ", ".join(f"{rule} {sum(1 for _ in generate(rule, size, processes, given))}" for rule in RULES)


@pytest.mark.parametrize(("processes", "size"), COUNTS)
def test_how_many_tests_there_are(processes: int, size: int) -> None:
    assert counts(processes, size, LETTER) == COUNTS[processes, size]
    assert counts(processes, size, DEFAULT) == OBSERVABLE[processes, size]


def test_they_come_by_size() -> None:
    sizes = [test.shape.actions for test in generate("LO", 8, 2)]
    assert sizes == sorted(sizes) and sizes[0] < sizes[-1] == 8


def registers(model: CoreRma, program: Program, count: int) -> frozenset[Registers]:
    found = model.outcomes(program).found
    return frozenset(tuple(outcome[len(outcome) - count :]) for outcome in found)  # type: ignore[arg-type]


@pytest.mark.parametrize(("processes", "size"), [(1, 6), (2, 7)])
def test_one_memory_has_the_outcomes_of_the_axioms(processes: int, size: int) -> None:
    everything = replace(DEFAULT, reads="more", interacting=False, own_targets="always")
    model, count = CoreRma(), 0
    for shape in shapes(size, processes, everything):
        initial = tuple(range(len(shape.owners)))
        theirs = registers(model, shape.litmus(initial), shape.loads)
        assert outcomes(actions_of(shape, ir_own=False), initial) == theirs, shape
        count += 1
    assert count > 400


@pytest.mark.parametrize("rule", RULES)
def test_what_a_test_says_is_so(rule: str) -> None:
    """Read back from its text, each line holds; what the pivot forbids is allowed without the rule."""
    seen: list[GeneratedTest] = []
    for processes, size in ((1, 8), (2, 9)):
        seen += islice(generate(rule, size, processes, LETTER), 40)
    for test in seen:
        read = parse(test.text(), "generated.litmus")
        assert read.program.names == test.program.names
        assert [str(line) for line in read.expectations] == [str(line) for line in test.litmus().expectations]
        models = {("corerma", ""), *read.models}
        assert len(models) == 1 + bool(test.forbidden)
        for name, variant in models:
            model = asked(f"{name} {variant}")
            lines = compare(read, name, variant, model.outcomes(read.program).found)
            assert all(line.holds is not False for line in lines), test.text()
            assert any(line.holds for line in lines)
    if rule != "CAS-F":
        assert any(test.forbidden for test in seen)


def test_figure_6_is_generated() -> None:
    """`a = X || put(X, Y); Y = get(X); flush; b = Y` has IR as its pivot, and 9 actions."""
    (test,) = (
        test
        for test in generate("IR", 9, 2)
        if test.shape.threads
        == ((("load", (0,)),), (("put", (0, 1)), ("get", (1, 0)), ("flush", (0,)), ("load", (1,))))
    )
    assert test.shape.actions == 9
    assert test.allowed == {(0, 1), (1, 1)}  # 0 and 1 in the place of each other in the figure
    assert test.forbidden == {(0, 0), (1, 0)}


def test_figure_7_has_the_pivot_of_its_cas() -> None:
    wanted = ((("cas", (0, 0, 1, 0)), ("load", (0,)), ("load", (0,))),)
    assert wanted in [test.shape.threads for test in generate("CAS-F", 8, 1, LETTER)]


def test_minimal_tests_have_nothing_to_spare() -> None:
    minimal = list(generate("IR", 9, 2, replace(LETTER, minimal=True)))
    everything = list(generate("IR", 9, 2, LETTER))
    useful = list(generate("IR", 9, 2, replace(LETTER, flushes="useful")))
    assert len(minimal) <= len(useful) < len(everything)
    assert not any(kind == "flush" for test in minimal for thread in test.shape.threads for kind, _ in thread)


def test_initial_values() -> None:
    assert {test.initial for test in generate("LO", 5, 2, replace(LETTER, initial="zero"))} <= {(0,), (0, 0)}
    distinct = [test.shape for test in generate("LO", 5, 2, LETTER)]
    each = list(generate("LO", 5, 2, replace(LETTER, initial="each")))
    assert len(each) == sum(2 ** len(shape.owners) for shape in distinct)


def test_both_processes_on_the_cycle() -> None:
    some = {test.shape for test in generate("R2", 7, 2, replace(LETTER, both=True))}
    every = {test.shape for test in generate("R2", 7, 2, LETTER)}
    assert some < every


@pytest.mark.parametrize("setting", ["minimal=yes", "reads=more", "write_pairs=both", "observable=no"])
def test_conventions_by_name(setting: str) -> None:
    assert conventions([setting]) != DEFAULT
    name, _, value = setting.partition("=")
    assert value in choices()[name][1:]
    assert conventions([f"{name}={choices()[name][0]}"]) == DEFAULT


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("minmal=yes", "no convention 'minmal'; did you mean `minimal`?"),
        ("minimal", "minimal is one of no, yes"),
        ("reads=some", "reads is one of exact, more, none"),
    ],
)
def test_unknown_conventions(setting: str, told: str) -> None:
    with pytest.raises(UnknownConvention, match=told.replace("?", r"\?")):
        conventions([setting])


def test_unknown_rules_and_process_counts() -> None:
    with pytest.raises(ValueError, match="no rule 'no-C' that orders actions"):
        next(generate("no-C", 6))
    with pytest.raises(ValueError, match="one or two processes"):
        next(generate("IR", 6, 3))
