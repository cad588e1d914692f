"""The state-space automaton X(P, N) (the paper, section 2.3 and Table 1; the design, section 2).

Where the paper keeps two queues of requests per rank and queue id, a state here keeps, per rank, its operations that
are not finished, in the order of their issue. The rules say which steps of them may come next: that covers FIFO queues,
unordered queues and fences alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, assert_never

from pgasrob.program import core
from pgasrob.program.control import Transition
from pgasrob.program.core import Cell, Operands
from pgasrob.program.instance import Arrival, Instance, Memory, Registers
from pgasrob.semantics.computation import POPS, Computation, Event, EventKind, has_steps
from pgasrob.semantics.effect import Carried, captured, issue, put, take_step


class Operation(NamedTuple):
    """A remote command that is not finished: its queue and target, the steps that are left, at least one, what they do
    and what is carried to them.

    ``everywhere``: it comes after the writes in every queue. Nothing else of the command is kept, so that states that
    behave alike are equal.
    """

    queue: int
    target: int
    left: tuple[core.Step[Cell], ...]
    update: core.Update[int] | None = None
    everywhere: bool = False
    carried: Carried = Carried()

    @property
    def writes(self) -> bool:
        """Whether a step is left that fences order."""
        return any(step.fenced for step in self.left)


class FenceMark(NamedTuple):
    """A fence between operations that were issued before and after it; target None: each target by itself."""

    queue: int
    target: int | None


class BundleMark(NamedTuple):
    """The beginning of a bundle: a signal that comes later does not wait for the operations before it."""


Pending = tuple[Operation | FenceMark | BundleMark, ...]


class State(NamedTuple):
    """Control states and registers per process, the flat memory, and what each has pending, in issue order."""

    control: tuple[int, ...]
    registers: tuple[Registers, ...]
    memory: Memory
    pending: tuple[Pending, ...]


class Letter(NamedTuple):
    """An event as the automaton sees it.

    For an issued event ``which`` is the occurrence of its command, for a step the place of its operation among the
    operations (marks not counted) that its rank has pending; ``last`` says of a step that it ends its operation.
    ``commutes`` is that of its access. ``home``: of a barrier's, the rank of its process, where that is not its number.
    """

    kind: EventKind
    rank: int
    cell: Cell | None
    which: int
    last: bool = False
    commutes: str = ""
    home: int | None = None


Held = Literal["queue", "fence", "writes", "bundle", "cell"]
"""Why a step has to wait: for the same stage of earlier operations in its FIFO ``queue``; for writes before a
``fence``; for the ``writes`` before a notification; for the ``bundle`` of a signal; for earlier operations on its
``cell``."""
Edge = tuple[tuple[Letter, ...], State]


class StateSpace:
    """X(P, N) as an automaton: final are the states in which nothing is pending."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        count = instance.processes
        self.initial = State((0,) * count, (instance.registers,) * count, instance.memory, ((),) * count)
        self._next: dict[tuple[int, int, Registers], list[tuple[Transition, Operands, tuple[Letter]]]] = {}

    def is_final(self, state: State) -> bool:
        return not any(state.pending)

    def successors(self, state: State) -> Iterator[Edge]:
        yield from self.issues(state)
        yield from self.drains(state)

    def drains(self, state: State) -> Iterator[Edge]:
        """The transitions that need no command to be issued."""
        for rank in range(self.instance.processes):
            yield from self.steps_of(state, rank)

    def steps_of(self, state: State, rank: int) -> Iterator[Edge]:
        """The transitions by which an operation of ``rank`` takes its next step."""
        for position, entry in enumerate(state.pending[rank]):
            if isinstance(entry, Operation) and (edge := self.step(state, rank, position)):
                yield edge

    def issues_of(self, state: State, rank: int) -> Iterator[Edge]:
        """The transitions by which ``rank`` alone issues a command."""
        own, before = state.registers[rank], state.pending[rank]
        for transition, operands, word in self._next_of(rank, state.control[rank], own):
            pending = issue_pending(self.instance, operands, state.memory, before)
            done = issue(operands, own, state.memory)
            if pending is None or done is None:
                continue
            registers, memory = done
            yield (
                word,
                State(
                    put(state.control, rank, transition.target),
                    state.registers if registers is own else put(state.registers, rank, registers),
                    memory,
                    state.pending if pending is before else put(state.pending, rank, pending),
                ),
            )

    def _next_of(
        self, rank: int, control: int, registers: Registers
    ) -> list[tuple[Transition, Operands, tuple[Letter]]]:
        """The next commands of ``rank`` at ``control``, whether or not it can issue them, with the letters of their
        issues: they are the same in many states."""
        key = rank, control, registers
        found = self._next.get(key)
        if found is None:
            evaluated = self.instance.evaluated(*key)
            found = [(each, operands, (issued(rank, each, operands),)) for each, operands in evaluated]
            self._next[key] = found
        return found

    def step(self, state: State, rank: int, position: int) -> Edge | None:
        """The next step of the operation at ``position`` in what ``rank`` has pending, None while it has to wait."""
        pending = state.pending[rank]
        before, entry = pending[:position], pending[position]
        assert isinstance(entry, Operation)
        if self.held(before, entry) is not None:
            return None
        step, *left = entry.left
        memory, carried = take_step(entry.update, step, state.memory, entry.carried)
        stays = (entry._replace(left=tuple(left), carried=carried),) if left else ()
        after = drop_idle_marks((*before, *stays, *pending[position + 1 :]))
        place = sum(isinstance(other, Operation) for other in before)
        letter = Letter(step.kind, rank, step.access.cell, place, not left, step.access.commutes)
        return (letter,), state._replace(memory=memory, pending=put(state.pending, rank, after))

    def issues(self, state: State) -> Iterator[Edge]:
        """The transitions of ``state`` that issue a command, or one of every rank for a barrier."""
        for rank in range(self.instance.processes):
            yield from self.issues_of(state, rank)
        yield from self.barriers(state)

    def barriers(self, state: State) -> Iterator[Edge]:
        """The transitions by which all ranks pass a barrier."""
        for arrivals in self.instance.barriers(state.control):
            yield barrier_word(self.instance, arrivals), state._replace(control=behind(state.control, arrivals))

    def held(self, before: Pending, operation: Operation) -> Held | None:
        """The rule by which the next step of ``operation`` waits for something pending ``before`` it; None: no rule."""
        step = operation.left[0]
        earlier = [entry for entry in before if isinstance(entry, Operation)]
        of_queue = [entry for entry in earlier if entry.queue == operation.queue]
        if not self.instance.is_unordered(operation.queue):
            # Every stage of a FIFO queue is in order, whatever the targets.
            if any(other.stage == step.stage for entry in of_queue for other in entry.left):
                return "queue"
        elif step.fenced and _held_by_fence(before, operation):
            return "fence"
        if step.after_writes:
            writers = earlier if operation.everywhere else of_queue
            if any(entry.writes and entry.target == operation.target for entry in writers):
                return "writes"
        if step.after_bundle and _of_latest_bundle(before):
            return "bundle"
        if step.located and any(
            other.located and other.access.cell == step.access.cell for entry in earlier for other in entry.left
        ):
            return "cell"
        return None


