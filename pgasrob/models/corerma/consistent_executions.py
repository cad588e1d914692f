"""Enumerates the consistent executions of a coreRMA program: reads-from, a happens-before that satisfies the rules,
values.

Happens-before is the least order that has the pairs which the rules derive from the program, from reads-from (R2), from
an order of any two atomic writes to one location (WS), and from these (R1). For ``hb="any"``, any partial order that
satisfies the rules, two further accesses to one location, one a write and one not atomic, are also in one order, in the
other or in none; no other pair makes a difference to what is read (`proofs/models.md`, "Any order").
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from pgasrob.models.corerma import order_rules as rules
from pgasrob.models.corerma.order_rules import RULES, Pair
from pgasrob.models.corerma.program_actions import Actions, Step
from pgasrob.models.litmus.litmus_program import UNDEFINED, Outcome, Value
from pgasrob.models.model_interface import Refusal, Refused
from pgasrob.models.model_table import HappensBefore, LocalOrder
from pgasrob.models.relations import Rows, converse, empty, joined, overlap, union, with_pairs
from pgasrob.program.bits import members
from pgasrob.program.expressions import Fault
from pgasrob.stop_points import stop_point


@dataclass(frozen=True)
class Settings:
    """Which rules are in force, and which partial orders count.

    ``without``: the rules that are left out, by the names of `order_rules.RULES`. ``vpi``: the model that the paper
    customises for VPI Verbs: in place of in-order routing (IR) puts stay in order after earlier puts, and gets after
    earlier gets. ``hb``: happens-before is any partial order that satisfies the rules, or the least one. ``repair``: no
    read gives what was overwritten before it, or is written after it; the paper's rules require this of atomic accesses
    only. ``local_order``: rule LO as in Figure 4, or as in the text of section 5.3.
    """

    without: Collection[str] = frozenset()
    vpi: bool = False
    hb: HappensBefore = "any"
    repair: bool = True
    local_order: LocalOrder = "figure"

    def __post_init__(self) -> None:
        object.__setattr__(self, "without", frozenset(self.without))
        if unknown := set(self.without) - set(RULES):
            raise ValueError(f"coreRMA has no rule {', '.join(sorted(unknown))}; it has {', '.join(RULES)}")

    def has(self, rule: str) -> bool:
        return rule not in self.without and rule != ("IR" if self.vpi else "VPI")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A consistent execution: ``source`` is the write that each action reads from, -1 for what reads nothing;
    ``values`` are those of the slots (`program_actions`); ``last`` the write whose value each location has at the end,
    -1 for T. ``never``: pairs that were kept out of ``hb``, where only what decides the outcome was chosen
    (`outcome_search`)."""

    source: tuple[int, ...]
    hb: Rows
    values: tuple[Value, ...]
    last: tuple[int, ...]
    outcome: Outcome
    never: tuple[int, ...] = ()


