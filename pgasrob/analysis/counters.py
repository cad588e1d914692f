"""Finds counters, cells that are only ever counted up, and guesses limits of their values.

An interval that grows at every pass of a loop ends at the bound of its type, and if the number may wrap around, it may
be anything. But a loop that draws tickets ends when one is drawn for which there is no work, or when a compare_swap
succeeds: from some value on, each rank counts at most once. Then a counter exceeds that value by at most one step for
every rank. `ranges` starts from such limits as guesses, and keeps those that its result confirms
(`proofs/reductions.md`, section 9).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from pgasrob.analysis.intervals import Interval
from pgasrob.program import core
from pgasrob.program.core import Form
from pgasrob.program.expressions import INT32, RELATIONS, Binary, Const, Expr, IntType, Register, constant, parts
from pgasrob.program.instance import Instance
from pgasrob.program.statements import Span

MOST_LIMITS = 4
"""Guesses for each counter of the value from which on a rank counts at most once."""
MOST_COMMANDS, MOST_COUNTERS = 5_000, 16
"""Commands of all ranks, and counters, up to which limits are looked for."""
MOST_VALUES = 4_096
"""Values, for all ranks together, with which `ranges` tries out what a rank does after it has counted."""


GREATEST = INT32.range[1]
"""The greatest number that a counter may reach."""


class KnownCell(NamedTuple):
    """A cell of some rank that is known from the text."""

    rank: int
    address: int


def known_cell(place: core.Place) -> KnownCell | None:
    """The cell that ``place`` is for every rank; None where the text does not say so."""
    rank, address = None if place.rank is None else constant(place.rank), constant(place.address)
    return None if rank is None or address is None else KnownCell(rank, address)


class Counting(NamedTuple):
    """A command that counts: by how much, and the register that gets the old value; ``expected`` of a compare_swap, and
    with what the old value is compared where no register gets it."""

    address: int
    step: int
    register: int | None
    expected: Expr | None = None
    tested: int | None = None


class Limit(NamedTuple):
    """A guess about a counter: from the value ``once`` on each rank counts at most once, so none exceeds ``most``.

    Where no command counts twice both are the greatest value that it comes to, and nothing is claimed of ranks."""

    once: int
    most: int


Limits = Mapping[int, Limit]
"""Limits of counters by their addresses."""


def counting(form: Form) -> Counting | None:
    """What a counting command counts; None for others. It adds a positive constant, or replaces x by x plus one."""
    if not isinstance(form, core.Immediate) or form.update is None or form.update.operand is None:
        return None
    address, update, operand = constant(form.access.cell.address), form.update, form.update.operand
    tested = form.condition is not None and not (core.is_swap(form) or form.access.counts)
    if address is None or tested or not is_wide(update.type):
        return None
    step: int | None = None
    match update.operation, operand:
        case "add", _:
            step = constant(operand)
        case "compare_swap", Binary("+", left, right, type) if left == update.expected and is_wide(type):
            step = constant(right)
        case "compare_swap", Const(value) if isinstance(update.expected, Const):
            step = value - update.expected.value
    if step is None or step <= 0:
        return None
    expected = update.expected if update.operation == "compare_swap" else None
    return Counting(address, step, form.register, expected, form.access.tests[0] if form.access.counts else None)


def is_wide(type: IntType) -> bool:
    """Whether no number up to :data:`GREATEST` wraps around."""
    return type.signed and type.bits >= INT32.bits


def guesses(instance: Instance, initial: list[Interval]) -> dict[int, list[Limit]]:
    """Limits to try, by addresses of what may be counters, the smallest first; ``initial``: what their cells hold.

    Empty for programs with so many commands or counters that guessing would take long.
    """
    if instance.commands > MOST_COMMANDS:
        return {}
    forms = list(instance.forms)
    found: dict[int, list[Counting]] = {}
    for form in forms:
        # An address outside of memory is no counter: whether a rank comes to that fault is for the search to say.
        if (counts := counting(form)) is not None and 0 <= counts.address < len(initial):
            found.setdefault(counts.address, []).append(counts)
    if not 0 < len(found) <= MOST_COUNTERS:
        return {}
    for form in forms:
        if counting(form) is None:
            for access in core.accesses_of(form):
                address = constant(access.cell.address)
                if access.writes and address is not None:
                    found.pop(address, None)
    compared: dict[int, set[int]] = {}
    for form in forms:
        for register, value in _compared(form):
            compared.setdefault(register, set()).update((value, value + 1))
    once = _counted_once(instance, found)
    return {
        address: [Limit(most, most) for most in (initial[address][1] + once[address],) if most <= GREATEST]
        if address in once
        else _limits(instance, initial[address], counted, compared)
        for address, counted in found.items()
    }


def _counted_once(instance: Instance, addresses: Collection[int]) -> dict[int, int]:
    """For those of the counters that no command counts twice by how much the cell of a rank is counted up at most."""
    totals = {address: [0] * instance.nodes for address in addresses}
    for rank, automaton in enumerate(instance.automata):
        for goes_round, leaving in zip(automaton.goes_round, automaton.out, strict=True):
            counted = set[Span]()
            for transition in leaving:
                counts = counting(transition.form)
                if counts is None or counts.address not in totals:
                    continue
                if counts.tested is not None and transition.span in counted:
                    continue  # the other outcome of one add
                counted.add(transition.span)
                if goes_round:
                    del totals[counts.address]
                    continue
                assert isinstance(transition.form, core.Immediate)
                owner = transition.form.access.cell.rank
                at = instance.home[rank] if owner is None else constant(owner)
                total = totals[counts.address]
                for each in range(instance.nodes) if at is None else [at] if 0 <= at < instance.nodes else []:
                    total[each] += counts.step
    return {address: max(total) for address, total in totals.items()}


def _limits(
    instance: Instance, initial: Interval, counted: list[Counting], compared: dict[int, set[int]]
) -> list[Limit]:
    step = max(each.step for each in counted)
    values = (compared.get(each.register, set()) for each in counted if each.register is not None)
    compared_with = {each.tested + more for each in counted if each.tested is not None for more in (0, 1)}
    greater = sorted(value for value in compared_with.union(*values) if value > initial[1])
    limits = [
        Limit(once, max(initial[1], once - 1 + step if once > initial[0] else initial[1]) + instance.processes * step)
        for once in (initial[0], *greater[: MOST_LIMITS - 1])
    ]
    most = MOST_VALUES // instance.processes
    return [limit for limit in limits if limit.most <= GREATEST and limit.most - limit.once < most]


def _compared(form: Form) -> Iterator[tuple[int, int]]:
    """Pairs of a register and a constant that a condition compares it with."""
    if isinstance(form, core.Test):
        for part in parts(form.condition):
            match part:
                case Binary(symbol, Register(_, index), Const(value)) | Binary(
                    symbol, Const(value), Register(_, index)
                ):
                    if symbol in RELATIONS:
                        yield index, value
