"""The memory model of MPI against a second one, on random programs written out in C."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest

from pgasrob.frontends.lower import CProgram, parse_c
from pgasrob.races.mpi import decide
from pgasrob.races.mpi.actions import Execution, MemoryModel
from pgasrob.races.mpi.decide import exposed_cells
from pgasrob.races.mpi.executions import executions
from pgasrob.races.mpi.judgement import judge
from tests.oracle.mpi_model import Program, status
from tests.oracle.mpi_model import Statement as S
from tests.races.mpi.random_programs import in_c, random_program
from tests.races.mpi.sensitivity import IMPLIED, NAMED, STRUCTURE, TELLING
from tests.support import examples, is_nightly

MODELS: tuple[MemoryModel, ...] = ("unified", "separate")
MOST = examples(30, 2_000)
STATUSES = {
    ("defined", "defined"): 16, ("defined", "undefined"): 2, ("eventual", "undefined"): 1,
    ("undefined", "undefined"): 11,
}  # fmt: skip
"""In the unified model and in the separate one."""
OCCUR = {
    "acc": 9, "barrier": 19, "cas": 8, "complete": 13, "fence": 11, "flush": 12, "flush_all": 1, "flush_local": 9,
    "flush_local_all": 7, "gacc": 7, "get": 11, "load": 26, "lock": 15, "lock_all": 18, "poll": 5, "post": 13,
    "put": 13, "ragpoll": 9, "recv": 11, "request": 5, "send": 11, "start": 13, "store": 22, "unlock": 15,
    "unlock_all": 18, "wait": 13, "win_sync": 17,
}  # fmt: skip
"""In how many programs each kind of statement is."""


def _compared(seeds: range) -> tuple[Counter[str], Counter[tuple[str, ...]]]:
    """How often statements occur, and both statuses; the front end and the model say what the second model says."""
    occur: Counter[str] = Counter()
    statuses: Counter[tuple[str, ...]] = Counter()
    for seed in seeds:
        program = random_program(seed)
        text = in_c(program)
        compiled = parse_c(text)
        found = {model: decide(compiled, model) for model in MODELS}
        for model, verdict in found.items():
            if verdict.status == "unknown":
                assert verdict.reason == "the ranks can wait for each other for ever", text
                continue
            assert verdict.status == status(program, model == "unified"), (seed, model, text)
        statuses[found["unified"].status, found["separate"].status] += 1
        occur.update({do.what for statements in program for do in statements})
    return occur, statuses


def test_random_programs() -> None:
    occur, statuses = _compared(range(MOST))
    # Section 2.5: what is correct in the separate model is correct in the unified one.
    assert all(unified == "defined" for unified, separate in statuses if separate == "defined")
    assert sum(statuses[each] for each in statuses if "unknown" in each) * 20 < MOST
    if not is_nightly():
        assert statuses == STATUSES
        assert occur == OCCUR


def _judged(found: list[Execution], program: CProgram, model: MemoryModel, without: str = "") -> str:
    marked = program.marked()
    exposed = exposed_cells(marked.instantiate(marked.nodes))
    change = STRUCTURE.get(without, lambda execution: execution)
    statuses = {judge(change(each), model, exposed, frozenset((without,))).status for each in found}
    return next(each for each in ("undefined", "eventual", "defined") if each in statuses)


@cache
def _executed(telling: str) -> tuple[CProgram, list[Execution], list[str]]:
    """The program that tells of a rule, its executions, and its status in both models."""
    compiled = parse_c(in_c(TELLING[telling]))
    marked = compiled.marked()
    found = [*executions(marked.instantiate(marked.nodes))]
    return compiled, found, [_judged(found, compiled, model) for model in MODELS]


def _statuses(telling: str, without: str) -> list[tuple[str, str]]:
    """In both models the status of the program that tells of a rule, and that without a rule."""
    compiled, found, whole = _executed(telling)
    return [(one, _judged(found, compiled, model, without)) for one, model in zip(whole, MODELS, strict=True)]


@pytest.mark.parametrize("rule", [rule for rule in (*NAMED, *STRUCTURE) if rule not in IMPLIED])
def test_each_rule_matters(rule: str) -> None:
    program = TELLING[rule]
    found = _statuses(rule, rule)
    assert [whole for whole, _ in found] == [status(program, model == "unified") for model in MODELS]
    assert any(whole != less for whole, less in found), found


@pytest.mark.parametrize("rule", sorted(IMPLIED))
def test_some_rules_follow_from_the_others(rule: str) -> None:
    for telling in TELLING:
        assert all(whole == less for whole, less in _statuses(telling, rule))


PUT = [S("lock_all"), S("put", 1, "y", "a"), S("unlock_all")]
ADD = [S("lock_all"), S("acc", 1, "y", "a", op="sum"), S("unlock_all")]
LOOK = [S("lock_all"), S("gacc", 1, "y", "a", "b", "no_op"), S("unlock_all")]


@pytest.mark.parametrize(
    ("program", "unified", "separate"),
    [
        ([PUT, [S("store", cell="x")]], "defined", "undefined"),  # any location of the window (3.3.1)
        ([ADD, [S("store", cell="x")]], "defined", "undefined"),
        ([LOOK, [S("store", cell="x")]], "defined", "defined"),
        ([PUT, [S("load", cell="x")]], "defined", "defined"),
        ([PUT, [S("store", cell="y")]], "undefined", "undefined"),
        ([LOOK, [S("load", cell="y")]], "defined", "defined"),  # D4
        ([LOOK, [S("store", cell="y")]], "undefined", "undefined"),
        ([LOOK, [S("lock_all"), S("get", 1, "y", "b"), S("unlock_all")]], "defined", "defined"),
        ([LOOK, ADD], "defined", "defined"),
        ([ADD, [S("lock_all"), S("get", 1, "y", "b"), S("unlock_all")]], "undefined", "undefined"),
        ([ADD, ADD], "defined", "defined"),
        ([ADD, PUT], "undefined", "undefined"),
        ([PUT, PUT], "undefined", "undefined"),
        ([PUT, [S("poll", cell="y")]], "eventual", "undefined"),  # G10
        ([ADD, [S("poll", cell="y")]], "eventual", "undefined"),
        ([ADD, [S("poll", cell="y")], ADD], "eventual", "undefined"),
        ([PUT, [S("poll", cell="y"), S("load", cell="y")]], "eventual", "undefined"),
        ([PUT, [S("poll", cell="y"), S("store", cell="y")]], "eventual", "undefined"),
        ([ADD, [S("lock_all"), S("ragpoll", 1, "y"), S("unlock_all")]], "defined", "defined"),
    ],
)  # fmt: skip
def test_conflicts(program: Program, unified: str, separate: str) -> None:
    compiled = parse_c(in_c(program))
    assert (status(program, True), status(program, False)) == (unified, separate)
    assert tuple(decide(compiled, model).status for model in MODELS) == (unified, separate)


BUFFERS = """#include <mpi.h>
int main(int argc, char **argv) {{
  int me, *m, other = 1; MPI_Win w; MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &me); (void)other;
  MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &m, &w); MPI_Win_lock_all(0, w);
  if (me == 0) {{ {}; MPI_Win_flush(1, w); }}
  else {{ MPI_Put(&other, 1, MPI_INT, 0, 3, 1, MPI_INT, w); MPI_Win_flush(0, w); }}
  MPI_Win_unlock_all(w); MPI_Win_free(&w); MPI_Finalize(); return 0;
}}"""


@pytest.mark.parametrize(
    ("call", "separate"),
    [
        ("MPI_Get(&m[1], 1, MPI_INT, 1, 0, 1, MPI_INT, w)", "undefined"),  # a store into the window of rank 0
        ("MPI_Get(&other, 1, MPI_INT, 1, 0, 1, MPI_INT, w)", "defined"),  # in no window
        ("MPI_Put(&m[1], 1, MPI_INT, 1, 0, 1, MPI_INT, w)", "defined"),  # no store
        ("MPI_Put(&m[3], 1, MPI_INT, 1, 0, 1, MPI_INT, w)", "undefined"),  # read where the other one writes
    ],
)
def test_a_buffer_in_the_window_is_in_its_private_copy(call: str, separate: str) -> None:
    """Beside a put of rank 1 to another place of the window, but for the last one."""
    compiled = parse_c(BUFFERS.format(call))
    assert decide(compiled, "separate").status == separate
    assert decide(compiled, "unified").status == ("undefined" if "m[3]" in call else "defined")
