"""Facts that decide whether two conflicting accesses race: atomicity, bytes, waiting, memory that a library made up.

These are facts of commands and memory objects, and no engine of robustness asks for them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import product
from typing import NamedTuple

from pgasrob.program import core
from pgasrob.program.certain import FALSE
from pgasrob.program.commands import BY, Accessing, Await, Command, Fetch, Load
from pgasrob.program.control import Transition
from pgasrob.program.declarations import Declared
from pgasrob.program.expressions import Binary, Const, Expr, Unary, registers_of, rewritten
from pgasrob.program.instance import Instance
from pgasrob.program.walks import back_at
from pgasrob.semantics.race import RacingAccess

LEFT_OPEN = "compare_swap"
"""What MPI-4.1 does not say of: `accumulate_ops` (12.2.1) is about the operation of an accumulate, and
MPI_Compare_and_swap has none."""
PROMISED = (
    (re.compile("MPI_"), "MPI-4.1, 12.7.1, and `accumulate_ops` in 12.2.1"),
    (re.compile(r".* by signal\b"), "OpenSHMEM 1.5, Atomicity Guarantees for Signaling Operations"),
    (re.compile(r".* by (rmw|accumulate)\b"), "ARMCI promises it among accumulates, and among calls of ARMCI_Rmw"),
)
"""Where specifications say which atomics exclude each other, by what a race says of an access."""
MOST_ATOMS = 10
"""Conditions of which a poll is made up to which it is looked at what they are together."""


class Fact(NamedTuple):
    """What is to be known of one access.

    ``atomic``: the type that it is atomic in, "" for a plain one. ``by``: where it is only promised of atomics that do
    the same to the cell that they exclude each other, what this one does; "" for one that excludes all of its type.
    ``bytes``: the first byte of its cell that it touches and the one after the last; None: the whole cell. ``waits``:
    it is an await, or a read in a polling loop, which does nothing but look for a value that comes. ``looks``: a call
    that looks once whether one has come (`shmem_test`), as far as it is its rank's own memory; so is an atomic read.
    """

    atomic: str = ""
    by: str = ""
    bytes: tuple[int, int] | None = None
    waits: bool = False
    looks: bool = False


def facts_of(transition: Transition) -> tuple[Fact, ...]:
    """One fact for each of ``core.accesses_of(transition.form)``, in their order."""
    form = transition.form
    facts = command_facts(transition.command)
    if isinstance(form, core.Immediate) and form.until is not None and _looks_for_a_value(form):
        return tuple(fact._replace(waits=True) for fact in facts)
    return facts


def _looks_for_a_value(form: core.Immediate[core.Place, Expr]) -> bool:
    """Whether it depends on the value that a read brings if it fails, or it always fails.

    A loop that goes over an array comes back with another counter: its reads have conditions (`program.polls`), but
    none that a value decides. So registers that the loop sets are taken to change. Where that is wrong, or there is too
    much to look at, a poll is not taken for a wait, which shows races that are none, and hides none.
    """
    assert form.until is not None
    holds = rewritten(form.until.holds, lambda expr: FALSE if _comes_back(expr) else None)
    atoms = [*dict.fromkeys(_atoms(holds))]
    decided = [place for place, atom in enumerate(atoms) if form.register in registers_of(atom)]
    if len(atoms) > MOST_ATOMS:
        return False
    comes = False
    for truths in product((False, True), repeat=len(atoms)):
        known = dict(zip(atoms, truths, strict=True))
        if _holds(holds, known):
            comes = True
            continue
        for others in product((False, True), repeat=len(decided)):
            if _holds(holds, known | dict(zip((atoms[place] for place in decided), others, strict=True))):
                return True
    return not comes


def _comes_back(expr: Expr) -> bool:
    """Whether the condition says that a register is set to the value that it has (`Walks.agree`)."""
    return isinstance(expr, Binary) and expr.operator == "==" and expr.right == back_at(expr.right) != expr.left


def _atoms(expr: Expr) -> Iterator[Expr]:
    """The conditions that ``expr`` is made of by &&, || and !."""
    match expr:
        case Unary("!", operand):
            yield from _atoms(operand)
        case Binary("&&" | "||", left, right):
            yield from _atoms(left)
            yield from _atoms(right)
        case Const():
            return
        case _:
            yield expr


def _holds(expr: Expr, truths: Mapping[Expr, bool]) -> bool:
    match expr:
        case Const(value):
            return bool(value)
        case Unary("!", operand):
            return not _holds(operand, truths)
        case Binary("&&", left, right):
            return _holds(left, truths) and _holds(right, truths)
        case Binary("||", left, right):
            return _holds(left, truths) or _holds(right, truths)
    return truths[expr]


def command_facts(command: Command) -> tuple[Fact, ...]:
    """One fact for each of ``core.accesses_of(core.lower(command))``, in their order.

    Atomic is the target side of what says so (:class:`~pgasrob.program.commands.Accessing`); all else is plain, the
    local sides of atomics and of transfers too.
    """
    if not isinstance(command, Accessing):
        return ()
    type, _, by = command.atomic.partition(f" {BY} ")
    waits = isinstance(command, Await) or (isinstance(command, Load) and command.polling)
    looks = isinstance(command, Load | Fetch) and bool(command.atomic)
    form = core.lower(command)
    made = core.accesses_of(form)
    return tuple(
        Fact(type, by, bytes, waits, looks)
        if isinstance(form, core.Immediate) or access.cell.rank is not None
        else Fact(bytes=bytes)
        for access, bytes in zip(made, command.bytes or (None,) * len(made), strict=True)
    )


def atomic_together(one: Fact, other: Fact, strict: bool = False) -> bool:
    """Whether two accesses to a cell exclude each other, as atomics of one type do.

    Where specifications promise it only of what does the same, that has to be the same, or the words of one have to
    begin those of the other. ``strict``: also where they leave open whether they do.
    """
    if not one.atomic or one.atomic != other.atomic:
        return False
    if not strict and LEFT_OPEN in (one.by, other.by):
        return True
    return all(mine == its for mine, its in zip(one.by.split(), other.by.split(), strict=False))


def not_excluding(one: RacingAccess, other: RacingAccess) -> str | None:
    """What is wrong with a race of two atomics by which an update may be lost, as one of them reads and both write:
    that nothing promises that they exclude each other. None for another race."""
    both_write = "write" in one.access and "write" in other.access
    if not (one.atomic and other.atomic and both_write and "read and write" in (one.access, other.access)):
        return None
    type, _, by = one.atomic.partition(f" {BY} ")
    other_type, _, other_by = other.atomic.partition(f" {BY} ")
    named = (
        f"atomics of {type} by {by} and by {other_by}"
        if type == other_type
        else f"atomics of {type} and of {other_type}"
    )
    section = next((where for atomic, where in PROMISED if atomic.match(one.atomic) or atomic.match(other.atomic)), "")
    where = f" ({section})" if section else ""
    return f"{named} need not exclude each other{where}, so that one may be lost"


def overlap(one: Fact, other: Fact) -> bool:
    """Whether two accesses to a cell touch a common byte of it."""
    if one.bytes is None or other.bytes is None:
        return True
    return max(one.bytes[0], other.bytes[0]) < min(one.bytes[1], other.bytes[1])


def updates_may_race(instance: Instance, strict: bool) -> bool:
    """Whether there are updates that commute and do not exclude each other: MPI_SUM on MPI_INT and on MPI_UNSIGNED.
    ``strict`` is as of :func:`atomic_together`.

    To happens-before such have no conflict. Who looks for races has to read `instance` with all conflicts then.
    """
    facts: dict[str, set[Fact]] = {}
    for automaton in instance.automata:
        for transition in automaton.transitions:
            for made, fact in zip(core.accesses_of(transition.form), facts_of(transition), strict=True):
                if made.commutes:
                    facts.setdefault(made.commutes, set()).add(fact)
    return any(
        overlap(one, other) and not atomic_together(one, other, strict)
        for alike in facts.values()
        for one in alike
        for other in alike
    )


def made_up(program: Declared) -> frozenset[int]:
    """The addresses, on each node, of the cells that stand for something within a library. They never race."""
    return frozenset(
        address
        for memory in program.memory
        if memory.made_up
        for address in range(memory.address, memory.address + memory.cells)
    )
