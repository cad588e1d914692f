"""What is proved of a program, in whichever language, on every number of nodes: of C once it is lowered for all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from pgasrob.diagnostics import Diagnostic, SourceError
from pgasrob.program.program import Program
from pgasrob.program.reading import Reading
from pgasrob.program.statements import place_of
from pgasrob.robustness.every_n.proof import MOST_OPEN, Claim, Obstacle, Proof
from pgasrob.robustness.every_n.prove import prove

if TYPE_CHECKING:
    from pgasrob.frontends.lower import CProgram


def program_proof(
    program: Program | CProgram, reading: Reading, look: Callable[[str], None], most_open: int = MOST_OPEN
) -> Proof:
    """A proof for every number of nodes from a cutoff on, or the obstacles; ``look`` and ``most_open`` as of
    :func:`~pgasrob.robustness.every_n.prove.prove`."""
    if isinstance(program, Program):
        return prove(program, reading, look, most_open)
    if (only := program.only) is not None:
        waits = Claim("that ranks wait before they leave") if only.waits else None
        return Proof(deadlock=waits, only=only)
    too_few = program.too_few
    try:
        lowered = program.for_every_count()
    except SourceError as error:
        return Proof(obstacles=[Obstacle("program", _needs_a_number(error.diagnostics[0]))], too_few=too_few)
    return replace(prove(lowered, reading, look, most_open), too_few=too_few, nothing=lowered.count_note)


def _needs_a_number(problem: Diagnostic) -> str:
    """Why a C program can be lowered for one number of nodes only."""
    file, line = place_of(problem.line)
    where = f"in line {line}{f' of {file}' if file else ''}, " * bool(line)
    return where + problem.message if problem.code == "PG146" else f"with no number of nodes, {where}{problem.message}"
