"""The functions of <omp.h>."""

from __future__ import annotations

import pytest

from pgasrob.frontends.c.libc.openmp_calls import LOCK_TWICE, NOT_LOCKED
from pgasrob.program.illegal_calls import Illegal
from tests.frontends.c.compiler.test_thread_races import claims

DECLARED = "omp_lock_t l; omp_nest_lock_t n; omp_init_lock(&l); omp_init_nest_lock(&n); "


@pytest.mark.parametrize(
    "condition",
    [
        "omp_get_thread_num() == 0 && omp_get_num_threads() == 1 && omp_get_max_threads() == 1",
        "omp_get_num_procs() == 1 && !omp_in_parallel() && omp_get_thread_limit() == 1",
        "omp_test_lock(&l) && !omp_test_lock(&l)",
        "omp_test_nest_lock(&n) == 1 && omp_test_nest_lock(&n) == 2",
        "(omp_set_lock(&l), omp_unset_lock(&l), omp_test_lock(&l))",
        "(omp_set_nest_lock(&n), omp_set_nest_lock(&n), omp_unset_nest_lock(&n), omp_test_nest_lock(&n)) == 2",
    ],
)
def test_answers_are_those_of_one_thread(condition: str) -> None:
    assert not claims(f"{DECLARED} assert({condition}); omp_set_num_threads(8); x = omp_get_wtime() > 0;")


@pytest.mark.parametrize(
    ("calls", "rule"),
    [
        ("omp_set_lock(&l); omp_set_lock(&l);", LOCK_TWICE),
        ("omp_unset_lock(&l);", NOT_LOCKED),
        ("omp_set_lock(&l); omp_unset_lock(&l); omp_unset_lock(&l);", NOT_LOCKED),
        ("omp_set_nest_lock(&n); omp_unset_nest_lock(&n); omp_unset_nest_lock(&n);", NOT_LOCKED),
    ],
)
def test_locks_that_are_used_wrong(calls: str, rule: object) -> None:
    assert {each.fact.rule for each in claims(DECLARED + calls) if isinstance(each, Illegal)} == {rule}
