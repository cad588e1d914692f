"""Counterexamples on the libraries of this machine. Each run takes about a second, most of it in the launcher."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pgasrob.cli import cli
from pgasrob.robustness.load import load
from pgasrob.runtime.reproduce.execute import CannotRun
from pgasrob.runtime.reproduce.reproduce import library_of
from tests.bench.reproduced import rows
from tests.tools import needs

CORPUS = Path(__file__).parents[2] / "programs" / "c"

openshmem = needs("oshcc")
mpi = needs("mpicc")

NOT_REPRODUCED = {
    "openshmem/broadcast_third_party.c": "did not come back from shmem_broadcast64",  # Open MPI's waits for all
    "openshmem/mcs_lock_no_quiet.c": "crashes in the library",  # its compare_swap of int
    "openshmem/stencil_2d_no_fence.c": "no run is known",
    "mpi/stencil_barrier.c": "no run is known",
}
LACKING = {
    "openshmem/atomic_nbi.c": "shmem_int_atomic_fetch_add_nbi",
    "openshmem/put_then_put_signal.c": "SHMEM_SIGNAL_SET",
    "openshmem/signal_numbers.c": "SHMEM_SIGNAL_SET",
    "openshmem/test_any_take_no_fence.c": "shmem_int_test_any",
}
"""What Open MPI 4 cannot show of the programs that are not robust, and why."""


TWO_FILES = {
    "headers/data.h": "extern long data[2];\nextern int flag;\nvoid deliver(void);\n",
    "main.c": """\
#include <shmem.h>
#include <stdio.h>
#include "data.h"
long data[SIZE];
int flag;
static void receive(void)
{
    shmem_int_wait_until(&flag, SHMEM_CMP_EQ, 1);
    for (int i = 0; i < SIZE; i++)
        printf("%ld\\n", data[i]);
}
int main(int argc, char **argv)
{
    if (argc != 3 || argv[1][0] != '-')
        return 1;
    shmem_init();
    if (shmem_my_pe() == 0)
        deliver();
    else
        receive();
    shmem_finalize();
    return 0;
}
""",
    "send.c": """\
#include <shmem.h>
#include "data.h"
void deliver(void)
{
    long source[2] = {7, 8};
    shmem_long_put_nbi(data, source, 2, 1);
    source[0] = 9;
    shmem_int_p(&flag, 1, 1);
}
""",
}
"""The put may read its source after the next line has changed it."""


def told(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["reproduce", *arguments], env={"COLUMNS": "100"})


@openshmem
def test_a_late_put_beside_a_normal_run() -> None:
    found = told(str(CORPUS / "openshmem/message_passing_no_fence.c"))
    assert found.exit_code == 1, found.output
    lines = [line.split(maxsplit=2) for line in found.output.splitlines()]
    assert ["rank", "1", "7 8           0 8"] in lines
    assert "reproduced in 1 run on 2 nodes, with OpenSHMEM" in found.output
    assert "data[0]@1 in line 21: 7 in the normal run, 0 in the reproduced run, 0 in the" in found.output
    assert "rank 0, line 17: shmem_long_put, until rank 1 has come past line 21" in found.output


@openshmem
def test_values_where_nothing_is_printed() -> None:
    found = told(str(CORPUS / "openshmem/lock_context.c"), "--format", "json", "--runs", "2")
    assert found.exit_code == 1, found.output
    result = json.loads(found.output)
    assert (result["state"], result["library"], len(result["reproduced"])) == ("reproduced", "openshmem", 2)
    (total,) = result["values"]
    assert (total["name"], total["line"], total["in_sc"]) == ("total@0", None, [2])
    assert (total["normal"], total["reproduced"], total["counterexample"]) == (2, 1, 1)
    assert all(not any(each["output"]) for each in (result["normal"], *result["reproduced"]))


@mpi
def test_an_assertion_fails() -> None:
    found = told(str(CORPUS / "mpi/spin_lock_early_release.c"), "--format", "json")
    assert found.exit_code == 1, found.output
    result = json.loads(found.output)
    assert result["normal"]["assertion"] is None and result["normal"]["exit_code"] == 0
    assert "mem[TOTAL] == size" in result["reproduced"][0]["assertion"]


@mpi
def test_a_source_that_is_read_late() -> None:
    """The step of a put that reads its source comes after a statement of the same rank."""
    found = told(str(CORPUS / "mpi/fence_source.c"))
    assert found.exit_code == 1, found.output
    assert ["rank", "1", "1             2"] in [line.split(maxsplit=2) for line in found.output.splitlines()]


@openshmem
def test_a_program_of_two_files_with_macros_and_headers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in TWO_FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    found = told("main.c", "--with", "send.c", "-I", "headers", "-D", "SIZE=2", "--args", "-n 'a b'")
    assert found.exit_code == 1, found.output
    lines = [line.split() for line in found.output.splitlines()]
    assert ["rank", "1", "7", "9"] in lines and ["8", "8"] in lines
    assert "rank 0, send.c:6: shmem_long_put_nbi, until rank 0 has come past send.c:7" in found.output


@openshmem
def test_everything_held_back() -> None:
    """A fence keeps its order then; without it the flag, which is newer, arrives first."""
    robust = told(str(CORPUS / "openshmem/message_passing_fence.c"), "--hold-all")
    assert robust.exit_code == 0 and "nothing differs in 2 runs with everything held back" in robust.output
    other = told(str(CORPUS / "openshmem/message_passing_no_fence.c"), "--hold-all")
    assert other.exit_code == 1 and "it does something else" in other.output


@openshmem
def test_what_is_held_back_arrives_before_the_library_is_finalised_at_the_exit(tmp_path: Path) -> None:
    file = tmp_path / "exit.c"
    file.write_text(
        "#include <shmem.h>\n#include <stdio.h>\nint flag;\nint main(void) {\n    shmem_init();\n"
        "    if (shmem_my_pe() == 0)\n        shmem_int_p(&flag, 7, 1);\n    else\n"
        '        shmem_int_wait_until(&flag, SHMEM_CMP_EQ, 7);\n    printf("%d\\n", flag);\n    return 0;\n}\n'
    )
    found = told(str(file), "--hold-all", "--format", "json")
    result = json.loads(found.output)
    assert (found.exit_code, result["state"]) == (0, "same"), result
    assert [each["exit_code"] for each in (result["normal"], *result["reproduced"])] == [0, 0, 0]


def test_what_cannot_be_run_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    robust = told(str(CORPUS / "openshmem/message_passing_fence.c"))
    assert robust.exit_code == 0 and "is robust on 2 nodes" in robust.output
    gaspi = next((CORPUS / "gaspi").glob("*.c"))
    with pytest.raises(CannotRun, match="uses GASPI: runs are reproduced with OpenSHMEM and MPI only"):
        library_of(load(gaspi))  # type: ignore[arg-type]
    monkeypatch.setenv("PATH", str(tmp_path))
    for name, tool in (("openshmem/message_passing_no_fence.c", "oshcc"), ("mpi/put_order.c", "mpicc")):
        missing = told(str(CORPUS / name), "--format", "json")
        assert missing.exit_code == 2
        result = json.loads(missing.output)
        assert result["state"] == "error" and f"there is no {tool} on the PATH" in result["reason"]
        assert "openmpi-bin" in result["reason"]


def test_threads_are_not_reproduced(tmp_path: Path) -> None:
    file = tmp_path / "threads.c"
    file.write_text("""#include <mpi.h>
