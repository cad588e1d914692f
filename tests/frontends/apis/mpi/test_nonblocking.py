# ruff: noqa: E501
"""MPI, `nonblocking` and `pending_collectives`: what calls lower to on rank 0, and what the ranks get."""

from __future__ import annotations

import pytest

from pgasrob.batch.answer import about_robustness
from pgasrob.frontends.lower import FrontEnd, parse_c
from pgasrob.robustness.question import Question, Synchronisation
from pgasrob.robustness.session import Session
from tests.frontends.apis.mpi.calls import lowered
from tests.frontends.apis.mpi.claims import CLAIM, checked

HEAD = """#include <mpi.h>
#include <stdlib.h>
#include <string.h>
int main(void) { int me; MPI_Init(0, 0); MPI_Comm_rank(MPI_COMM_WORLD, &me);
"""
WAIT = "MPI_Wait(&r, MPI_STATUS_IGNORE);"
CALLS = {
    "MPI_Ibarrier(MPI_COMM_WORLD, &r); MPI_Wait(&r, MPI_STATUS_IGNORE);": "barrier; await_add(1, mem[mpi_world_MPI_Ibarrier_flag_0_0] == 0, 1); await(mem[mpi_world_MPI_Ibarrier_flag_0_1] == 1);",
    "MPI_Ibcast(a, 1, MPI_INT, 0, MPI_COMM_WORLD, &r); MPI_Wait(&r, MPI_STATUS_IGNORE);": "barrier; value <- mem[a[0]]; of_4_messages_under_way <- mem[mpi_world_MPI_Ibcast_of_1_from_0_0_1_full_0]; mem[mpi_world_MPI_Ibcast_of_1_from_0_0_1_message_0_0] <- value; mem[mpi_world_MPI_Ibcast_of_1_from_0_0_1_full_0] <- 1 / (of_4_messages_under_way == 0);",
    "MPI_Ibcast(a, 1, MPI_INT, 1, MPI_COMM_WORLD, &r); MPI_Wait(&r, MPI_STATUS_IGNORE);": "barrier; await_add(1, mem[mpi_world_MPI_Ibcast_of_1_from_1_1_0_full_0] == 1, 0); message <- fetch(1, mpi_world_MPI_Ibcast_of_1_from_1_1_0_message_0_0); await_add(1, mem[mpi_world_MPI_Ibcast_of_1_from_1_1_0_full_0] == 1, -1); mem[a[0]] <- message;",
    "MPI_Ireduce(a, b, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD, &r); MPI_Wait(&r, MPI_STATUS_IGNORE);": "barrier; of_4_messages_under_way <- mem[mpi_world_MPI_Ireduce_sum_of_1_to_0_0_0_full_0]; mem[mpi_world_MPI_Ireduce_sum_of_1_to_0_0_0_message_0_0] <- 0; mem[mpi_world_MPI_Ireduce_sum_of_1_to_0_0_0_full_0] <- 1 / (of_4_messages_under_way == 0); await_add(0, mem[mpi_world_MPI_Ireduce_sum_of_1_to_0_0_0_full_0] == 1, 0); message <- fetch(0, mpi_world_MPI_Ireduce_sum_of_1_to_0_0_0_message_0_0); await_add(0, mem[mpi_world_MPI_Ireduce_sum_of_1_to_0_0_0_full_0] == 1, -1); await_add(1, mem[mpi_world_MPI_Ireduce_sum_of_1_to_0_1_0_full_0] == 1, 0); message_2 <- fetch(1, mpi_world_MPI_Ireduce_sum_of_1_to_0_1_0_message_0_0); await_add(1, mem[mpi_world_MPI_Ireduce_sum_of_1_to_0_1_0_full_0] == 1, -1); total <- message + message_2; mem[b[0]] <- total;",
    "MPI_Iallreduce(a, b, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &r); MPI_Wait(&r, MPI_STATUS_IGNORE);": "barrier; mem[mpi_world_MPI_Iallreduce_max_of_1_value_0_0] <- 0; await_add(1, mem[mpi_world_MPI_Iallreduce_max_of_1_flag_0_0] == 0, 1); await(mem[mpi_world_MPI_Iallreduce_max_of_1_flag_0_1] == 1); value <- fetch(0, mpi_world_MPI_Iallreduce_max_of_1_value_0_0); value_2 <- fetch(1, mpi_world_MPI_Iallreduce_max_of_1_value_0_0); total <- value > value_2 ? value : value_2; mem[b[0]] <- total;",
    "MPI_Iallgather(a, 1, MPI_INT, b, 1, MPI_INT, MPI_COMM_WORLD, &r); MPI_Waitall(1, &r, MPI_STATUSES_IGNORE);": "barrier; mem[mpi_world_MPI_Iallgather_of_1_value_0_0] <- 0; await_add(1, mem[mpi_world_MPI_Iallgather_of_1_flag_0_0] == 0, 1); await(mem[mpi_world_MPI_Iallgather_of_1_flag_0_1] == 1); value <- fetch(0, mpi_world_MPI_Iallgather_of_1_value_0_0); value_2 <- fetch(1, mpi_world_MPI_Iallgather_of_1_value_0_0); mem[b[0]] <- value; mem[b[1]] <- value_2;",
}


