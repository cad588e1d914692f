"""Compiles expressions (C11, 6.5) to instructions in the order of evaluation."""

from __future__ import annotations

from collections.abc import Callable

from pgasrob.frontends.c.code import String, Unary
from pgasrob.frontends.c.compiler.branches import Branches
from pgasrob.frontends.c.compiler.call_code import Calls
from pgasrob.frontends.c.compiler.constants import Constants
from pgasrob.frontends.c.compiler.conversions import Conversions
from pgasrob.frontends.c.compiler.emitter import Emitter
from pgasrob.frontends.c.compiler.initialisers import Initialisers
from pgasrob.frontends.c.compiler.lvalues import Places
from pgasrob.frontends.c.compiler.operands import MemoryPlace, Operand, SlotPlace, constant, is_arithmetic, is_scalar
from pgasrob.frontends.c.compiler.operations import Operations
from pgasrob.frontends.c.compiler.scopes import (
    Constant,
    FunctionName,
    GlobalVariable,
    LocalVariable,
    SizedVariable,
    SlotVariable,
)
from pgasrob.frontends.c.compiler.type_names import Types
from pgasrob.frontends.c.layout import align_of, member_of, shown, with_article
from pgasrob.frontends.c.literals import character, number
from pgasrob.frontends.c.syntax_tree import UNSUPPORTED, Node
from pgasrob.frontends.c.types import (
    CHAR,
    DOUBLE,
    INT,
    LONG,
    SIZE,
    Array,
    CType,
    Floating,
    Function,
    Integer,
    Opaque,
    Pointer,
    Struct,
)
from pgasrob.frontends.c.values import Code, Known
from pgasrob.program.expressions import float_bits, float_value
from pgasrob.stop_points import stop_point

_PLACES = ("subscript_expression", "field_expression", "string_literal", "compound_literal_expression")


