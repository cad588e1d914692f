"""`pgasrob course`: what it writes, and what it says of pages that are none."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pgasrob.cli import cli
from pgasrob.cli.course import _result

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "programs" / "lectures" / "1_one_sided_communication" / "lecture.md"

SB = "memory one = 1, x; register r; queue q; process { write(one, (me + 1) % nodes, x, q); r <- mem[x]; }"


def course(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["course", *map(str, arguments)], catch_exceptions=False)


def test_slides_are_made_where_the_programs_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = course("slides", PAGE, "-o", "decks")
    assert result.exit_code == 2
    assert "there is no programs/lectures/1_one_sided_communication/1_02_reuse.pgas here" in result.stderr
    assert not (tmp_path / "decks").exists()
    (tmp_path / "programs").symlink_to(ROOT / "programs")
    result = course("slides", PAGE, "-o", "decks")
    assert (result.exit_code, result.stdout) == (0, "decks/1_one_sided_communication.html\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["decks", "programs"], "nothing of the runs is left"


def test_a_page_that_is_none(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    assert "cannot read" in course("slides", page).stderr
    page.write_bytes(b"\xff")
    assert "is no text" in course("slides", page).stderr
    page.write_text("# A\n\n---\n")
    assert "page.md: line 3: a lecture page has no hr" in course("slides", page).stderr
    page.write_text("# A\n\n```pgas a.pgas\nprogram a;\n```\n")
    result = course("slides", page, "-o", tmp_path)
    assert result.exit_code == 2 and "a.pgas: No such file" in result.stderr
    page.write_text("A\n")
    assert "line 1: a lecture page begins with its title" in course("slides", page).stderr


ASSIGNMENT = ROOT / "tests" / "course" / "assignment"


def test_marks_as_text_json_and_csv(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ASSIGNMENT)
    arguments = ("grade", "key", "students/ada", "students/ben", "--handout", "handout")
    result = course(*arguments)
    assert result.exit_code == 0
    assert result.stdout.splitlines()[:7] == [
        "     1_two_queues  2_which_wait  3_reuse  points",
        "of              2             1        3       6",
        "ada             2             1        3       6",
        "ben             0             1        0       1",
        "",
        "ben:",
        "  1. 1_two_queues.pgas (0 of 2): it is not robust on 2 nodes, and should be",
    ]
    assert all(len(line) <= 80 for line in result.stdout.splitlines())
    assert "Rank 0 reads y in line 13 before the write of rank 1" in " ".join(result.stdout.split())
    objects = [json.loads(line) for line in course(*arguments, "--format", "json").stdout.splitlines()]
    assert [(each["student"], each["points"], each["undecided"], each["of"]) for each in objects] == [
        ("ada", 6, 0, 6), ("ben", 1, 0, 6)
    ]  # fmt: skip
    rows = list(csv.DictReader(io.StringIO(course(*arguments, "--format", "csv").stdout)))
    assert [(row["student"], row["exercise"], row["state"], row["points"]) for row in rows][3:] == [
        ("ben", "1_two_queues.pgas", "wrong", "0"),
        ("ben", "2_which_wait.pgas", "right", "1"),
        ("ben", "3_reuse.c", "no program", "0"),
    ]


def test_what_is_undecided_is_in_the_exit_code_and_no_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ASSIGNMENT)
    result = course("grade", "key", "students/ada", "--handout", "handout", "--timeout", "1e-6")
    assert result.exit_code == 3
    assert "ada             ?             1        ?       1  5 undecided" in result.stdout


def test_a_spreadsheet_computes_nothing(tmp_path: Path) -> None:
    name = "=HYPERLINK(1)"
    (tmp_path / name).mkdir()
    found = course("grade", ASSIGNMENT / "key", tmp_path / name, "--format", "csv").stdout
    assert "\n'=HYPERLINK(1),1_two_queues.pgas,missing,0,0,2,there is no such file.\n" in found


def test_hand_outs_are_written_without_answers(tmp_path: Path) -> None:
    folder = ROOT / "programs" / "lectures" / "1_one_sided_communication"
    result = course("handout", folder, "-o", tmp_path / "week")
    assert result.exit_code == 0
    names = {path.name for path in (tmp_path / "week").iterdir()}
    assert "1_e1_two_queues.pgas" in names and "solutions" not in names
    assert not [path for path in (tmp_path / "week").iterdir() if "expect" in path.read_text()]
    refused = course("handout", folder / "lecture.md", "-o", tmp_path / "week")
    assert refused.exit_code == 2 and "programs to hand out end in .pgas or .c" in refused.stderr


def test_copies_do_not_take_the_place_of_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "programs").mkdir()
    (tmp_path / "programs" / "a.pgas").write_text("// expect: robust\nprogram a;\nprocess { skip; }\n")
    page = tmp_path / "page.md"
    page.write_text("# A\n\n```\n$ pgasrob check programs/a.pgas\n```\n")
    monkeypatch.chdir(tmp_path)
    for arguments in (("notebook", page), ("handout", "programs", "-o", "programs")):
        result = course(*arguments)
        assert result.exit_code == 2 and "would take its place" in result.stderr
    assert (tmp_path / "programs" / "a.pgas").read_text().startswith("// expect")
    assert course("notebook", page, "-o", "here").stdout == "here/page.ipynb\n"
    assert (tmp_path / "here" / "programs" / "a.pgas").read_text() == "\nprogram a;\nprocess { skip; }\n"


def test_the_file_that_a_command_draws_into_is_left_out_wherever_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sb.pgas").write_text(SB)
    for command in ("pgasrob check --witness sb.svg sb.pgas", "pgasrob check sb.pgas --witness sb.svg"):
        assert _result(command)
        assert not Path("sb.svg").exists()
