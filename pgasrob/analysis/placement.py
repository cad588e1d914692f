"""Placements: what a search remembers about the parts of a normal form in which a rank's steps lie.

Y(P, N) and the attack search both build a computation command by command and place the steps of each at once: in part
1, which is what has happened, or in a later part. A later command of the rank needs to know only this: the parts to
which a FIFO queue or a fence forces its steps, and whether a wait can be over. Each of these facts is a slot, and
the completion rules are two tables: which slots bound a step from below (`bounding`), and which it enters when it is
placed later (`entered`). Models for other tools are made from the same tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from typing import NamedTuple, Protocol, TypeVar

from pgasrob.program import core
from pgasrob.program.core import EVERY_QUEUE, Operands
from pgasrob.semantics.effect import Transferred

NOW, DELAYED = 1, 2
"""The parts of an attack: sigma without D, and D."""

P = TypeVar("P")


class Kind(IntEnum):
    """The kinds of facts about the steps of one queue outside part 1; the last two kinds do not depend on the queue."""

    PENDING = 0
    """Such steps exist, so a wait is never over."""
    LOCAL = 1
    """Such steps exist that wait_local waits for."""
    STAGE = 2
    """FIFO only: the part of the last step of a stage, which later ones cannot undercut (the paper's pa and pb)."""
    FENCED = 3
    """The last part that holds a fenced step to a target."""
    BOUND = 4
    """The value of FENCED at the last fence, a lower bound for later fenced steps to the target."""
    BUNDLED = 5
    """The last part that holds a step of the latest bundle."""
    LOCATED = 6
    """The last part that holds a located step to a cell."""


class Completion(Protocol):
    """What the completion rules ask of a program, as :class:`~pgasrob.program.instance.Instance` says it."""

    @property
    def notifies_everywhere(self) -> bool: ...
    @property
    def signals(self) -> bool: ...
    def is_unordered(self, queue: int) -> bool: ...


class Slot(NamedTuple):
    """``of``: which stage, target or cell; 0 for the kinds that have none of these."""

    queue: int
    kind: Kind
    of: int = 0


Placement = tuple[tuple[Slot, int], ...]
"""The parts of one rank by slot, sorted; part 1 is left out."""


def bounding(unordered: bool, operands: core.Transfer[P, int], step: core.Step[P], cell: int) -> Iterator[Slot]:
    """The slots that bound a new ``step`` to ``cell`` from below; one of :data:`EVERY_QUEUE` stands for all queues."""
    queue, target = operands.queue, operands.rank
    if not unordered:
        yield Slot(queue, Kind.STAGE, step.stage)
    elif step.fenced:
        yield Slot(queue, Kind.BOUND, target)
    if step.after_writes:
        yield Slot(EVERY_QUEUE if operands.everywhere else queue, Kind.FENCED, target)
    if step.after_bundle:
        yield Slot(EVERY_QUEUE, Kind.BUNDLED)
    if step.located:
        yield Slot(EVERY_QUEUE, Kind.LOCATED, cell)


def entered(
    unordered: bool, completion: Completion, operands: core.Transfer[P, int], step: core.Step[P], cell: int
) -> Iterator[Slot]:
    """The slots that a ``step`` to ``cell`` enters when it is not placed in part 1, as far as some command asks."""
    queue, target = operands.queue, operands.rank
    yield Slot(queue, Kind.PENDING)
    if step.local:
        yield Slot(queue, Kind.LOCAL)
    if not unordered:
        yield Slot(queue, Kind.STAGE, step.stage)
    if step.fenced and (unordered or completion.notifies_everywhere):
        yield Slot(queue, Kind.FENCED, target)
    if completion.signals:
        yield Slot(EVERY_QUEUE, Kind.BUNDLED)
    if step.located:
        yield Slot(EVERY_QUEUE, Kind.LOCATED, cell)


def waited_for(operands: core.Wait[int]) -> Slot:
    """The slot that keeps a wait from being over."""
    return Slot(operands.queue, Kind.LOCAL if operands.local else Kind.PENDING)


def is_fenced(slot: Slot, operands: core.Fence[int]) -> bool:
    """Whether a fence makes a bound of what ``slot`` says."""
    return slot.kind is Kind.FENCED and slot.queue == operands.queue and operands.rank in (None, slot.of)


def part_of(placement: Placement, slot: Slot) -> int:
    """The part that ``placement`` has for ``slot``, for one of :data:`EVERY_QUEUE` the last of any queue."""
    return max(
        (
            part
            for known, part in placement
            if known.kind is slot.kind and known.of == slot.of and slot.queue in (known.queue, EVERY_QUEUE)
        ),
        default=NOW,
    )


def wait_is_over(placement: Placement, operands: Operands) -> bool:
    """Whether a wait or wait_local may be issued; every other command may."""
    return not isinstance(operands, core.Wait) or part_of(placement, waited_for(operands)) == NOW


def lower_bounds(completion: Completion, placement: Placement, operands: Transferred) -> list[int]:
    """For each step of a new operation by itself the earliest part that the completion rules allow."""
    unordered = completion.is_unordered(operands.queue)
    return [
        max((part_of(placement, slot) for slot in bounding(unordered, operands, step, step.access.cell)), default=NOW)
        for step in operands.steps
    ]


def placed(completion: Completion, placement: Placement, operands: Transferred, chosen: Sequence[int]) -> Placement:
    """``placement`` after a new operation whose steps lie in the parts ``chosen``."""
    unordered = completion.is_unordered(operands.queue)
    return _with(
        placement,
        (
            # A wait does not depend on the part, so one value for all keeps states few.
            (slot, DELAYED if slot.kind in (Kind.PENDING, Kind.LOCAL) else part)
            for step, part in zip(operands.steps, chosen, strict=True)
            if part != NOW
            for slot in entered(unordered, completion, operands, step, step.access.cell)
        ),
    )


def fenced(placement: Placement, operands: Operands) -> Placement:
    """``placement`` after a command without steps. A fence makes the parts of fenced steps lower bounds for later ones;
    a bundle forgets which steps were delayed before it, for signals do not wait for them."""
    if isinstance(operands, core.Bundle):
        return tuple(entry for entry in placement if entry[0].kind is not Kind.BUNDLED)
    if not isinstance(operands, core.Fence):
        return placement
    return _with(
        placement, ((slot._replace(kind=Kind.BOUND), part) for slot, part in placement if is_fenced(slot, operands))
    )


def _with(placement: Placement, entries: Iterable[tuple[Slot, int]]) -> Placement:
    """``placement`` with ``entries``, whichever part is later."""
    parts = dict(placement)
    for slot, part in entries:
        parts[slot] = max(part, parts.get(slot, NOW))
    return tuple(sorted(parts.items()))
