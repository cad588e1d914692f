"""Finds the transfers of a rank that may be pending at each control state: issued, with steps yet to happen."""

from __future__ import annotations

from collections.abc import Callable
from operator import or_
from typing import NamedTuple

from pgasrob.analysis.ranges import ranges, single
from pgasrob.analysis.remembered import remembered
from pgasrob.analysis.touched import Planes, Touched
from pgasrob.program import core
from pgasrob.program.bits import members
from pgasrob.program.control import Transition
from pgasrob.program.instance import Instance
from pgasrob.stop_points import stop_point

Sets = tuple[int, ...]


def forwards(
    instance: Instance, rank: int, nothing: Sets, after: Callable[[int, Transition, Sets], Sets]
) -> list[Sets]:
    """For each control state of ``rank`` all that may hold there, as sets of bits: ``nothing`` at first, and what is
    left ``after`` each command that may be issued, by what holds before it."""
    known, out = ranges(instance), instance.automata[rank].out
    found = [nothing] * len(out)
    seen, changed = {0}, [0]
    while changed:
        stop_point()
        state = changed.pop()
        for each in out[state]:
            if not known.named(rank, state, each).possible:
                continue
            joined = tuple(map(or_, after(state, each, found[state]), found[each.target]))
            if joined != found[each.target] or each.target not in seen:
                seen.add(each.target)
                found[each.target] = joined
                changed.append(each.target)
    return found


class Transfers(NamedTuple):
    """The transfers of a rank, each as the control state and the transition that issues it, and its queue where only
    one is possible."""

    issues: tuple[tuple[int, Transition], ...]
    queues: tuple[int | None, ...]


class Pending(NamedTuple):
    """The ``transfers`` that may be pending, as a bit set of their numbers; the ``local`` ones of them, with a step
    left that wait_local waits for; and the accesses of their steps."""

    transfers: int = 0
    local: int = 0
    touched: Touched = Touched()


def transfers_of(instance: Instance, rank: int) -> Transfers:
    """The transfers of ``rank``."""
    known = ranges(instance)
    issues = tuple(
        (state, transition)
        for state, leaving in enumerate(instance.automata[rank].out)
        for transition in leaving
        if isinstance(transition.form, core.Transfer) and known.named(rank, state, transition).possible
    )
    return Transfers(issues, tuple(single(known.named(rank, *issue).queue) for issue in issues))


@remembered
def pending_transfers(instance: Instance, rank: int) -> tuple[Pending, ...]:
    """What may be pending of ``rank`` before each of its control states."""
    known, transfers = ranges(instance), transfers_of(instance, rank)
    numbers = {(state, each.occurrence): number for number, (state, each) in enumerate(transfers.issues)}
    of_queue: dict[int, int] = {}
    for number, queue in enumerate(transfers.queues):
        if queue is not None:
            of_queue[queue] = of_queue.get(queue, 0) | 1 << number

    # The steps of a transfer happen in order, so when a local last one has happened, all have.
    ends_locally = sum(
        1 << number for number, (_, each) in enumerate(transfers.issues) if core.steps_of(each.form)[-1].local
    )

    def after(state: int, each: Transition, before: Sets) -> Sets:
        all_steps, local = before
        match each.form:
            case core.Transfer():
                bit = 1 << numbers[state, each.occurrence]
                return all_steps | bit, local | (bit if any(step.local for step in each.form.steps) else 0)
            case core.Wait(_, only_local):
                queue = single(known.named(rank, state, each).queue)
                over = 0 if queue is None else of_queue.get(queue, 0)
                return all_steps & ~(over & ends_locally if only_local else over), local & ~over
            case _:
                return before

    planes = Planes(len(instance.memory), instance.update_kinds)
    of_all, of_others = [0] * len(numbers), [0] * len(numbers)
    """For each transfer the accesses of its steps, and of those that are not local."""
    for number, (state, each) in enumerate(transfers.issues):
        for step, access in zip(core.steps_of(each.form), known.made(rank, state, each).steps, strict=True):
            of_all[number] |= planes.bits(access)
            of_others[number] |= 0 if step.local else planes.bits(access)

    def touched(all_steps: int, local: int) -> Touched:
        bits = 0
        for number in members(all_steps):
            bits |= (of_all if local >> number & 1 else of_others)[number]
        return planes.touched(bits)

    found = [Pending(all_steps, local) for all_steps, local in forwards(instance, rank, (0, 0), after)]
    by_bits = {each: each._replace(touched=touched(each.transfers, each.local)) for each in set(found)}
    return tuple(map(by_bits.__getitem__, found))
