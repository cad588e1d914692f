"""The catalogue of a folder of litmus tests: what each says, its program, and what is allowed and forbidden."""

from __future__ import annotations

from collections import Counter
from itertools import groupby, takewhile
from pathlib import Path

from pgasrob.models.litmus.expected_outcomes import Expectation, LitmusTest
from pgasrob.models.litmus.litmus_parser import parse_file
from pgasrob.models.litmus.litmus_printer import in_one_line
from pgasrob.program.files import files_below
from pgasrob.render.english import count

BEGINNING = """\
# Litmus tests

Made by `pgasrob catalogue`: do not edit.\
"""
"""By which a catalogue is known, whichever version has made it."""
HEADING = """\
{beginning} Every test first says where it is from and what its source says about it, and then which
outcomes are allowed and forbidden; `pgasrob litmus --expect` compares these with the models. A line that names no model
applies to all models that take the program.{families}

The papers: *RDMA-TSO* is G. Ambal, B. Dongol, H. Eran, V. Klimis, O. Lahav, A. Raad: Semantics of Remote Direct Memory
Access, OOPSLA 2024. *coreRMA* is A. M. Dan, P. Lam, T. Hoefler, M. Vechev: Modeling and Analysis of Remote Memory
Access Programming, OOPSLA 2016. The language is explained in `pgasrob/models/litmus/README.md`.
"""


FAMILIES = ("rdma_tso", "corerma", "tso", "rdma", "atomics")
ABOUT_FAMILIES = """\
 `rdma_tso` and `corerma` have the tests of the two papers, by the numbers of
their figures (`2b`, `3a`) and sections (`s6`); `tso` has the classical tests for the CPUs of one node, `rdma` has the
same tests between nodes, and `atomics` has tests of remote read-modify-writes in our reading of RDMA-TSO with them.\
"""
"""What is said where there are these."""


def litmus_files(folder: Path) -> list[Path]:
    """The `.litmus` files in ``folder`` and below, in order, hidden ones left out."""
    return sorted(files_below(folder, (".litmus",)))


def make_litmus_catalogue(folder: Path, command: str) -> str:
    """The catalogue of the tests in ``folder`` as Markdown; ``command`` is what made it. Raises SourceError."""
    tests = [(path.relative_to(folder), parse_file(path)) for path in litmus_files(folder)]
    lines = Counter(line.allowed for _, test in tests for line in test.expectations)
    allow, forbid = "s" * (lines[True] == 1), "s" * (lines[False] == 1)
    counts = f"{count(len(tests), 'test')} with {count(lines[True], 'line')} that allow{allow} and {lines[False]} that"
    counts = f"{counts} forbid{forbid}"
    tests.sort(key=lambda member: (member[0].parent, member[0]))
    families = [(family, list(members)) for family, members in groupby(tests, key=lambda member: member[0].parent)]
    known = {family.as_posix() for family, _ in families} >= set(FAMILIES)
    heading = HEADING.format(beginning=BEGINNING, families=ABOUT_FAMILIES if known else "")
    text = [heading, f"{counts}. Made with `{command}`.", ""]
    for family, members in families:
        text += [f"## {family.as_posix()}", ""] if family.name else []
        text += ["| test | program | what is said |", "|---|---|---|"]
        text += [_row(path, test) for path, test in members]
        text.append("")
    return "\n".join(text)


def said(text: str) -> str:
    """The comment at the beginning of a test."""
    lines = takewhile(lambda line: line.startswith("//"), text.splitlines())
    return " ".join(line.removeprefix("//").strip() for line in lines)


def _row(path: Path, test: LitmusTest) -> str:
    locations, _, threads = in_one_line(test.program).partition(" :: ")
    program = "<br>".join(f"`{line}`" for line in (f"{locations} ::", *threads.split(" || ")))
    lines = "<br>".join(map(_line, test.expectations))
    about = "<br>".join(filter(None, (said(test.source.text), lines)))
    cells = [f"[{path.stem}]({path.as_posix()})", program, about]
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _line(line: Expectation) -> str:
    word, _, rest = str(line).partition(" ")
    return f"*{word}* {rest}"
