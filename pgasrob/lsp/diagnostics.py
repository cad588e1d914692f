"""Turns findings into the editor's diagnostics, from SARIF, which has the places, the sentences and the severities."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

from lsprotocol.types import Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, Location, Position, Range
from pygls.uris import to_fs_path

from pgasrob.lsp.edited_program import Found
from pgasrob.lsp.positions import NOWHERE, Places
from pgasrob.render.sarif import plain

SOURCE = "pgasrob"
VIOLATION = "not-robust"
SEVERITIES = {
    "error": DiagnosticSeverity.Error,
    "warning": DiagnosticSeverity.Warning,
    "note": DiagnosticSeverity.Information,
}
RACES = {
    "error": DiagnosticSeverity.Warning,
    "warning": DiagnosticSeverity.Information,
    "note": DiagnosticSeverity.Hint,
}
"""A race is reported beside the violation that makes it an error; of a robust program it may well be meant."""

Object = dict[str, Any]
Uri = Callable[[str], str]
"""The URI by which the editor knows the file of a path."""


def diagnostics(found: Iterable[Found], file: str, uri: Uri, texts: Mapping[str, str]) -> dict[str, list[Diagnostic]]:
    """The diagnostics of the program in ``file``, on all node counts that were looked at, by the URI of the file that
    they are in. What is found at a place on several node counts is reported for the first of them."""
    reported: dict[str, list[Diagnostic]] = {uri(file): []}
    seen = set()
    for each in found:
        reported[uri(file)] += map(of_the_whole, each.notes)
        for path, diagnostic in _results(each, uri, texts):
            start = diagnostic.range.start
            key = (path, diagnostic.code, start.line, start.character)
            if key not in seen:
                seen.add(key)
                reported.setdefault(uri(path), []).append(diagnostic)
    return reported


def of_the_whole(message: str, code: str | None = None) -> Diagnostic:
    """A remark on a whole file, shown at its beginning: something is not known, or was not checked; ``code``: by an
    error of that code."""
    return Diagnostic(NOWHERE, message, DiagnosticSeverity.Information, code=code, source=SOURCE)


def _results(found: Found, uri: Uri, texts: Mapping[str, str]) -> Iterator[tuple[str, Diagnostic]]:
    for result in found.results:
        path, where = _place(result["locations"][0], texts)
        severities = RACES if result["ruleId"] == "race" else SEVERITIES
        related = [
            DiagnosticRelatedInformation(Location(uri(other), there), plain(each["message"]))
            for each in result.get("relatedLocations", [])
            for other, there in [_place(each, texts)]
        ]
        yield (
            path,
            Diagnostic(
                where,
                plain(result["message"]),
                severities[result["level"]],
                code=result["ruleId"],
                source=SOURCE,
                related_information=related or None,
            ),
        )


def _place(location: Object, texts: Mapping[str, str]) -> tuple[str, Range]:
    """The file and the range of a SARIF ``location``; SARIF and editors both count columns in UTF-16 code units."""
    physical = location["physicalLocation"]
    path = _path(physical["artifactLocation"])
    region = physical.get("region")
    if region is None:
        return path, NOWHERE
    start = Position(region["startLine"] - 1, region.get("startColumn", 1) - 1)
    if "endColumn" in region:
        return path, Range(start, Position(region["endLine"] - 1, region["endColumn"] - 1))
    return path, Places(texts.get(path, "")).word(start)


def _path(artifact: Object) -> str:
    """The path that an artifact's address stands for (`render.sarif.artifact`)."""
    address = artifact["uri"]
    if urlsplit(address).scheme == "file":
        path = to_fs_path(address)
        assert path is not None, "a file"
        return path
    return os.path.abspath(unquote(address))
