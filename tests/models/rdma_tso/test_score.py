"""Every cell of Figure 9, every term and premise is noticed by a test of its own when it is changed, or is implied.

`directed.txt` has the tests: changes of a model, a program, and values that the model forbids and the changed one
allows, or the other way round.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

import pytest

from pgasrob.models.litmus.litmus_parser import parse
from pgasrob.models.litmus.litmus_program import Program
from pgasrob.models.rdma_tso.execution_search import Search
from pgasrob.models.rdma_tso.orders import CELLS, CELLS_OF_THE_FIGURE, CONDITIONS, FIGURE_9, PREMISES, TERMS, Rules
from tests.models.rdma_tso.finding import outcomes
from tests.models.rdma_tso.mutants import Flip, flipped, flips, implied
from tests.models.strategies import random_program
from tests.support import examples

VARIANTS = {"stock": Rules.of(), "no-pcie": Rules.of(pcie=False)}


@dataclass(frozen=True)
class Directed:
    variant: str
    changes: tuple[str, ...]
    text: str
    allowed: bool
    values: tuple[tuple[str, int], ...]

    def allows(self, rules: Rules, program: Program) -> bool:
        values = dict(self.values)
        return any(
            values.items() <= dict(zip(program.names, outcome, strict=True)).items()
            for outcome in outcomes(program, rules)
        )


def read() -> list[Directed]:
    lines = Path(__file__).with_name("directed.txt").read_text().splitlines()
    found = []
    for head, text, expected in zip(lines[::3], lines[1::3], lines[2::3], strict=True):
        variant, changes = head.split(": ")
        word, *values = expected.split()
        pairs = tuple((value.split("=")[0], int(value.split("=")[1])) for value in values)
        found.append(Directed(variant, tuple(changes.split()), text.strip(), word == "allowed", pairs))
    return found


DIRECTED = read()


def changed(variant: str, change: str) -> Rules:
    rules = VARIANTS[variant]
    if "=" in change:
        cell, value = change.split("=")
        return flipped(rules, next(flip for flip in flips(rules) if str(flip) == f"{cell}={value}"))
    if change in ("no-pcie", "placed", "glob"):
        return Rules.of(pcie=change != "no-pcie", placed=change == "placed", glob=change == "glob")
    return rules.leaving_out(frozenset((change,)))


def noticed(variant: str) -> set[str]:
    return {change for test in DIRECTED if test.variant == variant for change in test.changes}


@cache
def by_argument(variant: str) -> dict[Flip, int | None]:
    """The argument that shows that each flip is implied, if any; without PCIe for those that are implied with it."""
    rules = VARIANTS[variant]
    looked_at = [flip for flip in flips(rules) if variant == "stock" or by_argument("stock").get(flip) is not None]
    return {flip: implied(flip, rules) for flip in looked_at}


@pytest.mark.parametrize("test", DIRECTED, ids=lambda test: f"{test.variant}-{test.changes[0]}")
def test_each_change_is_noticed_by_its_test(test: Directed) -> None:
    program = parse(test.text).program
    assert test.allows(VARIANTS[test.variant], program) is test.allowed
    for change in test.changes:
        assert test.allows(changed(test.variant, change), program) is not test.allowed, change


def test_every_flip_of_a_cell_is_noticed_or_implied() -> None:
    arguments = by_argument("stock")
    tests = noticed("stock")
    left = [str(flip) for flip, argument in arguments.items() if argument is None and str(flip) not in tests]
    both = [str(flip) for flip, argument in arguments.items() if argument is not None and str(flip) in tests]
    assert not left and not both
    counts = Counter(argument for argument in arguments.values())
    cells = {flip.cell for flip, argument in arguments.items() if argument is None}
    print(
        f"\nThe tables: {len(arguments)} flips of their {len(CELLS)} cells: {counts[None]} are noticed by a directed "
        f"test, {len(arguments) - counts[None]} are implied, 0 open; {len(cells)} cells have a flip that is noticed"
    )
    of_the_figure = Counter(argument for flip, argument in arguments.items() if flip.cell in CELLS_OF_THE_FIGURE)
    assert of_the_figure == {None: 139, 1: 123, 2: 1, 3: 9}
    assert counts == {None: 240, 1: 164, 2: 1, 3: 11}
    assert len(cells & set(CELLS_OF_THE_FIGURE)) == 109
    assert len(cells) == 178


def test_without_pcie_other_flips_are_noticed() -> None:
    """What nfo, G8 and G9 imply is noticed without PCIe; what is noticed there alone has a test there."""
    with_pcie = {str(flip) for flip, argument in by_argument("stock").items() if argument is not None}
    without = {str(flip) for flip, argument in by_argument("no-pcie").items() if argument is None}
    alone = (with_pcie & without) | {f"oppo.G{number}={value}" for number in (8, 9) for value in ("yes", "sqp")}
    assert alone - {"oppo.G8=no", "oppo.G9=no"} == {change for change in noticed("no-pcie") if "=" in change}


def test_every_term_condition_and_premise_is_noticed_but_one() -> None:
    rules = {*TERMS, *CONDITIONS, *PREMISES}
    tests = {change for variant in VARIANTS for change in noticed(variant) if "=" not in change}
    print(f"\nTerms, conditions and premises: {len(rules & tests)} of {len(rules)} are noticed, 1 is implied, 0 open")
    assert rules - tests == {"nfo.remote"}  # implied: proofs/models.md
    assert tests - rules == {"no-pcie", "placed", "glob"}


@pytest.mark.parametrize("seed", range(examples(150, 5_000)))
def test_nfo_of_a_remote_node_is_implied(seed: int) -> None:
    program = random_program(Random(seed), "rdma-tso", statements=7)
    rules = Rules.of(placed=seed % 2 > 0)
    with_it, without = (
        {(s.values.sources, s.outcome) for s in Search(program, each).solutions()}
        for each in (rules, rules.leaving_out(frozenset(("nfo.remote",))))
    )
    assert with_it == without


def test_the_tables_differ_in_four_cells() -> None:
    """Section 4: B1, B5, G10 and I10."""
    places = [cell.partition(".")[2] for cell in CELLS if cell.startswith("ippo")]
    assert [p for p in places if FIGURE_9.at(f"ippo.{p}") != FIGURE_9.at(f"oppo.{p}")] == ["B1", "B5", "G10", "I10"]
