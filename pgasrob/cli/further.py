"""What `pgasrob check` does beyond the verdict: --why (accesses in order), --fixes (repairs), --certificate."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import click

from pgasrob.cli.exit_codes import ROBUST, UNKNOWN
from pgasrob.cli.parameter_types import TwoLines, listed

if TYPE_CHECKING:
    from pgasrob.batch.job import Job
    from pgasrob.program.declarations import Source
    from pgasrob.render.progress import Display
    from pgasrob.render.verdict_json import Result
    from pgasrob.repairs import Repair
    from pgasrob.robustness.watch import Watch

FIX_SECONDS = 5.0
"""What a search for repairs may take, as the help says."""


def say_why(result: Result, pair: TwoLines, job: Job) -> None:
    """Put into ``result`` why the accesses in a ``pair`` of lines are in order."""
    from pgasrob.diagnostics import SourceError
    from pgasrob.render.why_text import why_to_json
    from pgasrob.robustness.load import load
    from pgasrob.robustness.why import why

    with contextlib.suppress(SourceError):  # the result has it
        program, nodes = load(result["file"], job.front_end), result["nodes"]
        assert nodes != "all", "refused"
        first, second = (_line(program.source, *each) for each in pair)
        question = replace(job.question(result["file"], nodes), program=program)
        found = why(question, result["verdict"], (first, second))
        result["why"] = why_to_json(found)


def _line(source: Source, file: str, number: int) -> int:
    """Line ``number`` of the ``file`` of a program that reports call so, or that has this path."""
    from pgasrob.program.files import name_of
    from pgasrob.program.statements import Line

    if not file or file == source.file:
        return number
    names = {path: name_of(path, source.file) for path in source.others}
    for path, name in names.items():
        if file in (path, name):
            return Line(number, path, name)
    further = listed(names.values(), "and") if names else "no further files"
    raise click.UsageError(f"--why: the program has no file {file}; it has {further}.")


def look_for_fixes(result: Result, job: Job) -> None:
    """Put repairs into a ``result`` that is not robust, where they are found soon."""
    from pgasrob.diagnostics import SourceError
    from pgasrob.render.repair_text import fixes
    from pgasrob.repairs import repair
    from pgasrob.repairs.read_again import read
    from pgasrob.robustness.stopping import Stopped, within_limits

    nodes = result["nodes"]
    if not isinstance(nodes, int):
        return
    limits = replace(job.limits, timeout=FIX_SECONDS)

    def search(_: Watch) -> Repair:
        return repair(*read(result["file"], job.front_end), (nodes,), limits=limits, goal="robust")

    with contextlib.suppress(SourceError):
        found = within_limits(limits, "in the search for repairs", search)
        if not isinstance(found, Stopped):
            result["fixes"] = fixes(found)


def certify(result: Result, path: str, job: Job, display: Display | None) -> int:
    """Write the certificate of a ``result``, within the limits of a check; its exit code."""
    from pgasrob.certificates.certificate_files import BadFile, store
    from pgasrob.certificates.write import NoCertificate, write, write_for_every_count
    from pgasrob.robustness.load import load
    from pgasrob.robustness.stopping import Stopped, within_limits

    title = f"{result['file']}, {result['nodes']} nodes"

    def text(watch: Watch) -> str:
        least = result["only"]["counts"][0] if "only" in result else result.get("least")
        if least is not None and result["nodes"] == "all":
            raise NoCertificate(f"those about every number are not about a least one, or a few; try -n {least}")
        program, nodes = load(result["file"], job.front_end), result["nodes"]
        look = partial(watch.look_around, "writing the certificate", 0)
        if nodes == "all":
            return write_for_every_count(program, job.reading, look=look).text
        return write(program, nodes, job.reading, look=look).text

    try:
        with display(title) if display else contextlib.nullcontext() as progress:
            written = within_limits(job.limits, "while writing it", text, progress)
        if not isinstance(written, Stopped):
            store(path, written)
            return ROBUST
        why_not = str(written.reason)
    except (NoCertificate, BadFile) as error:
        why_not = str(error)
    click.echo(f"pgasrob: no certificate is written: {why_not}", err=True)
    return UNKNOWN
