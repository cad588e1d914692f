"""The state-space automaton X(P, N) (the paper, section 2.3 and Table 1; the design, section 2).

Where the paper keeps two queues of requests per rank and queue id, a state here keeps, per rank, its operations that
are not finished, in the order of their issue. The rules say which steps of them may come next: that covers FIFO queues,
unordered queues and fences alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeVar

from pgasrob.program.instance import Cell, Instance, Memory, Operands, Registers
from pgasrob.semantics.computation import Computation, Event
from pgasrob.semantics.effect import issue, set_cell


class Operation(NamedTuple):
    """A remote command that is not finished. ``value`` is what popa has read, None before popa."""

    kind: str
    queue: int
    target: int
    source: Cell
    destination: Cell
    value: int | None


class FenceMark(NamedTuple):
    """A fence between operations that were issued before and after it; target None: each target by itself."""

    queue: int
    target: int | None


Pending = tuple[Operation | FenceMark, ...]


class State(NamedTuple):
    """Control states and registers per rank, the flat memory, and the pending operations per rank in issue order."""

    control: tuple[int, ...]
    registers: tuple[Registers, ...]
    memory: Memory
    pending: tuple[Pending, ...]


class Letter(NamedTuple):
    """An event as the automaton sees it.

    For an issued event ``which`` is the occurrence of its command, for a step the place of its operation among the
    operations (fences not counted) that its rank has pending.
    """

    kind: str
    rank: int
    cell: Cell | None
    which: int


Edge = tuple[tuple[Letter, ...], State]
T = TypeVar("T")


class StateSpace:
    """X(P, N) as an automaton: final are the states in which nothing is pending."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        nodes = instance.nodes
        self.initial = State((0,) * nodes, (instance.registers,) * nodes, instance.memory, ((),) * nodes)

    def is_final(self, state: State) -> bool:
        return not any(state.pending)

    def successors(self, state: State) -> Iterator[Edge]:
        for rank in range(self.instance.nodes):
            yield from self._issues(state, rank)
        yield from self._barriers(state)
        for rank in range(self.instance.nodes):
            yield from self._steps(state, rank)

    def _issues(self, state: State, rank: int) -> Iterator[Edge]:
        for transition, operands in self.instance.evaluated(rank, state.control[rank], state.registers[rank]):
            pending = issue_pending(self.instance, operands, state.pending[rank])
            done = issue(operands, state.registers[rank], state.memory)
            if pending is None or done is None:
                continue
            registers, memory = done
            letter = Letter(operands.kind, rank, operands.cell, transition.occurrence)
            yield (
                (letter,),
                State(
                    _put(state.control, rank, transition.target),
                    _put(state.registers, rank, registers),
                    memory,
                    _put(state.pending, rank, pending),
                ),
            )

    def _barriers(self, state: State) -> Iterator[Edge]:
        for arrivals in self.instance.barriers(state.control):
            word = tuple(
                Letter("barrier", rank, None, transition.occurrence) for rank, transition in enumerate(arrivals)
            )
            yield word, state._replace(control=tuple(transition.target for transition in arrivals))

    def _steps(self, state: State, rank: int) -> Iterator[Edge]:
        pending = state.pending[rank]
        place = -1
        for position, entry in enumerate(pending):
            if isinstance(entry, FenceMark):
                continue
            place += 1
            if not self._may_step(pending, position, entry):
                continue
            if entry.value is None:
                after: Pending = _put(pending, position, entry._replace(value=state.memory[entry.source]))
                letter, memory = Letter("popa", rank, entry.source, place), state.memory
            else:
                after = drop_idle_fences((*pending[:position], *pending[position + 1 :]))
                letter = Letter("popb", rank, entry.destination, place)
                memory = set_cell(state.memory, entry.destination, entry.value)
            yield (letter,), state._replace(memory=memory, pending=_put(state.pending, rank, after))

    def _may_step(self, pending: Pending, position: int, operation: Operation) -> bool:
        """Whether the next step of ``operation`` is allowed by the operations before it."""
        earlier = [
            entry for entry in pending[:position] if isinstance(entry, Operation) and entry.queue == operation.queue
        ]
        if not self.instance.is_unordered(operation.queue):
            # FIFO: popa after every earlier popa, popb after every earlier popb, whatever the targets.
            return not earlier if operation.value is not None else all(entry.value is not None for entry in earlier)
        if operation.kind == "read" or operation.value is None:
            return True
        return not any(
            fence.queue == operation.queue
            and fence.target in (None, operation.target)
            and any(
                isinstance(entry, Operation)
                and entry.kind == "write"
                and entry.queue == operation.queue
                and entry.target == operation.target
                for entry in pending[:place]
            )
            for place, fence in enumerate(pending[:position])
            if isinstance(fence, FenceMark)
        )


