"""Turns a run of a marked program into an execution of the paper: its actions, and the orders between them.

A run is one of the calculus in which every operation is done at once. Which calls there are, which values they see and
who waits for whom is all that is taken from it; when virtual actions happen is what the orders say.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Unpack

from pgasrob.frontends.apis.mpi import rules
from pgasrob.frontends.apis.mpi.window_calls import RmaCall, Shared, SyncCall, SyncKind, Uncovered
from pgasrob.program import core
from pgasrob.program.commands import Fetch, Mark
from pgasrob.program.core import Cell
from pgasrob.program.illegal_calls import IllegalCall
from pgasrob.program.instance import Instance
from pgasrob.program.statements import Span
from pgasrob.races.access_facts import Fact, facts_of
from pgasrob.races.mpi.actions import Action, Execution, Kind, Misuse, More, Operation, Place, Synchronisation
from pgasrob.semantics.mazurkiewicz_trace import Event

AT_TARGET: frozenset[SyncKind] = frozenset(("unlock", "unlock_all", "flush", "flush_all"))
"""What has a virtual action at each of its targets (3.2.5)."""
COMPLETE: frozenset[SyncKind] = AT_TARGET | {"fence"}
"""What completes operations at both sides."""
RETURN: frozenset[SyncKind] = COMPLETE | {"flush_local", "flush_local_all", "complete", "request"}
"""What completes operations at least at their origin."""


class NotCovered(Exception):
    """The program does something that the model says nothing about: ``what`` it is, where, and what to do instead."""

    def __init__(self, what: str, span: Span, hint: str) -> None:
        super().__init__(what)
        self.what, self.span, self.hint = what, span, hint


def execution_of(instance: Instance, events: Iterable[Event]) -> Execution:
    """The execution that the run ``events`` is. Raises :class:`NotCovered`."""
    reader = _Reader(instance)
    for event in events:
        reader.read(event)
        reader.execution.until.append(len(reader.execution.actions))
    return reader.finish()


@dataclass(slots=True)
class _Places:
    reads: set[Place] = field(default_factory=set)
    writes: set[Place] = field(default_factory=set)


class _Reader:
    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.execution = Execution(instance.nodes)
        self._made_up = frozenset(
            memory.address + place
            for memory in instance.program.memory
            if memory.made_up
            for place in range(memory.cells)
        )
        self._last: list[int | None] = [None] * instance.nodes
        self._open: list[Operation | Synchronisation | None] = [None] * instance.nodes
        self._pending: list[list[Operation]] = [[] for _ in range(instance.nodes)]
        self._released: dict[Cell, list[int]] = defaultdict(list)
        self._wrote: dict[Place, Operation | int | None] = {}
        self._at_origin: dict[int, _Places] = defaultdict(_Places)
        self._at_target: dict[int, _Places] = defaultdict(_Places)
        self._polls: list[tuple[Operation | int, int]] = []
        self._updates: dict[Place, list[Operation]] = defaultdict(list)
        self._fetches: list[tuple[Operation, Operation]] = []

    def read(self, event: Event) -> None:
        rank, transition = event.rank, event.transitions[0]
        if event.is_barrier:
            self._barrier(event)
        elif isinstance(transition.command, Mark):
            self._mark(rank, transition.command.fact, transition.span)
        elif isinstance(event.operands, core.Test):
            claim = event.operands.claim
            # The paper's models have MPI_Win_sync anywhere (its figure 7b).
            if isinstance(claim, IllegalCall) and not event.operands.condition and claim.rule != rules.SYNC_UNLOCKED:
                self.execution.illegal.append(Misuse(rank, claim))
        elif isinstance(event.operands, core.Transfer):
            self._transfer(rank, event, event.operands)
        elif isinstance(transition.command, Fetch) and isinstance(operation := self._open[rank], Operation):
            self._fetched(rank, operation, event)
        elif event.chain:
            self._settle(rank)
            self._access(rank, event, transition.span)

    def finish(self) -> Execution:
        """Nothing more happens."""
        for rank in range(self.instance.nodes):
            self._settle(rank)
        execution, actions = self.execution, self.execution.actions
        for by, load in self._polls:
            wrote = by if isinstance(by, int) else by.vac
            if wrote is not None:
                execution.polled.append((wrote, load))
        for update, by in self._fetches:
            one, other = update.vac, by.vac
            if one is None or other is None or actions[one].origin == actions[other].origin:
                continue
            # Of several elements each is atomic by itself, so that the calls have no order (section 2.3).
            if len(actions[one].cells) == len(actions[other].cells) == 1:
                execution.fetched.append((one, other))
        return self.execution

    # Actions

    def _action(
        self, kind: Kind, rank: int, origin: int, span: Span, group: int | None = None, **more: Unpack[More]
    ) -> int:
        """Add an action, of a ``group`` of its own unless one is given; returns its number."""
        number = len(self.execution.actions)
        first = number if group is None else group
        self.execution.actions.append(Action(number, kind, rank, origin, span, first, **more))
        return number

    def _next(self, rank: int, number: int) -> int:
        """``number`` is the next action of ``rank`` in program order."""
        last = self._last[rank]
        if last is not None:
            self.execution.po.append((last, number))
        self._last[rank] = number
        return number

    def _barrier(self, event: Event) -> None:
        number = self._action("external", 0, 0, event.transitions[0].span)
        for rank in range(self.instance.nodes):
            self._settle(rank)
        for rank in range(self.instance.nodes):
            self._next(rank, number)

    def _access(self, rank: int, event: Event, span: Span) -> None:
        (made,) = event.chain
        assert isinstance(event.operands, core.Immediate)
        cell, operands = made.access.cell, event.operands
        if self.instance.index(cell) in self._made_up:
            self._external(rank, operands, span)
            return
        if self.instance.owner(cell) != rank and not self.execution.shared:
            hint = "use puts and gets: of shared memory MPI promises what the processor does (section 3.6)"
            raise NotCovered("an access to the memory of another rank without a call", span, hint)
        if operands.update is not None and operands.update.reads:
            hint = "use MPI_Fetch_and_op or another atomic of MPI on the rank's own window"
            raise NotCovered("an atomic operation of C", span, hint)
        (fact,) = facts_of(event.transitions[0])
        places = _places(cell, fact)
        if made.access.writes:
            store = self._next(rank, self._action("store", rank, rank, span, writes=places))
            self._wrote.update(dict.fromkeys(places, store))
            return
        number = self._next(rank, self._action("load", rank, rank, span, reads=places, polls=fact.waits))
        if fact.waits:
            wrote = {id(each): each for place in places if (each := self._wrote.get(place)) is not None}
            self._polls += (
                (each, number)
                for each in wrote.values()
                if not isinstance(each, int) or self.execution.actions[each].rank != rank
            )

    def _external(self, rank: int, operands: core.Immediate[Cell, int], span: Span) -> None:
        """An access to what a library keeps: who waits for a value waits for all that wrote there before."""
        number = self._next(rank, self._action("external", rank, rank, span))
        cell = operands.access.cell
        if operands.condition is not None:
            self.execution.so += ((before, number) for before in self._released[cell])
        if operands.update is not None and (operands.update.operation, operands.update.operand) != ("add", 0):
            self._released[cell].append(number)

    # Communication

    def _mark(self, rank: int, fact: object, span: Span) -> None:
        self._settle(rank)
        match fact:
            case RmaCall():
                issue = self._next(rank, self._action("issue", rank, rank, span, call=fact))
                operation = self._open[rank] = Operation(fact, issue)
                self._pending[rank].append(operation)
                self.execution.operations.append(operation)
            case SyncCall(ends=False):
                self._begin(rank, fact, span)
            case SyncCall():
                synchronisation = self._open[rank]
                assert isinstance(synchronisation, Synchronisation), "it has begun"
                synchronisation.end = self._action(
                    "end", rank, rank, span, synchronisation.begin, call=synchronisation.call
                )
                self._next(rank, synchronisation.end)
                self._open[rank] = None
            case Uncovered(name, hint):
                raise NotCovered(name, span, hint)
            case Shared(name):
                self.execution.shared = self.execution.shared or (name, span)
            case _:
                raise NotCovered("a call of another library", span, "use MPI alone")

    def _transfer(self, rank: int, event: Event, operands: core.Transfer[Cell, int]) -> None:
        """A call of several elements is one action at each side, which is made when all of them are known."""
        operation, span = self._open[rank], event.transitions[0].span
        if isinstance(operation, Synchronisation) and operation.call.kind == "complete":
            self._notify(rank, operation, operands, span)
            return
        if not isinstance(operation, Operation) or operands.captured is not None:
            raise NotCovered("communication that is no call on a window", span, "use MPI alone")
        fetches = operands.update is not None and operands.update.operation == "fetch"
        at_target = "popa" if fetches or operation.call.kind == "get" else "popb"
        for step, fact in zip(operands.steps, facts_of(event.transitions[0]), strict=True):
            places = _places(step.access.cell, fact)
            where = self._at_target if step.kind == at_target else self._at_origin
            if step.access.reads:
                where[rank].reads |= places
            if step.kind == at_target:
                self._updated(operation, places, step.access.writes)
            if step.access.writes:
                where[rank].writes |= places
                self._wrote.update(dict.fromkeys(places, operation if step.kind == at_target else None))

    def _fetched(self, rank: int, operation: Operation, event: Event) -> None:
        """A get or an atomic read in a loop that polls, whose result is in a register (`frontends.c.arrivals`)."""
        assert isinstance(event.operands, core.Immediate)
        (fact,) = facts_of(event.transitions[0])
        places = _places(event.operands.access.cell, fact)
        self._at_target[rank].reads |= places
        self._updated(operation, places, writes=False)

    def _updated(self, operation: Operation, places: frozenset[Place], writes: bool) -> None:
        """``operation`` accesses ``places`` at its target: note which accumulates it comes after."""
        for place in places:
            if operation.call.kind in ("get_accumulate", "compare_and_swap"):
                self._fetches += ((each, operation) for each in self._updates[place] if each is not operation)
            if operation.call.kind not in ("put", "get") and writes:
                self._updates[place].append(operation)

    def _settle(self, rank: int) -> None:
        """The operation that ``rank`` is at has all its elements: make its actions (3.2.2, 3.2.3)."""
        operation = self._open[rank]
        if not isinstance(operation, Operation):
            return
        self._open[rank] = None
        here, there = self._at_origin.pop(rank, _Places()), self._at_target.pop(rank, _Places())
        issue, call, coso = operation.issue, operation.call, self.execution.coso
        span = self.execution.actions[issue].span
        if there.reads or there.writes:
            accessed = More(call=call, reads=frozenset(there.reads), writes=frozenset(there.writes))
            vac = self._action("vac", call.target, rank, span, issue, **accessed)
            operation.vac = vac
            coso.append((issue, vac))
        # D3: the source is read before the operation takes effect, the result arrives after it.
        if here.reads:
            read = self._action("buffer read", rank, rank, span, issue, call=call, reads=frozenset(here.reads))
            operation.buffers.append(read)
            coso.append((issue, read))
            coso += [(read, operation.vac)] if operation.vac is not None else []
        if here.writes:
            write = self._action("buffer write", rank, rank, span, issue, call=call, writes=frozenset(here.writes))
            operation.buffers.append(write)
            coso.append((issue if operation.vac is None else operation.vac, write))

    # Synchronisation

    def _begin(self, rank: int, call: SyncCall, span: Span) -> None:
        begin = self._next(rank, self._action("begin", rank, rank, span, call=call))
        virtual = {
            target: self._action("vas", target, rank, span, begin, call=call)
            for target in (call.targets if call.kind in AT_TARGET else ())
        }
        done = self._next(rank, self._action("done", rank, rank, span, begin, call=call))
        synchronisation = self._open[rank] = Synchronisation(call, rank, begin, done, virtual)
        self.execution.synchronisations.append(synchronisation)
        coso = self.execution.coso
        coso += ((begin, vas) for vas in virtual.values())
        coso += ((vas, done) for vas in virtual.values())
        for operation in [each for each in self._pending[rank] if _is_about(call, each)]:
            self._complete(operation, synchronisation)
            if call.kind in COMPLETE or call.kind == "complete":
                self._pending[rank].remove(operation)

    def _complete(self, operation: Operation, by: Synchronisation) -> None:
        """(12), (16), (17): r* co s*. D1: what is complete has happened by then; D2: before the virtual action, too."""
        coso, done = self.execution.coso, by.done
        coso.append((operation.issue, done))
        coso += ((buffer, done) for buffer in operation.buffers)
        operation.returned.append(done)
        if operation.vac is not None and by.call.kind in COMPLETE:
            coso.append((operation.vac, done))
            if operation.call.target in by.virtual:
                coso.append((operation.vac, by.virtual[operation.call.target]))
        if by.call.kind in COMPLETE or by.call.kind == "complete":
            operation.completed = done

    def _notify(self, rank: int, by: Synchronisation, operands: core.Transfer[Cell, int], span: Span) -> None:
        """D6: a complete signals its targets when what it completes has taken effect there, and waits for no rank."""
        (step,) = operands.steps
        number = self._action("external", operands.rank, rank, span, by.begin)
        coso = self.execution.coso
        coso.append((by.done, number))
        coso += (
            (each.vac, number)
            for each in self.execution.operations
            if each.completed == by.done and each.vac is not None and each.call.target == operands.rank
        )
        self._released[step.access.cell].append(number)


LARGEST_CELL = 8
"""Bytes."""


def _places(cell: Cell, fact: Fact) -> frozenset[Place]:
    """The bytes of ``cell`` that an access touches."""
    first, end = fact.bytes or (0, LARGEST_CELL)
    return frozenset((cell, byte) for byte in range(first, end))


def _is_about(call: SyncCall, operation: Operation) -> bool:
    """Whether ``call`` completes ``operation`` of its rank, at least at the origin."""
    if call.kind not in RETURN or call.window != operation.call.window or operation.call.target not in call.targets:
        return False
    return call.kind != "request" or call.request == operation.call.request
