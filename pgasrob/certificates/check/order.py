"""Which steps wait for which (R1, in full in `proofs/state-space.md`, section 5), and which accesses conflict.

Of the operations of a rank that have delayed steps a few *facts* are kept, each a tuple: ``pending``, ``local`` (a
queue), ``stage`` (queue, stage), ``fenced``, ``bound`` (queue, target), ``bundled``, ``located`` (cell).
"""

from __future__ import annotations

from typing import Any, TypeVar

from pgasrob.program import core
from pgasrob.program.instance import Instance

T = TypeVar("T")
Operands = core.Shape[Any, Any] | None
"""The operands of a command. Those that are not known are None, and so are all where nothing follows from the rest."""
Fact = tuple[Any, ...]
Facts = frozenset[Fact]
Touch = tuple[int, str]
"""An access that was made: the cell, and ``r``, ``w`` or the kind of an update. One that reads and writes is two."""
Touched = frozenset[Touch]


def ways(access: core.Access[Any]) -> tuple[str, ...]:
    """In which ways an access touches its cell."""
    return (access.commutes,) if access.commutes else ("r",) * access.reads + ("w",) * access.writes


def meets(access: core.Access[Any], way: str) -> bool:
    """Whether an access conflicts with one in this way to the same cell."""
    return way != access.commutes if access.commutes else access.writes or way != "r"


def hits(access: core.Access[Any], touched: Touched) -> bool:
    """Whether an access conflicts with one of ``touched``."""
    return any(cell == access.cell and meets(access, way) for cell, way in touched)


def late(instance: Instance, facts: Facts, of: Operands) -> list[bool]:
    """For each step of a command whether it has to come after one that is delayed."""
    if not isinstance(of, core.Transfer):
        return []
    queue, target, fifo = of.queue, of.rank, of.queue not in instance.unordered

    def is_late(step: core.Step[Any]) -> bool:
        written = (rest for kind, *rest in facts if kind == "fenced" and rest[1] == target)
        return (
            (fifo and ("stage", queue, step.stage) in facts)
            or (not fifo and step.fenced and ("bound", queue, target) in facts)
            or (step.after_writes and any(of.everywhere or rest[0] == queue for rest in written))
            or (step.after_bundle and ("bundled",) in facts)
            or (step.located and ("located", step.access.cell) in facts)
        )

    return [bool(facts) and queue is not None and is_late(step) for step in of.steps]


def after(instance: Instance, facts: Facts, of: Operands, first: int) -> Facts:
    """The facts after a command whose steps from ``first`` on are delayed."""
    new: set[Fact] = set()
    match of:
        case core.Transfer(to, int(queue), steps):
            fifo = queue not in instance.unordered
            for step in steps[first:]:
                new.add(("pending", queue))
                new |= {("local", queue)} if step.local else set()
                new |= {("stage", queue, step.stage)} if fifo else set()
                new |= {("fenced", queue, to)} if step.fenced and (not fifo or instance.notifies_everywhere) else set()
                new |= {("bundled",)} if instance.signals else set()
                new |= {("located", step.access.cell)} if step.located else set()
        case core.Fence(queue, to):
            new = {("bound", *each[1:]) for each in facts if each[:2] == ("fenced", queue) and to in (None, each[2])}
        case core.Bundle():
            return facts - {("bundled",)}
    return facts.union(fact for fact in new if None not in fact)


def blocks(facts: Facts, of: Operands) -> bool:
    """Whether a command is a wait for a step that is delayed."""
    return isinstance(of, core.Wait) and ("local" if of.local else "pending", of.queue) in facts


def put(row: tuple[T, ...], index: int, value: T) -> tuple[T, ...]:
    """``row`` with another value at one place."""
    return (*row[:index], value, *row[index + 1 :])
