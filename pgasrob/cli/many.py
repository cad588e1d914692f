"""Shared by commands that answer for many programs: finding them, limits, jobs, printing each result as it comes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from pgasrob import file_input
from pgasrob.cli.declare import Rule, argument, option
from pgasrob.cli.exit_codes import ERROR, INTERRUPTED, gravest
from pgasrob.cli.option_groups import (
    MOST_SC_STATES,
    format_option,
    max_states_option,
    memory_for,
    memory_option,
    timeout_option,
)
from pgasrob.cli.parameter_types import ProgramPath, listed
from pgasrob.cli.shared_steps import crashed
from pgasrob.cli.witness_files import PLACEHOLDERS_SHOWN, Witnesses, fold_option, holding_many, witness_option

if TYPE_CHECKING:
    from pgasrob.batch.job import Job
    from pgasrob.batch.kept import Kept
    from pgasrob.frontends.options import BuildOptions, FrontEnd
    from pgasrob.program.files import Files
    from pgasrob.render.baseline import Baseline
    from pgasrob.render.printers import Printer
    from pgasrob.render.progress import Display
    from pgasrob.render.result_forms import R
    from pgasrob.robustness.limits import Limits


BRIEF: Rule[Any] = Rule(
    "--brief prints a line each: leave --verbose, --full, --assumptions and --format out.",
    "--brief",
    ("--verbose", "--full", "--assumptions", "--format"),
)


def resume_option() -> Any:
    """A field for the file that keeps results."""
    return option(
        "--resume", type=click.Path(dir_okay=False), metavar="FILE",
        help="Keep results in FILE, and reuse results in it if program, options and pgasrob have not changed since. "
        "Several commands may share a FILE.",
    )  # fmt: skip


def paths_argument() -> Any:
    """A field for programs and folders of them."""
    return argument(metavar="FILE...", nargs=-1, type=ProgramPath())


@dataclass(frozen=True)
class BatchLimits:
    """Limits of each of many checks or searches (``{what}`` in the help texts), and how many run at a time."""

    # fmt: off
    max_states: int = max_states_option("Give up on a {what} (unknown) after N states; 0: no limit.")
    timeout: float | None = timeout_option("Give up on a {what} (unknown) after SECONDS. Default: no limit.")
    memory_limit: int | None = memory_option(
        "Give up on a {what} (unknown) that needs more memory than this beside the process: 500M, 2G; 0: no limit. "
        "Default: three quarters of the available memory, shared by the jobs.")
    jobs: int | None = option("-j", "--jobs", type=click.IntRange(min=1), metavar="N",
        help="Run N jobs at a time, each in a process of its own, or one alone in N threads. Default: one per core.")
    # fmt: on

    def at_a_time(self, files: Sequence[str], nodes: Sequence[int] | None) -> int:
        """The number of jobs that run at a time: no more than there are results."""
        from pgasrob.robustness.limits import available_cores

        return min(self.jobs or available_cores(), max(len(files) * len(nodes or (None,)), 1))

    def limits(self, jobs: int, sc_states: int | None = MOST_SC_STATES, cluster: bool = False) -> Limits:
        """The limits of each of ``jobs`` that run at a time; on a cluster memory is bounded only on request."""
        from pgasrob.robustness.limits import Limits

        memory = (self.memory_limit or None) if cluster else memory_for(self.memory_limit, jobs)
        return Limits(self.max_states or None, self.timeout, memory, sc_states)


@dataclass(frozen=True)
class OutputOptions:
    """Formats and files of the output; ``{runs}`` in the help of `--witness` is what is written there."""

    # fmt: off
    format: str = format_option("json", "csv", "gcc", "github", "sarif",
        help="json: one object per program and node count, one per line; csv: one row each; gcc: findings in lines "
        "as compilers print them; github: findings as annotations of GitHub Actions; sarif: one log of all findings.")
    baseline: str | None = option("--baseline", type=click.Path(dir_okay=False), metavar="OLD.SARIF",
        help="Findings of this earlier log do not count: the exit code and the formats gcc and github are about new "
        "findings only, and SARIF says which ones are new.")
    witnesses: tuple[str, ...] = witness_option(
        "Write {runs} to a file",
        also=lambda: f"Of several results {holding_many()} hold all; else say {listed(PLACEHOLDERS_SHOWN)} in PATH. ",
    )
    fold: bool = fold_option()
    # fmt: on

    def known(self, expect: bool) -> Baseline | None:
        """The findings of --baseline, if it is given. Ends the command when the file is no baseline."""
        if self.baseline is None:
            return None
        from pgasrob.render.baseline import BadBaseline, Baseline

        if expect:
            raise click.UsageError("--baseline and --expect both say what does not count: leave one of them out.")
        try:
            return Baseline(file_input.text(self.baseline))
        except OSError as error:
            raise click.UsageError(f"--baseline {self.baseline}: {'; '.join(file_input.why(error))}.") from None
        except (BadBaseline, UnicodeDecodeError) as error:
            reason = "no text in UTF-8" if isinstance(error, UnicodeDecodeError) else error
            raise click.UsageError(f"--baseline {self.baseline}: {reason}.") from None


READING = "while looking for the functions `main`"


class Found(NamedTuple):
    """The ``files`` of programs among all that are ``given``, how they are read, and what is wrong with folders.

    ``named``: they were named one by one, so that all have to be part of some program.
    """

    files: list[str]
    given: list[str]
    front_end: FrontEnd
    problems: list[str]
    named: bool = True

    @property
    def units(self) -> list[str]:
        """Files that are given and are no programs of their own, but may be parts of one."""
        files = set(self.files)
        return [file for file in self.given if file not in files]


def programs(paths: tuple[str, ...], front_end: FrontEnd, timeout: float | None = None) -> Found:
    """The programs that ``paths`` stand for, or those of the compile database where there are none. Says what is wrong
    with folders. Raises click.UsageError where there is neither."""
    from pgasrob.batch.job import find_programs
    from pgasrob.frontends.sources import apart, has_main
    from pgasrob.robustness.limits import Limits
    from pgasrob.robustness.stopping import Stopped, within_limits

    if not paths and not front_end.commands:
        raise click.UsageError("Missing argument 'FILE...'.")
    database = () if paths else dict.fromkeys(file for file, _, _ in front_end.commands)
    given, problems = find_programs((*paths, *database))
    limits = Limits(timeout=timeout and timeout / 2)

    def asked(file: str, build: BuildOptions, files: Files) -> bool:
        found = within_limits(limits, READING, lambda _: has_main(file, build, files))
        return isinstance(found, Stopped) or found  # its check comes to the limit, too

    files, front_end = apart(given, front_end, asked=asked)
    for problem in problems:
        click.echo(f"pgasrob: {problem}", err=True)
    return Found(files, given, front_end, problems, bool(paths))


def kept_in(file: str, job: Job, what: str) -> Kept:
    """The results of the command ``what`` that `--resume` keeps in ``file``, for this build and ``job``."""
    from pgasrob.batch.build_id import whole_build
    from pgasrob.batch.job import asked
    from pgasrob.batch.kept import Kept
    from pgasrob.render.witness_file import FORMS

    return Kept(file, f"{whole_build()} {asked(job, what)}", FORMS[what], _say)


def _say(text: str) -> None:
    click.echo(f"pgasrob: {text}", err=True)


def answer(
    found: Found,
    results: Iterable[R],
    printing: Printer[R],
    writing: Witnesses,
    code_of: Callable[[R], int],
    display: Display | None,
    further: Callable[[R], None] | None = None,
) -> int:
    """Print and write ``results`` as they come; the exit code of them all.

    ``code_of`` says which exit code a result alone stands for. ``further`` puts something into each.
    """
    from pgasrob.batch.cluster import ClusterError
    from pgasrob.batch.kept import KeptError

    codes = [ERROR] * len(found.problems)
    interrupted, known = False, 0
    try:
        for result in results:
            if display:
                display.clear()
            try:
                if further is not None:
                    further(result)
            except Exception as error:
                codes.append(crashed(error, result["file"]))
            finally:  # Ctrl-C leaves what is known
                printing.result(result)
            writing.result(result)
            if writing.baseline is not None:
                known += writing.baseline.number_known(result)
                result = writing.baseline.without_known(result)
            codes.append(code_of(result))
    except KeyboardInterrupt:
        interrupted = True
    except (ClusterError, KeptError) as error:
        click.echo(f"pgasrob: {error}", err=True)
        codes.append(ERROR)
    printing.end()
    if known:
        click.echo(f"pgasrob: {known} of the findings are in the baseline and do not count", err=True)
    if unused := _unused(found.units, printing.results) if found.named else "":
        click.echo(f"pgasrob: {unused}", err=True)
        codes.append(ERROR)
    if not writing.end():
        codes.append(ERROR)
    if not interrupted:
        return gravest(codes)
    left = len(found.files) - len({result["file"] for result in printing.results})
    unreached = f", {left} of {len(found.files)} files not reached" if left else ""
    several = " at the node count above" if writing.nodes and len(writing.nodes) > 1 else ""
    click.echo(f"pgasrob: interrupted{several}{unreached}", err=True)
    return INTERRUPTED


def _unused(units: Sequence[str], results: Sequence[R]) -> str:
    """A message about those ``units`` that no program needs; "" when all are needed."""
    used = {unit for result in results for unit in result.get("units", [])}
    if any(result["verdict"] == "error" and result["nodes"] is None for result in results):
        return ""  # there it is not known
    from pgasrob.diagnostics import visible
    from pgasrob.frontends.sources import included

    parts = included([*units, *(result["file"] for result in results)]) if units else set()
    left = [visible(unit) for unit in units if unit not in used and os.path.basename(unit) not in parts]
    verb = "has no `main`, and is" if len(left) == 1 else "have no `main`, and are"
    return f"{listed(left, 'and')} {verb} not checked: no program needs what is defined there" if left else ""
