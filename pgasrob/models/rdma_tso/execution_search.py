"""The search for consistent executions: it chooses rf first, prunes what is inconsistent already, then mo, nfo and
locks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from pgasrob.models.candidate_executions import INITIAL, Candidate, Circular, Faulted, Values, candidates
from pgasrob.models.litmus.litmus_program import Outcome, Program
from pgasrob.models.model_interface import Execution, Pairs, Refused
from pgasrob.models.rdma_tso.expansion import expand, polls_from
from pgasrob.models.rdma_tso.orders import Rules
from pgasrob.models.rdma_tso.points import Choice, Edges, Graph
from pgasrob.models.relations import Rows, with_pairs
from pgasrob.robustness.watch import Watch
from pgasrob.stop_points import stop_point


def _settled(rows: Rows, choices: Sequence[Choice]) -> tuple[Rows, list[Choice]] | None:
    """Decide each choice of which one side would close a cycle. Returns ``rows`` with the other sides, and the choices
    that are still open; None where both sides of one would."""
    left, progress = list(choices), True
    while progress:
        stop_point()
        progress, undecided = False, []
        for choice in left:
            forward = not any(rows[b] >> a & 1 for a, b in choice.forward)
            backward = not any(rows[b] >> a & 1 for a, b in choice.backward)
            if forward and backward:
                undecided.append(choice)
                continue
            if not forward and not backward:
                return None
            added = with_pairs(rows, choice.forward if forward else choice.backward)
            if added is None:
                return None
            rows, progress = added, True
        left = undecided
    return rows, left


def _orders(rows: Rows, orders: Sequence[Choice], free: Sequence[Choice]) -> Iterator[Rows]:
    """The closures for every way to choose ``orders``, each with one way to choose what is ``free``."""
    last = {id(choice) for choice in free}
    # An explicit stack: there are as many choices as pairs of writes, which may be more than Python nests calls.
    stack: list[tuple[Rows, Edges, Sequence[Choice], int | None]] = [(rows, (), (*orders, *free), None)]
    while stack:
        stop_point()
        rows, edges, choices, base = stack.pop()
        chosen = with_pairs(rows, edges)
        settled = None if chosen is None else _settled(chosen, choices)
        if settled is None:
            continue
        rows, left = settled
        if not left:
            yield rows
            if base is not None:
                del stack[base:]
            continue
        choice, rest = left[0], left[1:]
        if base is None and id(choice) in last:
            base = len(stack)
        stack += [(rows, choice.backward, rest, base), (rows, choice.forward, rest, base)]


@dataclass
class Solution:
    """A consistent execution, with the events numbered as in its candidate."""

    graph: Graph
    values: Values
    rows: Rows

    def precedes(self, first: int, second: int) -> bool:
        """mo."""
        return bool(self.rows[self.graph.modified[first]] >> self.graph.modified[second] & 1)

    def last(self) -> list[int]:
        """The last write to each location of the program."""
        found = [INITIAL] * len(self.graph.candidate.program.locations)
        for place, writes in self.graph.candidate.writes.items():
            (found[place],) = (w for w in writes if not any(self.precedes(w, other) for other in writes))
        return found

    def chosen(self, choices: Iterable[Choice]) -> Iterator[tuple[int, int]]:
        """The two events of each of the ``choices``, the one that comes first before the other."""
        for choice in choices:
            forward = all(self.rows[a] >> b & 1 for a, b in choice.forward)
            yield (choice.first, choice.second) if forward else (choice.second, choice.first)

    @property
    def locked(self) -> Iterator[tuple[int, int]]:
        """The last access of a remote atomic to a location, and what a later one fetches on the same node."""
        updates = self.graph.updates
        return ((updates.get(one, one), other) for one, other in self.chosen(self.graph.lock_choices()))

    @cached_property
    def outcome(self) -> Outcome:
        return self.graph.candidate.outcome(self.values, self.last())


class Search:
    """All consistent executions of a program, or one for each outcome."""

    def __init__(
        self,
        program: Program,
        rules: Rules,
        watch: Watch | None = None,
        every: Iterable[Candidate] | None = None,
    ) -> None:
        self.program, self.rules, self.watch = program, rules, watch
        self.every = candidates(program, expand) if every is None else every
        self.looked_at = 0

    def graphs(self) -> Iterator[tuple[Graph, Rows]]:
        """The graphs to search: each candidate with each way to poll, and the closure of its fixed edges."""
        for candidate in self.every:
            for polled in polls_from(candidate, self.rules):
                graph = Graph(candidate, self.rules, polled)
                start = graph.start
                if start is not None:
                    yield graph, start

    def reads_from(self, graph: Graph, start: Rows) -> Iterator[tuple[tuple[int | None, ...], Rows]]:
        """Every choice of rf that is not yet inconsistent."""
        candidate = graph.candidate
        reads = candidate.reads
        sources: list[int | None] = [None] * len(candidate.actions)
        conditional = bool(candidate.conditions)

        def choose(place: int, rows: Rows) -> Iterator[tuple[tuple[int | None, ...], Rows]]:
            if place == len(reads):
                self._look_around()
                yield tuple(sources), rows
                return
            read = reads[place]
            location = candidate.actions[read].location
            assert location is not None
            writes = candidate.writes.get(location, ())
            for source in (INITIAL, *writes):
                if source == read:
                    continue
                edges: Edges
                if source == INITIAL:
                    edges = tuple(e for write in writes if write != read for e in graph.by_later_write(read, write))
                else:
                    edges = graph.by_read(source, read)
                chosen = with_pairs(rows, edges)
                if chosen is None:
                    continue
                sources[read] = source
                if not conditional or Values(candidate, sources).may_hold():
                    yield from choose(place + 1, chosen)
                sources[read] = None

        return choose(0, start)

    def solutions(self) -> Iterator[Solution]:
        """All consistent executions, one for each rf and mo. Raises :class:`Refused` for a run with a fault."""
        for graph, free, values, rows in self._readings():
            for found in _orders(rows, graph.order_choices(values.sources), free):
                refuse_faults(values)
                yield Solution(graph, values, found)

    def _readings(self) -> Iterator[tuple[Graph, list[Choice], Values, Rows]]:
        """Every choice of rf with which the conditions hold and no value is out of thin air; mo is open, and so are the
        choices of nfo and locks that are given."""
        for graph, start in self.graphs():
            free = [*graph.flush_choices(), *graph.lock_choices()]
            for sources, rows in self.reads_from(graph, start):
                values = Values(graph.candidate, sources)
                if values.may_hold() and not has_circular(values):
                    yield graph, free, values, rows

    def each_new(
        self, found: dict[Outcome, Solution], wanted: Callable[[Outcome], bool] = lambda _: True
    ) -> Iterator[Solution]:
        """A consistent execution for each outcome that is ``wanted`` and not in ``found`` yet; it is added there."""
        for graph, free, values, rows in self._readings():
            choices = graph.order_choices(values.sources)
            for last in self._last_writes(graph, rows):
                with suppress(Faulted):  # such a run is refused below, if it is a run
                    outcome = graph.candidate.outcome(values, last)
                    if outcome in found or not wanted(outcome):
                        continue
                chosen = with_pairs(rows, _to_be_last(choices, last))
                complete = None if chosen is None else next(_orders(chosen, choices, free), None)
                if complete is not None:
                    refuse_faults(values)
                    solution = Solution(graph, values, complete)
                    found[solution.outcome] = solution
                    yield solution

    def _last_writes(self, graph: Graph, rows: Rows) -> Iterator[tuple[int, ...]]:
        """The writes that may be the last to each location; INITIAL for a location that no outcome shows, where it
        makes no difference."""
        each: list[tuple[int, ...]] = []
        for place, location in enumerate(self.program.locations):
            writes = graph.candidate.writes.get(place, ())
            if not location.shown or not writes:
                each.append((INITIAL,))
                continue
            points = sum(1 << graph.modified[write] for write in writes)
            each.append(tuple(write for write in writes if not rows[graph.modified[write]] & points))
        return product(*each)

    def _look_around(self) -> None:
        self.looked_at += 1
        if self.watch is not None:
            self.watch.look_around("looking for executions", self.looked_at)


def _to_be_last(choices: Sequence[Choice], last: Sequence[int]) -> Edges:
    """The edges of mo and rb when these writes are the last."""
    found: list[tuple[int, int]] = []
    for choice in choices:
        if choice.second in last:
            found += choice.forward
        elif choice.first in last:
            found += choice.backward
    return tuple(found)


def has_circular(values: Values) -> bool:
    """Whether a value comes out of thin air."""
    for event in values.candidate.written:
        try:
            values.written(event)
        except Circular:
            return True
        except Faulted:
            continue
    return False


def refuse_faults(values: Values) -> None:
    """Refuse a program that has a run with a fault. Raises :class:`Refused`."""
    candidate = values.candidate
    slots = [*candidate.written.values(), *(slot for slot, _ in candidate.conditions)]
    try:
        for slot in (*slots, *(slot for finals in candidate.finals for slot in finals)):
            values.value(slot)
    except Faulted as fault:
        raise Refused((fault.refusal,)) from None


def execution(solution: Solution) -> Execution:
    """The execution graph of ``solution``: initial writes come first; po has its immediate pairs, mo all."""
    graph, candidate = solution.graph, solution.graph.candidate
    events = candidate.events(solution.values)
    first = len(events) - len(candidate.actions)
    place = {location: number for number, location in enumerate(candidate.locations)}

    def pairs_of(found: Iterator[tuple[int, int]]) -> Pairs:
        return frozenset((a + first, b + first) for a, b in found)

    actions = candidate.actions
    writes, sources = candidate.writes, solution.values.sources
    rf, rb, mo = set(), set(), set()
    for location, each in writes.items():
        mo |= {(place[location], write + first) for write in each}
        mo |= {(a + first, b + first) for a in each for b in each if solution.precedes(a, b)}
    for read in candidate.reads:
        at, source = actions[read].location, sources[read]
        assert at is not None and source is not None
        origin = place[at] if source == INITIAL else source + first
        rf.add((origin, read + first))
        rb |= {(read + first, later) for before, later in mo if before == origin and later != read + first}
    return Execution(
        candidate.program,
        events,
        {
            "po": pairs_of((a, a + 1) for a in range(len(actions) - 1) if actions[a].thread == actions[a + 1].thread),
            "rf": frozenset(rf),
            "mo": frozenset(mo),
            "rb": frozenset(rb),
            "pf": pairs_of((write, poll) for poll, write in graph.polled.items()),
            "nfo": pairs_of(solution.chosen(graph.flush_choices())),
            "lock": pairs_of(solution.locked),
            "ippo": pairs_of(graph.preserved("ippo")),
            "oppo": pairs_of(graph.preserved("oppo")),
        },
        solution.outcome,
    )
