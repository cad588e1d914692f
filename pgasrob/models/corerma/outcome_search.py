"""Searches all outcomes of a coreRMA program and chooses only what decides them, for executions are too many.

For ``hb="any"``. The search chooses what each location holds at the end, as if it were read then, and what those reads
give that an outcome depends on: the value of some write, or T. Of the other reads it checks that there is a choice. A
choice requires some pairs to be in order and others not to be, and leaves the rest open: two writes that are not read
need no order. The requirements are kept as

- an order, which grows, closed under transitivity;
- pairs that must not come into it (``never``);
- clauses: of several alternatives one must hold.

The least order with what was chosen satisfies the rules once its atomic writes are ordered in some way (WS) that keeps
``never``; this is looked for last, once for each outcome. Conversely, the choices that are read off an execution hold
in it. The argument is in `proofs/models.md`, "Any order"; tests compare the outcomes with those of all executions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from types import MappingProxyType
from typing import NamedTuple, TypeVar

from pgasrob.models.corerma import order_rules as rules
from pgasrob.models.corerma.consistent_executions import Candidate, Frame, is_acyclic
from pgasrob.models.corerma.order_rules import Pair
from pgasrob.models.litmus.litmus_program import UNDEFINED, Outcome, Value
from pgasrob.models.model_interface import Refused
from pgasrob.models.relations import Rows, converse, empty, overlap, with_pairs
from pgasrob.program.bits import members
from pgasrob.stop_points import stop_point


class Alternative(NamedTuple):
    """One way to satisfy a clause: the pairs ``edges`` are in the order, and the pairs of ``never`` are not."""

    edges: tuple[Pair, ...] = ()
    never: tuple[Pair, ...] = ()


Clause = tuple[Alternative, ...]


class Choice(NamedTuple):
    """What a read gives: the value of ``write``, or T if ``undefined``; then ``clauses`` must hold. A ``write``
    of -1 is any write that a read in conflict may read from."""

    write: int
    undefined: bool
    clauses: tuple[Clause, ...]


Chosen = Mapping[int, Choice]
"""The choice for each read that has one."""


class State(NamedTuple):
    hb: Rows
    never: Rows
    clauses: tuple[Clause, ...]


class Decided(NamedTuple):
    """The choices so far: of the ends of the first locations, and of what some reads give (``chosen``). ``needed``:
    the reads for which something must be chosen, as bits."""

    state: State
    chosen: Chosen
    ends: tuple[Choice, ...]
    needed: int


Node = TypeVar("Node")


def leaves(root: Node, further: Callable[[Node], Iterator[Node] | None]) -> Iterator[Node]:
    """The nodes below ``root`` for which ``further`` gives None, depth first. The stack is explicit, for a tree may be
    deep."""
    branches: list[Iterator[Node]] = [iter((root,))]
    while branches:
        stop_point()
        node = next(branches[-1], None)
        if node is None:
            branches.pop()
        elif (below := further(node)) is None:
            yield node
        else:
            branches.append(below)


def _order(*edges: Pair) -> Alternative:
    return Alternative(edges)


def _never(*pairs: Pair) -> Alternative:
    return Alternative((), pairs)


def _apart(first: int, second: int) -> Alternative:
    return _never((first, second), (second, first))


Wanted = Mapping[str, Value]
"""Values that the outcomes looked for have, by name."""


def outcomes(
    frame: Frame, look_around: Callable[[], None] = lambda: None, wanted: Wanted = MappingProxyType({})
) -> Iterator[Candidate]:
    """At least one execution for each outcome, or only for each that may have the values of ``wanted``. ``look_around``
    is called for every candidate."""
    if frame.settings.hb == "any" or frame.actions.is_atomic:  # then the least order has the same outcomes
        yield from Search(frame, look_around, wanted).outcomes()
        return
    for candidate in frame.candidates():
        look_around()
        yield candidate


class Search:
    def __init__(self, frame: Frame, look_around: Callable[[], None], wanted: Wanted) -> None:
        self.frame, self.actions = frame, frame.actions
        self.has = frame.settings.has
        self.repair = frame.settings.repair
        self._look_around = look_around
        self._choices = {read: tuple(self._of_read(read)) for read in self.actions.readers}
        shown = [number for number, location in enumerate(self.actions.program.locations) if location.shown]
        self._shown = shown
        self._ends = [tuple(self._of_end(location)) for location in shown]
        self._needed = 0
        for program, registers in zip(self.actions.program.threads, self.actions.registers, strict=True):
            for name, slot in zip(program.registers, registers, strict=True):
                if not name.startswith("$"):
                    self._needed |= self.actions.reads_for(slot)
        for step in self.actions.steps:
            if step.may_fault:
                self._needed |= self.actions.reads_for(step.target)
        if wanted:
            self._prune(wanted)

    def outcomes(self) -> Iterator[Candidate]:
        """An execution for each outcome."""
        found: set[Outcome] = set()
        for hb, guess in self.frame.orders():
            needed = self._needed
            for statement in self.frame.cas if guess else ():
                needed |= 1 << statement.actions[0] | 1 << statement.actions[2]
            for state, chosen, ends in self._decided(State(hb, empty(len(hb)), ()), needed):
                self._look_around()
                candidate = self._consistent(state, chosen, ends, guess, found)
                if candidate is not None:
                    found.add(candidate.outcome)
                    yield candidate

    def _prune(self, wanted: Wanted) -> None:
        """Leave out choices that give a value other than ``wanted`` whatever else is chosen."""
        actions = self.actions
        constant = actions.known()

        def fits(choice: Choice, value: Value) -> bool:
            if choice.undefined:
                return value == UNDEFINED
            return constant.get(len(actions.actions) + choice.write, value) == value

        for place, location in enumerate(self._shown):
            value = wanted.get(actions.program.locations[location].name)
            if value is not None:
                self._ends[place] = tuple(choice for choice in self._ends[place] if fits(choice, value))
        slots = {
            slot: wanted[name]
            for thread, held in zip(actions.program.threads, actions.registers, strict=True)
            for name, slot in zip(thread.registers, held, strict=True)
            if name in wanted
        }
        for read, choices in self._choices.items():
            if read in slots:
                self._choices[read] = tuple(choice for choice in choices if fits(choice, slots[read]))

    # --- what a read asks for ----------------------------------------------------------------------------------------

    def _of_read(self, read: int) -> Iterator[Choice]:
        """The choices for what ``read`` gives."""
        location = self.actions.actions[read].rloc
        assert location is not None
        writes = [write for write in members(self.actions.writers_of[location]) if write != read]
        for write in writes:
            others = [other for other in writes if other != write]
            if not (self.has("C") and self.has("no-C")):
                # A conflict makes no difference.
                yield Choice(write, not self.has("no-C"), tuple(self._reads(read, write, others)))
                continue
            yield Choice(write, False, tuple(self._defined(read, write, others)))
            if races := tuple(_apart(write, other) for other in others if not self._both_atomic(write, other)):
                yield Choice(write, True, (races, *self._unraced(read, write, others)))
        races = tuple(_apart(read, write) for write in writes if not self._both_atomic(read, write))
        if races and self.has("C") and self.has("no-C"):
            yield Choice(-1, True, (races,))

    def _reads(self, read: int, write: int, others: Sequence[int]) -> Iterator[Clause]:
        """The clauses that hold when ``read`` reads from ``write`` (R1, R2, and what ``repair`` asks for)."""
        if self._both_atomic(read, write):
            if self.has("R2"):
                yield (_order((write, read)),)
        elif self.repair:
            yield (_never((read, write)),)
        for other in others:
            if self._both_atomic(read, write) and self._both_atomic(read, other):
                yield from self._r1(read, write, other)
            elif self.repair:
                yield _never((write, other)), _never((other, read))

    def _r1(self, read: int, write: int, other: int) -> Iterator[Clause]:
        """The clause of R1 for three atomic actions. Without WS :meth:`Frame.closed` looks after R1 instead."""
        if self.has("R1") and self.has("WS"):
            yield _order((other, write)), _order((read, other))

    def _unraced(self, read: int, write: int, others: Sequence[int]) -> Iterator[Clause]:
        """The clauses of :meth:`_reads`, and those by which ``read`` is in no conflict."""
        yield from self._reads(read, write, others)
        for other in (write, *others):
            if not self._both_atomic(read, other):
                if other == write and self.repair:
                    yield (_order((write, read)),)
                else:
                    yield _order((other, read)), _order((read, other))

    def _defined(self, read: int, write: int, others: Sequence[int]) -> Iterator[Clause]:
        """The clauses of :meth:`_unraced`, and those by which ``write`` is in no conflict either."""
        ordered = self.repair and self.has("WS")  # then what is before the read is before the write
        if not (ordered and (self.has("R2") or not self._both_atomic(read, write))):
            yield from self._unraced(read, write, others)
            for other in others:
                if not self._both_atomic(write, other):
                    yield _order((other, write)), _order((write, other))
            return
        yield (_order((write, read)),)
        for other in others:
            if self._both_atomic(read, write) and self._both_atomic(read, other):
                yield from self._r1(read, write, other)
            elif self._both_atomic(read, other):
                yield _order((other, write)), Alternative(((write, other),), ((other, read),))
            else:
                yield _order((other, write)), _order((read, other))

    def _of_end(self, location: int) -> Iterator[Choice]:
        """The choices for what a location holds at the end: what a read after all actions could give."""
        writes = list(members(self.actions.writers_of[location]))
        races = []
        for write in writes:
            others = [other for other in writes if other != write]
            last = tuple((write, other) for other in others)
            if not self.has("no-C"):
                yield Choice(write, True, ((_never(*last),),))
            elif not self.has("C"):
                yield Choice(write, False, ((_never(*last),),))
            else:
                weak = [other for other in others if self._both_atomic(write, other) and not self.has("WS")]
                yield Choice(
                    write,
                    False,
                    tuple((_never((write, other)) if other in weak else _order((other, write)),) for other in others),
                )
                races += [_never(*last, (other, write)) for other in others if not self._both_atomic(write, other)]
        if races:
            yield Choice(-1, True, (tuple(races),))

    def _both_atomic(self, first: int, second: int) -> bool:
        return rules.both_atomic(self.actions, first, second)

    # --- choosing ----------------------------------------------------------------------------------------------------

    def _decided(self, state: State, needed: int) -> Iterator[tuple[State, Chosen, tuple[Choice, ...]]]:
        """States in which something is chosen of the end of each location, of the reads ``needed``, and of all whose
        values are needed for these. There may be no execution: the other reads, and clauses, are open still."""
        size = len(self.actions.actions)

        def further(decided: Decided) -> Iterator[Decided] | None:
            if len(decided.ends) < len(self._ends):
                read, choices = None, self._ends[len(decided.ends)]
            else:
                read = next((number for number in members(decided.needed) if number not in decided.chosen), None)
                if read is None:
                    return None
                choices = self._choices[read]
            return (
                Decided(
                    following,
                    decided.chosen if read is None else {**decided.chosen, read: choice},
                    (*decided.ends, choice) if read is None else decided.ends,
                    decided.needed | (0 if choice.undefined else self.actions.reads_for(size + choice.write)),
                )
                for choice in choices
                if (following := self._with(decided.state, choice)) is not None
            )

        for decided in leaves(Decided(state, {}, (), needed), further):
            yield decided.state, decided.chosen, decided.ends

    def _all(self, state: State, chosen: Chosen) -> Iterator[tuple[State, Chosen]]:
        """The same states with a choice for every read."""

        def further(node: tuple[State, Chosen]) -> Iterator[tuple[State, Chosen]] | None:
            here, known = node
            read = next((number for number in self.actions.readers if number not in known), None)
            if read is None:
                return None
            return (
                (following, {**known, read: choice})
                for choice in self._choices[read]
                if (following := self._with(here, choice)) is not None
            )

        for here, known in leaves((state, chosen), further):
            yield from ((settled, known) for settled in self._settled(here))

    def _with(self, state: State, choice: Choice) -> State | None:
        return self._propagated(State(state.hb, state.never, state.clauses + choice.clauses))

    def _settled(self, state: State) -> Iterator[State]:
        """The states in which some alternative of each clause holds."""

        def further(here: State) -> Iterator[State] | None:
            if not here.clauses:
                return None
            first, *rest = here.clauses
            tried = (self._propagated(State(here.hb, here.never, ((each,), *rest))) for each in first)
            return (following for following in tried if following is not None)

        return leaves(state, further)

    def _propagated(self, state: State) -> State | None:
        """``state`` with all that follows from clauses that have one alternative left; None where a clause has none."""
        hb, never, clauses = state
        while True:
            stop_point()
            left = []
            for clause in clauses:
                open_ones = []
                for alternative in clause:
                    verdict = _verdict(hb, never, alternative)
                    if verdict is True:
                        break
                    if verdict is None:
                        open_ones.append(alternative)
                else:
                    if not open_ones:
                        return None
                    if len(open_ones) > 1:
                        left.append(tuple(open_ones))
                        continue
                    edges, pairs = open_ones[0]
                    if (order := with_pairs(hb, edges)) is None:
                        return None
                    hb = order
                    if pairs:
                        never = never.copy()
                        for first, second in pairs:
                            never[first] |= 1 << second
                    if overlap(hb, never):
                        return None
            if len(left) == len(clauses):
                return State(hb, never, tuple(left))
            clauses = tuple(left)

    # --- the end -----------------------------------------------------------------------------------------------------

    def _consistent(
        self,
        state: State,
        chosen: Chosen,
        ends: Sequence[Choice],
        guess: Sequence[bool | None],
        found: set[Outcome],
    ) -> Candidate | None:
        """An execution with what was chosen, if there is one, and its outcome is not among those ``found``."""
        frame = self.frame
        last = [-1] * len(self.actions.writers_of)
        for location, choice in zip(self._shown, ends, strict=True):
            last[location] = -1 if choice.undefined else choice.write
        # What the other reads give makes no difference to the outcome.
        values, fault = self._values(chosen)
        if fault is None:
            if values is None or not frame.guessed_right(guess, values):
                return None
            if frame.candidate((), state.hb, values, last).outcome in found:
                return None
        for settled, everything in self._all(state, chosen):
            values, fault = self._values(everything)
            if values is None and fault is None:
                continue
            for source, hb in self._sources(settled, everything):
                if fault is not None:
                    raise fault
                assert values is not None
                return frame.candidate(tuple(source), hb, values, last, settled.never)
        return None

    def _values(self, chosen: Chosen) -> tuple[Sequence[Value] | None, Refused | None]:
        """The values of the slots, where reads without a choice give T; or the refusal where an expression faults."""
        source = [-1] * len(self.actions.actions)
        undefined = 0
        for read in self.actions.readers:
            choice = chosen.get(read)
            if choice is None or choice.undefined:
                undefined |= 1 << read
            else:
                source[read] = choice.write
        try:
            return self.frame.values(source, undefined), None
        except Refused as refused:
            return None, refused

    def _sources(self, state: State, chosen: Chosen) -> Iterator[tuple[list[int], Rows]]:
        """The write that each action reads from, with an order that has all atomic writes in it."""
        source = [-1] * len(self.actions.actions)
        for read, choice in chosen.items():
            source[read] = choice.write
        racing = [read for read in self.actions.readers if source[read] < 0]
        closed = self.frame.closed(state.hb, source)
        for hb in self.frame.written(closed, source, state.never) if closed else ():
            for sources in product(*(self._raced(hb, read) for read in racing)):
                for read, write in zip(racing, sources, strict=True):
                    source[read] = write
                if is_acyclic(source):
                    yield source, hb
            for read in racing:
                source[read] = -1

    def _raced(self, hb: Rows, read: int) -> Iterator[int]:
        """The writes that a read in conflict may read from: those that it is in conflict with, and the last writes
        before it."""
        location = self.actions.actions[read].rloc
        assert location is not None
        before = converse(hb)
        ordered = [after | earlier for after, earlier in zip(hb, before, strict=True)]
        yield from members(rules.conflicts(self.actions, ordered, read, location))
        for write in members(before[read] & self.actions.writers_of[location]):
            if not self._both_atomic(read, write) and not rules.is_hidden(self.actions, hb, before, read, write):
                yield write


def _verdict(hb: Rows, never: Rows, alternative: Alternative) -> bool | None:
    """Whether ``alternative`` holds however ``hb`` and ``never`` grow; None while that is open."""
    holds = True
    for first, second in alternative.edges:
        if not hb[first] >> second & 1:
            if (hb[second] >> first | never[first] >> second) & 1 or first == second:
                return False
            holds = False
    for first, second in alternative.never:
        if hb[first] >> second & 1:
            return False
        if not (never[first] >> second | hb[second] >> first) & 1:
            holds = False
    return True if holds else None
