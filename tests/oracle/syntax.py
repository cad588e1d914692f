"""Programs as frozen dataclasses, and their `.pgas` text (the design: section 3).

Expression fields take an expression, an int or a name: `Write("x", op("+", "me", 1), "y", "q")`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import ClassVar, TypeAlias

from .expressions import Expr, lift, to_text

Block: TypeAlias = "tuple[Statement, ...]"


@dataclass(frozen=True, slots=True)
class Statement:
    """A command or a structured statement. `line` is its line in the printed text, 0 before `numbered`."""

    exprs: ClassVar[tuple[str, ...]] = ()  # the fields that hold expressions, in the order they are printed
    line: int = field(default=0, kw_only=True)

    def __post_init__(self) -> None:
        for name in self.exprs:
            if getattr(self, name) is not None:
                object.__setattr__(self, name, lift(getattr(self, name)))


@dataclass(frozen=True, slots=True)
class Load(Statement):
    """Of (rank, address), or of (me, address)."""

    exprs: ClassVar = ("address", "rank")
    register: str
    address: Expr
    rank: Expr | None = None


@dataclass(frozen=True, slots=True)
class Store(Statement):
    """As of a `Load`."""

    exprs: ClassVar = ("address", "value", "rank")
    address: Expr
    value: Expr
    rank: Expr | None = None


@dataclass(frozen=True, slots=True)
class Assign(Statement):
    exprs: ClassVar = ("value",)
    register: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Assume(Statement):
    exprs: ClassVar = ("condition",)
    condition: Expr


@dataclass(frozen=True, slots=True)
class Assert(Statement):
    exprs: ClassVar = ("condition",)
    condition: Expr


@dataclass(frozen=True, slots=True)
class Read(Statement):
    """Copies (rank, remote) to (me, local)."""

    exprs: ClassVar = ("local", "rank", "remote", "queue")
    local: Expr
    rank: Expr
    remote: Expr
    queue: Expr


@dataclass(frozen=True, slots=True)
class Write(Statement):
    """Copies (me, local) to (rank, remote)."""

    exprs: ClassVar = ("local", "rank", "remote", "queue")
    local: Expr
    rank: Expr
    remote: Expr
    queue: Expr


@dataclass(frozen=True, slots=True)
class Put(Statement):
    """Copies (me, local), read at the issue, to (rank, remote)."""

    exprs: ClassVar = ("local", "rank", "remote", "queue")
    local: Expr
    rank: Expr
    remote: Expr
    queue: Expr


UPDATES = ("set", "add", "and", "or", "xor", "mul", "min", "max")  # and compare_swap and fetch, where they may stand


@dataclass(frozen=True, slots=True)
class Update(Statement):
    """Updates (rank, remote) with a value later, then writes what it held to (me, result)."""

    exprs: ClassVar = ("value", "expected", "rank", "remote", "queue", "result")
    operation: str  # one of UPDATES, or compare_swap
    value: Expr
    rank: Expr
    remote: Expr
    queue: Expr
    result: Expr | None = None
    expected: Expr | None = None  # of a compare_swap
    located: bool = False


@dataclass(frozen=True, slots=True)
class UpdateFrom(Statement):
    """As `Update`, the operands being in the cells (me, local) and (me, expected). A fetch has no operand."""

    exprs: ClassVar = ("local", "expected", "rank", "remote", "queue", "result")
    operation: str  # one of UPDATES, compare_swap or fetch
    local: Expr | None
    rank: Expr
    remote: Expr
    queue: Expr
    result: Expr | None = None
    expected: Expr | None = None
    located: bool = False


@dataclass(frozen=True, slots=True)
class Notify(Statement):
    """Updates (rank, remote) after the writes to that rank before it, in its queue or in every queue."""

    exprs: ClassVar = ("value", "rank", "remote", "queue")
    operation: str  # set or add
    value: Expr
    rank: Expr
    remote: Expr
    queue: Expr
    everywhere: bool = False


@dataclass(frozen=True, slots=True)
class Bundle(Statement):
    """Begins what the next signals wait for."""


@dataclass(frozen=True, slots=True)
class Signal(Statement):
    """Updates (rank, remote) after its bundle."""

    exprs: ClassVar = ("value", "rank", "remote", "queue")
    operation: str  # set or add
    value: Expr
    rank: Expr
    remote: Expr
    queue: Expr


REMOTE = Read | Write | Put | Update | UpdateFrom | Notify | Signal  # the commands with steps


@dataclass(frozen=True, slots=True)
class Barrier(Statement):
    name: str = ""


@dataclass(frozen=True, slots=True)
class Exit(Statement):
    pass


@dataclass(frozen=True, slots=True)
class Wait(Statement):
    exprs: ClassVar = ("queue",)
    queue: Expr


@dataclass(frozen=True, slots=True)
class WaitLocal(Statement):
    exprs: ClassVar = ("queue",)
    queue: Expr


@dataclass(frozen=True, slots=True)
class Fence(Statement):
    exprs: ClassVar = ("queue", "rank")
    queue: Expr
    rank: Expr | None = None  # None: for each rank by itself


@dataclass(frozen=True, slots=True)
class Await(Statement):
    exprs: ClassVar = ("address", "value")
    address: Expr
    relop: str
    value: Expr


@dataclass(frozen=True, slots=True)
class AwaitAdd(Statement):
    """Waits until (rank, address) stands in the relation to the value, and adds the operand to it, at once."""

    exprs: ClassVar = ("rank", "address", "value", "operand")
    rank: Expr
    address: Expr
    relop: str
    value: Expr
    operand: Expr


@dataclass(frozen=True, slots=True)
class Fetch(Statement):
    exprs: ClassVar = ("rank", "address")
    register: str
    rank: Expr
    address: Expr


@dataclass(frozen=True, slots=True)
class FetchUpdate(Statement):
    exprs: ClassVar = ("rank", "address", "operand")
    operation: str  # one of UPDATES
    register: str
    rank: Expr
    address: Expr
    operand: Expr


@dataclass(frozen=True, slots=True)
class FetchAdd(Statement):
    exprs: ClassVar = ("rank", "address", "operand")
    register: str
    rank: Expr
    address: Expr
    operand: Expr


@dataclass(frozen=True, slots=True)
class Swap(Statement):
    exprs: ClassVar = ("rank", "address", "operand")
    register: str
    rank: Expr
    address: Expr
    operand: Expr


@dataclass(frozen=True, slots=True)
class CompareSwap(Statement):
    exprs: ClassVar = ("rank", "address", "expected", "new")
    register: str
    rank: Expr
    address: Expr
    expected: Expr
    new: Expr


@dataclass(frozen=True, slots=True)
class FailedCompareSwap(CompareSwap):
    """A `CompareSwap` that finds another value: no statement, but one of the two events that it may be. It does not
    evaluate `new`."""

    exprs: ClassVar = ("rank", "address", "expected")


@dataclass(frozen=True, slots=True)
class TestedAdd(FetchAdd):
    """A `FetchAdd` whose result is only compared, with this outcome: no statement, but one of the two events that it
    may be, which leads to where the comparison does."""

    __test__ = False

    relop: str = "=="
    value: int = 0


@dataclass(frozen=True, slots=True)
class Skip(Statement):
    """No command: nothing happens and nothing is issued."""


@dataclass(frozen=True, slots=True)
class If(Statement):
    exprs: ClassVar = ("condition",)
    condition: Expr
    then: Block
    otherwise: Block | None = None


@dataclass(frozen=True, slots=True)
class While(Statement):
    exprs: ClassVar = ("condition",)
    condition: Expr
    body: Block


@dataclass(frozen=True, slots=True)
class Choose(Statement):
    branches: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Loop(Statement):
    body: Block


@dataclass(frozen=True, slots=True)
class Cell:
    """A scalar (size None) or an array; every node has a copy. Elements that `initial` does not give are 0."""

    name: str
    size: int | None = None
    initial: tuple[int, ...] = ()

    @property
    def elements(self) -> tuple[tuple[str, int], ...]:
        """Name and first value of every element, in the order of their addresses."""
        names = [self.name] if self.size is None else [f"{self.name}[{i}]" for i in range(self.size)]
        values = self.initial + (0,) * (len(names) - len(self.initial))
        return tuple(zip(names, values, strict=True))


@dataclass(frozen=True, slots=True)
class Queue:
    name: str
    unordered: bool = False


@dataclass(frozen=True, slots=True)
class Process:
    """A block for the ranks named, or (no ranks) for every rank that no other block of the thread names."""

    body: Block
    ranks: tuple[int, ...] = ()
    thread: int = 0


@dataclass(frozen=True, slots=True)
class Program:
    processes: tuple[Process, ...]
    nodes: int = 2
    memory: tuple[Cell, ...] = (Cell("x"),)
    registers: tuple[str, ...] = ("r",)
    queues: tuple[Queue, ...] = (Queue("q"),)
    name: str = "generated"

    def body(self, rank: int) -> Block:
        """The block that `rank` runs, in its first thread."""
        found = self._body(rank, 0)
        assert found is not None
        return found

    def running(self, nodes: int) -> list[tuple[int, Block]]:
        """The processes: the first threads of all ranks, then the second ones, and so on, each with its rank."""
        threads = range(1 + max(process.thread for process in self.processes))
        bodies = [(rank, self._body(rank, thread)) for thread in threads for rank in range(nodes)]
        return [(rank, body) for rank, body in bodies if body is not None]

    def _body(self, rank: int, thread: int) -> Block | None:
        of_thread = [process for process in self.processes if process.thread == thread]
        named = [process for process in of_thread if rank in process.ranks]
        (process,) = named or [process for process in of_thread if not process.ranks] or [None]
        return None if process is None else process.body


def blocks(statement: Statement) -> tuple[Block, ...]:
    """The blocks directly inside `statement`."""
    match statement:
        case If(then=then, otherwise=otherwise):
            return (then,) if otherwise is None else (then, otherwise)
        case While(body=body) | Loop(body=body):
            return (body,)
        case Choose(branches=branches):
            return branches
    return ()


def statements(body: Block) -> Iterator[Statement]:
    """Every statement of `body`, inner ones too."""
    for statement in body:
        yield statement
        for block in blocks(statement):
            yield from statements(block)


def to_pgas(program: Program, expect: str | None = None) -> str:
    """The program as text, one statement a line. The first line is a comment with or without an expectation, so that
    the lines of the commands do not depend on it."""
    printer = _Printer(f"// expect: {expect}" if expect else f"// {program.name}")
    printer.program(program)
    return "\n".join(printer.lines) + "\n"


def numbered(program: Program) -> Program:
    """The same program, every statement with its line in `to_pgas(program)`."""
    return _Printer("").program(program)


class _Printer:
    """Prints, and gives back what it printed with the lines filled in."""

    def __init__(self, first: str) -> None:
        self.lines = [first]

    def program(self, program: Program) -> Program:
        self.lines += [f"program {program.name};", f"nodes {program.nodes};"]
        for keyword, items in (
            ("memory", [_cell(cell) for cell in program.memory]),
            ("register", program.registers),
            ("queue", [queue.name + " unordered" * queue.unordered for queue in program.queues]),
        ):
            if items:
                self.lines.append(f"{keyword} {', '.join(items)};")
        processes = []
        for process in program.processes:
            ranks = ", ".join(map(str, process.ranks))
            thread = f"thread {process.thread}" if process.thread else ""
            self.lines.append(" ".join(word for word in ("process", ranks, thread, "{") if word))
            processes.append(replace(process, body=self.block(process.body, "  ")))
            self.lines.append("}")
        return replace(program, processes=tuple(processes))

    def block(self, body: Block, indent: str) -> Block:
        return tuple(self.statement(statement, indent) for statement in body)

    def statement(self, statement: Statement, indent: str) -> Statement:
        line = len(self.lines) + 1
        if not isinstance(statement, If | While | Choose | Loop):
            self.lines.append(f"{indent}{command_text(statement)};")
            return replace(statement, line=line)
        middle = "} or {" if isinstance(statement, Choose) else "} else {"
        self.lines.append(f"{indent}{_opening(statement)} {{")
        printed = []
        for number, block in enumerate(blocks(statement)):
            if number:
                self.lines.append(indent + middle)
            printed.append(self.block(block, indent + "  "))
        self.lines.append(indent + "}")
        match statement:
            case If(otherwise=None):
                return replace(statement, then=printed[0], line=line)
            case If():
                return replace(statement, then=printed[0], otherwise=printed[1], line=line)
            case Choose():
                return replace(statement, branches=tuple(printed), line=line)
        return replace(statement, body=printed[0], line=line)


def _cell(cell: Cell) -> str:
    text = cell.name if cell.size is None else f"{cell.name}[{cell.size}]"
    if not cell.initial:
        return text
    return f"{text} = {cell.initial[0]}" if cell.size is None else f"{text} = {{{', '.join(map(str, cell.initial))}}}"


def _opening(statement: Statement) -> str:
    match statement:
        case If(condition=condition):
            return f"if ({to_text(condition)})"
        case While(condition=condition):
            return f"while ({to_text(condition)})"
        case Choose():
            return "choose"
    return "loop"


def command_text(command: Statement) -> str:
    """One command without its semicolon."""
    texts = [to_text(getattr(command, name)) for name in command.exprs if getattr(command, name) is not None]
    arguments = ", ".join([*([command.operation] if hasattr(command, "operation") else []), *texts])
    match command:
        case Load(register=register):
            return f"{register} <- mem[{' @ '.join(texts)}]"
        case Store():
            return f"mem[{' @ '.join((texts[0], *texts[2:]))}] <- {texts[1]}"
        case Assign(register=register):
            return f"{register} <- {texts[0]}"
        case Await(relop=relop, value=value):
            # the grammar takes any expression after the relop; parentheses leave no doubt where it begins
            return f"await(mem[{texts[0]}] {relop} {to_text(value, above=9)})"
        case AwaitAdd(relop=relop, value=value):
            cell = f"mem[{texts[1]}] {relop} {to_text(value, above=9)}"
            return f"await_add({texts[0]}, {cell}, {texts[3]})"
        case Barrier(name=name) if name:
            return f"barrier({name})"
        case Barrier() | Exit() | Skip() | Bundle():
            return event_name(command)
    result = f"{command.register} <- " if hasattr(command, "register") else ""
    return f"{result}{_keyword(command)}({arguments})"


def _keyword(command: Statement) -> str:
    """The word of a command with arguments: that of its event, but for two flags."""
    flag = "_located" * getattr(command, "located", False) + "_all" * getattr(command, "everywhere", False)
    return event_name(command) + flag


def event_name(command: Statement) -> str:
    """The name of the event that issues `command`, which is also its keyword, flags left out (the design: section
    6)."""
    return _EVENT_NAMES[type(command)]


_EVENT_NAMES: dict[type[Statement], str] = {
    Load: "load", Store: "store", Assign: "assign", Assume: "assume", Assert: "assert", Read: "read", Write: "write",
    Barrier: "barrier", Wait: "wait", WaitLocal: "wait_local", Fence: "fence", Await: "await", FetchAdd: "fetch_add",
    TestedAdd: "fetch_add",
    Swap: "swap", CompareSwap: "compare_swap", FailedCompareSwap: "failed_compare_swap", Skip: "skip",
    Put: "put", Update: "update", UpdateFrom: "update_from",
    Notify: "notify", Bundle: "bundle", Signal: "signal", AwaitAdd: "await_add", Fetch: "fetch",
    FetchUpdate: "fetch_update", Exit: "exit",
}  # fmt: skip
