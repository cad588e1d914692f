"""Values of options: node counts and sizes."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from pgasrob.cli.parameter_types import OneOf, Size
from tests.cli.commands import (
    ROBUST,
    check,
    objects,
)


@pytest.mark.parametrize(
    ("counts", "nodes"),
    [("3", [3]), ("2..4", [2, 3, 4]), ("2,4", [2, 4]), ("4,2", [4, 2]), ("1, 3..4,3", [1, 3, 4]), ("5..5", [5])],
)
def test_node_counts(folder: Path, counts: str, nodes: list[int]) -> None:
    Path("p.pgas").write_text(ROBUST)
    assert [each["nodes"] for each in objects(check("p.pgas", "--format", "json", "--nodes", counts))] == nodes


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ("0", "1..4096"), ("4097", "1..4096"), ("1..999999999", "1..4096"), ("5..2", "write 2..5"), ("two", "'two'"),
        ("-1", "'-1'"), ("", "''"), ("2,", "''"), ("2...3", "'2...3'"), ("2.5", "'2.5'"), ("²", "'²'"),
    ],
)  # fmt: skip
def test_bad_node_counts(folder: Path, counts: str, message: str) -> None:
    Path("p.pgas").write_text(ROBUST)
    result = check("p.pgas", f"--nodes={counts}")
    assert result.exit_code == 2 and message in result.output


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("500M", 500_000_000),
        ("2G", 2_000_000_000),
        ("1.5 GB", 1_500_000_000),
        ("64kb", 64_000),
        ("1T", 10**12),
        ("0", 0),
    ],
)
def test_sizes(text: str, size: int) -> None:
    assert Size().convert(text, None, None) == size


@pytest.mark.parametrize("text", ["500", "-1M", "M", "0M", "1.5.5G", "2 X", "", "inf"])
def test_sizes_that_are_none(folder: Path, text: str) -> None:
    result = check("p.pgas", f"--memory-limit={text}")
    assert result.exit_code == 2 and "write 500M or 2G" in result.output


def test_a_choice_says_which_word_was_most_likely_meant() -> None:
    choice = OneOf(["text", "json"])
    assert choice.convert("json", None, None) == "json"
    with pytest.raises(click.BadParameter, match=r"'jsno' is not one of 'text', 'json'; did you mean `json`\?$"):
        choice.convert("jsno", None, None)
    with pytest.raises(click.BadParameter, match=r"'x' is not one of 'text', 'json'\.$"):
        choice.convert("x", None, None)
