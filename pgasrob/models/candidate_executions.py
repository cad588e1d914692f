"""Candidates for executions of an axiomatic model: the events of one path of each thread, and their values by
reads-from.

A model says which events an instruction has (:class:`Path` records them). What all such models have in common is here:
the paths of the threads (choices and loops, a compare-and-set that succeeds or fails), and values. What a thread's
reads read decides what its later events write, and whether its assumptions hold. The model chooses which write each
read reads from; :class:`Values` computes what follows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product

from pgasrob.models.litmus.instructions import Instruction
from pgasrob.models.litmus.litmus_program import Outcome, Program
from pgasrob.models.model_interface import Event, Refusal
from pgasrob.program.expressions import Evaluator, Expr, Fault, evaluator, registers_of
from pgasrob.program.statements import NOWHERE, Span
from pgasrob.stop_points import stop_point

INITIAL = -1
"""The source of a read that reads from the initial write of its location."""


@dataclass(frozen=True, slots=True)
class Action:
    """An event of a path. Its values are not known yet, for they depend on what is read. ``towards``: the remote node
    of its operation."""

    thread: int
    operation: int
    kind: str
    location: int | None = None
    reads: bool = False
    writes: bool = False
    towards: int | None = None
    span: Span = NOWHERE


# A slot is a place where a value arises in a candidate.


@dataclass(frozen=True, slots=True)
class _Constant:
    value: int


@dataclass(frozen=True, slots=True)
class _Read:
    """The value that event number ``event`` of the path reads."""

    event: int


@dataclass(frozen=True, slots=True)
class _Computed:
    """``compute`` on the values of ``parts`` by register; one that is needed nowhere is None."""

    compute: Evaluator
    parts: tuple[int | None, ...]
    span: Span


_Slot = _Constant | _Read | _Computed


class Path:
    """The events of one path of a thread, as the model adds them one instruction after the other."""

    def __init__(self, program: Program, thread: int) -> None:
        self.program, self.thread = program, thread
        self.actions: list[Action] = []
        self.slots: list[_Slot] = [_Constant(0)]
        self.registers = [0] * len(program.threads[thread].registers)
        """The slot of each register by now."""
        self.written: dict[int, int] = {}
        """The slot of what each write writes, by the number of the event."""
        self.conditions: list[tuple[int, bool]] = []
        """Slots, and whether each must hold."""
        self.fixed: dict[int, int] = {}
        """The value of a slot whenever the conditions hold."""
        self.operation = 0
        self.span = NOWHERE

    def add(self, kind: str, location: int | None = None, *, towards: int | None = None) -> int:
        """Add an event that reads and writes nothing. Returns its number."""
        return self._add(kind, location, False, False, towards)

    def read(self, kind: str, location: int, *, towards: int | None = None) -> int:
        """Add an event that reads. Returns the slot of the value that it reads."""
        return self._slot(_Read(self._add(kind, location, True, False, towards)))

    def write(self, kind: str, location: int, slot: int, *, towards: int | None = None) -> None:
        """Add an event that writes the value in ``slot``."""
        self.written[self._add(kind, location, False, True, towards)] = slot

    def update(self, kind: str, location: int, *, towards: int | None = None) -> tuple[int, int]:
        """Add an event that reads and writes. Returns its number, for ``written``, and the slot of the value that it
        reads."""
        number = self._add(kind, location, True, True, towards)
        return number, self._slot(_Read(number))

    def computed(self, expr: Expr) -> int:
        """The slot of the value that an expression over the thread's registers has at this point of the path."""
        needed = registers_of(expr)
        parts = tuple(slot if number in needed else None for number, slot in enumerate(self.registers))
        return self._slot(_Computed(evaluator(expr), parts, self.span))

    def function(self, compute: Callable[[Sequence[int]], int], *slots: int) -> int:
        """The slot of the value of ``compute`` for the values in ``slots``."""
        return self._slot(_Computed(compute, slots, self.span))

    def require(self, slot: int, holds: bool = True) -> None:
        """The path is taken only if the value in ``slot`` is not zero or, without ``holds``, is zero."""
        self.conditions.append((slot, holds))

    def fix(self, slot: int, other: int) -> None:
        """Note that the conditions say that ``slot`` holds the same as ``other``."""
        value = self._certain(other)
        if value is not None:
            self.fixed[slot] = value

    @property
    def open(self) -> bool:
        """Whether all conditions can hold, as far as that is known without the values that are read."""
        values = [(self._certain(slot), holds) for slot, holds in self.conditions]
        return all(value is None or bool(value) == holds for value, holds in values)

    def _certain(self, slot: int) -> int | None:
        if slot in self.fixed:
            return self.fixed[slot]
        match self.slots[slot]:
            case _Constant(value):
                return value
            case _Computed(compute, parts):
                values = [0 if part is None else self._certain(part) for part in parts]
                known = [value for value in values if value is not None]
                try:
                    return compute(known) if len(known) == len(values) else None
                except Fault:
                    return None
        return None

    def _add(self, kind: str, location: int | None, reads: bool, writes: bool, towards: int | None) -> int:
        action = Action(self.thread, self.operation, kind, location, reads, writes, towards, self.span)
        self.actions.append(action)
        return len(self.actions) - 1

    def _slot(self, slot: _Slot) -> int:
        self.slots.append(slot)
        return len(self.slots) - 1


