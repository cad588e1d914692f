"""Collects what is wrong with one source text, with the excerpts that the diagnostics show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from pgasrob.diagnostics import Diagnostic, SourceError
from pgasrob.program.declarations import Source
from pgasrob.program.statements import NOWHERE, Span

MAX_DIAGNOSTICS = 20
MAX_INTEGER = 2**31
MAX_EXCERPT = 200
"""Columns of a source line that are shown; a place further right is given without an excerpt."""
MAX_TEXT = 300
"""Characters of a message or a hint: names, which they quote, may have any length."""


class Stop(Exception):
    """Raised when the rest of the text is not worth reading; the report says why."""


class Report:
    """The diagnostics about ``source`` so far.

    Only the first finding at a place is kept: what follows there is mostly its consequence.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self._found: dict[tuple[int, int], Diagnostic] = {}
        self._full = False
        self._lines: list[str] | None = None

    def add(self, code: str, message: str, span: Span = NOWHERE, hint: str = "") -> None:
        """Note a finding at ``span``. Raises :class:`Stop` when there are more than are of use."""
        key = (span.line, span.column)
        if key in self._found:
            return
        if len(self._found) == MAX_DIAGNOSTICS:
            self._full = True
            raise Stop
        message, hint = short(message, MAX_TEXT), short(hint, MAX_TEXT)
        self._found[key] = Diagnostic(code, message, self.source.file, *self._place(span), hint=hint)

    def stop(self, code: str, message: str, span: Span = NOWHERE, hint: str = "") -> NoReturn:
        """Note a finding, and raise :class:`Stop`: what follows makes no sense."""
        self.add(code, message, span, hint)
        raise Stop

    def add_stray(self, text: str, span: Span) -> None:
        """Note characters of which no word of the language is made."""
        # Many a character looks like another one, or like nothing; its number does not.
        odd = [f"U+{ord(char):04X}" for char in text[:4] if not (char.isascii() and char.isprintable())]
        number = f" ({' '.join(odd)})" if odd else ""
        hint = "names are made of the letters a-z and A-Z, digits and `_`; other text goes into a comment"
        self.add("PG014", f"unexpected character{'s' * (len(text) > 1)} `{short(text)}`{number}", span, hint)

    def integer(self, text: str, span: Span) -> int:
        """The value of an integer; 0 for what is none or too large, which is noted."""
        if not text.isdigit():
            self.add("PG015", f"`{short(text)}` is not an integer", span, "integers are decimal digits, nothing else")
            return 0
        significant = text.lstrip("0") or "0"
        # The length comes first: int() refuses to read thousands of digits.
        if len(significant) > len(str(MAX_INTEGER)) or int(significant) > MAX_INTEGER:
            hint = f"values have 32 bits; the largest integer that can be written is {MAX_INTEGER}"
            self.add("PG016", f"{short(text)} is above 2^31", span, hint)
            return 0
        return int(significant)

    @property
    def empty(self) -> bool:
        """Whether there are no findings yet."""
        return not self._found

    def error(self) -> SourceError:
        """The findings in the order of the text, and last that there are more."""
        found = [self._found[place] for place in sorted(self._found)]
        if self._full:
            message, hint = f"more than {MAX_DIAGNOSTICS} mistakes", "mend those above, then look for the others"
            found.append(Diagnostic("PG024", message, self.source.file, hint=hint))
        return SourceError(found)

    def check(self) -> None:
        """Raises :class:`SourceError` when there are findings."""
        if self._found:
            raise self.error()

    def _place(self, span: Span) -> tuple[int, int, int, str]:
        """Line, column, length and excerpt of ``span``; a span of several lines is marked on its first one."""
        if span == NOWHERE:
            return 0, 0, 1, ""
        if self._lines is None:
            self._lines = self.source.text.split("\n")
        return marked(self._lines, span)


def marked(lines: Sequence[str], span: Span) -> tuple[int, int, int, str]:
    """Line, column, length and excerpt of ``span`` in a text of these ``lines``, as a `Diagnostic` has them; a span of
    several lines is marked on its first one."""
    line = lines[span.line - 1].rstrip("\r") if 0 < span.line <= len(lines) else ""
    end = span.end_column if span.end_line == span.line else len(line) + 1
    excerpt = printable(line[:MAX_EXCERPT]) if span.column <= MAX_EXCERPT else ""
    return span.line, span.column, max(1, end - span.column), excerpt


def printable(text: str) -> str:
    """``text`` with a replacement for every character that would not show, or would disturb a terminal."""
    return "".join(char if char.isprintable() or char == "\t" else "\ufffd" for char in text)


def short(text: str, most: int = 40) -> str:
    """``text`` as a message can show it, the middle left out when it has more than ``most`` characters."""
    text = printable(text)
    return text if len(text) <= most else f"{text[: most // 2]}...{text[-most // 4 :]}"
