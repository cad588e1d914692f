"""Calls: of the program's own functions, through pointers, of APIs, and of those that are assumed pure."""

from __future__ import annotations

from collections.abc import Sequence

from pgasrob.diagnostics import SourceError
from pgasrob.diagnostics.suggestions import did_you_mean
from pgasrob.frontends.c.code import Call, Slot
from pgasrob.frontends.c.compiler.emitter import NOTHING, Operand
from pgasrob.frontends.c.compiler.expressions import Expressions
from pgasrob.frontends.c.compiler.scopes import FunctionName
from pgasrob.frontends.c.literals import string
from pgasrob.frontends.c.parser import Node
from pgasrob.frontends.c.types import DOUBLE, INT, SIZE, VOID, CType, Floating, Function, Pointer, Struct, Void
from pgasrob.frontends.c.values import Code


class Calls(Expressions):
    """Compiles calls; every argument is converted as the declaration says, which an API may choose by their types."""

    def call(self, node: Node) -> Operand:
        with self.at(node):
            return self._called(node)

    def _called(self, node: Node) -> Operand:
        function = self.inside(node["function"])
        arguments = node["arguments"].children
        if function.type == "identifier":
            name = self.context.word(function)
            symbol = self.scope.find(name)
            if symbol is None:
                return self._call_of_api(name, function, arguments, node)
            if isinstance(symbol, FunctionName):
                if symbol.name in self.context.defined:
                    return self._finish_call(symbol.name, symbol.type, arguments, self._values(arguments), node)
                return self._call_of_api(name, function, arguments, node, symbol.type)
        pointer = self.value(node["function"])
        if not isinstance(pointer.type, Pointer) or not isinstance(pointer.type.to, Function):
            raise self.context.error("PG123", f"`{self.context.text(function)}` is no function", node)
        if isinstance(pointer.value, Code) and pointer.value.name in self.context.defined:
            return self._finish_call(pointer.value.name, pointer.type.to, arguments, self._values(arguments), node)
        slot = self.slot_of(pointer)
        return self._finish_call(slot, pointer.type.to, arguments, self._values(arguments), node)

    def _values(self, nodes: Sequence[Node]) -> list[Operand]:
        values = []
        for node in nodes:
            value = self.value(node)
            if isinstance(value.type, Void):
                raise self.context.error("PG123", "this argument has no value", node)
            values.append(value)
        return values

    def _call_of_api(
        self, name: str, function: Node, nodes: Sequence[Node], node: Node, declared: Function | None = None
    ) -> Operand:
        """The call of a function that the program does not define."""
        if name == "assert":
            return self._assert(nodes, node)
        if name in ("alloca", "__builtin_alloca") and len(nodes) == 1:
            size = self.slot_of(self.convert(self.integer(nodes[0]), SIZE, node))
            slot = self.new_slot(Pointer(VOID))
            self.emit(Call(slot, "__alloca", (size,), (SIZE,), Pointer(VOID), ("alloca",)))
            return Operand(Pointer(VOID), slot)
        if name == "_Static_assert":
            self.static_assertion(node)
            return NOTHING
        values = self._values(nodes)
        if name in self.context.pure:
            type = declared or Function(INT, (), True)
            return self._finish_call(name, type, nodes, values, node)
        type_of_api = self.context.declaration(name, tuple(self.context.pointed(value.type) for value in values))
        if type_of_api is not None:
            return self._finish_call(name, type_of_api, nodes, values, node)
        if (hint := self.context.unsupported(name)) is not None:
            raise self.context.error("PG160", f"`{name}` is not supported", node, hint)
        raise self._unknown_function(name, function, declared is not None)

    def _unknown_function(self, name: str, node: Node, declared: bool) -> SourceError:
        functions = [each for each in self.scope.all_names() if isinstance(self.scope.find(each), FunctionName)]
        own = [each for each in functions if each != name]
        near = did_you_mean(name, own, 0.75)
        hint = f"if it touches no shared memory, `--assume-pure {name}` accepts it"
        if near:
            hint = f"{near} {hint}"
        if self.context.unread:
            headers = ", ".join(f"<{header}>" for header in self.context.unread)
            hint += f"; {headers} is not read, so what it declares is unknown"
        what = "is declared, but defined nowhere here" if declared else "is not known"
        return self.context.error("PG125", f"the function `{name}` {what}", node, hint)

    def static_assertion(self, node: Node) -> None:
        arguments = node["arguments"].children
        if not arguments:
            raise self.context.error("PG107", "`_Static_assert` needs a condition", node)
        if not self.constant_value(arguments[0], "the condition of `_Static_assert`"):
            text = f": {string(self.context.token(arguments[1]))}" if len(arguments) > 1 else ""
            raise self.context.error("PG103", f"a static assertion fails{text}", node)

    def _assert(self, nodes: Sequence[Node], node: Node) -> Operand:
        if len(nodes) != 1:
            raise self.context.error("PG126", f"`assert` takes 1 argument, not {len(nodes)}", node)
        condition = self.slot_of(self.truth(self.scalar(nodes[0])))
        self.emit(Call(None, "assert", (condition,), (INT,), VOID, (self.context.text(nodes[0]),)))
        return NOTHING

    def _finish_call(
        self, function: str | Slot, type: Function, nodes: Sequence[Node], values: list[Operand], node: Node
    ) -> Operand:
        expected = len(type.parameters)
        if len(values) != expected and not (type.variadic and len(values) >= expected):
            name = function if isinstance(function, str) else self.context.text(node["function"])
            least = "at least " if type.variadic else ""
            plural = "" if expected == 1 else "s"
            raise self.context.error(
                "PG126", f"`{name}` takes {least}{expected} argument{plural}, not {len(values)}", node
            )
        slots: list[Slot] = []
        types: list[CType] = []
        for index, (value, argument) in enumerate(zip(values, nodes, strict=True)):
            if index < expected:
                passed = self.convert(value, self.context.complete(type.parameters[index]), argument)
            else:
                passed = self.promoted(value, argument)
                if isinstance(passed.type, Floating):
                    passed = self.convert(passed, DOUBLE, argument)
            slots.append(self.slot_of(passed))
            types.append(Pointer(passed.type) if isinstance(passed.type, Struct) else self.context.pointed(passed.type))
        texts = tuple(self.context.text(argument) for argument in nodes)
        result = self.context.complete(type.result)
        if isinstance(result, Struct):
            place = self.address_of_local(self.new_object("<result>", result, node))
            hidden = Pointer(result)
            self.emit(Call(None, function, (place.slot, *slots), (hidden, *types), VOID, ("", *texts)))
            return Operand(result, place.slot)
        if isinstance(result, Void):
            self.emit(Call(None, function, tuple(slots), tuple(types), VOID, texts))
            return NOTHING
        target = self.new_slot(result)
        self.emit(Call(target, function, tuple(slots), tuple(types), result, texts))
        return Operand(result, target)
