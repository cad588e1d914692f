"""The state-space automaton X(P, N), event by event (the design: section 2; the paper: Table 1).

What takes turns are processes, the threads of the ranks: what is "by rank" below is so for each process, but for
memory, which the processes of a rank have in common.

A `Run` is one computation so far: its history, and the state that the history leads to. Which event may come next is
asked of what has been issued and of which steps have happened, with no queues kept beside them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product

from .conditions import Condition, Conditions, with_tested_adds
from .control import Edge, automaton
from .expressions import Fault, compare, evaluate, wrap
from .operations import READING, STEPS, WRITING, Operation, Place, issued, must_precede, updated
from .polling import Configuration, Polls
from .readings import DEFAULT, Reading
from .syntax import (
    Assert,
    Assign,
    Assume,
    Await,
    AwaitAdd,
    Barrier,
    CompareSwap,
    Exit,
    FailedCompareSwap,
    Fetch,
    FetchAdd,
    FetchUpdate,
    Load,
    Program,
    Put,
    Statement,
    Store,
    Swap,
    TestedAdd,
    UpdateFrom,
    Wait,
    WaitLocal,
)

ATOMIC = FetchAdd | Swap | CompareSwap | Fetch | FetchUpdate | AwaitAdd  # one event that accesses a cell of any rank
UPDATING = frozenset({"fetch_add", "swap", "compare_swap", "fetch_update", "await_add"})
# A popb that updates reads too, but for conflicts that is nothing beside its writing.
READS = READING | UPDATING | {"load", "await", "fetch", "failed_compare_swap", "put"}
WRITES = WRITING | UPDATING | {"store"}


@dataclass(frozen=True, slots=True)
class Event:
    """One event. `operation` counts the issued events of the rank; a step has the number of the command it is of.
    `rank` is the process, `home` its rank."""

    kind: str
    rank: int
    operation: int
    place: Place | None  # the cell it accesses
    line: int = 0
    holds: bool = True  # False for an assert whose condition is false
    commutes: str | None = None  # the operation of an update that commutes with its like
    tests: Condition | None = None  # the condition that an await tests
    turns: frozenset[Condition] = frozenset()  # those on its cell that it turns
    counts: int | None = None  # what an add whose result is only compared adds
    home: int = 0

    @property
    def is_step(self) -> bool:
        return self.kind in STEPS

    @property
    def is_test(self) -> bool:
        return self.tests is not None and self.counts is None

    @property
    def reads(self) -> bool:
        return self.kind in READS

    @property
    def writes(self) -> bool:
        return self.kind in WRITES


@dataclass(frozen=True, slots=True)
class Run:
    control: tuple[int, ...]  # by rank
    registers: tuple[tuple[int, ...], ...]  # by rank
    memory: tuple[tuple[int, ...], ...]  # by rank
    issued: tuple[tuple[Operation, ...], ...]  # by rank, in program order
    done: Mapping[tuple[int, int, str], int]  # (rank, operation, step) that has happened: the value it carried
    history: tuple[Event, ...] = ()
    been: tuple[frozenset[Configuration], ...] = ()  # by rank, where it has been since its last command not quiet

    def pending(self) -> list[tuple[int, int]]:
        """(rank, operation) of every operation with a step still to come, in program order for each rank."""
        return [
            (rank, number)
            for rank, operations in enumerate(self.issued)
            for number, operation in enumerate(operations)
            if operation.chain and (rank, number, operation.chain[-1][0]) not in self.done
        ]


class Machine:
    """A program on `nodes` nodes: its runs, of which those of "wait" have no failed reads."""

    def __init__(self, program: Program, nodes: int | None = None, reading: Reading = DEFAULT) -> None:
        self.reading = reading
        self.nodes = program.nodes if nodes is None else nodes
        self.homes = [rank for rank, _ in program.running(self.nodes)]  # by process
        self.bodies = [body for _, body in program.running(self.nodes)]
        shared = {body: automaton(body) for body in self.bodies}
        self.automata = [shared[body] for body in self.bodies]
        self.apart = reading == Reading(reading.failed_polls)  # whether a compare_swap that fails is another event
        if self.apart:
            self.automata = [[_apart(edges) for edges in table] for table in self.automata]
        elements = [element for cell in program.memory for element in cell.elements]
        self.cell_names = [name for name, _ in elements]
        self.initial_memory = tuple(wrap(value) for _, value in elements)
        self.register_index = {name: index for index, name in enumerate(program.registers)}
        # addresses and queue ids count from 0 in the order of declaration
        self.names = {"nodes": self.nodes} | {queue.name: index for index, queue in enumerate(program.queues)}
        address = 0
        for cell in program.memory:
            self.names[cell.name] = address
            address += len(cell.elements)
        if reading.waits == "condition":
            self.automata = [with_tested_adds(self, process, reading) for process in range(len(self.bodies))]
        self.unordered = {index for index, queue in enumerate(program.queues) if queue.unordered}
        self.conditions = Conditions(self, reading)
        self.polls = (
            Polls(program, self.automata, self.names, self.register_index, self._evaluated, self.homes)
            if reading.failed_polls == "wait"
            else None
        )
        self.failed = self.met = False  # whether a read has failed; whether two updates that commute have met
        self._operands: dict[tuple[int, int, int, tuple[int, ...]], dict[str, int] | Fault] = {}

    def initial(self) -> Run:
        ranks = range(len(self.homes))
        none = tuple(0 for _ in self.register_index)
        polls = self.polls
        been = tuple(frozenset({polls.configuration(rank, 0, none)}) for rank in ranks) if polls else ()
        return Run((0,) * len(ranks), tuple(none for _ in ranks), (self.initial_memory,) * self.nodes,
                   tuple(() for _ in ranks), {}, been=been)  # fmt: skip

    # Commands

    def edges(self, run: Run, rank: int) -> list[Edge]:
        """The commands that may come next in `rank`, enabled or not. None: the rank has ended."""
        return self.automata[rank][run.control[rank]]

    def operands(self, run: Run, rank: int, number: int) -> dict[str, int]:
        """The values of the expressions of the rank's next command `number`; raises Fault (the design: section 3)."""
        key = (rank, run.control[rank], number, run.registers[rank])
        if key not in self._operands:  # only the rank and its registers matter
            try:
                self._operands[key] = self._evaluated(self.edges(run, rank)[number].command, rank, run.registers[rank])
            except Fault as fault:
                self._operands[key] = fault
        found = self._operands[key]
        if isinstance(found, Fault):
            raise found
        return found

    def _evaluated(self, command: Statement, rank: int, registers: tuple[int, ...]) -> dict[str, int]:
        names = self.names | {"me": self.homes[rank]} | dict(zip(self.register_index, registers, strict=True))
        values = {}
        for field in command.exprs:
            if (expr := getattr(command, field)) is None:
                continue
            value = values[field] = evaluate(expr, names)
            if _is_address(command, field) and not 0 <= value < len(self.cell_names):
                raise Fault(f"address {value} outside the memory")
            if field == "rank" and not 0 <= value < self.nodes:
                raise Fault(f"rank {value} outside 0..{self.nodes - 1}")
            if field == "queue" and value < 0:
                raise Fault(f"negative queue {value}")
        return values

    def faults(self, run: Run) -> list[tuple[int, Statement, str]]:
        """Rank, command and text of every next command that cannot be evaluated."""
        found = []
        for rank in range(len(self.homes)):
            for number, edge in enumerate(self.edges(run, rank)):
                try:
                    self.operands(run, rank, number)
                except Fault as fault:
                    found.append((rank, edge.command, str(fault)))
        return found

    def issues(self, run: Run) -> Iterator[Run]:
        """Every run that is `run` and one issued command more; a barrier is N events at once."""
        for rank in range(len(self.homes)):
            for number, edge in enumerate(self.edges(run, rank)):
                if isinstance(edge.command, Barrier):
                    continue
                try:
                    values = self.operands(run, rank, number)
                except Fault:
                    continue  # a faulting command is not enabled
                if self._enabled(run, rank, edge.command, values) and not self.fails(run, rank, edge, values):
                    yield self._issue(run, rank, edge, values)
        yield from self._barriers(run)

    def _barriers(self, run: Run) -> Iterator[Run]:
        """All ranks enter and leave at once, when a barrier of one name may come next in some process of each."""
        ways = [
            [
                (process, edge)
                for process, home in enumerate(self.homes)
                if home == rank
                for edge in self.edges(run, process)
                if isinstance(edge.command, Barrier)
            ]
            for rank in range(self.nodes)
        ]
        for edges in product(*ways):
            if len({edge.command.name for _, edge in edges}) > 1:
                continue
            after = run
            for process, edge in edges:  # N events in rank order
                after = self._issue(after, process, edge, {})
            yield after

    def fails(self, run: Run, rank: int, edge: Edge, values: dict[str, int], value: int | None = None) -> bool:
        """Whether the command of `edge` is a read that fails now, which is no event; if it gave `value`, if any."""
        if self.polls is None or not isinstance(edge.command, Load | Fetch | FailedCompareSwap):
            return False
        place = (values.get("rank", self.homes[rank]), values["address"])
        here = self.polls.configuration(rank, run.control[rank], run.registers[rank])
        value = run.memory[place[0]][place[1]] if value is None else value
        found = self.polls.fails(rank, run.been[rank], here, edge.command, edge.target, place, value)
        self.failed |= found
        return found

    def _enabled(self, run: Run, rank: int, command: Statement, values: dict[str, int]) -> bool:
        """Only assume, wait, wait_local, await, await_add and barrier can be disabled (the design: section 2), and
        exit always is."""
        match command:
            case Exit():
                return False
            case Assume():
                return values["condition"] != 0
            case Await(relop=relop):
                return compare(relop, run.memory[self.homes[rank]][values["address"]], values["value"])
            case TestedAdd():
                return compare(command.relop, run.memory[values["rank"]][values["address"]], command.value)
            case CompareSwap() if self.apart:
                expected = run.memory[values["rank"]][values["address"]] == values["expected"]
                return expected != isinstance(command, FailedCompareSwap)
            case AwaitAdd(relop=relop):
                return compare(relop, run.memory[values["rank"]][values["address"]], values["value"])
            case Wait() | WaitLocal():
                return all(
                    (rank, number, step) in run.done
                    for number, operation in enumerate(run.issued[rank])
                    if operation.chain and operation.queue == values["queue"]
                    for step in (operation.steps if isinstance(command, Wait) else operation.local_steps)
                )
        return True

    def _issue(self, run: Run, rank: int, edge: Edge, values: dict[str, int]) -> Run:
        """The event of issuing the command of `edge`, whose operands have `values`."""
        command, home = edge.command, self.homes[rank]
        place = register = written = captured = None  # the cell accessed; the new values of the register and the cell
        holds = True
        match command:
            case Load():
                place = (values.get("rank", home), values["address"])
                register = run.memory[place[0]][place[1]]
            case Store():
                place = (values.get("rank", home), values["address"])
                written = values["value"]
            case Assign():
                register = values["value"]
            case Assert():
                holds = values["condition"] != 0
            case Await():
                place = (home, values["address"])
            case Put():
                place = (home, values["local"])
                captured = run.memory[home][values["local"]]
            case _ if isinstance(command, ATOMIC):
                place = (values["rank"], values["address"])
                old = run.memory[place[0]][place[1]]
                register = None if isinstance(command, AwaitAdd) else old
                written = None if isinstance(command, Fetch | FailedCompareSwap) else _changed(command, old, values)
        operation = issued(command, home, values, captured)
        tests, counts = None, None
        if isinstance(command, Await):
            tests = self.conditions.tested(rank, command, values["value"])
        elif isinstance(command, Load | Fetch):
            tests = self.conditions.polled(rank, command, lambda value: self.fails(run, rank, edge, values, value))
        elif isinstance(command, TestedAdd):
            tests, counts, register = (command.relop, command.value), values["operand"], None
        turns = self._turned(run, place, written)
        number = len(run.issued[rank])
        event = Event(
            operation.kind, rank, number, place, command.line, holds, home=home, tests=tests, turns=turns, counts=counts
        )  # fmt: skip
        registers, memory = run.registers, run.memory
        if register is not None:
            own = _with(registers[rank], self.register_index[command.register], register)
            registers = _with(registers, rank, own)
        if written is not None:
            memory = _stored(memory, place, written)
        control = _with(run.control, rank, edge.target)
        operations = _with(run.issued, rank, (*run.issued[rank], operation))
        been = run.been
        if self.polls and been:
            after = self.polls.after(rank, been[rank], command, edge.target, registers[rank])
            been = _with(been, rank, after)
        return Run(control, registers, memory, operations, run.done, (*run.history, event), been)

    # Steps

    def may_happen(self, run: Run, rank: int, number: int, step: str) -> bool:
        """Whether `step` of the rank's operation `number` may be the next event (the design: "Completion order")."""
        steps = run.issued[rank][number].steps
        if step not in steps or (rank, number, step) in run.done:
            return False
        if any((rank, number, before) not in run.done for before in steps[: steps.index(step)]):
            return False
        return not any(
            must_precede(run.issued[rank], earlier, before, number, step, operation.queue in self.unordered)
            for earlier, operation in enumerate(run.issued[rank][:number])
            for before in operation.steps
            if (rank, earlier, before) not in run.done
        )

    def steps(self, run: Run) -> Iterator[Run]:
        """Every run that is `run` and one step of a pending operation more."""
        for rank, number in run.pending():
            for step in STEPS:
                if self.may_happen(run, rank, number, step):
                    yield self.step(run, rank, number, step)

    def step(self, run: Run, rank: int, number: int, step: str) -> Run:
        """The step itself. What is noted of it: the value that its cell held."""
        operation = run.issued[rank][number]
        place = dict(operation.chain)[step]
        memory, old = run.memory, run.memory[place[0]][place[1]]
        done = {name: run.done[rank, number, name] for name in STEPS if (rank, number, name) in run.done}
        if step == "popb":
            operand = done["popa"] if operation.value is None else operation.value
            expected = done.get("popd", operation.expected)
            memory = _stored(memory, place, updated(operation.update, old, operand, expected))
        elif step == "popc":
            memory = _stored(memory, place, done["popb"] if "popb" in done else done["popa"])
        commutes = self.reading.commutes(operation, step)
        turns = self._turned(run, place, memory[place[0]][place[1]])
        home = self.homes[rank]
        event = Event(step, rank, number, place, operation.line, commutes=commutes, home=home, turns=turns)
        self.met |= commutes is not None and any(
            (each.place, each.commutes) == (place, commutes) for each in run.history
        )  # fmt: skip
        return replace(
            run, memory=memory, done={**run.done, (rank, number, step): old}, history=(*run.history, event)
        )  # fmt: skip

    def _turned(self, run: Run, place: Place | None, written: int | None) -> frozenset[Condition]:
        """The conditions on `place` that hold before it is `written` and not after, or the other way round."""
        if place is None or written is None:
            return frozenset()
        old = run.memory[place[0]][place[1]]
        conditions = self.conditions.of.get(place, ())
        return frozenset(
            (relop, value)
            for relop, value in conditions
            if compare(relop, old, value) != compare(relop, written, value)
        )

    # Runs

    def successors(self, run: Run) -> Iterator[Run]:
        """Every run that is `run` and one event more (N events more for a barrier)."""
        yield from self.steps(run)
        yield from self.issues(run)

    def sc_successors(self, run: Run) -> Iterator[Run]:
        """As `successors`, for SC runs: every step directly follows its issue (the design: section 6)."""
        for after in self.issues(run):
            yield self.emptied(after)

    def emptied(self, run: Run) -> Run:
        """`run` with its pending steps done in some order: always possible, a step waits for earlier commands only."""
        while run.pending():
            run = next(self.steps(run))
        return run


