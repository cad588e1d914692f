"""Lines in several files, as text and in JSON."""

from __future__ import annotations

import json

from pgasrob.program.statements import Line
from pgasrob.render.source_places import LONGEST_LABEL, dumps, label, located, with_lines

OTHER = Line(7, "lib/util.c", "util.c")


def test_a_place_is_in_the_first_file_unless_its_line_says_otherwise() -> None:
    assert located("ring.c", 12, 3) == "ring.c:12:3"
    assert located("ring.c", 12) == "ring.c:12"
    assert located("ring.c", OTHER, 1) == "lib/util.c:7:1"
    assert "\x1b" not in located("a\x1b.c", 1)


def test_of_a_long_name_the_end_is_shown() -> None:
    long = Line(7, "x.c", f"{'a' * LONGEST_LABEL}.c")
    assert (label(12), label(0), label(OTHER)) == ("12", "", str(OTHER))
    assert len(label(long)) == LONGEST_LABEL
    assert label(fits := Line(7, "x.c", "a" * (LONGEST_LABEL - 2))) == str(fits)
    assert label(long).startswith("...a") and label(long).endswith(".c:7")


def test_json_keeps_files_of_lines() -> None:
    value = {"line": OTHER, "end_line": Line(8, "lib/util.c", "util.c"), "lines": [OTHER, 3], "inner": [{"line": 3}]}
    written = json.loads(dumps(value))
    assert (written["line"], written["file"], written["file_name"]) == (7, "lib/util.c", "util.c")
    assert (written["files"], written["file_names"]) == (["lib/util.c", None], ["util.c", None])
    assert written["inner"] == [{"line": 3}]
    read = with_lines(written)
    assert read["line"] == OTHER and read["line"].file == read["end_line"].file == "lib/util.c"


def test_lines_of_the_first_file_alone_are_numbers() -> None:
    assert json.loads(dumps({"line": 3, "lines": [1, 2]})) == {"line": 3, "lines": [1, 2]}
    assert with_lines({"lines": [1, 2], "files": [None, "b.c"], "file_names": [None, "b.c"]})["lines"][1].file == "b.c"
    assert type(with_lines({"lines": [1], "files": ["b.c"], "file_names": [None]})["lines"][0]) is int
