"""The commands of an instance as a report shows them: as written, with `me` and `nodes` folded into the numbers.

The control automata hold commands that are evaluated as far as they go, and these have lost the names of their source:
`slot + me` has become an address and `if (me == 0)` an `assume(1)`. A C program is shown as its source has it: the
call, assignment or condition that a command comes from.
"""

from __future__ import annotations

from typing import NamedTuple

from pgasrob.analysis.remembered import remembered
from pgasrob.program.commands import Command, map_expressions, show
from pgasrob.program.control import commands_of
from pgasrob.program.declarations import Process
from pgasrob.program.expressions import Binary, Conditional, Const, Expr, Me, Nodes, Register, Symbol, Unary, specialise
from pgasrob.program.instance import Instance
from pgasrob.program.statements import Span

CONDITIONS = frozenset(("assume", "assert"))


class WrittenCommands:
    """The texts of the commands of ``instance``."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._known = _known(instance)

    def text(self, rank: int, occurrence: int) -> str:
        """The command at place ``occurrence`` in the process block of ``rank``."""
        texts = self._known.texts
        if (rank, occurrence) not in texts:
            # Occurrences are numbered the same whether the block is evaluated for a rank or not.
            command, span = self._commands(self._process(rank))[occurrence]
            piece = self._instance.program.source.shown(span)
            texts[rank, occurrence] = piece or show(self._folded(command, rank))
        return texts[rank, occurrence]

    def _commands(self, process: Process) -> list[tuple[Command, Span]]:
        commands = self._known.commands
        if process.ranks not in commands:
            commands[process.ranks] = commands_of(process.body)
        return commands[process.ranks]

    def _process(self, rank: int) -> Process:
        named = [process for process in self._instance.program.processes if rank in (process.ranks or ())]
        others = [process for process in self._instance.program.processes if process.ranks is None]
        return (named + others)[0]

    def _folded(self, command: Command, rank: int) -> Command:
        if command.kind in CONDITIONS:
            return command  # a condition that is folded into 1 says nothing
        return map_expressions(command, lambda expr: fold(expr, rank, self._instance.nodes))


class _Known(NamedTuple):
    """What has been asked for, since several runs of an instance are shown: the commands of blocks by their ranks, and
    texts by rank and place."""

    commands: dict[tuple[int, ...] | None, list[tuple[Command, Span]]]
    texts: dict[tuple[int, int], str]


@remembered
def _known(instance: Instance) -> _Known:
    return _Known({}, {})


def fold(expr: Expr, me: int, nodes: int) -> Expr:
    """``expr`` with every part that depends on nothing but ``me`` and ``nodes`` replaced by its value."""
    if _is_number(expr):
        return specialise(expr, me, nodes)
    match expr:
        case Unary(symbol, operand, type):
            return Unary(symbol, fold(operand, me, nodes), type)
        case Binary(symbol, left, right, type):
            return Binary(symbol, fold(left, me, nodes), fold(right, me, nodes), type)
        case Conditional(condition, then, otherwise):
            return Conditional(fold(condition, me, nodes), fold(then, me, nodes), fold(otherwise, me, nodes))
    return expr


def _is_number(expr: Expr) -> bool:
    """Whether ``expr`` has neither registers nor names of cells or queues."""
    match expr:
        case Register() | Symbol():
            return False
        case Const() | Me() | Nodes():
            return True
        case Unary(_, operand):
            return _is_number(operand)
        case Binary(_, left, right):
            return _is_number(left) and _is_number(right)
        case Conditional(condition, then, otherwise):
            return _is_number(condition) and _is_number(then) and _is_number(otherwise)
