"""What commands say of a program that is not meant for a number of nodes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import pgasrob
from pgasrob.cli import cli
from pgasrob.frontends.options import FrontEnd
from pgasrob.program.reading import DEFAULT_READING
from pgasrob.robustness.limits import Limits
from tests.frontends.counted_programs import PROGRAMS

LEAVES = "On 2 nodes every rank leaves in line 10, `n != 3`, before any communication"
NOTHING = "on 2 nodes the program ends in line 10, `n != 3`, before it communicates; try -n 3"
CHOSEN, TRY = f"{LEAVES}: 3 nodes were chosen instead (-n sets another number).", f"{LEAVES}: try -n 3."


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    Path("three.c").write_text(PROGRAMS["not equal, MPI_Abort"].text)
    Path("rank.c").write_text(PROGRAMS["a rank by number"].text)
    Path("two.c").write_text(PROGRAMS["more are needed than there are"].text)
    Path("silent.c").write_text(PROGRAMS["only from rank 2 on"].text)
    Path("names.c").write_text(PROGRAMS["a rank that is not there"].text)
    Path("asserts.c").write_text(PROGRAMS["an assertion"].text)
    Path("alone.c").write_text(PROGRAMS["rank 0 ends all"].text)
    Path("nowhere.c").write_text(PROGRAMS["not equal, MPI_Abort"].text.replace("n != 3", "n < 9"))


def pgasrob_(*arguments: str) -> Result:
    return CliRunner().invoke(cli, list(arguments))


def _sarif(*arguments: str) -> Any:
    pgasrob_(*arguments, "--witness", "log.sarif")
    return json.loads(Path("log.sarif").read_text())


@pytest.mark.parametrize("command", [("check",), ("race",), ("check", "--brief"), ("race", "--brief")])
def test_the_text_says_which_count_was_chosen_and_why(command: tuple[str, ...]) -> None:
    assert CHOSEN in " ".join(pgasrob_(*command, "three.c").stdout.split())
    given = " ".join(pgasrob_(*command, "three.c", "-n", "2").stdout.split())
    assert NOTHING in given and TRY not in given
    assert "node count the program is for" not in given
    assert "every rank leaves" not in pgasrob_(*command, "three.c", "-n", "3").stdout
    assert "note" not in pgasrob_(*command, "two.c").stdout


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("silent", "On 2 nodes no rank accesses the memory of another one (see line 13, `MPI_Put("),
        ("names", "On 2 nodes there is no rank 3 for `shmem_int_p(&y, one, 3)` in line 13: 4 nodes were"),
        ("asserts", "On 2 nodes `assert(n == 3)` in line 12 fails before any communication: 3 nodes"),
        ("alone", "On 2 nodes rank 0 ends the run in line 12, `n < 3`: 3 nodes were chosen"),
        ("rank", "On 2 nodes line 13 is in error (MPI_Put with rank 2 of 2): 3 nodes were chosen"),
        ("nowhere", "in line 10, `MPI_Abort(MPI_COMM_WORLD, 1)`, before it communicates; no number of nodes up"),
    ],
)
def test_sentences(name: str, sentence: str) -> None:
    assert sentence in pgasrob_("check", f"{name}.c", "--brief").stdout


def test_an_error_in_a_call_names_a_count_without_it() -> None:
    found = pgasrob_("check", "rank.c", "-n", "2")
    assert found.exit_code == 2
    assert "ranks count from 0; on 3 nodes there is no such error" in found.stdout
    assert pgasrob_("check", "rank.c").exit_code == 0


def test_every_format_says_it() -> None:
    line = f"three.c:10:9: note: {CHOSEN} [node-count]"
    assert pgasrob_("check", "three.c", "--format", "gcc").stdout.splitlines() == [line]
    assert pgasrob_("check", "three.c", "--format", "github").stdout.startswith("::notice file=three.c,line=10,")
    (note,) = (json.loads(pgasrob_("check", "three.c", "--format", "json").stdout)["count_note"],)
    assert note == {
        "nodes": 2, "why": "leaves", "line": 10, "column": 9, "end_column": 15, "text": "n != 3", "rank": None,
        "further": 3, "chosen": True, "nothing": False, "sentence": CHOSEN,
    }  # fmt: skip
    sarif = _sarif("race", "three.c", "-n", "2")
    (said,) = sarif["runs"][0]["invocations"][0]["toolExecutionNotifications"]
    assert (said["level"], said["message"]["text"]) == (
        "warning",
        f"unknown on 2 nodes: nothing was checked: {NOTHING}",
    )
    assert said["locations"][0]["physicalLocation"]["region"]["startLine"] == 10


@pytest.mark.parametrize(
    "command",
    ["run", "outcomes", "show", "export --to promela", "repair", "thrift", "explain", "explain --only program"],
)
def test_every_command_chooses_the_same_count(command: str) -> None:
    found = pgasrob_(*command.split(), "three.c")
    assert f"pgasrob: {CHOSEN}\n" in found.stderr
    assert TRY in pgasrob_(*command.split(), "three.c", "-n", "2").stderr


@pytest.mark.parametrize("command", ["check", "race"])
def test_tables_have_it_below_the_rows(command: str) -> None:
    printed = " ".join(pgasrob_(command, "three.c", "two.c").stdout.split())
    assert f"three.c (nodes: 3): {CHOSEN}" in printed and "two.c (nodes" not in printed
    assert f"three.c (nodes: 2): unknown: nothing was checked: {NOTHING}" in " ".join(
        pgasrob_(command, "three.c", "two.c", "-n", "2").stdout.split()
    )
    for file in (Path("three.c"), Path("two.c")):
        file.write_text(f"// expect: robust\n// races: none\n{file.read_text()}")
    assert "2 as expected, 0 not." in (printed := pgasrob_(command, "three.c", "two.c", "--expect").stdout)
    assert "instead" not in printed


@pytest.mark.parametrize("command", ["run", "outcomes", "repair", "thrift"])
def test_json_of_other_commands_has_it(command: str) -> None:
    found = json.loads(pgasrob_(command, "three.c", "--format", "json").stdout)
    (note,) = found.get("count_notes") or [found["count_note"]]
    assert note["sentence"] == CHOSEN
    found = json.loads(pgasrob_(command, "two.c", "--format", "json").stdout)
    assert "count_note" not in found and not found.get("count_notes")


@pytest.mark.parametrize(
    ("command", "name"),
    [("race --memory-model unified", "three.c"), ("check --network corerma", "names.c")],
)
def test_other_models_say_it(command: str, name: str) -> None:
    printed = " ".join(pgasrob_(*command.split(), name).stdout.split())
    assert "nodes were chosen instead (-n sets another number)." in printed
    found = json.loads(pgasrob_(*command.split(), name, "--format", "json").stdout)
    assert found["count_note"]["chosen"] and found["count_note"]["further"] == found["nodes"]


def test_the_library_chooses_it_too() -> None:
    verdict = pgasrob.check("three.c")
    assert verdict.nodes == 3 and verdict.count_note is not None and verdict.count_note.chosen
    race = pgasrob.race("three.c")
    assert race.nodes == 3 and race.count_note is not None
    assert pgasrob.outcomes("three.c").instance.nodes == 3
    assert pgasrob.repair("three.c").nodes == (3,)


def test_the_editor_checks_on_it_alone() -> None:
    from pgasrob.lsp.edited_program import EditedProgram, findings, node_counts
    from pgasrob.lsp.settings import Settings

    settings = Settings(None, Limits(timeout=20), True, FrontEnd(), DEFAULT_READING)
    three, two = (EditedProgram(name, ((name, Path(name).read_text()),), settings) for name in ("three.c", "two.c"))
    assert node_counts(three) == (3,)
    assert node_counts(two) == (2, 3, 4)
    assert findings(three, 3).notes == (CHOSEN,)
