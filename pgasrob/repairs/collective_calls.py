"""Decides whether all ranks reach an inserted barrier alike: in the same branches and rounds of loops, on every SC run.

The changed program is run with marks on the way to the barrier: before and after each `if` and loop around it, and at
the beginning of each loop's body. A mark is a barrier in the text, for every library can do that, and is passed by each
rank for itself here. The ranks go alike when they pass marks and barrier in the same order, and when no rank that
stands at the barrier can wait there for good. Nothing is said unless one thread of each rank may come to them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Literal, NamedTuple

from pgasrob.program import core
from pgasrob.program.commands import Exit
from pgasrob.program.control import Transition
from pgasrob.program.graphs import reached
from pgasrob.program.instance import Instance
from pgasrob.program.statements import Span
from pgasrob.semantics.effect import put
from pgasrob.semantics.sequential import SequentialSpace, SequentialState, assumes_are_guesses
from pgasrob.semantics.state_space import behind
from pgasrob.stop_points import stop_point

MOST_STATES = 20_000
LOCAL = (core.Assign, core.Test, core.Fence, core.Wait, core.Bundle)
"""What a rank does without looking at shared memory, in SC runs, where nothing is pending."""
NEW = -1
Mark = Callable[[Span], int | None]
"""The number of the mark that a piece of the text is of, NEW for the inserted barrier, None for what the source has."""
Answer = Literal["alike", "not alike", "unknown"]


class _Node(NamedTuple):
    """A state, and for each rank what its thread that comes there has passed of marks and barrier and some other has
    not yet."""

    state: SequentialState
    ahead: tuple[tuple[int, ...], ...]


class _Apart(Exception):
    """Two ranks go different ways."""


def reached_alike(instance: Instance, mark: Mark) -> Answer:
    """Whether all ranks of ``instance`` reach the inserted barrier alike; "unknown" where there are too many states."""
    search = _Search(instance, mark)
    if instance.has_threads and search.homes != list(range(instance.nodes)):
        return "unknown"
    return search.answer()


class _Search:
    def __init__(self, instance: Instance, mark: Mark) -> None:
        self._instance, self._space = instance, SequentialSpace(instance)
        self._mark = mark
        self._passing = [rank for rank in range(instance.processes) if not instance.has_threads or self._comes(rank)]
        self._before: dict[_Node, list[_Node]] = {}
        """The nodes that have been met, with those from which they are reached."""
        self._good: list[_Node] = []
        """Where the barrier is passed, or the run is over."""

    def answer(self) -> Answer:
        start = _Node(self._space.initial, ((),) * len(self._passing))
        self._before[start] = []
        stack = [start]
        while stack:
            stop_point()
            if len(self._before) > MOST_STATES:
                return "unknown"
            node = stack.pop()
            try:
                for after in self._successors(node):
                    if after not in self._before:
                        self._before[after] = []
                        stack.append(after)
                    self._before[after].append(node)
            except _Apart:
                return "not alike"
        return "not alike" if self._some_rank_waits_for_good() else "alike"

    def _successors(self, node: _Node) -> list[_Node]:
        state = node.state
        for rank in self._ranks:
            alone = self._alone(node, rank)
            if alone and not any(each in self._before for each in alone):
                return alone
        found = [_Node(after, node.ahead) for rank in self._ranks for _, after in self._space.issues_of(state, rank)]
        for rank in self._passing:
            found += self._past_marks(node, rank)
        for arrivals in self._instance.barriers(state.control):
            marks = [self._mark(edge.span) for _, edge in arrivals]
            if any(each is not None and each != NEW for each in marks):
                continue
            if NEW in marks:
                if set(marks) != {NEW}:
                    raise _Apart  # it would meet another barrier
                self._good.append(node)
            after = state._replace(control=behind(state.control, arrivals))
            ahead = tuple((*each, NEW) for each in node.ahead) if NEW in marks else node.ahead
            found.append(_Node(after, _common_left_out(ahead)))
        if not found:
            self._end(node)
        return found

    def _alone(self, node: _Node, rank: int) -> list[_Node]:
        """The nodes that ``rank`` leads to when nothing that it does next depends on others; else none."""
        leaving = self._leaving(node, rank)
        if leaving and all(isinstance(edge.form, LOCAL) for edge in leaving):
            return [_Node(after, node.ahead) for _, after in self._space.issues_of(node.state, rank)]
        return self._past_marks(node, rank) if len(leaving) == 1 else []

    def _past_marks(self, node: _Node, rank: int) -> list[_Node]:
        found = []
        for edge in self._leaving(node, rank):
            mark = self._mark(edge.span) if isinstance(edge.form, core.Barrier) else None
            if mark is not None and mark != NEW:
                place = self._passing.index(rank)
                ahead = put(node.ahead, place, (*node.ahead[place], mark))
                after = node.state._replace(control=put(node.state.control, rank, edge.target))
                found.append(_Node(after, _common_left_out(ahead)))
        return found

    def _leaving(self, node: _Node, rank: int) -> tuple[Transition, ...]:
        return self._instance.automata[rank].out[node.state.control[rank]]

    @property
    def _ranks(self) -> range:
        return range(self._instance.processes)

    @property
    def homes(self) -> list[int]:
        """The ranks of those that may come to a mark or the barrier, in order."""
        return sorted(self._instance.home[rank] for rank in self._passing)

    def _comes(self, rank: int) -> bool:
        """Whether the text of ``rank`` has a mark or the barrier."""
        edges = self._instance.automata[rank].transitions
        return any(isinstance(edge.form, core.Barrier) and self._mark(edge.span) is not None for edge in edges)

    def _end(self, node: _Node) -> None:
        """Note ``node``, after which nothing comes. An exit ends all ranks, and a wrong guess is no run."""
        leaving = [self._leaving(node, rank) for rank in self._ranks]
        guesses = assumes_are_guesses(self._instance)
        if not any(leaving) and any(node.ahead):
            raise _Apart
        if any(isinstance(edge.command, Exit) for edges in leaving for edge in edges) or (
            guesses and any({edge.command.kind for edge in edges} == {"assume"} for edges in leaving)
        ):
            self._good.append(node)

    def _some_rank_waits_for_good(self) -> bool:
        """Whether a rank can stand at the barrier, and no longer pass it whatever the others do."""
        can = reached(self._good, self._before.__getitem__)
        return any(node not in can and any(map(self._stands, self._each(node))) for node in self._before)

    def _each(self, node: _Node) -> Iterator[tuple[Transition, ...]]:
        return (self._leaving(node, rank) for rank in self._ranks)

    def _stands(self, leaving: Collection[Transition]) -> bool:
        return any(isinstance(edge.form, core.Barrier) and self._mark(edge.span) == NEW for edge in leaving)


def _common_left_out(ahead: tuple[tuple[int, ...], ...]) -> tuple[tuple[int, ...], ...]:
    """What each rank has passed without what all have; raises :class:`_Apart` where two have passed different marks."""
    longest = max(ahead, key=len)
    if any(each != longest[: len(each)] for each in ahead):
        raise _Apart
    common = min(map(len, ahead))
    return tuple(each[common:] for each in ahead)
