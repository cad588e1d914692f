"""Each reduction on and off, in Python and in the kernel, against the plain search, `definition` and `product`.

Some 600 programs by default and 17,000 with --nightly: a third of them with loops, a fifth with interchangeable ranks,
more than a third with commands of all kinds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgasrob import twins
from pgasrob.program.instance import Instance
from pgasrob.program.parser import parse
from pgasrob.reference.attack_search import AttackSearch
from pgasrob.robustness.definition import DefinitionSearch
from pgasrob.robustness.engine import Engine
from pgasrob.robustness.native_attack import NativeSearch
from pgasrob.robustness.product import ProductSearch
from pgasrob.robustness.reduction import REDUCTIONS
from pgasrob.semantics.happens_before import HappensBefore
from pgasrob.semantics.replay import replay
from pgasrob.semantics.tested_conditions import conditions_of
from tests.analysis.test_ranges import Generator
from tests.analysis.test_symmetry import random_text
from tests.oracle.strategies import COMMANDS, EXTENSIONS
from tests.support import Drawn, drawn_programs, examples, instance

MOST_STATES = examples(1_500, nightly=8_000)

Subset = tuple[str, ...]
SUBSETS: list[Subset] = [
    REDUCTIONS,
    *((name,) for name in REDUCTIONS),
    *(tuple(other for other in REDUCTIONS if other != name) for name in REDUCTIONS),
]


def verdict(search: Engine) -> bool | None:
    """Whether there is a violation; None when it cannot be told within :data:`MOST_STATES`."""
    for _ in search.run():
        if search.states > MOST_STATES:
            return None
    return search.violation is not None if search.violation or search.gave_up is None else None


def searches(program: Instance, reductions: Collection[str]) -> Iterator[Engine]:
    yield AttackSearch(program, reductions)
    if twins.available():
        yield NativeSearch(program, reductions)


def compare(program: Instance, reductions: Subset) -> None:
    plain = list(searches(program, ()))
    answers = {verdict(search) for search in plain}
    assert len(answers) == 1 and len({search.states for search in plain}) == 1
    (expected,) = answers
    if expected is None:
        return
    assert verdict(ProductSearch(program)) in (expected, None)
    if not conditions_of(program):  # which the attack search reads by value
        assert verdict(DefinitionSearch(program)) in (expected, None)
    reduced = list(searches(program, reductions))
    for search in reduced:
        assert verdict(search) is expected, type(search).__name__
        if search.violation is not None:
            run = replay(program, search.violation.computation)
            assert run.complete and HappensBefore(run.computation).cycle is not None
    assert len({(search.states, search.transitions) for search in reduced}) == 1


@pytest.mark.parametrize("half", [1, 2])  # so that they can be run side by side
@pytest.mark.parametrize("loops", [False, True], ids=["without loops", "with loops"])
def test_random_programs(loops: bool, half: int) -> None:
    @given(drawn_programs(loops=loops), st.sampled_from(SUBSETS))
    @settings(max_examples=examples(36 if loops else 48, nightly=1_650 if loops else 2_500))
    def agree(drawn: Drawn, reductions: Subset) -> None:
        compare(drawn.program.instantiate(), reductions)

    agree()


@pytest.mark.parametrize("loops", [False, True], ids=["without loops", "with loops"])
def test_random_programs_with_commands_of_all_kinds(loops: bool) -> None:
    @given(drawn_programs(commands=(*COMMANDS, *EXTENSIONS), loops=loops), st.sampled_from(SUBSETS))
    @settings(max_examples=examples(40 if loops else 60, nightly=1_650 if loops else 2_650))
    def agree(drawn: Drawn, reductions: Subset) -> None:
        compare(drawn.program.instantiate(), reductions)

    agree()


@pytest.mark.parametrize(("expected", "violating"), [(0, False), (7, True)])
def test_what_a_compare_swap_finds_is_not_forgotten(expected: int, violating: bool) -> None:
    """It decides which of the two commands it is, and so what it conflicts with, whatever becomes of its result."""
    swap = f"s <- compare_swap(0, y, {expected}, 6); s <- mem[x];"
    program = instance("write(z, 1, x, q); r <- mem[y];", swap, declarations=SEVEN)
    for reductions in (REDUCTIONS, ("liveness",)):
        compare(program, reductions)
    assert verdict(AttackSearch(program, REDUCTIONS)) is violating


SEVEN = "memory x, y = 7, z = 1; register r, s; queue q;"


@pytest.mark.parametrize("extended", [False, True], ids=["", "with commands of all kinds"])
def test_programs_with_interchangeable_ranks(extended: bool) -> None:
    @given(st.integers(0, 1 << 30), st.integers(2, 4), st.sampled_from(SUBSETS))
    @settings(max_examples=examples(10, nightly=1_700))
    def agree(seed: int, nodes: int, reductions: Subset) -> None:
        compare(parse(random_text(seed, nodes, extended)).instantiate(), reductions)

    agree()


@given(st.integers(0, 1 << 30), st.sampled_from(SUBSETS))
@settings(max_examples=examples(13, nightly=1_000))
def test_programs_with_doubles_and_wide_types(seed: int, reductions: Subset) -> None:
    compare(Generator(seed, extended=True).program().instantiate(), reductions)
