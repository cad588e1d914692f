"""Finds reads that are one of several waits: wherever the rank goes on to, it has to see the flag that is not there,
and where it is then does not depend on the order in which it has seen that and others (`proofs/polling.md`, section 5).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial, reduce
from itertools import product
from operator import or_
from typing import NamedTuple

from pgasrob.program import core
from pgasrob.program.certain import FALSE, TRUE, both, either, is_large
from pgasrob.program.control import Transition
from pgasrob.program.core import Cell
from pgasrob.program.expressions import (
    RELATIONS,
    Binary,
    Const,
    Expr,
    Register,
    constant,
    faults_inside,
    flattened,
    folded,
    registers_of,
)
from pgasrob.program.graphs import following, reached
from pgasrob.program.open_conditions import Facts, as_conditions, atoms, choices, truth
from pgasrob.program.raised_flags import Flag, Flags, addresses
from pgasrob.program.reached_values import ReachedValues, Situation, cell_of
from pgasrob.program.walks import Values, Walks, held, over
from pgasrob.stop_points import stop_point

MOST_CONFIGURATIONS = 8_000
"""Configurations that are looked at for one read."""
MOST_MERGED = 3_000
"""Control states up to which it is looked at which of them have the same future."""

Read = core.Immediate[core.Place, Expr]
Seen = tuple[tuple[Cell, int], ...]
"""Flags, each with the value that has been seen there last."""
Waited = frozenset[tuple[int, bool]]
"""The queues for which a rank has waited, and whether for what is local in it."""


class _Configuration(NamedTuple):
    """A control state, what registers hold that are live there and cells of the rank's own if it is not what they held
    after the read, and since then the flags that have been seen, and the waits."""

    state: int
    values: tuple[tuple[int, Expr], ...]
    cells: tuple[tuple[Cell, Expr], ...]
    seen: Seen
    waited: Waited


class _Goal(NamedTuple):
    """A configuration to come to, and the values of flags with which the rank comes there, each being read once."""

    at: _Configuration
    given: frozenset[Seen]


class _Reading(NamedTuple):
    """The control states from which commands read: by the addresses that these may be at, None for any, and all; as
    bits."""

    at: dict[int | None, int]
    all: int


_Way = tuple[_Configuration, tuple[Cell, int] | None]
"""Where a command leads, with the flag that it reads, if any, and what that gives."""


class Gathering:
    """The reads of the rank of ``walks`` that gather ``flags``."""

    def __init__(self, walks: Walks, flags: Flags) -> None:
        self._walks, self._of_all = walks, flags
        rank = constant(walks.rank)
        assert rank is not None
        self._rank = rank
        self._left = 0
        self._tested: dict[tuple[int, int], bool] = {}
        # Of the read at hand:
        self._flags: Mapping[Cell, Flag] = {}
        self._phase: int | None = None
        self._cells: Mapping[Cell, int] = {}

    # Which registers decide

    def fails(self, state: int, read: Transition) -> Expr:
        """The condition, on the registers after ``read``, under which the flag is not there, and it makes no difference
        whether the rank waits for it here or later."""
        form = read.form
        assert isinstance(form, core.Immediate) and form.register is not None
        if not self._looked_at or not self._is_read_again(read.target, form.access.cell.address):
            return FALSE
        self._flags, self._phase = self._reached.flags_at(state), self._of_all.phase(self._rank, state)
        self._left = MOST_CONFIGURATIONS
        rows: dict[Situation, list[Expr]] = {}
        for here in sorted(self._reached.at[state]):
            cell = cell_of(form, here.values, self._rank, self._walks.size)
            flag = None if cell is None else self._flags.get(cell)
            if cell is None or flag is None:
                return FALSE
            kept = {each: value for each, value in here.registers if each in self._walks.live[read.target]}
            self._cells = dict(here.cells)
            for value in flag.values:
                found = self._gathers(read, kept, cell, value)
                after = tuple(sorted({**kept, form.register: value}.items()))
                rows.setdefault(Situation(after), []).append(found)
        found = _joined({row: reduce(both, each, TRUE) for row, each in rows.items()}, form.register)
        return FALSE if is_large(found) else found

    @cached_property
    def _looked_at(self) -> bool:
        """Whether some flag is read."""
        return bool(self._region)

    def _is_read_again(self, state: int, address: Expr) -> bool:
        """Whether a rank may come from ``state`` to another read of the cell: else no read gathers."""
        found, behind = addresses(address), self._behind[state]
        if found is None:
            return bool(behind & self._reading.all)
        return any(behind & self._reading.at.get(each, 0) for each in (None, *found))

    @cached_property
    def _behind(self) -> list[int]:
        """For each control state those that come after it without anything that is not followed, as bits."""
        return following([self._followed(state) for state in range(len(self._walks.out))])

    @cached_property
    def _reading(self) -> _Reading:
        at = dict[int | None, int]()
        for state, leaving in enumerate(self._walks.out):
            for edge in leaving:
                if isinstance(edge.form, core.Immediate) and edge.form.update is None:
                    found = addresses(edge.form.access.cell.address)
                    for each in (None,) if found is None else found:
                        at[each] = at.get(each, 0) | 1 << state
        return _Reading(at, reduce(or_, at.values(), 0))

    def _followed(self, state: int) -> list[int]:
        return [edge.target for edge in self._walks.out[state] if self._is_followed(edge.form)]

    @cached_property
    def _region(self) -> set[int]:
        """The control states from which a rank goes on after a read of a flag without anything that is not followed."""
        starts = {
            edge.target
            for state, leaving in enumerate(self._walks.out)
            for edge in leaving
            if isinstance(edge.form, core.Immediate) and edge.form.register is not None
            if self._may_be_flag(edge.form, state)
        }
        return reached(starts, self._followed)

    def _may_be_flag(self, form: Read, state: int) -> bool:
        if form.update is not None:
            return False
        place, phase = form.access.cell, self._of_all.phase(self._rank, state)
        found, owner = addresses(place.address), self._rank if place.rank is None else constant(place.rank)
        if found is None:
            return bool(self._of_all.of(self._rank, phase))
        owners = range(self._of_all.nodes) if owner is None else (owner,)
        cells = (each * self._walks.size + address for each in owners for address in found)
        return any(self._of_all.flag(cell, self._rank, phase) is not None for cell in cells)

    def _is_followed(self, form: core.Form) -> bool:
        match form:
            case core.Assign() | core.Wait():
                return True
            case core.Test(_, blocks):
                return blocks
            case core.Immediate(update=update):
                return update is None or self._is_own(form)
        return False

    def _is_own(self, form: Read) -> bool:
        """Whether a store may be one to a cell of the rank's own."""
        stores = form.register is None and form.update is not None and form.update.operation == "set"
        place, size = form.access.cell, self._walks.size
        if not stores or (place.rank is not None and constant(place.rank) != self._rank):
            return False
        found = addresses(place.address) or ()
        inside = [self._rank * size + each for each in found if 0 <= each < size]
        return bool(inside) and all(self._of_all.is_own(each, self._rank) for each in inside)

    @cached_property
    def _reached(self) -> ReachedValues:
        """What the rank may have in what its commands after reads of flags look at."""
        size, forms = self._walks.size, [edge.form for state in self._region for edge in self._walks.out[state]]
        registers = frozenset[int]().union(*map(core.registers_read, forms))
        cells = set[Cell]()
        for form in forms:
            if isinstance(form, core.Immediate) and form.update is None and form.register is not None:
                cells.update(self._rank * size + each for each in addresses(form.access.cell.address) or ())
        own = frozenset(each for each in cells if self._of_all.is_own(each, self._rank))
        assigns = [edge.form for leaving in self._walks.out for edge in leaving if isinstance(edge.form, core.Assign)]
        while more := {
            each for form in assigns if form.register in registers for each in registers_of(form.value) - registers
        }:
            registers |= more
        return ReachedValues(self._walks, self._of_all, registers, own)

    # One situation

    def _gathers(self, read: Transition, registers: Mapping[int, int], cell: Cell, value: int) -> Expr:
        """When ``read``, which gives ``value``, gathers, by the registers that are not known."""
        form = read.form
        assert isinstance(form, core.Immediate) and form.register is not None
        known: dict[int, Expr] = {each: Const(other) for each, other in registers.items()}
        register = form.register

        def given(number: int) -> _Configuration:
            return self._at(read.target, {**known, register: Const(number)}, {}, ((cell, number),), frozenset())

        flag, goals = self._flags[cell], dict[tuple[_Configuration, frozenset[tuple[Expr, bool]]], set[Seen]]()
        for other in flag.raised:
            if other != value:
                for here, facts in self._all_raised(given(other)):
                    at = here._replace(seen=tuple((each, 0) for each, _ in here.seen))
                    goals.setdefault((at, frozenset(facts.items())), set()).add(here.seen)
        found: Expr = FALSE
        for (at, kept), vectors in goals.items():
            goal, facts = _Goal(at, frozenset(vectors)), dict(kept)
            if all(truth(each, facts) for each in flattened(found, "||")):
                continue
            passed = self._comes_to(goal, given(value), facts)
            if passed is not None and not self._shows(read, given(flag.raised[0]), goal, passed):
                found = either(found, reduce(both, as_conditions(facts), TRUE))
                if found == TRUE:
                    break
        return found

    def _at(self, state: int, values: Values, cells: Mapping[Cell, Expr], seen: Seen, waited: Waited) -> _Configuration:
        live = self._walks.live[state]
        kept = ((register, value) for register, value in values.items() if register in live and value != held(register))
        changed = ((cell, value) for cell, value in cells.items() if value != self._before(cell))
        return _Configuration(
            self._alike[state], tuple(sorted(kept, key=_first)), tuple(sorted(changed, key=_first)), seen, waited
        )

    def _before(self, cell: Cell) -> Expr:
        """What ``cell`` holds since the read, if nothing writes it."""
        return Const(self._cells[cell]) if cell in self._cells else Register(f"cell {cell}", -2 - cell)

    @cached_property
    def _alike(self) -> list[int]:
        """For each control state one with the same future: the same commands of the source in the same order."""
        out = self._walks.out
        states = range(len(out))
        if not self._of_all.merges or len(out) > MOST_MERGED:
            return [*states]
        classes, number = [0] * len(out), 0
        while True:
            stop_point()
            futures = [
                frozenset((each.form, each.span, each.command.kind, classes[each.target]) for each in out[at])
                for at in states
            ]
            numbers = {future: place for place, future in enumerate(dict.fromkeys(futures))}
            classes = [numbers[future] for future in futures]
            if len(numbers) == number:
                break
            number = len(numbers)
        first = {each: at for at, each in reversed([*enumerate(classes)])}
        return [first[each] for each in classes]

    def _all_raised(self, start: _Configuration) -> Iterator[tuple[_Configuration, Facts]]:
        """Where the rank may come from ``start`` when flags have values that arrive, and it reads each once, with what
        that depends on. (What looks at a flag, and waits for it whatever it has seen, may be there to tell.)"""
        known, stack = set[tuple[_Configuration, frozenset[tuple[Expr, bool]]]](), [(start, dict[Expr, bool]())]
        while stack and self._left >= 0:
            stop_point()
            here, facts = stack.pop()
            key = here, frozenset(facts.items())
            if key in known:
                continue
            known.add(key)
            self._left -= 1
            yield here, facts
            for edge in self._walks.out[here.state]:
                if self._cell(here, edge.form) in dict(here.seen):
                    continue
                for more in self._assumed(here, edge, facts):
                    after = self._after(here, edge, more) or ()
                    stack += ((each, more) for each, read in after if read is None or self._arrives(*read))

    def _arrives(self, cell: Cell, value: int) -> bool:
        return value in self._flags[cell].raised

    def _assumed(self, here: _Configuration, edge: Transition, facts: Facts) -> Iterator[dict[Expr, bool]]:
        """``facts``, with each choice of what is open by which the condition of ``edge`` holds."""
        form = edge.form
        condition = over(form.condition, dict(here.values)) if isinstance(form, core.Test) else TRUE
        for more in choices(atoms(condition), facts):
            # What cells hold is no condition on registers.
            if truth(condition, more) and not any(_is_of_cells(each) for each in more if each not in facts):
                yield more

    def _comes_to(self, goal: _Goal, start: _Configuration, facts: Facts) -> Collection[_Configuration] | None:
        """Whether every way from ``start`` comes to ``goal`` before anything that is not followed, unless it stays for
        ever among reads of the flags that are seen there; all of these have been seen by then. And where they have
        values with which it does come there, so does every way. Then the configurations before it, else None."""
        (cell, value), *_ = start.seen
        if any(dict(seen)[cell] == value for seen in goal.given):
            return None
        ahead: dict[_Configuration, list[_Way]] = {}
        wanted, stack = dict(goal.at.seen), [start]
        while stack:
            stop_point()
            here = stack.pop()
            if here in ahead:
                continue
            ahead[here] = []
            self._left -= 1
            if here.state == goal.at.state:
                if not self._agrees(here, goal):
                    return None
                continue
            if self._left < 0:
                return None
            for edge in self._walks.out[here.state]:
                after = self._after(here, edge, facts)
                if after is None or any(read is not None and read[0] not in wanted for _, read in after):
                    return None
                ahead[here] += after
            stack += (each for each, _ in ahead[here])
        bound = all(self._is_bound(ahead, goal, dict(given)) for given in goal.given)
        return [each for each in ahead if each.state != goal.at.state] if bound else None

    def _agrees(self, here: _Configuration, goal: _Goal) -> bool:
        """Whether the rank is at ``goal``, with the same values, and has seen and waited for all that it has there."""
        same = here.values == goal.at.values and here.cells == goal.at.cells and here.waited >= goal.at.waited
        if not same or [cell for cell, _ in here.seen] != [cell for cell, _ in goal.at.seen]:
            return False
        later = ([(cell, each) for each in self._flags[cell].later[value]] for cell, value in here.seen)
        return all(given in goal.given for given in product(*later))

    def _is_bound(self, ahead: Mapping[_Configuration, Sequence[_Way]], goal: _Goal, given: Mapping[Cell, int]) -> bool:
        """Whether every way on comes to ``goal`` where flags have these values now."""
        flags = self._flags
        left = {
            here
            for here in ahead
            if here.state != goal.at.state and all(given[cell] in flags[cell].later[value] for cell, value in here.seen)
        }
        after = {here: [to for to, read in ahead[here] if read is None or given[read[0]] == read[1]] for here in left}
        if self._of_all.guesses:
            # A wrong guess is none of the program's runs, nor is what can only lead to one.
            wrong = {here for here in left if not after[here] and self._only_assumes(here.state)}
            while more := {here for here in left - wrong if after[here] and wrong.issuperset(after[here])}:
                wrong |= more
            left -= wrong
            after = {here: [to for to in after[here] if to not in wrong] for here in left}
        # From what is left the rank does not come to it: it is stuck, or goes round.
        while arrived := {each for each in left if after[each] and left.isdisjoint(after[each])}:
            stop_point()
            left -= arrived
        return not left

    def _only_assumes(self, state: int) -> bool:
        leaving = self._walks.out[state]
        return bool(leaving) and all(isinstance(edge.form, core.Test) for edge in leaving)

    def _shows(self, read: Transition, raised: _Configuration, goal: _Goal, passed: Iterable[_Configuration]) -> bool:
        """Whether the source may show something between ``read`` and the last command in ``passed``."""
        if self._of_all.shown is None:
            return False
        out = self._walks.out
        spans = {read.span, *(edge.span for here in (raised, *passed) for edge in out[here.state])}
        (cell, _), *more = goal.at.seen
        if more or len(self._flags[cell].raised) > 1:
            return self._of_all.shown.between(spans, self._walks.never_passed)
        # One flag with one value has been read as that in the end, however often before.
        return self._of_all.shown.kept(spans, {read.span}, self._walks.never_passed, outputs=True)

    # One command

    def _cell(self, here: _Configuration, form: core.Form) -> Cell | None:
        """The cell that a read or an await accesses, where that is known."""
        if not isinstance(form, core.Immediate) or form.update is not None:
            return None
        return cell_of(form, dict(here.values), self._rank, self._walks.size)

    def _after(self, here: _Configuration, edge: Transition, facts: Facts) -> list[_Way] | None:
        """Where ``edge`` may lead from ``here``; None: to what is not followed, as a fault."""
        form, values = edge.form, dict(here.values)
        if any(faults_inside(over(expr, values)) for _, expr in core.expressions(form)):
            return None
        match form:
            case core.Assign(register, value):
                changed = ordered(over(value, values))
                return None if is_large(changed) else [self._to(here, edge, {register: changed})]
            case core.Test(condition, blocks) if blocks:
                holds = truth(over(condition, values), facts)
                return [] if holds is False else [self._to(here, edge, {})]
            case core.Wait(queue, local):
                number = constant(over(queue, values))
                if number is None:
                    return None
                waited = here.waited | {(number, local)}
                return [(self._at(edge.target, values, dict(here.cells), here.seen, waited), None)]
            case core.Immediate() if form.update is None:
                return self._read(here, edge, form)
            case core.Immediate(update=core.Update(operand=operand)) if operand is not None and self._is_own(form):
                cell = cell_of(form, values, self._rank, self._walks.size)
                changed = ordered(over(operand, values))
                if cell is not None and not is_large(changed):
                    cells = {**dict(here.cells), cell: changed}
                    return [(self._at(edge.target, values, cells, here.seen, here.waited), None)]
        return None

    def _to(self, here: _Configuration, edge: Transition, changed: Values) -> _Way:
        return self._at(edge.target, {**dict(here.values), **changed}, dict(here.cells), here.seen, here.waited), None

    def _read(self, here: _Configuration, edge: Transition, form: Read) -> list[_Way] | None:
        """As :meth:`_after`, of a read or an await."""
        cell, values = self._cell(here, form), dict(here.values)
        flag = None if cell is None else self._flags.get(cell)
        compared = None if form.condition is None else constant(over(form.condition.value, values))
        if cell is None or (form.condition is not None and (compared is None or flag is None)):
            return None
        tested = form.register is None or self._is_tested(edge.target, form.register)
        if form.register is not None and (flag is None or not tested) and self._has_settled(cell, here):
            return [self._to(here, edge, {form.register: dict(here.cells).get(cell, self._before(cell))})]
        if flag is None:
            return None
        found: list[_Way] = []
        last = dict(here.seen).get(cell)
        for value in flag.values if last is None else flag.later[last]:
            if form.condition is None or RELATIONS[form.condition.relation](value, compared):
                changed = {} if form.register is None else {form.register: Const(value)}
                seen = tuple(sorted({**dict(here.seen), cell: value}.items()))
                now = self._at(edge.target, {**values, **changed}, dict(here.cells), seen, here.waited)
                found.append((now, (cell, value)))
        return found

    def _has_settled(self, cell: Cell, here: _Configuration) -> bool:
        """Whether nothing but the rank writes ``cell`` from where it is ``here``."""
        own = self._of_all.is_own(cell, self._rank)
        return own or self._of_all.settled(cell, self._rank, self._phase, here.seen)

    def _is_tested(self, state: int, register: int) -> bool:
        """Whether a condition may look at what ``register`` holds at ``state``."""
        if (state, register) not in self._tested:
            out = self._walks.out
            ahead = reached([state], lambda at: [each.target for each in out[at] if not _sets(each.form, register)])
            tests = (each.form for at in ahead for each in out[at] if isinstance(each.form, core.Test))
            self._tested[state, register] = any(register in registers_of(each.condition) for each in tests)
        return self._tested[state, register]


