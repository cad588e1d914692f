# ruff: noqa: E501
"""MPI, `setup`: what calls lower to on rank 0, read against API_SEMANTICS line by line."""

from __future__ import annotations

import pytest

from pgasrob.diagnostics import SourceError
from tests.frontends.apis.mpi.calls import lowered

CALLS = {
    'MPI_Info i; MPI_Info_create(&i); MPI_Info_set(i, "no_locks", "true"); MPI_Info_free(&i); int *p; MPI_Alloc_mem(8, MPI_INFO_NULL, &p); p[0] = 4; MPI_Free_mem(p); MPI_Finalize();': "barrier;",
}

NAME = "char text[MPI_MAX_OBJECT_NAME]; int length;"
ERRORS = {
    f'{NAME} MPI_Comm_set_name(MPI_COMM_WORLD, "x"); MPI_Comm_get_name(MPI_COMM_WORLD, text, &length);': "MPI_Comm_get_name behind",
    "MPI_Op o; MPI_Op_create(NULL, 1, &o);": "`MPI_Op_create` is not supported",
    "MPI_Iscan(a, b, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r);": "`MPI_Iscan` is not supported",
}


@pytest.mark.parametrize(("call", "expected"), CALLS.items())
def test_call(call: str, expected: str) -> None:
    assert lowered(call) == expected


@pytest.mark.parametrize(("call", "expected"), ERRORS.items())
def test_error(call: str, expected: str) -> None:
    with pytest.raises(SourceError, match=expected):
        lowered(call)
