"""What commands that answer for many programs have in common: finding them, limits, jobs, printing as results come."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from pgasrob.cli.exit_codes import ERROR, INTERRUPTED, gravest
from pgasrob.cli.options import MOST_STATES, FromTable, NodeCounts, ProgramPath, Size, listed, memory_for, seconds
from pgasrob.cli.witness_files import PLACEHOLDERS_SHOWN, Witnesses, WitnessPath, endings, fold_option, holding_many

if TYPE_CHECKING:
    from pgasrob.batch.job import Job
    from pgasrob.batch.kept import Kept
    from pgasrob.frontends.options import FrontEnd
    from pgasrob.render.baseline import Baseline
    from pgasrob.render.printers import Printer
    from pgasrob.render.progress import Display
    from pgasrob.render.table import R

FORMATS = ["text", "json", "csv", "gcc", "github"]

nodes_option = click.option(
    "-n", "--nodes", type=NodeCounts(), metavar="COUNTS",
    help="Node counts: 2, 2..5 or 2,4. Default: the program's own, or 2.",
)  # fmt: skip
resume_option = click.option(
    "--resume", type=click.Path(dir_okay=False), metavar="FILE",
    help="Keep results in FILE, and take from it those that are there, of programs, options and a version of pgasrob "
    "that have not changed since. Several commands may share a FILE.",
)  # fmt: skip
paths_argument = click.argument("paths", metavar="FILE...", nargs=-1, type=ProgramPath())


def limit_options(what: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The options `--max-states`, `--timeout`, `--memory-limit` and `--jobs`, for ``what`` is done to one program."""
    options = (
        click.option("--max-states", type=click.IntRange(min=0), default=MOST_STATES, show_default=True, metavar="N",
                     help=f"Give up on a {what} (unknown) after so many states; 0: never."),
        click.option("--timeout", type=click.FloatRange(min=0, min_open=True), callback=seconds, metavar="SECONDS",
                     help=f"Give up on a {what} (unknown) after so many seconds. Default: never."),
        click.option("--memory-limit", type=Size(), metavar="SIZE",
                     help=f"Give up on a {what} (unknown) that takes so much memory beside the process: 500M, 2G; 0: "
                     "never. Default: three quarters of what is available, shared by the jobs."),
        click.option("-j", "--jobs", type=click.IntRange(min=1), metavar="N",
                     help="Do so many at a time, each in a process of its own. Default: one per core."),
    )  # fmt: skip
    return _together(options)


