"""A program on some nodes: what operands carry from a command to those who execute it."""

from __future__ import annotations

import pytest

from pgasrob.diagnostics import Diagnostic, SourceError
from pgasrob.program.commands import FetchAdd
from pgasrob.program.control import ControlAutomaton, Transition
from pgasrob.program.core import Access, Immediate, Update
from pgasrob.program.expressions import INT32, Const, IntType, Register
from pgasrob.program.instance import MAX_CELLS_IN_ALL, MAX_WAYS, Instance
from pgasrob.program.parser import parse
from pgasrob.program.statements import Span
from tests.support import program


@pytest.mark.parametrize("type", [INT32, IntType(8, signed=True), IntType(64, signed=False)])
def test_operands_of_a_fetch_add_carry_its_type(type: IntType) -> None:
    command = FetchAdd(Register("r", 0), Const(0), Const(1), Const(5), type)
    transition = Transition(command, 1, 0, Span(1, 1, 1, 2))
    instance = Instance(program("skip;"), 1, (ControlAutomaton(((transition,), ())),))
    operands = instance.operands(0, transition, (0, 0))
    assert operands == Immediate(Access(1, True, True), update=Update("add", 5, type=type), register=0)


def test_other_operands_compute_in_32_bits() -> None:
    instance = program("r <- swap(0, x, 1);").instantiate()
    operands = instance.operands(0, instance.automata[0].out[0][0], (0, 0))
    assert isinstance(operands, Immediate) and operands.update == Update("set", 1, type=INT32)


def refused(text: str, nodes: int) -> Diagnostic:
    with pytest.raises(SourceError) as caught:
        parse(text).instantiate(nodes)
    (diagnostic,) = caught.value.diagnostics
    return diagnostic


def test_memory_is_bounded_on_all_nodes_together() -> None:
    text = "memory a[65536]; process { skip; }"
    assert len(parse(text).instantiate(16).memory) == MAX_CELLS_IN_ALL
    assert refused(text, 17).code == "PG035"
    diagnostic = refused(text, 1024)
    assert (diagnostic.code, diagnostic.message) == ("PG035", "67108864 cells of memory on 1024 nodes")


def test_the_ways_from_command_to_command_are_bounded() -> None:
    text = f"register r; process {{ {'choose { r <- 1; } or { } ' * 3000} }}"
    diagnostic = refused(text, 2)
    assert diagnostic.code == "PG036"
    assert diagnostic.message == f"more than {MAX_WAYS} ways from one command to the next on 2 nodes"


def test_the_ways_of_all_ranks_count_together() -> None:
    text = f"register r; process {{ {'choose { r <- 1; } or { } ' * 100} }}"
    assert len(parse(text).instantiate(2).automata) == 2
    assert refused(text, 100).code == "PG036"
