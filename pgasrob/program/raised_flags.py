"""Cells of which it is known what they may still hold once a rank has seen a value there, those that settle with them,
and those that a rank has for itself (`proofs/polling.md`, section 5).

What a flag is: 0, or whatever its owner has stored, until the 1 arrives that somebody puts there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple, assert_never

from pgasrob.program import core
from pgasrob.program.control import ControlAutomaton
from pgasrob.program.core import Cell, Form, Place
from pgasrob.program.declarations import Declared
from pgasrob.program.expressions import Binary, Conditional, Const, Expr, Register, constant, registers_of, rewritten
from pgasrob.program.graphs import reached
from pgasrob.program.later_writes import LaterWrites, Write, phases
from pgasrob.stop_points import stop_point

if TYPE_CHECKING:
    from pgasrob.program.shown_places import Shown

MOST_VALUES = 5
"""Values that a cell may hold: a flag has few."""
MOST_LOOKS = 200_000
"""Control states that are looked at for what copied cells hold; beyond, it may be anything."""
MOST_ADDRESSES = 64
"""Addresses that an expression may give."""


class Flag(NamedTuple):
    """The values of a cell as one rank sees it while it stores nothing: those that it may hold ``before``, at the
    beginning or when the rank has stored them itself, and those that arrive, from others or by steps of its own
    transfers. ``later``: for each value what the cell may hold then or afterwards."""

    before: tuple[int, ...]
    arriving: tuple[int, ...]
    later: Mapping[int, tuple[int, ...]]

    @property
    def values(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys((*self.before, *self.arriving)))

    @property
    def raised(self) -> tuple[int, ...]:
        """The values by which it is seen that something has arrived."""
        return tuple(value for value in self.arriving if value not in self.before) or self.arriving


class _AnyCell(Exception):
    """Some write may be to any cell."""


class Flags:
    """The flags of ``program``, with these ``automata`` by rank, of which there are ``nodes``."""

    def __init__(self, program: Declared, automata: Sequence[ControlAutomaton]) -> None:
        self._program, self._automata = program, automata
        self.nodes, self._size = len(automata), program.cells
        self._order = LaterWrites(automata, frozenset(queue.id for queue in program.queues if queue.unordered))
        self._looks = MOST_LOOKS
        self._known: dict[tuple[int, int | None], Mapping[Cell, Flag]] = {}
        self._flags: dict[tuple[Cell, int, int | None], Flag | None] = {}

    @property
    def merges(self) -> bool:
        """Whether all that the program shows are its commands, so that control states with the same future are one."""
        return not self._program.shows_more

    @property
    def guesses(self) -> bool:
        """Whether assumes are guesses of a front end."""
        return not self._program.source.shows_commands

    @property
    def shown(self) -> Shown | None:
        """Where the source shows something."""
        return self._program.shown

    @cached_property
    def _phases(self) -> list[list[int | None]]:
        return [*map(phases, self._automata)]

    def phase(self, rank: int, state: int) -> int | None:
        """How many barriers all ranks have passed when ``rank`` is at ``state``, if that is one number."""
        return self._phases[rank][state]

    def of(self, rank: int, phase: int | None = None) -> Mapping[Cell, Flag]:
        """The cells that are flags to ``rank`` while it has passed ``phase`` barriers (None: whenever)."""
        if (rank, phase) not in self._known:
            found = ((cell, self.flag(cell, rank, phase)) for cell in self._writes)
            self._known[rank, phase] = {cell: flag for cell, flag in found if flag is not None}
        return self._known[rank, phase]

    def flag(self, cell: Cell, rank: int, phase: int | None) -> Flag | None:
        """What ``cell`` is as a flag to ``rank`` while it has passed ``phase`` barriers (None: whenever), if it is."""
        key = cell, rank, phase
        if key not in self._flags:
            self._flags[key] = self._flag(cell, rank, phase) if cell in self._writes else None
        return self._flags[key]

    def _flag(self, cell: Cell, rank: int, phase: int | None) -> Flag | None:
        writes = self._arriving(cell, rank, phase)
        if any(write.adds for write in self._writes[cell]):
            return self._counter(cell, rank, writes)
        before = {self.initial(cell), *(write.value for write in self._writes[cell] if _is_early(write, rank))}
        values = {*before, *(write.value for write in writes)}
        if None in values or len(values) > MOST_VALUES or not writes:
            return None
        later: dict[int, tuple[int, ...]] = {}
        for value in (each for each in values if each is not None):
            last = [write for write in writes if write.value == value]
            after = [
                each for each in writes if value in before or any(self._order.may_follow(each, one) for one in last)
            ]
            later[value] = tuple(sorted({value, *(each.value for each in after if each.value is not None)}))
        arriving = sorted({write.value for write in writes if write.value is not None})
        if all({*later[value]} >= {*arriving} for value in arriving if value not in before) and len(arriving) > 1:
            return None  # it says nothing to have seen one
        return Flag(tuple(sorted(each for each in before if each is not None)), tuple(arriving), later)

    def _counter(self, cell: Cell, rank: int, writes: Sequence[Write]) -> Flag | None:
        """A cell that is counted up by ``writes``, each once."""
        start, own = self.initial(cell), any(_is_early(write, rank) for write in self._writes[cell])
        if start is None or own or any(not each.adds or self._order.is_repeated(each) for each in writes):
            return None
        values = {start}
        for write in writes:
            if write.value is None or write.value <= 0:
                return None
            values |= {each + write.value for each in values}
            if len(values) > MOST_VALUES:
                return None
        found = tuple(sorted(values))
        return Flag((start,), found[1:], {each: found[place:] for place, each in enumerate(found)})

    def _may_follow_one(self, late: Write, early: Iterable[Write]) -> bool:
        return any(self._order.may_follow(late, each) for each in early)

    def _arriving(self, cell: Cell, rank: int, phase: int | None) -> list[Write]:
        """The writes to ``cell`` but for those of ``rank`` at their issue that may have been issued."""
        found = (write for write in self._writes.get(cell, ()) if not _is_early(write, rank))
        return [write for write in found if not self._comes_later(write, phase)]

    def _comes_later(self, write: Write, phase: int | None) -> bool:
        """Whether ``write`` is behind a barrier that nobody has passed."""
        at = self._phases[write.rank][write.place[0]]
        return phase is not None and at is not None and at > phase

    def settled(self, cell: Cell, rank: int, phase: int | None, seen: Iterable[tuple[Cell, int]]) -> bool:
        """Whether nothing arrives at ``cell`` any more where ``rank`` has seen these values of other cells since it has
        stored something."""
        if not self._is_read_off:
            return False
        left = self._arriving(cell, rank, phase)
        for flag, value in seen:
            writes = self._arriving(flag, rank, phase)
            raised = [each for each in writes if each.value in (value, None)]
            if any(each.adds for each in writes):
                continue
            early = {self.initial(flag), *(each.value for each in self._writes.get(flag, ()) if _is_early(each, rank))}
            if raised and not early & {value, None}:
                left = [each for each in left if self._may_follow_one(each, raised)]
        return not left

    def initial(self, cell: Cell) -> int | None:
        """The initial value of ``cell``, if it is known."""
        return self._initial.get(cell % self._size)

    @cached_property
    def _initial(self) -> dict[int, int]:
        """The initial value of each address of which it is known."""
        return {
            memory.address + offset: value
            for memory in self._program.memory
            if memory.name not in self._program.uncertain
            for offset, value in enumerate(memory.initial)
        }

    # Writes

    @property
    def _is_read_off(self) -> bool:
        """Whether it is known of all writes where they are."""
        return self._all_writes is not None

    @property
    def _writes(self) -> Mapping[Cell, Sequence[Write]]:
        """What may be written to each cell, if it is known of all writes where they are."""
        return self._all_writes or {}

    @cached_property
    def _all_writes(self) -> Mapping[Cell, Sequence[Write]] | None:
        found: dict[Cell, dict[Write, None]] = {}
        copies: list[tuple[Write, Cell]] = []
        try:
            for rank, automaton in enumerate(self._automata):
                for state, leaving in enumerate(automaton.out):
                    for number, edge in enumerate(leaving):
                        for write in self._written(rank, edge.form):
                            found.setdefault(write.cell, {})[write._replace(place=(state, number))] = None
                        copied = self._copied(rank, edge.form)
                        copies += ((write._replace(place=(state, number)), source) for write, source in copied)
        except _AnyCell:
            return None
        copied_to = {write.cell for write, _ in copies}
        stored = {cell: tuple(writes) for cell, writes in found.items() if cell not in copied_to}
        held: dict[tuple[Cell, int], list[set[int | None]] | None] = {}
        values: dict[tuple[Cell, int, tuple[int, int]], Sequence[int | None]] = {}
        for write, source in copies:
            if (key := (source, write.rank)) not in held:
                known = source not in copied_to
                held[key] = self._held(*key, stored.get(source, ())) if known else None
            if (what := (*key, write.place)) not in values:  # a command may write to a cell of each rank
                values[what] = self._copied_values(write, held[key])
            for value in values[what]:
                found.setdefault(write.cell, {})[write._replace(value=value)] = None
        return {cell: tuple(writes) for cell, writes in found.items()}

    def _written(self, rank: int, form: Form) -> Iterator[Write]:
        """The writes of a command, but for those of :meth:`_copied`."""
        match form:
            case core.Immediate(access, update=update):
                for cell in self._cells(access.cell, rank) if access.writes else ():
                    yield Write(cell, rank, True, _value(update), adds=_adds(update))
            case core.Transfer(steps=steps, update=update):
                for number, step in enumerate(steps):
                    if step.access.writes and not _copies(form):
                        by = update if step.kind == "popb" else None
                        for cell in self._cells(step.access.cell, rank):
                            yield Write(cell, rank, False, _value(by), step=number, adds=_adds(by))
            case core.Assign() | core.Test() | core.Wait() | core.Fence() | core.Bundle() | core.Barrier():
                return
            case _:
                assert_never(form)

    def _copied(self, rank: int, form: Form) -> Iterator[tuple[Write, Cell]]:
        """The writes of a command of what a cell of its rank holds, at its issue or later, with that cell."""
        if isinstance(form, core.Transfer) and (source := _source(form)) is not None:
            for number, step in enumerate(form.steps):
                for to in self._cells(step.access.cell, rank) if step.access.writes else ():
                    write = Write(to, rank, False, None, step=number)
                    yield from ((write, cell) for cell in self._cells(source, rank))

    def _held(self, cell: Cell, rank: int, writes: Iterable[Write]) -> list[set[int | None]] | None:
        """What ``cell`` may hold at each control state of ``rank``: what the rank has stored there last, if ``writes``
        are all to it and nobody else does one."""
        stored: dict[tuple[int, int], list[int | None]] = {}
        for write in writes:
            if write.rank != rank or not write.at_issue or write.adds or write.value is None:
                return None
            stored.setdefault(write.place, []).append(write.value)
        out = self._automata[rank].out
        self._looks -= len(out)
        if self._looks < 0:
            return None
        held: list[set[int | None]] = [set() for _ in out]
        held[0].add(self.initial(cell))
        changed = [0]
        while changed:
            stop_point()
            at = changed.pop()
            for number, edge in enumerate(out[at]):
                values = stored.get((at, number), ())
                # A store to one of several cells may leave this one as it was.
                after = {*values, *(held[at] if len(values) != 1 or not _is_one(edge.form) else ())}
                if not after <= held[edge.target]:
                    held[edge.target] |= after
                    changed.append(edge.target)
        return held

    def _copied_values(self, copy: Write, held: Sequence[set[int | None]] | None) -> Sequence[int | None]:
        """What ``copy`` may write, by what its source has ``held`` at each control state, if that is known."""
        if held is None:
            return (None,)
        out, (state, number) = self._automata[copy.rank].out, copy.place
        form, there = out[state][number].form, {state}
        assert isinstance(form, core.Transfer)
        if form.captured is None:  # it is read at any time before a wait for it is over
            there = reached(there, lambda at: [each.target for each in out[at] if not _ends_reading(each.form, form)])
        return list(set[int | None]().union(*(held[each] for each in there)))

    def _cells(self, place: Place, rank: int) -> Iterator[Cell]:
        """The cells at which ``place`` may be in a command of ``rank``."""
        found = addresses(place.address)
        if found is None:
            raise _AnyCell
        owner = rank if place.rank is None else constant(place.rank)
        if owner is not None and not 0 <= owner < self.nodes:
            return  # it faults
        for address in sorted(found):
            if 0 <= address < self._size:
                for each in range(self.nodes) if owner is None else (owner,):
                    yield each * self._size + address

    # A rank's own cells

    def is_own(self, cell: Cell, rank: int) -> bool:
        """Whether nothing but loads and stores of ``rank`` accesses ``cell``."""
        return self._is_read_off and cell // self._size == rank and cell not in self._shared

    @cached_property
    def _shared(self) -> frozenset[Cell]:
        """The cells that something accesses but loads and stores of their own rank."""
        found = set[Cell]()
        for rank, automaton in enumerate(self._automata):
            for edge in automaton.transitions:
                for access in () if _is_plain(edge.form, rank) else core.accesses_of(edge.form):
                    try:
                        found.update(self._cells(access.cell, rank))
                    except _AnyCell:
                        return frozenset(range(self.nodes * self._size))
        return frozenset(found)


def _is_early(write: Write, rank: int) -> bool:
    """Whether ``rank`` writes it itself, at its issue."""
    return write.at_issue and write.rank == rank


def _is_plain(form: Form, rank: int) -> bool:
    """Whether a command of ``rank`` is a load or a store of a cell of its own."""
    if not isinstance(form, core.Immediate) or form.condition is not None:
        return False
    sets = form.update is None or (form.update.operation == "set" and form.register is None)
    return sets and (form.access.cell.rank is None or constant(form.access.cell.rank) == rank)


def _is_one(form: Form) -> bool:
    """Whether a command writes one cell, whatever registers hold."""
    return all(constant(access.cell.address) is not None for access in core.accesses_of(form) if access.writes)


def addresses(expr: Expr) -> set[int] | None:
    """The values of ``expr``: one, or those of an element of an array, `0 <= i && i < 3 ? a + i : -1`; None: any."""
    number = constant(expr)
    if number is not None:
        return {number}
    if not isinstance(expr, Conditional):
        return None
    registers = registers_of(expr.then)
    within = _range(expr.condition, *registers) if len(registers) == 1 else None
    other = addresses(expr.otherwise)
    if within is None or other is None:
        return None
    found = [constant(rewritten(expr.then, partial(_with, Const(each)))) for each in within]
    known = {each for each in found if each is not None}
    return known | other if None not in found else None


def _with(value: Expr, part: Expr) -> Expr | None:
    """``value`` for a register."""
    return value if isinstance(part, Register) else None


def _range(condition: Expr, register: int) -> range | None:
    """The values of ``register`` with which ``condition`` may hold, if these are a few."""
    low = high = None
    stack = [condition]
    while stack:
        match stack.pop():
            case Binary("&&", left, right):
                stack += [left, right]
            case Binary(">=", Register(_, index), Const(bound)) if index == register:
                low = bound
            case Binary("<", Register(_, index), Const(bound)) if index == register:
                high = bound
    if low is None or high is None or high - low > MOST_ADDRESSES:
        return None
    return range(low, high)


def _value(update: core.Update[Expr] | None) -> int | None:
    """The value that an update leaves, if it changes anything, or adds; None: any."""
    if update is None or update.operand is None or (update.operation not in core.CHOOSING and not _adds(update)):
        return None
    return constant(update.operand)


def _adds(update: core.Update[Expr] | None) -> bool:
    return update is not None and update.operation == "add"


def _source(form: core.Transfer[Place, Expr]) -> Place | None:
    """The place in the memory of its own rank that a command copies to where it writes, if it writes nothing else."""
    if form.captured is not None:
        return form.captured.cell if form.update is None else None
    if form.update is not None and form.update.operation != "set":
        return None
    match form.steps:
        case (core.Step("popa", core.Access(Place(rank=None) as source)), core.Step("popb")):
            return source
    return None


def _ends_reading(form: Form, transfer: core.Transfer[Place, Expr]) -> bool:
    """Whether ``transfer`` has read its source when ``form`` is over."""
    queue = constant(transfer.queue)
    return isinstance(form, core.Wait) and queue is not None and constant(form.queue) == queue


def _copies(form: Form) -> bool:
    return isinstance(form, core.Transfer) and _source(form) is not None
