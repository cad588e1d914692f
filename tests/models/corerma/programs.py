"""Litmus programs built in Python, for tests that do not go through the text."""

from __future__ import annotations

from pgasrob.models.litmus.instructions import (
    Cell,
    Flush,
    Get,
    GetAccumulate,
    Instruction,
    Load,
    Put,
    RemoteCompareAndSet,
    Store,
)
from pgasrob.models.litmus.litmus_program import Location, Program, Thread, straight
from pgasrob.program.expressions import Const, Expr, Register


def cell(text: str) -> Cell:
    """`x`, or `x.n` for a non-atomic access."""
    name, _, mark = text.partition(".")
    return Cell(name, mark != "n")


class Writer:
    """Statements of one thread; registers are found by their names."""

    def __init__(self, node: int) -> None:
        self.node = node
        self.registers: list[str] = []
        self.instructions: list[Instruction] = []

    def register(self, name: str) -> int:
        if name not in self.registers:
            self.registers.append(name)
        return self.registers.index(name)

    def load(self, register: str, location: str) -> Writer:
        self.instructions.append(Load(self.register(register), cell(location)))
        return self

    def store(self, location: str, value: int | str | Expr) -> Writer:
        match value:
            case int():
                expr: Expr = Const(value)
            case str():
                expr = Register(value, self.register(value))
            case _:
                expr = value
        self.instructions.append(Store(cell(location), expr))
        return self

    def get(self, local: str, remote: str) -> Writer:
        self.instructions.append(Get(cell(local), cell(remote)))
        return self

    def put(self, remote: str, local: str) -> Writer:
        self.instructions.append(Put(cell(remote), cell(local)))
        return self

    def rga(self, local: str, remote: str, operand: str) -> Writer:
        self.instructions.append(GetAccumulate(cell(local), cell(remote), cell(operand)))
        return self

    def cas(self, local: str, remote: str, expected: str, new: str) -> Writer:
        self.instructions.append(RemoteCompareAndSet(cell(local), cell(remote), cell(expected), cell(new)))
        return self

    def flush(self, node: int) -> Writer:
        self.instructions.append(Flush(node))
        return self

    @property
    def thread(self) -> Thread:
        return Thread(self.node, tuple(self.registers), straight(tuple(self.instructions)))


def program(locations: str, *threads: Writer) -> Program:
    """``locations`` as in the text: `x@1=0 z@2`. None of them is in an outcome when its name begins with `_`."""
    found = []
    for item in locations.split():
        name, _, rest = item.partition("@")
        node, _, initial = rest.partition("=")
        found.append(Location(name, int(node), int(initial or 0), not name.startswith("_")))
    return Program(tuple(found), tuple(thread.thread for thread in threads))
