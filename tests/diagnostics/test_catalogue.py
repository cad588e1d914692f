"""The catalogue of codes, and for every code a file that has it, with the report it must give.

``fixtures/PG021.pgas`` is reported as in ``fixtures/PG021.txt``, to the letter: codes, lines, columns, carets, hints.
After a change to a text, look at each difference and then write it with ``python -m tests.diagnostics.test_catalogue``.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import assert_never

import pytest
from click.testing import CliRunner

from pgasrob.cli import cli
from pgasrob.diagnostics import SourceError
from pgasrob.diagnostics.catalogue import CATALOGUE, Kind, UnknownCode, Written, explain, known_codes
from pgasrob.frontends.lower import parse_c
from pgasrob.models.litmus import litmus_parser as litmus
from pgasrob.program.expectation import read_expectation
from pgasrob.program.parser import parse_file, read_source

FIXTURES = Path(__file__).with_name("fixtures")
FILES = sorted(file for ending in ("pgas", "c", "litmus") for file in FIXTURES.glob(f"*.{ending}"))
SOURCES = Path(__file__).parents[2] / "pgasrob"

NOT_IN_A_FILE = {
    "PG001",  # a file that cannot be read: test_parser
    "PG004",  # a file that is too large: test_parser
    "PG030",  # found when the node count is known: below
    "PG035",  # so is this
    "PG036",  # and this: test_instance
    "PG037",  # and this: program/test_threads
    "PG038",  # found by what is asked for: program/test_threads
    "PG041",
    "PG042",
    "PG043",  # so are these: the examples
    "PG040",  # found by running the program: below
    "PG180",  # found when a litmus test becomes a program: cli/test_network
    "PG181",  # by the name of the file: cli/test_litmus
    "PG182",  # by the name, too: cli/test_standard_input
    "PG127",  # about several files: test_several_files
    "PG162",  # about an option: compiler/test_call_code
    "PG190",  # an internal error: batch/test_checker
    "PG163",  # about another one: test_several_files
}


def report(file: Path) -> str:
    """What is wrong with ``file`` as a program, in C or not, or in its header, "" when nothing is."""
    try:
        if file.suffix == ".litmus":
            litmus.parse_file(file)
            return ""
        if file.suffix == ".c":
            program = parse_c(read_source(file), str(file))
            program.instantiate()
            program.for_every_count()
            return ""
        parse_file(file)
        read_expectation(read_source(file), str(file))
    except SourceError as error:
        return str(error).replace(str(file), file.name) + "\n"
    return ""


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_file_gives_its_report(file: Path) -> None:
    expected = file.with_suffix(".txt").read_text(encoding="utf-8")
    assert report(file) == expected
    assert f"error[{file.stem[:5]}]" in expected


def test_every_code_has_a_file() -> None:
    assert {file.stem[:5] for file in FILES} | NOT_IN_A_FILE == set(known_codes())


def test_every_report_says_where_and_every_place_is_marked() -> None:
    """Each finding is one of the forms of `Diagnostic.render`, with as many carets as what it marks is wide."""
    finding = re.compile(
        r"(?P<file>[\w.]+)(?::(?P<line>\d+):(?P<column>\d+))?: error\[PG\d{3}\]: .+\n"
        r"(?: +(?P=line) \| (?P<excerpt>.*)\n +\| (?P<lead>\s*)(?P<carets>\^+)\n)?"
        r"(?: += note: .+\n)*(?: +=( hint:) .+\n)?"
    )
    for file in FILES:
        text, place = file.with_suffix(".txt").read_text(encoding="utf-8"), 0
        while place < len(text):
            match = finding.match(text, place)
            assert match is not None, text[place:]
            if match["line"]:
                assert len(match["lead"]) == int(match["column"]) - 1
                assert len(match["lead"]) + len(match["carets"]) <= max(len(match["excerpt"]), int(match["column"]))
            place = match.end()


# The catalogue itself


@pytest.mark.parametrize("code", known_codes())
def test_entries_are_complete(code: str) -> None:
    entry = CATALOGUE[code]
    assert re.fullmatch(r"PG\d{3}", entry.code)
    assert entry.title and not entry.title.endswith(".")
    assert len(entry.explanation) > 60 and entry.explanation.endswith(".")
    assert entry.repaired and bool(entry.wrong) == (entry.kind is not Kind.FAILURE)
    text = explain(code)
    assert text.startswith(f"{code}: {entry.title}\n\n")
    assert max(map(len, text.splitlines())) <= 110


@pytest.mark.parametrize("code", known_codes())
def test_the_examples_are_wrong_and_right(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first example has this code and no other, the second has none."""
    entry = CATALOGUE[code]
    monkeypatch.chdir(tmp_path)
    found = codes(entry.wrong, entry.written)
    if code == "PG146":
        assert not found, "a number of nodes is all that is needed"
        with pytest.raises(SourceError) as error:
            parse_c(entry.wrong).for_every_count()
        found = {each.code for each in error.value.diagnostics}
        parse_c(entry.repaired).for_every_count()
    match entry.kind:
        case Kind.MISTAKE | Kind.LIMIT:
            assert found - ({"PG010"} if code == "PG024" else set()) == {code}
        case Kind.FAILURE:
            assert found == set()
        case never:
            assert_never(never)
    assert codes(entry.repaired, entry.written) == set()


