"""`pgasrob show -o FILE`: which file is drawn by what, and what is said when it cannot be."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result

from pgasrob.cli import cli
from pgasrob.render import automata_lib
from tests.cli.commands import (
    MESSAGE,
    run,
)

PROGRAM = str(Path(__file__).parents[2] / "programs/one_to_one/one_to_one.pgas")
STAGES = ("control", "state-space", "normal-form", "cycle-types")

drawing = pytest.mark.skipif(
    not all(map(find_spec, automata_lib.PACKAGES)), reason="needs the extra `diagrams` (pip install '.[diagrams]')"
)


def show(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["show", PROGRAM, *map(str, arguments)])


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without the extra."""
    monkeypatch.setattr(automata_lib, "find_spec", lambda package: None)


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.usefixtures("bare")
def test_an_svg_needs_nothing_else(tmp_path: Path, stage: str) -> None:
    result = show("--stage", stage, "-o", tmp_path / "out.svg")
    assert (result.exit_code, result.output) == (0, "")
    picture = ElementTree.parse(tmp_path / "out.svg").getroot()
    assert picture.tag.endswith("svg") and "pg-stage" in picture.attrib["class"]


@pytest.mark.usefixtures("bare")
def test_dot_is_what_is_printed(tmp_path: Path) -> None:
    assert show("--stage", "control", "-o", tmp_path / "out.dot").exit_code == 0
    assert (tmp_path / "out.dot").read_text() == show("--stage", "control", "--dot").output


@pytest.mark.parametrize("arguments", [["-o", "out.png"], ["-o", "out.PDF"], ["-o", "out.svg", "--layout", "graphviz"]])
@pytest.mark.usefixtures("bare")
def test_without_the_extra_one_line_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    result = show("--stage", "control", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1
    assert "pip install pygraphviz" in result.stderr
    assert not list(tmp_path.iterdir())


@drawing
@pytest.mark.parametrize("ending", ["png", "pdf", "svg"])
def test_with_the_extra_graphviz_draws(tmp_path: Path, ending: str) -> None:
    result = show("--stage", "control", "-o", tmp_path / f"out.{ending}", "--layout", "graphviz")
    assert (result.exit_code, result.output) == (0, "")
    written = (tmp_path / f"out.{ending}").read_bytes()
    assert len(written) > 1000
    assert b"pg-stage" not in written


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--stage", "control", "-o", "out.gif"], "-o out.gif: a graph is drawn as .svg, .dot, .png or .pdf."),
        (["--stage", "control", "-o", "out"], "a graph is drawn as"),
        (["-o", "out.svg"], "-o draws a graph, and a program is a text"),
        (["--stage", "control", "-o", "out.svg", "--dot"], "--dot prints the graph"),
        (["--stage", "control", "--layout", "own"], "--layout goes with -o FILE."),
        (["--stage", "control", "--layout", "own", "-o", "out.png"], "--layout own draws .svg; .png takes graphviz."),
        (["--stage", "control", "--layout", "graphviz", "-o", "out.dot"], "--layout does not go with .dot"),
        (["--stage", "control", "--cycle-type", "0,1"], "--cycle-type goes with --stage cycle-types."),
        (["--stage", "cycle-types", "--cycle-type", "0,2"], "different ranks, each of 0..1"),
        (["--stage", "cycle-types", "--cycle-type", "0,0"], "different ranks"),
        (["--stage", "cycle-types", "--cycle-type", "0,x"], "'0,x' is no cycle type; write its ranks as in 0,2,1."),
        (["--stage", "cycle-types", "--cycle-type", ""], "'' is no cycle type"),
    ],
)
def test_options_that_do_not_fit_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    result = show(*arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
    assert not list(tmp_path.iterdir())


def test_a_graph_that_cannot_be_read_is_not_drawn(tmp_path: Path) -> None:
    result = show("--stage", "normal-form", "--heads", "4", "-o", tmp_path / "out.svg")
    assert result.exit_code == 1
    assert "no graph: more than 150 states" in result.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["missing/out.svg", "missing/out.dot"])
def test_a_file_that_cannot_be_written_is_named(tmp_path: Path, name: str) -> None:
    result = show("--stage", "control", "-o", tmp_path / name)
    assert result.exit_code == 2
    assert result.stderr == f"pgasrob: cannot write {tmp_path / name}: {os.strerror(2)}\n"


def test_the_automaton_of_one_cycle_type() -> None:
    result = show("--stage", "cycle-types", "--cycle-type", "0,1")
    assert result.exit_code == 0
    assert result.output.startswith("// Z of the cycle type 0 1\n//   states       26\n//   letters      25\n")
    assert result.output.count("doublecircle") == 1


def test_the_lowered_program_is_shown(folder: Path) -> None:
    Path("p.c").write_text(MESSAGE.format(head="nodes: 2").replace("helper(got)", "return 1"))
    shown = run("show", "p.c")
    assert shown.exit_code == 0
    assert "update(set, 42, 1, data, shmem) as plain;" in shown.output and "await(mem[flag] == 1);" in shown.output


@pytest.mark.parametrize("stage", ["control", "state-space", "normal-form", "cycle-types"])
def test_show_prints_counts_and_a_graph(one_to_one: str, stage: str) -> None:
    result = CliRunner().invoke(cli, ["show", one_to_one, "--stage", stage, "--heads", "2"])
    assert result.exit_code == 0
    assert result.output.startswith("// ")
    assert result.output.rstrip().endswith("}")


def test_show_dot_is_only_the_graph(one_to_one: str) -> None:
    result = CliRunner().invoke(cli, ["show", one_to_one, "--stage", "control", "--dot"])
    assert result.output.startswith("digraph")


def test_show_without_a_graph_says_why(one_to_one: str) -> None:
    result = CliRunner().invoke(cli, ["show", one_to_one, "--stage", "normal-form", "--heads", "4", "--dot"])
    assert result.exit_code == 1
    assert "no graph" in result.stderr


def test_show_of_something_that_is_no_program_is_an_error(tmp_path: Path) -> None:
    bad = tmp_path / "bad.pgas"
    bad.write_text("process { r <- 1; }")
    result = CliRunner().invoke(cli, ["show", str(bad), "--stage", "control"])
    assert result.exit_code == 2
    assert "bad.pgas:1:" in result.stderr


def test_limits_hold(tmp_path: Path) -> None:
    """In what is read, computed and written."""
    path = tmp_path / "p.pgas"
    path.write_text("memory x; process { " + "mem[x] <- 1; " * 50_000 + "}")
    for stage in ("program", "control", "state-space"):
        limits = ("--timeout", "0.3", "--memory-limit", "500M")
        result = CliRunner().invoke(cli, ["show", str(path), "--stage", stage, *limits])
        assert (result.exit_code, result.stdout) == (3, "")
        assert result.stderr == "pgasrob: the time limit of 0.3 s was reached while showing the program\n"
