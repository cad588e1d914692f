"""What calls in C lower to: the lines of a process, by the whole front end."""

from __future__ import annotations

import re

from pgasrob.frontends.lower import parse_c
from pgasrob.program.printer import to_source

PROCESS = re.compile(r"^process (\d+) \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)


def processes(text: str, nodes: int = 2) -> dict[int, list[str]]:
    """The statements of every rank of the C program ``text``."""
    source = to_source(parse_c(text).program(nodes))
    return {
        int(found[1]): [line.strip() for line in found[2].splitlines() if line.strip()]
        for found in PROCESS.finditer(source)
    }
