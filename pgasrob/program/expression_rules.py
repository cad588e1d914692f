"""The grammar actions for expressions, and the scope that all actions share: names, integers, bounds, places.

See ``builder.py``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, NoReturn, TypeVar

from pgasrob.program.expressions import (
    INT32,
    Binary,
    Conditional,
    Const,
    Expr,
    Me,
    Nodes,
    Register,
    Symbol,
    Unary,
    render,
)
from pgasrob.program.report import Report
from pgasrob.program.statements import Span

if TYPE_CHECKING:
    from lark import Token

MAX_NESTING = 200

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Nested(Generic[T_co]):
    """A tree and its depth, counted as it is built, so that nothing that walks the tree later can overflow.

    An integer literal and a name have depth 0; parentheses count, since they nest as well.
    """

    tree: T_co
    depth: int


class Scope:
    """What the rules of one text share: the names declared so far, the places of tokens, bounds on nesting.

    ``last`` is the token that the parser took last, semicolons aside; whatever a rule built ends there.
    """

    def __init__(self, report: Report) -> None:
        self.last: Token
        self.report = report
        self.names: dict[str, Register | Symbol] = {}
        self.declared: dict[str, tuple[str, int]] = {}  # name -> what it is, its line
        self.unknown: list[tuple[Token, str]] = []  # with a hint, or ""

    def kind(self, name: str) -> str:
        """What ``name`` was declared as: "memory", "a register", "a queue", or "" when it was not."""
        return self.declared.get(name, ("", 0))[0]

    def here(self, first: Token) -> Span:
        """From ``first`` to the last token that was taken."""
        return across(first, self.last)

    def deeper(self, parts: Iterable[Nested[object]], token: Token, what: str) -> int:
        """One level above ``parts``; reading stops at ``token`` when that is too deep."""
        depth = 1 + max((part.depth for part in parts), default=0)
        if depth > MAX_NESTING:
            self.too_deep(token, what)
        return depth

    def too_deep(self, token: Token, what: str) -> NoReturn:
        self.report.stop(
            "PG022",
            f"more than {MAX_NESTING} nested {what}",
            at(token),
            "split the expression over several assignments; leave a block with `goto` instead of nesting on",
        )

    def comparison(self, sign: Token) -> str:
        """The operator that ``sign`` stands for; `=` and `<-` are mistakes."""
        if sign.value == "=":
            self.report.add("PG018", "`=` does not compare", at(sign), "write `==` to compare")
            return "=="
        if sign.value == "<-":
            self.report.add(
                "PG019",
                "`<-` is one token, which assigns, and cannot stand in an expression",
                at(sign),
                "write `< -` to compare with a negative value",
            )
            return "<"
        return str(sign.value)

    def integer(self, digits: Token) -> int:
        return self.report.integer(digits.value, at(digits))

    def resolve(self, name: Token) -> Expr:
        known = self.names.get(name.value)
        if known is None:
            self.unknown.append((name, ""))
            return Symbol(name.value, 0)
        return known

    def report_element(self, name: Token, index: Nested[Expr], place: Span, hint: str) -> None:
        """`name[index]` stands where it has no meaning; ``hint`` has a place for the address that is meant."""
        array = self.resolve(name)
        kind = self.kind(name.value)
        if kind == "memory":
            address = render(Binary("+", array, index.tree))
            self.report.add(
                "PG020", f"elements of `{name}` have no `[...]` syntax", place, hint.format(address=address)
            )
        elif kind:
            self.report.add(
                "PG052",
                f"`{name}` is {kind} and has no elements",
                place,
                "registers and queues hold one value; declare an array with `memory`",
            )


class ExpressionRules:
    """The rules of expressions."""

    def __init__(self, scope: Scope) -> None:
        self._scope, self._report = scope, scope.report.add

    def literal(self, digits: Token) -> Nested[Expr]:
        return Nested(Const(INT32.wrap(self._scope.integer(digits))), 0)

    def name(self, name: Token) -> Nested[Expr]:
        return Nested(self._scope.resolve(name), 0)

    def me(self, keyword: Token) -> Nested[Expr]:
        return Nested(Me(), 0)

    def node_count(self, keyword: Token) -> Nested[Expr]:
        return Nested(Nodes(), 0)

    def parenthesised(self, paren: Token, inner: Nested[Expr]) -> Nested[Expr]:
        return Nested(inner.tree, self._scope.deeper([inner], paren, "parentheses"))

    def memory_value(self, mem: Token, address: Nested[Expr]) -> Nested[Expr]:
        cell = render(address.tree)
        self._report(
            "PG021",
            "memory is read inside an expression",
            self._scope.here(mem),
            f"load it into a register first, `r <- mem[{cell}];`; where an address is meant, write `{cell}`",
        )
        return Nested(Const(0), 1)

    def element(self, name: Token, index: Nested[Expr]) -> Nested[Expr]:
        hint = "write `{address}` for its address; `r <- mem[{address}];` loads its value"
        self._scope.report_element(name, index, self._scope.here(name), hint)
        return Nested(Const(0), 1)

    def unary(self, sign: Token, operand: Nested[Expr]) -> Nested[Expr]:
        # A minus before a literal is part of the number, so that every constant has one way to be written.
        if sign.value == "-" and operand.depth == 0 and isinstance(operand.tree, Const):
            return Nested(Const(INT32.wrap(-operand.tree.value)), 1)
        return Nested(Unary(sign.value, operand.tree), self._scope.deeper([operand], sign, "operators"))

    def binary(self, left: Nested[Expr], sign: Token, right: Nested[Expr]) -> Nested[Expr]:
        symbol = self._scope.comparison(sign)
        return Nested(Binary(symbol, left.tree, right.tree), self._scope.deeper([left, right], sign, "operators"))

    def conditional(self, test: Nested[Expr], sign: Token, yes: Nested[Expr], no: Nested[Expr]) -> Nested[Expr]:
        depth = self._scope.deeper([test, yes, no], sign, "operators")
        return Nested(Conditional(test.tree, yes.tree, no.tree), depth)


def at(token: Token) -> Span:
    """The place of ``token``."""
    return across(token, token)


def across(first: Token, last: Token) -> Span:
    """From the start of ``first`` to the end of ``last``."""
    return Span(first.line or 0, first.column or 0, last.end_line or 0, last.end_column or 0)


def after(token: Token) -> Span:
    """The place right after ``token``."""
    line, column = token.end_line or 0, token.end_column or 0
    return Span(line, column, line, column + 1)
