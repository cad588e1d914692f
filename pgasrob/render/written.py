"""The commands of an instance as a report shows them: as written, with `me` and `nodes` folded into the numbers.

The control automata hold commands that are evaluated as far as they go, and these have lost the names of their source:
`slot + me` has become an address and `if (me == 0)` an `assume(1)`. A C program is shown as its source has it: the
call, assignment or condition that a command comes from.
"""

from __future__ import annotations

from pgasrob.analysis.remembered import remembered
from pgasrob.program.commands import Command, map_expressions, show
from pgasrob.program.control import Transition, build
from pgasrob.program.declarations import Process
from pgasrob.program.expressions import Binary, Conditional, Const, Expr, Me, Nodes, Register, Symbol, Unary, specialise
from pgasrob.program.instance import Instance

CONDITIONS = frozenset(("assume", "assert"))


class WrittenCommands:
    """The texts of the commands of ``instance``."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._texts = _texts(instance)

    def text(self, rank: int, occurrence: int) -> str:
        """The command at place ``occurrence`` in the process block of ``rank``."""
        if rank not in self._texts:
            self._texts[rank] = self._commands(rank)
        return self._texts[rank][occurrence]

    def _commands(self, rank: int) -> dict[int, str]:
        # Occurrences are numbered the same whether the block is evaluated for a rank or not.
        automaton = build(self._process(rank).body)
        return {each.occurrence: self._shown(each, rank) for each in automaton.transitions}

    def _shown(self, transition: Transition, rank: int) -> str:
        piece = self._instance.program.source.shown(transition.span)
        return piece or show(self._folded(transition.command, rank))

    def _process(self, rank: int) -> Process:
        named = [process for process in self._instance.program.processes if rank in (process.ranks or ())]
        others = [process for process in self._instance.program.processes if process.ranks is None]
        return (named + others)[0]

    def _folded(self, command: Command, rank: int) -> Command:
        if command.kind in CONDITIONS:
            return command  # a condition that is folded into 1 says nothing
        return map_expressions(command, lambda expr: fold(expr, rank, self._instance.nodes))


@remembered
def _texts(instance: Instance) -> dict[int, dict[int, str]]:
    """The texts that have been asked for, by rank and place: several runs of an instance are shown."""
    return {}


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
