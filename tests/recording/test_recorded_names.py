"""Recorded programs: their memory is called as in the source, and held what the reports say."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from pgasrob import twins
from pgasrob.cli import cli
from pgasrob.recording.recorded_answers import trace_races
from pgasrob.recording.recorded_names import Called, Names
from pgasrob.robustness.question import Races
from pgasrob.runtime.record.records import BLOCK, FRAME, Memory, Module, Place, Region
from pgasrob.runtime.record.trace_appendix import Appendix
from pgasrob.runtime.record.traced_variables import Allocation, Variable, Variables
from tests.runtime.recorded import built, traced
from tests.tools import needs

needs_kernel = pytest.mark.skipif(not twins.available(), reason="the kernel is not built")

MPI = """#include <mpi.h>
#include <stdlib.h>
struct cell { int id; float mass; double at[3]; };
static int board[2][3] = {{1, 2, 3}, {4, 5, 6}};
int got;
int main(int argc, char **argv) {
  int me, *table, *flag;
  MPI_Win cells_win, board_win, table_win, flag_win;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  struct cell *cells = calloc(4, sizeof *cells);
  cells[2].mass = 1.5f;
  MPI_Win_create(cells, 4 * sizeof *cells, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &cells_win);
  MPI_Win_create(board, sizeof board, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &board_win);
  MPI_Win_allocate(8 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &table, &table_win);
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &flag, &flag_win);
  for (int i = 0; i < 8; i++) table[i] = 10 + i;
  *flag = -1;
  MPI_Win_lock_all(0, cells_win); MPI_Win_lock_all(0, board_win);
  MPI_Win_lock_all(0, table_win); MPI_Win_lock_all(0, flag_win);
  MPI_Barrier(MPI_COMM_WORLD);
  float local = 8.25f;
  int pair[2] = {70, 71};
  MPI_Put(&local, 1, MPI_FLOAT, 1 - me, 2 * sizeof *cells + 4, 1, MPI_FLOAT, cells_win);
  MPI_Put(&pair[1], 1, MPI_INT, 1 - me, 5, 1, MPI_INT, board_win);
  MPI_Put(&pair[0], 1, MPI_INT, 1 - me, 6, 1, MPI_INT, table_win);
  MPI_Put(&pair[0], 1, MPI_INT, 1 - me, 0, 1, MPI_INT, flag_win);
  pair[1] = 72;
  MPI_Barrier(MPI_COMM_WORLD);
  got = cells[2].mass > 2;
  got += board[1][2];
  got += table[6];
  got += *flag;
  MPI_Win_unlock_all(flag_win); MPI_Win_unlock_all(table_win);
  MPI_Win_unlock_all(board_win); MPI_Win_unlock_all(cells_win);
  MPI_Win_free(&flag_win); MPI_Win_free(&table_win); MPI_Win_free(&board_win); MPI_Win_free(&cells_win);
  MPI_Finalize();
  return 0;
}
"""


@needs_kernel
@needs("mpicc")
def test_variables_of_all_kinds_and_what_they_held(tmp_path: Path) -> None:
    source = tmp_path / "kinds.c"
    source.write_text(MPI)
    path, said, code = traced(built("mpicc", source, tmp_path), 2)
    assert code == 0, said
    found = CliRunner().invoke(cli, ["race", "--all", str(path)]).output
    pairs = re.findall(r"  Lines (\d+) and (\d+) race for (\S+) of", found)
    assert pairs == [
        ("24", "30", "cells[2].mass"), ("25", "28", "pair[1]"), ("25", "31", "board[1][2]"), ("26", "32", "table[6]"),
        ("27", "33", "*flag"),
    ]  # fmt: skip
    told = " ".join(CliRunner().invoke(cli, ["check", str(path)]).output.split())
    held = {"cells[2].mass": "1.5", "board[1][2]": "6", "table[6]": "16", "*flag": "-1", "pair[1]": "72"}
    read = re.findall(r"(?:read the old value|read the value it wrote), (\S+)@\d = (\S+)\.", told)
    assert read and set(read) <= held.items(), told
    found = CliRunner().invoke(cli, ["check", str(path), "--format", "json"]).output
    witness = json.loads(found)["witness"]
    assert "unknown" in witness and all(cell["value"] != witness["unknown"] for cell in witness["memory"])


OPENSHMEM = """#include <shmem.h>
#include <stdio.h>
long flag = 3;
int main(void) {
  shmem_init();
  int me = shmem_my_pe();
  double *inbox = shmem_malloc(8 * sizeof(double));
  inbox[3] = -1.5;
  shmem_barrier_all();
  double mine = 2.5;
  if (me == 0) { shmem_double_put(&inbox[3], &mine, 1, 1); shmem_long_p(&flag, 1, 1); }
  if (me == 1) { shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1); printf("%g", inbox[3]); }
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
"""


@needs_kernel
@needs("oshcc")
@pytest.mark.parametrize(
    ("option", "inbox", "flag"), [("-O1", "inbox[3]", "flag"), ("-s", "block 1[3]", "static data")]
)
def test_calls_of_one_line_are_told_apart(option: str, inbox: str, flag: str, tmp_path: Path) -> None:
    source = tmp_path / "flag.c"
    source.write_text(OPENSHMEM)
    path, said, code = traced(built("oshcc", source, tmp_path, option), 2)
    assert code == 0, said
    told = " ".join(CliRunner().invoke(cli, ["check", str(path)]).output.split())
    assert f"Rank 1 reads {inbox} in line " in told and f"the shmem_long_wait_until of rank 1 sees {flag}@1" in told
    assert "Nothing orders the shmem_double_put before the shmem_long_p" in told and f"{flag}@1: 3 -> 1" in told
    assert f"it read the old value, {inbox}@1 = -1.5." in told and f"{inbox}@1: -1.5 -> 2.5" in told


@needs_kernel
@needs("oshcc")
def test_a_source_on_the_stack_has_the_value_of_each_call(tmp_path: Path) -> None:
    """Between two calls nobody sees the stores to it."""
    source = tmp_path / "turns.c"
    source.write_text(
        "#include <shmem.h>\n#include <stdio.h>\nlong box[3];\nint main(void) {\n  shmem_init();\n"
        "  for (long i = 0; i < 3; i++) {\n    long value[1] = {40 + i};\n"
        "    if (!shmem_my_pe()) shmem_long_put(&box[i], value, 1, 1);\n  }\n  shmem_sync_all();\n"
        '  if (shmem_my_pe()) printf("%ld%ld%ld", box[0], box[1], box[2]);\n'
        "  shmem_barrier_all();\n  shmem_finalize();\n  return 0;\n}\n"
    )
    path, said, code = traced(built("oshcc", source, tmp_path), 2)
    assert code == 0, said
    runs = [race.run for race in trace_races(str(path), Races(every=True)).races]
    assert runs
    written = {
        change.name: change.after
        for run in runs for event in run.events for change in [event.cell_change] if change is not None
    }  # fmt: skip
    assert written.items() <= {"box[0]@1": 40, "box[1]@1": 41, "box[2]@1": 42}.items()


def names() -> Names:
    types = (
        ("unknown", 0),
        ("signed", 4),
        ("struct", 8, (("x", 0, 1), ("y", 4, 1))),
        ("array", 1, (4,)),
        ("unsigned", 8),
    )
    return Names(
        Appendix(
            {Place(0, 50): ("f.c", 3, "f")},
            [(0, 100, 16, "seen"), (0, 300, 8, "alone")],
            variables=Variables(
                types,
                {0: [Variable(100, "seen", 3), Variable(200, "point", 2), Variable(400, "grid", 4)]},
                {Place(0, 50): [Variable(-16, "own", 1), Variable(-8, "pair", 2)]},
                {
                    Place(0, 60): Allocation("list", "", 2),
                    Place(0, 61): Allocation("one", "", 1),
                    Place(0, 62): Allocation("grid", "", 1),
                    Place(0, 70): Allocation("", "win", 0),
                },
            ),
        ),
        2,
    )


def test_names() -> None:
    known, modules = names(), {0: Module("p", 0x10000, 0x1000)}

    def at(address: int, size: int = 4) -> str:
        return known.private(0, address, modules, size, address).name

    known.note(0, Memory(FRAME, 0x7000, 32, Place(0, 50)))
    known.note(0, Memory(BLOCK, 0x8000, 24, Place(0, 60)))
    known.note(0, Memory(BLOCK, 0x9000, 4, Place(0, 61)))
    assert [at(0x10000 + offset) for offset in (100, 108, 109, 200, 204, 300, 304)] == [
        "seen[0]", "seen[2]", "seen[2] (byte 1)", "point.x", "point.y", "alone[0]", "alone[1]",
    ]  # fmt: skip
    assert [at(0x7000 + offset) for offset in (16, 24, 28)] == ["own", "pair.x", "pair.y"]
    assert [at(0x8000 + offset) for offset in (0, 12, 20)] == ["list[0].x", "list[1].y", "list[2].y"]
    assert at(0x9000) == "*one" and at(0x7000) == "buffer" and at(0xA000) == "buffer (2)"
    known.note(0, Memory(BLOCK, 0x8008, 8, Place(0, 61)))  # what was there is gone
    assert at(0x8008) == "one[0]" and at(0x8000) == "buffer (3)"
    known.note_window(9, Place(0, 70))
    region = Region(3, 0, 0xB000, 64, 9, -1, 0, Place(0, 99))
    assert known.of_region(0, region, 8, modules, 4) == Called("win[2]", 4, "unknown")
    other = region._replace(identity=8)
    assert known.of_region(0, other, 8, modules, 4).name == "window 0[2]"
    heap = Region(1, 1, 0xC000, 16, 0, -1, 0, Place(0, 62))
    assert known.static(0, 400, 8).name == "grid" and known.of_region(0, heap, 8, modules, 4).name == "grid[2]"
    assert known.of_region(0, heap._replace(identity=1), 8, modules, 4).name == "grid (2)[2]"
    known.note_elements((3, 9), 8, "MPI_DOUBLE")
    assert known.of_region(0, region, 8, modules, 8) == Called("win[1]", 8, "float")
