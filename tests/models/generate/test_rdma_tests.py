"""Tests for the cells of Figure 9."""

from __future__ import annotations

from itertools import islice
from random import Random

import pytest

from pgasrob.models.generate.rdma_shapes import Bounds, shapes
from pgasrob.models.generate.rdma_tests import RULES, Sensitive, cells_of, changed, generate
from pgasrob.models.litmus.expected_outcomes import compare
from pgasrob.models.litmus.litmus_parser import parse
from pgasrob.models.model_table import asked
from pgasrob.models.rdma_tso.declarative import Declarative
from pgasrob.models.rdma_tso.orders import CELLS_OF_THE_FIGURE, FIGURE_9

SHORTEST = {
    "ippo.A2": 2,
    "ippo.H7": 2,
    "oppo.G7": 2,
    "oppo.I9": 2,
    "G8": 2,
    "E1": 3,
    "F6": 3,
    "G7": 2,
}
"""The fewest statements of a test for these rules."""


def test_shortest_tests() -> None:
    found = {test.rule: test for test in generate(list(SHORTEST), 3, most=1)}
    assert {rule: test.shape.statements for rule, test in found.items()} == SHORTEST
    # Put, then get of the location: without both cells the get may read before the put has been placed.
    assert found["G8"].text() == (
        "// RDMA-TSO, Figure 9: ippo.G8, nrW and a later nrR, in order on one queue pair\n"
        "// RDMA-TSO, Figure 9: oppo.G8, nrW and a later nrR, in order on one queue pair\n"
        "// without it also: x=1 y=0\n"
        "x@2=0 y@1=1 ::\n"
        "1: x^2 = y; y = x^2;\n"
        "forbidden rdma-tso: x=1 y=0\n"
        "allowed rdma-tso: x=1 y=1\n"
        "forbidden rdma-tso: otherwise\n"
        "allowed rdma-tso without ippo.G8, without oppo.G8: x=1 y=0\n"
    )


def test_store_buffering_hangs_on_one_cell() -> None:
    (test,) = generate(["oppo.B1"], 4, Bounds(2, 1, 2, kinds=("load", "store")), most=1)
    assert sorted(test.shape.threads) == [(("store", (0,)), ("load", (1,))), (("store", (1,)), ("load", (0,)))]
    assert not test.forbidden
    assert {outcome[2:] for outcome in test.lost} == {(1, 0)}  # both loads read the initial values


@pytest.mark.parametrize("rule", ["ippo.A2", "ippo.F6", "oppo.G7", "oppo.H8", "G8", "F6", "B1", "I2"])
def test_what_a_test_says_is_so(rule: str) -> None:
    for test in islice(generate([rule], 3), 5):
        read = parse(test.text(), "generated.litmus")
        models = [("rdma-tso", ""), *(pair for pair in read.models if pair[1])]
        for name, variant in models:
            found = asked(f"{name} {variant}").outcomes(read.program).found
            lines = compare(read, name, variant, found)
            assert any(line.holds for line in lines)
            assert all(line.holds is not False for line in lines), test.text()
        other = frozenset(Declarative(orders=changed(rule)).outcomes(read.program).found)
        assert other == (test.allowed | test.forbidden) - test.lost != test.allowed


@pytest.mark.parametrize("size", [2, 3])
def test_cells_that_are_passed_over_change_nothing(size: int) -> None:
    """A change of a cell to which a program is not sensitive leaves its outcomes alone."""
    random = Random(7)
    stock = Declarative()
    everything = list(shapes(size, Bounds()))
    passed = 0
    for shape in random.sample(everything, min(60, len(everything))):
        sensitive = Sensitive(shape)
        program = shape.litmus(tuple(range(len(shape.owners))))
        expected = set(stock.outcomes(program).found)
        for cell in sorted(sensitive.cells):
            other = changed(cell)
            if not sensitive.to(cell, other):
                passed += 1
                assert set(Declarative(orders=other).outcomes(program).found) == expected, (shape, cell)
    assert passed > 50


def test_rules_are_cells_and_places() -> None:
    assert len(RULES) == len(CELLS_OF_THE_FIGURE) + 100
    assert cells_of("oppo.B1") == ("oppo.B1",)
    assert cells_of("G8") == ("ippo.G8", "oppo.G8")
    assert changed("G8") == FIGURE_9.with_cell("ippo.G8", "no").with_cell("oppo.G8", "no")
    assert changed("oppo.B1").at("oppo.B1") == "yes"
    with pytest.raises(ValueError, match="no cell 'K3'"):
        cells_of("K3")
