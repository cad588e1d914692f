"""Which programs of the corpus are proved robust on every number of nodes, and what is in the way of the others."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

import pgasrob
from pgasrob.program.expectation import Case, read_expectation
from pgasrob.program.program import Program
from pgasrob.robustness.every_n.prove import prove
from pgasrob.robustness.limits import Limits
from tests.support import examples, sampled

PROGRAMS = Path(__file__).parents[3] / "programs"
PROVED = {
    "1_07_exchange_wait", "1_e1_two_queues_wait", "1_e3_one_barrier", "1_e3_shift_get", "1_e5_store",
    "2_02_sb_wait", "3_06_self", "3_e2_all_wait", "3_e3_d", "4_barrier_wait", "5_08_lost_update",
    "5_09_fetch_add", "5_11_deferred_wait", "5_14_spin", "5_17_ticket", "5_e1_wait", "6_e3_barriers",
    "both_await_first", "choose_repair", "exchange_landing_cell", "halo", "halo_get",
    "halo_get_missing_second_barrier", "load_buffering_get_store_wait", "load_buffering_load_put",
    "lock_in_one_event", "one_to_one_atomic", "one_to_one_get_no_barrier", "one_to_one_get_wait",
    "one_to_one_get_wait_local", "one_to_one_read_back", "one_to_one_wait", "one_to_one_wait_between_barriers",
    "pending_at_the_end", "polled_put", "read_loop_disjoint", "read_loop_wait", "read_once", "ring_shift",
    "ring_shift_missing_second_barrier", "ring_shift_two_buffers", "spin_lock", "spin_lock_put_release",
    "spin_lock_put_release_twice_wait", "store_buffering_atomic", "store_buffering_store_get",
    "store_buffering_wait", "ticket_lock", "ticket_lock_put", "unreachable_fault", "unreachable_violation",
    "9_06_barrier_wait", "9_11_forall_end", "9_e2_shift_landing",
    "grid_two_wide", "hypercube_guarded", "hypercube_powers_of_two", "row_leaders", "torus_three_wide",
    "wait_both_queues", "wait_instead", "without_pcie", "write_once", "write_then_wait",
}  # fmt: skip
BY_VIEWS = {
    "6_02_unreachable", "6_e4_even", "await_shadow", "look_then_await", "notify_halo", "one_to_one_flag",
    "poll_counts_for_nobody", "poll_exchange", "poll_shadow",
    "counted_and_told", "counted_rounds", "flag_and_answer", "flag_and_barrier", "sense_reversal",
    "5_18_mcs", "mcs_lock", "mcs_lock_wait_before_swap",
}  # fmt: skip
"""Proved by what registers hold, and what is known of two ranks at once."""
ASSERTIONS_NOT_PROVED = {
    "1_e3_one_barrier", "5_08_lost_update", "5_09_fetch_add", "5_11_deferred_wait", "5_17_ticket",
    "exchange_landing_cell", "one_to_one_get_no_barrier", "store_buffering_wait", "ticket_lock",
}  # fmt: skip
"""Of those above: they fail, count, or are about what two ranks hold."""
DEADLOCKS_NOT_EXCLUDED = {
    "5_17_ticket", "5_18_mcs", "5_e1_wait", "6_e4_even", "both_await_first", "counted_and_told", "counted_rounds",
    "flag_and_answer", "flag_and_barrier", "hypercube_powers_of_two", "read_loop_disjoint", "read_loop_wait",
    "mcs_lock", "mcs_lock_wait_before_swap", "sense_reversal", "ticket_lock", "ticket_lock_put",
}  # fmt: skip
"""They go on for ever, or wait for a number that is counted."""
FAULT = "faults on some number of nodes"
COUNTER = "a counter would have to be known not to wrap around"
SMALL = "robust on small numbers of nodes alone"
NOT_PROVED = {
    "bakery_put": FAULT,
    "bakery_put_one_wait": FAULT,
    "bakery_get": FAULT,
    "5_e3_rounds": FAULT,
    "5_e3_reset": FAULT,
    "7_05_sb_set_wait": FAULT,
    "halo_one_ghost_cell": SMALL,
    "peterson": FAULT,
    "peterson_one_wait": FAULT,
    "peterson_copies": FAULT,
    "one_to_one_wait_after_barrier": SMALL,
    "all_to_all": FAULT,
    "all_to_all_counter": FAULT,
    "dekker": FAULT,
    "dekker_release_no_wait": FAULT,
    "loop_dekker_puts": FAULT,
    "pairwise_barrier": FAULT,
    "knapsack": COUNTER,
}
"""The other programs of which the header says that they are robust on some number of nodes, and why they are not
proved."""


@cache
def programs() -> dict[str, Program]:
    """The programs with one block for all ranks."""
    found = {path.stem: pgasrob.load(path) for path in sorted(PROGRAMS.rglob("*.pgas"))}
    return {
        name: program
        for name, program in found.items()
        if isinstance(program, Program) and [process.ranks for process in program.processes] == [None]
    }


def cases(program: Program) -> tuple[Case, ...]:
    """What its header expects."""
    expectation = read_expectation(program.source.text)
    assert expectation is not None
    return expectation.cases


def test_what_is_proved_of_the_corpus() -> None:
    """Of one program in three, with --nightly of all."""
    found = {path.name: programs()[path.name] for path in sampled(list(map(Path, programs())), 3)}

    def looked_at(names: Iterable[str]) -> set[str]:
        return found.keys() & set(names)

    proofs = {name: prove(program) for name, program in found.items()}
    proved = {name for name, proof in proofs.items() if proof.holds}
    assert proved == looked_at(PROVED | BY_VIEWS) and len(proved) >= examples(15, nightly=70)
    assert {name for name in proved if proofs[name].views} == looked_at(BY_VIEWS)
    assert all(case.verdict == "robust" for name in proved for case in cases(found[name]))
    assert {name for name in proved if not all(claim.holds for claim in proofs[name].assertions)} == looked_at(
        ASSERTIONS_NOT_PROVED
    )
    deadlocks = {name: proofs[name].deadlock for name in proved}
    assert {name for name, claim in deadlocks.items() if claim and not claim.holds} == looked_at(DEADLOCKS_NOT_EXCLUDED)
    others = [name for name in found if name not in proved]
    not_proved = {name for name in others if any(case.verdict == "robust" for case in cases(found[name]))}
    assert not_proved == looked_at(NOT_PROVED)
    kinds = {name: {each.kind for each in proofs[name].obstacles} for name in not_proved}
    assert all(("fault" in kinds[name]) is (NOT_PROVED[name] in (FAULT, COUNTER)) for name in not_proved)


@pytest.mark.parametrize("name", [name for name, why in NOT_PROVED.items() if why == FAULT])
def test_where_a_fault_is_in_the_way_there_is_one(name: str) -> None:
    assert any(pgasrob.check(programs()[name], nodes, effect=False).verdict == "error" for nodes in (3, 5, 6))


def test_proofs_of_the_corpus_are_right_near_the_cutoff() -> None:
    """By an engine that has nothing in common with them, as far as it gets."""
    found = programs()
    checked = 0
    for name in sampled([Path(name) for name in sorted(PROVED | BY_VIEWS)], 3):
        program = found[name.stem]
        proof = prove(program)
        cutoff = proof.cutoff
        assert cutoff is not None
        hold, none = all(claim.holds for claim in proof.assertions), proof.deadlock is None or proof.deadlock.holds
        for nodes in (2, 3, cutoff, cutoff + 1):
            verdict = pgasrob.check(program, nodes, "traces", Limits(max_states=5_000, timeout=60), effect=False)
            assert verdict.verdict in ("robust", "unknown"), f"{name} on {nodes} nodes"
            if nodes >= cutoff:
                assert not (hold and verdict.assertions == "violated"), f"{name} on {nodes} nodes"
                assert not (none and verdict.deadlock is True), f"{name} on {nodes} nodes"
            checked += verdict.verdict == "robust"
    assert checked >= 30
