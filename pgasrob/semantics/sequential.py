"""SC runs: every step directly follows its issue. Assertions, deadlocks and faults are about these runs.

The design, section 6: a program is in error when an SC run reaches a command that cannot be evaluated; an assertion is
violated when an SC run reaches it and it is false; a deadlock is a state in which nothing changes any more and some
rank has not ended: it is blocked by more than false assumes, or goes round a loop for ever (`standstill`). Where
assumes are guesses of a front end, a state in which a rank is blocked by false assumes alone is no deadlock: the run
has guessed wrong. Neither is one with an exit next, which ends all ranks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from pgasrob.automata.automaton import Reached
from pgasrob.program import core
from pgasrob.program.control import Transition
from pgasrob.program.core import Operands
from pgasrob.program.expressions import Fault
from pgasrob.program.illegal_calls import Claim
from pgasrob.program.instance import Instance, Memory, Registers
from pgasrob.semantics.computation import Computation
from pgasrob.semantics.effect import execute, put
from pgasrob.semantics.standstill import Standstill, Stay
from pgasrob.semantics.state_space import Letter, barrier_word, behind, computation_of, issued


class SequentialState(NamedTuple):
    """Control states and registers per process, and the flat memory."""

    control: tuple[int, ...]
    registers: tuple[Registers, ...]
    memory: Memory


Edge = tuple[tuple[Letter, ...], SequentialState]


class Next(NamedTuple):
    """A command that may come next, with its operands, and its events when its steps directly follow its issue."""

    transition: Transition
    operands: Operands
    word: tuple[Letter, ...]


class SequentialSpace:
    """The automaton of the SC runs of an instance; every state is final."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        count = instance.processes
        self.initial = SequentialState((0,) * count, (instance.registers,) * count, instance.memory)
        self._next: dict[tuple[int, int, Registers], list[Next]] = {}

    def is_final(self, state: SequentialState) -> bool:
        return True

    def successors(self, state: SequentialState) -> Iterator[Edge]:
        for rank in range(self.instance.processes):
            yield from self.issues_of(state, rank)
        yield from self.barriers(state)

    def barriers(self, state: SequentialState) -> Iterator[Edge]:
        """The transitions by which all ranks pass a barrier."""
        for arrivals in self.instance.barriers(state.control):
            yield barrier_word(self.instance, arrivals), state._replace(control=behind(state.control, arrivals))

    def issues_of(self, state: SequentialState, rank: int) -> Iterator[Edge]:
        """The transitions by which ``rank`` alone issues a command."""
        for (_, _, word), after in self.made_by(state, rank):
            yield word, after

    def made_by(self, state: SequentialState, rank: int) -> Iterator[tuple[Next, SequentialState]]:
        """The commands that ``rank`` alone can make, each with the state after it and its steps."""
        own = state.registers[rank]
        for command in self._next_of(rank, state.control[rank], own):
            transition, operands, _ = command
            done = execute(operands, own, state.memory)
            if done is None:
                continue
            registers, memory = done
            files = state.registers if registers is own else put(state.registers, rank, registers)
            yield command, SequentialState(put(state.control, rank, transition.target), files, memory)

    def _next_of(self, rank: int, control: int, registers: Registers) -> list[Next]:
        """The next commands of ``rank`` at ``control``, whether or not it can make them: they are the same in many
        states."""
        key = rank, control, registers
        found = self._next.get(key)
        if found is None:
            evaluated = self.instance.evaluated(*key)
            found = [Next(each, operands, sequential_word(rank, each, operands)) for each, operands in evaluated]
            self._next[key] = found
        return found

    def faults(self, state: SequentialState) -> Iterator[tuple[int, Transition, Fault]]:
        """The next commands of all ranks that fault, and why."""
        for rank, automaton in enumerate(self.instance.automata):
            for transition in automaton.out[state.control[rank]]:
                try:
                    self.instance.operands(rank, transition, state.registers[rank])
                except Fault as fault:
                    yield rank, transition, fault

    def failed_assertions(self, state: SequentialState) -> Iterator[tuple[Claim, tuple[Letter, ...]]]:
        """What is claimed by the next commands that are assertions and false (None by one of the program's own), and
        their words."""
        for rank in range(self.instance.processes):
            for _, operands, word in self._next_of(rank, state.control[rank], state.registers[rank]):
                if isinstance(operands, core.Test) and not (operands.blocks or operands.condition):
                    yield operands.claim, word

    @cached_property
    def standstill(self) -> Standstill[SequentialState]:
        return Standstill(SequentialSpace, self.instance, assumes_are_guesses(self.instance))

    def is_deadlock(self, state: SequentialState) -> bool:
        """Whether ``state`` stays as it is, and some rank has not ended, by more than false assumes.

        A program may block a rank by assumes on purpose; others may still wait for each other.
        """
        stays = self.standstill.stays(state)
        return stays is not None and is_stuck(stays, assumes_are_guesses(self.instance))


