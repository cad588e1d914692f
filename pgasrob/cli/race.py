"""`pgasrob race`: decide whether programs have races."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import click

from pgasrob.cli.exit_codes import ERROR, NO_RACE, RACE, UNKNOWN
from pgasrob.cli.many import (
    answer,
    baseline_in,
    jobs_for,
    kept_in,
    limit_options,
    nodes_option,
    output_options,
    paths_argument,
    programs,
    resume_option,
    spared,
)
from pgasrob.cli.memory_model import memory_model_option, races_in
from pgasrob.cli.options import (
    DEFAULT_ENGINE,
    HELP,
    MOST_STATES,
    c_options,
    mention_a_missing_kernel,
    progress_display,
    reading_options,
)
from pgasrob.cli.recorded import SUFFIX, raced_traces, tell_alarms, traces
from pgasrob.cli.witness_files import Witnesses

if TYPE_CHECKING:
    from pgasrob.frontends.options import FrontEnd
    from pgasrob.program.reading import Reading
    from pgasrob.races.mpi import MemoryModel
    from pgasrob.render.verdict_json import RaceResult

EXAMPLES = """\b
Exit code:
  0  no race
  1  some race
  2  a program with an error, or wrong usage
  3  unknown: a limit was hit
Of several the gravest, in the order 2, 3, 1, 0. Whether programs are robust
does not count. With --expect: 0 all as expected, 1 some not, 2 a header is
missing or an error was not expected, 3 unknown. After Ctrl-C 130, once what
is known so far has been printed.

\b
Examples:
  pgasrob race ring.c -n 2..4
  pgasrob race ring.c --all               every pair of lines
  pgasrob race ring.c --witness race.svg  the way to it, with both accesses
  pgasrob race put.c --memory-model separate    the rules of MPI-3
  pgasrob race run.pgastrace --analysis must-rma    all runs of what was recorded
  pgasrob race programs --expect
  pgasrob race programs --format json > races.jsonl
