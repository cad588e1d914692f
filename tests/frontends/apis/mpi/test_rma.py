# ruff: noqa: E501
"""MPI, `rma`: what calls lower to on rank 0, read against API_SEMANTICS line by line."""

from __future__ import annotations

import pytest

import pgasrob
from pgasrob.diagnostics import SourceError
from pgasrob.frontends.lower import parse_c
from tests.frontends.apis.mpi.calls import lowered

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
    "MPI_Put(a, 1, MPI_INT, MPI_PROC_NULL, 1, 1, MPI_INT, w);": "barrier;",
}

ERRORS = {
    "MPI_Put(a, 1, MPI_INT, 1, 4, 1, MPI_INT, w);": "MPI_Put at displacement 4 of rank 1 accesses bytes 16 to 19 of the window w, which has 16 bytes there",
}


@pytest.mark.parametrize(("call", "expected"), CALLS.items())
def test_call(call: str, expected: str) -> None:
    assert lowered(call) == expected


@pytest.mark.parametrize(("call", "expected"), ERRORS.items())
def test_error(call: str, expected: str) -> None:
    with pytest.raises(SourceError, match=expected):
        lowered(call)


OF_ONE_RANK = """#include <mpi.h>
#include <assert.h>
int main(int argc, char **argv) {
  int me, *p, one = 1, old;
  MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Win w;
  MPI_Win_allocate(me == 0 ? 8 : 0, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &w);
  if (me == 0) p[0] = p[1] = 0;
  MPI_Win_fence(0, w);
  if (me == 1) MPI_Fetch_and_op(&one, &old, MPI_INT, 0, 0, MPI_SUM, w);
  if (me == 1) MPI_Put(&one, 1, MPI_INT, 0, 1, 1, MPI_INT, w);
  MPI_Win_fence(0, w);
  if (me == 0) assert(p[0] == 1 && p[1] == 1);
  MPI_Win_free(&w); MPI_Finalize();
}
"""


def test_the_target_alone_has_memory() -> None:
    """How large a window is is what its own rank has said."""
    verdict = pgasrob.check(parse_c(OF_ONE_RANK), 2)
    assert verdict.verdict == "robust" and verdict.assertions == "hold"


def test_what_is_wrong_with_a_window_is_not_said_of_a_variable_that_has_a_copy() -> None:
    swap = "MPI_Get(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, w); MPI_Win_fence(0, w);"
    swap += " MPI_Compare_and_swap(&old, &one, &old, MPI_INT, 0, 0, w);"
    source = OF_ONE_RANK.replace("MPI_Fetch_and_op", f"{swap} if (me == 2) MPI_Fetch_and_op")
    source = (
        source.replace("if (me == 1) MPI_Get", "MPI_Get").replace("*p, one", "one").replace("old;", "old; unsigned *p;")
    )
    with pytest.raises(SourceError, match="what `p` holds, which is set with another sign"):
        parse_c(source).instantiate(2)
