"""Random C programs for any number of nodes, with OpenSHMEM or MPI: ranks and their number in variables, loops and
tests."""

from __future__ import annotations

import re
from random import Random

HEADER = """#include <shmem.h>
static int x, y, z, a[4], kept;
static int next_to(int rank, int by, int npes) { return (rank + by) % npes; }
static void send(int *to, int *of, int rank) { if (rank >= 0) shmem_int_put_nbi(to, of, 1, rank); }
int main(void) {
  shmem_init();
  int me = shmem_my_pe(), npes = shmem_n_pes(), r = 0, s = 0;
"""
PEERS = (
    "(me + 1) % npes", "(me + 1) % npes", "(me + npes - 1) % npes", "next_to(me, 2, npes)", "0", "0", "me", "npes - 1",
    "npes - 1 - me", "me > 0 ? me - 1 : npes - 1", "me ^ (me < npes / 2 * 2)",
    "(int) (((size_t) me - 1 + npes) % npes)",
)  # fmt: skip
TESTS = (
    "me == 0", "me == npes - 1", "me < npes - 1", "me > 0", "me % 2", "r == 0", "me + 1 < npes && me % 2 == 0", "peer",
    "npes > 3", "!me", "r < me", "kept == me",
)  # fmt: skip
MPI_HEADER = """#include <mpi.h>
static int window[2], y, kept;
static int next_to(int rank, int by, int npes) { return (rank + by) % npes; }
int main(void) {
  int me, npes, r = 0, s = 0;
  MPI_Win win;
  MPI_Init(0, 0);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &npes);
  MPI_Win_create(window, sizeof window, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
"""
MPI_STATEMENTS = (
    "MPI_Put(&{own}, 1, MPI_INT, {to}, {place}, 1, MPI_INT, win); {done}",
    "MPI_Put(&{own}, 1, MPI_INT, {to}, {place}, 1, MPI_INT, win); {done}",
    "MPI_Get(&{own}, 1, MPI_INT, {to}, {place}, 1, MPI_INT, win); {done}",
    "MPI_Accumulate(&{own}, 1, MPI_INT, {to}, {place}, 1, MPI_INT, MPI_SUM, win); {done}",
    "MPI_Fetch_and_op(&y, &kept, MPI_INT, {to}, {place}, MPI_SUM, win); {done}",
    "{own} = {v};",
    "r = {own};",
    "r = window[{place}];",
    "peer = {peer};",
    "{done}",
    "MPI_Barrier(MPI_COMM_WORLD);",
)
MPI_COMPLETIONS = (
    "MPI_Win_flush({to}, win);", "MPI_Win_flush(peer, win);", "MPI_Win_flush_local({to}, win);",
    "MPI_Win_flush_all(win);", "",
)  # fmt: skip
MPI_BLOCKS = (
    "if ({test}) {{ {one} }}",
    "if ({test}) {{ {one} }} else {{ {other} }}",
    "for (int i = 0; i < 2; i++) {{ {one} {other} }}",
    "for (int i = 0; i < npes; i++) {{ peer = i; {one} }}",
)
COMPLETIONS = ("shmem_quiet();", "shmem_quiet();", "shmem_fence();", "shmem_barrier_all();", "shmem_sync_all();", "")
STATEMENTS = (
    "shmem_int_put_nbi({at}, {of}, 1, {to}); {done}",
    "shmem_int_put_nbi({at}, {of}, 1, {to}); {done}",
    "shmem_int_put({at}, {of}, 1, {to}); {done}",
    "shmem_int_p({at}, {v}, {to}); {done}",
    "shmem_int_get_nbi({at}, {of}, 1, {to}); {done}",
    "shmem_int_get({at}, {of}, 1, {to});",
    "send({at}, {of}, {to}); {done}",
    "r = shmem_int_g({at}, {to});",
    "r = shmem_int_atomic_fetch_add({at}, 1, {to});",
    "shmem_int_atomic_add({at}, 1, {to}); {done}",
    "shmem_int_put_signal({at}, {of}, 1, &flag, 1, SHMEM_SIGNAL_SET, {to});",
    "*{at} = {v};",
    "r = *{at};",
    "r = *{at};",
    "kept = {v};",
    "peer = {peer};",
    "a[{v} & 3] = 1;",
    "shmem_quiet();",
    "shmem_barrier_all();",
    "shmem_barrier(0, 0, npes, sync);",
)
BLOCKS = (
    "if ({test}) {{ {one} }}",
    "if ({test}) {{ {one} }}",
    "if ({test}) {{ {one} }} else {{ {other} }}",
    "for (int i = 0; i < npes; i++) {{ peer = i; {one} }}",
    "for (int i = 0; i < 2; i++) {{ {one} {other} }}",
    "for (int i = 1; i < npes; i *= 2) {{ {one} }}",
    "while (r < 2) {{ {one} r++; }}",
    "switch (me) {{ case 0: {one} break; default: {other} }}",
)


