"""What MPI's opaque values stand for: communicators, groups, windows; and arguments that may be unknown.

A communicator is its key and its members (and its grid, if it has one), a group its members, a window its key and its
members.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import lru_cache
from itertools import product
from typing import cast

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.apis.call_arguments import no_handle
from pgasrob.frontends.apis.call_steps import NotAllowed, Steps
from pgasrob.frontends.apis.flags import Group, Key
from pgasrob.frontends.apis.interface import Call, Outcome
from pgasrob.frontends.apis.mpi import rules
from pgasrob.frontends.apis.mpi.header import IN_PLACE, PROC_NULL
from pgasrob.frontends.c.symbolic import EVERYONE
from pgasrob.frontends.c.values import NULL, Address, Handle, Known
from pgasrob.program.commands import Assign, Assume, Fetch
from pgasrob.program.expressions import Binary, Const, Expr

MOST_CASES = 256
"""The most values of unknown ranks and displacements at one call: each is an outcome."""

NAMED = "mpi.named"
"""Key of the note that the rank has named a communicator or window."""
SUCCESS = Known(0)


def handle(call: Call, index: int, kind: str) -> Handle:
    """The opaque value of that ``kind`` in argument ``index``."""
    value = call.arguments[index]
    if value == NULL:
        why = f"argument {index + 1} of {call.name} is MPI_{kind.upper()}_NULL"
        raise NotAllowed(rules.NULL_HANDLE, why)
    if not isinstance(value, Handle) or value.kind != kind:
        call.fail(
            no_handle(value),
            f"argument {index + 1} of {call.name} is not a known {kind} here",
            f"a {kind} has to be the same in every run of a rank, made before it is used",
        )
    return value


# Communicators and groups


def communicator(call: Call, index: int) -> Group:
    """The members of a communicator, of which this rank is one."""
    data = handle(call, index, "comm").data
    if data == ("world",):
        return Group(("mpi", "world"), call.everyone)
    if data == ("self",):
        return Group(("mpi", "self", call.rank), (call.rank,))
    key, members, *_ = data
    assert isinstance(key, tuple)
    return group_of(("mpi", *key), members)


def group_of(key: object, members: object) -> Group:
    """The group whose key and members a handle holds."""
    assert isinstance(key, tuple) and isinstance(members, tuple)
    return Group(key_of(key), ranks(members))


def grid_of(call: Call, index: int) -> tuple[tuple[int, int], ...] | None:
    """The grid of a communicator: the length of each dimension, and 1 where it is periodic. None where it has none."""
    _, *rest = handle(call, index, "comm").data
    return cast("tuple[tuple[int, int], ...]", rest[1]) if len(rest) == 2 else None


def group(call: Call, index: int) -> tuple[int, ...]:
    """The members of the group in argument ``index``."""
    (members,) = handle(call, index, "group").data
    assert isinstance(members, tuple)
    return ranks(members)


def key_of(parts: tuple[object, ...]) -> Key:
    return tuple(part for part in parts if isinstance(part, int | str))


def ranks(members: tuple[object, ...]) -> tuple[int, ...]:
    return EVERYONE if members is EVERYONE else _numbers(members)


@lru_cache(maxsize=100)
def _numbers(members: tuple[object, ...]) -> tuple[int, ...]:
    """The same numbers; the ranks of a large program ask for it in turn."""
    return tuple(member for member in members if isinstance(member, int))


# Facts of other ranks

MOST_RUNS = 16
"""How many times the machine runs before a fact counts as missing."""


def published(call: Call, rank: int, key: str, what: str) -> Hashable | None:
    """What ``rank`` has published under ``key``; None while the machine will run again. ``what`` it is, for the error
    when it is never published.

    A missing fact is published as well, so that no run in which one is missing is the last one.
    """
    fact = call.published(rank, key)
    if fact is None:
        missed = call.published_here(f"{key}.missed.{rank}") or 0
        assert isinstance(missed, int)
        if missed == MOST_RUNS:
            call.fail(
                Wrong.ARGUMENT,
                f"{call.name} needs {what} of rank {rank}, which has not been made there",
                "call it on all ranks",
            )
        call.publish(f"{key}.missed.{rank}", missed + 1)
    return fact


# Arguments


def pointer(call: Call, index: int) -> Address:
    """The buffer or variable that argument ``index`` points to, which has to be there."""
    address = None if call.arguments[index] == IN_PLACE else call.pointer(index)
    if address is None:
        call.fail(
            Wrong.POINTER, f"argument {index + 1} of {call.name} is not a buffer", "pass the address of an object"
        )
    return address


def in_place(call: Call, index: int) -> bool:
    return call.arguments[index] == IN_PLACE


def split(
    call: Call, arguments: Mapping[int, Sequence[int]], handler: Callable[[Steps, Mapping[int, int | Expr]], None]
) -> list[Outcome]:
    """The outcomes of a call with integer ``arguments`` that need not be known: one for each of the values that they
    may have, which it assumes, and a fault for any other. ``handler`` adds what the call does with these values.

    Where the number of ranks is not known, a rank stays the expression that it is.
    """
    for index, within in arguments.items():
        call.try_each(index)
        value = call.arguments[index]
        # Displacements are checked where the window of the target is known.
        if isinstance(value, Known) and within is not ANY_RANK and PROC_NULL in within and value.value not in within:
            call.fail(Wrong.RANK, f"{call.name} with rank {value.value} of {len(within) - 1}", "ranks count from 0")
    possible = {index: _possible(call, index, within) for index, within in arguments.items()}
    cases = list(product(*possible.values()))
    if len(cases) > MOST_CASES:
        call.fail(
            Wrong.SIZE_LIMIT,
            f"the arguments of {call.name} may have any of {len(cases)} values here",
            "compute them from ranks and constants, or use a smaller window",
        )
    outcomes = []
    for case in cases:
        steps, values = Steps(call), dict(zip(possible, case, strict=True))
        for index, number in values.items():
            if isinstance(number, int) and not isinstance(call.arguments[index], Known):
                steps.do(Assume(Binary("==", call.expression(index), Const(number))))
            elif not isinstance(number, int) and len(possible[index]) > 1:
                steps.do(Assume(Binary("!=", number, Const(PROC_NULL))))
            if arguments[index] is ANY_RANK and number != PROC_NULL:
                steps.do(_fault_unless_rank(call, Const(number) if isinstance(number, int) else number))
        handler(steps, values)
        outcomes.append(steps.outcome(SUCCESS))
    unknown = [
        index
        for index, within in arguments.items()
        if within is not ANY_RANK and not isinstance(call.arguments[index], Known)
    ]
    return [*outcomes, *(outside(call, index, arguments[index]) for index in unknown)]


def _fault_unless_rank(call: Call, number: Expr) -> Assign:
    """A command without effect that faults if there is no rank ``number``. Not every call has commands that name it."""
    there = Binary("&&", Binary(">=", number, Const(0)), Binary("<", number, call.count))
    return Assign(call.register("there"), Binary("/", Const(1), there))


ANY_RANK: Sequence[int] = range(0)
"""All ranks and MPI_PROC_NULL, where the number of ranks is not known."""


def _possible(call: Call, index: int, within: Sequence[int]) -> list[int | Expr]:
    value = call.arguments[index]
    if isinstance(value, Known):
        return [value.value]
    if within is not ANY_RANK:
        return list(within)
    # A command faults that has no such rank.
    return [call.expression(index), *([PROC_NULL] if call.may_be(index, PROC_NULL) else [])]


def places(group: Group) -> Sequence[int]:
    """The ranks that may be targets: those of a group, and MPI_PROC_NULL."""
    if group.members is EVERYONE:
        return ANY_RANK
    return [*range(len(group.members)), PROC_NULL]


def outside(call: Call, index: int, values: Sequence[int]) -> Outcome:
    """The outcome for an argument that has none of ``values``: a fault, by an access to a rank or a cell that does not
    exist."""
    of_all = PROC_NULL in values and set(values) == {*range(call.nodes), PROC_NULL}
    if of_all:
        rank, cell = call.expression(index), cast(Expr, Const(0))
    elif PROC_NULL in values:
        rank, cell = call.me, call.nowhere(f"{call.name} with a rank that is not there", Wrong.RANK)
    else:
        rank, cell = (
            call.me,
            call.nowhere(f"argument {index + 1} of {call.name} has a value that it may not have"),
        )
    fault = Fetch(call.register("outside"), rank, cell)
    conditions = [Assume(Binary("!=", call.expression(index), Const(value))) for value in values]
    return Outcome(call.do(*conditions, fault), SUCCESS)
