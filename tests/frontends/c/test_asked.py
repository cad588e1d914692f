"""Unknown values that ranks share: what a collective leaves is one value for all, and they take the same branches.

`ALIKE` have no deadlock, since all ranks branch by one value; `UNLIKE` look like them and have one."""

from __future__ import annotations

from itertools import cycle

import pytest

from pgasrob import Verdict, check
from pgasrob.frontends.c.asked import CELL, MOST_PASSED_ON, Questions, about
from pgasrob.frontends.c.contents import Contents
from pgasrob.frontends.c.facts import Facts, ObjectFacts
from pgasrob.frontends.c.values import ObjectId
from pgasrob.frontends.lower import parse_c
from pgasrob.frontends.options import FrontEnd
from pgasrob.program.expressions import Binary, Const, IntType, Unary
from pgasrob.robustness.reasons import ValuesSetFree
from tests.support import check_every_count

MPI = """#include <mpi.h>
#include <stdlib.h>
#include <stdio.h>
#include <math.h>
#define W MPI_COMM_WORLD
#define ALL MPI_Barrier(W)
#define REDUCED double res, all, n = size; do { \
    res = work(1.0); MPI_Allreduce(&res, &all, 1, MPI_DOUBLE, MPI_SUM, W);
#define K int k = 0; if (rank == 0) k = rand(); MPI_Bcast(&k, 1, MPI_INT, 0, W);
#define T double t = 0; if (rank == 0) t = read_double(); MPI_Bcast(&t, 1, MPI_DOUBLE, 0, W);
#define TEN(C) C(0) C(1) C(2) C(3) C(4) C(5) C(6) C(7) C(8) C(9)
#define COMMANDS(K) switch (K) { TEN(FIRST) TEN(SECOND) default: ; }
#define FIRST(N) case N: ALL; break;
#define SECOND(N) case 1##N: ALL; ALL; break;
#define TOL double tol = 0; if (rank == 0) tol = 1e-3;
double work(double); int read_int(void); double read_double(void);
int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    BODY
    MPI_Finalize();
    return 0;
}
"""
SHMEM = """#include <shmem.h>
#include <stdlib.h>
#include <stdio.h>
#include <math.h>
double work(double); int read_int(void); double read_double(void);
static long pSync[SHMEM_REDUCE_SYNC_SIZE], sync2[SHMEM_REDUCE_SYNC_SIZE];
static long pWrk[SHMEM_REDUCE_MIN_WRKDATA_SIZE], lin, lout, counts[8];
static double din, dout, dWrk[SHMEM_REDUCE_MIN_WRKDATA_SIZE];
static int src, dst, many[4], got[4];
int main(void) {
    shmem_init();
    int rank = shmem_my_pe(), size = shmem_n_pes();
    for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++) pSync[i] = sync2[i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    BODY
    shmem_finalize();
    return 0;
}
"""
MPI_ALIKE = {
    "a broadcast": "K if (k > 5) ALL;",
    "of the last rank": """int k = 0; if (rank == size - 1) k = rand();
        MPI_Bcast(&k, 1, MPI_INT, size - 1, W); if (k == 5) ALL;""",
    "opposite conditions": """K
        if (rank == 0) { if (k > 5) ALL; } else { if (!(k <= 5)) ALL; }""",
    "several conditions": """K
        if (k > 5) ALL; if (k > 3) ALL; if (k == 9) ALL; if (k < 2) ALL;""",
    "conditions that follow": """K
        if (k > 5) ALL; if (rank == 0 ? k > 3 : 1) { if (k > 3 && k > 5) ALL; }
        if (k > 5 && !(k > 3)) if (rank) ALL;
        if (k > 5) ALL;""",
    "computed with": """K
        if (k % 3 == 1) ALL; if (2 * k + 1 > 11) ALL;""",
    "a switch": """K
        switch (k) { case 1: ALL; break; case 2: ALL; ALL; break; default: ; }""",
    "a dispatcher of twenty commands": "K COMMANDS(k)",
    "a tolerance that the root knows": "TOL MPI_Bcast(&tol, 1, MPI_DOUBLE, 0, W); REDUCED } while (all > tol);",
    "a struct of parameters": """int p[3] = {0, 0, 0}; if (rank == 0) for (int i = 0; i < 3; i++) p[i] = rand();
        MPI_Bcast(p, 3, MPI_INT, 0, W); if (p[0] > 5) ALL; if (p[2]) ALL;""",
    "a double": """T
        if (t < 1e-3) ALL; if (t < 1e-6) ALL;""",
    "an error exit": """int ok = 0, all; ok = read_int() != 0;
        MPI_Allreduce(&ok, &all, 1, MPI_INT, MPI_MIN, W);
        if (!all) { MPI_Finalize(); return 1; } ALL;""",
    "a convergence loop": """double res, all;
        do { res = work(1.0); MPI_Allreduce(&res, &all, 1, MPI_DOUBLE, MPI_SUM, W); } while (all > 1e-3);""",
    "a convergence loop with a bound": """double res, all; int it = 0;
        while (it < 3) { res = work(1.0); MPI_Allreduce(&res, &all, 1, MPI_DOUBLE, MPI_MAX, W); it++;
            if (all < 1e-6) break; ALL; }""",
    "a norm": "REDUCED } while (sqrt(all) > 1e-3);",
    "a norm that is kept": "double norm; REDUCED norm = sqrt(all / n); if (norm <= 1e-3) break; ALL; } while (1);",
    "a norm in place of its square": "REDUCED all = sqrt(all); ALL; } while (all > 1e-3);",
    "a norm as a float": "REDUCED } while (!(sqrtf((float) all) < 1e-3f));",
    "a norm and its square": "REDUCED if (sqrt(all) > 2.0 && all < 4.0) if (rank) ALL; } while (2 * sqrt(all) > 1);",
    "a magnitude": "REDUCED } while (fabs(all - 1.0) > 1e-3);",
    "magnitudes of magnitudes": """double x = work(1.0), all; MPI_Allreduce(&x, &all, 1, MPI_DOUBLE, MPI_SUM, W);
        for (int i = 0; i < 40; i++) all = fabs(all) - 1.0; if (all > 3) printf("large");""",
    "a norm of a broadcast": """double g = 0; T if (rank == 0) g = sqrt(t); MPI_Bcast(&g, 1, MPI_DOUBLE, 0, W);
        if (g > 2.0) ALL; if (sqrt(t) > 2.0) ALL;""",
    "a magnitude of a broadcast": "T if (fabs(t) > 3.0) ALL;",
    "a magnitude beside its number": "REDUCED if (all > 2.0) ALL; } while (fabs(all) > 1e-3);",
    "whole numbers": "T if (floor(t) > 2) ALL; if (ceil(t) < 1) ALL;",
    "a logarithm": "REDUCED } while (log10(all) > -3);",
    "powers": "T if (pow(t, 2) > 2) ALL; if (exp(t) > 2) ALL; if (pow(2, t) > 2) ALL;",
    "what is no number": "REDUCED if (isnan(all)) { MPI_Finalize(); return 1; } } while (all > 1e-3);",
    "a function of one that was computed": "T switch ((int) ceil(sqrt(t))) { case 1: ALL; break; case 2: ALL; ALL; }",
    "a long expression": "T double s = 0; for (int i = 1; i < 9; i++) s += t * i; if (s > 3) ALL; if (exp(s) > 2) ALL;",
    "remainders": "K if (k % 2) ALL; if (k > 3) ALL;",
    "two values": """T double s = 0; if (rank == 0) s = read_double(); MPI_Bcast(&s, 1, MPI_DOUBLE, 0, W);
        if (s > t) ALL; if (!(s <= t)) ALL;""",
    "two of one broadcast": """int p[2] = {0, 0}; if (rank == 0) { p[0] = rand(); p[1] = read_int(); }
        MPI_Bcast(p, 2, MPI_INT, 0, W); if (p[0] < p[1]) ALL; if (p[1] > p[0] + 1) ALL;""",
    "a tolerance that is sent": "T REDUCED } while (all > t);",
    "the one before": """double res, old, all = 1e9; do { old = all; res = work(1.0);
        MPI_Allreduce(&res, &all, 1, MPI_DOUBLE, MPI_SUM, W); } while (fabs(all - old) > 1e-3);""",
    "a part of the one before": """double res, all = 0, old = 0; for (int it = 0; it < 3; it++) { res = work(1.0);
        MPI_Allreduce(&res, &all, 1, MPI_DOUBLE, MPI_SUM, W); if (it > 0 && fabs(all - old) < 1e-3 * old) break;
        old = all; }""",
    "a quotient": """double in[2] = {work(1.0), work(2.0)}, out[2]; MPI_Allreduce(in, out, 2, MPI_DOUBLE, MPI_SUM, W);
        if (out[0] / out[1] < 1e-6) ALL;""",
    "two that are gathered": """int mine = read_int(), all[8];
        MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, W); if (all[0] > all[1]) ALL;""",
    "of two communicators": """MPI_Comm own; MPI_Comm_dup(W, &own); K int m = 0; if (rank == 0) m = rand();
        MPI_Bcast(&m, 1, MPI_INT, 0, own); if (k % 2) ALL; if (m % 2) ALL;""",
    "a mean": "REDUCED } while (all / n > 1e-3);",
    "digits": "REDUCED } while ((int) (all * 10) > 3);",
    "a vote by logical and": """int done, all; do { done = read_int();
        MPI_Allreduce(&done, &all, 1, MPI_INT, MPI_LAND, W); } while (!all); ALL;""",
    "a reduction and a broadcast": """int mine = read_int(), all = 0;
        MPI_Reduce(&mine, &all, 1, MPI_INT, MPI_SUM, 0, W); MPI_Bcast(&all, 1, MPI_INT, 0, W);
        if (all > 100) ALL;""",
    "a gathered value": """int mine = read_int(), all[8]; MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, W);
        if (all[1] > 7) ALL;""",
    "the greatest of a pair": """struct { double v; int r; } in, out; in.v = read_double(); in.r = rank;
        MPI_Allreduce(&in, &out, 1, MPI_DOUBLE_INT, MPI_MAXLOC, W); if (out.v > 1.0) ALL;""",
    "in place": """int c = read_int(); MPI_Allreduce(MPI_IN_PLACE, &c, 1, MPI_INT, MPI_SUM, W);
        if (c != 0) ALL;""",
    "a message": """int k = 0; if (rank == 0) { k = rand(); MPI_Send(&k, 1, MPI_INT, 1, 0, W); }
        if (rank == 1) MPI_Recv(&k, 1, MPI_INT, 0, 0, W, MPI_STATUS_IGNORE);
        if (rank == 2) ALL; else if (k > 5) ALL; else if (size == 3) ALL;""",
}
SHMEM_ALIKE = {
    "an error count": """lin = read_int(); shmem_long_max_to_all(&lout, &lin, 1, 0, 0, size, pWrk, pSync);
        if (lout > 0) { printf("errors\\n"); shmem_finalize(); exit(1); } shmem_barrier_all();""",
    "a team's sum": """din = read_double(); shmem_double_sum_reduce(SHMEM_TEAM_WORLD, &dout, &din, 1);
        while (dout > 0.5) { din = read_double(); shmem_barrier_all();
            shmem_double_sum_reduce(SHMEM_TEAM_WORLD, &dout, &din, 1); }""",
    "a team's norm, computed once": """din = read_double();
        shmem_double_sum_reduce(SHMEM_TEAM_WORLD, &dout, &din, 1); dWrk[0] = sqrt(dout); shmem_barrier_all();
        if ((rank ? shmem_double_g(dWrk, 0) : sqrt(dout)) > 0.5) shmem_barrier_all();""",
    "a broadcast of OpenSHMEM": """if (rank == 0) { src = rand(); dst = src; }
        shmem_broadcast32(&dst, &src, 1, 0, 0, 0, size, pSync); if (dst > 5) shmem_barrier_all();""",
    "collected": """lin = read_int(); shmem_fcollect64(counts, &lin, 1, 0, 0, size, pSync);
        if (counts[0] > 9) shmem_barrier_all(); if (counts[1] > 9) shmem_barrier_all();""",
    "put to the others": """if (rank == 0) {
            int k = rand(); for (int p = 0; p < size; p++) shmem_int_p(&dst, k, p); }
        shmem_barrier_all(); int k = dst; if (k > 5) shmem_barrier_all();""",
    "got by the others": """if (rank == 0) src = rand(); shmem_barrier_all();
        int k = shmem_int_g(&src, 0); if (k > 5) shmem_barrier_all();""",
}
MPI_UNLIKE = {
    "a reduction to the root": """int mine = read_int(), all = 0;
        MPI_Reduce(&mine, &all, 1, MPI_INT, MPI_SUM, 0, W); if (all > 100) ALL;""",
    "a scan": """int mine = read_int(), all = 0;
        MPI_Scan(&mine, &all, 1, MPI_INT, MPI_SUM, W); if (all > 100) ALL;""",
    "scattered": """int all[8], mine; if (rank == 0) for (int i = 0; i < size; i++) all[i] = rand();
        MPI_Scatter(all, 1, MPI_INT, &mine, 1, MPI_INT, 0, W); if (mine > 100) ALL;""",
    "a norm against the rank": "REDUCED } while (sqrt(all) > rank);",
    "a norm of one's own": "REDUCED } while (sqrt(res) > 1e-3);",
    "a norm times the rank": "REDUCED } while (sqrt(all * rank) > 1e-3);",
    "a norm beside its square": "REDUCED } while (rank ? sqrt(all) > 1e-3 : all > 1e-3);",
    "a norm that is not less": "REDUCED } while (rank ? sqrt(all) > 1e-3 : !(sqrt(all) <= 1e-3));",
    "a norm of a gathered value": """double mine = read_double(), all[8];
        MPI_Allgather(&mine, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, W); if (sqrt(all[rank]) > 7) ALL;""",
    "a magnitude of one's own": "REDUCED } while (fabs(res) > 1e-3);",
    "a magnitude beside its number": "REDUCED } while (rank ? fabs(all) > 1e-3 : all > 1e-3);",
    "changed after the broadcast": """K
        k += rank; if (k > 5) ALL;""",
    "conditions that differ": """K
        if (k > 5 + rank) ALL;""",
    "a dispatcher by another number": "K COMMANDS(k + (rank == 1))",
    "a tolerance that the root keeps": "TOL REDUCED } while (all > tol);",
    "drawn by each": "int k = rand(); if (k > 5) ALL;",
    "drawn anew after the broadcast": """int k = 0; if (rank == 0) k = rand();
        MPI_Bcast(&k, 1, MPI_INT, 0, W); if (rank == 0) k = rand(); if (k > 5) ALL;""",
    "one's own value in place of the result": """double res, all;
        do { res = work(1.0); MPI_Allreduce(&res, &all, 1, MPI_DOUBLE, MPI_SUM, W); } while (res > 1e-3);""",
    "another member's value": """int mine = read_int(), all[8];
        MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, W); if (all[rank] > 7) ALL;""",
    "the earlier value": """int k = 0, old; if (rank == 0) k = rand(); MPI_Bcast(&k, 1, MPI_INT, 0, W); old = k;
        if (rank == 0) k = rand(); MPI_Bcast(&k, 1, MPI_INT, 0, W); if ((rank ? old : k) > 5) ALL;""",
    "two values the other way round": """T double s = 0; if (rank == 0) s = read_double();
        MPI_Bcast(&s, 1, MPI_DOUBLE, 0, W); if (rank ? s > t : t > s) ALL;""",
    "two values that may be equal": """T double s = 0; if (rank == 0) s = read_double();
        MPI_Bcast(&s, 1, MPI_DOUBLE, 0, W); if (rank ? s > t : s >= t) ALL;""",
    "a tolerance of one's own": "double t = read_double(); REDUCED } while (all > t);",
    "a tolerance that is changed": "T REDUCED t = t / (rank + 1); } while (all > t);",
    "the one before the one before": """double res, all = 0, old = 0, older = 0; for (int it = 0; it < 20; it++) {
        older = old; old = all; res = work(1.0); MPI_Allreduce(&res, &all, 1, MPI_DOUBLE, MPI_SUM, W);
        if (fabs(all - (rank ? old : older)) < 1e-3) break; }""",
    "one that is kept by some": """double res, all = 0, old = 0; for (int it = 0; it < 4; it++) {
        res = work(1.0); MPI_Allreduce(&res, &all, 1, MPI_DOUBLE, MPI_SUM, W);
        if (it > 0 && all < old) break; if (rank == 0 || it == 0) old = all; }""",
    "one that is kept by some for long": """double res, all = 0, old = 0; for (int it = 0; it < 18; it++) {
        res = work(1.0); MPI_Allreduce(&res, &all, 1, MPI_DOUBLE, MPI_SUM, W);
        if (it == 17 && all < old) ALL; if (rank == 0 || it != 16) old = all; }""",
    "another function": "T if (rank ? exp(t) > 2 : log(t) > 2) ALL;",
    "another precision": "T if (rank ? exp(t) > 2 : expf(t) > 2) ALL;",
    "another base": "T if (pow(2 + rank, t) > 2) ALL;",
    "a function of another value": "T if (exp(t + rank) > 2) ALL;",
    "a number beside its whole": "T if (rank ? floor(t) > 2 : t > 2) ALL;",
    "remainders that differ": "K if (rank ? k % 2 : k % 3) ALL;",
    "one's own of those gathered": """int mine = read_int(), all[8];
        MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, W); if (all[rank] > all[0] - 1) ALL;""",
    "one of each kind": "T REDUCED } while (rank ? all > 1e-3 : all > t);",
    "an own value and one that is sent": "REDUCED } while (all > res);",
    "strict and not strict": """T
        if (rank ? t < 1e-3 : t <= 1e-3) ALL;""",
    "not a number": """T
        if (rank ? t < 1e-3 : !(t >= 1e-3)) ALL;""",
}
SHMEM_UNLIKE = {
    "added to": """if (rank == 0) src = rand(); shmem_barrier_all();
        if (rank == 1) shmem_int_atomic_add(&src, 1, 0); shmem_barrier_all();
        int k = rank ? shmem_int_g(&src, 0) : src - 1; if (k > 5) shmem_barrier_all();""",
    "fetched and added to": """if (rank == 0) src = rand(); shmem_barrier_all();
        if (rank == 1) shmem_int_atomic_fetch_add(&src, 1, 0); shmem_barrier_all();
        int k = rank ? shmem_int_g(&src, 0) : src - 1; if (k > 5) shmem_barrier_all();""",
    "read before and after it is added to": """if (rank == 0) src = rand(); int k = src; shmem_barrier_all();
        if (rank == 1) { shmem_int_atomic_fetch_add(&src, 1, 0); k = shmem_int_g(&src, 0); }
        if (k > 5) shmem_barrier_all();""",
    "not yet put": """if (rank == 0) src = rand(); if (rank) shmem_barrier_all();
        int k = shmem_int_g(&src, 0); if (rank == 0) shmem_barrier_all();
        if (rank == 0) src = rand(); if (k > 5) shmem_barrier_all();""",
    "an old broadcast": """if (rank == 0) src = rand(); shmem_broadcast32(&dst, &src, 1, 0, 0, 0, size, pSync);
        if (dst > 5) shmem_barrier_all();""",
    "only one of two counts": """lin = read_int(); shmem_long_max_to_all(&lout, &lin, 1, 0, 0, size, pWrk, pSync);
        if ((rank ? lin : lout) > 0) { shmem_finalize(); exit(1); } shmem_barrier_all();""",
}
PIPELINE = """
    static double grid[4][6], inbuf[4]; static long flags[4], bad, failed;
    bad = 0; shmem_long_max_to_all(&failed, &bad, 1, 0, 0, size, pWrk, pSync);
    if (failed > 0) { shmem_finalize(); exit(1); }
    for (int i = 0; i < 6; i++) grid[0][i] = i;
    shmem_barrier_all();
    for (int j = 1; j < 4; j++) {
        if (rank > 0) { shmem_long_wait_until(&flags[j], SHMEM_CMP_EQ, 1); grid[j][0] = inbuf[j]; }
        for (int i = 1; i < 6; i++) grid[j][i] = grid[j - 1][i] + grid[j][i - 1] - grid[j - 1][i - 1];
        if (rank < size - 1) {
            shmem_double_p(&inbuf[j], grid[j][5], rank + 1); shmem_fence(); shmem_long_p(&flags[j], 1, rank + 1);
        }
    }
    if (rank == size - 1) bad = (long) work(grid[3][5]);
    shmem_barrier_all(); shmem_long_max_to_all(&failed, &bad, 1, 0, 0, size, pWrk, pSync);
    if (failed > 0) { printf("failed"); shmem_finalize(); exit(1); }
    shmem_barrier_all();
"""
GASPI = """#include <GASPI.h>
double work(double);
int main(void) {
    gaspi_rank_t rank; double in, out;
    gaspi_proc_init(GASPI_BLOCK); gaspi_proc_rank(&rank);
    do { in = work(rank);
        gaspi_allreduce(&in, &out, 1, GASPI_OP_SUM, GASPI_TYPE_DOUBLE, GASPI_GROUP_ALL, GASPI_BLOCK);
    } while (BODY > 1e-3);
    gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK); gaspi_proc_term(GASPI_BLOCK);
}
"""
ARMCI = """#include <mpi.h>
#include <armci.h>
double work(double);
int main(int argc, char **argv) {
    MPI_Init(&argc, &argv); ARMCI_Init();
    double in, out;
    do { in = work(1.0); out = in; armci_msg_dgop(&out, 1, "+"); } while (BODY > 1e-3);
    armci_msg_barrier(); ARMCI_Finalize(); MPI_Finalize();
}
"""
ALIKE = {name: MPI.replace("BODY", body) for name, body in MPI_ALIKE.items()}
ALIKE |= {name: SHMEM.replace("BODY", body) for name, body in SHMEM_ALIKE.items()}
ALIKE |= {"a pipeline with a count of failures": SHMEM.replace("BODY", PIPELINE)}
TIMED = GASPI.replace("        gaspi_allreduce(", "        while (gaspi_allreduce(").replace(
    "GASPI_GROUP_ALL, GASPI_BLOCK);\n    }", "GASPI_GROUP_ALL, 100) == GASPI_TIMEOUT);\n    }"
)
ALIKE |= {"GASPI": GASPI.replace("BODY", "out"), "ARMCI": ARMCI.replace("BODY", "out")}
ALIKE |= {"GASPI with a timeout": TIMED.replace("BODY", "out")}
UNLIKE = {name: MPI.replace("BODY", body) for name, body in MPI_UNLIKE.items()}
UNLIKE |= {name: SHMEM.replace("BODY", body) for name, body in SHMEM_UNLIKE.items()}
UNLIKE |= {"GASPI with a timeout": TIMED.replace("BODY", "in")}
UNLIKE |= {"GASPI": GASPI.replace("BODY", "in"), "ARMCI": ARMCI.replace("BODY", "in")}
PURE = ("work", "read_int", "read_double")


