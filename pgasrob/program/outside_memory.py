"""What calls do outside of the memory of ranks: to files, and to the terminal that all ranks write to.

A front end marks the calls that do (:class:`~pgasrob.program.commands.Mark`), where it is asked to.
:func:`with_places` makes accesses of the marks, to a cell for each place that may be another one, so that their order
across ranks is one of conflicting accesses.
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from pgasrob.program.commands import Load, Mark, Store
from pgasrob.program.declarations import MemoryObject
from pgasrob.program.expressions import Const, Register, Symbol
from pgasrob.program.program import Program
from pgasrob.program.statements import Do, statements_in
from pgasrob.program.variants import with_commands

TERMINAL = "the terminal"
ANY_FILE = "any file"
"""A file whose name is not known: it may be the same as any other."""
EVERYWHERE = (TERMINAL, ANY_FILE)
"""What a call may reach that starts another program."""


@dataclass(frozen=True, slots=True)
class Outside:
    """A call reads, or ``writes``, each of ``places``: `TERMINAL`, `ANY_FILE`, or the name of a file. ``joins``: from
    then on these may be names of one place, as after `rename` and `link`."""

    places: tuple[str, ...]
    writes: bool
    joins: bool = False


ENDING = Outside(EVERYWHERE, writes=False)
"""A rank ends by a failure, and may end the run of the others: of what comes later something may be missing."""


@dataclass(frozen=True, slots=True)
class Place:
    """The cell ``address`` of rank 0 that stands for files which may be the same, or for the terminal."""

    name: str
    address: int


def with_places(program: Program, terminal: bool) -> tuple[Program, tuple[Place, ...]]:
    """``program``, on a fixed number of nodes, with accesses to cells in place of its marks, and these cells. There are
    none for what nobody writes, nor for the terminal unless that is asked for."""
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
        program,
        memory=(*program.memory, *memory),
        registers=(*program.registers, looked.name),
        variables={**program.variables, looked.name: None},
    )
    return with_commands(with_cells, accesses), tuple(cells)


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
