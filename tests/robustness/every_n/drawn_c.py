"""Random C programs with OpenSHMEM for any number of nodes: ranks and their number in variables, loops and tests."""

from __future__ import annotations

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


def drawn_c(seed: int) -> str:
    """The program of ``seed``."""
    return _Draw(seed).program()
