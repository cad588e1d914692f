"""Evaluates constant expressions, and tells from the text what else is known of expressions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pgasrob.frontends.c.code import Convert, Global, Instruction, Move, Offset, Set, Slot, String
from pgasrob.frontends.c.compiler.conversions import Conversions
from pgasrob.frontends.c.compiler.emitter import Emitter
from pgasrob.frontends.c.compiler.operands import Evaluator, Operand
from pgasrob.frontends.c.compiler.scopes import Context
from pgasrob.frontends.c.literals import string
from pgasrob.frontends.c.syntax_tree import Node
from pgasrob.frontends.c.types import CType, Integer, Opaque, Pointer
from pgasrob.frontends.c.values import Address, Code, Handle, Known, ObjectId, Value


@dataclass(frozen=True, slots=True)
class Constants:
    """Evaluates constant expressions: their code is looked at and thrown away."""

    context: Context
    emitter: Emitter
    conversions: Conversions
    evaluator: Evaluator

    def number(self, node: Node, what: str) -> int:
        """The value of a constant expression of integer type; ``what`` it is, for the error when it is none."""
        found = self.try_number(node)
        if found is None:
            hint = "its value must be known from the text alone"
            raise self.context.error("PG124", f"{what} must be a constant", node, hint)
        return found

    def try_number(self, node: Node) -> int | None:
        found = self._known(lambda: self.evaluator.value(node))
        return found.value.value if isinstance(found.type, Integer) and isinstance(found.value, Known) else None

    def truth(self, node: Node) -> int | None:
        """Whether the scalar ``node`` is zero or not, when that is known from the text."""
        found = self._known(lambda: self.conversions.truth(self.evaluator.scalar(node)))
        return found.value.value if isinstance(found.value, Known) else None

    def is_constant(self, node: Node) -> bool:
        return self._known(lambda: self.evaluator.value(node)).value is not None

    def _known(self, compute: Callable[[], Operand]) -> Operand:
        """The operand that ``compute`` gives; without its value if something happens when it is computed."""
        operand, code = self.emitter.scratch(compute)
        return operand if not code else Operand(operand.type)

    def assertion(self, node: Node) -> None:
        """Check the `_Static_assert` that ``node`` calls."""
        arguments = node["arguments"].children
        if not arguments:
            raise self.context.error("PG107", "`_Static_assert` needs a condition", node)
        if not self.number(arguments[0], "the condition of `_Static_assert`"):
            text = f": {string(self.context.token(arguments[1]))}" if len(arguments) > 1 else ""
            raise self.context.error("PG103", f"a static assertion fails{text}", node)

    def value(self, type: CType, node: Node) -> Value:
        """The constant ``node`` converted to ``type``: a number, or the address of a global, function or string."""
        operand, code = self.emitter.scratch(lambda: self.conversions.convert(self.evaluator.value(node), type, node))
        if operand.value is not None and all(isinstance(each, Set) for each in code):
            return operand.value
        found = _followed(code, operand)
        if found is None:
            hint = "C gives variables of the file and static ones their first value before the program runs"
            raise self.context.error("PG124", "this initialiser must be a constant", node, hint)
        return found


def _followed(code: list[Instruction], operand: Operand) -> Value | None:
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
