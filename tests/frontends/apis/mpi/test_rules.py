"""MPI: calls that are not allowed where they stand."""

from __future__ import annotations

import pytest

from pgasrob.api import check
from pgasrob.frontends.lower import parse_c
from tests.frontends.apis.mpi.calls import PRELUDE

SHARED = "MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, w);"
ILLEGAL = {
    f"{SHARED} {SHARED} MPI_Win_unlock(1, w);": "mpi-lock-twice: MPI_Win_lock of rank 1, which is locked already",
    "MPI_Win_unlock(1, w);": "mpi-unlock-unlocked: MPI_Win_unlock of rank 1, which is not locked",
}


def illegal(text: str, nodes: int = 2) -> list[str]:
    """The rules that are broken, and how."""
    verdict = check(parse_c(PRELUDE.replace("%s", text)), nodes=nodes)
    return [f"{each.call.rule.code}: {each.call.sentence}" for each in verdict.illegal_calls]


@pytest.mark.parametrize(("text", "expected"), ILLEGAL.items())
def test_illegal(text: str, expected: str) -> None:
    assert illegal(text) == [expected]
