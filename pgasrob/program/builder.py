"""From the grammar's rules to a program: names, bounds, and what else the grammar alone cannot say.

Every public method of :class:`Builder` is the action of the rule of that name in ``grammar.lark``. It takes the rule's
named terminals and the results of its parts, and is called bottom up, in the order of the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Generic, NoReturn, TypeVar

from pgasrob.program.commands import (
    Assert,
    Assign,
    Assume,
    Await,
    Barrier,
    Command,
    CompareSwap,
    Fence,
    FetchAdd,
    Load,
    Read,
    Store,
    Swap,
    Wait,
    WaitLocal,
    Write,
)
from pgasrob.program.expressions import (
    INT32,
    Binary,
    Conditional,
    Const,
    Expr,
    Me,
    Nodes,
    Register,
    Symbol,
    Unary,
    render,
)
from pgasrob.program.instance import MAX_NODES
from pgasrob.program.program import MemoryObject, Process, Program, Queue
from pgasrob.program.report import Report, short
from pgasrob.program.statements import (
    Block,
    Choose,
    Do,
    Goto,
    If,
    Labelled,
    Loop,
    Skip,
    Span,
    Statement,
    While,
)

if TYPE_CHECKING:
    from lark import Token

MAX_NESTING = 200
MAX_CELLS = 65_536
MAX_INTEGER = 2**31

KEYWORDS = frozenset((
    "program", "nodes", "memory", "register", "queue", "unordered", "process", "mem", "me", "assume", "assert", "skip",
    "barrier", "read", "write", "wait", "wait_local", "fence", "await", "fetch_add", "swap", "compare_swap", "if",
    "else", "while", "choose", "or", "loop", "goto",
))  # fmt: skip

# What a command in call syntax takes; the last argument of a fence may be left out.
OPERATIONS: dict[str, tuple[Callable[..., Command], tuple[str, ...]]] = {
    "assume": (Assume, ("condition",)),
    "assert": (Assert, ("condition",)),
    "read": (Read, ("local", "rank", "remote", "queue")),
    "write": (Write, ("local", "rank", "remote", "queue")),
    "wait": (Wait, ("queue",)),
    "wait_local": (WaitLocal, ("queue",)),
    "fence": (Fence, ("queue", "rank")),
    "fetch_add": (FetchAdd, ("rank", "address", "operand")),
    "swap": (Swap, ("rank", "address", "value")),
    "compare_swap": (CompareSwap, ("rank", "address", "expected", "new")),
}

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Nested(Generic[T_co]):
    """A tree and its depth, counted as it is built, so that nothing that walks the tree later can overflow.

    An integer literal and a name have depth 0; parentheses count, since they nest as well.
    """

    tree: T_co
    depth: int


class Builder:
    """Builds one program, and reports what is wrong with it.

    ``last`` is the token that the parser took last, semicolons aside; whatever a rule built ends there.
    """

    def __init__(self, report: Report) -> None:
        self.last: Token
        self._report = report
        self._name: str | None = None
        self._nodes: int | None = None
        self._headers: set[str] = set()
        self._names: dict[str, Register | Symbol] = {}
        self._declared: dict[str, tuple[str, int]] = {}  # name -> what it is, its line
        self._unknown: list[tuple[Token, str]] = []  # with a hint, or ""
        self._forgiven: set[str] = set()
        self._memory: list[MemoryObject] = []
        self._cells = 0
        self._overfull = False
        self._registers: list[str] = []
        self._queues: list[Queue] = []
        self._processes: list[Process] = []
        self._lost = False  # something that may have been a process could not be read
        self._ranks: dict[int | None, Token] = {}  # rank, or None for a block without ranks -> where
        self._labels: dict[str, int] = {}  # of the process at hand -> its line
        self._gotos: list[Token] = []
        self._broken = False  # a statement of the process at hand could not be read

    # The whole

    def file(self, *_: object) -> None:
        if not self._processes and not self._lost:
            self._report.add("PG034", "there is no process block", hint="add `process { ... }`, which every rank runs")

    def finish(self) -> None:
        """Report the names that have no declaration, neither before nor after, each at its first place."""
        seen = set(self._forgiven)
        for token, hint in sorted(self._unknown, key=lambda unknown: unknown[0].start_pos or 0):
            name = token.value
            if name in self._declared or name in seen:
                continue
            seen.add(name)
            likely = did_you_mean(name, self._declared)
            self._report.add(
                "PG050",
                f"unknown name `{short(name)}`",
                at(token),
                likely or hint or "declare it with `memory`, `register` or `queue` before the processes",
            )

    def program(self) -> Program:
        """The program, when the whole text has been read and nothing was wrong."""
        return Program(
            self._name or _default_name(self._report.source.file),
            self._nodes,
            tuple(self._memory),
            tuple(self._registers),
            tuple(self._queues),
            tuple(self._processes),
            self._report.source,
        )

    def forgive(self, name: str) -> None:
        """``name`` stands in a declaration that could not be read: do not call it unknown."""
        self._forgiven.add(name)

    def knows(self, name: str) -> bool:
        return name in self._names

    # Declarations

    def program_header(self, keyword: Token, name: Token) -> None:
        if self._header(keyword):
            self._name = name.value

    def nodes_header(self, keyword: Token, count: tuple[int, Span]) -> None:
        nodes, span = count
        if not 1 <= nodes <= MAX_NODES:
            self._report.add(
                "PG031", f"{nodes} nodes, but a program runs on 1..{MAX_NODES}", span, "choose another node count"
            )
        elif self._header(keyword):
            self._nodes = nodes

    def memory(self, keyword: Token, *_: object) -> None:
        self._header(keyword)

    def registers(self, keyword: Token, *_: object) -> None:
        self._header(keyword)

    def queues(self, keyword: Token, *_: object) -> None:
        self._header(keyword)

    def cell(self, name: Token, size: tuple[int, Span] | None, initial: list[tuple[int, Span]] | None) -> None:
        cells = self._array_size(name, size)
        values = initial or []
        if len(values) > cells:
            room = "a single cell" if size is None else f"{cells} cell{'s' if cells > 1 else ''}"
            self._report.add(
                "PG060",
                f"{len(values)} initial values for `{name}`, which has {room}",
                values[cells][1],
                f"drop values, or declare `{name}[{len(values)}]`",
            )
        padded = tuple(value for value, _ in values[:cells]) + (0,) * (cells - len(values))
        memory = MemoryObject(name.value, self._cells, None if size is None else cells, padded, self._here(name))
        if self._declare(name, "memory", Symbol(name.value, self._cells)):
            self._memory.append(memory)
            self._cells += cells

    def size(self, size: tuple[int, Span]) -> tuple[int, Span]:
        return size

    def initial(self, *values: tuple[int, Span]) -> list[tuple[int, Span]]:
        return [(INT32.wrap(value), span) for value, span in values]

    def integer(self, minus: Token | None, digits: Token) -> tuple[int, Span]:
        value = self._integer(digits)
        return (-value, across(minus, digits)) if minus else (value, at(digits))

    def register(self, name: Token) -> None:
        register = Register(name.value, len(self._registers))
        if self._declare(name, "register", register):
            self._registers.append(name.value)

    def queue(self, name: Token, unordered: Token | None) -> None:
        number = len(self._queues)
        if self._declare(name, "queue", Symbol(name.value, number)):
            self._queues.append(Queue(name.value, number, unordered is not None, self._here(name)))

    # Processes and statements

    def process(self, keyword: Token, ranks: list[tuple[int, Token]] | None, body: Nested[Block]) -> None:
        if ranks is None:
            self._claim(None, keyword)
        for rank, token in ranks or []:
            self._claim(rank, token)
        head = across(keyword, ranks[-1][1]) if ranks else at(keyword)
        numbers = tuple(rank for rank, _ in ranks) if ranks else None
        self._processes.append(Process(numbers, body.tree, head))
        if not self._broken:
            self._report_unknown_labels()
        self._forget_labels()

    def ranks(self, *ranks: Token) -> list[tuple[int, Token]]:
        return [(self._integer(rank), rank) for rank in ranks]

    def broken_item(self, *_: object) -> None:
        self._lost = True
        self._forget_labels()

    def broken(self, _: Token, *blocks: Nested[Block | Statement] | None) -> Nested[Statement]:
        self._broken = True
        return Nested(Skip(), max((block.depth for block in blocks if block), default=0))

    def block(self, brace: Token, *statements: Nested[Statement]) -> Nested[Block]:
        depth = self._deeper(statements, brace, "blocks")
        return Nested(Block(tuple(statement.tree for statement in statements)), depth)

    def labelled(self, label: Token, statement: Nested[Statement]) -> Nested[Statement]:
        name = label.value
        if name in self._labels:
            self._report.add(
                "PG055",
                f"the label `{name}` stands twice in this process",
                at(label),
                f"rename one of them; the first is on line {self._labels[name]}",
            )
        self._labels.setdefault(name, label.line or 0)
        return Nested(Labelled(name, statement.tree), statement.depth)

    def load(self, target: Token, _: None, mem: Token, address: Nested[Expr]) -> Nested[Statement]:
        hint = f"to copy a cell, load it into a register `r` first, then `mem[{target}] <- r;`"
        return self._do(target, Load(self._target(target, hint), address.tree))

    def store(self, mem: Token, address: Nested[Expr], _: None, value: Nested[Expr]) -> Nested[Statement]:
        return self._do(mem, Store(address.tree, value.tree))

    def element_store(self, name: Token, index: Nested[Expr], _: None, value: Nested[Expr]) -> Nested[Statement]:
        self._report_element(name, index, at(name), "to store there, write `mem[{address}] <- ...;`")
        return Nested(Skip(), 0)

    def assign(self, target: Token, _: None, value: Nested[Expr]) -> Nested[Statement]:
        hint = f"to store there, write `mem[{target}] <- ...;`"
        return self._do(target, Assign(self._target(target, hint), value.tree))

    def atomic(self, target: Token, _: None, name: Token, arguments: list[Nested[Expr]]) -> Nested[Statement]:
        register = self._target(target, "the old value goes to a register")
        return self._call(target, name, arguments, register)

    def operation(self, name: Token, arguments: list[Nested[Expr]]) -> Nested[Statement]:
        return self._call(name, name, arguments)

    def await_memory(
        self, keyword: Token, mem: Token, address: Nested[Expr], relation: str, value: Nested[Expr]
    ) -> Nested[Statement]:
        return self._do(keyword, Await(address.tree, relation, value.tree))

    def barrier(self, keyword: Token) -> Nested[Statement]:
        return self._do(keyword, Barrier())

    def skip(self, keyword: Token) -> Nested[Statement]:
        return Nested(Skip(), 0)

    def goto(self, keyword: Token, label: Token) -> Nested[Statement]:
        self._gotos.append(label)
        return Nested(Goto(label.value), 0)

    def branch(
        self,
        keyword: Token,
        condition: tuple[Expr, Token],
        then: Nested[Block],
        otherwise: Nested[Block | Statement] | None,
    ) -> Nested[Statement]:
        test, end = condition
        if otherwise is None:
            return Nested(If(test, then.tree, None, across(keyword, end)), then.depth)
        if isinstance(otherwise.tree, Block):
            block, depth = otherwise.tree, otherwise.depth
        else:  # `else if`: a block of its own, with nothing else in it
            block, depth = Block((otherwise.tree,)), self._deeper([otherwise], keyword, "`else if`")
        return Nested(If(test, then.tree, block, across(keyword, end)), max(then.depth, depth))

    def while_loop(self, keyword: Token, condition: tuple[Expr, Token], body: Nested[Block]) -> Nested[Statement]:
        test, end = condition
        return Nested(While(test, body.tree, across(keyword, end)), body.depth)

    def choose(self, keyword: Token, *branches: Nested[Block]) -> Nested[Statement]:
        return Nested(Choose(tuple(branch.tree for branch in branches)), max(branch.depth for branch in branches))

    def loop(self, keyword: Token, body: Nested[Block]) -> Nested[Statement]:
        return Nested(Loop(body.tree), body.depth)

    def condition(self, condition: Nested[Expr]) -> tuple[Expr, Token]:
        return condition.tree, self.last

    def arguments(self, *arguments: Nested[Expr] | None) -> list[Nested[Expr]]:
        return [argument for argument in arguments if argument]

    def arrow(self, sign: Token) -> None:
        if sign.value == "=":
            self._report.add("PG018", "`=` does not assign", at(sign), "write `<-` to assign, load or store")

    def relation(self, sign: Token) -> str:
        return self._comparison(sign)

    # Expressions

    def literal(self, digits: Token) -> Nested[Expr]:
        return Nested(Const(INT32.wrap(self._integer(digits))), 0)

    def name(self, name: Token) -> Nested[Expr]:
        return Nested(self._resolve(name), 0)

    def me(self, keyword: Token) -> Nested[Expr]:
        return Nested(Me(), 0)

    def node_count(self, keyword: Token) -> Nested[Expr]:
        return Nested(Nodes(), 0)

    def parenthesised(self, paren: Token, inner: Nested[Expr]) -> Nested[Expr]:
        return Nested(inner.tree, self._deeper([inner], paren, "parentheses"))

    def memory_value(self, mem: Token, address: Nested[Expr]) -> Nested[Expr]:
        cell = render(address.tree)
        self._report.add(
            "PG021",
            "memory is read inside an expression",
            self._here(mem),
            f"load it into a register first, `r <- mem[{cell}];`; where an address is meant, write `{cell}`",
        )
        return Nested(Const(0), 1)

    def element(self, name: Token, index: Nested[Expr]) -> Nested[Expr]:
        hint = "write `{address}` for its address; `r <- mem[{address}];` loads its value"
        self._report_element(name, index, self._here(name), hint)
        return Nested(Const(0), 1)

    def unary(self, sign: Token, operand: Nested[Expr]) -> Nested[Expr]:
        # A minus before a literal is part of the number, so that every constant has one way to be written.
        if sign.value == "-" and operand.depth == 0 and isinstance(operand.tree, Const):
            return Nested(Const(INT32.wrap(-operand.tree.value)), 1)
        return Nested(Unary(sign.value, operand.tree), self._deeper([operand], sign, "operators"))

    def binary(self, left: Nested[Expr], sign: Token, right: Nested[Expr]) -> Nested[Expr]:
        symbol = self._comparison(sign)
        return Nested(Binary(symbol, left.tree, right.tree), self._deeper([left, right], sign, "operators"))

    def conditional(self, test: Nested[Expr], sign: Token, yes: Nested[Expr], no: Nested[Expr]) -> Nested[Expr]:
        depth = self._deeper([test, yes, no], sign, "operators")
        return Nested(Conditional(test.tree, yes.tree, no.tree), depth)

    # What the actions share

    def _here(self, first: Token) -> Span:
        """From ``first`` to the last token that was taken."""
        return across(first, self.last)

    def _do(self, first: Token, command: Command) -> Nested[Statement]:
        return Nested(Do(command, self._here(first)), 0)

    def _deeper(self, parts: Iterable[Nested[object]], token: Token, what: str) -> int:
        """One level above ``parts``; reading stops at ``token`` when that is too deep."""
        depth = 1 + max((part.depth for part in parts), default=0)
        if depth > MAX_NESTING:
            self.too_deep(token, what)
        return depth

    def too_deep(self, token: Token, what: str) -> NoReturn:
        self._report.stop(
            "PG022",
            f"more than {MAX_NESTING} nested {what}",
            at(token),
            "split the expression over several assignments; leave a block with `goto` instead of nesting on",
        )

    def _call(self, first: Token, name: Token, arguments: list[Nested[Expr]], *register: Register) -> Nested[Statement]:
        command, takes = OPERATIONS[name.value]
        given = [argument.tree for argument in arguments]
        if command is Fence and len(given) == 1:
            return self._do(first, Fence(given[0], None))
        if len(given) == len(takes):
            return self._do(first, command(*register, *given))
        wanted = f"{len(takes)} argument{'s' if len(takes) > 1 else ''}"
        self._report.add(
            "PG023",
            f"`{name}` takes {'1 or 2 arguments' if command is Fence else wanted}, not {len(given)}",
            self._here(name),
            f"write `{name}({', '.join(takes)})`",
        )
        return Nested(Skip(), 0)

    def _comparison(self, sign: Token) -> str:
        """The operator that ``sign`` stands for; `=` and `<-` are mistakes."""
        if sign.value == "=":
            self._report.add("PG018", "`=` does not compare", at(sign), "write `==` to compare")
            return "=="
        if sign.value == "<-":
            self._report.add(
                "PG019",
                "`<-` is one token, which assigns, and cannot stand in an expression",
                at(sign),
                "write `< -` to compare with a negative value",
            )
            return "<"
        return str(sign.value)

    def _integer(self, digits: Token) -> int:
        """The value of an integer token; 0 for one that is none or too large, which is reported."""
        text = digits.value
        if not text.isdigit():
            self._report.add(
                "PG015", f"`{short(text)}` is not an integer", at(digits), "integers are decimal digits, nothing else"
            )
            return 0
        significant = text.lstrip("0") or "0"
        # The length comes first: int() refuses to read thousands of digits.
        if len(significant) > len(str(MAX_INTEGER)) or int(significant) > MAX_INTEGER:
            self._report.add(
                "PG016",
                f"{short(text)} is above 2^31",
                at(digits),
                f"values have 32 bits; the largest integer that can be written is {MAX_INTEGER}",
            )
            return 0
        return int(significant)

    def _header(self, keyword: Token) -> bool:
        """Whether the header of ``keyword`` may stand here: before the processes, and once where once is enough."""
        name = keyword.value
        if self._processes:
            self._report.add(
                "PG025", f"`{name}` stands after a process block", at(keyword), "move it before the first process"
            )
        if name in ("program", "nodes") and name in self._headers:
            self._report.add("PG063", f"a second `{name}` header", at(keyword), "keep one of them")
            return False
        self._headers.add(name)
        return True

    def _declare(self, token: Token, kind: str, meaning: Register | Symbol) -> bool:
        name = token.value
        if name in self._declared:
            earlier, line = self._declared[name]
            self._report.add(
                "PG051", f"`{name}` is already declared, as {earlier} on line {line}", at(token), "rename one of them"
            )
            return False
        self._declared[name] = ("memory" if kind == "memory" else f"a {kind}", token.line or 0)
        self._names[name] = meaning
        return True

    def _array_size(self, name: Token, size: tuple[int, Span] | None) -> int:
        """The number of cells of ``name``; 1 when the size that is written is out of bounds."""
        cells, span = size or (1, at(name))
        if cells < 1:
            problem = "no cells" if cells == 0 else "a negative size"
            self._report.add("PG061", f"`{name}` has {problem}", span, "an array has at least one cell")
            return 1
        if self._cells + cells > MAX_CELLS and not self._overfull:
            self._overfull = True
            self._report.add(
                "PG062",
                f"{self._cells + cells} cells of memory per node with `{name}`",
                span,
                f"a node has at most {MAX_CELLS} cells; verify a smaller case",
            )
        return 1 if self._overfull else cells

    def _claim(self, rank: int | None, token: Token) -> None:
        """The process at hand is for ``rank`` (None: for the ranks that no other block names)."""
        first = self._ranks.setdefault(rank, token)
        if first is token:
            return
        if rank is None:
            message, hint = "a second process block without ranks", "name its ranks, or join the two"
        else:
            message, hint = f"rank {rank} already has a process block", "every rank runs one block"
        code = "PG033" if rank is None else "PG032"
        self._report.add(code, f"{message}; the first is on line {first.line}", at(token), hint)

    def _target(self, name: Token, hint: str) -> Register:
        """The register that a statement sets; ``hint`` is for a target that is memory."""
        known = self._names.get(name.value)
        if isinstance(known, Register):
            return known
        if known is None:
            self._unknown.append((name, f"declare it: `register {name};`"))
        else:
            kind, _ = self._declared[name.value]
            self._report.add(
                "PG053",
                f"`{name}` is {kind}, not a register",
                at(name),
                hint if kind == "memory" else "only registers can be set",
            )
        return Register(name.value, 0)

    def _resolve(self, name: Token) -> Expr:
        known = self._names.get(name.value)
        if known is None:
            self._unknown.append((name, ""))
            return Symbol(name.value, 0)
        return known

    def _report_element(self, name: Token, index: Nested[Expr], place: Span, hint: str) -> None:
        """`name[index]` stands where it has no meaning; ``hint`` has a place for the address that is meant."""
        array = self._resolve(name)
        kind, _ = self._declared.get(name.value, ("", 0))
        if kind == "memory":
            address = render(Binary("+", array, index.tree))
            self._report.add(
                "PG020", f"elements of `{name}` have no `[...]` syntax", place, hint.format(address=address)
            )
        elif kind:
            self._report.add(
                "PG052",
                f"`{name}` is {kind} and has no elements",
                place,
                "registers and queues hold one value; declare an array with `memory`",
            )

    def _report_unknown_labels(self) -> None:
        for token in self._gotos:
            if token.value not in self._labels:
                self._report.add(
                    "PG054",
                    f"there is no label `{short(token.value)}` in this process",
                    at(token),
                    did_you_mean(token.value, self._labels) or f"write `{short(token.value)}:` before a statement",
                )

    def _forget_labels(self) -> None:
        self._labels, self._gotos, self._broken = {}, [], False


def at(token: Token) -> Span:
    """The place of ``token``."""
    return across(token, token)


def across(first: Token, last: Token) -> Span:
    """From the start of ``first`` to the end of ``last``."""
    return Span(first.line or 0, first.column or 0, last.end_line or 0, last.end_column or 0)


def after(token: Token) -> Span:
    """The place right after ``token``."""
    line, column = token.end_line or 0, token.end_column or 0
    return Span(line, column, line, column + 1)


def did_you_mean(name: str, known: Iterable[str], alike: float = 0.6) -> str:
    """A hint with the name of ``known`` that is most like ``name``, or "" when none is at least so much ``alike``."""
    from difflib import get_close_matches  # takes longer to import than this module

    candidates = list(known)
    same = [candidate for candidate in candidates if candidate.casefold() == name.casefold()]
    close = same or get_close_matches(name, candidates, n=1, cutoff=alike)
    return f"did you mean `{close[0]}`?" if close else ""


def _default_name(file: str) -> str:
    """What a program without a header is called: its file, as far as that makes a name."""
    if file.startswith("<"):
        return "unnamed"
    name = re.sub(r"[^A-Za-z0-9_]", "_", Path(file).stem)
    return f"_{name}" if name in KEYWORDS or not name or name[0].isdigit() else name
