"""The JSON objects of calls that are not allowed."""

from __future__ import annotations

import json
from pathlib import Path

from pgasrob.api import check
from pgasrob.frontends.lower import parse_c
from pgasrob.render.verdict_json import to_json
from pgasrob.render.witness_file import read_results

PROGRAM = """#include <mpi.h>
int mem[2];
int main(int argc, char **argv) {
  MPI_Win w;
  MPI_Init(&argc, &argv);
  MPI_Win_create(mem, 8, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &w);
  MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, w);
  MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, w);
  MPI_Win_unlock(1, w);
  MPI_Win_unlock(1, w);
  MPI_Win_free(&w);
  MPI_Finalize(); }
"""


def test_an_illegal_call_as_an_object(tmp_path: Path) -> None:
    result = to_json(check(parse_c(PROGRAM, "p.c"), nodes=2))
    assert (result["legal"], result["assertions"], result["assertion_run"]) == ("no", None, None)
    twice, unlocked = result["illegal_calls"]
    run = twice.pop("run")  # type: ignore[misc]
    assert twice == {
        "rule": "mpi-lock-twice",
        "demands": "a rank locks a target only when it holds no lock of it",
        "section": "MPI-4.1, 12.5.3",
        "sentence": "MPI_Win_lock of rank 1, which is locked already",
        "remedy": "unlock it before it is locked again",
        "rank": 0,
        "line": 8,
        "column": 3,
        "end_line": 8,
        "end_column": 41,
        "opened": {"call": "MPI_Win_lock", "line": 7, "column": 3},
    }
    assert (run["shows"], run["computation"][-1]["line"], run["computation"][-1]["holds"]) == ("illegal call", 8, None)  # type: ignore[index]
    assert (unlocked["line"], unlocked["opened"]) == (10, None)


def test_it_is_read_back_from_a_file(tmp_path: Path) -> None:
    result = to_json(check(parse_c(PROGRAM, "p.c"), nodes=2))
    (again,) = read_results(json.dumps(result).encode())
    assert json.dumps(again) == json.dumps(result)
