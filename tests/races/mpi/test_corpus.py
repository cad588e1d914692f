"""The figures and listings of the paper have the status that their headers state."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgasrob.frontends.lower import load_c
from pgasrob.program.expectation import read_expectation
from pgasrob.races.mpi import decide
from tests.races.mpi.test_model import MODELS

PROGRAMS = Path(__file__).parents[3] / "programs" / "c" / "mpi"
STATED = [path for path in sorted(PROGRAMS.rglob("*.c")) if "// unified:" in path.read_text()]


@pytest.mark.parametrize("path", STATED, ids=lambda path: path.stem)
def test_stated_status(path: Path) -> None:
    expected, program = read_expectation(path.read_text()), load_c(path)
    assert expected is not None
    for model in MODELS:
        verdict = decide(program, model)
        assert verdict.status == expected.status_at(model, program.nodes), (model, verdict.reason, verdict.races)


def test_every_figure_states_both() -> None:
    for path in (PROGRAMS / "hoefler").glob("*.c"):
        expected = read_expectation(path.read_text())
        assert expected is not None
        assert {model for model, _ in expected.models} == set(MODELS), path
    names = {path.stem for path in STATED}
    assert {"figure_7a", "figure_7b", "figure_8a", "figure_8b", "figure_9a", "figure_9b", "figure_10"} <= names
    assert {"figure_11_general", "figure_12_put", "figure_12_get", "figure_13", "listings_2_and_3"} <= names
