"""Objects: what is in them, how large they are."""

import pytest

from pgasrob.frontends.c.contents import Contents
from pgasrob.frontends.c.problem import Problem, TryAgain
from pgasrob.frontends.c.symbolic import Extent, NumberNeeded
from pgasrob.frontends.c.types import CHAR, DOUBLE, INT, Array
from pgasrob.frontends.c.values import Address, Known, ObjectId
from tests.frontends.c.rank_parts import parts_of, variable

HEAP = ObjectId("heap", 0)


@pytest.mark.parametrize(("offset", "size", "inside"), [(0, 16, True), (12, 4, True), (13, 4, False), (-1, 1, False)])
def test_what_is_within_an_object(offset: int, size: int, inside: bool) -> None:
    parts = parts_of()
    x = variable(parts, "x", Array(INT, 4))
    assert parts.objects.within(Address(x.object, offset), size) is inside


def test_an_object_is_as_large_as_the_rank_has_allocated_it() -> None:
    parts = parts_of()
    parts.objects.declare(HEAP, "p", 32, None, Contents(0))
    parts.objects.declare(HEAP, "p", 8, None, Contents(0))
    assert parts.objects.size(Address(HEAP, 0)) == 8 and parts.objects.room(Address(HEAP, 6)) == 2
    assert parts.objects.size(Address(HEAP, 0, owner=1)) == 32  # as large as any rank has allocated it
    assert parts.objects.size(Address(HEAP, 0, owner=0)) == 8  # its own, after all


@pytest.mark.parametrize(
    ("offset", "size", "text"),
    [
        (16, 4, "element 4 is outside of `x`, which has 4 elements (16 bytes)"),
        (17, 1, "byte 17 is outside of `x`, which has 4 elements (16 bytes)"),
        (14, 4, "bytes 14 to 17 reach out of `x`, which has 4 elements (16 bytes)"),
    ],
)
def test_what_is_said_of_what_is_outside(offset: int, size: int, text: str) -> None:
    parts = parts_of()
    x = variable(parts, "x", Array(INT, 4))
    assert parts.objects.outside(Address(x.object, offset), size) == text


def test_contents_are_copied_when_a_state_shares_them() -> None:
    parts = parts_of()
    x = variable(parts, "x", INT)
    parts.objects.contents(x.object, write=True).store(0, Known(1), INT)
    other = parts.position.state.copy()
    parts.objects.contents(x.object, write=True).store(0, Known(2), INT)
    assert parts.objects.contents(x.object).load(0, INT) == Known(2)
    assert other.memory[x.object].load(0, INT) == Known(1)


def test_contents_that_are_only_read_are_those_of_the_declaration() -> None:
    parts = parts_of("int x = 7; int main(void) { return x; }")
    id = parts.objects.global_object("x")
    assert parts.objects.contents(id).load(0, INT) == Known(7)
    assert id not in parts.position.state.memory


def test_strings_are_declared_when_they_are_used() -> None:
    parts = parts_of()
    id = parts.objects.string_object("hi")
    contents = parts.objects.contents(id)
    assert [contents.load(at, CHAR) for at in range(3)] == [Known(ord("h")), Known(ord("i")), Known(0)]
    assert parts.objects.size(Address(id, 0)) == 3


def test_memory_that_nobody_has_allocated() -> None:
    parts = parts_of()
    with pytest.raises(Problem, match="memory is accessed that no rank has allocated"):
        parts.objects.object(HEAP)
    parts.facts.changed()
    with pytest.raises(TryAgain):
        parts.objects.object(HEAP)


def test_sizes_that_depend_on_the_number_of_nodes() -> None:
    parts = parts_of(nodes=None)
    parts.objects.declare_growing(HEAP, "p", Extent(8, 16), Array(INT, None), parts.position.span)
    assert parts.facts.objects[HEAP].size == 8  # of the period
    with pytest.raises(NumberNeeded, match="how large `p` is"):
        parts.objects.size(Address(HEAP, 0))
    with pytest.raises(NumberNeeded, match="the size of `p` differs between paths through the program"):
        parts.objects.declare_growing(HEAP, "p", Extent(8, 8), None, parts.position.span)
    with pytest.raises(NumberNeeded):
        parts.objects.declare_growing(ObjectId("heap", 1), "q", Extent(1 << 13), None, parts.position.span)


def test_only_symbolic_ranks_must_agree_on_sizes() -> None:
    for nodes in (2, None):
        parts = parts_of(nodes=nodes)
        parts.objects.declare(HEAP, "p", 8, None, Contents(0))
        if nodes is None:
            with pytest.raises(NumberNeeded):
                parts.objects.declare(HEAP, "p", 16, None, Contents(0))
        else:
            parts.objects.declare(HEAP, "p", 16, None, Contents(0))


def test_the_type_of_a_scalar_is_that_of_its_accesses() -> None:
    parts = parts_of()
    x = variable(parts, "x", Array(CHAR, 16))
    assert parts.objects.known_type(x, 8) is None and str(parts.objects.scalar_type(x, 8).type.bits) == "64"  # type: ignore[union-attr]
    parts.facts.note(x.object, 0, DOUBLE)
    assert parts.objects.known_type(x, 8) == DOUBLE


def test_the_name_of_a_local_object_says_of_which_call_it_is() -> None:
    parts = parts_of("int main(void) { int x; int *p = &x; return *p; }")
    frame = parts.position.frame
    [name] = frame.function.objects
    assert parts.facts.objects[parts.objects.local_object(frame, name)].name == "main.x"
    frame.depth = 2
    assert parts.facts.objects[parts.objects.local_object(frame, name)].name == "main.x^2"
