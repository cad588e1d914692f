"""Random programs of several queues, and every set of the catalogue's edits by cost: what `repair` is compared with.

Nothing here knows the search: programs are trees of the oracle, edits are made in the tree, and no set is left out
because another has failed.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

from pgasrob.repairs import Costs
from tests.oracle.chances import Chances
from tests.oracle.expressions import Name, op
from tests.oracle.readings import Reading
from tests.oracle.semantics import Machine, Run
from tests.oracle.syntax import (
    Assign,
    Await,
    Barrier,
    Block,
    Cell,
    Choose,
    Fence,
    FetchAdd,
    If,
    Load,
    Loop,
    Notify,
    Process,
    Program,
    Put,
    Queue,
    Read,
    Statement,
    Store,
    Update,
    Wait,
    WaitLocal,
    While,
    Write,
    blocks,
    numbered,
    statements,
)

What = Literal["queue", "fence", "wait_local", "wait", "barrier"]
COSTS: dict[What, str] = {
    "queue": "order", "fence": "order", "wait_local": "local_completion", "wait": "completion", "barrier": "barrier"
}  # fmt: skip
"""What costs how much, by the names of :class:`Costs`; and the order of what is put into one gap."""
MOST_STATES = 5_000
WAITS: tuple[What, ...] = ("fence", "wait_local", "wait")
OPERATIONS = (Write, Put, Read, Update, Notify)


@dataclass(frozen=True, slots=True)
class Edit:
    """A command put into the gap ``place``, or (``what`` is "queue") the operation ``place`` put into ``queue``."""

    what: What
    place: int
    queue: str
    cost: int


@dataclass(frozen=True, slots=True)
class Gap:
    """A place between two statements. ``after``: the operations of its process that stand before it; ``until``: the
    statements of the process that do. ``shared``: all ranks run it."""

    process: int
    loops: int
    after: int
    until: int
    shared: bool


class Edited:
    """``program`` with some edits, its new barrier called ``name``; without any, what they may be."""

    def __init__(self, program: Program, edits: tuple[Edit, ...] = (), name: str = "") -> None:
        self._queues = {each.place: each.queue for each in edits if each.what == "queue"}
        self._inserted: dict[int, list[Statement]] = {}
        for each in sorted(edits, key=lambda each: list(COSTS).index(each.what)):
            if each.what != "queue":
                self._inserted.setdefault(each.place, []).append(_command(each, name))
        self.gaps: list[Gap] = []
        self.operations: list[tuple[str, int]] = []
        processes = []
        for process in program.processes:
            self._shared = not process.ranks and len(program.processes) == 1
            self._process, self._after, self._until = len(processes), 0, 0
            processes.append(replace(process, body=self._block(process.body, 0)))
        self.program = replace(program, processes=tuple(processes))

    def _block(self, block: Block, loops: int) -> Block:
        made = self._gap(loops)
        for statement in block:
            made += [self._statement(statement, loops), *self._gap(loops)]
        return tuple(made)

    def _gap(self, loops: int) -> list[Statement]:
        self.gaps.append(Gap(self._process, loops, self._after, self._until, self._shared))
        return self._inserted.get(len(self.gaps) - 1, [])

    def _statement(self, statement: Statement, loops: int) -> Statement:
        self._until += 1
        match statement:
            case If(then=then, otherwise=otherwise):
                after = None if otherwise is None else self._block(otherwise, loops)
                return replace(statement, then=self._block(then, loops), otherwise=after)
            case While(body=body) | Loop(body=body):
                return replace(statement, body=self._block(body, loops + 1))
            case Choose(branches=branches):
                return replace(statement, branches=tuple(self._block(each, loops) for each in branches))
            case _ if isinstance(statement, OPERATIONS):
                self._after += 1
                queue = statement.queue.name
                self.operations.append((queue, loops))
                return replace(statement, queue=Name(self._queues.get(len(self.operations) - 1, queue)))
        return statement


def _command(edit: Edit, name: str) -> Statement:
    match edit.what:
        case "fence":
            return Fence(edit.queue)
        case "wait_local":
            return WaitLocal(edit.queue)
        case "wait":
            return Wait(edit.queue)
    return Barrier(name)


def catalogue(program: Program, costs: Costs) -> list[Edit]:
    """Every edit: a fence (of an unordered queue; a FIFO queue has no use for one) and waits of each queue that an
    operation uses in every gap, a barrier in every gap of a process that all ranks run, and each operation in each
    queue of another. Left out are waits before the first operation and after the last statement, which do nothing."""
    seen = Edited(program)
    last = {each.process: each.until for each in seen.gaps}
    used = sorted({queue for queue, _ in seen.operations})
    unordered = {each.name for each in program.queues if each.unordered}
    found = []
    for number, gap in enumerate(seen.gaps):
        for what in WAITS:
            found += [
                Edit(what, number, queue, _cost(costs, what, gap.loops))
                for queue in used
                if _may_wait(gap, last) and (what != "fence" or queue in unordered)
            ]
        if gap.shared:
            found.append(Edit("barrier", number, "", _cost(costs, "barrier", gap.loops)))
    for number, (queue, loops) in enumerate(seen.operations):
        found += [Edit("queue", number, each, _cost(costs, "queue", loops)) for each in used if each != queue]
    return found


def _may_wait(gap: Gap, last: dict[int, int]) -> bool:
    return gap.loops > 0 or (gap.after > 0 and gap.until < last[gap.process])


def _cost(costs: Costs, what: What, loops: int) -> int:
    return int(getattr(costs, COSTS[what])) * int(costs.loop**loops)


def sets(edits: list[Edit], costs: range) -> Iterator[tuple[Edit, ...]]:
    """The sets of ``edits`` whose cost is in ``costs``, the cheapest first; with one barrier at most, and with each
    operation in one queue."""
    for cost in costs:
        for size in range(1, cost + 1):
            for several in combinations([each for each in edits if each.cost <= cost - size + 1], size):
                if sum(each.cost for each in several) == cost and _agree(several):
                    yield several


def _agree(several: tuple[Edit, ...]) -> bool:
    moved = [each.place for each in several if each.what == "queue"]
    return len(moved) == len(set(moved)) and sum(each.what == "barrier" for each in several) <= 1


def keeps_outcomes(program: Program, barrier: Edit) -> bool | None:
    """Whether SC runs of ``program`` with ``barrier`` end as without it, with the ranks where they were, and all ranks
    pass it in the same branches and rounds; None where there are too many runs."""
    edited = numbered(Edited(program, (barrier,), "repair").program)
    line = next(
        each.line for body in edited.processes for each in statements(body.body)
        if isinstance(each, Barrier) and each.name == "repair"
    )  # fmt: skip
    around = frozenset(
        each.line for body in edited.processes for each in statements(body.body)
        if isinstance(each, If | While) and line in {inner.line for part in blocks(each) for inner in statements(part)}
    )  # fmt: skip
    before, after = _ends(numbered(program), frozenset(), 0), _ends(edited, around, line)
    if before is None or after is None:
        return None
    alike = all(len(set(each.ways)) == 1 for each in after)
    return alike and {each.seen for each in before} == {each.seen for each in after}


@dataclass(frozen=True, slots=True)
class _End:
    """What is ``seen`` of the end of an SC run; ``ways``: for each rank what it has passed of tests and barriers."""

    seen: object
    ways: tuple[tuple[object, ...], ...]


def _ends(program: Program, around: frozenset[int], barrier: int) -> set[_End] | None:
    """The ends of the SC runs, with the ways past the tests in the lines ``around`` and the ``barrier`` in its line,
    which is left out of the numbers of lines."""
    machine = Machine(program, None, Reading("count", "all"))
    start = machine.initial(), ((),) * machine.nodes
    seen, stack, found = {_key(*start)}, [start], set()
    while stack:
        run, ways = stack.pop()
        if len(seen) > MOST_STATES:
            return None
        ended = True
        for after in machine.sc_successors(run):
            ended = False
            passed = list(ways)
            for event in after.history[len(run.history) :]:
                if event.line in around or (event.line == barrier and event.kind == "barrier"):
                    passed[event.rank] = (*passed[event.rank], (event.line, after.control[event.rank]))
            following = after, tuple(passed)
            if _key(*following) not in seen:
                seen.add(_key(*following))
                stack.append(following)
        if ended:
            stand = tuple(
                frozenset(
                    "new" if each.command.line == barrier else each.command.line - (each.command.line > barrier > 0)
                    for each in machine.edges(run, rank)
                )
                for rank in range(machine.nodes)
            )
            found.add(_End((stand, run.registers, run.memory), ways))
    return found


def _key(run: Run, ways: tuple[tuple[object, ...], ...]) -> object:
    return run.control, run.registers, run.memory, ways


class Programs(Chances):
    """Two ranks, two or three queues, up to four operations: sources that are written again, gets, flags, waits that
    are for another queue or too late; now and then a loop, or an `await` that ends in a deadlock."""

    def __init__(self, seed: int) -> None:
        super().__init__(random.Random(seed).randrange)
        names = "qpu"[: self.pick((2, 3), (4, 1))]
        self.queues = tuple(Queue(name, self.chance(2, 5)) for name in names)
        self.shared = self.chance(1, 3)
        self.loops = False

    def program(self) -> Program:
        memory = (Cell("x", None, (1,)), Cell("y"), Cell("z", None, (2,)), Cell("w"))
        processes = (
            [Process(self.body(4))] if self.shared else [Process(self.body(3), (0,)), Process(self.body(1), (1,))]
        )
        return Program(tuple(processes), 2, memory, ("r", "s"), self.queues)

    def costs(self) -> Costs:
        """The default ones, or such that barriers are cheap, or all different."""
        return self.pick(
            (Costs(), Costs(barrier=1, completion=5), Costs(2, 3, 4, barrier=3), Costs(3, 4, 5)), (4, 2, 1, 1)
        )

    def body(self, operations: int) -> Block:
        body: list[Statement] = []
        left = operations if operations < 2 else 2 + self.below(operations - 1)
        if operations == 1:
            left = self.below(2)
            body += [self.access() for _ in range(1 + self.below(2))]
        while left:
            some = [self.operation() for _ in range(min(left, 1 + self.below(2)))]
            left -= len(some)
            some += [self.between()] if self.chance(2, 5) else []
            body += self.around(some)
        if self.chance(1, 3):
            body += self.around([self.access()]) if self.shared else [self.access()]
        if self.shared and self.chance(1, 3):
            body.insert(1 + self.below(len(body)), Barrier())
        if self.chance(1, 10):
            body.append(Await("w", "==", 7))
        return tuple(body)

    def around(self, some: list[Statement]) -> list[Statement]:
        """``some``, now and then in a loop of as many rounds for every rank, or not, or in a branch."""
        if self.shared and self.chance(2, 5):
            how = self.pick((op("==", "me", 0), op("==", "me", 1), op("<", "me", 2)), (2, 2, 1))
            some = [If(how, tuple(some), (self.access(),) if self.chance(1, 4) else None)]
        if self.chance(1, 8) and not self.loops:
            self.loops = True
            rounds = self.pick((2, op("+", "me", 1)), (3, 1)) if self.shared else 2
            return [Assign("s", 0), While(op("<", "s", rounds), (*some, Assign("s", op("+", "s", 1))))]
        return some

    def there(self) -> object:
        return op("%", op("+", "me", 1), "nodes") if self.chance(5, 6) else 0

    def cell(self) -> str:
        return self.pick(("x", "y", "z", "w"), (4, 4, 2, 1))

    def queue(self) -> str:
        return self.pick([each.name for each in self.queues])

    def operation(self) -> Statement:
        here, there, queue = self.cell(), self.there(), self.queue()
        ways: tuple[tuple[Statement, int], ...] = (
            (Write(here, there, self.cell(), queue), 6),
            (Read(here, there, self.cell(), queue), 4),
            (Put(here, there, self.cell(), queue), 2),
            (Update("add", 1, there, here, queue), 1),
            (Update("add", 1, there, here, queue, self.cell()), 1),
            (Notify("add", 1, there, here, queue), 1),
        )  # type: ignore[arg-type]
        return self.pick([way for way, _ in ways], [weight for _, weight in ways])

    def between(self) -> Statement:
        ways = (
            (WaitLocal(self.queue()), 1), (Wait(self.queue()), 1), (Fence(self.queue()), 1), (self.access(), 3),
        )  # fmt: skip
        return self.pick([way for way, _ in ways], [weight for _, weight in ways])

    def access(self) -> Statement:
        ways = (
            (Load("r", self.cell()), 4), (Store(self.cell(), 3), 3), (FetchAdd("r", self.there(), self.cell(), 1), 1),
        )  # fmt: skip
        return self.pick([way for way, _ in ways], [weight for _, weight in ways])


def random_program(seed: int) -> tuple[Program, Costs]:
    """The program of ``seed`` and costs for it, always the same."""
    drawn = Programs(seed)
    return drawn.program(), drawn.costs()
