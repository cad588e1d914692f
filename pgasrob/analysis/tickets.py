"""Finds accesses to slots that counters give out: two ranks that took a number of one counter have different numbers.

A fetch_add of a counter that is only ever increased, and cannot wrap around, gives each number once, and so does a
compare_swap from a number to a greater one that succeeds. So what a rank puts where its own number says (`slot + r`) is
never where another rank puts by a number of the same counter, although by ranges both may be any slot. The proof is in
`proofs/reductions.md`, section 2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pgasrob.analysis.counters import counting
from pgasrob.analysis.ranges import ranges
from pgasrob.analysis.remembered import remembered
from pgasrob.program import core
from pgasrob.program.control import Transition
from pgasrob.program.core import Cell, Form
from pgasrob.program.expressions import INT32, Binary, Conditional, Const, Expr, IntType, Register, Unary, constant
from pgasrob.program.graphs import reached
from pgasrob.program.instance import Instance

GREATEST = INT32.range[1]


class Numbered(NamedTuple):
    """The value ``factor`` * n + ``offset`` for a number n that the counter in the cell ``counter`` gave out."""

    counter: Cell
    factor: int
    offset: int


class Taken(NamedTuple):
    """A value that is ``number`` for the number that the rank took when it last left one of the control states ``at``;
    if there are none, at some time before. ``sets``: whether the register gets another value whenever it leaves one."""

    number: Numbered
    at: frozenset[int]
    sets: bool = True


class Swapped(NamedTuple):
    """A register that holds what a compare_swap of the cell ``counter`` has found, and one with what it expected: if
    they are equal, that is a number which the counter gave out, ``at`` as in :class:`Taken`."""

    found: int
    expected: int
    counter: Cell
    at: frozenset[int]


class Numbers(NamedTuple):
    """What registers hold: numbers of counters by the register, and what compare_swaps have found."""

    given: Mapping[int, Taken]
    swapped: frozenset[Swapped]


NONE = Numbers({}, frozenset())
Place = tuple[int, int, int]
"""A rank, one of its control states, and the occurrence of a command that leaves it."""


@remembered
def numbered_accesses(instance: Instance) -> dict[Place, tuple[Taken | None, ...]]:
    """For each command with an access to an address that is made of a number which its rank took, what the address of
    each access is, in their order; None of other addresses."""
    found: dict[Place, tuple[Taken | None, ...]] = {}
    counters = {} if instance.has_threads else _counters(instance)
    if counters:
        for rank in range(instance.nodes):
            for state, numbers in enumerate(_held(instance, counters, rank)):
                for transition in instance.automata[rank].out[state] if numbers.given else ():
                    places = (access.cell for access in core.accesses_of(transition.form))
                    made = tuple(_value(place.address, numbers, counters) for place in places)
                    if any(made):
                        found[rank, state, transition.occurrence] = made
    return found


def _added(form: Form) -> int | None:
    """What a command adds to a cell in one event, if it does, and that is a positive constant."""
    if (counts := counting(form)) is not None and counts.expected is not None:
        return counts.step
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
    held[0], work = NONE, [0]
    while work:
        state = work.pop()
        numbers = held[state] or NONE
        for transition in out[state]:
            after, before = _after(instance, counters, (rank, state), transition, numbers), held[transition.target]
            met = after if before is None else _on_both_ways(before, after)
            if met != before:
                held[transition.target] = met
                work.append(transition.target)
    return [numbers or NONE for numbers in held]


def _on_both_ways(one: Numbers, other: Numbers) -> Numbers:
    given: dict[int, Taken] = {}
    for each, taken in one.given.items():
        its = other.given.get(each)
        if its is not None and its.number == taken.number:
            known = taken.at and its.at and taken.sets and its.sets
            at = taken.at if taken == its else taken.at | its.at if known else frozenset[int]()
            given[each] = Taken(taken.number, at, taken.sets and its.sets)
    return Numbers(given, one.swapped & other.swapped)


def taken_anew(instance: Instance, one: tuple[Place, Taken], other: tuple[Place, Taken]) -> bool:
    """Whether a rank takes a number between two of its accesses that are numbered so, whichever comes first, each time:
    then their numbers are different ones."""
    return _taken_behind(instance, one, other) and _taken_behind(instance, other, one)


def _taken_behind(instance: Instance, first: tuple[Place, Taken], second: tuple[Place, Taken]) -> bool:
    """Whether the number of the ``second`` is taken behind the ``first`` on each way from there."""
    (rank, state, occurrence), _ = first
    (_, end, _), taken = second
    out = instance.automata[rank].out
    begins = {edge.target for edge in out[state] if edge.occurrence == occurrence}
    ways = reached(begins - taken.at, lambda each: [edge.target for edge in out[each] if edge.target not in taken.at])
    return bool(taken.at) and end not in ways


def _after(
    instance: Instance, counters: Mapping[Cell, int], at: tuple[int, int], transition: Transition, numbers: Numbers
) -> Numbers:
    """``numbers`` after a command that leaves ``at``, a rank and its control state."""
    form = transition.form
    register = core.register_set(form)
    if register is None:
        own = {
            each: Taken(Numbered(swapped.counter, 1, 0), swapped.at, sets=each == swapped.found)
            for swapped in numbers.swapped
            if isinstance(form, core.Test) and form.blocks and _says_equal(form.condition, swapped)
            for each in (swapped.found, swapped.expected)
        }
        return numbers._replace(given={**numbers.given, **own}) if own else numbers
    given = {
        each: taken._replace(at=frozenset()) if at[1] in taken.at else taken
        for each, taken in numbers.given.items()
        if each != register
    }
    swapped = frozenset(each for each in numbers.swapped if register not in (each.found, each.expected))
    leaving = instance.automata[at[0]].out[at[1]]
    here = frozenset({at[1]} if all(core.register_set(each.form) == register for each in leaving) else ())
    value: Taken | None = None
    if isinstance(form, core.Assign):
        made = _value(form.value, numbers, counters)
        value = None if made is None else made._replace(at=frozenset())
    elif isinstance(form, core.Immediate):
        touched = ranges(instance).touched(*at, transition)
        cell = touched.cells.bit_length() - 1
        expected = _expected(form)
        if touched.cells != 1 << max(cell, 0) or cell not in counters:
            pass
        elif expected is not None and expected != register:
            swapped |= {Swapped(register, expected, cell, here)}
        elif _added(form) is not None and form.update is not None and form.update.operation == "add":
            value = Taken(Numbered(cell, 1, 0), here)
    return Numbers(given if value is None else {**given, register: value}, swapped)


def _expected(form: core.Immediate[core.Place, Expr]) -> int | None:
    """The register with what a compare_swap expects, of one that fails as well."""
    if form.update is not None:
        expected = form.update.expected if form.update.operation == "compare_swap" else None
    else:
        expected = form.condition.value if form.condition is not None and form.condition.relation == "!=" else None
    return expected.index if isinstance(expected, Register) else None


def _says_equal(condition: Expr, swapped: Swapped) -> bool:
    """Whether ``condition`` holds only if the registers are equal."""
    match condition:
        case Binary("==", Register(_, one), Register(_, other), type):
            return {one, other} == {swapped.found, swapped.expected} and type.bits >= INT32.bits
        case Unary("!", Binary("!=", left, right, type)):
            return _says_equal(Binary("==", left, right, type), swapped)
        case _:
            return False


def _value(expr: Expr, numbers: Numbers, counters: Mapping[Cell, int]) -> Taken | None:
    """What ``expr`` is, if it is made of one number of a counter, and differs for different ones."""
    match expr:
        case Register(_, index):
            return numbers.given.get(index)
        case Binary("+" | "-" | "*" as operator, left, right, type):
            if operator != "-" and constant(left) is not None:
                left, right = right, left
            taken, value = _value(left, numbers, counters), constant(right)
            if taken is None or value is None or not _is_wide(type):
                return None
            number = taken.number
            if operator == "*":
                number = number._replace(factor=number.factor * value, offset=number.offset * value)
            else:
                number = number._replace(offset=number.offset + (value if operator == "+" else -value))
            # No sum wraps around on the way, so that different numbers have different values.
            greatest = number.factor * counters[number.counter] + abs(number.offset)
            return taken._replace(number=number) if number.factor > 0 and greatest <= GREATEST else None
        case Conditional(_, then, Const(outside)) if outside < 0:
            return _value(then, numbers, counters)  # else it is no address, and the command faults
        case _:
            return None
