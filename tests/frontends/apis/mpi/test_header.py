"""The numbers and types of `mpi.h`, as in Open MPI."""

from __future__ import annotations

import pytest

from pgasrob.frontends.apis.mpi.header import CONSTANTS, NAMED, TYPES
from pgasrob.frontends.c.layout import size_of
from pgasrob.frontends.c.values import Known


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("MPI_SUCCESS", 0), ("MPI_PROC_NULL", -2), ("MPI_ANY_TAG", -1), ("MPI_UNDEFINED", -32766),
        ("MPI_LOCK_SHARED", 2),
        ("MPI_MODE_NOSUCCEED", 16), ("MPI_WIN_MODEL", 11), ("MPI_WIN_FLAVOR_SHARED", 4), ("MPI_THREAD_MULTIPLE", 3),
        ("MPI_ORDER_FORTRAN", 1), ("MPI_UNEQUAL", 3), ("MPI_ERR_LASTCODE", 92), ("MPI_ERR_RMA_CONFLICT", 49),
        ("MPI_WTIME_IS_GLOBAL", 3), ("MPI_COMM_TYPE_SHARED", 0), ("MPI_SUBVERSION", 1), ("MPI_WIN_NULL", 0),
    ],
)  # fmt: skip
def test_numbers_of_constants(name: str, number: int) -> None:
    assert CONSTANTS[name][1] == Known(number)


def test_the_size_of_a_status_and_of_datatypes() -> None:
    assert size_of(TYPES["MPI_Status"]) == 24
    for name, data in {"MPI_DOUBLE_INT": (0, 8, 16), "MPI_2INT": (0, 4, 8), "MPI_INT": (0, 0, 4)}.items():
        handle = CONSTANTS[name][1]
        names, places, lower, extent, made, committed = handle.data  # type: ignore[union-attr]
        assert (lower, places[-1], extent, made, committed) == (*data, (), NAMED), name  # type: ignore[index]
        assert len(names) == len(places)  # type: ignore[arg-type]
