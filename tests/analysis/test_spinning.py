"""In which loop a rank spins at the end of a run."""

from __future__ import annotations

import pytest

from pgasrob.analysis.spinning import spinning
from pgasrob.api import check
from pgasrob.program.parser import parse
from pgasrob.program.program import Program


def program(*blocks: str) -> Program:
    text = "\n".join(f"process {rank} {{ {block} }}" for rank, block in enumerate(blocks))
    return parse(f"program p; memory x, f = 1; register r, n;\n{text}")


@pytest.mark.parametrize(
    ("blocks", "loops"),
    [
        (("r <- 1; while (r != 0) { r <- compare_swap(0, f, 0, 1); } barrier;", "barrier;"),
         [["assume", "failed_compare_swap"], []]),
        (("while (r == 0) { r <- mem[x]; }",), [["assume", "load"]]),
        # how often it goes round decides nothing
        (("while (r != 1) { r <- fetch(0, x); n <- n + 1; }",), [["assume", "fetch", "assign"]]),
        (("await(mem[x] == 1);",), [[]]),
    ],
)  # fmt: skip
def test_the_loop_of_a_rank_that_spins(blocks: tuple[str, ...], loops: list[list[str]]) -> None:
    verdict = check(program(*blocks), len(blocks))
    assert verdict.deadlock is True and verdict.deadlock_run is not None
    run = verdict.deadlock_run.run
    found = spinning(run.instance, run.control, run.registers, run.memory)
    assert [[edge.command.kind for edge in loop if edge.span.holds is not False] for loop in found] == loops
