"""Random programs that read more than they use, in C too, and which reads they look at.

A value is looked at when it, or one that is computed of it, decides a branch or is printed. What is overwritten before,
kept in a register that nothing reads, or only stored in memory, where others may see it, is not.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from .chances import Chances
from .expressions import Binary, Expr, Name, op, to_text
from .syntax import (
    Assert,
    Assign,
    Barrier,
    Block,
    Cell,
    FetchAdd,
    If,
    Load,
    Process,
    Program,
    Statement,
    Store,
    numbered,
    to_pgas,
)

CELLS, REGISTERS = ("x", "y"), ("r", "s", "t")
Place = tuple[int, int]


def random_program(seed: int) -> Program:
    """The program of `seed`, always the same one; it prints what an assertion compares with itself."""
    return numbered(_Generator(random.Random(seed)).program())


class _Generator(Chances):
    def __init__(self, source: random.Random) -> None:
        super().__init__(source.randrange)

    def program(self) -> Program:
        processes = []
        for rank in range(2):
            body = [each for _ in range(self.pick((2, 3, 4), (2, 3, 2))) for each in self.statements(rank, 1)]
            processes.append(Process((*body, Barrier()), (rank,)))
        return Program(tuple(processes), 2, tuple(map(Cell, CELLS)), REGISTERS, ())

    def statements(self, rank: int, depth: int) -> Iterator[Statement]:
        kinds = ("load", "store", "assign", "print", "if", "fetch_add")
        register, cell, at = self.pick(REGISTERS), self.pick(CELLS), self.pick((rank, 1 - rank))
        there = None if at == rank else at
        match self.pick(kinds, (6, 4, 2, 2, 2 * depth, 1)):
            case "load":
                yield Load(register, cell, there)
            case "store":
                yield Store(cell, self.value(), there)
            case "assign":
                yield Assign(register, self.value())
            case "print":
                yield Assert(op("==", register, register))
            case "if":
                then = tuple(self.statements(rank, depth - 1))
                otherwise = tuple(self.statements(rank, depth - 1)) if self.chance(1, 2) else None
                yield If(op("==", register, 1), then, otherwise)
            case "fetch_add":
                yield FetchAdd(register, at, cell, 1)

    def value(self) -> Expr | int:
        register = self.pick(REGISTERS)
        return self.pick((1, Name(register), op("+", register, 1)), (3, 2, 1))


# What is looked at


def looked_at(program: Program, calls: bool = False) -> frozenset[Place]:
    """The reads, by rank and line, at whose values the program looks on some way through its text; with ``calls`` by
    giving them to a call, too."""
    found: set[Place] = set()
    for process in program.processes:
        (rank,) = process.ranks
        for way in _ways(process.body):
            for place, read in enumerate(way):
                if isinstance(read, Load | FetchAdd) and _looks(way[place + 1 :], read.register, calls):
                    found.add((rank, read.line))
    return frozenset(found)


def all_reads(program: Program) -> frozenset[Place]:
    """All reads, by rank and line."""
    reads = (each for process in program.processes for each in _all(process.body) if isinstance(each, Load | FetchAdd))
    ranks = {each.line: process.ranks[0] for process in program.processes for each in _all(process.body)}
    return frozenset((ranks[each.line], each.line) for each in reads)


def _ways(body: Block) -> Iterator[list[Statement]]:
    """The statements on each way through ``body``; those with a condition stand for it."""
    if not body:
        yield []
        return
    first, others = body[0], body[1:]
    inside = (first.then, first.otherwise or ()) if isinstance(first, If) else ((),)
    for block in inside:
        for way in _ways((*block, *others)):
            yield [first, *way]


def _looks(way: list[Statement], register: str, calls: bool) -> bool:
    holding = {register}
    for each in way:
        match each:
            case If(expr) | Assert(expr):
                if holding & set(_names(expr)):
                    return True
            case Store(_, expr, rank):
                if calls and rank is not None and holding & set(_names(expr)):
                    return True
            case Assign(target, value):
                holding = holding | {target} if holding & set(_names(value)) else holding - {target}
            case Load(target) | FetchAdd(target):
                holding = holding - {target}
    return False


def _names(expr: Expr) -> Iterator[str]:
    match expr:
        case Name(name):
            yield name
        case Binary(_, left, right):
            yield from _names(left)
            yield from _names(right)


# In C


def to_c(program: Program) -> str:
    """The program with calls of OpenSHMEM, each statement in its line of `to_pgas`."""
    lines = to_pgas(program).split("\n")
    registers = ", ".join(f"{each} = 0" for each in REGISTERS)
    heads = [
        "#include <shmem.h>",
        "#include <stdio.h>",
        f"static int {', '.join(CELLS)};",
        "int main(void) {",
        f"int {registers}; shmem_init(); int me = shmem_my_pe();",
    ]
    lines[: len(heads)] = heads
    for process in program.processes:
        for each in _all(process.body):
            lines[each.line - 1] = _c(each, lines[each.line - 1])
    begins = {"process 0 {": "if (me == 0) {", "process 1 {": "else {"}
    lines = [begins.get(line, line) for line in lines]
    return "\n".join(lines) + "shmem_finalize(); return 0; }\n"


def _all(body: Block) -> Iterator[Statement]:
    for each in body:
        yield each
        if isinstance(each, If):
            yield from _all((*each.then, *(each.otherwise or ())))


def _c(statement: Statement, line: str) -> str:
    match statement:
        case Load(register, address, None):
            return f"{register} = {to_text(address)};"
        case Load(register, address, rank):
            return f"{register} = shmem_int_g(&{to_text(address)}, {to_text(rank)});"
        case Store(address, value, None):
            return f"{to_text(address)} = {to_text(value)};"
        case Store(address, value, rank):
            return f"shmem_int_p(&{to_text(address)}, {to_text(value)}, {to_text(rank)});"
        case Assign(register, value):
            return f"{register} = {to_text(value)};"
        case Assert(Binary(_, register, _)):
            return f'printf("%d\\n", {to_text(register)});'
        case FetchAdd(register, rank, address, _):
            return f"{register} = shmem_int_atomic_fetch_add(&{to_text(address)}, 1, {to_text(rank)});"
        case Barrier():
            return "shmem_barrier_all();"
    return line
