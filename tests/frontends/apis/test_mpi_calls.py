# ruff: noqa: E501
"""What every call of MPI lowers to on rank 0: pinned, and read against API_SEMANTICS line by line."""

from __future__ import annotations

import pytest

import pgasrob
from pgasrob.diagnostics import SourceError
from pgasrob.frontends.lower import parse_c
from tests.frontends.apis.lowering import processes

PRELUDE = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
static int mem[4], x, y, a[4], b[4], flag; static double da[4], db[4]; static long l;
int main(int argc, char **argv) { int me, n; MPI_Win w, w2; MPI_Request r, rs[2]; MPI_Status st; MPI_Group g, g2; MPI_Comm c; MPI_Datatype t;
MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &me); MPI_Comm_size(MPI_COMM_WORLD, &n);
MPI_Win_create(mem, sizeof mem, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &w);
%s
return 0; }"""
CALLS = {
    "MPI_Put(a, 2, MPI_INT, 1, 1, 2, MPI_INT, w);": "barrier; write(a[0], 1, mem[1], 0); write(a[1], 1, mem[2], 0);",
    "MPI_Put(a, 8, MPI_BYTE, 1, 1, 2, MPI_INT, w);": "barrier; write(a[0], 1, mem[1], 0); write(a[1], 1, mem[2], 0);",
    "MPI_Get(a, 1, MPI_INT, 1, 3, 1, MPI_INT, w);": "barrier; read(a[0], 1, mem[3], 0);",
    "MPI_Accumulate(a, 1, MPI_INT, 1, 3, 1, MPI_INT, MPI_SUM, w);": "barrier; update_from_located(add, a[0], 1, mem[3], 0) as MPI_INT by sum;",
    "MPI_Accumulate(a, 1, MPI_INT, 1, 3, 1, MPI_INT, MPI_REPLACE, w);": "barrier; update_from_located(set, a[0], 1, mem[3], 0) as MPI_INT by replace;",
    "MPI_Accumulate(da, 1, MPI_DOUBLE, 1, 0, 1, MPI_DOUBLE, MPI_SUM, w);": "barrier; update_from_located(add., da[0], 1, mem[0], 0) as MPI_DOUBLE by sum;",
    "MPI_Get_accumulate(a, 1, MPI_INT, b, 1, MPI_INT, 1, 3, 1, MPI_INT, MPI_PROD, w);": "barrier; update_from_located(mul, a[0], 1, mem[3], 0, b[0]) as MPI_INT by prod;",
    "MPI_Get_accumulate(NULL, 0, MPI_INT, b, 1, MPI_INT, 1, 3, 1, MPI_INT, MPI_NO_OP, w);": "barrier; update_from_located(fetch, 1, mem[3], 0, b[0]) as MPI_INT;",
    "MPI_Fetch_and_op(&x, &y, MPI_INT, 1, 2, MPI_SUM, w);": "barrier; update_from_located(add, x, 1, mem[2], 0, y) as MPI_INT by sum;",
    "MPI_Fetch_and_op(NULL, &y, MPI_INT, 1, 2, MPI_NO_OP, w);": "barrier; update_from_located(fetch, 1, mem[2], 0, y) as MPI_INT;",
    "MPI_Compare_and_swap(&x, &y, &a[0], MPI_INT, 1, 2, w);": "barrier; update_from_located(compare_swap, x, y, 1, mem[2], 0, a[0]) as MPI_INT by compare_swap;",
    "MPI_Rput(a, 1, MPI_INT, 1, 1, 1, MPI_INT, w, &r); MPI_Wait(&r, &st);": "barrier; write(a[0], 1, mem[1], 0); wait_local(0);",
    "MPI_Rget(a, 1, MPI_INT, 1, 1, 1, MPI_INT, w, &rs[0]); MPI_Raccumulate(b, 1, MPI_INT, 1, 1, 1, MPI_INT, MPI_MAX, w, &rs[1]); MPI_Waitall(2, rs, MPI_STATUSES_IGNORE);": "barrier; read(a[0], 1, mem[1], 0); update_from_located(max, b[0], 1, mem[1], 1) as MPI_INT by max; wait_local(0); wait_local(1);",
    "MPI_Rget(a, 1, MPI_INT, 1, 1, 1, MPI_INT, w, &r); MPI_Test(&r, &flag, MPI_STATUS_IGNORE); if (flag) MPI_Barrier(MPI_COMM_WORLD);": "barrier; read(a[0], 1, mem[1], 0); choose { wait_local(0); barrier; } or { }",
    "MPI_Put(a, 1, MPI_INT, MPI_PROC_NULL, 1, 1, MPI_INT, w);": "barrier;",
    "MPI_Put(a, 1, MPI_INT, 1, 1, 1, MPI_INT, w); MPI_Win_flush(1, w); MPI_Win_flush_local(1, w); MPI_Win_flush_all(w); MPI_Win_flush_local_all(w); MPI_Win_flush(0, w);": "barrier; write(a[0], 1, mem[1], 0); wait(0); wait_local(0); wait(0); wait_local(0);",
    "MPI_Put(a, 1, MPI_INT, 1, 1, 1, MPI_INT, w); MPI_Win_fence(0, w);": "barrier; write(a[0], 1, mem[1], 0); wait(0); barrier;",
    "MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, w); MPI_Put(a, 1, MPI_INT, 1, 1, 1, MPI_INT, w); MPI_Win_unlock(1, w);": "barrier; write(a[0], 1, mem[1], 0); wait(0);",
    "MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, w); MPI_Put(a, 1, MPI_INT, 1, 1, 1, MPI_INT, w); MPI_Win_unlock(1, w);": "barrier; await_add(1, mem[win0_lock] == 0, -1); write(a[0], 1, mem[1], 0); wait(0); lock <- fetch_add(1, win0_lock, 1);",
    "if (me) { MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, w); MPI_Win_unlock(1, w); } else { MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, w); MPI_Win_unlock(1, w); }": "barrier; await_add(1, mem[win0_lock_0] == 0, 1); lock <- fetch_add(1, win0_lock_0, -1);",
    "if (me) { MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, w); MPI_Win_unlock(1, w); } else { MPI_Win_lock_all(0, w); MPI_Win_unlock_all(w); }": "barrier; await_add(0, mem[win0_lock_0] == 0, 1); await_add(1, mem[win0_lock_0] == 0, 1); lock <- fetch_add(0, win0_lock_0, -1); lock_2 <- fetch_add(1, win0_lock_0, -1);",
    "if (me) { MPI_Win_lock_all(0, w); MPI_Win_unlock_all(w); } MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, w); MPI_Win_unlock(1, w); MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, w); MPI_Win_unlock(1, w);": "barrier; await_add(1, mem[win0_lock_0] == 0, 1); lock <- fetch_add(1, win0_lock_0, -1); await_add(1, mem[win0_lock_0] == 0, -1); await_add(1, mem[win0_lock_1] == 0, -1); lock <- fetch_add(1, win0_lock_1, 1); lock_2 <- fetch_add(1, win0_lock_0, 1);",
    "int o = 1 - me; MPI_Comm_group(MPI_COMM_WORLD, &g); MPI_Group_incl(g, 1, &o, &g2); MPI_Win_post(g2, 0, w); MPI_Win_start(g2, 0, w); MPI_Put(a, 1, MPI_INT, o, 1, 1, MPI_INT, w); MPI_Win_complete(w); MPI_Win_wait(w);": "barrier; await_add(1, mem[win0_posted_0] >= 0, 1); await_add(0, mem[win0_posted_1] > 0, -1); write(a[0], 1, mem[1], 0); wait_local(0); notify(add, 1, 1, win0_completed_0, 0); await_add(0, mem[win0_completed_1] > 0, -1);",
    "int *p; MPI_Win_allocate(8, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &w2); MPI_Put(a, 1, MPI_INT, 1, 1, 1, MPI_INT, w2); MPI_Win_free(&w2);": "barrier; barrier; write(a[0], 1, p[1], 0); barrier;",
    "int *base, *sz, ok; MPI_Win_get_attr(w, MPI_WIN_BASE, &base, &ok); base[0] = ok; MPI_Win_get_attr(w, MPI_WIN_DISP_UNIT, &sz, &ok); MPI_Put(a, 1, MPI_INT, 1, *sz - 4, 1, MPI_INT, w);": "barrier; mem[mem[0]] <- 1; write(a[0], 1, mem[0], 0);",
    "MPI_Type_contiguous(2, MPI_INT, &t); MPI_Type_commit(&t); MPI_Put(a, 1, t, 1, 0, 1, t, w); MPI_Type_free(&t);": "barrier; write(a[0], 1, mem[0], 0); write(a[1], 1, mem[1], 0);",
    "MPI_Type_vector(2, 1, 2, MPI_INT, &t); MPI_Type_commit(&t); MPI_Put(a, 1, t, 1, 0, 2, MPI_INT, w);": "barrier; write(a[0], 1, mem[0], 0); write(a[2], 1, mem[1], 0);",
    "if (me == 0) MPI_Send(a, 1, MPI_INT, 1, 5, MPI_COMM_WORLD); else MPI_Recv(b, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &st);": "barrier; of_8_messages_under_way <- mem[mpi_world_tag_5_0_1_full_0]; mem[mpi_world_tag_5_0_1_message_0_0] <- 0; mem[mpi_world_tag_5_0_1_full_0] <- 1 / (of_8_messages_under_way == 0);",
    "if (me == 1) MPI_Send(a, 1, MPI_INT, 0, 5, MPI_COMM_WORLD); else { int k; MPI_Recv(b, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &st); MPI_Get_count(&st, MPI_INT, &k); a[k] = st.MPI_SOURCE; }": "barrier; await_add(1, mem[mpi_world_tag_5_1_0_full_0] == 1, 0); message <- fetch(1, mpi_world_tag_5_1_0_message_0_0); await_add(1, mem[mpi_world_tag_5_1_0_full_0] == 1, -1); mem[b[0]] <- message;",
    "if (me == 1) MPI_Isend(a, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, &r); else MPI_Irecv(b, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &r); MPI_Wait(&r, MPI_STATUS_IGNORE);": "barrier; await_add(1, mem[mpi_world_tag_5_1_0_full_0] == 1, 0); message <- fetch(1, mpi_world_tag_5_1_0_message_0_0); await_add(1, mem[mpi_world_tag_5_1_0_full_0] == 1, -1); mem[b[0]] <- message;",
    "MPI_Sendrecv(&me, 1, MPI_INT, 1 - me, 0, &x, 1, MPI_INT, 1 - me, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);": "barrier; of_8_messages_under_way <- mem[mpi_world_tag_0_0_1_full_0]; mem[mpi_world_tag_0_0_1_message_0_0] <- 0; mem[mpi_world_tag_0_0_1_full_0] <- 1 / (of_8_messages_under_way == 0); await_add(1, mem[mpi_world_tag_0_1_0_full_0] == 1, 0); message <- fetch(1, mpi_world_tag_0_1_0_message_0_0); await_add(1, mem[mpi_world_tag_0_1_0_full_0] == 1, -1); mem[x] <- message;",
    "MPI_Bcast(a, 1, MPI_INT, 0, MPI_COMM_WORLD);": "barrier; value <- mem[a[0]]; of_8_messages_under_way <- mem[mpi_world_MPI_Bcast_1_0_1_full_0]; mem[mpi_world_MPI_Bcast_1_0_1_message_0_0] <- value; mem[mpi_world_MPI_Bcast_1_0_1_full_0] <- 1 / (of_8_messages_under_way == 0);",
    "MPI_Reduce(a, b, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);": "barrier; await_add(1, mem[mpi_world_MPI_Reduce_sum_1_1_0_full_0] == 1, 0); message <- fetch(1, mpi_world_MPI_Reduce_sum_1_1_0_message_0_0); await_add(1, mem[mpi_world_MPI_Reduce_sum_1_1_0_full_0] == 1, -1); total <- 0 + message; mem[b[0]] <- total;",
    "MPI_Allreduce(MPI_IN_PLACE, b, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);": "barrier; value <- mem[b[0]]; mem[mpi_world_value_0_0] <- value; barrier; value_2 <- fetch(1, mpi_world_value_0_0); total <- !!value || !!value_2; mem[b[0]] <- total;",
    "MPI_Gather(a, 1, MPI_INT, b, 1, MPI_INT, 0, MPI_COMM_WORLD);": "barrier; await_add(1, mem[mpi_world_MPI_Gather_1_1_0_full_0] == 1, 0); message <- fetch(1, mpi_world_MPI_Gather_1_1_0_message_0_0); await_add(1, mem[mpi_world_MPI_Gather_1_1_0_full_0] == 1, -1); mem[b[1]] <- message;",
    "MPI_Scatter(a, 1, MPI_INT, b, 1, MPI_INT, 0, MPI_COMM_WORLD);": "barrier; of_8_messages_under_way <- mem[mpi_world_MPI_Scatter_1_0_1_full_0]; mem[mpi_world_MPI_Scatter_1_0_1_message_0_0] <- 0; mem[mpi_world_MPI_Scatter_1_0_1_full_0] <- 1 / (of_8_messages_under_way == 0); mem[b[0]] <- 0;",
    "MPI_Allgather(a, 1, MPI_INT, b, 1, MPI_INT, MPI_COMM_WORLD);": "barrier; mem[mpi_world_value_0_0] <- 0; barrier; value <- fetch(1, mpi_world_value_0_0); mem[b[0]] <- 0; mem[b[1]] <- value;",
    "MPI_Alltoall(a, 1, MPI_INT, b, 1, MPI_INT, MPI_COMM_WORLD);": "barrier; mem[mpi_world_value_0_0] <- 0; mem[mpi_world_value_0_1] <- 0; barrier; value <- fetch(1, mpi_world_value_0_0); mem[b[0]] <- 0; mem[b[1]] <- value;",
    "MPI_Scan(a, b, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);": "barrier; of_8_messages_under_way <- mem[mpi_world_MPI_Scan_1_0_1_full_0]; mem[mpi_world_MPI_Scan_1_0_1_message_0_0] <- 0; mem[mpi_world_MPI_Scan_1_0_1_full_0] <- 1 / (of_8_messages_under_way == 0); mem[b[0]] <- 0;",
    "MPI_Ibarrier(MPI_COMM_WORLD, &r); MPI_Wait(&r, MPI_STATUS_IGNORE);": "barrier; await_add(1, mem[mpi_world_MPI_Ibarrier_flag_0_0] == 0, 1); await(mem[mpi_world_MPI_Ibarrier_flag_0_1] == 1);",
    "MPI_Comm_split(MPI_COMM_WORLD, 0, -me, &c); MPI_Comm_rank(c, &x); MPI_Barrier(c); MPI_Comm_free(&c); mem[x] = 1; MPI_Put(a, 1, MPI_INT, x, x, 1, MPI_INT, w);": "barrier; barrier; barrier; mem[mem[1]] <- 1; write(a[0], 1, mem[1], 0);",
    "MPI_Comm_dup(MPI_COMM_WORLD, &c); MPI_Barrier(c); double t0 = MPI_Wtime(); t0 = MPI_Wtime() - t0;": "barrier; barrier;",
    "MPI_Fetch_and_op(&x, &y, MPI_INT, 0, 0, MPI_SUM, w); MPI_Win_flush(0, w); MPI_Put(a, 1, MPI_INT, y, 0, 1, MPI_INT, w); MPI_Win_flush_all(w);": "barrier; update_from_located(add, x, 0, mem[0], 0, y) as MPI_INT by sum; wait(0); t_2 <- mem[y]; choose { assume(t_2 == 0); write(a[0], 0, mem[0], 0); wait(0); } or { assume(t_2 == 1); write(a[0], 1, mem[0], 1); wait(0); wait(1); } or { assume(t_2 == -2); wait(0); } or { assume(t_2 != 0); assume(t_2 != 1); assume(t_2 != -2); outside <- fetch(t_2, 0); wait(0); }",
    "MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN); int e = MPI_Win_sync(w); if (e != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, e); char nm[MPI_MAX_PROCESSOR_NAME]; int ln; MPI_Get_processor_name(nm, &ln);": "barrier;",
    'MPI_Info i; MPI_Info_create(&i); MPI_Info_set(i, "no_locks", "true"); MPI_Info_free(&i); int *p; MPI_Alloc_mem(8, MPI_INFO_NULL, &p); p[0] = 4; MPI_Free_mem(p); MPI_Finalize();': "barrier;",
    "MPI_Waitany(0, rs, &x, &st); MPI_Win w3 = MPI_WIN_NULL; if (w3 == MPI_WIN_NULL) MPI_Win_fence(0, w);": "barrier; barrier;",
}

ERRORS = {
    "if (me == 1) MPI_Ssend(a, 1, MPI_INT, 0, 5, MPI_COMM_WORLD); else MPI_Recv(b, 2, MPI_INT, 1, 5, MPI_COMM_WORLD, &st);": "MPI_Recv of 2 elements where 1 are sent with tag 5",
    "MPI_Op o; MPI_Op_create(NULL, 1, &o);": "`MPI_Op_create` is not supported",
    "MPI_Put(a, 1, MPI_INT, 1, 4, 1, MPI_INT, w);": "MPI_Put at displacement 4 of rank 1 accesses bytes 16 to 19 of the window w, which has 16 bytes there",
    "int *p; if (me == 0) { MPI_Win_allocate(8, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &w2); MPI_Put(a, 1, MPI_INT, 1, 0, 1, MPI_INT, w2); }": "MPI_Put needs the window of rank 1, which has not been made there",
    "MPI_Iallreduce(a, b, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r);": "`MPI_Iallreduce` is not supported",
}


@pytest.mark.parametrize(("call", "expected"), CALLS.items())
def test_call(call: str, expected: str) -> None:
    assert " ".join(processes(PRELUDE.replace("%s", call))[0]) == expected


@pytest.mark.parametrize(("call", "expected"), ERRORS.items())
def test_error(call: str, expected: str) -> None:
    with pytest.raises(SourceError, match=expected):
        processes(PRELUDE.replace("%s", call))


FRAME = """#include <mpi.h>
int main(int argc, char **argv) { int me, one = 1, got = 0, *m, *k, pair[2] = {0, 1}; MPI_Win w, v; MPI_Comm c, d; MPI_Group g, h;
MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &me);
%s
return 0; }"""
WINDOW = "MPI_Win_allocate(8, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &m, &w); "
SECOND = "MPI_Win_allocate(8, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &k, &v); "
PAIR = "MPI_Comm_group(MPI_COMM_WORLD, &g); MPI_Group_incl(g, 2, pair, &h); if (me < 2) MPI_Comm_create_group(MPI_COMM_WORLD, h, 0, &c); "
PENDING = "MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, v); MPI_Put(&one, 1, MPI_INT, 1, 0, 1, MPI_INT, v); "


@pytest.mark.parametrize(
    ("body", "verdict"),
    [
        # A window that only some ranks have made before it.
        (
            "MPI_Comm_split(MPI_COMM_WORLD, me == 2, me, &c); "
            "if (me != 2) MPI_Win_allocate(8, 4, MPI_INFO_NULL, c, &k, &v); " + WINDOW + "MPI_Win_lock_all(0, w); "
            "if (me == 0) MPI_Put(&one, 1, MPI_INT, 2, 0, 1, MPI_INT, w); MPI_Barrier(MPI_COMM_WORLD); "
            "if (me == 2 && m[0]) m[1] = 1; MPI_Win_unlock_all(w);",
            "not robust",
        ),
        # Communicators that only some ranks have made before others: messages and colours find each other.
        (
            WINDOW + "MPI_Win_lock_all(0, w); " + PAIR + "MPI_Comm_dup(MPI_COMM_WORLD, &d); "
            "if (me == 0) { MPI_Put(&one, 1, MPI_INT, 2, 0, 1, MPI_INT, w); MPI_Send(&one, 1, MPI_INT, 2, 0, d); } "
            "if (me == 2) { MPI_Recv(&got, 1, MPI_INT, 0, 0, d, MPI_STATUS_IGNORE); if (!m[0]) m[1] = 1; } "
            "MPI_Win_unlock_all(w);",
            "not robust",
        ),
        (PAIR + "MPI_Comm_split(MPI_COMM_WORLD, me == 1, me, &d); MPI_Comm_size(d, &got); MPI_Barrier(d); "
         "if (got != (me == 1 ? 1 : 2)) got = 1 / 0;", "robust"),
        # Two that share a lock are not ordered by it, though a third one takes it exclusively.
        (
            WINDOW + SECOND + "if (me == 0) { " + PENDING + "MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, w); "
            "MPI_Win_unlock(2, w); MPI_Win_unlock(1, v); } if (me == 1) { MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, w); "
            "MPI_Win_unlock(2, w); if (k[0]) k[1] = 1; } MPI_Barrier(MPI_COMM_WORLD); "
            "if (me == 2) { MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, w); MPI_Win_unlock(2, w); }",
            "robust",
        ),
        # A test of an epoch that one of two origins has not ended answers 0.
        (
            WINDOW + "int t[2] = {1, 2}, done; MPI_Comm_group(MPI_COMM_WORLD, &g); MPI_Group_incl(g, me ? 1 : 2, me ? pair : t, &h); "
            "if (me == 0) { MPI_Win_post(h, 0, w); MPI_Win_test(w, &done); MPI_Send(&done, 1, MPI_INT, 2, 0, MPI_COMM_WORLD); "
            "if (!done) MPI_Win_wait(w); } else { if (me == 2) MPI_Recv(&got, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); "
            "MPI_Win_start(h, 0, w); MPI_Win_complete(w); }",
            "robust",
        ),
    ],
)  # fmt: skip
def test_three_ranks(body: str, verdict: str) -> None:
    found = pgasrob.check(parse_c(FRAME.replace("%s", body)), nodes=3)
    assert (found.verdict, found.deadlock, found.errors) == (verdict, False, ())
