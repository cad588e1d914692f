"""What stands under directives of OpenMP: what it means, and what is refused."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from pgasrob import check
from pgasrob.diagnostics import SourceError
from pgasrob.program.assumptions import Kind
from tests.frontends.c.compiler.test_thread_races import claims, lowered
from tests.frontends.c.thread_programs import COMMUNICATING, ERRORS, PROGRAM, RIGHT


def refused(body: str) -> str:
    with pytest.raises(SourceError) as caught:
        lowered(body)
    return caught.value.diagnostics[0].message


@pytest.mark.parametrize("body", COMMUNICATING)
def test_threads_that_communicate_are_processes(body: str) -> None:
    assert lowered(body).has_threads


@pytest.mark.parametrize(("message", "body"), ERRORS)
def test_errors(message: str, body: str) -> None:
    assert message in refused(body)


def test_the_assumption_has_the_lines_of_regions_that_are_reached() -> None:
    body = "\n#pragma omp parallel\n{\n#pragma omp for\nfor(int i=0;i<8;i++) x2[i]=i;\n}\n"
    noted = next(each for each in lowered(body).assumptions if each.kind is Kind.THREADS_INDEPENDENT)
    assert len(noted.lines) == 2 and len(noted.about) == 2
    assert all(each.kind is not Kind.THREADS_INDEPENDENT for each in lowered("x = 1;").assumptions)


def test_a_private_variable_has_no_value() -> None:
    for clause, given in (("private", "error"), ("firstprivate", "robust")):
        body = f"int t=1;\n#pragma omp parallel {clause}(t)\n if (t) x2[omp_get_thread_num()]=1;\n"
        verdict = check(lowered(body), effect=False)
        assert verdict.verdict == given and ("`t`, which has not been set" in str(verdict.reason)) == (given == "error")


def test_a_task_has_variables_of_its_own_where_no_clause_shares_them() -> None:
    task = "int v=1;\n#pragma omp parallel\n#pragma omp single\n{ int w=2;\n#pragma omp task CLAUSE\n w=9;\n v=w; }\n"
    assert not claims(task.replace("CLAUSE", "") + "assert(v == 2);")
    assert not claims(task.replace("CLAUSE", "shared(w)") + "assert(v == 9);")


SHMEM = """
static void shmem_init(void) {} static void shmem_finalize(void) {} static void shmem_barrier_all(void) {}
static int shmem_my_pe(void) { return 0; } static void shmem_quiet(void) {}
static void shmem_int_p(int *p, int v, int r) { *p = v; }
"""
GCC = shutil.which("gcc")


@pytest.mark.skipif(GCC is None, reason="there is no gcc")
@pytest.mark.parametrize("number", range(len(RIGHT)))
def test_the_assertions_hold_with_gcc_and_one_thread(number: int, tmp_path: Path) -> None:
    (tmp_path / "shmem.h").write_text(SHMEM)
    (tmp_path / "test.c").write_text(PROGRAM.replace("BODY", RIGHT[number]))
    subprocess.run([str(GCC), "-w", "-fopenmp", "-I.", "test.c", "-o", "test"], cwd=tmp_path, check=True)
    subprocess.run(["./test"], cwd=tmp_path, check=True, timeout=10, env={**os.environ, "OMP_NUM_THREADS": "1"})