def codes(text: str, written: Written) -> set[str]:
    """The codes of all that is said when ``text`` is checked, or done."""
    match written:
        case Written.PGAS | Written.C:
            name = f"example.{written.value}"
            Path(name).write_text(text, encoding="utf-8")
            said = commanded(f"pgasrob check {name} --only robust")
            try:
                read_expectation(text)
            except SourceError as error:
                said += str(error)
        case Written.LITMUS:
            try:
                litmus.parse(text)
                said = ""
            except SourceError as error:
                said = str(error)
        case Written.COMMAND:
            said = commanded(text) if text else ""
        case never:
            assert_never(never)
    return set(re.findall(r"error\[(PG\d{3})\]", said))


def commanded(script: str) -> str:
    """What the last line of ``script`` prints, a command of pgasrob that may read what another one prints."""
    before, _, last = script.rpartition("\n")
    fed, _, command = last.rpartition(" | ")
    given = subprocess.run(f"{before}\n{fed}", shell=True, check=True, capture_output=True).stdout
    assert command.startswith("pgasrob "), script
    return CliRunner().invoke(cli, command.split()[1:], input=given).output


def test_every_code_that_is_used_is_in_the_catalogue_and_the_other_way_round() -> None:
    used = {code for file in SOURCES.rglob("*.py") for code in re.findall(r'"(PG\d{3})"', file.read_text("utf-8"))}
    assert used - {"PG040"} == set(known_codes()) - {"PG040"}  # a fault is a verdict of its own


@pytest.mark.parametrize("code", ["PG021", "pg021", " PG021\n", "21", "021", "PG21"])
def test_codes_are_found_however_they_are_written(code: str) -> None:
    assert explain(code).startswith("PG021: memory is read inside an expression\n")


def test_an_explanation_has_its_examples_indented() -> None:
    assert (
        explain("PG053")
        == """\
PG053: the target is not a register

The target of `<-` is a register, or `mem[...]`. Memory is written by a store, `mem[x]
<- 1;`, and copied through a register; queues, `me` and `nodes` cannot be changed.

Wrong:

    memory x;
    process { x <- 1; }

Repaired:

    memory x;
    process { mem[x] <- 1; }"""
    )


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("PG0211", "there is no code 'PG0211'; did you mean PG021?"),
        ("PGO10", "there is no code 'PGO10'; did you mean PG010?"),
        ("E501", "there is no code 'E501'; codes run from PG001 to PG190"),
        ("", "there is no code ''; codes run from PG001 to PG190"),
        ("9" * 5000, "there is no code"),
    ],
)
def test_unknown_codes_are_refused_with_a_suggestion(code: str, message: str) -> None:
    with pytest.raises(UnknownCode, match=f"^{re.escape(message)}"):
        explain(code)


if __name__ == "__main__":
    for each in FILES:
        each.with_suffix(".txt").write_text(report(each), encoding="utf-8")
