"""Random small programs whose ranks poll, take locks and go round: many of them get stuck, or seem to.

Polls of one, two and three cells; locks by compare_swap, swap and tickets, some of which nobody releases; loops that
write, that nobody can see to write, that pass barriers, that end by choice, by an assume, at an exit.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Mapping

from .chances import Chances
from .expressions import Expr, Name, op
from .syntax import (
    Assert,
    Assign,
    Assume,
    Await,
    Barrier,
    Block,
    Cell,
    Choose,
    CompareSwap,
    Exit,
    Fetch,
    FetchAdd,
    If,
    Load,
    Loop,
    Process,
    Program,
    Put,
    Queue,
    Skip,
    Statement,
    Store,
    Swap,
    Wait,
    While,
    Write,
)

CELLS, REGISTERS = ("x", "y", "f"), ("a", "b", "c")
WAYS = {
    "poll": 5, "poll two": 5, "poll three": 2, "try two": 3, "compare_swap": 4, "swap": 3, "ticket": 2, "release": 3,
    "set": 8, "send": 5, "get stuck": 1, "round": 2, "barriers": 1, "choice": 1, "barrier": 2, "await": 2, "exit": 1,
    "assume": 1, "look": 3, "if": 2, "assert": 1,
}  # fmt: skip


def spinning(seed: int, without: Collection[str] = (), most_ranks: int = 3) -> Program:
    """The program of this seed; ``without`` some of :data:`WAYS`."""
    ways = {way: weight for way, weight in WAYS.items() if way not in without}
    return _Spinning(random.Random(seed).randrange, ways, most_ranks).program()


class _Spinning(Chances):
    def __init__(self, below: Callable[[int], int], ways: Mapping[str, int], most_ranks: int) -> None:
        super().__init__(below)
        self.ways = ways
        self.nodes = min(most_ranks, self.pick((1, 2, 3), (1, 6, 2)))

    def program(self) -> Program:
        memory = tuple(Cell(name, None, (self.pick((0, 1, 2), (4, 2, 1)),)) for name in CELLS)
        memory += (Cell("one", None, (1,)),)
        queues = (Queue("q", self.chance(1, 2)),)
        if self.chance(1, 3):
            processes = [Process(self.body(3))]
        else:
            most = 3 if self.nodes < 3 else 2
            processes = [Process(self.body(most), (rank,)) for rank in range(self.nodes)]
        return Program(tuple(processes), self.nodes, memory, REGISTERS, queues)

    def body(self, most: int) -> Block:
        return tuple(each for _ in range(1 + self.below(most)) for each in self.part())

    def part(self) -> list[Statement]:
        return getattr(self, "_" + self.pick(list(self.ways), list(self.ways.values())).replace(" ", "_"))()

    def rank(self) -> int:
        return self.below(self.nodes)

    def read(self, register: str, cell: str) -> Statement:
        return Load(register, cell) if self.chance(1, 2) else Fetch(register, self.rank(), cell)

    def wanted(self, register: str) -> Expr:
        """A condition on a register, as a poll waits for it."""
        return self.pick(
            (Name(register), op("==", register, 1), op("==", register, 2), op("!", register)), (5, 3, 1, 1)
        )

    # Polls

    def _poll(self) -> list[Statement]:
        register = self.pick(REGISTERS)
        inside: list[Statement] = [self.read(register, self.pick(CELLS))]
        if self.chance(1, 6):
            inside.append(Assign(self.pick(REGISTERS), self.below(2)))
        if self.chance(1, 8):
            inside.insert(0, Wait("q"))
        return [*self.maybe(Assign(register, 0)), While(op("!", self.wanted(register)), tuple(inside))]

    def _poll_two(self) -> list[Statement]:
        one, other = self.pick((("a", "b"), ("b", "c")))
        both = op(self.pick(("&&", "||", "&")), self.wanted(one), self.wanted(other))
        inside = (self.read(one, self.pick(CELLS)), self.read(other, self.pick(CELLS)))
        return [*self.maybe(Assign(one, 0)), *self.maybe(Assign(other, 0)), While(op("!", both), inside)]

    def _poll_three(self) -> list[Statement]:
        all_ = op(
            self.pick(("&&", "||")), op(self.pick(("&&", "||")), self.wanted("a"), self.wanted("b")), self.wanted("c")
        )
        return [While(op("!", all_), tuple(self.read(*each) for each in zip(REGISTERS, CELLS, strict=True)))]

    def _try_two(self) -> list[Statement]:
        """A, and where that is not there B; or B only where A is."""
        first, second = self.read("a", "x"), self.read("b", "y")
        tried = If(self.pick((Name("a"), op("!", "a"))), (second,), None)
        return [While(op("!", op(self.pick(("&&", "||")), "a", "b")), (first, tried))]

    # Locks

    def _compare_swap(self) -> list[Statement]:
        register, cell, rank = self.pick(REGISTERS), self.pick(CELLS), self.rank()
        take = While(op("!=", register, 0), (CompareSwap(register, rank, cell, 0, 1),))
        return [Assign(register, 1), take, *self.maybe(Store(cell, 0, rank))]

    def _swap(self) -> list[Statement]:
        register, cell, rank = self.pick(REGISTERS), self.pick(CELLS), self.rank()
        taken = self.pick((op("==", register, 1), op("!=", register, 0)))
        return [Assign(register, 1), While(taken, (Swap(register, rank, cell, 1),)), *self.maybe(Store(cell, 0, rank))]

    def _ticket(self) -> list[Statement]:
        wait = While(op("!=", "a", "b"), (Fetch("b", 0, "f"),))
        return [FetchAdd("a", 0, "x", 1), Assign("b", -1), wait, *self.maybe(FetchAdd("c", 0, "f", 1))]

    def _release(self) -> list[Statement]:
        return [Store(self.pick(CELLS), self.below(2), self.rank())]

    # What others wait for

    def _set(self) -> list[Statement]:
        return [Store(self.pick(CELLS), self.pick((1, 2, 0), (5, 1, 1)), self.rank())]

    def _send(self) -> list[Statement]:
        sends = self.pick((Put, Write))
        return [sends("one", self.rank(), self.pick(CELLS), "q"), *self.maybe(Wait("q"))]

    def _look(self) -> list[Statement]:
        register, cell = self.pick(REGISTERS), self.pick(CELLS)
        look = Load(register, cell)
        return [look, *self.maybe(If(op("!", register), (Await(cell, "!=", 0),), None))]

    # Loops that are no polls

    def _get_stuck(self) -> list[Statement]:
        return [While(1, (self.pick((Store(self.pick(CELLS), 1), Assign("a", 1), Load("a", "x"))),))]

    def _round(self) -> list[Statement]:
        """A loop that writes, what others may see or not, until something is seen."""
        cell = self.pick(CELLS)
        writes: list[Statement] = [Store(cell, 1, self.rank()), Store(cell, 0, self.rank())]
        if self.chance(1, 3):
            writes = writes[:1]
        return [While(op("!", "a"), (*writes, self.read("a", self.pick(CELLS))))]

    def _barriers(self) -> list[Statement]:
        inside: list[Statement] = [Barrier(), self.read("a", self.pick(CELLS))]
        if self.chance(1, 3):
            inside.append(Store(self.pick(CELLS), self.below(2)))
        return [While(op("!", "a"), tuple(inside))]

    def _choice(self) -> list[Statement]:
        inside = (self.read("a", self.pick(CELLS)),)
        match self.below(4):
            case 0:
                return [Loop(inside)]
            case 1:
                return [Loop(inside), Assume(Name("a"))]
            case 2:
                return [While(op("!", "a"), (Choose((inside, (Skip(),))), *self.maybe(Store("y", 1))))]
        return [While(op("!", "a"), (Choose((inside, (Assign("a", 1),))),))]

    def _barrier(self) -> list[Statement]:
        return [Barrier(self.pick(("", "n"), (5, 1)))]

    def _await(self) -> list[Statement]:
        return [Await(self.pick(CELLS), self.pick(("==", "!=")), self.below(2))]

    def _exit(self) -> list[Statement]:
        return [If(Name("a"), (Exit(),), None)]

    def _assume(self) -> list[Statement]:
        return [Assume(self.wanted(self.pick(REGISTERS)))]

    def _assert(self) -> list[Statement]:
        return [Assert(self.wanted(self.pick(REGISTERS)))]

    def _if(self) -> list[Statement]:
        return [If(Name(self.pick(REGISTERS)), tuple(self.part()), None)]

    def maybe(self, *statements: Statement) -> list[Statement]:
        return list(statements) if self.chance(1, 2) else []
