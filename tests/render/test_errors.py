"""Findings about a source text as lines."""

from __future__ import annotations

from typing import Any

from pgasrob.diagnostics import Diagnostic
from pgasrob.program.statements import Line
from pgasrob.render.errors import diagnostic_lines, error_lines, in_one_line
from pgasrob.render.lines import plain
from tests.render.test_table import SYNTAX


def test_an_error_of_json_has_the_lines_of_its_diagnostic() -> None:
    diagnostic = Diagnostic("PG011", "missing `;`", "ring.pgas", 3, 9, 1, "memory x", "put a `;` here")
    expected = plain(diagnostic_lines([diagnostic]))
    assert plain(error_lines("ring.pgas", [SYNTAX])) == expected
    assert expected.startswith("ring.pgas:3:9: error[PG011]: missing `;`\n") and "put a `;` here" in expected


def test_an_error_in_another_file_names_it() -> None:
    elsewhere: Any = {**SYNTAX, "line": Line(3, "lib/util.h", "util.h")}
    assert plain(error_lines("ring.c", [elsewhere])).startswith("lib/util.h:3:9: error[PG011]")
    assert in_one_line("ring.c", elsewhere) == "lib/util.h:3:9: error[PG011]: missing `;`"


def test_an_error_about_the_file_as_a_whole_has_no_line() -> None:
    whole: Any = {**SYNTAX, "line": 0, "message": "\x1b"}
    assert in_one_line("ring.pgas", whole) == "ring.pgas: error[PG011]: \\x1b"
