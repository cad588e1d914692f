"""Replays a violation in normal form on the machine of RDMA-TSO, which makes a run of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pgasrob.models.litmus.instructions import Instruction
from pgasrob.models.model_interface import Execution
from pgasrob.models.operational import Machine, Queue, State, Step, execution
from pgasrob.models.rdma_tso.late_search import Issued, NormalForm
from pgasrob.stop_points import stop_point


class Executed(NamedTuple):
    """``thread`` executes ``instruction``."""

    thread: int
    instruction: Instruction


class Done(NamedTuple):
    """What waits in ``queue`` of ``thread`` behind so many others takes effect. ``buffered``: whether it reads a write
    that is in a write-back buffer yet; None where it may or not."""

    thread: int
    queue: Queue
    before: int
    buffered: bool | None = None


Action = Executed | Done


class Waiting(NamedTuple):
    """What waits in a queue of a thread, and if it is done before anything else, whether it reads in a buffer."""

    thread: int
    queue: Queue
    what: object
    buffered: bool | None


def actions_of(found: NormalForm) -> list[Action]:
    """What the threads execute, and what store buffers and adapters do in memory, in the order of the run."""
    order = _Order()
    late: list[tuple[Issued, list[Waiting]]] = []
    for issued in found.commands[:-1]:
        now = {number: access.buffered for number, access in enumerate(issued.accesses) if not access.late}
        late.append((issued, order.execute(issued, range(issued.executed), now)))
    last, closing = found.commands[-1], found.closing
    closed = last.accesses[closing].place + 1
    early = {**dict.fromkeys(range(closing)), closing: False}
    late.append((last._replace(executed=closed), order.execute(last, range(closed), early)))
    for issued, waiting in late:
        order.do(waiting)
        rest = range(issued.executed, len(issued.command.instructions))
        order.execute(issued, rest, dict.fromkeys(range(len(issued.accesses))))
    return order.actions


class _Order:
    """Collects the ``actions`` of a run."""

    def __init__(self) -> None:
        self.actions: list[Action] = []
        self._queues: dict[tuple[int, Queue], list[object]] = defaultdict(list)

    def execute(self, issued: Issued, places: range, now: Mapping[int, bool | None]) -> list[Waiting]:
        """Execute the instructions at ``places``, and do those of their accesses that are done ``now``, each with
        whether it reads in a buffer; the others are left."""
        left: list[Waiting] = []
        for place in places:
            self.actions.append(Executed(issued.thread, issued.command.instructions[place]))
            begun: list[tuple[bool, Waiting]] = []
            for number, access in enumerate(issued.accesses):
                if access.place == place and access.queue[0] != "cpu":
                    what = object()
                    self._queues[issued.thread, access.queue].append(what)
                    begun.append((number in now, Waiting(issued.thread, access.queue, what, now.get(number))))
            self.do([waiting for at_once, waiting in begun if at_once])
            left += [waiting for at_once, waiting in begun if not at_once]
        return left

    def do(self, waiting: Sequence[Waiting]) -> None:
        """Let what waits take effect, in this order."""
        for thread, queue, what, buffered in waiting:
            others = self._queues[thread, queue]
            self.actions.append(Done(thread, queue, others.index(what), buffered))
            others.remove(what)


def run_of(machine: Machine[Any], found: NormalForm) -> Execution | None:
    """A complete run of ``machine``, which must not be reduced, with the actions of ``found``; None if it has none."""
    actions = actions_of(found)
    start = machine.initial, 0
    stack: list[tuple[tuple[State, int], Iterator[_Move]]] = [(start, _moves(machine, start, actions))]
    steps: list[tuple[Step, ...]] = []
    seen = {start}
    while stack:
        stop_point()
        (state, done), moves = stack[-1]
        if done == len(actions) and machine.is_final(state):
            return execution(machine.program, [step for word in steps for step in word], machine.outcome(state))
        move = next((move for move in moves if move[1] not in seen), None)
        if move is None:
            stack.pop()
            if steps:
                steps.pop()
            continue
        seen.add(move[1])
        steps.append(move[0])
        stack.append((move[1], _moves(machine, move[1], actions)))
    return None


_Move = tuple[tuple[Step, ...], tuple[State, int]]


def _moves(machine: Machine[Any], place: tuple[State, int], actions: Sequence[Action]) -> Iterator[_Move]:
    """The transitions that are the next one of ``actions``, then those without which it may be impossible: inside the
    queue pairs of its thread, of which nothing is seen."""
    state, done = place
    following = actions[done] if done < len(actions) else None
    inside: list[_Move] = []
    for word, target in machine.successors(state):
        made = [action for step in word for action in _actions(step)]
        if not made:
            if following is None or any(step.thread == following.thread for step in word):
                inside.append((word, (target, done)))
        elif len(made) <= len(actions) - done and all(map(_fits, made, actions[done:])):
            yield word, (target, done + len(made))
    yield from inside


def _actions(step: Step) -> list[Action]:
    """What a step is in a list of actions: nothing if it is inside a queue pair."""
    if step.instruction is not None:
        return [Executed(step.thread, step.instruction)]
    return [
        Done(step.thread, access.queue, access.before, access.own is not None)
        for access in step.accesses
        if access.location is not None
    ]


def _fits(one: Action, other: Action) -> bool:
    """Whether two actions are the same, but for what is not known."""
    if isinstance(one, Done) and isinstance(other, Done) and None in (one.buffered, other.buffered):
        return one[:3] == other[:3]
    return one == other
