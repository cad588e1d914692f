"""C text as tokens with their places, and errors that point at them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pgasrob.diagnostics import Diagnostic, SourceError
from pgasrob.program.statements import Span


class Source:
    """A file that is read: the C file itself, or one that it includes (``included_at`` then is the place of that)."""

    __slots__ = ("_lines", "file", "included_at", "text")

    def __init__(self, file: str, text: str, included_at: Span | None = None) -> None:
        self.file = file
        self.text = text
        self.included_at = included_at
        self._lines: list[str] | None = None

    def line(self, number: int) -> str:
        if self._lines is None:
            self._lines = self.text.split("\n")
        return self._lines[number - 1].rstrip("\r") if 0 < number <= len(self._lines) else ""


@dataclass(frozen=True, slots=True)
class Token:
    """A preprocessing token. ``kind``: name, number, string, character, sign, or stray: what is no token of C, which is
    an error unless it is passed over.

    A token that the body of a macro gives has the place of the macro's use; one from an argument has its own place.
    ``hidden``: the macros it came from, which do not expand it again. ``direct``: it stands in the text as it is.
    """

    kind: str
    text: str
    span: Span
    source: Source
    space: bool = False
    first: bool = False  # in its line
    hidden: frozenset[str] = frozenset()
    direct: bool = True

    @property
    def place(self) -> Span:
        """Where this is in the C file itself: the include, for a token of an included file."""
        return self.source.included_at or self.span


def error(code: str, message: str, token: Token, hint: str = "", end: Token | None = None) -> SourceError:
    """The error that points at ``token`` (up to ``end``)."""
    last = end.span if end is not None and end.source is token.source else None
    return error_at(code, message, token.span, token.source, hint, last)


def error_at(
    code: str, message: str, span: Span, source: Source, hint: str = "", end: Span | None = None
) -> SourceError:
    last = end if end is not None and end.end_line == span.line else span
    length = max(1, last.end_column - span.column) if last.end_line == span.line else 10_000
    return SourceError(
        [Diagnostic(code, message, source.file, span.line, span.column, length, source.line(span.line), hint)]
    )


_TOKEN = re.compile(
    r"""
      (?P<newline>\r?\n)
    | (?P<blank>(?:[ \t\f\v\r\ufeff]|\\[ \t]*\r?\n)+)
    | (?P<comment>//(?:[^\n\\]|\\(?:\r?\n)?)*|/\*(?s:.*?)\*/)
    | (?P<open_comment>/\*)
    | (?P<string>(?:u8|[uUL])?"(?:[^"\\\n]|\\(?:\r\n|(?s:.)))*")
    | (?P<character>[uUL]?'(?:[^'\\\n]|\\(?:\r\n|(?s:.)))+')
    | (?P<name>[A-Za-z_][A-Za-z_0-9]*)
    | (?P<number>\.?[0-9](?:[eEpP][+-]|[A-Za-z_0-9.])*)
    | (?P<sign>\.\.\.|<<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\#\#|[-+*/%&|^~!<>=?:;,.(){}\[\]\#])
    """,
    re.VERBOSE,
)


def tokenise(source: Source) -> Iterator[Token]:
    """The tokens of ``source``; comments, and line ends that a backslash takes back, are blanks."""
    text = source.text
    position, line, start = 0, 1, 0
    space = False
    first = True
    while position < len(text):
        match = _TOKEN.match(text, position)
        column = position - start + 1
        if match is None:
            yield Token("stray", text[position], Span(line, column, line, column + 1), source, space, first)
            position, first, space = position + 1, False, False
            continue
        kind = match.lastgroup or ""
        if kind == "open_comment":
            span = Span(line, column, line, column + 2)
            raise error_at("PG101", "this comment is not closed", span, source, hint="close it with `*/`")
        word = match.group()
        breaks = word.count("\n")
        end_line = line + breaks
        if breaks:
            start = position + word.rindex("\n") + 1
        position = match.end()
        if kind == "newline":
            line, first, space = end_line, True, False
        elif kind in ("blank", "comment"):
            line, space = end_line, True
        else:
            if breaks:
                word = re.sub(r"\\\r?\n", "", word)
            yield Token(kind, word, Span(line, column, end_line, position - start + 1), source, space, first)
            line, first, space = end_line, False, False


def unreadable(token: Token) -> SourceError:
    """The error for a stray character."""
    char = token.text
    if char in "\"'":
        what = "string" if char == '"' else "character"
        return error("PG101", f"this {what} is not closed in its line", token)
    shown = char if char.isprintable() else f"\\u{ord(char):04x}"
    return error("PG101", f"the character `{shown}` does not belong to C", token)


def spelled(tokens: list[Token]) -> str:
    """``tokens`` as text, with blanks where the source has them."""
    return "".join((" " if token.space and index else "") + token.text for index, token in enumerate(tokens))


__all__ = ["Source", "Token", "error", "error_at", "spelled", "tokenise", "unreadable"]
