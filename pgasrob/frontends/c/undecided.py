"""Unknown values where they decide something.

Both branches of a condition on one are executed, and each assumes what the condition says of the value: the same
condition is decided later on, and a value that is the only one left is known. Where it is a place (an index, a rank)
one of the values that it may be is chosen (`Choose`), once for all that depends on it; those outside of the object, or
of the ranks, are a fault. Where there are too many of them the branch ends, and the program has a gap."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Protocol

from pgasrob.analysis.intervals import Interval
from pgasrob.frontends.c import arithmetic
from pgasrob.frontends.c.asked import CELL, Questions, Scalar, as_asked
from pgasrob.frontends.c.choices import ALWAYS, Choice, Way, ways, with_known
from pgasrob.frontends.c.contents import Contents
from pgasrob.frontends.c.nondeterminism import (
    ANY,
    UNKNOWN,
    Bounds,
    Leaf,
    is_applied,
    leaves,
    literal,
    narrowed,
    only_leaves,
    replaced,
    values_of,
)
from pgasrob.frontends.c.problem import Beyond
from pgasrob.frontends.c.rank_position import Position
from pgasrob.frontends.c.registers import Registers
from pgasrob.frontends.c.snapshots import State
from pgasrob.frontends.c.together import LARGEST, expanded, normal, question, weight
from pgasrob.frontends.c.values import UNDEFINED, ObjectId, Unknown, Value
from pgasrob.frontends.c.writer import Writer
from pgasrob.program import commands
from pgasrob.program.expressions import (
    Binary,
    Const,
    Expr,
    Fault,
    Register,
    evaluator,
    names_me_or_nodes,
    parts,
    rewritten,
)
from pgasrob.program.statements import Block, Choose, Do, Span, Statement

FEW_CHOICES, MOST_CHOICES = 16, 1024
"""So many values are chosen from where nothing asks for a choice but that it is exact; and where a place needs one."""
MOST_TRIED = 1024
"""From each end of what an unknown value may be, to find out whether a computation with it comes to some value."""


class Cells(Protocol):
    """Where a scalar goes that one's own memory cannot hold any more, since it became an expression over registers."""

    def give_up(self, id: ObjectId, offset: int, size: int, expr: Expr) -> None:
        """Put the scalar of ``size`` bytes at ``offset`` into a cell, and store ``expr`` there."""
        ...


