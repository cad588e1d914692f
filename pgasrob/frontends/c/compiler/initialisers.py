"""Initialisers with braces, of locals (stores) and of globals (constants by offset)."""

from __future__ import annotations

from dataclasses import dataclass

from pgasrob.frontends.c.code import Clear, Convert, Global, Instruction, Move, Offset, Set, Slot, String
from pgasrob.frontends.c.compiler.calls import Calls
from pgasrob.frontends.c.compiler.emitter import MemoryPlace, Operand
from pgasrob.frontends.c.layout import scalars, shown, size_of
from pgasrob.frontends.c.literals import string
from pgasrob.frontends.c.parser import Node
from pgasrob.frontends.c.types import CHAR, Array, CType, Integer, Opaque, Pointer, Struct
from pgasrob.frontends.c.values import NULL, Address, Code, Handle, Known, ObjectId, Value

MAX_ELEMENTS = 1_000_000


@dataclass(frozen=True, slots=True)
class Leaf:
    """A part of an initialiser: ``node`` is the value of what lies at ``offset``; ``text`` of a string."""

    offset: int
    type: CType
    node: Node
    text: str | None = None


@dataclass(slots=True)
class _Items:
    """The items of one pair of braces, each with designators that are not used up yet."""

    items: list[tuple[list[Node], Node]]
    position: int = 0

    @property
    def more(self) -> bool:
        return self.position < len(self.items)


