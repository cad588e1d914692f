"""Random programs in which ranks hand over to each other by flags, locks and counters, on any number of nodes."""

from __future__ import annotations

from random import Random

PARTNERS = (
    ("(me + 1) % nodes", "(me + nodes - 1) % nodes"),
    ("(me + 1) % nodes", "(me + nodes - 1) % nodes"),
    ("(me + nodes - 1) % nodes", "(me + 1) % nodes"),
    ("nodes % 2 == 0 ? (me ^ 1) : 0", "nodes % 2 == 0 ? (me ^ 1) : 0"),
    ("me == 0 ? 1 : 0", "me == 0 ? 1 : 0"),
    ("me < 2 ? 1 - me : me", "me < 2 ? 1 - me : me"),
    ("0", "nodes - 1"),
    ("me", "me"),
)
"""Where a rank sends to, and mostly where what it gets comes from."""
TESTS = ("me == 0", "me == 1", "me < 2", "me > 0", "me < nodes - 1", "r == 1", "r == 0", "s == r")


class _Draw:
    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.partners = self.random.sample(PARTNERS, self.random.choice((1, 1, 1, 2)))
        self.care = self.random.choice((5, 8, 9, 10))  # of ten times how often order is asked for
        self.queue = self.random.choice(("q", "q", "q", "u"))
        self.flags = self.random.choice((("f",), ("f",), ("f", "g")))
        self.values = self.random.choice(((1,), (1,), (1, 2)))
        self.failing = self.random.random() < 0.4  # polls
        self.left = self.random.choice((2, 3, 3, 4, 4, 5, 6))
        self.depth = 0

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    def program(self) -> str:
        lines = []
        while self.left > 0:
            lines.append(self.statement())
        header = ("program drawn;", "memory x = 1, y, z, f, g, one = 1, two = 2;", "register r, s, i;")
        return "\n".join((*header, "queue q, u unordered;", "process {", *lines, "}"))

    def to(self) -> tuple[str, str]:
        to, back = self.random.choice(self.partners)
        return (back, to) if self.random.random() < 0.15 else (to, back)

    def statement(self) -> str:
        self.left -= 1
        to, back = self.to()
        match self.random.randrange(20):
            case 0 | 1 | 2 | 3:
                return self.handed_over(to) + " " + self.taken(back)
            case 4 | 5:
                return self.handed_over(to)
            case 6 | 7:
                return self.taken(back)
            case 8 | 9:
                return self.data(to)
            case 10 | 11:
                return self.raised(to, self.random.choice(self.flags), self.random.choice(self.values))
            case 12 | 13:
                return self.awaited(back, self.random.choice(self.flags), self.random.choice(self.values))
            case 14:
                return self.pick("barrier;", f"mem[{self.random.choice(self.flags)}] <- 0;")
            case 15:
                return f"r <- swap(me, {self.random.choice(self.flags)}, 0);"
            case 16:
                return self.pick(
                    "s <- fetch_add(0, z, 1);", "s <- compare_swap(0, z, 0, 1); assume(s == 0);", "mem[z @ 0] <- 0;",
                    f"r <- compare_swap({to}, z, 0, me + 1);", "s <- r;", "r <- 0;", "s <- s + 1;",
                )  # fmt: skip
            case _:
                return self.nested(to)

    def nested(self, to: str) -> str:
        if self.depth == 2:
            return self.data(to)
        self.depth += 1
        first, second = self.statement(), self.statement()
        self.depth -= 1
        test = self.pick(*TESTS)
        if_first = f"if ({test}) {{ {first} }}"
        return self.pick(
            f"{if_first} else {{ {second} }}", if_first, if_first, f"choose {{ {first} }} or {{ {second} }}",
            f"loop {{ {first} }}", f"i <- 0; while (i < 2) {{ i <- i + 1; {first} }}",
        )  # fmt: skip

    def ordered(self) -> str:
        if self.random.randrange(10) >= self.care:
            return ""
        return (
            self.pick(f"wait({self.queue});", "", f"fence({self.queue});")
            if self.queue == "q"
            else self.pick(f"wait({self.queue});", f"fence({self.queue});")
        )

    def data(self, to: str) -> str:
        return self.pick(
            f"write(x, {to}, y, {self.queue});", f"write(x, {to}, y, {self.queue});", f"put(x, {to}, y, {self.queue});",
            f"read(y, {to}, x, {self.queue});", f"mem[y @ {to}] <- 1;", "r <- mem[y];", "mem[x] <- me;",
            f"r <- fetch({to}, y);", f"update(add, 1, {to}, y, {self.queue});", f"read(f, {to}, one, {self.queue});",
        )  # fmt: skip

    def raised(self, to: str, flag: str, value: int) -> str:
        source = {1: "one", 2: "two"}[value]
        return self.pick(
            f"write({source}, {to}, {flag}, {self.queue});", f"write({source}, {to}, {flag}, {self.queue});",
            f"put({source}, {to}, {flag}, {self.queue});", f"update(set, {value}, {to}, {flag}, {self.queue});",
            f"notify(set, {value}, {to}, {flag}, {self.queue});", f"mem[{flag} @ {to}] <- {value};",
            f"mem[{flag}] <- {value};", f"update(add, 1, {to}, {flag}, {self.queue});",
            f"s <- swap({to}, {flag}, {value});",
        )  # fmt: skip

    def awaited(self, back: str, flag: str, value: int) -> str:
        test = self.pick(f"== {value}", f"== {value}", "!= 0", f">= {value}")
        if not self.failing:
            return f"await(mem[{flag}] {test});"
        negated = {"==": "!=", "!=": "==", ">=": "<"}[test[:2]] + test[2:]
        return self.pick(
            f"r <- 0; while (r {negated}) {{ r <- mem[{flag}]; }}",
            f"r <- mem[{flag}]; if (r {negated}) {{ await(mem[{flag}] {test}); }}",
            f"r <- 0; while (r {negated}) {{ r <- fetch({back}, {flag}); }}",
            f"r <- mem[{flag}]; assume(r {test});",
            f"r <- 0; while (r {negated}) {{ r <- fetch(me, {flag}); }}",
        )

    def handed_over(self, to: str) -> str:
        flag, value = self.random.choice(self.flags), self.random.choice(self.values)
        return f"write(x, {to}, y, {self.queue}); {self.ordered()} {self.raised(to, flag, value)}"

    def taken(self, back: str) -> str:
        flag, value = self.random.choice(self.flags), self.random.choice(self.values)
        use = self.pick("r <- mem[y];", "r <- mem[y];", "mem[y] <- 0;", f"read(z, me, y, {self.queue});")
        reset = self.pick("", "", f"mem[{flag}] <- 0;", f"s <- swap(me, {flag}, 0);")
        return f"{self.awaited(back, flag, value)} {reset} {use}"


def drawn_flags(seed: int) -> str:
    """The program of ``seed``."""
    return _Draw(seed).program()
