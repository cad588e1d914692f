# ruff: noqa: E501
"""MPI, `collectives`: what calls lower to on rank 0, read against API_SEMANTICS line by line."""

from __future__ import annotations

import pytest

from tests.frontends.apis.mpi.calls import lowered
from tests.frontends.apis.mpi.claims import CLAIM, checked

CALLS = {
    "MPI_Bcast(a, 1, MPI_INT, 0, MPI_COMM_WORLD);": "barrier; value <- mem[a[0]]; of_4_messages_under_way <- mem[mpi_world_MPI_Bcast_1_0_1_full_0]; mem[mpi_world_MPI_Bcast_1_0_1_message_0_0] <- value; mem[mpi_world_MPI_Bcast_1_0_1_full_0] <- 1 / (of_4_messages_under_way == 0);",
    "MPI_Reduce(a, b, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);": "barrier; await_add(1, mem[mpi_world_MPI_Reduce_sum_1_1_0_full_0] == 1, 0); message <- fetch(1, mpi_world_MPI_Reduce_sum_1_1_0_message_0_0); await_add(1, mem[mpi_world_MPI_Reduce_sum_1_1_0_full_0] == 1, -1); total <- 0 + message; mem[b[0]] <- total;",
    "MPI_Allreduce(MPI_IN_PLACE, b, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);": "barrier; value <- mem[b[0]]; mem[mpi_world_value_0_0] <- value; barrier; value_2 <- fetch(1, mpi_world_value_0_0); total <- !!value || !!value_2; mem[b[0]] <- total;",
    "MPI_Gather(a, 1, MPI_INT, b, 1, MPI_INT, 0, MPI_COMM_WORLD);": "barrier; await_add(1, mem[mpi_world_MPI_Gather_1_1_0_full_0] == 1, 0); message <- fetch(1, mpi_world_MPI_Gather_1_1_0_message_0_0); await_add(1, mem[mpi_world_MPI_Gather_1_1_0_full_0] == 1, -1); mem[b[1]] <- message;",
    "MPI_Scatter(a, 1, MPI_INT, b, 1, MPI_INT, 0, MPI_COMM_WORLD);": "barrier; of_4_messages_under_way <- mem[mpi_world_MPI_Scatter_1_0_1_full_0]; mem[mpi_world_MPI_Scatter_1_0_1_message_0_0] <- 0; mem[mpi_world_MPI_Scatter_1_0_1_full_0] <- 1 / (of_4_messages_under_way == 0); mem[b[0]] <- 0;",
    "MPI_Allgather(a, 1, MPI_INT, b, 1, MPI_INT, MPI_COMM_WORLD);": "barrier; mem[mpi_world_value_0_0] <- 0; barrier; value <- fetch(1, mpi_world_value_0_0); mem[b[0]] <- 0; mem[b[1]] <- value;",
    "MPI_Alltoall(a, 1, MPI_INT, b, 1, MPI_INT, MPI_COMM_WORLD);": "barrier; mem[mpi_world_value_0_0] <- 0; mem[mpi_world_value_0_1] <- 0; barrier; value <- fetch(1, mpi_world_value_0_0); mem[b[0]] <- 0; mem[b[1]] <- value;",
    "MPI_Scan(a, b, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);": "barrier; of_4_messages_under_way <- mem[mpi_world_MPI_Scan_1_0_1_full_0]; mem[mpi_world_MPI_Scan_1_0_1_message_0_0] <- 0; mem[mpi_world_MPI_Scan_1_0_1_full_0] <- 1 / (of_4_messages_under_way == 0); mem[b[0]] <- 0;",
    "MPI_Comm_split(MPI_COMM_WORLD, 0, -me, &c); MPI_Comm_rank(c, &x); MPI_Barrier(c); MPI_Comm_free(&c); mem[x] = 1; MPI_Put(a, 1, MPI_INT, x, x, 1, MPI_INT, w);": "barrier; barrier; barrier; mem[mem[1]] <- 1; write(a[0], 1, mem[1], 0);",
    "MPI_Comm_dup(MPI_COMM_WORLD, &c); MPI_Barrier(c); double t0 = MPI_Wtime(); t0 = MPI_Wtime() - t0;": "barrier; barrier;",
}


@pytest.mark.parametrize(("call", "expected"), CALLS.items())
def test_call(call: str, expected: str) -> None:
    assert lowered(call) == expected


PARTS = {
    "low bytes": "int x = me ? 0 : 0x01020304; MPI_Bcast(&x, 2, MPI_CHAR, 0, MPI_COMM_WORLD); assert(x == (me ? 0x304 : 0x1020304));",
    "a half": "long x = me ? 1 : 7L << 32 | 5; MPI_Bcast((int *)&x + 1, 1, MPI_INT, 0, MPI_COMM_WORLD); assert(x == (7L << 32 | (me ? 1 : 5)));",
    "a message": "int x = me + 256; if (me) MPI_Send(&x, 1, MPI_BYTE, 0, 0, MPI_COMM_WORLD); else MPI_Recv(&x, 1, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); assert(x == 257);",
}


@pytest.mark.parametrize("body", PARTS.values(), ids=PARTS.keys())
def test_parts_of_scalars_are_moved(body: str) -> None:
    assert checked(body) == ("robust", "hold")
    assert checked(CLAIM.sub(r"assert(!(\1));", body)) == ("robust", "violated")
