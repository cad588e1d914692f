"""Accesses that can be next, and which pairs of them race."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import combinations
from typing import Literal, NamedTuple

from pgasrob.program import core
from pgasrob.program.control import Transition
from pgasrob.program.core import Cell, Form, Operands
from pgasrob.program.instance import Instance, Registers
from pgasrob.program.statements import Span
from pgasrob.races.access_facts import Fact, atomic_together, facts_of, made_up, not_excluding, overlap
from pgasrob.semantics.accesses import Access, conflict
from pgasrob.semantics.race import RaceKind, RacingAccess


class Next(NamedTuple):
    """An access that is next: ``number`` says which of those of its command, of :func:`core.accesses_of`.

    ``at_issue``: it is made when the command, the next one of ``rank``, is issued; else it is a step of a pending
    operation.
    """

    rank: int
    transition: Transition
    number: int
    access: Access
    at_issue: bool


Places = tuple[Span, Span]
"""Where the commands of two racing accesses stand in the source, in the order of the source."""


def places(one: Next, other: Next) -> Places:
    """The places of ``one`` and ``other`` in the source."""
    first, second = sorted(
        (one.transition.span, other.transition.span),
        key=lambda span: (span.line, span.column, span.end_line, span.end_column),
    )
    return first, second


class Pairs:
    """Which accesses of ``instance`` race when both are next; ``strict``: an await and what it waits for do, too,
    and atomics of one type of which a specification leaves open whether they exclude each other. ``on_purpose``: so
    do a call that looks once whether a value has come, an atomic read of one's own memory among them, and that value;
    else that is synchronisation, as an await is."""

    def __init__(self, instance: Instance, strict: bool = False, on_purpose: bool = True) -> None:
        self._instance, self._strict, self._on_purpose = instance, strict, on_purpose
        self._facts: dict[tuple[int, int, int], tuple[Fact, ...]] = {}

    @cached_property
    def _made_up(self) -> frozenset[int]:
        return made_up(self._instance.program)

    def fact(self, next: Next) -> Fact:
        """What is known of the access, beside its cell and whether it reads or writes."""
        key = (next.rank, next.transition.occurrence, next.transition.variant)
        facts = self._facts.get(key)
        if facts is None:
            facts = self._facts[key] = facts_of(next.transition)
        return facts[next.number]

    def racing(self, next: Next, operation: int | None) -> RacingAccess:
        """The access as one of a race; ``operation``: which of the rank's issued commands it is a step of, if any."""
        access, fact = next.access, self.fact(next)
        does: Literal["read", "write", "read and write"] = "write" if access.writes else "read"
        if access.reads and access.writes:
            does = "read and write"
        atomic = " by ".join(filter(None, (fact.atomic, fact.by)))
        transition = next.transition
        return RacingAccess(next.rank, transition.occurrence, transition.span, does, access.cell, atomic, operation)

    def race(self, one: Next, other: Next) -> bool:
        """Whether the two, of different commands that are no alternatives at one issue, are a race when both are
        next."""
        if not conflict(one.access, other.access) or self._instance.index(one.access.cell) in self._made_up:
            return False
        first, second = self.fact(one), self.fact(other)
        if not overlap(first, second) or atomic_together(first, second, self._strict):
            return False
        return self._strict or not (
            (self._receives(one, first) and self._arrives(other, second))
            or (self._receives(other, second) and self._arrives(one, first))
        )

    def not_excluding(self, one: Next, other: Next) -> str | None:
        """What is wrong with a race of the two where an update may be lost by it (`access_facts.not_excluding`)."""
        return not_excluding(self.racing(one, None), self.racing(other, None))

    @cached_property
    def may_lose_updates(self) -> bool:
        """Whether there are atomics that do not exclude each other, wherever they are."""
        edges = (edge for automaton in self._instance.automata for edge in automaton.transitions)
        facts = [fact for fact in {fact for edge in edges for fact in facts_of(edge)} if fact.atomic]
        return any(not atomic_together(*two, self._strict) for two in combinations(facts, 2))

    def _receives(self, next: Next, fact: Fact) -> bool:
        """Whether the access is there to see what arrives."""
        looks = fact.looks and self._is_at_home(next)
        return fact.waits or (looks and not self._on_purpose)

    def counts_for_awaits(self, next: Next) -> bool:
        """Whether the access may race with an await, whatever its type."""
        return self._strict or not self._arrives(next, self.fact(next))

    def _arrives(self, next: Next, fact: Fact) -> bool:
        """Whether the access makes a value arrive: it is by another rank, by an operation, or atomic. (What another
        thread stores for one that waits for it is a race as any store is.)"""
        return next.access.writes and (not self._is_at_home(next) or bool(fact.atomic) or not next.at_issue)

    def _is_at_home(self, next: Next) -> bool:
        """Whether the access is to the memory of its own rank."""
        return self._instance.owner(next.access.cell) == self._instance.home[next.rank]

    def kind(self, one: Next, other: Next) -> RaceKind:
        """Which kind of race the two are."""
        if not (self._is_at_home(one) and self._is_at_home(other)):
            return "remote"
        return "local buffer" if one.at_issue != other.at_issue else "local"