"""


@click.command(context_settings=HELP, epilog=EXAMPLES)
@paths_argument
@nodes_option
@click.option("--all", "every", is_flag=True,
              help="All races, one for each pair of lines, and not the first one found alone.")  # fmt: skip
@click.option("--strict", is_flag=True,
              help="A wait and the value that it waits for are a race too, unless both are atomic, and so are atomics "
                   "that are only promised to exclude each other when they do the same.")  # fmt: skip
@memory_model_option
@click.option("--analysis", type=click.Choice(["exact", "must-rma"]), default="exact", show_default=True,
              help="must-rma: say beside the exact answer what MUST-RMA (Schwitanski et al. 2022) reports of one order "
                   "of the events, that of the trace or of a simulated run.")  # fmt: skip
@click.option("--no-robustness", is_flag=True,
              help="Do not say whether the program is robust all the same, which can take longer.")  # fmt: skip
@limit_options("search")
@resume_option
@output_options("the run to the first race")
@click.option("--expect", is_flag=True,
              help="Compare the number of pairs of lines with the program's header `// races: ...`.")  # fmt: skip
@click.option("-v", "--verbose", is_flag=True, help="Show a run to every race, also of several programs.")
@click.option("--brief", is_flag=True, help="A line per race, as compilers print: file:line:column: race: what races.")
@click.option("--full", is_flag=True, help="Show every event of a run; else a long way to a race is folded.")
@click.option("--assumptions", is_flag=True, help="List all that each answer rests on, in reports of all results.")
@reading_options
@c_options
@click.pass_context
def race(
    ctx: click.Context,
    /,
    paths: tuple[str, ...],
    nodes: tuple[int, ...] | None,
    every: bool,
    strict: bool,
    analysis: str,
    memory_model: MemoryModel | None,
    no_robustness: bool,
    max_states: int,
    timeout: float | None,
    memory_limit: int | None,
    jobs: int | None,
    resume: str | None,
    format_: str,
    baseline: str | None,
    witnesses: tuple[str, ...],
    cycle_only: bool,
    expect: bool,
    verbose: bool,
    brief: bool,
    full: bool,
    assumptions: bool,
    reading: Reading,
    front_end: FrontEnd,
) -> None:
    """Decide whether programs have races.

    A race is two accesses to one cell that are both next in some state of some run, by any two commands, unless both
    read or both are atomic in one type. It need not be a mistake: beside it stands whether the program is robust all
    the same. Folders are searched for .pgas and .c files as `pgasrob check` does.
    """
    from pgasrob.batch.job import Job, unwatched
    from pgasrob.batch.side_by_side import convert_all
    from pgasrob.program.reading import DEFAULT_READING
    from pgasrob.render.printers import PrintOptions, RaceForm, printer
    from pgasrob.render.races_json import checked_races
    from pgasrob.robustness.limits import Limits
    from pgasrob.robustness.question import Races, Resources

    if memory_model is not None:
        if any(path.endswith(SUFFIX) for path in paths):
            raise click.UsageError(f"--memory-model is about C programs, and not about {SUFFIX} files.")
        others = strict or no_robustness or witnesses or verbose or brief or full or cycle_only or resume or baseline
        limits = (max_states, memory_limit, jobs) != (MOST_STATES, None, None)
        if others or limits or reading != DEFAULT_READING or format_ not in ("text", "json"):
            raise click.UsageError("--memory-model goes with --nodes, --all, --timeout, --format, --expect, "
                                   "--assumptions and what says how C is read; `pgasrob explain --memory-model` "
                                   "draws an execution.")  # fmt: skip
        races_in(ctx, paths, nodes, memory_model, every, timeout, format_, expect, assumptions, front_end)
    if brief and (verbose or full or assumptions or format_ != "text"):
        raise click.UsageError("--brief prints a line each: leave --verbose, --full, --assumptions and --format out.")
    if expect and (strict or reading != DEFAULT_READING):
        raise click.UsageError("--expect compares with headers that are about races without --strict, --failed-polls "
                               "count and --conflicts all.")  # fmt: skip
    recorded = traces(
        paths, front_end, {"--nodes": nodes is not None, "--expect": expect, "--resume": resume is not None}
    )
    found = recorded or programs(paths, front_end)
    known = baseline_in(baseline, expect)
    writing = Witnesses(witnesses, found.files, nodes, cycle_only, known)
    mention_a_missing_kernel(DEFAULT_ENGINE)
    jobs = jobs_for(jobs, found.files, nodes)
    every = every or expect
    job = Job(
        nodes,
        limits=Limits(max_states or None, timeout, spared(memory_limit, jobs)),
        expect=expect,
        front_end=found.front_end,
        reading=reading,
        races=Races(strict, every, "never" if no_robustness else "after"),
        resources=Resources(jobs=jobs),
    )
    if resume is not None:
        job = replace(job, kept=kept_in(resume, job, "race"))
    form = RaceForm(expect, assumptions, full, verbose)
    options = PrintOptions(format_, verbose, brief, several_counts=len(nodes or ()) > 1, baseline=known)
    printing = printer(found.files, form, options)
    display = progress_display(job.limits.max_states)
    results: Iterable[RaceResult]
    if recorded is not None:
        results = raced_traces(recorded, strict, every, not no_robustness, reading, job.limits)
    else:
        convert = partial(checked_races, strict=strict, every=every)
        results = convert_all(found.files, job, convert, display or unwatched)
    beside = partial(tell_alarms, front_end=found.front_end, reading=reading, in_json=format_ != "text")
    answer(
        ctx,
        found,
        nodes,
        results,
        printing,
        writing,
        lambda result: outcome(result, expect),
        display,
        named=bool(paths),
        further=beside if analysis == "must-rma" else None,
        baseline=known,
    )


def outcome(result: RaceResult, expect: bool) -> int:
    """The exit code that ``result`` alone stands for."""
    if not expect:
        return {"no race": NO_RACE, "race": RACE, "error": ERROR, "unknown": UNKNOWN}[result["verdict"]]
    expected = result.get("expected")
    if expected is None or (result["verdict"] == "error" and expected != "error"):
        return ERROR
    if result["as_expected"]:
        return NO_RACE
    return UNKNOWN if result["reason"] is not None and result["verdict"] != "error" else RACE
