"""One answer for a C program: small programs, each wrong in one way, and right where they are repaired.

The races are in `tests/races/test_consequences.py`, the illegal calls in `tests/frontends/apis/test_illegal_calls.py`,
each with what is found; here the answer as a whole is compared.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from pgasrob.batch.answer import about_robustness
from pgasrob.render.verdict_json import to_json
from pgasrob.robustness.question import Synchronisation
from pgasrob.robustness.synchronisation import Synchronised, synchronised
from pgasrob.robustness.verdict import Verdict
from tests.support import sampled, session_about

ANSWERS = Path(__file__).parent / "answers"
WRONG = {"matters": "races", "stuck": "progress", "illegal": "legal"}
"""The line that finds what is wrong, by folder."""
NOT_ROBUST = {"gaspi_overwritten", "gaspi_no_credit", "shmem_no_ready_to_receive", "shmem_swap_lock_early_return"}
"""Programs that are not robust either."""
BESIDE = {"shmem_barrier_in_a_branch": {"races"}}
"""What else is wrong: what the barrier should have kept apart races."""
STUCK = {
    "armci_ticket_not_passed_on": "spins",
    "gasnet_flag_of_another_node": "spins",
    "gaspi_atomic_lock_not_released": "spins",
    "gaspi_notification_of_another_id": "blocked",
    "mpi_pscw_crossed": "blocked",
    "mpi_spin_lock_not_released": "spins",
    "mpi_wait_without_start": "blocked",
    "shmem_barrier_in_a_branch": "blocked",
    "shmem_lock_not_released": "spins",
    "shmem_nobody_sets_the_flag": "blocked",
    "shmem_polls_for_ever": "spins",
    "shmem_swap_lock_early_return": "spins",
}


def decided(path: Path, *defines: str, effect: bool = False) -> tuple[Verdict, Synchronised]:
    asked = Synchronisation(effect=effect)
    verdict = about_robustness(session_about(path, asked, *defines), asked)
    found = synchronised(verdict)
    assert found is not None and found.whole
    return verdict, found


def wrong(found: Synchronised) -> set[str]:
    """The lines that are wrong."""
    return {line.name for line in found.lines if line.answer == "no"}


def programs(*folders: str) -> list[Path]:
    return [path for folder in folders for path in sorted((ANSWERS / folder).glob("*.c"))]


@pytest.mark.parametrize("path", programs(*WRONG), ids=lambda path: path.stem)
def test_a_program_is_wrong_in_one_way_until_it_is_repaired(path: Path) -> None:
    _, found = decided(path)
    also = {"robust"} if path.stem in NOT_ROBUST else set()
    assert wrong(found) == {WRONG[path.parent.name], *also, *BESIDE.get(path.stem, ())}
    _, repaired = decided(path, "REPAIRED")
    assert repaired.answer == "yes", wrong(repaired)


@pytest.mark.parametrize("path", programs("harmless"), ids=lambda path: path.stem)
def test_a_race_that_changes_nothing_is_a_note(path: Path) -> None:
    _, found = decided(path)
    assert wrong(found) == ({"robust"} if path.stem in NOT_ROBUST else set())


@pytest.mark.parametrize("path", sampled(programs("benign"), 4), ids=lambda path: path.stem)
def test_what_tolerates_any_order_is_robust_or_harmless(path: Path) -> None:
    _, found = decided(path, effect=True)
    assert found.answer in ("yes", "harmless"), found


@pytest.mark.parametrize("path", sampled(programs("alike"), 4), ids=lambda path: path.stem)
def test_what_looks_alike_and_is_wrong_is_found(path: Path) -> None:
    """By an outcome that only the network has, or a race that changes the result."""
    verdict, found = decided(path, effect=True)
    assert (verdict.effect is not None and verdict.effect.kind == "outcome") or "races" in wrong(found), found


def test_so_many_programs_tolerate_any_order_or_look_alike() -> None:
    assert (len(programs("benign")), len(programs("alike"))) == (34, 35)


@pytest.mark.parametrize("name", STUCK)
def test_how_a_rank_is_stuck(name: str) -> None:
    verdict, _ = decided(ANSWERS / "stuck" / f"{name}.c")
    assert verdict.deadlock is True
    assert to_json(verdict).get("deadlock_kind") == STUCK[name]
