"""Random programs in which addresses, ranks, queues and operands may be out of range, where runs come to and where
none does."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

SMALL = ("0", "1", "2", "nodes - 1", "1 - me", "(me + 1) % nodes", "me")
WRONG = (
    "-1", "7", "1000", "nodes", "nodes + me", "me - 1", "2147483647", "0 - 2147483647 - 1", "r", "r - 1", "r + me", "s",
    "r * 1000000", "1 / r", "3 % me", "1 << r", "1 << 40", "-r", "!r", "r > 0 ? 1 : 9", "a + r", "a + 3", "a - 1",
    "x - 1", "q", "q + 1", "q - 1", "r & 3", "mem", "x * a",
)  # fmt: skip
CELLS = ("x", "y", "a", "a + 1", "a + 2", "flag")


class _Pgas:
    def __init__(self, random: Random) -> None:
        self._random = random

    def one(self, *of: str) -> str:
        return self._random.choice(of)

    def wrong(self, usual: tuple[str, ...]) -> str:
        found = self._random.choice(usual if self._random.random() < 0.8 else WRONG)
        return "x" if found == "mem" else found

    def cell(self) -> str:
        return self.wrong(CELLS)

    def rank(self) -> str:
        return self.wrong(SMALL)

    def queue(self) -> str:
        return self.wrong(("q", "q", "p"))

    def value(self) -> str:
        return self.wrong(("r", "1", "2", "me", "r + 1", "s"))

    def told(self) -> str:
        return self.one("set", "add", "add", "or", "max")

    def command(self) -> str:
        c, k, q, v, one = self.cell, self.rank, self.queue, self.value, self.one
        register = one("r", "s")
        forms: tuple[Callable[[], str], ...] = (
            lambda: f"{register} <- mem[{c()}];",
            lambda: f"mem[{c()}] <- {v()};",
            lambda: f"{register} <- mem[{c()} @ {k()}];",
            lambda: f"mem[{c()} @ {k()}] <- {v()};",
            lambda: f"{register} <- {v()};",
            lambda: f"write({c()}, {k()}, {c()}, {q()});",
            lambda: f"put({c()}, {k()}, {c()}, {q()});",
            lambda: f"read({c()}, {k()}, {c()}, {q()});",
            lambda: f"wait({q()});",
            lambda: f"wait_local({q()});",
            lambda: f"fence({q()}, {k()});",
            lambda: f"fence({q()});",
            lambda: f"await(mem[{c()}] {one('==', '!=', '>=', '<')} {v()});",
            lambda: "barrier;",
            lambda: f"{register} <- fetch_add({k()}, {c()}, {v()});",
            lambda: f"{register} <- swap({k()}, {c()}, {v()});",
            lambda: f"{register} <- compare_swap({k()}, {c()}, {v()}, {v()});",
            lambda: f"{register} <- fetch({k()}, {c()});",
            lambda: f"{register} <- fetch_update({one('or', 'and', 'max')}, {k()}, {c()}, {v()});",
            lambda: f"await_add({k()}, mem[{c()}] {one('==', '>')} {v()}, {v()});",
            lambda: f"update({self.told()}, {v()}, {k()}, {c()}, {q()});",
            lambda: f"update({self.told()}, {v()}, {k()}, {c()}, {q()}, {c()});",
            lambda: f"update(compare_swap, {v()}, {v()}, {k()}, {c()}, {q()}, {c()});",
            lambda: f"update_from({self.told()}, {c()}, {k()}, {c()}, {q()}, {c()});",
            lambda: f"update_located({self.told()}, {v()}, {k()}, {c()}, {q()});",
            lambda: f"notify({one('set', 'add')}, {v()}, {k()}, {c()}, {q()});",
            lambda: f"notify_all({one('set', 'add')}, {v()}, {k()}, {c()}, {q()});",
            lambda: f"bundle; signal({one('set', 'add')}, {v()}, {k()}, {c()}, {q()});",
            lambda: f"assert({v()} {one('==', '<')} {v()});",
        )
        return self._random.choice(forms)()

    def block(self, depth: int, most: int) -> str:
        return " ".join(self.statement(depth) for _ in range(self._random.randint(1, most)))

    def statement(self, depth: int) -> str:
        if not depth or self._random.random() < 0.65:
            return self.command()
        inner = self.block(depth - 1, 2)
        forms = (
            f"if ({self.value()}) {{ {inner} }}",
            f"if (r == {self.rank()}) {{ {inner} }} else {{ {self.block(depth - 1, 1)} }}",
            f"if (0) {{ {inner} }}",
            f"assume(0); {inner}",
            f"while (r < 2) {{ {inner} r <- r + 1; }}",
            f"choose {{ {inner} }} or {{ {self.block(depth - 1, 1)} }}",
            f"r <- 0; while (r == 0) {{ r <- mem[{self.cell()}]; }}",
            f"if (me == 7) {{ {inner} }}",
            f"if (r > 1 && r < 1) {{ {inner} }}",
            f"r <- mem[y]; if (r == 9) {{ {inner} }}",
            f"loop {{ {inner} }}",
        )
        return self._random.choice(forms)

    def text(self) -> str:
        memory = "memory x = 1, y, flag, a[3] = {1, 2, 3};"
        head = f"nodes {self.one('1', '2', '2', '3')}; {memory} register r, s; queue q, p{self.one('', ' unordered')};"
        processes = f"process {{ {self.block(2, 5)} }}"
        if self._random.random() < 0.3:
            processes = f"process 0 {{ {self.block(2, 3)} }} {processes}"
        return f"{head}\n{processes}\n"


INDICES = ("0", "1", "me", "1 - me", "i")
WRONG_INDICES = (
    "-1", "5", "1000000", "n", "n - 1", "me - 1", "n * 1000", "-2147483647", "r", "r + 3", "rand()", "1 << me",
    "1 / me", "m[0]", "m[3]", "sizeof(m)", "1L << 62", "r % 7",
)  # fmt: skip


class _C:
    def __init__(self, random: Random) -> None:
        self._random = random

    def one(self, *of: str) -> str:
        return self._random.choice(of)

    def index(self) -> str:
        return self._random.choice(INDICES if self._random.random() < 0.75 else WRONG_INDICES)

    def place(self) -> str:
        return self.one(f"&m[{self.index()}]", f"m + {self.index()}", "&x", "&f", f"&x + {self.index()}", "m")

    def rank(self) -> str:
        return self._random.choice(("1 - me", "0", "me") if self._random.random() < 0.8 else WRONG_INDICES)

    def count(self) -> str:
        return self._random.choice(("1", "2") if self._random.random() < 0.8 else WRONG_INDICES)

    def command(self) -> str:
        p, k, c, i, one = self.place, self.rank, self.count, self.index, self.one
        forms: tuple[Callable[[], str], ...] = (
            lambda: f"m[{i()}] = {i()};",
            lambda: f"r = m[{i()}];",
            lambda: f"*({p()}) = {i()};",
            lambda: f"r = *({p()});",
            lambda: f"shmem_long_put({p()}, {p()}, {c()}, {k()});",
            lambda: f"shmem_long_get({p()}, {p()}, {c()}, {k()});",
            lambda: f"shmem_long_iput({p()}, {p()}, {c()}, {c()}, {c()}, {k()});",
            lambda: f"shmem_putmem({p()}, {p()}, {c()} * sizeof(long), {k()});",
            lambda: f"shmem_long_put_nbi({p()}, {p()}, {c()}, {k()});",
            lambda: f"shmem_long_p({p()}, {i()}, {k()});",
            lambda: f"r = shmem_long_g({p()}, {k()});",
            lambda: f"r = shmem_long_atomic_fetch_add({p()}, {i()}, {k()});",
            lambda: f"shmem_long_atomic_add({p()}, {i()}, {k()});",
            lambda: f"r = shmem_long_atomic_compare_swap({p()}, 0, 1, {k()});",
            lambda: f"shmem_long_put_signal({p()}, {p()}, {c()}, &sig[{i()}], 1, SHMEM_SIGNAL_SET, {k()});",
            lambda: f"shmem_signal_wait_until(&sig[{i()}], SHMEM_CMP_EQ, 1);",
            lambda: f"shmem_long_wait_until({p()}, SHMEM_CMP_{one('EQ', 'NE', 'GE')}, {i()});",
            lambda: f"shmem_long_sum_reduce(SHMEM_TEAM_WORLD, {p()}, {p()}, {c()});",
            lambda: f"shmem_long_broadcast(SHMEM_TEAM_WORLD, {p()}, {p()}, {c()}, {k()});",
            lambda: f"memcpy({p()}, {p()}, {c()} * sizeof(long));",
            lambda: f"memset({p()}, 0, {c()});",
            lambda: "shmem_quiet();",
            lambda: "shmem_fence();",
            lambda: "shmem_barrier_all();",
            lambda: f"{{ long *q = shmem_ptr({p()}, {k()}); if (q) q[{i()}] = 1; }}",
            lambda: f"{{ long *q = shmem_malloc({c()} * sizeof(long)); q[{i()}] = 1; shmem_free(q); }}",
            lambda: f"{{ long l[2]; l[{i()}] = 1; r = l[{i()}]; }}",
            lambda: f"assert(m[{i()}] < 9);",
        )
        return self._random.choice(forms)()

    def statement(self, depth: int) -> str:
        if not depth or self._random.random() < 0.6:
            return self.command()
        inner = " ".join(self.statement(depth - 1) for _ in range(self._random.randint(1, 3)))
        forms = (
            f"if (me == {self.rank()}) {{ {inner} }}",
            f"if (m[{self.index()}]) {{ {inner} }}",
            f"if (0) {{ {inner} }}",
            f"if (me > 7) {{ {inner} }}",
            f"if (shmem_long_g(&x, 0) == 9) {{ {inner} }}",
            f"if (r) {{ {inner} }} else {{ {self.command()} }}",
            f"for (i = 0; i < {self.count()} && i < 3; i++) {{ {inner} }}",
            f"while ({self.one('m[0]', f'shmem_long_g({self.place()}, {self.rank()})')} > 5) {{ {inner} }}",
            f"if (n < 0) return 0; {inner}",
        )
        return self._random.choice(forms)

    def text(self) -> str:
        head = "#include <shmem.h>\n#include <assert.h>\n#include <stdlib.h>\n#include <string.h>\n"
        head += "long x, f, m[3];\nuint64_t sig[2];\n"
        body = "\n".join(self.statement(2) for _ in range(self._random.randint(1, 5)))
        begin = "shmem_init(); int me = shmem_my_pe(), n = shmem_n_pes(); long r = 0; int i = 0;"
        return f"{head}int main(void) {{ {begin}\n{body}\nshmem_finalize(); return 0; }}\n"


def faulty(random: Random) -> tuple[str, str]:
    """The ending of its file, and the text of a program."""
    return (".c", _C(random).text()) if random.random() < 0.4 else (".pgas", _Pgas(random).text())