#include <omp.h>
int main(int argc, char **argv) {
  int provided, rank, *base;
  MPI_Win win;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Win_allocate(2 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  MPI_Win_lock_all(0, win);
  int value[2] = {1, 2};
  #pragma omp parallel num_threads(2)
  MPI_Put(&value[omp_get_thread_num()], 1, MPI_INT, 1 - rank, omp_get_thread_num(), 1, MPI_INT, win);
  MPI_Barrier(MPI_COMM_WORLD);
  int sum = base[0] + base[1];
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
  MPI_Finalize();
  return sum;
}
""")
    for options in ([], ["--hold-all"]):
        found = told(str(file), "-n", "2", *options)
        assert found.exit_code == 2 and "its ranks have several threads" in found.output


def test_a_program_of_the_language_is_none_that_runs(tmp_path: Path) -> None:
    file = tmp_path / "p.pgas"
    file.write_text("program p; process { skip; }")
    found = told(str(file))
    assert found.exit_code == 2 and "only C programs can be run" in found.output


@openshmem
def test_a_library_that_lacks_a_call_is_named() -> None:
    for name in ("openshmem/atomic_nbi.c", "openshmem/signal_numbers.c"):
        found = told(str(CORPUS / name))
        assert found.exit_code == 2 and LACKING[name] in found.output


@openshmem
@mpi
@pytest.mark.nightly
def test_the_corpus_on_three_runs_in_a_row() -> None:
    found = {row.program: row for row in rows(robust=False)}
    assert len(found) == 44
    for row in found.values():
        if row.program in LACKING:
            assert row.outcome == "cannot run" and LACKING[row.program] in row.told
        elif row.program in NOT_REPRODUCED:
            assert row.outcome == "not reproduced" and NOT_REPRODUCED[row.program] in row.told
        else:
            assert row.outcome == "reproduced", row


@openshmem
@mpi
@pytest.mark.nightly
def test_robust_programs_with_everything_held_back() -> None:
    found = [row for row in rows(robust=True) if row.outcome != "cannot run"]
    assert len(found) >= 48
    assert [row for row in found if row.outcome != "same"] == []
