"""A program on some nodes: what operands carry from a command to those who execute it."""

from __future__ import annotations

import pytest

from pgasrob.program.commands import FetchAdd
from pgasrob.program.control import ControlAutomaton, Transition
from pgasrob.program.expressions import INT32, Const, IntType, Register
from pgasrob.program.instance import Instance
from pgasrob.program.statements import Span
from tests.support import program


@pytest.mark.parametrize("type", [INT32, IntType(8, signed=True), IntType(64, signed=False)])
def test_operands_of_a_fetch_add_carry_its_type(type: IntType) -> None:
    command = FetchAdd(Register("r", 0), Const(0), Const(1), Const(5), type)
    transition = Transition(command, 1, 0, Span(1, 1, 1, 2))
    instance = Instance(program("skip;"), 1, (ControlAutomaton(((transition,), ())),))
    operands = instance.operands(0, transition, (0, 0))
    assert (operands.kind, operands.cell, operands.values, operands.type) == ("fetch_add", 1, (5,), type)


def test_other_operands_compute_in_32_bits() -> None:
    instance = program("r <- swap(0, x, 1);").instantiate()
    assert instance.operands(0, instance.automata[0].out[0][0], (0, 0)).type == INT32
