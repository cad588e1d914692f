"""Many programs and node counts, one after the other: finding the files, checking each, comparing with its header."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from pgasrob.diagnostics import Diagnostic, SourceError
from pgasrob.program.expectation import read_expectation
from pgasrob.program.program import DEFAULT_NODES, Program
from pgasrob.robustness.check import DEFAULT_ENGINE, Interrupted, Limits, Progress, check, load
from pgasrob.robustness.verdict import Verdict

SUFFIXES = (".pgas", ".c")

Watcher = Callable[[str], AbstractContextManager[Callable[[Progress], None] | None]]
"""Given a title, a context in which one check runs; what it enters is called with the check's progress."""


@dataclass(frozen=True, slots=True)
class Job:
    """What to check every program for; ``expect`` also compares each verdict with the program's own header."""

    nodes: tuple[int, ...] | None = None
    engine: str = DEFAULT_ENGINE
    limits: Limits = field(default_factory=Limits)
    heads: int | None = None
    expect: bool = False


@dataclass(frozen=True, slots=True)
class Checked:
    """The verdict on ``file`` at one node count.

    Under ``compared``, ``expected`` is what the header says about that count, None when it says nothing, and
    ``header_errors`` what is wrong with it.
    """

    file: str
    verdict: Verdict
    compared: bool = False
    expected: str | None = None
    header_errors: tuple[Diagnostic, ...] = ()


def find_programs(paths: Sequence[str]) -> tuple[list[str], list[str]]:
    """The files that ``paths`` stand for, each once, in order; and what is wrong with folders among them.

    Folders are searched for programs, hidden files and folders left out.
    """
    files: list[str] = []
    problems: list[str] = []
    for path in paths:
        if not os.path.isdir(path):
            files.append(str(Path(path)))
            continue
        refused: list[OSError] = []
        found = sorted(_programs_below(Path(path), refused))
        problems += [f"cannot read the folder {error.filename}: {error.strerror}" for error in refused]
        if not found and not refused:
            problems.append(f"no .pgas or .c file in the folder {path}")
        files += map(str, found)
    return list(dict.fromkeys(files)), problems


def check_all(files: Sequence[str], job: Job, watch: Watcher = lambda title: nullcontext()) -> Iterator[Checked]:
    """Check every file at every node count of ``job``, in order, each result as it comes.

    On Ctrl-C the result of the check at work is what was known by then, and KeyboardInterrupt follows it.
    """
    for number, file in enumerate(files, start=1):
        program = _load(file, job.engine)
        if isinstance(program, Verdict):
            yield _compared(file, program, job)
            continue
        for nodes in job.nodes or (program.nodes or DEFAULT_NODES,):
            try:
                with watch(f"[{number}/{len(files)}] {file}, {nodes} nodes") as progress:
                    verdict = check(program, nodes, job.engine, job.limits, progress, job.heads)
            except Interrupted as interrupt:
                yield _compared(file, interrupt.verdict, job)
                raise
            yield _compared(file, verdict, job)


def read_text(file: str) -> str:
    """The text of ``file`` as far as it can be read; a file that is no program may still have a header."""
    try:
        return Path(file).read_bytes().decode(errors="replace")
    except (OSError, ValueError):
        return ""


def _programs_below(folder: Path, refused: list[OSError]) -> Iterator[Path]:
    for where, folders, names in os.walk(folder, onerror=refused.append):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (Path(where, name) for name in names if name.endswith(SUFFIXES) and not name.startswith("."))


def _load(file: str, engine: str) -> Program | Verdict:
    """The program in ``file``, or the verdict `error` that says why there is none."""
    if file.endswith(".c") and os.path.exists(file):
        return Verdict(file, None, None, engine, "error", "C sources are not supported yet, only .pgas programs")
    try:
        return load(file)
    except SourceError as error:
        found = tuple(error.diagnostics)
        return Verdict(file, None, None, engine, "error", found[0].message, errors=found)


def _compared(file: str, verdict: Verdict, job: Job) -> Checked:
    if not job.expect:
        return Checked(file, verdict)
    try:
        expectation = read_expectation(read_text(file), file)
    except SourceError as error:
        return Checked(file, verdict, True, None, tuple(error.diagnostics))
    # A text that is no program has no node count; its header is read as that of a program on the default count.
    return Checked(file, verdict, True, expectation.at(verdict.nodes) if expectation else None)
