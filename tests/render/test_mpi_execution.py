"""Drawings of executions in a memory model of MPI."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

import pytest

from pgasrob.drawing.lanes import layout
from pgasrob.frontends.lower import load_c
from pgasrob.races.mpi import MemoryModel, ModelVerdict, decide
from pgasrob.render import mpi_execution
from pgasrob.render.lines import plain
from pgasrob.render.mpi_execution import arrows, execution_graph, execution_lines, execution_svg
from tests.render.test_execution_graph import check_picture

FIGURES = Path(__file__).parents[2] / "programs" / "c" / "mpi" / "hoefler"


def decided(name: str, model: MemoryModel) -> ModelVerdict:
    return decide(load_c(FIGURES / f"{name}.c"), model)


@pytest.mark.parametrize(
    ("name", "model", "kinds", "labels"),
    [
        ("figure_7a", "separate", {"po": 7, "so": 3, "coso": 3, "co": 10, "cohb": 3}, set()),
        ("figure_8d", "separate", {}, {"no hb"}),
        ("figure_8d", "unified", {}, set()),
        ("figure_9b", "separate", {}, {"hb, no co"}),
        ("figure_11_general", "unified", {}, set()),
    ],
)  # fmt: skip
def test_arrows(name: str, model: MemoryModel, kinds: dict[str, int], labels: set[str]) -> None:
    verdict = decided(name, model)
    assert verdict.execution is not None
    assert verdict.instance is not None
    found, left_out = arrows(verdict.execution, verdict.instance)
    assert left_out == (54 if name == "figure_11_general" else 0)
    assert {arrow.label for arrow in found if arrow.kind == "race"} == labels
    if kinds:
        assert Counter(arrow.kind for arrow in found) == kinds
    check_picture(layout(execution_graph(verdict.execution, verdict.instance)))
    drawn = ET.fromstring(execution_svg(verdict.execution, verdict.instance))
    groups = [each.get("class") or "" for each in drawn.iter("{http://www.w3.org/2000/svg}g")]
    edges = Counter(each.split()[1] for each in groups if each.startswith("edge "))
    assert edges == Counter(arrow.kind for arrow in found)
    assert sum(each.startswith("badge ") for each in groups) == sum(bool(arrow.label) for arrow in found)


def test_happens_before_leads_downwards_between_accesses() -> None:
    verdict = decided("figure_12_put", "unified")
    assert verdict.execution is not None
    assert verdict.instance is not None
    text = plain(execution_lines(verdict.execution, verdict.instance))
    rows = [
        line.split() for line in text.partition("cohb of conflicting accesses:")[2].splitlines()[1:] if "->" in line
    ]
    assert len(rows) == 9
    assert all(int(one) < int(other) for one, _, other in rows)


def test_pairs_that_are_left_out_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    verdict = decided("figure_12_get", "separate")
    assert verdict.execution is not None
    assert verdict.instance is not None
    every, _ = arrows(verdict.execution, verdict.instance)
    pairs = Counter(arrow.kind for arrow in every if arrow.kind in ("race", "cohb"))
    assert pairs == {"race": 4, "cohb": 5}
    for most, left_out in ((9, 0), (8, 5)):
        monkeypatch.setattr(mpi_execution, "MOST_PAIRS", most)
        found, told = arrows(verdict.execution, verdict.instance)
        assert (told, len(every) - len(found)) == (left_out, left_out)
        note = f"5 ordered pairs of conflicting accesses are not drawn: of more than {most} pairs only the races are."
        for drawn in (
            plain(execution_lines(verdict.execution, verdict.instance)),
            execution_svg(verdict.execution, verdict.instance),
        ):
            assert (note in drawn) == bool(left_out)


def test_in_lines() -> None:
    verdict = decided("figure_9b", "separate")
    assert verdict.execution is not None
    assert verdict.instance is not None
    text = plain(execution_lines(verdict.execution, verdict.instance))
    assert "vac Put of 0: writes x@1" in text
    assert "hb, no co" in text
