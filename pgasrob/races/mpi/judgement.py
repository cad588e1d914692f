"""Finds the races and misuses of one execution (sections 3.3 and 3.5), and declares the answer about a program."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from pgasrob.diagnostics import Diagnostic
from pgasrob.program.assumptions import Assumption
from pgasrob.program.core import Cell
from pgasrob.program.count_note import CountNote
from pgasrob.program.instance import Instance
from pgasrob.races.mpi.actions import Action, Edge, Execution, MemoryModel, Misuse, ModelRace, Place
from pgasrob.races.mpi.consistency import Orders
from pgasrob.races.mpi.execution import NotCovered
from pgasrob.races.mpi.validity import misuses

Exposed = Mapping[tuple[str, int], frozenset[Cell]]
"""The cells that a rank has in a window."""


def conflicts(execution: Execution, model: MemoryModel, exposed: Exposed) -> Iterator[Edge]:
    """The pairs of conflicting actions, the earlier number first."""
    found = _at_places(execution.actions)
    if model == "separate":
        found |= set(_anywhere(execution, exposed))
    return iter(sorted(found))


def _at_places(actions: Iterable[Action]) -> set[Edge]:
    """The pairs of ``actions`` that conflict at some place."""
    at: dict[Place, list[Action]] = defaultdict(list)
    found: set[Edge] = set()
    for action in actions:
        for place in action.places:
            for other in at[place]:
                if (other.number, action.number) not in found and _conflict(other, action, place):
                    found.add((other.number, action.number))
            at[place].append(action)
    return found


def without_sync(execution: Execution, orders: Orders, exposed: Exposed) -> Iterator[ModelRace]:
    """The loads and stores of two ranks in windows that happen one before the other, and are not made consistent in
    between: MPI_Win_sync is missing (MPI-4.1, 12.2.3)."""
    windows = frozenset(cell for cells in exposed.values() for cell in cells)
    local = [action for action in execution.actions if action.is_local and action.cells & windows]
    for number, later in sorted(_at_places(local)):
        one, other = execution.actions[number], execution.actions[later]
        if one.rank != other.rank and orders.ordered(number, later) and not orders.consistent(number, later):
            yield ModelRace(one, other, "consistency")


def _conflict(one: Action, other: Action, place: Place) -> bool:
    """Whether two accesses to ``place`` conflict, at least one of which has to write (D4)."""
    if one.group == other.group or not (place in one.writes or place in other.writes):
        return False
    if one.is_local and other.is_local and one.rank != other.rank:
        return True  # in a shared window
    for local, vac in ((one, other), (other, one)):
        if local.is_local and not vac.is_local and local.rank != vac.rank:
            hint = "use one or the other (section 3.6)"
            raise NotCovered("communication beside loads and stores of another rank than the target", local.span, hint)
    if one.is_local and other.is_local:
        # One rank's; D3: a buffer is accessed at any time until the operation is complete.
        return one.is_buffer or other.is_buffer
    if one.is_local or other.is_local:
        return True
    kinds = {one.rma.kind, other.rma.kind}
    if kinds & {"put", "get"}:
        return True
    # Section 2.3: accumulates may overlap when their basic types are one.
    return one.rma.type != other.rma.type


def _anywhere(execution: Execution, exposed: Exposed) -> Iterator[Edge]:
    """In the separate model: what writes remotely, with any store of the target to its part of the window."""
    stores = [action for action in execution.actions if action.is_local and action.writes]
    for vac in execution.actions:
        if vac.kind != "vac" or not vac.writes:
            continue
        window = exposed.get((vac.rma.window, vac.rank), frozenset())
        for store in stores:
            if store.rank == vac.rank and store.group != vac.group and store.cells & window:
                yield min(store.number, vac.number), max(store.number, vac.number)


@dataclass(frozen=True, slots=True)
class Drawn:
    """An execution with its orders, and what is wrong with it. ``eventual``: the polls that no order relates to what
    they wait for."""

    orders: Orders
    races: tuple[ModelRace, ...]
    eventual: tuple[ModelRace, ...]
    misuses: tuple[Misuse, ...]

    @property
    def execution(self) -> Execution:
        return self.orders.execution

    @property
    def status(self) -> Literal["defined", "eventual", "undefined"]:
        if self.races or self.misuses:
            return "undefined"
        return "eventual" if self.eventual else "defined"


def judge(
    execution: Execution,
    model: MemoryModel,
    exposed: Exposed,
    without: frozenset[str] = frozenset(),
) -> Drawn:
    """``execution`` in ``model``; ``without``: names of rules of `consistency` to leave out."""
    orders = Orders(execution, model, without)
    races: list[ModelRace] = []
    eventual: list[ModelRace] = []
    for race in _unordered(orders, exposed):
        (eventual if model == "unified" and _is_poll(race) else races).append(race)
    eventual += _seen(execution, model, without)
    return Drawn(orders, tuple(races), tuple(eventual), tuple(misuses(orders)))


def _seen(execution: Execution, model: MemoryModel, without: frozenset[str]) -> Iterator[ModelRace]:
    """The loads that a loop polls by, and what they see, where nothing else orders them."""
    actions = execution.actions
    if model == "unified" and execution.polled:
        alone = Orders(execution, model, without | {"polls"})
        for vac, load in execution.polled:
            if not alone.consistent(vac, load):
                yield ModelRace(actions[vac], actions[load], "happens-before")


def _unordered(orders: Orders, exposed: Exposed) -> Iterator[ModelRace]:
    """(21): the races, and of polls what looks like one."""
    actions = orders.execution.actions
    for one, other in conflicts(orders.execution, orders.model, exposed):
        if not orders.consistent(one, other):
            missing: Literal["happens-before", "consistency"]
            missing = "consistency" if orders.ordered(one, other) else "happens-before"
            yield ModelRace(actions[one], actions[other], missing)


def _is_poll(race: ModelRace) -> bool:
    """G10: a load that polls, and what another rank puts or accumulates there, or stores in a shared window."""
    kinds = [(each.kind, each.polls, bool(each.writes)) for each in (race.first, race.second)]
    return ("load", True, False) in kinds and (("vac", False, True) in kinds or ("store", False, True) in kinds)


Status = Literal["defined", "eventual", "undefined", "unknown", "error"]
"""``defined``: no execution has a race, and every call is allowed where it stands. ``eventual``: so it is, but for
loads in loops that poll, which see what others put there at some time (section 3.5)."""


@dataclass(frozen=True, slots=True)
class ModelVerdict:
    """``races``: one for each pair of places and of kinds of access, the first found first; one alone unless all were
    asked for. ``execution``: the one with the first of the ``races`` or ``misuses``, else the last one that was looked
    at. ``executions``: how many were. ``reason``: why there is no answer. ``instance``: what was looked at, None where
    there is an error. ``count_note``: as of a :class:`~pgasrob.robustness.verdict.Verdict`."""

    file: str
    program: str | None
    nodes: int | None
    model: MemoryModel
    status: Status
    races: tuple[ModelRace, ...] = ()
    misuses: tuple[Misuse, ...] = ()
    execution: Drawn | None = None
    executions: int = 0
    reason: str | None = None
    errors: tuple[Diagnostic, ...] = ()
    assumptions: tuple[Assumption, ...] = ()
    instance: Instance | None = None
    count_note: CountNote | None = None
