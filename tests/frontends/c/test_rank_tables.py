"""Memory with an entry for each rank, where the number of nodes is a symbol."""

import pytest

from pgasrob.frontends.c.machine_parts import Parts
from pgasrob.frontends.c.rank_tables import for_each_rank, is_a_rank
from pgasrob.frontends.c.symbolic import NumberNeeded
from pgasrob.frontends.c.types import CHAR, LONG, Pointer
from pgasrob.frontends.c.values import Address, Entry, Known, ObjectId, Unknown
from pgasrob.program.expressions import Binary, Const, IntType, Me, Nodes, Register, Unary
from tests.frontends.c.rank_parts import parts_of, variable

INT64 = IntType(64, True)
TABLE = ObjectId("heap", 0)


def filled(parts: Parts) -> Address:
    """A table of entries with 16 bytes: a pointer to `x`, and the number 5. Returns the pointer."""
    x = variable(parts, "x", LONG)
    parts.tables.declare_table(TABLE, "t", 16, None, parts.position.span)
    parts.tables.fill_table(Address(TABLE, 0), 16, ((0, x), (8, Known(5))))
    return x


def test_sizes_that_are_so_many_bytes_for_each_rank() -> None:
    each = Binary("*", Unary("cast", Nodes(), INT64), Const(8), INT64)
    assert for_each_rank(Unknown(each)) == 8
    assert for_each_rank(Unknown(Binary("+", each, Const(8), INT64))) is None
    assert for_each_rank(Known(8)) is for_each_rank(Unknown(Binary("*", Nodes(), Const(-8), INT64))) is None


def test_a_pointer_into_a_table_is_an_entry() -> None:
    parts = parts_of(nodes=None)
    filled(parts)
    assert parts.tables.entry(Address(TABLE, 24)) == Entry(TABLE, Const(1), 8)
    assert parts.tables.entry(variable(parts, "y", LONG)) is None
    moved = parts.tables.moved_entry(Entry(TABLE, Const(0)), Unknown(Me()), 16)
    assert moved == Entry(TABLE, Me())
    assert parts.tables.moved_entry(moved, Known(1), 8) == Entry(TABLE, Me(), 8)
    with pytest.raises(NumberNeeded, match="which entry of `t` this is"):
        parts.tables.moved_entry(moved, Unknown(Me()), 8)


def test_what_is_in_an_entry() -> None:
    parts = parts_of(nodes=None)
    x = filled(parts)
    assert parts.tables.from_table(Entry(TABLE, Me(), 8), LONG) == Known(5)
    assert parts.tables.from_table(Entry(TABLE, Me()), Pointer(LONG)) == x
    assert parts.tables.from_table(Entry(TABLE, Const(0)), Pointer(LONG)) == Address(x.object, 0, owner=Const(0))
    assert not parts.writer.node.statements
    parts.tables.from_table(Entry(TABLE, Register("r", 0)), Pointer(LONG))
    assert len(parts.writer.node.statements) == 1  # it may be no rank
    with pytest.raises(NumberNeeded, match="what is read of `t`"):
        parts.tables.from_table(Entry(TABLE, Me(), 8), CHAR)


def test_a_table_is_filled_by_entries_of_its_size() -> None:
    parts = parts_of(nodes=None)
    filled(parts)
    with pytest.raises(NumberNeeded, match="does not have an entry for each rank"):
        parts.tables.fill_table(Address(TABLE, 0), 8, ())
    with pytest.raises(NumberNeeded, match="the size of `t` differs"):
        parts.tables.declare_table(TABLE, "t", 8, None, parts.position.span)


def test_what_is_a_rank_by_its_form() -> None:
    unsigned = IntType(32, False)
    assert is_a_rank(Me()) and is_a_rank(Const(0)) and not is_a_rank(Const(1))
    assert is_a_rank(Binary("%", Register("r", 0), Nodes(), unsigned))
    assert not is_a_rank(Binary("%", Register("r", 0), Nodes(), INT64))
    for low in (0, -1):
        leaf = parts_of().undecided.new_leaf("random", (low, 9))
        assert is_a_rank(Binary("%", leaf, Nodes(), INT64)) is (low == 0)
