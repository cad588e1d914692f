"""Makes the execution graph of a run of the calculus, in terms of the litmus program that was translated."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from pgasrob.models.litmus.instructions import MemoryFence, Poll
from pgasrob.models.litmus.litmus_program import Outcome
from pgasrob.models.model_interface import Event, Execution, Pairs
from pgasrob.models.pgas.from_litmus import Translation
from pgasrob.program.instance import Instance
from pgasrob.semantics.computation import Computation
from pgasrob.semantics.replay import ReplayedEvent, replay

STEPS = ("popa", "popd", "popb", "popc")
"""The steps of an operation, in their order."""
WITHOUT_ACCESS = ("read", "write", "update_from")
"""Commands of which only the steps access memory; the execution has the steps instead."""


def execution_of(translation: Translation, instance: Instance, run: Computation, outcome: Outcome) -> Execution:
    """The complete ``run`` as an execution: an event for each access and each wait, in the order of the program (po:
    from one to the next), and rf, mo and rb as they follow from the order of the run."""
    program = translation.litmus
    thread_of = {translation.ranks[thread.node]: number for number, thread in enumerate(program.threads)}
    taken = [
        (place, replayed)
        for place, replayed in enumerate(replay(instance, run).events)
        if _shown(translation, replayed)
    ]
    taken.sort(key=lambda each: _in_program(each[1], thread_of))
    events = [
        Event(None, 0, "init", number, writes=location.initial) for number, location in enumerate(program.locations)
    ]
    first = len(events)
    numbers = {place: first + number for number, (place, _) in enumerate(taken)}
    events += [_event(translation, instance, replayed, thread_of) for _, replayed in taken]
    order = (*range(first), *(numbers[place] for place in sorted(numbers)))
    po = frozenset(
        (before, after)
        for before, after in pairwise(range(first, len(events)))
        if events[before].thread == events[after].thread
    )
    return Execution(program, tuple(events), {"po": po, **communication(events, order)}, outcome, order)


def _shown(translation: Translation, replayed: ReplayedEvent) -> bool:
    event = replayed.event
    instruction = translation.instructions[event.rank][event.occurrence]
    if isinstance(instruction, MemoryFence | Poll):
        return True
    return instruction is not None and event.kind not in (*WITHOUT_ACCESS, "assign", "assume")


def _in_program(replayed: ReplayedEvent, thread_of: dict[int, int]) -> tuple[int, int, int]:
    event = replayed.event
    step = STEPS.index(event.kind) if event.kind in STEPS else -1
    return thread_of[event.rank], event.operation, step


def _event(translation: Translation, instance: Instance, replayed: ReplayedEvent, thread_of: dict[int, int]) -> Event:
    event = replayed.event
    instruction = translation.instructions[event.rank][event.occurrence]
    assert instruction is not None
    kind: str = event.kind
    match instruction:
        case MemoryFence():
            kind = "mfence"
        case Poll():
            kind = "poll"
    change = replayed.cell_change
    return Event(
        thread_of[event.rank],
        event.operation,
        kind,
        None if event.cell is None else instance.index(event.cell),
        replayed.read,
        None if change is None else change.after,
        instruction.span,
    )


def communication(events: Sequence[Event], order: Sequence[int]) -> dict[str, Pairs]:
    """rf, mo and rb among ``events`` that take effect in ``order``, initial writes first: a read reads from the latest
    write to its location, and comes before the later ones. mo has its immediate pairs."""
    writes: dict[int, list[int]] = {}
    read: list[tuple[int, int, int]] = []  # event, location, how many writes there had been
    for number in order:
        event = events[number]
        if event.location is None:
            continue
        there = writes.setdefault(event.location, [])
        if event.reads is not None:
            read.append((number, event.location, len(there)))
        if event.writes is not None:
            there.append(number)
    return {
        "rf": frozenset((writes[location][count - 1], number) for number, location, count in read if count),
        "mo": frozenset(pair for each in writes.values() for pair in pairwise(each)),
        "rb": frozenset(
            (number, later) for number, location, count in read for later in writes[location][count:] if later != number
        ),
    }
