"""The parts of a program: its declarations, its processes, and the source text that they were read from."""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING

from pgasrob.program.expressions import GROWING, MOST_NODES
from pgasrob.program.statements import NOWHERE, Body, Span, place_of

if TYPE_CHECKING:
    from pgasrob.program.assumptions import Assumption
    from pgasrob.program.count_note import CountNote, RankEnd
    from pgasrob.program.shown_places import Shown

LONGEST_SHOWN = 80
"""Columns of C source that are shown of one command."""


@dataclass(frozen=True, slots=True)
class MemoryObject:
    """``memory name[size] = initial``; ``address`` is its first cell on every node.

    ``made_up``: it stands for state of a library, and for no variable of the source. State that users know has a name
    in words (``notification 1``, ``mutex 0``), other state an identifier. ``given_back``: its block has been left or it
    was freed, so its values at the end of the program do not count. ``elements``: the names of its cells where they are
    not ``name[k]``: ``rows[1][0]``, ``points[2].x``."""

    name: str
    address: int
    size: int | None  # None: a single cell, which is printed without brackets
    initial: tuple[int, ...]  # as many values as cells
    span: Span = NOWHERE
    made_up: bool = False
    given_back: bool = False
    elements: tuple[str, ...] = ()

    @property
    def cells(self) -> int:
        return 1 if self.size is None else self.size


@dataclass(frozen=True, slots=True)
class Growing:
    """Memory with ``each`` cells for every node and ``more`` beside these, which are 0 in the beginning.

    ``place``: the number of this object among those that grow, from 1 on. They follow all other memory in this order.
    """

    name: str
    place: int
    each: int
    more: int
    span: Span = NOWHERE
    made_up: bool = False
    given_back: bool = False

    @property
    def address(self) -> int:
        """The symbolic address of its first cell, used as long as the number of nodes is open."""
        return self.place * GROWING

    def cells(self, nodes: int) -> int:
        """The number of its cells on ``nodes`` nodes."""
        return max(0, self.each * nodes + self.more)


@dataclass(frozen=True, slots=True)
class Queue:
    name: str
    id: int
    unordered: bool
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Process:
    """A block for the ranks it names; None: for every rank that no other block of this ``thread`` names."""

    ranks: tuple[int, ...] | None
    body: Body
    span: Span = NOWHERE
    thread: int = 0


@dataclass(frozen=True, slots=True)
class Source:
    """The text a program was read from, for excerpts in reports.

    ``shows_commands``: whether the text contains the commands themselves, as `.pgas` does; in C they are calls and
    assignments. ``others``: the texts of the further files, by path; ``units``: those of them that are no headers.
    """

    file: str
    text: str
    shows_commands: bool = True
    others: Mapping[str, str] = field(default_factory=dict)
    units: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """A hash of all texts."""
        texts = [self.text, *(text for _, text in sorted(self.others.items()))]
        return hashlib.sha256(json.dumps(texts).encode()).hexdigest()

    def lines(self, line: int) -> list[str]:
        """The lines of the file that ``line`` is in."""
        file, _ = place_of(line)
        return (self.others.get(file, "") if file else self.text).split("\n")

    def line(self, number: int) -> str:
        lines = self.lines(number)
        return lines[number - 1].strip() if 0 < int(number) <= len(lines) else ""

    def shown(self, span: Span) -> str:
        """The text at ``span``, shortened, that reports show instead of a command; "" where they show the command."""
        piece = "" if self.shows_commands else self.piece(span)
        return piece if len(piece) <= LONGEST_SHOWN else _cut(piece)

    def piece(self, span: Span) -> str:
        """The text at ``span``, on one line."""
        lines = self.lines(span.line)[max(0, span.line - 1) : int(span.end_line)]
        if not lines or not span.line:
            return ""
        lines[-1] = lines[-1][: span.end_column - 1]
        lines[0] = lines[0][span.column - 1 :]
        return " ".join(" ".join(lines).split())


def _cut(piece: str) -> str:
    """``piece`` cut to the longest shown length, at the end of an argument or at least of a word."""
    beginning = piece[: LONGEST_SHOWN - 3]
    for end in (", ", " "):
        if (place := beginning.rfind(end)) > 0:
            return f"{piece[: place + len(end)].rstrip()} ..."
    return f"{piece[: LONGEST_SHOWN - 4]} ..."


