"""Random programs with one block for all ranks, to be put on any number of nodes."""

from __future__ import annotations

from random import Random

ONE_BLOCK = {
    "load": 5, "store": 5, "write": 9, "read": 4, "wait": 5, "wait_local": 1, "fence": 2, "await": 1, "atomic": 2,
    "put": 2, "update": 2, "update_from": 1, "notify": 2, "signal": 2, "bundle": 1, "barrier": 3, "if": 4, "choose": 1,
    "loop": 2, "while": 1, "assign": 2, "each": 1, "next": 2, "element": 1,
}  # fmt: skip
"""How often the statements are drawn."""
RANKS = {
    "(me + 1) % nodes": 10, "(me + nodes - 1) % nodes": 5, "0": 4, "me": 3, "nodes - 1": 1, "nodes - 1 - me": 1,
    "(me + 2) % nodes": 1, "1": 1, "s": 2, "(s + 1) % nodes": 1, "me + 1": 1, "me - 1": 1,
    "me % 2 == 0 ? (me + 1) % nodes : me - 1": 1, "nodes % 2 == 0 ? (me ^ 1) : 0": 1,
    "(me ^ 1) < nodes ? me ^ 1 : me": 2, "(me ^ 2) < nodes ? me ^ 2 : me": 1, "me & ~1": 1,
    "nodes % 4 ? 0 : me ^ 2": 1, "nodes & (nodes - 1) ? 0 : me ^ 1": 1,
    "nodes % 2 ? 0 : me / 2 * 2 + (me % 2 + 1) % 2": 1, "(me / 2 + 1) % (nodes / 2) * 2 + me % 2": 1,
    "me / 2": 1, "me / 3 * 3": 1, "me >> 1": 1, "nodes / 2": 1, "me % 3": 1, "(me + 3) % nodes": 1,
}  # fmt: skip
"""The same for the ranks that they name; ``s`` is a rank, and nothing more is known of it."""
TESTS = {
    "me == 0": 3, "me == nodes - 1": 1, "me < nodes - 1": 2, "me > 0": 2, "me % 2 == 0": 3, "r == 0": 2, "r < 2": 1,
    "me + 1 == nodes": 1, "nodes % 2 == 0": 1, "!(me == 0 || me == 1)": 1,
    "me % 3 < 2": 1, "me / 2 == 0": 1, "me / 2 < nodes / 2 - 1": 1, "nodes & (nodes - 1)": 1, "me & 1": 1,
    "me ^ 1 < nodes": 1, "me / 3 % 2": 1,
}  # fmt: skip


