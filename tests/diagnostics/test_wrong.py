"""One mistake has one code in every API and in the core language, whether the text tells it or a run comes to it."""

from __future__ import annotations

import pytest

import pgasrob
from pgasrob.diagnostics import SourceError
from pgasrob.diagnostics.catalogue import CATALOGUE, Kind
from pgasrob.diagnostics.wrong import OF_FAULTS, Wrong
from pgasrob.frontends.lower import parse_c
from pgasrob.program.parser import parse

MPI = """#include <mpi.h>
int main(int argc, char **argv) {{
  int me, x = 1, *p, some;
  MPI_Win w;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Win_allocate(8, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &w);
  p[0] = p[1] = 0;
  MPI_Win_fence(0, w);
  if (me == 0) {{ {} }}
  MPI_Win_fence(0, w);
  MPI_Win_free(&w);
  MPI_Finalize();
}}"""
SHMEM = """#include <shmem.h>
long a[4], b;
int main(void) {{
  long x[9] = {{0}}; int some;
  shmem_init();
  if (shmem_my_pe() == 0) {{ {} }}
  shmem_finalize();
}}"""
GASPI = """#include <GASPI.h>
int main(int argc, char *argv[]) {{
  gaspi_rank_t me; int some; gaspi_pointer_t p;
  gaspi_proc_init(GASPI_BLOCK);
  gaspi_proc_rank(&me);
  gaspi_segment_create(0, 64, GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED);
  gaspi_segment_ptr(0, &p);
  if (me == 0) {{ {} }}
  gaspi_wait(0, GASPI_BLOCK);
  gaspi_proc_term(GASPI_BLOCK);
}}"""
ARMCI = """#include <mpi.h>
#include <armci.h>
int main(int argc, char **argv) {{
  int me, x[4] = {{0}}, some;
  void *at[2];
  MPI_Init(&argc, &argv);
  ARMCI_Init();
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  ARMCI_Malloc(at, 8);
  if (me == 0) {{ {} }}
  ARMCI_Barrier();
  ARMCI_Finalize();
  MPI_Finalize();
}}"""
GASNET = """#include <gasnet.h>
int main(int argc, char **argv) {{
  gasnet_seginfo_t s[2];
  int x = 1, some;
  gasnet_init(&argc, &argv);
  gasnet_attach(0, 0, GASNET_PAGESIZE, 0);
  gasnet_getSegmentInfo(s, 2);
  if (gasnet_mynode() == 0) {{ {} }}
  gasnet_exit(0);
}}"""
CASES = {
    Wrong.RANK: [
        (MPI, "MPI_Put(&x, 1, MPI_INT, 7, 0, 1, MPI_INT, w);"),
        (MPI, "MPI_Send(&x, 1, MPI_INT, 7, 0, MPI_COMM_WORLD);"),
        (SHMEM, "shmem_long_put(a, x, 1, 7);"),
        (SHMEM, "b = 7; shmem_long_p(a, 1, b);"),
        (GASPI, "gaspi_write(0, 0, 7, 0, 0, 8, 0, GASPI_BLOCK);"),
        (GASPI, "gaspi_notify(0, 7, 0, 1, 0, GASPI_BLOCK);"),
        (ARMCI, "ARMCI_Fence(7);"),
        (GASNET, "gasnet_put(7, s[1].addr, &x, sizeof x);"),
    ],
    Wrong.BOUNDS: [
        (MPI, "MPI_Put(&x, 1, MPI_INT, 1, 2, 1, MPI_INT, w);"),
        (MPI, "MPI_Put(&x, 1, MPI_INT, 1, p[0] + 2, 1, MPI_INT, w);"),
        (MPI, "p[2] = 1;"),
        (SHMEM, "shmem_long_put(a, x, 5, 1);"),
        (SHMEM, "shmem_long_p(&a[4], 1, 1);"),
        (SHMEM, "x[9] = 1;"),
        (GASPI, "gaspi_write(0, 0, 1, 0, 60, 8, 0, GASPI_BLOCK);"),
        (GASPI, "((int *)p)[16] = 1;"),
        (ARMCI, "ARMCI_Put(x, at[1], 12, 1);"),
        (GASNET, "gasnet_put(1, (char *)s[1].addr + GASNET_PAGESIZE, &x, sizeof x);"),
    ],
    Wrong.UNSET: [
        (MPI, "MPI_Put(&x, some, MPI_INT, 1, 0, 1, MPI_INT, w);"),
        (MPI, "if (some) p[0] = 1;"),
        (SHMEM, "shmem_long_p(a, 1, some);"),
        (GASPI, "gaspi_wait(some, GASPI_BLOCK);"),
        (ARMCI, "ARMCI_Put(x, at[1], some, 1);"),
        (GASNET, "gasnet_put(1, s[1].addr, &x, some);"),
    ],
    Wrong.POINTER: [
        (MPI, "MPI_Put(0, 1, MPI_INT, 1, 0, 1, MPI_INT, w);"),
        (MPI, "p = 0; p[0] = 1;"),
        (SHMEM, "shmem_long_put(a, 0, 1, 1);"),
        (ARMCI, "ARMCI_Put(0, at[1], 4, 1);"),
        (GASNET, "gasnet_put(1, s[1].addr, 0, 4);"),
    ],
    "PG125": [
        (MPI, "MPI_Comm_rnk(MPI_COMM_WORLD, &me);"),
        (MPI, "MPI_Frobnicate(1);"),
        (SHMEM, "shmem_finalise();"),
        (GASPI, "gaspi_proc_terminate(GASPI_BLOCK);"),
        (ARMCI, "ARMCI_Fense(1);"),
        (GASNET, "gasnet_mynod();"),
        (SHMEM, "frobnicate();"),
    ],
    "PG128": [
        (MPI, "MPI_Op o; MPI_Op_create(0, 1, &o);"),
        (MPI, "MPI_Comm_spawn(0);"),
        (SHMEM, "shmem_pe_quiet(0);"),
        (GASPI, "gaspi_allreduce_user(0);"),
        (GASNET, "gasnet_AMRequestShort0(1, 2);"),
        (ARMCI, "armci_msg_rcvany(1);"),
    ],
    "PG126": [
        (MPI, "MPI_Win_fence(w);"),
        (SHMEM, "shmem_long_p(a, 1);"),
        (GASPI, "gaspi_wait(0);"),
        (ARMCI, "ARMCI_Fence();"),
        (GASNET, "gasnet_put(1);"),
    ],
}  # fmt: skip


