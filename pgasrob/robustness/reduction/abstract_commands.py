"""Commands as the fixpoint of infeasibility sees them: without values, and with the cells that an access may be to in
place of the one that it is to (`proofs/reductions.md`, section 2)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, assert_never

from pgasrob.analysis.placement import Completion
from pgasrob.program import core
from pgasrob.program.core import Cell, Form, Operands, Place

Accesses = int
"""A set of accesses: bit c for a read of cell c, and for a write of it the bit that many places above all reads."""


class Access(NamedTuple):
    """One access of a chain: what it may be, what it may conflict with, and whether it may be to one cell only."""

    accesses: Accesses
    conflicting: Accesses
    certain: bool

    def may_hit(self, accesses: Accesses) -> bool:
        """Whether it may conflict with one of ``accesses``, which may be more than there are."""
        return bool(accesses & self.conflicting)

    def must_hit(self, accesses: Accesses) -> bool:
        """Whether it conflicts with one of ``accesses`` for certain, all of which there are."""
        return self.certain and bool(accesses & self.conflicting)


@dataclass(frozen=True, slots=True)
class Command:
    """A transition as the fixpoint sees it.

    - ``at_issue``, ``in_steps``: what it accesses, ``chain`` one after the other, and ``accesses`` all of that.
    - ``operands``: what completion rules look at, None when they say nothing certain: the queue, or what a fence names,
      is not known. Steps to a target that is not known are not fenced, nor do they come after writes; those to a cell
      that is not known are not located.
    - ``possible``: False when it can never be issued.
    - ``apart``: the places in its chain of the accesses that are to another cell each time that a rank issues the
      command, which has the number ``occurrence``, also where it leaves another control state.
    """

    target: int
    at_issue: Access | None
    in_steps: tuple[Access, ...]
    operands: Operands | None
    possible: bool
    occurrence: int = -1
    apart: frozenset[int] = frozenset()
    chain: tuple[Access, ...] = field(init=False)
    accesses: Accesses = field(init=False)

    def __post_init__(self) -> None:
        chain = self.in_steps if self.at_issue is None else (self.at_issue, *self.in_steps)
        object.__setattr__(self, "chain", chain)
        object.__setattr__(self, "accesses", union(chain))


@dataclass(frozen=True, slots=True)
class Commands:
    """What the ranks do, as the fixpoint sees it.

    ``of``: the commands by rank and control state; 0 is the first control state. ``completion``: what the completion
    rules ask of the program. ``cells``: how many there are; the accesses have a plane of them for reads, for writes and
    for each kind of update. ``names``: of which cells the last of these are further names (`analysis.tickets`).
    ``waited_for``: the updates for whose values some command may wait. ``many``: the ranks that stand for any number of
    ranks, at least one. A cell of theirs is never a certain one. ``threads``: some of the ranks are threads of one
    rank, of which each may pass a barrier while others stay where they are.
    """

    of: Sequence[Sequence[Sequence[Command]]]
    completion: Completion
    cells: int
    kinds: int
    waited_for: Accesses
    many: frozenset[int] = frozenset()
    threads: bool = False
    names: Sequence[int] = ()


def union(chain: Iterable[Access]) -> Accesses:
    accesses = 0
    for access in chain:
        accesses |= access.accesses
    return accesses


def known_operands(form: Form, queue: int | None, target: int | None, cells: Sequence[int | None]) -> Operands | None:
    """What completion rules look at in a command whose steps are to ``cells``, with its ``queue`` and ``target``, each
    None when it is not certain; None when they say nothing certain.

    A number stands for the same queue, target or cell each time that the rank names it, and two may stand for one.
    """
    match form:
        case core.Bundle() | core.Barrier():
            return form
        case core.Assign() | core.Test() | core.Immediate():
            return None
        case core.Transfer() | core.Wait() | core.Fence() if queue is None:
            return None
        case core.Transfer():
            known = tuple(_known_step(*each, target is not None) for each in zip(form.steps, cells, strict=True))
            # Where no step has to do with the target it does not matter, but there must be one.
            return core.Transfer(target or 0, queue, known, everywhere=form.everywhere)
        case core.Wait(_, local):
            return core.Wait(queue, local)
        case core.Fence(_, to):
            return None if to is not None and target is None else core.Fence(queue, None if to is None else target)
        case _:
            assert_never(form)


def _known_step(step: core.Step[Place], cell: int | None, aimed: bool) -> core.Step[Cell]:
    """``step`` to ``cell``, for what is certain of it; ``aimed``: its target is known."""
    return core.Step(
        step.kind,
        core.Access(cell or 0, *step.access[1:]),
        step.stage,
        step.local,
        fenced=step.fenced and aimed,
        after_writes=step.after_writes and aimed,
        after_bundle=step.after_bundle,
        located=step.located and cell is not None,
    )
