"""Random programs in which a rank looks at several flags, remembers which it has seen, and goes on when all are there.

One that looks again at what it has not seen, or looks at each and waits for those that were not there; and many in
which it matters what it has seen first: the order is kept, a flag is taken down again or has two values, data are read
meanwhile, the rank answers in between.
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
    WaitLocal,
    While,
)

FLAGS, REGISTERS, KEPT = ("x", "y", "z"), ("r", "s", "t"), "k"


def random_program(seed: int) -> Program:
    """The program of `seed`, always the same one."""
    return Generator(random.Random(seed)).program()


class Generator(Chances):
    def __init__(self, source: random.Random) -> None:
        super().__init__(source.randrange)
        self.flags = self.pick((2, 3))
        self.order = source.sample(range(self.flags), self.flags)
        self.looked = source.sample(range(self.flags), self.flags)
        self.odd = self.pick(
            ("", "order", "down", "two", "data", "answer", "raises", "first"), (12, 2, 2, 2, 2, 1, 1, 1)
        )

        self.waiting = source.random() < 0.3  # for its own operations, meanwhile

    def program(self) -> Program:
        constants = (Cell("one", None, (1,)), Cell("two", None, (2,)))
        memory = (*map(Cell, (*FLAGS, "d", "o", "g", "zero")), *constants)
        processes = [Process(self.setter(), (0,)), Process(self.looker(), (1,))]
        return Program(tuple(processes), 2, memory, (*REGISTERS, KEPT), (Queue("q", self.chance(4, 5)),))

    def setter(self) -> tuple[Statement, ...]:
        body: list[Statement] = []
        for place, flag in enumerate(self.order):
            if self.odd == "answer" and place == self.flags - 1:
                body.append(Await("g", "==", 1))
            value = "two" if self.odd == "two" and self.chance(1, 2) else "one"
            if self.odd == "data" and self.chance(1, 2):
                body.append(Put("one", 1, "d", "q"))
            body.append(Put(value, 1, FLAGS[flag], "q"))
            if self.chance(1, 6):
                body.append(self.pick((Wait("q"), Fence("q"))))
            if self.odd == "down" and self.chance(1, 2):
                body += [Wait("q")] * self.chance(1, 2) + [Put("zero", 1, FLAGS[flag], "q")]
        return tuple(body)

    def looker(self) -> tuple[Statement, ...]:
        before: list[Statement] = [Store(FLAGS[self.order[0]], self.pick((0, 2)))] if self.odd == "raises" else []
        kind = self.pick(("round", "waits", "once"), (3, 3, 1))
        around = {"round": self.round, "waits": self.waits, "once": self.once}[kind]()
        after: list[Statement] = [Store("o", KEPT)] if self.odd in ("order", "data", "first") else []
        if self.chance(1, 6):
            after.append(self.pick((Load("r", "x"), Fetch("s", 1, "y"), Store("d", self.pick(REGISTERS)))))
        if self.waiting and self.chance(1, 2):
            before.append(Put("two", 0, "o", "q"))
        return (*before, *around, *after)

    def seen(self, register: str) -> Expr:
        return op("==", register, 1) if self.odd != "two" or self.chance(1, 2) else op("!=", register, 0)

    def look(self, flag: int) -> list[Statement]:
        """Look at a flag, and do what is done when it has been seen."""
        register = REGISTERS[flag]
        load: Statement = Fetch(register, 1, FLAGS[flag]) if self.chance(1, 6) else Load(register, FLAGS[flag])
        then: list[Statement] = []
        match self.odd:
            case "order":
                then = [If(self.seen(register), (Assign(KEPT, op("+", op("*", KEPT, 3), flag)),))]
            case "first":
                then = [If(op("&&", self.seen(register), op("==", KEPT, 0)), (Assign(KEPT, flag + 1),))]
            case "data" if self.chance(1, 2):
                then = [If(self.seen(register), (Load(KEPT, "d"),))]
            case "answer" if self.chance(2, 3):
                then = [If(self.seen(register), (Store("g", 1), Put("one", 0, "g", "q")))]
        waits: list[Statement] = [self.pick((Wait("q"), WaitLocal("q")))] if self.waiting and self.chance(1, 3) else []
        return [load, *waits, *then]

    def round(self) -> list[Statement]:
        """Look at those that have not been seen until all have."""
        registers = REGISTERS[: self.flags]
        looks = [If(op("!", self.seen(REGISTERS[each])), tuple(self.look(each))) for each in self.looked]
        condition: Expr = self.seen(registers[0])
        for register in registers[1:]:
            condition = op("&&", condition, self.seen(register))
        if self.chance(1, 8):  # one of them is enough
            condition = self.seen(registers[0])
        return [While(op("!", condition), tuple(looks))]

    def waits(self) -> list[Statement]:
        """Look at each, and wait for those that were not there."""
        looks = [each for flag in self.looked for each in self.look(flag)]
        order = self.looked if self.chance(1, 2) else sorted(self.looked)
        waits: list[Statement] = [
            If(op("!", self.seen(REGISTERS[flag])), (Await(FLAGS[flag], *self.pick((("==", 1), ("!=", 0)), (3, 1))),))
            for flag in order
        ]
        forgotten = [Assign(REGISTERS[flag], 1) for flag in order] if self.chance(2, 3) else []
        if self.chance(1, 6):
            waits.pop()
        return [*looks, *waits, *forgotten]

    def once(self) -> list[Statement]:
        looks = [each for flag in self.looked for each in self.look(flag)]
        branch = If(self.seen(REGISTERS[0]), (Await("y", "==", 1),), (Await("x", "==", 1), Await("y", "==", 1)))
        return [*looks, branch, *([Skip()] if self.chance(1, 2) else [Assign("r", 1), Assign("s", 1)])]