@pytest.mark.parametrize(("call", "expected"), CALLS.items())
def test_call(call: str, expected: str) -> None:
    assert lowered(call) == expected


R = "MPI_Request r, s; int own = me + 1, got = 0, all[4] = {0}, at[2] = {me, 5 - me}, best[2]; "
BOTH = f"{WAIT} MPI_Wait(&s, MPI_STATUS_IGNORE);"
HOLD = {
    "a broadcast": f"MPI_Ibcast(&own, 1, MPI_INT, 1, MPI_COMM_WORLD, &r); {WAIT} assert(own == 2);",
    "a sum at the root": f"MPI_Ireduce(&own, &got, 1, MPI_INT, MPI_SUM, 1, MPI_COMM_WORLD, &r); {WAIT} assert(got == (me == 1 ? 3 : 0));",
    "a sum in place": f"MPI_Iallreduce(MPI_IN_PLACE, &own, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r); {WAIT} assert(own == 3);",
    "the place of the greatest": f"MPI_Iallreduce(at, best, 1, MPI_2INT, MPI_MAXLOC, MPI_COMM_WORLD, &r); {WAIT} assert(best[0] == 1 && best[1] == 4);",
    "all values": f"MPI_Iallgather(&own, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, &r); {WAIT} assert(all[0] == 1 && all[1] == 2 && !all[2]);",
    "the buffer of the call": f"MPI_Iallreduce(&own, &got, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r); own = 9; {WAIT} assert(got == 3);",
    "nothing before the wait": f"MPI_Iallreduce(&own, &got, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r); assert(!got); {WAIT}",
    "two, waited for in the other order": f"MPI_Ibcast(&own, 1, MPI_INT, 0, MPI_COMM_WORLD, &r); MPI_Iallreduce(&me, &got, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &s); MPI_Wait(&s, MPI_STATUS_IGNORE); {WAIT} assert(own == 1 && got == 1);",
    "rounds": "for (int i = 0; i < 5; i++) { own += i; MPI_Iallreduce(&own, &got, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r); "
    + WAIT
    + " } assert(got == 23);",
}


@pytest.mark.parametrize("body", HOLD.values(), ids=HOLD.keys())
def test_what_ranks_get(body: str) -> None:
    assert checked(R + body) == ("robust", "hold")
    assert checked(R + CLAIM.sub(r"assert(!(\1));", body)) == ("robust", "violated")


