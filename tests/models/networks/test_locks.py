"""Locks by remote atomics: which guarantee of the network each of them needs for mutual exclusion."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest

import pgasrob
from pgasrob.models.litmus.litmus_parser import parse_file
from pgasrob.models.networks.network_verdict import verdicts
from pgasrob.models.rdma_tso import RdmaTso
from pgasrob.robustness.question import ProgramFile, Question, RobustnessOnNetwork
from tests.support import is_nightly

FOLDER = Path(__file__).parents[3] / "programs" / "network_locks"
Needs = Callable[[RobustnessOnNetwork], bool]


def nothing(asked: RobustnessOnNetwork) -> bool:
    return True


NEEDS: dict[str, Needs] = {
    "spin_lock_rcas": nothing,
    "ticket_lock_rfaa": nothing,
    "mcs_lock_rcas": nothing,
    "reader_writer_lock": nothing,
    "released_by_a_store": nothing,
    "spin_lock_data_elsewhere": lambda asked: asked.placed,
    "spin_lock_data_fetched_back": lambda asked: asked.pcie or asked.placed,
    "mixed_lock": lambda asked: asked.glob,
    "mixed_ticket_lock": lambda asked: asked.glob,
}
VARIANTS = [RobustnessOnNetwork("rdma-tso", *chosen) for chosen in product((True, False), (False, True), (False, True))]
LARGE = {"mcs_lock_rcas"}


def variants(name: str) -> list[RobustnessOnNetwork]:
    """All, and of what takes long few without --nightly."""
    return VARIANTS if is_nightly() or name not in LARGE else [VARIANTS[0], VARIANTS[4]]


EXCLUSION = {"robust": "hold", "not robust": "violated", "refused": "unknown"}
"""What is said of the assertions of programs with this verdict."""
MUTUAL_EXCLUSION = {
    "spin_lock_rcas": {"x": 1},
    "ticket_lock_rfaa": {"x": 1},
    "mcs_lock_rcas": {"x": 1},
    "reader_writer_lock": {"d": 0, "e": 1},
    "released_by_a_store": {"d": 0},
    "spin_lock_data_elsewhere": {"x": 1},
    "spin_lock_data_fetched_back": {"x": 1},
    "mixed_lock": {"r0": 0, "r1": 0},
    "mixed_ticket_lock": {"r0": 0, "r1": 0},
}
"""Values that no run has in the end where one node at a time has the lock."""


def test_each_lock_is_a_program_and_a_litmus_test() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {
        f"{name}{ending}" for name in NEEDS for ending in (".pgas", ".litmus")
    }


@pytest.mark.parametrize("name", NEEDS)
def test_robustness_by_the_guarantees_of_the_network(name: str) -> None:
    for asked, ending in product(variants(name), (".pgas", ".litmus")):
        (found,) = verdicts([str(FOLDER / f"{name}{ending}")], Question(ProgramFile(""), asked=asked), expect=True)
        wanted = "robust" if NEEDS[name](asked) else "not robust"
        if ending == ".pgas" and name == "spin_lock_data_fetched_back" and not NEEDS[name](asked):
            wanted = "refused"  # a wait for a put that nothing places
        assert (found.verdict, found.reason) == (wanted, None), asked.line
        assert found.expected in (None, wanted)
        excluded = None if ending == ".litmus" else EXCLUSION[wanted]
        assert found.assertions == excluded
        assert (found.failed is not None) == (excluded == "violated")


@pytest.mark.parametrize("name", NEEDS)
def test_mutual_exclusion_by_the_guarantees_of_the_network(name: str) -> None:
    """Of the litmus tests by their outcomes; of the programs by SC runs, as the runs on the network look like these
    where they are robust."""
    program = parse_file(FOLDER / f"{name}.litmus").program
    for asked in variants(name):
        model = RdmaTso(pcie=asked.pcie, placed=asked.placed, atomics="glob" if asked.glob else "hca")
        ends = [dict(zip(program.names, outcome, strict=True)) for outcome in model.outcomes(program).found]
        assert ends
        broken = any(MUTUAL_EXCLUSION[name].items() <= end.items() for end in ends)
        assert broken != NEEDS[name](asked), asked.line
    verdict = pgasrob.check(FOLDER / f"{name}.pgas")
    assert (verdict.verdict, verdict.deadlock) == ("robust", False)
    assert verdict.assertions == "hold"
