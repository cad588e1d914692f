"""Atomic variables of C11, and what is refused of them."""

from __future__ import annotations

import pytest

from pgasrob.diagnostics import SourceError
from pgasrob.frontends.lower import parse_c
from tests.frontends.apis.lowering import threads

PROGRAM = """#include <shmem.h>
#include <stdatomic.h>
#include <pthread.h>
atomic_int n = 2, m; long x;
static void *work(void *p) {{ shmem_quiet(); {work} return 0; }}
int main(void) {{ int p; pthread_t t; shmem_init_thread(SHMEM_THREAD_MULTIPLE, &p);
atomic_init(&m, 0); pthread_create(&t, 0, work, 0); x = atomic_load_explicit(&n, memory_order_acquire);
pthread_join(t, 0); shmem_finalize(); return 0; }}
"""


@pytest.mark.parametrize(
    ("work", "command"),
    [
        ("atomic_fetch_add(&n, 3);", "fetch_update(add, 0, n, 3) as _Atomic int;"),
        ("atomic_fetch_sub_explicit(&n, 3, memory_order_relaxed);", "fetch_update(add, 0, n, -3) as _Atomic int;"),
        ("atomic_store(&n, 7);", "swap(0, n, 7) as _Atomic int;"),
        ("atomic_store_explicit(&n, 7, memory_order_release);", "mem[n] <- 7 as _Atomic int;"),
        ("atomic_exchange(&n, 7);", "swap(0, n, 7) as _Atomic int;"),
    ],
)
def test_functions(work: str, command: str) -> None:
    found = threads(PROGRAM.format(work=work))
    assert [line for line in found[0, 1] if line.endswith(command)], found[0, 1]
    assert [line for line in found[0, 0] if "mem[n] as _Atomic int" in line]


@pytest.mark.parametrize("work", ["n++;", "n = 1;", "x = n;", "atomic_int *q = &n;", "if (m) x = 1;"])
def test_what_is_refused(work: str) -> None:
    with pytest.raises(SourceError) as caught:
        parse_c(PROGRAM.format(work=work)).program(2)
    (found,) = caught.value.diagnostics
    assert found.code == "PG104" and found.line == 5 and "atomic_load" in found.hint
