"""The `attack` engine: one search over SC runs that guesses where a violation is delayed.

A program that is not robust has a violating computation whose last command, e, closes the cycle: without e it is not
violating. So without e it has the happens-before relation of an SC run, *sigma*, and the cycle leaves e by a conflict
into a step of an earlier command, the *source*. It is enough to run sigma command by command, guess the source once,
delay what has to come after it (the set D), and watch for a command e whose access can slip in before the source.
Where e waits for a value, further updates of the source's kind may have to be delayed with it.
Neither cycle types nor four parts are needed: part 1 is what is not delayed, with e at its end; part 2 is D, and what
is left of e (`proofs/two-parts.md`).

This is the readable reference. It knows nothing of the number of steps an operation has or of the rules that order
them: that is in `program.core` and `placement`. What makes it fast is in `reduction`, and is all optional. The proof is
in `proofs/attack.md`, the words in `proofs/glossary.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from pgasrob.analysis.placement import DELAYED, NOW, Placement, fenced, lower_bounds, placed, wait_is_over
from pgasrob.analysis.touched import Touched
from pgasrob.analysis.waited import updates_waited_for
from pgasrob.program import core
from pgasrob.program.control import Transition
from pgasrob.program.core import Cell, Operands
from pgasrob.program.instance import Instance, Memory, Registers
from pgasrob.robustness.normal_form import Word, word_of, word_of_barrier
from pgasrob.semantics.accesses import Access, conflict
from pgasrob.semantics.effect import Transferred, execute, issue
from pgasrob.semantics.state_space import behind


class Attack(NamedTuple):
    """What there is to know once the source has been chosen; (a, T, t, d) in `proofs/attack.md`, section 2.

    ``source``: the access of the step chosen, a, and of further ones if there are any. ``tainted``: the ranks whose
    further commands happen after the source's command, T, as a bit set. ``done``: what commands that happen after the
    source's command, it among them, have accessed without delay, t. ``delayed``: what the steps in D access, d.
    ``kind``: for a search for races which kind of access the source is, as it numbers them.
    """

    source: Access
    tainted: int
    done: Touched = Touched()
    delayed: Touched = Touched()
    kind: int = 0

    def taints(self, rank: int) -> bool:
        return bool(self.tainted >> rank & 1)


class State(NamedTuple):
    """Control, registers and memory of sigma without D, each rank's placement of steps, the attack once begun."""

    control: tuple[int, ...]
    registers: tuple[Registers, ...]
    memory: Memory
    placement: tuple[Placement, ...]
    attack: Attack | None


class Found(NamedTuple):
    """The state after e: the cycle is closed."""


Edge = tuple[Word, State | Found]


Choosable = Mapping[tuple[int, int, int], int]
"""For a rank, its control state and the occurrence of a remote command the steps that may be chosen as the source: a
bit set."""


