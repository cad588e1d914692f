"""Prints litmus programs and tests as text that `litmus_parser` reads back as the same program.

It undoes what `naming` expands: a load into a register `$1` that only the next instruction reads becomes a mention of
its location, and a hidden location becomes the constant that it holds. Any other `$` register is printed as it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import assert_never

from pgasrob.models.litmus import instructions as litmus
from pgasrob.models.litmus.expected_outcomes import LitmusTest
from pgasrob.models.litmus.instructions import Assign, Cell, CompareAndSet, Instruction, Load, Store
from pgasrob.models.litmus.litmus_program import Block, Choose, Location, Loop, Program, Thread
from pgasrob.program.expressions import Binary, Conditional, Expr, Register, Symbol, Unary, parts, render


def printed(test: LitmusTest | Program) -> str:
    """``test`` as text: locations and threads, one a line, then its lines of expectations.

    Raises ValueError for a program with a thread that branches and does not come from a text.
    """
    program = test.program if isinstance(test, LitmusTest) else test
    shown = [location for location in program.locations if location.shown]
    threads = [f"{thread.node}:{_Printer(program, thread).text()}" for thread in program.threads]
    text = "".join(f"{location.name}@{location.node}={location.initial} " for location in shown)
    text += "::\n" + " ||\n".join(threads) + "\n"
    if isinstance(test, LitmusTest):
        text += "".join(f"{line}\n" for line in test.expectations)
    return text


def in_one_line(program: Program) -> str:
    """``program`` as `pgasrob litmus` takes it for an argument."""
    return " ".join(printed(program).split())


@dataclass
class _Printer:
    program: Program
    thread: Thread
    uses: dict[str, int] = field(default_factory=dict)

    def text(self) -> str:
        body = self.thread.body
        if not body:
            if not self.thread.graph.straight:
                raise ValueError("a thread that branches has a text when it comes from one alone")
            (body,) = self.thread.graph.paths()
        self._count(body)
        return "".join(f" {part};" if not part.endswith("}") else f" {part}" for part in self._parts(body))

    def _count(self, body: Block) -> None:
        for item in body:
            match item:
                case Choose(branches):
                    for branch in branches:
                        self._count(branch)
                case Loop(_, inner):
                    self._count(inner)
                case _:
                    for name in _mentions(item):
                        self.uses[name] = self.uses.get(name, 0) + 1

    def _parts(self, body: Block) -> list[str]:
        found: list[str] = []
        waiting: list[Load] = []  # loads that the next instruction may read in place
        stored = None  # the location that gets the result of a CAS, where the two are printed as one statement
        for item, follows in zip(body, (*body[1:], None), strict=False):
            if stored is not None:
                stored = None
                continue
            if isinstance(item, Load) and self._in_place(item):
                waiting.append(item)
                continue
            if isinstance(item, Choose | Loop):
                found += map(self._load, waiting)
                found.append(self._nested(item))
            else:
                kept = self._kept(waiting, item)
                found += map(self._load, waiting[: len(waiting) - len(kept)])
                stored = self._stored(item, follows)
                given = f"{_cell(stored)} = " if stored else None
                found.append(self._instruction(item, {self._name(load.register): load.cell for load in kept}, given))
            waiting = []
        return found + [self._load(load) for load in waiting]

    def _stored(self, item: Instruction, follows: Instruction | Choose | Loop | None) -> Cell | None:
        match item, follows:
            case CompareAndSet(int(register)), Store(cell, Register(name)) if name == self._name(register):
                return cell if name.startswith("$") and self.uses.get(name) == 1 else None
        return None

    def _in_place(self, load: Load) -> bool:
        name = self._name(load.register)
        return name.startswith("$") and self.uses.get(name) == 1

    def _kept(self, waiting: list[Load], item: Instruction) -> list[Load]:
        """The last of the ``waiting`` loads, as many as ``item`` reads from left to right."""
        read = _mentions(item)
        for first in range(len(waiting)):
            kept = waiting[first:]
            names = [self._name(load.register) for load in kept]
            if [name for name in read if name in names] == names and not _simple(item):
                return kept
        return []

    def _nested(self, item: Choose | Loop) -> str:
        match item:
            case Choose(branches):
                return "choose " + " or ".join(map(self._block, branches))
            case Loop(most, body):
                return f"loop{'' if most is None else f' {most}'} {self._block(body)}"
        assert_never(item)

    def _block(self, body: Block) -> str:
        inner = "; ".join(self._parts(body))
        return f"{{ {inner} }}" if inner else "{ }"

    def _instruction(self, item: Instruction, cells: dict[str, Cell], given: str | None = None) -> str:
        def value(expr: Expr) -> str:
            return _expression(expr, cells)

        match item:
            case Load():
                return self._load(item)
            case Store(cell, expr):
                return f"{_cell(cell)} = {value(expr)}"
            case Assign(register, expr):
                return f"{self._name(register)} = {value(expr)}"
            case litmus.Assume(condition):
                return f"assume({value(condition)})"
            case litmus.MemoryFence():
                return item.word
            case CompareAndSet(register, cell, expected, new):
                if given is None:
                    given = "" if register is None else f"{self._name(register)} = "
                return f"{given}CAS({_cell(cell)}, {value(expected)}, {value(new)})"
            case litmus.Get(local, remote):
                return f"{_cell(local)} = {self._remote(remote)}"
            case litmus.Put(remote, local):
                return f"{self._remote(remote)} = {self._source(local)}"
            case litmus.GetAccumulate(local, remote, operand):
                return f"{_cell(local)} = rga({self._remote(remote)}, {self._source(operand)})"
            case litmus.RemoteCompareAndSet(local, remote, expected, new):
                given = f"{self._source(expected)}, {self._source(new)}"
                return f"{_cell(local)} = cas({self._remote(remote)}, {given})"
            case litmus.NicCompareAndSet(local, remote, expected, new):
                return f"{_cell(local)} = rcas({self._remote(remote)}, {value(expected)}, {value(new)})"
            case litmus.NicFetchAdd(local, remote, operand):
                return f"{_cell(local)} = rfaa({self._remote(remote)}, {value(operand)})"
            case litmus.Flush(node) | litmus.Poll(node) | litmus.RemoteFence(node):
                return f"{item.word}({node})"
            case _:
                assert_never(item)

    def _load(self, load: Load) -> str:
        return f"{self._name(load.register)} = {_cell(load.cell)}"

    def _name(self, register: int) -> str:
        return self.thread.registers[register]

    def _location(self, cell: Cell) -> Location:
        return self.program.locations[self.program.places[cell.name]]

    def _remote(self, cell: Cell) -> str:
        return f"{cell.name}^{self._location(cell).node}{'' if cell.atomic else '.n'}"

    def _source(self, cell: Cell) -> str:
        location = self._location(cell)
        return _cell(cell) if location.shown else str(location.initial)


def _cell(cell: Cell) -> str:
    return f"{cell.name}{'' if cell.atomic else '.n'}"


def _simple(item: Instruction) -> bool:
    """Whether it only copies one register to another: with a location in its place it would be a load."""
    return isinstance(item, Assign) and isinstance(item.value, Register)


def _read_by(item: Instruction) -> Sequence[Expr]:
    match item:
        case Store(_, value) | Assign(_, value) | litmus.Assume(value):
            return (value,)
        case CompareAndSet(_, _, expected, new) | litmus.NicCompareAndSet(_, _, expected, new):
            return expected, new
        case litmus.NicFetchAdd(_, _, operand):
            return (operand,)
    return ()


def _mentions(item: Instruction) -> list[str]:
    """The registers that ``item`` reads, in the order of the text."""
    return [part.name for expr in _read_by(item) for part in parts(expr) if isinstance(part, Register)]


def _expression(expr: Expr, cells: dict[str, Cell]) -> str:
    text = render(_renamed(expr, cells))
    for cell in cells.values():  # `x ^ 2` would be the location of node 2
        text = re.sub(rf"(?<![\w$]){re.escape(_cell(cell))} \^", f"({_cell(cell)}) ^", text)
    # Outside of parentheses `||` would begin the next thread.
    return f"({text})" if "||" in text else text


def _renamed(expr: Expr, cells: dict[str, Cell]) -> Expr:
    match expr:
        case Register(name) if name in cells:
            return Symbol(_cell(cells[name]), 0)
        case Unary(symbol, operand, type):
            return Unary(symbol, _renamed(operand, cells), type)
        case Binary(symbol, left, right, type):
            return Binary(symbol, _renamed(left, cells), _renamed(right, cells), type)
        case Conditional(condition, then, otherwise):
            return Conditional(*(_renamed(each, cells) for each in (condition, then, otherwise)))
    return expr
