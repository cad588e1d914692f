"""C programs on every number of nodes: which are proved, and what is made of them without a number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import pgasrob
from pgasrob.api import check
from pgasrob.diagnostics import SourceError
from pgasrob.frontends.apis.mpi import targets
from pgasrob.frontends.lower import CProgram, parse_c
from pgasrob.program.assumptions import Kind
from pgasrob.program.expressions import render
from pgasrob.program.program import Program
from pgasrob.robustness.every_n.proof import Proof
from pgasrob.robustness.every_n.prove import prove
from pgasrob.robustness.limits import Limits
from tests.robustness.every_n.drawn_c import drawn_c, drawn_mpi
from tests.robustness.test_every_count_check import in_json, run
from tests.support import check_every_count, examples, sampled

PROGRAMS = Path(__file__).parents[3] / "programs"
FILES = sorted(PROGRAMS.rglob("*.c"))
LIMITS = Limits(max_states=10_000, timeout=60)
PROVED = {
    "1_09_exchange_barrier", "1_10_exchange_mpi", "1_12_get_gaspi_wait", "1_e4_reuse_shmem_put",
    "1_e4_reuse_shmem_quiet", "2_11_mp_mpi_flush", "3_11_increments", "3_12_fetching", "3_13_accumulate",
    "4_03_shmem_quiet", "4_05_mpi_flush", "4_08_gaspi_notify", "4_11_gasnet_wait", "4_e3_notify", "5_05_put_signal",
    "5_07_fence_put_signal", "5_13_mpi_ticket_flush", "5_19_shmem_lock", "7_07_handover_fence",
    "7_e3_counter_barrier", "7_e4_two_slots_put", "accumulate_order", "armci_accumulate", "armci_flag",
    "armci_flag_nonblocking_fence", "armci_flag_other_process_fence", "armci_flag_value", "armci_get_own_put_fence",
    "armci_lock_fence", "armci_nbput_source_reuse_wait", "armci_nbput_wait_fence", "armci_put_barrier",
    "armci_put_fence_msg_barrier", "armci_stencil", "armci_token_ring", "armci_vector", "atomic_nbi_quiet",
    "column_halo", "context_quiet", "fence_halo", "fetch_exchange", "figure_1", "figure_10", "figure_11_two_fences",
    "figure_4c", "figure_4c_exclusive", "figure_7a", "figure_7b", "figure_7b_no_sync", "figure_8_atomics",
    "figure_8a", "figure_8b", "figure_8d", "gasnet_barrier_try", "gasnet_ex_local_event", "gasnet_ex_put",
    "gasnet_flag", "gasnet_flag_region", "gasnet_get", "gasnet_get_try", "gasnet_nonbulk_source_reuse",
    "gasnet_put", "gasnet_put_after_notify", "gasnet_put_nb_sync", "gasnet_put_nbi_sync", "gasnet_split_barrier",
    "gasnet_stencil", "gasnet_token_ring", "gaspi_barrier_test_loop", "gaspi_lock_101", "gaspi_lock_atomic",
    "gaspi_notify_same_queue", "gaspi_one_to_one_notify", "gaspi_pipeline", "gaspi_poll_fetch_add",
    "gaspi_poll_read", "gaspi_read_notify", "gaspi_read_wait", "gaspi_source_reuse_wait", "gaspi_wait_test_loop",
    "gaspi_wait_then_barrier_101", "gaspi_waitsome_test_loop", "gaspi_work_queue", "gaspi_write_list_notify",
    "gaspi_write_notify_covers_all_101", "get_exchange", "gpi_allreduce", "gpi_flag", "gpi_lock",
    "gpi_one_to_one_wait", "gpi_read_back_wait", "gpi_stencil", "gpi_work_counter",
    "illegal_barrier_after_finalize", "illegal_barrier_after_finalize_repaired", "illegal_epoch_open_at_finalize",
    "illegal_epoch_open_at_finalize_repaired", "illegal_fence_between_lock_and_unlock",
    "illegal_fence_between_lock_and_unlock_repaired", "illegal_flush_after_unlock",
    "illegal_flush_after_unlock_repaired", "illegal_flush_in_fence_epoch", "illegal_flush_in_fence_epoch_repaired",
    "illegal_free_before_unlock", "illegal_free_before_unlock_repaired", "illegal_lock_in_fence_epoch",
    "illegal_lock_in_fence_epoch_repaired", "illegal_lock_twice", "illegal_lock_twice_repaired",
    "illegal_noprecede_after_put", "illegal_noprecede_after_put_repaired", "illegal_put_after_nosucceed",
    "illegal_put_after_nosucceed_repaired", "illegal_put_then_flush", "illegal_put_then_flush_repaired",
    "illegal_put_without_epoch_repaired", "illegal_request_between_fences",
    "illegal_request_between_fences_repaired", "illegal_request_freed", "illegal_request_freed_repaired",
    "illegal_request_never_completed", "illegal_request_never_completed_repaired", "illegal_unlock_all_of_one_lock",
    "illegal_unlock_all_of_one_lock_repaired", "illegal_unlock_of_another", "illegal_unlock_of_another_repaired",
    "illegal_window_used_after_free", "illegal_window_used_after_free_repaired", "lock", "lock_exclusive",
    "look_then_wait", "message_passing_atomic_flag_add", "message_passing_fence", "message_passing_flush",
    "openshmem/mcs_lock", "openshmem/stencil", "own_flag", "own_flag_fence", "pipeline", "put_barrier",
    "put_fence_put_signal",
    "put_quiet_get", "put_signal", "quiet_sync", "request_wait_flush", "rget", "ring_halo", "signal_fetch",
    "signal_numbers_fence", "source_reuse", "spin_lock", "store_buffering_quiet", "test_exchange", "test_lock",
    "ticket_lock", "transpose", "transpose_fence", "try_two", "two_targets_quiet",
}  # fmt: skip
"""By the names that :func:`name` gives them."""
WEAKER = ("mcs_lock.c", "poll_fetch_and_op.c")
"""Programs in MPI that wait for what goes to one rank, which they know by several names, as all in ARMCI may."""
BY_NAME = ("MPI_Win_flush(", "ARMCI_")
LONG = {
    "armci_stencil_no_fence", "armci_transpose", "gasnet_split_barrier_late_sync", "gasnet_split_barrier_sync_between",
    "gasnet_stencil_late_sync", "gaspi_credits", "stencil_2d",
}  # fmt: skip
"""Programs of which the proof, or the lowering, takes more than a few seconds."""


TWICE = (("openshmem", "stencil.c"), ("openshmem", "mcs_lock.c"))


def name(path: Path) -> str:
    """The name of its file; there are two stencils and two MCS locks."""
    return f"openshmem/{path.stem}" if path.parts[-2:] in TWICE else path.stem


def made(program: CProgram) -> Program | None:
    """What is made of it without a number of nodes."""
    try:
        return program.for_every_count()
    except SourceError:
        return None


def compare(program: CProgram, without: Program, proof: Proof, counts: Iterator[int]) -> Iterator[bool]:
    """Whether the verdict was found, for each of ``counts``: it is that on what is made for the count, and none that
    the ``proof`` excludes. Where less is waited for without a number, it may be not robust on what is robust. A
    deadlock that is not known, None, is not compared."""
    for nodes in counts:
        one, other = (check(each, nodes, limits=LIMITS, effect=False) for each in (program, without))
        found = [(each.verdict, each.assertions, each.deadlock) for each in (one, other)]
        known = not any("unknown" in each for each in found)
        by_name = program.source.file.endswith(WEAKER) or any(each in program.source.text for each in BY_NAME)
        weaker = (one.verdict, other.verdict) == ("robust", "not robust") and by_name
        same = all(own == others or None in (own, others) for own, others in zip(*found, strict=True))
        assert not known or weaker or same, f"{program.source.text}\non {nodes} nodes"
        if proof.holds and proof.cutoff is not None and nodes >= proof.cutoff:
            assert one.verdict in ("robust", "unknown"), f"{program.source.text}\non {nodes} nodes"
            hold = all(claim.holds for claim in proof.assertions)
            assert not (hold and one.assertions == "violated"), f"{program.source.text}\non {nodes} nodes"
            none = proof.deadlock is None or proof.deadlock.holds
            assert not (none and one.deadlock is True), f"{program.source.text}\non {nodes} nodes"
        yield known


def test_the_corpus() -> None:
    compared = 0
    for path in sampled(FILES, 36):
        program = pgasrob.load(path)
        assert isinstance(program, CProgram)
        without = made(program) if path.stem not in LONG else None
        if without is None:
            assert name(path) not in PROVED
            continue
        proof = prove(without)
        assert proof.holds == (name(path) in PROVED), path
        compared += sum(compare(program, without, proof, iter((2, 3, 4, 5, 6) if proof.holds else (2, 3))))
    assert compared > 10


def test_random_programs() -> None:
    found = Counter[str]()
    for seed in range(examples(5, nightly=2_000)):
        program = parse_c((drawn_mpi if seed % 3 == 2 else drawn_c)(seed))
        without = made(program)
        assert without is not None
        proof = prove(without)
        counts = {2, 3} if not proof.holds else {2, 3, 4, 5, proof.cutoff or 2}
        found["compared"] += sum(compare(program, without, proof, iter(sorted(counts))))
        found["proved"] += proof.holds
    assert found["proved"] > 0.3 * examples(5, nightly=2_000)
    assert found["compared"] > 2 * found["proved"]


def test_what_is_said() -> None:
    path = PROGRAMS / "c/openshmem/ring_halo.c"
    code, output = run(path, "-n", "all")
    assert code == 0 and "checked on 2..6, proved from 7 on" in " ".join(output.split())
    path = PROGRAMS / "c/gaspi/gaspi_read_wait.c"
    code, found = in_json(path, "-n", "all")
    assert (code, found["proved"], found["most_nodes"]) == (0, True, 65_535)
    assert "proved from 7 to 65,535" in " ".join(run(path, "-n", "all")[1].split())


def test_obstacles_are_calls_and_lines_of_the_source() -> None:
    code, found = in_json(PROGRAMS / "lectures/7_races_and_real_executions/7_01_handover.c", "-n", "all")
    assert (code, found["verdict"], found["nodes"]) == (1, "not robust", 2)
    place = {"command": "shmem_long_put(data, source, 2, 1)", "line": 16, "column": 9}
    assert found["obstacles"][0]["source"] == place
    program = pgasrob.load(PROGRAMS / "c/mpi/mcs_lock.c")
    assert isinstance(program, CProgram)
    first = str(prove(program.for_every_count()).obstacles[0])
    assert "`MPI_Accumulate(" in first and "in line 24" in first and "a value that it computes may be out" in first


@pytest.mark.parametrize(
    ("body", "line", "why"),
    [
        (
            "int *all = shmem_malloc(npes * npes);",
            4,
            "argument 1 `npes * npes` of `shmem_malloc` differs between numbers of nodes",
        ),
        ("long *all = shmem_malloc(npes * 5000L);", 4, "which has 5,000 bytes for each node, differs between numbers"),
        ("long *all = shmem_malloc(8 * npes - 16);", 4, "differs between numbers of nodes"),
        ("long *all = shmem_malloc(8 * npes + me);", 4, "differs between ranks"),
        ("int *all = shmem_malloc(4 * npes);\nlong y = *(long *) all;", 5, "where a scalar of 8 bytes lies in `all`"),
        (
            "int *a = malloc(8 * npes), *b = malloc(4);\na[1] = 1; realloc(a, 4);",
            5,
            "how large `a` is",
        ),
        ("int all;\nshmem_int_put(&x, &all, me, 0);", 5, "argument 3 `me` of `shmem_int_put` differs between ranks"),
        ("int *p = &x;\nfor (int i = 0; i < npes - 7; i++)\np++;", 5, "and it changes the pointer `p` each time"),
        ("shmem_int_sum_inscan(SHMEM_TEAM_WORLD, &x, &x, 1);", 4, "differs between ranks"),
    ],
)
def test_where_a_number_is_needed(body: str, line: int, why: str) -> None:
    text = "#include <shmem.h>\nvoid *malloc(size_t), *realloc(void *, size_t); static int x;\n"
    text += "int main(void) { int me = shmem_my_pe(), npes = shmem_n_pes();\n"
    verdict = pgasrob.check(parse_c(f"{text}{body}\n}}"), 2)
    assert verdict.verdict == "robust"
    with pytest.raises(SourceError) as caught:
        parse_c(f"{text}{body}\n}}").for_every_count()
    (problem,) = caught.value.diagnostics
    assert (problem.code, problem.line) == ("PG146", line) and why in problem.message


def test_what_is_unknown_is_compared_with_the_number_of_nodes() -> None:
    text = "#include <shmem.h>\nint rand(void); static int x;\nint main(void) { int npes = shmem_n_pes();\n"
    text += "shmem_int_p(&x, 1, 0);\nx = rand();\nif (x == npes) shmem_barrier_all(); }"
    assert parse_c(text).for_every_count().processes


def test_memory_is_copied_on_every_number() -> None:
    text = "#include <shmem.h>\n#include <string.h>\nstatic long x, y[2];\nint main(void) {\n"
    text += "int me = shmem_my_pe(), n = shmem_n_pes(); long a[2] = {me, n}, b[2]; memcpy(b, a, sizeof a);\n"
    text += "memset(a, 0, sizeof a); memmove(y, b, sizeof b); shmem_long_p(&x, 1, (b[0] + b[1] + a[0] + 1) % n); }"
    program = parse_c(text)
    assert prove(program.for_every_count()).holds
    assert check(program.for_every_count(), 3, effect=False).verdict == "robust"


def test_the_assumptions_of_every_number_count() -> None:
    """The call stands there on one number of nodes alone, which is not the largest that is checked."""
    text = "#include <shmem.h>\nint main(void) {{ shmem_init(); if (shmem_n_pes() {}) shmem_udcflush(); }}"
    found = {
        test: {each.kind.value for each in check_every_count(parse_c(text.format(test)), effect=False).assumptions}
        for test in ("== 2", "< 2")
    }
    assert found["== 2"] == {*found["< 2"], "no-effect"}


MPI = """#include <mpi.h>
static int x, y;
int main(void) {{
  int me, n; MPI_Win win;
  MPI_Init(0, 0); MPI_Comm_rank(MPI_COMM_WORLD, &me); MPI_Comm_size(MPI_COMM_WORLD, &n);
  {}
}}"""
CREATE = "MPI_Win_create(&x, 4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win); MPI_Win_lock_all(0, win);"
READ = "MPI_Win_unlock_all(win); MPI_Barrier(MPI_COMM_WORLD); y = x;"


@pytest.mark.parametrize(
    ("peer", "flushed", "holds"),
    [
        ("(me + 1) % n", "(me + 1) % n", True),
        ("(me + 1) % n", "(me + n - 1) % n", False),  # another rank, but for two nodes
        ("me + 1 < n ? me + 1 : MPI_PROC_NULL", "me + 1 < n ? me + 1 : MPI_PROC_NULL", True),
    ],
)
def test_mpi_knows_targets_by_what_they_are_computed_from(peer: str, flushed: str, holds: bool) -> None:
    """A flush waits for what goes to the same target; the put may arrive behind the barrier otherwise."""
    body = f"int peer = {peer}, other = {flushed}; {CREATE} MPI_Put(&y, 1, MPI_INT, peer, 0, 1, MPI_INT, win); "
    body += "MPI_Win_flush(other, win); MPI_Barrier(MPI_COMM_WORLD); y = x; MPI_Win_unlock_all(win);"
    program = parse_c(MPI.format(body))
    assert prove(program.for_every_count()).holds == holds
    assert (check(program, 3, effect=False).verdict == "robust") == holds


def test_what_ranks_bring_into_a_collective_call_has_to_be_alike() -> None:
    body = CREATE.replace("&x, 4", "&x, 4 * me") + READ
    with pytest.raises(SourceError, match="differs between ranks"):
        parse_c(MPI.format(body)).for_every_count()
    both = f"if (me) {{ {CREATE.replace('&x', '&y')} }} else {{ {CREATE} }} {READ}"
    with pytest.raises(SourceError, match="differs between ranks"):
        parse_c(MPI.format(both)).for_every_count()
    assert check(parse_c(MPI.format(both)), 2, effect=False).verdict == "robust"


def test_a_fence_that_is_no_barrier_is_waited_for_by_who_accesses_the_window() -> None:
    """With MPI_MODE_NOPRECEDE: else the put may come before what the target has done to its window."""
    body = CREATE.replace(" MPI_Win_lock_all(0, win);", "") + "x = 1; MPI_Win_fence(MPI_MODE_NOPRECEDE, win); {}"
    body += "MPI_Put(&y, 1, MPI_INT, (me + 1) % n, 0, 1, MPI_INT, win); MPI_Win_fence(0, win); y = x;"
    program = parse_c(MPI.format(body.format("")))
    without = program.for_every_count()
    assert prove(without).holds
    assert [check(each, 3, effect=False).verdict for each in (program, without)] == ["robust", "robust"]
    assert any("Win_fence_flag" in memory.name for memory in without.memory)
    with pytest.raises(SourceError, match="a second fence with MPI_MODE_NOPRECEDE"):
        parse_c(MPI.format(body.format("MPI_Win_fence(MPI_MODE_NOPRECEDE, win); "))).for_every_count()


def test_a_group_of_some_ranks_is_not_taken_for_all() -> None:
    """On two nodes it is."""
    text = "#include <shmem.h>\nstatic long sync[SHMEM_BARRIER_SYNC_SIZE];\nint main(void) {\n  shmem_init();\n"
    program = parse_c(f"{text}  if (shmem_my_pe() < 2)\n    shmem_barrier(0, 0, 2, sync);\n}}")
    with pytest.raises(SourceError) as caught:
        program.for_every_count()
    assert (caught.value.diagnostics[0].code, caught.value.diagnostics[0].line) == ("PG146", 6)


def test_a_reduction_over_all_ranks_orders_them() -> None:
    text = "#include <shmem.h>\nstatic int x, y, z;\nint main(void) {{ int me = shmem_my_pe(), n = shmem_n_pes();\n"
    text += "shmem_int_put_nbi(&x, &y, 1, (me + 1) % n);\n{}\nshmem_int_sum_reduce(SHMEM_TEAM_WORLD, &z, &y, 1);\n"
    text += "int r = x; return r; }}"
    assert prove(parse_c(text.format("shmem_quiet();")).for_every_count()).holds
    assert not prove(parse_c(text.format("")).for_every_count()).holds


def test_a_target_that_is_read_has_no_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """The flush is of another rank than the put, by the same variable: if that were a name, there would be a proof."""
    loop = "if (i == 0) MPI_Put(&y, 1, MPI_INT, peer, 0, 1, MPI_INT, win); else MPI_Win_flush(peer, win);"
    text = """#include <mpi.h>
    static int window[2], y, kept;
    int main(void) {
      int me, n; MPI_Win win;
      MPI_Init(0, 0); MPI_Comm_rank(MPI_COMM_WORLD, &me); MPI_Comm_size(MPI_COMM_WORLD, &n);
      MPI_Win_create(window, 8, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win); MPI_Win_lock_all(0, win);
      MPI_Put(&y, 1, MPI_INT, 0, 1, 1, MPI_INT, win); MPI_Win_flush(0, win); MPI_Barrier(MPI_COMM_WORLD);
      int peer = window[1]; if (peer < 0 || peer >= n) peer = 0;
      for (int i = 0; i < 2; i++) { LOOP peer = (peer + 1) % n; if (window[1] > 9) kept = 1; }
      MPI_Barrier(MPI_COMM_WORLD); y = window[0]; MPI_Win_unlock_all(win);
    }""".replace("LOOP", loop)
    assert check(parse_c(text), 3, effect=False).verdict == "not robust"
    assert not prove(parse_c(text).for_every_count()).holds
    monkeypatch.setattr(targets, "named", lambda target: target if isinstance(target, int) else render(target))
    assert prove(parse_c(text).for_every_count()).holds


def test_the_range_of_every_number_is_an_assumption() -> None:
    """From the first number that is asked about to 2^24, or to the last one that ranks of the API can count."""
    shmem = "#include <shmem.h>\nint x; int main(void) { shmem_init(); shmem_barrier_all(); return 0; }"
    gaspi = """#include <GASPI.h>
int main(void) { gaspi_rank_t me; gaspi_proc_init(GASPI_BLOCK); gaspi_proc_rank(&me);
gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK); return 0; }"""
    told = {}
    for text in (shmem, gaspi):
        verdict = check_every_count(parse_c(text), effect=False)
        assert verdict.verdict == "robust"
        told[text] = [str(each) for each in verdict.assumptions if each.kind is Kind.NODE_RANGE]
    assert told[shmem] == ["every number of nodes means each number from 2 to 2^24"]
    assert told[gaspi] == ["every number of nodes means each number from 2 to 65,535, the most that the API has"]
    assert Kind.NODE_RANGE not in {each.kind for each in check(parse_c(shmem), 2).assumptions}
