"""Finds the C types that type names, specifiers and declarators of a program mean."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, count

from pgasrob.frontends.c.compiler.constants import Constants
from pgasrob.frontends.c.compiler.emitter import Emitter
from pgasrob.frontends.c.compiler.operands import Evaluator
from pgasrob.frontends.c.compiler.operations import Operations
from pgasrob.frontends.c.compiler.scopes import Constant, Context, SlotVariable, TypeName
from pgasrob.frontends.c.layout import shown, size_of, struct_of, with_article
from pgasrob.frontends.c.shapes import TYPEOF, UNSUPPORTED_TYPES
from pgasrob.frontends.c.standard import STRUCTS, TYPES
from pgasrob.frontends.c.syntax_tree import Node
from pgasrob.frontends.c.tokens import error
from pgasrob.frontends.c.types import (
    BOOL,
    CHAR,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    LONG_DOUBLE,
    SHORT,
    SIZE,
    UCHAR,
    UINT,
    ULONG,
    USHORT,
    VOID,
    Array,
    CType,
    Function,
    Opaque,
    Pointer,
    Struct,
    Void,
)

MAX_OBJECT = 1 << 40

_BASIC: dict[tuple[str, ...], CType] = {
    ("void",): VOID, ("float",): FLOAT, ("double",): DOUBLE, ("double", "long"): LONG_DOUBLE,
    ("char",): CHAR, ("char", "signed"): CHAR, ("char", "unsigned"): UCHAR,
    **{
        tuple(sorted(f"{size} {sign} {word}".split())): types[sign == "unsigned"]
        for size, types in {
            "": (INT, UINT), "short": (SHORT, USHORT), "long": (LONG, ULONG), "long long": (LONG, ULONG),
        }.items()
        for sign in ("", "signed", "unsigned") for word in ("", "int") if size or sign or word
    },
}  # fmt: skip


@dataclass(slots=True)
class Declarator:
    """What a declarator declares: ``name`` None for an abstract one. ``function``: the node with the parameters, when
    it declares a function. ``length``: of an array whose length is not a constant."""

    name: Node | None
    type: CType
    function: Node | None = None
    length: Node | None = None


@dataclass(frozen=True, slots=True)
class Types:
    """Reads types."""

    context: Context
    emitter: Emitter
    operations: Operations
    constants: Constants
    evaluator: Evaluator

    # Specifiers

    def base_type(self, node: Node) -> CType:
        match node.type:
            case "primitive_type":
                return self._named_type(node)
            case "struct_specifier" if self.context.word(node) in TYPEOF:
                return self._typeof(node)
            case "struct_specifier" | "union_specifier":
                return self._struct(node, node.type == "union_specifier")
            case "enum_specifier":
                return self._enum(node)
            case "type_identifier":
                raise self.context.unknown("type", node, self.emitter.scope)
            case _:
                raise self.context.error("PG120", f"`{self.context.text(node)}` is not supported as a type", node)

    def _typeof(self, node: Node) -> CType:
        """`typeof (expression)`, which comes as a struct with an array of that length, and `typeof (type)`, as one with
        a member of that type."""
        members = node["body"].children if node.get("body") else []
        if not members or members[0].get("declarator") is None:
            raise self.context.error("PG107", "`typeof` needs an expression or a type in parentheses", node)
        argument = members[0]["declarator"].get("size")
        if argument is None:
            return self.declarator(members[0]["declarator"], self.base_type(members[0]["type"])).type
        type, _ = self.emitter.scratch(lambda: self.evaluator.type_of_place(argument))
        self.context.need_length(type, node)
        return type

    def _named_type(self, node: Node) -> CType:
        word = self.context.word(node)
        words = tuple(sorted(part.strip("_") if part.startswith("__signed") else part for part in word.split()))
        if words in _BASIC:
            return _BASIC[words]
        for name in UNSUPPORTED_TYPES.keys() & {*words}:
            raise self.context.error("PG120", UNSUPPORTED_TYPES[name], node)
        if len(words) > 1:
            raise self.context.error("PG107", f"`{word}` is no type", node)
        symbol = self.emitter.scope.find(word)
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
        raise self.context.unknown("type", node, self.emitter.scope)

    def _tag(self, node: Node) -> str:
        name = node.get("name")
        if name is not None:
            return self.context.word(name)
        return f"<{self.context.token(node).span.line}:{self.context.token(node).span.column}>"

    def _struct(self, node: Node, union: bool) -> CType:
        """The struct or union ``node``: declared in this scope if it has a body, else the one in sight (C11,
        6.7.2.3)."""
        tag = self._tag(node)
        body = node.get("body")
        if body is None:
            known = self.emitter.scope.find_tag(tag) or self._new_tag(tag)
            return self.context.complete(Struct(known, (), 0, 1, union))
        unique = self.emitter.scope.tags.get(tag)
        if unique is None or unique in STRUCTS or node.get("name") is None:  # a macro may give several at one place
            unique = self._new_tag(tag)
        elif unique in self.context.structs:
            raise self.context.error("PG121", f"`{'union' if union else 'struct'} {tag}` is defined twice", node)
        members, word = self._members(body), self.context.token(node)
        aligned = [further for _, _, further in members]
        struct = struct_of(unique, [(name, type) for name, type, _ in members], union, word.most, word.least, aligned)
        self.context.structs[unique] = struct
        return struct

    def _new_tag(self, tag: str) -> str:
        """A name for a struct that is unique in the file: scopes may reuse a tag."""
        scope = self.emitter.scope
        taken = {*self.context.structs, *(name for each in scope.outwards() for name in each.tags.values())}
        names = chain((tag,), (f"{tag}#{number}" for number in count(2)))
        scope.tags[tag] = unique = next(name for name in names if name not in taken)
        return unique

    def _members(self, body: Node) -> list[tuple[str, CType, int]]:
        """The members of a struct or union by name (C11, 6.7.2.1), and how far they are aligned at least; those of an
        unnamed struct member count as its own."""
        members: list[tuple[str, CType, int]] = []
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
                members.append(("", base, 0))
            for node in declarators:
                declarator = self.declarator(node, base)
                assert declarator.name is not None
                type, last = declarator.type, body.children[-1].fields.get("declarator", declarators)[-1]
                if last is node and members and isinstance(type, Array) and type.length is None:
                    type = type.of  # C11, 6.7.2.1, 18
                self.need_complete(type, node)
                if declarator.length is not None:
                    raise self.context.error("PG124", "the length of an array in a struct must be a constant", node)
                name = self.context.word(declarator.name)
                if any(name == other for other, *_ in members):
                    raise self.context.error("PG121", f"two members are named `{name}`", node)
                all_of_it = self.context.aligned(declaration.first, declaration.first)
                members.append((name, declarator.type, max(all_of_it, self.context.aligned(node.first, node.last))))
        return members

    def need_complete(self, type: CType, node: Node) -> None:
        """Check that there can be an object of ``type``."""
        inner = type
        while isinstance(inner, Array):
            self.context.need_length(inner, node)
            inner = inner.of
        self.context.defined_type(inner, node)
        if isinstance(inner, Void | Function):
            raise self.context.error("PG121", f"nothing can have the type {shown(inner)}", node)
        if size_of(type) > MAX_OBJECT:
            raise self.context.error("PG141", "this is larger than any memory", node)

    def _enum(self, node: Node) -> CType:
        """Declare the enumerators of ``node``, of which each is one more than the one before (C11, 6.7.2.2)."""
        body, tag, scope = node.get("body"), self._tag(node), self.emitter.scope
        if body is not None or scope.find_tag(tag) is None:
            scope.tags[tag] = "enum"
        if body is None:
            return INT
        following = 0
        for child in body.children:
            if child.type != "enumerator":
                raise self.context.error("PG107", "an enumerator was expected here", child)
            value = child.get("value")
            if value is not None:
                following = self.constants.number(value, "the value of an enumerator")
            name = self.context.word(child["name"])
            if name in scope.names:
                raise self.context.error("PG121", f"`{name}` is declared twice", child)
            scope.names[name] = Constant(following)
            following += 1
        return INT

    # Declarators

    def measured(self, type: CType, length: Node) -> Array:
        """``type``, an array of so many elements, with its size in a slot, from now on."""
        assert isinstance(type, Array)
        bytes = self.emitter.new_slot(SIZE)
        conversions = self.operations.conversions
        count = conversions.convert(self.evaluator.integer(length), SIZE, length)
        self.emitter.move(bytes, self.operations.binary("*", count, self.operations.size(type.of, length), length))
        return Array(type.of, None, bytes)

    def declarator(self, node: Node | None, type: CType, parameter: bool = False, measures: bool = True) -> Declarator:
        """The name and type that ``node`` declares when the specifiers before it mean ``type``; ``measures``: lengths
        that are no constants are computed, but for that of the array that it declares itself."""
        function: Node | None = None
        length: Node | None = None
        while node is not None:
            match node.type:
                case "identifier" | "type_identifier" | "field_identifier" | "primitive_type":
                    return Declarator(node, type, function, length)
                case "pointer_declarator" | "abstract_pointer_declarator":
                    if length is not None and measures:
                        type = self.measured(type, length)
                    type, function, length = Pointer(type), None, None
                case "array_declarator" | "abstract_array_declarator":
                    if length is not None and measures:
                        type = self.measured(type, length)
                    type, length = self._array(node, type, length, parameter)
                    function = None
                case "function_declarator" | "abstract_function_declarator":
                    if isinstance(type, Array | Function):
                        raise self.context.error("PG121", f"a function cannot return {with_article(type)}", node)
                    after = node["parameters"].last + 1
                    if node.last >= after:
                        token = self.context.tokens[after]
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
            inner = [child for child in node.children if child.type.endswith("declarator")]
            node = node.get("declarator") or (inner[0] if inner else None)
        return Declarator(None, type, function, length)

    def _array(self, node: Node, type: CType, length: Node | None, parameter: bool) -> tuple[CType, Node | None]:
        """The type of an array of ``type``; its length as a node where only the run gives it (C11, 6.7.6.2)."""
        varies = length is not None or (isinstance(type, Array) and type.bytes is not None)
        if isinstance(type, Array) and type.length is None and not varies:
            raise self.context.error("PG124", "only the first length of an array may be left out", node)
        size = node.get("size")
        if isinstance(type, Void | Function):
            raise self.context.error("PG121", f"there are no arrays of {shown(type)}", node)
        if size is None:
            return Array(type, None), None
        outermost = node.get("declarator") is None or node["declarator"].type in ("identifier", "field_identifier")
        if parameter and outermost:
            return Array(type, None), None
        number = self.constants.try_number(size)
        if number is None or varies:
            return Array(type, None), size
        if number < 0:
            raise self.context.error("PG124", f"an array cannot have {number} elements", node)
        return Array(type, number), None

    def parameters(self, node: Node, measures: bool = False) -> tuple[list[Declarator], bool]:
        """The parameters that a list declares, arrays and functions as the pointers that they are. ``measures``: they
        have been declared, so that lengths can be computed of them."""
        if measures:
            return self._parameters(node, True)
        with self.emitter.block(node) as outer:
            try:
                return self._parameters(node, False)
            finally:
                outer.tags = self.emitter.scope.tags | outer.tags

    def _parameters(self, node: Node, measures: bool) -> tuple[list[Declarator], bool]:
        found: list[Declarator] = []
        variadic = False
        for child in node.children:
            if child.type == "variadic_parameter":
                variadic = True
                continue
            if child.type != "parameter_declaration":
                raise self.context.error(
                    "PG120", f"`{self.context.text(child)}` is not supported as a parameter", child
                )
            base = self.base_type(child["type"])
            declared = self.declarator(child.get("declarator"), base, parameter=True, measures=measures)
            type = declared.type
            if isinstance(type, Void) and declared.name is None and len(node.children) == 1:
                return [], False
            if isinstance(type, Array | Function):
                type = Pointer(type.of if isinstance(type, Array) else type)
            elif isinstance(type, Void):
                raise self.context.error("PG121", "a parameter cannot be void", child)
            found.append(Declarator(declared.name, type))
            if declared.name is not None and not measures:  # the lengths of further parameters may name it
                self.emitter.scope.names[self.context.word(declared.name)] = SlotVariable(0, type)
        return found, variadic or not found  # C11, 6.7.6.3: `()` says nothing of the parameters

    def declared(self, node: Node) -> Iterator[tuple[Declarator, Node, Node | None, Node]]:
        """What the declaration ``node`` declares, with its name, its initialiser and its whole, one by one."""
        if node.get("type") is None:
            raise self.context.error("PG120", "a declaration without a type is not supported", node)
        base = self.base_type(node["type"])
        for child in node.fields.get("declarator", []):
            initialised = child.type == "init_declarator"
            declarator = self.declarator(child["declarator"] if initialised else child, base)
            if declarator.name is None:
                raise self.context.error("PG107", "a name was expected here", child)
            yield declarator, declarator.name, child.get("value") if initialised else None, child

    def storage(self, node: Node) -> set[str]:
        """The storage classes of a declaration."""
        return {self.context.word(child) for child in node.children if child.type == "storage_class_specifier"}

    def type_name(self, node: Node) -> CType:
        """A type in parentheses: of a cast, `sizeof`, or a compound literal."""
        base = self.base_type(node["type"])
        declared = self.declarator(node.get("declarator"), base)
        return declared.type if declared.length is None else self.measured(declared.type, declared.length)