def verdict(program: str, nodes: int) -> Verdict:
    return check(parse_c(program, "test.c", FrontEnd(pure=PURE)), nodes, effect=False)


TOO_HARD = ("whole numbers", 3)
"""No number is known for each pair of answers, so that what the root sends to the second rank loses its answers."""
OTHERS = [pytest.param(*each, marks=pytest.mark.nightly) for each in zip(ALIKE, cycle((3, 2)), strict=False)]


@pytest.mark.parametrize(("name", "nodes"), [*zip(ALIKE, cycle((2, 3)), strict=False), *OTHERS])
def test_one_value_is_branched_by_alike(name: str, nodes: int) -> None:
    found = verdict(ALIKE[name], nodes)
    assert (found.verdict, found.deadlock) == ("robust", "unknown" if (name, nodes) == TOO_HARD else False)


UNTIED = {
    "a scan",
    "a tolerance that is changed",
    "an own value and one that is sent",
    "added to",
    "fetched and added to",
    "read before and after it is added to",
}
"""What ranks branch by comes of values of several, and nothing ties it to these."""


@pytest.mark.parametrize("name", UNLIKE)
def test_values_that_may_differ_are_not(name: str) -> None:
    found = verdict(UNLIKE[name], 2)
    assert found.deadlock == ("unknown" if name in UNTIED else True)
    assert isinstance(found.reason, ValuesSetFree) == (name in UNTIED)


