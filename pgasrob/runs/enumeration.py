"""Counts the maximal runs of a loop-free program by how they end (for `runs.outcomes`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, Protocol, TypeVar

from pgasrob.program import core
from pgasrob.program.expressions import Fault
from pgasrob.program.instance import Instance, Registers
from pgasrob.robustness.reasons import Reason
from pgasrob.robustness.stopping import until_limit
from pgasrob.robustness.watch import Watch
from pgasrob.semantics.computation import Computation
from pgasrob.semantics.endings import Ending, FailedAssertion, Place, ending_of, failure, with_failure
from pgasrob.semantics.standstill import AnyState
from pgasrob.semantics.state_space import Letter, Operation, State, computation_of
from pgasrob.stop_points import stop_point

STATES_BETWEEN = 64
"""States expanded between two looks at the clock."""

Word = tuple[Letter, ...]


class HasLoop(Exception):
    """The program has a loop, so its runs need not end.

    ``rank`` is the name of the process that has it ("0.1" for thread 1 of rank 0), ``line`` the first one of the loop,
    0 when unknown.
    """

    def __init__(self, rank: str, line: int) -> None:
        super().__init__(f"rank {rank} has a loop in line {line}")
        self.rank, self.line = rank, line


class Key(NamedTuple):
    """The outcome of a run: how it ends, the values at its end, the assertions that failed."""

    ending: Ending
    values: tuple[int, ...]
    failed: tuple[FailedAssertion, ...]


def heights_of(instance: Instance, rank: int) -> list[int]:
    """For each control state of ``rank`` an upper bound of the events that can follow; raises :class:`HasLoop`."""
    out = instance.automata[rank].out
    heights = [-1] * len(out)
    open_: set[int] = set()
    stack = [0]
    while stack:
        stop_point()
        state = stack[-1]
        left = [edge for edge in out[state] if heights[edge.target] < 0] if heights[state] < 0 else []
        open_.add(state)
        back = [edge for edge in left if edge.target in open_]
        if back:
            inside = stack[stack.index(back[0].target) :]
            edges = [edge for state in inside for edge in out[state] if edge.target in inside]
            raise HasLoop(instance.process_name(rank), min(edge.span.line for edge in edges))
        if left:
            stack.append(left[0].target)
            continue
        stack.pop()
        open_.discard(state)
        weights = (1 + len(core.steps_of(edge.form)) + heights[edge.target] for edge in out[state])
        heights[state] = max(weights, default=0)
    return heights


S = TypeVar("S", bound=AnyState)


class _Space(Protocol[S]):
    @property
    def initial(self) -> S: ...
    def successors(self, state: S) -> Iterable[tuple[Word, S]]: ...


@dataclass(slots=True)
class _Found:
    """The runs that have an outcome so far, and the node where a shortest one of them ends."""

    runs: int
    node: int


@dataclass(slots=True)
class _Nodes:
    """The best path to each node, which is kept when its state is dropped. ``cost``: events, changes of rank."""

    parent: list[int] = field(default_factory=list)
    word: list[Word] = field(default_factory=list)
    cost: list[tuple[int, int]] = field(default_factory=list)


class Enumeration(Generic[S]):
    """Counts the maximal runs of ``space`` by their outcomes.

    A node is a state and the assertions that have failed before. Every transition decreases the bound on the events
    that can still follow (``heights``), so nodes are expanded in descending order of that bound: when a node's turn
    comes, all paths to it are known, whatever their lengths, and its state can be forgotten afterwards.
    """

    def __init__(self, instance: Instance, space: _Space[S], look_at: tuple[Place, ...], heights: list[list[int]]):
        self._instance, self._space, self._look_at, self._heights = instance, space, look_at, heights
        self._nodes = _Nodes()
        self._runs: list[int] = []  # paths to each node
        self._words: dict[Word, Word] = {}
        self._evaluated: set[tuple[int, int, Registers]] = set()  # whose faults are known
        self.found: dict[Key, _Found] = {}
        self.faults: dict[tuple[int, int, int], str] = {}
        self.complete = False

    @property
    def states(self) -> int:
        return len(self._runs)

    def run(self, watch: Watch, phase: str) -> Reason | None:
        """Enumerate; gives the reason when a limit is hit."""
        with until_limit(memory=True) as stopped:
            self._enumerate(watch, phase)
        self.complete = stopped.reason is None
        return stopped.reason

    def computation(self, node: int) -> Computation:
        """The run that is known to lead to ``node``."""
        words = []
        while node:
            words.append(self._nodes.word[node])
            node = self._nodes.parent[node]
        return computation_of(words[::-1])

    def _enumerate(self, watch: Watch, phase: str) -> None:
        start = self._space.initial
        top = self._height(start)
        levels: list[dict[tuple[S, tuple[FailedAssertion, ...]], int]] = [{} for _ in range(top + 1)]
        levels[top][start, ()] = self._node(0, (), (0, 0), 1)
        for level in reversed(range(top + 1)):
            for done, ((state, failed), node) in enumerate(levels[level].items()):
                if done % STATES_BETWEEN == 0:
                    watch.look_around(phase, self.states)
                self._expand(state, failed, node, levels, lambda: watch.look_around(phase, self.states))
            levels[level] = {}
        watch.look_around(phase, self.states)

    def _expand(
        self,
        state: S,
        failed: tuple[FailedAssertion, ...],
        node: int,
        levels: list[dict[tuple[S, tuple[FailedAssertion, ...]], int]],
        look_around: Callable[[], None],
    ) -> None:
        self._note_faults(state)
        runs = self._runs[node]
        self._runs[node] = 0  # it may be a long number
        events, changes = self._nodes.cost[node]
        last = self._nodes.word[node][-1].rank if node else -1
        stuck = True
        for done, (word, target) in enumerate(self._space.successors(state), 1):
            stuck = False
            if done % STATES_BETWEEN == 0:  # a barrier can have very many ways
                look_around()
            after = with_failure(failed, failure(self._instance, word[0], state.control, state.registers))
            cost = events + len(word), changes + (word[0].rank != last)
            here = levels[self._height(target)]
            known = here.get((target, after))
            if known is None:
                here[target, after] = self._node(node, word, cost, runs)
                continue
            self._runs[known] += runs
            if cost < self._nodes.cost[known]:
                self._nodes.parent[known], self._nodes.cost[known] = node, cost
                self._nodes.word[known] = self._words.setdefault(word, word)
        if stuck:
            self._note_end(state, failed, node, runs)

    def _note_end(self, state: S, failed: tuple[FailedAssertion, ...], node: int, runs: int) -> None:
        values = tuple(place.value(state.registers, state.memory) for place in self._look_at)
        ending = ending_of(self._instance, state.control, state.registers, state.memory)
        key = Key(ending, values, failed)
        found = self.found.get(key)
        if found is None:
            self.found[key] = _Found(runs, node)
            return
        found.runs += runs
        if self._nodes.cost[node] < self._nodes.cost[found.node]:
            found.node = node

    def _node(self, parent: int, word: Word, cost: tuple[int, int], runs: int) -> int:
        nodes = self._nodes
        nodes.parent.append(parent)
        nodes.word.append(self._words.setdefault(word, word))
        nodes.cost.append(cost)
        self._runs.append(runs)
        return len(self._runs) - 1

    def _height(self, state: S) -> int:
        height = sum(heights[control] for heights, control in zip(self._heights, state.control, strict=True))
        if isinstance(state, State):
            for pending in state.pending:
                for entry in pending:
                    if isinstance(entry, Operation):
                        height += len(entry.left)
        return height

    def _note_faults(self, state: S) -> None:
        """Note the next commands of all ranks that fault."""
        for rank, standing in enumerate(zip(state.control, state.registers, strict=True)):
            key = (rank, *standing)
            if key in self._evaluated:
                continue
            self._evaluated.add(key)
            for transition in self._instance.automata[rank].out[standing[0]]:
                try:
                    self._instance.operands(rank, transition, standing[1])
                except Fault as fault:
                    self.faults.setdefault((rank, transition.span.line, transition.occurrence), str(fault))
