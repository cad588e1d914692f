"""Which values the shared cells may hold, and what a process knows of them at each of its control states.

`ranges` has one interval for each cell for all times. So a rank that has awaited that a cell is not -1 still reads -1
there, and where 99 stands for nobody, ranks go up to 99. Here values are sets (`value_sets`). Of the cells that a
process accesses by constant operands it has a view (`cell_views`), which is followed from state to state: a store of
its own makes it anew, and what it reads under a condition, or tests of the register with what it has read, narrow it.

What is found holds in all runs on the network (`proofs/sc-runs.md`, section 4).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from heapq import heappop, heappush
from typing import NamedTuple

from pgasrob.analysis.barrier_views import Arrivals
from pgasrob.analysis.cell_views import UNKNOWN_QUEUE, View
from pgasrob.analysis.counters import is_wide
from pgasrob.analysis.operand_cases import Case, ImmediateCase, OperandCases, Registers
from pgasrob.analysis.ranges import ranges
from pgasrob.analysis.regions import Location
from pgasrob.analysis.remembered import remembered
from pgasrob.analysis.shared_cells import SharedCells, grown
from pgasrob.analysis.updated_values import applied, operand_and_expected
from pgasrob.analysis.value_sets import NONE, Values, common, hull, united
from pgasrob.program import core
from pgasrob.program.control import Transition
from pgasrob.program.core import Place
from pgasrob.program.expressions import Expr, Register, constant
from pgasrob.program.graphs import following
from pgasrob.program.instance import Instance
from pgasrob.stop_points import stop_point

MOST_COMMANDS = 5_000
"""Commands of all processes up to which the values are looked for."""
MOST_EFFORT, MOST_EFFORT_AT_BARRIERS = 400_000, 100_000
"""Cases of commands that are looked at, one more for eight registers and views that a process has, and one for each
cell that is accessed: some seconds."""
MOST_FOLLOWED = 64
"""Cells of which a process has a view."""

NO_COPY = -1


class Known(NamedTuple):
    """What holds of a process before a control state: its registers, its views of the cells that it follows, and in
    ``copies`` for each register another one that holds the same, or :data:`NO_COPY`."""

    registers: Registers
    views: tuple[View, ...]
    copies: tuple[int, ...]

    def agreeing(self) -> Known:
        """The same, with what registers that hold the same have in common, and cells that held what they do."""
        found = list(self.registers)
        for index, source in enumerate(self.copies):
            if source != NO_COPY:
                found[index] = found[source] = common(found[index], found[source])
        registers = tuple(found)
        return Known(registers, tuple(view.narrowed(registers) for view in self.views), self.copies)


class TooMuch(Exception):
    """Raised where it would take too long."""


@remembered
def cells_exclude_faults(instance: Instance) -> bool:
    """Whether no command faults on any run, by the values that cells and registers may have."""
    if instance.commands > MOST_COMMANDS:
        return False
    looks = [CellValues(instance)]
    if _have_barriers(instance):
        looks.append(CellValues(instance, meets=True, most=MOST_EFFORT_AT_BARRIERS))
    try:
        return any(not any(look.follow()) for look in looks)
    except TooMuch:
        return False


class CellValues:
    """The values of cells and registers of ``instance``, after :meth:`follow`; ``meets``: with what processes learn of
    each other's views at barriers."""

    def __init__(self, instance: Instance, meets: bool = False, most: int = MOST_EFFORT) -> None:
        self._instance, self._ranges = instance, ranges(instance)
        self.cells = SharedCells(instance, self._ranges)
        self._left = most
        self._queue: list[tuple[bool, int, int]] = []
        self._queued: set[Location] = set()
        self._operands: dict[tuple[int, int, int], OperandCases] = {}
        self._later: dict[int, list[int]] = {}
        self._followed = [_followed(instance, self.cells, process, meets) for process in range(instance.processes)]
        self._is_barrier = [
            [any(isinstance(each.form, core.Barrier) for each in leaving) for leaving in automaton.out]
            for automaton in instance.automata
        ]
        self._arrivals = Arrivals(instance, self._followed) if meets else None
        self._known: list[list[Known | None]] = [[None] * len(automaton.out) for automaton in instance.automata]

    def follow(self) -> Iterator[bool]:
        """Look for the values, saying of each command that is looked at whether it may fault; all are known at the
        end. Raises :class:`TooMuch`."""
        registers = tuple(frozenset((value,)) for value in self._instance.registers)
        for process, followed in enumerate(self._followed):
            views = tuple(View(self.cells[number].initial) for number in followed)
            self._known[process][0] = Known(registers, views, (NO_COPY,) * len(registers))
            self._push((0, process))
        while self._queue:
            stop_point()
            _, state, process = heappop(self._queue)
            place = state, process
            self._queued.discard(place)
            for transition in self._instance.automata[process].out[state]:
                yield self._command(place, transition)

    def register(self, process: int, state: int, index: int) -> Values:
        """The values of a register of ``process`` before ``state``; none where it never comes there."""
        known = self._known[process][state]
        return NONE if known is None else known.registers[index]

    def view(self, process: int, state: int, number: int) -> Values:
        """The values of a cell while ``process`` is before ``state``; none where it never comes there."""
        known = self._known[process][state]
        return NONE if known is None else self._view(process, known, number)

    def _push(self, place: Location) -> None:
        if place not in self._queued:
            self._queued.add(place)
            state, process = place
            # Barriers last, when it is known with what all come there; else they are looked at again and again.
            heappush(self._queue, (self._is_barrier[process][state], state, process))

    # Memory

    def _view(self, process: int, known: Known, number: int) -> Values:
        cell, index = self.cells[number], self._followed[process].get(number)
        if index is None:
            return cell.ever
        view = known.views[index]
        found = united(cell.others(process), view.base)
        return united(found, cell.sent_by(process)) if view.pending else found

    def _read(self, place: Location, known: Known, number: int) -> Values:
        """What a command at ``place`` reads at its issue."""
        self.cells[number].readers.add(place)
        return self._view(place[1], known, number)

    def _read_later(self, place: Location, known: Known, number: int, target: int) -> Values:
        """What a step may read, at any time after the issue of a command that leads to ``target``."""
        found, process, cell = self._read(place, known, number), place[1], self.cells[number]
        if number not in self._followed[process]:
            return found
        for writes in (cell.issued.get(process, {}), cell.sent.get(process, {})):
            for other, values in writes.items():
                if self._comes_after(process, target, other):
                    found = united(found, values)
        return found

    def _comes_after(self, process: int, state: int, other: int) -> bool:
        """Whether ``process`` may come to ``other`` once it is at ``state``."""
        if process not in self._later:
            out = self._instance.automata[process].out
            self._later[process] = following([[edge.target for edge in leaving] for leaving in out])
        return bool(self._later[process][state] >> other & 1)

    def _numbers(self, ranks: Values, addresses: Values) -> list[int]:
        (low, high), (first, last) = hull(ranks), hull(addresses)
        at = ranks if isinstance(ranks, frozenset) else range(low, high + 1)
        found = addresses if isinstance(addresses, frozenset) else range(first, last + 1)
        self._left -= len(at) * len(found)
        if self._left < 0:
            raise TooMuch
        return list(dict.fromkeys(self.cells.number(rank, address) for rank in at for address in found))

    def _write(self, place: Location, number: int, values: Values, in_step: bool, is_sum: bool = False) -> None:
        cell = self.cells[number]
        if values and cell.write(cell.sent if in_step else cell.issued, place, values, is_sum):
            self._changed(number)

    def _changed(self, number: int) -> None:
        for reader in self.cells[number].readers:
            self._push(reader)

    def _update(
        self,
        place: Location,
        number: int,
        update: core.Update[Expr],
        held: Values,
        given: tuple[Values, Values],
        in_step: bool,
    ) -> tuple[Values, Values]:
        """Note that a cell with one of the values ``held`` is updated: those it may have had, and those it has then."""
        state, process = place
        adds = update.operation == "add" and is_wide(update.type) and bool(given[0])
        is_sum = adds and not self._instance.automata[process].goes_round[state]
        if is_sum:
            cell = self.cells[number]
            if cell.add(place, given[0]):
                self._changed(number)
            sums = cell.sums(place)
            held = held if sums is None else common(held, sums)
        if update.reads and not held:
            return NONE, NONE
        content, changed = applied(update, held, *given)
        self._write(place, number, changed, in_step, is_sum)
        return held, content

    # Commands

    def _command(self, place: Location, transition: Transition) -> bool:
        state, process = place
        known = self._known[process][state]
        assert known is not None, "only what has been reached is followed"
        key = process, transition.occurrence, transition.variant
        if key not in self._operands:
            nodes, size, count = self._instance.nodes, self._instance.size, len(self._instance.registers)
            self._operands[key] = OperandCases(transition.form, nodes, size, count)
        operands, form = self._operands[key], transition.form
        cases, faults = operands.find(known.registers)
        self._left -= 1 + len(cases) + (len(known.registers) + len(known.views)) // 8
        after = _Result(known, operands.registers)
        for case in cases:
            match form:
                case core.Immediate():
                    self._immediate(place, operands.enabled(form, case), after)
                case core.Transfer():
                    self._transfer(place, transition.target, form, case, after)
                case core.Assign():
                    after.keep(case, case.operands[0])
                case _:
                    after.keep(case)
        met = self._arrivals if isinstance(form, core.Barrier) else None
        if after.is_possible and (met is None or self._passes(met, place, known)):
            set_now = core.register_set(form)
            behind = Known(
                after.registers(set_now), self._views(place, form, after), _copies(form, known.copies, set_now)
            )
            self._flow(process, transition.target, behind.agreeing())
        return faults

    def _immediate(self, place: Location, given: ImmediateCase, after: _Result) -> None:
        form = given.form
        reads = form.access.reads or (form.update is not None and form.update.reads)
        loaded, possible = NONE, not reads
        ranks = frozenset((self._instance.home[place[1]],)) if form.access.cell.rank is None else given.ranks
        for number in self._numbers(ranks, given.addresses):
            held = given.satisfying(self._read(place, after.known, number)) if reads else NONE
            new = held
            if form.update is not None and (held or not reads):
                held, new = self._update(place, number, form.update, held, given.given, in_step=False)
            if reads and not held:
                continue
            possible, loaded = True, united(loaded, held)
            after.contents[number] = united(after.contents.get(number, NONE), new)
        if possible:
            after.keep(given.case, loaded)

    def _transfer(
        self, place: Location, target: int, form: core.Transfer[Place, Expr], case: Case, after: _Result
    ) -> None:
        accesses, given, update, known = core.accesses_of(form), list(case.operands), form.update, after.known
        addresses, ranks = given[: len(accesses)], given[len(accesses)]
        carried, expected = operand_and_expected(update, given[len(accesses) + 2 :])
        home = frozenset((self._instance.home[place[1]],))
        numbers = [
            self._numbers(home if access.cell.rank is None else ranks, each)
            for access, each in zip(accesses, addresses, strict=True)
        ]
        if form.captured is not None:
            carried = _union(self._read(place, known, number) for number in numbers[0])
        sure = set[int]()
        for step, cells in zip(form.steps, numbers[len(numbers) - len(form.steps) :], strict=True):
            match step.kind:
                case "popa":
                    carried = _union(self._read_later(place, known, number, target) for number in cells)
                case "popd":
                    expected = _union(self._read_later(place, known, number, target) for number in cells)
                case "popb" if update is not None:
                    held = NONE
                    for number in cells:
                        old = self._read_later(place, known, number, target)
                        old = self._update(place, number, update, old, (carried, expected), in_step=True)[0]
                        held = united(held, old)
                    carried = held
                    sure.update(cells if len(cells) == 1 and not update.reads else ())
                case _:
                    for number in cells:
                        self._write(place, number, carried, in_step=True)
                    sure.update(cells if len(cells) == 1 else ())
            after.sent.update(cells if step.access.writes else ())
        after.surely_sent = sure if after.surely_sent is None else after.surely_sent & sure
        after.keep(case)

    # Control states

    def _passes(self, arrivals: Arrivals, place: Location, known: Known) -> bool:
        """Note that a process comes to a barrier; whether all others may come there, too."""
        process = place[1]
        shared = [number for number in self._followed[process] if arrivals.shared(process, number)]
        self._left -= len(shared)
        for other in arrivals.arrive(place, {number: self._read(place, known, number) for number in shared}):
            if other != place:
                self._push(other)
        return arrivals.is_passed(place)

    def _views(self, place: Location, form: core.Form, after: _Result) -> tuple[View, ...]:
        """The views behind a command."""
        followed = self._followed[place[1]]
        found = [view.loaded(core.register_set(form)) for view in after.known.views]
        for number, values in after.contents.items():
            index = followed.get(number)
            if index is None:
                continue
            surely = len(after.contents) == 1 and self.cells.is_one(number)
            assert isinstance(form, core.Immediate)
            if form.update is not None:
                found[index] = found[index].written(values, surely)
            elif surely:
                found[index] = found[index].seen(values)
                if form.register is not None:
                    found[index] = found[index]._replace(link=form.register)
        if isinstance(form, core.Barrier) and self._arrivals is not None:
            for number, index in followed.items():
                allowed = self._arrivals.allowed(place, number)
                if allowed is not None:
                    found[index] = found[index]._replace(base=common(found[index].base, allowed))
        if isinstance(form, core.Transfer):
            queue = constant(form.queue)
            for number in after.sent & followed.keys():
                sure = number in (after.surely_sent or ()) and self.cells.is_one(number)
                found[followed[number]] = found[followed[number]].sent(UNKNOWN_QUEUE if queue is None else queue, sure)
        if isinstance(form, core.Wait) and not form.local and (queue := constant(form.queue)) is not None:
            for number, index in followed.items():
                if queue in found[index].pending:
                    self.cells[number].readers.add(place)
                    found[index] = found[index].waited(queue, self.cells[number].sent_by(place[1]))
        return tuple(found)

    def _flow(self, process: int, state: int, arriving: Known) -> None:
        if not self._ranges.reachable(process, state):
            return
        before = self._known[process][state]
        registers, views, copies = [], arriving.views, arriving.copies
        for index, new in enumerate(arriving.registers):
            bound = self._ranges.register(process, state, index)
            assert bound is not None, "it is reachable"
            registers.append(grown(NONE if before is None else before.registers[index], new, bound))
        if before is not None:
            views = tuple(
                one.joined(other, self.cells[number].bound)
                for one, other, number in zip(before.views, views, self._followed[process], strict=True)
            )
            copies = tuple(one if one == two else NO_COPY for one, two in zip(before.copies, copies, strict=True))
        found = Known(tuple(registers), views, copies)
        if NONE not in registers and found != before:
            self._known[process][state] = found
            self._push((state, process))


