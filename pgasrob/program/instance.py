"""A program on N nodes: one specialised control automaton per rank, cells numbered flat, operands evaluated.

Cells of all nodes are numbered ``rank * size + address``, so that a memory is one flat tuple of N * size integers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product

from pgasrob.diagnostics import Diagnostic, SourceError
from pgasrob.program.commands import (
    ATOMIC,
    REMOTE,
    AwaitAdd,
    Command,
    expressions_of,
    map_expressions,
)
from pgasrob.program.control import ControlAutomaton, TooManyWays, Transition, Ways, build
from pgasrob.program.expressions import (
    INT32,
    RELATIONS,
    Evaluator,
    Fault,
    IntType,
    evaluator,
    specialise,
)
from pgasrob.program.program import Process, Program

MAX_NODES = 1024
MAX_CELLS_IN_ALL = 1 << 20
"""Cells of all nodes together: every state of a search holds that many values."""
MAX_WAYS = 1 << 20
"""Ways from one command to the next, those of all ranks together; building their automata takes a few seconds."""

Cell = int
Registers = tuple[int, ...]
Memory = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Operands:
    """A command with its expressions evaluated, which happens once, at issue. Unused fields are None.

    For a load, store, await or atomic ``cell`` is the cell accessed at issue; for a read or write ``source`` and
    ``destination`` are the cells of popa and popb, ``target`` the remote rank; a put reads ``cell`` at issue instead of
    a source later. A deferred atomic may have ``expected`` (popd) and ``result`` (popc). ``values`` holds what the
    command computes with: the value stored or assigned, an atomic's operands (of a deferred one the operand, then
    what it expects), whether an assume or assert holds. An atomic does ``operation`` in ``type``; ``located`` and
    ``everywhere`` are as in the commands.
    """

    kind: str
    cell: Cell | None = None
    source: Cell | None = None
    destination: Cell | None = None
    queue: int | None = None
    target: int | None = None
    register: int | None = None
    values: tuple[int, ...] = ()
    relation: Callable[[int, int], bool] | None = None
    type: IntType = INT32
    operation: str | None = None
    expected: Cell | None = None
    result: Cell | None = None
    located: bool = False
    everywhere: bool = False


Evaluated = Callable[[Registers], Operands]


class Instance:
    """A program on ``nodes`` nodes.

    Attributes: ``automata`` (one control automaton per rank), ``size`` (cells per node), ``memory`` (initial values of
    all cells, flat), ``registers`` (initial register file of one rank), ``kinds`` (of the commands that ranks have),
    ``notifies_everywhere`` (whether some notification comes after writes in every queue), ``signals`` (whether there
    are signals).
    """

    def __init__(self, program: Program, nodes: int, automata: tuple[ControlAutomaton, ...]) -> None:
        self.program = program
        self.nodes = nodes
        self.automata = automata
        self.size = program.cells
        self.memory: Memory = tuple(value for object in program.memory for value in object.initial) * nodes
        self.registers: Registers = (0,) * len(program.registers)
        commands = [transition.command for automaton in automata for transition in automaton.transitions]
        self.kinds = frozenset(command.kind for command in commands)
        self.notifies_everywhere = any(getattr(command, "everywhere", False) for command in commands)
        self.signals = "signal" in self.kinds
        self.unordered = frozenset(queue.id for queue in program.queues if queue.unordered)
        self._evaluators: dict[tuple[int, int], Evaluated] = {}
        self._evaluated: dict[tuple[int, int, Registers], Operands | Fault] = {}

    def operands(self, rank: int, transition: Transition, registers: Registers) -> Operands:
        """The operands of ``transition`` of ``rank`` under ``registers``.

        Raises :class:`Fault` when an expression has no value, or an address, rank or queue is out of range.
        """
        key = (rank, transition.occurrence, registers)
        result = self._evaluated.get(key)
        if result is None:
            evaluate = self._evaluators.get(key[:2])
            if evaluate is None:
                evaluate = self._evaluators[key[:2]] = self._evaluator(rank, transition.command)
            try:
                result = evaluate(registers)
            except Fault as fault:
                result = fault
            self._evaluated[key] = result
        if isinstance(result, Fault):
            raise result
        return result

    def evaluated(self, rank: int, control: int, registers: Registers) -> Iterator[tuple[Transition, Operands]]:
        """The commands that ``rank`` stands before and that have a value, barriers left out: they take all ranks."""
        for transition in self.automata[rank].out[control]:
            if transition.command.kind == "barrier":
                continue
            try:
                yield transition, self.operands(rank, transition, registers)
            except Fault:
                continue

    def barriers(self, control: Sequence[int]) -> Iterator[tuple[Transition, ...]]:
        """For every way in which all ranks can take part in a barrier now, the barrier transition of each."""
        yield from product(
            *(
                [transition for transition in automaton.out[state] if transition.command.kind == "barrier"]
                for automaton, state in zip(self.automata, control, strict=True)
            )
        )

    def owner(self, cell: Cell) -> int:
        """The rank on whose node ``cell`` lies."""
        return cell // self.size

    def index(self, cell: Cell) -> int:
        """The address of ``cell`` on its node."""
        return cell % self.size

    def cell_name(self, cell: Cell) -> str:
        """``x@1``: the name of the cell and the rank whose memory it lies in."""
        return f"{self.program.cell_name(self.index(cell))}@{self.owner(cell)}"

    def is_unordered(self, queue: int) -> bool:
        """Whether ``queue`` is unordered; an id that no header declares is FIFO."""
        return queue in self.unordered

    def _evaluator(self, rank: int, command: Command) -> Evaluated:
        """A function from registers to the operands of ``command`` at ``rank``."""
        kind = command.kind
        run = {name: evaluator(expr) for name, expr in expressions_of(command).items()}
        register = command.register.index if hasattr(command, "register") else None

        if kind in REMOTE:
            return self._remote(rank, command, run)
        if kind in ATOMIC:
            where = self._cell(run["address"], run["rank"])
            order = [name for name in run if name not in ("rank", "address")]
            type = getattr(command, "type", INT32)
            operation = getattr(command, "operation", None)
            relation = RELATIONS[command.relation] if isinstance(command, AwaitAdd) else None
            return lambda registers: Operands(
                kind,
                cell=where(registers),
                register=register,
                values=tuple(run[name](registers) for name in order),
                relation=relation,
                type=type,
                operation=operation,
            )
        if kind in ("load", "store", "await"):
            where = self._cell(run["address"], lambda registers: rank)
            relation = RELATIONS[command.relation] if hasattr(command, "relation") else None
            values = [run["value"]] if "value" in run else []
            return lambda registers: Operands(
                kind,
                cell=where(registers),
                register=register,
                values=tuple(value(registers) for value in values),
                relation=relation,
            )
        if kind in ("assume", "assert"):
            return lambda registers: Operands(kind, values=(run["condition"](registers),))
        if kind == "assign":
            return lambda registers: Operands(kind, register=register, values=(run["value"](registers),))
        queue = self._queue(run["queue"]) if "queue" in run else None
        target = self._rank(run["rank"]) if "rank" in run else None
        return lambda registers: Operands(
            kind,
            queue=queue(registers) if queue else None,
            target=target(registers) if target else None,
        )

    def _remote(self, rank: int, command: Command, run: dict[str, Evaluator]) -> Evaluated:
        """As `_evaluator`, for the commands with steps."""
        kind, operation = command.kind, getattr(command, "operation", None)
        here = {
            name: self._cell(run[name], lambda registers: rank)
            for name in ("local", "expected", "result")
            if name in run and not (name == "expected" and kind == "update")
        }
        there = self._cell(run["remote"], run["rank"])
        values = [run[name] for name in ("value", "expected") if name in run and name not in here]
        target, queue = self._rank(run["rank"]), self._queue(run["queue"])
        type = getattr(command, "type", INT32)
        located, everywhere = getattr(command, "located", False), getattr(command, "everywhere", False)

        def operands(registers: Registers) -> Operands:
            cells = {name: cell(registers) for name, cell in here.items()}
            local, remote = cells.get("local"), there(registers)
            captured = kind == "put"
            fetches = kind == "read" or operation == "fetch"
            return Operands(
                kind,
                cell=local if captured else None,
                source=remote if fetches else None if captured else local,
                destination=local if kind == "read" else None if fetches else remote,
                queue=queue(registers),
                target=target(registers),
                values=tuple(value(registers) for value in values),
                type=type,
                operation=operation,
                expected=cells.get("expected"),
                result=cells.get("result"),
                located=located,
                everywhere=everywhere,
            )

        return operands

    def _rank(self, run: Evaluator) -> Evaluator:
        def checked(registers: Sequence[int]) -> int:
            rank = run(registers)
            if not 0 <= rank < self.nodes:
                raise Fault(f"rank {rank} is outside 0..{self.nodes - 1}")
            return rank

        return checked

    def _queue(self, run: Evaluator) -> Evaluator:
        def checked(registers: Sequence[int]) -> int:
            queue = run(registers)
            if queue < 0:
                raise Fault(f"queue {queue} is negative")
            return queue

        return checked

    def _cell(self, address: Evaluator, rank: Evaluator) -> Evaluator:
        node = self._rank(rank)

        def checked(registers: Sequence[int]) -> int:
            index = address(registers)
            if not 0 <= index < self.size:
                memory = f"the memory has cells 0..{self.size - 1}" if self.size else "the program declares no memory"
                if index < 0 and not self.program.source.shows_commands:
                    raise Fault("a null pointer, an index outside of its object, or what nobody has set is used")
                raise Fault(f"address {index} is outside the memory: {memory}")
            return node(registers) * self.size + index

        return checked


def _specialised(command: Command, rank: int, nodes: int) -> Command:
    return map_expressions(command, lambda expr: specialise(expr, rank, nodes))


def instantiate(program: Program, nodes: int) -> Instance:
    """``program`` on ``nodes`` nodes; see :meth:`Program.instantiate`."""
    if not 1 <= nodes <= MAX_NODES:
        raise _error(
            program, "PG031", f"{nodes} nodes, but a program runs on 1..{MAX_NODES}", "choose another node count"
        )
    cells = nodes * program.cells
    if cells > MAX_CELLS_IN_ALL:
        raise _error(
            program,
            "PG035",
            f"{cells} cells of memory on {nodes} nodes",
            f"all nodes together have at most {MAX_CELLS_IN_ALL} cells; run on fewer nodes, or verify a smaller case",
        )
    by_rank: dict[int, Process] = {}
    others: Process | None = None
    for process in program.processes:
        if process.ranks is None:
            others = process
        else:
            by_rank.update((rank, process) for rank in process.ranks)
    missing = [str(rank) for rank in range(nodes) if rank not in by_rank and others is None]
    if missing:
        raise _error(
            program,
            "PG030",
            f"no process block for rank {', '.join(missing)} of {nodes} nodes",
            "add `process { ... }` for every rank that no other block names, or run on fewer nodes",
        )
    automata = []
    ways = Ways(MAX_WAYS)
    try:
        for rank in range(nodes):
            body = (by_rank.get(rank) or others).body  # type: ignore[union-attr]  # missing ranks are reported above
            automata.append(build(body, partial(_specialised, rank=rank, nodes=nodes), ways))
    except TooManyWays:
        raise _error(
            program,
            "PG036",
            f"more than {MAX_WAYS} ways from one command to the next on {nodes} nodes",
            "verify a smaller case: fewer `choose` in a row, or fewer nodes",
        ) from None
    return Instance(program, nodes, tuple(automata))


def _error(program: Program, code: str, message: str, hint: str) -> SourceError:
    return SourceError([Diagnostic(code, message, program.source.file, hint=hint)])
