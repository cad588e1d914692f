"""What a recording holds: the commands that the ranks issued, in the order in which they took effect."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pgasrob.program.commands import Command
from pgasrob.program.declarations import MemoryObject, Queue, Source
from pgasrob.program.expressions import Const, Expr, constant
from pgasrob.program.statements import NOWHERE, Span


class Recorded(NamedTuple):
    """One command of ``rank``, with constants for its operands; of a barrier every rank has one.

    ``seen``: of a read in a polling loop the value that it had waited for, with which the loop was left. ``sizes``: how
    many bytes each access is of, where addresses count bytes; empty where they count cells.
    """

    rank: int
    command: Command
    span: Span = NOWHERE
    seen: int | None = None
    sizes: tuple[int, ...] = ()


@dataclass(frozen=True)
class Recording:
    """``events`` in the order of the run: a command stands there with all its steps, a barrier where its last rank has
    come to it. ``memory``: the memory of every node with its first values. ``next_commands``: at most one of each rank,
    not issued at the end. ``values``: whether the run can be made again, so that it is known what cells held. ``held``:
    what a cell of a rank held before, where that is not in ``memory``; ``doubles``: the names of the cells that hold
    doubles.
    """

    name: str
    nodes: int
    memory: Sequence[MemoryObject]
    queues: Sequence[Queue]
    events: Sequence[Recorded]
    source: Source
    next_commands: Sequence[Recorded] = ()
    values: bool = True
    held: Callable[[int, int], int] | None = None
    doubles: frozenset[str] = frozenset()


def value_of(expr: Expr) -> int:
    """The value of an operand."""
    value = expr.value if isinstance(expr, Const) else constant(expr)
    assert value is not None, "what is recorded has values"
    return value
