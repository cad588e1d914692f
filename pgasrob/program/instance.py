"""A program on N nodes: one specialised control automaton per process, cells numbered flat, operands evaluated.

A process is a thread of a rank, and most ranks have one: process p < N is thread 0 of rank p, and the further threads
follow, by thread and then by rank (`proofs/threads.md`). Cells of all nodes are numbered ``rank * size + address``, so
that a memory is one flat tuple of N * size integers. Where a process is meant and ranks have one thread, the package
says "rank" for short.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import product
from typing import Any, NamedTuple, TypeVar, assert_never

from pgasrob.diagnostics import Diagnostic, SourceError
from pgasrob.diagnostics.wrong import Wrong
from pgasrob.program import core
from pgasrob.program.commands import Await, Command, CompareSwap, FetchAdd, expressions_of, map_expressions
from pgasrob.program.control import Builder, ControlAutomaton, TooManyWays, Transition, Ways, build
from pgasrob.program.core import Cell, Form, Operands, Place
from pgasrob.program.declarations import Declared, MemoryObject, Process
from pgasrob.program.expressions import (
    Const,
    Evaluator,
    Expr,
    Fault,
    constant,
    depends_on_rank,
    evaluator,
    is_growing,
    rewritten,
    specialise,
)
from pgasrob.program.illegal_calls import Claim, IllegalCall, OpenAssertion
from pgasrob.program.reading import DEFAULT_READING, Reading

MAX_NODES = 4096
MAX_CELLS_IN_ALL = 1 << 20
"""Cells of all nodes together: every state of a search holds that many values."""
MAX_WAYS = 1 << 20
"""Ways from one command to the next, those of all ranks together; building their automata takes a few seconds."""

Registers = tuple[int, ...]
Memory = tuple[int, ...]


Evaluated = Callable[[Registers], Operands]
T = TypeVar("T")
Arrival = tuple[int, Transition]
"""A process and the command by which it passes a barrier."""


class _NoValue(NamedTuple):
    """What makes a command one that cannot be evaluated."""

    why: str
    code: str


class Instance:
    """A program on ``nodes`` nodes.

    Attributes: ``reading``, ``automata`` (one control automaton per process, with the commands as they are read),
    ``commands`` (how many there are in all of them), ``home`` (the rank of each process), ``has_threads`` (whether
    some rank has several), ``size`` (cells per node), ``memory`` (initial values of all cells, flat), ``registers``
    (initial register file of one process), ``notifies_everywhere`` (whether some notification comes after writes in
    every queue), ``signals`` (whether there are signals), ``accessed`` (of a recorded run the cells whose first
    values are known, as it accesses them; of a program None), ``analyses`` (what analyses have found out about it,
    see `analysis.remembered`).
    """

    def __init__(
        self,
        program: Declared,
        nodes: int,
        automata: tuple[ControlAutomaton, ...],
        reading: Reading = DEFAULT_READING,
        home: tuple[int, ...] = (),
    ) -> None:
        """``home``: where some rank has several threads; else the processes are the ranks."""
        self.program = program
        self.nodes = nodes
        self.reading = reading
        self.automata = automata
        self.home = home or tuple(range(nodes))
        self.has_threads = len(self.home) > nodes
        if len(automata) != len(self.home):
            raise ValueError(f"{len(automata)} automata of {len(self.home)} processes")
        self.size = program.cells
        self.memory: Memory = tuple(value for object in program.memory for value in object.initial) * nodes
        self.accessed: frozenset[Cell] | None = None
        self.registers: Registers = (0,) * len(program.registers)
        transfers = [form for form in self.forms if isinstance(form, core.Transfer)]
        self.notifies_everywhere = any(transfer.everywhere for transfer in transfers)
        self.signals = any(step.after_bundle for transfer in transfers for step in transfer.steps)
        self.unordered = frozenset(queue.id for queue in program.queues if queue.unordered)
        self.commands = sum(len(leaving) for automaton in automata for leaving in automaton.out)
        self.analyses: dict[str, Any] = {}
        self._evaluators: dict[tuple[int, int, int], Evaluated] = {}
        self._evaluated: dict[tuple[int, int, int, Registers], Operands | _NoValue] = {}

    @cached_property
    def named_blocks(self) -> dict[tuple[int | None, int], Process]:
        """The blocks by the ranks that they are for, None those for all others, and the thread."""
        blocks: dict[tuple[int | None, int], Process] = {}
        for each in self.program.processes:
            for rank in (None,) if each.ranks is None else each.ranks:
                blocks.setdefault((rank, each.thread), each)
        return blocks

    @property
    def processes(self) -> int:
        """How many processes there are: the threads of all ranks."""
        return len(self.home)

    def thread(self, process: int) -> int | None:
        """Which thread of its rank ``process`` is; None where that has no other."""
        if not self.has_threads or self.home.count(self.home[process]) == 1:
            return None
        return self.home[:process].count(self.home[process])

    def process_name(self, process: int) -> str:
        """``1``, the rank, or ``1.2``, its thread 2, where that has several."""
        thread = self.thread(process)
        return str(self.home[process]) if thread is None else f"{self.home[process]}.{thread}"

    def process_named(self, name: str) -> int:
        """The process of this :meth:`process_name`."""
        return next(process for process in range(self.processes) if self.process_name(process) == name)

    def with_automata(self, automata: tuple[ControlAutomaton, ...], program: Declared | None = None) -> Instance:
        """The same with other ``automata`` of its processes, and other declarations if a ``program`` is given."""
        return Instance(program or self.program, self.nodes, automata, self.reading, self.home)

    @property
    def forms(self) -> Iterator[Form]:
        """The commands of all processes."""
        return (transition.form for automaton in self.automata for transition in automaton.transitions)

    @cached_property
    def communicates(self) -> bool:
        """Whether some process has a command that may access memory which another one may access too."""
        return self.has_threads or any(
            made.cell.rank is not None for form in self.forms for made in core.accesses_of(form)
        )

    @cached_property
    def polls(self) -> bool:
        """Whether some read is a poll, which is no event when it fails."""
        return any(isinstance(form, core.Immediate) and form.until is not None for form in self.forms)

    @cached_property
    def tests(self) -> bool:
        """Whether some await, poll or fetch is read by condition."""
        return any(isinstance(form, core.Immediate) and form.access.tests for form in self.forms)

    @cached_property
    def update_kinds(self) -> tuple[str, ...]:
        """The kinds of updates that commute with their own, in alphabetical order."""
        kinds = {made.commutes for form in self.forms for made in core.accesses_of(form)}
        return tuple(sorted(kinds - {""}))

    @property
    def has_assertions(self) -> bool:
        """Whether the program has assertions of its own."""
        return None in self._claims or bool(self.open_assertions)

    @property
    def illegal_calls(self) -> tuple[IllegalCall, ...]:
        """The calls in the program that are not allowed if some run comes to them."""
        return tuple(claim for claim in self._claims if isinstance(claim, IllegalCall))

    @property
    def open_assertions(self) -> tuple[OpenAssertion, ...]:
        """The assertions of which it is not known whether they fail where some run says so."""
        return tuple(claim for claim in self._claims if isinstance(claim, OpenAssertion))

    @property
    def has_claims(self) -> bool:
        """Whether the program has assertions, of its own or that calls are allowed."""
        return bool(self._claims)

    @cached_property
    def _claims(self) -> dict[Claim, None]:
        asserts = (form for form in self.forms if isinstance(form, core.Test) and not form.blocks)
        return dict.fromkeys(form.claim for form in asserts)

    @cached_property
    def has_loops(self) -> bool:
        """Whether some rank may come back to a control state."""
        return any(any(automaton.goes_round) for automaton in self.automata)

    @cached_property
    def endless(self) -> tuple[tuple[bool, ...], ...]:
        """For each rank and control state whether the rank may come back to it without an end."""
        from pgasrob.program.rounds import endless

        return tuple(map(endless, self.automata))

    @cached_property
    def can_wait(self) -> bool:
        """Whether some rank may be stuck in an SC run: at a barrier, before the value of a cell, or in a loop."""
        return any(map(any, self.endless)) or any(
            isinstance(form, core.Barrier) or (isinstance(form, core.Immediate) and form.condition is not None)
            for form in self.forms
        )

    def operands(self, rank: int, transition: Transition, registers: Registers) -> Operands:
        """The operands of ``transition`` of ``rank`` under ``registers``.

        Raises :class:`Fault` when an expression has no value, or an address, rank or queue is out of range.
        """
        key = (rank, transition.occurrence, transition.variant, registers)
        result = self._evaluated.get(key)
        if result is None:
            evaluate = self._evaluators.get(key[:3])
            if evaluate is None:
                evaluate = self._evaluators[key[:3]] = self._evaluator(rank, transition.form)
            try:
                result = evaluate(registers)
            except Fault as fault:
                # The exception itself would keep the frames that it has come through.
                result = _NoValue(str(fault), fault.code)
            self._evaluated[key] = result
        if isinstance(result, _NoValue):
            raise Fault(result.why, result.code)
        return result

    def evaluated(self, rank: int, control: int, registers: Registers) -> Iterator[tuple[Transition, Operands]]:
        """The next commands of ``rank`` at ``control`` with their operands, without barriers and commands that
        fault."""
        for transition in self.automata[rank].out[control]:
            if isinstance(transition.form, core.Barrier):
                continue
            try:
                yield transition, self.operands(rank, transition, registers)
            except Fault:
                continue

    def barriers(self, control: Sequence[int]) -> Iterator[tuple[Arrival, ...]]:
        """Every combination of processes with transitions, one of each rank, by which all ranks pass a barrier now."""
        arrivals = [
            # Searches have a further control state for ranks that have ended for good.
            [
                (each.form.name, (process, each))
                for each in (automaton.out[state] if state < len(automaton.out) else ())
                if isinstance(each.form, core.Barrier)
            ]
            for process, (automaton, state) in enumerate(zip(self.automata, control, strict=True))
        ]
        return barriers_of(self.by_rank(arrivals))

    def by_rank(self, found: Sequence[Sequence[T]]) -> Sequence[Sequence[T]]:
        """For each rank what is ``found`` for its processes, in a row."""
        if not self.has_threads:
            return found
        of_rank: list[list[T]] = [[] for _ in range(self.nodes)]
        for rank, items in zip(self.home, found, strict=True):
            of_rank[rank] += items
        return of_rank

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

    def _evaluator(self, rank: int, form: Form) -> Evaluated:
        """A function from registers to the operands of ``form`` at ``rank``."""
        match form:
            case core.Assign(assigned, value):
                run = evaluator(value)
                return lambda registers: core.Assign(assigned, run(registers))
            case core.Test(condition, blocks, ends, claim):
                holds = evaluator(condition)
                return lambda registers: core.Test(holds(registers), blocks, ends, claim)
            case core.Immediate(access, condition, update, register, until):
                cell, compared, updated = self._access(rank, access), _comparison(condition), _update(update)
                return lambda registers: core.Immediate(
                    cell(registers), compared(registers), updated(registers), register, until
                )
            case core.Transfer():
                return self._transfer(rank, form)
            case core.Wait(queue, local):
                waited = self._queue(evaluator(queue))
                return lambda registers: core.Wait(waited(registers), local)
            case core.Fence(queue, to):
                fenced = self._queue(evaluator(queue))
                target = None if to is None else self._rank(evaluator(to))
                return lambda registers: core.Fence(fenced(registers), None if target is None else target(registers))
            case core.Bundle() | core.Barrier():
                return lambda registers: form
            case _:
                assert_never(form)

    def _transfer(self, rank: int, form: core.Transfer[Place, Expr]) -> Evaluated:
        captured = None if form.captured is None else self._access(rank, form.captured)
        accesses = [self._access(rank, step.access) for step in form.steps]
        target, queue = self._rank(evaluator(form.rank)), self._queue(evaluator(form.queue))
        update = _update(form.update)

        def operands(registers: Registers) -> Operands:
            read = None if captured is None else captured(registers)
            steps = tuple(
                core.Step(
                    step.kind, access(registers), step.stage, step.local, step.fenced, step.after_writes,
                    step.after_bundle, step.located,
                )
                for step, access in zip(form.steps, accesses, strict=True)
            )  # fmt: skip
            return core.Transfer(target(registers), queue(registers), steps, read, update(registers), form.everywhere)

        return operands

    def _access(self, rank: int, access: core.Access[Place]) -> Callable[[Registers], core.Access[Cell]]:
        place = access.cell
        home = self.home[rank]
        at = (lambda registers: home) if place.rank is None else evaluator(place.rank)
        cell = self._cell(evaluator(place.address), at)
        return lambda registers: access.at(cell(registers))

    # An operand out of range faults (the design, section 3).

    # The instance keeps these functions: one that refers to it would be a cycle, which only a collection ends.

    def _rank(self, run: Evaluator) -> Evaluator:
        nodes = self.nodes

        def checked(registers: Sequence[int]) -> int:
            rank = run(registers)
            if not 0 <= rank < nodes:
                raise Fault(f"rank {rank} is outside 0..{nodes - 1}", Wrong.RANK)
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
        node, size, faults = self._rank(rank), self.size, self.program.faults

        def checked(registers: Sequence[int]) -> int:
            index = address(registers)
            if not 0 <= index < size:
                memory = f"the memory has cells 0..{size - 1}" if size else "the program declares no memory"
                if index < 0 and -index <= len(faults):
                    raise Fault(*faults[-1 - index])
                raise Fault(f"address {index} is outside the memory: {memory}", Wrong.BOUNDS)
            return node(registers) * size + index

        return checked


def _comparison(condition: core.Comparison[Expr] | None) -> Callable[[Registers], core.Comparison[int] | None]:
    if condition is None:
        return lambda registers: None
    relation, value = condition.relation, evaluator(condition.value)
    return lambda registers: core.Comparison(relation, value(registers))


def _update(update: core.Update[Expr] | None) -> Callable[[Registers], core.Update[int] | None]:
    if update is None:
        return lambda registers: None
    operation, type = update.operation, update.type
    operand, expected = (None if expr is None else evaluator(expr) for expr in (update.operand, update.expected))
    return lambda registers: core.Update(
        operation,
        None if operand is None else operand(registers),
        None if expected is None else expected(registers),
        type,
    )


class _Specialiser:
    """Partially evaluates commands for a rank. A command without ``me`` is evaluated once for all ranks."""

    def __init__(self, nodes: int, first: Mapping[int, int]) -> None:
        """``first``: where memory begins that grows with the number of nodes (`Growing.address`)."""
        self._nodes, self._first = nodes, first
        self._for_all: dict[int, Command | None] = {}  # by identity: the commands are those of the program

    def __call__(self, command: Command, rank: int) -> Command:
        found = self._for_all.get(id(command))
        if found is None:
            found = map_expressions(command, lambda expr: specialise(self._placed(expr), rank, self._nodes))
            if id(command) not in self._for_all:
                differs = any(map(depends_on_rank, expressions_of(command).values()))
                self._for_all[id(command)] = None if differs else found
        return found

    def _placed(self, expr: Expr) -> Expr:
        def placed(part: Expr) -> Expr | None:
            return replace(part, value=self._first[part.value]) if is_growing(part) else None

        return rewritten(expr, placed) if self._first else expr


def barriers_of(arrivals: Sequence[Sequence[tuple[str, T]]]) -> Iterator[tuple[T, ...]]:
    """Every combination by which all ranks pass one barrier: for each rank one of its ``arrivals`` with the same name.

    ``arrivals``: for each rank the next commands of its threads that are barriers, as pairs of name and command.
    """
    for name in dict.fromkeys(name for name, _ in arrivals[0]):
        yield from product(*([command for each, command in own if each == name] for own in arrivals))


def instantiate(program: Declared, nodes: int, reading: Reading = DEFAULT_READING) -> Instance:
    """``program`` on ``nodes`` nodes, as ``reading`` says; see :meth:`Program.instantiate`."""
    if not 1 <= nodes <= MAX_NODES:
        code = "PG031" if nodes < 1 else "PG039"
        raise _error(program, code, f"{nodes} nodes, but a program runs on 1..{MAX_NODES}", "choose another node count")
    program, first = _sized(program, nodes)
    cells = nodes * program.cells
    if cells > MAX_CELLS_IN_ALL:
        raise _error(
            program,
            "PG035",
            f"{cells} cells of memory on {nodes} nodes",
            f"all nodes together have at most {MAX_CELLS_IN_ALL} cells; run on fewer nodes, or verify a smaller case",
        )
    running = _running(program, nodes)
    automata = []
    ways, specialised = Ways(MAX_WAYS), _Specialiser(nodes, first)
    builders: dict[int, Builder] = {}  # by block
    try:
        for rank, own in running:
            builder = builders.get(id(own))
            if builder is None:
                builder = builders[id(own)] = Builder(own.body, ways)
            automata.append(builder.build(partial(specialised, rank=rank)))
    except TooManyWays:
        raise _error(
            program,
            "PG036",
            f"more than {MAX_WAYS} ways from one command to the next on {nodes} nodes",
            "verify a smaller case: fewer `choose` in a row, or fewer nodes",
        ) from None
    home = tuple(rank for rank, _ in running)
    return Instance(program, nodes, tuple(_as_read(program, automata, reading, home)), reading, home)


def _running(program: Declared, nodes: int) -> list[tuple[int, Process]]:
    """The processes on so many nodes, in order: the rank of each, and the block that it runs."""
    named = {(process.thread, rank): process for process in program.processes for rank in process.ranks or ()}
    others = {process.thread: process for process in program.processes if process.ranks is None}
    found: list[tuple[int, Process]] = []
    before: Sequence[int] = range(nodes)
    for thread in range(max(process.thread for process in program.processes) + 1):
        blocks = {rank: named.get((thread, rank)) or others.get(thread) for rank in range(nodes)}
        have = [rank for rank, own in blocks.items() if own is not None]
        if thread == 0 and (missing := [str(rank) for rank in range(nodes) if rank not in have]):
            raise _error(
                program,
                "PG030",
                f"no process block for rank {', '.join(missing)} of {nodes} nodes",
                "add `process { ... }` for every rank that no other block names, or run on fewer nodes",
            )
        if beyond := [rank for rank in have if rank not in before]:
            raise _error(
                program,
                "PG037",
                f"rank {beyond[0]} has a thread {thread}, but no thread {thread - 1}",
                "number the threads of each rank from 0 on",
            )
        found += ((rank, own) for rank, own in blocks.items() if own is not None)
        before = have
    if len(found) > MAX_NODES:
        raise _error(
            program, "PG039", f"{len(found)} threads of all ranks, and {MAX_NODES} are the most", "run on fewer nodes"
        )
    return found


def _sized(program: Declared, nodes: int) -> tuple[Declared, dict[int, int]]:
    """``program`` with memory for this number of nodes, and by growing objects' symbols where each begins."""
    memory, first = list(program.memory), dict[int, int]()
    for each in program.growing:
        size = each.cells(nodes)
        begin = first[each.address] = sum(before.cells for before in memory)
        flags = each.made_up, each.given_back
        memory.append(MemoryObject(each.name, begin, size, (0,) * size, each.span, *flags))
    return (replace(program, memory=tuple(memory), growing=()), first) if first else (program, first)


