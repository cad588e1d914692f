"""Compiles initialisers with braces (C11, 6.7.9): of locals to stores, of globals to constants by offset."""

from __future__ import annotations

from dataclasses import dataclass

from pgasrob.frontends.c.code import Clear
from pgasrob.frontends.c.compiler.constants import Constants
from pgasrob.frontends.c.compiler.emitter import Emitter
from pgasrob.frontends.c.compiler.operands import Evaluator, MemoryPlace, constant
from pgasrob.frontends.c.compiler.operations import Operations
from pgasrob.frontends.c.compiler.scopes import Context
from pgasrob.frontends.c.layout import member_of, scalars, shown, size_of, with_article
from pgasrob.frontends.c.literals import string
from pgasrob.frontends.c.syntax_tree import Node
from pgasrob.frontends.c.types import Array, CType, Integer, Struct
from pgasrob.frontends.c.values import NULL, Known, Value
from pgasrob.stop_points import stop_point

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


def _items_of(braces: Node) -> _Items:
    pairs = ((child.fields.get("designator", []), child) for child in braces.children)
    return _Items(
        [(list(names), child["value"] if child.type == "initializer_pair" else child) for names, child in pairs]
    )


@dataclass(frozen=True, slots=True)
class Initialisers:
    """Compiles initialisers (C11, 6.7.9)."""

    context: Context
    emitter: Emitter
    operations: Operations
    constants: Constants
    evaluator: Evaluator

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
        inner = self.context.inside(node)
        if inner.type == "initializer_list" and len(inner.children) == 1:
            inner = self.context.inside(inner.children[0])
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
            inner = _items_of(node)
            if isinstance(type, Array | Struct):
                return self._aggregate(type, offset, inner, leaves, node, braced=True)
            if len(inner.items) != 1 or inner.items[0][0]:
                if not inner.items:
                    return 0
                raise self.context.error("PG123", f"{with_article(type)} has one value", node)
            self._element_leaves(type, offset, inner, leaves)
            return 1
        if isinstance(type, Array) or (isinstance(type, Struct) and not self._is_whole(type, node)):
            return self._aggregate(type, offset, items, leaves, node, braced=False)
        items.position += 1
        leaves.append(Leaf(offset, type, node))
        return 1

    def _is_whole(self, struct: Struct, node: Node) -> bool:
        """Whether ``node`` is a value of the struct, and not that of its first member."""
        found = self.evaluator.type_of(node)
        return isinstance(found, Struct) and found.tag == struct.tag

    def _string_leaf(self, type: Array, offset: int, node: Node, text: str, leaves: list[Leaf]) -> int:
        length = len(text) + 1 if type.length is None else type.length
        if len(text) > length:
            raise self.context.error("PG123", f"the string has more than {length} characters", node)
        leaves.append(Leaf(offset, Array(type.of, length), node, text[:length]))
        return length

    def _aggregate(
        self, type: Array | Struct, offset: int, items: _Items, leaves: list[Leaf], node: Node, braced: bool
    ) -> int:
        """The parts of an array, struct or union from ``items``; without braces only as many as it has (C11, 6.7.9)."""
        self.context.defined_type(type, node)
        count = len(type.fields) if isinstance(type, Struct) else type.length
        index = highest = 0
        while items.more:
            stop_point()
            designators, value = items.items[items.position]
            if designators:
                if not braced:
                    return highest
                if designators[0].type == "subscript_range_designator" and isinstance(type, Array):
                    index = highest = max(highest, self._range(type, offset, designators, value, items, leaves))
                    continue
                index, designators = self._designated(type, designators)
                items.items[items.position] = (designators, value)
            elif index and isinstance(type, Struct) and type.union:
                count = 1
            if count is not None and index >= count:
                if braced:
                    parts = f"{count} part{'' if count == 1 else 's'}"
                    raise self.context.error("PG123", f"{with_article(type)} has only {parts}", value)
                return highest
            member, at = self._part(type, offset, index)
            if designators:
                self._nested(member, at, items, leaves, value)
            else:
                self._element_leaves(member, at, items, leaves)
            index += 1
            highest = max(highest, index)
            if len(leaves) > MAX_ELEMENTS:
                raise self.context.error("PG141", f"an initialiser has more than {MAX_ELEMENTS:,} parts", node)
            whole = index >= count if count is not None else False
            if not braced and (whole or (isinstance(type, Struct) and type.union)):
                return highest
        return highest

    def _range(
        self, type: Array, offset: int, designators: list[Node], value: Node, items: _Items, leaves: list[Leaf]
    ) -> int:
        """GNU C's `[first ... last] = value`; the index after it."""
        first, last = (self.constants.number(child, "a designator") for child in designators[0].children[:2])
        if first < 0 or last < first or (type.length is not None and last >= type.length):
            raise self.context.error("PG123", f"there are no elements {first} to {last}", designators[0])
        if len(designators) > 1 or last - first >= MAX_ELEMENTS:
            raise self.context.error("PG120", "this designator is not supported here", designators[0])
        if value.type != "initializer_list" and self._text(value) is None and not self.constants.is_constant(value):
            raise self.context.error("PG124", "the value for a range of elements must be a constant", value)
        for index in range(first, last + 1):
            member, at = self._part(type, offset, index)
            self._element_leaves(member, at, _Items([([], value)]), leaves)
        items.position += 1
        return last + 1

    def _part(self, type: Array | Struct, offset: int, index: int) -> tuple[CType, int]:
        if isinstance(type, Struct):
            return type.fields[index].type, offset + type.fields[index].offset
        return type.of, offset + index * size_of(self.context.complete(type.of))

    def _designated(self, type: Array | Struct, designators: list[Node]) -> tuple[int, list[Node]]:
        """Which part the first of the ``designators`` names, and those that name a part of that."""
        designator, *rest = designators
        if designator.type == "subscript_designator" and isinstance(type, Array):
            index = self.constants.number(designator.children[0], "a designator")
            if index < 0 or (type.length is not None and index >= type.length):
                raise self.context.error("PG123", f"there is no element {index}", designator)
            return index, rest
        if designator.type == "field_designator" and isinstance(type, Struct):
            name = self.context.word(designator.children[0])
            for index, field in enumerate(type.fields):
                if field.name == name:
                    return index, rest
                if not field.name and isinstance(field.type, Struct) and member_of(field.type, name):
                    return index, designators
            raise self.context.error("PG122", f"{shown(type)} has no member `{name}`", designator)
        raise self.context.error("PG120", "this designator is not supported here", designator)

    def _nested(self, type: CType, offset: int, items: _Items, leaves: list[Leaf], value: Node) -> None:
        """The rest of the designators of an item, from the part of ``type`` at ``offset`` on."""
        while designators := items.items[items.position][0]:
            type = self.context.complete(type)
            if not isinstance(type, Array | Struct):
                raise self.context.error("PG123", f"{with_article(type)} has no parts", value)
            index, designators = self._designated(type, designators)
            type, offset = self._part(type, offset, index)
            items.items[items.position] = (designators, value)
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
            self.operations.assign(place, self.evaluator.value(node), node)
            return place.type
        leaves, type = self.leaves(place.type, node)
        filled = sum(scalars(leaf.type) if leaf.text is None else len(leaf.text) for leaf in leaves)
        if filled < scalars(type) or len({leaf.offset for leaf in leaves}) < len(leaves):
            self.emitter.emit(Clear(place.slot, size_of(type)))
        for leaf in leaves:
            if leaf.text is not None:
                assert isinstance(leaf.type, Array)
                for index, char in enumerate(leaf.text):
                    part = MemoryPlace(place.slot, leaf.type.of, leaf.offset + index)
                    self.operations.assign(part, constant(ord(char)), leaf.node)
            else:
                part = MemoryPlace(place.slot, leaf.type, leaf.offset)
                self.operations.assign(part, self.evaluator.value(leaf.node), leaf.node)
        return type

    # Globals and statics

    def static_initial(self, type: CType, node: Node) -> tuple[tuple[tuple[int, Value, CType], ...], CType]:
        """The scalars of a constant initialiser by their offset, zeros left out, and the type with its length."""
        leaves, type = self.leaves(type, node)
        initial: dict[int, tuple[Value, CType]] = {}
        for leaf in leaves:
            if leaf.text is not None:
                assert isinstance(leaf.type, Array) and isinstance(leaf.type.of, Integer)
                for index, char in enumerate(leaf.text):
                    initial[leaf.offset + index] = Known(leaf.type.of.type.wrap(ord(char))), leaf.type.of
            elif isinstance(leaf.type, Struct):
                inner = self.context.inside(leaf.node)
                if inner.type != "compound_literal_expression":
                    raise self.context.error("PG124", "this initialiser must be a constant", leaf.node)
                parts, _ = self.static_initial(leaf.type, inner["value"])
                initial.update({leaf.offset + offset: (value, part) for offset, value, part in parts})
            else:
                initial[leaf.offset] = self.constants.value(leaf.type, leaf.node), leaf.type
        return tuple((offset, *initial[offset]) for offset in sorted(initial) if initial[offset][0] != NULL), type
