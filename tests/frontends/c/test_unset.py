"""Which variables in cells a rank has set."""

import pytest

from pgasrob.frontends.c.contents import Contents
from pgasrob.frontends.c.machine_parts import Parts
from pgasrob.frontends.c.symbolic import NumberNeeded
from pgasrob.frontends.c.types import INT, Array
from pgasrob.frontends.c.values import Address, ObjectId
from pgasrob.program import core
from pgasrob.program.commands import Store
from pgasrob.program.expressions import Const, Register, Symbol
from pgasrob.program.statements import Block, Choose, Do, If, Loop, Statement
from tests.frontends.c.rank_parts import parts_of

LOCAL = ObjectId("local", ("main", "a", 0))


def local(parts: Parts) -> Address:
    """A local array of four numbers in four cells."""
    parts.objects.declare(LOCAL, "main.a", 16, Array(INT, 4), Contents(None))
    for offset in range(0, 16, 4):
        parts.facts.share(LOCAL, offset, 4)
    parts.world.begin()
    return Address(LOCAL, 0)


def at(offset: int) -> Address:
    return Address(LOCAL, offset)


def store(parts: Parts, offset: int) -> Do:
    return Do(Store(Symbol("a", parts.world.cells.cells[LOCAL, offset]), Const(1)))


def look(parts: Parts, *statements: Statement, inside: tuple[Do, ...]) -> None:
    parts.unset.look_for_initialised(
        statements, {id(each): core.accesses_of(core.lower(each.command)) for each in inside}
    )


def test_what_a_store_sets() -> None:
    parts = parts_of()
    local(parts)
    assert not parts.unset.is_set(at(4), 4)
    parts.unset.initialise(at(4), 4)
    assert parts.unset.is_set(at(4), 4) and not parts.unset.is_set(at(0), 4)
    parts.unset.initialise(at(4), 4, undone=True)
    assert not parts.unset.is_set(at(4), 4)


def test_what_is_no_local_begins_with_zeros() -> None:
    parts = parts_of()
    id = ObjectId("global", ("g",))
    parts.objects.declare(id, "g", 4, INT, Contents(0))
    assert parts.unset.is_set(Address(id, 0), 4)


def test_others_know_what_they_have_set() -> None:
    parts = parts_of()
    local(parts)
    assert parts.unset.is_set(Address(LOCAL, 0, owner=1), 4)


@pytest.mark.parametrize(("both", "found"), [(True, True), (False, None)])
def test_a_choice_sets_what_all_its_branches_set(both: bool, found: bool | None) -> None:
    parts = parts_of()
    local(parts)
    first, second = store(parts, 0), store(parts, 0 if both else 4)
    look(parts, Choose((Block((first,)), Block((second,)))), inside=(first, second))
    assert parts.position.state.is_set(LOCAL).holds(0, 4) is found


def test_a_loop_or_one_branch_may_set_nothing() -> None:
    for wrap in (lambda block: Loop(block), lambda block: If(Register("r", 0), block, None)):
        parts = parts_of()
        local(parts)
        inner = store(parts, 8)
        look(parts, wrap(Block((inner,))), inside=(inner,))
        assert parts.position.state.is_set(LOCAL).holds(8, 12) is None
        assert parts.unset.is_set(at(8), 4) and not parts.unset.is_set(at(0), 4)


def test_what_others_may_have_set_is_not_known_to_be_unset() -> None:
    parts = parts_of()
    local(parts)
    parts.facts.reach(LOCAL)
    assert parts.unset.is_set(at(0), 4)


def test_stores_to_other_ranks_reach_their_memory() -> None:
    parts = parts_of()
    local(parts)
    address = Symbol("a", parts.world.cells.cells[LOCAL, 0])
    own, other = (core.accesses_of(core.lower(Store(address, Const(1), rank))) for rank in (Const(0), Const(1)))
    parts.unset.look_for_reached(own)
    assert not parts.facts.objects[LOCAL].reached
    parts.unset.look_for_reached(other)
    assert parts.facts.objects[LOCAL].reached


def test_a_symbolic_rank_must_know() -> None:
    parts = parts_of(nodes=None)
    local(parts)
    parts.facts.reach(LOCAL)
    with pytest.raises(NumberNeeded, match="whether `a` has been set here"):
        parts.unset.is_set(at(0), 4)
