"""LITMUS.md has what is generated: its rows that take little time, again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench.table_6 import NEAREST, TABLE_6, measured
from tests.bench.tables import count
from tests.models.generate.brute_force import LETTER

DOCUMENT = (Path(__file__).parent / "LITMUS.md").read_text()
ROWS = {
    (cells[0], cells[1]): cells
    for line in DOCUMENT.splitlines()
    if line.startswith("| ") and len(cells := [cell.strip() for cell in line.strip("|").split("|")]) == 13
}


@pytest.mark.parametrize("rule", ["R1", "R2", "PG", "LO"])
def test_rows_of_one_process(rule: str) -> None:
    size, tests, outputs = TABLE_6[rule, 1]
    letter, nearest = (measured(rule, 1, size, conventions) for conventions in (LETTER, NEAREST))
    cells = ROWS[rule, "1"]
    assert cells[2:5] == [str(size), count(tests), count(outputs)]
    assert [cells[5], cells[7], cells[8]] == [count(letter.tests), count(letter.outputs), count(letter.observable)]
    assert [cells[10], cells[12]] == [count(nearest.tests), count(nearest.outputs)]


def test_it_has_the_whole_table() -> None:
    assert ROWS.keys() - {("rule", "processes"), ("all", "")} >= {(rule, str(n)) for rule, n in TABLE_6}
    assert sum(tests for _, tests, _ in TABLE_6.values()) == 7441
    assert sum(outputs for _, _, outputs in TABLE_6.values()) == 19937
