"""Rewrites programs that come from C so that their `.pgas` text can be read back: legal names, queues by name.

What `.pgas` cannot express stays as it is; :func:`not_said` names it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from pgasrob.program.commands import Barrier, Command, expressions_of
from pgasrob.program.declarations import Declared
from pgasrob.program.expressions import (
    CONVERSIONS,
    INT32,
    RELATIONS,
    Binary,
    Conditional,
    Const,
    Expr,
    IntType,
    Register,
    Symbol,
    Unary,
    parts,
)
from pgasrob.program.statements import Block, Do, If, Labelled, Statement, While, rebuilt, statements_in
from pgasrob.program.structure import structured
from pgasrob.program.vocabulary import KEYWORDS

NO_NAME = re.compile(r"[^A-Za-z0-9_]+")
DOUBLES = "doubles (what stands here are their 64 bits)"
LARGE = "integers of more than 32 bits"
SHORT = tuple(IntType(bits, signed) for bits in (8, 16) for signed in (True, False))


def spelled(program: Declared) -> Declared:
    """``program`` with names that `.pgas` can read: `main.x` becomes `main_x`, `mem` `mem_`, `a[1].x` `a_1_x`.
    Elements of arrays become sums, conversions to `char` and `short` operations that have the same result; to
    other integer types a value of 32 bits is converted by leaving it as it is.

    A number where a command takes a queue becomes the name of the queue, if one of it is declared.
    """
    return _Speller(program).program()


def not_said(program: Declared) -> list[str]:
    """The kinds of values in ``program`` that `.pgas` cannot express; with any of them its text cannot be read back."""
    if program.doubles:
        return [DOUBLES]
    found = {kind for part in _parts_of_all(program) for kind in _foreign(part)}
    if any("." in getattr(command, "operation", "") for command in _commands(program)):
        found.add(DOUBLES)
    if any(_is_large(value) for memory in program.memory for value in memory.initial):
        found.add(LARGE)
    return sorted(found)


def in_32_bits(program: Declared) -> bool:
    """Whether ``program`` computes in other types than `int`: in `.pgas` everything is one, of 32 bits and signed."""
    typed = any(getattr(each, "type", INT32) != INT32 for each in _commands(program))
    return typed or any(map(_computes_otherwise, _parts_of_all(program)))


def _computes_otherwise(expr: Expr) -> bool:
    match expr:
        case Binary("+", Symbol()):  # the address of an element
            return False
        case Binary(symbol, _, _, type):
            return type != INT32 and symbol not in RELATIONS and symbol not in ("&&", "||") and "." not in symbol
        case Unary("cast", _, type):
            return type not in SHORT
        case Unary(symbol, _, type):
            return type != INT32 and symbol not in CONVERSIONS and symbol != "!"
    return False


def _foreign(expr: Expr) -> Iterator[str]:
    match expr:
        case Const(value) if _is_large(value):
            yield LARGE
        case Unary("cast"):
            return
        case Unary(symbol) if symbol in CONVERSIONS:
            yield DOUBLES
        case Binary(symbol) if symbol.endswith("."):
            yield DOUBLES


def _is_large(value: int) -> bool:
    low, high = INT32.range
    return not low <= value <= high


def _statements(program: Declared) -> Iterator[Statement]:
    for process in program.processes:
        yield from statements_in(structured(process.body))


def _commands(program: Declared) -> Iterator[Command]:
    return (each.command for each in _statements(program) if isinstance(each, Do))


def _parts_of_all(program: Declared) -> Iterator[Expr]:
    """All expressions of commands and conditions in ``program``, with their parts."""
    for each in _statements(program):
        if isinstance(each, Do):
            for expr in expressions_of(each.command).values():
                yield from parts(expr)
        elif isinstance(each, If | While):
            yield from parts(each.condition)


class _Speller:
    def __init__(self, program: Declared) -> None:
        self.given = program
        taken: set[str] = set()
        self.memory = _unique((memory.name for memory in program.memory), taken)
        self.registers = _unique(program.registers, taken)
        self.queues = dict(zip((each.id for each in program.queues), _unique(
            (queue.name for queue in program.queues), taken).values(), strict=True))  # fmt: skip
        self.barriers = _unique(dict.fromkeys(
            each.name for each in _commands(program) if isinstance(each, Barrier) and each.name), set())  # fmt: skip
        self.cells: dict[int, tuple[str, int | None]] = {}  # address -> the object there, and which element of it
        for memory in program.memory:
            for place in range(memory.cells):
                self.cells[memory.address + place] = memory.name, None if memory.size is None else place

    def program(self) -> Declared:
        given = self.given
        return replace(
            given,
            name=_name(given.name) if given.name else given.name,
            memory=tuple(replace(memory, name=self.memory[memory.name]) for memory in given.memory),
            registers=tuple(self.registers[name] for name in given.registers),
            queues=tuple(replace(queue, name=self.queues[queue.id]) for queue in given.queues),
            processes=tuple(replace(each, body=self.block(structured(each.body))) for each in given.processes),
        )

    def block(self, block: Block) -> Block:
        return Block(tuple(map(self.statement, block.statements)))

    def statement(self, statement: Statement) -> Statement:
        match statement:
            case Do(command):
                return replace(statement, command=self.command(command))
            case Labelled(_, inner):
                return replace(statement, statement=self.statement(inner))
        return rebuilt(statement, self.block, self.expr)

    def command(self, command: Command) -> Command:
        if isinstance(command, Barrier):
            return Barrier(self.barriers.get(command.name, ""))
        changed: dict[str, Any] = {}
        for name, expr in expressions_of(command).items():
            queue = self.queues.get(expr.value) if name == "queue" and isinstance(expr, Const) else None
            changed[name] = Symbol(queue, expr.value) if queue and isinstance(expr, Const) else self.expr(expr)
        register = getattr(command, "register", None)
        if register is not None:
            changed["register"] = self.expr(register)
        return replace(command, **changed)

    def expr(self, expr: Expr) -> Expr:
        match expr:
            case Register(name, index):
                return Register(self.registers[name], index)
            case Symbol(name, address) if address in self.cells:
                return self.cell(name, address)
            case Unary("cast", operand, type):
                return _narrowed(self.expr(operand), type) if type in SHORT else self.expr(operand)
            case Unary(_, operand):
                return replace(expr, operand=self.expr(operand))
            case Binary(_, left, right):
                return replace(expr, left=self.expr(left), right=self.expr(right))
            case Conditional(condition, then, otherwise):
                return Conditional(self.expr(condition), self.expr(then), self.expr(otherwise))
        return expr

    def cell(self, name: str, address: int) -> Expr:
        """The cell at ``address``; elements of arrays have no syntax."""
        object, element = self.cells[address]
        if not element:
            return Symbol(self.memory[object], address)
        return Binary("+", Symbol(self.memory[object], address - element), Const(element))


def _narrowed(expr: Expr, type: IntType) -> Expr:
    """``expr`` converted to the short ``type`` by what is done in 32 bits."""
    if not type.signed:
        return Binary("&", expr, Const((1 << type.bits) - 1))
    places = Const(INT32.bits - type.bits)
    return Binary(">>", Binary("<<", expr, places), places)


def _unique(names: Iterable[str], taken: set[str]) -> dict[str, str]:
    """``names`` as names of `.pgas`, none of which is ``taken``; those that are names already come first."""
    listed = list(names)
    found: dict[str, str] = {}
    legal: Callable[[str], bool] = lambda name: _name(name) == name  # noqa: E731
    for name in sorted(listed, key=lambda name: not legal(name)):
        unique, number = _name(name), 2
        while unique in taken:
            unique, number = f"{_name(name)}_{number}", number + 1
        taken.add(unique)
        found[name] = unique
    return {name: found[name] for name in listed}


def _name(name: str) -> str:
    plain = NO_NAME.sub("_", name).strip("_") if NO_NAME.search(name) else name
    if not plain or plain[0].isdigit():
        plain = f"_{plain}"
    return f"{plain}_" if plain in KEYWORDS else plain
