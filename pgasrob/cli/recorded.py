"""Recorded runs (`.pgastrace` files) that `pgasrob check` and `pgasrob race` are given in place of programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from pgasrob.cli.many import Found

if TYPE_CHECKING:
    from pgasrob.batch.job import Job
    from pgasrob.frontends.options import FrontEnd
    from pgasrob.program.reading import Reading
    from pgasrob.render.verdict_json import RaceResult, Result
    from pgasrob.robustness.limits import Limits

SUFFIX = ".pgastrace"
MIXED = f"ask about {SUFFIX} files and about programs one after the other."
OF_PROGRAMS = "{option} is about programs: a trace has its own ranks, and one order of events."
"""The error for an option that has no meaning for recorded runs."""


def are_traces(paths: Sequence[str]) -> bool:
    """Whether ``paths`` are recorded runs."""
    return bool(paths) and all(path.endswith(SUFFIX) for path in paths)


def mixed(paths: Sequence[str]) -> bool:
    """Whether some of ``paths`` are recorded runs, and some are not."""
    return len({path.endswith(SUFFIX) for path in paths}) > 1


def traces(paths: Sequence[str], front_end: FrontEnd) -> Found | None:
    """The recorded runs ``paths`` as `Found`; None when they are programs."""
    return Found(list(paths), list(paths), front_end, []) if are_traces(paths) else None


def checked_traces(found: Found, reading: Reading, limits: Limits) -> Iterator[Result]:
    """The answers about robustness, each within ``limits``."""
    from pgasrob.batch.job import Checked
    from pgasrob.recording.recorded_answers import check_trace
    from pgasrob.render.verdict_json import checked_to_json

    for file in found.files:
        yield checked_to_json(Checked(file, check_trace(file, reading, limits)))


def raced_traces(found: Found, job: Job) -> Iterator[RaceResult]:
    """The answers about races as ``job`` asks about them, and beside these about robustness where it is asked for,
    both within its limits."""
    from dataclasses import replace
    from time import monotonic

    from pgasrob.recording.recorded_answers import check_trace, trace_races
    from pgasrob.render.races_json import races_to_json

    asked, reading, limits = job.races, job.reading, job.limits
    assert asked is not None
    for file in found.files:
        started = monotonic()
        races = trace_races(file, asked, reading, limits)
        wanted = asked.robustness != "never" and races.verdict != "error"
        robustness = check_trace(file, reading, limits, started) if wanted else None
        yield races_to_json(replace(races, robustness=robustness), asked.every)


def report_alarms(result: RaceResult, front_end: FrontEnd, job: Job, in_json: bool) -> None:
    """Put beside the exact answer what MUST-RMA reports of one order: the recorded one, or of a program that of a
    simulated run. In text it is a paragraph of its own. Both answers share the time limit."""
    from pgasrob.diagnostics import SourceError
    from pgasrob.recording.recorded_answers import alarm_lines

    limits = job.limits
    spent = 0.0 if limits.timeout is None else min(result["stats"]["seconds"], limits.timeout * 3 / 4)
    try:
        lines, reason = alarm_lines(result["file"], result["nodes"], front_end, job.reading, limits, spent)
    except SourceError:
        return
    if reason is not None and not in_json:
        click.echo(f"{result['file']}: {'the rest is not known to' if lines else 'no answer by'} MUST-RMA: {reason}")
    exact = {tuple(sorted(side["line"] for side in race["accesses"])) for race in result["races"]}
    if in_json:
        result["must_rma"] = [list(pair) for pair in lines]
        if reason is not None:
            result["must_rma_reason"] = reason
        return
    if not lines and reason is None:
        click.echo(f"{result['file']}: MUST-RMA reports nothing for one order of its events.")
    for pair in lines:
        beside = "also a race in the exact answer" if pair in exact else "not in the exact answer below"
        click.echo(f"{result['file']}: MUST-RMA reports lines {pair[0]} and {pair[1]}: {beside}.")
