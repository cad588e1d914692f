"""What decides besides cells, reads and writes whether two accesses race: atomicity, bytes, waiting, made-up memory.

These are facts of commands and memory objects, and no engine of robustness asks for them.
"""

from __future__ import annotations

from typing import NamedTuple, assert_never

from pgasrob.program import commands, core
from pgasrob.program.commands import Command
from pgasrob.program.control import Transition
from pgasrob.program.declarations import Declared

DEFAULT_TYPE = "int"
"""The type that atomics are in where nothing else is said."""


class Fact(NamedTuple):
    """What is to be known of one access.

    ``atomic``: the type that it is atomic in, "" for a plain one. ``by``: where atomics of one type exclude each other
    only when they do the same to the cell, what this one does; "" for one that all of its type exclude. ``bytes``: the
    first byte of its cell that it touches and the one after the last; None: the whole cell. ``waits``: it is an await,
    or a read in a polling loop, and so is about the value that comes.
    """

    atomic: str = ""
    by: str = ""
    bytes: tuple[int, int] | None = None
    waits: bool = False


def facts_of(transition: Transition) -> tuple[Fact, ...]:
    """One fact for each of ``core.accesses_of(transition.form)``, in their order."""
    form = transition.form
    facts = command_facts(transition.command)
    if isinstance(form, core.Immediate) and form.until is not None:
        return tuple(fact._replace(waits=True) for fact in facts)
    return facts


def command_facts(command: Command) -> tuple[Fact, ...]:
    """One fact for each of ``core.accesses_of(core.lower(command))``, in their order.

    Atomic is the target side of atomics, notifications and signals, and so are awaits; their local sides, and all that
    loads, stores and transfers access, are plain.
    """
    accesses = core.accesses_of(core.lower(command))
    match command:
        case commands.Load() | commands.Store() | commands.Read() | commands.Write() | commands.Put():
            return (Fact(),) * len(accesses)
        case commands.Await() | commands.AwaitAdd():
            return (Fact(DEFAULT_TYPE, waits=True),)
        case commands.Fetch() | commands.FetchUpdate() | commands.FetchAdd() | commands.Swap() | commands.CompareSwap():
            return (Fact(DEFAULT_TYPE),)
        case commands.Update() | commands.UpdateFrom() | commands.Notify() | commands.Signal():
            # The target is the only side for which they name a rank.
            return tuple(Fact() if made.cell.rank is None else Fact(DEFAULT_TYPE) for made in accesses)
        case (
            commands.Assign()
            | commands.Assume()
            | commands.Assert()
            | commands.Bundle()
            | commands.Barrier()
            | commands.Exit()
            | commands.Wait()
            | commands.WaitLocal()
            | commands.Fence()
        ):
            return ()
        case _:
            assert_never(command)


def atomic_together(one: Fact, other: Fact) -> bool:
    """Whether two accesses to a cell exclude each other, whatever they do to it."""
    return bool(one.atomic) and one.atomic == other.atomic and (one.by == other.by or not (one.by and other.by))


def overlap(one: Fact, other: Fact) -> bool:
    """Whether two accesses to a cell touch a byte of it both."""
    if one.bytes is None or other.bytes is None:
        return True
    return max(one.bytes[0], other.bytes[0]) < min(one.bytes[1], other.bytes[1])


def made_up(program: Declared) -> frozenset[int]:
    """The addresses, on each node, of the cells that stand for something within a library. They never race."""
    return frozenset(
        address
        for memory in program.memory
        if memory.made_up
        for address in range(memory.address, memory.address + memory.cells)
    )
