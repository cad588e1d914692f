"""A maximal SC run with the partial order of its commands: a Mazurkiewicz trace, of which the run is a linearisation.

Two commands depend on each other when they are of one rank, when two of their accesses conflict, or when one looks at
a cell that the other changes: a rank with several next commands, of which some wait for values, has looked at all of
these values when it issues one of them. A trace orders two commands as the run does if a chain of dependences links
them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pgasrob.program import core
from pgasrob.program.control import Transition
from pgasrob.program.core import Cell, Operands
from pgasrob.program.expressions import RELATIONS
from pgasrob.program.instance import Memory, Registers
from pgasrob.semantics.accesses import Access, conflict
from pgasrob.semantics.effect import captured, issue, put, take_step, updated

Clock = tuple[int, ...]
"""For each rank how many of its events there are."""


class Command(NamedTuple):
    """A command that a rank may issue next, with its operands."""

    transition: Transition
    operands: Operands

    @property
    def waits(self) -> bool:
        """Whether it is enabled for some values of a cell only."""
        return isinstance(self.operands, core.Immediate) and self.operands.may_block


class Position(NamedTuple):
    """The state of a rank in a run: control state, registers, and those next commands that do not fault."""

    control: int
    registers: Registers
    commands: tuple[Command, ...]


class Made(NamedTuple):
    """An access as it was made in a run. ``before``: what the cell held, and ``after`` what it holds then. ``update``:
    what was done to it, with its operand, where that commutes with others of its kind.

    A change that turns a condition, or an await that tests one, accesses the number of the condition as a cell
    (`semantics.tested_conditions`); what is held is that of the cell itself. ``by``: of a condition that is turned the
    place of the change in its command's chain.
    """

    access: Access
    before: int
    update: core.Update[int] | None = None
    after: int = 0
    by: int = 0


@dataclass(slots=True)
class Event:
    """A command of ``rank`` with all its steps, or a barrier, which all ``ranks`` pass (``rank`` is the first then).
    Where ranks have several threads these are processes, as everywhere here.

    ``clock``: the events of each rank that come before it in the trace, itself included. ``chain``: its accesses;
    ``turned``: the conditions that these turn.
    """

    number: int
    rank: int
    transitions: tuple[Transition, ...]
    operands: Operands
    clock: Clock
    chain: tuple[Made, ...]
    ranks: tuple[int, ...]
    turned: tuple[Made, ...] = ()

    @property
    def made(self) -> tuple[Made, ...]:
        """Its accesses, and then the conditions that these turn."""
        return self.chain + self.turned

    @property
    def is_barrier(self) -> bool:
        return isinstance(self.operands, core.Barrier)

    @property
    def index(self) -> int:
        """Its place among the events of its rank."""
        return self.clock[self.rank] - 1

    def is_in(self, clock: Clock) -> bool:
        """Whether it is among the events of ``clock``, the past of another one."""
        return self.clock[self.rank] <= clock[self.rank]


class Entry(NamedTuple):
    """An access in a run; ``place`` among those that its command has made, None for a look."""

    event: Event
    place: int | None
    made: Made


@dataclass(slots=True)
class Layer:
    """Accesses to one cell that follow each other and do not conflict: reads, updates of a kind, or one write.

    Each conflicts with all of the layers next to its own. ``before``: what the cell held before them.
    """

    before: int
    entries: list[Entry] = field(default_factory=list)

    @property
    def access(self) -> Access:
        """One of them: all are alike in what they conflict with."""
        return self.entries[0].made.access


class Cells:
    """The accesses of a run by cells, in layers."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._layers: dict[Cell, list[Layer]] = {}
        for entry in entries:
            self.enter(entry)

    def layers(self, cell: Cell) -> Sequence[Layer]:
        return self._layers.get(cell, ())

    def enter(self, entry: Entry) -> int:
        """Add an access at the end of the run, and return the number of its layer."""
        layers = self._layers.setdefault(entry.made.access.cell, [])
        if not layers or conflict(layers[-1].access, entry.made.access):
            layers.append(Layer(entry.made.before))
        layers[-1].entries.append(entry)
        return len(layers) - 1

    def leave(self, cell: Cell) -> None:
        """Take back the last access to ``cell``."""
        layers = self._layers[cell]
        layers[-1].entries.pop()
        if not layers[-1].entries:
            layers.pop()

    def met_by(self, access: Access) -> Sequence[Entry]:
        """The entries of the last layer that would conflict with ``access`` if that came next."""
        return next(
            (layer.entries for layer in reversed(self.layers(access.cell)) if conflict(layer.access, access)), ()
        )


def performed(
    operands: Operands, registers: Registers, memory: Memory
) -> tuple[Registers, Memory, tuple[Made, ...]] | None:
    """Registers and memory after a command with all its steps, and its accesses; None when it is not enabled."""
    after = issue(operands, registers, memory)
    if after is None:
        return None
    first = core.at_issue(operands)
    chain = [] if first is None else [Made(first, memory[first.cell], None, after[1][first.cell])]
    if isinstance(operands, core.Transfer):
        registers, changed = after
        carried = captured(operands, memory)
        for step in operands.steps:
            update = operands.update if step.access.commutes else None
            if update is not None:
                update = update._replace(operand=carried.value)
            cell, before = step.access.cell, changed[step.access.cell]
            changed, carried = take_step(operands.update, step, changed, carried)
            chain.append(Made(step.access, before, update, changed[cell]))
        after = registers, changed
    return *after, tuple(chain)


def passes(operands: core.Operands, position: Position, value: int) -> bool:
    """Whether a command is enabled when its cell holds ``value``; true of commands that wait for no value."""
    if not isinstance(operands, core.Immediate):
        return True
    condition, until = operands.condition, operands.until
    if condition is not None and not RELATIONS[condition.relation](value, condition.value):
        return False
    registers = position.registers
    if operands.register is not None:
        registers = put(registers, operands.register, value)
    return until is None or until.satisfied(registers)


def enabled(command: Command, position: Position, memory: Memory) -> bool:
    """Whether a rank that has come to ``position`` may issue ``command``; a barrier no rank may by itself."""
    operands = command.operands
    match operands:
        case core.Barrier():
            return False
        case core.Test(condition, blocks):
            return bool(condition) or not blocks
        case core.Immediate(access):
            return passes(operands, position, memory[access.cell])
        case _:
            return True


def value_after(before: int, updates: Iterable[core.Update[int]]) -> int:
    """What a cell holds after ``updates`` of one kind, in whatever order."""
    for update in updates:
        assert update.operand is not None, "it has been done"
        before = updated(update.operation, before, update.operand, 0, update.type)
    return before


@dataclass(slots=True)
class Trace:
    """A maximal run: its events, those of each rank, and for each rank its position after each number of its
    events."""

    events: Sequence[Event]
    of_rank: Sequence[Sequence[Event]]
    positions: Sequence[Sequence[Position]]

    def entries(self) -> Iterator[Entry]:
        """The accesses in the order of the run."""
        for event in self.events:
            yield from (Entry(event, place, made) for place, made in enumerate(event.made))
