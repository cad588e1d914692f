"""Loads and stores: of what is known, of cells, of parts of cells, and of other ranks' memory."""

import pytest

from pgasrob.frontends.c.contents import ANYTHING
from pgasrob.frontends.c.machine_parts import Parts
from pgasrob.frontends.c.nondeterminism import leaves_of
from pgasrob.frontends.c.problem import Problem
from pgasrob.frontends.c.types import CHAR, DOUBLE, FLOAT, INT, LONG, Array, CType
from pgasrob.frontends.c.values import UNDEFINED, Address, Known, Unknown
from pgasrob.program.commands import FetchUpdate, Load, Store
from pgasrob.program.expressions import Const, Register
from tests.frontends.c.rank_parts import parts_of, variable, written


def in_cells(parts: Parts, name: str, type: CType, size: int = 4) -> Address:
    """An object of ``type``, whose first ``size`` bytes are a scalar in a cell."""
    address = variable(parts, name, type)
    parts.facts.share(address.object, 0, size)
    parts.world.begin()
    return address


def test_what_is_in_ones_own_memory_is_known() -> None:
    parts = parts_of()
    x = variable(parts, "x", Array(INT, 4))
    parts.memory.store(Address(x.object, 4), Known(7), INT)
    assert parts.memory.load(Address(x.object, 4), INT) == Known(7)
    assert parts.memory.load(x, INT) == Known(0)
    assert written(parts) == []


@pytest.mark.parametrize("access", ["load", "store"])
def test_what_is_outside_of_an_object_is_a_fault(access: str) -> None:
    parts = parts_of()
    outside = Address(variable(parts, "x", INT).object, 4)
    if access == "load":
        assert parts.memory.load(outside, INT) == UNDEFINED
    else:
        parts.memory.store(outside, Known(1), INT)
    assert not parts.writer.open and len(parts.world.faults) == 1


def test_a_store_to_a_cell_is_a_command_and_stays_known() -> None:
    parts = parts_of()
    x = in_cells(parts, "x", INT)
    parts.memory.store(x, Known(7), INT)
    [store] = written(parts)
    assert isinstance(store, Store) and store.value == Const(7) and store.rank is None
    assert parts.memory.load(x, INT) == Known(7)
    parts.facts.unsettle(x.object, 0)
    assert isinstance(parts.memory.load(x, INT), Unknown)


def test_memory_of_another_rank_is_loaded_by_a_command() -> None:
    parts = parts_of(shared_memory="all")
    there = Address(in_cells(parts, "x", INT).object, 0, owner=1)
    assert isinstance(parts.memory.load(there, INT), Unknown)
    [load] = written(parts)
    assert isinstance(load, Load) and load.rank == Const(1)


def test_a_store_of_a_register_puts_the_scalar_into_a_cell() -> None:
    parts = parts_of()
    x = variable(parts, "x", INT)
    parts.memory.store(x, Unknown(Register("r", 9)), INT)
    assert parts.facts.objects[x.object].in_cells and not parts.facts.is_steady(x.object, 0)


def test_no_pointer_is_put_into_a_cell() -> None:
    parts = parts_of()
    x = in_cells(parts, "x", LONG, 8)
    with pytest.raises(Problem, match="a pointer is stored in `x`"):
        parts.memory.store(x, x, LONG)


def test_a_part_of_a_cell_is_set_by_what_is_known_or_by_its_bits() -> None:
    parts = parts_of()
    x = in_cells(parts, "x", INT)
    parts.memory.store(Address(x.object, 1), Known(1), CHAR)
    [store] = written(parts)
    assert isinstance(store, Store) and store.value == Const(256) and store.bytes == ((1, 2),)
    parts.facts.unsettle(x.object, 0)
    parts.memory.store(Address(x.object, 1), Known(1), CHAR)
    update = written(parts)[-1]
    assert isinstance(update, FetchUpdate) and update.operation == "xor" and update.bytes == ((1, 2),)


def test_a_float_of_which_parts_are_accessed_lies_in_pieces() -> None:
    parts = parts_of()
    x = in_cells(parts, "x", FLOAT)
    parts.facts.note(x.object, 0, FLOAT)
    parts.memory.load(Address(x.object, 1), CHAR)
    assert parts.facts.objects[x.object].pieces and parts.facts.objects[x.object].shared.get(1) == 1


def test_memory_is_filled() -> None:
    parts = parts_of()
    x = variable(parts, "x", Array(INT, 2))
    parts.memory.fill(x, 1, 5)
    assert parts.memory.load(x, INT) == Known(0x01010101)
    assert parts.memory.load(Address(x.object, 4), INT) == Known(1)
    y = in_cells(parts, "y", Array(INT, 2))
    parts.memory.fill(y, ANYTHING, 4)
    assert not parts.facts.is_steady(y.object, 0)


def test_copies_take_cells_and_what_is_known() -> None:
    parts = parts_of()
    x, y = in_cells(parts, "x", Array(INT, 2)), variable(parts, "y", Array(INT, 2))
    parts.memory.store(Address(x.object, 4), Known(3), INT)
    parts.facts.unsettle(x.object, 0)
    parts.memory.copy(y, x, 8)
    assert isinstance(written(parts)[-2], Load) and parts.memory.load(Address(y.object, 4), INT) == Known(3)
    assert parts.facts.objects[y.object].in_cells  # it holds a register now


def test_the_life_of_what_was_lent_ends_with_a_store() -> None:
    parts = parts_of()
    x = in_cells(parts, "x", INT)
    parts.memory.end_of_life(x.object)
    assert written(parts) == [] and parts.facts.objects[x.object].given_back
    parts.facts.lend(x.object)
    parts.memory.end_of_life(x.object)
    assert [type(each) for each in written(parts)] == [Store]


def test_registers_are_taken_for_the_type_of_the_load() -> None:
    parts = parts_of()
    x, register = in_cells(parts, "x", INT), Register("r", 0)
    assert parts.memory.loaded(x, register, INT) == Unknown(register)
    parts.facts.mix(x.object)
    assert parts.memory.loaded(x, register, INT) != Unknown(register)
    y = in_cells(parts, "y", DOUBLE, 8)
    assert parts.memory.loaded(y, register, DOUBLE) == Unknown(register)
    parts.memory.loaded(x, register, FLOAT)
    assert parts.facts.objects[x.object].pieces


def test_an_unknown_value_cannot_be_mixed_with_registers_in_memory() -> None:
    parts = parts_of()
    x, leaf = variable(parts, "x", INT), parts.undecided.new_leaf("random")
    parts.memory.store(x, Unknown(leaf), INT)
    assert leaves_of(parts.memory.load(x, INT)) and not parts.facts.objects[x.object].in_cells


def test_a_call_names_each_scalar_that_it_may_use_and_none_outside() -> None:
    parts = parts_of()
    x = variable(parts, "x", Array(INT, 4))
    accesses = parts.facts.objects[x.object].accesses
    parts.memory.number_at(Address(x.object, 16), INT, compared=False)
    assert accesses.types(16) == set()
    parts.memory.number_at(Address(x.object, 4), INT, compared=False)
    assert accesses.types(4) == {INT} and accesses.types(8) == set()
    parts.memory.number_at(Address(x.object, Register("i", 0), steps=(0, 4)), INT, compared=False)
    assert all(accesses.types(offset) == {INT} for offset in (0, 4, 8, 12))
