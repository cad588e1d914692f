"""The catalogue of a folder of litmus tests: what each says, its program, and what is allowed and forbidden."""

from __future__ import annotations

from collections import Counter
from itertools import groupby, takewhile
from pathlib import Path

from pgasrob.models.litmus.expectation import Expectation, LitmusTest
from pgasrob.models.litmus.parser import parse_file
from pgasrob.models.litmus.printer import in_one_line
from pgasrob.program.files import files_below

BEGINNING = """\
# Litmus tests

Made by `pgasrob catalogue`: do not edit.\
"""
"""By which a catalogue is known, whichever version has made it."""
HEADING = f"""\
{BEGINNING} Every test says first where it is from and what is said of it there, and last
which outcomes are allowed and forbidden; `pgasrob litmus --expect` compares that with the models. A line that names no
model is for all that take the program. `rdma_tso` and `corerma` have the tests of the two papers, by the numbers of
their figures (`2b`, `3a`) and sections (`s6`); `tso` has the classical tests for the CPUs of one node, `rdma` what
becomes of them between nodes.

The papers: *RDMA-TSO* is G. Ambal, B. Dongol, H. Eran, V. Klimis, O. Lahav, A. Raad: Semantics of Remote Direct Memory
Access, OOPSLA 2024. *coreRMA* is A. M. Dan, P. Lam, T. Hoefler, M. Vechev: Modeling and Analysis of Remote Memory
Access Programming, OOPSLA 2016. The language is explained in `pgasrob/models/litmus/README.md`.
"""


def litmus_files(folder: Path) -> list[Path]:
    """The `.litmus` files in ``folder`` and below, in order, hidden ones left out."""
    return sorted(files_below(folder, (".litmus",)))


def make_litmus_catalogue(folder: Path, command: str) -> str:
    """The catalogue of the tests in ``folder`` as Markdown; ``command`` is what made it. Raises SourceError."""
    tests = [(path.relative_to(folder), parse_file(path)) for path in litmus_files(folder)]
    lines = Counter(line.allowed for _, test in tests for line in test.expectations)
    counts = f"{len(tests)} tests with {lines[True]} lines that allow and {lines[False]} that forbid"
    text = [HEADING, f"{counts}. Made with `{command}`.", ""]
    for family, members in groupby(tests, key=lambda member: member[0].parent.as_posix()):
        text += [f"## {family}", "", "| test | program | what is said |", "|---|---|---|"]
        text += [_row(path, test) for path, test in members]
        text.append("")
    return "\n".join(text)


def said(text: str) -> str:
    """The comment at the beginning of a test."""
    lines = takewhile(lambda line: line.startswith("//"), text.splitlines())
    return " ".join(line.removeprefix("//").strip() for line in lines)


def _row(path: Path, test: LitmusTest) -> str:
    program = "<br>".join(f"`{line}`" for line in _threads(test))
    lines = "<br>".join(map(_line, test.expectations))
    cells = [f"[{path.stem}]({path.as_posix()})", program, f"{said(test.source.text)}<br>{lines}"]
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _threads(test: LitmusTest) -> list[str]:
    """The locations, then one thread a line."""
    locations, _, threads = in_one_line(test.program).partition(" :: ")
    return [f"{locations} ::", *threads.split(" || ")]


def _line(line: Expectation) -> str:
    word, _, rest = str(line).partition(" ")
    return f"*{word}* {rest}"
