"""Simulates a run of a program, and records it as a recorder would have.

So everything that is asked of recordings can be asked of any program, without a library to run it with.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice

from pgasrob.program import core
from pgasrob.program.commands import map_expressions
from pgasrob.program.control import Transition
from pgasrob.program.core import Operands
from pgasrob.program.expressions import Const, Expr, evaluator
from pgasrob.program.instance import Instance, Registers, refuse_threads
from pgasrob.races.access_facts import facts_of
from pgasrob.recording.events import Recorded, Recording
from pgasrob.semantics.effect import execute
from pgasrob.semantics.sequential import SequentialSpace
from pgasrob.semantics.state_space import Letter
from pgasrob.stop_points import stop_point

MOST_CHOICES = 4_096
"""Transitions of one state to choose from: with choices at a barrier there can be millions."""


def recorded(instance: Instance, words: Sequence[Sequence[Letter]]) -> Recording:
    """The recording of an SC run, given by the words of its commands (`semantics.sequential`)."""
    refuse_threads(instance.program, "a recording")
    program, run = instance.program, _Run(instance)
    events = [event for word in words for event in run.issue(word)]
    following = [event for rank in range(instance.nodes) for event in run.next_commands(rank)]
    return Recording(program.name, instance.nodes, program.memory, program.queues, events, program.source, following)


class _Run:
    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._control = [0] * instance.nodes
        self._registers, self._memory = [instance.registers] * instance.nodes, instance.memory

    def issue(self, word: Sequence[Letter]) -> Iterator[Recorded]:
        """What is recorded of a command."""
        for letter in word[: self._instance.nodes if word[0].kind == "barrier" else 1]:
            rank = letter.rank
            transition = _taken(self._instance, letter, self._control)
            operands = self._instance.operands(rank, transition, self._registers[rank])
            yield from self._recorded(rank, transition, operands)
            after = execute(operands, self._registers[rank], self._memory)
            assert after is not None, "it was issued"
            self._control[rank], (self._registers[rank], self._memory) = transition.target, after

    def next_commands(self, rank: int) -> Iterator[Recorded]:
        """The next command of ``rank``, the first if there are several; not a read that polls, of which it is not known
        yet what it waits for."""
        found = self._instance.evaluated(rank, self._control[rank], self._registers[rank])
        for transition, operands in found:
            if not (isinstance(operands, core.Immediate) and operands.until is not None):
                yield from self._recorded(rank, transition, operands)
            return

    def _recorded(self, rank: int, transition: Transition, operands: Operands) -> Iterator[Recorded]:
        if not isinstance(operands, core.Assign | core.Test):
            command = map_expressions(transition.command, partial(_value, self._registers[rank]))
            yield Recorded(rank, command, transition.span, _seen(transition, operands, self._memory))


def _taken(instance: Instance, letter: Letter, control: Sequence[int]) -> Transition:
    leaving = instance.automata[letter.rank].out[control[letter.rank]]
    return next(each for each in leaving if each.occurrence == letter.which)


def _seen(transition: Transition, operands: Operands, memory: Sequence[int]) -> int | None:
    """Of a read that looks for a value what it saw; a loop over an array does not, though it comes back."""
    if isinstance(operands, core.Immediate) and operands.until is not None and facts_of(transition)[0].waits:
        return memory[operands.access.cell]
    return None


def _value(registers: Registers, expr: Expr) -> Const:
    return Const(evaluator(expr)(registers))


def sc_run(instance: Instance, seed: int, most: int) -> list[tuple[Letter, ...]]:
    """A random SC run, the one that belongs to ``seed``: of ``most`` commands unless it ends before."""
    chance, space = random.Random(seed), SequentialSpace(instance)
    state, words = space.initial, list[tuple[Letter, ...]]()
    while len(words) < most and (edges := list(islice(space.successors(state), MOST_CHOICES))):
        stop_point()
        word, state = edges[chance.randrange(len(edges))]
        words.append(word)
    return words
