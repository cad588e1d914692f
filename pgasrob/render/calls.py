"""Which call of a library an event of a C program comes from: reports name calls, not what they are lowered to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pgasrob.program.core import Cell
from pgasrob.program.instance import Instance
from pgasrob.render.written import WrittenCommands
from pgasrob.semantics.computation import Event

if TYPE_CHECKING:
    from pgasrob.program.statements import Span
    from pgasrob.semantics.replay import Run

CALL = re.compile(r"[A-Za-z_]\w*(?=\s*\()")
OWN = frozenset(("load", "store", "assign", "assume", "assert"))
"""What a C program does without calling a library, unless it is done to a cell that the library has for itself."""
ASSIGNED = {"read": "get", "write": "put"}
"""What a litmus test writes as an assignment."""

STATUS = re.compile(r"MPI_|gaspi_|ARMCI_(?!GetValue)")


def gives_status(call: str) -> bool:
    """Whether ``call`` returns whether it went well: the variable that takes this gets no value of the memory."""
    return STATUS.match(call) is not None


def pieces(run: Run) -> Iterator[int]:
    """For each event of ``run`` a number of what it is of: one execution of a piece of source that is a whole call,
    assignment or condition.

    A piece that is written out several times has a turn each time; in a loop that is kept its commands come again.
    """
    numbers: dict[tuple[int, int], int] = {}
    latest: dict[tuple[int, Span, int], tuple[int, set[int]]] = {}
    count = 0
    for replayed in run.events:
        event, span = replayed.event, replayed.span
        if not event.is_step:
            number, seen = latest.get(key := (event.rank, span, span.turn), (count, set()))
            if event.occurrence in seen:
                number, seen = count, set()
            seen.add(event.occurrence)
            count = max(count, number + 1)
            latest[key] = number, seen
            numbers[event.issued] = number
        yield numbers[event.issued]


class Calls:
    """The calls of ``instance``, which is of a C program, of whose commands these are the ``texts``."""

    def __init__(self, instance: Instance, texts: WrittenCommands | None = None) -> None:
        self._instance = instance
        self._texts = texts or WrittenCommands(instance)

    def of(self, issued: Event) -> str | None:
        """The call that ``issued``, which is no step, comes from; None for what the program does by itself."""
        if issued.kind in OWN and not self.is_of_library(issued.cell):
            return None
        return self.called(issued)

    def called(self, issued: Event) -> str | None:
        """The first function that is called where ``issued`` comes from, if any is; what a litmus test does without."""
        return self.at(issued.rank, issued.occurrence) or ASSIGNED.get(issued.kind)

    def at(self, rank: int, occurrence: int) -> str | None:
        """The first function that is called where the command ``occurrence`` of ``rank`` comes from."""
        found = CALL.search(self._texts.text(rank, occurrence))
        return found and found[0]

    def is_of_library(self, cell: Cell | None) -> bool:
        """Whether ``cell`` stands for something within a library."""
        if cell is None:
            return False
        memory = self._instance.program.object_at(self._instance.index(cell))
        return memory is not None and memory.made_up
