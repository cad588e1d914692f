"""Small programs that access the same bytes in several sizes, with the answer in their second line, worked out before
they were run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frontends.test_answers import decided
from tests.support import sampled

PROGRAMS = sorted((Path(__file__).parent / "mixed_sizes").glob("*.c"))


@pytest.mark.parametrize("path", sampled(PROGRAMS, 6), ids=lambda path: path.stem)
def test_it_is_right_or_wrong_as_it_says(path: Path) -> None:
    _, found = decided(path)
    assert (found.answer == "yes") == (path.read_text().splitlines()[1] == "// right"), found


def test_half_of_them_are_wrong_in_some_way() -> None:
    answers = [path.read_text().splitlines()[1] for path in PROGRAMS]
    assert (answers.count("// right"), answers.count("// wrong")) == (53, 22)