class _Draw:
    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.care = self.random.choice((0, 3, 6, 9))  # of ten transfers how many are waited for at once
        self.cells = self.random.choice((("x", "y"), ("x", "y"), ("x", "y", "z"), ("x",), ("x", "y", "a", "a + 1")))
        self.queues = self.random.choice((("q",), ("q",), ("u",), ("q", "u")))
        kinds = [kind for kind in RANKS if self.random.random() < 0.5]
        self.ranks = {kind: RANKS[kind] for kind in kinds or ["(me + 1) % nodes"]}
        self.left = self.random.choice((2, 3, 3, 4, 4, 5, 6))
        self.depth = 0

    def pick(self, weights: dict[str, int]) -> str:
        return self.random.choices(list(weights), list(weights.values()))[0]

    def cell(self) -> str:
        return self.random.choice(self.cells)

    def program(self) -> str:
        if self.random.random() < 0.3:
            return self.whole([self.roles()])
        lines = []
        if any("s" in rank.replace("nodes", "") for rank in self.ranks):
            lines.append("choose { s <- 0; } or { s <- nodes - 1; } or { s <- me; } or { s <- (me + 1) % nodes; }")
        while self.left > 0:
            lines += self.statement()
        return self.whole(lines)

    def whole(self, lines: list[str]) -> str:
        header = ("program drawn;", "memory x, y, z, f, g, a[2];", "register r, s, i;", "queue q, u unordered;")
        return "\n".join((*header, "process {", *lines, "}"))

    def roles(self) -> str:
        """Ranks do one of a few things each; those at the ends may have nothing to do."""
        there = self.random.choice(("0", "0", "(me + 1) % nodes", "me", "1"))
        branches = []
        for _ in range(self.random.choice((2, 3, 3))):
            one, other, third = (self.cell() for _ in range(3))
            commands = (
                f"write({one}, {there}, {other}, q);", f"write({one}, {there}, {other}, q);",
                f"r <- fetch({there}, {one});", f"r <- fetch({there}, {one});", f"r <- mem[{one}];",
                f"mem[{one}] <- 1;", f"mem[{one} @ {there}] <- 1;", "wait(q);", "barrier;",
                f"r <- fetch_add({there}, {third}, 1);", f"read({third}, {there}, {one}, q);",
                f"update(add, 1, {there}, {one}, q);", f"await(mem[{one}] == 1);",
            )  # fmt: skip
            branches.append(" ".join(self.random.choices(commands, k=self.random.choice((1, 2, 2, 3)))))
        test = self.random.choice(("me > 0 && me < nodes - 1", "me > 0", "1", "1", "me % 2"))
        return f"if ({test}) {{ choose {{ {' } or { '.join(branches)} }} }}"

    def block(self) -> str:
        return " ".join(self.statement())

    def statement(self) -> list[str]:
        self.left -= 1
        kind, one, other = self.pick(ONE_BLOCK), self.cell(), self.cell()
        rank, queue = self.pick(self.ranks), self.random.choice(self.queues)
        match kind:
            case "load":
                return [self.random.choice((f"r <- mem[{one}];", f"r <- mem[{one}];", f"r <- fetch({rank}, {one});"))]
            case "store":
                return [f"mem[{one}] <- {self.random.choice(('1', 'r', 'me', 'r + 1'))};"]
            case "write" | "read" | "put":
                return [f"{kind}({one}, {rank}, {other}, {queue});", *self.completed(queue)]
            case "update":
                operation = self.random.choice(("add", "or", "set"))
                result = self.random.choice(("", f", {other}")) if operation == "add" else ""
                name = self.random.choice(("update", "update", "update_located"))
                return [f"{name}({operation}, 1, {rank}, {one}, {queue}{result});", *self.completed(queue)]
            case "update_from":
                return [f"update_from(add, {one}, {rank}, {other}, {queue});", *self.completed(queue)]
            case "notify" | "signal":
                return [f"{kind}(add, 1, {rank}, {one}, {queue});"]
            case "wait" | "wait_local":
                return [f"{kind}({queue});"]
            case "fence":
                return [self.random.choice((f"fence({queue});", f"fence({queue}, {rank});"))]
            case "await":
                return [f"await(mem[{one}] {self.random.choice(('== 0', '!= 0', '== 1'))});"]
            case "atomic":
                return [
                    self.random.choice(
                        (f"r <- fetch_add({rank}, {one}, 1);", f"r <- swap({rank}, {one}, 1);",
                         f"r <- compare_swap({rank}, {one}, 0, 1);")
                    )
                ]  # fmt: skip
            case "bundle" | "barrier":
                return [f"{kind};"]
            case "assign":
                return [self.random.choice(("r <- 0;", "r <- r + 1;", "r <- me;"))]
            case "each":
                return [f"i <- 0; while (i < nodes) {{ write({one}, i, {other}, {queue}); i <- i + 1; }}"]
            case "next":
                test, neighbour = self.random.choice(
                    (("me < nodes - 1", "me + 1"), ("me > 0", "me - 1"), ("me % 2", "me - 1"))
                )
                return [f"if ({test}) {{ write({one}, {neighbour}, {other}, {queue}); }}", *self.completed(queue)]
            case "element":
                return [
                    "if (r >= 0 && r < 2) { r <- mem[a + r]; }" if self.random.random() < 0.8 else "r <- mem[a + r];"
                ]
        if self.depth == 2:
            return []
        self.depth += 1
        first, second = self.block(), self.block()
        self.depth -= 1
        match kind:
            case "if":
                otherwise = f" else {{ {second} }}" if self.random.random() < 0.3 else ""
                return [f"if ({self.pick(TESTS)}) {{ {first} }}{otherwise}"]
            case "choose":
                return [f"choose {{ {first} }} or {{ {second} }}"]
            case "loop":
                return [f"loop {{ {first} {second} }}"]
        return [f"while (r < 2) {{ {first} r <- r + 1; }}"]

    def completed(self, queue: str) -> list[str]:
        return [f"wait({queue});"] if self.random.randrange(10) < self.care else []


def messages(seed: int) -> str:
    """A program in which a few ranks, or all around a ring, tell each other what they have put, and wait for it."""
    draw = _Draw(seed)
    ring = "(me + 1) % nodes", "(me + nodes - 1) % nodes"

    def block(ranks: tuple[str, ...]) -> str:
        there, other = (draw.random.choice(ranks) for _ in range(2))
        flag = draw.random.choice(("f", "f", "f", "g"))
        commands = (
            f"write(x, {there}, y, q);", f"write(x, {there}, y, u);", f"notify(set, 1, {there}, {flag}, q);",
            f"notify(set, 1, {there}, {flag}, u);", f"mem[f @ {there}] <- 1;", f"mem[z @ {there}] <- 1;",
            f"r <- fetch({other}, y);", "r <- mem[y];", "r <- mem[z];", "wait(q);", f"r <- fetch_add({other}, z, 1);",
        )  # fmt: skip
        found = draw.random.choices(commands, k=draw.random.choice((2, 3, 3, 4)))
        if draw.random.random() < 0.75:
            awaited = f"await(mem[{flag}] {draw.random.choice(('== 1', '> 0', '>= 0'))});"
            found.insert(draw.random.randrange(len(found) + 1), awaited)
        if draw.random.random() < 0.1:
            found = ["while (s < 2) {", *found, "s <- s + 1; }"]
        return " ".join(found)

    if draw.random.random() < 0.4:
        return draw.whole([block(ring[: draw.random.choice((1, 1, 2))])])
    ranks = draw.random.choice((("0", "1", "2"), ("0", "1"), ("1", "2", "nodes - 1"), ("0", *ring[:1])))
    whose = draw.random.choice(("0", "1", "2", "3")), "1", "2"
    return draw.whole([f"if (me == {rank}) {{ {block(ranks)} }}" for rank in dict.fromkeys(whose)])


def drawn(seed: int) -> str:
    """The program of ``seed``."""
    return _Draw(seed).program()
