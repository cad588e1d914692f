"""The text of a lowered C program, which `pgasrob show` prints, is that of what is decided."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgasrob.frontends.lower import load_c
from pgasrob.program.control import build
from pgasrob.program.statements import FlowGraph
from pgasrob.program.structure import structured

PROGRAMS = sorted((Path(__file__).parents[2] / "programs/c").rglob("*.c"))[::4]


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_the_text_has_the_automata_of_the_program(path: Path) -> None:
    """Not only what may be issued when: commands are numbered in the order of the text."""
    for process in load_c(path).program().processes:
        assert isinstance(process.body, FlowGraph)
        assert build(process.body) == build(structured(process.body))
