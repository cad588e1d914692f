"""Calls of recorded runs that are not allowed where they stand."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgasrob import twins
from pgasrob.program.statements import Span
from pgasrob.recording.recorded_answers import check_trace
from pgasrob.recording.recorded_calls import Made
from pgasrob.recording.recorded_legality import Legality
from pgasrob.robustness.verdict import Verdict
from pgasrob.runtime.record.records import Call, Operation, Place
from tests.runtime.recorded import built, traced
from tests.tools import needs

PUT, RPUT = ("MPI_Put", "PUT", {"rank": 1}), ("MPI_Rput", "PUT", {"rank": 1})
LOCK = ("MPI_Win_lock", "LOCK", {"rank": 1, "exclusive_or_shared": 2})
LOCK_ALL, UNLOCK_ALL = ("MPI_Win_lock_all", "LOCK_ALL", {}), ("MPI_Win_unlock_all", "UNLOCK_ALL", {})
UNLOCK, FLUSH = ("MPI_Win_unlock", "UNLOCK", {"rank": 1}), ("MPI_Win_flush", "FLUSH", {"rank": 1})
FLUSH_ALL = ("MPI_Win_flush_all", "FLUSH", {"rank": -1})
FENCE, NOPRECEDE, NOSUCCEED = (("MPI_Win_fence", "WINDOW_FENCE", {"assertion": given}) for given in (0, 2, 16384))
POST, START = ("MPI_Win_post", "POST", {}), ("MPI_Win_start", "START", {})
COMPLETE, WAIT = ("MPI_Win_complete", "COMPLETE", {}), ("MPI_Win_wait", "WAIT", {})
NOT_YET, DONE = ("MPI_Win_test", "TEST_EXPOSURE", {}), ("MPI_Win_test", "TEST_EXPOSURE", {"result": 1})
FREE, FINALIZE = ("MPI_Win_free", "WINDOW_FREE", {}), ("MPI_Finalize", "FINALISE", {})
NOBODY = ("MPI_Put", "PUT", {"rank": -2})

Step = tuple[str, str, dict[str, int]]
RUNS: list[tuple[list[Step], list[str]]] = [
    ([LOCK, PUT, FLUSH, FLUSH_ALL, RPUT, UNLOCK, LOCK_ALL, PUT, UNLOCK_ALL, FREE, FINALIZE], []),
    ([FENCE, PUT, FENCE, LOCK, PUT, UNLOCK, NOPRECEDE, PUT, NOSUCCEED, FREE, FINALIZE], []),
    ([POST, START, PUT, COMPLETE, WAIT, POST, NOT_YET, NOT_YET, DONE, POST, WAIT, FREE], []),
    ([NOBODY], []),
    ([PUT, FLUSH], ["mpi-no-epoch", "mpi-flush-unlocked"]),
    ([LOCK, PUT, UNLOCK, FLUSH], ["mpi-flush-unlocked"]),
    ([LOCK, LOCK, UNLOCK], ["mpi-lock-twice"]),
    ([LOCK_ALL, LOCK, UNLOCK, UNLOCK_ALL], ["mpi-lock-twice", "mpi-unlock-unlocked"]),
    ([UNLOCK], ["mpi-unlock-unlocked"]),
    ([UNLOCK_ALL], ["mpi-unlock-unlocked"]),
    ([FENCE, PUT, LOCK, UNLOCK], ["mpi-epochs-overlap"]),
    ([LOCK, FENCE, UNLOCK], ["mpi-epochs-overlap"]),
    ([NOSUCCEED, PUT], ["mpi-false-assertion"]),
    ([FENCE, PUT, NOPRECEDE], ["mpi-false-assertion"]),
    ([FENCE, RPUT, FENCE], ["mpi-request-outside-lock"]),
    ([START, START, COMPLETE], ["mpi-start-twice"]),
    ([COMPLETE], ["mpi-complete-unstarted"]),
    ([POST, POST, WAIT], ["mpi-post-twice"]),
    ([WAIT], ["mpi-wait-unposted"]),
    ([POST, DONE, NOT_YET], ["mpi-wait-unposted"]),
    ([LOCK_ALL, UNLOCK, UNLOCK_ALL], ["mpi-unlock-unlocked"]),
    ([LOCK, UNLOCK_ALL, LOCK, UNLOCK], ["mpi-unlock-unlocked"]),
    ([LOCK_ALL, POST, WAIT, UNLOCK_ALL], ["mpi-locked-and-exposed"]),
    ([POST, LOCK_ALL, UNLOCK_ALL, WAIT], ["mpi-locked-and-exposed"]),
    ([LOCK_ALL, FENCE, UNLOCK_ALL, FINALIZE], ["mpi-epochs-overlap"]),
    ([LOCK, PUT, FREE], ["mpi-free-in-epoch"]),
    ([LOCK, FINALIZE], ["mpi-open-at-finalize"]),
]


@pytest.mark.parametrize(("steps", "expected"), RUNS)
def test_the_calls_of_a_rank(steps: list[Step], expected: list[str]) -> None:
    legality = Legality(2)
    for line, (function, operation, given) in enumerate(steps, 1):
        named = {"queue": 7, "window": 7, **given}
        call = Call(Operation[operation], 0, function, "", Place(0, 0), (), line)
        results = (given["result"],) if "result" in given else ()
        legality.look_at(Made(0, call, named, results, Span(line, 1, line, 9)), (1,))
    assert [call.rule.code for call in legality.found] == expected
    assert set(legality.found.values()) <= {0}


PROGRAM = """
#include <mpi.h>
int main(int argc, char **argv) {
    int me, *memory, one = 1; MPI_Win win;
    MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_fence(0, win);
    if (me == 0) MPI_Put(&one, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
    MPI_Win_fence(MODE, win);
    MPI_Win_free(&win); MPI_Finalize(); return 0; }
"""


def recorded(text: str, into: Path) -> Verdict:
    source = into / "program.c"
    source.write_text(text)
    path, said, code = traced(built("mpicc", source, into), 2)
    assert code == 0, said
    return check_trace(str(path))


@needs("mpicc")
@pytest.mark.skipif(not twins.available(), reason="the kernel is not built")
def test_a_run_that_was_recorded(tmp_path: Path) -> None:
    legal = recorded(PROGRAM.replace("MODE", "0"), tmp_path)
    assert (legal.verdict, legal.legal, legal.illegal_calls) == ("robust", "yes", ())
    illegal = recorded(PROGRAM.replace("MODE", "MPI_MODE_NOPRECEDE"), tmp_path)
    (found,) = illegal.illegal_calls
    assert (illegal.legal, found.call.rule.code, found.rank, found.run) == ("no", "mpi-false-assertion", 0, None)
    assert found.call.span.line == 9 and found.call.opened is not None and found.call.opened.span.line == 8
