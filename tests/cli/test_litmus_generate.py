"""`pgasrob litmus generate`: tests as text, as JSON and as files, exit codes, wrong usage."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pgasrob.cli import cli
from pgasrob.models.litmus.litmus_parser import parse, parse_file


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path


def generate(*arguments: str) -> Result:
    result = CliRunner().invoke(cli, ["litmus", "generate", *arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def test_a_rule_of_corerma() -> None:
    result = generate("--rule", "IR", "--size", "8")
    assert result.exit_code == 0
    assert result.stdout == (
        "IR-2p-8-001: x@1=0 y@2=1 :: 1: a = x; || 2: x^1 = y; y = x^1; b = y;\n"
        "    ew of `x^1 = y` before er of `y = x^1` closes a cycle of happens-before\n"
        "    forbidden by IR: a=0 b=0; a=1 b=0\n"
    )
    assert result.stderr == "pgasrob: 1 test\npgasrob: none of this size for IR with 1 process\n"


def test_a_test_on_whose_outcomes_nothing_hangs() -> None:
    result = generate(
        "--rule", "IR", "--size", "7", "--processes", "1", "--convention", "observable=no", "--count", "1"
    )
    assert result.stdout.endswith("    no outcome hangs on IR alone\n")


def test_cells_of_rdma_tso() -> None:
    result = generate("--model", "rdma-tso", "--rule", "G8,oppo.B1", "--count", "1", "--locations", "2")
    assert result.stdout == (
        "G8-2-001: x@2=0 y@1=1 :: 1: x^2 = y; y = x^2;\n"
        "    forbidden by G8: x=1 y=0\n"
        "oppo.B1-4-001: x@1=0 y@1=1 :: 1: x = 2; a = y; || 1: y = 3; b = x;\n"
        "    allowed because oppo.B1 orders nothing: x=2 y=3 a=1 b=0\n"
    )


def test_two_models() -> None:
    result = generate("--distinguish", "rdma-tso,corerma", "--size", "2", "--count", "1")
    assert result.stdout == (
        "rdma-tso-not-corerma-2-001: x@1=0 y@2=1 :: 1: x = y^2; y^2 = x;\n"
        "    rdma-tso has and corerma has not: x=0 y=0\n"
        "corerma-not-rdma-tso-2-001: x@1=0 y@2=1 z@2=2 :: 1: x = y^2; x = z^2;\n"
        "    corerma has and rdma-tso has not: x=1 y=1 z=2\n"
    )
    missing = generate("--distinguish", "sc,tso", "--size", "2").stderr
    assert "none of this size for what sc has and tso has not, what tso has and sc has not" in missing


def test_files_hold_what_they_say(folder: Path) -> None:
    result = generate("--rule", "F1,WS", "--size", "8", "--output", "out/tests", "--count", "2")
    files = sorted((folder / "out/tests").glob("*.litmus"))
    assert [file.name for file in files] == [
        "F1-1p-7-001.litmus", "F1-1p-7-002.litmus", "F1-2p-8-001.litmus",
        "WS-1p-6-001.litmus", "WS-1p-6-002.litmus", "WS-2p-7-001.litmus", "WS-2p-8-001.litmus",
    ]  # fmt: skip
    assert result.stdout == "" and result.stderr.startswith("pgasrob: 7 tests, 7 files in out/tests\n")
    assert all(parse_file(file).expectations for file in files)
    checked = CliRunner().invoke(cli, ["litmus", "out/tests", "--expect"])
    assert checked.exit_code == 0, checked.output


def test_models_that_spell_a_wait_differently_have_a_file_each(folder: Path) -> None:
    generate("--distinguish", "rdma-tso,corerma", "--size", "3", "--waits", "--locations", "2", "--output", "out")
    names = {file.name for file in (folder / "out").iterdir()}
    spelled = {name.removesuffix("-rdma-tso.litmus") for name in names if name.endswith("-rdma-tso.litmus")}
    assert spelled and {f"{name}-corerma.litmus" for name in spelled} < names
    checked = CliRunner().invoke(cli, ["litmus", "out", "--expect"])
    assert checked.exit_code == 0, checked.output


def test_json_is_one_object_a_test() -> None:
    rows = [
        json.loads(line) for line in generate("--rule", "LO", "--size", "5", "--format", "json").stdout.splitlines()
    ]
    assert [row["name"] for row in rows][:2] == ["LO-1p-3-001", "LO-1p-4-001"]
    first = rows[0]
    assert first["test"] == "x@1=0 :: 1: a = x; x = 1;"
    assert (first["rule"], first["size"], first["model"]) == ("LO", 3, "corerma")
    assert (first["allowed"], first["forbidden"]) == ([{"a": 0}], [{"a": 1}])
    assert all(parse(row["test"]).program.threads for row in rows)


def test_litmus_text_is_what_files_hold(folder: Path) -> None:
    text = generate("--rule", "PG", "--size", "8", "--format", "litmus", "--count", "1", "--processes", "1").stdout
    generate("--rule", "PG", "--size", "8", "--count", "1", "--processes", "1", "--output", "out")
    (file,) = (folder / "out").iterdir()
    assert text == file.read_text() + "\n"
    assert text.startswith("// coreRMA, rule PG: ")


def test_a_limit_ends_it() -> None:
    result = generate("--rule", "GA", "--size", "14", "--timeout", "0.3")
    assert result.exit_code == 3
    assert "the time limit of 0.3 s was reached while generating tests" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "say which --rule the outcomes hang on, or which two models to --distinguish."),
        (("--rule", "IR", "--distinguish", "sc,tso"), "say which --rule"),
        (("--rule", "XR"), "coreRMA has no rule 'XR'"),
        (("--model", "rdma-tso", "--rule", "ippo.K1"), "RDMA-TSO has no rule 'ippo.K1'"),
        (("--rule", "IR", "--convention", "minmal=yes"), "did you mean `minimal`?"),
        (("--rule", "IR", "--threads", "3"), "--threads has no meaning for rules of corerma."),
        (
            ("--model", "rdma-tso", "--rule", "G8", "--processes", "1"),
            "--processes has no meaning for rules of rdma-tso.",
        ),
        (("--distinguish", "sc,tso", "--model", "rdma-tso"), "--model has no meaning for --distinguish."),
        (("--rule", "G8"), "coreRMA has no rule 'G8'; it is one of --model rdma-tso."),
        (("--rule", "IR", "--model", "rdma-tso"), "RDMA-TSO has no rule 'IR'; it is one of --model corerma."),
        (("--rule", ","), "it names no rule."),
        (("--distinguish", "sc"), "it takes two models"),
        (("--distinguish", "sc,sc"), "it takes two models"),
        (("--distinguish", "sc,tos"), "no model 'tos'; did you mean `tso`?"),
    ],
)
def test_wrong_usage(arguments: tuple[str, ...], message: str) -> None:
    result = generate(*arguments)
    assert result.exit_code == 2
    said = " ".join(result.output.split())
    assert message in said and "?." not in said and "...." not in said


def test_commas_too_many() -> None:
    assert generate("--rule", "IR,", "--size", "8").stdout.startswith("IR-2p-8-001")


def test_a_folder_that_cannot_be_written(folder: Path) -> None:
    (folder / "file").write_text("")
    result = generate("--rule", "IR", "--size", "8", "--output", "file/tests")
    assert result.exit_code == 2 and "pgasrob: cannot write file/tests/" in result.stderr


def test_variants_differ_in_lines_that_are_read_back(folder: Path) -> None:
    generate("--distinguish", "corerma vpi, without F1,corerma", "--size", "3", "--count", "1", "--output", "out")
    (file,) = (folder / "out").iterdir()
    assert "\nallowed corerma vpi without F1: " in file.read_text()
    checked = CliRunner().invoke(cli, ["litmus", "out", "--expect"])
    assert checked.exit_code == 0 and checked.stdout.endswith("as expected in corerma, corerma vpi without F1\n")


def test_help_lists_the_conventions() -> None:
    assert "reads (exact|more|none)" in " ".join(generate("--help").output.split())
