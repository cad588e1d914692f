"""Calls of implementations that have become standard are those of the standard."""

from __future__ import annotations

import pytest

from pgasrob.diagnostics import SourceError
from pgasrob.frontends.apis.openshmem import API
from tests.frontends.apis.lowering import processes

FRAME = """#include <shmem.h>
#include <shmemx.h>
static long x, y; static int32_t small; static uint64_t s; static int32_t pwrk[4]; static long psync[4];
int main(void) {{ shmem_init(); int me = shmem_my_pe(); shmem_ctx_t c; if (me == 0) {{ {} }} shmem_finalize(); }}"""


@pytest.mark.parametrize(
    "call",
    [
        "shmem_putmem_signal(&x, &y, 8, &s, 1, SHMEM_SIGNAL_SET, 1);",
        "shmem_long_put_signal_nbi(&x, &y, 1, &s, 1, SHMEM_SIGNAL_ADD, 1);",
        "shmem_signal_wait_until(&s, SHMEM_CMP_EQ, 1);",
        "shmem_int32_p(&small, 3, 1);",
        "shmem_int64_fadd((int64_t *)&x, 3, 1);",
        "shmem_int32_atomic_fetch_and(&small, 3, 1);",
        "shmem_int32_sum_to_all(&small, &small, 1, 0, 0, 1, pwrk, psync);",
        "shmem_long_wait_until_any(&x, 1, NULL, SHMEM_CMP_GT, 0);",
        "shmem_ctx_create(0, &c); shmem_ctx_quiet(c);",
    ],
)
def test_what_calls_do(call: str) -> None:
    extended = FRAME.format(call.replace("shmem_", "shmemx_").replace("shmemx_ctx_t", "shmem_ctx_t"))
    assert processes(extended) == processes(FRAME.format(call))
    assert len(processes(extended)[0]) > 1


def test_how_many_there_are() -> None:
    """Every one takes what its function of the standard takes."""
    found = [name for name in API.functions if name.startswith("shmemx_") and name != "shmemx_wtime"]
    assert len(found) > 1_000
    for name in found:
        text = API.declaration(name, ())
        assert text is not None and text.replace("shmemx_", "shmem_") == API.declaration(
            name.replace("shmemx_", "shmem_"), ()
        )
    assert not {"shmemx_init", "shmemx_put", "shmemx_long_p", "shmemx_quiet", "shmemx_barrier_all"} & {*found}


def test_others_are_refused() -> None:
    for call in ("shmemx_alltoall_global_nb(&x, &y, 8, &x);", "shmemx_fence_test();"):
        with pytest.raises(SourceError, match="not one that has become standard"):
            processes(FRAME.format(call))
    assert processes(FRAME.format("double t = shmemx_wtime(); if (t > 3) shmem_long_p(&x, 1, 1);"))[0]


@pytest.mark.parametrize("name", ["putmem_signal", "putmem_signal_nbi", "long_put_signal", "put64_signal_nbi"])
def test_puts_with_a_signal_that_is_set(name: str) -> None:
    """Before 1.5 they had no argument for the operation, as in Sandia OpenSHMEM and Cray SHMEM."""
    call = f"shmemx_{name}(&x, &y, 1, &s, 7, {{}}1);"
    with_operation, without = (processes(FRAME.format(call.format(each))) for each in ("SHMEM_SIGNAL_SET, ", ""))
    assert with_operation == without
    assert processes(FRAME.format(call.format("SHMEM_SIGNAL_ADD, "))) != without
    with pytest.raises(SourceError):
        processes(FRAME.format(call.format("").replace("shmemx_", "shmem_")))
