"""Which actions conflict (section 3.3.1)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from pgasrob.program.core import Cell
from pgasrob.races.mpi.actions import Action, Edge, Execution, Place
from pgasrob.races.mpi.findings import MemoryModel

Exposed = Mapping[tuple[str, int], frozenset[Cell]]
"""The cells that a rank has in a window."""


def conflicts(execution: Execution, model: MemoryModel, exposed: Exposed) -> Iterator[Edge]:
    """The pairs of conflicting actions, the earlier number first."""
    at: dict[Place, list[Action]] = defaultdict(list)
    found: set[Edge] = set()
    for action in execution.actions:
        for place in action.places:
            for other in at[place]:
                if (other.number, action.number) not in found and _conflict(other, action, place):
                    found.add((other.number, action.number))
            at[place].append(action)
    if model == "separate":
        found |= set(_anywhere(execution, exposed))
    return iter(sorted(found))


def _conflict(one: Action, other: Action, place: Place) -> bool:
    """Whether two accesses to ``place`` conflict, at least one of which has to write (D4)."""
    if one.group == other.group or not (place in one.writes or place in other.writes):
        return False
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
