"""Diagnoses a violation: which operation is late, which access does not wait for it, and what is missing between them.

A cycle of happens-before goes forward in its run but for where it goes from a step of an operation back to an earlier
event of it and on from there; where the next event comes before the step, the operation is late, and there is at least
one such place. Between the two events lies the mistake: the step should have happened by then, or be ordered before
what comes next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pgasrob.program import core
from pgasrob.program.core import Operands
from pgasrob.semantics.computation import Computation
from pgasrob.semantics.happens_before import Edge
from pgasrob.semantics.replay import Run

Missing = Literal["local completion", "completion", "order"]
"""What would put the late step in its place: that the rank waits until the operation has read its source or brought its
result (`wait_local`), that it waits until it has arrived (`wait`), or that the step is ordered before one of a later
operation (`fence`, or one queue)."""


@dataclass(frozen=True, slots=True)
class Late:
    """An operation that is late; all but ``missing`` are places in the computation.

    ``issue``: where it is issued. ``step``: its step on the cycle, which is late. ``ahead``: the access to the same
    cell that comes before it and should come after it. ``next``: the event of the same rank by which the cycle goes on
    from the operation; it is ``ahead`` or leads there by ``link``, the conflicts and barriers on the way. It is an
    earlier step of the operation itself where nothing of its rank is on that way that is issued later: nothing that the
    rank could do after the operation would keep the run away. ``between``: the commands of the rank up to ``next`` that
    complete or order operations, and not this one. ``within``: an operation of the same rank, issued before this one, a
    step of which comes between those of this one.
    """

    issue: int
    step: int
    ahead: int
    next: int
    link: tuple[Edge, ...]
    missing: Missing
    between: tuple[int, ...]
    within: int | None = None


def late_operations(run: Run, cycle: Sequence[Edge]) -> tuple[Late, ...]:
    """The operations on the ``cycle`` that are late, the one whose step comes last first. Those between whose own steps
    the cycle goes on come after all others, for no command can be put there."""
    computation, operands = run.computation, issued_operands(run)
    found = []
    for number, edge in enumerate(cycle):
        ahead = cycle[number - 1].source
        if edge.relation != "id" or not edge.target < ahead < edge.source:
            continue
        rest = [*cycle[number + 1 :], *cycle[:number]]
        first, last = rest[0], computation[edge.source]
        issue = _issue(computation, edge.source)
        on = first.target if first.relation == "po" else edge.target
        if on > edge.source:  # the step has happened by then
            continue
        after_po = rest[1] if first.relation == "po" and len(rest) > 1 else first
        within = None
        if computation[on].issued == last.issued:
            own = [_issue(computation, each.source) for each in rest[1:] if computation[each.source].rank == last.rank]
            later = next((each.source for each in rest[1:] if _is_later(computation, each.source, issue)), None)
            within = next((place for place in own if place < issue), None) if later is None else None
            on = on if later is None else later
        found.append(
            Late(
                issue,
                edge.source,
                ahead,
                on,
                tuple(each for each in rest[:-1] if each.relation == "cf" or is_barrier(computation, each)),
                _missing(run, operands, edge.source, on, after_po.target if after_po.relation == "id" else None),
                tuple(
                    place
                    for place in range(issue + 1, on + 1)
                    if computation[place].rank == last.rank
                    and not computation[place].is_step
                    and isinstance(operands[computation[place].issued], core.Wait | core.Fence | core.Barrier)
                ),
                within,
            )
        )
    return tuple(sorted(found, key=lambda late: (_by_itself(computation, late), -late.step)))


def _issue(computation: Computation, place: int) -> int:
    """Where the command is issued that the event is of."""
    return next(at for at, event in enumerate(computation) if event.issued == computation[place].issued)


def _is_later(computation: Computation, place: int, issue: int) -> bool:
    """Whether the event is of a command that its rank issues behind the one at ``issue``, and that rank does."""
    return computation[place].rank == computation[issue].rank and _issue(computation, place) > issue


def _by_itself(computation: Computation, late: Late) -> bool:
    return computation[late.next].issued == computation[late.step].issued


def is_barrier(computation: Computation, edge: Edge) -> bool:
    """Whether ``edge`` joins two ranks at a barrier."""
    return edge.relation == "id" and computation[edge.source].kind == "barrier"


def issued_operands(run: Run) -> dict[tuple[int, int], Operands]:
    """The operands of every command of ``run``, by rank and operation."""
    instance = run.instance
    control, registers = [0] * instance.processes, [instance.registers] * instance.processes
    found = {}
    for replayed in run.events:
        event = replayed.event
        if event.is_step:
            continue
        leaving = instance.automata[event.rank].out[control[event.rank]]
        transition = next(each for each in leaving if each.occurrence == event.occurrence)
        found[event.issued] = instance.operands(event.rank, transition, registers[event.rank])
        control[event.rank] = transition.target
        if replayed.register_change is not None:
            values = list(registers[event.rank])
            values[instance.program.registers.index(replayed.register_change.name)] = replayed.register_change.after
            registers[event.rank] = tuple(values)
    return found


def _missing(run: Run, operands: dict[tuple[int, int], Operands], step: int, on: int, further: int | None) -> Missing:
    """What the ``step`` lacks before ``on``, where the cycle goes on at step ``further`` of an operation, if at one."""
    computation = run.computation
    late = _step(operands, computation, step)
    if further is not None and computation[further].is_step:
        other = _step(operands, computation, further)
        first, second = operands[computation[step].issued], operands[computation[further].issued]
        assert isinstance(first, core.Transfer) and isinstance(second, core.Transfer)
        if late.stage <= other.stage and first.rank == second.rank and late.stage == 1:
            return "order"
    return "local completion" if late.local else "completion"


def _step(operands: dict[tuple[int, int], Operands], computation: Computation, place: int) -> core.Step[core.Cell]:
    event = computation[place]
    return next(each for each in core.steps_of(operands[event.issued]) if each.kind == event.kind)
