"""The interface of searches for races, and how each makes a race of what it has found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from pgasrob.analysis.placement import DELAYED, NOW
from pgasrob.program import core
from pgasrob.program.expressions import Fault
from pgasrob.program.instance import Instance
from pgasrob.races.racing_pairs import Next, Places, next_at_issue, step_of
from pgasrob.robustness.engine import Stepwise
from pgasrob.robustness.normal_form import Word, numbered
from pgasrob.semantics.computation import Computation
from pgasrob.semantics.replay import replay
from pgasrob.semantics.sequential import FoundFault


class FoundRace(NamedTuple):
    """Two accesses that are both next after ``run``; ``operations``: for each of them which of its rank's commands in
    the run it belongs to, None for a command that is its rank's next one."""

    accesses: tuple[Next, Next]
    operations: tuple[int | None, int | None]
    run: Computation


class RaceSearch(Stepwise, Protocol):
    """A search for races, which goes on after one.

    ``races``: by places, the first found first. When ``run`` ends these are all, unless ``gave_up`` says why not, or
    ``fault``, at which it ends, or ``needs_robust``: then they are if the instance is robust.
    """

    races: dict[Places, FoundRace]

    @property
    def fault(self) -> FoundFault | None: ...
    @property
    def needs_robust(self) -> bool: ...


def has_awaits(instance: Instance) -> bool:
    """Whether a rank may wait for a value."""
    return any(isinstance(form, core.Immediate) and form.condition is not None for form in instance.forms)


def found_race(instance: Instance, words: list[Word], before: Sequence[tuple[int, int]]) -> FoundRace:
    """The race after ``words``: of the first step that stopped, unless two are ``before`` commands, given by rank and
    occurrence; of these, and, when there are none, of the step by which the last command has stopped."""
    events = numbered(words)
    run = tuple(event for part, event in events if part == NOW)
    after = replay(instance, run)
    accesses: list[Next] = []
    operations: list[int | None] = []
    stopped = [event for part, event in events if part == DELAYED]
    last = [event for part, event in events[len(events) - len(words[-1]) :] if part == DELAYED] if words else []
    for event in [*(stopped[:1] if len(before) < 2 else ()), *(last[:1] if not before else ())]:
        automaton = instance.automata[event.rank]
        transition = next(each for each in automaton.transitions if each.occurrence == event.occurrence)
        steps: tuple[core.Step[core.Place], ...] = core.steps_of(transition.form)
        place = next(place for place, each in enumerate(steps) if each.kind == event.kind)
        accesses.append(step_of(event.rank, transition, place, event.cell or 0))
        operations.append(event.operation)
    for rank, occurrence in before:
        found = next_at_issue(instance, rank, after.control[rank], after.registers[rank])
        accesses.append(next(each for each in found if each.transition.occurrence == occurrence))
        operations.append(None)
    (one, other), (first, second) = accesses, operations
    return FoundRace((one, other), (first, second), run)


def found_fault(instance: Instance, words: list[Word], rank: int, occurrence: int) -> FoundFault:
    """The fault of ``rank`` after ``words`` at the command with this ``occurrence``."""
    run = tuple(event for _, event in numbered(words))
    after = replay(instance, run)
    registers = after.registers[rank]
    leaving = instance.automata[rank].out[after.control[rank]]
    transition = next(each for each in leaving if each.occurrence == occurrence)
    try:
        instance.operands(rank, transition, registers)
    except Fault as fault:
        return FoundFault(rank, transition, str(fault), fault.code, registers, run)
    raise AssertionError("a command that had no value has one")