def next_at_issue(instance: Instance, rank: int, control: int, registers: Registers) -> list[Next]:
    """The accesses that the next commands of ``rank`` make at their issue. Whether a condition holds does
    not count, whether the operands have values does."""
    found = []
    for transition, operands in instance.evaluated(rank, control, registers):
        made = core.at_issue(operands)
        if made is not None:
            found.append(Next(rank, transition, 0, made, at_issue=True))
    return found


class Kind(NamedTuple):
    """What distinguishes accesses in a search for races: where the command stands, which of its accesses it is,
    what it does, what is known of it, whether it is made at the issue. Which rank makes it does not matter."""

    span: Span
    number: int
    reads: bool
    writes: bool
    commutes: str
    fact: Fact
    at_issue: bool


class Kinds:
    """The kinds of the accesses of an instance, numbered in the order of ranks and control states. ``accesses``: for
    each transition those of its accesses in their order."""

    def __init__(self, pairs: Pairs, instance: Instance) -> None:
        self._pairs = pairs
        self._numbers: dict[Kind, int] = {}
        self._examples: list[Next] = []
        self._known: dict[tuple[int, int, int], int] = {}
        self.accesses: list[list[int]] = []
        for rank, automaton in enumerate(instance.automata):
            for transition in automaton.transitions:
                self.accesses.append([self._number(each) for each in _examples(rank, transition)])
                for number, kind in enumerate(self.accesses[-1]):
                    self._known[rank, transition.occurrence, number] = kind

    def _number(self, next: Next) -> int:
        access = next.access
        span, fact = next.transition.span, self._pairs.fact(next)
        kind = Kind(span, next.number, access.reads, access.writes, access.commutes, fact, next.at_issue)
        number = self._numbers.setdefault(kind, len(self._numbers))
        if number == len(self._examples):
            self._examples.append(next)
        return number

    @property
    def all(self) -> list[Kind]:
        """The kinds in their order."""
        return list(self._numbers)

    def of(self, next: Next) -> int:
        """The number of the kind of ``next``, a step."""
        return self._known[next.rank, next.transition.occurrence, next.number]

    def step(self, kind: int, cell: Cell) -> Next:
        """Some step of ``kind`` to ``cell``."""
        example = self._examples[kind]
        return example._replace(access=example.access._replace(cell=cell))


def _examples(rank: int, transition: Transition) -> Iterator[Next]:
    """The accesses of a command; it does not matter to which cell."""
    form: Form = transition.form
    first = core.at_issue(form)
    if first is not None:
        yield Next(rank, transition, 0, first.at(0), at_issue=True)
    for place in range(len(core.steps_of(form))):
        yield step_of(rank, transition, place, cell=0)


def accesses(rank: int, transition: Transition, operands: Operands) -> list[Next]:
    """All accesses of a command, in their order."""
    made = core.at_issue(operands)
    first = [] if made is None else [Next(rank, transition, 0, made, at_issue=True)]
    return [*first, *(step(rank, transition, operands, place) for place in range(len(core.steps_of(operands))))]


def step(rank: int, transition: Transition, operands: Operands, place: int) -> Next:
    """The step number ``place`` of a command that ``rank`` has issued."""
    return step_of(rank, transition, place, core.steps_of(operands)[place].access.cell)


def step_of(rank: int, transition: Transition, place: int, cell: Cell) -> Next:
    """The step number ``place`` of the command of ``transition``, issued by ``rank``, which is to ``cell``."""
    form: Form = transition.form
    made = core.steps_of(form)[place].access
    return Next(rank, transition, place + (core.at_issue(form) is not None), made.at(cell), at_issue=False)