class Undecided:
    """The unknown values of one rank. ``chosen``: the terms for which values have been chosen for the latest
    statements, with the registers that hold them. ``cells`` is set by
    :class:`~pgasrob.frontends.c.machine_parts.Parts`."""

    cells: Cells

    def __init__(self, position: Position, writer: Writer, registers: Registers) -> None:
        self.position = position
        self.writer = writer
        self.registers = registers
        self.facts = position.facts
        self.questions = Questions(position.facts)
        self.chosen: dict[Expr, Expr] = {}

    def new_leaf(
        self,
        kind: str,
        interval: Interval = ANY,
        exact: bool = True,
        of: Sequence[Leaf] = (),
        origins: frozenset[Hashable] = frozenset(),
    ) -> Leaf:
        """An unknown value within ``interval``; one that is made ``of`` others has their origins too."""
        self.facts.unknowns = True
        self.position.state.leaves += 1
        origins = origins.union(*(each.origins for each in of))
        own = all(each.own for each in of) if of else kind != UNKNOWN
        fixed = bool(of) and all(each.fixed for each in of)
        return Leaf(kind, -self.position.state.leaves, *interval, exact, origins, own=own, fixed=fixed)

    def loaded(self, value: Leaf, cells: Sequence[Scalar], drawn: bool = False) -> Leaf:
        """``value`` as what has been loaded here from one of ``cells``, or ``drawn`` for them."""
        frame = self.position.frame
        site = frame.function.name, frame.pc
        return replace(value, cells=tuple(cells), found=CELL, site=site, drawn=drawn)

    def blurred(self, expr: Expr, interval: Interval | None = None, origins: frozenset[Hashable] = frozenset()) -> Leaf:
        """``expr`` as an unknown value of its own, which nothing ties to those it is computed from."""
        found, known = leaves(expr), self.bounds(expr)
        if interval is None:
            interval = (known.low, known.high) if known else ANY
        return self.new_leaf(found[0].name, interval, exact=False, of=found, origins=origins)

    # Conditions

    def bounds(self, expr: Expr) -> Bounds | None:
        return values_of(expr, self.position.state.assumed)

    def decided(self, condition: Expr) -> bool | None:
        """Whether ``condition`` holds, as far as that is known, or a collective has brought what decides it."""
        found = self._follows(condition)
        if found is None and self.facts.questions and only_leaves(condition) and weight(condition) <= LARGEST:
            asked, holds = normal(expanded(condition))
            answer = self._follows(asked)
            found = None if answer is None else answer == holds
        return found

    def _follows(self, condition: Expr) -> bool | None:
        """Whether ``condition`` holds, as far as that follows from what is assumed of its terms."""
        found = self.bounds(condition)
        if found is not None and (not found.low <= 0 <= found.high or 0 in found.others):
            return True
        if found is not None and found.low == found.high == 0:
            return False
        if only_leaves(condition):
            ways = [truth for truth in (True, False) if self._after(self.position.state, condition, truth)[1]]
            if len(ways) == 1:
                return ways[0]
        return None

    def _after(self, state: State, condition: Expr, truth: bool) -> tuple[Expr, Bounds | None]:
        term, relation, value = literal(condition, truth)
        return term, narrowed(values_of(term, state.assumed) or Bounds(*ANY), relation, value)

    def assume(self, state: State, condition: Expr, truth: bool) -> None:
        """Have ``state`` assume that ``condition``, which may hold or not, does as ``truth`` says."""
        term, bounds = self._after(state, condition, truth)
        if not only_leaves(condition) or bounds is None:
            state.guarded |= set(leaves(condition))
            return
        if bounds.low == bounds.high:
            self.substitute(state, term, Const(bounds.low))
        state.assumed[term] = bounds  # it may be computed again

    def assume_all(self, state: State, answers: Mapping[Expr, bool]) -> None:
        """Have ``state`` assume these ``answers`` to conditions that are 0 or 1."""
        for condition, truth in answers.items():
            if values_of(condition, state.assumed) != Bounds(int(truth), int(truth)):
                self.assume(state, condition, truth)
                state.assumed[condition] = Bounds(int(truth), int(truth))
            state.answered = state.answered.union(leaves(condition))

    def ask(self, condition: Expr) -> None:
        """Note that a rank branches by ``condition``: where its one unknown value has been loaded, there is to be a
        number by which it is decided."""
        if not only_leaves(condition) or names_me_or_nodes(condition):  # without a number of nodes
            return
        match leaves(condition):
            case [Leaf(found=found) as leaf] if found is not None:
                asked = as_asked(replaced(condition, leaf, found))
                if self.questions.can_ask(leaf, asked) or not self._ask_together(condition):
                    self.questions.ask(leaf, asked)
            case _:
                self._ask_together(condition)

    def _ask_together(self, condition: Expr) -> bool:
        """Ask the collective that has brought the latest of the values in ``condition``, if collectives have brought
        all; whether they have, or it is known in the next pass."""
        if not self.facts.asks or weight(condition) > LARGEST:
            return False
        asked = normal(expanded(condition))[0]
        if not self.facts.together:
            if any(id.of_api for each in leaves(asked) for id, _ in each.cells):
                self.facts.together = True
                self.facts.changed()
            return self.facts.together
        found = question(asked, self.position.state.brought)
        if found is None:
            return False
        latest, asked = found
        known = self.facts.questions.setdefault((latest.group, latest.number), {})
        if asked not in known and len(known) < self.facts.asks:
            known[asked] = None
            self.facts.changed()
        return True

    def decision(self, condition: Expr) -> bool | None:
        """The same of a condition that decides something: where it is open, what its unknown values come from is to be
        known."""
        decided = self.decided(condition)
        if decided is None and leaves(condition):
            self.decisive([condition])
            self.ask(condition)
        return decided

    def is_free(self, expr: Expr) -> bool:
        """Whether a rank that goes on by the value of ``expr`` may go a way that no run has together with those of
        others: it comes of values that others may know, and of none that this rank alone has drawn and knows nothing
        of, and that it has not given to others."""
        found = leaves(expanded(expr))
        if all(each.own for each in found):
            return False
        state = self.position.state
        known = {leaf for term in (*state.assumed, *state.choices) for leaf in leaves(term)}.union(state.guarded)
        named = Counter(part for part in parts(expr) if isinstance(part, Leaf))
        # What is not exact has been computed of others: where it is given, or they are, it may be known as well.
        computed = any(each.own and not each.exact for each in state.given)
        free = computed or not any(
            each.own and each not in known | state.given and each.made is None and named[each] == 1
            and (each.exact or not state.given)
            for each in found
        )  # fmt: skip
        self.facts.goes_free |= free
        self.facts.lacks_number |= free and not only_leaves(expr)
        return free

    def give(self, value: Expr) -> None:
        """Note that others get ``value``."""
        self.position.state.given |= set(leaves(expanded(value)))

    def ways(self, condition: Expr, truth: bool, state: State | None = None) -> list[Way]:
        """How it may be that ``condition`` holds, or does not, beside what ``state`` assumes and has chosen."""
        state = state or self.position.state
        term, bounds = self._after(state, condition, truth)
        about = leaves(expanded(condition))
        if bounds is None or any(each.fixed or each in state.guarded for each in about):
            return [Way(ALWAYS, True)]
        return ways(state.choices, state.assumed, term, bounds)

    def commit(self, condition: Expr, truth: bool, free: bool, state: State | None = None) -> Statement:
        """What a way begins with on which ``condition`` holds, or does not."""
        found = self.ways(condition, truth, state) or [Way(Const(0), False)]
        # What ties two values of others to each other, copies of one for instance, is not known here.
        tied = free and sum(not each.own for each in leaves(expanded(condition))) > 1
        commits = [committed(self.position.span, free, way.vain or tied, way.condition) for way in found]
        return commits[0] if len(commits) == 1 else Choose(tuple(Block((each,)) for each in commits))

    def decisive(self, exprs: Sequence[Expr]) -> None:
        """Note that something depends on ``exprs``: where their unknown values come from, values are to be chosen."""
        for expr in exprs:
            for leaf in leaves(expr):
                for origin in leaf.origins:
                    self.facts.decide(origin)

    # Choices

    def exactly(self, expr: Expr) -> Expr:
        """``expr`` with a value chosen for every part that has few."""
        for leaf in leaves(expr):
            term = self._smallest([part for part in parts(expr) if leaf in leaves(part)], FEW_CHOICES)
            if term is not None:
                expr = self._chosen(expr, *term)
        return expr

    def settled(self, expr: Expr, what: str, within: Interval | None = None) -> Expr:
        """``expr``, which must be a place, with one of its values chosen. Those outside of ``within`` are faults.

        Raises :class:`Beyond` when there are too many.
        """
        while leaves(expr):
            self.decisive([expr])
            term = (
                self._small_term(expr, FEW_CHOICES)
                or self._legal_term(expr, within)
                or self._small_term(expr, MOST_CHOICES)
            )
            if term is None:
                raise Beyond(f"{what} is an unknown value, and there are too many to try each")
            part, values = term
            if within is not None:
                values = self._worth_trying(expr, part, values, what, within)
            if not values:
                raise Beyond(f"{what} is an unknown value out of range")
            expr = self._chosen(expr, part, values)
        return expr

    def _worth_trying(self, expr: Expr, part: Expr, values: list[int], what: str, within: Interval) -> list[int]:
        """Of the ``values`` of a part of ``expr``, those with which it may lie ``within``, and of the others, which are
        faults, those that it certainly takes."""
        inside = [each for each in values if self._may_lie(replaced(expr, part, Const(each)), within)]
        outside = set(values).difference(inside)
        if not outside:
            return values
        if part == expr:
            faults = sorted(self.drawn(part, lambda value: not within[0] <= value <= within[1]))[:1]
        else:
            faults = sorted(self.drawn(part, outside.__contains__))
        if not faults:
            self.position.gap(f"{what} is an unknown value, which may be out of range")
        return inside + faults

    def each_value(self, expr: Expr, what: str) -> list[tuple[Expr, Const]]:
        """The pairs of a term in ``expr`` and one of its values, with which ``expr`` is known."""
        self.decisive([expr])
        term = self._small_term(expr, MOST_CHOICES)
        if term is None:
            raise Beyond(f"{what} is an unknown value, and there are too many to try each")
        return [(term[0], Const(value)) for value in term[1]]

    def _small_term(self, expr: Expr, most: int) -> tuple[Expr, list[int]] | None:
        """A part of ``expr``, with unknown values, that takes no more than ``most`` values: a small one when each
        unknown value lies in such a part, else one with all of them, even with registers that are known to the run."""
        around = [[part for part in parts(expr) if leaf in leaves(part)] for leaf in leaves(expr)]
        terms = [self._smallest(each, most) for each in around]
        if all(terms):
            return terms[0]
        common = [part for part in around[0] if set(leaves(part)) == set(leaves(expr))]
        return self._smallest(common, most) or self._smallest(common, most, mixed=True)

    def _smallest(self, around: Sequence[Expr], most: int, mixed: bool = False) -> tuple[Expr, list[int]] | None:
        for part in sorted(around, key=arithmetic.size):
            bounds = self.bounds(part) if mixed or only_leaves(part) else None
            if bounds is not None and bounds.count <= most:
                return part, bounds.values
        return None

    def _legal_term(self, expr: Expr, within: Interval | None) -> tuple[Expr, list[int]] | None:
        """All of ``expr``, with its values in ``within`` and one outside, if there is any."""
        bounds = self.bounds(expr) if within is not None and only_leaves(expr) else None
        if bounds is None or within is None:
            return None
        low, high = max(bounds.low, within[0]), min(bounds.high, within[1])
        if high - low >= MOST_CHOICES:
            return None
        values = [each for each in range(low, high + 1) if each not in bounds.others]
        if bounds.high > within[1]:
            values.append(bounds.high if within[1] + 1 in bounds.others else max(within[1] + 1, bounds.low))
        elif bounds.low < within[0]:
            values.append(bounds.low)
        return expr, values

    def _may_lie(self, expr: Expr, within: Interval) -> bool:
        bounds = self.bounds(expr)
        return bounds is None or (bounds.low <= within[1] and within[0] <= bounds.high)

    def drawn(self, term: Expr, wanted: Callable[[int], bool]) -> set[int]:
        """Values of ``term`` that are wanted and that it takes in some run. There may be more of them."""
        found = leaves(term)
        if len(found) != 1 or not only_leaves(term):
            return set()
        (leaf,) = found
        known = {each: bounds for each, bounds in self.position.state.assumed.items() if leaf in leaves(each)}
        of_rank = any(map(names_me_or_nodes, (term, *known)))
        if (
            of_rank
            or not leaf.exact
            or leaf in self.position.state.guarded
            or any(leaf in leaves(each) for each in self.position.state.choices)
            or any(leaves(each) != found for each in known)
        ):
            return set()
        bounds = known.pop(leaf, Bounds(leaf.low, leaf.high))
        evaluators = [(evaluator(replaced(each, leaf, Register("", 0))), limits) for each, limits in known.items()]
        value_of_term = evaluator(replaced(term, leaf, Register("", 0)))
        values: set[int] = set()
        for drawn in bounds.some(MOST_TRIED):
            with suppress(Fault):
                value = value_of_term((drawn,))
                if wanted(value) and all(evaluate((drawn,)) in limits for evaluate, limits in evaluators):
                    values.add(value)
        return values

    def one_of(self, values: Sequence[int]) -> Register:
        """A register that is set to any of ``values``."""
        register = self.registers.keep("drawn")
        self._choose(register, values)
        return register

    def _choose(self, register: Register, values: Sequence[int], of: Expr | None = None) -> None:
        """Set ``register`` to any of ``values``, which are what ``of`` may be if that is given. Where some rank goes a
        free way, others may know the value as well, and this is a way like those by conditions."""
        free, marked = of is not None and self.is_free(of), of is not None and self.facts.free_ways
        branches = []
        for value in values:
            assign = Do(commands.Assign(register, Const(value)), self.position.span)
            for way in self._ways_to(of, value, len(values)):
                plain = not (free or marked or way.vain) and way.condition == ALWAYS
                first = () if plain else (committed(self.position.span, free, way.vain, way.condition),)
                branches.append(Block((*first, assign)))
        self.writer.write(Choose(tuple(branches)))

    def _ways_to(self, term: Expr | None, value: int, count: int) -> list[Way]:
        """How ``term`` may be ``value``, one of so many; anyhow, where nothing is known but what it is computed of."""
        state = self.position.state
        if term is None or (not state.choices and (isinstance(term, Leaf) or count > FEW_CHOICES)):
            return [Way(ALWAYS, False)]
        return self.ways(Binary("==", term, Const(value)), True)

    def _chosen(self, expr: Expr, term: Expr, values: Sequence[int]) -> Expr:
        """``expr`` with a register for ``term``; write a choice that sets it to one of ``values``."""
        state = self.position.state
        stays = only_leaves(term) and not isinstance(term, Leaf) and self._is_left(term)
        register = self.registers.keep(leaves(term)[0].name, alone=stays)
        self.chosen[term] = register
        self._choose(register, values, term)
        self.substitute(state, term, register)
        if stays:
            state.choices[term] = Choice(register, tuple(values))
        else:
            state.guarded |= set(leaves(term))
        return replaced(expr, term, register)

    def _is_left(self, term: Expr) -> bool:
        """Whether some value is computed of unknown values in ``term``, and not of ``term``."""
        state, found = self.position.state, set(leaves(term))
        values = [frame.slots[slot] for frame, live in state.live() for slot in live]
        for contents in state.memory.values():
            values += (contents.others[offset][1] for offset in contents.unknown)
        exprs = (each.expr for each in values if isinstance(each, Unknown))
        return any(found.intersection(leaves(with_known(each, {term: Const(0)}))) for each in exprs)

    def with_known(self, expr: Expr) -> Expr:
        """``expr`` with what has been chosen, and what is certain, of terms of its unknown values."""
        state = self.position.state
        if not (state.choices or state.assumed) or not leaves(expr):
            return expr
        known: dict[Expr, Register | Const] = {
            term: Const(bounds.low)
            for term, bounds in state.assumed.items()
            if bounds.low == bounds.high and all(each.exact for each in leaves(term))
        }
        return with_known(expr, known | {term: choice.register for term, choice in state.choices.items()})

    def substitute(self, state: State, term: Expr, new: Register | Const) -> None:
        """Replace ``term`` by ``new`` in all values of ``state``."""

        def changed(value: Value) -> Value:
            if not isinstance(value, Unknown) or not leaves(value.expr):
                return value
            follows = isinstance(new, Register) or all(each.exact for each in leaves(term))
            found = with_known(value.expr, {term: new}) if follows else replaced(value.expr, term, new)
            return arithmetic.value_of(found)

        for frame in state.frames:
            frame.slots[:] = map(changed, frame.slots)
        for id, contents in list(state.memory.items()):
            for offset in contents.unknown:
                size, old, _ = contents.others[offset]
                value = changed(old)
                if value == old:
                    continue
                if isinstance(value, Unknown) and not only_leaves(value.expr):
                    self.cells.give_up(id, offset, size, value.expr)
                    self._writable(state, id).replace(offset, None)
                else:
                    self._writable(state, id).replace(offset, value)
        kept: dict[Expr, Bounds] = {}
        for known, bounds in state.assumed.items():
            if isinstance(new, Const) and any(is_applied(each) for each in parts(known)):
                if replaced(known, term, Register("", 0)) == known:
                    kept[known] = bounds
                else:
                    state.guarded |= set(leaves(known)).difference(leaves(term))
                continue
            part = replaced(known, term, new)
            if leaves(part) and only_leaves(part):
                kept[part] = bounds
            else:
                state.guarded |= set(leaves(part))
        state.assumed = kept
        choices = {replaced(each, term, new): choice for each, choice in state.choices.items()}
        state.choices = {each: choice for each, choice in choices.items() if leaves(each) and only_leaves(each)}
        state.guarded |= {leaf for each in choices if each not in state.choices for leaf in leaves(each)}
        brought = {each: replaced(expr, term, new) for each, expr in state.brought.items()}
        state.brought = {each: expr for each, expr in brought.items() if leaves(expr) and only_leaves(expr)}

    def _writable(self, state: State, id: ObjectId) -> Contents:
        contents = state.memory[id]
        if contents.shared:
            contents = state.memory[id] = contents.copy()
        return contents

    # At merge points

    def forget(self, answers: bool = False) -> None:
        """Drop all assumptions of the current state; the ``answers`` to what cells are asked only if these, too."""
        state = self.position.state
        if answers:
            state.answered = frozenset()
        dropped = [term for term in state.assumed if not state.answered.issuperset(leaves(term))]
        state.guarded |= {leaf for term in dropped for leaf in leaves(term)}
        for term in dropped:
            del state.assumed[term]

    def renumber(self) -> None:
        """Number the unknown values by the order of places where they are, so that equal states have equal keys; forget
        those that are gone."""
        state = self.position.state
        numbers: dict[Leaf, Leaf] = {}

        def number(part: Expr) -> Expr | None:
            if not isinstance(part, Leaf):
                return None
            new = numbers.get(part)
            if new is None:
                made = None if part.made is None else rewritten(part.made, number)
                index = -len(numbers) - 1
                same = part.index == index and part.made == made
                new = numbers[part] = part if same else replace(part, index=index, made=made)
            return new

        def changed(value: Value) -> Value:
            if not isinstance(value, Unknown):
                return value
            new = rewritten(value.expr, number)
            return value if new == value.expr else Unknown(new)

        for id in sorted((id for id, contents in state.memory.items() if contents.unknown), key=str):
            contents = state.memory[id]
            for offset in contents.unknown:
                old = contents.others[offset][1]
                value = changed(old)
                if value is not old:
                    contents = self._writable(state, id)
                    contents.replace(offset, value)
        for frame, live in state.live():
            used = set(live)
            for slot, value in enumerate(frame.slots):
                if slot in used:
                    frame.slots[slot] = changed(value)
                elif isinstance(value, Unknown) and leaves(value.expr):
                    frame.slots[slot] = UNDEFINED
        said = {term: set(leaves(term)) for term in (*state.assumed, *state.choices)}
        gone = {leaf for about in said.values() for leaf in about if leaf not in numbers}
        if gone:
            state.guarded |= {leaf for about in said.values() for leaf in about if gone & about}
        state.assumed = {
            rewritten(term, number): bounds for term, bounds in state.assumed.items() if not gone & set(leaves(term))
        }
        state.choices = {
            rewritten(term, number): choice
            for term, choice in state.choices.items()
            if all(leaf in numbers for leaf in leaves(term))
        }
        state.brought = {
            each: rewritten(expr, number)
            for each, expr in state.brought.items()
            if all(leaf in numbers for leaf in leaves(expr))
        }
        state.guarded, state.answered, state.given = (
            frozenset(numbers[leaf] for leaf in known if leaf in numbers)
            for known in (state.guarded, state.answered, state.given)
        )
        state.leaves = len(numbers)


def committed(span: Span, free: bool = False, vain: bool = False, condition: Expr = ALWAYS) -> Do:
    """A branch that is chosen for good: a rank that has chosen it may be stuck there, whatever the other branch
    does. ``free``, ``vain``, ``condition``: as of a :class:`~pgasrob.program.commands.Guess`."""
    return Do(commands.Guess(condition, free, vain), span)
