"""The JSON object of one run: events, happens-before, memory before it, where ranks stand after it.

Every picture is drawn from this object alone, so it holds the source text and what each event read and wrote.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NotRequired, TypedDict, TypeVar, cast

from pgasrob.program.commands import Barrier, show
from pgasrob.program.core import Cell, at_issue
from pgasrob.program.expressions import Fault as NoValue
from pgasrob.program.unknown_value import UNKNOWN
from pgasrob.render.diagnosis_text import Diagnosis
from pgasrob.render.double_values import shown, value
from pgasrob.render.process_numbers import ThreadOf, numbered, numbers_of, threads_of
from pgasrob.render.source_commands import Calls, WrittenCommands, gives_status, pieces
from pgasrob.robustness.late_operations import late_operations
from pgasrob.semantics.happens_before import Edge as CycleEdge
from pgasrob.semantics.happens_before import HappensBefore

if TYPE_CHECKING:
    from pgasrob.program.control import Transition
    from pgasrob.program.instance import Instance
    from pgasrob.robustness import verdict as library
    from pgasrob.semantics.endings import Ending
    from pgasrob.semantics.replay import Change as CellChange
    from pgasrob.semantics.replay import ReplayedEvent, Run
    from pgasrob.semantics.sc_order import SequentialOrder


T = TypeVar("T")


class Address(TypedDict):
    """A cell: the rank on whose node it lies, its address there and its name (``x`` or ``a[2]``).

    ``made_up``: it stands for something within a library.
    """

    rank: int
    index: int
    name: str
    made_up: NotRequired[bool]


class InitialCell(Address):
    value: int


class Written(TypedDict):
    """A cell (``y@1``) before and after an event; both values are equal when a write changes nothing."""

    cell: str
    before: int
    after: int


class RegisterChange(TypedDict):
    """``temporary``: the register is no variable of the source. ``variable``: what it is called there, if not so."""

    name: str
    temporary: NotRequired[bool]
    variable: NotRequired[str]
    before: int
    after: int


class Queue(TypedDict):
    id: int
    name: str
    unordered: bool


class Event(TypedDict):
    """An event and what it did.

    ``command`` is its command or, for a step, that of its operation: as written, with `me` and `nodes` folded into the
    numbers. ``target`` is the remote rank of an operation and of its steps, or the rank of a fence; ``holds`` is for
    an assert. ``part`` (from 1) and ``marks`` ("enter", "leave") are null when the engine knows no normal form.
    Of a C program alone: ``call`` is the call that it comes from, null for what the program does by itself, and
    ``piece`` is one number for all that its rank does in one execution of a call, assignment or condition. ``truth``
    is there for a condition without a call.

    ``access`` is there where the event is one of two accesses that race, after their run: what it would do.
    """

    event: str
    rank: int
    operation: int
    address: Address | None
    line: int
    column: int
    end_line: int
    end_column: int
    command: str
    read: int | None
    written: Written | None
    register: RegisterChange | None
    queue: Queue | None
    target: int | None
    holds: bool | None
    part: int | None
    marks: list[str] | None
    call: NotRequired[str | None]
    piece: NotRequired[int]
    truth: NotRequired[bool]
    access: NotRequired[Literal["read", "write", "read and write"]]


Edge = TypedDict("Edge", {"from": int, "to": int, "relation": str})
"""An edge of happens-before between two places of the computation: "po", "cf" or "id"; where two accesses race, a
picture has "race" between them."""


class Sequential(TypedDict):
    """An SC run with the happens-before relation of a computation, without its last command e where that has a cycle.

    ``places[i]`` is the place in the computation of ``events[i]``, which says what it reads and writes in the SC run.
    ``without`` has the places of the events of e.
    """

    without: list[int]
    places: list[int]
    events: list[Event]


class LateOperation(TypedDict):
    """An operation on the cycle that is late, and what it lacks, as two sentences and by places in the computation.

    ``issue`` issues it, ``step`` is the step that is late, ``ahead`` the access that should come after it, ``next`` the
    event of its rank by which the cycle goes on. ``missing``: "local completion", "completion" or "order"; ``between``
    complete or order operations, and not this one.
    """

    sentences: str
    issue: int
    step: int
    ahead: int
    next: int
    missing: str
    between: list[int]


class Fault(TypedDict):
    """The command that cannot be evaluated, why, and the registers of its rank by name; ``length``: so many columns
    it is wide, 0 where it is longer than its line."""

    code: str
    rank: int
    command: str
    line: int
    column: int
    length: NotRequired[int]
    reason: str
    registers: dict[str, int]


class NextCommand(TypedDict):
    """A command that a rank stands before; ``value`` is what the cell it would access holds, ``barrier`` the name of a
    barrier."""

    event: str
    command: str
    line: int
    column: int
    address: Address | None
    value: int | None
    barrier: NotRequired[str]


class Standing(TypedDict):
    """Where a rank stands at the end of a run; it has ended when there is no next command. ``loop``: the commands of
    the loop that it goes round for ever, in the order of the text; none where it does not."""

    rank: int
    ended: bool
    next: list[NextCommand]
    registers: dict[str, int]
    loop: NotRequired[list[NextCommand]]


class ShownEffect(TypedDict):
    """Where in a run the effect of a violation is to be seen: at the ``places`` of some events, or, where that is
    known, in how it ends. The run goes on from the violation, which its first ``beyond`` events are; null: it does not.
    """

    places: list[int]
    ending: Ending | None
    beyond: int | None


class Witness(TypedDict):
    """A run and what it shows ("violation", "fault", "assertion", "deadlock", "illegal call", "race", "order", or "run"
    when it was simulated).

    ``happens_before`` is the whole relation: "po" from each issued event to the next one of its rank, "cf" between
    conflicting accesses, "id" between neighbouring events of a command; the po edges of ``cycle`` may skip commands.
    ``late`` says what the cycle comes down to, the most important operation first. ``irreducible``: whether no proper
    subsequence is a violating computation (null: not known). ``sequential`` is null for an SC run; of a run that goes
    on from a violation it is about the violation. ``memory`` holds the initial values of all cells of all ranks
    (registers begin with 0), ``standing`` where each rank is at the end. ``doubles`` are the memory objects and
    registers whose values are the bits of doubles: in this package each is a
    :class:`pgasrob.render.double_values.Double`, which prints as its number. ``temporaries`` are the registers that are
    no variables of the source, which reports leave out. ``source`` is the text of the first file, ``sources`` those of
    the others by their paths. ``marked`` are the places of the events that an "order" is about, a run that shows one of
    two orders of accesses that race. ``threads``, where ranks have several: of which rank those with the numbers from
    ``nodes`` on are, in ``rank`` of events and of ``standing`` and in ``cycle_type``; what has a smaller number is
    thread 0 of that rank. ``title`` says what a run of a violation with an effect shows, and ``effect`` where.
    ``unknown`` is there for a recorded run, whose ``memory`` has the cells that are accessed alone: the number that
    stands for a value that is not known, in this package :data:`pgasrob.program.unknown_value.UNKNOWN`, which prints as
    "unknown".
    """

    shows: str
    nodes: int
    computation: list[Event]
    happens_before: list[Edge]
    cycle: list[Edge] | None
    cycle_type: list[int] | None
    complete: bool
    irreducible: bool | None
    sequential: Sequential | None
    memory: list[InitialCell]
    registers: list[str]
    doubles: NotRequired[list[str]]
    temporaries: NotRequired[list[str]]
    standing: list[Standing]
    fault: Fault | None
    source: str
    sources: NotRequired[dict[str, str]]
    late: NotRequired[list[LateOperation]]
    marked: NotRequired[list[int]]
    threads: NotRequired[list[ThreadOf]]
    unknown: NotRequired[int]
    title: NotRequired[str]
    effect: NotRequired[ShownEffect]


def witness_to_json(witness: library.Witness | None) -> Witness | None:
    if witness is None:
        return None
    run = witness.run
    instance = run.instance
    texts = WrittenCommands(instance)
    parts, marks = witness.parts or (), witness.marks or ()
    found: Witness = {
        "shows": witness.shows,
        "nodes": instance.nodes,
        "computation": _events(run, texts, parts, marks),
        "happens_before": [_edge(*edge) for edge in _relation(run).edges],
        "cycle": None if witness.cycle is None else [_edge(*edge) for edge in witness.cycle],
        "cycle_type": None if witness.cycle_type is None else list(witness.cycle_type),
        "complete": run.complete,
        "irreducible": witness.irreducible,
        "sequential": None if witness.sequential is None else _sequential(witness.sequential, texts, parts, marks),
        "memory": list(_initial_cells(instance)),
        "registers": list(instance.program.registers),
        "doubles": sorted(instance.program.doubles),
        "temporaries": instance.program.temporaries,
        "standing": _standings(witness.shows, run, texts),
        "fault": None if witness.fault is None else _fault(witness.fault, run, texts),
        "source": instance.program.source.text,
    }
    if instance.program.source.others:
        found["sources"] = dict(instance.program.source.others)
    if instance.has_threads:
        found["threads"] = threads_of(instance)
    if witness.cycle is not None:
        found["late"] = _late(run, witness.cycle)
    if instance.accessed is not None:
        found["unknown"] = int(UNKNOWN)
    mark(found)
    return found


def processes_of(run: Witness) -> list[int]:
    """The processes of a run, the threads of a rank beside each other."""
    threads = run.get("threads", [])
    numbers = numbers_of(run["nodes"], threads)
    return sorted(numbers.get(process, process) for process in range(run["nodes"] + len(threads)))


def _late(run: Run, cycle: Sequence[CycleEdge]) -> list[LateOperation]:
    diagnosis = Diagnosis(run)
    return [
        {
            "sentences": diagnosis.sentences(late),
            "issue": late.issue,
            "step": late.step,
            "ahead": late.ahead,
            "next": late.next,
            "missing": late.missing,
            "between": list(late.between),
        }
        for late in late_operations(run, cycle)
    ]


def mark(run: Witness) -> None:
    """Turn all values in ``run`` of its ``doubles`` into Doubles, and the numbers of its threads into those that print
    as names."""
    if "threads" in run:
        _mark_threads(run, numbers_of(run["nodes"], run["threads"]))
    doubles = frozenset(run.get("doubles", ()))
    if not doubles and "unknown" not in run:
        return
    for event in (*run["computation"], *(run["sequential"]["events"] if run["sequential"] else ())):
        mark_event(event, doubles)
    for cell in run["memory"]:
        cell["value"] = value(cell["name"], cell["value"], doubles)
    for rank in run["standing"]:
        rank["registers"] = shown(rank["registers"], doubles)
        for command in rank["next"]:
            if command["value"] is not None and command["address"]:
                command["value"] = value(command["address"]["name"], command["value"], doubles)
    if run["fault"]:
        run["fault"]["registers"] = shown(run["fault"]["registers"], doubles)


def _mark_threads(run: Witness, numbers: Mapping[int, int]) -> None:
    fault = [run["fault"]] if run["fault"] else []
    sequential = run["sequential"]["events"] if run["sequential"] else []
    for each in (*run["computation"], *sequential, *run["standing"], *fault, *cast(Any, run.get("accesses", ()))):
        each["rank"] = numbers.get(each["rank"], each["rank"])
    if run["cycle_type"]:
        run["cycle_type"] = [numbers.get(rank, rank) for rank in run["cycle_type"]]


def mark_event(event: Event, doubles: frozenset[str]) -> None:
    """Turn the values in ``event`` of ``doubles`` into Doubles."""
    address, written, register = event["address"], event["written"], event["register"]
    if event["read"] is not None and address:
        event["read"] = value(address["name"], event["read"], doubles)
    for name, change in ((written and written["cell"], written), (register and register["name"], register)):
        if name and change:
            change["before"] = value(name, change["before"], doubles)
            change["after"] = value(name, change["after"], doubles)


def _events(run: Run, texts: WrittenCommands, parts: Sequence[int], marks: Sequence[frozenset[str]]) -> list[Event]:
    """The events of ``run``; ``parts`` and ``marks`` are empty when they are not known."""
    commands = {
        event.issued: texts.text(event.rank, event.occurrence) for event in run.computation if not event.is_step
    }
    unknown = (None,) * len(run.events)
    found = [
        event_to_json(run.instance, replayed, commands[replayed.event.issued], part, mark)
        for replayed, part, mark in zip(run.events, parts or unknown, marks or unknown, strict=True)
    ]
    if not run.instance.program.source.shows_commands:
        calls = Calls(run.instance, texts)
        called = {event.issued: calls.of(event) for event in run.computation if not event.is_step}
        for replayed, event_object, piece in zip(run.events, found, pieces(run), strict=True):
            event = replayed.event
            call, change = called[event.issued], event_object["register"]
            event_object["call"], event_object["piece"] = call, piece
            if event.kind == "assume" and replayed.span.holds is not None and calls.called(event) is None:
                event_object["truth"] = replayed.span.holds
            if change and call and gives_status(call):
                event_object["register"] = {**change, "temporary": True}
    return found


def _sequential(
    order: SequentialOrder, texts: WrittenCommands, parts: Sequence[int], marks: Sequence[frozenset[str]]
) -> Sequential:
    def placed(values: Sequence[T]) -> list[T]:
        return [values[place] for place in order.places] if values else []

    events = _events(order.run, texts, placed(parts), placed(marks))
    return {"without": list(order.without), "places": list(order.places), "events": events}


def event_to_json(
    instance: Instance,
    replayed: ReplayedEvent,
    command: str,
    part: int | None = None,
    marks: frozenset[str] | None = None,
) -> Event:
    event, span = replayed.event, replayed.span
    return {
        "event": event.kind,
        "rank": numbered(instance, event.rank),
        "operation": event.operation,
        "address": None if event.cell is None else _address(instance, event.cell),
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
        "command": command,
        "read": replayed.read,
        "written": None if replayed.cell_change is None else _written(replayed.cell_change),
        "register": None if replayed.register_change is None else _register_change(instance, replayed.register_change),
        "queue": None if replayed.queue is None else _queue(instance, replayed.queue),
        "target": replayed.target,
        "holds": replayed.holds,
        "part": part,
        "marks": None if marks is None else sorted(marks),
    }


def _address(instance: Instance, cell: Cell) -> Address:
    index = instance.index(cell)
    found: Address = {"rank": instance.owner(cell), "index": index, "name": instance.program.cell_name(index)}
    memory = instance.program.object_at(index)
    return {**found, "made_up": True} if memory is not None and memory.made_up else found


def _initial_cells(instance: Instance) -> Iterator[InitialCell]:
    program = instance.program
    names = [program.cell_name(index) for index in range(instance.size)]  # the same on every rank
    own = set(program.own)
    for cell, initial in enumerate(instance.memory):
        rank, index = divmod(cell, instance.size)
        if instance.accessed is None or cell in instance.accessed:
            found: InitialCell = {"rank": rank, "index": index, "name": names[index], "value": initial}
            yield found if index in own else {**found, "made_up": True}


def _written(change: CellChange) -> Written:
    return {"cell": change.name, "before": change.before, "after": change.after}


def _register_change(instance: Instance, change: CellChange) -> RegisterChange:
    found: RegisterChange = {"name": change.name, "before": change.before, "after": change.after}
    variable = instance.program.variables.get(change.name, change.name)
    if variable is None:
        return {**found, "temporary": True}
    return found if variable == change.name else {**found, "variable": variable}


def _queue(instance: Instance, queue: int) -> Queue:
    return {"id": queue, "name": instance.program.queue_name(queue), "unordered": instance.is_unordered(queue)}


def _relation(run: Run) -> HappensBefore:
    return HappensBefore.of(run)


def _edge(source: int, target: int, relation: str) -> Edge:
    return {"from": source, "to": target, "relation": relation}


def _fault(fault: library.Fault, run: Run, texts: WrittenCommands) -> Fault:
    return {
        "code": fault.code,
        "rank": numbered(run.instance, fault.rank),
        "command": _faulting_command(fault, run, texts),
        "line": fault.line,
        "column": fault.column,
        "length": fault.length,
        "reason": fault.reason,
        "registers": fault.registers,
    }


def _faulting_command(fault: library.Fault, run: Run, texts: WrittenCommands) -> str:
    """The command at which ``run`` faults, as written; ``fault`` has it specialised, as the control automaton does."""
    for transition in run.instance.automata[fault.rank].out[run.control[fault.rank]]:
        span = transition.span
        if (show(transition.command), span.line, span.column) == (fault.command, fault.line, fault.column):
            return texts.text(fault.rank, transition.occurrence)
    return fault.command


def _standings(shows: str, run: Run, texts: WrittenCommands) -> list[Standing]:
    found = [_standing(run, rank, texts) for rank in range(run.instance.processes)]
    if shows == "deadlock":
        from pgasrob.analysis.spinning import spinning

        for each, loop in zip(found, spinning(run.instance, run.control, run.registers, run.memory), strict=True):
            commands = sorted(loop, key=lambda edge: (edge.span.line, edge.span.column))
            each["loop"] = [_in_loop(each["rank"], edge, texts) for edge in commands]
    return found


def _in_loop(rank: int, transition: Transition, texts: WrittenCommands) -> NextCommand:
    """A command that is issued again and again, with other operands maybe."""
    return {
        "event": transition.command.kind,
        "command": texts.text(rank, transition.occurrence),
        "line": transition.span.line,
        "column": transition.span.column,
        "address": None,
        "value": None,
    }


def _standing(run: Run, rank: int, texts: WrittenCommands) -> Standing:
    leaving = run.instance.automata[rank].out[run.control[rank]]
    names = run.instance.program.registers
    return {
        "rank": numbered(run.instance, rank),
        "ended": not leaving,
        "next": [_next_command(run, rank, transition, texts) for transition in leaving],
        "registers": dict(zip(names, run.registers[rank], strict=True)),
    }


def _next_command(run: Run, rank: int, transition: Transition, texts: WrittenCommands) -> NextCommand:
    try:
        made = at_issue(run.instance.operands(rank, transition, run.registers[rank]))
    except NoValue:
        made = None
    found: NextCommand = {
        "event": transition.command.kind,
        "command": texts.text(rank, transition.occurrence),
        "line": transition.span.line,
        "column": transition.span.column,
        "address": None if made is None else _address(run.instance, made.cell),
        "value": None if made is None else run.memory[made.cell],
    }
    if isinstance(transition.command, Barrier):
        found["barrier"] = transition.command.name
    return found
