"""Enumerates what can be observed of the maximal runs of an instance, under SC or on the network.

A run is seen on its way (where each rank comes to, which assertion fails, for C what a read finds) and at its end. Runs
that differ in the order of what does not depend on each other look the same, so not all of them are followed: where
what one rank does next, or one step, can be neither met nor held back by anything that others may still do, it comes
first and alone (a persistent set; Godefroid, *Partial-Order Methods for the Verification of Concurrent Systems*, 1996).
That keeps every end, and every place that a rank comes to as long as nothing is put off for ever: where some rank has a
loop, what comes first has to lead to a state that has not been expanded yet. `proofs/effect.md` has the proofs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush
from typing import Generic, NamedTuple, Protocol, TypeVar, assert_never

from pgasrob.analysis.futures import Futures, futures
from pgasrob.program import core
from pgasrob.program.control import Transition
from pgasrob.program.core import Access, Cell, Form, Operands
from pgasrob.program.expressions import Fault, registers_of
from pgasrob.program.graphs import components, reached
from pgasrob.program.instance import Instance, Registers
from pgasrob.program.walks import is_read
from pgasrob.semantics.accesses import conflict
from pgasrob.semantics.computation import POPS, Computation, has_steps
from pgasrob.semantics.endings import (
    Ending,
    FailedAssertion,
    Place,
    ending_by,
    failure,
    immediate_ending,
    places,
    with_failure,
)
from pgasrob.semantics.sequential import SequentialSpace, SequentialState, assumes_are_guesses
from pgasrob.semantics.standstill import Standstill, Stay
from pgasrob.semantics.state_space import Letter, Operation, State, StateSpace, computation_of
from pgasrob.stop_points import stop_point

SHOWN_LATER = "what the program shows of values that were read in earlier rounds of a loop is not compared"
"""Why it is not known whether all that can be seen of runs is alike, where the source :func:`shows_more`."""

Word = tuple[Letter, ...]
S = TypeVar("S", bound=SequentialState | State)


class At(NamedTuple):
    """``rank`` comes to the control state ``control``."""

    rank: int
    control: int


class Read(NamedTuple):
    """A read of a cell into a register by the command ``occurrence`` of ``rank``."""

    rank: int
    occurrence: int
    cell: Cell


class Found(NamedTuple):
    """The value that a read has brought."""

    read: Read
    value: int


@dataclass(frozen=True, slots=True)
class Faulting:
    """``rank`` is before a command that cannot be evaluated. (No tuple: it is not equal to an :class:`At`.)"""

    rank: int
    occurrence: int


Sight = At | FailedAssertion | Found | Faulting
"""What can be seen of a run on its way."""


class End(NamedTuple):
    """What can be seen of a maximal run at its end: how it ends, the final values by their places, and which assertions
    have failed on the way. ``changing``: the values that go on changing, in loops of ranks that spin; they are no final
    ones."""

    ending: Ending
    values: tuple[tuple[str | Read, int], ...]
    failed: tuple[FailedAssertion, ...]
    changing: frozenset[str | Read] = frozenset()

    def is_like(self, other: End) -> bool:
        """Whether they differ at most in values that go on changing in one of them."""
        if self[:3] == other[:3]:
            return True
        if (self.ending, self.failed) != (other.ending, other.failed) or not (self.changing or other.changing):
            return False
        differ = {of for of, _ in set(self.values) ^ set(other.values)}
        return differ <= self.changing | other.changing


class Node(NamedTuple, Generic[S]):
    """A state, and what a run has shown on the way there that counts at its end."""

    state: S
    failed: tuple[FailedAssertion, ...] = ()
    found: tuple[tuple[Read, int], ...] = ()


class Viewer:
    """Looks at the runs of ``instance``.

    What counts at the end are the values of all registers and cells that a program declares. Registers of a C program
    are those of its compiler; there it counts what each command of the text that reads shared memory has read last,
    and the memory that its functions have not given back by then; with ``looked_at`` no read at whose value it never
    looks.
    """

    def __init__(self, instance: Instance, looked_at: bool = False) -> None:
        self.instance = instance
        self.space = SequentialSpace(instance)
        self.declares = instance.program.source.shows_commands
        self._used = {} if self.declares else _used_reads(instance, looked_at)
        uncertain = set(instance.program.uncertain)
        self._uncertain = frozenset(
            memory.address + offset
            for memory in instance.program.memory
            if memory.name in uncertain
            for offset in range(memory.cells)
        )
        self._places = places(instance) if self.declares else tuple(self._lasting())

    def _lasting(self) -> Iterator[Place]:
        for address in self.instance.program.lasting:
            for rank in range(self.instance.nodes):
                cell = rank * self.instance.size + address
                if address not in self._uncertain:
                    yield Place(self.instance.cell_name(cell), rank, None, cell)

    def begin(self, state: S) -> tuple[Node[S], list[Sight]]:
        """The first node, and what can be seen there."""
        places = enumerate(zip(state.control, state.registers, strict=True))
        return Node(state), [sight for rank, (control, own) in places for sight in self.sights_at(rank, control, own)]

    def sights_at(self, rank: int, control: int, registers: Registers) -> Iterator[Sight]:
        """What can be seen of ``rank`` at ``control``."""
        yield At(rank, control)
        for edge in self.instance.automata[rank].out[control]:
            try:
                self.instance.operands(rank, edge, registers)
            except Fault:
                yield Faulting(rank, edge.occurrence)

    def follow(self, node: Node[S], word: Word, state: S) -> tuple[Node[S], list[Sight]]:
        """The node after the edge from ``node`` over ``word`` to ``state``, and what can be seen of that."""
        after, first = self.after(node, word, state), word[0]
        if first.kind in POPS:
            return after, []
        ranks = [letter.rank for letter in word] if first.kind == "barrier" else [first.rank]
        sights = [sight for each in ranks for sight in self.sights_at(each, state.control[each], state.registers[each])]
        broken, found = self._by(node, first, state)
        return after, [*sights, *(each for each in (broken, found) if each is not None)]

    def after(self, node: Node[S], word: Word, state: S) -> Node[S]:
        """The node after the edge from ``node`` over ``word`` to ``state``."""
        first = word[0]
        if first.kind in POPS:
            return Node(state, node.failed, node.found)
        broken, found = self._by(node, first, state)
        return Node(
            state,
            node.failed if broken is None else with_failure(node.failed, broken),
            node.found if found is None else tuple(sorted({**dict(node.found), found.read: found.value}.items())),
        )

    def _by(self, node: Node[S], first: Letter, state: S) -> tuple[FailedAssertion | None, Found | None]:
        """What fails and what is read by the issue ``first``, from ``node`` to ``state``."""
        broken = failure(self.instance, first, node.state.control, node.state.registers)
        read = None if first.cell is None else self.read(first.rank, first.which, first.cell)
        if read is None:
            return broken, None
        return broken, Found(read, state.registers[read.rank][self._used[read.rank, read.occurrence]])

    def read(self, rank: int, occurrence: int, cell: Cell) -> Read | None:
        """The read that a command makes at its issue, if that counts."""
        used = (rank, occurrence) in self._used and self.instance.index(cell) not in self._uncertain
        return Read(rank, occurrence, cell) if used else None

    def end(self, node: Node[S], stays: tuple[Stay, ...] | None = None) -> End | None:
        """What can be seen of the maximal run that ends at ``node``, where nothing is pending and no rank can move but
        for polls that fail, or where the ranks are known to stay as ``stays`` says. None: it is no end; a poll that
        fails goes round and may get out, or an assumed value was wrong, so that it is no run."""
        control, registers, memory = node.state.control, node.state.registers, node.state.memory
        if self.is_wrong_guess(node):
            return None
        state = SequentialState(control, registers, memory)
        ending = None if stays else immediate_ending(self.space, state)
        if ending is None:
            stays = stays or self.space.standstill.stays(state, there=True)
            if stays is None:
                return None
            ending = ending_by(stays)
        changing = frozenset(self._changing(stays or (), node.found))
        kept = ((place.name, place.value(registers, memory)) for place in self._places if place.name not in changing)
        found = (each for each in node.found if each[0] not in changing)
        return End(ending, (*found, *kept), node.failed, changing)

    def is_wrong_guess(self, node: Node[S]) -> bool:
        """Whether no run comes to ``node``, where no rank can move: a front end has guessed a value wrongly."""
        return assumes_are_guesses(self.instance) and any(
            {edge.command.kind for edge in automaton.out[at]} == {"assume"}
            for automaton, at in zip(self.instance.automata, node.state.control, strict=True)
        )

    def _changing(self, stays: Sequence[Stay], found: Iterable[tuple[Read, int]]) -> Iterator[str | Read]:
        """What goes on changing while the ranks stay so: registers and cells that their loops set, and what is read in
        them."""
        for rank, stay in enumerate(stays):
            inside = {edge.occurrence for edge in stay.loop}
            yield from (read for read, _ in found if read.rank == rank and read.occurrence in inside)
            for place in self._places:
                if place.cell in stay.cells or (place.rank == rank and place.register in stay.registers):
                    yield place.name


def unknown_memory(instance: Instance) -> tuple[str, ...]:
    """The memory of the program itself that may hold unknown values, which are not compared: which of them is read, or
    remains, may be another one in each run."""
    uncertain = set(instance.program.uncertain)
    return tuple(each.name for each in instance.program.memory if each.name in uncertain and not each.made_up)


def shows_more(instance: Instance) -> bool:
    """Whether the source may show something that its commands have read in an earlier round of a loop: what they have
    read last, and memory, does not say all that it shows then."""
    shown = instance.program.shown
    if shown is None:
        return False
    for automaton in instance.automata:
        loop = components([[edge.target for edge in leaving] for leaving in automaton.out])
        inside: dict[int, list[Transition]] = {}
        for state, leaving in enumerate(automaton.out):
            inside.setdefault(loop[state], []).extend(edge for edge in leaving if loop[edge.target] == loop[state])
        for edges in inside.values():
            spans = {edge.span for edge in edges}
            reads = {edge.span for edge in edges if is_read(edge.form)}
            if reads and shown.kept(spans, reads, frozenset()):
                return True
    return False


def _used_reads(instance: Instance, looked_at: bool) -> dict[tuple[int, int], int]:
    """The commands that read into a register by rank and occurrence, with the register, except those whose value is
    only copied to memory: the program has not looked at it then. Where commands use a value for nothing, the source may
    look at it; ``looked_at``: unless it is known that it does not."""
    found: dict[tuple[int, int], int] = {}
    for rank, automaton in enumerate(instance.automata):
        for edge in automaton.transitions:
            form = edge.form
            if isinstance(form, core.Immediate) and form.register is not None and form.access.reads:
                copies = set(_uses(automaton.out, edge.target, form.register))
                looks = instance.program.looked_at.get((edge.span, form.register)) if looked_at else None
                if looks or False in copies or (looks is None and not copies):
                    found[rank, edge.occurrence] = form.register
    return found


def _uses(out: Sequence[Sequence[Transition]], start: int, register: int) -> Iterator[bool]:
    """For each command that may use the value of ``register`` at ``start``, whether it only copies it to memory."""

    def after(state: int) -> Iterator[int]:
        return (edge.target for edge in out[state] if core.register_set(edge.form) != register)

    forms = (edge.form for state in reached([start], after) for edge in out[state])
    return (_copies(form, register) for form in forms if register in core.registers_read(form))


def _copies(form: Form, register: int) -> bool:
    """Whether ``form`` uses ``register`` for nothing but the value that it writes."""
    if not isinstance(form, core.Immediate | core.Transfer) or form.update is None or form.update.expected is not None:
        return False
    using = [role for role, expr in core.expressions(form) if register in registers_of(expr)]
    compares = isinstance(form, core.Immediate) and form.condition is not None
    return not compares and all(role is core.Role.VALUE for role in using)


class _Space(Protocol[S]):
    """What SC runs and runs on the network have in common: an automaton."""

    @property
    def initial(self) -> S: ...
    def successors(self, state: S) -> Iterable[tuple[Word, S]]: ...
    def barriers(self, state: S) -> Iterable[tuple[Word, S]]: ...
    def issues_of(self, state: S, rank: int) -> Iterable[tuple[Word, S]]: ...


class _Independence(Generic[S]):
    """Which moves of a state can be made first and alone, as they depend on nothing that others may still do."""

    def __init__(self, instance: Instance, space: _Space[S], standstill: Standstill[S]) -> None:
        self.instance, self.space, self.standstill = instance, space, standstill
        self.has_loops = instance.has_loops

    @cached_property
    def _futures(self) -> Futures:
        return futures(self.instance)

    def beginning_with(self, state: S, first: Letter) -> Iterable[tuple[Word, S]]:
        """The edges from ``state`` whose word begins with the letter ``first``, and maybe others."""
        return self.space.barriers(state) if first.kind == "barrier" else self.space.issues_of(state, first.rank)

    def met(self, access: Access[Cell], state: S) -> bool:
        """Whether a command that some rank may still issue makes an access that conflicts."""
        return any(self._futures.ever[rank][control].hits(access) for rank, control in enumerate(state.control))

    def met_here(self, access: Access[Cell], state: S, but: int) -> bool:
        """Whether a command that another rank than ``but`` may issue while that stays where it is makes an access that
        conflicts: no barrier is passed."""
        return any(
            self._futures.before_barrier[rank][control].hits(access)
            for rank, control in enumerate(state.control)
            if rank != but
        )

    def all_free(self, state: S, rank: int) -> bool:
        """Whether none of the next commands of ``rank`` depends on what others may still do."""
        for edge in self.instance.automata[rank].out[state.control[rank]]:
            if isinstance(edge.form, core.Barrier):
                return False
            try:
                operands = self.instance.operands(rank, edge, state.registers[rank])
            except Fault:
                continue  # never issued
            if not self.is_free(operands, state, rank):
                return False
        return True

    def is_free(self, operands: Operands, state: S, rank: int) -> bool:
        raise NotImplementedError

    def edges(self, state: S) -> Iterator[list[tuple[Word, S]]]:
        """Sets of edges, each of which is enough in place of all edges."""
        raise NotImplementedError


class _ScRuns(_Independence[SequentialState]):
    """Independence in SC runs, where each access happens at its issue."""

    def is_free(self, operands: Operands, state: SequentialState, rank: int) -> bool:
        return not any(self.met_here(made, state, rank) for made in core.accesses_of(operands))

    def edges(self, state: SequentialState) -> Iterator[list[tuple[Word, SequentialState]]]:
        for rank in range(self.instance.processes):
            if self.all_free(state, rank):
                yield list(self.space.issues_of(state, rank))


class _NetworkRuns(_Independence[State]):
    """Independence in runs on the network, where steps of pending operations are moves, too."""

    def __init__(self, instance: Instance) -> None:
        self.network = StateSpace(instance)
        standstill = Standstill[State](StateSpace, instance, assumes_are_guesses(instance))
        super().__init__(instance, self.network, standstill)

    def beginning_with(self, state: State, first: Letter) -> Iterable[tuple[Word, State]]:
        if first.kind in POPS:
            return self.network.steps_of(state, first.rank)
        return super().beginning_with(state, first)

    def is_free(self, operands: Operands, state: State, rank: int) -> bool:
        match operands:
            case core.Wait(queue, local):
                return not any(
                    isinstance(entry, Operation)
                    and entry.queue == queue
                    and (not local or any(step.local for step in entry.left))
                    for entry in state.pending[rank]
                )
            case core.Assign() | core.Test() | core.Fence() | core.Bundle():
                return True
            case core.Immediate() | core.Transfer():
                made = core.at_issue(operands)
                return made is None or not (self.met_here(made, state, rank) or self._pending_meets(made, state))
            case core.Barrier():
                return False
            case _:
                assert_never(operands)

    def _pending_meets(self, made: Access[Cell], state: State, but: tuple[int, int] | None = None) -> bool:
        """Whether a pending step conflicts with ``made``, one of the operation ``but`` (rank, position) left out."""
        return any(
            conflict(step.access, made)
            for rank, pending in enumerate(state.pending)
            for position, entry in enumerate(pending)
            if isinstance(entry, Operation) and (rank, position) != but
            for step in entry.left
        )

    def edges(self, state: State) -> Iterator[list[tuple[Word, State]]]:
        for rank in range(self.instance.processes):
            if self.all_free(state, rank):
                yield list(self.space.issues_of(state, rank))
        for rank, pending in enumerate(state.pending):
            for position, entry in enumerate(pending):
                if not isinstance(entry, Operation):
                    continue
                access = entry.left[0].access
                if self.met(access, state) or self._pending_meets(access, state, (rank, position)):
                    continue
                edge = self.network.step(state, rank, position)
                if edge is not None:
                    yield [edge]


class Runs(Generic[S]):
    """The maximal runs after some given ones, first those on which little is pending.

    ``complete``: nothing is left to look at, and of each state it is known whether it is an end. ``effort``: the states
    that have been looked at, each counted more the more is pending in it.
    """

    def __init__(self, viewer: Viewer, rules: _Independence[S]) -> None:
        self._viewer, self._rules = viewer, rules
        self._from: dict[Node[S], tuple[Node[S] | None, list[Word]]] = {}
        self._done: set[Node[S]] = set()  # those that have been expanded
        self._waiting: list[tuple[int, int, Node[S]]] = []
        self.effort = 0

    @classmethod
    def under_sc(cls, viewer: Viewer) -> Runs[SequentialState]:
        space = SequentialSpace(viewer.instance)
        return Runs[SequentialState](viewer, _ScRuns(viewer.instance, space, space.standstill))

    @classmethod
    def on_the_network(cls, viewer: Viewer) -> Runs[State]:
        return Runs[State](viewer, _NetworkRuns(viewer.instance))

    @property
    def states(self) -> int:
        return len(self._from)

    @property
    def complete(self) -> bool:
        return not self._waiting and not self.undecided

    @property
    def undecided(self) -> bool:
        """Whether it was too much to find out of some state if it is an end."""
        return self._rules.standstill.undecided

    def begin(self, words: Sequence[Word] = ()) -> tuple[Node[S], list[Sight]]:
        """Look at what comes after the run that ``words`` are: where it leads, and what can be seen of it.

        Raises ValueError when it is no run.
        """
        node, seen = self._viewer.begin(self._rules.space.initial)
        for word in words:
            edges = self._rules.beginning_with(node.state, word[0])
            found = next((after for letters, after in edges if letters == word), None)
            if found is None:
                raise ValueError("it is no run of the program")
            node, sights = self._viewer.follow(node, word, found)
            seen += sights
        self._meet(node, None, list(words))
        return node, seen

    def begin_at(self, node: Node[S]) -> None:
        """Look at what comes after ``node``."""
        self._meet(node, None, [])

    def _meet(self, node: Node[S], before: Node[S] | None, words: list[Word]) -> None:
        """Note that ``words`` lead from ``before`` to ``node``."""
        if node not in self._from:
            self._from[node] = before, words
            # The one that was met last comes first.
            heappush(self._waiting, (_pending(node.state), -len(self._from), node))

    def explore(self) -> Iterator[tuple[Node[S], Sight | End] | None]:
        """What can be seen of the runs, at every new state; None now and then."""
        for node, edges in self.expanded():
            for _, after, sights in edges:
                for sight in sights:
                    yield after, sight
            if (end := self.end(node, bool(edges))) is not None:
                yield node, end
            yield None

    def end(self, node: Node[S], goes_on: bool) -> End | None:
        """What can be seen of the run that ends at ``node``; None where none does. Where it ``goes_on`` it may be at an
        end nevertheless: some ranks go round for ever, and nothing else happens."""
        if not goes_on:
            return self._viewer.end(node)
        if not self._rules.has_loops or _pending(node.state):
            return None
        stays = self._rules.standstill.stays(node.state, there=True)
        return None if stays is None else self._viewer.end(node, stays)

    def expanded(self) -> Iterator[tuple[Node[S], list[tuple[Word, Node[S], list[Sight]]]]]:
        """The nodes as they are expanded, each with the edges that are followed from it and what is seen of these."""
        while self._waiting:
            stop_point()
            pending, _, node = heappop(self._waiting)
            self._done.add(node)
            self.effort += 1 + pending * pending
            edges = self._edges(node)
            for word, after, _ in edges:
                self._meet(after, node, [word])
            yield node, edges

    def _edges(self, node: Node[S]) -> list[tuple[Word, Node[S], list[Sight]]]:
        for some in self._rules.edges(node.state):
            edges = self._seen(node, some)
            if edges and (not self._rules.has_loops or any(after not in self._done for _, after, _ in edges)):
                return edges
        return self._seen(node, self._rules.space.successors(node.state))

    def _seen(self, node: Node[S], edges: Iterable[tuple[Word, S]]) -> list[tuple[Word, Node[S], list[Sight]]]:
        return [(word, *self._viewer.follow(node, word, state)) for word, state in edges]

    def words(self, node: Node[S]) -> list[Word]:
        """The run that is known to lead to ``node``."""
        pieces = []
        at: Node[S] | None = node
        while at is not None:
            at, words = self._from[at]
            pieces.append(words)
        return [word for words in reversed(pieces) for word in words]

    def computation(self, node: Node[S]) -> Computation:
        return computation_of(self.words(node))


def _pending(state: SequentialState | State) -> int:
    return sum(map(len, state.pending)) if isinstance(state, State) else 0


def words_of(computation: Computation) -> list[Word]:
    """The words of X(P, N) on the path of ``computation``: the inverse of `computation_of`."""
    left: dict[tuple[int, int], int] = {}
    for event in computation:
        left[event.issued] = left.get(event.issued, 0) + event.is_step
    pending: dict[int, list[int]] = {}
    words: list[Word] = []
    for event in computation:
        operations = pending.setdefault(event.rank, [])
        if event.is_step:
            left[event.issued] -= 1
            last = not left[event.issued]
            which = operations.index(event.operation)
            if last:
                operations.remove(event.operation)
            words.append((Letter(event.kind, event.rank, event.cell, which, last, event.commutes),))
            continue
        if has_steps(event.kind):
            operations.append(event.operation)
        letter = Letter(event.kind, event.rank, event.cell, event.occurrence, False, event.commutes, event.home)
        if event.kind == "barrier" and event.of_rank:
            words[-1] = (*words[-1], letter)
        else:
            words.append((letter,))
    return words
