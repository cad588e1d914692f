"""Looks for short cycles: one step that comes late for an access that follows it in an SC run.

Infeasibility names the steps that may be the source of a violation. On a few SC runs, in which the ranks go one after
the other in several orders, each such step is held back alone: all else follows the SC run, up to the next accesses
that conflict with it; then what is pending is finished, and the run is judged. So a `put` and a `get` of the same cell
without a wait between them are found at once, however many ways the program has to come to them. Whatever it finds is a
run of X(P, N), which is judged as those of all engines are; that it finds nothing says nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pgasrob.program.instance import Instance
from pgasrob.robustness.engine import InOnePart, Violation, WithoutFacts
from pgasrob.semantics.accesses import access_of, conflict
from pgasrob.semantics.computation import Computation
from pgasrob.semantics.happens_before import HappensBefore, is_violating
from pgasrob.semantics.state_space import Letter, State, StateSpace, computation_of
from pgasrob.stop_points import stop_point

Word = tuple[Letter, ...]
LONGEST = 2_000
"""Commands of an SC run that are looked at."""
TURN = 200
"""Commands of a rank after which the next one gets its turn, for it may go round a loop."""
MOST_CONFLICTS = 3
"""Accesses that conflict with the step that is held back, at which the run is judged."""


class Move(NamedTuple):
    """A command, or a barrier of all ranks (``rank`` None), from the ``state`` before it, with its events; the control
    state ``target`` to which it takes its rank."""

    rank: int | None
    state: State
    word: Word
    target: int | None = None


class Late(NamedTuple):
    """A step that may be late: of the command at ``place`` of an SC run, and where the next conflicting access is.

    Sorted by what is tried first: conflicts within a rank, and those that are near.
    """

    by_another: bool
    distance: int
    place: int
    step: int


class ShortCycles(InOnePart, WithoutFacts):
    """The search on ``instance``; ``sources``: by transition the steps that may be the source, as bits."""

    def __init__(self, instance: Instance, sources: Sequence[int]) -> None:
        self._space = StateSpace(instance)
        self._sources: dict[tuple[int, int, int], int] = {}
        self.states = self.transitions = 0
        bits = iter(sources)
        for rank, automaton in enumerate(instance.automata):
            for leaving in automaton.out:
                for transition in leaving:
                    key = rank, transition.occurrence, transition.target
                    self._sources[key] = self._sources.get(key, 0) | next(bits)

    def run(self) -> Iterator[None]:
        """Search, yielding often."""
        for order, turn in _schedules(self._space.instance.processes):
            moves: list[Move] = []
            for move in self._sc_run(order, turn):
                moves.append(move)
                yield
            for late in sorted(self._late(moves)):
                yield from self._held_back(moves, late)
                if self.violation is not None:
                    return

    # One SC run

    def _sc_run(self, order: Sequence[int], turn: int) -> Iterator[Move]:
        """The moves of an SC run in which ranks go in ``order``, each up to ``turn`` commands if it can."""
        state, moved = self._space.initial, True
        made = 0
        while moved and made < LONGEST:
            stop_point()
            moved = False
            for rank in order:
                for _ in range(min(turn, LONGEST - made)):
                    edge = next(self._space.issues_of(state, rank), None)
                    if edge is None:
                        break
                    word, after = self._finished(*edge)
                    yield Move(rank, state, word, after.control[rank])
                    state, moved, made = after, True, made + 1
            if (edge := self._barrier(state)) is not None:
                yield Move(None, state, edge[0])
                state, moved, made = edge[1], True, made + 1

    def _barrier(self, state: State) -> tuple[Word, State] | None:
        """The way to pass a barrier now."""
        edge = next(self._space.barriers(state), None)
        self.states += edge is not None
        return edge

    def _finished(self, word: Word, state: State, held: int | None = None) -> tuple[Word, State]:
        """``state`` after all steps that can be taken, and the events up to there; without those of the first operation
        of the rank ``held``."""
        self.states += 1
        going = True
        while going:
            stop_point()
            going = False
            for rank, pending in enumerate(state.pending):
                for step, after in self._space.steps_of(state, rank) if pending else ():
                    if rank == held and step[0].which == 0:
                        continue
                    word, state, going = word + step, after, True
                    self.transitions += 1
                    break
        return word, state

    # One step that is late

    def _late(self, moves: Sequence[Move]) -> Iterator[Late]:
        """The steps of ``moves`` that may be the source, for which an access after them may be too early."""
        accesses: dict[int, list[tuple[int, Letter]]] = {}
        for place, move in enumerate(moves):
            for letter in move.word:
                if letter.cell is not None:
                    accesses.setdefault(letter.cell, []).append((place, letter))
        for place, move in enumerate(moves):
            if move.rank is None or len(move.word) < 2:
                continue
            assert move.target is not None
            bits = self._sources.get((move.rank, move.word[0].which, move.target), 0)
            for step, letter in enumerate(move.word[1:]):
                if not bits >> step & 1 or letter.cell is None:
                    continue
                later = ((at, other) for at, other in accesses[letter.cell] if at > place and _conflict(letter, other))
                if found := next(later, None):
                    yield Late(found[1].rank != move.rank, found[0] - place, place, step)

    def _held_back(self, moves: Sequence[Move], late: Late) -> Iterator[None]:
        """Follow ``moves`` with one step held back, and judge the runs in which it comes after what conflicts with
        it."""
        move = moves[late.place]
        rank = move.rank
        assert rank is not None
        words = [each.word for each in moves[: late.place]]
        found = self._follow(move.state, move.word[0], move.target, rank)
        if found is None:
            return
        word, state = found
        for _ in range(late.step):
            edge = next(self._space.steps_of(state, rank), None)
            if edge is None:
                return
            word, state = word + edge[0], edge[1]
        words.append(word)
        held, conflicts = move.word[1 + late.step], 0
        for place in range(late.place + 1, len(moves)):
            following = moves[place]
            if following.rank is None:
                edge = self._barrier(state)
            else:
                target = following.target if place + 1 < len(moves) else None
                edge = self._follow(state, following.word[0], target, following.rank)
            if edge is None:
                return
            word, state = self._finished(*edge, held=rank)
            words.append(word)
            yield
            if any(_conflict(held, other) for other in word):
                conflicts += 1
                if self._judge(words, state) or conflicts == MOST_CONFLICTS:
                    return

    def _follow(self, state: State, letter: Letter, target: int | None, rank: int) -> tuple[Word, State] | None:
        """The command of ``rank`` that the ``letter`` stands for, with the ``target`` state; None where it cannot be
        issued."""
        self.states += 1
        for word, after in self._space.issues_of(state, rank):
            if word[0].which == letter.which and target in (None, after.control[rank]):
                return word, after
        return None

    def _judge(self, words: Sequence[Word], state: State) -> bool:
        """Finish what is pending; whether the run is violating, which is noted then."""
        word, state = self._finished((), state)
        assert self._space.is_final(state), "what is pending waits for what is pending before it alone"
        computation: Computation = computation_of([*words, word])
        if HappensBefore(computation).cycle is None or not is_violating(self._space.instance, computation):
            return False
        self.violation = Violation(computation)
        return True


def _conflict(first: Letter, second: Letter) -> bool:
    one, other = access_of(first), access_of(second)
    return one is not None and other is not None and conflict(one, other)


def _schedules(nodes: int) -> Iterator[tuple[list[int], int]]:
    """Orders of the ranks, each with how many commands a rank makes at a time: one rank first or last, all by turns."""
    seen = []
    for rank in range(nodes):
        others = [each for each in range(nodes) if each != rank]
        for order in ([rank, *others], [*others, rank]):
            if order not in seen:
                seen.append(order)
                yield order, TURN
    yield list(range(nodes)), 1
