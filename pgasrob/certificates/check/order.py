"""Which steps wait for which (R1, in full in `proofs/state-space.md`, section 5), and which accesses conflict.

Of the operations of a rank that have delayed steps a few *facts* are kept, each a tuple: ``pending``, ``local`` (a
queue), ``stage`` (queue, stage), ``fenced``, ``bound`` (queue, target), ``bundled``, ``located`` (cell).
"""

from __future__ import annotations

from typing import Any

from pgasrob.program import core
from pgasrob.program.instance import Instance

Fact = tuple[Any, ...]
Facts = frozenset[Fact]
Touch = tuple[int, str]
"""An access that was made: the cell, and ``r``, ``w`` or the kind of an update. One that reads and writes is two."""
Touched = frozenset[Touch]
NOTHING: Touched = frozenset()


def ways(access: core.Access[Any]) -> tuple[str, ...]:
    """In which ways an access touches its cell."""
    if access.commutes:
        return (access.commutes,)
    return (*(("r",) if access.reads else ()), *(("w",) if access.writes else ()))


def meets(access: core.Access[Any], way: str) -> bool:
    """Whether an access conflicts with one in this way to the same cell."""
    return way != access.commutes if access.commutes else access.writes or way != "r"


def hits(instance: Instance, access: core.Access[int], touched: Touched) -> bool:
    """Whether an access conflicts with one of ``touched``."""
    ways = ("r", "w", *instance.update_kinds) if touched else ()
    return any((access.cell, way) in touched and meets(access, way) for way in ways)


def late(instance: Instance, facts: Facts, of: core.Transfer[Any, Any]) -> list[bool]:
    """For each step of a new transfer whether it has to come after one that is delayed. What is None is not known."""
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


def behind(instance: Instance, facts: Facts, of: core.Transfer[Any, Any], first: int) -> Facts:
    """The facts after a transfer whose steps from ``first`` on are delayed."""
    queue, fifo = of.queue, of.queue not in instance.unordered
    new: set[Fact] = set()
    for step in of.steps[first:] if queue is not None else ():
        new.add(("pending", queue))
        new |= {("local", queue)} if step.local else set()
        new |= {("stage", queue, step.stage)} if fifo else set()
        new |= {("fenced", queue, of.rank)} if step.fenced and (not fifo or instance.notifies_everywhere) else set()
        new |= {("bundled",)} if instance.signals else set()
        new |= {("located", step.access.cell)} if step.located else set()
    return facts.union(fact for fact in new if None not in fact)


def after(facts: Facts, operands: core.Shape[Any, Any]) -> Facts:
    """The facts after a command without steps: a fence makes bounds, a bundle begins anew."""
    match operands:
        case core.Fence(queue, rank):
            bounds = (("bound", *rest) for kind, *rest in facts if kind == "fenced" and rest[0] == queue)
            return facts.union(each for each in bounds if rank in (None, each[2]))
        case core.Bundle():
            return facts - {("bundled",)}
    return facts


def blocks(facts: Facts, operands: core.Shape[Any, Any]) -> bool:
    """Whether a command is a wait for a step that is delayed."""
    return isinstance(operands, core.Wait) and ("local" if operands.local else "pending", operands.queue) in facts
