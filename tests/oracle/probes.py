"""Random programs that ask whether two steps of one rank stay in order.

Rank 0 issues a few operations, with or without something between them that may order their steps. Another rank
accesses two of the cells that they access, the later step's cell first. Nobody else is there, cells are seldom shared,
and so there is mostly a violation exactly if the earlier step may happen after the later one. One rule of completion is
enough to forbid it, and random programs without such a plan seldom depend on one rule alone.
"""

from __future__ import annotations

from collections.abc import Collection

from .chances import Chances
from .expressions import Expr, Int, Name
from .syntax import (
    REMOTE,
    UPDATES,
    Await,
    AwaitAdd,
    Bundle,
    Cell,
    CompareSwap,
    Fence,
    Fetch,
    FetchAdd,
    FetchUpdate,
    Load,
    Notify,
    Process,
    Program,
    Put,
    Queue,
    Read,
    Signal,
    Statement,
    Store,
    Swap,
    Update,
    UpdateFrom,
    Wait,
    WaitLocal,
    Write,
)

CELLS = ("x", "y", "z", "w", "v")
OPERATIONS = {"write": 3, "read": 2, "put": 3, "update": 4, "update_from": 5, "notify": 3, "signal": 4}
BETWEEN = {"": 8, "bundle": 3, "fence": 3, "wait_local": 2, "wait": 1}

Place = tuple[int, str]  # rank and cell