MOST = "int most = 0; if (rank == 0) most = read_int(); MPI_Bcast(&most, 1, MPI_INT, 0, W);"


@pytest.mark.parametrize(("body", "deadlock"), [(MOST, "unknown"), ("int most = read_int();", True)])
def test_what_is_compared_with_a_counter_is_open(body: str, deadlock: object) -> None:
    found = verdict(MPI.replace("BODY", f"{body} for (int i = 0; i < most; i++) ALL;"), 2)
    assert (found.verdict, found.deadlock) == ("robust", deadlock)


CARELESS = """if (rank == 0) src = rand();
    shmem_int_broadcast(SHMEM_TEAM_WORLD, &dst, &src, 1, 0); shmem_barrier_all(); int k = dst;
    if (rank == 0) { if (k > 5) { shmem_int_p(many, 1, 1); shmem_int_p(got, 1, 1); } }
    else if (k CONDITION) { int flag = got[0], data = many[0]; shmem_int_p(many + 1, flag + 2 * data, 0); }"""


@pytest.mark.parametrize(("condition", "answer"), [("<= 5", "robust"), ("> 5", "not robust"), ("> 6", "not robust")])
def test_ranks_do_not_take_opposite_branches(condition: str, answer: str) -> None:
    assert verdict(SHMEM.replace("BODY", CARELESS.replace("CONDITION", condition)), 2).verdict == answer


def test_one_value_on_every_number_of_nodes() -> None:
    found = check_every_count(parse_c(ALIKE["a convergence loop"], "test.c", FrontEnd(pure=PURE)))
    assert found.verdict == "robust" and found.deadlock is not True


def test_what_is_asked_another_condition_in_each_round_is_lost() -> None:
    questions, id = Questions(Facts()), ObjectId("global", ("x",))
    questions.facts.objects[id] = ObjectFacts("x", 4, None, Contents(0))
    for number in range(2 * MOST_PASSED_ON):
        version = questions.facts.version
        questions.pass_on([(id, 0)], (Binary("<", CELL, Const(number)),))
    assert questions.of([(id, 0)]) == () and questions.facts.version == version


def test_a_cast_of_a_cast_is_one() -> None:
    condition, narrow = (
        Binary("<", Unary("cast", CELL, IntType(32, True)), Const(5)),
        Unary("cast", CELL, IntType(64, True)),
    )
    once = about(condition, Unary("cast", CELL, IntType(32, True)))
    assert once == condition == about(once, narrow)
    assert about(Binary("<", narrow, Const(5)), Unary("cast", CELL, IntType(32, True))) != condition
