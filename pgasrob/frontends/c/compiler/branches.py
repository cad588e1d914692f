"""Compiles jumps that expressions decide: conditions, `&&` and `||`, and `?:`."""

from __future__ import annotations

from dataclasses import dataclass

from pgasrob.frontends.c.code import Branch, Move, Set
from pgasrob.frontends.c.compiler.constants import Constants
from pgasrob.frontends.c.compiler.conversions import Conversions
from pgasrob.frontends.c.compiler.emitter import Emitter
from pgasrob.frontends.c.compiler.operands import NOTHING, Evaluator, Operand, constant, is_arithmetic, is_scalar
from pgasrob.frontends.c.compiler.scopes import Context
from pgasrob.frontends.c.syntax_tree import Node
from pgasrob.frontends.c.types import INT, VOID, CType, Floating, Integer, Pointer, Struct, Void
from pgasrob.frontends.c.values import Known


@dataclass(frozen=True, slots=True)
class Branches:
    """Compiles what depends on whether an expression is zero."""

    context: Context
    emitter: Emitter
    conversions: Conversions
    constants: Constants
    evaluator: Evaluator

    def branch(self, node: Node, yes: int, no: int) -> None:
        """Go to ``yes`` or ``no`` by whether ``node`` differs from zero."""
        inner = self.context.inside(node)
        if inner.type == "unary_expression" and inner["operator"].type == "!":
            self.branch(inner["argument"], no, yes)
            return
        if inner.type == "binary_expression" and inner["operator"].type in ("&&", "||"):
            further = self.emitter.new_label()
            self.branch(inner["left"], *((further, no) if inner["operator"].type == "&&" else (yes, further)))
            self.emitter.place(further)
            self.branch(inner["right"], yes, no)
            return
        with self.emitter.at(inner):
            operand = self.evaluator.scalar(inner) if inner.type != "compound_statement" else self.evaluator.value(node)
            if not is_scalar(operand.type):
                raise self.context.error("PG123", "a condition is a number or a pointer", node)
            if isinstance(operand.value, Known):
                self.emitter.jump(yes if self.conversions.truth(operand).value == Known(1) else no)
                return
            if isinstance(operand.type, Floating):
                operand = self.conversions.truth(operand)
            self.emitter.emit(Branch(self.emitter.slot_of(operand), yes, no))

    def logical(self, node: Node) -> Operand:
        """`&&` or `||` (C11, 6.5.13 and 6.5.14): the right side is evaluated only when the left does not decide."""
        sign = node["operator"].type
        absorbing = 0 if sign == "&&" else 1
        first = self.constants.truth(node["left"])
        if first is not None:
            if first == absorbing:
                self.emitter.scratch(lambda: self.evaluator.scalar(node["right"]))
                return constant(absorbing)
            return self.conversions.truth(self.evaluator.scalar(node["right"]))
        result = self.emitter.new_slot(INT)
        yes, no, end = self.emitter.new_labels(3)
        self.branch(node, yes, no)
        self.emitter.place(yes)
        self.emitter.emit(Set(result, Known(1), INT))
        self.emitter.jump(end)
        self.emitter.place(no)
        self.emitter.emit(Set(result, Known(0), INT))
        self.emitter.place(end)
        self.emitter.join()
        return Operand(INT, result)

    def conditional(self, node: Node) -> Operand:
        """`?:` (C11, 6.5.15). Of a known condition the branch not taken is only checked, and emits no code."""
        condition, alternative = node["condition"], node["alternative"]
        consequence = node.get("consequence")
        if consequence is None:
            return self._first_or_else(condition, alternative)
        known = self.constants.truth(condition)
        type = self._branch_type(consequence, alternative)
        if known is not None:
            chosen, other = (consequence, alternative) if known else (alternative, consequence)
            self.emitter.scratch(lambda: self.evaluator.value(other))
            return self.conversions.convert(self.evaluator.value(chosen), type, node)
        kept = Pointer(type) if isinstance(type, Struct) else type
        result = None if isinstance(type, Void) else self.emitter.new_slot(kept)
        yes, no, end = self.emitter.new_labels(3)
        self.branch(condition, yes, no)
        for label, branch in ((yes, consequence), (no, alternative)):
            self.emitter.place(label)
            operand = self.evaluator.value(branch)
            if result is not None:
                self.emitter.move(result, self.conversions.convert(operand, type, branch))
            if label == yes:
                self.emitter.jump(end)
        self.emitter.place(end)
        self.emitter.join()
        return NOTHING if result is None else Operand(type, result)

    def _first_or_else(self, condition: Node, alternative: Node) -> Operand:
        """GNU C's `a ?: b`: `a` if it differs from zero, evaluated once."""
        type = self._branch_type(condition, alternative)
        value = self.evaluator.scalar(condition)
        result = self.emitter.new_slot(type)
        end, no = self.emitter.new_labels(2)
        truth = self.conversions.truth(value) if isinstance(value.type, Floating) else value
        test = self.emitter.slot_of(truth)
        self.emitter.emit(Move(result, self.emitter.slot_of(self.conversions.convert(value, type, condition))))
        self.emitter.emit(Branch(test, end, no))
        self.emitter.place(no)
        self.emitter.move(result, self.conversions.convert(self.evaluator.value(alternative), type, alternative))
        self.emitter.place(end)
        self.emitter.join()
        return Operand(type, result)

    def _branch_type(self, first: Node, second: Node) -> CType:
        left, right = self.evaluator.type_of(first), self.evaluator.type_of(second)
        if is_arithmetic(left) and is_arithmetic(right):
            return self.conversions.common_type(left, right)
        if isinstance(left, Void) or isinstance(right, Void):
            return VOID
        if isinstance(left, Pointer) and isinstance(right, Pointer):
            return left if not isinstance(left.to, Void) else right
        return right if isinstance(left, Integer) else left
