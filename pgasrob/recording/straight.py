"""Turns recorded commands into a program: straight-line code for each rank.

A read in a polling loop waits for the value that it saw. The run that was recorded is a run of this program, and its
order the trace that the answers are about (`proofs/recorded-traces.md`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from pgasrob.program import commands, core
from pgasrob.program.control import ControlAutomaton, Transition
from pgasrob.program.declarations import Process
from pgasrob.program.expressions import Binary, Const, Register
from pgasrob.program.instance import Instance
from pgasrob.program.program import Program
from pgasrob.program.reading import DEFAULT_READING, Reading
from pgasrob.program.statements import Block, Do
from pgasrob.recording.events import Recorded, Recording
from pgasrob.semantics.mazurkiewicz_trace import Cells, Clock, Command, Entry, Event, Position, Trace, performed
from pgasrob.stop_points import stop_point

REGISTER = "seen"
"""What is read goes there; nothing depends on it."""
_ANY = Register(REGISTER, 0)
_GIVING = (
    commands.Load, commands.Fetch, commands.FetchUpdate, commands.FetchAdd, commands.Swap, commands.CompareSwap,
)  # fmt: skip
"""The commands that read a cell into a register."""


class NoRun(Exception):
    """The events are no run of their commands: says which one cannot have been where it stands."""


def straight_line(recording: Recording, reading: Reading = DEFAULT_READING) -> Instance:
    """A recording as a program; the occurrence of a command is its place among those of its rank, and so is its control
    state."""
    out: list[list[Transition]] = [[] for _ in range(recording.nodes)]
    for event in (*recording.events, *recording.next_commands):
        stop_point()
        place = len(out[event.rank])
        command = event.command
        if isinstance(command, _GIVING):
            command = replace(command, register=_ANY)
        transition = Transition(command, place + 1, place, event.span)
        out[event.rank].append(transition.with_form(form_of(event, reading)))
    program = Program(
        recording.name,
        recording.nodes,
        tuple(recording.memory),
        (REGISTER,),
        tuple(recording.queues),
        tuple(
            Process((rank,), Block(tuple(Do(each.command, each.span) for each in transitions)))
            for rank, transitions in enumerate(out)
        ),
        recording.source,
        variables={REGISTER: None},
        doubles=recording.doubles,
    )
    automata = tuple(ControlAutomaton((*((each,) for each in leaving), ())) for leaving in out)
    instance = Instance(program, recording.nodes, automata, reading)
    if recording.held is not None:
        instance.accessed = frozenset(_accessed(instance, out))
        memory = list(instance.memory)
        for cell in instance.accessed:
            memory[cell] = recording.held(instance.owner(cell), instance.index(cell))
        instance.memory = tuple(memory)
    return instance


def _accessed(instance: Instance, out: Sequence[Sequence[Transition]]) -> Iterator[int]:
    for rank, transitions in enumerate(out):
        for transition in transitions:
            stop_point()
            for access in core.accesses_of(instance.operands(rank, transition, instance.registers)):
                yield access.cell


def form_of(event: Recorded, reading: Reading) -> core.Form:
    """What a recorded command does."""
    form = core.lower(event.command)
    if reading.conflicts == "all":
        form = core.all_in_conflict(form)
    if isinstance(form, core.Immediate) and form.register is not None:
        until = None
        if event.seen is not None:
            until = core.Until(Binary("==", _ANY, Const(event.seen)), spins=True)
        return replace(form, register=_ANY.index, until=until)
    return form


def in_turn(recording: Recording) -> Iterator[tuple[Recorded, ...]]:
    """The events of the trace: one each, or for a barrier those of all ranks, where the last of them has come to it."""
    arrived: dict[str, list[Recorded]] = {}
    for event in recording.events:
        stop_point()
        if event.command.kind != "barrier":
            yield (event,)
            continue
        here = arrived.setdefault(event.command.name, [])
        here.append(event)
        if len(here) == recording.nodes:
            yield tuple(sorted(here, key=lambda each: each.rank))
            arrived[event.command.name] = []


def trace_of(instance: Instance, recording: Recording) -> Trace:
    """The trace of the run that was recorded, of the program that :func:`straight_line` makes of it. Raises
    :class:`NoRun`."""
    return _trace(instance, ([event.rank for event in events] for events in in_turn(recording)))


def _trace(instance: Instance, ranks_in_turn: Iterable[Sequence[int]]) -> Trace:
    nodes = instance.nodes
    registers, memory = [instance.registers] * nodes, instance.memory
    events: list[Event] = []
    of_rank: list[list[Event]] = [[] for _ in range(nodes)]
    positions = [[_position(instance, rank, 0, registers[rank])] for rank in range(nodes)]
    cells = Cells()

    def last(rank: int) -> Clock:
        return of_rank[rank][-1].clock if of_rank[rank] else (0,) * nodes

    for ranks in ranks_in_turn:
        issued = [_next(positions[rank][-1], rank) for rank in ranks]
        transitions, operands = tuple(each.transition for each in issued), issued[0].operands
        if isinstance(operands, core.Barrier):
            clock = tuple(count + 1 for count in _joined([last(rank) for rank in ranks]))
            event = Event(len(events), 0, transitions, operands, clock, (), tuple(range(nodes)))
        else:
            rank = ranks[0]
            done = performed(operands, registers[rank], memory)
            if done is None:
                raise NoRun(f"rank {rank} did not wait for what it waited for")
            registers[rank], memory, chain = done
            met = [entry.event.clock for made in chain for entry in cells.met_by(made.access)]
            past = _joined([last(rank), *met])
            clock = (*past[:rank], past[rank] + 1, *past[rank + 1 :])
            event = Event(len(events), rank, transitions, operands, clock, chain, (rank,))
            for place, made in enumerate(chain):
                cells.enter(Entry(event, place, made))
        events.append(event)
        for rank, transition in zip(ranks, transitions, strict=True):
            of_rank[rank].append(event)
            positions[rank].append(_position(instance, rank, transition.target, registers[rank]))
    return Trace(events, of_rank, positions)


def _position(instance: Instance, rank: int, control: int, registers: tuple[int, ...]) -> Position:
    found = [
        Command(transition, instance.operands(rank, transition, registers))
        for transition in instance.automata[rank].out[control]
    ]
    return Position(control, registers, tuple(found))


def _next(position: Position, rank: int) -> Command:
    if not position.commands:
        raise NoRun(f"rank {rank} has no further command")
    return position.commands[0]


def _joined(clocks: Sequence[Clock]) -> Clock:
    return tuple(map(max, zip(*clocks, strict=True)))
