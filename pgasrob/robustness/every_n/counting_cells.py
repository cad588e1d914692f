"""Cells to which each rank only adds, and not for ever, so that they do not wrap around (`proofs/every-n.md`, section
2).

    t <- fetch_add(0, ticket, 1)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from pgasrob.program import core
from pgasrob.program.expressions import INT32
from pgasrob.program.graphs import components
from pgasrob.robustness.every_n.flow import Flow
from pgasrob.robustness.every_n.linear import Linear, Value, number


class _Adding(NamedTuple):
    """A command may write to one of ``slots``. ``most``: what one rank adds there by it at most, in all; None where it
    does something else, or goes on for ever."""

    slots: tuple[int, ...]
    most: int | None


def with_counting_cells(flow_with: Callable[[Mapping[int, Value]], Flow], most: int) -> Flow:
    """The flow in which it is known what such cells hold on at most ``most`` nodes, of those that ``flow_with`` finds
    where it is known what some slots hold.

    The cells are guessed. That nothing else is written to them is known from the values in the flow that rests on it.
    """
    flow = flow_with({})
    domain = flow.ranks[0].name.domain
    guessed = _counting(flow, most, alone=True)
    guessed = {slot: value for slot, value in guessed.items() if not domain.always(flow.memory[slot][1], value[1])}
    while guessed:
        found = flow_with(guessed)
        known = _counting(found, most)
        right = {slot: value for slot, value in guessed.items() if slot in known and known[slot][1].n <= value[1].n}
        if right == guessed:
            return found
        guessed = right
    return flow


def _counting(flow: Flow, most: int, alone: bool = False) -> Mapping[int, Value]:
    """By slots what cells hold to which ranks only add; ``alone``: by commands that write to no other cell."""
    added: dict[int, int] = {}
    others: set[int] = set()
    for rank in range(len(flow.ranks)):
        of: dict[int, int] = {}
        for slots, each in _commands(flow, rank):
            if len(slots) == 1 and each is not None:
                of[slots[0]] = of.get(slots[0], 0) + each
            elif not alone or len(slots) == 1:
                others.update(slots)
        for slot, each in of.items():
            added[slot] = max(added.get(slot, 0), each)
    found: dict[int, Value] = {}
    for slot, each in added.items():
        first = flow.initial[slot]
        if slot not in others and slot < flow.layout.cells and 0 <= first <= INT32.range[1] - each * most:
            found[slot] = number(first), Linear(n=each, c=first)
    return found


def _commands(flow: Flow, rank: int) -> Iterator[_Adding]:
    """What the commands of a rank may write to."""
    out = flow.ranks[rank].automaton.out
    of = components([[each.target for each in leaving] for leaving in out])
    for state, leaving in enumerate(out):
        for each in leaving if flow.files[rank][state] is not None else ():
            most = _added_once(flow, rank, state, each.form)
            if most and of[state] == of[each.target]:
                most = None
            for access in core.accesses_of(each.form):
                if access.writes:
                    yield _Adding(tuple(flow.slots(rank, state, access.cell.address)), most)


def _added_once(flow: Flow, rank: int, state: int, form: core.Form) -> int | None:
    """How much a command adds to the only cell that it writes to; None where it does something else."""
    match form:
        case core.Immediate(update=core.Update("add", operand, None, type)):
            pass
        case core.Transfer(update=core.Update("add", operand, None, type), steps=(_,)):
            pass
        case _:
            return None
    value = None if operand is None or type.bits < INT32.bits else flow.operand(rank, state, operand)
    if value is None:
        return None
    low, high = flow.values[rank].domain.span(value)
    return high if low >= 0 and high <= INT32.range[1] else None