REDUCED = "int z[8] = {0}; MPI_Iallreduce(&own, &got, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r);"
GATHERED = "int z[8] = {0}; MPI_Iallgather(&own, 1, MPI_INT, z, 1, MPI_INT, MPI_COMM_WORLD, &r);"
BROADCAST = "MPI_Ibcast(&own, 1, MPI_INT, 0, MPI_COMM_WORLD, &r);"
AT_ROOT = "MPI_Ireduce(&own, &got, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD, &r);"
SENT = "MPI_Isend(&own, 1, MPI_INT, 1 - me, 0, MPI_COMM_WORLD, &r);"
RECEIVED = "MPI_Irecv(&got, 1, MPI_INT, 1 - me, 0, MPI_COMM_WORLD, &r);"
MESSAGE = "MPI_Send(&me, 1, MPI_INT, 1 - me, 0, MPI_COMM_WORLD);"
TAKEN = "MPI_Recv(all, 1, MPI_INT, 1 - me, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
COLUMN = "int z[8] = {0}; MPI_Datatype c; MPI_Type_vector(2, 1, 2, MPI_INT, &c); MPI_Type_commit(&c); MPI_Ibcast(z, 1, c, 0, MPI_COMM_WORLD, &r);"
WINDOW = (
    "int *w; MPI_Win win; MPI_Win_allocate(8, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &w, &win); MPI_Win_lock_all(0, win);"
)
PART = "int z[8] = {0}, k = rand() & 3; MPI_Isend(z + 2, 1, MPI_INT, 1 - me, 0, MPI_COMM_WORLD, &r);"
HEAP = "int *h = malloc(4); *h = me; MPI_Isend(h, 1, MPI_INT, 1 - me, 0, MPI_COMM_WORLD, &r);"
CLOSED = "MPI_Win_unlock_all(win); MPI_Win_free(&win);"
IN_USE = [
    f"{REDUCED} own = 3; {WAIT}",
    f"{REDUCED} got = 3; {WAIT}",
    f"{REDUCED} me = got; {WAIT}",
    f"{REDUCED} MPI_Bcast(&got, 1, MPI_INT, 0, MPI_COMM_SELF); {WAIT}",
    f"{BROADCAST} if (me == 0) own = 3; {WAIT}",
    f"{BROADCAST} if (me == 1) got = own; {WAIT}",
    f"{AT_ROOT} if (me == 1) own = 3; {WAIT}",
    f"{AT_ROOT} if (me == 0) got = 3; {WAIT}",
    f"{GATHERED} z[1] = 3; {WAIT}",
    f"{GATHERED} memset(z, 0, sizeof z); {WAIT}",
    f"{COLUMN} z[2] = 3; {WAIT}",
    f"{SENT} own = 3; {TAKEN} {WAIT}",
    f"{RECEIVED} {MESSAGE} got++; {WAIT}",
    f"{SENT} MPI_Irecv(&own, 1, MPI_INT, 1 - me, 0, MPI_COMM_WORLD, &s); {BOTH}",
    f"MPI_Irecv(all, 4, MPI_INT, me, 0, MPI_COMM_WORLD, &r); MPI_Irecv(all + 3, 1, MPI_INT, me, 1, MPI_COMM_WORLD, &s);"
    f" MPI_Send(at, 1, MPI_INT, me, 1, MPI_COMM_WORLD); int t[4] = {{0}}; MPI_Send(t, 4, MPI_INT, me, 0, MPI_COMM_WORLD); {BOTH}",
    f"{WINDOW} {SENT} MPI_Get(&own, 1, MPI_INT, 1, 0, 1, MPI_INT, win); {CLOSED} {TAKEN} {WAIT}",
    f"{WINDOW} {RECEIVED} {MESSAGE} MPI_Put(&got, 1, MPI_INT, 1, 0, 1, MPI_INT, win); {CLOSED} {WAIT}",
    f"{WINDOW} {SENT} MPI_Compare_and_swap(&me, at, &own, MPI_INT, 1, 0, win); {CLOSED} {TAKEN} {WAIT}",
    f"{WINDOW} {SENT} MPI_Fetch_and_op(at, &own, MPI_INT, 1, 0, MPI_SUM, win); {CLOSED} {TAKEN} {WAIT}",
    f"{HEAP} free(h); {TAKEN} {WAIT}",
    f"{PART} z[k + 1] = 3; {TAKEN} {WAIT}",
    f"{PART} if (k == 2) z[k] = 3; {TAKEN} {WAIT}",
    f"{RECEIVED.replace('&got', 'all')} {MESSAGE} got = all[rand() & 3]; {WAIT}",
    "MPI_Request q[2]; for (int i = 0; i < 2; i++) { int v = i; MPI_Isend(&v, 1, MPI_INT, 1 - me, 0, MPI_COMM_WORLD, &q[i]); }"
    f" {TAKEN} {TAKEN} MPI_Waitall(2, q, MPI_STATUSES_IGNORE);",
    f"for (int i = 0; i < 3; i++) {{ MPI_Iallreduce(&all[i], at, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r); all[i] = 2; {WAIT} }}",
]
NOT_IN_USE = [
    f"{REDUCED} me = own; {WAIT} own = got = 3;",
    f"{REDUCED} MPI_Bcast(&own, 1, MPI_INT, 0, MPI_COMM_SELF); {WAIT}",
    f"{BROADCAST} if (me == 0) got = own; {WAIT}",
    f"{AT_ROOT} if (me == 1) got = 3; {WAIT}",
    f"{GATHERED} z[2] = 3; {WAIT} z[1] = 3;",
    f"{COLUMN} z[1] = 3; {WAIT}",
    f"{SENT} got = own; {TAKEN} {WAIT} own = 3;",
    f"{RECEIVED} {MESSAGE} {WAIT} got++;",
    f"{SENT} MPI_Irecv(&got, 1, MPI_INT, 1 - me, 0, MPI_COMM_WORLD, &s); {BOTH}",
    f"{WINDOW} {SENT} MPI_Put(&own, 1, MPI_INT, 1, 0, 1, MPI_INT, win); MPI_Get(&got, 1, MPI_INT, 1, 1, 1, MPI_INT, win); {CLOSED} {TAKEN} {WAIT}",
    f"{HEAP} {TAKEN} {WAIT} free(h);",
    f"{PART} z[k + 3] = 3; z[0] = z[k]; {TAKEN} {WAIT}",
    f"{PART} if (k != 2) z[k] = 3; {TAKEN} {WAIT} z[k] = 3;",
    "MPI_Request q[2]; for (int i = 0; i < 2; i++) { MPI_Isend(&all[i], 1, MPI_INT, 1 - me, 0, MPI_COMM_WORLD, &q[i]); int v = i; }"
    f" {TAKEN.replace('all', '&got')} {TAKEN.replace('all', '&got')} MPI_Waitall(2, q, MPI_STATUSES_IGNORE);",
    f"{WINDOW} {SENT} MPI_Fetch_and_op(&own, &got, MPI_INT, 1, 0, MPI_SUM, win); {CLOSED} {TAKEN} {WAIT}",
    f"for (int i = 0; i < 3; i++) {{ MPI_Iallreduce(&all[i], at, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r); all[i + 1] = 2; {WAIT} }}",
]


