"""Which numbers cells have, by all that is known of their objects: signed or not, floats or integers."""

from __future__ import annotations

from pgasrob.frontends.c.facts import Facts, ObjectFacts
from pgasrob.frontends.c.layout import size_of
from pgasrob.frontends.c.parts import scalar_at, scalar_types
from pgasrob.frontends.c.types import FLOAT, CType, Floating, Integer
from pgasrob.frontends.c.values import ObjectId


def signs(facts: Facts, id: ObjectId, offset: int | None, size: int) -> set[bool]:
    """Whether the number of ``size`` bytes at ``offset`` (None: any of the object) is signed, by its declaration
    and by all accesses. The bits of a double are a signed number."""
    numbers = _numbers(facts, id, offset)
    if offset is not None:
        numbers = {each for each in numbers if size_of(each) == size}
    return {isinstance(each, Floating) or each.type.signed for each in numbers}


def kinds(facts: Facts, id: ObjectId, offset: int | None) -> set[type[Integer] | type[Floating]]:
    """What the number of 4 bytes at ``offset`` (None: any of the object) is, by its declaration, by all accesses and by
    what is there at the beginning; nothing where it may be either, as in an array of structures or a buffer."""
    object = facts.objects[id]
    found = {type(each) for each in _numbers(facts, id, offset) if size_of(each) == size_of(FLOAT)}
    if offset is None:
        return found if len(found) < 2 else set()
    places = range(offset, offset + facts.size_at(id, offset))
    if any(size < size_of(FLOAT) for size in object.accesses.sizes(places.start, places.stop).values()):
        found.add(Integer)  # for its bytes are looked at
    if not found and any(object.initial.byte(each) for each in places):
        found.add(Integer)
    return found | {Floating} if offset in object.floats else found


def has_float(object: ObjectFacts, offset: int) -> bool:
    """Whether a `float` begins at ``offset`` of an object, by its declaration or by an access."""
    return FLOAT in object.accesses.types(offset) or (
        object.type is not None and scalar_at(object.type, offset) == FLOAT
    )


def _numbers(facts: Facts, id: ObjectId, offset: int | None) -> set[Integer | Floating]:
    object = facts.objects[id]
    types: set[CType | None] = set()
    if offset is None:
        types |= object.accesses.numbers | (scalar_types(object.type) if object.type else frozenset())
    else:
        types |= {*object.accesses.types(offset), scalar_at(object.type, offset) if object.type else None}
    return {each for each in types if isinstance(each, Integer | Floating)}
