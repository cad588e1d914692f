"""Parses the text of a `.litmus` file into a test, or reports everything that is wrong with it.

The grammar is in :mod:`pgasrob.models.litmus.grammar`; :mod:`pgasrob.models.litmus.naming` resolves names and
translates statements to instructions.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from pgasrob.models.litmus.expectation_lines import expectations
from pgasrob.models.litmus.expected_outcomes import LitmusTest
from pgasrob.models.litmus.grammar import Reading
from pgasrob.models.litmus.naming import Naming
from pgasrob.program.declarations import Source
from pgasrob.program.files import DISK, Files
from pgasrob.program.parser import read_source
from pgasrob.program.report import Report, Stop
from pgasrob.program.statements import Span


def parse(text: str, file: str = "<litmus>") -> LitmusTest:
    """Parse ``text`` into a test; ``file`` is its name in reports.

    Raises :class:`pgasrob.diagnostics.SourceError`, with everything that is wrong with it.
    """
    source = Source(file, text.removeprefix("\ufeff"))
    report = Report(source)
    with suppress(Stop):
        _check_text(report)
        read = Reading(report).text()
        program = Naming(read, report).program()
        lines = expectations(read, program, report)
    report.check()
    name = "unnamed" if file.startswith("<") else Path(file).stem
    return LitmusTest(program, lines, source, name)


def parse_file(path: str | Path, files: Files = DISK) -> LitmusTest:
    """The test in the file ``path``. Raises SourceError when the file cannot be read or is no test."""
    return parse(read_source(path, files), str(path))


def _check_text(report: Report) -> None:
    text = report.source.text
    if not text.strip():
        report.stop("PG003", "the file is empty", hint="a test is `x@1=0 :: 1: x = 1 || 1: a = x`")
    if (zero := text.find("\0")) >= 0:
        line, column = text.count("\n", 0, zero) + 1, zero - text.rfind("\n", 0, zero)
        report.stop("PG002", "a zero byte: this is no text", Span(line, column, line, column + 1), "name a source file")