def automata_of_blocks(
    program: Declared, reading: Reading, ways: Ways | None = None
) -> dict[int | None, ControlAutomaton]:
    """Control automata for any number of nodes, with ``me`` and ``nodes`` left in the commands: one by each rank with a
    block of its own, and for None that of all others. Polls are left as written.

    Raises :class:`TooManyWays` when there are not enough ``ways``, :class:`SourceError` for threads.
    """
    refuse_threads(program, "an answer for every number of nodes")
    built = [(process.ranks or (None,), build(process.body, ways=ways)) for process in program.processes]
    if reading.conflicts == "all":
        built = [(ranks, automaton.with_forms(core.all_in_conflict)) for ranks, automaton in built]
    return {rank: automaton for ranks, automaton in built for rank in ranks}


def _as_read(
    program: Declared, automata: Sequence[ControlAutomaton], reading: Reading, home: Sequence[int]
) -> list[ControlAutomaton]:
    """The ``automata`` of all processes, which are at ``home`` there, with their commands as ``reading`` has them."""
    found = [_with_conflicts(each, reading) for each in automata]
    if reading.failed_polls == "wait" and any(map(_reads_again, found)):
        # Recognising polls takes as much code as all that a program means beside: a checker of certificates has to
        # trust it only where there may be some.
        from pgasrob.program.polls import with_polls
        from pgasrob.program.raised_flags import Flags

        # What is a flag follows from which accesses are those of its own rank, and threads of that are others
        # nevertheless.
        flags = None if program.has_threads else Flags(program, automata)
        every, nodes = zip(found, home, strict=True), Const(max(home) + 1)
        found = [with_polls(each, Const(rank), program, nodes, flags) for each, rank in every]
    if reading.waits == "condition" and any(map(_may_test, found)):
        from pgasrob.program.conditional_waits import with_conditional_waits

        found = with_conditional_waits(found, program, max(home) + 1)
    return found


