"""The programs of the corpus that are not robust, repaired, and checked again from the text."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from pgasrob.api import check
from pgasrob.frontends.lower import parse_c
from pgasrob.program.parser import parse
from pgasrob.repairs import Answer, Costs, Repair, repair
from pgasrob.repairs.verifier import Verifier
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.load import load
from tests.repairs.brute_force import catalogue, sets
from tests.support import examples, sampled

PROGRAMS = Path(__file__).parents[2] / "programs"
MOST_SETS = examples(20, 600)
NOT_ROBUST = sorted(
    path
    for path in PROGRAMS.rglob("*")
    if path.suffix in (".pgas", ".c") and "expect: not robust" in path.read_text(encoding="utf-8")
)
NO_REPAIR = frozenset((
    "exchange.pgas", "exchange_wait.pgas", "3_07_self_lost.pgas", "write_lost_update.pgas",  # the steps of two puts
    "4_12_shmem_last_element.c",  # the elements of one put
    "fence_source.c", "put_order.c",  # in an epoch between fences only a fence completes, which all ranks call
    "complete_barrier.c",  # what completes at the target is a call of the target, which comes too late
    "gaspi_lock.c",  # no call completes a write at its target
    "gaspi_waitsome_no_reset.c",  # a reset would change what is read without any delay
))  # fmt: skip
"""What makes these violate is within one operation, or no call of the library has anything against it."""


def repaired(path: Path, nodes: tuple[int, ...] = (), max_answers: int = 3) -> Repair:
    program = load(path)
    read = parse_c if path.suffix == ".c" else parse
    return repair(program, partial(read, file=str(path)), nodes or (program.nodes or 2,), max_answers=max_answers)


def told(answer: Answer) -> list[tuple[int, str]]:
    return [(each.line, each.text) for each in answer.candidates]


@pytest.mark.parametrize("path", sampled(NOT_ROBUST, 30), ids=lambda path: path.name)
def test_a_repair_or_a_reason(path: Path) -> None:
    found = repaired(path, max_answers=1)
    if path.name in NO_REPAIR:
        assert found.state == "not repaired" and found.checks <= 50
        assert found.survivor is not None and found.survivor.witness.cycle
        return
    assert found.state == "repaired" and found.checks <= 30
    [answer] = found.answers
    assert answer.text != found.text and all(answer.breaks)
    again = (parse_c if path.suffix == ".c" else parse)(answer.text, str(path))
    verdict = check(again, found.nodes[0], engine="attack" if path.suffix == ".pgas" else "portfolio")
    assert verdict.verdict == "robust" and verdict.deadlock == found.verdicts[0].deadlock


@pytest.mark.parametrize("path", sampled(NOT_ROBUST, 30), ids=lambda path: path.name)
def test_brute_force_finds_nothing_cheaper(path: Path) -> None:
    """Nor anything at all up to the cost of a barrier where there is said to be no repair; where it can finish."""
    found, program = repaired(path, max_answers=1), load(path)
    read = parse_c if path.suffix == ".c" else parse
    verifier = Verifier(program, partial(read, file=str(path)), found.nodes, Limits(), max_checks=MOST_SETS)
    below = found.answers[0].cost if found.answers else Costs().barrier + 1
    for several in sets(catalogue(program), below, MOST_SETS):
        edits = [edit for each in several for edit in each.edits]
        tried = verifier.tried(edits, any(each.meets for each in several))
        assert tried.violation is not None or tried.why, tried.text


CHEAPEST = {
    "one_to_one/one_to_one.pgas": [[(12, "wait(q);")]],
    "peterson/peterson_no_wait.pgas": [[(16, "wait(p);")], [(15, "wait(p);")], [(14, "wait(p);")]],
    "message_passing/message_passing_unordered.pgas": [[(12, "fence(q);")]],
    "message_passing/message_passing_two_queues.pgas": [
        [(11, "write(one, 1, x, p)")], [(12, "write(one, 1, flag, q)")],
    ],
    "c/openshmem/message_passing_no_fence.c": [[(18, "shmem_fence();")]],
    "c/openshmem/ring_halo_sync.c": [[(27, "shmem_barrier_all()")], [(27, "shmem_quiet();")]],
    "c/armci/armci_nbput_source_reuse.c": [
        [(28, "ARMCI_Put(cells, (int *) base[right] + 1, sizeof(int), right)")], [(29, "ARMCI_Wait(&handle);")],
    ],
    "c/mpi/message_passing_no_flush.c": [[(22, "MPI_Win_flush(1, win);")], [(22, "MPI_Win_flush_all(win);")]],
    "c/mpi/barrier_halo.c": [[(27, "MPI_Win_fence(0, win);")]],  # a flush is for epochs that locks open
    "c/gpi/gpi_flag_two_queues.c": [
        [(20, "writeDmaGPI(0, 8, sizeof(int), 1, GPIQueue1)")], [(21, "writeDmaGPI(4, 12, sizeof(int), 1, GPIQueue0)")],
    ],
    "c/gasnet/gasnet_stencil_late_sync.c": [[(52, "gasnet_wait_syncnb_all(handles, 2);")]],
}  # fmt: skip
LONG = ("c/gasnet/gasnet_stencil_late_sync.c",)


@pytest.mark.parametrize(
    ("name", "answers"),
    [pytest.param(*case, marks=[pytest.mark.nightly] * (case[0] in LONG)) for case in CHEAPEST.items()],
    ids=CHEAPEST,
)
def test_the_cheapest(name: str, answers: list[list[tuple[int, str]]]) -> None:
    found = repaired(PROGRAMS / name)
    assert sorted(map(told, found.answers)) == sorted(answers)


def test_what_adds_runs_is_no_reason_for_others() -> None:
    """A violation that comes from another queue says nothing of repairs without it."""
    assert repaired(PROGRAMS / "peterson/peterson_no_wait.pgas").answers[0].cost == 4


def test_gaspi_since_2016_has_no_remote_completion_but_notifications() -> None:
    found = repaired(PROGRAMS / "c/gaspi/gaspi_wait_then_barrier.c", nodes=(2, 3))
    [answer] = found.answers
    put = "gaspi_write_notify(0, 0, (rank + 1) % num, 0, sizeof(int), sizeof(int), 0, 1, 0, GASPI_BLOCK);"
    wait = "{ gaspi_notification_id_t arrived_0; gaspi_notify_waitsome(0, 0, 1, &arrived_0, GASPI_BLOCK); }"
    assert put in answer.text and f"{wait}\n  assert(" in answer.text


def test_what_is_robust_needs_none() -> None:
    found = repaired(PROGRAMS / "one_to_one/one_to_one_wait.pgas")
    assert (found.state, found.answers, found.checks) == ("robust", (), 0)