def codes_of(source: str) -> set[str]:
    try:
        verdict = pgasrob.check(parse_c(source), 2)
    except SourceError as error:
        return {each.code for each in error.diagnostics}
    run = verdict.witness
    of_fault = {run.fault.code} if run is not None and getattr(run, "fault", None) is not None else set()
    return {each.code for each in verdict.errors} | of_fault


@pytest.mark.parametrize(("code", "program", "use"), [(code, *case) for code, cases in CASES.items() for case in cases])
def test_by_each_api(code: str, program: str, use: str) -> None:
    assert codes_of(program.format(use)) == {code}


@pytest.mark.parametrize(
    ("code", "use"),
    [(Wrong.RANK, "write(x, 7, x, q);"), (Wrong.BOUNDS, "r <- mem[x + 9];"), (Wrong.FAULT, "r <- 1 / r;")],
)
def test_in_the_core_language(code: str, use: str) -> None:
    verdict = pgasrob.check(parse(f"memory x; register r; queue q; process {{ {use} }}"), 2)
    assert verdict.witness is not None and verdict.witness.fault is not None  # type: ignore[union-attr]
    assert verdict.witness.fault.code == code  # type: ignore[union-attr]


def test_limits_are_called_limits() -> None:
    for each in Wrong:
        assert (CATALOGUE[each].kind is Kind.LIMIT) == each.name.endswith("_LIMIT")
    assert all(CATALOGUE[each].kind is Kind.MISTAKE for each in OF_FAULTS)
    assert "a limit of pgasrob, not a mistake" in str(CATALOGUE["PG165"])
    assert "a limit of pgasrob" not in str(CATALOGUE["PG160"])
