"""Texts that are tests or have diagnostics, the small programs, and the reference of the language."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random
from typing import Any

import pytest

from pgasrob.diagnostics import Diagnostic, SourceError
from pgasrob.diagnostics.catalogue import CATALOGUE
from pgasrob.models.litmus.expected_outcomes import VARIANTS
from pgasrob.models.litmus.litmus_parser import parse, parse_file
from pgasrob.models.litmus.litmus_printer import printed
from pgasrob.models.litmus.litmus_words import ARGUMENTS
from pgasrob.models.model_table import MODELS
from tests.models.litmus.trees import canonical
from tests.models.strategies import random_program, random_text, small_programs
from tests.support import examples

# Mistakes: tests/diagnostics/fixtures has what is said of them


PIECES = (
    "|| :: = ; { } ( ) ^ @ .n : $1 ? , - // /* \n \0 \u00e9 "
    "loop choose or allowed forbidden otherwise rdma-tso T x 2 99999999999 get CAS poll"
)


def test_every_text_has_a_test_or_diagnostics() -> None:
    """Random bytes, and texts with something left out, put in, doubled or exchanged."""
    random, refused, read = Random(7), 0, 0
    wrong: list[Diagnostic] = []
    pieces = PIECES.split(" ")
    for number in range(examples(1_000, 100_000)):
        dialect = ("rdma-tso", "corerma", "tso", "sc")[number % 4]
        text = random_text(random, dialect, branching=True, atomic=False)
        text += random.choice(("", " allowed x=0", " forbidden rdma-tso no-pcie, tso: x=1 forbidden otherwise"))
        if number % 10 == 0:
            text = "".join(chr(random.randrange(256)) for _ in range(random.randrange(60)))
        for _ in range(random.choice((1, 1, 1, 2, 4))):
            at, end = sorted(random.randrange(len(text) + 1) for _ in range(2))
            end = min(end, at + 8)
            match random.randrange(4):
                case 0:
                    text = text[:at] + text[end:]
                case 1:
                    text = text[:at] + f" {random.choice(pieces)} " + text[at:]
                case 2:
                    text = text[:at] + random.choice(pieces) + text[at + 1 :]
                case _:
                    text = text[:end] + text[at:end] + text[end:]
        try:
            test = parse(text)
        except SourceError as error:
            refused += 1
            wrong += [found for found in error.diagnostics if found.code not in CATALOGUE or not found.render()]
        else:
            read += 1
            assert canonical(parse(printed(test)).program) == canonical(test.program), text
    assert wrong == []
    assert refused > examples(750, 75_000) and read > examples(30, 3_000)


def test_a_file_that_is_none(tmp_path: object) -> None:
    folder = Path(str(tmp_path))
    for name, data, code in (("a", b"\xff\xfe", "PG002"), ("b", b"", "PG003"), ("c", b"x@1 ::\0", "PG002")):
        (folder / name).write_bytes(data)
        with pytest.raises(SourceError) as error:
            parse_file(folder / name)
        assert [found.code for found in error.value.diagnostics] == [code]
    with pytest.raises(SourceError):
        parse_file(folder / "none")
    (folder / "sb.litmus").write_text("\ufeffx@1 :: 1: x = 1")
    assert parse_file(folder / "sb.litmus").name == "sb"


# What the other tests are made of


def test_how_many_small_programs_there_are() -> None:
    assert [sum(1 for _ in small_programs(size)) for size in (1, 2, 3)] == [2, 84, 1816]
    assert sum(1 for _ in small_programs(3, locations=2)) == 526
    assert sum(1 for _ in small_programs(3, threads=3, nodes=3)) == 2838
    assert sum(1 for _ in small_programs(2, remote=())) == 126


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("statements", "sizes", "count"),
    [
        (4, {}, 32_868),
        (4, {"locations": 4}, 71_502),
        (4, {"nodes": 3, "threads": 3}, 60_718),
        (5, {"locations": 2}, 57_794),
        (5, {"threads": 1}, 140_556),
    ],
)
def test_how_many_larger_ones_there_are(statements: int, sizes: dict[str, Any], count: int) -> None:
    assert sum(1 for _ in small_programs(statements, **sizes)) == count


def test_small_programs_are_texts_too() -> None:
    for number, program in enumerate(small_programs(3)):
        if number % 20 == 0:
            assert canonical(parse(printed(program)).program) == canonical(program)


def test_a_seed_gives_the_same_programs() -> None:
    first, second = (random_program(Random(5), "rdma-tso") for _ in range(2))
    assert first == second


# The reference


REFERENCE = (Path(__file__).parents[3] / "pgasrob/models/litmus/README.md").read_text(encoding="utf-8")


def test_the_example_of_the_reference_is_a_test() -> None:
    (text,) = re.findall(r"^```\n(.*?)^```$", REFERENCE, re.DOTALL | re.MULTILINE)
    assert [str(line) for line in parse(text).expectations] == ["allowed a=0", "forbidden rdma-tso, tso: a=1"]


def test_every_statement_of_the_reference_is_one_and_every_word_stands_in_it() -> None:
    (table,) = re.findall(r"^\| statement \|.*?(?=^\n)", REFERENCE, re.DOTALL | re.MULTILINE)
    statements = [code for row in table.splitlines()[2:] for code in re.findall(r"`([^`]*)`", row.split("|")[1])]
    assert len(statements) == 23
    for statement in statements:
        text = statement.replace("...", "x = 1")
        parse(f"x@1 y@1 w@1 z@2 :: 1: a = 1; {text}")
    assert {word for word in ARGUMENTS if word not in table.replace("`", "")} == set()
    (words,) = re.findall(r"^\| model \|.*?(?=^\n)", REFERENCE, re.DOTALL | re.MULTILINE)
    rows = {
        row.split("|")[1].strip(" `"): re.findall(r"`([^`]*)`", row.split("|")[2]) for row in words.splitlines()[2:]
    }
    assert {model: tuple(word for word in found if word != "without") for model, found in rows.items()} == VARIANTS
    assert {model for model, found in rows.items() if "without" in found} == {
        name for name, entry in MODELS.items() if "without" in entry.options
    }
