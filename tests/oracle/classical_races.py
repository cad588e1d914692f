"""The classical definition of a race: two accesses that happens-before does not order, in some SC run.

For programs whose operations have plain steps alone (no deferred atomics, notifications, signals), and with awaits
taken for atomics only (`strict`), there is such a race iff there is one by the definition over X (`proofs/races.md`,
section 6): a second oracle, which looks at SC runs only. It lists all of them, so it is for small programs without
loops.

*Happens-before* is here about events and not commands: an issue comes after what its rank has issued before, a step
after its issue and the steps before it in its chain; what completion rules order is ordered, a wait comes after the
steps it waits for, a barrier is one event; an atomic access comes after the earlier ones of its cell that are atomic
together with it. A rank that stands before an await counts as if the await came next, whether or not it holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pgasrob.analysis.placement import DELAYED, NOW, Placement, fenced, lower_bounds, placed, wait_is_over
from pgasrob.program import core
from pgasrob.program.control import Transition
from pgasrob.program.core import Operands
from pgasrob.program.instance import Instance
from pgasrob.races.access_facts import atomic_together
from pgasrob.races.racing_pairs import Next, Pairs, Places, next_at_issue, places, step
from pgasrob.semantics.accesses import conflict
from pgasrob.semantics.effect import execute, put
from pgasrob.semantics.sequential import SequentialState
from pgasrob.semantics.state_space import behind


class Run(NamedTuple):
    """An SC run so far: its state; its accesses (None for an event without), which events happen before each, itself
    included, as a bit set, and of which command it is; per rank its last issue, and for each step what completion rules
    would say of later ones if it had not happened."""

    state: SequentialState
    accesses: tuple[Next | None, ...]
    before: tuple[int, ...]
    commands: tuple[int, ...]
    last: tuple[int, ...]
    held: tuple[tuple[tuple[int, Placement], ...], ...]


def classical_races(instance: Instance, most: int) -> set[Places] | None:
    """The places of two accesses that no happens-before orders in some SC run of ``instance``; None when it has more
    than ``most`` SC runs, prefixes counted."""
    return _Classical(instance).races(most)


class _Classical:
    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.pairs = Pairs(instance, strict=True)
        self.found: set[Places] = set()

    def races(self, most: int) -> set[Places] | None:
        nodes = self.instance.processes
        state = SequentialState((0,) * nodes, (self.instance.registers,) * nodes, self.instance.memory)
        stack, seen = [Run(state, (), (), (), (-1,) * nodes, ((),) * nodes)], 0
        while stack:
            run = stack.pop()
            seen += 1
            if seen > most:
                return None
            for rank in range(nodes):
                for each in next_at_issue(self.instance, rank, run.state.control[rank], run.state.registers[rank]):
                    form = each.transition.form
                    if isinstance(form, core.Immediate) and form.may_block:
                        self._added(run, [rank], each, command=-1)
            stack += self._longer(run)
        return self.found

    def _longer(self, run: Run) -> Iterator[Run]:
        state = run.state
        for rank in range(self.instance.processes):
            for transition, operands in self.instance.evaluated(rank, state.control[rank], state.registers[rank]):
                done = execute(operands, state.registers[rank], state.memory)
                if done is not None:
                    registers, memory = done
                    after = SequentialState(
                        put(state.control, rank, transition.target), put(state.registers, rank, registers), memory
                    )
                    yield self._issued(run, rank, transition, operands)._replace(state=after)
        for arrivals in self.instance.barriers(state.control):
            arrived = self._added(run, [rank for rank, _ in arrivals], None, len(run.accesses))
            yield arrived._replace(state=state._replace(control=behind(state.control, arrivals)))

    def _issued(self, run: Run, rank: int, transition: Transition, operands: Operands) -> Run:
        """``run`` with a command of ``rank``: its issue, and its steps."""
        made, command = core.at_issue(operands), len(run.accesses)
        first = None if made is None else Next(rank, transition, 0, made, at_issue=True)
        waited = [event for event, placement in run.held[rank] if not wait_is_over(placement, operands)]
        run = self._added(run, [rank], first, command, waited)
        held = tuple((event, fenced(placement, operands)) for event, placement in run.held[rank])
        if isinstance(operands, core.Transfer):
            count = len(operands.steps)
            for place in range(count):
                # Those that would hold it back if they had not happened, come before it.
                earlier = [
                    event
                    for event, placement in run.held[rank]
                    if lower_bounds(self.instance, placement, operands)[place] == DELAYED
                ]
                before = [len(run.accesses) - 1, *earlier]
                run = self._added(run, [], step(rank, transition, operands, place), command, before)
                parts = [NOW] * place + [DELAYED] * (count - place)
                held = (*held, (len(run.accesses) - 1, placed(self.instance, (), operands, parts)))
        return run._replace(held=put(run.held, rank, held))

    def _added(
        self, run: Run, ranks: list[int], access: Next | None, command: int, after: list[int] | None = None
    ) -> Run:
        """``run`` with one more event, of ``ranks`` as far as it is an issue, behind the events ``after``; its races
        are noted."""
        event = len(run.accesses)
        before = 1 << event
        for earlier in [*(after or []), *(run.last[rank] for rank in ranks if run.last[rank] >= 0)]:
            before |= run.before[earlier]
        if access is not None:
            fact = self.pairs.fact(access)
            for earlier, other in enumerate(run.accesses):
                if other is None or not conflict(other.access, access.access):
                    continue
                if atomic_together(self.pairs.fact(other), fact, strict=True):
                    before |= run.before[earlier]
            for earlier, other in enumerate(run.accesses):
                if other is None or run.commands[earlier] == command or before >> earlier & 1:
                    continue
                if self.pairs.race(other, access):
                    self.found.add(places(other, access))
        return run._replace(
            accesses=(*run.accesses, access),
            before=(*run.before, before),
            commands=(*run.commands, command),
            last=tuple(event if rank in ranks else last for rank, last in enumerate(run.last)),
        )
