"""Random programs in which flags are used again, locks are taken and counters are counted up, on any number of nodes.

They are made of parts that fit together, in rounds; here and there one is left out, or is another one.
"""

from __future__ import annotations

from random import Random

RIGHT, LEFT = "(me + 1) % nodes", "(me + nodes - 1) % nodes"
OTHER = "me < 2 ? 1 - me : me"


class _Draw:
    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.slips = self.random.choice((0, 0, 1, 1, 2))
        """Of ten parts how many are not what they should be."""
        self.queue = self.random.choice(("q", "q", "q", "u"))
        self.to, self.back = self.random.choice(((RIGHT, LEFT), (RIGHT, LEFT), (LEFT, RIGHT), (OTHER, OTHER)))

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    def slip(self, right: str, *wrong: str) -> str:
        return self.random.choice(wrong) if self.random.randrange(10) < self.slips else right

    def program(self) -> str:
        draw = self.random.choice(
            (self.handshake, self.handshake, self.barriers, self.reversal, self.lock, self.lock, self.gathered,
             self.ticket, self.holder)
        )  # fmt: skip
        header = ("program drawn;", "memory x = 1, y, z, f, g, c, zero, one = 1, two = 2;", "register r, s, i, n;")
        return "\n".join((*header, "queue q, u unordered;", "process {", *draw(), "}"))

    def rounds(self, *parts: str) -> list[str]:
        lines = [part for part in parts if part]
        if self.random.random() < 0.05:
            self.random.shuffle(lines)
        match self.random.randrange(6):
            case 0:
                return lines
            case 1:
                return [*lines, *lines]
            case 2:
                return ["i <- 0; while (i < 2) { i <- i + 1;", *lines, "}"]
            case 3:
                return [*lines, "loop {", *lines, "}"]
        return ["loop {", *lines, "}"]

    # Parts

    def sent(self, to: str) -> str:
        data = self.pick(f"write(x, {to}, y, {self.queue});", f"put(x, {to}, y, {self.queue});")
        return self.slip(data, f"read(z, {to}, y, {self.queue});", f"mem[y @ {to}] <- 1;", "")

    def ordered(self) -> str:
        if self.queue == "q":
            return self.pick("", "", "wait(q);")
        return self.slip(self.pick("fence(u);", "wait(u);"), "")

    def raised(self, to: str, flag: str, value: str = "one") -> str:
        number = {"zero": 0, "one": 1, "two": 2}[value]
        return self.slip(
            self.pick(f"write({value}, {to}, {flag}, {self.queue});",
                      f"update(set, {number}, {to}, {flag}, {self.queue});",
                      f"notify(set, {number}, {to}, {flag}, {self.queue});"),
            f"mem[{flag} @ {to}] <- {number};", f"mem[{flag}] <- {number};", "",
        )  # fmt: skip

    def awaited(self, flag: str, value: int = 1) -> str:
        there = f"mem[{flag}]" if self.random.random() < 0.8 else ""
        poll = f"r <- {1 - value}; while (r != {value}) {{ r <- {there or f'fetch(me, {flag})'}; }}"
        return self.slip(
            self.pick(f"await(mem[{flag}] == {value});", f"await(mem[{flag}] == {value});", poll),
            f"await(mem[{flag}] != {value});", "", f"await(mem[{flag}] >= {value});",
        )  # fmt: skip

    def used(self) -> str:
        return self.slip(
            "r <- mem[y];", "mem[y] <- 0;", f"read(z, me, y, {self.queue});", f"r <- fetch({self.to}, y);", ""
        )

    def reset(self, flag: str) -> str:
        return self.slip(
            self.pick(f"mem[{flag}] <- 0;", f"s <- swap(me, {flag}, 0);"), f"write(zero, me, {flag}, {self.queue});",
            "", f"mem[{flag} @ {self.back}] <- 0;",
        )  # fmt: skip

    # Programs

    def handshake(self) -> list[str]:
        """Data with a flag to one side, and back that it has been used."""
        to, back = self.to, self.back
        sent = f"{self.sent(to)} {self.ordered()} {self.raised(to, 'f')}"
        answer = self.pick(f"mem[g @ {back}] <- 1;", self.raised(back, "g"))
        taken = [self.awaited("f"), *self.shuffled(self.reset("f"), self.used()), answer]
        done = [self.awaited("g"), self.reset("g")]
        if self.random.random() < 0.6:
            return self.rounds(sent, *taken, *done)
        test = self.pick("me == 0", "me == 0", "me % 2 == 0", "me < nodes - 1")
        first, second = self.rounds(sent, *done), self.rounds(*taken)
        return [f"if ({test}) {{", *first, "} else {", *second, "}"]

    def shuffled(self, *parts: str) -> list[str]:
        return self.random.sample(parts, len(parts))

    def barriers(self) -> list[str]:
        """Rounds with barriers between them."""
        sent = f"{self.sent(self.to)} {self.ordered()} {self.raised(self.to, 'f')}"
        between = [self.slip("barrier;", ""), self.pick("", "", "barrier;")]
        return self.rounds(
            sent, self.awaited("f"), *self.shuffled(self.reset("f"), self.used()), *self.shuffled(*between)
        )

    def reversal(self) -> list[str]:
        """A flag that is 1 in one round, and 0 in the next."""
        parts = []
        for value, name in ((1, "one"), (0, "zero")):
            sent = f"{self.sent(self.to)} {self.ordered()} {self.raised(self.to, 'f', name)}"
            between = self.slip("barrier;", f"mem[g @ {self.back}] <- {value}; {self.awaited('g', value)}", "")
            parts += [sent, self.awaited("f", value), self.used(), between]
        return self.rounds(*parts)

    def lock(self) -> list[str]:
        """A lock at rank 0."""
        taken = self.slip(
            self.pick("s <- 1; while (s != 0) { s <- compare_swap(0, c, 0, 1); }",
                      "s <- compare_swap(0, c, 0, 1); assume(s == 0);",
                      "s <- 1; while (s == 1) { s <- swap(0, c, 1); }",
                      "s <- compare_swap(0, c, 0, me + 1); assume(s == 0);"),
            "", "await(mem[c] == 0);",
        )  # fmt: skip
        there = self.pick("0", "0", "1")
        used = [
            self.slip(self.pick(f"write(x, {there}, y, {self.queue});", f"r <- fetch({there}, y);",
                                f"read(z, {there}, y, {self.queue});", f"mem[y @ {there}] <- 1;"), "")
            for _ in range(self.random.choice((1, 2, 2)))
        ]  # fmt: skip
        released = self.slip(
            self.pick(f"write(zero, 0, c, {self.queue});", f"update(set, 0, 0, c, {self.queue});", "mem[c @ 0] <- 0;",
                      f"wait({self.queue}); mem[c @ 0] <- 0;"),
            "",
        )  # fmt: skip
        locked = [taken, *used, self.slip(self.ordered(), ""), released]
        test = self.pick("", "", "", "me < 2", "me > 0")
        return [f"if ({test}) {{", *self.rounds(*locked), "}"] if test else self.rounds(*locked)

    def gathered(self) -> list[str]:
        """All tell rank 0 that they have sent, and it tells all."""
        who = self.pick("0", "0", "nodes - 1")
        add = self.slip(self.pick(f"update(add, 1, {who}, c, {self.queue});", f"s <- fetch_add({who}, c, 1);",
                                  f"notify(add, 1, {who}, c, {self.queue});"), "")  # fmt: skip
        total = self.slip("nodes", "nodes - 1", "2 * nodes", "2", "1")
        await_ = self.slip(f"await(mem[c] == {total});", f"await(mem[c] >= {total});", "")
        all_told = self.pick(
            f"n <- 0; while (n < nodes) {{ {self.raised('n', 'f')} n <- n + 1; }}", "mem[g] <- 1;", "", "mem[g] <- 1;"
        )
        seen = self.pick("await(mem[f] == 1);", f"r <- 0; while (r == 0) {{ r <- fetch({who}, g); }}")
        more = self.pick(self.reset("c"), "", "")
        after = self.pick("r <- mem[y];", f"r <- fetch({self.to}, y);", f"write(x, {self.to}, y, {self.queue});")
        sent = self.pick(f"write(x, {who}, y, {self.queue});", self.sent(self.to))
        one = [sent, self.ordered(), add, f"if (me == {who}) {{", await_, more, "r <- mem[y];", all_told, "}"]
        if self.random.random() < 0.25:  # that one adds nothing
            one = [f"if (me != {who}) {{", sent, self.ordered(), add, "} else {",
                   await_.replace("nodes)", "nodes - 1)"), more, "r <- mem[y];", all_told, "}"]  # fmt: skip
        if self.random.random() < 0.6:
            one += [seen, after]
        return one if self.random.random() < 0.6 else [*one, self.slip("barrier;", ""), *one]

    def ticket(self) -> list[str]:
        """A lock by numbers."""
        taken = f"s <- fetch_add(0, c, 1); r <- {self.pick('s + 1', '-1')}; while (r != s) {{ r <- fetch(0, g); }}"
        used = self.pick(f"write(x, 0, y, {self.queue});", "r <- fetch(0, y);", f"read(z, 0, y, {self.queue});")
        released = self.slip(self.pick(f"update(add, 1, 0, g, {self.queue});", "r <- fetch_add(0, g, 1);"), "")
        return self.rounds(taken, used, self.slip(self.ordered(), ""), released)

    def holder(self) -> list[str]:
        """Who is to be told stands in a cell."""
        held = self.pick("s <- swap(0, c, me + 1);", f"mem[c @ {self.to}] <- me + 1; barrier; s <- mem[c];")
        tell = f"{self.slip('write(x, s - 1, y, q);', '')} write(one, s - 1, f, {self.slip('q', 'u')});"
        told = f"if (s > 0) {{ {tell} }}"
        return [held, *self.shuffled(told, f"{self.slip('await(mem[f] == 1);', '')} r <- mem[y];")]


def drawn_rounds(seed: int) -> str:
    """The program of ``seed``."""
    return _Draw(seed).program()
