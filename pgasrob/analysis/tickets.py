"""Finds accesses to slots that counters give out: two ranks that took a number of one counter have different numbers.

A fetch_add of a counter that is only ever increased, and cannot wrap around, gives each number once. So what a rank
puts where its own number says (`slot + r`) is never where another rank puts by a number of the same counter, although
by ranges both may be any slot. The proof is in `proofs/reductions.md`, section 2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pgasrob.analysis.ranges import ranges
from pgasrob.analysis.remembered import remembered
from pgasrob.program import core
from pgasrob.program.control import Transition
from pgasrob.program.core import Cell, Form
from pgasrob.program.expressions import INT32, Binary, Expr, IntType, Register, constant
from pgasrob.program.instance import Instance

GREATEST = INT32.range[1]


class Numbered(NamedTuple):
    """The value ``factor`` * n + ``offset`` for a number n that the counter in the cell ``counter`` gave out."""

    counter: Cell
    factor: int
    offset: int


Numbers = Mapping[int, Numbered]
"""The registers that hold numbers of counters."""
Place = tuple[int, int, int]
"""A rank, one of its control states, and the occurrence of a command that leaves it."""


@remembered
def numbered_accesses(instance: Instance) -> dict[Place, tuple[Numbered | None, ...]]:
    """For each command with an access to an address that is made of a number which its rank took, what the address of
    each access is, in their order; None of other addresses."""
    found: dict[Place, tuple[Numbered | None, ...]] = {}
    counters = {} if instance.has_threads else _counters(instance)
    if counters:
        for rank in range(instance.nodes):
            for state, numbers in enumerate(_held(instance, counters, rank)):
                for transition in instance.automata[rank].out[state] if numbers else ():
                    places = (access.cell for access in core.accesses_of(transition.form))
                    made = tuple(_value(place.address, numbers, counters) for place in places)
                    if any(made):
                        found[rank, state, transition.occurrence] = made
    return found


def _added(form: Form) -> int | None:
    """What a command adds to a cell in one event, if that is a positive constant."""
    if not isinstance(form, core.Immediate) or form.update is None or form.update.operation != "add":
        return None
    added = None if form.update.operand is None else constant(form.update.operand)
    return added if added is not None and added > 0 and _is_wide(form.update.type) else None


def _is_wide(type: IntType) -> bool:
    return type.signed and type.bits >= INT32.bits


def _counters(instance: Instance) -> dict[Cell, int]:
    """The cells that are counters, each with an upper bound of its values and of what is added to one."""
    known, total, others, repeated = ranges(instance), dict[Cell, int](), 0, 0
    for rank, automaton in enumerate(instance.automata):
        for state, leaving in enumerate(automaton.out):
            for transition in leaving:
                changed, added = known.touched(rank, state, transition).changed, _added(transition.form)
                if added is None or changed & changed - 1:
                    others |= changed
                elif changed:
                    cell = changed.bit_length() - 1
                    total[cell] = total.get(cell, 0) + added
                    repeated |= changed if automaton.goes_round[state] else 0
    found = {}
    for cell, added in total.items():
        # Where a command may be repeated, only the ranges know where that ends.
        most = added + (known.cell(cell)[1] if repeated >> cell & 1 else instance.memory[cell])
        if instance.memory[cell] >= 0 and most <= GREATEST and not others >> cell & 1:
            found[cell] = most
    return found


def _held(instance: Instance, counters: Mapping[Cell, int], rank: int) -> Sequence[Numbers]:
    """For each control state of ``rank`` the numbers that its registers hold on every way there."""
    out = instance.automata[rank].out
    held: list[Numbers | None] = [None] * len(out)
    held[0], work = {}, [0]
    while work:
        state = work.pop()
        numbers = held[state] or {}
        for transition in out[state]:
            after, before = _after(instance, counters, (rank, state), transition, numbers), held[transition.target]
            met = after if before is None else {each: after[each] for each in before if after.get(each) == before[each]}
            if met != before:
                held[transition.target] = met
                work.append(transition.target)
    return [numbers or {} for numbers in held]


def _after(
    instance: Instance, counters: Mapping[Cell, int], at: tuple[int, int], transition: Transition, numbers: Numbers
) -> Numbers:
    """``numbers`` after a command that leaves ``at``, a rank and its control state."""
    form = transition.form
    register = core.register_set(form)
    if register is None:
        return numbers
    changed = {each: number for each, number in numbers.items() if each != register}
    value: Numbered | None = None
    if isinstance(form, core.Assign):
        value = _value(form.value, numbers, counters)
    elif _added(form) is not None:
        cells = ranges(instance).touched(*at, transition).changed
        cell = cells.bit_length() - 1
        value = Numbered(cell, 1, 0) if cells and cells & cells - 1 == 0 and cell in counters else None
    return changed if value is None else {**changed, register: value}


def _value(expr: Expr, numbers: Numbers, counters: Mapping[Cell, int]) -> Numbered | None:
    """What ``expr`` is, if it is made of one number of a counter, and differs for different ones."""
    match expr:
        case Register(_, index):
            return numbers.get(index)
        case Binary("+" | "-" | "*" as operator, left, right, type):
            if operator != "-" and constant(left) is not None:
                left, right = right, left
            number, value = _value(left, numbers, counters), constant(right)
            if number is None or value is None or not _is_wide(type):
                return None
            if operator == "*":
                number = number._replace(factor=number.factor * value, offset=number.offset * value)
            else:
                number = number._replace(offset=number.offset + (value if operator == "+" else -value))
            # No sum wraps around on the way, so that different numbers have different values.
            greatest = number.factor * counters[number.counter] + abs(number.offset)
            return number if number.factor > 0 and greatest <= GREATEST else None
        case _:
            return None
