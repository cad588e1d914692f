"""One finding about a source text, and the exception that carries several."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass


def blank(text: str) -> str:
    """What is as wide as ``text`` and shows nothing, to point at what follows it: tabs stay tabs."""
    return "".join("\t" if char == "\t" else " " for char in text)


def visible(name: str) -> str:
    r"""``name``, that of a file for example, with all unprintable characters escaped.

    A byte of a file name that is not UTF-8 (a lone surrogate in Python) becomes `\\xff`, a newline `\\n`.
    """
    return "".join(char if char.isprintable() else _escaped(char) for char in name)


def _escaped(char: str) -> str:
    if "\udc80" <= char <= "\udcff":
        return f"\\x{ord(char) - 0xDC00:02x}"
    return char.encode("unicode_escape").decode()


def on_screen(text: str) -> str:
    """``text`` with a visible substitute for each character on which a terminal would act (an escape, a bell, one that
    turns the direction of writing), but not for line ends and tabs. Columns stay the same."""
    return text if text.isprintable() else "".join(map(_substitute, text))


def _substitute(char: str) -> str:
    if char in "\n\t" or unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Zl", "Zp"):
        return char
    return chr(0x2400 + ord(char)) if char < " " else "\u2421" if char == "\x7f" else "\ufffd"


MAX_ERRORS = 20
"""So many mistakes of a source are reported at once."""
LONGEST_LINE = 1_000
"""Characters of a line that reports show: of a longer one those around the place."""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A finding with a code of the catalogue; line and column count from 1 (0: no position, the file as a whole)."""

    code: str
    message: str
    file: str
    line: int = 0
    column: int = 0
    length: int = 1
    excerpt: str = ""  # the source line
    hint: str = ""
    notes: tuple[str, ...] = ()
    """Where the excerpt comes from: the expansion of a macro, the files that include this one."""

    @property
    def position(self) -> str:
        file = visible(self.file)
        return f"{file}:{self.line}:{self.column}" if self.line else file

    def render(self) -> str:
        """The finding as text: what, where, the line with carets, and what to do."""
        text = f"{self.position}: error[{self.code}]: {self.message}"
        if self.excerpt:
            start = 0 if len(self.excerpt) <= LONGEST_LINE else max(0, self.column - 1 - LONGEST_LINE // 2)
            excerpt = self.excerpt[start : start + LONGEST_LINE]
            gutter = f"{self.line:>5} | "
            lead = blank(excerpt[: self.column - 1 - start])
            room = max(1, min(self.length, len(excerpt) - (self.column - start) + 1))
            text += f"\n{gutter}{excerpt}\n{' ' * (len(gutter) - 2)}| {lead}{'^' * room}"
        for note in self.notes:
            text += f"\n      = note: {note}"
        if self.hint:
            text += f"\n      = hint: {self.hint}"
        return on_screen(text)


def in_order(found: Iterable[Diagnostic]) -> list[Diagnostic]:
    """The first `MAX_ERRORS` findings in the order of the text, each once."""
    return sorted(dict.fromkeys(found), key=lambda each: (each.file, each.line, each.column))[:MAX_ERRORS]


class SourceError(Exception):
    """Raised for a source text that is no program, with one or more diagnostics in the order of the text."""

    def __init__(self, diagnostics: list[Diagnostic]) -> None:
        super().__init__("\n".join(diagnostic.render() for diagnostic in diagnostics))
        self.diagnostics = diagnostics
