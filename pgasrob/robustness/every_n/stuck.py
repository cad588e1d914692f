"""Proves that no SC run comes to a deadlock, on any number of nodes (`proofs/every-n.md`, section 8).

In a deadlock each rank is *stuck*: it can issue none of its next commands, or goes round a loop without an end.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import groupby
from operator import or_

from pgasrob.program import core
from pgasrob.program.certain import negated
from pgasrob.program.control import Transition
from pgasrob.program.core import Place
from pgasrob.program.expressions import NEGATED, Expr
from pgasrob.program.graphs import components
from pgasrob.robustness.every_n.linear import NODES, number
from pgasrob.robustness.every_n.sc_pairs import Edge, Meanwhile, ScPairs, members
from pgasrob.robustness.reduction.pairwise import States

Label = tuple[int, int]
"""A control state of a block, which is given by its number."""


@dataclass(frozen=True)
class Dependency:
    """A rank that is stuck at ``one`` is so only if another one is stuck at ``other``, whose number is smaller if
    ``smaller``, else greater. At both a rank waits for the value of a cell, or spins."""

    one: Label
    other: Label
    smaller: bool


class Stuck:
    """Where the first rank of a case may be stuck in a deadlock. ``open``: one of its next commands then; None: it is
    never stuck, if nothing comes back to itself by ``dependencies``. ``spins``: where it is open it goes round a
    loop."""

    def __init__(
        self, pairs: ScPairs, labels: Sequence[Sequence[Label]], endless: Container[Label], each_way: bool
    ) -> None:
        """``labels``: by name and state; ``endless``: those to which a rank may come back without an end. ``each_way``:
        of the next commands of a state a rank may have only some, on some number of nodes; so it is stuck where any of
        them may be all it has, and waits."""
        self._pairs, self._labels, self._each_way = pairs, labels, each_way
        self._out = [ranks.automaton.out for ranks in pairs.ranks]
        standing = [
            _set(state for state in range(len(out)) if not self._goes_on(rank, state))
            for rank, out in enumerate(self._out)
        ]
        self._spinning = [_set(state for state, label in enumerate(own) if label in endless) for own in labels]
        self._waiting = [
            spinning | _set(state for state in members(states) if self._awaits(rank, state))
            for rank, (spinning, states) in enumerate(zip(self._spinning, standing, strict=True))
        ]
        self._stuck = [one | other for one, other in zip(standing, self._spinning, strict=True)]
        while self._spin_less(standing):
            pass
        self.dependencies: set[Dependency] = set()
        self.open: Transition | None = None
        self.spins = False
        for state in members(standing[0]):
            waits, meets = bool(self._awaits(0, state)), bool(self._barriers(0, state))
            both = self._each_way and waits and meets
            if both or not (self._is_met(state) if waits else self._all_at_one_barrier(state)):
                self.open = self._out[0][state][0]
                return
        for loop in self._rounds(0, self._stuck):
            if not self._is_left(loop):
                self.open, self.spins = self._out[0][next(members(loop))][0], True
                return

    def _goes_on(self, rank: int, state: int) -> bool:
        """Whether a rank at ``state`` can surely issue some command by itself; true where no rank comes."""
        file, values = self._pairs.files[rank][state], self._pairs.values[rank]
        forms = [transition.form for transition in self._out[rank][state]]
        assumed = [form.condition for form in forms if isinstance(form, core.Test) and form.blocks]
        waits = sum(map(can_wait, forms))
        if self._each_way and waits:
            return False
        if len(assumed) + waits < len(forms) and not (self._each_way and assumed):
            return True
        if any(negated(each) in assumed for each in assumed):
            return True
        for each in assumed:
            file = file and values.narrowed(each, False, file)
        return file is None

    def _awaits(self, rank: int, state: int) -> list[core.Immediate[Place, Expr]]:
        """The waits that a stuck rank is in."""
        forms = (each.form for each in self._out[rank][state])
        return list(dict.fromkeys(form for form in forms if isinstance(form, core.Immediate) and can_wait(form)))

    def _stuck_too(self, state: int) -> Meanwhile:
        """The states in which others may be stuck when the first rank is at ``state``."""
        now = self._pairs.at(0, state)
        return (1, *(states & self._stuck[other] for other, states in enumerate(now) if other))

    # Loops without an end

    def _spin_less(self, standing: Sequence[States]) -> bool:
        """Take those states away from which no way leads round a loop by what may be read while all others are stuck;
        whether there were some."""
        before = list(self._spinning)
        for rank, spinning in enumerate(before):
            if spinning:
                self._spinning[rank] = reduce(or_, self._rounds(rank, self._stuck), 0)
                gone = spinning & ~self._spinning[rank]
                awaiting = _set(state for state in members(standing[rank]) if self._awaits(rank, state))
                self._stuck[rank] &= ~gone | standing[rank]
                self._waiting[rank] &= ~gone | awaiting
        return before != self._spinning

    def _rounds(self, rank: int, stuck: Sequence[States]) -> list[States]:
        """The loops of a rank among the states in which it may spin, as sets of states that lead to each other by
        what may be read while others are ``stuck``."""
        own = list(members(self._spinning[rank]))
        places = {state: place for place, state in enumerate(own)}
        leads = [
            [
                places[edge.target]
                for edge in self._pairs.edges[rank][state]
                if edge.target in places and self._may_be_read(rank, state, edge, stuck)
            ]
            for state in own
        ]
        found: dict[int, States] = {}
        for place, component in enumerate(components(leads)):
            found[component] = found.get(component, 0) | 1 << own[place]
        return [
            loop
            for loop in found.values()
            if loop & (loop - 1) or any(places[state] in leads[places[state]] for state in members(loop))
        ]

    def _may_be_read(self, rank: int, state: int, edge: Edge, stuck: Sequence[States]) -> bool:
        """Whether a command may read what it does here while others are ``stuck``."""
        if not edge.cells or edge.read is None:
            return True
        now = tuple(
            states & stuck[other] if other != rank or rank in self._pairs.many else 1
            for other, states in enumerate(self._pairs.at(rank, state))
        )
        return any(True for _ in self._pairs.last_written(rank, state, edge.cells, edge.read, now))

    def _is_left(self, loop: States) -> bool:
        """Whether the first rank leaves a loop in the end, or it is by those on which this depends that it does not."""
        for smaller, removed in self._removable():
            left = [
                each & ~self._waiting[other] if other in removed else each for other, each in enumerate(self._stuck)
            ]
            if not any(each & loop for each in self._rounds(0, left)):
                for state in members(loop):
                    self._depend(state, removed, smaller)
                return True
        return False

    # Barriers

    def _all_at_one_barrier(self, state: int) -> bool:
        """Whether all ranks that do not wait for a value are at the same barrier when the first one is at ``state``.
        True where ``state`` has no barrier, for then the ranks before one are asked."""
        names = self._barriers(0, state)
        return not names or all(
            len(names) == 1 and self._barriers(other, at) == names
            for other, states in enumerate(self._stuck_too(state))
            if other
            for at in members(states & ~self._waiting[other])
        )

    def _barriers(self, rank: int, state: int) -> set[str]:
        return {each.form.name for each in self._out[rank][state] if isinstance(each.form, core.Barrier)}

    # Waiting

    def _is_met(self, state: int) -> bool:
        """Whether one of the waits before ``state`` is over, or it is by those on which it depends that it is not. If
        each may be all there is, all of them."""
        awaits, stuck = self._awaits(0, state), self._stuck_too(state)
        one = all if self._each_way else any
        if one(self._is_over(state, each, stuck) for each in awaits):
            return True
        for smaller, removed in self._removable():
            left = tuple(
                states & ~self._waiting[other] if other in removed else states for other, states in enumerate(stuck)
            )
            if one(self._is_over(state, each, left) for each in awaits):
                self._depend(state, removed, smaller)
                return True
        return False

    def _removable(self) -> Iterator[tuple[bool, Sequence[int]]]:
        """The names on which a wait may depend: whether all their ranks are smaller than the first one, or greater."""
        for smaller, others in groupby(self._on_one_side(), key=lambda side: side[0]):
            ranks = [other for _, other in others]
            yield from ((smaller, removed) for removed in (*([rank] for rank in ranks), ranks))

    def _depend(self, state: int, on: Sequence[int], smaller: bool) -> None:
        """Note that the first rank is stuck in ``state`` only if some other rank waits, whose name is among ``on``."""
        stuck = self._stuck_too(state)
        self.dependencies |= {
            Dependency(self._labels[0][state], self._labels[other][at], smaller)
            for other in on
            for at in members(stuck[other] & self._waiting[other])
        }

    def _is_over(self, state: int, form: core.Immediate[Place, Expr], stuck: Meanwhile) -> bool:
        """Whether the cell that is waited for satisfies the condition where others are ``stuck``."""
        if not all(stuck):
            return True
        pairs, values, file = self._pairs, self._pairs.values[0], self._pairs.files[0][state]
        if form.condition is None or file is None:
            return False
        awaited = values.of(form.condition.value, file)
        cells, whole = pairs.cells(0, state, form.access.cell), pairs.held(0, state, form.access.cell)
        return awaited is not None and not any(
            values.may_be(NEGATED[form.condition.relation], value, awaited)
            for value, _ in pairs.last_written(0, state, cells, whole, stuck)
        )

    def _on_one_side(self) -> Iterator[tuple[bool, int]]:
        """The names of which all ranks are smaller than the first one, and those of which all are greater."""
        names = [ranks.name for ranks in self._pairs.ranks]
        me, domain = names[0].me, names[0].domain
        greater = []
        for other, name in enumerate(names):
            last = NODES.shifted(-1 - name.domain.high)
            low, high = (number(name.domain.low), last) if name.rest else (name.me, name.me)
            if domain.always(high, me.shifted(-1)):
                yield True, other
            elif domain.always(me.shifted(1), low):
                greater.append(other)
        yield from ((False, other) for other in greater)


def can_wait(form: core.Form) -> bool:
    """Whether a rank may have to wait before it issues a command, a barrier among them."""
    return isinstance(form, core.Barrier) or (isinstance(form, core.Immediate) and form.may_block)


def comes_back(dependencies: Iterable[Dependency]) -> bool:
    """Whether ranks may be stuck by each other in a circle. They are not where on the way from a control state to
    itself numbers only fall, or only rise."""
    known = list(dependencies)
    labels = {label: place for place, label in enumerate({each for one in known for each in (one.one, one.other)})}
    leads: list[list[int]] = [[] for _ in labels]
    for each in known:
        leads[labels[each.one]].append(labels[each.other])
    of = components(leads)
    inside = {(of[labels[each.one]], each.smaller) for each in known if of[labels[each.one]] == of[labels[each.other]]}
    return any((component, not smaller) in inside for component, smaller in inside)


def _set(states: Iterable[int]) -> States:
    return reduce(or_, (1 << state for state in states), 0)
