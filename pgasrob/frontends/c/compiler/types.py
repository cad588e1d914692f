"""Types and declarators as written."""

from __future__ import annotations

from dataclasses import dataclass

from pgasrob.frontends.c.compiler.emitter import Emitter, Operand
from pgasrob.frontends.c.compiler.scopes import Constant, Scope, SlotVariable, TypeName
from pgasrob.frontends.c.layout import shown, size_of, struct_of
from pgasrob.frontends.c.parser import TYPEOF, Node
from pgasrob.frontends.c.standard import TYPES
from pgasrob.frontends.c.tokens import error
from pgasrob.frontends.c.types import (
    BOOL,
    CHAR,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    SHORT,
    UCHAR,
    UINT,
    ULONG,
    USHORT,
    VOID,
    Array,
    CType,
    Function,
    Integer,
    Opaque,
    Pointer,
    Struct,
    Void,
)
from pgasrob.frontends.c.values import Known

MAX_OBJECT = 1 << 40

_BASIC: dict[tuple[str, ...], CType] = {
    ("void",): VOID, ("float",): FLOAT, ("double",): DOUBLE, ("double", "long"): DOUBLE,
    ("char",): CHAR, ("char", "signed"): CHAR, ("char", "unsigned"): UCHAR,
}  # fmt: skip
for _signs, _unsigned in (((), False), (("signed",), False), (("unsigned",), True)):
    for _words, _types in (
        (("int",), (INT, UINT)), ((), (INT, UINT)), (("short",), (SHORT, USHORT)), (("int", "short"), (SHORT, USHORT)),
        (("long",), (LONG, ULONG)), (("int", "long"), (LONG, ULONG)), (("long", "long"), (LONG, ULONG)),
        (("int", "long", "long"), (LONG, ULONG)),
    ):  # fmt: skip
        if _signs or _words:
            _BASIC[tuple(sorted((*_signs, *_words)))] = _types[_unsigned]


@dataclass(slots=True)
class Declarator:
    """What a declarator declares: ``name`` None for an abstract one. ``function``: the node with the parameters, when
    it declares a function. ``length``: of an array whose length is not a constant."""

    name: Node | None
    type: CType
    function: Node | None = None
    length: Node | None = None


@dataclass(slots=True)
class Parameter:
    declarator: Declarator
    type: CType
    node: Node