def issue_pending(instance: Instance, operands: Operands, pending: Pending) -> Pending | None:
    """The pending operations of a rank after it issues a command, or None when a wait is not over yet."""
    queue = operands.queue
    match operands.kind:
        case "read" | "write":
            assert queue is not None and operands.target is not None
            assert operands.source is not None and operands.destination is not None
            operation = Operation(operands.kind, queue, operands.target, operands.source, operands.destination, None)
            return (*pending, operation)
        case "fence":
            assert queue is not None
            if not instance.is_unordered(queue):
                return pending
            return drop_idle_fences((*pending, FenceMark(queue, operands.target)))
        case "wait":
            mine = any(isinstance(entry, Operation) and entry.queue == queue for entry in pending)
            return None if mine else pending
        case "wait_local":
            mine = any(
                isinstance(entry, Operation) and entry.queue == queue and (entry.kind == "read" or entry.value is None)
                for entry in pending
            )
            return None if mine else pending
    return pending


def drop_idle_fences(pending: Pending) -> Pending:
    """``pending`` with the fences between two operations as a set in a fixed order, redundant ones left out.

    A fence is redundant when no write that it orders is pending before it, or when a fence for all targets of its queue
    stands beside it. So states that behave alike are equal, and a loop that fences does not count for ever
    (`proofs/state-space.md`, section 4).
    """
    kept: list[Operation | FenceMark] = []
    gap: set[FenceMark] = set()
    for entry in pending:
        if isinstance(entry, Operation):
            kept += _gap_marks(gap)
            kept.append(entry)
            gap = set()
        elif _orders_any(entry, kept):
            gap.add(entry)
    return (*kept, *_gap_marks(gap))


def _orders_any(fence: FenceMark, earlier: list[Operation | FenceMark]) -> bool:
    """Whether a write that ``fence`` orders is among the entries before it."""
    return any(
        isinstance(entry, Operation)
        and entry.kind == "write"
        and entry.queue == fence.queue
        and fence.target in (None, entry.target)
        for entry in earlier
    )


def _gap_marks(gap: set[FenceMark]) -> list[FenceMark]:
    uncovered = [fence for fence in gap if fence.target is None or FenceMark(fence.queue, None) not in gap]
    return sorted(uncovered, key=lambda fence: (fence.queue, -1 if fence.target is None else fence.target))


def computation_of(words: list[tuple[Letter, ...]]) -> Computation:
    """The computation that a path of X(P, N), given by its words, stands for."""
    events: list[Event] = []
    issued: dict[int, int] = {}  # rank -> commands so far
    pending: dict[int, list[list[int]]] = {}  # rank -> [operation, occurrence] of what is pending
    for letter in (letter for word in words for letter in word):
        kind, rank, cell, which = letter
        if kind in ("popa", "popb"):
            operation, occurrence = pending[rank][which]
            if kind == "popb":
                del pending[rank][which]
        else:
            operation, occurrence = issued.get(rank, 0), which
            issued[rank] = operation + 1
            if kind in ("read", "write"):
                pending.setdefault(rank, []).append([operation, occurrence])
        events.append(Event(kind, rank, operation, cell, occurrence))
    return tuple(events)


def _put(items: tuple[T, ...], index: int, item: T) -> tuple[T, ...]:
    return (*items[:index], item, *items[index + 1 :])
