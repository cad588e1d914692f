"""Random programs with an assertion and with waits, on any number of nodes, in the core language and in C."""

from __future__ import annotations

import re
from random import Random

RIGHT, LEFT = "(me + 1) % nodes", "(me + nodes - 1) % nodes"
VALUES = ("1", "1", "1", "me + 1", "2", "nodes", "r")
TESTS = (
    "r == 1", "r == 1", "r != 0", "r > 0", "r == 2", "r <= nodes", "r == nodes", "r == me + 1",
    f"r == {LEFT} + 1", f"r == {RIGHT} + 1", "r == s", "me > 1 || r == 1",
)  # fmt: skip
GUARDS = ("me == 0", "me == 1", "me > 0", "me < nodes - 1", "me < 2", "me % 2", "r == 1", "r > 0")


class _Draw:
    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.to, self.back = self.random.choice(
            ((RIGHT, LEFT), (RIGHT, LEFT), (LEFT, RIGHT), ("me < 2 ? 1 - me : me",) * 2, ("0", "nodes - 1"), ("0", "0"))
        )
        self.all_at_once = self.random.random() < 0.6  # mostly programs in which ranks do not miss each other

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    def program(self) -> str:
        lines = []
        for _ in range(self.random.choice((1, 2, 2, 3))):
            lines += [self.data() for _ in range(self.random.choice((0, 1, 1, 2)))]
            lines.append(self.meeting())
            lines += [self.data() for _ in range(self.random.choice((0, 0, 0, 1)))]
        place = self.random.choice((len(lines), len(lines), self.random.randrange(len(lines) + 1)))
        read = self.pick("r <- mem[y];", "r <- mem[y];", "r <- mem[x];", f"r <- fetch({self.back}, x);", "")
        lines.insert(place, f"{read} {self.guarded(f'assert({self.pick(*TESTS)});', 0.15)}")
        header = ("program drawn;", "memory x, y, f, g;", "register r, s, i;", "queue q;", "process {")
        return "\n".join((*header, *lines, "}"))

    def guarded(self, text: str, chance: float) -> str:
        if self.random.random() >= chance:
            return text
        otherwise = self.pick("", "", " else { " + text + " }")
        return f"if ({self.pick(*GUARDS)}) {{ {text} }}{otherwise}"

    def data(self) -> str:
        value, to = self.random.choice(VALUES), self.to
        made = self.pick(
            f"mem[x] <- {value};", f"mem[x] <- {value};", f"mem[y @ {to}] <- {value};", f"write(x, {to}, y, q);",
            f"mem[x] <- {value}; write(x, {to}, y, q); wait(q);", f"read(y, {self.back}, x, q); wait(q);",
            f"update(add, 1, {to}, y, q);", f"r <- fetch_add({to}, y, 1);", "s <- 1;", f"s <- {value};",
            f"r <- compare_swap({to}, y, 0, 1);", "r <- mem[y];",
        )  # fmt: skip
        return self.guarded(made, 0.2)

    def meeting(self) -> str:
        flag, value = self.random.choice("fg"), self.pick("1", "1", "2")
        raised = self.pick(
            f"mem[{flag} @ {self.to}] <- {value};", f"mem[{flag} @ {self.to}] <- {value};",
            f"update(set, {value}, {self.to}, {flag}, q);", f"r <- swap({self.to}, {flag}, {value});",
            f"update(add, 1, {self.to}, {flag}, q);",
        )  # fmt: skip
        awaited = f"await(mem[{flag}] {self.pick(f'== {value}', f'== {value}', '!= 0', '>= 1')});"
        polled = f"s <- 0; while (s != {value}) {{ s <- mem[{flag}]; }}"
        if self.all_at_once:
            return self.pick(
                "barrier;", "barrier;", f"{raised} {awaited}", f"{raised} {polled}",
                f"if (me > 0) {{ {awaited} }} {raised}", f"if (me < nodes - 1) {{ {awaited} }} {raised}",
                "i <- 0; while (i < 2) { barrier; i <- i + 1; }", "if (me % 2) { barrier; } else { barrier; }",
            )  # fmt: skip
        return self.pick(
            f"{awaited} {raised}", f"{raised} {self.guarded(awaited, 0.5)}", f"{self.guarded(raised, 0.7)} {awaited}",
            self.guarded("barrier;", 0.3), "choose { barrier; } or { }", "loop { barrier; }",
            f"if (me != 1) {{ {awaited} }} {raised}", f"{self.guarded(awaited, 1)} {raised}",
            f"i <- 0; while (i < {self.pick('2', 'me', 'r')}) {{ barrier; i <- i + 1; }}",
            "if (r > 0) { barrier; }", f"mem[{flag}] <- 0; {raised} {awaited} mem[{flag}] <- 0;",
        )  # fmt: skip


def drawn_facts(seed: int) -> str:
    """The program of ``seed``."""
    return _Draw(seed).program()


C_HEADER = """#include <assert.h>
#include <stdlib.h>
#include <shmem.h>
static int x, y, f, g;
int main(void) {
  shmem_init();
  int me = shmem_my_pe(), nodes = shmem_n_pes(), r = 0, s = 0, i = 0;
"""
C_TEXTS = (
    (r"barrier;", "shmem_barrier_all();"),
    (r"await\(mem\[(\w)\] == (\w+)\);", r"shmem_int_wait_until(&\1, SHMEM_CMP_EQ, \2);"),
    (r"await\(mem\[(\w)\] != (\w+)\);", r"shmem_int_wait_until(&\1, SHMEM_CMP_NE, \2);"),
    (r"await\(mem\[(\w)\] >= (\w+)\);", r"shmem_int_wait_until(&\1, SHMEM_CMP_GE, \2);"),
    (r"mem\[(\w) @ ([^]]*)\] <- (.*?);", r"shmem_int_atomic_set(&\1, \3, \2);"),
    (r"write\((\w), (.*?), (\w), q\);", r"shmem_int_put_nbi(&\3, &\1, 1, \2);"),
    (r"read\((\w), (.*?), (\w), q\);", r"shmem_int_get_nbi(&\1, &\3, 1, \2);"),
    (r"wait\(q\);", "shmem_quiet();"),
    (r"update\((\w+), (\w+), (.*?), (\w), q\);", r"shmem_int_atomic_\1(&\4, \2, \3);"),
    (r"fetch_add\((.*?), (\w), 1\);", r"shmem_int_atomic_fetch_add(&\2, 1, \1);"),
    (r"compare_swap\((.*?), (\w), 0, 1\);", r"shmem_int_atomic_compare_swap(&\2, 0, 1, \1);"),
    (r"\bswap\((.*?), (\w), (\w+)\);", r"shmem_int_atomic_swap(&\2, \3, \1);"),
    (r"([ =-]) fetch\((.*?), (\w)\);", r"\1 shmem_int_atomic_fetch(&\3, \2);"),
    (r"mem\[(\w)\]", r"\1"),
    (r"<-", "="),
    (r"choose \{(.*?)\} or \{ \}", r"if (rand() % 2) {\1}"),
    (r"loop \{", "while (rand() % 2) {"),
)  # fmt: skip
"""How a program in the core language is written in C: patterns, and what takes their place, in turn."""


def drawn_facts_in_c(seed: int) -> str:
    """The program of ``seed`` in C."""
    text = "\n".join(_Draw(seed).program().splitlines()[5:-1])
    for pattern, replacement in C_TEXTS:
        text = re.sub(pattern, replacement, text)
    return f"{C_HEADER}{text}\n  return r + s;\n}}\n"