def _is_of_cells(expr: Expr) -> bool:
    """Whether ``expr`` depends on what cells hold (`Gathering._before`)."""
    return any(index < 0 for index in registers_of(expr))


def _sets(form: core.Form, register: int) -> bool:
    return core.register_set(form) == register


def _first(pair: tuple[int, object]) -> int:
    return pair[0]


def ordered(expr: Expr) -> Expr:
    """``expr`` with the operands of sums, products and the like in one order, whichever they were computed in."""
    if not isinstance(expr, Binary) or expr.operator not in ("+", "*", "&", "|", "^"):
        return expr
    symbol, type = expr.operator, expr.type
    operands = sorted(flattened(expr, symbol, type), key=lambda each: (constant(each) is not None, repr(each)))
    return reduce(lambda left, right: folded(Binary(symbol, left, right, type)), reversed(operands))


def _joined(rows: Mapping[Situation, Expr], read: int) -> Expr:
    """When what ``rows`` say of the registers in them is so: of as few of these as decide it, ``read`` among them."""
    good = [dict(row.registers) for row, found in rows.items() if found == TRUE]
    others = [dict(row.registers) for row, found in rows.items() if found != TRUE]
    apart = [row for row in good if not any(map(partial(_may_be_one, row), others))]
    for register in sorted({each for row in apart for each in row} - {read}):
        fewer, left = ([_without(row, register) for row in each] for each in (apart, others))
        if not any(_may_be_one(row, other) for row in fewer for other in left):
            apart, others = fewer, left
    found = FALSE
    for row in sorted({tuple(sorted(each.items())) for each in apart}):
        found = either(found, _holding(row))
    for here, condition in rows.items():
        rest = [dict(other.registers) for other in rows if other != here]
        if condition not in (TRUE, FALSE) and not any(map(partial(_may_be_one, dict(here.registers)), rest)):
            found = either(found, both(_holding(here.registers), condition))
    return found


def _holding(row: Iterable[tuple[int, int]]) -> Expr:
    return reduce(both, (Binary("==", held(register), Const(value)) for register, value in row), TRUE)


def _may_be_one(row: Mapping[int, int], other: Mapping[int, int]) -> bool:
    """Whether both may be true of the same registers."""
    return all(other.get(register, value) == value for register, value in row.items())


def _without(row: Mapping[int, int], register: int) -> dict[int, int]:
    return {each: value for each, value in row.items() if each != register}
