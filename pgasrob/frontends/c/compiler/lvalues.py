"""Compiles lvalues (C11, 6.3.2.1): the variables and the memory that expressions name."""

from __future__ import annotations

from dataclasses import dataclass

from pgasrob.diagnostics import SourceError
from pgasrob.frontends.c.code import Global, Local, Object, String
from pgasrob.frontends.c.compiler.emitter import Emitter
from pgasrob.frontends.c.compiler.initialisers import Initialisers
from pgasrob.frontends.c.compiler.operands import Evaluator, MemoryPlace, Operand, Place, SlotPlace
from pgasrob.frontends.c.compiler.operations import Operations
from pgasrob.frontends.c.compiler.scopes import (
    Constant,
    Context,
    FunctionName,
    GlobalVariable,
    LocalVariable,
    SizedVariable,
    SlotVariable,
    TypeName,
)
from pgasrob.frontends.c.compiler.type_names import Types
from pgasrob.frontends.c.layout import member_of, shown, with_article
from pgasrob.frontends.c.literals import string
from pgasrob.frontends.c.syntax_tree import Node
from pgasrob.frontends.c.types import CHAR, Array, CType, Function, Integer, Pointer, Struct
from pgasrob.frontends.c.values import Code, Known


@dataclass(frozen=True, slots=True)
class Places:
    """Compiles expressions to the places that they name."""

    context: Context
    emitter: Emitter
    operations: Operations
    types: Types
    initialisers: Initialisers
    evaluator: Evaluator

    def of(self, node: Node) -> Place:
        """The variable or the memory that ``node`` names."""
        match node.type:
            case "identifier":
                return self._variable(node)
            case "parenthesized_expression":
                return self.of(self.context.inside(node))
            case "subscript_expression":
                return self._element(node)
            case "field_expression":
                return self._member(node)
            case "pointer_expression" if node["operator"].type == "*":
                pointer = self.evaluator.value(node["argument"])
                if not isinstance(pointer.type, Pointer):
                    raise self.context.error("PG123", f"{with_article(pointer.type)} points to nothing", node)
                return MemoryPlace(self.emitter.slot_of(pointer), self.context.complete(pointer.type.to))
            case "compound_literal_expression":
                return self.literal(node)
            case "string_literal":
                text = string(self.context.token(node))
                slot = self.emitter.compute(Pointer(CHAR), String, text)
                return MemoryPlace(slot, Array(CHAR, len(text) + 1))
        operand = self.evaluator.value(node)
        if isinstance(operand.type, Struct):
            return MemoryPlace(self.emitter.slot_of(operand), operand.type)
        raise self.context.error("PG123", f"`{self.context.text(node)}` is no variable and no memory", node)

    def _variable(self, node: Node) -> Place:
        name = self.context.word(node)
        symbol = self.emitter.scope.find(name)
        if symbol is None or name in self.context.declared_only:
            symbol = self.context.variable(name) or symbol
        match symbol:
            case SlotVariable(slot, type):
                return SlotPlace(slot, type)
            case LocalVariable(unique, type):
                slot = self.emitter.compute(Pointer(type), Local, unique)
                return MemoryPlace(slot, self.context.complete(type))
            case GlobalVariable(unique, type):
                if unique in self.context.declared_only:
                    hint = "is it defined in another file? name that too, after the first one or with `--with`"
                    missing = self.context.error(
                        "PG122", f"`{name}` is declared `extern` and defined nowhere here", node, hint
                    )
                    self.context.need(name, type, missing)
                slot = self.emitter.compute(Pointer(type), Global, unique)
                return MemoryPlace(slot, self.context.complete(type))
            case SizedVariable(slot, type):
                return MemoryPlace(slot, type)
            case TypeName():
                raise self.context.error("PG122", f"`{name}` is a type, not a variable", node)
            case FunctionName(unique, function):
                self.evaluator.value(node)
                return MemoryPlace(self.emitter.slot_of(Operand(Pointer(function), value=Code(unique))), function)
        operand = self.evaluator.value(node)
        if isinstance(operand.type, Pointer) and isinstance(operand.type.to, Function):
            return MemoryPlace(self.emitter.slot_of(operand), operand.type.to)
        raise self.context.error("PG123", f"`{name}` is a constant, not a variable", node)

    def _element(self, node: Node) -> MemoryPlace:
        """`a[i]` (C11, 6.5.2.1). An element of an array by a known index is at a known offset, without pointer
        arithmetic."""
        argument, index_node = node["argument"], node["index"]
        inner = self.context.inside(argument)
        base: Place | None = None
        named = inner.type == "identifier" and not isinstance(
            self.emitter.scope.find(self.context.word(inner)), FunctionName | Constant | None
        )
        if (named or inner.type in ("subscript_expression", "field_expression")) and isinstance(
            self.evaluator.type_of(inner), Pointer
        ):
            base = self.of(inner)
        if isinstance(base, MemoryPlace) and isinstance(base.type, Array):
            of = self.context.complete(base.type.of)
            index = self.evaluator.integer(index_node)
            size = self.operations.size(of, node)
            if isinstance(index.value, Known) and isinstance(size.value, Known):
                return MemoryPlace(base.slot, of, base.offset + index.value.value * size.value.value)
            pointer = Operand(Pointer(of), self.operations.pointer_to(base))
            return MemoryPlace(self.operations.offset(pointer, index, index_node), of)
        pointer = self.operations.load(base, inner) if base is not None else self.evaluator.value(argument)
        index = self.evaluator.value(index_node)
        if isinstance(pointer.type, Integer) and isinstance(index.type, Pointer):
            pointer, index = index, pointer
        if not isinstance(pointer.type, Pointer) or not isinstance(index.type, Integer):
            raise self.context.error("PG123", f"{with_article(pointer.type)} has no elements", node)
        return self.operations.element(pointer, index, node)

    def _no_members(self, type: CType, node: Node) -> SourceError:
        """The error for the member ``node`` of a value of ``type``, which is no struct."""
        whole, hint = self.context.text(node["argument"]), ""
        if isinstance(type, Pointer) and whole.isidentifier():
            hint = f"`{whole}` is a pointer: write `{whole}->{self.context.word(node['field'])}`"
        return self.context.error("PG123", f"{with_article(type)} has no members", node, hint)

    def _member(self, node: Node) -> MemoryPlace:
        """`s.m` or `p->m` (C11, 6.5.2.3)."""
        argument = node["argument"]
        if node["operator"].type == "->":
            pointer = self.evaluator.value(argument)
            if not isinstance(pointer.type, Pointer):
                raise self.context.error("PG123", f"`->` needs a pointer, not {with_article(pointer.type)}", node)
            base = MemoryPlace(self.emitter.slot_of(pointer), self.context.complete(pointer.type.to))
        else:
            place = self.of(argument)
            if not isinstance(place, MemoryPlace):
                raise self._no_members(place.type, node)
            base = place
        type = self.context.defined_type(base.type, node)
        if not isinstance(type, Struct):
            raise self._no_members(type, node)
        name = self.context.word(node["field"])
        found = member_of(type, name)
        if found is not None:
            return MemoryPlace(base.slot, self.context.complete(found[0]), base.offset + found[1])
        members = ", ".join(f"`{field.name}`" for field in type.fields[:12])
        raise self.context.error(
            "PG122", f"{shown(type)} has no member `{name}`", node["field"], f"its members are {members}"
        )

    def literal(self, node: Node) -> MemoryPlace:
        type = self.types.type_name(node["type"])
        if isinstance(type, Array) and type.bytes is not None:
            raise self.context.error("PG124", "the length of this array must be a constant", node["type"])
        name = self.emitter.new_object("<literal>", type, node)
        place = self.emitter.address_of_local(name)
        full = self.initialisers.initialise(place, node["value"])
        if full != type:
            self.emitter.objects[name] = Object(name, full, span=self.emitter.objects[name].span)
        return MemoryPlace(place.slot, full)
