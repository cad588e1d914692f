# ruff: noqa: E501
"""MPI, `messages`: what calls lower to on rank 0, read against API_SEMANTICS line by line."""

from __future__ import annotations

import pytest

from pgasrob.diagnostics import SourceError
from tests.frontends.apis.mpi.calls import lowered

CALLS = {
    "if (me == 0) MPI_Send(a, 1, MPI_INT, 1, 5, MPI_COMM_WORLD); else MPI_Recv(b, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &st);": "barrier; of_8_messages_under_way <- mem[mpi_world_tag_5_0_1_full_0]; mem[mpi_world_tag_5_0_1_message_0_0] <- 0; mem[mpi_world_tag_5_0_1_full_0] <- 1 / (of_8_messages_under_way == 0);",
    "if (me == 1) MPI_Send(a, 1, MPI_INT, 0, 5, MPI_COMM_WORLD); else { int k; MPI_Recv(b, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &st); MPI_Get_count(&st, MPI_INT, &k); a[k] = st.MPI_SOURCE; }": "barrier; await_add(1, mem[mpi_world_tag_5_1_0_full_0] == 1, 0); message <- fetch(1, mpi_world_tag_5_1_0_message_0_0); await_add(1, mem[mpi_world_tag_5_1_0_full_0] == 1, -1); mem[b[0]] <- message;",
    "MPI_Sendrecv(&me, 1, MPI_INT, 1 - me, 0, &x, 1, MPI_INT, 1 - me, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);": "barrier; of_8_messages_under_way <- mem[mpi_world_tag_0_0_1_full_0]; mem[mpi_world_tag_0_0_1_message_0_0] <- 0; mem[mpi_world_tag_0_0_1_full_0] <- 1 / (of_8_messages_under_way == 0); await_add(1, mem[mpi_world_tag_0_1_0_full_0] == 1, 0); message <- fetch(1, mpi_world_tag_0_1_0_message_0_0); await_add(1, mem[mpi_world_tag_0_1_0_full_0] == 1, -1); mem[x] <- message;",
}

ERRORS = {
    "if (me == 1) MPI_Ssend(a, 1, MPI_INT, 0, 5, MPI_COMM_WORLD); else MPI_Recv(b, 2, MPI_INT, 1, 5, MPI_COMM_WORLD, &st);": "MPI_Recv of 2 elements where 1 are sent with tag 5",
}


@pytest.mark.parametrize(("call", "expected"), CALLS.items())
def test_call(call: str, expected: str) -> None:
    assert lowered(call) == expected


@pytest.mark.parametrize(("call", "expected"), ERRORS.items())
def test_error(call: str, expected: str) -> None:
    with pytest.raises(SourceError, match=expected):
        lowered(call)
