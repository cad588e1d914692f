"""Recordings of simulated runs: what a recorder would have written of a run of a program.

So everything that is asked of recordings can be asked of any program, without a library to run it with.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from pgasrob.program import core
from pgasrob.program.commands import map_expressions
from pgasrob.program.control import Transition
from pgasrob.program.core import Operands
from pgasrob.program.expressions import Const, Expr, evaluator
from pgasrob.program.instance import Instance, Registers
from pgasrob.recording.events import Recorded, Recording
from pgasrob.semantics.effect import execute
from pgasrob.semantics.state_space import Letter


def recorded(instance: Instance, words: Sequence[Sequence[Letter]]) -> Recording:
    """The recording of an SC run, given by the words of its commands (`semantics.sequential`)."""
    program = instance.program
    events = tuple(_events(instance, words))
    return Recording(program.name, instance.nodes, program.memory, program.queues, events, program.source)


def _events(instance: Instance, words: Sequence[Sequence[Letter]]) -> Iterator[Recorded]:
    control = [0] * instance.nodes
    registers, memory = [instance.registers] * instance.nodes, instance.memory
    for word in words:
        if word[0].kind == "barrier":
            for letter in word:
                transition = _taken(instance, letter, control)
                control[letter.rank] = transition.target
                yield Recorded(letter.rank, transition.command, transition.span)
            continue
        rank = word[0].rank
        transition = _taken(instance, word[0], control)
        operands = instance.operands(rank, transition, registers[rank])
        if not isinstance(operands, core.Assign | core.Test):
            command = map_expressions(transition.command, partial(_value, registers[rank]))
            yield Recorded(rank, command, transition.span, _seen(operands, memory))
        after = execute(operands, registers[rank], memory)
        assert after is not None, "it was issued"
        control[rank], (registers[rank], memory) = transition.target, after


def _taken(instance: Instance, letter: Letter, control: Sequence[int]) -> Transition:
    leaving = instance.automata[letter.rank].out[control[letter.rank]]
    return next(each for each in leaving if each.occurrence == letter.which)


def _seen(operands: Operands, memory: Sequence[int]) -> int | None:
    """Of a read that polls what it saw."""
    if isinstance(operands, core.Immediate) and operands.until is not None:
        return memory[operands.access.cell]
    return None


def _value(registers: Registers, expr: Expr) -> Const:
    return Const(evaluator(expr)(registers))
