"""Checks litmus tests in the calculus: turns each into a program of ranks (`models.pgas`), and checks that."""

from __future__ import annotations

from pathlib import Path

from pgasrob.batch.job import Checked
from pgasrob.diagnostics import Diagnostic, SourceError
from pgasrob.models.litmus.litmus_parser import parse_file
from pgasrob.models.model_interface import Refused
from pgasrob.models.pgas.from_litmus import translate
from pgasrob.program.expectation import read_expectation
from pgasrob.program.parser import read_text
from pgasrob.program.reading import Reading
from pgasrob.program.report import marked
from pgasrob.robustness.check import check
from pgasrob.robustness.engines import DEFAULT_ENGINE
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.question import Question
from pgasrob.robustness.reasons import NoProgram
from pgasrob.robustness.session import Session
from pgasrob.robustness.verdict import Verdict

NO_COUNTERPART = "PG180"


def checked(file: str, limits: Limits, reading: Reading, expect: bool) -> Checked:
    """The verdict of the calculus on the litmus test in ``file``; what it has no counterpart of is an error."""
    verdict = _verdict(file, limits, reading)
    if not expect:
        return Checked(file, verdict)
    try:
        expectation = read_expectation(read_text(file), file)
    except SourceError as error:
        return Checked(file, verdict, True, None, tuple(error.diagnostics))
    return Checked(file, verdict, True, expectation.at(verdict.nodes, verdict.reading) if expectation else None)


def _verdict(file: str, limits: Limits, reading: Reading) -> Verdict:
    try:
        test = parse_file(Path(file))
        translated = translate(test.program, source=test.source)
    except SourceError as error:
        found = tuple(error.diagnostics)
        return Verdict(file, None, None, DEFAULT_ENGINE, "error", NoProgram(found[0].message), errors=found)
    except Refused as refused:
        found = tuple(
            Diagnostic(
                NO_COUNTERPART,
                each.reason,
                file,
                *marked(test.source.lines(each.span.line), each.span),
                "ask about a network with --network, or about outcomes with `pgasrob litmus`",
            )
            for each in refused.refusals
        )
        return Verdict(file, test.name, None, DEFAULT_ENGINE, "error", NoProgram(found[0].message), errors=found)
    return check(Session(Question(translated.program, len(translated.ranks), reading=reading, limits=limits)))