Expansion = Callable[[Path, Instruction], Sequence[Callable[[], object]]]
"""The alternatives that a model gives for an instruction on a path, each of which adds its events to the path."""


def paths_of(program: Program, thread: int, expand: Expansion) -> Iterator[Path]:
    """Every path of a thread, with the events of the model's ``expand``. Paths whose conditions contradict one another
    whatever is read are left out."""
    for instructions in dict.fromkeys(program.threads[thread].graph.paths()):
        choices: list[int] = []
        while True:
            stop_point()
            path = Path(program, thread)
            ways: list[int] = []
            for number, instruction in enumerate(instructions):
                path.operation, path.span = number - instruction.part.place, instruction.span
                alternatives = expand(path, instruction)
                if len(ways) == len(choices):
                    choices.append(0)
                ways.append(len(alternatives))
                alternatives[choices[number]]()
            if path.open:
                yield path
            while choices and choices[-1] + 1 == ways[len(choices) - 1]:
                choices.pop()
            if not choices:
                break
            choices[-1] += 1


class Candidate:
    """One path of each thread. Events are numbered thread by thread in program order; there are no initial writes."""

    def __init__(self, program: Program, paths: Sequence[Path]) -> None:
        self.program, self.paths = program, paths
        self.actions: list[Action] = []
        self.slots: list[_Slot] = []
        self.written: dict[int, int] = {}
        self.conditions: list[tuple[int, bool]] = []
        self.finals: list[tuple[int, ...]] = []
        """The slots of the registers of each thread in the end."""
        for path in paths:
            events, slots = len(self.actions), len(self.slots)
            self.actions += path.actions
            for slot in path.slots:
                match slot:
                    case _Read(event):
                        self.slots.append(_Read(event + events))
                    case _Computed(compute, parts, span):
                        moved = tuple(None if part is None else part + slots for part in parts)
                        self.slots.append(_Computed(compute, moved, span))
                    case _:
                        self.slots.append(slot)
            self.written.update((event + events, slot + slots) for event, slot in path.written.items())
            self.conditions += [(slot + slots, holds) for slot, holds in path.conditions]
            self.finals.append(tuple(slot + slots for slot in path.registers))

    @cached_property
    def reads(self) -> tuple[int, ...]:
        """The events that read."""
        return tuple(number for number, action in enumerate(self.actions) if action.reads)

    @cached_property
    def writes(self) -> dict[int, tuple[int, ...]]:
        """The events that write to each location that is written."""
        found: dict[int, tuple[int, ...]] = {}
        for number, action in enumerate(self.actions):
            if action.writes:
                assert action.location is not None
                found[action.location] = (*found.get(action.location, ()), number)
        return found

    @cached_property
    def locations(self) -> tuple[int, ...]:
        """The locations that are accessed."""
        return tuple(sorted({action.location for action in self.actions if action.location is not None}))

    def events(self, values: Values) -> tuple[Event, ...]:
        """The events of an execution: the initial writes of the locations that are accessed, then the others."""
        initial = [
            Event(None, 0, "lW", number, writes=self.program.locations[number].initial) for number in self.locations
        ]
        return (
            *initial,
            *(
                Event(
                    action.thread,
                    action.operation,
                    action.kind,
                    action.location,
                    values.read(number) if action.reads else None,
                    values.written(number) if action.writes else None,
                    action.span,
                    action.towards,
                )
                for number, action in enumerate(self.actions)
            ),
        )

    def outcome(self, values: Values, last: Sequence[int]) -> Outcome:
        """The outcome when the last write to each location of the program is the event in ``last`` (or INITIAL)."""
        memory = tuple(
            location.initial if event == INITIAL else values.written(event)
            for location, event in zip(self.program.locations, last, strict=True)
        )
        return self.program.outcome(memory, tuple(tuple(map(values.value, slots)) for slots in self.finals))