def _held_by_fence(before: Pending, operation: Operation) -> bool:
    """Whether a fence stands between a destination write that is pending and that of ``operation``."""
    return any(
        isinstance(fence, FenceMark)
        and fence.queue == operation.queue
        and fence.target in (None, operation.target)
        and any(
            isinstance(entry, Operation)
            and entry.writes
            and entry.queue == operation.queue
            and entry.target == operation.target
            for entry in before[:place]
        )
        for place, fence in enumerate(before)
    )


def _of_latest_bundle(before: Pending) -> bool:
    """Whether an operation of the bundle that a signal ends is pending ``before`` it."""
    for entry in reversed(before):
        if isinstance(entry, BundleMark):
            return False
        if isinstance(entry, Operation):
            return True
    return False


def issued(rank: int, transition: Transition, operands: Operands) -> Letter:
    """The letter of the event that issues a command."""
    made = core.at_issue(operands)
    return Letter(transition.command.kind, rank, None if made is None else made.cell, transition.occurrence)


def barrier_word(instance: Instance, arrivals: Sequence[Arrival]) -> tuple[Letter, ...]:
    """The events of a barrier, one of each rank, which its processes pass by ``arrivals``."""
    return tuple(
        Letter("barrier", process, None, each.occurrence, home=home_of(instance, process)) for process, each in arrivals
    )


def home_of(instance: Instance, process: int) -> int | None:
    """The rank of ``process`` as events have it: None where it is its number."""
    rank = instance.home[process]
    return None if rank == process else rank


