"""The commands of an instance as a report shows them: as written, with `me` and `nodes` folded into the numbers.

The control automata hold commands in which all known values are folded, and these have lost the names of their source:
`slot + me` has become an address and `if (me == 0)` an `assume(1)`. A C program is shown as its source has it: the
call, assignment or condition that a command comes from.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from pgasrob.analysis.remembered import remembered
from pgasrob.program.commands import Command, CompareSwap, FetchAdd, TestedAdd, map_expressions, show
from pgasrob.program.control import commands_of
from pgasrob.program.core import Cell
from pgasrob.program.declarations import Process
from pgasrob.program.expressions import specialise_numbers
from pgasrob.program.instance import Instance, block_of
from pgasrob.program.statements import Span
from pgasrob.semantics.computation import Event

if TYPE_CHECKING:
    from pgasrob.semantics.replay import Run

CONDITIONS = frozenset(("assume", "assert"))


class WrittenCommands:
    """The texts of the commands of ``instance``."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._known = _known(instance)

    def text(self, rank: int, occurrence: int) -> str:
        """The command at place ``occurrence`` in the process block of ``rank``."""
        texts = self._known.texts
        if (rank, occurrence) not in texts:
            command, span = self._written(rank, occurrence)
            piece = self._instance.program.source.shown(span)
            texts[rank, occurrence] = piece or show(self._folded(command, rank))
        return texts[rank, occurrence]

    def command(self, rank: int, occurrence: int) -> Command:
        """The command there, with `me` and `nodes` as they are written."""
        return self._written(rank, occurrence)[0]

    def _written(self, rank: int, occurrence: int) -> tuple[Command, Span]:
        """The command there in the block. Occurrences are numbered the same whether that is evaluated for a rank or
        not; behind them are those of commands that are read as several (`program.failing_swaps`,
        `program.tested_adds`)."""
        commands = self._commands(self._process(rank))
        if occurrence < len(commands):
            return commands[occurrence]
        edge = next(each for each in self._instance.automata[rank].transitions if each.occurrence == occurrence)
        kind = FetchAdd if isinstance(edge.command, TestedAdd) else CompareSwap
        return next((command, span) for command, span in commands if span == edge.span and isinstance(command, kind))

    def _commands(self, process: Process) -> list[tuple[Command, Span]]:
        commands, block = self._known.commands, (process.thread, process.ranks)
        if block not in commands:
            commands[block] = commands_of(process.body)
        return commands[block]

    def _process(self, rank: int) -> Process:
        return block_of(self._instance, rank)

    def _folded(self, command: Command, rank: int) -> Command:
        if command.kind in CONDITIONS:
            return command  # a condition that is folded into 1 says nothing
        home = self._instance.home[rank]
        return map_expressions(command, partial(specialise_numbers, me=home, nodes=self._instance.nodes))


class _Known(NamedTuple):
    """Results of earlier calls, since several runs of an instance are shown: the commands of blocks by their ranks, and
    texts by rank and place."""

    commands: dict[tuple[int, tuple[int, ...] | None], list[tuple[Command, Span]]]
    texts: dict[tuple[int, int], str]


@remembered
def _known(instance: Instance) -> _Known:
    return _Known({}, {})


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
    """Numbers the pieces of source (a call, assignment or condition) that a run executes; the number for each event of
    ``run``.

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
