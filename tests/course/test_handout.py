"""What is handed out has no answer in it, and lines keep their numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgasrob.course.handout import handed_out, head, to_hand_out
from pgasrob.program.expectation import read_expectation
from pgasrob.robustness.load import load

LECTURES = Path(__file__).parents[2] / "programs" / "lectures"
FILES = [path for path in sorted(LECTURES.rglob("*")) if path.suffix in (".pgas", ".c")]


def test_no_answer_is_left_and_lines_stay_where_they_are(tmp_path: Path) -> None:
    for number, file in enumerate(FILES):
        text = file.read_text()
        given = handed_out(text, str(file))
        expectation = read_expectation(text, str(file))
        left = read_expectation(given, str(file))
        assert expectation and expectation.cases
        assert left is None or (left.cases, left.nodes) == ((), expectation.nodes)
        assert given.splitlines()[text[: head(text)].count("\n") :][1:] == text[head(text) :].splitlines()[1:]
        assert "//" not in given[: head(text)].replace("// nodes:", "")
        if number % 10 == 0:
            copy = tmp_path / file.name
            copy.write_text(given)
            assert load(copy).nodes == load(file).nodes


def test_comments_of_every_kind() -> None:
    assert handed_out("// expect: robust\n// why\n\nprogram a;\n// kept\n", "a") == "\n\n\nprogram a;\n// kept\n"
    assert handed_out("/* expect: error\n nodes: 4 */ int x;\n", "a") == "// nodes: 4\n int x;\n"
    assert handed_out("int x; // expect\n", "a") == "int x; // expect\n"


def test_solutions_stay_here() -> None:
    folder = LECTURES / "1_one_sided_communication"
    found = to_hand_out([str(folder), str(LECTURES / "2_sequential_consistency" / "2_01_sb.pgas")])
    assert (folder / "1_01_put.pgas", Path("1_01_put.pgas")) in found
    assert (LECTURES / "2_sequential_consistency" / "2_01_sb.pgas", Path("2_01_sb.pgas")) in found
    assert not [place for _, place in found if "solutions" in place.parts]
    assert [place for _, place in to_hand_out([str(folder / "solutions")])], "unless they are asked for"


def test_a_node_count_that_is_none_is_an_error() -> None:
    from pgasrob.diagnostics import SourceError

    with pytest.raises(SourceError):
        handed_out("// nodes: many\nint x;\n", "a.c")
