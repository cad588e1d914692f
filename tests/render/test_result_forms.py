"""What is specific to answers about races: columns of tables, counts, codes."""

from __future__ import annotations

import pytest

from pgasrob.render.lines import plain
from pgasrob.render.result_forms import RaceForm
from pgasrob.render.table import Table
from pgasrob.render.verdict_json import RaceResult
from tests.render.test_races_text import FAULT, QUIET, REMOTE, THREE, result_of


def test_a_table_has_robustness_beside_races() -> None:
    results = [result_of(text) for text in (REMOTE, THREE, QUIET, FAULT)]
    table = Table(RaceForm(), ["x.pgas"], 80)
    rows = plain([table.header(), *map(table.row, results)]).split("\n")
    assert [row.split()[2:5] for row in rows[1:4]] == [
        ["race", "1", "robust"],
        ["race", "3", "not"],
        ["no", "race", "0"],
    ]
    assert max(map(len, rows)) <= 80
    end = plain(table.end(results, 0.5))
    assert "1 no race, 2 race, 1 error, 1 with a race and robust all the same." in end.replace("\n", " ")
    assert "PG040" in end


def test_a_table_compares_numbers_of_pairs() -> None:
    expected: RaceResult = {**result_of(THREE), "expected": "2 pairs", "as_expected": False}
    table = Table(RaceForm(expect=True), ["x.pgas"], 80)
    assert " ".join(plain([table.row(expected)]).split()).startswith("x.pgas 2 3 pairs != 2 pairs 3 not robust")
    assert "found 3 pairs, expected 2 pairs" in plain(table.end([expected], 0.5))
    cut: RaceResult = {**expected, "reason": "there may be more races: the limit was reached"}
    assert " ".join(plain([table.row(cut)]).split()).startswith("x.pgas 2 unknown ? 2 pairs 3+")
    assert "expected" not in plain(table.end([cut], 0.5)).replace("as expected", "")
    missing: RaceResult = {**expected, "expected": None}
    assert "no `// races:` says how many" in plain(table.end([missing], 0.5))


def test_a_race_of_a_robust_program_is_counted() -> None:
    form = RaceForm()
    assert list(form.noted(result_of(REMOTE))) == ["a race and robust all the same"]
    assert not list(form.noted(result_of(THREE))) and not list(form.noted(result_of(QUIET)))


def test_codes_are_those_of_faults_too() -> None:
    assert RaceForm().codes([result_of(REMOTE), result_of(FAULT), result_of(FAULT)]) == ["PG040"]


@pytest.mark.parametrize("text", [REMOTE, FAULT])
def test_what_is_kept_has_no_runs(text: str) -> None:
    result = result_of(text)
    kept = RaceForm(expect=True).kept(result)
    assert len(kept["races"]) == len(result["races"]) and not any(race["computation"] for race in kept["races"])
    assert RaceForm().found(kept) == RaceForm().found(result)
    assert RaceForm().fault(kept) == RaceForm().fault(result)