def _have_barriers(instance: Instance) -> bool:
    """Whether ranks may learn something of each other at a barrier. Threads of a rank may have passed different numbers
    of barriers: nothing is learnt then."""
    return not instance.has_threads and any(isinstance(form, core.Barrier) for form in instance.forms)


def _union(values: Iterable[Values]) -> Values:
    return reduce(united, values, NONE)


class _Result:
    """What a command makes of what is ``known``, put together from its cases; it has read ``registers``.

    ``contents``: what the cells hold then that it may have accessed at its issue. ``sent``, ``surely_sent``: the cells
    that its steps may write, and those that they do write.
    """

    def __init__(self, known: Known, registers: Sequence[int]) -> None:
        self.known = known
        self.contents: dict[int, Values] = {}
        self.sent: set[int] = set()
        self.surely_sent: set[int] | None = None
        self._registers = registers
        self._read: tuple[Values, ...] | None = None
        self._value: Values = NONE

    @property
    def is_possible(self) -> bool:
        """Whether there is a case in which the command is issued."""
        return self._read is not None

    def keep(self, case: Case, value: Values = NONE) -> None:
        """Add a case in which the command is issued, and the values of the register that it sets."""
        self._read = case.read if self._read is None else tuple(map(united, self._read, case.read))
        self._value = united(self._value, value)

    def registers(self, loaded: int | None) -> Registers:
        """The registers behind the command, which sets that of the number ``loaded``."""
        found = list(self.known.registers)
        for index, values in zip(self._registers, self._read or (), strict=True):
            found[index] = values
        if loaded is not None:
            found[loaded] = self._value
        return tuple(found)


