# ruff: noqa: E501
"""MPI, `datatypes`: what calls lower to on rank 0, read against API_SEMANTICS line by line."""

from __future__ import annotations

import pytest

from tests.frontends.apis.mpi.calls import lowered

CALLS = {
    "MPI_Type_contiguous(2, MPI_INT, &t); MPI_Type_commit(&t); MPI_Put(a, 1, t, 1, 0, 1, t, w); MPI_Type_free(&t);": "barrier; write(a[0], 1, mem[0], 0); write(a[1], 1, mem[1], 0);",
    "MPI_Type_vector(2, 1, 2, MPI_INT, &t); MPI_Type_commit(&t); MPI_Put(a, 1, t, 1, 0, 2, MPI_INT, w);": "barrier; write(a[0], 1, mem[0], 0); write(a[2], 1, mem[1], 0);",
}


@pytest.mark.parametrize(("call", "expected"), CALLS.items())
def test_call(call: str, expected: str) -> None:
    assert lowered(call) == expected
