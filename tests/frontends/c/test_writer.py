"""Nodes of statements: when they are open, what disturbs a state, how many statements there may be."""

import pytest

from pgasrob.frontends.c import writer
from pgasrob.frontends.c.problem import Problem
from pgasrob.frontends.c.writer import UNDISTURBED
from pgasrob.program.commands import Assign, Store
from pgasrob.program.expressions import Const, Register
from pgasrob.program.statements import Do
from tests.frontends.c.rank_parts import parts_of, written

ASSIGN = Do(Assign(Register("r", 0), Const(1)))
STORE = Do(Store(Const(0), Const(1)))


def test_statements_go_to_the_open_node() -> None:
    parts = parts_of()
    assert parts.writer.quiet
    parts.writer.write(ASSIGN, STORE)
    assert written(parts) == [ASSIGN.command, STORE.command]
    assert not parts.writer.quiet and parts.writer.open and parts.writer.statements == 2


def test_a_node_that_is_closed_knows_what_follows() -> None:
    parts = parts_of()
    other = parts.writer.fresh()
    assert other.label != parts.writer.node.label
    parts.writer.close(other.label, condition=Const(1))
    node = parts.writer.node
    assert (node.goes_to, node.condition, node.span.line) == ((other.label,), Const(1), 1)
    assert not parts.writer.open


@pytest.mark.parametrize(("statement", "disturbs"), [(ASSIGN, False), (STORE, True)])
def test_only_assignments_do_not_disturb_a_state(statement: Do, disturbs: bool) -> None:
    parts = parts_of()
    parts.position.state.notes[UNDISTURBED] = True
    parts.writer.write(statement)
    assert parts.position.state.notes[UNDISTURBED] is not disturbs


def test_there_is_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "MOST_STATEMENTS", 2)
    parts = parts_of()
    parts.writer.write(ASSIGN, ASSIGN)
    with pytest.raises(Problem, match="more than 2 commands for rank 0"):
        parts.writer.write(ASSIGN)
