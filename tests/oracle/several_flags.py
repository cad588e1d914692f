"""Random programs with a loop that reads two or three flags a round, and goes round until all (or enough) are set.

Whether one flag decides alone depends on the condition: `!(r && s)`, `(r & s) == 0`, a product, a register computed of
them, and conditions that look alike and do not (`r + s < 2`, `r & 1 / s`).
"""

from __future__ import annotations

import random

from .chances import Chances
from .expressions import Expr, op
from .syntax import (
    Assign,
    Await,
    Cell,
    Fence,
    Fetch,
    If,
    Load,
    Process,
    Program,
    Put,
    Queue,
    Skip,
    Statement,
    Store,
    Wait,
    While,
    Write,
)

FLAGS, REGISTERS = ("x", "y", "z"), ("r", "s", "t")


def random_program(seed: int) -> Program:
    """The program of `seed`, always the same one."""
    return Generator(random.Random(seed)).program()


class Generator(Chances):
    def __init__(self, source: random.Random) -> None:
        super().__init__(source.randrange)
        self.flags = self.pick((2, 3), (5, 2))
        self.signals = self.chance(2, 3)  # whether the one that sets the flags says so before they are polled
        self.order = source.sample(range(self.flags), self.flags)

    def program(self) -> Program:
        memory = (*map(Cell, (*FLAGS, "f")), Cell("one", None, (1,)), Cell("two", None, (2,)))
        processes = (Process(self.setter(), (0,)), Process(self.poller(), (1,)))
        return Program(processes, 2, memory, REGISTERS, (Queue("q", self.chance(4, 5)),))

    def setter(self) -> tuple[Statement, ...]:
        body: list[Statement] = [Await("f", "==", 2)] if self.chance(1, 8) else []
        for flag in self.order:
            kind = self.pick((Put, Write), (3, 1))
            body.append(kind(self.pick(("one", "two"), (6, 1)), 1, FLAGS[flag], "q"))
            if self.chance(1, 6):
                body.append(self.pick((Wait("q"), Fence("q"))))
        return (*body, Put("one", 1, "f", "q")) if self.signals else tuple(body)

    def poller(self) -> tuple[Statement, ...]:
        there = 1 if self.chance(1, 6) else None
        looks: list[Statement] = [
            Load(register, flag) if there is None else Fetch(register, there, flag)
            for register, flag in zip(REGISTERS[: self.flags], self.pick((FLAGS, FLAGS[::-1])), strict=False)
        ]
        condition, computed = self.condition()
        around = [While(condition, (*looks, *computed))]
        if self.chance(1, 8):
            around = [*looks, *computed, While(condition, (*looks, *computed))]
        elif self.chance(1, 8):
            around = [While(condition, (looks[0], If("r", tuple(looks[1:])), *computed))]
        before: list[Statement] = [Await("f", "==", 1)] if self.signals else []
        before += [Store("x", 0)] if self.chance(1, 8) else []
        after = [self.pick((Load("r", "x"), Skip(), Fetch("s", 0, "f"), Store("f", "r")))] if self.chance(1, 3) else []
        return (*before, *around, *after)

    def condition(self) -> tuple[Expr, list[Statement]]:
        """The condition to go round again, and what is computed before it in a round."""
        used = REGISTERS[: self.flags]
        if self.chance(1, 8):
            kept = "t" if self.flags == 2 else "r"
            return op("!", kept), [Assign(kept, self.joined(self.pick(("&&", "&", "*")), used))]
        kind = self.pick(("&&", "&", "*", "or", "bits", "if", "sum", "fault", "compared"), (4, 4, 3, 2, 2, 1, 1, 1, 2))
        match kind:
            case "&&" | "&" | "*":
                joined = self.joined(kind, used)
                return self.pick((op("==", joined, 0), op("!", joined), op("!=", op("!=", joined, 0), 1))), []
            case "or":
                return self.joined(self.pick(("||", "|")), [op("==", each, 0) for each in used]), []
            case "bits":
                return op("!", op("&", self.joined("&", used), 1)), []
            case "if":
                return op("?:", used[0], op("!", self.joined("&", used[1:])), 1), []
            case "sum":
                return op("<", self.joined("+", used), self.flags), []
            case "fault":
                return op("!", op(self.pick(("&&", "&")), used[0], op("/", 2, used[1]))), []
        return op("!", self.joined("&", [op("==", each, 1) for each in used])), []

    def joined(self, symbol: str, parts: tuple[Expr | str, ...] | list[Expr]) -> Expr:
        found, *others = [op("|", part, 0) if isinstance(part, str) and self.chance(1, 9) else part for part in parts]
        for other in others:
            found = op(symbol, found, other) if self.chance(2, 3) else op(symbol, other, found)
        return found if not isinstance(found, str) else op("|", found, 0)