class Frame:
    """The actions of a program and the rules in force: what all its executions have in common."""

    def __init__(self, actions: Actions, settings: Settings) -> None:
        self.actions, self.settings = actions, settings
        self.steps = actions.steps
        self.cas = [statement for statement in actions.statements if statement.kind == "cas"]

    @cached_property
    def static(self) -> Mapping[str, tuple[Pair, ...]]:
        """The pairs that each rule in force orders whatever is read, but for CAS-F and CAS-T."""
        local = rules.lo_text if self.settings.local_order == "text" else rules.lo
        found = {name: tuple(rule(self.actions)) for name, rule in rules.STATIC.items() if self.settings.has(name)}
        if "LO" in found:
            found["LO"] = tuple(local(self.actions))
        return found

    def orders(self) -> Iterator[tuple[Rows, tuple[bool | None, ...]]]:
        """The least order by the program alone, with a guess for each cas whether it succeeds (None: an operand is T,
        and either rule orders it). There is one order, without guesses, unless exactly one of CAS-F and CAS-T is in
        force."""
        base = self._base()
        if not self.cas:
            yield base, ()
            return
        of = {outcome: self.settings.has(name) for outcome, name in ((True, "CAS-T"), (False, "CAS-F"))}
        of_none = any(of.values())
        choices: tuple[bool | None, ...] = (True, False, None) if of[True] != of[False] else (None,)
        for guess in product(choices, repeat=len(self.cas)):
            order = base
            for statement, success in zip(self.cas, guess, strict=True):
                if of_none if success is None else of[success]:
                    order = _along(order, rules.cas(statement))
            yield order, guess if len(choices) > 1 else ()

    def _base(self) -> Rows:
        actions = self.actions
        rest = actions.everything & ~actions.initial
        order = [rest if actions.initial >> number & 1 else 0 for number in range(len(actions.actions))]
        for pairs in self.static.values():
            order = _along(order, pairs)
        return order

    def guessed_right(self, guess: Sequence[bool | None], values: Sequence[Value]) -> bool:
        for statement, success in zip(self.cas, guess, strict=True) if guess else ():
            expected, held = values[statement.actions[0]], values[statement.actions[2]]
            if success != (None if UNDEFINED in (expected, held) else expected == held):
                return False
        return True

    def values(self, source: Sequence[int], undefined: int) -> list[Value] | None:
        """The value of each slot when the reads of ``undefined`` give T and the others what their ``source`` has
        written; None where a value would depend on itself."""
        size = len(self.actions.actions)
        slots: list[Value | None] = [None] * self.actions.slots
        for slot, constant in self.actions.constants.items():
            slots[slot] = constant
        waiting = []
        for read in self.actions.readers:
            if undefined >> read & 1:
                slots[read] = UNDEFINED
            else:
                waiting.append((read, size + source[read]))
        pending: Sequence[Step] = self.steps
        left = len(waiting) + len(pending)
        while left:
            stop_point()
            reading = []
            for read, write in waiting:
                slots[read] = slots[write]
                if slots[read] is None:
                    reading.append((read, write))
            blocked = []
            for step in pending:
                known = [value for source_slot in step.sources if (value := slots[source_slot]) is not None]
                if len(known) < len(step.sources):
                    blocked.append(step)
                    continue
                try:
                    slots[step.target] = step.compute(known)
                except Fault as fault:
                    raise Refused((Refusal(f"an execution faults: {fault}", step.span),)) from None
            if len(reading) + len(blocked) == left:
                return None
            waiting, pending, left = reading, blocked, len(reading) + len(blocked)
        return [value if value is not None else 0 for value in slots]

    # --- all of them -------------------------------------------------------------------------------------------------

    def candidates(self) -> Iterator[Candidate]:
        """All consistent executions."""
        for order, guess in self.orders():
            source = [-1] * len(self.actions.actions)
            for read in self._reads(order, source, 0):
                for written in self.written(read, source):
                    for hb in self._any(written, source) if self.settings.hb == "any" else (written,):
                        yield from self._finished(hb, source, guess)

    def _reads(self, hb: Rows, source: list[int], place: int) -> Iterator[Rows]:
        """Choose for each read from number ``place`` on a write (in ``source``), in every way; yields the orders that
        follow."""
        actions = self.actions
        if place == len(actions.readers):
            if is_acyclic(source):
                yield hb
            return
        read = actions.readers[place]
        location = actions.actions[read].rloc
        assert location is not None
        for write in members(actions.writers_of[location] & ~(1 << read)):
            source[read] = write
            order: Rows | None = hb
            if self.settings.has("R2") and rules.r2(actions, read, write):
                order = joined(hb, write, read)
            if order is not None and (order := self.closed(order, source)) is not None:
                yield from self._reads(order, source, place + 1)
        source[read] = -1

    def closed(self, hb: Rows, source: Sequence[int]) -> Rows | None:
        """``hb`` with the pairs that R1 adds; None where they close a cycle."""
        order: Rows | None = hb
        while self.settings.has("R1") and order is not None and (fresh := list(rules.r1(self.actions, source, order))):
            stop_point()
            order = with_pairs(order, fresh)
        return order

    def written(self, hb: Rows, source: Sequence[int], never: Rows | None = None) -> Iterator[Rows]:
        """``hb`` with the atomic writes to each location ordered, in every way that keeps the pairs ``never`` out."""
        if never is not None and overlap(hb, never):
            return
        if self.settings.has("WS"):
            for first, second in rules.ws(self.actions, hb):
                for order in self._either(hb, source, first, second):
                    yield from self.written(order, source, never)
                return
        yield hb

    def _either(self, hb: Rows, source: Sequence[int], first: int, second: int) -> Iterator[Rows]:
        """``hb`` with ``first`` before ``second``, then with ``second`` before ``first``, each unless it closes a
        cycle."""
        for pair in ((first, second), (second, first)):
            if (order := joined(hb, *pair)) is not None and (order := self.closed(order, source)) is not None:
                yield order

    def _any(self, hb: Rows, source: Sequence[int]) -> Iterator[Rows]:
        """Order any two accesses in conflict, or leave them unordered, in every way."""
        pairs = list(self.actions.conflicting())

        def decided(hb: Rows, place: int, apart: Rows) -> Iterator[Rows]:
            if overlap(hb, apart):
                return
            while place < len(pairs) and _ordered(hb, *pairs[place]):
                stop_point()
                place += 1
            if place == len(pairs):
                yield hb
                return
            first, second = pairs[place]
            for order in self._either(hb, source, first, second):
                yield from decided(order, place + 1, apart)
            rows = apart.copy()
            rows[first] |= 1 << second
            rows[second] |= 1 << first
            yield from decided(hb, place + 1, rows)

        return decided(hb, 0, empty(len(hb)))

    def _finished(self, hb: Rows, source: Sequence[int], guess: Sequence[bool | None]) -> Iterator[Candidate]:
        """The executions with the order ``hb``: one, or without WS more where several writes may be the last."""
        actions = self.actions
        before = converse(hb)
        ordered = union(hb, before)
        undefined = 0
        for read in actions.readers:
            if self.settings.repair and rules.is_hidden(actions, hb, before, read, source[read]):
                return
            if self.is_undefined(rules.is_undefined(actions, ordered, read, source[read])):
                undefined |= 1 << read
        values = self.values(source, undefined)
        if values is None or not self.guessed_right(guess, values):
            return
        for last in product(*(self._last(hb, ordered, location) for location in range(len(actions.writers_of)))):
            yield self.candidate(tuple(source), hb, values, last)

    def is_undefined(self, conflict: bool) -> bool:
        """Whether a read gives T. C says so for one in ``conflict``, no-C that it does not for any other. Without C a
        conflict makes no difference; without no-C nothing says that a read gives what it reads from."""
        return not self.settings.has("no-C") or (conflict and self.settings.has("C"))

    def _last(self, hb: Rows, ordered: Rows, location: int) -> list[int]:
        """The writes that may give a location its value at the end, -1 for T. They are those that a read after all
        actions could read from."""
        writers = self.actions.writers_of[location]
        found = []
        for write in members(writers):
            if not hb[write] & writers:
                conflict = self.is_undefined(bool(rules.conflicts(self.actions, ordered, write, location)))
                found.append(-1 if conflict else write)
        return list(dict.fromkeys(found))

    def candidate(
        self, source: tuple[int, ...], hb: Rows, values: Sequence[Value], last: Sequence[int], never: Sequence[int] = ()
    ) -> Candidate:
        size = len(self.actions.actions)
        memory = tuple(UNDEFINED if write < 0 else values[size + write] for write in last)
        registers = tuple(tuple(values[slot] for slot in slots) for slots in self.actions.registers)
        return Candidate(
            source, hb, tuple(values), tuple(last), self.actions.program.outcome(memory, registers), tuple(never)
        )


def _along(hb: Rows, pairs: Iterable[Pair]) -> Rows:
    """``hb`` with ``pairs``, which follow program order and so close no cycle."""
    order = with_pairs(hb, pairs)
    assert order is not None
    return order


def _ordered(hb: Rows, first: int, second: int) -> bool:
    return bool((hb[first] >> second | hb[second] >> first) & 1)


def is_acyclic(source: Sequence[int]) -> bool:
    """Whether reads-from has no cycle. Without R2 read-writes could read from each other in one."""
    fine = {-1}
    for number in range(len(source)):
        way = []
        while number not in fine:
            stop_point()
            if number in way:
                return False
            way.append(number)
            number = source[number]
        fine.update(way)
    return True
