"""Random MPI programs, really run: where control flow does not depend on values, their recordings race iff they do."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest

import pgasrob
from pgasrob import twins
from pgasrob.recording.lowering import Lowering
from pgasrob.recording.recorded_answers import check_trace, trace_races
from pgasrob.robustness.question import Races
from tests.recording.test_calls import MPI
from tests.runtime.recorded import built, traced
from tests.support import examples
from tests.tools import needs

pytestmark = [pytest.mark.skipif(not twins.available(), reason="the kernel is not built"), needs("mpicc")]
WORLD = "MPI_COMM_WORLD"
STATEMENTS = {
    "put": "if (me == {a}) MPI_Put(&one, 1, MPI_INT, {b}, {cell}, 1, MPI_INT, win);",
    "flushed": "if (me == {a}) {{ MPI_Put(&one, 1, MPI_INT, {b}, {cell}, 1, MPI_INT, win); MPI_Win_flush({b}, win); }}",
    "rput": "if (me == {a}) {{ MPI_Rput(&one, 1, MPI_INT, {b}, {cell}, 1, MPI_INT, win, &request);"
    " MPI_Wait(&request, &status); }}",
    "flush": "if (me == {a}) MPI_Win_flush_all(win);",
    "load": "if (me == {a}) got += memory[{cell}];",
    "store": "if (me == {a}) memory[{cell}] = 2;",
    "bcast": f"MPI_Bcast(all, 1, MPI_INT, {{a}}, {WORLD});",
    "reduce": f"MPI_Reduce(&one, all, 1, MPI_INT, MPI_SUM, {{a}}, {WORLD});",
    "allreduce": f"MPI_Allreduce(&one, all, 1, MPI_INT, MPI_SUM, {WORLD});",
    "scan": f"MPI_Scan(&one, all, 1, MPI_INT, MPI_SUM, {WORLD});",
    "barrier": f"MPI_Barrier({WORLD});",
    "ibarrier": f"MPI_Ibarrier({WORLD}, &request); MPI_Wait(&request, &status);",
    "message": f"if (me == {{a}}) MPI_Send(&one, 1, MPI_INT, {{b}}, 7, {WORLD});"
    f" if (me == {{b}}) MPI_Recv(all, 1, MPI_INT, {{a}}, 7, {WORLD}, &status);",
}
SEEDS = (0, 3, 4, 10)
WEIGHTS = (2, 5, 2, 2, 5, 3, 2, 2, 1, 1, 1, 1, 4)


def program(seed: int) -> tuple[str, int, list[str]]:
    """The text, for how many ranks, and the statements that are in it."""
    chance = Random(seed)
    ranks = chance.choice((2, 3))
    names = chance.choices(list(STATEMENTS), WEIGHTS, k=chance.randint(4, 7))
    body = []
    for name in names:
        a, b = chance.sample(range(ranks), 2)
        body.append(STATEMENTS[name].format(a=a, b=b, cell=chance.randrange(2)))
    return MPI.replace("BODY", "\n    ".join(body)), ranks, names


class Run(NamedTuple):
    """A recording of a random program, what was decided of the program, and the statements that are in it."""

    path: str
    races: str
    source: Path
    ranks: int
    names: list[str]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    into, found = tmp_path_factory.mktemp("random"), []
    for seed in (*SEEDS, *range(100, 100 + examples(0, nightly=120))):
        text, ranks, names = program(seed)
        source = into / f"random_{seed}.c"
        source.write_text(text)
        path, said, code = traced(built("mpicc", source, into), ranks)
        assert code == 0, said
        whole = pgasrob.race(pgasrob.load(source), ranks)
        assert whole.reason is None
        found.append(Run(str(path), whole.verdict, source, ranks, names))
    return found


def test_recordings_race_where_their_programs_do(runs: list[Run]) -> None:
    met: Counter[str] = Counter()
    for run in runs:
        assert trace_races(run.path, Races()).verdict == run.races, run.source.read_text()
        if check_trace(run.path).verdict == "not robust":
            assert pgasrob.check(pgasrob.load(run.source), run.ranks).verdict == "not robust", run.source.read_text()
            met["not robust"] += 1
        met[run.races] += 1
        met.update(run.names)
    assert met["race"] and met["no race"], met
    if examples(0, nightly=1):
        assert min(met[name] for name in (*STATEMENTS, "not robust")) >= 5, met


@pytest.mark.parametrize("left_out", ["_arrive", "_complete"])
def test_what_is_left_out_is_found(left_out: str, runs: list[Run], monkeypatch: pytest.MonkeyPatch) -> None:
    """Without barriers, or without the completion of one-sided operations."""
    monkeypatch.setattr(Lowering, left_out, lambda *_, **__: iter(()))
    assert any(trace_races(run.path, Races()).verdict != run.races for run in runs)