@dataclass(frozen=True, slots=True)
class Declared:
    """The declarations and processes of a program.

    ``doubles``: the memory objects and registers whose values are always the bits of doubles. ``gaps``: the reasons why
    the source has runs that this program lacks; with any of them it is never `robust`. ``uncertain``: memory objects
    with unknown values, on which no decision of the program depends. ``blind_awaits``: the source may block where this
    program goes on, so that it is not reported as free of deadlocks. ``assumptions``: what must hold for the program to
    mean what the source does. ``variables``: the names of registers in the source, None for those that are no variable
    there; a register that is left out has its own name. ``faults``: why the addresses -1, -2, ... fault, each with its
    code. ``exposed``: the cells of a window at a rank, by the name of the window and the rank, where calls are marked.
    ``most_nodes``: the program means what the source does up to so many nodes. ``growing``: memory whose size
    depends on the number of nodes, as long as that is open. ``ends``: where the source ends the runs of ranks, if
    it is C. ``count_note``: why the program is not meant for its number of nodes, or that this was chosen.
    ``looked_at``: of what the command at a place reads into a register, whether C looks at it or never does,
    commands and what they store aside. ``moves_data``: a rank makes a call that may move data between ranks.
    ``shows_more``: the source may show what no command does, by output or by what main returns. ``shown``: where it
    does, or computes what it shows.
    """

    name: str
    nodes: int | None
    memory: tuple[MemoryObject, ...]
    registers: tuple[str, ...]
    queues: tuple[Queue, ...]
    processes: tuple[Process, ...]
    source: Source = field(default=Source("<string>", ""), compare=False)
    doubles: frozenset[str] = field(default=frozenset(), compare=False)
    gaps: tuple[str, ...] = field(default=(), compare=False)
    uncertain: tuple[str, ...] = field(default=(), compare=False)
    blind_awaits: bool = field(default=False, compare=False)
    assumptions: tuple[Assumption, ...] = field(default=(), compare=False)
    variables: Mapping[str, str | None] = field(default_factory=dict, compare=False)
    faults: tuple[tuple[str, str], ...] = field(default=(), compare=False)
    exposed: Mapping[tuple[str, int], frozenset[int]] = field(default_factory=dict, compare=False)
    most_nodes: int = field(default=MOST_NODES, compare=False)
    growing: tuple[Growing, ...] = ()
    ends: tuple[RankEnd, ...] = field(default=(), compare=False)
    count_note: CountNote | None = field(default=None, compare=False)
    looked_at: Mapping[tuple[Span, int], bool] = field(default_factory=dict, compare=False)
    moves_data: bool = field(default=True, compare=False)
    shows_more: bool = field(default=False, compare=False)
    shown: Shown | None = field(default=None, compare=False, repr=False)

    @property
    def has_threads(self) -> bool:
        """Whether some rank may have more than one thread."""
        return any(process.thread for process in self.processes)

    @property
    def cells(self) -> int:
        """Memory cells per node."""
        return sum(memory.cells for memory in self.memory)

    @property
    def temporaries(self) -> list[str]:
        """The registers that are no variable of the source."""
        return sorted(name for name, variable in self.variables.items() if variable is None)

    def object_at(self, address: int) -> MemoryObject | None:
        """The memory object that the cell at ``address`` is in."""
        place = bisect_right(self.memory, address, key=attrgetter("address"))
        # Most often it is the one before that place, for they are mostly in the order of their addresses.
        nearest = self.memory[max(0, place - 1) : place]
        return next((each for each in chain(nearest, self.memory) if 0 <= address - each.address < each.cells), None)

    def cell_name(self, address: int) -> str:
        """The name of the cell at ``address``: ``x``, or ``a[2]`` for an element of an array."""
        memory = self.object_at(address)
        if memory is None:
            return str(address)
        if memory.elements:
            return memory.elements[address - memory.address]
        return memory.name if memory.size is None else f"{memory.name}[{address - memory.address}]"

    @property
    def lasting(self) -> list[int]:
        """The addresses of the cells whose values at the end of the program count (see :class:`MemoryObject`)."""
        given_back = {
            address
            for memory in self.memory
            if memory.given_back
            for address in range(memory.address, memory.address + memory.cells)
        }
        return [address for address in self.own if address not in given_back]

    @property
    def own(self) -> list[int]:
        """The addresses of the cells that are variables and memory of the source."""
        own = (memory for memory in self.memory if not memory.made_up)
        return [address for memory in own for address in range(memory.address, memory.address + memory.cells)]

    def queue_name(self, id: int) -> str:
        return next((queue.name for queue in self.queues if queue.id == id), str(id))
