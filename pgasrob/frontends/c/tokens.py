"""C text as tokens with their places, and errors that point at them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pgasrob.diagnostics import Diagnostic, SourceError
from pgasrob.program.statements import Line, Span
from pgasrob.program.value_classes import record
from pgasrob.stop_points import stop_point

LONGEST_EXPANSION = 160
"""Characters of what a macro stands for that are shown."""


class Source:
    """A file that is read: the first one of a program, or a further one that reports call ``name``.

    ``includes``: how it comes that it is read: where each file in turn includes the next one, the innermost first.
    """

    __slots__ = ("_lines", "file", "includes", "name", "text")

    def __init__(self, file: str, text: str, name: str = "", includes: tuple[str, ...] = ()) -> None:
        self.file = file
        self.text = text
        self.name = name
        self.includes = includes
        self._lines: list[str] | None = None

    def line(self, number: int) -> str:
        number = int(number)
        if self._lines is None:
            self._lines = self.text.split("\n")
        return self._lines[number - 1].rstrip("\r") if 0 < number <= len(self._lines) else ""

    def number(self, line: int) -> int:
        """Line ``line`` of this file, distinct from that of the first file."""
        return Line(line, self.file, self.name) if self.name else line


PACK = "pack"
"""The pragma that packs structs, and the kind of a token that is one."""


@record
class Token:
    """A preprocessing token. ``kind``: name, number, string, character, sign, omp (a pragma of OpenMP), pragma (one
    that is not supported), or stray: what is no token of C, which is an error unless it is passed over.

    A token that the body of a macro gives has the place of the macro's use; one from an argument has its own place.
    ``hidden``: the macros it came from, which do not expand it again. ``direct``: it stands in the text as it is.
    ``parts``: of a pragma what stands behind its name, of another token the pragmas of OpenMP before it. ``most``: of
    `struct` and `union` how far its members are aligned at most; 0: as their types are. ``least``: how far that, or
    what is declared, is aligned at least.
    """

    kind: str
    text: str
    span: Span
    source: Source
    space: bool = False
    first: bool = False  # in its line
    hidden: frozenset[str] = frozenset()
    direct: bool = True
    parts: tuple[Token, ...] = ()
    most: int = 0
    least: int = 0


def nesting(token: Token) -> int:
    """How many levels of brackets deeper the text is after ``token``: 1, -1, or mostly 0."""
    if token.kind != "sign":
        return 0
    return (token.text in ("(", "[", "{")) - (token.text in (")", "]", "}"))


def error(
    code: str, message: str, token: Token, hint: str = "", end: Token | None = None, notes: tuple[str, ...] = ()
) -> SourceError:
    """The error that points at ``token`` (up to ``end``)."""
    last = end.span if end is not None and end.source is token.source else None
    return error_at(code, message, token.span, token.source, hint, last, notes)


def error_at(
    code: str,
    message: str,
    span: Span,
    source: Source,
    hint: str = "",
    end: Span | None = None,
    notes: tuple[str, ...] = (),
) -> SourceError:
    """The error at ``span`` (up to the end of ``end``); ``notes`` come before how it is that ``source`` is read."""
    last = end if end is not None and end.end_line == span.line else span
    length = max(1, last.end_column - span.column) if last.end_line == span.line else 10_000
    place = (int(span.line), span.column, length, source.line(span.line))
    return SourceError([Diagnostic(code, message, source.file, *place, hint, (*notes, *source.includes))])


def expansion(tokens: Sequence[Token], place: int) -> tuple[str, ...]:
    """A note with the text of the macro that the token at ``place`` comes from; none when no macro made it."""
    token = tokens[place]
    if token.direct:
        return ()
    start, end = place, place + 1
    while start and _inside(tokens[start - 1], token):
        start -= 1
    while end < len(tokens) and _inside(tokens[end], token):
        end += 1
    text = spelled(list(tokens[start:end]))
    name = re.match(r"\w*", token.source.line(token.span.line)[token.span.column - 1 :])
    shown = text if len(text) <= LONGEST_EXPANSION else f"{text[:LONGEST_EXPANSION]} ..."
    return (f"`{name.group() if name else ''}` stands for `{shown}`",)


def expanded_at(tokens: Sequence[Token], span: Span) -> tuple[str, ...]:
    """A note with the text of the macro that is used at ``span``; none where no macro is."""
    place = next((place for place, token in enumerate(tokens) if token.span == span and not token.direct), None)
    return () if place is None else expansion(tokens, place)


def _inside(token: Token, use: Token) -> bool:
    """Whether ``token`` comes from the macro use that ``use`` comes from, or is one of its arguments."""
    span, around = token.span, use.span
    begins = (around.line, around.column) <= (span.line, span.column)
    return (
        token.source is use.source
        and begins
        and (span.end_line, span.end_column) <= (around.end_line, around.end_column)
    )


_TOKEN = re.compile(
    r"""
      (?P<newline>\r?\n)
    | (?P<blank>(?:[ \t\f\v\r\ufeff]|\\[ \t]*\r?\n)+)
    | (?P<comment>//(?:[^\n\\]++|\\(?:\r?\n)?)*+|/\*(?s:.*?)\*/)
    | (?P<open_comment>/\*)
    | (?P<string>(?:u8|[uUL])?"(?:[^"\\\n]++|\\(?:\r\n|(?s:.)))*+")
    | (?P<character>[uUL]?'(?:[^'\\\n]++|\\(?:\r\n|(?s:.)))++')
    | (?P<name>[A-Za-z_][A-Za-z_0-9]*)
    | (?P<number>\.?[0-9](?:[eEpP][+-]|[A-Za-z_0-9.])*+)
    | (?P<sign>\.\.\.|<<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\#\#|[-+*/%&|^~!<>=?:;,.(){}\[\]\#])
    """,
    re.VERBOSE,
)


_UNENDED = re.compile(r"[\"'](?:[^\"'\\\n]++|\\(?:\r\n|(?s:.)))*+")
FAR = 10_000


def _after_stray(text: str, position: int) -> int:
    """Where to go on behind the character there, which begins no token: behind a quote that is not closed far and wide,
    for those in between would be looked for as far."""
    unended = _UNENDED.match(text, position)
    return unended.end() if unended and unended.end() - position > FAR else position + 1


def tokenise(source: Source) -> Iterator[Token]:
    """The tokens of ``source``; comments, and line ends that a backslash takes back, are blanks."""
    text = source.text
    position, line, start = 0, 1, 0
    space = False
    first = True
    number, numbered = source.number(1), 1
    while position < len(text):
        stop_point()
        match = _TOKEN.match(text, position)
        column = position - start + 1
        if line != numbered:
            number, numbered = source.number(line), line
        if match is None:
            yield Token("stray", text[position], Span(number, column, number, column + 1), source, space, first)
            position, first, space = _after_stray(text, position), False, False
            continue
        kind = match.lastgroup or ""
        if kind == "open_comment":
            span = Span(number, column, number, column + 2)
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
            end = source.number(end_line) if breaks else number
            yield Token(kind, word, Span(number, column, end, position - start + 1), source, space, first)
            line, first, space = end_line, False, False


NO_ACCELERATORS = "each rank is one thread of control here; check the program without the accelerator"


def unreadable(token: Token) -> SourceError:
    """The error for a stray character, or a pragma that is not supported."""
    char = token.text
    if token.kind == "pragma":
        return error("PG104", f"`{char}`: accelerators are not supported", token, NO_ACCELERATORS)
    if char in "\"'":
        what = "string" if char == '"' else "character"
        return error("PG101", f"this {what} is not closed in its line", token)
    shown = char if char.isprintable() else f"\\u{ord(char):04x}"
    return error("PG101", f"the character `{shown}` does not belong to C", token)


def spelled(tokens: list[Token]) -> str:
    """``tokens`` as text, with blanks where the source has them."""
    return "".join((" " if token.space and index else "") + token.text for index, token in enumerate(tokens))


__all__ = ["Source", "Token", "error", "error_at", "spelled", "tokenise", "unreadable"]