def behind(control: tuple[int, ...], arrivals: Sequence[Arrival]) -> tuple[int, ...]:
    """The control states after a barrier."""
    after = list(control)
    for process, arrival in arrivals:
        after[process] = arrival.target
    return tuple(after)


def issue_pending(instance: Instance, operands: Operands, memory: Memory, pending: Pending) -> Pending | None:
    """The pending operations of a rank after it issues a command at ``memory``, or None when a wait is not over yet."""
    match operands:
        case core.Transfer(target, queue, steps, _, update, everywhere):
            # The operands are left out of the update: they are in what is carried.
            done = None if update is None else update._replace(operand=None, expected=None)
            return (*pending, Operation(queue, target, steps, done, everywhere, captured(operands, memory)))
        case core.Fence(queue, to):
            if not instance.is_unordered(queue):
                return pending
            return drop_idle_marks((*pending, FenceMark(queue, to)))
        case core.Bundle():
            return drop_idle_marks((*pending, BundleMark())) if instance.signals else pending
        case core.Wait(queue, local):
            waits = any(
                isinstance(entry, Operation)
                and entry.queue == queue
                and (not local or any(step.local for step in entry.left))
                for entry in pending
            )
            return None if waits else pending
        case core.Assign() | core.Test() | core.Immediate() | core.Barrier():
            return pending
        case _:
            assert_never(operands)


def drop_idle_marks(pending: Pending) -> Pending:
    """``pending`` with the marks between two operations as a set in a fixed order, redundant ones left out.

    A fence is redundant when no write that it orders is pending before it, or when a fence for all targets of its queue
    stands beside it; the beginning of a bundle when nothing is pending before it, or when no signal, pending or to
    come, has it as the latest one. So states that behave alike are equal, and a loop that fences does not count for
    ever (`proofs/state-space.md`, section 4).
    """
    kept: list[Operation | FenceMark | BundleMark] = []
    gap: set[FenceMark | BundleMark] = set()
    for entry in pending:
        if isinstance(entry, Operation):
            kept += _gap_marks(gap)
            kept.append(entry)
            gap = set()
        elif _orders_any(entry, kept):
            gap.add(entry)
    return _without_idle_bundles((*kept, *_gap_marks(gap)))


def _orders_any(mark: FenceMark | BundleMark, earlier: list[Operation | FenceMark | BundleMark]) -> bool:
    """Whether something that ``mark`` binds is among the entries before it: for a fence a write that it orders."""
    return any(
        isinstance(entry, Operation)
        and (
            isinstance(mark, BundleMark)
            or (entry.writes and entry.queue == mark.queue and mark.target in (None, entry.target))
        )
        for entry in earlier
    )


def _gap_marks(gap: set[FenceMark | BundleMark]) -> list[FenceMark | BundleMark]:
    fences = [mark for mark in gap if isinstance(mark, FenceMark)]
    uncovered = [fence for fence in fences if fence.target is None or FenceMark(fence.queue, None) not in fences]
    bundles = [mark for mark in gap if isinstance(mark, BundleMark)]
    return [*bundles, *sorted(uncovered, key=lambda fence: (fence.queue, -1 if fence.target is None else fence.target))]


def _without_idle_bundles(pending: Pending) -> Pending:
    """``pending`` without the marks of bundles that are no longer the latest and that no pending signal ends."""
    kept: list[Operation | FenceMark | BundleMark] = []
    looked_at = True  # by signals that are still to come
    for entry in reversed(pending):
        if isinstance(entry, BundleMark):
            if not looked_at:
                continue
            looked_at = False
        elif isinstance(entry, Operation):
            looked_at = looked_at or any(step.after_bundle for step in entry.left)
        kept.append(entry)
    return tuple(reversed(kept))


def computation_of(words: list[tuple[Letter, ...]]) -> Computation:
    """The computation that a path of X(P, N), given by its words, stands for."""
    events: list[Event] = []
    issued: dict[int, int] = {}  # rank -> commands so far
    pending: dict[int, list[list[int]]] = {}  # rank -> [operation, occurrence] of what is pending
    for letter in (letter for word in words for letter in word):
        kind, rank, cell, which, last, commutes, home = letter
        if kind in POPS:
            operation, occurrence = pending[rank][which]
            if last:
                del pending[rank][which]
        else:
            operation, occurrence = issued.get(rank, 0), which
            issued[rank] = operation + 1
            if has_steps(kind):
                pending.setdefault(rank, []).append([operation, occurrence])
        events.append(Event(kind, rank, operation, cell, occurrence, commutes, home))
    return tuple(events)
