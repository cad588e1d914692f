"""The seven ways in which a `robust` of the calculus is wrong on RDMA-TSO, and the five in which a `not robust` is: in
the corpus, and in random programs, where every difference is one of them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest

from pgasrob.batch.litmus_checks import checked
from pgasrob.models.networks.network_verdict import verdicts
from pgasrob.program.expectation import read_expectation
from pgasrob.program.reading import DEFAULT_READING
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.question import ProgramFile, Question, RobustnessOnNetwork
from tests.models.networks.differences import difference, random_case

CORPUS = Path(__file__).parents[3] / "programs" / "networks"
PAIRS = {
    ("robust", 1): "store_buffer",
    ("robust", 2): "polled_put",
    ("robust", 3): "one_poll",
    ("robust", 4): "gets_fetched",
    ("robust", 5): "put_overtakes_get",
    ("robust", 6): "without_pcie",
    ("robust", 7): "remote_fence",
    ("not robust", 1): "put_then_get",
    ("not robust", 2): "polled_get_places",
    ("not robust", 3): "unordered_puts",
    ("not robust", 4): "operation_sees_stores",
    ("not robust", 5): "fence_of_gets",
}
FURTHER = {"store_buffer_mfence.litmus", "unordered_gets.pgas", "unordered_gets.litmus"}
ASKED = (
    RobustnessOnNetwork("rdma-tso"),
    RobustnessOnNetwork("rdma-tso", placed=True),
    RobustnessOnNetwork("rdma-tso", pcie=False),
    RobustnessOnNetwork("rdma-tso", pcie=False, placed=True),
)


def test_there_is_a_pair_for_each_way() -> None:
    files = {f"{name}{ending}" for name in PAIRS.values() for ending in (".pgas", ".litmus")}
    assert {path.name for path in CORPUS.iterdir()} == files | FURTHER


@pytest.mark.parametrize("asked", ASKED, ids=lambda asked: asked.line)
def test_the_corpus_has_the_verdicts_that_it_states(asked: RobustnessOnNetwork) -> None:
    stated = 0
    for verdict in verdicts(
        [str(path) for path in sorted(CORPUS.iterdir())], Question(ProgramFile(""), asked=asked), expect=True
    ):
        assert not verdict.header_errors
        if verdict.expected is not None:
            assert verdict.verdict == verdict.expected, verdict.file
            stated += 1
    assert stated == {"": 27, "placed": 4, "no-pcie": 6, "no-pcie placed": 0}[asked.variant]


@pytest.mark.parametrize("path", sorted(CORPUS.glob("*.litmus")), ids=lambda path: path.stem)
def test_the_litmus_tests_have_the_verdict_of_the_calculus_that_they_state(path: Path) -> None:
    found = checked(str(path), Limits(), DEFAULT_READING, expect=True)
    assert found.expected is not None and found.verdict.verdict == found.expected


def test_one_half_of_each_pair_shows_the_difference() -> None:
    """For each way a program or test of the pair that the calculus calls so, and some variant of RDMA-TSO otherwise;
    with what an operation sees there is none."""
    for (said, number), name in PAIRS.items():
        shown = False
        for ending in (".pgas", ".litmus"):
            expectation = read_expectation((CORPUS / f"{name}{ending}").read_text())
            assert expectation is not None
            here = expectation.at(None)
            others = {cases[0].verdict for _, cases in expectation.networks}
            shown |= here == said and bool(others - {said})
            # What the calculus cannot say is in the pair as the test that one takes for its program.
            shown |= here == "error" and {said, *others} == {"robust", "not robust"}
        assert shown == ((said, number) != ("not robust", 4)), name


def explained(count: int, seed: int) -> Counter[tuple[bool, tuple[int, ...] | None] | None]:
    return Counter(difference(random_case(Random(seed * 1_000_000 + number))) for number in range(count))


def test_every_difference_of_random_programs_is_one_of_the_ways() -> None:
    found = explained(500, 2)
    assert not [key for key in found if key and key[1] is None]
    ways = {(key[0], way) for key in found if key and key[1] for way in key[1]}
    assert {(False, 1), (False, 3)} <= ways


@pytest.mark.nightly
def test_the_ways_are_found_again() -> None:
    """All seven, and of the five those that FIFO or unordered queues lose; the fourth is no difference."""
    found = explained(12_000, 2)
    assert not [key for key in found if key and key[1] is None]
    said = Counter(
        {said: sum(count for key, count in found.items() if key and key[0] is said) for said in (True, False)}
    )
    assert (found[None], said[True], said[False]) == (10_931, 152, 917)
    ways = {(key[0], way) for key in found if key and key[1] for way in key[1]}
    assert {(True, way) for way in range(1, 8)} <= ways
    assert {(False, way) for way in (1, 2, 3, 5)} <= ways
