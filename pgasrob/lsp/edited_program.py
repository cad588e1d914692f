"""Checks a program whose text is the editor's, on one node count at a time.

`node_counts` and `findings` run in a process of its own, which keeps what it has read last.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pgasrob.batch.checker import Checker
from pgasrob.batch.job import Job, Task
from pgasrob.diagnostics import SourceError
from pgasrob.frontends.apis.registry import API_MODULES, Registry
from pgasrob.frontends.c.preprocessor import preprocess
from pgasrob.frontends.c.tokens import Source
from pgasrob.frontends.sources import has_main
from pgasrob.lsp.settings import COUNTS, Settings
from pgasrob.program.files import Overlay
from pgasrob.program.parser import read_source
from pgasrob.program.program import DEFAULT_NODES, Program
from pgasrob.render.english import on_nodes
from pgasrob.render.races_json import checked_with_races
from pgasrob.render.sarif import plain, to_sarif
from pgasrob.render.synchronised_json import Synchronised
from pgasrob.robustness.question import Races, Resources, Synchronisation
from pgasrob.robustness.verdict import Verdict
from pgasrob.robustness.watch import unwatched

INCLUDED = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"]([^>\"\n]+)[>\"]", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class EditedProgram:
    """The program in ``file``, with the editor's ``texts`` by path, its own among them, in place of those on disk."""

    file: str
    texts: tuple[tuple[str, str], ...]
    settings: Settings

    @property
    def files(self) -> Overlay:
        """The files on disk, with the texts of the editor in place of theirs."""
        return Overlay(dict(self.texts))

    def text(self, path: str | None = None) -> str:
        """The text of a file of the program; the first one unless ``path`` says otherwise."""
        return read_source(path or self.file, self.files)


@dataclass(frozen=True, slots=True)
class Found:
    """The ``verdict`` ("robust", "not robust", "unknown", "error") on so many ``nodes`` (None: that was not found out),
    the ``results`` as SARIF has them, and ``notes`` on what is not known. ``synchronised``: what is known of the lines
    of whether it is correctly synchronised."""

    nodes: int | None
    verdict: str
    results: tuple[dict[str, Any], ...]
    notes: tuple[str, ...]
    synchronised: Synchronised | None = None


def node_counts(edited: EditedProgram) -> tuple[int, ...] | None:
    """The node counts on which the program of ``edited`` is to be checked; None for a C file that uses none of the APIs
    or has no `main`."""
    settings, file = edited.settings, edited.file
    if file.endswith(".c") and not (
        _has_api(edited) and has_main(file, settings.front_end.build_options(), edited.files)
    ):
        return None
    if settings.counts:
        return settings.counts
    program = checker(edited).load(file)
    if isinstance(program, Verdict):
        return COUNTS[:1]  # what is wrong is reported once
    if program.nodes is not None:
        return (program.nodes,)
    if program.default_count != DEFAULT_NODES:
        return (program.default_count,)
    named = isinstance(program, Program) and all(process.ranks is not None for process in program.processes)
    return COUNTS[:1] if named else COUNTS


def findings(edited: EditedProgram, nodes: int) -> Found:
    """Check the program of ``edited`` on ``nodes`` nodes."""
    checking = checker(edited)
    checked = checking.check(Task(edited.file, nodes, edited.file, True), unwatched)
    assert checked is not None, "the first task of its file"
    result = checking.converted(checked, checked_with_races)
    (run,) = json.loads(to_sarif([result]))["runs"]
    notes = [
        plain(note["message"]) for invocation in run["invocations"] for note in invocation["toolExecutionNotifications"]
    ]
    return Found(nodes, result["verdict"], tuple(run["results"]), tuple(notes), result.get("synchronised"))


def unknown(nodes: int | None, reason: str) -> Found:
    """The finding that there is no answer, for this ``reason``."""
    return Found(nodes, "unknown", (), (f"Unknown{'' if nodes is None else on_nodes(nodes)}: {reason}",))


@lru_cache(maxsize=4)
def checker(edited: EditedProgram) -> Checker:
    """The checker of the program of ``edited``, which is kept so that the program is read once."""
    settings = edited.settings
    job = Job(
        asked=Synchronisation(),
        limits=settings.limits,
        resources=Resources(threads=1),
        front_end=settings.front_end,
        reading=settings.reading,
        files=edited.files,
        races=Races() if settings.races else None,
    )
    return Checker(job)


def _has_api(edited: EditedProgram) -> bool:
    """Whether the C file includes the header of an API, directly or by another header; where errors keep it from being
    preprocessed, whether it names one itself."""
    text = dict(edited.texts)[edited.file]
    for flags in edited.settings.front_end.build_options().of(edited.file):
        try:
            headers = preprocess(Source(edited.file, text), Registry(), flags, edited.files).headers
        except SourceError:
            headers = tuple(INCLUDED.findall(text))
        if any(header in API_MODULES for header in headers):
            return True
    return False
