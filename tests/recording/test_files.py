"""Answers for trace files of real executions, from the compiler to the report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from pgasrob import twins
from pgasrob.cli import cli
from pgasrob.recording.recorded_answers import NotReadable, RecordedRaces, check_trace, trace_alarms, trace_races
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.question import Races
from pgasrob.robustness.reasons import LeftUndone
from tests.recording.damaged_traces import sealed
from tests.runtime.recorded import built, traced
from tests.tools import needs

PROGRAMS = Path(__file__).parents[2] / "programs" / "c"
pytestmark = pytest.mark.skipif(not twins.available(), reason="the kernel is not built")


def recorded(compiler: str, source: str, into: Path) -> str:
    path, said, code = traced(built(compiler, PROGRAMS / source, into), 2)
    assert code == 0, said
    return str(path)


@needs("oshcc")
@pytest.mark.parametrize(
    ("name", "verdict", "races"),
    [
        ("message_passing_no_fence", "not robust", {(17, 21)}),
        ("message_passing_fence", "robust", set()),
    ],
)
def test_openshmem(name: str, verdict: str, races: set[tuple[int, int]], tmp_path: Path) -> None:
    path = recorded("oshcc", f"openshmem/{name}.c", tmp_path)
    found = check_trace(path)
    assert (found.verdict, found.reason) == (verdict, None)
    assert {race.lines for race in trace_races(path, Races(every=True)).races} == races
    about = found.races
    assert about is not None and about.reason == (RecordedRaces.of(tuple(races)) if races else None)


LATER = """#include <mpi.h>
int memory[4], one = 1;
int main(int argc, char **argv) {
  int me;
  MPI_Win win;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_lock_all(0, win);
  if (me == 0) MPI_Put(&one, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
  if (me == 0) FIRST;
  MPI_Barrier(MPI_COMM_WORLD);
  if (me == 1) MPI_Get(&memory[3], 1, MPI_INT, 1, 0, 1, MPI_INT, win);
  MPI_Win_flush_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Accumulate(&one, 1, me ? MPI_INT : MPI_INT32_T, 1, 1, 1, me ? MPI_INT : MPI_INT32_T, MPI_SUM, win);
  MPI_Win_unlock_all(win);
  MPI_Win_fence(0, win);
  if (me == 0) MPI_Put(&one, 1, MPI_INT, 1, 2, 1, MPI_INT, win);
  MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
"""


@needs("mpicc")
@pytest.mark.parametrize(
    ("first", "verdict", "races"),
    [
        ("MPI_Win_flush(1, win)", "robust", ((16, 16),)),
        ("(void)0", "not robust", ((10, 13), (16, 16))),
    ],
)
def test_what_comes_behind_a_violation_is_looked_at_too(
    first: str, verdict: str, races: tuple[tuple[int, int], ...], tmp_path: Path
) -> None:
    """Calls and races of the whole recording are; updates race that do not conflict for robustness."""
    source = tmp_path / "later.c"
    source.write_text(LATER.replace("FIRST", first))
    path, _, _ = traced(built("mpicc", source, tmp_path), 2)
    found = check_trace(str(path))
    assert (found.verdict, found.legal, [each.call.span.line for each in found.illegal_calls]) == (verdict, "no", [20])
    assert found.races is not None and found.races.reason == RecordedRaces.of(races)
    assert [race.lines for race in trace_races(str(path), Races(every=True)).races] == [*races]
    full = bytearray(path.read_bytes())
    full[24] = 4  # what came after was not recorded
    path.write_bytes(sealed(full))
    end = check_trace(str(path))
    assert (end.verdict, end.races and end.races.reason) == (
        ("not robust", RecordedRaces.of(races)) if verdict == "not robust" else ("unknown", None)
    )
    assert isinstance(end.reason, LeftUndone if verdict == "not robust" else NotReadable)


@needs("oshcc")
def test_outputs_say_what_is_known_of_races(tmp_path: Path) -> None:
    """That there is none; or which there are, and that it is open whether they matter, which is no finding."""
    for name, code, said in (
        ("message_passing_fence", 0, "No two accesses race in these runs."),
        (
            "message_passing_no_fence",
            1,
            "not tell whether races change the result: lines 17 and 21 (`pgasrob race`",
        ),
    ):
        path = recorded("oshcc", f"openshmem/{name}.c", tmp_path)
        result = CliRunner().invoke(cli, ["check", path])
        assert result.exit_code == code and said in " ".join(result.output.split())
    brief = CliRunner().invoke(cli, ["check", path, "--brief"]).output
    assert "note: a recording does not tell" in brief
    pairs = RecordedRaces.of(((1, 2), (3, 3), (4, 5), (6, 7), (8, 9)))
    assert "lines 1 and 2, lines 3 and 3, lines 4 and 5, 2 more pairs (" in str(pairs)


@needs("mpicc")
def test_mpi_beside_must_rma(tmp_path: Path) -> None:
    path = recorded("mpicc", "mpi/must_rma/figure_1.c", tmp_path)
    assert [race.lines for race in trace_races(path, Races()).races] == [(21, 24)]
    assert [alarm.lines for alarm in trace_alarms(path)] == [(21, 24)]
    result = CliRunner().invoke(cli, ["race", path, "--analysis", "must-rma", "--format", "json"])
    told = json.loads(result.output)
    assert result.exit_code == 1 and told["verdict"] == "race" and told["must_rma"] == [[21, 24]]
    assert CliRunner().invoke(cli, ["check", path]).exit_code == 0


@needs("mpicc")
def test_a_damaged_trace_and_one_that_is_full(tmp_path: Path) -> None:
    path = Path(recorded("mpicc", "mpi/must_rma/figure_1.c", tmp_path))
    whole = path.read_bytes()
    full = bytearray(whole)
    full[24] = 4
    path.write_bytes(sealed(full))
    assert trace_races(str(path), Races()).verdict == "race"
    assert check_trace(str(path)).verdict == "unknown"
    damaged = bytearray(whole)
    damaged[4096 + 32 : 4096 + 34] = b"\x10\xf0"  # a call of an operation that there is not
    path.write_bytes(sealed(damaged))
    found = check_trace(str(path))
    assert found.verdict == "error" and "damaged at byte 4128" in str(found.reason)
    damaged[4096 + 32 : 4096 + 40] = b"\x7f" + bytes(7)  # a record of a kind that there is not, without words
    path.write_bytes(sealed(damaged))
    assert "damaged at byte 4128" in str(check_trace(str(path)).reason)


@needs("oshcc")
def test_what_crashed_ranks_would_have_done_is_not_known(tmp_path: Path) -> None:
    source = tmp_path / "crashed.c"
    source.write_text(
        "#include <shmem.h>\n#include <stdlib.h>\nlong a;\n"
        "int main(void) {\n  shmem_init();\n  shmem_barrier_all();\n  if (shmem_my_pe() == 1) abort();\n"
        "  shmem_long_p(&a, 1, 1);\n  shmem_barrier_all();\n  shmem_finalize();\n  return 0;\n}\n"
    )
    path, _, code = traced(built("oshcc", source, tmp_path), 2)
    assert code == 2
    for answer in (check_trace(str(path)), trace_races(str(path), Races())):
        assert answer.verdict == "unknown" and "crashed or was ended" in str(answer.reason)


@needs("oshcc")
def test_limits_hold_while_a_trace_is_gone_through(tmp_path: Path) -> None:
    source = tmp_path / "many.c"
    source.write_text(
        "#include <shmem.h>\nint x;\nint main(void) {\n  shmem_init();\n"
        "  for (int i = 0; i < 2000; i++) shmem_int_p(&x, i, 1 - shmem_my_pe());\n"
        "  shmem_barrier_all();\n  shmem_finalize();\n  return 0;\n}\n"
    )
    path, _, _ = traced(built("oshcc", source, tmp_path), 2)
    assert check_trace(str(path)).verdict == "not robust"
    for limits, said in ((Limits(max_states=1_000), "1,000 states"), (Limits(timeout=0.001), "time limit")):
        for answer in (check_trace(str(path), limits=limits), trace_races(str(path), Races(), limits=limits)):
            assert answer.verdict == "unknown" and said in str(answer.reason)
    assert trace_races(str(path), Races(), limits=Limits(max_states=10_000)).verdict == "race"


def test_no_trace(tmp_path: Path) -> None:
    path = tmp_path / "run.pgastrace"
    path.write_bytes(b"nothing")
    result = CliRunner().invoke(cli, ["check", str(path)])
    assert result.exit_code == 2 and "is no trace" in result.output
