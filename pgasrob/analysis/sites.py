"""Finds sites: counting loops, and commands in a row, that access one element after another.

Each round of a site makes only plain accesses (loads, stores, puts, gets), to cells that are known and one step further
on than those of the round before, and has no other effect. `proofs/reductions.md`, section 10, says what sites are used
for and why these conditions suffice.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pgasrob.program import commands, core
from pgasrob.program.control import ControlAutomaton, Transition
from pgasrob.program.core import Form, Place
from pgasrob.program.expressions import (
    Binary,
    Conditional,
    Const,
    Expr,
    Register,
    Symbol,
    Unary,
    constant,
    faults_inside,
    registers_of,
)
from pgasrob.program.instance import Instance
from pgasrob.stop_points import stop_point

LEAST_ROUNDS = 4
"""Rows of at most so many commands are no sites."""
MOST_ROUNDS = 1 << 18


class Walk(NamedTuple):
    """The cells of one access of a site, round by round: at ``rank`` from address ``first`` on, ``step`` further on in
    each round."""

    rank: int
    first: int
    step: int


@dataclass(frozen=True, slots=True, eq=False)
class Site:
    """``rounds`` rounds of ``rank``, entered at control state ``start`` and left to ``end``.

    ``walks``: of each access. ``commands``: of a row, one for each round, else those of one round. ``counter``: of a
    loop the register that counts, and its ``values`` in the rounds and after the last; None for a row.
    """

    rank: int
    start: int
    end: int
    rounds: int
    walks: tuple[Walk, ...]
    commands: tuple[Transition, ...]
    counter: int | None = None
    values: Sequence[int] = ()


def sites(instance: Instance, rank: int, one_place: bool = False) -> list[Site]:
    """The sites of ``rank``, of which no two share a control state inside. ``one_place``: all commands of a row come
    from one place in the source."""
    return [*_Finder(instance, rank, one_place).found()]


class _Finder:
    def __init__(self, instance: Instance, rank: int, one_place: bool) -> None:
        self._instance, self._rank, self._one_place = instance, rank, one_place
        self._automaton: ControlAutomaton = instance.automata[rank]
        self._out = self._automaton.out
        self._live = self._automaton.live
        self._taken: set[int] = set()
        self._entered = [0] * len(self._out)
        self._entered[0] = 1
        for transition in self._automaton.transitions:
            self._entered[transition.target] += 1

    def found(self) -> Iterator[Site]:
        for state in range(len(self._out)):
            if (site := self._loop(state)) is not None:
                yield site
        yield from self._rows()

    # The commands of a round

    def _is_plain(self, transition: Transition) -> bool:
        """Whether a command only accesses cells, whatever other ranks do: it never waits, faults or decides, and the
        register that a load sets is set again before it is used."""
        command, form = transition.command, transition.form
        if not isinstance(command, commands.Load | commands.Store | commands.Put | commands.Write | commands.Read):
            return False
        for role, expr in core.expressions(form):
            if role is core.Role.VALUE and faults_inside(expr):
                return False
            value, bound = constant(expr), math.inf if role is core.Role.QUEUE else self._instance.nodes
            if role in (core.Role.RANK, core.Role.QUEUE) and (value is None or not 0 <= value < bound):
                return False
        return core.register_set(form) not in self._live[transition.target]

    def _walk(self, place: Place, first: int, step: int, rounds: int) -> Walk | None:
        """The walk from address ``first`` on; None when it stays at one cell, leaves the memory, or mixes memory of the
        program with made-up memory."""
        stop_point()
        rank = self._rank if place.rank is None else constant(place.rank)
        assert rank is not None
        ends = first, first + step * (rounds - 1)
        if not step or min(ends) < 0 or max(ends) >= self._instance.size:
            return None
        objects = (each for each in self._instance.program.memory if each.address <= max(ends))
        made_up = {each.made_up for each in objects if each.address + each.cells > min(ends)}
        return Walk(rank, first, step) if len(made_up) == 1 else None

    # Loops

    def _loop(self, head: int) -> Site | None:
        """The site that begins at the head of a loop, if there is one."""
        ways = self._out[head]
        if len(ways) != 2 or not all(isinstance(way.form, core.Test) and way.form.blocks for way in ways):
            return None
        for yes, no in (ways, ways[::-1]):
            body = self._body(head, yes)
            if body is not None:
                return self._counted(head, yes, no, body)
        return None

    def _body(self, head: int, entry: Transition) -> list[Transition] | None:
        """The commands of one round, which go straight back to ``head``."""
        found: list[Transition] = []
        state = entry.target
        while state != head:
            stop_point()
            if len(self._out[state]) != 1 or self._entered[state] != 1 or len(found) > len(self._out):
                return None
            found.append(self._out[state][0])
            state = found[-1].target
        return found or None

    def _counted(self, head: int, yes: Transition, no: Transition, body: list[Transition]) -> Site | None:
        *round, last = body
        if not isinstance(last.form, core.Assign) or not round or not all(map(self._is_plain, round)):
            return None
        counter = last.form.register
        goes_on, stops = _test(yes.form), _test(no.form)
        polls = [until for each in round if (until := _until(each.form)) is not None]
        used = registers_of(last.form.value).union(*map(registers_of, (goes_on, stops, *polls)))
        addresses = [made.cell.address for each in round for made in core.accesses_of(each.form)]
        if used.union(*map(registers_of, addresses)) - {counter} or any(
            map(faults_inside, (goes_on, stops, last.form.value, *addresses, *polls))
        ):
            return None
        if any(core.register_set(each.form) == counter for each in round):
            return None
        if sum(isinstance(each.form, core.Transfer) for each in round) > 1:
            return None
        first = self._before(head, counter, last)
        values = None if first is None else self._values(first, counter, goes_on, stops, last.form.value)
        if values is None or len(values) < 3:
            return None
        counted = Counted(counter, values[0], values[-2])
        if not all(counted.truth(until) for until in polls):
            return None  # the loop may poll, and repeat a round
        walks = []
        for made in (made for each in round for made in core.accesses_of(each.form)):
            line = counted.line(made.cell.address)
            further = values[1] - values[0]
            if line is None:
                return None
            walk = self._walk(made.cell, line[0] + line[1] * values[0], line[1] * further, len(values) - 1)
            if walk is None:
                return None
            walks.append(walk)
        self._taken.update({head, yes.target, *(each.target for each in round)})
        return Site(self._rank, head, no.target, len(values) - 1, tuple(walks), tuple(round), counter, values)

    def _before(self, head: int, counter: int, last: Transition) -> int | None:
        """The value of the counter whenever the loop is entered; None unless all ways to it set it to the same."""
        found: set[int] = set()
        before: dict[int, list[tuple[int, Transition]]] = {}
        for state, leaving in enumerate(self._out):
            for transition in leaving:
                before.setdefault(transition.target, []).append((state, transition))
        seen, waiting = {head}, [head]
        while waiting:
            stop_point()
            state = waiting.pop()
            if state == 0:
                found.add(0)  # as registers are at the start
            for come_from, transition in before.get(state, ()):
                if transition is last:
                    continue
                if come_from == head:
                    return None  # the loop is entered again after its end
                if core.register_set(transition.form) != counter:
                    if come_from not in seen:
                        seen.add(come_from)
                        waiting.append(come_from)
                    continue
                value = constant(transition.form.value) if isinstance(transition.form, core.Assign) else None
                if value is None:
                    return None
                found.add(value)
            if len(found) > 1:
                return None
        return found.pop() if found else None

    def _values(self, first: int, counter: int, goes_on: Expr, stops: Expr, after: Expr) -> Sequence[int] | None:
        """The values of the counter in each round and after the last one, equally far apart."""
        match after:
            case Binary("+" | "-", Register(_, index), Const(step), type) if index == counter:
                step = step if after.operator == "+" else -step
            case _:
                return None
        rounds = _rounds(first, step, goes_on, counter)
        if stops != Unary("!", goes_on) or rounds is None or rounds > MOST_ROUNDS:
            return None
        last = first + step * rounds
        low, high = type.range
        return range(first, last + step, step) if low <= min(first, last) <= max(first, last) <= high else None

    # Rows

    def _rows(self) -> Iterator[Site]:
        """Commands in a row that are alike, but for their cells and values."""
        seen = self._taken
        for first in range(len(self._out)):
            row: list[tuple[int, Transition]] = []
            state = first
            while state not in seen and len(self._out[state]) == 1 and (not row or self._entered[state] == 1):
                stop_point()
                (transition,) = self._out[state]
                if not self._is_plain(transition) or _until(transition.form) or _cells(transition.form) is None:
                    break
                seen.add(state)
                row.append((state, transition))
                state = transition.target
            yield from self._split(row)

    def _split(self, row: list[tuple[int, Transition]]) -> Iterator[Site]:
        """The sites in a row of plain commands to known cells."""
        begin = 0
        while begin < len(row):
            end = begin + 1
            step: list[int] | None = None
            cells = _cells(row[begin][1].form)
            stop_point()
            while end < len(row) and self._alike(row[begin][1]) == self._alike(row[end][1]):
                before, cells = cells, _cells(row[end][1].form)
                assert before is not None and cells is not None
                further = [after - each for each, after in zip(before, cells, strict=True)]
                if step not in (None, further) or 0 in further:
                    break
                step = further
                end += 1
            if end - begin > LEAST_ROUNDS and (site := self._row(row[begin:end])) is not None:
                yield site
            begin = end

    def _alike(self, transition: Transition) -> object:
        """A key that is equal for commands that may form a row."""
        command, form = transition.command, transition.form
        ranks = tuple(made.cell.rank for made in core.accesses_of(form))
        others = tuple(expr for role, expr in core.expressions(form) if role in (core.Role.RANK, core.Role.QUEUE))
        return (
            type(form),
            ranks,
            others,
            core.register_set(form),
            tuple(step.kind for step in core.steps_of(form)),
            (tuple(made[1:] for made in core.accesses_of(form))),
            (command.atomic, command.bytes) if isinstance(command, commands.Accessing) else None,
            isinstance(command, commands.Load) and command.polling,
            transition.span if self._one_place else None,
        )

    def _row(self, row: list[tuple[int, Transition]]) -> Site | None:
        places = [core.accesses_of(transition.form) for _, transition in row]
        walks = []
        for number, made in enumerate(places[0]):
            first, second = (constant(each[number].cell.address) for each in places[:2])
            assert first is not None and second is not None
            walk = self._walk(made.cell, first, second - first, len(row))
            if walk is None:
                return None
            walks.append(walk)
        taken = tuple(transition for _, transition in row)
        return Site(self._rank, row[0][0], taken[-1].target, len(row), tuple(walks), taken)


def _rounds(first: int, step: int, goes_on: Expr, counter: int) -> int | None:
    """How often a loop goes round that counts from ``first`` on while ``goes_on`` holds; None: that is not known."""
    match goes_on:
        case Binary("<" | "<=" as relation, Register(_, index), Const(bound), type) if index == counter and step > 0:
            further = bound + (relation == "<=") - first
        case Binary(">" | ">=" as relation, Register(_, index), Const(bound), type) if index == counter and step < 0:
            further = first - bound + (relation == ">=")
        case _:
            return None
    rounds = max(0, -(-further // abs(step)))
    low, high = type.range
    return rounds if all(low <= each <= high for each in (first, bound, first + step * rounds)) else None


class Counted(NamedTuple):
    """Evaluates expressions while ``register`` counts from ``first`` to ``last``."""

    register: int
    first: int
    last: int

    def line(self, expr: Expr) -> tuple[int, int] | None:
        """``expr`` as a constant and a factor of the register; None where it is not known to be that."""
        match expr:
            case Const(value) | Symbol(_, value):
                return value, 0
            case Register(_, index):
                return (0, 1) if index == self.register else None
            case Conditional(condition, then, otherwise):
                truth = self.truth(condition)
                return None if truth is None else self.line(then if truth else otherwise)
            case Binary("+" | "-" | "*", left, right, type):
                one, other = self.line(left), self.line(right)
                if one is None or other is None:
                    return None
                if expr.operator == "*":
                    if one[1] and other[1]:
                        return None
                    found = one[0] * other[0], one[0] * other[1] + one[1] * other[0]
                else:
                    sign = 1 if expr.operator == "+" else -1
                    found = one[0] + sign * other[0], one[1] + sign * other[1]
                low, high = type.range
                return found if all(low <= end <= high for end in self._ends(found)) else None
            case _:
                return None

    def truth(self, expr: Expr) -> bool | None:
        """Whether ``expr`` holds all the time, or never; None where that is not known."""
        match expr:
            case Unary("!", operand):
                truth = self.truth(operand)
                return None if truth is None else not truth
            case Binary("&&" | "||" as operator, left, right):
                truths, decided = (self.truth(left), self.truth(right)), operator == "||"
                (one_part, one_holds), (other_part, other_holds) = self._open(left), self._open(right)
                opposite = one_part == other_part and one_holds is not other_holds
                if decided in truths or opposite:
                    return decided
                return None if None in truths else not decided
            case Binary("<" | "<=" | ">" | ">=" | "==" | "!=", left, right, type):
                one, other = self.line(left), self.line(right)
                low, high = type.range
                if one is None or other is None:
                    return None
                if not all(low <= end <= high for line in (one, other) for end in self._ends(line)):
                    return None
                ends = self._ends((one[0] - other[0], one[1] - other[1]))
                least, most = min(ends), max(ends)
                return _compared(expr.operator, least, most)
            case Const(value):
                return value != 0
            case _:
                return None

    def _open(self, expr: Expr, holds: bool = True) -> tuple[Expr, bool]:
        """The part of ``expr`` that is not decided, and whether it has to hold, or not, for ``expr`` to hold."""
        match expr:
            case Unary("!", operand):
                return self._open(operand, not holds)
            case Binary("&&" | "||" as operator, left, right):
                for one, other in ((left, right), (right, left)):
                    if self.truth(one) is (operator == "&&"):
                        return self._open(other, holds)
        return expr, holds

    def _ends(self, line: tuple[int, int]) -> tuple[int, int]:
        return line[0] + line[1] * self.first, line[0] + line[1] * self.last


def _compared(symbol: str, least: int, most: int) -> bool | None:
    """Whether all differences between ``least`` and ``most`` compare so with 0, or none does; None: some do."""
    match symbol:
        case "<":
            return True if most < 0 else False if least >= 0 else None
        case "<=":
            return True if most <= 0 else False if least > 0 else None
        case ">":
            return True if least > 0 else False if most <= 0 else None
        case ">=":
            return True if least >= 0 else False if most < 0 else None
        case "==":
            return True if least == most == 0 else False if least > 0 or most < 0 else None
        case _:
            return True if least > 0 or most < 0 else False if least == most == 0 else None


def _test(form: Form) -> Expr:
    assert isinstance(form, core.Test)
    return form.condition


def _until(form: Form) -> Expr | None:
    """The condition under which a read that polls succeeds; None for other commands."""
    return form.until.holds if isinstance(form, core.Immediate) and form.until is not None else None


def _cells(form: Form) -> list[int] | None:
    """The addresses of a command's accesses, where they are constants."""
    found = [constant(made.cell.address) for made in core.accesses_of(form)]
    return None if None in found else [each for each in found if each is not None]
