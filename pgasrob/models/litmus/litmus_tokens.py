"""Splits a litmus text into tokens."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from pgasrob.program.report import Report
from pgasrob.program.statements import Span
from pgasrob.stop_points import stop_point

Kind = Literal["name", "integer", "sign", "end"]

_TOKEN = re.compile(
    r"""
    (?P<space>[ \t\r\n\f\v]+ | //[^\n]* | /\*(?s:.*?)\*/)
  | (?P<open>/\*)
  | (?P<name>\$[0-9A-Za-z_]+ | [A-Za-z_][0-9A-Za-z_]*)
  | (?P<integer>[0-9][0-9A-Za-z_]*)
  | (?P<sign>\.n\b | \. | :: | := | \|\| | && | [=!<>]= | << | >> | [=:;,@^(){}\[\]+\-*/%&|!~<>?])
  | (?P<stray>[^ \t\r\n\f\v0-9A-Za-z_(){}\[\];,:<>=!+\-*/%&|^~?@$.]+ | .)
    """,
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Token:
    """A name, an integer, a sign (``text`` says which) or the end of the text."""

    kind: Kind
    text: str
    span: Span

    def is_sign(self, *signs: str) -> bool:
        return self.kind == "sign" and self.text in signs


MOST_CHARACTERS = 10_000
"""Of a name: tables and graphs have all of it in each line."""


def tokens(report: Report) -> list[Token]:
    """The tokens of the text of ``report``, an end at the end. What belongs to no token is reported and left out; after
    a comment that is not closed there is nothing."""
    text = report.source.text
    found: list[Token] = []
    line, start, place = 1, 0, 0
    while place < len(text):
        stop_point()
        match = _TOKEN.match(text, place)
        assert match is not None  # the last alternative takes any character, the first one newlines
        kind, word, column = match.lastgroup, match.group(), place - start + 1
        place = match.end()
        match kind:
            case "space":
                if newlines := word.count("\n"):
                    line += newlines
                    start = match.start() + word.rfind("\n") + 1
            case "open":
                span = Span(line, column, line, column + len(word))
                report.stop("PG013", "the comment that opens here is never closed", span, "close it with `*/`")
            case "stray":
                report.add_stray(word, Span(line, column, line, column + len(word)))
            case "name" if len(word) > MOST_CHARACTERS:
                span = Span(line, column, line, column + 1)
                report.stop("PG002", f"a name of more than {MOST_CHARACTERS:,} characters: this is no program", span)
            case "name" | "integer" | "sign":
                found.append(Token(kind, word, Span(line, column, line, column + len(word))))
    last = found[-1].span if found else Span(1, 1, 1, 1)
    end = Span(last.end_line, last.end_column, last.end_line, last.end_column + 1)
    return [*found, Token("end", "", end)]
