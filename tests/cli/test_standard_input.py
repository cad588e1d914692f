"""What commands make of what they are given: a program on the standard input, files of other kinds, nasty sources."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from pgasrob.cli import cli

PROGRAMS = Path(__file__).parents[2] / "programs"
PGAS = (PROGRAMS / "one_to_one/one_to_one.pgas").read_text()
C = (PROGRAMS / "c/openshmem/message_passing_no_fence.c").read_text()


@pytest.mark.parametrize(("text", "name", "line"), [(PGAS, "<stdin>.pgas", 11), (C, "<stdin>.c", 17)])
def test_a_program_on_the_standard_input(text: str, name: str, line: int) -> None:
    found = CliRunner().invoke(cli, ["check", "-", "-n", "2,3", "-j", "2", "--brief"], input=text)
    assert found.exit_code == 1
    assert found.output.startswith(f"{name}:{line}:")
    race = CliRunner().invoke(cli, ["race", "-", "--brief"], input=text)
    assert race.output.startswith(name)


def test_headers_of_what_is_on_the_standard_input_lie_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("more.h").write_text("#include <shmem.h>\n")
    found = CliRunner().invoke(cli, ["check", "-"], input=C.replace("#include <shmem.h>", '#include "more.h"'))
    assert found.exit_code == 1 and "not robust" in found.output


@pytest.mark.parametrize("command", ["repair", "thrift"])
def test_there_is_no_file_to_write_to(command: str) -> None:
    found = CliRunner().invoke(cli, [command, "-", "--write"], input=PGAS)
    assert found.exit_code == 2 and "no file to write to" in found.output


def test_repairs_of_the_standard_input_are_printed() -> None:
    found = CliRunner().invoke(cli, ["repair", "-", "--format", "diff"], input=PGAS)
    assert found.exit_code == 0 and "+  wait(q);" in found.output


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("halo.cpp", "give it a name that ends in .c where it is C"),
        ("halo.F90", "record what it does"),
        ("halo.h", "name the C file with `main` that includes it"),
        ("compile_commands.json", "name it with `--compile-commands`"),
    ],
)
@pytest.mark.parametrize("command", ["check", "race", "outcomes"])
def test_files_of_other_kinds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, name: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_text("#include <shmem.h>\n")
    found = CliRunner().invoke(cli, [command, name])
    assert found.exit_code == 2
    assert f"{name}: error[PG182]" in found.output
    assert message in " ".join(found.output.split())


@pytest.mark.parametrize("command", ["check", "race", "repair", "outcomes", "run", "explain"])
def test_no_control_character_of_a_source_is_printed(command: str) -> None:
    nasty = C.replace("%ld %ld", "\x1b]0;title\x07 \x9b31m \u202e%ld %ld").replace("int main", "/* \x1b[2J */ int main")
    for text in (nasty, nasty.replace("return 0", 'unknown("\x1b[31m")')):
        found = CliRunner().invoke(cli, [command, "-"], input=text)
        assert not set("\x1b\x07\x9b\u202e") & set(found.output), found.output
        assert found.output