def _with_conflicts(automaton: ControlAutomaton, reading: Reading) -> ControlAutomaton:
    """The ``automaton`` with the conflicts of updates and compare_swaps as ``reading`` has them."""
    if reading.conflicts == "all":
        return automaton.with_forms(core.all_in_conflict)
    swaps = any(isinstance(edge.command, CompareSwap) for edge in automaton.transitions)
    if reading.waits == "value" or not swaps:
        return automaton
    from pgasrob.program.failing_swaps import with_failing_swaps

    return with_failing_swaps(automaton)


def _may_test(automaton: ControlAutomaton) -> bool:
    return any(
        isinstance(edge.command, Await | FetchAdd) or (isinstance(edge.form, core.Immediate) and edge.form.until)
        for edge in automaton.transitions
    )


def _reads_again(automaton: ControlAutomaton) -> bool:
    """Whether the rank may access a cell after it has read it, which each way of recognising polls asks for."""
    read, accessed = set[Expr](), dict[int, Expr]()
    for leaving, goes_round in zip(automaton.out, automaton.goes_round, strict=True):
        for edge in leaving:
            if isinstance(edge.form, core.Immediate):
                address = accessed[edge.occurrence] = edge.form.access.cell.address
                if edge.form.register is not None and edge.form.update is None:
                    if goes_round:
                        return True
                    read.add(address)
    known = Counter(accessed.values())
    if any(constant(address) is None for address in known):
        return bool(read) and known.total() > 1
    return any(known[address] > 1 for address in read)


def block_of(instance: Instance, process: int) -> Process:
    """The block that ``process`` runs."""
    thread, named = instance.thread(process) or 0, instance.named_blocks
    return named.get((instance.home[process], thread)) or named[None, thread]


def refuse_threads(program: Declared, what: str) -> None:
    """Raises :class:`SourceError` where ranks may have several threads: ``what`` is asked for does not know these."""
    if program.has_threads:
        hint = "ask for it without threads, or check the program by `pgasrob check` on a number of nodes"
        raise _error(program, "PG038", f"{what}: ranks with several threads are not read for it yet", hint)


def without_threads(instance: Instance, what: str) -> Instance:
    """``instance``, whose ranks have one thread each. Raises :class:`SourceError` where they may have several, which
    ``what`` is asked for does not know."""
    refuse_threads(instance.program, what)
    return instance


def _error(program: Declared, code: str, message: str, hint: str) -> SourceError:
    return SourceError([Diagnostic(code, message, program.source.file, hint=hint)])