class Probe(Chances):
    """The numbers, nodes and queues of a generator, and its share of located atomics, of four."""

    def __init__(
        self, chances: Chances, nodes: int, queues: tuple[Queue, ...], commands: Collection[str], located: int
    ) -> None:
        super().__init__(chances.below)
        self.nodes, self.queues, self.commands, self.located = nodes, queues, commands, located
        self.places: list[Place] = []  # what rank 0 accesses, in the order of the issue
        self.main = Name(self.pick(queues).name)  # the queue of most operations
        self.target = 1 if self.chance(7, 8) else self.below(nodes)  # and their target
        self.together: dict[int, str] = {}  # by rank a cell that a located operation accesses

    def program(self) -> Program:
        """Operations of rank 0, and two accesses by another rank."""
        cells = tuple(Cell(name, None, (1,) if self.chance(1, 3) else ()) for name in CELLS)
        sender = tuple(self.sender())
        observer = 1 + self.below(self.nodes - 1)
        bodies = [
            sender if rank == 0 else self.observer(rank) if rank == observer else () for rank in range(self.nodes)
        ]
        processes = tuple(Process(body, (rank,)) for rank, body in enumerate(bodies))
        return Program(processes, self.nodes, cells, ("r", "s"), self.queues)

    # Rank 0

    def sender(self) -> list[Statement]:
        body: list[Statement] = []
        kinds = [kind for kind in OPERATIONS if kind in self.commands]
        for number in range(2 + self.chance(1, 2) if kinds else 0):
            body += self.between() if number else []
            kind = self.pick(kinds, [OPERATIONS[kind] for kind in kinds])
            body.append(self.operation(kind))
        if self.chance(2, 5):  # a rank uses what has arrived, or reuses what has been sent
            waits = [kind for kind in ("wait_local", "wait") if kind in self.commands and self.chance(3, 5)]
            body += self.between(waits[:1] or list(BETWEEN)) + self.use()
        return body

    def between(self, kinds: Collection[str] = tuple(BETWEEN)) -> list[Statement]:
        kinds = [kind for kind in kinds if not kind or kind in self.commands]
        match self.pick(kinds, [BETWEEN[kind] for kind in kinds]):
            case "bundle":
                return [Bundle()]
            case "fence":
                return [Fence(self.queue(), self.rank() if self.chance(1, 2) else None)]
            case "wait_local":
                return [WaitLocal(self.queue())]
            case "wait":
                return [Wait(self.queue())]
        return []

    def use(self) -> list[Statement]:
        """An access to a cell of its own that an operation accesses."""
        own = [cell for rank, cell in self.places if rank == 0]
        if not own:
            return []
        cell = self.pick(own)
        ways: dict[str, Statement] = {"load": Load("r", cell), "store": Store(cell, 2), "await": Await(cell, "!=", 0)}
        allowed = [way for kind, way in ways.items() if kind in self.commands]
        return [self.pick(allowed)] if allowed else []

    def operation(self, kind: str) -> REMOTE:
        rank, queue = self.rank(), self.queue()
        amount, once = 1 + self.below(2), self.pick(("add", "set"))
        match kind:
            case "write":
                return Write(self.local(), rank, self.remote(rank), queue)
            case "read":
                return Read(self.local(), rank, self.remote(rank), queue)
            case "put":
                return Put(self.local(), rank, self.remote(rank), queue)
            case "update":
                operation = self.update("compare_swap")
                expected = self.below(2) if operation == "compare_swap" else None
                located = self.chance(self.located, 4)
                remote, result = self.remote(rank, located), self.local() if self.chance(1, 2) else None
                return Update(operation, amount, rank, remote, queue, result, expected, located)
            case "update_from":
                return self.update_from(rank, queue)
            case "notify":
                if everywhere := self.chance(1, 2):
                    queue = Name(self.queues[-1].name)
                return Notify(once, amount, rank, self.remote(rank), queue, everywhere)
        return Signal(once, amount, rank, self.remote(rank), queue)

    def update_from(self, rank: int, queue: Expr) -> UpdateFrom:
        operation = self.update("compare_swap", "compare_swap", "fetch")
        located = self.chance(self.located, 4)
        if operation == "fetch":
            return UpdateFrom(operation, None, rank, self.remote(rank, located), queue, self.local(), None, located)
        local, expected = self.local(), self.local() if operation == "compare_swap" else None
        remote, result = self.remote(rank, located), self.local() if self.chance(1, 2) else None
        return UpdateFrom(operation, local, rank, remote, queue, result, expected, located)

    def update(self, *more: str) -> str:
        return self.pick((*more, "add", "set")) if self.chance(5, 6) else self.pick(UPDATES)

    def queue(self) -> Expr:
        return self.main if self.chance(2, 3) else Name(self.pick(self.queues).name)

    def rank(self) -> int:
        return self.target if self.chance(5, 6) else self.below(self.nodes)

    def local(self) -> str:
        return self.used(0)

    def remote(self, rank: int, located: bool = False) -> str:
        if located and rank in self.together and self.chance(2, 3):
            self.places.append((rank, self.together[rank]))
        else:
            self.used(rank)
        cell = self.places[-1][1]
        if located:
            self.together[rank] = cell
        return cell

    def used(self, rank: int) -> str:
        """A cell of `rank`, mostly one that is not in use, which now is."""
        taken = {cell for owner, cell in self.places if owner == rank}
        new = [cell for cell in CELLS if cell not in taken]
        cell = self.pick(CELLS) if not new or (taken and self.chance(1, 4)) else self.pick(new)
        self.places.append((rank, cell))
        return cell

    # The other rank

    def observer(self, rank: int) -> tuple[Statement, ...]:
        """Accesses to a later cell, then to an earlier one."""
        if len(self.places) < 2:
            return ()
        later = 1 + self.below(len(self.places) - 1)
        return (*self.access(rank, self.places[later]), *self.access(rank, self.places[self.below(later)]))

    def access(self, rank: int, place: Place) -> list[Statement]:
        """An access of `rank`, mostly one that conflicts with every other one and is no matter of values."""
        owner, cell = place
        ways: dict[str, tuple[Statement, int]] = {
            "fetch_add": (FetchAdd("s", owner, cell, 1), 6),
            "swap": (Swap("s", owner, cell, 2), 4),
            "compare_swap": (CompareSwap("s", owner, cell, 1, 2), 2),
            "fetch_update": (FetchUpdate("or", "s", owner, cell, 2), 6),
            "fetch": (Fetch("s", owner, cell), 4),
            "await_add": (AwaitAdd(owner, cell, "!=", 0, 1), 3),
            "load_there": (Load("s", cell, owner), 3),
            "store_there": (Store(cell, Int(2), owner), 4),
        }
        if rank == owner:
            ways |= {
                "load": (Load("s", cell), 4),
                "store": (Store(cell, Int(2)), 6),
                "await": (Await(cell, "!=", 0), 4),
            }
        allowed = [way for kind, way in ways.items() if kind in self.commands]
        return [self.pick([way for way, _ in allowed], [weight for _, weight in allowed])] if allowed else []
