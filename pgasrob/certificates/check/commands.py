"""Commands as far as they are known: what they access, and which of their steps come after delayed ones.

Of the delayed steps of a rank a few *facts* are kept (R1, in full in `proofs/state-space.md`, section 5), each a tuple:
``pending``, ``local`` (a queue), ``stage`` (queue, stage), ``fenced``, ``bound`` (queue, target), ``bundled``,
``located`` (cell). What is not known is None, and no fact is about it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from pgasrob.certificates.check.names import File, Value
from pgasrob.program import core
from pgasrob.program.control import Transition
from pgasrob.program.instance import Instance

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


class Reach(NamedTuple):
    """An access of a command: what it may be, what that conflicts with, its ``cell`` when it is certain, and whether it
    is an update that commutes with those of its kind."""

    touches: Touched
    conflicts: Touched
    cell: int | None
    commutes: bool

    def may_hit(self, touched: Touched) -> bool:
        return not self.conflicts.isdisjoint(touched)

    def must_hit(self, touched: Touched) -> bool:
        return self.cell is not None and self.may_hit(touched)


@dataclass(frozen=True)
class Command:
    """What a transition may do with a register file: the ``files`` that it leaves, as far as they are known behind it,
    its accesses, and the rank and queue that it names. ``at``: its rank, control state, and place there. ``legal``: it
    always has a value."""

    at: tuple[int, int, int]
    transition: Transition = field(compare=False)
    instance: Instance = field(compare=False)
    files: tuple[File, ...] = field(compare=False)
    chain: tuple[Reach, ...] = ()
    to: Value = None
    queue: Value = None
    legal: bool = True

    @property
    def form(self) -> core.Form:
        return self.transition.form

    @property
    def is_barrier(self) -> bool:
        return isinstance(self.form, core.Barrier)

    @cached_property
    def bound(self) -> tuple[Reach, ...]:
        return self.chain[: len(self.chain) - len(core.steps_of(self.form))]

    @cached_property
    def steps(self) -> tuple[Reach, ...]:
        return self.chain[len(self.bound) :]

    def waits(self, facts: Facts) -> bool:
        """Whether it is a wait for a step that is delayed."""
        return isinstance(self.form, core.Wait) and ("local" if self.form.local else "pending", self.queue) in facts

    def ready(self, facts: Facts) -> int:
        """How many of its steps come before the first that has to come after one that is delayed."""
        return next((place for place in range(len(self.steps)) if self._is_late(place, facts)), len(self.steps))

    def _is_late(self, place: int, facts: Facts) -> bool:
        step, fifo = core.steps_of(self.form)[place], self.queue not in self.instance.unordered
        everywhere = isinstance(self.form, core.Transfer) and self.form.everywhere
        written = {fact[1] for fact in facts if fact[0] == "fenced" and fact[2] == self.to}
        return (
            (fifo and ("stage", self.queue, step.stage) in facts)
            or (not fifo and step.fenced and ("bound", self.queue, self.to) in facts)
            or (step.after_writes and (bool(written) if everywhere else self.queue in written))
            or (step.after_bundle and ("bundled",) in facts)
            or (step.located and ("located", self.steps[place].cell) in facts)
        )

    def after(self, facts: Facts, first: int) -> Facts:
        """The facts behind it when its steps from ``first`` on are delayed."""
        queue, fifo = self.queue, self.queue not in self.instance.unordered
        match self.form:
            case core.Bundle():
                return facts - {("bundled",)}
            case core.Fence(rank=rank):
                fenced = {fact[2] for fact in facts if fact[:2] == ("fenced", queue)}
                return facts | {("bound", queue, to) for to in fenced if rank is None or to == self.to}
        for step, reach in list(zip(core.steps_of(self.form), self.steps, strict=True))[first:]:
            new: dict[Fact, bool] = {
                ("pending", queue): True,
                ("local", queue): step.local,
                ("stage", queue, step.stage): fifo,
                ("fenced", queue, self.to): step.fenced and (not fifo or self.instance.notifies_everywhere),
                ("bundled",): self.instance.signals,
                ("located", reach.cell): step.located,
            }
            facts |= {fact for fact, holds in new.items() if holds and None not in fact}
        return facts


class Known(NamedTuple):
    """What is known of an attack and of a rank: what the access of the source may be, and what may be in t, and in t or
    d; what is certain to be in d, and of the rank's delayed steps.

    Where the rank is not in T, nothing of its own counts as ``done`` or ``made``.
    """

    source: Touched
    tainted: bool
    done: Touched
    made: Touched
    delayed: Touched
    facts: Facts

    def closes(self, command: Command) -> bool:
        """Whether the command may be e: (m2) of `proofs/attack.md`, E1 and E2 of `proofs/reductions.md`."""
        chain = command.chain
        return any(
            chain[place].may_hit(self.source)
            and (
                self.tainted
                or any(each.may_hit(self.done) for each in chain[: place + 1])
                or any(each.may_hit(self.made) for each in chain[place + 1 :])
            )
            for place in range(len(command.bound) + command.ready(self.facts))
        )

    def goes_on(self, command: Command) -> Iterator[tuple[int, bool]]:
        """In which ways the command may be one of sigma: how many of its steps happen now, or more than do, and whether
        it is reached; (m3) and (m3'), F2 and F4 to F6."""
        if command.waits(self.facts) or any(each.must_hit(self.delayed) for each in command.bound):
            return
        must = [place for place, each in enumerate(command.steps) if each.must_hit(self.delayed)]
        first = min([command.ready(self.facts), *must])
        entered = self.tainted or any(each.may_hit(self.done) for each in command.chain)
        may = [place for place, each in enumerate(command.steps) if each.may_hit(self.made)]
        if not entered and may:
            first = min(first, may[-1])
        yield first, entered or bool(may)
        for place, each in enumerate(command.steps[:first]):
            if each.commutes and each.touches & self.source:
                yield place, True
