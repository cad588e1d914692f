"""In which parts of a normal form the steps of a rank's operations lie, as far as later commands depend on it.

A computation in normal form consists of a few *parts*, one after the other: the first has all that is issued, steps lie
in any. Y(P, N), the automaton of these computations, and the attack search both build one command by command and place
the steps of each at once: in part 1, which is what has happened, or in a later part. What a later command of the rank
has to know of that is little, its rank's *placement*: where a FIFO queue forces its steps to, where a fence does, and
whether a wait can be over (`proofs/normal-form.md`, section 2; `proofs/attack.md`, C7; words: `proofs/glossary.md`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pgasrob.program import core
from pgasrob.program.core import EVERY_QUEUE, Cell, Operands
from pgasrob.program.instance import Instance
from pgasrob.semantics.effect import Transferred

NOW, DELAYED = 1, 2
"""The parts of an attack: what is not delayed, that is, the SC run sigma without the steps in D; and D."""


class Parts(NamedTuple):
    """Where the steps of one rank's operations in one queue have been placed.

    ``stages``: FIFO only, for each stage the part of the last step of that stage, which later ones cannot undercut (the
    paper's pa and pb). ``delayed``: some step lies after part 1, so a wait is never over. ``local_delayed``: the same
    for wait_local. ``targets``: unordered only, for each target the last part that holds a fenced step to it and the
    bound that a fence has made of it for later ones. An entry in which both are 1 binds nothing and is left out.

    What does not depend on the queue stands under the id :data:`EVERY_QUEUE`. ``bundled``: the last part that holds a
    step of the latest bundle. ``located``: the cells with a located step after part 1, with the last part that
    holds one.
    """

    stages: tuple[int, ...] = ()
    delayed: bool = False
    local_delayed: bool = False
    targets: tuple[tuple[int, int, int], ...] = ()
    bundled: int = 1
    located: tuple[tuple[int, int], ...] = ()

    def stage(self, stage: int) -> int:
        return self.stages[stage] if stage < len(self.stages) else 1

    def fence_bound(self, target: int) -> int:
        """The part that a fenced step to ``target`` cannot undercut."""
        return next((bound for rank, _, bound in self.targets if rank == target), 1)

    def latest(self, target: int) -> int:
        return next((last for rank, last, _ in self.targets if rank == target), 1)

    def with_target(self, target: int, last: int, bound: int) -> Parts:
        others = tuple(entry for entry in self.targets if entry[0] != target)
        entry = ((target, last, bound),) if last > 1 or bound > 1 else ()
        return self._replace(targets=tuple(sorted(others + entry)))

    def with_stage(self, stage: int, part: int) -> Parts:
        if part <= self.stage(stage):
            return self
        known = max(len(self.stages), stage + 1)
        return self._replace(stages=tuple(part if index == stage else self.stage(index) for index in range(known)))

    def location(self, cell: int) -> int:
        """The last part that holds a located step to ``cell``."""
        return next((part for known, part in self.located if known == cell), 1)

    def with_location(self, cell: int, part: int) -> Parts:
        if part <= self.location(cell):
            return self
        others = tuple(entry for entry in self.located if entry[0] != cell)
        return self._replace(located=tuple(sorted((*others, (cell, part)))))


NOTHING_DELAYED = Parts()

Placement = tuple[tuple[int, Parts], ...]
"""The parts of one rank by queue id, sorted; a queue in which nothing is delayed is left out."""


def parts_of(placement: Placement, queue: int) -> Parts:
    return next((parts for id, parts in placement if id == queue), NOTHING_DELAYED)


def wait_is_over(placement: Placement, operands: Operands) -> bool:
    """Whether a wait or wait_local may be issued; every other command may."""
    if not isinstance(operands, core.Wait):
        return True
    parts = parts_of(placement, operands.queue)
    return not (parts.local_delayed if operands.local else parts.delayed)


def lower_bounds(instance: Instance, placement: Placement, operands: Transferred) -> list[int]:
    """For each step of a new operation by itself the earliest part that the completion rules allow."""
    return [_lower_bound(instance, placement, operands, step) for step in operands.steps]


def _lower_bound(instance: Instance, placement: Placement, operands: Transferred, step: core.Step[Cell]) -> int:
    parts, target = parts_of(placement, operands.queue), operands.rank
    bound = 1
    if not instance.is_unordered(operands.queue):
        bound = parts.stage(step.stage)
    elif step.fenced:
        bound = parts.fence_bound(target)
    if step.after_writes and operands.everywhere:
        bound = max(bound, *(other.latest(target) for _, other in placement), 1)
    elif step.after_writes:
        bound = max(bound, parts.latest(target))
    if step.after_bundle:
        bound = max(bound, parts_of(placement, EVERY_QUEUE).bundled)
    if step.located:
        bound = max(bound, parts_of(placement, EVERY_QUEUE).location(step.access.cell))
    return bound


def placed(instance: Instance, placement: Placement, operands: Transferred, chosen: Sequence[int]) -> Placement:
    """``placement`` after a new operation whose steps lie in the parts ``chosen``."""
    queue, target = operands.queue, operands.rank
    parts, common = parts_of(placement, queue), parts_of(placement, EVERY_QUEUE)
    fifo = not instance.is_unordered(queue)
    for step, part in zip(operands.steps, chosen, strict=True):
        if part == 1:
            continue
        parts = parts._replace(delayed=True, local_delayed=parts.local_delayed or step.local)
        if instance.signals:
            common = common._replace(bundled=max(common.bundled, part))
        if step.located:
            common = common.with_location(step.access.cell, part)
        if fifo:
            parts = parts.with_stage(step.stage, part)
        if step.fenced and (not fifo or instance.notifies_everywhere):
            parts = parts.with_target(target, max(part, parts.latest(target)), parts.fence_bound(target))
    return _with(_with(placement, queue, parts), EVERY_QUEUE, common)


def fenced(placement: Placement, operands: Operands) -> Placement:
    """``placement`` after a command without steps. A fence: where fenced steps lie now, later ones cannot come before.
    A bundle: what has been delayed before binds no signal."""
    if isinstance(operands, core.Bundle):
        return _with(placement, EVERY_QUEUE, parts_of(placement, EVERY_QUEUE)._replace(bundled=1))
    if not isinstance(operands, core.Fence):
        return placement
    parts = parts_of(placement, operands.queue)
    for target, last, bound in parts.targets:
        if operands.rank in (None, target):
            parts = parts.with_target(target, last, max(last, bound))
    return _with(placement, operands.queue, parts)


def _with(placement: Placement, queue: int, parts: Parts) -> Placement:
    others = tuple(entry for entry in placement if entry[0] != queue)
    entry = ((queue, parts),) if parts != NOTHING_DELAYED else ()
    return tuple(sorted(others + entry))
