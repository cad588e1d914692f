"""Expressions, taken apart into instructions in the order of their evaluation."""

from __future__ import annotations

from collections.abc import Callable

from pgasrob.frontends.c.code import (
    Branch,
    Global,
    Local,
    Move,
    Object,
    Set,
    String,
    Unary,
)
from pgasrob.frontends.c.compiler.emitter import (
    NOTHING,
    MemoryPlace,
    Operand,
    Place,
    SlotPlace,
    is_arithmetic,
    is_scalar,
)
from pgasrob.frontends.c.compiler.operations import Operations
from pgasrob.frontends.c.compiler.scopes import (
    Constant,
    FunctionName,
    GlobalVariable,
    LocalVariable,
    SizedVariable,
    SlotVariable,
    TypeName,
)
from pgasrob.frontends.c.compiler.types import member_of
from pgasrob.frontends.c.layout import align_of, shown, size_of
from pgasrob.frontends.c.literals import character, number, string
from pgasrob.frontends.c.parser import Node
from pgasrob.frontends.c.types import (
    CHAR,
    DOUBLE,
    INT,
    LONG,
    SIZE,
    VOID,
    Array,
    CType,
    Floating,
    Function,
    Integer,
    Opaque,
    Pointer,
    Struct,
    Void,
)
from pgasrob.frontends.c.values import Code, Known
from pgasrob.program.expressions import float_bits, float_value

_PLACES = ("subscript_expression", "field_expression", "string_literal", "compound_literal_expression")


