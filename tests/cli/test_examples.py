"""`pgasrob examples`: the corpus is listed, printed and copied, whole or in part, and nothing is overwritten."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import pgasrob
from pgasrob.cli import cli
from pgasrob.program import corpus

PROGRAMS = Path(__file__).parents[2] / "programs"
HALO = PROGRAMS / "c/mpi/barrier_halo.c"


def examples(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["examples", *map(str, arguments)], env={"COLUMNS": "80"})


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def programs(folder: Path) -> dict[str, bytes]:
    return {name: text for name, text in files(folder).items() if name.endswith(corpus.SUFFIXES)}


def test_the_list_has_every_folder_and_its_number_of_programs() -> None:
    listed = {
        line.split()[0]: int(line.split()[1]) for line in examples().output.splitlines() if re.match(r"\S+ +\d", line)
    }
    found: dict[str, int] = {}
    for name in programs(PROGRAMS):
        folder = name.rpartition("/")[0]
        found[folder] = found.get(folder, 0) + 1
    assert listed == found


def test_a_folder_is_listed_with_what_is_expected_and_why() -> None:
    output = examples("c/mpi").output
    assert "c/mpi/barrier_halo.c: not robust\n    A barrier in place of the fence completes nothing: the halo" in output
    assert "c/mpi/hoefler/figure_10.c" in output
    assert len(re.findall(r"^c/mpi/", output, re.MULTILINE)) == len(programs(PROGRAMS / "c/mpi"))
    assert max(map(len, output.splitlines())) <= 80


@pytest.mark.parametrize("name", ["barrier_halo", "barrier_halo.c", "c/mpi/barrier_halo.c"])
def test_a_program_is_printed(name: str) -> None:
    assert examples(name).output == HALO.read_text()
    assert pgasrob.example(name) == HALO


def test_programs_are_objects() -> None:
    found = [json.loads(line) for line in examples("--format", "json").stdout.splitlines()]
    assert {each["program"] for each in found} == programs(PROGRAMS).keys()
    (halo,) = (json.loads(line) for line in examples("barrier_halo", "--format", "json").stdout.splitlines())
    assert (halo["file"], halo["expected"]) == (str(HALO), "not robust")
    assert halo["why"].startswith("A barrier in place of the fence completes nothing: the halo")
    assert examples("c/gpi", "gpi_allreduce", "--format", "json").stdout == examples("c/gpi", "--format", "json").stdout
    assert examples("--copy", "there", "--format", "json").exit_code == 2


def test_all_of_it_is_copied(tmp_path: Path) -> None:
    copied = programs(PROGRAMS)
    assert examples("--copy", tmp_path).output == f"{len(copied):,} files below {tmp_path}\n"
    assert files(tmp_path) == copied


def test_programs_and_folders_are_copied_under_their_names(tmp_path: Path) -> None:
    assert examples("barrier_halo", "--copy", tmp_path / "one").output == f"{tmp_path / 'one/barrier_halo.c'}\n"
    assert examples("barrier_halo", "c/gpi", "--copy", tmp_path / "two").exit_code == 0
    gpi = {f"gpi/{name}": text for name, text in programs(PROGRAMS / "c/gpi").items()}
    assert files(tmp_path / "two") == {"barrier_halo.c": HALO.read_bytes(), **gpi}


def test_nothing_is_overwritten_and_nothing_copied_then(tmp_path: Path) -> None:
    (tmp_path / "barrier_halo.c").write_text("mine\n")
    refused = examples("c/gpi", "barrier_halo", "--copy", tmp_path)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "barrier_halo.c is there already" in refused.stderr
    assert files(tmp_path) == {"barrier_halo.c": b"mine\n"}
    (tmp_path / "barrier_halo.c").write_bytes(HALO.read_bytes())
    assert examples("barrier_halo", "--copy", tmp_path).exit_code == 0


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["barier_halo"], "did you mean `barrier_halo`?"),
        (["stencil"], "several examples are called stencil: c/mpi/stencil.c, c/openshmem/stencil.c"),
        (["c/mpi/stencil.c", "c/openshmem/stencil.c"], "would be the copy of"),
        (["../README.md"], "there is no example"),
        (["."], "there is no example"),
        ([str(HALO)], "there is no example"),
    ],
)
def test_what_there_is_not_is_refused(tmp_path: Path, names: list[str], message: str) -> None:
    refused = examples(*names, "--copy", tmp_path)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert message in refused.stderr
    assert not files(tmp_path)


def test_a_folder_is_no_example_program() -> None:
    with pytest.raises(pgasrob.NoExample, match=r"c/gpi is a folder of examples: gpi_allreduce\.c"):
        pgasrob.example("c/gpi")


def test_where_there_is_no_corpus_it_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(corpus, "__file__", str(tmp_path / "site-packages/pgasrob/program/corpus.py"))
    refused = examples()
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "has no example programs" in refused.stderr
