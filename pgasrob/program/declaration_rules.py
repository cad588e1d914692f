"""The grammar actions for headers and declarations. See ``builder.py``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pgasrob.program.declarations import MemoryObject, Process, Queue
from pgasrob.program.expression_rules import Scope, across, at
from pgasrob.program.expressions import INT32, Register, Symbol
from pgasrob.program.instance import MAX_NODES
from pgasrob.program.statements import Span

if TYPE_CHECKING:
    from lark import Token

MAX_CELLS = 65_536


@dataclass(slots=True)
class Declarations:
    """The contents of the headers and declarations read so far."""

    name: str | None = None
    nodes: int | None = None
    memory: list[MemoryObject] = field(default_factory=list)
    registers: list[str] = field(default_factory=list)
    queues: list[Queue] = field(default_factory=list)


class DeclarationRules:
    """The rules of headers and declarations. ``processes``: the processes that have been read so far."""

    def __init__(self, scope: Scope, processes: Sequence[Process]) -> None:
        self._scope, self._report = scope, scope.report.add
        self._processes = processes
        self.found = Declarations()
        self._headers: set[str] = set()
        self._cells = 0
        self._overfull = False

    def program_header(self, keyword: Token, name: Token) -> None:
        if self._header(keyword):
            self.found.name = name.value

    def nodes_header(self, keyword: Token, count: tuple[int, Span]) -> None:
        nodes, span = count
        if not 1 <= nodes <= MAX_NODES:
            code = "PG031" if nodes < 1 else "PG039"
            self._report(
                code, f"{nodes} nodes, but a program runs on 1..{MAX_NODES}", span, "choose another node count"
            )
        elif self._header(keyword):
            self.found.nodes = nodes

    def memory(self, keyword: Token, *_: object) -> None:
        self._header(keyword)

    def registers(self, keyword: Token, *_: object) -> None:
        self._header(keyword)

    def queues(self, keyword: Token, *_: object) -> None:
        self._header(keyword)

    def cell(
        self, name: Token, size: tuple[int, Span] | None, initial: list[tuple[int, Span]] | None, made_up: Token | None
    ) -> None:
        cells = self._array_size(name, size)
        values = initial or []
        if len(values) > cells:
            room = "a single cell" if size is None else f"{cells} cell{'s' if cells > 1 else ''}"
            self._report(
                "PG060",
                f"{len(values)} initial values for `{name}`, which has {room}",
                values[cells][1],
                f"drop values, or declare `{name}[{len(values)}]`",
            )
        padded = tuple(value for value, _ in values[:cells]) + (0,) * (cells - len(values))
        memory = MemoryObject(
            name.value,
            self._cells,
            None if size is None else cells,
            padded,
            self._scope.here(name),
            made_up=made_up is not None,
        )
        if self._declare(name, "memory", Symbol(name.value, self._cells)):
            self.found.memory.append(memory)
            self._cells += cells

    def size(self, size: tuple[int, Span]) -> tuple[int, Span]:
        return size

    def initial(self, *values: tuple[int, Span]) -> list[tuple[int, Span]]:
        return [(INT32.wrap(value), span) for value, span in values]

    def integer(self, minus: Token | None, digits: Token) -> tuple[int, Span]:
        value = self._scope.integer(digits)
        return (-value, across(minus, digits)) if minus else (value, at(digits))

    def register(self, name: Token) -> None:
        register = Register(name.value, len(self.found.registers))
        if self._declare(name, "register", register):
            self.found.registers.append(name.value)

    def queue(self, name: Token, unordered: Token | None) -> None:
        number = len(self.found.queues)
        if self._declare(name, "queue", Symbol(name.value, number)):
            self.found.queues.append(Queue(name.value, number, unordered is not None, self._scope.here(name)))

    # What the rules share

    def _header(self, keyword: Token) -> bool:
        """Whether the header of ``keyword`` may stand here: before the processes, and once where once is enough."""
        name = keyword.value
        if self._processes:
            self._report(
                "PG025", f"`{name}` stands after a process block", at(keyword), "move it before the first process"
            )
        if name in ("program", "nodes") and name in self._headers:
            self._report("PG063", f"a second `{name}` header", at(keyword), "keep one of them")
            return False
        self._headers.add(name)
        return True

    def _declare(self, token: Token, kind: str, meaning: Register | Symbol) -> bool:
        name = token.value
        if name in self._scope.declared:
            earlier, line = self._scope.declared[name]
            self._report(
                "PG051", f"`{name}` is already declared, as {earlier} on line {line}", at(token), "rename one of them"
            )
            return False
        self._scope.declared[name] = ("memory" if kind == "memory" else f"a {kind}", token.line or 0)
        self._scope.names[name] = meaning
        return True

    def _array_size(self, name: Token, size: tuple[int, Span] | None) -> int:
        """The number of cells of ``name``; 1 when the size that is written is out of bounds."""
        cells, span = size or (1, at(name))
        if cells < 1:
            problem = "no cells" if cells == 0 else "a negative size"
            self._report("PG061", f"`{name}` has {problem}", span, "an array has at least one cell")
            return 1
        if self._cells + cells > MAX_CELLS and not self._overfull:
            self._overfull = True
            self._report(
                "PG062",
                f"{self._cells + cells} cells of memory per node with `{name}`",
                span,
                f"a node has at most {MAX_CELLS} cells; verify a smaller case",
            )
        return 1 if self._overfull else cells
