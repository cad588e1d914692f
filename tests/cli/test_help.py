"""Help, errors and the manual name what is in the tables of formats, engines and reductions."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from pgasrob.cli import cli
from pgasrob.render.output_files import FORMATS, Format
from pgasrob.robustness import engines, reduction

MANUAL = Path(__file__).parents[2] / "pgasrob" / "manual"


def printed(*arguments: str) -> str:
    """What a command prints on both streams, on one line."""
    result = CliRunner().invoke(cli, arguments, env={"COLUMNS": "100"})
    return " ".join(result.output.split())


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("p.pgas").write_text("program p; process { skip; }")
    return "p.pgas"


def test_a_new_format_is_in_every_help_and_error(monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    monkeypatch.setitem(FORMATS, ".new", Format(".new", str, holds_many=True, verdicts_only=True))
    monkeypatch.setitem(FORMATS, ".one", Format(".one", str))
    check_help = printed("check", "--help")
    assert ".txt, .new or .one by its ending" in check_help and ".json, .sarif, .txt and .new hold all" in check_help
    assert "{name}, {path} or {nodes}" in check_help
    draw_help = printed("draw", "--help")
    assert ".txt, .new or .one. PATH" in draw_help and "sarif, txt, new or one." in draw_help
    assert ".txt and .new hold all" in draw_help
    for command in ("run", "outcomes"):
        assert ".tex, .json, .txt or .one by its ending" in printed(command, "--help")
        refused = printed(command, program, "--witness", "a.new")
        assert "NEW is for verdicts, and one run has none" in refused
    assert "the endings are .svg, " in printed("check", program, "--witness", "a.zzz")
    assert ".new, .one" in printed("check", program, "--witness", "a.zzz")
    assert "txt, new, one" in printed("draw", "x", "--to", "zzz")


def test_a_new_engine_is_in_help_and_error(monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    def oracle(*_: object) -> None:
        """Asks Delphi. Not a word more of this."""

    monkeypatch.setitem(engines.ENGINES, "delphi", oracle)  # type: ignore[arg-type]
    text = printed("check", "--help")
    assert "|spin|delphi]" in text and "delphi: Asks Delphi. [default: portfolio]" in text
    assert "spin, delphi" in printed("check", program, "--engine", "zzz")


def test_every_engine_says_what_it_is() -> None:
    text = printed("check", "--help")
    for name, create in engines.ENGINES.items():
        assert create.__doc__ and f"{name}: {create.__doc__.partition('.')[0]}." in text


def test_a_new_reduction_is_in_help_and_error(monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    monkeypatch.setattr(reduction, "REDUCTIONS", (*reduction.REDUCTIONS, "wishing"))
    assert "liveness, symmetry or wishing. Can be repeated." in printed("check", "--help")
    assert "symmetry, wishing" in printed("check", program, "--without", "zzz")


def test_the_options_of_commands_need_no_table() -> None:
    code = (
        "import sys; from pgasrob.cli import COMMANDS, command_named; "
        "[command_named(name) for name in COMMANDS]; print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    imported = done.stdout.splitlines()[-1].split()
    assert "pgasrob.cli.check" in imported
    assert not [name for name in imported if re.match(r"pgasrob\.(render|robustness|program|frontends)\b", name)]


def table(page: str, heading: str) -> list[str]:
    """The names in the first column of the table of ``page`` with ``heading``."""
    rows = (MANUAL / page).read_text().split(f"\n| {heading} |", 1)[1].split("\n\n", 1)[0].splitlines()[2:]
    return [name for row in rows for name in re.findall("`([^`]+)`", row.split("|")[1])]


def test_the_manual_names_all() -> None:
    assert sorted(table("pictures.md", "ending")) == sorted(FORMATS)
    assert table("engines.md", "`--engine`") == list(engines.ENGINES)
    text = " ".join((MANUAL / "engines.md").read_text().split())
    (sentence,) = re.findall(r"`--without NAME` switches off one of its reductions: (.*?)\. ", text)
    assert tuple(re.findall("`([^`]+)`", sentence)) == reduction.REDUCTIONS
