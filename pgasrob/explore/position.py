"""A run that is made of choices: its state in X(P, N), its events so far, and the moves that may come next.

A choice has a name that says what it is, so that a run can be written down, sent and typed: `0.3` is the command that
rank 0 issues as its fourth one (a barrier is named for rank 0), `s0.3` the next step of that operation, and behind a
slash is which of several it is: `0.3/1`. Commands that no other rank can see (:func:`is_local`) need not be named: they
are made up for where a later choice takes them for granted, so a run that leaves them out is the same run.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from pgasrob.explore.request_bounds import MOST_CHOICES, MOST_EVENTS, MOST_MOVES
from pgasrob.program import core
from pgasrob.program.instance import Instance
from pgasrob.semantics.computation import POPS, Computation
from pgasrob.semantics.state_space import Held, Letter, Operation, Pending, State, StateSpace, computation_of

NAME = re.compile(r"s?\d{1,5}\.\d{1,9}(/\d{1,9})?", re.ASCII)
Word = tuple[Letter, ...]


class Move(NamedTuple):
    """Something that may happen next: ``operation`` is the command of ``rank`` that is issued, or whose ``step`` it is;
    ``local``: no other rank sees it, and it is all that its rank can do."""

    name: str
    rank: int
    operation: int
    step: bool
    word: Word
    target: State
    local: bool = False


class Stop(NamedTuple):
    """Why a run is followed no further: at which choice, counted from 0, and what is the matter with it."""

    place: int
    choice: str
    reason: str


@dataclass
class Position:
    """A run of ``instance``, at its beginning at first.

    ``made`` has each choice with the number of events behind it; ``issued`` counts the commands of each rank, and
    ``pending`` says which of them are the operations that it has pending, in the order of issue.
    """

    instance: Instance
    state: State = field(init=False)
    words: list[Word] = field(default_factory=list)
    made: list[tuple[str, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._space = StateSpace(self.instance)
        self.state = self._space.initial
        self.issued = [0] * self.instance.processes
        self.pending: list[list[int]] = [[] for _ in range(self.instance.processes)]
        self.taken: set[tuple[int, int]] = set()  # local commands that no choice has named
        self.events = 0

    @property
    def computation(self) -> Computation:
        return computation_of(self.words)

    def moves(self) -> list[Move]:
        """The moves that may come next: commands by rank, then steps; at most `MOST_MOVES`."""
        return list(islice(self._moves(), MOST_MOVES))

    def held(self, rank: int, operation: int) -> Held | None:
        """The rule by which the next step of a pending operation has to wait; None when it may come."""
        before, entry = self._pending(rank, operation)
        return self._space.held(before, entry)

    def operation(self, rank: int, operation: int) -> Operation:
        """A pending operation of ``rank``, with the steps that are left of it."""
        return self._pending(rank, operation)[1]

    def take(self, move: Move) -> None:
        """Make ``move``."""
        first = move.word[0]
        if first.kind in POPS:
            if first.last:
                self.pending[move.rank].remove(move.operation)
        else:
            for letter in move.word:
                before = self._operations(self.state, letter.rank)
                if self._operations(move.target, letter.rank) > before:
                    self.pending[letter.rank].append(self.issued[letter.rank])
                self.issued[letter.rank] += 1
        self.words.append(move.word)
        self.events += len(move.word)
        self.state = move.target

    def take_local(self, rank: int, until: int | None = None) -> None:
        """Have ``rank`` issue its next local commands, up to its command ``until``, as far as the run may be long."""
        while (until is None or self.issued[rank] < until) and self.events < MOST_EVENTS:
            move = self._local(rank)
            if move is None:
                return
            self.taken.add((rank, move.operation))
            self.take(move)

    def _local(self, rank: int) -> Move | None:
        """The one command that ``rank`` can issue, when it is local."""
        if not is_local(self.instance, rank, self.state.control[rank]):
            return None
        edges = list(islice(self._space.issues_of(self.state, rank), 2))
        if len(edges) != 1:
            return None
        (word, target), operation = edges[0], self.issued[rank]
        return Move(f"{rank}.{operation}", rank, operation, False, word, target, True)

    def _moves(self) -> Iterator[Move]:
        named: Counter[str] = Counter()
        for word, target in self._space.issues(self.state):
            rank = word[0].rank
            operation = self.issued[rank]
            name = f"{rank}.{operation}"
            number = named[name]
            named[name] += 1
            local = len(word) == 1 and self._local(rank) is not None
            yield Move(name + f"/{number}" * bool(number), rank, operation, False, word, target, local)
        for rank, operations in enumerate(self.pending):
            places = [at for at, entry in enumerate(self.state.pending[rank]) if isinstance(entry, Operation)]
            for operation, at in zip(operations, places, strict=True):
                edge = self._space.step(self.state, rank, at)
                if edge is not None:
                    yield Move(f"s{rank}.{operation}", rank, operation, True, *edge)

    def _pending(self, rank: int, operation: int) -> tuple[Pending, Operation]:
        place = self.pending[rank].index(operation)
        entries = self.state.pending[rank]
        at = [at for at, entry in enumerate(entries) if isinstance(entry, Operation)][place]
        entry = entries[at]
        assert isinstance(entry, Operation)
        return entries[:at], entry

    @staticmethod
    def _operations(state: State, rank: int) -> int:
        return sum(isinstance(entry, Operation) for entry in state.pending[rank])


def is_local(instance: Instance, rank: int, control: int) -> bool:
    """Whether all that ``rank`` may issue at ``control`` is seen by it alone: it computes, takes a branch, or says how
    what it issues next belongs together."""
    leaving = instance.automata[rank].out[control]
    return bool(leaving) and all(
        isinstance(form := each.form, core.Assign | core.Bundle) or (isinstance(form, core.Test) and form.blocks)
        for each in leaving
    )


def follow(instance: Instance, run: Sequence[str], automatic: bool) -> tuple[Position, Stop | None]:
    """The position after the choices of ``run``, as far as they can be made, and why it went no further.

    ``automatic``: what is local happens by itself as soon as it can.
    """
    position = Position(instance)

    def settle() -> None:
        if automatic:
            for rank in range(instance.processes):
                position.take_local(rank)

    settle()
    stop = None
    for place, choice in enumerate(run):
        stop = _follow(position, place, choice, automatic)
        if stop:
            break
        settle()
    return position, stop


def _follow(position: Position, place: int, choice: str, automatic: bool) -> Stop | None:
    """Make the ``choice`` at ``place`` of a run, after local commands that it needs; or say why it cannot be made."""
    if not NAME.fullmatch(choice):
        return Stop(place, choice, "this is no choice; they look like 0.3, 0.3/1 and s0.3")
    if place >= MOST_CHOICES or position.events >= MOST_EVENTS:
        return Stop(place, choice, f"a run has at most {MOST_CHOICES} choices and {MOST_EVENTS} events here")
    rank, operation = (int(number) for number in choice.lstrip("s").partition("/")[0].split("."))
    if (rank, operation) in position.taken and not choice.startswith("s"):
        return None  # it has happened by itself
    before = len(position.words)
    for catch_up in ([], [rank] if rank < position.instance.processes else [], range(position.instance.processes)):
        for each in catch_up:
            position.take_local(each, operation if each == rank else None)
        move = next((move for move in position.moves() if move.name == choice), None)
        if move:
            if not automatic:
                _name_the_taken(position, before)
            position.take(move)
            position.made.append((choice, position.events))
            return None
    return Stop(place, choice, "this is not possible here")


def _name_the_taken(position: Position, before: int) -> None:
    """Name as choices the local commands since ``before`` words, for a run whose local commands are chosen."""
    events = position.events - sum(map(len, position.words[before:]))
    named = sorted(position.taken)
    for word in position.words[before:]:
        events += len(word)
        rank = word[0].rank
        operation = next(number for of, number in named if of == rank)
        named.remove((rank, operation))
        position.made.append((f"{rank}.{operation}", events))
    position.taken.clear()
