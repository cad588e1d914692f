"""Reads a request: the program on some nodes that it is about, and the run of it up to now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pgasrob.explore.request_bounds import MOST_CHOICES, MOST_NODES, MOST_TEXT
from pgasrob.frontends.options import FrontEnd
from pgasrob.program.files import Files, Overlay, Texts
from pgasrob.program.reading import Reading

COLUMNS = range(40, 201)
"""The widths that reports may have."""


@dataclass(frozen=True, slots=True)
class Reads:
    """How programs are read: ``names`` has the file name of a text by its language. ``alone``: no other file is read;
    else headers are looked for beside that one, and where the ``front_end`` says."""

    names: tuple[tuple[str, str], ...]
    front_end: FrontEnd
    reading: Reading
    alone: bool = False


@dataclass(frozen=True, slots=True)
class AskedRun:
    """The program ``text`` of a ``language``, on ``nodes`` nodes (its own count when None), and a run of it.

    ``run``: the choices so far; ``automatic``: local commands happen by themselves. ``columns``: the width of a report.
    """

    text: str
    language: str
    nodes: int | None
    run: tuple[str, ...]
    automatic: bool
    reads: Reads
    columns: int = 80

    @property
    def file(self) -> str:
        """The file that the text is read as if it were in."""
        return dict(self.reads.names)[self.language]

    @property
    def files(self) -> Files:
        """The files that the program may include."""
        texts = {self.file: self.text}
        return Texts(texts) if self.reads.alone else Overlay(texts)


class Refused(Exception):
    """A request that is not answered: the status of HTTP and why; ``wait``: seconds after which it may be asked again,
    0 where that is of no use."""

    def __init__(self, status: int, why: str, wait: int = 0) -> None:
        super().__init__(why)
        self.status, self.wait = status, wait


def asked_run(asked: Any, reads: Reads) -> AskedRun:
    """Check the JSON value ``asked`` of a request. Raises :class:`Refused`."""
    if not isinstance(asked, dict):
        raise Refused(400, "the body is no JSON object")
    text, language, nodes = asked.get("text"), asked.get("language"), asked.get("nodes")
    run, automatic, columns = asked.get("run", []), asked.get("automatic", True), asked.get("columns", 80)
    names = [name for name, _ in reads.names]
    if not isinstance(text, str):
        raise Refused(400, "`text` is no text of a program")
    if len(text) > MOST_TEXT:
        raise Refused(413, f"the program has {len(text):,} characters; the explorer takes at most {MOST_TEXT:,}")
    if not isinstance(language, str) or language not in names:
        raise Refused(400, f"`language` is none of {', '.join(names)}")
    if nodes is not None and (type(nodes) is not int or not 1 <= nodes <= MOST_NODES):
        raise Refused(400, f"`nodes` is no number from 1 to {MOST_NODES}")
    if not isinstance(run, list) or not all(isinstance(choice, str) and len(choice) <= 40 for choice in run):
        raise Refused(400, "`run` is no list of choices")
    if len(run) > MOST_CHOICES:
        raise Refused(413, f"the run has {len(run):,} choices; the explorer takes at most {MOST_CHOICES}")
    if type(automatic) is not bool:
        raise Refused(400, "`automatic` is neither true nor false")
    if type(columns) is not int or columns not in COLUMNS:
        raise Refused(400, f"`columns` is no number from {COLUMNS[0]} to {COLUMNS[-1]}")
    return AskedRun(text, language, nodes, tuple(run), automatic, reads, columns)