class Expressions(Operations):
    """Compiles expressions: their values, the places they name, and the jumps they decide."""

    def initialise(self, place: MemoryPlace, node: Node) -> CType:
        raise NotImplementedError

    def statement_expression(self, node: Node) -> Operand:
        raise NotImplementedError

    def call(self, node: Node) -> Operand:
        raise NotImplementedError

    # Values

    def type_of(self, node: Node) -> CType:
        """The type of the value of ``node``, without evaluating it."""
        found = self._types.get(id(node))
        if found is None:
            found = self.scratch(node, lambda: self.value(node).type)[0]
            self._types[id(node)] = found
        return found

    def value(self, node: Node) -> Operand:
        compile = _VALUES.get(node.type)
        if compile is not None:
            return compile(self, node)
        if node.type in ("subscript_expression", "field_expression"):
            return self.load(self.place_of(node), node)
        raise self.context.error("PG120", f"`{self.context.text(node)}` is not supported", node)

    def scalar(self, node: Node) -> Operand:
        operand = self.value(node)
        if not is_scalar(operand.type):
            raise self.context.error("PG123", f"a number or pointer is needed here, not a {shown(operand.type)}", node)
        return operand

    def integer(self, node: Node) -> Operand:
        operand = self.value(node)
        if not isinstance(operand.type, Integer):
            raise self.context.error("PG123", f"an integer is needed here, not a {shown(operand.type)}", node)
        return operand

    def _parenthesised(self, node: Node) -> Operand:
        inner = self.inside(node)
        if inner.type == "compound_statement":
            return self.statement_expression(inner)
        return self.value(inner)

    def inside(self, node: Node) -> Node:
        """What the parentheses of ``node`` hold."""
        while node.type == "parenthesized_expression":
            if len(node.children) != 1:
                raise self.context.error("PG107", "an expression was expected in these parentheses", node)
            node = node.children[0]
        return node

    def _number(self, node: Node) -> Operand:
        value, type = number(self.context.token(node))
        if isinstance(value, float):
            return self.convert(Operand(DOUBLE, value=Known(float_bits(value))), type, node)
        return Operand(type, value=Known(value))

    def _character(self, node: Node) -> Operand:
        return self.constant(character(self.context.token(node)))

    def _string(self, node: Node) -> Operand:
        return self.string(string(self.context.token(node)))

    def string(self, text: str) -> Operand:
        slot = self.new_slot(Pointer(CHAR))
        self.emit(String(slot, text))
        return Operand(Pointer(CHAR), slot)

    def _name(self, node: Node) -> Operand:
        name = self.context.word(node)
        symbol = self.scope.find(name)
        if isinstance(symbol, Constant):
            return self.constant(symbol.value, INT if -(1 << 31) <= symbol.value < 1 << 31 else LONG)
        if isinstance(symbol, FunctionName):
            return Operand(Pointer(symbol.type), value=Code(symbol.name))
        if symbol is None:
            return self._global_name(name, node)
        return self.load(self.place_of(node), node)

    def _global_name(self, name: str, node: Node) -> Operand:
        """A name that the program does not declare."""
        for api in self.context.apis:
            if name in api.constants:
                type, value = api.constants[name]
                return Operand(type, value=value)
        if name in ("true", "false"):
            return self.constant(int(name == "true"))
        if name == "__func__":
            return self.string(self.name)
        if (found := self.context.declaration(name, ())) is not None:
            return Operand(Pointer(found), value=Code(name))
        raise self.context.unknown("name", node, self.scope)

    # Places

    def place_of(self, node: Node) -> Place:
        """The variable or the memory that ``node`` names."""
        match node.type:
            case "identifier":
                return self._variable(node)
            case "parenthesized_expression":
                return self.place_of(self.inside(node))
            case "subscript_expression":
                return self._element(node)
            case "field_expression":
                return self._member(node)
            case "pointer_expression" if node["operator"].type == "*":
                pointer = self.value(node["argument"])
                if not isinstance(pointer.type, Pointer):
                    raise self.context.error("PG123", f"a {shown(pointer.type)} points to nothing", node)
                return MemoryPlace(self.slot_of(pointer), self.context.complete(pointer.type.to))
            case "compound_literal_expression":
                return self._literal(node)
            case "string_literal":
                text = string(self.context.token(node))
                return MemoryPlace(self.slot_of(self.string(text)), Array(CHAR, len(text) + 1))
        operand = self.value(node)
        if isinstance(operand.type, Struct):
            return MemoryPlace(self.slot_of(operand), operand.type)
        raise self.context.error("PG123", f"`{self.context.text(node)}` is no variable and no memory", node)

    def _variable(self, node: Node) -> Place:
        name = self.context.word(node)
        symbol = self.scope.find(name)
        match symbol:
            case SlotVariable(slot, type):
                return SlotPlace(slot, type)
            case LocalVariable(unique, type):
                slot = self.new_slot(Pointer(type))
                self.emit(Local(slot, unique))
                return MemoryPlace(slot, self.context.complete(type))
            case GlobalVariable(unique, type):
                if unique in self.context.declared_only:
                    hint = "only one file is checked: define the variable in it"
                    raise self.context.error(
                        "PG122", f"`{name}` is declared `extern` and defined nowhere here", node, hint
                    )
                slot = self.new_slot(Pointer(type))
                self.emit(Global(slot, unique))
                return MemoryPlace(slot, self.context.complete(type))
            case SizedVariable(slot, _, of):
                return MemoryPlace(slot, Array(of, None))
            case TypeName():
                raise self.context.error("PG122", f"`{name}` is a type, not a variable", node)
            case FunctionName(unique, function):
                return MemoryPlace(self.slot_of(Operand(Pointer(function), value=Code(unique))), function)
        operand = self._name(node)
        if isinstance(operand.type, Pointer) and isinstance(operand.type.to, Function):
            return MemoryPlace(self.slot_of(operand), operand.type.to)
        raise self.context.error("PG123", f"`{name}` is a constant, not a variable", node)

    def _element(self, node: Node) -> MemoryPlace:
        argument, index_node = node["argument"], node["index"]
        inner = self.inside(argument)
        base: Place | None = None
        named = inner.type == "identifier" and not isinstance(
            self.scope.find(self.context.word(inner)), FunctionName | Constant | None
        )
        if (named or inner.type in ("subscript_expression", "field_expression")) and isinstance(
            self.type_of(inner), Pointer
        ):
            base = self.place_of(inner)
        if isinstance(base, MemoryPlace) and isinstance(base.type, Array):
            of = self.context.complete(base.type.of)
            index = self.integer(index_node)
            if isinstance(index.value, Known):
                return MemoryPlace(base.slot, of, base.offset + index.value.value * size_of(of))
            pointer = Operand(Pointer(of), self.pointer_to(base))
            return MemoryPlace(self.offset(pointer, index, index_node), of)
        pointer = self.load(base, inner) if base is not None else self.value(argument)
        index = self.value(index_node)
        if isinstance(pointer.type, Integer) and isinstance(index.type, Pointer):
            pointer, index = index, pointer
        if not isinstance(pointer.type, Pointer) or not isinstance(index.type, Integer):
            raise self.context.error("PG123", f"a {shown(pointer.type)} has no elements", node)
        of = self.sized(pointer.type, node)
        if isinstance(index.value, Known):
            return MemoryPlace(self.slot_of(pointer), of, index.value.value * size_of(of))
        return MemoryPlace(self.offset(pointer, index, node), of)

    def _member(self, node: Node) -> MemoryPlace:
        argument = node["argument"]
        if node["operator"].type == "->":
            pointer = self.value(argument)
            if not isinstance(pointer.type, Pointer):
                raise self.context.error("PG123", f"`->` needs a pointer, not a {shown(pointer.type)}", node)
            base = MemoryPlace(self.slot_of(pointer), self.context.complete(pointer.type.to))
        else:
            place = self.place_of(argument)
            if not isinstance(place, MemoryPlace):
                raise self.context.error("PG123", f"a {shown(place.type)} has no members", node)
            base = place
        type = self.context.complete(base.type)
        if not isinstance(type, Struct):
            raise self.context.error("PG123", f"a {shown(type)} has no members", node)
        if type.tag not in self.context.structs and not type.fields:
            raise self.context.error("PG122", f"`struct {type.tag}` has no definition", node)
        name = self.context.word(node["field"])
        found = member_of(type, name)
        if found is not None:
            return MemoryPlace(base.slot, self.context.complete(found[0]), base.offset + found[1])
        members = ", ".join(f"`{field.name}`" for field in type.fields[:12])
        raise self.context.error(
            "PG122", f"{shown(type)} has no member `{name}`", node["field"], f"its members are {members}"
        )

    def _literal(self, node: Node) -> MemoryPlace:
        type = self.type_name(node["type"])
        name = self.new_object("<literal>", type, node)
        place = self.address_of_local(name)
        full = self.initialise(place, node["value"])
        if full != type:
            self.objects[name] = Object(name, full, span=self.objects[name].span)
        return MemoryPlace(place.slot, full)

    def _literal_value(self, node: Node) -> Operand:
        return self.load(self._literal(node), node)

    # Operators

    def _pointer_expression(self, node: Node) -> Operand:
        argument = node["argument"]
        if node["operator"].type == "*":
            if (pointer := self.function_pointer(argument)) is not None:
                return pointer
            return self.load(self.place_of(node), node)
        place = self.place_of(argument)
        if isinstance(place, SlotPlace):
            raise self.context.error("PG123", f"`{self.context.text(argument)}` has no address", node)
        if isinstance(place.type, Function):
            return Operand(Pointer(place.type), place.slot)
        return Operand(Pointer(place.type), self.pointer_to(place))

    def function_pointer(self, node: Node) -> Operand | None:
        """The value of ``node`` if it is a pointer to a function."""
        type = self.type_of(node)
        if isinstance(type, Pointer) and isinstance(type.to, Function):
            return self.value(node)
        return None

    def _unary(self, node: Node) -> Operand:
        sign = node["operator"].type
        argument = node["argument"]
        if sign == "!":
            operand = self.scalar(argument)
            if isinstance(operand.value, Known | Code) or isinstance(operand.type, Floating):
                known = self.truth(operand)
                if isinstance(known.value, Known):
                    return self.constant(1 - known.value.value)
                operand = known
            slot = self.new_slot(INT)
            self.emit(Unary(slot, "!", self.slot_of(operand), operand.type))
            return Operand(INT, slot)
        operand = self.value(argument)
        if not is_arithmetic(operand.type) or (sign == "~" and not isinstance(operand.type, Integer)):
            raise self.context.error("PG123", f"`{sign}` needs a number, not a {shown(operand.type)}", node)
        operand = self.promoted(operand, node)
        if sign == "+":
            return operand
        if isinstance(operand.value, Known):
            value = operand.value.value
            if isinstance(operand.type, Integer):
                return Operand(operand.type, value=Known(operand.type.type.wrap(~value if sign == "~" else -value)))
            return Operand(operand.type, value=Known(float_bits(-float_value(value))))
        slot = self.new_slot(operand.type)
        self.emit(Unary(slot, sign, self.slot_of(operand), operand.type))
        return Operand(operand.type, slot)

    def _binary(self, node: Node) -> Operand:
        sign = node["operator"].type
        if sign in ("&&", "||"):
            return self._logical(node)
        left = self.value(node["left"])
        right = self.value(node["right"])
        return self.binary(sign, left, right, node)

    def _logical(self, node: Node) -> Operand:
        sign = node["operator"].type
        absorbing = 0 if sign == "&&" else 1
        first = self.try_known(node["left"])
        if first is not None:
            if first == absorbing:
                self.scratch(node, lambda: self.scalar(node["right"]))
                return self.constant(absorbing)
            return self.truth(self.scalar(node["right"]))
        result = self.new_slot(INT)
        yes, no, end = self.new_label(), self.new_label(), self.new_label()
        self.branch(node, yes, no)
        self.place(yes)
        self.emit(Set(result, Known(1), INT))
        self.jump(end)
        self.place(no)
        self.emit(Set(result, Known(0), INT))
        self.place(end)
        self.join()
        return Operand(INT, result)

    def try_known(self, node: Node) -> int | None:
        """Whether the scalar ``node`` is zero or not, when that is known from the text and nothing happens in it."""
        operand, code = self.scratch(node, lambda: self.truth(self.scalar(node)))
        if isinstance(operand.value, Known) and not code:
            return operand.value.value
        return None

    def branch(self, node: Node, yes: int, no: int) -> None:
        """Go to ``yes`` or ``no`` by whether ``node`` differs from zero."""
        inner = self.inside(node)
        if inner.type == "unary_expression" and inner["operator"].type == "!":
            self.branch(inner["argument"], no, yes)
            return
        if inner.type == "binary_expression" and inner["operator"].type in ("&&", "||"):
            further = self.new_label()
            if inner["operator"].type == "&&":
                self.branch(inner["left"], further, no)
            else:
                self.branch(inner["left"], yes, further)
            self.place(further)
            self.branch(inner["right"], yes, no)
            return
        with self.at(inner):
            operand = self.scalar(inner) if inner.type != "compound_statement" else self.value(node)
            if not is_scalar(operand.type):
                raise self.context.error("PG123", "a condition is a number or a pointer", node)
            if isinstance(operand.value, Known):
                self.jump(yes if self.truth(operand).value == Known(1) else no)
                return
            if isinstance(operand.type, Floating):
                operand = self.truth(operand)
            self.emit(Branch(self.slot_of(operand), yes, no))

    def _conditional(self, node: Node) -> Operand:
        condition, alternative = node["condition"], node["alternative"]
        consequence = node.get("consequence")
        if consequence is None:
            return self._first_or_else(condition, alternative, node)
        known = self.try_known(condition)
        type = self._branch_type(consequence, alternative, node)
        if known is not None:
            chosen, other = (consequence, alternative) if known else (alternative, consequence)
            self.scratch(node, lambda: self.value(other))
            return self._as(self.value(chosen), type, node)
        result = None if isinstance(type, Void) else self.new_slot(Pointer(type) if isinstance(type, Struct) else type)
        yes, no, end = self.new_label(), self.new_label(), self.new_label()
        self.branch(condition, yes, no)
        for label, branch in ((yes, consequence), (no, alternative)):
            self.place(label)
            operand = self.value(branch)
            if result is not None:
                self.move(result, self._as(operand, type, branch))
            if label == yes:
                self.jump(end)
        self.place(end)
        self.join()
        return NOTHING if result is None else Operand(type, result)

    def _first_or_else(self, condition: Node, alternative: Node, node: Node) -> Operand:
        """GNU C's `a ?: b`: `a` if it differs from zero, evaluated once."""
        type = self._branch_type(condition, alternative, node)
        value = self.scalar(condition)
        result, end, no = self.new_slot(type), self.new_label(), self.new_label()
        truth = self.truth(value) if isinstance(value.type, Floating) else value
        test = self.slot_of(truth)
        self.emit(Move(result, self.slot_of(self._as(value, type, condition))))
        self.emit(Branch(test, end, no))
        self.place(no)
        self.move(result, self._as(self.value(alternative), type, alternative))
        self.place(end)
        self.join()
        return Operand(type, result)

    def _as(self, operand: Operand, type: CType, node: Node) -> Operand:
        return self.convert(operand, type, node)

    def _branch_type(self, first: Node, second: Node, node: Node) -> CType:
        left, right = self.type_of(first), self.type_of(second)
        if is_arithmetic(left) and is_arithmetic(right):
            return self.common_type(left, right)
        if isinstance(left, Void) or isinstance(right, Void):
            return VOID
        if isinstance(left, Pointer) and isinstance(right, Pointer):
            return left if not isinstance(left.to, Void) else right
        return right if isinstance(left, Integer) else left

    def _comma(self, node: Node) -> Operand:
        self.effect(node["left"])
        return self.value(node["right"])

    def effect(self, node: Node) -> None:
        """Evaluate ``node`` for what it does."""
        inner = self.inside(node)
        if inner.type == "update_expression":
            self._updated(inner, wanted=False)
        else:
            self.value(node)

    def _cast(self, node: Node) -> Operand:
        type = self.type_name(node["type"])
        operand = self.value(node["value"])
        if isinstance(type, Void):
            return NOTHING
        return self.convert(operand, type, node, explicit=True)

    def _sizeof(self, node: Node) -> Operand:
        if (named := node.get("type")) is not None:
            type = self.type_name(named)
        else:
            argument = self.inside(node["value"])
            if argument.type == "identifier":
                symbol = self.scope.find(self.context.word(argument))
                if isinstance(symbol, SizedVariable):
                    return Operand(SIZE, symbol.size)
            type = self.scratch(node, lambda: self.type_of_place(argument))[0]
        type = self.context.complete(type)
        if isinstance(type, Struct) and not type.fields and type.tag not in self.context.structs:
            raise self.context.error("PG122", f"`struct {type.tag}` has no definition", node)
        return self.constant(size_of(type), SIZE)

    def type_of_place(self, node: Node) -> CType:
        """The type of ``node`` where arrays are no pointers."""
        node = self.inside(node)
        dereferenced = node.type == "pointer_expression" and node["operator"].type == "*"
        if dereferenced or node.type in _PLACES:
            return self.place_of(node).type
        if node.type == "identifier":
            symbol = self.scope.find(self.context.word(node))
            if isinstance(symbol, SlotVariable | LocalVariable | GlobalVariable):
                return symbol.type
        return self.value(node).type

    def _alignof(self, node: Node) -> Operand:
        return self.constant(align_of(self.type_name(node["type"])), SIZE)

    def _offsetof(self, node: Node) -> Operand:
        type = self.context.complete(self.type_name(node["type"]))
        name = self.context.word(node["member"])
        found = member_of(type, name) if isinstance(type, Struct) else None
        if found is not None:
            return self.constant(found[1], SIZE)
        raise self.context.error("PG122", f"{shown(type)} has no member `{name}`", node)

    def _generic(self, node: Node) -> Operand:
        controlling, *rest = node.children
        type = self.type_of(controlling)
        default: Node | None = None
        for named, chosen in zip(rest[::2], rest[1::2], strict=False):
            if named.type == "type_descriptor" and self.context.word(named) == "default":
                default = chosen
            elif self.type_name(named) == type:
                return self.value(chosen)
        if default is None:
            raise self.context.error("PG123", f"`_Generic` has no choice for a {shown(type)}", node)
        return self.value(default)

    # Assignments

    def _assignment(self, node: Node) -> Operand:
        sign = node["operator"].type
        with self.at(node):
            place = self.place_of(node["left"])
            if isinstance(place, MemoryPlace) and not isinstance(place.type, Struct):
                place = MemoryPlace(self.pointer_to(place), place.type)
            if sign == "=":
                return self.assign(place, self.value(node["right"]), node)
            old = self.load(place, node)
            if not is_scalar(old.type):
                raise self.context.error("PG123", f"`{sign}` needs a number or pointer", node)
            return self.assign(place, self.binary(sign[:-1], old, self.value(node["right"]), node), node)

    def _update(self, node: Node) -> Operand:
        return self._updated(node, wanted=True)

    def _updated(self, node: Node, wanted: bool) -> Operand:
        """`++` and `--`; ``wanted``: whether the value is used."""
        with self.at(node):
            argument = node["argument"]
            place = self.place_of(argument)
            if isinstance(place, MemoryPlace):
                place = MemoryPlace(self.pointer_to(place), place.type)
            old = self.load(place, node)
            if not is_scalar(old.type) or isinstance(old.type, Opaque):
                raise self.context.error("PG123", f"`{node['operator'].type}` needs a number or pointer", node)
            postfix = wanted and argument.first == node.first
            if postfix and isinstance(place, SlotPlace):
                kept = self.new_slot(old.type)
                self.move(kept, old)
                old = Operand(old.type, kept)
            new = self.assign(place, self.binary(node["operator"].type[0], old, self.constant(1), node), node)
            return old if postfix else new


_VALUES: dict[str, Callable[[Expressions, Node], Operand]] = {
    "parenthesized_expression": Expressions._parenthesised,
    "number_literal": Expressions._number,
    "char_literal": Expressions._character,
    "string_literal": Expressions._string,
    "identifier": Expressions._name,
    "call_expression": lambda self, node: self.call(node),
    "binary_expression": Expressions._binary,
    "unary_expression": Expressions._unary,
    "pointer_expression": Expressions._pointer_expression,
    "assignment_expression": Expressions._assignment,
    "update_expression": Expressions._update,
    "conditional_expression": Expressions._conditional,
    "comma_expression": Expressions._comma,
    "cast_expression": Expressions._cast,
    "sizeof_expression": Expressions._sizeof,
    "alignof_expression": Expressions._alignof,
    "offsetof_expression": Expressions._offsetof,
    "compound_literal_expression": Expressions._literal_value,
    "generic_expression": Expressions._generic,
}
