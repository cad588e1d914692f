"""Random programs in which one rank at a time has a lock, or a token that goes round, which is handed on by a cell."""

from __future__ import annotations

from random import Random

HEADER = """program drawn;
memory lock{lock}, next{next}, f{flag}, x, y, z, zero, one = 1, mine;
register p, n, r, s, i;
queue q, u;
process {{
"""
DATA = (
    "write(one, 0, y, q);", "write(one, 0, y, q);", "write(x, 0, y, q);", "read(z, 0, y, q);", "r <- fetch(0, y);",
    "mem[y @ 0] <- 1;", "update(add, 1, 0, y, q);", "mem[x] <- me;", "put(x, 0, y, q);", "write(one, 0, y, u);",
)  # fmt: skip


class _Draw:
    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.care = self.random.choice((0.6, 0.9, 0.97, 1))  # how often it is as it should be
        self.rounds = self.random.random() < 0.5

    def pick(self, usual: str, *others: str) -> str:
        return self.random.choice(others) if others and self.random.random() > self.care else usual

    def any(self, *choices: str) -> str:
        return self.random.choice(choices)

    def program(self) -> str:
        header, lines = self.any_of_all()
        body = " ".join(each for each in lines if each)
        if self.rounds:
            body = self.any(f"i <- 0; while (i < 2) {{ {body} i <- i + 1; }}", f"loop {{ {body} }}")
        around = self.random.random()
        if self.rounds and around > 0.3:
            return f"{HEADER.format(**header)}{body}\n}}"
        if around < 0.1:
            body = f"{self.any('barrier;', 'write(x, 0, y, q);', 'r <- fetch(0, lock);')} {body}"
        elif around < 0.2:
            body = f"{body} {self.any('barrier; ', '')}{self.any(*DATA)}"
        elif around < 0.5:
            body = f"{body} {self.any('r <- fetch(0, lock);', 'r <- fetch_add(0, z, 1);', 'mem[z @ 0] <- 1;')}"
        return f"{HEADER.format(**header)}{body}\n}}"

    def any_of_all(self) -> tuple[dict[str, str], list[str]]:
        return self.random.choice((self.spin, self.queue, self.queue, self.ring))()

    def data(self) -> list[str]:
        found = [self.any(*DATA[:3], *DATA) for _ in range(self.random.choice((1, 1, 2)))]
        return [*found, self.any("wait(q);", "", "", "", "", "fence(q);")]

    def given(self, place: str, value: str, source: str) -> str:
        """A cell is set."""
        rank, cell = place.split(".")
        return self.any(
            *[f"write({source}, {rank}, {cell}, q);"] * 6,
            f"mem[{cell} @ {rank}] <- {value};", f"update(set, {value}, {rank}, {cell}, q);",
            f"put({source}, {rank}, {cell}, q);", f"s <- swap({rank}, {cell}, {value});",
        )  # fmt: skip

    def spin(self) -> tuple[dict[str, str], list[str]]:
        taken = self.any(
            "s <- compare_swap(0, lock, 0, 1);", "s <- swap(0, lock, 1);", "s <- compare_swap(0, lock, 0, me + 1);",
            self.pick("s <- swap(0, lock, 1);", "s <- fetch(0, lock);", "s <- compare_swap(0, lock, 1, 0);"),
            self.pick("s <- fetch_add(0, lock, 1);", "s <- fetch_add(0, lock, 0);"),
        )  # fmt: skip
        until = self.any("", f"while (s != 0) {{ {taken} }}")
        tried = f"s <- 1; {until}" if until else f"{taken} assume(s == 0);"
        last = self.pick("", self.given("0.lock", "0", "zero"), "mem[lock @ 1] <- 0;")
        released = self.pick(self.given("0.lock", "0", "zero"), self.given("0.lock", "1", "one"), "")
        return self.header(), [tried, *self.data(), released, last]

    def header(self, lock: str = "", next: str = "", flag: str = "") -> dict[str, str]:
        return {"lock": lock, "next": next, "flag": flag}

    def queue(self) -> tuple[dict[str, str], list[str]]:
        more = self.any("", " + 1")
        empty = "0" if more else "-1"
        to, back = ("p - 1", "n - 1") if more else ("p", "n")
        first = self.any("", " = 1")
        begin = [
            self.pick(f"mem[mine] <- me{more};", "mem[mine] <- 1;", ""),
            self.pick("mem[f] <- 1;" if self.rounds or not first else self.any("", "mem[f] <- 1;"), ""),
            self.pick(f"mem[next] <- {empty};" if self.rounds else "", f"mem[next] <- {empty};"),
        ]
        linked = self.any(f"write(mine, {to}, next, q);", self.given(f"{to}.next", f"me{more}", "mine"))
        woken = self.pick("await(mem[f] == 0);", "await(mem[f] <= 1);", "", "r <- mem[f]; assume(r == 0);")
        wake = self.pick(
            self.given(f"{back}.f", "0", "zero"), self.given("0.f", "0", "zero"), self.given(f"{to}.f", "0", "zero")
        )
        again = self.pick("", "", wake)
        left = self.pick(
            f"p <- compare_swap(0, lock, me{more}, {empty});", f"p <- swap(0, lock, {empty});",
            f"p <- compare_swap(0, lock, {empty}, me{more});",
        )  # fmt: skip
        late = self.any("", "wait(q);")
        told = f"await(mem[next] != {empty}); n <- mem[next];"
        gone = self.any(
            f"{late} {left} if (p != me{more}) {{ {told} {wake} }}",
            f"n <- mem[next]; if (n == {empty}) {{ {late} {left} if (p != me{more}) {{ {told} }} }} "
            f"if (n != {empty}) {{ {wake} }}",
        )  # fmt: skip
        swapped = self.pick(f"p <- swap(0, lock, me{more});", f"p <- swap(0, lock, {empty});", "p <- swap(0, lock, 1);")
        lines = [*begin, swapped, f"if (p != {empty}) {{ {linked} {woken} }}", *self.data(), gone, again]
        return self.header(*([""] * 2 if more else [" = -1"] * 2), first), lines

    def ring(self) -> tuple[dict[str, str], list[str]]:
        to = self.any("(me + 1) % nodes", "(me + nodes - 1) % nodes")
        value, relation = self.any("1", "1", "2"), self.any("==", ">=")
        got = f"await(mem[f] {relation} {value});"
        if self.random.random() < 0.3:
            got = f"r <- 0; while (r != {value}) {{ r <- mem[f]; }}"
        begin = self.any(
            f"if (me != 0) {{ {got} }}", f"if (me == 0) {{ mem[f] <- {value}; }} {got}",
            f"if (me == 0 && i == 0) {{ i <- 1; }} else {{ {got} }}",
        )  # fmt: skip
        reset = self.pick("mem[f] <- 0;" if self.rounds else self.any("", "mem[f] <- 0;"), "", "s <- swap(me, f, 0);")
        source = "one" if value == "1" else "x"
        passed = self.pick(
            self.given(f"{to}.f", value, source), self.given("0.f", value, source), self.given("me.f", value, source)
        )
        last = self.pick("", passed)
        return self.header(), [begin, reset, *self.data(), passed, last]


def drawn_lock_tokens(seed: int) -> str:
    """The program of ``seed``."""
    return _Draw(seed).program()