def _apart(edges: list[Edge]) -> list[Edge]:
    """The edges with each compare_swap as two: one that swaps, and one that fails."""
    found = []
    for edge in edges:
        found.append(edge)
        if isinstance(edge.command, CompareSwap):
            command = edge.command
            values = (command.register, command.rank, command.address, command.expected, command.new)
            found.append(Edge(FailedCompareSwap(*values, line=command.line), edge.target))
    return found


def _is_address(command: Statement, field: str) -> bool:
    """Whether `field` of `command` names a cell; what a compare_swap expects is a value or a cell of the rank's own."""
    return field in ("address", "local", "remote", "result") or (
        field == "expected" and isinstance(command, UpdateFrom)
    )


def _changed(command: Statement, old: int, values: dict[str, int]) -> int:
    """The cell that held `old` after a blocking atomic that updates it."""
    match command:
        case Swap():
            return updated("set", old, values["operand"])
        case CompareSwap():
            return updated("compare_swap", old, values["new"], values["expected"])
        case FetchUpdate(operation=operation):
            return updated(operation, old, values["operand"])
    return updated("add", old, values["operand"])  # fetch_add, await_add


def _stored(memory: tuple[tuple[int, ...], ...], place: Place, value: int) -> tuple[tuple[int, ...], ...]:
    return _with(memory, place[0], _with(memory[place[0]], place[1], value))


def _with(items: tuple, index: int, item: object) -> tuple:
    return (*items[:index], item, *items[index + 1 :])
