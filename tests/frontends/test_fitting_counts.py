"""The numbers of nodes that C programs are meant for."""

from __future__ import annotations

import pytest

from pgasrob.frontends.lower import parse_c
from tests.frontends.counted_programs import PROGRAMS


@pytest.mark.parametrize("name", PROGRAMS)
def test_which_count_is_chosen_and_why(name: str) -> None:
    expected = PROGRAMS[name]
    program = parse_c(expected.text, "a.c")
    assert program.default_count == expected.chosen
    note = program.program(expected.chosen).count_note
    if expected.why is None:
        assert note is None or note.further is None
        return
    assert note is not None and note.chosen and (note.nodes, note.further) == (2, expected.chosen)
    assert note.why == expected.why
    if expected.at is not None:
        assert note.text == expected.at