def candidates(program: Program, expand: Expansion) -> Iterator[Candidate]:
    """Every combination of paths of the threads of a bounded program."""
    each = [tuple(paths_of(program, thread, expand)) for thread in range(len(program.threads))]
    return (Candidate(program, paths) for paths in product(*each))


class Unknown(Exception):
    """A value depends on a read whose source has not been chosen yet."""


class Circular(Exception):
    """A value depends on itself: it would come out of thin air."""


class Faulted(Exception):
    """An expression cannot be evaluated; ``refusal`` says why."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.reason)
        self.refusal = refusal


@dataclass
class Values:
    """The values of a candidate by reads-from: ``sources`` has for each event the write that it reads from, INITIAL for
    the initial one, or None (it does not read, or that is not chosen yet)."""

    candidate: Candidate
    sources: Sequence[int | None]
    _known: dict[int, int | None] = field(default_factory=dict)

    def value(self, slot: int) -> int:
        """The value in ``slot``. Raises :class:`Unknown`, :class:`Circular`, :class:`Faulted`."""
        if slot in self._known:
            value = self._known[slot]
            if value is None:
                raise Circular
            return value
        self._known[slot] = None
        try:
            value = self._compute(self.candidate.slots[slot])
        except Exception:
            del self._known[slot]
            raise
        self._known[slot] = value
        return value

    def read(self, event: int) -> int:
        """The value that ``event`` reads."""
        source = self.sources[event]
        if source is None:
            raise Unknown
        if source == INITIAL:
            location = self.candidate.actions[event].location
            assert location is not None
            return self.candidate.program.locations[location].initial
        return self.written(source)

    def written(self, event: int) -> int:
        """The value that ``event`` writes."""
        return self.value(self.candidate.written[event])

    def may_hold(self) -> bool:
        """Whether the conditions of the paths may hold, as far as values are known. A condition with a fault counts as
        holding, so that the run with the fault is found."""
        for slot, holds in self.candidate.conditions:
            try:
                value = self.value(slot)
            except (Unknown, Faulted):
                continue
            except Circular:
                return False
            if bool(value) != holds:
                return False
        return True

    def _compute(self, slot: _Slot) -> int:
        match slot:
            case _Constant(value):
                return value
            case _Read(event):
                return self.read(event)
            case _Computed(compute, parts, span):
                values = [0 if part is None else self.value(part) for part in parts]
                try:
                    return compute(values)
                except Fault as fault:
                    raise Faulted(Refusal(f"an expression has no value: {fault}", span)) from None
