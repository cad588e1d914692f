"""What the calls of recorded traces promise: small programs, really run, with what they order and what not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pgasrob import twins
from pgasrob.recording.recorded_answers import check_trace, trace_races
from pgasrob.robustness.question import Races
from tests.runtime.recorded import built, traced
from tests.support import sampled
from tests.tools import needs

PROGRAMS = Path(__file__).parents[2] / "programs" / "c"
pytestmark = pytest.mark.skipif(not twins.available(), reason="the kernel is not built")

MPI = """
#include <mpi.h>
int *memory; int me, n, got, one = 1, all[8]; MPI_Win win; MPI_Request request; MPI_Status status;
int main(int argc, char **argv) {
    MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &me); MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_lock_all(0, win); for (int i = 0; i < 4; i++) memory[i] = 0; MPI_Barrier(MPI_COMM_WORLD);
    BODY
    MPI_Win_unlock_all(win); MPI_Win_free(&win); MPI_Finalize(); return got & 0;
}
"""
OPENSHMEM = """
#include <shmem.h>
int memory[4], source[4], all[16], me, n, got; long psync[1][SHMEM_COLLECT_SYNC_SIZE + SHMEM_BCAST_SYNC_SIZE];
int work[64];
int main(void) {
    shmem_init(); me = shmem_my_pe(); n = shmem_n_pes();
    for (int i = 0; i < (int)(sizeof psync[0] / sizeof(long)); i++) psync[0][i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    BODY
    shmem_barrier_all(); shmem_finalize(); return got & 0;
}
"""
PUT = "MPI_Put(&one, 1, MPI_INT, 1, 0, 1, MPI_INT, win);"
FLUSHED = PUT + " MPI_Win_flush(1, win);"
READ = "got = memory[0];"


def answers(body: str, into: Path, ranks: int) -> tuple[str, str]:
    """Whether the recorded run is robust, and whether it has a race; or why that is not known."""
    compiler, frame = ("mpicc", MPI) if "MPI_" in body else ("oshcc", OPENSHMEM)
    source = into / "program.c"
    source.write_text(frame.replace("BODY", body))
    path, said, code = traced(built(compiler, source, into), ranks)
    assert code == 0, said
    checked, races = check_trace(str(path)), trace_races(str(path), Races())
    return (
        checked.verdict if checked.reason is None else str(checked.reason),
        races.verdict if races.reason is None else str(races.reason),
    )


CALLS = {
    # One way: whoever waits for whom it should sees the flushed put.
    "bcast": (
        f"if (me == 0) {{ {FLUSHED} }} MPI_Bcast(&got, 1, MPI_INT, 0, MPI_COMM_WORLD); if (me == 1) {READ}", None,
    ),
    "bcast from the reader": (
        f"if (me == 0) {{ {FLUSHED} }} MPI_Bcast(&got, 1, MPI_INT, 1, MPI_COMM_WORLD); if (me == 1) {READ}", "race",
    ),
    "reduce": (
        f"if (me == 0) {{ {FLUSHED} }} MPI_Reduce(&one, &got, 1, MPI_INT, MPI_SUM, 1, MPI_COMM_WORLD);"
        f"if (me == 1) {READ}", None,
    ),
    "reduce to the writer": (
        f"if (me == 0) {{ {FLUSHED} }} MPI_Reduce(&one, &got, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);"
        f"if (me == 1) {READ}", "race",
    ),
    "allreduce reads its source": (
        "if (me == 0) MPI_Put(&one, 1, MPI_INT, 1, 0, 1, MPI_INT, win);"
        "MPI_Allreduce(memory, &got, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);", "race",
    ),
    "allgather writes its destination": (
        "if (me == 0) { int before; MPI_Get(&before, 1, MPI_INT, 1, 0, 1, MPI_INT, win); MPI_Win_flush(1, win); }"
        "MPI_Allgather(&one, 1, MPI_INT, memory, 1, MPI_INT, MPI_COMM_WORLD);", None,
    ),
    "scan": (
        f"if (me == 0) {{ {FLUSHED} }} MPI_Scan(&one, &got, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); if (me == 1) {READ}",
        None,
    ),
    "recv": (
        f"if (me == 0) {{ {FLUSHED} MPI_Send(&one, 1, MPI_INT, 1, 7, MPI_COMM_WORLD); }}"
        f"if (me == 1) {{ MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status); {READ} }}",
        None,
    ),
    "irecv": (
        f"if (me == 0) {{ {FLUSHED} MPI_Send(&one, 1, MPI_INT, 1, 7, MPI_COMM_WORLD); }} if (me == 1) {{"
        f"MPI_Irecv(all, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &request); MPI_Wait(&request, &status); {READ} }}",
        None,
    ),
    "irecv that is not waited for": (
        f"if (me == 0) {{ {FLUSHED} MPI_Send(&one, 1, MPI_INT, 1, 7, MPI_COMM_WORLD); }} if (me == 1) {{"
        f"MPI_Irecv(all, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &request); {READ} MPI_Wait(&request, &status); }}",
        "race",
    ),
    "isend uses its buffer": (
        "if (me == 0) { MPI_Isend(memory, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, &request); memory[0] = 1;"
        "MPI_Wait(&request, &status); } if (me == 1) MPI_Recv(&got, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &status);",
        "race",
    ),
    "isend that is waited for": (
        "if (me == 0) { MPI_Isend(memory, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, &request); MPI_Wait(&request, &status);"
        "memory[0] = 1; } if (me == 1) MPI_Recv(&got, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &status);",
        None,
    ),
    "sendrecv": (
        f"if (me == 0) {{ {FLUSHED} }} MPI_Sendrecv(&one, 1, MPI_INT, 1 - me, 7, &got, 1, MPI_INT, 1 - me, 7,"
        f"MPI_COMM_WORLD, &status); if (me == 1) {READ}",
        None,
    ),
    "probe": (
        f"if (me == 0) {{ {FLUSHED} MPI_Send(&one, 1, MPI_INT, 1, 7, MPI_COMM_WORLD); }} if (me == 1) {{"
        f"MPI_Probe(0, 7, MPI_COMM_WORLD, &status); {READ}"
        "MPI_Recv(&got, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &status); }",
        None,
    ),
    "ibarrier": (
        f"if (me == 0) {{ {FLUSHED} }} MPI_Ibarrier(MPI_COMM_WORLD, &request); MPI_Wait(&request, &status);"
        f"if (me == 1) {READ}",
        None,
    ),
    "ibarrier that is not waited for": (
        f"if (me == 0) {{ {FLUSHED} }} MPI_Ibarrier(MPI_COMM_WORLD, &request); if (me == 1) {READ}"
        "MPI_Wait(&request, &status);",
        "race",
    ),
    "rput": (
        "if (me == 0) { MPI_Rput(all, 1, MPI_INT, 1, 0, 1, MPI_INT, win, &request); MPI_Wait(&request, &status);"
        "all[0] = 1; }",
        None,
    ),
    "rput completes at home alone": (
        "if (me == 0) { MPI_Rput(all, 1, MPI_INT, 1, 0, 1, MPI_INT, win, &request); MPI_Wait(&request, &status); }"
        f"MPI_Barrier(MPI_COMM_WORLD); if (me == 1) {READ}",
        "race",
    ),
    "ssend": ("if (me == 0) MPI_Ssend(&one, 1, MPI_INT, 1, 7, MPI_COMM_WORLD);"
              "if (me == 1) MPI_Recv(&got, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &status);", "rank 0 calls MPI_Ssend"),
    "a derived type": ("MPI_Datatype type; MPI_Type_vector(2, 1, 2, MPI_INT, &type); MPI_Type_commit(&type);"
                       "if (me == 0) MPI_Send(all, 1, type, 1, 7, MPI_COMM_WORLD);"
                       "if (me == 1) MPI_Recv(all, 2, MPI_INT, 0, 7, MPI_COMM_WORLD, &status);", "not contiguous"),
}  # fmt: skip


@needs("mpicc")
@pytest.mark.parametrize("name", [path.name for path in sampled(list(map(Path, CALLS)), 5)])
def test_mpi(name: str, tmp_path: Path) -> None:
    body, expected = CALLS[name]
    robust, races = answers(body, tmp_path, 2)
    if expected is None:
        assert (robust, races) == ("robust", "no race")
    elif expected == "race":
        assert races == "race"
    else:
        assert expected in robust and expected in races


SUBGROUP = """
    MPI_Comm some; MPI_Comm_split(MPI_COMM_WORLD, me != COLOUR, 0, &some);
    if (me == 0) { MPI_Put(&one, 1, MPI_INT, 1, 0, 1, MPI_INT, win); MPI_Win_flush(1, win); }
    MPI_Barrier(some); if (me == 1) got = memory[0];
"""


@needs("mpicc")
@pytest.mark.parametrize(("alone", "races"), [(2, "no race"), (1, "race")])
def test_a_barrier_of_some_ranks(alone: int, races: str, tmp_path: Path) -> None:
    assert answers(SUBGROUP.replace("COLOUR", str(alone)), tmp_path, 3)[1] == races


SHMEM_CALLS = {
    "broadcast": (
        "if (me == 0) { shmem_int_p(&memory[0], 1, 1); shmem_quiet(); }"
        "shmem_broadcast32(all, source, 1, 0, 0, 0, n, psync[0]); if (me == 1) got = memory[0];", "no race",
    ),
    "broadcast from the reader": (
        "if (me == 0) { shmem_int_p(&memory[0], 1, 1); shmem_quiet(); }"
        "shmem_broadcast32(all, source, 1, 1, 0, 0, n, psync[0]); if (me == 1) got = memory[0];", "race",
    ),
    "collect": (
        "if (me == 0) { shmem_int_p(&memory[0], 1, 1); shmem_quiet(); }"
        "shmem_collect32(all, source, me + 1, 0, 0, n, psync[0]); if (me == 1) got = memory[0];", "no race",
    ),
    "reduction": (
        "if (me == 0) { shmem_int_p(&memory[0], 1, 1); shmem_quiet(); }"
        "shmem_int_sum_to_all(all, source, 1, 0, 0, n, work, psync[0]); if (me == 1) got = memory[0];", "no race",
    ),
    "reduction does not complete": (
        "if (me == 0) shmem_int_p(&memory[0], 1, 1);"
        "shmem_int_sum_to_all(all, source, 1, 0, 0, n, work, psync[0]); if (me == 1) got = memory[0];", "race",
    ),
    "reduction reads its source": (
        "if (me == 0) shmem_int_p(&source[0], 1, 1); shmem_int_sum_to_all(all, source, 1, 0, 0, n, work, psync[0]);",
        "race",
    ),
}  # fmt: skip


@needs("oshcc")
@pytest.mark.parametrize("name", SHMEM_CALLS)
def test_openshmem(name: str, tmp_path: Path) -> None:
    body, expected = SHMEM_CALLS[name]
    assert answers(body, tmp_path, 2)[1] == expected


EVERY_DAY = {"mpi/post_start_ring", "mpi/complete_barrier"}
CORPUS = {
    "mpicc": (
        "mpi/collectives", "mpi/send_after_put", "mpi/send_after_flush", "mpi/post_start_ring", "mpi/rget",
        "mpi/complete_barrier", "mpi/must_rma/figure_7",
    ),
    "oshcc": ("openshmem/broadcast", "openshmem/broadcast_third_party", "openshmem/reduction"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("compiler", "name"),
    [
        pytest.param(
            compiler, name, marks=[needs(compiler), *([] if name in EVERY_DAY else [pytest.mark.nightly])], id=name
        )
        for compiler, names in CORPUS.items()
        for name in names
    ],
)
def test_programs_of_the_corpus_have_their_answers(compiler: str, name: str, tmp_path: Path) -> None:
    source = PROGRAMS / f"{name}.c"
    told = dict(re.findall(r"^// (\w+): (.*)$", source.read_text(), re.MULTILINE))
    path, said, code = traced(built(compiler, source, tmp_path), int(told["nodes"]))
    assert code == 0, said
    races = trace_races(str(path), Races(every=True))
    assert (check_trace(str(path)).verdict, races.reason) == (told["expect"], None)
    assert len(races.races) == {"none": 0, "1 pair": 1}[told["races"]]
