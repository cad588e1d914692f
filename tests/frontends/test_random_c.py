"""Random programs have the verdict in C that they have in the calculus, however the C is written (`random_c`)."""

from __future__ import annotations

from itertools import islice
from random import Random

import pytest

from tests.frontends.random_c import Drawn, compare, draw, shrunk, to_c, to_pgas
from tests.support import examples

BATCHES = 10
"""Seeds are dealt out to so many tests, which say how far a run has come and can be run at the same time."""


def differs(program: Drawn, disguise: int) -> bool:
    return bool(compare(to_pgas(program), to_c(program, Random(disguise))).difference)


@pytest.mark.parametrize("batch", range(BATCHES))
def test_the_verdicts_agree(batch: int) -> None:
    for seed in range(batch, examples(15, 3_000), BATCHES):
        program = draw(Random(seed))
        if differs(program, seed):
            program, disguise = shrunk(program, seed, differs)
            pytest.fail(f"seed {seed}: {compare(to_pgas(program), to_c(program, Random(disguise))).report}")


def test_the_programs_are_worth_comparing() -> None:
    """Most are decided at once, and many are robust and many are not."""
    compared = [compare(to_pgas(program), to_c(program, Random(0))) for program in map(draw, map(Random, range(10)))]
    verdicts = [each.left.verdict for each in compared]
    assert min(verdicts.count("robust"), verdicts.count("not robust")) >= 2
    assert sum(each.decided for each in compared) >= 8
    assert {each.left.assertions for each in compared} >= {"violated"}


def test_a_difference_is_found_and_made_small() -> None:
    """A program is compared with another one: the one that shrinking leaves is as small as can be."""

    def puts(program: Drawn, disguise: int) -> bool:
        return "write(" in to_pgas(program) and "_put" in to_c(program, Random(disguise))

    seed, program = next((seed, each) for seed in range(100) if puts(each := draw(Random(seed)), seed))
    small, disguise = shrunk(program, seed, puts)
    assert puts(small, disguise)
    assert sum(map(len, small.ranks)) == 1


def test_disguises_differ() -> None:
    program = draw(Random(1))
    texts = {to_c(program, Random(disguise)) for disguise in islice(range(100), 20)}
    assert len(texts) == 20