class Expressions:
    """Compiles expressions; those whose parts need expressions again ask this, as their `Evaluator`.

    ``block_value`` compiles a block whose last expression is the value (GNU C's `({ ... })`).
    """

    def __init__(self, emitter: Emitter, block_value: Callable[[Node], Operand]) -> None:
        self.context = context = emitter.context
        self.emitter = emitter
        self.block_value = block_value
        self.conversions = Conversions(context, emitter)
        self.operations = Operations(context, emitter, self.conversions)
        self.constants = Constants(context, emitter, self.conversions, self)
        self.types = Types(context, emitter, self.operations, self.constants, self)
        self.initialisers = Initialisers(context, emitter, self.operations, self.constants, self)
        self.places = Places(context, emitter, self.operations, self.types, self.initialisers, self)
        self.branches = Branches(context, emitter, self.conversions, self.constants, self)
        self.calls = Calls(context, emitter, self.conversions, self.constants, self)
        self._found_types: dict[int, CType] = {}  # by the id of their nodes
        self._values: dict[str, Callable[[Node], Operand]] = {
            "parenthesized_expression": self._parenthesised,
            "number_literal": self._number,
            "char_literal": self._character,
            "string_literal": self._loaded,
            "identifier": self._name,
            "call_expression": self.calls.call,
            "subscript_expression": self._loaded,
            "field_expression": self._loaded,
            "compound_literal_expression": self._loaded,
            "binary_expression": self._binary,
            "unary_expression": self._unary,
            "pointer_expression": self._pointer_expression,
            "assignment_expression": self._assignment,
            "update_expression": self._update,
            "conditional_expression": self.branches.conditional,
            "comma_expression": self._comma,
            "cast_expression": self._cast,
            "sizeof_expression": self._sizeof,
            "alignof_expression": self._alignof,
            "offsetof_expression": self._offsetof,
            "generic_expression": self._generic,
        }

    # Values

    def type_of(self, node: Node) -> CType:
        """The type of the value of ``node``, without evaluating it."""
        found = self._found_types.get(id(node))
        if found is None:
            found = self._found_types[id(node)] = self.emitter.scratch(lambda: self.value(node).type)[0]
        return found

    def value(self, node: Node) -> Operand:
        stop_point()
        compile = self._values.get(node.type)
        if compile is None:
            raise self.context.error("PG120", f"`{self.context.text(node)}` is not supported", node)
        return compile(node)

    def scalar(self, node: Node) -> Operand:
        operand = self.value(node)
        if not is_scalar(operand.type):
            raise self.context.error(
                "PG123", f"a number or pointer is needed here, not {with_article(operand.type)}", node
            )
        return operand

    def integer(self, node: Node) -> Operand:
        operand = self.value(node)
        if not isinstance(operand.type, Integer):
            raise self.context.error("PG123", f"an integer is needed here, not {with_article(operand.type)}", node)
        return operand

    def _parenthesised(self, node: Node) -> Operand:
        inner = self.context.inside(node)
        if inner.type == "compound_statement":
            return self.block_value(inner)
        return self.value(inner)

    def _number(self, node: Node) -> Operand:
        value, type = number(self.context.token(node))
        if isinstance(value, float):
            return self.conversions.convert(constant(float_bits(value), DOUBLE), type, node)
        return constant(value, type)

    def _character(self, node: Node) -> Operand:
        return constant(character(self.context.token(node)))

    def _loaded(self, node: Node) -> Operand:
        return self.operations.load(self.places.of(node), node)

    def _name(self, node: Node) -> Operand:
        name = self.context.word(node)
        symbol = self.emitter.scope.find(name)
        if isinstance(symbol, Constant):
            return constant(symbol.value, INT if -(1 << 31) <= symbol.value < 1 << 31 else LONG)
        if isinstance(symbol, FunctionName):
            if self.context.elsewhere and not self.context.has_function(name):
                self.context.need(name, symbol.type, self.calls.unknown_function(name, node, declared=True))
            return Operand(Pointer(symbol.type), value=Code(symbol.name))
        if symbol is None and self.context.variable(name) is None:
            return self._global_name(name, node)
        return self._loaded(node)

    def _global_name(self, name: str, node: Node) -> Operand:
        """A name that the program does not declare."""
        for api in self.context.apis:
            if name in api.constants:
                type, value = api.constants[name]
                return Operand(type, value=value)
        if name in ("true", "false"):
            return constant(int(name == "true"))
        if name == "__func__":
            return Operand(Pointer(CHAR), self.emitter.compute(Pointer(CHAR), String, self.emitter.name))
        if (found := self.context.declaration(name, ())) is not None:
            return Operand(Pointer(found), value=Code(name))
        if name in UNSUPPORTED:
            raise self.context.error("PG120", UNSUPPORTED[name], node)
        raise self.context.unknown("name", node, self.emitter.scope)

    # Operators

    def _pointer_expression(self, node: Node) -> Operand:
        argument = node["argument"]
        if node["operator"].type == "*":
            type = self.type_of(argument)
            if isinstance(type, Pointer) and isinstance(type.to, Function):
                return self.value(argument)
            return self._loaded(node)
        place = self.places.of(argument)
        if isinstance(place, SlotPlace):
            raise self.context.error("PG123", f"`{self.context.text(argument)}` has no address", node)
        if isinstance(place.type, Function):
            return Operand(Pointer(place.type), place.slot)
        return Operand(Pointer(place.type), self.operations.pointer_to(place))

    def _unary(self, node: Node) -> Operand:
        sign = node["operator"].type
        argument = node["argument"]
        if sign == "!":
            operand = self.scalar(argument)
            if isinstance(operand.value, Known | Code) or isinstance(operand.type, Floating):
                known = self.conversions.truth(operand)
                if isinstance(known.value, Known):
                    return constant(1 - known.value.value)
                operand = known
            slot = self.emitter.new_slot(INT)
            self.emitter.emit(Unary(slot, "!", self.emitter.slot_of(operand), operand.type))
            return Operand(INT, slot)
        operand = self.value(argument)
        if not is_arithmetic(operand.type) or (sign == "~" and not isinstance(operand.type, Integer)):
            raise self.context.error("PG123", f"`{sign}` needs a number, not {with_article(operand.type)}", node)
        operand = self.conversions.promoted(operand, node)
        if sign == "+":
            return operand
        if isinstance(operand.value, Known):
            value = operand.value.value
            if isinstance(operand.type, Integer):
                return constant(operand.type.type.wrap(~value if sign == "~" else -value), operand.type)
            return constant(float_bits(-float_value(value)), operand.type)
        slot = self.emitter.new_slot(operand.type)
        self.emitter.emit(Unary(slot, sign, self.emitter.slot_of(operand), operand.type))
        return Operand(operand.type, slot)

    def _binary(self, node: Node) -> Operand:
        sign = node["operator"].type
        if sign in ("&&", "||"):
            return self.branches.logical(node)
        left = self.value(node["left"])
        right = self.value(node["right"])
        return self.operations.binary(sign, left, right, node)

    def _comma(self, node: Node) -> Operand:
        self.effect(node["left"])
        return self.value(node["right"])

    def effect(self, node: Node) -> None:
        """Evaluate ``node`` for what it does."""
        inner = self.context.inside(node)
        if inner.type == "update_expression":
            self._update(inner, wanted=False)
        else:
            self.value(node)

    def _cast(self, node: Node) -> Operand:
        type = self.types.type_name(node["type"])
        return self.conversions.convert(self.value(node["value"]), type, node)

    def _sizeof(self, node: Node) -> Operand:
        """`sizeof` (C11, 6.5.3.4): its operand is not evaluated, so the code for it is thrown away."""
        if (named := node.get("type")) is not None:
            type = self.types.type_name(named)
        else:
            type = self.emitter.scratch(lambda: self.type_of_place(node["value"]))[0]
            if isinstance(type, Array) and (-1 if type.bytes is None else type.bytes) >= len(self.emitter.slots):
                raise self.context.error("PG120", "the size of this array is not supported", node)
        return self.operations.size(type, node)

    def type_of_place(self, node: Node) -> CType:
        """The type of ``node`` where arrays are no pointers."""
        node = self.context.inside(node)
        dereferenced = node.type == "pointer_expression" and node["operator"].type == "*"
        if dereferenced or node.type in _PLACES:
            return self.places.of(node).type
        if node.type == "identifier":
            symbol = self.emitter.scope.find(self.context.word(node))
            if isinstance(symbol, SlotVariable | LocalVariable | GlobalVariable | SizedVariable):
                return symbol.type
        return self.value(node).type

    def _alignof(self, node: Node) -> Operand:
        return constant(align_of(self.types.type_name(node["type"])), SIZE)

    def _offsetof(self, node: Node) -> Operand:
        type = self.context.complete(self.types.type_name(node["type"]))
        name = self.context.word(node["member"])
        found = member_of(type, name) if isinstance(type, Struct) else None
        if found is not None:
            return constant(found[1], SIZE)
        raise self.context.error("PG122", f"{shown(type)} has no member `{name}`", node)

    def _generic(self, node: Node) -> Operand:
        """`_Generic` (C11, 6.5.1.1): only the chosen expression is compiled."""
        controlling, *rest = node.children
        type = self.type_of(controlling)
        default: Node | None = None
        for named, chosen in zip(rest[::2], rest[1::2], strict=False):
            if named.type == "type_descriptor" and self.context.word(named) == "default":
                default = chosen
            elif self.types.type_name(named) == type:
                return self.value(chosen)
        if default is None:
            raise self.context.error("PG123", f"`_Generic` has no choice for {with_article(type)}", node)
        return self.value(default)

    # Assignments

    def _assignment(self, node: Node) -> Operand:
        """`=` and compound assignments (C11, 6.5.16). The address on the left is computed once, before the right
        side."""
        sign = node["operator"].type
        with self.emitter.at(node):
            place = self.places.of(node["left"])
            if isinstance(place, MemoryPlace) and not isinstance(place.type, Struct):
                place = MemoryPlace(self.operations.pointer_to(place), place.type)
            if sign == "=":
                return self.operations.assign(place, self.value(node["right"]), node)
            old = self.operations.load(place, node)
            if not is_scalar(old.type):
                raise self.context.error("PG123", f"`{sign}` needs a number or pointer", node)
            new = self.operations.binary(sign[:-1], old, self.value(node["right"]), node)
            return self.operations.assign(place, new, node)

    def _update(self, node: Node, wanted: bool = True) -> Operand:
        """`++` and `--`; ``wanted``: whether the value is used."""
        with self.emitter.at(node):
            argument = node["argument"]
            place = self.places.of(argument)
            if isinstance(place, MemoryPlace):
                place = MemoryPlace(self.operations.pointer_to(place), place.type)
            old = self.operations.load(place, node)
            if not is_scalar(old.type) or isinstance(old.type, Opaque):
                raise self.context.error("PG123", f"`{node['operator'].type}` needs a number or pointer", node)
            postfix = wanted and argument.first == node.first
            if postfix and isinstance(place, SlotPlace):
                kept = self.emitter.new_slot(old.type)
                self.emitter.move(kept, old)
                old = Operand(old.type, kept)
            new = self.operations.binary(node["operator"].type[0], old, constant(1), node)
            assigned = self.operations.assign(place, new, node)
            return old if postfix else assigned
