"""Compiles calls: of the program's own functions, through pointers, of APIs, and of functions assumed pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pgasrob.diagnostics import SourceError
from pgasrob.diagnostics.suggestions import did_you_mean
from pgasrob.frontends.c.code import Call, Slot
from pgasrob.frontends.c.compiler.constants import Constants
from pgasrob.frontends.c.compiler.conversions import Conversions
from pgasrob.frontends.c.compiler.emitter import Emitter
from pgasrob.frontends.c.compiler.operands import NOTHING, Evaluator, Operand
from pgasrob.frontends.c.compiler.scopes import Context, FunctionName
from pgasrob.frontends.c.syntax_tree import Node
from pgasrob.frontends.c.types import DOUBLE, FLOAT, INT, SIZE, VOID, CType, Function, Pointer, Struct, Void
from pgasrob.frontends.c.values import Code


@dataclass(frozen=True, slots=True)
class Calls:
    """Compiles calls; every argument is converted as the declaration says, which an API may choose by their types."""

    context: Context
    emitter: Emitter
    conversions: Conversions
    constants: Constants
    evaluator: Evaluator

    def call(self, node: Node) -> Operand:
        with self.emitter.at(node):
            return self._called(node)

    def _called(self, node: Node) -> Operand:
        function = self.context.inside(node["function"])
        if function.type == "identifier":
            name = self.context.word(function)
            symbol = self.emitter.scope.find(name)
            if symbol is None and function is not node["function"]:
                raise self.context.unknown("type", function, self.emitter.scope)  # `(name)(value)` is meant for a cast
            if symbol is None:
                return self._call_of_api(name, function, node)
            if isinstance(symbol, FunctionName) and symbol.name not in self.context.defined:
                return self._call_of_api(name, function, node, symbol.type)
        pointer = self.evaluator.value(node["function"])
        if not isinstance(pointer.type, Pointer) or not isinstance(pointer.type.to, Function):
            raise self.context.error("PG123", f"`{self.context.text(function)}` is no function", node)
        if isinstance(pointer.value, Code) and pointer.value.name in self.context.defined:
            return self._finish_call(pointer.value.name, pointer.type.to, self._arguments(node), node)
        slot = self.emitter.slot_of(pointer)
        return self._finish_call(slot, pointer.type.to, self._arguments(node), node)

    def _arguments(self, node: Node) -> list[Operand]:
        values = []
        for argument in node["arguments"].children:
            value = self.evaluator.value(argument)
            if isinstance(value.type, Void):
                raise self.context.error("PG123", "this argument has no value", argument)
            values.append(value)
        return values

    def _call_of_api(self, name: str, function: Node, node: Node, declared: Function | None = None) -> Operand:
        """The call of a function that the program does not define."""
        nodes = node["arguments"].children
        if name == "assert":
            return self._assert(nodes, node)
        if name in ("alloca", "__builtin_alloca") and len(nodes) == 1:
            size = self.conversions.convert(self.evaluator.integer(nodes[0]), SIZE, node)
            return Operand(Pointer(VOID), self.emitter.allocate(size, Pointer(VOID), "alloca"))
        if name == "_Static_assert":
            self.constants.assertion(node)
            return NOTHING
        values = self._arguments(node)
        type: Function | None
        if name in self.context.pure:
            type = declared or Function(INT, (), True)
        else:
            type = self.context.declaration(name, tuple(self.context.pointed(value.type) for value in values))
        if type is not None:
            return self._finish_call(name, type, values, node)
        if (hint := self.context.unsupported(name)) is not None:
            near = did_you_mean(name, self._functions_like(name), 0.75)
            raise self.context.error("PG160", f"`{name}` is not supported", node, f"{near} {hint}".strip())
        missing = self.unknown_function(name, function, declared is not None)
        if declared is None:
            raise missing
        self.context.need(name, declared, missing)
        return self._finish_call(name, declared, values, node)

    def unknown_function(self, name: str, node: Node, declared: bool) -> SourceError:
        """The error for a call of a function that no file defines and no API has, with the most likely remedy."""
        scope = self.emitter.scope
        own = [each for each in scope.all_names() if each != name and isinstance(scope.find(each), FunctionName)]
        near = did_you_mean(name, [*own, *self._functions_like(name)], 0.75)
        api = self.context.api_like(name)
        if api is None:
            hint = "is it defined in another file? name that too, behind the first one or with `--with`"
            if not declared:
                hint = "declare it before it is called; if it is defined in another file, name that too, with `--with`"
            hint += f". If it accesses no memory of the program, `--assume-pure {name}` accepts it"
        elif api in self.context.apis:
            hint = f"the functions of <{api.headers[0]}> that are supported have other names"
        else:
            hint = f"is `#include <{api.headers[0]}>` missing?"
        if near:
            hint = f"{near} {hint}"
        if self.context.unread:
            hint += f"; {self.context.unread} is not read, so what it declares is unknown"
        what = "is declared, but defined nowhere here" if declared else "is not known"
        return self.context.error("PG125", f"the function `{name}` {what}", node, hint)

    def _functions_like(self, name: str) -> Sequence[str]:
        """The functions of the API that has names like ``name``, included or not, when it is none of them."""
        api = self.context.api_like(name)
        return () if api is None or name in api.functions else list(api.functions)

    def _assert(self, nodes: Sequence[Node], node: Node) -> Operand:
        if len(nodes) != 1:
            raise self.context.error("PG126", f"`assert` takes 1 argument, not {len(nodes)}", node)
        condition = self.emitter.slot_of(self.conversions.truth(self.evaluator.scalar(nodes[0])))
        self.emitter.emit(Call(None, "assert", (condition,), (INT,), VOID, (self.context.text(nodes[0]),)))
        return NOTHING

    def _finish_call(self, function: str | Slot, type: Function, values: list[Operand], node: Node) -> Operand:
        """Convert the arguments (C11, 6.5.2.2: to the parameters, by default promotions beyond them) and emit the
        call."""
        nodes = node["arguments"].children
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
                passed = self.conversions.convert(value, self.context.complete(type.parameters[index]), argument)
            else:
                passed = self.conversions.promoted(value, argument)
                if passed.type == FLOAT:
                    passed = self.conversions.convert(passed, DOUBLE, argument)
            slots.append(self.emitter.slot_of(passed))
            types.append(Pointer(passed.type) if isinstance(passed.type, Struct) else self.context.pointed(passed.type))
        texts = tuple(self.context.text(argument) for argument in nodes)
        result = self.context.complete(type.result)
        if not isinstance(result, Struct | Void):
            target = self.emitter.compute(result, Call, function, tuple(slots), tuple(types), result, texts)
            return Operand(result, target)
        returned = NOTHING
        if isinstance(result, Struct):
            place = self.emitter.address_of_local(self.emitter.new_object("<result>", result, node))
            slots, types, texts = [place.slot, *slots], [Pointer(result), *types], ("", *texts)
            returned = Operand(result, place.slot)
        self.emitter.emit(Call(None, function, tuple(slots), tuple(types), VOID, texts))
        return returned
