"""Hovers say by which calls an operation is complete, and name no queue and no memory of the front end."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pgasrob.batch.job import find_programs
from pgasrob.frontends.lower import CProgram
from pgasrob.frontends.options import FrontEnd
from pgasrob.lsp.edited_program import EditedProgram, checker
from pgasrob.lsp.hover import promises
from pgasrob.lsp.settings import Settings
from pgasrob.program.program import Program
from pgasrob.program.reading import DEFAULT_READING
from pgasrob.program.statements import Do, place_of, statements_in
from pgasrob.robustness.limits import Limits
from tests.support import sampled

ROOT = Path(__file__).parents[2]
C = [Path(file) for file in find_programs([str(ROOT / "programs")])[0] if file.endswith(".c")]
SETTINGS = Settings(None, Limits(), False, FrontEnd(), DEFAULT_READING)


def edited(path: Path) -> tuple[EditedProgram, Program, int]:
    made = EditedProgram(str(path), ((str(path), path.read_text()),), SETTINGS)
    read = checker(made).load(str(path))
    assert isinstance(read, CProgram)
    return made, read.program(read.default_count), read.default_count


def hovers(path: Path) -> dict[tuple[int, int], str]:
    """What is said at each place of a file at which its program does something."""
    made, program, nodes = edited(path)
    places = {
        (int(each.span.line), each.span.column)
        for process in program.processes
        for each in statements_in(process.body)
        if isinstance(each, Do) and not place_of(each.span.line)[0]
    }
    found = {place: promises(made, nodes, *place) for place in sorted(places)}
    return {place: each.text for place, each in found.items() if each is not None}


def internal_names(path: Path) -> list[str]:
    """The names of queues and of memory that the front end has made up, and that are not in the source."""
    _, program, _ = edited(path)
    names = [queue.name for queue in program.queues] + [each.name for each in program.memory if each.made_up]
    source = path.read_text()
    return [name for name in dict.fromkeys(names) if name.isidentifier() and name not in source]


def test_no_hover_has_an_internal_name() -> None:
    """At all places of one C program in 30; with --nightly of all."""
    seen = 0
    for path in sampled(C, 30):
        names = internal_names(path)
        pattern = re.compile(rf"\b({'|'.join(map(re.escape, names))})\b") if names else None
        for place, text in hovers(path).items():
            seen += 1
            assert pattern is None or not pattern.search(text), (path, place, text)
    assert seen > 50


@pytest.mark.parametrize(
    ("program", "call", "said"),
    [
        (
            "mpi/request_test_put.c",
            "MPI_Rput(",
            "at its target; `MPI_Win_flush(peer, win)` or `MPI_Win_flush_all(win)`",
        ),
        ("mpi/request_test_put.c", "MPI_Rput(", "completes it, as the MPI_Win_unlock_all in line 28 does"),
        ("mpi/request_test_put.c", "MPI_Test(", "until the MPI_Rput in line 23 is complete here"),
        ("armci/armci_flag_nonblocking.c", "ARMCI_NbPut(", "at rank 1; `ARMCI_Fence(1)` or `ARMCI_AllFence()`"),
        (
            "armci/armci_flag_nonblocking.c",
            "ARMCI_WaitAll(",
            "line 26 and the ARMCI_NbPut in line 27 are complete here",
        ),
        ("openshmem/message_passing_no_fence.c", "shmem_long_put(", "at rank 1; `shmem_quiet()` completes it"),
    ],
)
def test_the_calls_of_the_library_are_named(program: str, call: str, said: str) -> None:
    path = ROOT / "programs/c" / program
    lines = path.read_text().splitlines()
    number = next(number for number, line in enumerate(lines, 1) if call in line)
    assert said in hovers(path)[number, lines[number - 1].index(call) + 1]


def test_a_wait_of_one_rank_is_not_for_what_another_one_does(tmp_path: Path) -> None:
    """Both ranks have an operation to rank 1 under way, in queues of one name."""
    path = tmp_path / "x.c"
    path.write_text("""#include <mpi.h>
int main(int argc, char **argv) {
  int me, got = 0, *mem; MPI_Win win;
  MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Win_allocate(8, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
  MPI_Win_lock_all(0, win);
  if (me == 0) {
    MPI_Put(&me, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
    MPI_Win_flush(1, win);
  } else {
    MPI_Get(&got, 1, MPI_INT, 1, 1, 1, MPI_INT, win);
    MPI_Win_flush(1, win);
  }
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win); MPI_Finalize();
}
""")
    told = hovers(path)
    assert "the MPI_Put in line 8 is complete" in told[9, 5] and "MPI_Get" not in told[9, 5]
    assert "the MPI_Get in line 11 is complete" in told[12, 5] and "MPI_Put" not in told[12, 5]
    assert "the MPI_Put in line 8 and the MPI_Get in line 11" in told[14, 3]
    assert "in line 12" in told[11, 5]