class Initialisers(Calls):
    """Compiles initialisers (C11, 6.7.9)."""

    def leaves(self, type: CType, node: Node) -> tuple[list[Leaf], CType]:
        """The parts of the initialiser ``node`` of a ``type``, and the type with the length that it gives."""
        leaves: list[Leaf] = []
        type = self.context.complete(type)
        items = _Items([([], node)])
        text = self._text(node)
        if isinstance(type, Array) and node.type != "initializer_list" and text is None:
            raise self.context.error("PG123", "an array needs an initialiser in braces", node)
        length = self._element_leaves(type, 0, items, leaves)
        if isinstance(type, Array) and type.length is None:
            type = Array(type.of, length)
        return leaves, type

    def _text(self, node: Node) -> str | None:
        inner = self.inside(node)
        if inner.type == "initializer_list" and len(inner.children) == 1:
            inner = self.inside(inner.children[0])
        return string(self.context.token(inner)) if inner.type == "string_literal" else None

    def _element_leaves(self, type: CType, offset: int, items: _Items, leaves: list[Leaf]) -> int:
        """Take from ``items`` what initialises a ``type`` at ``offset``; the number of elements, for an array."""
        type = self.context.complete(type)
        _, node = items.items[items.position]
        braced = node.type == "initializer_list"
        if isinstance(type, Array) and isinstance(type.of, Integer) and type.of.type.bits == 8:
            text = self._text(node)
            if text is not None:
                items.position += 1
                return self._string_leaf(type, offset, node, text, leaves)
        if braced:
            items.position += 1
            inner = self._items_of(node)
            if isinstance(type, Array | Struct):
                return self._aggregate(type, offset, inner, leaves, node, braced=True)
            if len(inner.items) != 1 or inner.items[0][0]:
                if not inner.items:
                    return 0
                raise self.context.error("PG123", f"a {shown(type)} has one value", node)
            self._element_leaves(type, offset, inner, leaves)
            return 1
        if isinstance(type, Struct):
            found = self.type_of(node)
            if isinstance(found, Struct) and found.tag == type.tag:
                items.position += 1
                leaves.append(Leaf(offset, type, node))
                return 1
        if isinstance(type, Array | Struct):
            return self._aggregate(type, offset, items, leaves, node, braced=False)
        items.position += 1
        leaves.append(Leaf(offset, type, node))
        return 1

    def _items_of(self, node: Node) -> _Items:
        items: list[tuple[list[Node], Node]] = []
        for child in node.children:
            if child.type == "initializer_pair":
                items.append((list(child.fields.get("designator", [])), child["value"]))
            else:
                items.append(([], child))
        return _Items(items)

    def _string_leaf(self, type: Array, offset: int, node: Node, text: str, leaves: list[Leaf]) -> int:
        length = len(text) + 1 if type.length is None else type.length
        if len(text) > length:
            raise self.context.error("PG123", f"the string has more than {length} characters", node)
        leaves.append(Leaf(offset, Array(type.of, length), node, text[:length]))
        return length

    def _aggregate(
        self, type: Array | Struct, offset: int, items: _Items, leaves: list[Leaf], node: Node, braced: bool
    ) -> int:
        if isinstance(type, Struct) and type.tag not in self.context.structs and not type.fields:
            raise self.context.error("PG122", f"`struct {type.tag}` has no definition", node)
        count = len(type.fields) if isinstance(type, Struct) else type.length
        index = highest = 0
        while items.more:
            designators, value = items.items[items.position]
            if designators:
                if not braced:
                    return highest
                if designators[0].type == "subscript_range_designator" and isinstance(type, Array):
                    index = highest = max(highest, self._range(type, offset, designators, value, items, leaves))
                    continue
                index = self._designated(type, designators[0])
                items.items[items.position] = (designators[1:], value)
            if count is not None and index >= count:
                if braced:
                    raise self.context.error("PG123", f"a {shown(type)} has only {count} parts", value)
                return highest
            member, at = self._part(type, offset, index)
            if len(designators) > 1:
                self._nested(member, at, items, leaves, value)
            else:
                self._element_leaves(member, at, items, leaves)
            index += 1
            highest = max(highest, index)
            if len(leaves) > MAX_ELEMENTS:
                raise self.context.error("PG124", f"an initialiser has more than {MAX_ELEMENTS:,} parts", node)
            if not braced and count is not None and index >= count:
                return highest
        return highest

    def _range(
        self, type: Array, offset: int, designators: list[Node], value: Node, items: _Items, leaves: list[Leaf]
    ) -> int:
        """GNU C's `[first ... last] = value`; the index behind it."""
        first, last = (self.constant_value(child, "a designator") for child in designators[0].children[:2])
        if first < 0 or last < first or (type.length is not None and last >= type.length):
            raise self.context.error("PG123", f"there are no elements {first} to {last}", designators[0])
        if len(designators) > 1 or last - first >= MAX_ELEMENTS:
            raise self.context.error("PG120", "this designator is not supported here", designators[0])
        if value.type != "initializer_list" and self._text(value) is None and not self._is_constant(value):
            raise self.context.error("PG124", "the value for a range of elements must be a constant", value)
        for index in range(first, last + 1):
            member, at = self._part(type, offset, index)
            self._element_leaves(member, at, _Items([([], value)]), leaves)
        items.position += 1
        return last + 1

    def _is_constant(self, node: Node) -> bool:
        operand, code = self.scratch(node, lambda: self.value(node))
        return operand.value is not None and not code

    def _part(self, type: Array | Struct, offset: int, index: int) -> tuple[CType, int]:
        if isinstance(type, Struct):
            return type.fields[index].type, offset + type.fields[index].offset
        return type.of, offset + index * size_of(self.context.complete(type.of))

    def _designated(self, type: Array | Struct, designator: Node) -> int:
        if designator.type == "subscript_designator" and isinstance(type, Array):
            index = self.constant_value(designator.children[0], "a designator")
            if index < 0 or (type.length is not None and index >= type.length):
                raise self.context.error("PG123", f"there is no element {index}", designator)
            return index
        if designator.type == "field_designator" and isinstance(type, Struct):
            name = self.context.word(designator.children[0])
            for index, field in enumerate(type.fields):
                if field.name == name:
                    return index
            raise self.context.error("PG122", f"{shown(type)} has no member `{name}`", designator)
        raise self.context.error("PG120", "this designator is not supported here", designator)

    def _nested(self, type: CType, offset: int, items: _Items, leaves: list[Leaf], value: Node) -> None:
        """The rest of the designators of an item, from the part of ``type`` at ``offset`` on."""
        while designators := items.items[items.position][0]:
            type = self.context.complete(type)
            if not isinstance(type, Array | Struct):
                raise self.context.error("PG123", f"a {shown(type)} has no parts", value)
            index = self._designated(type, designators[0])
            type, offset = self._part(type, offset, index)
            items.items[items.position] = (designators[1:], value)
        self._element_leaves(type, offset, items, leaves)
        if items.more and not items.items[items.position][0]:
            raise self.context.error(
                "PG120", "a value without designator behind nested designators is not supported", value,
                "give the next value its designator",
            )  # fmt: skip

    # Locals

    def initialise(self, place: MemoryPlace, node: Node) -> CType:
        """Store the initialiser ``node`` into the object at ``place``; its type with the length filled in."""
        if node.type != "initializer_list" and isinstance(place.type, Struct):
            self.assign(place, self.value(node), node)
            return place.type
        leaves, type = self.leaves(place.type, node)
        filled = sum(scalars(leaf.type) if leaf.text is None else len(leaf.text) for leaf in leaves)
        if filled < scalars(type) or len({leaf.offset for leaf in leaves}) < len(leaves):
            self.emit(Clear(place.slot, size_of(type)))
        for leaf in leaves:
            if leaf.text is not None:
                assert isinstance(leaf.type, Array)
                for index, char in enumerate(leaf.text):
                    part = MemoryPlace(place.slot, leaf.type.of, leaf.offset + index)
                    self.assign(part, self.constant(ord(char)), leaf.node)
            else:
                self.assign(MemoryPlace(place.slot, leaf.type, leaf.offset), self.value(leaf.node), leaf.node)
        return type

    # Globals and statics

    def static_initial(self, type: CType, node: Node) -> tuple[tuple[tuple[int, Value], ...], CType]:
        """The scalars of a constant initialiser by their offset, zeros left out, and the type with its length."""
        leaves, type = self.leaves(type, node)
        initial: dict[int, Value] = {}
        for leaf in leaves:
            if leaf.text is not None:
                for index, char in enumerate(leaf.text):
                    initial[leaf.offset + index] = Known(ord(char) if ord(char) < 128 else ord(char) - 256)
                    if isinstance(leaf.type, Array) and leaf.type.of != CHAR:
                        initial[leaf.offset + index] = Known(ord(char))
            elif isinstance(leaf.type, Struct):
                inner = self.inside(leaf.node)
                if inner.type != "compound_literal_expression":
                    raise self.context.error("PG124", "this initialiser must be a constant", leaf.node)
                parts, _ = self.static_initial(leaf.type, inner["value"])
                initial.update({leaf.offset + offset: value for offset, value in parts})
            else:
                initial[leaf.offset] = self.static_value(leaf.type, leaf.node)
        return tuple(sorted((offset, value) for offset, value in initial.items() if value != NULL)), type

    def static_value(self, type: CType, node: Node) -> Value:
        """The constant ``node`` converted to ``type``: a number, or the address of a global, function or string."""
        operand, code = self.scratch(node, lambda: self.convert(self.value(node), type, node))
        if operand.value is not None and not any(not isinstance(each, Set) for each in code):
            return operand.value
        found = self._followed(code, operand)
        if found is None:
            hint = "C gives variables of the file and static ones their first value before the program runs"
            raise self.context.error("PG124", "this initialiser must be a constant", node, hint)
        return found

    def _followed(self, code: list[Instruction], operand: Operand) -> Value | None:
        """The address that straight code computes."""
        known: dict[Slot, Value] = {}
        for instruction in code:
            match instruction:
                case Set(target, value):
                    known[target] = value
                case Global(target, name):
                    known[target] = Address(ObjectId("global", (name,)), 0)
                case String(target, text):
                    known[target] = Address(ObjectId("string", (text,)), 0)
                case Move(target, source) if source in known:
                    known[target] = known[source]
                case Convert(target, source, Integer(), Pointer() | Integer() | Opaque()) if source in known:
                    known[target] = known[source]
                case Offset(target, pointer, None, size, constant) if isinstance(known.get(pointer), Address):
                    address = known[pointer]
                    assert isinstance(address, Address) and isinstance(address.offset, int)
                    known[target] = Address(address.object, address.offset + size * constant)
                case _:
                    return None
        if operand.slot is None:
            return operand.value
        found = known.get(operand.slot)
        return found if isinstance(found, Address | Code | Handle | Known) else None
