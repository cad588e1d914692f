"""Branches: which conditions are decided, and what is still to be executed."""

from pgasrob.frontends.c.branching import Branch
from pgasrob.frontends.c.machine_parts import Parts
from pgasrob.frontends.c.undecided import committed
from pgasrob.frontends.c.writer import UNDISTURBED
from pgasrob.program.expressions import Binary, Const, IntType, Register
from tests.frontends.c.rank_parts import parts_of

INT32 = IntType(32, True)
R = Register("r", 0)


def two(parts: Parts) -> tuple[Branch, Branch]:
    parts.position.state.notes[UNDISTURBED] = True
    yes, no = (Branch(parts.writer.fresh().label, parts.position.state.copy()) for _ in range(2))
    return yes, no


def test_a_condition_on_registers_is_branched_on() -> None:
    parts = parts_of()
    yes, no = two(parts)
    assert parts.branching.settled(R) == R
    parts.branching.fork(R, yes, no)
    assert parts.branching.pending == [no, yes]  # the last one is executed next
    assert (parts.writer.node.goes_to, parts.writer.node.condition) == ((yes.label, no.label), R)
    assert yes.first is no.first is None and yes.state.notes[UNDISTURBED] is False


def test_a_condition_on_an_unknown_value_goes_both_ways() -> None:
    parts = parts_of()
    yes, no = two(parts)
    leaf = parts.undecided.new_leaf("random", (0, 9))
    condition = Binary("<", leaf, Const(5), INT32)
    assert parts.branching.settled(condition) == condition
    parts.branching.fork(condition, yes, no)
    assert parts.writer.node.condition is None
    assert yes.first == no.first == committed(parts.position.span)
    assert [each.state.assumed[leaf].high for each in (yes, no)] == [4, 9]
    assert parts.branching.settled(Binary("<", leaf, Const(10), INT32)) is True


def test_any_of_several_branches() -> None:
    parts = parts_of()
    parts.position.state.notes[UNDISTURBED] = True
    branches = [parts.branching.branch(None, "s0") for _ in range(3)]
    parts.branching.any_of(branches)
    assert parts.branching.pending == branches[::-1]
    assert parts.writer.node.goes_to == tuple(each.label for each in branches) and not parts.writer.open
    assert branches[0].again == "s0" and branches[0].state.notes[UNDISTURBED] is False
    assert parts.position.state.notes[UNDISTURBED] is True
