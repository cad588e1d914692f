"""What a check leaves behind goes when nothing refers to it: a cycle would keep it until the garbage collector comes,
which then has to go through it all."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path

import pytest

from pgasrob.batch.answer import about_robustness
from pgasrob.robustness.question import Synchronisation
from tests.support import session_about

ROOT = Path(__file__).parents[2]
LARGE = {"Instance", "Compiled", "ControlAutomaton", "frame"}
"""Kinds of objects that hold much."""
COPIES = """// nodes: 2
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
    int rank, x = 0;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_create(&x, sizeof x, sizeof x, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Put(&rank, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, win);
    MPI_Barrier(MPI_COMM_WORLD);
    BODY
    MPI_Win_fence(0, win);
    MPI_Finalize();
    return 0;
}
"""


@pytest.mark.parametrize(
    "text",
    [
        COPIES.replace("BODY", 'printf("%d", x);'),
        COPIES.replace("BODY", 'MPI_Win_fence(0, win); printf("%d", x);'),
        "// nodes: 2\nprogram p; memory x; register r; process { mem[x] <- 1; if (me == 0) { r <- mem[x + 7]; } }",
    ],
    ids=["violation", "robust", "fault"],
)
def test_a_check_leaves_nothing_large_to_the_collector(text: str, tmp_path: Path) -> None:
    """In a process of its own: what other tests have left goes at any time."""
    path = tmp_path / ("program.c" if "main" in text else "program.pgas")
    path.write_text(text)
    run = [sys.executable, "-c", f"from {__name__} import left; print(*left({str(path)!r}))"]
    found = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=True)
    assert not set(found.stdout.split()) & LARGE


def left(path: str) -> set[str]:
    """The kinds of objects that a check leaves to the collector."""

    def answer() -> str:
        return about_robustness(session_about(Path(path), Synchronisation()), Synchronisation()).verdict

    answer()  # what is made once stays
    gc.collect()
    gc.disable()
    answer()
    gc.set_debug(gc.DEBUG_SAVEALL)
    gc.collect()
    return {type(each).__name__ for each in gc.garbage}
