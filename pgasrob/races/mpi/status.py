"""What one execution is worth (sections 3.3.2 and 3.5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from pgasrob.races.mpi.actions import Action, Execution
from pgasrob.races.mpi.conflicts import Exposed, conflicts
from pgasrob.races.mpi.consistency import Orders
from pgasrob.races.mpi.findings import MemoryModel, Misuse, ModelRace
from pgasrob.races.mpi.validity import misuses


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
    """G10: a load that polls, and what another rank puts or accumulates there."""
    kinds = [(each.kind, each.polls, bool(each.writes)) for each in (race.first, race.second)]
    return ("load", True, False) in kinds and ("vac", False, True) in kinds


__all__ = ["Action", "Drawn", "judge"]
