"""Explores an operational model, a machine of threads that share a memory: all outcomes of a program, each with a run.

A model is a :class:`Component` for each thread: what the thread, with its store buffer and queue pairs, can do next.
Threads meet in the memory alone, so :class:`Machine` is their product: an automaton whose letters are :class:`Step`.
:func:`outcomes` goes through all of its states, and :func:`execution` makes a graph of a run.

Reduction. A component may say of some of what it can do next that this can be done *first*: in every run from here to a
final state one of these steps occurs, and the run with that step moved to its front is a run to the same state, with
the same order of conflicting accesses. Then nothing else need be tried in that state: an outcome is reached if it is
reached so (`proofs/models.md`, "What is done first"). Each model documents which steps it takes first, and why that is
sound; ``reduced=False`` tries everything.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import pairwise
from operator import itemgetter
from typing import Any, Generic, Literal, NamedTuple, Protocol, TypeVar

from pgasrob.automata.automaton import Reached
from pgasrob.models.litmus.instructions import CellAccess, Instruction, accesses, node_of
from pgasrob.models.litmus.litmus_program import Outcome, Program, Value
from pgasrob.models.model_interface import Event, Execution, Outcomes, Pairs
from pgasrob.robustness.stopping import until_limit
from pgasrob.robustness.watch import Watch

Local = TypeVar("Local", bound=Hashable)
State = tuple[int, ...]
"""The value of each location and each hidden cell, then for each thread the number of the state that it is in."""

MOST_AT_ONCE = 50
"""Steps that belong to one transition, at most: a thread that never ends may have more and more to do first."""

Queue = tuple[Literal["cpu", "store", "source", "place", "fetch", "update", "land", "fence"], int]
"""Where the events of a thread wait to take effect: what they will do, and the node that the operation goes to, -1 for
what goes nowhere. "source": reads of puts; "place": their writes; "fetch" and "land": the same of gets and remote
atomics; "update": what an atomic of RDMA-TSO writes in between; "cpu": what takes effect when it is executed."""


class Begun(NamedTuple):
    """An event that joins ``queue`` after all that wait there."""

    kind: str
    location: int | None
    queue: Queue


class Access(NamedTuple):
    """The event with ``before`` others ahead of it in ``queue`` takes effect, and leaves the queue. With a ``location``
    that it neither reads nor writes it turns out not to occur: the write of a compare-and-set that fails.

    ``own``: it reads from a write that is still waiting: the queue of that write, and how many events are ahead of it.
    """

    queue: Queue
    before: int = 0
    location: int | None = None
    reads: int | None = None
    writes: int | None = None
    own: tuple[Queue, int] | None = None

    @property
    def nothing(self) -> bool:
        """Whether the event does not occur."""
        return self.location is not None and self.reads is None and self.writes is None


class Step(NamedTuple):
    """A letter: what a thread, or the network for it, does at once. ``instruction``: the one that is executed (or
    handed over for later), None for what the network does."""

    thread: int
    name: str
    instruction: Instruction | None = None
    begins: tuple[Begun, ...] = ()
    accesses: tuple[Access, ...] = ()


Word = tuple[Step, ...]


class Result(NamedTuple):
    """The result of an option: the word, the next state of the thread, and the writes in their order."""

    word: Word
    local: Any
    writes: tuple[tuple[int, int], ...] = ()


class Option(NamedTuple):
    """A possible next step of a thread: it ``reads`` these locations, and ``then`` gives the result for their values,
    or None if the step is impossible with them."""

    reads: tuple[int, ...]
    then: Callable[..., Result | None]


def fixed(result: Result) -> Option:
    """The option that has ``result`` whatever memory holds."""
    return Option((), lambda: result)


class Component(Protocol[Local]):
    """A thread with everything that belongs to it alone."""

    @property
    def initial(self) -> Local: ...

    def options(self, local: Local) -> tuple[bool, Sequence[Option]]:
        """What it may do next; with True there may be more, but these can be done first."""
        ...

    def finished(self, local: Local) -> bool:
        """Whether it has ended and nothing of it is pending."""
        ...

    def registers(self, local: Local) -> tuple[int, ...]: ...


class Sharing:
    """Which locations a part of a machine may access first, because no other part accesses (or writes) them.

    ``part``: which part of the machine makes an access of a thread, by default the whole thread. ``constant``: the
    locations that are never written.
    """

    def __init__(
        self, program: Program, part: Callable[[int, CellAccess, int | None], Hashable] = lambda thread, *_: thread
    ) -> None:
        self._readers: list[set[Hashable]] = [set() for _ in program.locations]
        self._writers: list[set[Hashable]] = [set() for _ in program.locations]
        for number, thread in enumerate(program.threads):
            for instruction in thread.graph.instructions:
                node = node_of(instruction, program.owners)
                for access in accesses(instruction):
                    location, accessing = program.place(access.cell), part(number, access, node)
                    if access.reads:
                        self._readers[location].add(accessing)
                    if access.writes:
                        self._writers[location].add(accessing)
        self.constant = frozenset(location for location, writers in enumerate(self._writers) if not writers)

    def calm(self, part: Hashable, location: int) -> bool:
        """Whether no other part than ``part`` writes ``location``."""
        return self._writers[location] <= {part}

    def own(self, part: Hashable, location: int) -> bool:
        """Whether no other part than ``part`` accesses ``location``."""
        return self.calm(part, location) and self._readers[location] <= {part}


_Result = tuple[Word, int, tuple[tuple[int, int], ...]] | None
"""The :class:`Result` of an option, with the number of the next state of the thread in its place."""


class _Row(NamedTuple):
    """An option with its results, by the values that are read; ``fixed`` where nothing that changes is read."""

    values: Callable[[State], Any] | None
    many: bool
    then: Callable[..., Result | None]
    results: dict[Any, _Result]


class Machine(Generic[Local]):
    """The threads of ``program`` on its memory, an automaton over :class:`Step`.

    ``constant``: locations that are never written. ``hidden``: so many cells that no instruction names follow the
    locations; threads read and write them in their options, and they hold 0 at first.
    """

    def __init__(
        self,
        program: Program,
        components: Sequence[Component[Local]],
        constant: frozenset[int] = frozenset(),
        hidden: int = 0,
    ) -> None:
        self.program = program
        self._components = components
        self._values = {x: program.locations[x].initial for x in constant}
        self._hidden = hidden
        self._width = len(program.locations) + hidden
        self._numbers: list[dict[Local, int]] = [{} for _ in components]
        self._locals: list[list[Local]] = [[] for _ in components]
        self._rows: list[list[tuple[bool, list[_Row]] | None]] = [[] for _ in components]
        self._finished: list[list[bool]] = [[] for _ in components]
        starts = [self._number(thread, each.initial) for thread, each in enumerate(components)]
        self.initial: State = (*(location.initial for location in program.locations), *(0,) * hidden, *starts)

    def _number(self, thread: int, local: Local) -> int:
        numbers = self._numbers[thread]
        number = numbers.get(local)
        if number is None:
            number = numbers[local] = len(numbers)
            self._locals[thread].append(local)
            self._rows[thread].append(None)
            self._finished[thread].append(self._components[thread].finished(local))
        return number

    def _options(self, thread: int, number: int) -> tuple[bool, list[_Row]]:
        known = self._rows[thread][number]
        if known is None:
            first, options = self._components[thread].options(self._locals[thread][number])
            rows = []
            for reads, then in options:
                if all(x in self._values for x in reads):
                    result = then(*(self._values[x] for x in reads))
                    rows.append(_Row(None, False, then, {None: self._known(thread, result)}))
                else:
                    rows.append(_Row(itemgetter(*reads), len(reads) > 1, then, {}))
            known = self._rows[thread][number] = first, rows
        return known

    def _result(self, thread: int, row: _Row, state: State) -> _Result:
        if row.values is None:
            return row.results[None]
        key = row.values(state)
        try:
            return row.results[key]
        except KeyError:
            result = row.then(*key) if row.many else row.then(key)
            known = row.results[key] = self._known(thread, result)
            return known

    def _known(self, thread: int, result: Result | None) -> _Result:
        return None if result is None else (result.word, self._number(thread, result.local), result.writes)

    def successors(self, state: State) -> list[tuple[Word, State]]:
        """The transitions, those of the first thread first. In a state in which something can be done first these are
        the only ones; and a single step that can be done first is joined to the transition before it."""
        width = self._width
        everything = []
        for thread, number in enumerate(state[width:]):
            rows = self._rows[thread][number] or self._options(thread, number)
            if rows[0]:
                return self._follow(state, thread, rows[1])
            everything.append(rows[1])
        found = []
        for thread, options in enumerate(everything):
            found += self._follow(state, thread, options)
        return found

    def _follow(self, state: State, thread: int, rows: list[_Row]) -> list[tuple[Word, State]]:
        place = self._width + thread
        found: list[tuple[Word, State]] = []
        for row in rows:
            result = self._result(thread, row, state)
            if result is None:
                continue
            word, number, writes = result
            new = list(state)
            for _ in range(MOST_AT_ONCE):
                for location, value in writes:
                    new[location] = value
                known = self._rows[thread][number] or self._options(thread, number)
                if not known[0] or len(known[1]) != 1:
                    break
                following = self._result(thread, known[1][0], new)  # type: ignore[arg-type]
                if following is None:
                    break
                word += following[0]
                number, writes = following[1], following[2]
            else:
                for location, value in writes:
                    new[location] = value
            new[place] = number
            found.append((word, tuple(new)))
        return found

    def is_final(self, state: State) -> bool:
        return all(finished[number] for finished, number in zip(self._finished, state[self._width :], strict=True))

    def local(self, state: State, thread: int) -> Local:
        """The state of the thread itself."""
        return self._locals[thread][state[self._width + thread]]

    def outcome(self, state: State) -> Outcome:
        """The outcome of a final state."""
        registers = tuple(each.registers(self.local(state, t)) for t, each in enumerate(self._components))
        return self.program.outcome(state[: self._width - self._hidden], registers)


def outcomes(machine: Machine[Any], watch: Watch | None = None) -> Outcomes:
    """All outcomes of the program of ``machine``, each with a run to it that has the fewest transitions.

    Raises :class:`Refused` when an expression has no value in some run.
    """
    reached: Reached[State, Step] = Reached(machine)
    ends: dict[Outcome, State] = {}
    with until_limit() as stopped:
        for state in reached.expand():
            if watch is not None:
                watch.look_around("the runs", len(reached))
            if machine.is_final(state):
                ends.setdefault(machine.outcome(state), state)
    found = {
        outcome: execution(machine.program, [step for word in reached.path(state) for step in word], outcome)
        for outcome, state in ends.items()
    }
    return Outcomes(found, stopped.reason, len(reached))


Item = TypeVar("Item")


def at(items: tuple[Item, ...], place: int, item: Item) -> tuple[Item, ...]:
    """``items`` with ``item`` at ``place``."""
    return (*items[:place], item, *items[place + 1 :])


class _Waiting:
    """An event of a run that is being replayed."""

    def __init__(self, thread: int, operation: int, begun: Begun, instruction: Instruction) -> None:
        self.thread, self.operation, self.begun, self.instruction = thread, operation, begun, instruction
        self.reads: Value | None = None
        self.writes: Value | None = None
        self.source: _Waiting | int | None = None

    def shown(self) -> Event:
        kind, location, (_, node) = self.begun
        towards = None if node < 0 else node
        return Event(
            self.thread, self.operation, kind, location, self.reads, self.writes, self.instruction.span, towards
        )


def execution(program: Program, run: Sequence[Step], outcome: Outcome) -> Execution:
    """The execution graph of a ``run`` to a final state, or of the beginning of one.

    Initial writes come first, then the events of each thread in program order. Relations: po (immediate), rf, mo
    (immediate), rb, and pf from the write of an operation to its poll where there are polls. ``order``: as they took
    effect in memory."""
    events, effects, orders = _replayed(program, run)
    ordered = [event for thread in events for event in thread]
    number: dict[_Waiting | int, int] = {x: x for x in range(len(orders))}
    number |= {event: len(orders) + place for place, event in enumerate(ordered)}
    mo = [[number[writer] for writer in order] for order in orders]
    place_in = {writer: (x, place) for x, order in enumerate(mo) for place, writer in enumerate(order)}
    rf = [(number[event.source], number[event]) for event in ordered if event.source is not None]
    rb = []
    for writer, reader in rf:
        if writer not in place_in:
            continue  # a write that is still waiting: this is no complete run
        x, place = place_in[writer]
        rb += [(reader, later) for later in mo[x][place + 1 :] if later != reader]
    relations: dict[str, Pairs] = {
        "po": frozenset((number[event], number[after]) for thread in events for event, after in pairwise(thread)),
        "rf": frozenset(rf),
        "mo": frozenset(pair for order in mo for pair in pairwise(order)),
        "rb": frozenset(rb),
    }
    if polls := frozenset((number[write], number[poll]) for thread in events for write, poll in _polled(thread)):
        relations["pf"] = polls
    initial = tuple(Event(None, x, "lW", x, writes=each.initial) for x, each in enumerate(program.locations))
    own = tuple(event.shown() for event in ordered)
    return Execution(program, initial + own, relations, outcome, tuple(number[event] for event in effects))


def _replayed(
    program: Program, run: Sequence[Step]
) -> tuple[list[list[_Waiting]], list[_Waiting], list[list[_Waiting | int]]]:
    """Replay ``run``. Returns the events of each thread, all events in the order of their effects, and for each
    location its writes in order: the initial one, given as the number of the location, then events."""
    events: list[list[_Waiting]] = [[] for _ in program.threads]
    executed = [0] * len(program.threads)
    waiting: dict[tuple[int, Queue], list[_Waiting]] = defaultdict(list)
    effects: list[_Waiting] = []
    orders: list[list[_Waiting | int]] = [[x] for x in range(len(program.locations))]
    for step in run:
        if step.instruction is not None:
            for begun in step.begins:
                first = executed[step.thread] - step.instruction.part.place
                event = _Waiting(step.thread, first, begun, step.instruction)
                events[step.thread].append(event)
                waiting[step.thread, begun.queue].append(event)
            executed[step.thread] += 1
        for access in step.accesses:
            # The write that it reads from may be in the queue that it leaves: it is looked up first.
            source = None if access.own is None else waiting[step.thread, access.own[0]][access.own[1]]
            event = waiting[step.thread, access.queue].pop(access.before)
            if access.nothing:
                events[step.thread].remove(event)
                continue
            effects.append(event)
            event.reads, event.writes = access.reads, access.writes
            if access.location is not None:
                if access.reads is not None:
                    event.source = orders[access.location][-1] if source is None else source
                if access.writes is not None:
                    orders[access.location].append(event)
    return events, effects, orders


def _polled(thread: Sequence[_Waiting]) -> Iterator[tuple[_Waiting, _Waiting]]:
    """The write of each operation of a thread that is polled, with the poll."""
    unpolled: dict[int, deque[_Waiting]] = defaultdict(deque)
    for event in thread:
        name, node = event.begun.queue
        if name in ("place", "land"):
            unpolled[node].append(event)
        elif event.begun.kind == "P" and unpolled[node]:
            yield unpolled[node].popleft(), event
