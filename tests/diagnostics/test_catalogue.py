"""The catalogue of codes, and for every code a file that has it, with the report it must give.

``fixtures/PG021.pgas`` is reported as in ``fixtures/PG021.txt``, to the letter: codes, lines, columns, carets, hints.
After a change to a text, look at each difference and then write it with ``python -m tests.diagnostics.test_catalogue``.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pgasrob.diagnostics import SourceError
from pgasrob.diagnostics.catalogue import CATALOGUE, UnknownCode, explain, known_codes
from pgasrob.frontends.lower import parse_c
from pgasrob.models.litmus import litmus_parser as litmus
from pgasrob.program.expectation import read_expectation
from pgasrob.program.expressions import Fault
from pgasrob.program.parser import parse, parse_file, read_source

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
    assert bool(entry.wrong) == bool(entry.repaired)
    text = explain(code)
    assert text.startswith(f"{code}: {entry.title}\n\n")
    assert max(map(len, text.splitlines())) <= 88


@pytest.mark.parametrize("code", [code for code in known_codes() if CATALOGUE[code].wrong])
def test_the_examples_are_wrong_and_right(code: str) -> None:
    """The first example has this code and no other, the second has none."""
    assert codes(CATALOGUE[code].wrong, code) == {code}
    assert codes(CATALOGUE[code].repaired, code) == set()


def codes(text: str, code: str) -> set[str]:
    """What is wrong with a program: with its text, its header, its processes, or one of its very first commands. From
    PG170 on the codes are about litmus tests."""
    try:
        if code >= "PG170":
            litmus.parse(text)
            return set()
        instance = parse(text).instantiate()
        read_expectation(text)
        for transition in instance.automata[0].out[0]:
            instance.operands(0, transition, instance.registers)
    except SourceError as error:
        return {found.code for found in error.diagnostics}
    except Fault:
        return {"PG040"}
    return set()


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
PG053: the target is no register

What stands to the left of `<-` is a register, or `mem[...]`. Memory is written by a
store, `mem[x] <- 1;`, and copied through a register; queues, `me` and `nodes` cannot be
changed.

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
