"""The variables of a run: a row for each variable of C, with the parts of arrays and structs in it."""

from __future__ import annotations

from pathlib import Path

import pgasrob
from pgasrob.render.run_json import Witness
from pgasrob.render.variables import Variable, variables
from pgasrob.render.verdict_json import to_json

PROGRAMS = Path(__file__).parents[2] / "programs"


def of(path: Path, nodes: int | None = None) -> tuple[Witness, list[Variable]]:
    run = to_json(pgasrob.check(pgasrob.load(str(path)), nodes=nodes))["witness"]
    assert run is not None
    return run, variables(run)


def test_a_variable_of_c_has_a_row(tmp_path: Path) -> None:
    path = tmp_path / "pair.c"
    path.write_text(PAIR)
    _, rows = of(path, 2)
    assert sorted((row["name"], row["where"], row["parts"]) for row in rows if row["kind"] == "memory") == [
        ("p", "", [".a", ".b"]),
        ("q", "", [".a", ".b"]),
        ("table", "", ["[1][2]"]),
    ]
    assert {(row["name"], row["where"]) for row in rows if row["kind"] == "register"} >= {("seen", ""), ("copy", "")}


def test_a_function_is_named_where_a_name_is_not_enough() -> None:
    _, rows = of(PROGRAMS / "c/openshmem/stencil_no_fence.c", 4)
    assert [(row["name"], row["where"]) for row in rows if row["kind"] == "register" and row["used"]] == [
        ("before", "update")
    ]


def test_what_is_internal_is_left_out() -> None:
    run, rows = of(PROGRAMS / "c/mpi/barrier_halo.c")
    assert len({cell["name"] for cell in run["memory"]}) == 6  # four elements, and two flags of the fence
    assert [(row["name"], row["parts"], row["used"]) for row in rows] == [
        ("field", ["[0]", "[1]", "[2]", "[3]"], [0, 1, 2, 3])
    ]
    assert all(cell.get("made_up", False) == cell["name"].startswith("mpi_window") for cell in run["memory"])


def test_state_of_a_library_that_users_know_is_shown() -> None:
    _, rows = of(PROGRAMS / "c/gaspi/gaspi_notify_other_queue.c")
    names = [row["name"] for row in rows if row["used"]]
    assert names[0] == "cells" and "notification 0" in names
    assert "result" not in names, "the status of a call is no value of the run"


def test_of_pgas_all_is_shown() -> None:
    run, rows = of(PROGRAMS / "halo/halo_no_wait.pgas", 4)
    assert [(row["name"], row["kind"], bool(row["used"])) for row in rows] == [
        ("u", "memory", True),
        ("from_left", "memory", True),
        ("from_right", "memory", True),
        ("a", "register", True),
        ("b", "register", any(event["register"] and event["register"]["name"] == "b" for event in run["computation"])),
    ]


PAIR = """#include <mpi.h>
#include <stdio.h>
struct pair { int a; int b; };
struct pair p;
int table[2][3];
static int get(void) { int old = table[1][2]; return old; }
int main(int argc, char **argv) {
  int rank, old = 3;
  MPI_Win win;
  struct pair q = {5, 7};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Win_create(&p, sizeof p, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_fence(0, win);
  table[1][2] = rank;
  if (rank == 0) MPI_Put(&q, 2, MPI_INT, 1, 0, 2, MPI_INT, win);
  if (rank == 0) MPI_Put(&table[1][2], 1, MPI_INT, 1, 1, 1, MPI_INT, win);
  MPI_Barrier(MPI_COMM_WORLD);
  int seen = p.b;
  int copy = p.a;
  if (rank == 1) printf("%d %d %d %d\\n", seen, copy, get(), old);
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
"""
