"""What the machine cannot go on with; the place in the source is added where it is known."""

from __future__ import annotations

from pgasrob.diagnostics import Diagnostic, SourceError
from pgasrob.frontends.c.code import Unit
from pgasrob.frontends.c.tokens import expanded_at
from pgasrob.program.expressions import Expr
from pgasrob.program.statements import NOWHERE, Span, place_of

MAX_EXCERPT = 200
"""Columns of a source line that are shown."""


class Problem(Exception):
    """An error in the program, or something that is not supported; ``hint`` says what would make it checkable."""

    def __init__(self, code: str, message: str, hint: str = "", span: Span | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.span = span

    def at(self, unit: Unit) -> SourceError:
        """The problem as an error in a file of ``unit``."""
        span = self.span or NOWHERE
        file, line = place_of(span.line)
        lines = unit.source.lines(span.line)
        excerpt = lines[line - 1].rstrip("\r") if 0 < line <= len(lines) else ""
        if span.column > MAX_EXCERPT:
            excerpt = ""
        length = span.end_column - span.column if span.end_line == span.line else len(excerpt) - span.column + 1
        place = (line, span.column, max(1, length), excerpt[:MAX_EXCERPT])
        notes = expanded_at(unit.tokens, span)
        return SourceError([Diagnostic(self.code, self.message, file or unit.file, *place, self.hint, notes)])


class StillLong(Exception):
    """Loops are kept, and there is much code all the same."""


class TryAgain(Exception):
    """Something has been learned that makes the rest of this run pointless: the machine begins anew."""


class Beyond(Exception):
    """An unknown value decides something that is not followed: the branch ends here, and the program has a gap."""


class Faults(Exception):
    """A call has no meaning: a run that comes here is in error."""


class Several(Exception):
    """An unknown value where only a known one will do: the machine goes on with each that it may be."""

    def __init__(self, expr: Expr, what: str) -> None:
        super().__init__(what)
        self.expr = expr
        self.what = what


class TwoAnswers(Exception):
    """A cell is asked the ``condition`` of the unknown value that is stored there: the machine goes on in two ways."""

    def __init__(self, condition: Expr) -> None:
        super().__init__()
        self.condition = condition
