"""The calls at which ranks are stuck that may wait for others and need not, as JSON and in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypedDict

from pgasrob.program.assumptions import Assumption
from pgasrob.render import english
from pgasrob.render.run_json import NextCommand, Witness


class StrictWait(TypedDict):
    """A ``call`` in a ``line`` that may wait for other ranks and need not, and the ``section`` of the specification
    that leaves it open, empty where none says so."""

    call: str
    line: int
    section: str


_LEFT_OPEN = {
    "MPI_Win_fence": ("MPI-4.1, 12.5.1", ""),
    "MPI_": ("MPI-4.1, 6.14", "MPI-4.1, 3.5"),
    "shmem_": ("OpenSHMEM 1.5, 9.9", ""),
    "gaspi_": ("", "GASPI 17.1, 10"),
}
"""Where it is left open whether calls that begin so wait: collectives, and those of messages."""
_MESSAGES = ("MPI_Send", "MPI_Rsend", "MPI_Wait", "MPI_Test", "gaspi_passive_send")


def strict_waits_to_json(wait: Assumption | None, run: Witness | None) -> list[StrictWait]:
    """Those of the calls that ``wait`` at which ``run`` ends."""
    found: dict[tuple[str, int], StrictWait] = {}
    for at in _next(run) if wait else ():
        name = at["command"].partition("(")[0].strip().rpartition(" ")[2]
        if wait and at["line"] in wait.lines and name in wait.about:
            sections = next((each for start, each in _LEFT_OPEN.items() if name.startswith(start)), ("", ""))
            found[name, at["line"]] = {
                "call": name,
                "line": at["line"],
                "section": sections[name.startswith(_MESSAGES)],
            }
    return [*found.values()]


def _next(run: Witness | None) -> Iterator[NextCommand]:
    for rank in run["standing"] if run else ():
        yield from rank["next"]
        yield from rank.get("loop") or ()


def because(waits: list[StrictWait]) -> str:
    """`` where MPI_Bcast waits for other ranks, as MPI-4.1, 6.14 allows``; nothing where there are no ``waits``."""
    names, sections = (list(dict.fromkeys(filter(None, each))) for each in _columns(waits))
    if not names:
        return ""
    one = len(names) == 1
    by = f", as {english.listed(sections)} {'allows' if len(sections) == 1 else 'allow'}" if sections else ""
    return f" where {english.listed(names)} {'waits' if one else 'wait'} for other ranks{by}"


def _columns(waits: list[StrictWait]) -> tuple[list[str], list[str]]:
    return [each["call"] for each in waits], [each["section"] for each in waits]
