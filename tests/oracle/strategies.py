"""Random small programs, from hypothesis or from a seed.

Sizes are such that the oracle decides nearly all of them within a tenth of a second: at most three ranks, and fewer
commands and pending operations the more ranks there are (`_LENGTH`, `_REMOTE`). Shapes are such that a good share is
not robust and the rest not for lack of conflicts: operations are followed by waits, fences or barriers as often as not.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection

from hypothesis import strategies as st

from .chances import Chances
from .expressions import Expr, Int, Name, op
from .probes import Probe
from .syntax import (
    REMOTE,
    UPDATES,
    Assert,
    Assign,
    Assume,
    Await,
    AwaitAdd,
    Barrier,
    Block,
    Bundle,
    Cell,
    Choose,
    CompareSwap,
    Exit,
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
    Swap,
    Update,
    UpdateFrom,
    Wait,
    WaitLocal,
    While,
    Write,
    statements,
)

COMMANDS = (
    "load", "store", "assign", "assume", "assert", "read", "write", "barrier", "wait", "wait_local", "fence", "await",
    "fetch_add", "swap", "compare_swap", "skip", "if", "choose",
)  # fmt: skip
EXTENSIONS = (
    "put", "update", "update_from", "notify", "bundle", "signal", "fetch", "fetch_update", "await_add", "load_there",
    "store_there",
)  # fmt: skip
"""Commands of the extended calculus: `(*COMMANDS, *EXTENSIONS)` is everything."""
MEETINGS = ("load", "store", "write", "read", "wait", "barrier", "named", "exit", "choose")
"""Barriers that have names beside those that have none, and exits."""
LOOPS = ("loop", "while")
_WITH_STEPS = ("read", "write", "put", "update", "update_from", "notify", "signal")
_LENGTH = {1: (3, 8), 2: (3, 6), 3: (2, 4)}  # statements of a rank's block
_REMOTE = {1: 4, 2: 4, 3: 2}  # operations of a rank's block, at most
_WEIGHTS = {
    "load": 6, "store": 5, "assign": 1, "assume": 1, "assert": 2, "read": 5, "write": 9, "wait": 4, "wait_local": 2,
    "fence": 3, "await": 2, "fetch_add": 2, "swap": 1, "compare_swap": 1, "skip": 1, "if": 2, "choose": 2, "loop": 3,
    "while": 2, "put": 4, "update": 4, "update_from": 4, "notify": 3, "bundle": 3, "signal": 4, "fetch": 1,
    "fetch_update": 1, "await_add": 1, "load_there": 2, "store_there": 2, "named": 2, "exit": 1,
}  # fmt: skip
_CAREFUL = {"wait": 6, "wait_local": 1, "fence": 2}


def random_program(
    seed: int,
    ranks: tuple[int, int] = (1, 3),
    commands: Collection[str] = COMMANDS,
    loops: bool = False,
    faults: bool = True,
) -> Program:
    """The program of `seed`: always the same one for the same arguments."""
    source = random.Random(seed)
    return _Generator(source.randrange, ranks, commands, loops, faults).program()


@st.composite
def programs(
    draw: st.DrawFn,
    ranks: tuple[int, int] = (1, 3),
    commands: Collection[str] = COMMANDS,
    loops: bool = False,
    faults: bool = True,
) -> Program:
    """Programs for `ranks[0]` to `ranks[1]` nodes (`Program.nodes`) with some of the `commands`.

    `loops` adds `loop` and `while`; without `faults` no command can fault.
    """

    def below(limit: int) -> int:
        return draw(st.integers(0, limit - 1))

    return _Generator(below, ranks, commands, loops, faults).program()


class _Generator(Chances):
    """Builds a program from a source of small numbers."""

    def __init__(
        self, below: Callable[[int], int], ranks: tuple[int, int], commands: Collection[str], loops: bool, faults: bool
    ) -> None:
        super().__init__(below)
        self.commands = frozenset(commands) | (frozenset(LOOPS) if loops else frozenset())
        self.extensions = [kind for kind in EXTENSIONS if kind != "bundle" and kind in self.commands]
        # how many of the deferred atomics are located, of four: one alone orders nothing
        self.located = self.pick((0, 1, 3)) if {"update", "update_from"} & self.commands else 0
        self.faults = faults
        self.nodes = ranks[0] + self.pick(range(ranks[1] - ranks[0] + 1), (1, 4, 2) if ranks == (1, 3) else None)
        self.ring = self.nodes > 1 and self.chance(2, 5)
        cells = (("x", "y"), ("x",), ("a",), ("x", "a"))
        self.cells = ("x", "y", "z", "w") if self.ring else self.pick(cells, (5, 2, 1, 1))
        self.registers = ("r", "s")[: 1 + self.below(2)]
        more = self.chance(1, 2 if self.extensions else 4)
        self.queues = tuple(Queue(name, self.chance(1, 2)) for name in ("q", "p")[: 1 + more])
        # how often an operation is followed by a wait or a fence at once: never, sometimes, mostly
        self.care = self.pick((0, 3, 7), (2, 3, 3))
        self.remote = 0  # operations left for the block at hand

    # Programs

    def program(self) -> Program:
        if self.extensions and self.nodes > 1 and not self.ring and self.chance(2, 3):
            return Probe(self, self.nodes, self.queues, self.commands, self.located).program()
        memory = tuple(self.cell(name) for name in self.cells)
        barriers = self.pick((0, 1, 2), (5, 4, 1)) if "barrier" in self.commands and not self.ring else 0
        if self.ring:
            processes = self.ring_processes()
        elif self.nodes == 1 or self.chance(1, 2):
            processes = [Process(self.body(barriers))]
        else:
            named = self.nodes - self.chance(1, 4)  # the last block is for every other rank
            processes = [Process(self.body(barriers), (rank,)) for rank in range(named)]
            if named < self.nodes:
                processes.append(Process(self.body(barriers)))
        return Program(tuple(processes), self.nodes, memory, self.registers, self.queues)

    def cell(self, name: str) -> Cell:
        size = 2 if name == "a" else None
        if self.ring:  # z is what is sent, and arriving shows
            return Cell(name, size, (1,) if name == "z" else ())
        count = self.pick((0, size or 1), (2, 1))
        return Cell(name, size, tuple(self.pick((1, 2, -1, 7), (6, 2, 1, 1)) for _ in range(count)))

    def body(self, barriers: int) -> Block:
        """A block with as many barriers as the others', mostly."""
        low, high = _LENGTH[min(self.nodes, 3)]
        self.remote = _REMOTE[min(self.nodes, 3)]
        body = list(self.block(low + self.below(high - low + 1), nested=False))
        if "barrier" in self.commands and self.chance(1, 12):
            barriers = self.below(2)
        for _ in range(barriers):
            body.insert(self.below(len(body) + 1), self._named() if "named" in self.commands else Barrier())
        if "assert" in self.commands and self.chance(1, 8):
            body.append(self._assert())
        return tuple(body)

    def block(self, length: int, nested: bool) -> Block:
        body: list[Statement] = []
        while len(body) < length:
            body += self.statement(nested)
        return tuple(body)

    def statement(self, nested: bool) -> list[Statement]:
        """One statement, and what follows it for care."""
        kinds = [kind for kind in _WEIGHTS if kind in self.commands]
        if nested:
            kinds = [kind for kind in kinds if kind not in ("if", "choose", *LOOPS)]
        if self.remote <= 0:
            kinds = [kind for kind in kinds if kind not in _WITH_STEPS]
        kind = self.pick(kinds, [_WEIGHTS[kind] for kind in kinds]) if kinds else "skip"
        statement = getattr(self, f"_{kind}")()
        if isinstance(statement, REMOTE):
            self.remote -= _weight(statement)
            return [statement, *self.careful(statement)]
        return [statement]

    def careful(self, statement: REMOTE) -> list[Statement]:
        kinds = [kind for kind in ("wait", "wait_local", "fence") if kind in self.commands]
        if not kinds or not self.chance(self.care, 8):
            return []
        kind = self.pick(kinds, [_CAREFUL[kind] for kind in kinds])
        return [{"wait": Wait, "wait_local": WaitLocal, "fence": Fence}[kind](statement.queue)]

    # Rings: rank i accesses cell i, then cell i + 1, so that one reordering makes a cycle and one rule forbids it

    def ring_processes(self) -> list[Process]:
        ranks = range(self.nodes)
        home = self.below(self.nodes)
        places = [(home if self.chance(1, 2) else self.below(self.nodes), "xy"[index % 2]) for index in ranks]
        processes = []
        for rank in ranks:
            self.remote = 1
            queue = Name(self.pick(self.queues).name)
            first, second = places[rank], places[(rank + 1) % self.nodes]
            body = self.access(rank, first, queue) + self.between(queue, first[0]) + self.access(rank, second, queue)
            if "bundle" in self.commands and self.chance(1, 3):
                body.insert(self.below(2), Bundle())  # of both, or of the second alone
            if self.chance(1, 4):
                body.insert(self.below(len(body) + 1), self.statement(nested=True)[0])
            processes.append(Process(tuple(body), (rank,)))
        return processes

    def access(self, rank: int, place: tuple[int, str], queue: Expr) -> list[Statement]:
        """One access to the cell `place` by some command that can; z is sent and w receives."""
        target, cell = place
        if self.chance(1, 8):
            queue = self.queue()
        register = self.register()
        remote = {
            "write": (Write("z", target, cell, queue), 8),
            "read": (Read("w", target, cell, queue), 4),
            "fetch_add": (FetchAdd(register, target, cell, 1), 2),
            "swap": (Swap(register, target, cell, 2), 1),
            "compare_swap": (CompareSwap(register, target, cell, 1, 2), 1),
        }
        local = {"load": (Load(register, cell), 8), "await": (Await(cell, "!=", 0), 6), "store": (Store(cell, 1), 6)}
        ways = [way for kind, way in (local | remote if rank == target else remote).items() if kind in self.commands]
        ways += [(kind, 6) for kind in self.extensions]
        if not ways:
            return []
        way = self.pick([statement for statement, _ in ways], [weight for _, weight in ways])
        return [self.extended(way, target, cell, queue) if isinstance(way, str) else way]

    def extended(self, kind: str, target: int, cell: str, queue: Expr) -> Statement:
        """As `access`, by a command of the extended calculus; what arrives or was there goes to w."""
        register = self.register()
        operation = self.pick(("add", "set"))
        match kind:
            case "put":
                return Put("z", target, cell, queue)
            case "update":
                return self.deferred(1, target, cell, queue, "w")
            case "update_from":
                return self.deferred_from("z", target, cell, queue, "w")
            case "notify":
                return Notify(operation, 1, target, cell, queue, self.chance(1, 3))
            case "signal":
                return Signal(operation, 1, target, cell, queue)
            case "fetch":
                return Fetch(register, target, cell)
            case "load_there":
                return Load(register, cell, target)
            case "store_there":
                return Store(cell, 1, target)
            case "fetch_update":
                return FetchUpdate(self.pick(("set", "or")), register, target, cell, 1)
        return AwaitAdd(target, cell, self.pick(("!=", "==")), 0, 1)

    def deferred(
        self, value: Expr | int, target: Expr | int, cell: Expr | str, queue: Expr, result: Expr | str
    ) -> Update:
        """A deferred atomic that is given its operand."""
        operation = self.update(("compare_swap",))
        expected = self.value() if operation == "compare_swap" else None
        given = result if self.chance(1, 2) else None
        return Update(operation, value, target, cell, queue, given, expected, self.chance(self.located, 4))

    def deferred_from(
        self, local: Expr | str, target: Expr | int, cell: Expr | str, queue: Expr, result: Expr | str
    ) -> UpdateFrom:
        """A deferred atomic that finds its operand in memory, or has none."""
        operation = self.update(("compare_swap", "fetch"))
        located = self.chance(self.located, 4)
        if operation == "fetch":
            return UpdateFrom(operation, None, target, cell, queue, result, None, located)
        expected = None
        if operation == "compare_swap":
            expected = "w" if self.ring else self.address()
        return UpdateFrom(
            operation, local, target, cell, queue, result if self.chance(1, 2) else None, expected, located
        )

    def update(self, more: tuple[str, ...] = ()) -> str:
        """What an atomic does: `more` often, the rarer ones of UPDATES now and then."""
        return self.pick(("add", "set", *more)) if self.chance(3, 4) else self.pick(UPDATES)

    def between(self, queue: Expr, target: int) -> list[Statement]:
        """Something or nothing that may keep two accesses in order."""
        ways = {
            "": ([], 3),
            "fence": ([Fence(queue)], 3),
            "fence ": ([Fence(queue, target if self.chance(1, 2) else self.below(self.nodes))], 4),
            "wait": ([Wait(queue)], 2),
            "wait_local": ([WaitLocal(queue)], 1),
        }
        allowed = [way for kind, way in ways.items() if not kind or kind.strip() in self.commands]
        return self.pick([body for body, _ in allowed], [weight for _, weight in allowed])

    # Statements

    def _load(self) -> Statement:
        return Load(self.register(), self.address())

    def _store(self) -> Statement:
        return Store(self.address(), self.value())

    def _assign(self) -> Statement:
        return Assign(self.register(), self.value())

    def _assume(self) -> Statement:
        return Assume(self.condition())

    def _assert(self) -> Statement:
        return Assert(self.condition())

    def _read(self) -> Statement:
        return Read(self.address(), self.rank(), self.address(), self.queue())

    def _write(self) -> Statement:
        return Write(self.address(), self.rank(), self.address(), self.queue())

    def _wait(self) -> Statement:
        return Wait(self.queue())

    def _wait_local(self) -> Statement:
        return WaitLocal(self.queue())

    def _fence(self) -> Statement:
        return Fence(self.queue(), self.rank() if self.chance(1, 2) else None)

    def _await(self) -> Statement:
        return Await(self.address(), self.pick(("==", "!=", ">=", "<", "<=", ">"), (5, 3, 2, 1, 1, 1)), self.value())

    def _fetch_add(self) -> Statement:
        return FetchAdd(self.register(), self.rank(), self.address(), self.value())

    def _swap(self) -> Statement:
        return Swap(self.register(), self.rank(), self.address(), self.value())

    def _compare_swap(self) -> Statement:
        return CompareSwap(self.register(), self.rank(), self.address(), self.value(), self.value())

    def _put(self) -> Statement:
        return Put(self.address(), self.rank(), self.address(), self.queue())

    def _update(self) -> Statement:
        return self.deferred(self.value(), self.rank(), self.address(), self.queue(), self.address())

    def _update_from(self) -> Statement:
        return self.deferred_from(self.address(), self.rank(), self.address(), self.queue(), self.address())

    def _notify(self) -> Statement:
        operation = self.pick(("set", "add"))
        return Notify(operation, self.value(), self.rank(), self.address(), self.queue(), self.chance(1, 3))

    def _bundle(self) -> Statement:
        return Bundle()

    def _signal(self) -> Statement:
        return Signal(self.pick(("set", "add")), self.value(), self.rank(), self.address(), self.queue())

    def _fetch(self) -> Statement:
        return Fetch(self.register(), self.rank(), self.address())

    def _load_there(self) -> Statement:
        return Load(self.register(), self.address(), self.rank())

    def _store_there(self) -> Statement:
        return Store(self.address(), self.value(), self.rank())

    def _fetch_update(self) -> Statement:
        return FetchUpdate(self.update(), self.register(), self.rank(), self.address(), self.value())

    def _await_add(self) -> Statement:
        relop = self.pick(("==", "!=", ">=", "<", "<=", ">"), (5, 3, 2, 1, 1, 1))
        return AwaitAdd(self.rank(), self.address(), relop, self.value(), self.value())

    def _named(self) -> Statement:
        return Barrier(self.pick(("", "a", "b"), (4, 3, 1)))

    def _exit(self) -> Statement:
        return Exit()

    def _skip(self) -> Statement:
        return Skip()

    def _if(self) -> Statement:
        condition = self.condition()
        then = self.block(1 + self.chance(1, 3), nested=True)
        return If(condition, then, self.block(self.below(2), nested=True) if self.chance(1, 2) else None)

    def _choose(self) -> Statement:
        return Choose(tuple(self.block(self.pick((1, 0, 2), (5, 1, 1)), nested=True) for _ in range(2)))

    def _loop(self) -> Statement:
        return Loop(self.closed(self.block(1 + self.below(2), nested=True)))

    def _while(self) -> Statement:
        return While(self.condition(), self.closed(self.block(1 + self.below(2), nested=True)))

    def closed(self, body: Block) -> Block:
        """Mostly a loop body waits for its operations, or there are more pending ones with every turn."""
        queues = [statement.queue for statement in statements(body) if isinstance(statement, REMOTE)]
        if not queues or "wait" not in self.commands or self.chance(1, 6):
            return body
        return (*body, *map(Wait, dict.fromkeys(queues)))

    # Expressions

    def register(self) -> str:
        return self.pick(self.registers)

    def rank(self) -> Expr:
        other = op("%", op("+", "me", 1), "nodes")
        number = Int(self.below(self.nodes))
        mirrored = op("-", op("-", "nodes", 1), "me")
        shifted = op("%", op("+", "me", op("&", self.register(), 1)), "nodes")
        safe = self.pick((other, number, mirrored, Name("me"), shifted), (7, 6, 1, 1, 1))
        if self.faults and self.chance(1, 40):
            return self.pick((op("+", "me", 1), Name(self.register()), op("-", "me", 1)))
        return safe

    def address(self) -> Expr:
        cell: Expr = Name(self.pick([name for name in self.cells if name != "z"]))
        if cell == Name("a"):
            register = self.register()
            index = self.pick(
                (None, Int(1), op("&", register, 1), op("&", "me", 1), op("!=", register, 0)), (3, 3, 3, 1, 1)
            )
            cell = cell if index is None else op("+", cell, index)
        if self.faults and self.chance(1, 60):
            return op("+", cell, self.register())
        return cell

    def queue(self) -> Expr:
        queue = Name(self.pick(self.queues).name)
        # an id that no header declares is FIFO; a queue may depend on a register
        return self.pick((queue, op("&", self.register(), 1), Int(0), Int(5)), (30, 1, 1, 1))

    def value(self) -> Expr:
        register = self.register()
        simple = (Int(1), Int(0), Int(2), Name(register), Name("me"))
        trees = (
            op("+", register, 1), op("-", 0, register), op("*", register, 2), op("^", register, 1),
            op("?:", register, 1, 2), op("/", 7, 2), op("%", op("+", "me", 3), 2), op("~", register),
            op("-", 1), op("<<", register, 31), op(">>", register, 1), op("&&", register, "me"),
            op("||", "me", register), op("<", register, 1), op("|", register, 2), op("&", 3, register),
        )  # fmt: skip
        if self.faults and self.chance(1, 40):
            return self.pick((op("/", 1, register), op("%", 2, "me"), op("<<", 1, op("-", register, 1))))
        return self.pick((self.pick(simple, (6, 2, 2, 4, 2)), self.pick(trees)), (6, 1))

    def condition(self) -> Expr:
        register = self.register()
        return self.pick(
            (
                op(self.pick(("==", "!=", ">=", "<")), register, self.pick((1, 0, 2))),
                op("==", "me", self.below(self.nodes)),
                Name(register),
                op("!", register),
                op("&&", op("!=", register, 0), op("==", op("/", 2, register), 2)),
                op("==", self.registers[0], self.registers[-1]),
            ),
            (8, 4, 2, 2, 1, 1),
        )


def _weight(statement: REMOTE) -> int:
    """How many operations of up to two steps it counts for: what is tried grows with the steps."""
    if not isinstance(statement, UpdateFrom) or statement.operation == "fetch":
        return 1
    return 1 + (statement.result is not None) + (statement.expected is not None)