def assumes_are_guesses(instance: Instance) -> bool:
    """Whether the assumes were made by a front end, which splits a call into several cases with an assume for each."""
    return not instance.program.source.shows_commands


def is_stuck(stays: Sequence[Stay], guesses: bool) -> bool:
    """Whether ranks that stay so are in a deadlock: one waits or goes round for ever, and it is a run (no guess was
    wrong) that no exit ends."""
    how = {stay.how for stay in stays}
    return not how.isdisjoint(("waits", "spins")) and "exits" not in how and not (guesses and "stopped" in how)


def sequential_word(rank: int, transition: Transition, operands: Operands) -> tuple[Letter, ...]:
    """The events of a command whose steps directly follow its issue (nothing else of the rank is pending)."""
    chain = core.steps_of(operands)
    return (
        issued(rank, transition, operands),
        *(
            Letter(step.kind, rank, step.access.cell, 0, number == len(chain), step.access.commutes)
            for number, step in enumerate(chain, 1)
        ),
    )


@dataclass(frozen=True, slots=True)
class FoundFault:
    """A fault on an SC run: which command of which rank, why, its registers, and the run that leads to it."""

    rank: int
    transition: Transition
    reason: str
    code: str
    registers: Registers
    run: Computation


class SequentialFacts:
    """What is true of the SC runs, learned breadth-first; can be paused and resumed.

    Attributes: ``fault`` and ``deadlock`` (a run that shows it, None so far), ``failed`` (a run in which an assertion
    of the program fails, under None, and one to each illegal call), ``complete`` (whether all SC runs have been seen,
    so that None means there is none) and ``checks_deadlock`` (whether the program has anything to check).
    """

    def __init__(self, instance: Instance) -> None:
        self._space = SequentialSpace(instance)
        self._reached = Reached(self._space)
        self.fault: FoundFault | None = None
        self.failed: dict[Claim, Computation] = {}
        self.deadlock: Computation | None = None
        self._checks_assertions = instance.has_claims
        self.checks_deadlock = instance.can_wait

    @property
    def complete(self) -> bool:
        return self._reached.complete and not self._space.standstill.undecided

    @property
    def states(self) -> int:
        return len(self._reached)

    @property
    def transitions(self) -> int:
        return self._reached.transitions

    def explore(self, most: int | None = None) -> Iterator[None]:
        """Look at one state per iteration, or at some of the transitions of one that has very many; ends at a fault,
        when all SC runs have been seen, or more than ``most`` states."""
        for state in self._reached.expand():
            if not self._reached.midway:
                self._look_at(state)
            if self.fault or (most is not None and self.states > most):
                return
            yield

    def _look_at(self, state: SequentialState) -> None:
        for rank, transition, fault in self._space.faults(state):
            self.fault = FoundFault(rank, transition, str(fault), fault.code, state.registers[rank], self._run(state))
            return
        for claim, word in self._space.failed_assertions(state) if self._checks_assertions else ():
            if claim not in self.failed:
                self.failed[claim] = self._run(state, word)
        if self.checks_deadlock and self.deadlock is None and self._space.is_deadlock(state):
            self.deadlock = self._run(state)

    def _run(self, state: SequentialState, *last: tuple[Letter, ...]) -> Computation:
        return computation_of([*self._reached.path(state), *last])
