"""What calls in C lower to: the lines of a process, by the whole front end."""

from __future__ import annotations

import re
from dataclasses import replace

from pgasrob.frontends.lower import parse_c
from pgasrob.program.declarations import Source
from pgasrob.program.printer import to_source
from pgasrob.program.program import Program

PROCESS = re.compile(r"^process (\d+)(?: thread (\d+))? \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)


def printed(program: Program) -> str:
    """``program`` with the names of cells and the numbers of queues that the front end gives them, and no remark."""
    return to_source(replace(program, source=Source("<string>", "")))  # as if it came from .pgas


def processes(text: str, nodes: int = 2) -> dict[int, list[str]]:
    """The statements of every rank of the C program ``text``, as :func:`printed` has them, without the names of
    barriers."""
    return {rank: lines for (rank, thread), lines in threads(text, nodes).items() if thread == 0}


def threads(text: str, nodes: int = 2) -> dict[tuple[int, int], list[str]]:
    """The same of every thread of every rank."""
    source = re.sub(r"\bbarrier\(.*\);", "barrier;", printed(parse_c(text).program(nodes)))
    return {
        (int(found[1]), int(found[2] or 0)): [line.strip() for line in found[3].splitlines() if line.strip()]
        for found in PROCESS.finditer(source)
    }
