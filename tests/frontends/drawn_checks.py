"""Random beginnings of C programs that check the number of nodes, and much that looks alike."""

from __future__ import annotations

from random import Random


class Drawn:
    """Draws statements over `n`, `me` and a variable `x` that others may write; ``put``, ``barrier`` and ``leave`` are
    those of an API."""

    def __init__(self, seed: int, put: str, barrier: str, leave: str) -> None:
        self.random = Random(seed)
        self.put, self.barrier, self.leave = put, barrier, leave

    def beginning(self) -> str:
        return " ".join(self.check(2) for _ in range(self.random.randint(1, 3)))

    def check(self, depth: int) -> str:
        otherwise = f" else {{ {self.body(depth - 1)} }}" if self.random.random() < 0.2 else ""
        return f"if ({self.condition(2)}) {{ {self.body(depth - 1)} }}{otherwise}"

    def condition(self, depth: int) -> str:
        random = self.random
        if depth and random.random() < 0.3:
            left, right = self.condition(depth - 1), self.condition(depth - 1)
            return random.choice((f"({left}) && ({right})", f"({left}) || ({right})", f"!({left})"))
        relation = random.choice(("==", "!=", "!=", "<", "<=", ">", ">="))
        of = random.choices(("n", "n % 2", "me", "x", "(unsigned char) n", "n * n"), (8, 1, 1, 1, 1, 1))[0]
        return f"{of} {relation} {random.randint(0, 5)}"

    def body(self, depth: int) -> str:
        return " ".join(self.statement(depth) for _ in range(self.random.randint(1, 3)))

    def statement(self, depth: int) -> str:
        choices = ["exit(1);", "exit(0);", "return 1;", self.leave, 'printf("%d", n);', "x = me;"]
        choices += [self.put, self.barrier, "while (1);", 'if (me == 0) printf("no");', "x++;"]
        if depth and self.random.random() < 0.4:
            return self.check(depth)
        return self.random.choices(choices, (5, 2, 3, 4, 3, 1, 1, 1, 0.3, 2, 1))[0]