class Types(Emitter):
    """Reads types; subclasses compile the expressions in them."""

    def value(self, node: Node) -> Operand:
        raise NotImplementedError

    # Constants

    def constant_value(self, node: Node, what: str) -> int:
        """The value of a constant expression of integer type."""
        found = self.try_constant(node)
        if found is None:
            raise self.context.error(
                "PG124", f"{what} must be a constant", node, "its value must be known from the text alone"
            )
        return found

    def try_constant(self, node: Node) -> int | None:
        operand, _ = self.scratch(node, lambda: self.value(node))
        if isinstance(operand.type, Integer) and isinstance(operand.value, Known):
            return operand.value.value
        return None

    # Specifiers

    def base_type(self, node: Node) -> CType:
        match node.type:
            case "primitive_type":
                return self._named_type(node)
            case "struct_specifier" if self.context.word(node) in TYPEOF:
                return self._typeof(node)
            case "struct_specifier":
                return self._struct(node)
            case "union_specifier":
                return self._union(node)
            case "enum_specifier":
                return self._enum(node)
            case "type_identifier":
                raise self.context.unknown("type", node, self.scope)
            case _:
                raise self.context.error("PG120", f"`{self.context.text(node)}` is not supported as a type", node)

    def _typeof(self, node: Node) -> CType:
        """`typeof (expression)`, which the parser has made a struct with an array of that length."""
        argument = node["body"].children[0]["declarator"].get("size") if node.get("body") else None
        if argument is None:
            raise self.context.error("PG107", "`typeof` needs an expression in parentheses", node)
        type = self.scratch(node, lambda: self.type_of_place(argument))[0]
        if isinstance(type, Array) and type.length is None:
            raise self.context.error("PG124", "the length of this array is not given", node)
        return type

    def type_of_place(self, node: Node) -> CType:
        raise NotImplementedError

    def _named_type(self, node: Node) -> CType:
        word = self.context.word(node)
        words = tuple(sorted(part.strip("_") if part.startswith("__signed") else part for part in word.split()))
        if words in _BASIC:
            return _BASIC[words]
        if len(words) > 1:
            raise self.context.error("PG107", f"`{word}` is no type", node)
        symbol = self.scope.find(word)
        if isinstance(symbol, TypeName):
            return self.context.complete(symbol.type)
        if symbol is not None:
            raise self.context.error("PG122", f"`{word}` is a variable here, not a type", node)
        if (found := self.context.api_type(word)) is not None:
            return found
        if word == "_Bool":
            return BOOL
        if word == "va_list":
            return Opaque("va_list")
        if word in TYPES:
            return TYPES[word]
        raise self.context.unknown("type", node, self.scope)

    def _tag(self, node: Node) -> str:
        name = node.get("name")
        if name is not None:
            return self.context.word(name)
        return f"<{self.context.token(node).span.line}:{self.context.token(node).span.column}>"

    def _struct(self, node: Node) -> CType:
        tag = self._tag(node)
        body = node.get("body")
        if body is None:
            unique = self.scope.find_tag(tag)
            if unique is None:
                unique = self._new_tag(tag)
            return self.context.complete(Struct(unique, (), 0, 1))
        unique = self.scope.tags.get(tag)
        if unique is None or unique in ("timeval", "timespec", "timezone"):
            unique = self._new_tag(tag)
        elif unique in self.context.structs:
            raise self.context.error("PG121", f"`struct {tag}` is defined twice", node)
        struct = struct_of(unique, self._members(body))
        self.context.structs[unique] = struct
        return struct

    def _new_tag(self, tag: str) -> str:
        unique, count = tag, 1
        taken = {name for scope in self._scopes() for name in scope.tags.values()} | set(self.context.structs)
        while unique in taken:
            count += 1
            unique = f"{tag}#{count}"
        self.scope.tags[tag] = unique
        return unique

    def _scopes(self) -> list[Scope]:
        found = []
        scope: Scope | None = self.scope
        while scope is not None:
            found.append(scope)
            scope = scope.outer
        return found

    def _union(self, node: Node) -> CType:
        body = node.get("body")
        if body is not None:
            members = self._members(body)
            if len(members) == 1:
                unique = self._new_tag(self._tag(node))
                self.context.structs[unique] = struct = struct_of(unique, members)
                return struct
        elif (unique_tag := self.scope.find_tag(self._tag(node))) is not None:
            return self.context.complete(Struct(unique_tag, (), 0, 1))
        raise self.context.error(
            "PG120", "unions are not supported", node, "a cell of memory has one type here: use a struct, or one member"
        )

    def _members(self, body: Node) -> list[tuple[str, CType]]:
        members: list[tuple[str, CType]] = []
        for declaration in body.children:
            if declaration.type == "expression_statement" or declaration.type == ";":
                continue
            if declaration.type != "field_declaration":
                raise self.context.error("PG120", "this is not supported in a struct", declaration)
            base = self.base_type(declaration["type"])
            for child in declaration.children:
                if child.type == "bitfield_clause":
                    raise self.context.error("PG120", "bit-fields are not supported", child, "use a whole integer")
            declarators = declaration.fields.get("declarator", [])
            if not declarators and isinstance(base, Struct):
                members.append(("", base))
            for node in declarators:
                declarator = self.declarator(node, base)
                assert declarator.name is not None
                self._need_complete(declarator.type, node)
                if declarator.length is not None:
                    raise self.context.error("PG124", "the length of an array in a struct must be a constant", node)
                name = self.context.word(declarator.name)
                if any(name == other for other, _ in members):
                    raise self.context.error("PG121", f"two members are named `{name}`", node)
                members.append((name, declarator.type))
        return members

    def _need_complete(self, type: CType, node: Node) -> None:
        inner = type
        while isinstance(inner, Array):
            if inner.length is None:
                raise self.context.error("PG124", "the length of this array is not given", node)
            inner = inner.of
        if isinstance(inner, Struct) and inner.tag not in self.context.structs and not inner.fields:
            raise self.context.error("PG122", f"`struct {inner.tag}` has no definition", node)
        if isinstance(inner, Void | Function):
            raise self.context.error("PG121", f"nothing can have the type {shown(inner)}", node)
        if size_of(type) > MAX_OBJECT:
            raise self.context.error("PG124", "this is larger than any memory", node)

    def _enum(self, node: Node) -> CType:
        body = node.get("body")
        if body is None:
            if self.scope.find_tag(self._tag(node)) is None:
                self.scope.tags[self._tag(node)] = "enum"
            return INT
        self.scope.tags[self._tag(node)] = "enum"
        following = 0
        for child in body.children:
            if child.type != "enumerator":
                raise self.context.error("PG107", "an enumerator was expected here", child)
            value = child.get("value")
            if value is not None:
                following = self.constant_value(value, "the value of an enumerator")
            name = self.context.word(child["name"])
            if name in self.scope.names:
                raise self.context.error("PG121", f"`{name}` is declared twice", child)
            self.scope.names[name] = Constant(following)
            following += 1
        return INT

    # Declarators

    def declarator(self, node: Node | None, type: CType, parameter: bool = False) -> Declarator:
        """What ``node`` declares when the specifiers before it say ``type``."""
        function: Node | None = None
        length: Node | None = None
        while node is not None:
            match node.type:
                case "identifier" | "type_identifier" | "field_identifier" | "primitive_type":
                    return Declarator(node, type, function, length)
                case "pointer_declarator" | "abstract_pointer_declarator":
                    type, function, length = self._pointer_to(type, length, node), None, None
                case "array_declarator" | "abstract_array_declarator":
                    type, length = self._array(node, type, length, parameter)
                    function = None
                case "function_declarator" | "abstract_function_declarator":
                    if isinstance(type, Array | Function):
                        raise self.context.error("PG121", f"a function cannot return a {shown(type)}", node)
                    behind = node["parameters"].last + 1
                    if node.last >= behind:
                        token = self.context.tokens[behind]
                        raise error("PG107", f"syntax error at `{token.text}`", token)
                    parameters, variadic = self.parameters(node["parameters"])
                    type = Function(type, tuple(each.type for each in parameters), variadic)
                    function = node
                case "parenthesized_declarator" | "abstract_parenthesized_declarator":
                    inner = [child for child in node.children if child.type.endswith(("declarator", "identifier"))]
                    if len(inner) != 1:
                        raise self.context.error("PG107", "a declarator was expected in these parentheses", node)
                    node = inner[0]
                    continue
                case _:
                    raise self.context.error(
                        "PG120", f"`{self.context.text(node)}` is not supported in a declaration", node
                    )
            following = node.get("declarator")
            if following is None:
                candidates = [child for child in node.children if child.type.endswith("declarator")]
                following = candidates[0] if candidates else None
            node = following
        return Declarator(None, type, function, length)

    def _pointer_to(self, type: CType, length: Node | None, node: Node) -> CType:
        if length is not None:
            raise self.context.error("PG124", "pointers to arrays need a constant length", node)
        return Pointer(type)

    def _array(self, node: Node, type: CType, length: Node | None, parameter: bool) -> tuple[CType, Node | None]:
        if length is not None:
            raise self.context.error(
                "PG124", "only the first length of an array may be unknown", node, "make the inner lengths constants"
            )
        if isinstance(type, Array) and type.length is None:
            raise self.context.error("PG124", "only the first length of an array may be left out", node)
        size = node.get("size")
        if isinstance(type, Void | Function):
            raise self.context.error("PG121", f"there are no arrays of {shown(type)}", node)
        if size is None:
            return Array(type, None), None
        outermost = node.get("declarator") is None or node["declarator"].type in ("identifier", "field_identifier")
        if parameter and outermost:
            return Array(type, None), None
        number = self.try_constant(size)
        if number is None:
            return Array(type, None), size
        if number < 0:
            raise self.context.error("PG124", f"an array cannot have {number} elements", node)
        return Array(type, number), None

    def parameters(self, node: Node) -> tuple[list[Parameter], bool]:
        """The parameters that a list declares, arrays and functions as the pointers that they are."""
        found: list[Parameter] = []
        variadic = False
        outer, self.scope = self.scope, Scope(self.scope)
        try:
            for child in node.children:
                if child.type == "variadic_parameter":
                    variadic = True
                    continue
                if child.type != "parameter_declaration":
                    raise self.context.error(
                        "PG120", f"`{self.context.text(child)}` is not supported as a parameter", child
                    )
                base = self.base_type(child["type"])
                declared = self.declarator(child.get("declarator"), base, parameter=True)
                if declared.length is not None:
                    raise self.context.error("PG124", "the inner lengths of an array must be constants", child)
                type = declared.type
                if isinstance(type, Void) and declared.name is None and len(node.children) == 1:
                    return [], False
                if isinstance(type, Array):
                    type = Pointer(type.of)
                elif isinstance(type, Function):
                    type = Pointer(type)
                elif isinstance(type, Void):
                    raise self.context.error("PG121", "a parameter cannot be void", child)
                found.append(Parameter(declared, type, child))
                if declared.name is not None:  # the lengths of further parameters may name it
                    self.scope.names[self.context.word(declared.name)] = SlotVariable(0, type)
        finally:
            outer.tags.update({tag: unique for tag, unique in self.scope.tags.items() if tag not in outer.tags})
            self.scope = outer
        return found, variadic or not found  # C11, 6.7.6.3: `()` says nothing of the parameters

    def type_name(self, node: Node) -> CType:
        """A type in parentheses: of a cast, `sizeof`, or a compound literal."""
        base = self.base_type(node["type"])
        declared = self.declarator(node.get("declarator"), base)
        if declared.length is not None:
            raise self.context.error("PG124", "the length of this array must be a constant", node)
        return declared.type


def member_of(struct: Struct, name: str) -> tuple[CType, int] | None:
    """The type and offset of a member, which may be in a member without a name."""
    for field in struct.fields:
        if field.name == name:
            return field.type, field.offset
        if not field.name and isinstance(field.type, Struct):
            inner = member_of(field.type, name)
            if inner is not None:
                return inner[0], field.offset + inner[1]
    return None