def output_options(runs: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The options `--format`, `--witness` and `--fold`, of which ``runs`` says what is written."""
    options = (
        click.option("--format", "format_", type=click.Choice(FORMATS), default="text", show_default=True,
                     help="json: one object per program and node count, one per line; csv: a row each; gcc: what is "
                     "found in lines as compilers print them; github: in annotations of GitHub Actions."),
        click.option("--baseline", type=click.Path(dir_okay=False), metavar="OLD.SARIF",
                     help="What has been found before does not count: for the exit code and in the formats gcc and "
                     "github there are new findings only; a .sarif that is written says which are new."),
        click.option("--witness", "witnesses", type=WitnessPath(), multiple=True, metavar="PATH",
                     cls=FromTable, told=lambda: f"Write {runs} to a file: {endings()} by its ending. Of several "
                     f"results {holding_many()} hold all; else say {listed(PLACEHOLDERS_SHOWN)} in PATH. Can be "
                     "repeated."),
        fold_option,
    )  # fmt: skip
    return _together(options)


def _together(options: Sequence[Callable[..., Any]]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def decorated(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorated


class Found(NamedTuple):
    """The ``files`` of programs among all that are ``given``, how they are read, and what is wrong with folders."""

    files: list[str]
    given: list[str]
    front_end: FrontEnd
    problems: list[str]

    @property
    def units(self) -> list[str]:
        """The further files of programs."""
        files = set(self.files)
        return [file for file in self.given if file not in files]


def programs(paths: tuple[str, ...], front_end: FrontEnd) -> Found:
    """The programs that ``paths`` stand for, or those of the compile database where there are none. Says what is wrong
    with folders. Raises click.UsageError where there is neither."""
    from pgasrob.batch.job import find_programs
    from pgasrob.frontends.sources import apart

    if not paths and not front_end.commands:
        raise click.UsageError("Missing argument 'FILE...'.")
    database = () if paths else dict.fromkeys(file for file, _, _ in front_end.commands)
    given, problems = find_programs((*paths, *database))
    files, front_end = apart(given, front_end)
    for problem in problems:
        click.echo(f"pgasrob: {problem}", err=True)
    return Found(files, given, front_end, problems)


def jobs_for(wanted: int | None, files: Sequence[str], nodes: Sequence[int] | None) -> int:
    """How many to do at a time."""
    from pgasrob.robustness.limits import available_cores

    return min(wanted or available_cores(), max(len(files) * len(nodes or (None,)), 1))


def kept_in(file: str, job: Job, what: str) -> Kept:
    """Where `--resume` keeps the results of ``job``, of which ``what`` is made."""
    from pgasrob.batch.build import whole_build
    from pgasrob.batch.job import asked
    from pgasrob.batch.kept import Kept

    return Kept(file, f"{whole_build()} {asked(job, what)}")


def baseline_in(file: str | None, expect: bool) -> Baseline | None:
    """The baseline in the ``file`` of `--baseline`. Ends the command where there is none in it."""
    if file is None:
        return None
    from pgasrob.render.baseline import BadBaseline, Baseline

    if expect:
        raise click.UsageError("--baseline and --expect both say what does not count: leave one of them out.")
    try:
        with open(file, encoding="utf-8") as opened:
            return Baseline(opened.read())
    except OSError as error:
        raise click.UsageError(f"--baseline {file}: {error.strerror}.") from None
    except (BadBaseline, UnicodeDecodeError) as error:
        told = "no text in UTF-8" if isinstance(error, UnicodeDecodeError) else error
        raise click.UsageError(f"--baseline {file}: {told}.") from None


def spared(memory_limit: int | None, jobs: int, cluster: bool = False) -> int | None:
    """The bytes that one may take; on a cluster what is asked for."""
    return (memory_limit or None) if cluster else memory_for(memory_limit, jobs)


def answer(
    ctx: click.Context,
    found: Found,
    nodes: Sequence[int] | None,
    results: Iterable[R],
    printing: Printer[R],
    writing: Witnesses,
    outcome: Callable[[R], int],
    display: Display | None,
    named: bool,
    further: Callable[[R], None] | None = None,
    baseline: Baseline | None = None,
) -> None:
    """Print and write ``results`` as they come, and end with the exit code of them all.

    ``outcome``: the exit code that a result alone stands for. ``further`` puts something into each. ``named``: the
    files were given, so that all have to be part of some program. ``baseline``: what does not count.
    """
    from pgasrob.batch.cluster import ClusterError
    from pgasrob.batch.kept import KeptError

    outcomes = [ERROR] * len(found.problems)
    interrupted, known = False, 0
    try:
        for result in results:
            if display:
                display.clear()
            try:
                if further is not None:
                    further(result)
            finally:  # Ctrl-C leaves what is known
                printing.result(result)
            writing.result(result)
            if baseline is not None:
                known += baseline.number_known(result)
                result = baseline.without_known(result)
            outcomes.append(outcome(result))
    except KeyboardInterrupt:
        interrupted = True
    except (ClusterError, KeptError) as error:
        click.echo(f"pgasrob: {error}", err=True)
        outcomes.append(ERROR)
    printing.end()
    if known:
        click.echo(f"pgasrob: {known} of the findings are in the baseline and do not count", err=True)
    if unused := _unused(found.units, printing.results) if named else "":
        click.echo(f"pgasrob: {unused}", err=True)
        outcomes.append(ERROR)
    if not writing.end():
        outcomes.append(ERROR)
    if interrupted:
        left = len(found.files) - len({result["file"] for result in printing.results})
        unreached = f", {left} of {len(found.files)} files not reached" if left else ""
        several = " at the node count above" if nodes and len(nodes) > 1 else ""
        click.echo(f"pgasrob: interrupted{several}{unreached}", err=True)
        ctx.exit(INTERRUPTED)
    ctx.exit(gravest(outcomes))


def _unused(units: Sequence[str], results: Sequence[R]) -> str:
    """That some ``units`` are in no program, since none needs what they define; "" when all are."""
    used = {unit for result in results for unit in result.get("units", [])}
    if any(result["verdict"] == "error" and result["nodes"] is None for result in results):
        return ""  # there it is not known
    from pgasrob.diagnostics import visible
    from pgasrob.frontends.sources import included

    parts = included([*units, *(result["file"] for result in results)]) if units else set()
    left = [visible(unit) for unit in units if unit not in used and os.path.basename(unit) not in parts]
    verb = "has no `main`, and is" if len(left) == 1 else "have no `main`, and are"
    return f"{listed(left, 'and')} {verb} not checked: no program needs what is defined there" if left else ""
