"""The conditions of `#if`."""

from __future__ import annotations

from collections.abc import Callable

from pgasrob.frontends.c.literals import character, number
from pgasrob.frontends.c.tokens import Token, error
from pgasrob.program.expressions import OPERATORS, Fault, IntType
from pgasrob.stop_points import stop_point

MAX_NESTING = 100
"""Of brackets in a condition, and of macro calls within the arguments of macro calls."""

_LEVELS = (
    ("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", ">", "<=", ">="), ("<<", ">>"), ("+", "-"),
    ("*", "/", "%"),
)  # fmt: skip
_TYPE = IntType(64, True)


class Arithmetic:
    """The condition of an `#if`: integers of 64 bits, signed (what is unsigned in C differs only near 2^63)."""

    def __init__(self, tokens: list[Token], directive: Token, constant: Callable[[str], int]) -> None:
        self.tokens = tokens
        self.directive = directive
        self.constant = constant
        self.position = 0
        self.depth = 0

    def value(self) -> int:
        result = self._conditional(True)
        if self.position < len(self.tokens):
            self._wrong()
        return result

    def _wrong(self) -> None:
        if self.position < len(self.tokens):
            token = self.tokens[self.position]
            raise error(
                "PG102", f"`{token.text}` does not belong to the condition of an `#{self.directive.text}`", token
            )
        raise error("PG102", f"the condition of this `#{self.directive.text}` ends too early", self.directive)

    def _peek(self) -> str:
        return self.tokens[self.position].text if self.position < len(self.tokens) else ""

    def _take(self, text: str) -> None:
        if self._peek() != text:
            self._wrong()
        self.position += 1

    def _conditional(self, live: bool) -> int:
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise error("PG108", f"conditions nest more than {MAX_NESTING} levels deep", self.directive)
        condition = self._binary(0, live)
        if self._peek() == "?":
            self.position += 1
            yes = self._conditional(live and condition != 0)
            self._take(":")
            no = self._conditional(live and condition == 0)
            condition = yes if condition else no
        self.depth -= 1
        return condition

    def _binary(self, level: int, live: bool) -> int:
        if level == len(_LEVELS):
            return self._unary(live)
        left = self._binary(level + 1, live)
        while (sign := self._peek()) in _LEVELS[level] and sign:
            stop_point()
            self.position += 1
            needed = live and not (sign == "&&" and not left) and not (sign == "||" and left)
            right = self._binary(level + 1, needed)
            left = self._apply(sign, left, right, live)
        return left

    def _apply(self, sign: str, left: int, right: int, live: bool) -> int:
        match sign:
            case "||":
                return int(bool(left or right))
            case "&&":
                return int(bool(left and right))
        try:
            return OPERATORS[sign](left, right, _TYPE)
        except Fault:
            if live and sign in ("/", "%"):
                why = f"the condition of this `#{self.directive.text}` divides by zero"
                raise error("PG102", why, self.directive) from None
            return 0

    def _unary(self, live: bool) -> int:
        signs = []
        while self._peek() in ("-", "+", "!", "~"):
            signs.append(self._peek())
            self.position += 1
        value = self._primary(live)
        for sign in reversed(signs):
            value = {"-": -value, "+": value, "!": int(not value), "~": ~value}[sign]
        return value

    def _primary(self, live: bool) -> int:
        if self.position >= len(self.tokens):
            self._wrong()
        token = self.tokens[self.position]
        self.position += 1
        if token.text == "(":
            value = self._conditional(live)
            self._take(")")
            return value
        if token.kind == "name":
            if self._peek() == "(":
                raise error("PG102", f"`{token.text}` is not a macro that `#{self.directive.text}` could call", token)
            return self.constant(token.text)
        if token.kind == "number":
            found, _ = number(token)
            if isinstance(found, int):
                return _TYPE.wrap(found)
        if token.kind == "character":
            return character(token)
        self.position -= 1
        self._wrong()
        return 0
