"""The programs of coreRMA are all there are, once each."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pgasrob.models.generate.conventions import DEFAULT, Conventions
from pgasrob.models.generate.corerma_shapes import NEEDS, interact, shapes
from pgasrob.models.generate.programs import renamed
from pgasrob.models.generate.static_order import RULES
from tests.models.generate.brute_force import all_shapes, canonical

ANY_PAIR = replace(DEFAULT, interacting=False)


@pytest.mark.parametrize(
    ("processes", "size", "conventions", "count"),
    [
        (1, 6, ANY_PAIR, 171),
        (1, 5, replace(ANY_PAIR, reads="more"), 110),
        (1, 4, replace(ANY_PAIR, reads="none"), 57),
        (2, 6, ANY_PAIR, 46),
        (2, 5, replace(ANY_PAIR, own_targets="always"), 45),
        (2, 5, replace(ANY_PAIR, reads="none"), 77),
        pytest.param(2, 7, ANY_PAIR, 179, marks=pytest.mark.nightly),
    ],
)
def test_programs_are_those_of_trying_everything(
    processes: int, size: int, conventions: Conventions, count: int
) -> None:
    own_targets = processes == 1 or conventions.own_targets == "always"
    expected = all_shapes(size, processes, own_targets=own_targets, reads=conventions.reads)
    found = list(shapes(size, processes, conventions))
    assert len(found) == len(set(found)) == count
    assert set(found) == expected


@pytest.mark.parametrize(("processes", "size"), [(1, 7), (2, 8)])
def test_canonical_forms(processes: int, size: int) -> None:
    assert all(canonical(shape) == shape for shape in shapes(size, processes, DEFAULT))


def test_interacting_programs_are_some_of_them() -> None:
    everything = set(shapes(8, 2, ANY_PAIR))
    assert set(shapes(8, 2, DEFAULT)) == {shape for shape in everything if interact(shape)}


def test_processes_that_are_told_apart() -> None:
    apart = set(shapes(7, 2, replace(DEFAULT, processes="distinct")))
    assert {canonical(shape) for shape in apart} == set(shapes(7, 2, DEFAULT)) < apart
    assert all(renamed(shape, (1, 0)) in apart for shape in apart)


@pytest.mark.parametrize("reads", ["exact", "more", "none"])
@pytest.mark.parametrize(("processes", "size"), [(1, 7), (2, 7)])
def test_what_a_rule_needs_leaves_out_no_program_with_it(processes: int, size: int, reads: str) -> None:
    size -= {"exact": 0, "more": 1, "none": 2}[reads]
    conventions = replace(DEFAULT, reads=reads)  # type: ignore[arg-type]
    everything = list(shapes(size, processes, conventions))
    for needs in {NEEDS.get(rule, ()) for rule in RULES}:
        expected = {
            shape
            for shape in everything
            if all(any(kind in group for text in shape.threads for kind, _ in text) for group in needs)
        }
        assert set(shapes(size, processes, conventions, needs=needs)) == expected


@pytest.mark.parametrize("processes", [1, 2])
def test_programs_of_one_size(processes: int) -> None:
    by_size = [set(shapes(size, processes, DEFAULT, exactly=True)) for size in range(1, 8)]
    assert set().union(*by_size) == set(shapes(7, processes, DEFAULT))
    assert all(shape.actions == size for size, some in enumerate(by_size, 1) for shape in some)
