"""Random programs in which polls and updates that commute occur often, from hypothesis or from a seed.

Two ranks mostly, a few pieces each: messages with a flag, gets into a cell that is polled, polls of all kinds (and what
only looks like one), updates of one cell by the same and by other operations. Small enough for the oracle to try every
run of nearly all of them.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from hypothesis import strategies as st

from .chances import Chances
from .expressions import Expr, Name, op
from .syntax import (
    Assert,
    Assign,
    Assume,
    Await,
    AwaitAdd,
    Barrier,
    Block,
    Cell,
    Choose,
    CompareSwap,
    Fence,
    Fetch,
    FetchAdd,
    FetchUpdate,
    If,
    Load,
    Loop,
    Notify,
    Process,
    Program,
    Put,
    Queue,
    Read,
    Signal,
    Skip,
    Statement,
    Store,
    Update,
    UpdateFrom,
    Wait,
    WaitLocal,
    While,
    Write,
)

KINDS = ("polls", "updates", "both")


def random_program(seed: int, kind: str | None = None, hard: bool = False) -> Program:
    """The program of `seed`, always the same one for the same arguments. `kind` is one of `KINDS`, or any of them."""
    return Generator(random.Random(seed).randrange, kind, hard).program()


@st.composite
def programs(draw: st.DrawFn, kind: str | None = None, hard: bool = False) -> Program:
    """Programs of one of `KINDS`, or of any of them. `hard` ones have polls too that a tool may not recognise."""

    def below(limit: int) -> int:
        return draw(st.integers(0, limit - 1))

    return Generator(below, kind, hard).program()


class Generator(Chances):
    def __init__(self, below: Callable[[int], int], kind: str | None, hard: bool = False) -> None:
        super().__init__(below)
        self.hard = hard
        self.kind = kind or self.pick(KINDS, (4, 3, 3))
        self.nodes = self.pick((2, 1, 3), (8, 1, 2))
        self.queues = (Queue("q", self.chance(1, 2)), Queue("p", self.chance(1, 2)))
        self.operation = self.pick(("add", "or", "max", "min", "xor", "and"), (6, 2, 2, 1, 1, 1))
        self.left = 0  # operations with steps that the rank at hand may still issue

    def program(self) -> Program:
        memory = (Cell("x"), Cell("y"), Cell("z", None, (1,)), Cell("w"))
        if self.chance(1, 4):
            processes = [Process(self.body(None))]
        else:
            processes = [Process(self.body(rank), (rank,)) for rank in range(self.nodes)]
        return Program(tuple(processes), self.nodes, memory, ("r", "s"), self.queues)

    def body(self, rank: int | None) -> Block:
        self.rank = rank
        self.left = {1: 3, 2: 3, 3: 2}[self.nodes]
        body: list[Statement] = []
        for _ in range(1 + self.below(2 if self.nodes == 3 else 3)):
            body += self.piece()
        return tuple(body)

    def piece(self) -> list[Statement]:
        ways: dict[str, int] = {"access": 4, "order": 1, "access again": 1}
        if self.left > 0:
            ways["transfer"] = 2
        if self.kind != "updates":
            ways["poll"] = 7
            if self.left > 0:
                ways["shadow"] = 5
            if self.left > 1:
                ways["message"] = 5
        if self.kind != "polls" and self.left > 0:
            ways["update"] = 12
        match self.pick(tuple(ways), tuple(ways.values())):
            case "access" | "access again":
                return [self.access()]
            case "order":
                return [self.order()]
            case "transfer":
                return self.transfer()
            case "poll":
                return self.poll(*self.polled())
            case "shadow":
                return self.shadow()
            case "message":
                return self.message()
        return self.updates()

    # Accesses

    def other(self) -> Expr | int:
        """Mostly the next rank."""
        if self.rank is None:
            return self.pick((op("%", op("+", "me", 1), "nodes"), Name("me"), 0), (5, 1, 2))
        return self.pick(((self.rank + 1) % self.nodes, self.rank, 0), (5, 1, 1))

    def cell(self) -> str:
        return self.pick(("x", "y", "w"), (4, 4, 1))

    def queue(self) -> str:
        return self.pick(("q", "p"), (4, 1))

    def register(self) -> str:
        return self.pick(("r", "s"), (2, 1))

    def value(self) -> Expr | int | str:
        return self.pick((1, 2, 0, "r", Name("me")), (6, 2, 1, 1, 1))

    def access(self) -> Statement:
        """An access that happens at once."""
        ways: tuple[tuple[Statement, int], ...] = (
            (Load(self.register(), self.cell()), 6),
            (Store(self.cell(), self.value()), 5),
            (Fetch(self.register(), self.other(), self.cell()), 2),
            (FetchAdd(self.register(), self.other(), self.cell(), 1), 1),
            (FetchUpdate(self.operation, self.register(), self.other(), self.cell(), 1), 1),
            (CompareSwap(self.register(), self.other(), self.cell(), 0, 1), 1),
            (Await(self.cell(), "!=", 0), 1),
            (Assert(op("!=", self.register(), 1)), 1),
            (AwaitAdd(self.other(), self.cell(), "!=", 0, 1), 1),
        )
        return self.pick([way for way, _ in ways], [weight for _, weight in ways])

    def order(self) -> Statement:
        queue = self.queue()
        rank = self.other() if self.chance(1, 3) else None
        return self.pick((Wait(queue), Fence(queue, rank), WaitLocal(queue), Barrier()), (4, 3, 2, 1))

    def transfer(self) -> list[Statement]:
        self.left -= 1
        cell, queue, there = self.cell(), self.queue(), self.other()
        kinds = (Write("z", there, cell, queue), Put("z", there, cell, queue), Read("w", there, cell, queue))
        return [self.pick(kinds, (4, 2, 2)), *self.maybe_order()]

    def maybe_order(self) -> list[Statement]:
        return [self.order()] if self.chance(1, 3) else []

    def message(self) -> list[Statement]:
        """Data, then a flag in y."""
        self.left -= 2
        there, queue = self.other(), self.queue()
        flag = self.pick(
            (
                Write("z", there, "y", queue),
                Notify("add", 1, there, "y", queue),
                Signal("add", 1, there, "y", queue),
                Update(self.operation, 1, there, "y", queue),
                Store("y", 1),
            ),
            (4, 2, 2, 2, 1),
        )
        return [Write("z", there, "x", queue), *self.maybe_order(), flag]

    def shadow(self) -> list[Statement]:
        """A get or an update, and a poll of the cell that tells about its arrival."""
        self.left -= 1
        there, queue = self.other() if self.hard or self.nodes == 1 else self.next(), self.queue()
        place = there if self.hard else self.next()
        ways = (
            ([Read("w", there, "z", queue)], ("w", None)),
            ([Write("z", there, "x", queue)], ("x", place)),
            ([Update("add", 1, there, "x", queue)], ("x", place)),
            ([Update("add", 1, there, "z", queue, "w")], ("w", None)),
            ([UpdateFrom("fetch", None, there, "z", queue, "w")], ("w", None)),
        )
        body, place = self.pick(ways, (6, 3, 3, 1, 1))
        between = [self.access()] if self.chance(1, 5) else []
        return [*body, *between, *self.poll(*place)]

    # Updates

    def update(self, cell: str, there: Expr | int, queue: str) -> Statement:
        operation = self.operation if self.chance(5, 6) else self.pick(("add", "or", "max", "set", "mul"))
        told = operation if operation in ("add", "set") else "add"
        result = "w" if self.chance(1, 10) else None
        local = self.pick(("z", "w", cell), (4, 1, 1))
        ways: tuple[tuple[Statement, int], ...] = (
            (Update(operation, self.pick((1, 2, Name("me")), (4, 1, 1)), there, cell, queue, result), 8),
            (UpdateFrom(operation, local, there, cell, queue, result), 3),
            (Notify(told, 1, there, cell, queue), 3),
            (Signal(told, 1, there, cell, queue), 3),
            (Update("compare_swap", 1, there, cell, queue, None, 0), 1),
        )
        return self.pick([way for way, _ in ways], [weight for _, weight in ways])

    def updates(self) -> list[Statement]:
        """One or two updates, mostly of one cell, with now and then something between."""
        cell, there, queue = self.cell(), self.other(), self.queue()
        body: list[Statement] = []
        for _ in range(min(self.left, self.pick((1, 2), (1, 2)))):
            self.left -= 1
            here = cell if self.chance(5, 6) else self.cell()
            body.append(self.update(here, there, queue if self.chance(3, 4) else self.queue()))
            if self.chance(1, 4):
                body.append(self.access() if self.chance(1, 2) else self.order())
        return body

    # Polls

    def polled(self) -> tuple[str, Expr | int | None]:
        """A cell to poll, and the rank that has it: None for the poller itself."""
        cell = self.pick(("y", "w", "x"), (5, 2, 2))
        if not self.chance(1, 5):
            return cell, None
        return cell, self.other() if self.hard else self.next()

    def next(self) -> Expr | int | None:
        """The next rank, or None where that is the rank at hand."""
        if self.nodes == 1:
            return None
        return op("%", op("+", "me", 1), "nodes") if self.rank is None else (self.rank + 1) % self.nodes

    def look(self, register: str, cell: str, there: Expr | int | None) -> Statement:
        if there is None and self.hard and self.chance(1, 10):
            there = Name("me")
        return Load(register, cell) if there is None else Fetch(register, there, cell)

    def poll(self, cell: str, there: Expr | int | None) -> list[Statement]:
        r, s = self.pick((("r", "s"), ("s", "r")), (3, 1))
        fail, done, relation, number = self.pick(
            (
                (op("==", r, 0), op("!=", r, 0), "!=", 0),
                (op("!=", r, 1), op("==", r, 1), "==", 1),
                (op("!", r), Name(r), "!=", 0),
                (op("<", r, 2), op(">=", r, 2), ">=", 2),
            ),
            (6, 2, 2, 1),
        )
        bit = (op("!=", op("&", r, 1), 1), op("==", op("&", r, 1), 1))
        if self.hard:
            fail, done = self.pick(((fail, done), bit), (5, 1))
            relation, number = self.pick(((relation, number), ("!=", 0), ("==", 1), (">", 0)), (3, 1, 1, 1))
        look, again = self.look(r, cell, there), self.look(r, cell, there)
        second = self.look(s, *self.polled())
        not_yet = op("==", s, 0)
        wait = Await(cell, relation, number)
        free = op("&&", fail, not_yet)
        shapes: dict[str, tuple[list[Statement], int]] = {
            "while": ([While(fail, (look,))], 6),
            "of a bit": (
                [Assign(r, 0), While(bit[0], (look, *([If(bit[0], (second,))] if self.chance(1, 3) else [])))],
                2,
            ),
            "do": ([look, While(fail, (again,))], 4),
            "both": ([While(free, (look, second))], 3),
            "both in the other order": ([While(free, (second, look))], 3),
            "one after the other": ([While(free, (look, If(fail, (second,))))], 3),
            "look and wait": ([look, If(fail, (wait,))], 5),
            "look and wait or else": ([look, If(fail, (wait,), (self.small(),))], 1),
            "look and poll": ([look, If(fail, (While(not_yet, (self.look(s, cell, there),)),))], 2),
            "look and poll again": ([look, If(fail, (While(fail, (again,)),))], 2),
            "through a register": ([While(not_yet, (look, Assign(s, done)))], 3),
            "with an action": ([While(fail, (look, If(fail, (self.small(),))))], 3),
            "with an action on success": ([While(fail, (look, If(done, (self.small(),))))], 2),
            "counting": ([While(op("&&", fail, op("<", s, 2)), (look, Assign(s, op("+", s, 1))))], 2),
            "loop": ([Loop((look,))], 1),
            "loop of failures": ([Loop((look, Assume(fail))), again, Assume(done)], 2),
            "loop with a choice": ([While(fail, (Choose(((look,), (self.look(r, *self.polled()),))),))], 2),
            "loop with a way out": ([While(fail, (look, Choose(((), (Assign(r, 1),)))))], 1),
            "with a wait": ([While(fail, (self.pick((Wait("q"), Wait("p"), Fence("q"), WaitLocal("q"))), look))], 2),
            "one in the other": ([While(fail, (look, If(fail, (While(not_yet, (second,)),))))], 1),
            "one around the other": ([While(fail, (While(not_yet, (second,)), look))], 1),
            "for ever": ([While(1, (look, *([If(done, (self.small(),))] if self.chance(1, 2) else [])))], 1),
            "idle": ([While(fail, (Skip(), look, Skip()))], 1),
            "await": ([wait], 2),
            "await again": ([While(fail, (wait, look))], 1),
        }
        if self.hard:
            shapes |= {
                "loop, then assume": ([Loop((look,)), Assume(done)], 2),  # what a read gives, its register had before
                "look and wait, twice": ([look, If(fail, (again, If(fail, (wait,))))], 1),
                "through a register after": ([look, Assign(s, done), While(op("!", s), (again, Assign(s, done)))], 2),
            }
        body, _ = shapes[self.pick(tuple(shapes), tuple(weight for _, weight in shapes.values()))]
        before: list[Statement] = [Assign(r, 0)] if self.chance(1, 4) else []
        before += [Assign(s, 0)] if self.chance(1, 6) else []
        after: list[Statement] = []
        if self.chance(1, 3):
            after = [self.pick((Load(s, "x"), Store("x", r), Load(s, cell), Assign(r, 0)), (4, 2, 1, 1))]
        return [*before, *body, *after]

    def small(self) -> Statement:
        """What a poll does meanwhile."""
        return self.pick(
            (Load("s", "x"), Store("x", 2), Assign("s", 0), Assign("s", op("+", "s", 1)), Fence("q"), Assign("r", 1)),
            (4, 3, 2, 1, 1, 1),
        )
