"""Which writes may arrive after which others, as far as the order of one rank's commands says (`proofs/polling.md`,
section 5)."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import NamedTuple

from pgasrob.program import core
from pgasrob.program.control import ControlAutomaton, Transition
from pgasrob.program.core import Cell, Place
from pgasrob.program.expressions import Expr, constant
from pgasrob.program.graphs import following, reached

FEW_STATES = 1 << 14
"""Of so many control states it is found out at once which come after which: more bits than the square would fill
memory."""


class Write(NamedTuple):
    """A write of ``value`` (None: any) to ``cell`` by a command of ``rank``, ``at_issue`` or by its step number
    ``step``; or it ``adds`` the value there. The command leaves control state ``place[0]`` as its transition number
    ``place[1]``."""

    cell: Cell
    rank: int
    at_issue: bool
    value: int | None
    place: tuple[int, int] = (0, 0)
    step: int = 0
    adds: bool = False


class _Pending(NamedTuple):
    """What a rank has done at a control state while a step is pending: a fence that orders it, a bundle begun."""

    state: int
    fenced: bool = False
    bundled: bool = False


class LaterWrites:
    """The order of writes by ranks with these ``automata``; the queues ``unordered`` are not FIFO."""

    def __init__(self, automata: Sequence[ControlAutomaton], unordered: Set[int]) -> None:
        self._automata, self._unordered = automata, unordered
        self._known: dict[tuple[Write, Write], bool] = {}
        self._reached: dict[tuple[int, int], set[int]] = {}
        self._following: dict[int, list[int]] = {}

    def may_follow(self, late: Write, early: Write) -> bool:
        """Whether ``late`` may still arrive when ``early`` has."""
        if (late, early) not in self._known:
            self._known[late, early] = self._may_follow(late, early)
        return self._known[late, early]

    def _may_follow(self, late: Write, early: Write) -> bool:
        if late.rank != early.rank:
            return True
        if self._comes_to(early.rank, self._edge(early).target, late.place[0]):
            return True  # it may be issued then
        if late.place == early.place:
            return late.step > early.step
        return not late.at_issue and self._overtakes(early, late)

    def is_repeated(self, write: Write) -> bool:
        """Whether the command of ``write`` may be issued more than once."""
        return self._comes_to(write.rank, self._edge(write).target, write.place[0])

    def _edge(self, write: Write) -> Transition:
        return self._automata[write.rank].out[write.place[0]][write.place[1]]

    def _comes_to(self, rank: int, state: int, place: int) -> bool:
        """Whether ``rank`` may come from the control state ``state`` to ``place``."""
        out = self._automata[rank].out
        if len(out) > FEW_STATES:
            if (rank, state) not in self._reached:
                self._reached[rank, state] = reached([state], lambda at: [edge.target for edge in out[at]])
            return place in self._reached[rank, state]
        if rank not in self._following:
            self._following[rank] = following([[edge.target for edge in leaving] for leaving in out])
        return bool(self._following[rank][state] >> place & 1)

    def _without_bundle(self, rank: int) -> set[int]:
        """The control states to which ``rank`` may come without having begun a bundle."""
        out = self._automata[rank].out
        return reached([0], lambda at: [edge.target for edge in out[at] if not isinstance(edge.form, core.Bundle)])

    def _overtakes(self, early: Write, late: Write) -> bool:
        """Whether ``late``, which is issued first, may be pending when ``early`` arrives."""
        out = self._automata[late.rank].out

        def after(here: _Pending) -> list[_Pending]:
            ways = (self._after(here, edge.form, edge.target, late) for edge in out[here.state])
            return [each for each in ways if each is not None]

        pending = reached([_Pending(self._edge(late).target)], after)
        return any(here.state == early.place[0] and not self._held(early, late, here) for here in pending)

    def _after(self, here: _Pending, form: core.Form, target: int, late: Write) -> _Pending | None:
        """What is so after ``form``; None: the step of ``late`` has happened."""
        transfer, step = self._step(late)
        match form:
            case core.Wait(queue, local=False) if _same(queue, transfer.queue):
                return None
            case core.Fence(queue, to) if step.fenced and _same(queue, transfer.queue):
                if to is None or _same(to, transfer.rank):
                    return here._replace(state=target, fenced=True)
            case core.Bundle():
                return here._replace(state=target, bundled=True)
        return here._replace(state=target)

    def _step(self, write: Write) -> tuple[core.Transfer[Place, Expr], core.Step[Place]]:
        form = self._edge(write).form
        assert isinstance(form, core.Transfer)
        return form, form.steps[write.step]

    def _held(self, early: Write, late: Write, here: _Pending) -> bool:
        """Whether ``early`` waits for ``late`` by a rule, what is ``here`` having been done between them."""
        if early.at_issue:
            return False
        (first, before), (second, step) = self._step(late), self._step(early)
        queue = constant(first.queue)
        in_queue, to_rank = _same(first.queue, second.queue), _same(first.rank, second.rank)
        if in_queue and queue is not None and queue not in self._unordered:
            return before.stage == step.stage
        return (
            (here.fenced and step.fenced and in_queue and to_rank)
            or (step.after_writes and before.fenced and to_rank and (second.everywhere or in_queue))
            or (step.after_bundle and not here.bundled and late.place[0] not in self._without_bundle(late.rank))
            or (step.located and before.located and before.access.cell == step.access.cell)
        )


def _same(one: Expr, other: Expr) -> bool:
    """Whether two expressions are one number."""
    number = constant(one)
    return number is not None and number == constant(other)


def phases(automaton: ControlAutomaton) -> list[int | None]:
    """How many barriers a rank has passed at each of its control states, where that is one number."""
    out = automaton.out
    found: list[int | None] = [None] * len(out)
    found[0] = 0
    known, stack = {0}, [0]
    while stack:
        state = stack.pop()
        for edge in out[state]:
            before = found[state]
            after = None if before is None else before + isinstance(edge.form, core.Barrier)
            if edge.target not in known:
                known.add(edge.target)
            elif found[edge.target] is None or found[edge.target] == after:
                continue
            else:
                after = None
            found[edge.target] = after
            stack.append(edge.target)
    return found
