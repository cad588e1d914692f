"""Commands that are issued: what is not known any more after them."""

import random

import pytest

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.c import issuing
from pgasrob.frontends.c.contents import Contents
from pgasrob.frontends.c.machine_parts import Parts
from pgasrob.frontends.c.types import FLOAT, INT, UINT, Array, CType
from pgasrob.frontends.c.values import Address, ObjectId
from pgasrob.program.commands import Fence, Load, Put, Store, Wait, Write
from pgasrob.program.expressions import Const, Expr, Register
from tests.frontends.c.rank_parts import parts_of, variable, written

QUEUE = Const(0)


def cells(parts: Parts, *names: str, type: CType = INT) -> list[tuple[Address, Expr]]:
    """Scalars called ``names`` in cells."""
    found = [variable(parts, name, type) for name in names]
    for each in found:
        parts.facts.share(each.object, 0, 4)
    parts.world.begin()
    return [(each, parts.pointers.cell(each, 4)) for each in found]


def put(rank: int, to: Expr, of: Expr) -> Put:
    return Put(of, Const(rank), to, QUEUE)


def test_a_write_lends_its_source_and_reaches_its_target() -> None:
    parts = parts_of()
    (x, at_x), (y, at_y) = cells(parts, "x", "y")
    parts.issuer.issue(Write(at_x, Const(1), at_y, QUEUE))
    of, to = parts.facts.objects[x.object], parts.facts.objects[y.object]
    assert (of.lent, of.reached, to.lent, to.reached) == (True, False, False, True)
    assert parts.facts.is_steady(x.object, 0) and not parts.facts.is_steady(y.object, 0)
    assert not of.mixed
    assert written(parts) == [Write(at_x, Const(1), at_y, QUEUE)]


def test_a_store_of_the_rank_itself_stays_known() -> None:
    parts = parts_of()
    ((x, at_x),) = cells(parts, "x")
    parts.issuer.issue_store(Store(at_x, Const(1)))
    assert parts.facts.is_steady(x.object, 0)
    parts.issuer.issue_store(Store(at_x, Const(1), Const(1)))
    assert not parts.facts.is_steady(x.object, 0) and parts.facts.objects[x.object].reached


def test_a_store_keeps_what_the_latest_statements_have_read() -> None:
    parts = parts_of()
    ((_, at_x),) = cells(parts, "x")
    leaf = parts.undecided.new_leaf("random")
    parts.flows.read = {3: leaf}
    parts.issuer.issue_store(Store(at_x, Const(1)))
    assert parts.flows.read == {3: leaf}
    parts.issuer.issue(Store(at_x, Const(1)))
    assert parts.flows.read == {}


def test_a_transfer_between_signs_mixes_objects() -> None:
    parts = parts_of()
    ((x, _),), ((y, at_y),) = cells(parts, "x"), cells(parts, "y", type=UINT)
    parts.issuer.issue(put(1, at_y, parts.pointers.cell(x, 4)))
    assert parts.facts.objects[x.object].mixed and parts.facts.objects[y.object].mixed
    assert parts.issuer.in_mixed_cells(parts.writer.node.statements)


def test_a_transfer_between_floats_and_integers_has_both_in_pieces() -> None:
    parts = parts_of()
    cells(parts, "x"), cells(parts, "y", type=FLOAT)
    at_x, at_y = (parts.pointers.cell(Address(id, 0), 4) for id in parts.facts.objects)
    parts.issuer.issue(put(1, at_y, at_x))
    assert all(each.pieces for each in parts.facts.objects.values())


def mixing(seed: int) -> list[tuple[bool, bool, set[int]]]:
    """What is known of some objects, arrays and memory without a type, after transfers between them."""
    draw, parts = random.Random(seed), parts_of()
    types = draw.choices((INT, UINT, FLOAT), (3, 1, 3), k=2)
    ids = []
    for name in ("x", "y", "z")[: draw.randint(2, 3)]:
        declared = draw.choice((None, *types, *(Array(each, 4) for each in types)))
        id = ObjectId("global", (name,))
        parts.objects.declare(id, name, 16, declared, Contents(draw.choice((0, 0, 1))))
        object = parts.facts.objects[id]
        for _ in range(draw.randint(0, 2)):
            object.accesses.note(4 * draw.randint(0, 1), draw.choice(types))
        object.mixed = not draw.randrange(9)
        object.floats.update(draw.choices((0, 4), k=not draw.randrange(4)))
        for offset in (0, 4):
            parts.facts.share(id, offset, 4)
        if not draw.randrange(9):
            parts.facts.split(id)
        ids.append(id)
    parts.world.begin()
    for _ in range(3):
        places = [(id, draw.choice((None, 0, 0, 4))) for id in draw.sample(ids, 2)]
        parts.issuer.look_for_mixing(places)
    return [(each.mixed, each.pieces is not None, each.floats) for each in parts.facts.objects.values()]


def test_memory_of_one_type_of_integers_needs_no_look(monkeypatch: pytest.MonkeyPatch) -> None:
    soon = [mixing(seed) for seed in range(130)]
    monkeypatch.setattr(issuing, "_are_alike", lambda objects: False)
    assert soon == [mixing(seed) for seed in range(130)]


def test_arrays_of_one_type_are_compared_once() -> None:
    parts = parts_of()
    x = variable(parts, "x", Array(INT, 2))
    parts.facts.share(x.object, 0, 4)
    parts.world.begin()
    at_x = parts.pointers.cell(x, 4)
    parts.issuer.issue(put(1, at_x, at_x))
    assert parts.world.compared == {(x.object, x.object)}


@pytest.mark.parametrize(("shared", "count"), [("none", 0), ("all", 1)])
def test_fences_order_puts_where_memory_is_shared(shared: str, count: int) -> None:
    parts = parts_of(shared_memory=shared)
    (_, at_x), (_, at_y) = cells(parts, "x", "y")
    parts.issuer.issue(Fence(QUEUE, None))
    assert not parts.issuer.fenced  # nothing was put before
    parts.issuer.issue(put(1, at_y, at_x))
    parts.issuer.issue(Fence(QUEUE, Const(0)))
    assert not parts.issuer.fenced  # another rank
    parts.issuer.issue(Fence(QUEUE, Const(1)))
    assert len(parts.issuer.fenced) == count
    parts.issuer.issue(Wait(QUEUE))
    assert not parts.issuer.fenced


def test_a_fault_ends_the_rank() -> None:
    parts = parts_of()
    parts.issuer.fault("nothing is there")
    [load] = written(parts)
    assert isinstance(load, Load) and load.address == Const(parts.world.faults["nothing is there", Wrong.BOUNDS])
    assert isinstance(load.register, Register) and not parts.writer.open and parts.writer.node.goes_to == ()
