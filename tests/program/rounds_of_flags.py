"""Random programs in which rank 1 looks at flags, or counters, in rounds and does something with each that has come: it
marks it in memory of its own or in the bits of a register, reads data, goes on to a next phase; right and wrong."""

from __future__ import annotations

from random import Random

HEAD = """program p; nodes {nodes};
memory x[2], d[2], m[2], o[2], one = 1, two = 2, zero;
register r, s, t, k, i, a, b; queue q {unordered}, p unordered;
"""


def random_rounds(seed: int) -> str:
    """The program of ``seed``, always the same one."""
    return _Rounds(Random(seed)).text()


class _Rounds:
    def __init__(self, random: Random) -> None:
        self.random = random
        self.nodes = 3 if self.chance(0.2) else 2
        self.kind = random.choice(("marks", "bits", "indexed"))
        self.data = self.chance(0.5)
        self.counts = self.chance(0.2)
        self.phases = 1 if self.counts else 2 if self.chance(0.35) else 1
        self.order = random.sample((0, 1), 2)
        self.looked = random.sample((0, 1), 2)
        self.relation = random.choice(("==", ">=", "!="))

    def chance(self, likely: float) -> bool:
        return self.random.random() < likely

    def text(self) -> str:
        unordered = "" if self.chance(0.15) else "unordered"
        setters = [self.setter(self.order)] if self.nodes == 2 else [self.setter([flag]) for flag in self.order]
        blocks = "".join(f"process {rank} {{ {setter} }}\n" for rank, setter in zip((0, 2), setters, strict=False))
        return f"{HEAD.format(nodes=self.nodes, unordered=unordered)}{blocks}process 1 {{ {self.looker()} }}\n"

    def setter(self, flags: list[int]) -> str:
        found = []
        for phase in range(1, self.phases + 1):
            value = ("one", "two")[phase - 1] if self.chance(0.9) else "one"
            for flag in flags:
                if self.data:
                    found.append(f"put({value}, 1, d + {flag}, q);")
                    between = ("fence(q, 1);", "wait(q);", "fence(q);", "")
                    found.append(self.random.choices(between, (3, 3, 1, 2))[0])
                queue = "q" if self.chance(0.9) else "p"
                raises = (
                    f"update(add, 1, 1, x + {flag}, {queue});"
                    if self.counts
                    else f"put({value}, 1, x + {flag}, {queue});"
                )
                found += [raises] * (self.random.choice((1, 2, 2)) if self.counts else 1)
            if self.chance(0.8):
                found.append("wait(q);")
            if phase < self.phases and self.chance(0.8):
                found.append("barrier;")
        if self.chance(0.08):
            found.append(f"put(zero, 1, x + {flags[0]}, q);")
        if self.chance(0.06):
            found.append(f"put(two, 1, d + {flags[0]}, q);")
        self.barriers = found.count("barrier;")
        return " ".join(found)

    def looker(self) -> str:
        found = []
        for phase in range(1, self.phases + 1):
            found.append(self.round(phase))
            if phase <= self.barriers:
                found.append("barrier;")
        found += self.random.choices(
            (["mem[o] <- k;"], ["assert(k == 3);"], ["r <- mem[d];"], []), (4 if self.data else 1, 1, 1, 3)
        )[0]
        return " ".join(found)

    def seen(self, flag: int, phase: int) -> str:
        """What is done when a flag has been seen, whose value is in s."""
        found = []
        if self.data:
            if self.chance(0.85):
                found.append(f"t <- mem[d + {flag}];")
            found.append(
                self.random.choices(
                    (
                        "k <- k + t;",
                        f"mem[o + {flag}] <- t;",
                        "k <- k * 3 + t;",
                        "k <- t;",
                        "if (t == 1) { k <- k | 4; }",
                    ),
                    (4, 4, 1, 1, 1),
                )[0]
            )
        elif self.chance(0.3):
            found.append(self.random.choice((f"k <- k + {flag + 1};", f"k <- k * 2 + {flag};", f"mem[o] <- {flag};")))
        return " ".join(found)

    def round(self, phase: int) -> str:
        phase += self.counts and self.chance(0.8)
        test = f"s {self.relation} {phase if self.relation != '!=' else phase - 1}"
        if self.kind == "indexed":
            seen = self.seen(0, phase).replace("+ 0", "+ i")
            again = f"again{phase}"
            return (
                f"mem[m] <- 0; mem[m + 1] <- 0; a <- 2; {again}: i <- 0; while (i < 2) {{"
                f" r <- mem[i >= 0 && i < 2 ? m + i : -1];"
                f" if (!r) {{ {self._by_index()} if ({test}) {{ {self._store_mark()} a <- a - 1; {seen} }} }}"
                f" i <- i + 1; }} if (a > 0) {{ goto {again}; }}"
            )
        if self.kind == "bits":
            looks = [
                f"if (!(b & {1 << flag})) {{ s <- mem[x + {flag}]; if ({test}) {{ b <- b | {1 << flag};"
                f" {self.seen(flag, phase)} }} }}"
                for flag in self.looked
            ]
            return f"b <- 0; while (b != {3 if self.chance(0.9) else 1}) {{ {' '.join(looks)} }}"
        looks = [
            f"r <- mem[m + {flag}]; if (!r) {{ s <- mem[x + {flag}]; if ({test}) {{ mem[m + {flag}] <- 1;"
            f" {self.seen(flag, phase)} }} }}"
            for flag in self.looked
        ]
        join = "&&" if self.chance(0.9) else "||"
        return (
            f"mem[m] <- 0; mem[m + 1] <- 0; a <- 0; b <- 0; while (!(a {join} b)) {{ {' '.join(looks)}"
            " a <- mem[m]; b <- mem[m + 1]; }"
        )

    def _by_index(self) -> str:
        return "choose { assume(i == 0); s <- mem[x]; } or { assume(i == 1); s <- mem[x + 1]; }"

    def _store_mark(self) -> str:
        return "mem[i >= 0 && i < 2 ? m + i : -1] <- 1;"
