"""What calls do outside of the memory of ranks: to files, and to the terminal that all ranks write to.

A front end marks the calls that do (:class:`~pgasrob.program.commands.Mark`), where it is asked to.
:func:`with_places` makes accesses of the marks, to a cell for each place that may be another one, so that their order
across ranks is one of conflicting accesses.
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pgasrob.program.commands import Load, Mark, Store, expressions_of, map_expressions
from pgasrob.program.declarations import MemoryObject, Process
from pgasrob.program.expressions import Const, Register, Symbol
from pgasrob.program.program import Program
from pgasrob.program.statements import Do, place_of, statements_in
from pgasrob.program.variants import with_commands

TERMINAL = "the terminal"
ANY_FILE = "any file"
"""A file whose name is not known: it may be the same as any other."""
EVERYWHERE = (TERMINAL, ANY_FILE)
"""What a call may reach that starts another program."""


FIRST_UNKNOWN = 1_000_003
"""The first of the numbers for values that are not known; a program that has such a number itself may hide one."""


@dataclass(frozen=True, slots=True)
class Outside:
    """A call reads, or ``writes``, each of ``places``: `TERMINAL`, `ANY_FILE`, or the name of a file. ``joins``: from
    then on these may be names of one place, as after `rename` and `link`."""

    places: tuple[str, ...]
    writes: bool
    joins: bool = False


class Anything(Const):
    """A value that is not known, in a program with marks. What is made of it decides nothing, but it is seen who has
    stored it (:func:`with_places`)."""


ENDING = Outside(EVERYWHERE, writes=False)
"""A rank ends by a failure, and may end the run of the others: of what comes later something may be missing."""


@dataclass(frozen=True, slots=True)
class Place:
    """The cell ``address`` of rank 0 that stands for files which may be the same, or for the terminal."""

    name: str
    address: int


def with_places(program: Program, terminal: bool) -> tuple[Program, tuple[Place, ...]]:
    """``program``, on a fixed number of nodes, with accesses to cells in place of its marks, and these cells. There are
    none for what nobody writes, nor for the terminal unless that is asked for. Values that are not known are numbers
    that say where they were stored, so that to read one of them is not to read another."""
    facts = [
        statement.command.fact
        for process in program.processes
        for statement in statements_in(process.body)
        if isinstance(statement, Do) and isinstance(statement.command, Mark)
        if isinstance(statement.command.fact, Outside)
    ]
    names = {name for fact in facts for name in fact.places}
    joined = [frozenset(fact.places) for fact in facts if fact.joins]
    groups = [group for group in _groups(names, joined) if terminal or group != {TERMINAL}]
    written = [group for group in groups if any(fact.writes and _reached(fact, group) for fact in facts)]
    cells = [Place(_named(group), program.cells + number) for number, group in enumerate(written)]
    looked = Register("looked", len(program.registers))

    def accesses(statement: Do) -> Sequence[Do]:
        fact = statement.command.fact if isinstance(statement.command, Mark) else None
        if not isinstance(fact, Outside):
            return (statement,)
        found = []
        for group, cell in zip(written, cells, strict=True):
            if _reached(fact, group):
                symbol, owner = Symbol(cell.name, cell.address), Const(0)
                access = Store(symbol, Const(0), owner) if fact.writes else Load(looked, symbol, owner)
                found.append(replace(statement, command=access))
        return found or (statement,)

    memory = (MemoryObject(each.name, each.address, None, (0,), made_up=True) for each in cells)
    with_cells = replace(
        _with_numbers(program),
        uncertain=(),
        memory=(*program.memory, *memory),
        registers=(*program.registers, looked.name),
        variables={**program.variables, looked.name: None},
    )
    return with_commands(with_cells, accesses), tuple(cells)


def _with_numbers(program: Program) -> Program:
    """``program`` with a number of its own for each rank and command that stores what is not known."""

    def is_unknown(do: Do) -> bool:
        return any(isinstance(expr, Anything) for expr in expressions_of(do.command).values())

    def place(do: Do) -> tuple[str, int, int, int]:
        return (*place_of(do.span.line), do.span.column, do.span.turn)

    processes: list[Process] = []
    for number, process in enumerate(program.processes):
        unknown = (each for each in statements_in(process.body) if isinstance(each, Do) and is_unknown(each))
        # In the order of the text, so that an edit elsewhere changes none of them.
        order = {at: count for count, at in enumerate(sorted({place(each) for each in unknown}))}

        def change(do: Do, number: int = number, order: Mapping[tuple[str, int, int, int], int] = order) -> tuple[Do]:
            if not is_unknown(do):
                return (do,)
            value = Const(FIRST_UNKNOWN + order[place(do)] * len(program.processes) + number)
            known = map_expressions(do.command, lambda expr: value if isinstance(expr, Anything) else expr)
            return (replace(do, command=known),)

        processes += with_commands(replace(program, processes=(process,)), change).processes
    return replace(program, processes=tuple(processes))


def _groups(names: Collection[str], joined: Iterable[frozenset[str]]) -> list[frozenset[str]]:
    """``names`` in groups: a place of one group is none of another. Those that are ``joined`` are in one group."""
    groups: list[frozenset[str]] = []
    for some in (*(frozenset({name}) for name in sorted(names)), *joined):
        alike = [group for group in groups if any(may_be_the_same(one, other) for one in some for other in group)]
        groups = [group for group in groups if group not in alike] + [some.union(*alike)]
    return groups


def may_be_the_same(one: str, other: str) -> bool:
    """Whether to change one place may change the other: names of one file, a folder and what is in it, any file."""
    if TERMINAL in (one, other):
        return one == other
    if ANY_FILE in (one, other):
        return True
    parts, others = _parts(one), _parts(other)
    if ".." in (*parts, *others):
        return True
    if one.startswith("/") == other.startswith("/"):
        return parts[: len(others)] == others[: len(parts)]
    # A relative name may be that of any file whose path ends so.
    absolute, relative = (parts, others) if one.startswith("/") else (others, parts)
    return any(
        absolute[start : start + len(relative)] == relative[: len(absolute) - start] for start in range(len(absolute))
    )


def _parts(name: str) -> list[str]:
    return [part for part in posixpath.normpath(name).split("/") if part not in ("", ".")]


def _reached(fact: Outside, group: Iterable[str]) -> bool:
    return not set(fact.places).isdisjoint(group)


def _named(group: frozenset[str]) -> str:
    known = sorted(group - {ANY_FILE})
    return " or ".join(dict.fromkeys(map(posixpath.normpath, known))) if ANY_FILE not in group else "a file"
