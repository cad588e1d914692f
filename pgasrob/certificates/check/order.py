"""Which steps wait for which (R1, in full in `proofs/state-space.md`, section 5), and which accesses conflict.

Of the operations of a rank that have delayed steps a few *facts* are kept, each a tuple: ``pending``, ``local`` (a
queue), ``stage`` (queue, stage), ``fenced``, ``bound`` (queue, target), ``bundled``, ``located`` (cell).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

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


class Ordered(NamedTuple):
    """A transfer as far as completion rules look at it; None: not known, and nothing follows from it."""

    queue: int | None
    target: int | None
    steps: Sequence[core.Step[Any]]
    cells: Sequence[int | None]
    everywhere: bool


def late(instance: Instance, facts: Facts, of: Ordered) -> list[bool]:
    """For each step of a new transfer whether it has to come after one that is delayed."""
    queue, target = of.queue, of.target

    def is_late(step: core.Step[Any], cell: int | None) -> bool:
        fifo = queue not in instance.unordered
        return (
            (fifo and ("stage", queue, step.stage) in facts)
            or (not fifo and step.fenced and ("bound", queue, target) in facts)
            or (
                step.after_writes
                and any(
                    kind == "fenced" and rest[1] == target and (of.everywhere or rest[0] == queue)
                    for kind, *rest in facts
                )
            )
            or (step.after_bundle and ("bundled",) in facts)
            or (step.located and ("located", cell) in facts)
        )

    return [bool(facts) and queue is not None and is_late(*each) for each in zip(of.steps, of.cells, strict=True)]


def behind(instance: Instance, facts: Facts, of: Ordered, first: int) -> Facts:
    """The facts after a transfer whose steps from ``first`` on are delayed."""
    if of.queue is None:
        return facts

    def new() -> Iterator[Fact]:
        for step, cell in zip(of.steps[first:], of.cells[first:], strict=True):
            yield "pending", of.queue
            if step.local:
                yield "local", of.queue
            if of.queue not in instance.unordered:
                yield "stage", of.queue, step.stage
            if step.fenced and (of.queue in instance.unordered or instance.notifies_everywhere):
                yield "fenced", of.queue, of.target
            if instance.signals:
                yield ("bundled",)
            if step.located:
                yield "located", cell

    return facts.union(fact for fact in new() if None not in fact)


def after(facts: Facts, operands: core.Operands) -> Facts:
    """The facts after a command without steps: a fence makes bounds, a bundle begins anew."""
    match operands:
        case core.Fence(queue, rank):
            bounds = (("bound", *rest) for kind, *rest in facts if kind == "fenced" and rest[0] == queue)
            return facts.union(each for each in bounds if rank in (None, each[2]))
        case core.Bundle():
            return facts - {("bundled",)}
    return facts


def blocks(facts: Facts, operands: core.Operands) -> bool:
    """Whether a command is a wait for a step that is delayed."""
    return isinstance(operands, core.Wait) and ("local" if operands.local else "pending", operands.queue) in facts
