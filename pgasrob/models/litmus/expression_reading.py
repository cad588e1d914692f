"""Reads expressions from the tokens of a litmus text, and reports mistakes; the grammar builds on it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NoReturn

from pgasrob.diagnostics.suggestions import did_you_mean
from pgasrob.models.litmus.litmus_tokens import Token, tokens
from pgasrob.models.litmus.litmus_words import ARGUMENTS, FORMS, GIVES, HABITS, KEYWORDS
from pgasrob.models.litmus.syntax import Mention, Operand
from pgasrob.program.expressions import INT32, PRECEDENCE, Binary, Conditional, Const, Expr, Symbol, Unary
from pgasrob.program.report import Report, short
from pgasrob.program.statements import Span

MAX_NESTING = 80
"""Levels of brackets, operators and blocks: what walks an expression or block must not run out of stack."""
_BINARY = {symbol: level for level, symbols in enumerate(PRECEDENCE, start=1) for symbol in symbols}


class Lost(Exception):
    """The statement, declaration or line cannot be read; the report says why."""


class Expressions:
    """A pass over the tokens of a text that can read expressions."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.tokens = tokens(report)
        self.at = 0
        self.mentions: list[Mention] = []
        self.located: set[str] = set()  # names that are declared
        self.depth = 0
        self.brackets = 0
        self.compares = False  # within `assume`, where `=` is taken for `==`

    @property
    def next(self) -> Token:
        return self.tokens[self.at]

    def ahead(self, count: int) -> Token:
        return self.tokens[min(self.at + count, len(self.tokens) - 1)]

    @property
    def last(self) -> Token:
        return self.tokens[max(self.at - 1, 0)]

    def take(self) -> Token:
        token = self.next
        self.at = min(self.at + 1, len(self.tokens) - 1)
        return token

    def taken(self, *signs: str) -> Token | None:
        return self.take() if self.next.is_sign(*signs) else None

    def word(self, *words: str) -> bool:
        return self.next.kind == "name" and self.next.text in words

    # Mistakes

    def lose(self, code: str, message: str, span: Span, hint: str = "") -> NoReturn:
        self.report.add(code, message, span, hint)
        raise Lost

    def expected(self, what: str, hint: str = "") -> NoReturn:
        """Report that the next token is not ``what``."""
        token = self.next
        if token.is_sign(":=", "<-"):
            hint = "write `=`"
        elif token.is_sign("|"):
            hint = "threads are set apart by `||`, without a blank in it"
        elif token.is_sign("."):
            hint = "`.n` behind a location makes its access non-atomic"
        elif token.kind == "name" and token.text in HABITS:
            hint = HABITS[token.text]
        found = "the end of the file" if token.kind == "end" else f"`{short(token.text)}`"
        self.lose("PG170", f"expected {what}, found {found}", token.span, hint)

    def need(self, sign: str, hint: str = "") -> Token:
        return self.taken(sign) or self.expected(f"`{sign}`", hint)

    def close(self, sign: str, opening: Token) -> None:
        """Take the closing bracket of ``opening``, or report that it is missing and go on as if it were there."""
        if not self.taken(sign):
            message = f"missing `{sign}` for the `{opening.text}` in line {opening.span.line}"
            self.report.add("PG171", message, after(self.last), f"put a `{sign}` here")

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > MAX_NESTING:
            message = f"more than {MAX_NESTING} nested brackets, operators or blocks"
            self.report.stop("PG022", message, self.next.span, "split the expression over several registers")

    def hint_for(self, token: Token, words: Iterable[str]) -> str:
        return did_you_mean(token.text, words, 0.6) if token.kind == "name" else ""

    def unknown_call(self, token: Token) -> NoReturn:
        hint = self.hint_for(token, ARGUMENTS) or HABITS.get(token.text, "")
        forms = ", ".join(word for word in ARGUMENTS if ARGUMENTS[word])
        self.lose("PG173", f"unknown statement `{short(token.text)}`", token.span, hint or f"there are {forms}")

    # Integers

    def integer(self, what: str, hint: str = "") -> int:
        token = self.next
        if token.kind != "integer":
            self.expected(what, hint)
        self.take()
        return self.report.integer(token.text, token.span)

    # Places and expressions

    def place(self, what: str = "a location", remote: bool = True) -> Mention:
        """A name where a value is read or written. Unless it may be ``remote``, a `^` after it is the operator."""
        name = self.next
        if name.kind != "name" or name.text in KEYWORDS:
            hint = "" if name.kind != "name" else f"`{name.text}` is a keyword; choose another name"
            self.expected(what, hint)
        self.take()
        atomic = self.taken(".n") is None
        node = None
        if remote and self.taken("^"):
            node = self.integer("the number of a node")
            atomic = self.taken(".n") is None and atomic
        return Mention(name.text, across(name, self.last), node, atomic)

    def operand(self) -> Operand:
        first, count = self.next, len(self.mentions)
        expr, _ = self.expression()
        mention = self.mentions[count] if isinstance(expr, Symbol) and self.mentions[count:] else None
        return Operand(expr, mention, across(first, self.last))

    def expression(self) -> tuple[Expr, int]:
        """An expression and its depth."""
        condition, depth = self.binary(1)
        if not self.next.is_sign("?"):
            return condition, depth
        self.take()
        self.deeper()
        self.brackets += 1
        yes, first = self.expression()
        self.brackets -= 1
        self.need(":")
        no, second = self.expression()
        self.depth -= 1
        return Conditional(condition, yes, no), self.checked(max(depth, first, second) + 1)

    def checked(self, depth: int) -> int:
        if depth > MAX_NESTING:
            message = f"more than {MAX_NESTING} nested operators"
            self.report.stop("PG022", message, self.last.span, "split the expression over several registers")
        return depth

    def binary(self, level: int) -> tuple[Expr, int]:
        self.deeper()
        left, depth = self.prefixed()
        while (symbol := self.operator()) and _BINARY[symbol] >= level:
            self.take()
            right, other = self.binary(_BINARY[symbol] + 1)
            left, depth = Binary(symbol, left, right), self.checked(max(depth, other) + 1)
        self.depth -= 1
        return left, depth

    def operator(self) -> str | None:
        """The binary operator that comes next: `||` in parentheses alone, `=` for `==` in an `assume`."""
        token = self.next
        if token.kind != "sign" or (token.text == "||" and not self.brackets):
            return None
        if token.text == "=" and self.compares:
            return "=="
        return token.text if token.text in _BINARY else None

    def prefixed(self) -> tuple[Expr, int]:
        token = self.next
        if not token.is_sign("-", "!", "~"):
            return self.primary()
        self.take()
        self.deeper()
        literal = self.next.kind == "integer"
        operand, depth = self.prefixed()
        self.depth -= 1
        # A minus before a literal is part of the number, so that every constant has one way to be written.
        if token.text == "-" and literal and isinstance(operand, Const):
            return Const(INT32.wrap(-operand.value)), depth
        return Unary(token.text, operand), self.checked(depth + 1)

    def primary(self) -> tuple[Expr, int]:
        token = self.next
        if token.kind == "integer":
            self.take()
            return Const(INT32.wrap(self.report.integer(token.text, token.span))), 0
        if opening := self.taken("("):
            self.brackets += 1
            inner = self.expression()
            self.brackets -= 1
            if not self.next.is_sign(")", ";", "||", "}", ",") and self.next.kind != "end":
                self.expected("an operator or `)`")
            self.close(")", opening)
            return inner
        if token.kind == "name" and token.text in ARGUMENTS:
            hint = f"put what it gives in a location or register first: {FORMS[token.text]}"
            if token.text not in GIVES:
                hint = f"it is a statement of its own, {FORMS[token.text]}"
            self.lose("PG175", f"`{token.text}` cannot be part of an expression", token.span, hint)
        if token.kind == "name" and token.text not in KEYWORDS and self.ahead(1).is_sign("("):
            self.unknown_call(token)
        mention = self.place("an expression", remote=token.text in self.located)
        self.mentions.append(mention)
        return Symbol(mention.name, len(self.mentions) - 1), 0


def across(first: Token, last: Token) -> Span:
    start = first.span
    end = last.span if (last.span.line, last.span.column) >= (start.line, start.column) else start
    return Span(start.line, start.column, end.end_line, end.end_column)


def after(token: Token) -> Span:
    line, column = token.span.end_line, token.span.end_column
    return Span(line, column, line, column + 1)