def found_in(body: str, shared: str = "none") -> set[str]:
    program = parse_c(HEAD + R + body + "MPI_Finalize(); return 0; }", options=FrontEnd(shared_memory=shared))
    verdict = about_robustness(Session(Question(program, 2)), Synchronisation(("legal",)))
    assert not verdict.errors
    return {each.call.rule.code for each in verdict.illegal_calls}


@pytest.mark.parametrize("body", IN_USE)
def test_buffers_under_way_are_left_alone(body: str) -> None:
    assert found_in(body) == {"mpi-buffer-in-use"}


@pytest.mark.parametrize("body", NOT_IN_USE)
def test_other_memory_is_not_in_use(body: str) -> None:
    assert not found_in(body)


@pytest.mark.parametrize(("rank", "found"), [(0, {"mpi-buffer-in-use"}), (1, set())])
def test_who_lends_is_who_may_not_change_it(rank: int, found: set[str]) -> None:
    """Rank 0 stores to the part of ``rank`` while it sends its own."""
    parts = "int *w, *p, disp; MPI_Aint size; MPI_Win win;"
    parts += " MPI_Win_allocate_shared(4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &w, &win);"
    parts += f" MPI_Win_shared_query(win, {rank}, &size, &disp, &p); *w = 0; MPI_Win_fence(0, win);"
    sent = SENT.replace("&own", "w")
    body = f"{parts} if (me == 0) {{ {sent} *p = 5; {WAIT} }} else {{ {TAKEN} }} MPI_Win_fence(0, win); MPI_Win_free(&win);"
    assert found_in(body, "all") == found


@pytest.mark.parametrize("call", [REDUCED, "MPI_Ibarrier(MPI_COMM_WORLD, &r);"])
def test_requests_of_collectives_are_not_freed(call: str) -> None:
    assert "mpi-collective-request-freed" in found_in(f"{call} MPI_Request_free(&r);")


MANY = [
    f"MPI_Request s[20]; int q[20], o[20]; for (int i = 0; i < 20; i++) {{ q[i] = i; {call} }}"
    " MPI_Waitall(20, s, MPI_STATUSES_IGNORE); for (int i = 0; i < 20; i++) assert(CLAIMED);".replace("CLAIMED", claim)
    for call, claim in (
        ("MPI_Ibarrier(MPI_COMM_WORLD, &s[i]);", "q[i] == i"),
        ("MPI_Iallreduce(&q[i], &o[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &s[i]);", "o[i] == 2 * i"),
    )
]
MANY.append(
    "MPI_Request s[80]; int q[80] = {0}; if (me == 0) q[79] = 7;"
    " for (int i = 0; i < 80; i++) MPI_Ibcast(&q[i], 1, MPI_INT, 0, MPI_COMM_WORLD, &s[i]);"
    " MPI_Waitall(80, s, MPI_STATUSES_IGNORE); assert(q[79] == 7);"
)


@pytest.mark.parametrize("body", MANY)
def test_many_under_way(body: str) -> None:
    assert checked(body) in (("robust", "hold"), ("robust", None))
