"""The accesses of a command before its operands are known: at which of its places each is made.

`semantics.steps` says what steps there are, and this what it says of the commands of a program.
"""

from __future__ import annotations

from typing import NamedTuple

from pgasrob.program.commands import REMOTE, Command
from pgasrob.program.instance import Operands
from pgasrob.semantics.accesses import Access, access
from pgasrob.semantics.steps import Step, steps_of

FAR = ("remote", "address")
"""The places that lie at the rank that the command names, if it names one."""
_NAMES = frozenset(("address", "local", "remote", "result", "rank", "queue"))
_PLACES = ("local", "expected", "result", "remote")


class Chain(NamedTuple):
    """What a command accesses at its issue and in its steps, each with the name of the operand that says where.

    The cells of the accesses mean nothing.
    """

    at_issue: tuple[str, Access] | None
    steps: tuple[tuple[str, Step], ...]


def chain_of(command: Command) -> Chain:
    """The chain of ``command``."""
    if command.kind not in REMOTE:
        made = access(command.kind, 0) if hasattr(command, "address") else None
        return Chain(None if made is None else ("address", made), ())
    operands = _operands(command)
    made = access(command.kind, operands.cell)
    steps = ((_PLACES[step.access.cell], _reading(command, step)) for step in steps_of(operands))
    return Chain(None if made is None else ("local", made), tuple(steps))


def is_place(command: Command, name: str) -> bool:
    """Whether the operand ``name`` of ``command`` says where something is, and is no value: a cell, a rank, a queue."""
    return name in _NAMES or (name == "expected" and command.kind == "update_from")


def _operands(command: Command) -> Operands:
    """The operands of a command with steps, with the numbers of its places for cells; as `instance.Instance` has it."""
    local, expected, result, remote = range(len(_PLACES))
    kind, operation = command.kind, getattr(command, "operation", None)
    fetches = kind == "read" or operation == "fetch"
    return Operands(
        kind,
        cell=local if kind == "put" else None,
        source=remote if fetches else local if kind in ("write", "update_from") else None,
        destination=local if kind == "read" else None if fetches else remote,
        operation=operation,
        expected=expected if kind == "update_from" and _has(command, "expected") else None,
        result=result if _has(command, "result") else None,
        located=getattr(command, "located", False),
    )


def _has(command: Command, name: str) -> bool:
    return getattr(command, name, None) is not None


def _reading(command: Command, step: Step) -> Step:
    """``step``, which also reads when it sets a cell and what was there goes to a result: values flow by it."""
    if step.kind == "popb" and _has(command, "result"):
        return step._replace(access=step.access._replace(reads=True))
    return step
