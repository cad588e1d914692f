"""Process blocks that ranks have in common: of blocks that differ in nothing but constants, one with ``me`` in it.

A C program has a block for each rank, in which the rank's number is a constant. What is read off the text, such as
which ranks are interchangeable, is read off the text that they have in common: a constant that is a rank's number plus
the same on each is ``me`` plus that, and one that differs on few ranks is chosen by ``me``. On each rank the common
block stands for what its own block is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any

from pgasrob.analysis.remembered import remembered
from pgasrob.program.declarations import Process
from pgasrob.program.expressions import INT32, Binary, Conditional, Const, Expr, Me
from pgasrob.program.instance import Instance

MOST_COMMANDS = 20_000
"""Commands of all ranks from which on blocks are not compared: programs as large are not searched for long."""


@remembered
def common_blocks(instance: Instance) -> tuple[Process, ...]:
    """The processes of the program of ``instance``, of which those for single ranks that differ in nothing but
    constants are one; each as it is where ranks have several threads, or there are too many commands."""
    processes = instance.program.processes
    numbered = [each for each in processes if each.ranks is not None and len(each.ranks) == 1]
    if instance.has_threads or len(numbered) < 2 or instance.commands > MOST_COMMANDS:
        return processes
    alike: dict[object, list[tuple[Process, list[int]]]] = {}
    for process in numbered:
        constants: list[int] = []
        alike.setdefault(_shape(process.body, constants), []).append((process, constants))
    common = [_in_common(own) for own in alike.values()]
    return (*common, *(each for each in processes if each.ranks is None or len(each.ranks) != 1))


def _in_common(own: Sequence[tuple[Process, Sequence[int]]]) -> Process:
    """One block for those of several ranks with one shape, and the constants of each in the order of its text."""
    ranks = [rank for process, _ in own for rank in process.ranks or ()]
    if len(ranks) == 1:
        return own[0][0]
    found = (_common_constant(ranks, values) for values in zip(*(constants for _, constants in own), strict=True))
    return replace(own[0][0], ranks=tuple(sorted(ranks)), body=_with(own[0][0].body, found))


def _common_constant(ranks: Sequence[int], values: Sequence[int]) -> Expr:
    """An expression that is on each of ``ranks`` the one of ``values`` in its place."""
    (value, fixed), *_ = Counter(values).most_common(1)
    (distance, moving), *_ = Counter(each - rank for rank, each in zip(ranks, values, strict=True)).most_common(1)
    moves = moving > fixed and all(INT32.wrap(each) == each for each in (distance, *values))
    found: Expr = Const(value)
    if moves:
        found = Binary("+", Me(), Const(distance)) if distance else Me()
    for rank, each in zip(ranks, values, strict=True):
        if each != (rank + distance if moves else value):
            found = Conditional(Binary("==", Me(), Const(rank)), Const(each), found)
    return found


def _shape(node: Any, constants: list[int]) -> object:
    """What ``node`` of a text is but for its ``constants``, which are added in the order in which they stand there."""
    if isinstance(node, Const):
        constants.append(node.value)
        return Const
    if isinstance(node, tuple):
        return tuple(_shape(each, constants) for each in node)
    kind: Any = type(node)
    names = _names(kind)
    return node if names is None else (kind, *(_shape(getattr(node, name), constants) for name in names))


def _with(node: Any, constants: Iterator[Expr]) -> Any:
    """``node`` with these in place of its constants, in the order of `_shape`."""
    if isinstance(node, Const):
        return next(constants)
    if isinstance(node, tuple):
        return tuple(_with(each, constants) for each in node)
    kind: Any = type(node)
    names = _names(kind)
    return node if names is None else replace(node, **{name: _with(getattr(node, name), constants) for name in names})


@cache
def _names(kind: Any) -> tuple[str, ...] | None:
    """The fields of the nodes of a text of this ``kind``; None for what is no node."""
    return tuple(each.name for each in fields(kind) if each.init) if is_dataclass(kind) else None
