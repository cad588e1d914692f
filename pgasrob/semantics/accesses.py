"""Accesses to memory cells: which command makes which, and when two of them conflict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pgasrob.program.commands import ATOMIC, REMOTE, Command, expressions_of
from pgasrob.program.expressions import constant
from pgasrob.program.instance import Cell, Instance


class Access(NamedTuple):
    """One access to a cell: whether it reads, whether it writes (an atomic does both)."""

    cell: Cell
    reads: bool
    writes: bool


ONLY_READ = frozenset(("load", "await", "fetch", "put", "popa", "popd"))
ONLY_WRITE = frozenset(("store", "popb", "popc"))
"""The kinds of events that only read or only write. The popb of an atomic counts here although it reads too: whatever
conflicts with a read conflicts with a write."""


def conflict(first: Access, second: Access) -> bool:
    """Whether two accesses are to the same cell and at least one of them writes."""
    return first.cell == second.cell and (first.writes or second.writes)


def access(kind: str, cell: Cell | None) -> Access | None:
    """The access that an event of ``kind`` makes to its ``cell``; None for an event that makes none.

    A compare_swap counts as a read and a write even when it fails (the design, section 2).
    """
    if cell is None:
        return None
    return Access(cell, kind not in ONLY_WRITE, kind not in ONLY_READ)


def possible_accesses(instance: Instance, rank: int) -> frozenset[Access]:
    """Every access that a command of ``rank`` could make, at issue or in a step, ignoring control and values.

    Exact for constant addresses and ranks; an operand that depends on a register may be any cell it could name.
    """
    commands = {transition.occurrence: transition.command for transition in instance.automata[rank].transitions}
    return frozenset(found for command in commands.values() for found in _possible(instance, rank, command))


def _possible(instance: Instance, rank: int, command: Command) -> list[Access]:
    exprs = expressions_of(command)

    def choices(name: str, bound: int) -> Sequence[int]:
        value = constant(exprs[name])
        return range(bound) if value is None else [value] if 0 <= value < bound else []

    def cells(ranks: Sequence[int], address: str) -> list[Cell]:
        size = instance.size
        return [node * size + index for node in ranks for index in choices(address, size)]

    if command.kind in REMOTE:
        there = cells(choices("rank", instance.nodes), "remote")
        here = {name: cells([rank], name) for name in _addresses_here(command)}
        return [
            found
            for kind, accessed in _remote(command, here, there)
            for cell in accessed
            if (found := access(kind, cell))
        ]
    if "address" not in exprs:
        return []
    ranks = choices("rank", instance.nodes) if command.kind in ATOMIC else [rank]
    return [found for cell in cells(ranks, "address") if (found := access(command.kind, cell))]


def _addresses_here(command: Command) -> list[str]:
    """The fields of a remote command that are addresses at its own rank."""
    values = ("expected",) if command.kind == "update" else ()  # of an update it is a value, as is its operand
    return [name for name in ("local", "expected", "result") if name in expressions_of(command) and name not in values]


def _remote(command: Command, here: dict[str, list[Cell]], there: list[Cell]) -> list[tuple[str, list[Cell]]]:
    """The events that access a cell, of a remote command, and the cells they may access."""
    further = [("popd", here.get("expected", [])), ("popc", here.get("result", []))]
    if command.kind == "read":
        return [("popa", there), ("popb", here["local"])]
    if command.kind == "put":
        return [("put", here["local"]), ("popb", there)]
    if getattr(command, "operation", None) == "fetch":
        return [("popa", there), *further]
    return [("popa", here.get("local", [])), ("popb", there), *further]
