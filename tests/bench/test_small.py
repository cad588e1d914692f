"""The benchmark of small programs runs, and says how fast."""

from __future__ import annotations

import re

import pytest
from click.testing import CliRunner

from tests.bench.small import main, small_programs


def test_the_programs_are_always_the_same_and_differ() -> None:
    assert list(small_programs(50)) == list(small_programs(60))[:50]
    assert len(set(small_programs(50))) == 50


@pytest.mark.nightly
def test_it_measures() -> None:
    result = CliRunner().invoke(main, ["--count", "30"])
    assert result.exit_code == 0, result.output
    counts = re.findall(r"^(.+): ([\d,]+) in \d+\.\d s, [\d,]+ a second", result.stdout, re.MULTILINE)
    assert counts == [
        ("all, without a break", "30"),
        ("all again, from what is kept", "30"),
        ("killed in the middle", "15"),
        ("gone on with", "30"),
    ]
