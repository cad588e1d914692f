"""Replays a sequence of events: checks that it is a computation of the program, and says what each event does.

This is the judge of the engines' witnesses. It shares no code with them: every rule is checked against the history of
the run, as the design's section 2 states it, and not with the states of X(P, N).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Literal, NamedTuple, assert_never

from pgasrob.program import core
from pgasrob.program.commands import show
from pgasrob.program.control import Transition
from pgasrob.program.core import Cell, Operands
from pgasrob.program.expressions import INT32, RELATIONS, Fault, IntType, float_bits, float_value
from pgasrob.program.instance import Instance, Memory, Registers
from pgasrob.program.statements import Span
from pgasrob.program.value_classes import record
from pgasrob.semantics.computation import Computation, Event
from pgasrob.semantics.tested_conditions import Condition, tested
from pgasrob.stop_points import stop_point


class ReplayError(Exception):
    """The sequence of events is no computation of the program; the text says which event breaks which rule."""


class Change(NamedTuple):
    """A cell or register before and after an event."""

    name: str
    before: int
    after: int


@record
class ReplayedEvent:
    """An event with what it did.

    ``command`` is the text of the command it belongs to, specialised to its rank as in the control automaton: what has
    a value without registers is a number there, `slot + me` an address and `me == 0` a 1. (`render.source_commands`
    has the command as in the source.) ``read`` is the value it read from its cell, ``cell_change`` what it wrote there,
    ``register_change`` what it did to a register; ``queue`` and ``target`` are those of a remote command and its steps.
    ``tests``: the condition of an await or an add that is read as a test of it; ``counts``: what such an add adds.
    """

    event: Event
    command: str
    span: Span
    read: int | None = None
    cell_change: Change | None = None
    register_change: Change | None = None
    queue: int | None = None
    target: int | None = None
    holds: bool | None = None  # an assertion of the program only
    tests: Condition | None = None
    counts: str = ""


@record
class Run:
    """A replayed computation of ``instance``; ``complete`` when nothing is pending at its end.

    ``control``, ``registers`` and ``memory`` are where it ends: control state and register file per rank, all cells.
    """

    instance: Instance
    events: tuple[ReplayedEvent, ...]
    complete: bool
    control: tuple[int, ...]
    registers: tuple[Registers, ...]
    memory: Memory

    @property
    def computation(self) -> Computation:
        return tuple(replayed.event for replayed in self.events)


WRITES = frozenset(("write", "put", "update", "update_from", "signal"))
"""Commands whose destination write fences and notifications order."""
REMOTE = WRITES | {"read", "notify"}
Accessing = Literal[
    "load", "store", "await", "fetch_add", "swap", "compare_swap", "failed_compare_swap", "fetch", "fetch_update",
    "await_add"
]  # fmt: skip
"""Commands that access a cell at their issue, and have no steps."""


@dataclass(slots=True)
class _Issued:
    """A command of the history and which of its steps have happened.

    ``value`` is what the operation carries: what it has read, or is given, to write; from the update of an atomic on
    the old value of the cell. ``expected`` is what a compare_swap expects.
    """

    transition: Transition
    operands: Operands
    happened: set[str] = field(default_factory=set)
    value: int = 0
    expected: int = 0

    @property
    def kind(self) -> str:
        return self.transition.command.kind

    @property
    def queue(self) -> int | None:
        return getattr(self.operands, "queue", None)

    @property
    def target(self) -> int | None:
        """The rank that a remote command or a fence names."""
        return getattr(self.operands, "rank", None)

    @property
    def operation(self) -> str | None:
        return getattr(self.transition.command, "operation", None)

    @property
    def commuting(self) -> str:
        """The kind of update, where it commutes with its own kind; "" for every other command."""
        if self.operation not in ("add", "and", "or", "xor", "min", "max") or "popc" in self.cells:
            return ""
        type: IntType = getattr(self.transition.command, "type", INT32)
        return f"{self.operation} {'' if type.signed else 'u'}int{type.bits}"

    @property
    def is_remote(self) -> bool:
        return self.kind in REMOTE

    @property
    def fetches(self) -> bool:
        """Whether it reads at its target and writes nothing there."""
        return self.kind == "read" or self.operation == "fetch"

    @property
    def cells(self) -> dict[str, Cell]:
        """The steps in their order, with the cells they access."""
        return {step.kind: step.access.cell for step in core.steps_of(self.operands)}

    def misses(self, *steps: str) -> bool:
        """Whether one of ``steps`` is still to happen."""
        return any(step in self.cells and step not in self.happened for step in steps)

    @property
    def complete(self) -> bool:
        return not self.misses("popa", "popd", "popb", "popc")

    @property
    def locally_complete(self) -> bool:
        """Whether all its reads of the own memory and all its writes there have happened."""
        here = ("popc",) if self.operation == "fetch" else ("popa", "popd", "popc")
        return not self.misses("popb") if self.kind == "read" else not self.misses(*here)

    @property
    def awaits_write(self) -> bool:
        """Whether a destination write that fences order is still to happen."""
        return self.kind in WRITES and self.misses("popb")

    @property
    def located_step(self) -> str | None:
        """The step of a located update that comes in its place among those to its cell."""
        located = getattr(self.transition.command, "located", False)
        return ("popa" if self.fetches else "popb") if located else None

    @property
    def located_cell(self) -> Cell | None:
        """The cell of that step while it is still to happen."""
        step = self.located_step
        return self.cells[step] if step and self.misses(step) else None


@dataclass(slots=True)
class _Rank:
    """A rank: ``history`` has all its commands, ``unfinished`` those that miss a step, by their place in it, ``fences``
    and ``bundles`` the places of those, so that no rule has to go through all of a long run."""

    control: int
    registers: list[int]
    history: list[_Issued] = field(default_factory=list)
    unfinished: dict[int, _Issued] = field(default_factory=dict)
    fences: list[int] = field(default_factory=list)
    bundles: list[int] = field(default_factory=list)

    def issue(self, command: _Issued) -> None:
        place = len(self.history)
        self.history.append(command)
        if command.is_remote:
            self.unfinished[place] = command
        elif command.kind == "fence":
            self.fences.append(place)
        elif command.kind == "bundle":
            self.bundles.append(place)

    def unfinished_before(self, until: int, since: int = 0) -> Iterator[_Issued]:
        """The remote commands from operation ``since`` to before ``until`` that miss a step."""
        places = takewhile(lambda place: place < until, self.unfinished)
        return (self.unfinished[place] for place in places if place >= since)

    def pending(self, queue: int | None, until: int) -> Iterator[_Issued]:
        """The remote commands issued in ``queue`` before operation ``until`` that miss a step."""
        return (command for command in self.unfinished_before(until) if command.queue == queue)


def replay(instance: Instance, computation: Computation) -> Run:
    """Replay ``computation`` event by event.

    Raises :class:`ReplayError` when an event is not allowed where it stands.
    """
    return _Replay(instance).run(computation)


class _Replay:
    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.memory: list[int] = list(instance.memory)
        self.ranks = [_Rank(0, list(instance.registers)) for _ in range(instance.processes)]
        # A long run is replayed a few times, in other orders.
        self._texts: dict[tuple[int, int], str] = instance.analyses.setdefault("texts of commands", {})

    def run(self, computation: Computation) -> Run:
        events: list[ReplayedEvent] = []
        position = 0
        while position < len(computation):
            stop_point()
            event = computation[position]
            if event.kind == "barrier":
                group = computation[position : position + self.instance.nodes]
                events += self._barrier(position, group)
                position += len(group)
                continue
            replayed = self._step(position, event) if event.is_step else self._issue(position, event)
            events.append(replayed)
            position += 1
        complete = not any(rank.unfinished for rank in self.ranks)
        return Run(
            self.instance,
            tuple(events),
            complete,
            tuple(rank.control for rank in self.ranks),
            tuple(tuple(rank.registers) for rank in self.ranks),
            tuple(self.memory),
        )

    def _reject(self, position: int, event: Event, why: str) -> ReplayError:
        return ReplayError(f"event {position} ({event.kind} of rank {event.rank}, operation {event.operation}): {why}")

    def _enter(self, position: int, event: Event) -> tuple[_Rank, _Issued]:
        """Find the command that an issued event takes and note it in the history."""
        if not 0 <= event.rank < self.instance.processes:
            raise self._reject(position, event, f"there is no rank {event.rank}")
        rank = self.ranks[event.rank]
        if event.operation != len(rank.history):
            raise self._reject(position, event, f"the rank has issued {len(rank.history)} commands before")
        leaving = self.instance.automata[event.rank].out[rank.control]
        transition = next((edge for edge in leaving if edge.occurrence == event.occurrence), None)
        if transition is None or transition.command.kind != event.kind:
            raise self._reject(position, event, "it is not a next command of the rank")
        try:
            operands = self.instance.operands(event.rank, transition, tuple(rank.registers))
        except Fault as fault:
            raise self._reject(position, event, f"the command faults: {fault}") from fault
        made = core.at_issue(operands)
        if event.cell != (made and made.cell):
            raise self._reject(position, event, f"the command accesses cell {made and made.cell}, not {event.cell}")
        issued = _Issued(transition, operands)
        rank.issue(issued)
        rank.control = transition.target
        return rank, issued

    def _barrier(self, position: int, group: Computation) -> list[ReplayedEvent]:
        home = dict(enumerate(self.instance.home))
        if [(event.kind, home.get(event.rank)) for event in group] != [
            ("barrier", rank) for rank in range(self.instance.nodes)
        ]:
            raise self._reject(position, group[0], "a barrier is one event of every rank, in rank order")
        for event in group:
            if event.home != (None if home[event.rank] == event.rank else home[event.rank]):
                raise self._reject(position, event, f"it names rank {event.home}, not rank {home[event.rank]}")
        entered = [self._enter(position + offset, event) for offset, event in enumerate(group)]
        if len({issued.transition.command for _, issued in entered}) > 1:
            raise self._reject(position, group[0], "the next barriers of the ranks have different names")
        return [self._describe(event, issued) for event, (_, issued) in zip(group, entered, strict=True)]

    def _issue(self, position: int, event: Event) -> ReplayedEvent:
        rank, issued = self._enter(position, event)
        earlier, operands = event.operation, issued.operands
        match event.kind:
            case "wait":
                if any(rank.pending(issued.queue, earlier)):
                    raise self._reject(position, event, "an earlier operation of the queue is not complete")
            case "wait_local":
                if not all(command.locally_complete for command in rank.pending(issued.queue, earlier)):
                    raise self._reject(position, event, "an earlier operation of the queue is not locally complete")
            case "assume":
                assert isinstance(operands, core.Test)
                if not operands.condition:
                    raise self._reject(position, event, "the condition is false")
            case "assert":
                assert isinstance(operands, core.Test)
                return self._describe(event, issued, holds=None if operands.claim else bool(operands.condition))
            case "assign":
                assert isinstance(operands, core.Assign)
                return self._describe(event, issued, register=self._set(rank, operands.register, operands.value))
            case "update" | "notify" | "signal":
                assert isinstance(operands, core.Transfer) and operands.update is not None
                issued.value, issued.expected = operands.update.operand or 0, operands.update.expected or 0
            case "put":
                issued.value = self.memory[event.cell or 0]
                return self._describe(event, issued, read=issued.value)
            case "read" | "write" | "update_from" | "fence" | "bundle":
                pass
            case (
                "load" | "store" | "await" | "fetch_add" | "swap" | "compare_swap" | "failed_compare_swap" | "fetch"
                | "fetch_update" | "await_add"
            ):  # fmt: skip
                return self._access(position, event.kind, event, rank, issued)
            case "exit":
                raise self._reject(position, event, "an exit ends the run, and is never issued")
            case "barrier" | "popa" | "popd" | "popb" | "popc":
                raise AssertionError("run() treats barriers and steps")
            case _:
                assert_never(event.kind)
        return self._describe(event, issued)

    def _access(self, position: int, kind: Accessing, event: Event, rank: _Rank, issued: _Issued) -> ReplayedEvent:
        operands = issued.operands
        assert isinstance(operands, core.Immediate)
        cell, condition, update = operands.access.cell, operands.condition, operands.update
        old, operand = self.memory[cell], update.operand if update and update.operand is not None else 0
        match kind:
            case "load" | "fetch" | "failed_compare_swap":
                if condition is not None and old == condition.value:
                    raise self._reject(position, event, f"the cell holds {old}, which is expected: it swaps")
                register = self._set(rank, operands.register, old)
                if operands.until is not None and not operands.until.satisfied(rank.registers):
                    raise self._reject(position, event, f"it reads {old}, so the rank only comes back and reads again")
                return self._describe(event, issued, read=old, register=register)
            case "store":
                return self._describe(event, issued, cell=self._write(cell, operand))
            case "await" | "await_add":
                assert condition is not None
                if not RELATIONS[condition.relation](old, condition.value):
                    raise self._reject(position, event, f"the cell holds {old} and the condition is false")
                if kind == "await":
                    return self._describe(event, issued, read=old)
                assert update is not None
                added = self._write(cell, update.type.wrap(old + operand))
                return self._describe(event, issued, read=old, cell=added)
            case "fetch_update":
                assert update is not None
                new = _updated(issued.operation, update.type, old, operand)
            case "fetch_add":
                assert update is not None
                new = update.type.wrap(old + operand)
                if condition is not None:
                    if not RELATIONS[condition.relation](old, condition.value):
                        raise self._reject(position, event, f"the cell holds {old}: the rank goes another way then")
                    return self._describe(event, issued, read=old, cell=self._write(cell, new))
            case "swap":
                new = operand
            case "compare_swap":
                assert update is not None
                if condition is not None and old != update.expected:
                    raise self._reject(position, event, f"the cell holds {old}, which is not expected: it only reads")
                new = operand if old == update.expected else old
            case _:
                assert_never(kind)
        return self._describe(
            event, issued, read=old, cell=self._write(cell, new), register=self._set(rank, operands.register, old)
        )

    def _step(self, position: int, event: Event) -> ReplayedEvent:
        if not 0 <= event.rank < self.instance.processes:
            raise self._reject(position, event, f"there is no rank {event.rank}")
        rank = self.ranks[event.rank]
        if not 0 <= event.operation < len(rank.history) or not rank.history[event.operation].is_remote:
            raise self._reject(position, event, "it belongs to no operation issued before")
        command = rank.history[event.operation]
        if event.occurrence != command.transition.occurrence:
            raise self._reject(position, event, "it names another command than its operation")
        cells = command.cells
        if event.kind not in cells:
            raise self._reject(position, event, "its operation has no such step")
        if event.cell != cells[event.kind]:
            raise self._reject(position, event, "its cell is not that of the command")
        commutes = self.instance.reading.conflicts == "commuting" and event.kind == "popb"
        if event.commutes != (command.commuting if commutes else ""):
            raise self._reject(position, event, "it does not say with which updates it commutes")
        order = list(cells)
        if order[: order.index(event.kind)] != [step for step in order if step in command.happened]:
            why = f"the steps of its operation come once each, in the order {', '.join(order)}"
            raise self._reject(position, event, why)
        if why := self._held_back(rank, event.operation, event.kind):
            raise self._reject(position, event, why)
        replayed = self._happen(event, command)
        command.happened.add(event.kind)
        if command.complete:
            del rank.unfinished[event.operation]
        return replayed

    def _happen(self, event: Event, command: _Issued) -> ReplayedEvent:
        """What a step does that is allowed."""
        assert event.cell is not None
        old = self.memory[event.cell]
        match event.kind:
            case "popa":
                command.value = old
                return self._describe(event, command, read=old)
            case "popd":
                command.expected = old
                return self._describe(event, command, read=old)
            case "popb" if command.operation is not None:
                type = getattr(command.transition.command, "type", INT32)
                new = _updated(command.operation, type, old, command.value, command.expected)
                command.value = old
                read = None if command.operation == "set" else old
                return self._describe(event, command, read=read, cell=self._write(event.cell, new))
        return self._describe(event, command, cell=self._write(event.cell, command.value))

    def _held_back(self, rank: _Rank, operation: int, step: str) -> str:
        """Why a step of ``operation`` may not happen yet, "" if it may."""
        command = rank.history[operation]
        if why := self._held_by_queue(rank, operation, step):
            return why
        if command.kind == "notify" and any(
            other.awaits_write
            and other.target == command.target
            and (getattr(command.transition.command, "everywhere", False) or other.queue == command.queue)
            for other in rank.unfinished_before(operation)
        ):
            return "a notification comes after earlier writes to its rank, and one has not happened"
        if command.kind == "signal":
            begin = next((place for place in reversed(rank.bundles) if place < operation), 0)
            if any(rank.unfinished_before(operation, begin)):
                return "a signal comes after its bundle, and a step of that has not happened"
        if step == command.located_step and any(
            other.located_cell == command.located_cell for other in rank.unfinished_before(operation)
        ):
            return "an earlier located update of the cell has not happened"
        return ""

    def _held_by_queue(self, rank: _Rank, operation: int, step: str) -> str:
        """Why the queue does not let a step of ``operation`` happen yet, "" if it does."""
        command = rank.history[operation]
        queue = command.queue
        if self.instance.is_unordered(queue or 0):
            held = step == "popb" and command.kind in WRITES and self._fenced(rank, operation)
            return "a fence puts it after an earlier write that has not happened" if held else ""
        stage = ("popa", "popd") if step in ("popa", "popd") else (step,)
        missed = (each for other in rank.pending(queue, operation) for each in stage if other.misses(each))
        first = next(missed, None)
        return f"the queue is FIFO and an earlier {first} has not happened" if first else ""

    def _fenced(self, rank: _Rank, operation: int) -> bool:
        """Whether a fence holds the destination write of ``operation`` back."""
        command = rank.history[operation]
        fences = (
            place
            for place in reversed(rank.fences)
            if place < operation
            and rank.history[place].queue == command.queue
            and rank.history[place].target in (None, command.target)
        )
        # The last such fence orders all that the ones before it do.
        return any(
            other.awaits_write and other.target == command.target
            for other in rank.pending(command.queue, next(fences, 0))
        )

    def _write(self, cell: Cell, value: int) -> Change:
        change = Change(self.instance.cell_name(cell), self.memory[cell], value)
        self.memory[cell] = value
        return change

    def _set(self, rank: _Rank, register: int | None, value: int) -> Change:
        assert register is not None
        change = Change(self.instance.program.registers[register], rank.registers[register], value)
        rank.registers[register] = value
        return change

    def _describe(
        self,
        event: Event,
        issued: _Issued,
        read: int | None = None,
        cell: Change | None = None,
        register: Change | None = None,
        holds: bool | None = None,
    ) -> ReplayedEvent:
        transition = issued.transition
        place = event.rank, transition.occurrence
        text = self._texts.get(place)
        if text is None:
            text = self._texts[place] = show(transition.command)
        tests = None if event.is_step else tested(issued.operands)
        counts = issued.operands.access.counts if isinstance(issued.operands, core.Immediate) else ""
        effects = read, cell, register, issued.queue, issued.target, holds, tests, counts
        return ReplayedEvent(event, text, transition.span, *effects)


def _updated(operation: str | None, type: IntType, old: int, operand: int, expected: int = 0) -> int:
    """What an atomic leaves in a cell that holds ``old``."""
    match operation:
        case "set":
            return operand
        case "add":
            return type.wrap(old + operand)
        case "mul":
            return type.wrap(old * operand)
        case "and":
            return type.wrap(old & operand)
        case "or":
            return type.wrap(old | operand)
        case "xor":
            return type.wrap(old ^ operand)
        case "min":
            return min(old, operand)
        case "max":
            return max(old, operand)
        case "compare_swap":
            return operand if old == expected else old
    left, right = float_value(old), float_value(operand)
    match operation:
        case "add.":
            return float_bits(left + right)
        case "mul.":
            return float_bits(left * right)
        case "min.":
            return old if left < right else operand
    assert operation == "max."
    return operand if left < right else old