class AttackSpace:
    """The search as a two-headed automaton; only the state after e is final.

    ``choosable`` restricts the choice of the source; None: any step of any command.
    """

    def __init__(self, instance: Instance, choosable: Choosable | None = None) -> None:
        self.instance = instance
        self._choosable = choosable
        self._waited_for = updates_waited_for(instance)
        count = instance.processes
        self.initial: State | Found = State(
            (0,) * count, (instance.registers,) * count, instance.memory, ((),) * count, None
        )

    def is_final(self, state: State | Found) -> bool:
        return isinstance(state, Found)

    def successors(self, state: State | Found) -> Iterator[Edge]:
        if isinstance(state, Found):
            return
        for rank in range(self.instance.processes):
            yield from self.moves(state, rank)
        yield from self.barriers(state)

    def moves(self, state: State, rank: int) -> Iterator[Edge]:
        """The edges by commands of ``rank``, barriers left out."""
        for transition, operands in self.instance.evaluated(rank, state.control[rank], state.registers[rank]):
            if isinstance(operands, core.Transfer):
                yield from self._remote(state, rank, transition, operands)
            else:
                yield from self._local(state, rank, transition, operands)

    def barriers(self, state: State) -> Iterator[Edge]:
        """The edges by barriers, which taint all who pass them once one of these is tainted (m4)."""
        for arrivals in self.instance.barriers(state.control):
            attack, passing = state.attack, sum(1 << rank for rank, _ in arrivals)
            if attack and attack.tainted & passing:
                attack = attack._replace(tainted=attack.tainted | passing)
            control = behind(state.control, arrivals)
            yield word_of_barrier(self.instance, arrivals), state._replace(control=control, attack=attack)

    def _local(self, state: State, rank: int, transition: Transition, operands: Operands) -> Iterator[Edge]:
        """A command that is one event, at its issue: (m2) and (m3) without steps."""
        if not wait_is_over(state.placement[rank], operands):
            return
        after = issue(operands, state.registers[rank], state.memory)
        if after is None:
            return
        word = word_of(rank, transition, operands)
        attack, made = state.attack, core.at_issue(operands)
        if attack and made:
            reached = attack.taints(rank) or attack.done.hits(made)
            if attack.delayed.hits(made):
                # In sigma it would come after D, so it is not in part 1; but it may be e.
                if reached and conflict(made, attack.source):
                    yield word, Found()
                return
            if reached:
                attack = attack._replace(tainted=attack.tainted | 1 << rank, done=attack.done.adding(made))
        placement = fenced(state.placement[rank], operands)
        yield word, moved(state, rank, transition, after, placement, attack)

    def _remote(self, state: State, rank: int, transition: Transition, operands: Transferred) -> Iterator[Edge]:
        """A command with steps, by (m1) to (m3') of `proofs/attack.md`: e, a source, or a command of sigma whose steps
        are delayed where they must be.

        It may be bound to an access at its issue, as a put is.
        """
        steps, attack = operands.steps, state.attack
        bounds = lower_bounds(self.instance, state.placement[rank], operands)
        if attack is None:  # (m1)
            yield self._issued(state, rank, transition, operands, [NOW] * len(steps), None)
            for source in self._sources(state, rank, transition, len(steps)):
                parts = [NOW] * source + [DELAYED] * (len(steps) - source)
                begun = Attack(steps[source].access, 1 << rank)
                yield self._issued(state, rank, transition, operands, parts, begun)
            return
        made = _bound(operands)
        first = first_part(rank, made, steps, bounds, attack)
        if first is not None:
            # e comes after all of sigma, so what is left of it comes after D.
            parts = [NOW] * first + [DELAYED] * (len(steps) - first)
            yield word_of(rank, transition, operands, parts), Found()
        if any(attack.delayed.hits(each) for each in made):
            return  # In sigma the issue would come after D, so it is not in part 1.
        parts = []  # (m3): a step goes into D by a completion rule, by a conflict, or after an earlier step in D
        for step, bound in zip(steps, bounds, strict=True):
            parts.append(max(bound, DELAYED if attack.delayed.hits(step.access) else NOW, *parts[-1:]))
        yield self._issued(state, rank, transition, operands, parts, attack)
        for further, (step, part) in enumerate(zip(steps, parts, strict=True)):
            if part == NOW and step.access == attack.source and self._waited_for.has(step.access):
                # (m3'): what e waits for may be there only as long as this update is not.
                parts = [NOW] * further + [DELAYED] * (len(steps) - further)
                joined = attack._replace(tainted=attack.tainted | 1 << rank)
                yield self._issued(state, rank, transition, operands, parts, joined)
                return

    def _sources(self, state: State, rank: int, transition: Transition, steps: int) -> Iterator[int]:
        """The steps of a remote command that may be the source."""
        chosen = -1
        if self._choosable is not None:
            chosen = self._choosable[rank, state.control[rank], transition.occurrence]
        return (step for step in range(steps) if chosen >> step & 1)

    def _issued(
        self,
        state: State,
        rank: int,
        transition: Transition,
        operands: Transferred,
        parts: Sequence[int],
        attack: Attack | None,
    ) -> Edge:
        """The edge of a remote command of sigma with its steps in ``parts``."""
        chain = [
            *((made, NOW) for made in _bound(operands)),
            *zip((step.access for step in operands.steps), parts, strict=True),
        ]
        if attack and (
            attack.taints(rank) or any(attack.done.hits(made) or attack.delayed.hits(made) for made, _ in chain)
        ):
            done, delayed = attack.done, attack.delayed
            for made, part in chain:
                if part == NOW:
                    done = done.adding(made)
                else:
                    delayed = delayed.adding(made)
            attack = attack._replace(tainted=attack.tainted | 1 << rank, done=done, delayed=delayed)
        return transferred(self.instance, state, rank, transition, operands, parts, attack)


def _bound(operands: Transferred) -> tuple[Access, ...]:
    """The accesses that a command makes at its issue."""
    return () if operands.captured is None else (operands.captured,)


Turned = Callable[[int], tuple[Sequence[Access], Sequence[Access]]]
"""For a number of steps the conditions that e turns if so many of them go before the source: by these, and by the
rest."""


def first_part(
    rank: int,
    made: Sequence[Access],
    steps: Sequence[core.Step[Cell]],
    bounds: Sequence[int],
    attack: Attack,
    turned: Turned = lambda _: ((), ()),
) -> int | None:
    """The least number of steps with which the command, as e, goes before the source and closes the cycle (m2); None if
    it cannot.

    It has ``made`` its bound accesses at the issue. Its steps up to the access that leaves must not be ordered after D.
    The cycle enters the command by program order or by a conflict of one of its accesses; those that are left come last
    of all, after D too.
    """
    chain = [*made, *(step.access for step in steps)]
    for place, leaving in enumerate(chain):
        taken = max(0, place + 1 - len(made))
        if taken and bounds[taken - 1] == DELAYED:
            return None
        if not conflict(leaving, attack.source):
            continue
        by_these, by_the_rest = turned(taken)
        now, later = (*chain[: len(made) + taken], *by_these), (*chain[len(made) + taken :], *by_the_rest)
        if (
            attack.taints(rank)
            or any(attack.done.hits(before) for before in now)
            or any(attack.done.hits(left) or attack.delayed.hits(left) for left in later)
        ):
            return taken
    return None


def transferred(
    instance: Instance,
    state: State,
    rank: int,
    transition: Transition,
    operands: Transferred,
    parts: Sequence[int],
    attack: Attack | None,
) -> Edge:
    """The edge of a remote command with its steps in ``parts``, to a state with ``attack``."""
    after = execute(operands, state.registers[rank], state.memory, parts.count(NOW))
    assert after is not None, "a remote command is always enabled"
    placement = placed(instance, state.placement[rank], operands, parts)
    return word_of(rank, transition, operands, parts), moved(state, rank, transition, after, placement, attack)


def moved(
    state: State,
    rank: int,
    transition: Transition,
    after: tuple[Registers, Memory],
    placement: Placement,
    attack: Attack | None,
) -> State:
    """``state`` after a command of ``rank`` that leaves these registers and this memory."""
    registers, memory = after
    return State(
        (*state.control[:rank], transition.target, *state.control[rank + 1 :]),
        (*state.registers[:rank], registers, *state.registers[rank + 1 :]),
        memory,
        (*state.placement[:rank], placement, *state.placement[rank + 1 :]),
        attack,
    )
