"""Which options of `pgasrob check` go together."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from pgasrob.cli import cli
from pgasrob.cli.option_groups import DEFAULT_ENGINE
from tests.cli.commands import (
    ROBUST,
    check,
)


@pytest.mark.parametrize("engine", ["product", "definition"])
@pytest.mark.parametrize("option", [["--no-reduction"], ["--without", "symmetry"]])
def test_reductions_are_for_the_attack_engine(folder: Path, engine: str, option: list[str]) -> None:
    Path("p.pgas").write_text(ROBUST)
    result = check("p.pgas", "--engine", engine, *option)
    assert result.exit_code == 2 and f"{option[0]} is for the attack engine" in result.output


def test_heads_are_for_the_product_engine_alone(one_to_one: str) -> None:
    result = CliRunner().invoke(cli, ["check", one_to_one, "--engine", "definition", "--heads", "4"])
    assert result.exit_code == 2
    assert "--heads" in result.stderr


def test_help_says_which_engine_is_the_default() -> None:
    shown = " ".join(CliRunner().invoke(cli, ["check", "--help"], env={"COLUMNS": "200"}).output.split())
    assert f"[default: {DEFAULT_ENGINE}]" in shown.partition("--engine")[2].partition("--cpu")[0]
