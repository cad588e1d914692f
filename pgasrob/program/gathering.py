"""Finds reads that are one of several waits: wherever the rank goes on to, it has to see the flag that is not there,
and where it is then does not depend on the order in which it has seen that and others (`proofs/polling.md`, section 5).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, reduce
from typing import NamedTuple

from pgasrob.program import core
from pgasrob.program.certain import FALSE, TRUE, both, either, is_large
from pgasrob.program.control import Transition
from pgasrob.program.core import Cell
from pgasrob.program.expressions import RELATIONS, Binary, Const, Expr, constant, faults_inside
from pgasrob.program.open_conditions import Facts, as_conditions, atoms, choices, truth
from pgasrob.program.raised_flags import Flag
from pgasrob.program.shown_places import Shown
from pgasrob.program.statements import Span
from pgasrob.program.walks import Values, Walks, held, over

MOST_CONFIGURATIONS = 4_000
"""Configurations that are looked at for one read."""
MOST_MERGED = 3_000
"""Control states up to which it is looked at which of them have the same future."""

Read = core.Immediate[core.Place, Expr]

Waited = tuple[int, bool]
"""That a rank has waited for a queue, or for what is local in it."""


class _Configuration(NamedTuple):
    """A control state, what registers hold that are live there if it is not what they held after the read, and since
    then the flags that have been seen raised, and the waits."""

    state: int
    values: tuple[tuple[int, Expr], ...]
    seen: frozenset[Cell | Waited]


class Gathering:
    """The reads of a rank that gather ``flags``; ``walks`` are its own. ``merges``: control states with the same future
    are one. ``shown``: where the source shows something, if anywhere."""

    def __init__(
        self, walks: Walks, flags: Mapping[Cell, Flag], merges: bool = True, shown: Shown | None = None
    ) -> None:
        self._walks, self._flags, self._merges, self._shown = walks, flags, merges, shown
        self._rank = constant(walks.rank)
        self._left = 0

    def fails(self, read: Transition) -> Expr:
        """The condition, on the registers after ``read``, under which the flag is not there, and it makes no difference
        whether the rank waits for it here or later."""
        form = read.form
        assert isinstance(form, core.Immediate) and form.register is not None
        cell = self._cell(form)
        flag = None if cell is None else self._flags.get(cell)
        if cell is None or flag is None:
            return FALSE
        self._left = MOST_CONFIGURATIONS
        early = [value for value in flag.before if value != flag.arrives]
        starts = {value: self._at(read.target, {form.register: Const(value)}, frozenset()) for value in early}
        raised = self._at(read.target, {form.register: Const(flag.arrives)}, frozenset((cell,)))
        found, known = FALSE, set[tuple[int, frozenset[tuple[Expr, bool]]]]()
        for goal, facts in self._all_raised(raised):
            for value, start in starts.items():
                if any(other == value and kept <= facts.items() for other, kept in known):
                    continue
                passed = self._comes_to(goal, start, facts)
                if passed is not None and not self._shows(read, raised, passed):
                    known.add((value, frozenset(facts.items())))
                    here: Expr = Binary("==", held(form.register), Const(value))
                    found = either(found, reduce(both, as_conditions(facts), here))
        return FALSE if is_large(found) else found

    def _cell(self, form: core.Form) -> Cell | None:
        """The cell that a read accesses, where it is the same whenever it does."""
        if not isinstance(form, core.Immediate):
            return None
        address, rank = form.access.cell
        index, owner = constant(address), self._rank if rank is None else constant(rank)
        return None if index is None or owner is None else owner * self._walks.size + index

    def _at(self, state: int, values: Values, seen: frozenset[Cell | Waited]) -> _Configuration:
        live = self._walks.live[state]
        kept = ((register, value) for register, value in values.items() if register in live and value != held(register))
        return _Configuration(self._alike[state], tuple(sorted(kept, key=lambda each: each[0])), seen)

    @cached_property
    def _alike(self) -> list[int]:
        """For each control state one with the same future: the same commands of the source in the same order."""
        out = self._walks.out
        states = range(len(out))
        if not self._merges or len(out) > MOST_MERGED:
            return [*states]
        classes, number = [0] * len(out), 0
        while True:
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
        """Where the rank may come from ``start`` when all flags are raised that it reads, each once, with what that
        depends on. (What looks at a flag, and waits for it whatever it has seen, may be there to tell.)"""
        known, stack = set[tuple[_Configuration, frozenset[tuple[Expr, bool]]]](), [(start, dict[Expr, bool]())]
        while stack and self._left >= 0:
            here, facts = stack.pop()
            key = here, frozenset(facts.items())
            if key in known:
                continue
            known.add(key)
            self._left -= 1
            yield here, facts
            for edge in self._walks.out[here.state]:
                if isinstance(edge.form, core.Immediate) and self._cell(edge.form) in here.seen:
                    continue
                for more in self._assumed(here, edge, facts):
                    stack += ((after, more) for after in self._after(here, edge, more, raised=True) or ())

    def _assumed(self, here: _Configuration, edge: Transition, facts: Facts) -> Iterator[dict[Expr, bool]]:
        """``facts``, with each choice of what is open by which the condition of ``edge`` holds."""
        form = edge.form
        condition = over(form.condition, dict(here.values)) if isinstance(form, core.Test) else TRUE
        for more in choices(atoms(condition), facts):
            if truth(condition, more):
                yield more

    def _shows(self, read: Transition, raised: _Configuration, passed: Iterable[_Configuration]) -> bool:
        """Whether the source may show something between ``read`` and the last command in ``passed``."""
        if self._shown is None:
            return False
        out = self._walks.out
        spans = {read.span, *(edge.span for here in (raised, *passed) for edge in out[here.state])}
        return self._shown.between(spans, self._others)

    @cached_property
    def _others(self) -> frozenset[Span]:
        """The places of commands that are never passed."""
        edges = (edge for leaving in self._walks.out for edge in leaving)
        return frozenset(edge.span for edge in edges if isinstance(edge.form, core.Barrier | core.Transfer))

    def _comes_to(self, goal: _Configuration, start: _Configuration, facts: Facts) -> Collection[_Configuration] | None:
        """Whether every way from ``start`` comes to ``goal`` before anything that is not quiet, unless it goes on for
        ever in reads of the flags that are seen there; all of these have been seen by then. And when they are raised,
        every way does come there. Then the configurations before it, else None."""
        raised: dict[_Configuration, list[_Configuration]] = {}
        stack = [start]
        while stack:
            here = stack.pop()
            if here in raised:
                continue
            raised[here] = []
            self._left -= 1
            if here.state == goal.state:
                if not self._agrees(here, goal):
                    return None
                continue
            if self._left < 0:
                return None
            for edge in self._walks.out[here.state]:
                after = self._after(here, edge, facts)
                if after is None or (isinstance(edge.form, core.Immediate) and self._cell(edge.form) not in goal.seen):
                    return None
                stack += after
                raised[here] += self._after(here, edge, facts, raised=True) or ()
        return [each for each in raised if each.state != goal.state] if self._is_bound(raised, goal) else None

    def _agrees(self, here: _Configuration, goal: _Configuration) -> bool:
        """Whether the rank is at ``goal``, with the same values, and has seen and waited for all that it has there."""
        return here.values == goal.values and here.seen >= goal.seen

    def _is_bound(self, raised: Mapping[_Configuration, Sequence[_Configuration]], goal: _Configuration) -> bool:
        """Whether every way to where each configuration leads by flags that are raised comes to ``goal``."""
        # From what is left the rank does not come to it: it is stuck, or goes round.
        left = {here for here in raised if here.state != goal.state}
        while arrived := {each for each in left if raised[each] and left.isdisjoint(raised[each])}:
            left -= arrived
        return not left

    def _after(
        self, here: _Configuration, edge: Transition, facts: Facts, raised: bool = False
    ) -> list[_Configuration] | None:
        """Where ``edge`` may lead from ``here``, or does when all flags are ``raised``; None: to what is not followed,
        as a fault."""
        form, values = edge.form, dict(here.values)
        if any(faults_inside(expr) for _, expr in core.expressions(form)):
            return None
        match form:
            case core.Assign(register, value):
                changed = over(value, values)
                return None if is_large(changed) else [self._at(edge.target, {**values, register: changed}, here.seen)]
            case core.Test(condition, blocks) if blocks:
                holds = truth(over(condition, values), facts)
                return [] if holds is False else [self._at(edge.target, values, here.seen)]
            case core.Wait(queue, local):
                number = constant(over(queue, values))
                waited: frozenset[Cell | Waited] = frozenset() if number is None else frozenset(((number, local),))
                return [self._at(edge.target, values, here.seen | waited)] if waited else None
            case core.Immediate() if form.update is None:
                return self._read(here, edge, form, raised)
        return None

    def _read(self, here: _Configuration, edge: Transition, form: Read, raised: bool) -> list[_Configuration] | None:
        """As :meth:`_after`, of a read or an await."""
        cell = self._cell(form)
        flag = None if cell is None else self._flags.get(cell)
        compared = None if form.condition is None else constant(over(form.condition.value, dict(here.values)))
        if cell is None or flag is None or (form.condition is not None and compared is None):
            return None
        found = []
        for value in (flag.arrives,) if raised or cell in here.seen else flag.values:
            if form.condition is None or RELATIONS[form.condition.relation](value, compared):
                own = {} if form.register is None else {form.register: Const(value)}
                seen = here.seen | {cell} if value == flag.arrives else here.seen
                found.append(self._at(edge.target, {**dict(here.values), **own}, seen))
        return found
