"""Computes, ignoring values, what an attack on a given source can lead to, as a fixpoint.

The rules F1 to F6, E1 and E2 named below, and the proof, are in `proofs/reductions.md`, section 2; the words in
`proofs/glossary.md`. Of ranks it knows what `abstract_commands.Commands` says. They are those of an instance
(`infeasibility`), or names of ranks of which there are any number (`every_n`, and `proofs/every-n.md`): then one name
may stand for many.

It starts with the source's rank after the source's command and with the other ranks anywhere between the same two
barriers (the glossary has the name in the proofs). What cuts it short is what is certain: steps that are delayed stay
delayed. So a wait for one of them is never over, a command whose access at its issue must hit one of them is no part of
sigma (it can only be e), and completion rules delay steps of later commands too.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import or_
from typing import NamedTuple

from pgasrob.analysis.placement import (
    DELAYED,
    NOW,
    Placement,
    fenced,
    lower_bounds,
    placed,
    wait_is_over,
)
from pgasrob.program import core
from pgasrob.robustness.reduction.abstract_commands import Accesses, Command, union
from pgasrob.robustness.reduction.pairwise import States, Views
from pgasrob.robustness.reduction.setting import Setting
from pgasrob.stop_points import stop_point

PHASES_AFTER = 4
"""Phases from one barrier to the next, counted from the source's command, that are kept apart; the last one stands for
all that follow."""
WAYS = 4
"""Ways to one place that are kept apart; of any further one only what is always certain is known."""
LOOKS = 2_000_000
"""Commands looked at in all; steps that have not been decided by then are choosable."""


class _Way(NamedTuple):
    """What is certain of a tainted rank by one of the paths to a place.

    ``placement``: steps of its operations that are delayed, and what follows for later ones. ``delayed``: accesses that
    are in d, those of the source's command among them.
    """

    placement: Placement = ()
    delayed: Accesses = 0


class _Place(NamedTuple):
    """A tainted rank before a control state, and the barriers since the choice of the source."""

    rank: int
    state: int
    phase: int


class _KnownAccesses:
    """The sets of accesses done, or made, with what is known of other ranks where that was."""

    def __init__(self, setting: Setting) -> None:
        self._many, self._views = setting.many, setting.views
        self._known: dict[Sequence[States], _AccessesByRank] = {}

    def add(self, rank: int, state: int, accesses: Accesses) -> Accesses:
        """Add ``accesses`` to those of ``rank``, by which it comes to ``state``. Returns those that are new to another
        rank."""
        known = self._views.known[rank][state] if self._views else ()
        if known is None:
            return 0  # it never comes there
        return self._known.setdefault(known, _AccessesByRank(self._many)).add(rank, accesses)

    def by_others(self, rank: int, state: int) -> Accesses:
        """The accesses of all ranks but ``rank`` that may have been made when it is at ``state``. As long as it is not
        tainted, none in t or d is its own."""
        of = (made for known, made in self._known.items() if not known or known[rank] >> state & 1)
        return reduce(or_, (made.by_others(rank) for made in of), 0)


class _AccessesByRank:
    """The sets of accesses done, or made, of all ranks; of those of ``many`` what is made by one is made by several."""

    def __init__(self, many: frozenset[int]) -> None:
        self._many = many
        self._by_rank: dict[int, Accesses] = {}
        self._some: Accesses = 0  # of one rank or more
        self._several: Accesses = 0  # of two ranks or more

    def add(self, rank: int, accesses: Accesses) -> Accesses:
        """Add ``accesses`` to those of ``rank``. Returns those that are new to another rank."""
        own = self._by_rank.get(rank, 0)
        more = accesses & ~own
        if not more:
            return 0
        new = more & ~self._several
        self._several |= more if rank in self._many else more & self._some
        self._some |= more
        self._by_rank[rank] = own | more
        return new

    def by_others(self, rank: int) -> Accesses:
        """The accesses of all ranks but ``rank``."""
        return self._several | self._some & ~self._by_rank.get(rank, 0)


class Fixpoint:
    """The fixpoint for one source: step ``step`` of ``command`` of ``rank``, which is one rank, before ``state``, with
    the other ranks in its ``states_of_others``.

    ``done``: for each rank what its commands that are reached may have accessed without delay. ``made``: the same and
    what is delayed.
    """

    def __init__(
        self, setting: Setting, states_of_others: list[set[int]], rank: int, state: int, command: Command, step: int
    ) -> None:
        self.setting = setting
        self.states_of_others = states_of_others
        self.rank, self.state = rank, state
        self.closing: tuple[int, Command] | None = None  # the command that may be e, and its rank
        self.source = command.in_steps[step].accesses
        self._source = command.occurrence, len(command.chain) - len(command.in_steps) + step
        self.done, self.made = _KnownAccesses(setting), _KnownAccesses(setting)
        self.made_besides = _KnownAccesses(setting)  # what is made but for the source
        self.made_besides = _KnownAccesses(setting)  # the source
        self.new: Accesses = 0  # what may taint another rank, and has not been looked at for that
        # The commands by which ranks may be tainted, and which of their steps are certainly delayed then.
        self.joined: set[tuple[int, tuple[bool, ...]]] = set()
        self.ways: dict[_Place, set[_Way]] = {}
        self.fresh: list[tuple[_Place, _Way]] = []
        # For every phase the ranks that may come to its end, where that leads them, and by which way.
        self.arrived: list[dict[int, set[tuple[int, _Way]]]] = [{} for _ in range(PHASES_AFTER)]
        # What the source's rank has done without delay, by commands and their accesses, and who waits for more of it.
        self.happened: set[tuple[int, int]] = set()
        self.waiting: list[tuple[_Place, _Way]] = []
        # What ranks may issue before a barrier comes, where more is known of that.
        self.issued: set[int] | None = None
        # The tokens that the source's rank has.
        self.tokens = [each for each in setting.tokens if each.holding[rank] >> state & 1]
        # Accesses that are never to the source's cell.
        made = id(command), len(command.chain) - len(command.in_steps) + step
        self.elsewhere = set[tuple[int, int]]().union(
            *(each.elsewhere for each in setting.tokens if made in each.waking)
        )
        # With threads: whether somebody has passed a barrier since the choice.
        self.passed = False
        # How the source's rank comes to a barrier, as long as it is not known where the others are; then None.
        self.early: list[tuple[_Place, int, _Way]] | None = []
        # F1
        delayed = [place >= step for place in range(len(command.in_steps))]
        way = self._way_after(_Way(), command, delayed)
        # What is always certain, of the source's rank and of the others.
        self.always_of_source = way._replace(placement=fenced(way.placement, core.Bundle()))
        self.always_of_others = way._replace(placement=())
        besides = [each for place, each in enumerate(command.in_steps) if place != step]
        besides += [command.at_issue] if command.at_issue else []
        self._issue(rank, 0, _Way(), command, delayed, union(besides))

    def finds_e(self) -> bool:
        """Whether some command may be e."""
        # The source's rank goes first: where it comes to before a barrier does not depend on the others, or it does on
        # what they may do in any case.
        everyone = self.states_of_others
        self._ask_pairs(everyone)
        if self._go_as_far_as_they_can():
            return True
        while self._ask_pairs(everyone):
            stop_point()
            if self._go_as_far_as_they_can():
                return True
        early, self.early = self.early or (), None
        if self.setting.views is not None:
            self.states_of_others = [self._seen(self.setting.views, rank) for rank in range(self.setting.nodes)]
        for arriving in early:
            self._arrive(*arriving)
        leaving = [number for number in self.setting.conflicting(self.source) if self._is_of_another(number)]
        if not self.arrived[0]:
            if not leaving:
                return False  # only a command of the source's rank could be e, and it has found none
            if not self.setting.threads:  # of which another one may come to a barrier yet
                self.new &= self.setting.side(self.rank, self.source)
        self._delay_further()
        if self._go_as_far_as_they_can():
            return True
        while not any(self._may_be_e(number) for number in leaving):
            stop_point()
            new, self.new = self.new, 0
            for number in self.setting.conflicting(new):
                self._join(number)
            if self._go_as_far_as_they_can():
                return True
            if not self.new:
                return False
        return True

    def _go_as_far_as_they_can(self) -> bool:
        """Let the tainted ranks go on; whether one of their commands may be e."""
        while self.fresh:
            stop_point()
            place, way = self.fresh.pop()
            for command in self.setting.commands[place.rank][place.state]:
                if command.possible and self._go_on(place, way, command):
                    self.closing = place.rank, command
                    return True
        return False

    def _ask_pairs(self, everyone: list[set[int]]) -> bool:
        """Ask again who may issue what before a barrier comes; whether that is more than before."""
        if self.setting.pairs is None:
            return False
        delayed = self.always_of_others.delayed
        found = self.setting.pairs.before_barrier(
            everyone, self.state, lambda access: bool(access.must_hit(delayed)), self.happened
        )
        self.setting.looks += len(found.issued)
        more = self.issued != found.issued
        self.states_of_others, self.issued = [*found.states_of_others], found.issued
        self.fresh += self.waiting
        self.waiting = []
        return more

    def _seen(self, views: Views, other: int) -> set[int]:
        """Where another rank may be before a barrier comes, by what is known of it and the source's rank."""
        if other == self.rank:
            return self.states_of_others[other]
        states = [
            at
            for at in self.states_of_others[other]
            if views.may_be_at_once(self.rank, self.state, other, at)
            and not any(token.holding[other] >> at & 1 for token in self.tokens)
        ]
        found = set(states)
        while states:
            stop_point()
            for command in self.setting.commands[other][states.pop()]:
                self.setting.looks += 1
                first = command.at_issue
                if (
                    command.possible
                    and command.target not in found
                    and not isinstance(command.operands, core.Barrier)
                    and not (first is not None and first.must_hit(self.always_of_others.delayed))
                    and self._may_be_issued(command)
                ):
                    found.add(command.target)
                    states.append(command.target)
        return found

    def _may_be_issued(self, command: Command, phase: int = 0) -> bool:
        """Whether what ``command`` reads may be there, so many barriers after the choice."""
        if phase == 0 and self.issued is not None and id(command) not in self.issued:
            return False
        if any(id(command) in token.needing and token.putting.isdisjoint(self.happened) for token in self.tokens):
            return False  # the source's rank has not handed it on
        return self._may_be_satisfied(command)

    def _may_be_satisfied(self, command: Command) -> bool:
        """Whether one of the commands of which one must have been issued before ``command`` may have been."""
        views = self.setting.views
        writers = None if views is None else views.writers.get(id(command))
        return (
            views is None
            or writers is None
            or any(
                writer.rank != self.rank
                or views.after[writer.rank][writer.target] >> self.state & 1
                or (writer.command, writer.access) in self.happened
                for writer in writers
            )
        )

    def _is_of_another(self, number: int) -> bool:
        """Whether a command is one of another rank than the source's, in a state that it may be in."""
        rank, state, _ = self.setting.accessing[number]
        return rank != self.rank and state in self.states_of_others[rank]

    def _go_on(self, place: _Place, way: _Way, command: Command) -> bool:
        """F2 and E1: let a tainted rank issue ``command``; whether that may be e."""
        self.setting.looks += 1
        if isinstance(command.operands, core.Barrier):
            self._arrive(place, command.target, way)
            return False
        if command.operands and not wait_is_over(way.placement, command.operands):
            return False
        if not self._may_be_issued(command, place.phase):
            self.waiting.append((place, way))
            return False
        first = command.at_issue
        if first is not None and first.may_hit(self.source) and (id(command), 0) not in self.elsewhere:
            return True  # E1, by the access at its issue
        bounds = self._bounds(way, command)
        for number, (access, bound) in enumerate(zip(command.in_steps, bounds, strict=True)):
            if bound == DELAYED:
                break
            if access.may_hit(self.source) and not self._is_elsewhere(place.rank, command, number):
                return True  # E1, by a step
        if first is not None and first.must_hit(way.delayed):
            return False  # m3 has no such move: it could only have been e
        self._issue(place.rank, place.phase, way, command, _delayed(way, command, bounds))
        return False

    def _is_elsewhere(self, rank: int, command: Command, step: int) -> bool:
        """Whether ``step`` is the source's, of the same command when the source's rank issues it again, and to another
        cell then."""
        place = len(command.chain) - len(command.in_steps) + step
        if (id(command), place) in self.elsewhere:
            return True
        return rank == self.rank and (command.occurrence, place) == self._source and place in command.apart

    def _join(self, number: int) -> None:
        """F4 and F5: let a rank that is not tainted issue a command, if that may taint it."""
        self.setting.looks += 1
        if not self._is_of_another(number):
            return
        rank, state, command = self.setting.accessing[number]
        way = self.always_of_others
        if not self._may_be_issued(command):
            return
        if command.at_issue is not None and command.at_issue.must_hit(way.delayed):
            return  # it could only be e
        done, made = self.done.by_others(rank, state), self._made_by_others(rank, state, command)
        delayed = _delayed(way, command, [NOW] * len(command.in_steps))
        if not any(access.may_hit(done) for access in command.chain):
            # Only a step that hits d can taint it, and it is delayed then: this one or one before it.
            made = made[len(command.chain) - len(command.in_steps) :]
            hitting = [place for place, access in enumerate(command.in_steps) if access.may_hit(made[place])]
            if not hitting:
                return
            delayed = [certainly or place >= hitting[-1] for place, certainly in enumerate(delayed)]
        if (number, tuple(delayed)) not in self.joined:
            self.joined.add((number, tuple(delayed)))
            self._issue(rank, 0, way, command, delayed)

    def _delay_further(self) -> None:
        """F6: let ranks that are not tainted delay a further update of the source's kind."""
        further = self.source & self.setting.waited_for
        for number in self.setting.making(further) if further else ():
            rank, _, command = self.setting.accessing[number]
            for step, access in enumerate(command.in_steps if self._is_of_another(number) else ()):
                if access.accesses & further:
                    delayed = [place >= step for place in range(len(command.in_steps))]
                    self._issue(rank, 0, self.always_of_others, command, delayed)

    def _may_be_e(self, number: int) -> bool:
        """E2: whether a command of another rank may be e, whose rank is not tainted."""
        rank, state, command = self.setting.accessing[number]
        done, made = self.done.by_others(rank, state), self._made_by_others(rank, state, command)
        self.closing = rank, command
        return self._may_be_issued(command) and any(
            leaving.may_hit(self.source)
            and (id(command), place) not in self.elsewhere
            and (
                any(before.may_hit(done) for before in command.chain[: place + 1])
                or any(left.may_hit(made[later]) for later, left in enumerate(command.chain) if later > place)
            )
            for place, leaving in enumerate(command.chain)
        )

    def _made_by_others(self, rank: int, state: int, command: Command) -> list[Accesses]:
        """For each access of a command of ``rank`` what others have made: all, or all but the source."""
        made, places = self.made.by_others(rank, state), range(len(command.chain))
        if not any((id(command), place) in self.elsewhere for place in places):
            return [made] * len(command.chain)
        besides = self.made_besides.by_others(rank, state)
        return [besides if (id(command), place) in self.elsewhere else made for place in places]

    def _arrive(self, place: _Place, target: int, way: _Way) -> None:
        """F3: a tainted rank comes to a barrier. It is passed when every rank can come to it; then all are tainted."""
        if self.early is not None:
            self.early.append((place, target, way))
            return
        phase = min(place.phase, PHASES_AFTER - 1)
        arrived = self.arrived[phase]
        if self.setting.threads:
            self._pass_with_anyone(place, target, way)
            return
        if place.phase == 0:
            if place.rank != self.rank:
                return  # it comes there untainted too
            if not arrived:
                self._arrive_untainted()
        first = place.rank not in arrived
        arrived.setdefault(place.rank, set()).add((target, way))
        if len(arrived) == self.setting.nodes:
            for rank, ways in arrived.items() if first else [(place.rank, {(target, way)})]:
                for state, arriving in ways:
                    self._go(_Place(rank, state, phase + 1), arriving)

    def _pass_with_anyone(self, place: _Place, target: int, way: _Way) -> None:
        """F3 with threads: whoever may ever come to a barrier may have come to this one, and is tainted then."""
        self.arrived[0][place.rank] = set()
        self._go(place._replace(state=target), way)
        if not self.passed:
            self.passed = True
            for rank, states in enumerate(self.states_of_others):
                for state in self.setting.after_barriers(rank, states) if rank != self.rank else ():
                    self._go(_Place(rank, state, place.phase), self.always_of_others)

    def _arrive_untainted(self) -> None:
        """Let the other ranks come to the first barrier, with no more certain of them than always."""
        for rank, states in enumerate(self.states_of_others):
            targets = self.setting.after_barriers(rank, states)
            if targets and rank != self.rank:
                self.arrived[0][rank] = {(target, self.always_of_others) for target in targets}

    def _issue(
        self, rank: int, phase: int, way: _Way, command: Command, delayed: Sequence[bool], besides: Accesses = -1
    ) -> None:
        """Let a rank issue a command that is reached; ``delayed`` says which of its steps are so for certain, and
        ``besides`` which accesses are not the source."""
        done = command.accesses
        if any(delayed):
            now = [command.at_issue] if command.at_issue else []
            now += [access for access, later in zip(command.in_steps, delayed, strict=True) if not later]
            done = union(now)
        if rank == self.rank and self.setting.views is not None:
            self._happen(command, delayed)
        state = command.target
        self.new |= self.done.add(rank, state, done) | self.made.add(rank, state, command.accesses)
        if self.elsewhere:
            self.made_besides.add(rank, state, command.accesses & besides)
        self._go(_Place(rank, command.target, phase), self._way_after(way, command, delayed))

    def _happen(self, command: Command, delayed: Sequence[bool]) -> None:
        """Note what the source's rank has done without delay for certain or perhaps."""
        first = len(command.chain) - len(delayed)
        happened = {(id(command), each) for each in range(first)}
        happened |= {(id(command), first + step) for step, later in enumerate(delayed) if not later}
        if not happened <= self.happened:
            self.happened |= happened
            self.fresh += self.waiting
            self.waiting = []

    def _go(self, place: _Place, way: _Way) -> None:
        """Add a way to a place."""
        always = self.always_of_source if place.rank == self.rank else self.always_of_others
        ways = self.ways.setdefault(place, set())
        if way in ways or always in ways:
            return
        if len(ways) == WAYS:
            way = always
        ways.add(way)
        self.fresh.append((place, way))

    def _bounds(self, way: _Way, command: Command) -> Sequence[int]:
        """The earliest parts in which completion rules may allow the steps of a tainted rank's command."""
        if way.placement and isinstance(command.operands, core.Transfer):
            return lower_bounds(self.setting.completion, way.placement, command.operands)
        return [NOW] * len(command.in_steps)

    def _way_after(self, way: _Way, command: Command, delayed: Sequence[bool]) -> _Way:
        """The way after a command whose steps are ``delayed`` for certain."""
        placement, accesses = way
        if command.operands:
            placement = fenced(placement, command.operands)
        if any(delayed):
            steps = zip(command.in_steps, delayed, strict=True)
            accesses |= union(access for access, later in steps if later and access.certain)
            if isinstance(command.operands, core.Transfer):
                parts = [DELAYED if later else NOW for later in delayed]
                placement = placed(self.setting.completion, placement, command.operands, parts)
        return _Way(placement, accesses)


def _delayed(way: _Way, command: Command, bounds: Sequence[int]) -> list[bool]:
    """Which steps of a command are certainly delayed, by completion rules or since they must hit d."""
    delayed: list[bool] = []
    for access, bound in zip(command.in_steps, bounds, strict=True):
        delayed.append(any(delayed) or bound == DELAYED or access.must_hit(way.delayed))
    return delayed