def _copies(form: core.Form, copies: tuple[int, ...], set_now: int | None) -> tuple[int, ...]:
    """The copies of registers behind a command that sets ``set_now``."""
    if set_now is None:
        return copies
    found = [NO_COPY if set_now in (index, source) else source for index, source in enumerate(copies)]
    if isinstance(form, core.Assign) and isinstance(form.value, Register) and form.value.index != set_now:
        found[set_now] = form.value.index
    return tuple(found)


def _followed(instance: Instance, cells: SharedCells, process: int, meets: bool) -> dict[int, int]:
    """The numbers of the cells of which ``process`` has a view, with their places in it: those that constant operands
    name where it reads; if others may learn of what it knows, also where it writes."""
    found: dict[int, int] = {}
    for transition in instance.automata[process].transitions:
        form = transition.form
        rank = core.target(form)
        for access, reads in zip(core.accesses_of(form), core.observed(form), strict=True):
            here = instance.home[process] if access.cell.rank is None or rank is None else constant(rank)
            address = constant(access.cell.address)
            if not (reads or meets) or here is None or address is None or len(found) == MOST_FOLLOWED:
                continue
            if 0 <= here < instance.nodes and 0 <= address < instance.size:
                number = cells.number(here, address)
                if cells.is_one(number):
                    found.setdefault(number, len(found))
    return found
