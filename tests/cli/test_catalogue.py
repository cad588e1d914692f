"""`pgasrob catalogue`: the list of a corpus."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from pgasrob.cli import cli


def test_catalogue_writes_and_knows_when_it_is_stale(tmp_path: Path) -> None:
    family = tmp_path / "family"
    family.mkdir()
    program = family / "one.pgas"
    program.write_text("// expect: robust\n// Nothing happens in it.\nprocess { barrier; }\n")
    runner = CliRunner()
    assert runner.invoke(cli, ["catalogue", str(tmp_path), "--check"]).exit_code == 1
    assert runner.invoke(cli, ["catalogue", str(tmp_path)]).exit_code == 0
    assert "| [one](family/one.pgas) | 2 | robust |" in (tmp_path / "README.md").read_text()
    assert runner.invoke(cli, ["catalogue", str(tmp_path), "--check"]).exit_code == 0
    program.write_text("// expect: robust\n// Nothing at all.\nprocess { barrier; }\n")
    assert runner.invoke(cli, ["catalogue", str(tmp_path), "--check"]).exit_code == 1


def test_catalogue_of_litmus_tests_says_where_one_is_none(tmp_path: Path) -> None:
    (tmp_path / "bad.litmus").write_text("x@1 :: 1: x = ")
    result = CliRunner().invoke(cli, ["catalogue", str(tmp_path)])
    assert result.exit_code == 2 and "bad.litmus:1:14: error[PG170]" in result.output
    assert not (tmp_path / "README.md").exists()


def test_catalogue_of_litmus_tests(tmp_path: Path) -> None:
    empty = CliRunner().invoke(cli, ["catalogue", str(tmp_path)])
    assert empty.exit_code == 2 and "no .pgas, .c or .litmus file in the folder" in " ".join(empty.output.split())
    (tmp_path / "sb.litmus").write_text("x@1=0 :: 1: x = 1")
    made = CliRunner().invoke(cli, ["catalogue", str(tmp_path)])
    assert (made.exit_code, made.output) == (0, f"{tmp_path / 'README.md'}: 1 test\n")


def test_catalogue_leaves_a_readme_of_somebody_else_alone(tmp_path: Path) -> None:
    (tmp_path / "one.pgas").write_text("// expect: robust\n// Nothing at all.\nprocess { barrier; }\n")
    (tmp_path / "README.md").write_text("# Mine\n")
    result = CliRunner().invoke(cli, ["catalogue", str(tmp_path)])
    assert result.exit_code == 2
    assert (tmp_path / "README.md").read_text() == "# Mine\n"


def test_catalogue_of_this_folder_is_that_of_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / "one.pgas").write_text("// expect: robust\n// Größe: nothing.\nprocess { barrier; }\n", encoding="utf-8")
    assert CliRunner().invoke(cli, ["catalogue", str(folder)]).exit_code == 0
    monkeypatch.chdir(folder)
    assert CliRunner().invoke(cli, ["catalogue", ".", "--check"]).exit_code == 0


def test_a_catalogue_has_the_states_of_what_is_decided(tmp_path: Path) -> None:
    (tmp_path / "one.pgas").write_text("// expect: robust\n// Nothing at all.\nprocess { barrier; }\n")
    assert CliRunner().invoke(cli, ["catalogue", str(tmp_path)]).exit_code == 0
    (row,) = (line for line in (tmp_path / "README.md").read_text().splitlines() if "(one.pgas)" in line)
    assert row.split("|")[6].strip().isdecimal()