class _Draw:
    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.cells = self.random.choice((("&x", "&y"), ("&x", "&y"), ("&x",), ("&x", "&y", "&a[1]"), ("a", "&a[1]")))
        self.peers = self.random.sample(PEERS, 2)
        self.done = self.random.sample(COMPLETIONS, 3)
        self.left = self.random.choice((2, 3, 3, 4, 5))

    def statement(self, depth: int = 0) -> str:
        self.left -= 1
        pick = self.random.choice
        if depth < 2 and self.random.random() < 0.25:
            one, other = self.statement(depth + 1), self.statement(depth + 1)
            return pick(BLOCKS).format(test=pick(TESTS), one=one, other=other)
        return pick(STATEMENTS).format(
            at=pick(self.cells), of=pick(self.cells), to=pick(("peer", "peer", *self.peers)), peer=pick(self.peers),
            done=pick(self.done), v=pick(("1", "me", "r", "r + 1", "npes", "peer")),
        )  # fmt: skip

    def program(self) -> str:
        lines = [f"  int peer = {self.peers[0]};"]
        while self.left > 0:
            lines.append(f"  {self.statement()}")
        flags = "static uint64_t flag; static long sync[SHMEM_BARRIER_SYNC_SIZE];\n"
        return "\n".join((HEADER.replace("static int x", f"{flags}static int x"), *lines, "  return r + s + z;", "}"))


class _DrawMpi(_Draw):
    def statement(self, depth: int = 0) -> str:
        self.left -= 1
        pick = self.random.choice
        if depth < 2 and self.random.random() < 0.2:
            one, other = self.statement(depth + 1), self.statement(depth + 1)
            return pick(MPI_BLOCKS).format(test=pick(TESTS), one=one, other=other)
        to = pick(("peer", *self.peers, "me ? me - 1 : MPI_PROC_NULL"))
        return pick(MPI_STATEMENTS).format(
            to=to, own=pick(("y", "window[0]", "window[1]")), place=pick(("0", "1")), peer=pick(self.peers),
            done=pick(MPI_COMPLETIONS).format(to=to), v=pick(("1", "me", "r", "npes", "peer")),
        )  # fmt: skip

    def program(self) -> str:
        before, after = self.random.choice(
            (("MPI_Win_fence(0, win);",) * 2, *(("MPI_Win_lock_all(0, win);", "MPI_Win_unlock_all(win);"),) * 3)
        )
        lines = [f"  int peer = {self.peers[0]};", f"  {before}"]
        while self.left > 0:
            lines.append(f"  {self.statement()}")
        if "fence" in before:  # which flushes nothing
            lines = [re.sub(r"MPI_Win_flush\w*\([^;]*;", "", line) for line in lines]
        return "\n".join((MPI_HEADER, *lines, f"  {after}", "  r = window[0];", "  return r + s;", "}"))


def drawn_mpi(seed: int) -> str:
    """The program with MPI of ``seed``."""
    return _DrawMpi(seed).program()


def drawn_c(seed: int) -> str:
    """The program with OpenSHMEM of ``seed``."""
    return _Draw(seed).program()
