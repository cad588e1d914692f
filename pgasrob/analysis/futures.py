"""What a rank may still do from a control state on: accesses, barriers, uses of queues, reads of registers.

Each analysis is a backwards flow over the control automaton: what may happen at a state is what its commands do, and
what may happen after them. `ranges` bounds the cells, ranks and queues that operands name, and excludes commands that
can never be issued.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple, assert_never

from pgasrob.analysis.ranges import ranges, single
from pgasrob.analysis.remembered import remembered
from pgasrob.analysis.touched import Planes, Touched
from pgasrob.program import core
from pgasrob.program.bits import members
from pgasrob.program.control import ControlAutomaton, Transition
from pgasrob.program.core import EVERY_QUEUE, Form
from pgasrob.program.instance import Instance
from pgasrob.stop_points import stop_point

WAITED, WAITED_LOCAL, ISSUED, FENCED, NOTIFIED = 1, 2, 4, 8, 16
"""Uses of a queue, as bits: by a wait, a wait_local, a command with steps, a fence, a notification."""
SIGNALLED, LOCATED = 32, 64
"""Uses of `EVERY_QUEUE`: by a signal, by a located atomic."""

_WIDTH = 7
_USES = (1 << _WIDTH) - 1


@dataclass(frozen=True, slots=True)
class Futures:
    """For every rank and control state (``[rank][state]``) what may come from there on.

    - ``before_barrier``: the accesses up to the rank's next barrier, those of the steps of remote commands among them;
      with threads those of ``ever``, since a rank may pass a barrier whatever one of its threads waits for.
    - ``ever``: the accesses, whatever barriers come between.
    - ``barrier_later``: whether a barrier can come.
    - ``live``: the registers that some command may read before it is set.
    - ``queues``: for each queue how it is used (:data:`WAITED` and so on); None stands for a queue that is not certain,
      which may be any, and for all of them. Under `EVERY_QUEUE` stand the uses of what does not depend on the queue:
      located atomics, and signals that may come before the next bundle.
    """

    before_barrier: tuple[tuple[Touched, ...], ...]
    ever: tuple[tuple[Touched, ...], ...]
    barrier_later: tuple[tuple[bool, ...], ...]
    live: tuple[tuple[frozenset[int], ...], ...]
    queues: tuple[tuple[dict[int | None, int], ...], ...]


class _Rank(NamedTuple):
    before_barrier: tuple[Touched, ...]
    ever: tuple[Touched, ...]
    barrier_later: tuple[bool, ...]
    live: tuple[frozenset[int], ...]
    queues: tuple[dict[int | None, int], ...]


@remembered
def futures(instance: Instance) -> Futures:
    """What every rank of ``instance`` may do from each of its control states on."""
    found = Futures(*zip(*(_of_rank(instance, rank) for rank in range(instance.processes)), strict=True))
    return replace(found, before_barrier=found.ever) if instance.has_threads else found


def _of_rank(instance: Instance, rank: int) -> _Rank:
    automaton, known = instance.automata[rank], ranges(instance)
    planes = Planes(len(instance.memory), instance.update_kinds)
    queues: dict[int | None, int] = {}  # where its uses stand in a set of bits

    def accesses(state: int, transition: Transition) -> int:
        return planes.bits(known.touched(rank, state, transition))

    def used(state: int, transition: Transition) -> int:
        named = known.named(rank, state, transition)
        if not named.possible:
            return 0
        return _bits(
            queues.setdefault(queue, _WIDTH * len(queues)) + place
            for queue, use in _uses(transition.form, single(named.queue))
            for place in members(use)
        )

    def unused(transition: Transition) -> int:
        # Signals after the beginning of a bundle do not look at operations of the one before.
        is_bundle = isinstance(transition.form, core.Bundle)
        return SIGNALLED << queues.setdefault(EVERY_QUEUE, _WIDTH * len(queues)) if is_bundle else 0

    def possible(state: int, transition: Transition) -> bool:
        return known.named(rank, state, transition).possible

    before_barrier = _backwards(automaton, accesses, lambda transition: -1 if _is_barrier(transition) else 0, possible)
    barrier_later = _backwards(
        automaton, lambda state, transition: _is_barrier(transition) and possible(state, transition), followed=possible
    )
    uses = _backwards(automaton, used, unused, possible)
    return _Rank(
        tuple(map(planes.touched, before_barrier)),
        tuple(planes.touched(bits) for bits in _backwards(automaton, accesses, followed=possible)),
        tuple(bool(bits) for bits in barrier_later),
        automaton.live,
        tuple({queue: use for queue, place in queues.items() if (use := bits >> place & _USES)} for bits in uses),
    )


def _uses(form: Form, queue: int | None) -> Iterator[tuple[int | None, int]]:
    """How a command uses the queues, if it is issued in ``queue``; None: it is not certain which."""
    match form:
        case core.Transfer(steps=steps, everywhere=everywhere):
            yield queue, ISSUED
            for step in steps:
                if step.after_writes:
                    yield None if everywhere else queue, NOTIFIED
                if step.after_bundle:
                    yield EVERY_QUEUE, SIGNALLED
                if step.located:
                    yield EVERY_QUEUE, LOCATED
        case core.Wait(_, local):
            yield queue, WAITED_LOCAL if local else WAITED
        case core.Fence():
            yield queue, FENCED
        case core.Assign() | core.Test() | core.Immediate() | core.Bundle() | core.Barrier():
            return
        case _:
            assert_never(form)


def _backwards(
    automaton: ControlAutomaton,
    made: Callable[[int, Transition], int],
    forgotten: Callable[[Transition], int] = lambda transition: 0,
    followed: Callable[[int, Transition], bool] = lambda state, transition: True,
) -> list[int]:
    """For each state the least set of bits with all that its commands have ``made``, and that of the state after each
    of them but for what the command has ``forgotten``. Nothing comes after a command that is not ``followed``."""
    flows = [
        [
            (made(state, transition), ~forgotten(transition) if followed(state, transition) else 0, transition.target)
            for transition in leaving
        ]
        for state, leaving in enumerate(automaton.out)
    ]
    found = [0] * len(flows)
    changed = True
    while changed:
        stop_point()
        changed = False
        for state in reversed(range(len(flows))):  # states are numbered forwards, so most of it is done in one go
            bits = 0
            for own, kept, target in flows[state]:
                bits |= own | found[target] & kept
            if bits != found[state]:
                found[state], changed = bits, True
    return found


def _is_barrier(transition: Transition) -> bool:
    return isinstance(transition.form, core.Barrier)


def _bits(members: Iterable[int]) -> int:
    bits = 0
    for member in members:
        bits |= 1 << member
    return bits
