"""Compiles calls: of the program's own functions, through pointers, of APIs, and of functions assumed pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pgasrob.diagnostics import SourceError
from pgasrob.diagnostics.suggestions import did_you_mean
from pgasrob.frontends.c.code import Call, Slot
from pgasrob.frontends.c.compiler.constants import Constants
from pgasrob.frontends.c.compiler.conversions import Conversions
from pgasrob.frontends.c.compiler.emitter import Emitter
from pgasrob.frontends.c.compiler.operands import NOTHING, Evaluator, Operand
from pgasrob.frontends.c.compiler.scopes import Context, FunctionName
from pgasrob.frontends.c.layout import with_article
from pgasrob.frontends.c.syntax_tree import Node
from pgasrob.frontends.c.types import (
    DOUBLE,
    FLOAT,
    INT,
    SIZE,
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
from pgasrob.frontends.c.values import Code, Known


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
        values, wrong = [], list[SourceError]()
        for argument in node["arguments"].children:
            try:
                value = self.evaluator.value(argument)
                if isinstance(value.type, Void):
                    raise self.context.error("PG123", "this argument has no value", argument)
            except SourceError as found:
                wrong.append(found)
            else:
                values.append(value)
        self._raise(wrong)
        return values

    def _raise(self, wrong: Sequence[SourceError]) -> None:
        """Raises the last of the mistakes in one call, if there are any; the others are noted."""
        for each in wrong[:-1]:
            self.context.note(each)
        if wrong:
            raise wrong[-1]

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
        try:
            values, wrong = self._arguments(node), None
        except SourceError as found:
            values, wrong = [], found
        type: Function | None
        if name in self.context.pure:
            type = declared or Function(INT, (), True)
        else:
            type = self.context.declaration(name, tuple(self.context.pointed(value.type) for value in values))
        if wrong is not None and type is not None:
            # Where more than a name is wrong, how many arguments there are may be a part of the same mistake.
            if all(each.code == "PG122" for each in wrong.diagnostics):
                try:
                    self._check_count(name, type, len(node["arguments"].children), node)
                except SourceError as more:
                    wrong = SourceError([*wrong.diagnostics, *more.diagnostics])
            raise wrong
        if wrong is not None:
            self.context.note(wrong)
        if type is not None:
            return self._finish_call(name, type, values, node)
        if (hint := self.context.unsupported(name)) is not None:
            wrong = self.context.error("PG128", f"`{name}` is not supported", node, hint)
            raise self.context.once(name, wrong)
        missing = self.unknown_function(name, function, declared is not None)
        if declared is None:
            raise missing
        self.context.need(name, declared, missing)
        if wrong is not None:
            raise wrong
        return self._finish_call(name, declared, values, node)

    def unknown_function(self, name: str, node: Node, declared: bool) -> SourceError:
        """The error for a call of a function that no file defines and no API has, with the most likely remedy."""
        scope = self.emitter.scope
        own = [each for each in scope.all_names() if each != name and isinstance(scope.find(each), FunctionName)]
        near = did_you_mean(name, [*own, *self._functions_like(name)], 0.75)
        api = self.context.api_like(name)
        if api is None:
            hint = "is it defined in another file? name that too, after the first one or with `--with`"
            if not declared:
                hint = "declare it before it is called; if it is defined in another file, name that too, with `--with`"
            hint += f". If it accesses no memory of the program, `--assume-pure {name}` accepts it"
        elif api in self.context.apis:
            hint = f"the functions of <{api.headers[0]}> that are supported have other names"
        else:
            hint = f"is `#include <{api.headers[0]}>` missing?"
        if near:
            hint = near if api is None or api in self.context.apis else f"{near} {hint}"
        if self.context.unread:
            hint += f"; {self.context.unread} is not read, so what it declares is unknown"
        what = "is declared, but defined nowhere here" if declared else "is not known"
        return self.context.once(name, self.context.error("PG125", f"the function `{name}` {what}", node, hint))

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

    def _passed(self, value: Operand, to: CType | None, argument: Node) -> Operand:
        """``value`` as it is passed for a parameter of type ``to``, or beyond the parameters."""
        if to is not None:
            return self.conversions.convert(value, self.context.complete(to), argument)
        passed = self.conversions.promoted(value, argument)
        return self.conversions.convert(passed, DOUBLE, argument) if passed.type == FLOAT else passed

    def _check_type(self, value: Operand, to: CType, node: Node) -> None:
        """Raises :class:`SourceError` for an argument of an API's function that is none for a parameter of type ``to``
        (C11, 6.5.16.1), and where an address is confused with what is there. Pointers to other types are let through,
        for many programs have them."""
        of, text = value.type, self.context.text(node)
        if isinstance(value.value, Known):
            return  # constants of an API, and null pointers
        if isinstance(to, Pointer) and not isinstance(of, Pointer | Array):
            wrong = isinstance(of, Integer) or (isinstance(of, Opaque) and not isinstance(to.to, Void))
            hint = f"pass its address: `&{text}`" if text.isidentifier() else "pass an address"
        else:
            narrow = isinstance(to, Opaque) or (isinstance(to, Integer) and to.type.bits < 64)
            wrong = isinstance(of, Pointer) and narrow
            there = text[1:] if text.startswith("&") else f"*{text}"
            hint = "" if text.startswith('"') else f"pass the value that it points to: `{there}`"
        if wrong:
            expected = with_article(to, "`")
            message = f"`{text}` is {with_article(of, '`')}, where {expected} is expected"
            raise self.context.error("PG123", message, node, hint)

    def _with_declaration(self, wrong: SourceError, function: str | Slot) -> SourceError:
        """``wrong`` with a note of how an API declares the ``function``."""
        text = self.context.declared(function) if isinstance(function, str) else None
        if text is None:
            return wrong
        note = f"it is declared `{' '.join(text.split()).rstrip(';')}`"
        return SourceError([replace(each, notes=(*each.notes, note)) for each in wrong.diagnostics])

    def _check_count(self, function: str | Slot, type: Function, count: int, node: Node) -> None:
        expected = len(type.parameters)
        if count == expected or (type.variadic and count >= expected):
            return
        name = function if isinstance(function, str) else self.context.text(node["function"])
        least = "at least " if type.variadic else ""
        plural = "" if expected == 1 else "s"
        wrong = self.context.error("PG126", f"`{name}` takes {least}{expected} argument{plural}, not {count}", node)
        raise self._with_declaration(wrong, function)

    def _finish_call(self, function: str | Slot, type: Function, values: list[Operand], node: Node) -> Operand:
        """Convert the arguments (C11, 6.5.2.2: to the parameters, by default promotions beyond them) and emit the
        call."""
        nodes = node["arguments"].children
        expected = len(type.parameters)
        self._check_count(function, type, len(values), node)
        slots: list[Slot] = []
        types: list[CType] = []
        mistakes: list[SourceError] = []
        for index, (value, argument) in enumerate(zip(values, nodes, strict=True)):
            try:
                to = type.parameters[index] if index < expected else None
                if to is not None and isinstance(function, str) and function not in self.context.defined:
                    self._check_type(value, to, argument)
                passed = self._passed(value, to, argument)
            except SourceError as found:
                mistakes.append(self._with_declaration(found, function))
                continue
            slots.append(self.emitter.slot_of(passed))
            types.append(Pointer(passed.type) if isinstance(passed.type, Struct) else self.context.pointed(passed.type))
        self._raise(mistakes)
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
