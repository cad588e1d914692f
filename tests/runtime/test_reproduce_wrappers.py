"""What the shim takes the functions of a library for, by their names."""

from __future__ import annotations

from pgasrob.runtime.interposed import PREFIXES, Function, declarations
from pgasrob.runtime.reproduce.wrappers import collective, holds, interposed, wrappers

SHMEM = """
void shmem_init(void); void shmem_finalize(void); int shmem_my_pe(void); void shmem_quiet(void); void shmem_fence(void);
void shmem_int_put(int *target, const int *source, size_t len, int pe);
void shmem_ctx_int_put(shmem_ctx_t ctx, int *target, const int *source, size_t len, int pe);
void shmem_int_put_nbi(int *target, const int *source, size_t len, int pe);
void shmem_put32(void *target, const void *source, size_t len, int pe);
void shmem_putmem(void *target, const void *source, size_t len, int pe);
void shmem_int_iput(int *target, const int *source, ptrdiff_t tst, ptrdiff_t sst, size_t len, int pe);
void shmem_int_p(int *addr, int value, int pe); int shmem_int_g(const int *addr, int pe);
void shmem_int_get(int *target, const int *source, size_t len, int pe);
void shmem_int_get_nbi(int *target, const int *source, size_t len, int pe);
void shmem_int_atomic_inc(int *target, int pe); void shmem_int_add(int *target, int value, int pe);
int shmem_int_atomic_fetch_inc(int *target, int pe); int shmem_int_atomic_fetch_add(int *target, int value, int pe);
int shmem_int_atomic_compare_swap(int *target, int cond, int value, int pe); int shmem_int_finc(int *target, int pe);
void shmem_int_wait_until(volatile int *addr, int cmp, int value); int shmem_int_test(volatile int *a, int c, int v);
void shmem_barrier_all(void); void shmem_sync_all(void); void shmem_broadcast64(void *t, const void *s, size_t n, int r,
    int start, int stride, int size, long *psync);
void *shmem_malloc(size_t size); void shmem_set_lock(volatile long *lock); void shmem_clear_lock(volatile long *lock);
int shmem_ctx_create(long options, shmem_ctx_t *ctx); void shmem_ctx_quiet(shmem_ctx_t ctx);
"""
HELD = {
    *("shmem_int_put", "shmem_ctx_int_put", "shmem_int_put_nbi", "shmem_put32", "shmem_putmem", "shmem_int_iput"),
    *("shmem_int_p", "shmem_int_get_nbi", "shmem_int_atomic_inc", "shmem_int_add"),
}
LEFT_ALONE = {"shmem_my_pe", "shmem_ctx_create"}
MEETING = {"shmem_barrier_all", "shmem_sync_all", "shmem_broadcast64", "shmem_malloc"}


def known() -> list[Function]:
    return list(declarations(SHMEM, PREFIXES["openshmem"]))


def body(name: str) -> str:
    """The function that stands before ``name``."""
    text = wrappers("openshmem", [function for function in known() if function.name == name])
    return text[text.index(f"#undef {name}\n") :]


def test_what_is_held_and_what_is_left_alone() -> None:
    functions = known()
    assert len(functions) == 31
    assert {function.name for function in functions if holds(function.name)} == HELD
    assert {function.name for function in functions if not interposed("openshmem", function)} == LEFT_ALONE
    assert {function.name for function in functions if collective(function.name)} == MEETING


def test_an_operation_that_gives_something_back_is_not_held() -> None:
    for function in known():
        assert function.result == "void" or not holds(function.name)


def test_a_blocking_put_has_its_source_copied() -> None:
    assert "target, source, sizeof *target, len, 1, 1, pe, 1)" in body("shmem_int_put")
    assert "target, source, sizeof *target, len, 1, 1, pe, 0)" in body("shmem_int_put_nbi")
    assert "pgasrob_put(entry, ctx, target" in body("shmem_ctx_int_put")
    assert "source, 4, len" in body("shmem_put32") and "source, 1, len" in body("shmem_putmem")
    assert "tst, sst, pe, 1)" in body("shmem_int_iput")


def test_what_completes_operations() -> None:
    """OpenSHMEM 1.4: quiet, barrier_all, clear_lock and what frees or makes symmetric memory; fence orders them."""
    default = "pgasrob_complete((void *)SHMEM_CTX_DEFAULT, -1);"
    for name in ("shmem_quiet", "shmem_barrier_all", "shmem_malloc", "shmem_clear_lock"):
        assert default in body(name)
    assert "pgasrob_complete((void *)ctx, -1);" in body("shmem_ctx_quiet")
    assert "pgasrob_complete_all();" in body("shmem_finalize")
    for name in ("shmem_fence", "shmem_sync_all", "shmem_int_get", "shmem_int_atomic_fetch_inc", "shmem_broadcast64"):
        assert "complete" not in body(name)
    assert "pgasrob_fence((void *)SHMEM_CTX_DEFAULT);" in body("shmem_fence")


MPI = """
int MPI_Put(const void *from, int n, MPI_Datatype t, int rank, MPI_Aint at, int m, MPI_Datatype u, MPI_Win win);
int MPI_Rget(void *to, int n, MPI_Datatype t, int rank, MPI_Aint at, int m, MPI_Datatype u, MPI_Win win,
    MPI_Request *request);
int MPI_Win_flush(int rank, MPI_Win win); int MPI_Win_flush_local_all(MPI_Win win); int MPI_Win_unlock(int rank,
    MPI_Win win); int MPI_Win_fence(int assert, MPI_Win win); int MPI_Barrier(MPI_Comm comm);
int MPI_Win_sync(MPI_Win win); int MPI_Comm_rank(MPI_Comm comm, int *rank); int MPI_Win_free(MPI_Win *win);
"""


def test_mpi() -> None:
    functions = {function.name: function for function in declarations(MPI, PREFIXES["mpi"])}
    assert {name for name in functions if holds(name)} == {"MPI_Put", "MPI_Rget"}
    assert not interposed("mpi", functions["MPI_Comm_rank"])
    text = wrappers("mpi", functions.values())
    assert "pgasrob_transfer(entry, PUT, from, n, t, NULL, NULL, 0, MPI_DATATYPE_NULL, rank, at, m, u" in text
    assert "NULL, 0, MPI_DATATYPE_NULL, NULL, to, n, t, rank, at, m, u, MPI_NO_OP, win, request)" in text
    assert text.count("pgasrob_complete(PLACE(win), rank);") == 2  # flush, unlock
    assert "pgasrob_complete_locally(PLACE(win), -1);" in text
    assert "PLACE(*win)" in text and "PLACE(win);" in text  # free, fence
    barrier = text[text.index("#undef MPI_Barrier") : text.index("#undef MPI_Win_sync")]
    assert "complete" not in barrier
