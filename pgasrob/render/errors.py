"""Findings about a source text, such as syntax errors, as lines of a report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from pgasrob.diagnostics import Diagnostic, visible
from pgasrob.program.statements import place_of
from pgasrob.render.lines import Line
from pgasrob.render.source_places import located

if TYPE_CHECKING:
    from pgasrob.render.shared_json import Error


def diagnostic_lines(errors: Iterable[Diagnostic]) -> Iterator[Line]:
    for error in errors:
        for line in error.render().splitlines():
            yield [(line, "")]


def error_lines(file: str, errors: Iterable[Error]) -> Iterator[Line]:
    """The lines of the findings ``errors`` in the JSON object of a result about ``file``."""
    for error in errors:
        other, number = place_of(error["line"])
        place = {"file": other or file, "line": number, "notes": tuple(error.get("notes", ()))}
        yield from diagnostic_lines([Diagnostic(**{**error, **place})])  # type: ignore[arg-type]


def in_one_line(file: str, error: Error) -> str:
    """``error`` about a program whose first file is ``file``: ``ring.pgas:3:9: error[PG011]: missing `;```."""
    place = located(file, error["line"], error["column"]) if error["line"] else visible(file)
    return f"{place}: error[{error['code']}]: {visible(error['message'])}"
