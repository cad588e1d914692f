"""The recorded commands as a program: each rank has its own, one after the other, and nothing to choose.

A read in a polling loop waits for the value that it saw. The run that was recorded is a run of this program, and its
order the trace that the answers are about (`proofs/recorded-traces.md`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from pgasrob.program import commands, core
from pgasrob.program.control import ControlAutomaton, Transition
from pgasrob.program.expressions import Binary, Const, Register
from pgasrob.program.instance import Instance
from pgasrob.program.program import Program
from pgasrob.program.reading import DEFAULT_READING, Reading
from pgasrob.recording.events import Recorded, Recording
from pgasrob.robustness.traces.trace import Cells, Clock, Command, Entry, Event, Standing, Trace, performed

REGISTER = "seen"
"""What is read goes there; nothing depends on it."""
_ANY = Register(REGISTER, 0)
_GIVING = (
    commands.Load, commands.Fetch, commands.FetchUpdate, commands.FetchAdd, commands.Swap, commands.CompareSwap,
)  # fmt: skip
"""The commands that read a cell into a register."""


class NoRun(Exception):
    """The events are no run of their commands: says which one cannot have been where it stands."""


def straight_line(recording: Recording, events: Sequence[Recorded], reading: Reading = DEFAULT_READING) -> Instance:
    """``events`` of a recording as a program of its own; the occurrence of a command is its place among those of its
    rank, and so is its control state."""
    program = Program(
        recording.name,
        recording.nodes,
        tuple(recording.memory),
        (REGISTER,),
        tuple(recording.queues),
        (),
        recording.source,
    )
    out: list[list[tuple[Transition, ...]]] = [[] for _ in range(recording.nodes)]
    for event in events:
        place = len(out[event.rank])
        command = event.command
        if isinstance(command, _GIVING):
            command = replace(command, register=_ANY)
        transition = Transition(command, place + 1, place, event.span)
        out[event.rank].append((transition.with_form(_form(transition, event.seen, reading)),))
    automata = tuple(ControlAutomaton((*leaving, ())) for leaving in out)
    return Instance(program, recording.nodes, automata, reading)


def _form(transition: Transition, seen: int | None, reading: Reading) -> core.Form:
    form = transition.form
    if reading.conflicts == "all":
        form = core.all_in_conflict(form)
    if seen is not None:
        assert isinstance(form, core.Immediate)
        return replace(form, until=core.Until(Binary("==", _ANY, Const(seen)), spins=True))
    return form


def turns(events: Iterable[Recorded], nodes: int) -> Iterator[tuple[int, ...]]:
    """The ranks of each event of the trace: one, or for a barrier all, the last of which has come to it there."""
    arrived: dict[str, list[int]] = {}
    for event in events:
        if event.command.kind != "barrier":
            yield (event.rank,)
            continue
        here = arrived.setdefault(event.command.name, [])
        here.append(event.rank)
        if len(here) == nodes:
            yield tuple(sorted(here))
            arrived[event.command.name] = []


def trace_of(instance: Instance, ranks_in_turn: Iterable[tuple[int, ...]]) -> Trace:
    """The trace of the run in which the ranks come one after the other. Raises :class:`NoRun`."""
    nodes = instance.nodes
    registers, memory = [instance.registers] * nodes, instance.memory
    events: list[Event] = []
    of_rank: list[list[Event]] = [[] for _ in range(nodes)]
    standing = [[_standing(instance, rank, 0, registers[rank])] for rank in range(nodes)]
    cells = Cells()

    def last(rank: int) -> Clock:
        return of_rank[rank][-1].clock if of_rank[rank] else (0,) * nodes

    for ranks in ranks_in_turn:
        issued = [_next(standing[rank][-1], rank) for rank in ranks]
        transitions, operands = tuple(each.transition for each in issued), issued[0].operands
        if isinstance(operands, core.Barrier):
            clock = tuple(count + 1 for count in _joined([last(rank) for rank in ranks]))
            event = Event(len(events), 0, transitions, operands, clock, ())
        else:
            (rank,) = ranks
            done = performed(operands, registers[rank], memory)
            if done is None:
                raise NoRun(f"rank {rank} did not wait for what it waited for")
            registers[rank], memory, chain = done
            met = [entry.event.clock for made in chain for entry in cells.met_by(made.access)]
            past = _joined([last(rank), *met])
            clock = (*past[:rank], past[rank] + 1, *past[rank + 1 :])
            event = Event(len(events), rank, transitions, operands, clock, chain)
            for place, made in enumerate(chain):
                cells.enter(Entry(event, place, made))
        events.append(event)
        for rank, transition in zip(ranks, transitions, strict=True):
            of_rank[rank].append(event)
            standing[rank].append(_standing(instance, rank, transition.target, registers[rank]))
    return Trace(events, of_rank, standing)


def _standing(instance: Instance, rank: int, control: int, registers: tuple[int, ...]) -> Standing:
    found = [
        Command(transition, instance.operands(rank, transition, registers))
        for transition in instance.automata[rank].out[control]
    ]
    return Standing(control, registers, tuple(found))


def _next(standing: Standing, rank: int) -> Command:
    if not standing.commands:
        raise NoRun(f"rank {rank} has no further command")
    return standing.commands[0]


def _joined(clocks: Sequence[Clock]) -> Clock:
    return tuple(map(max, zip(*clocks, strict=True)))
