"""`pgasrob race`: decide whether programs have races."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import click

from pgasrob.cli.declare import Rule, check_rules, command, flag, group, option
from pgasrob.cli.exit_codes import CRASHED, ERROR, NO_RACE, RACE, UNKNOWN, code_of_races, gravest, is_crash
from pgasrob.cli.many import (
    BRIEF,
    BatchLimits,
    Found,
    OutputOptions,
    answer,
    kept_in,
    paths_argument,
    programs,
    resume_option,
)
from pgasrob.cli.option_groups import COptions, ReadingOptions, memory_model_option, node_counts_option
from pgasrob.cli.parameter_types import OneOf
from pgasrob.cli.recorded import MIXED, OF_PROGRAMS, SUFFIX, are_traces, mixed, raced_traces, report_alarms, traces
from pgasrob.cli.shared_steps import mention_a_missing_kernel, print_json, progress_display
from pgasrob.cli.witness_files import Witnesses

if TYPE_CHECKING:
    from pgasrob.batch.job import Job
    from pgasrob.frontends.options import FrontEnd
    from pgasrob.program.reading import Reading
    from pgasrob.races.mpi import MemoryModel
    from pgasrob.render.baseline import Baseline
    from pgasrob.render.printers import Printer
    from pgasrob.render.verdict_json import RaceResult

CODES = {"no race": NO_RACE, "race": RACE, "unknown": UNKNOWN, "error": ERROR}
EXAMPLES = """\b
Exit code:
  0  no race
  1  some race
  2  a program with an error, or wrong usage
  3  unknown: a limit was reached
Of several the gravest, in the order 70 (an internal error, to be reported),
2, 3, 1, 0. Whether programs are robust does not count. With --expect: 0 all
as expected, 1 some not, 2 a header is missing or an error was not expected,
3 unknown. After Ctrl-C 130, once what is known so far has been printed.

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


@dataclass(frozen=True)
class RaceOptions:
    """The options of `pgasrob race`."""

    # fmt: off
    paths: tuple[str, ...] = paths_argument()
    nodes: tuple[int, ...] | None = node_counts_option()
    every: bool = flag("--all", help="Find all races, one for each pair of lines, not only the first one.")
    strict: bool = flag("--strict",
        help="Count a wait and the value that it waits for as a race, too, unless both are atomic, and also atomics "
        "for which a specification leaves open whether they exclude each other (MPI_Compare_and_swap and "
        "accumulates).")
    memory_model: MemoryModel | None = memory_model_option()
    analysis: str = option("--analysis", type=OneOf(["exact", "must-rma"]), default="exact", show_default=True,
        help="must-rma: also say what MUST-RMA (Schwitanski et al. 2022) reports for one order of the events, that "
        "of the trace or of a simulated run.")
    no_robustness: bool = flag("--no-robustness",
        help="Do not decide whether the program is robust all the same, which can take longer.")
    limits: BatchLimits = group(BatchLimits, what="search")
    resume: str | None = resume_option()
    output: OutputOptions = group(OutputOptions, runs="the run to the first race")
    expect: bool = flag("--expect",
        help="Compare the number of pairs of lines with the program's header `// races: ...`.")
    verbose: bool = flag("-v", "--verbose", help="Show a run to every race, also when several programs are searched.")
    brief: bool = flag("--brief", help="Print one line per race, as compilers do: file:line:column: race: what races.")
    full: bool = flag("--full", help="Show every event of a run. By default a long way to a race is folded.")
    assumptions: bool = flag("--assumptions", help="List everything that each answer rests on, in the reports of all "
        "results.")
    reading: Reading = group(ReadingOptions)
    front_end: FrontEnd = group(COptions)
    # fmt: on

    @property
    def all_pairs(self) -> bool:
        """Whether all races are needed: headers count them."""
        return self.every or self.expect


MODEL_RULES: tuple[Rule[RaceOptions], ...] = (
    Rule(
        f"--memory-model is about C programs, and not about {SUFFIX} files.",
        lambda o: any(path.endswith(SUFFIX) for path in o.paths),
    ),
    Rule(
        "--memory-model goes with --nodes, --all, --timeout, --format, --expect, --assumptions and what says how C is "
        "read; `pgasrob explain --memory-model` draws an execution.",
        lambda o: True,
        (
            *("--strict", "--no-robustness", "--witness", "--verbose", "--brief", "--full", "--fold", "--resume"),
            *("--baseline", "--max-states", "--memory-limit", "--jobs", "--failed-polls", "--conflicts"),
            ("--format", "text|json"),
        ),
    ),
)
RULES: tuple[Rule[RaceOptions], ...] = (
    BRIEF,
    Rule(
        "--expect compares with headers that are about races without --strict, --failed-polls count and --conflicts "
        "all.",
        "--expect",
        ("--strict", "--failed-polls", "--conflicts"),
    ),
    Rule(MIXED, lambda o: mixed(o.paths)),
    Rule(OF_PROGRAMS, lambda o: are_traces(o.paths), ("--nodes", "--expect", "--resume")),
)


@command(RaceOptions, examples=EXAMPLES)
def race(options: RaceOptions) -> int:
    """Decide whether programs have races.

    A race is a pair of accesses to one cell, by any two commands, that can both come next in some state of some run,
    unless both read or both are atomic in the same type. A race need not be a mistake, so the report also says whether
    the program is robust all the same. Folders are searched for .pgas and .c files as `pgasrob check` does.
    """
    if options.memory_model is not None:
        check_rules(options, MODEL_RULES)
        return _in_memory_model(options, options.memory_model)
    check_rules(options, RULES)
    found = traces(options.paths, options.front_end) or programs(
        options.paths, options.front_end, options.limits.timeout
    )
    known = options.output.known(options.expect)
    writing = Witnesses(options.output.witnesses, found.files, options.nodes, options.output.fold, known)
    mention_a_missing_kernel()
    jobs = options.limits.at_a_time(found.files, options.nodes)
    job = _job(options, found.front_end, jobs)
    display = progress_display(job.limits.max_states)
    results: Iterable[RaceResult]
    if are_traces(found.files):
        results = raced_traces(found, job)
    else:
        from pgasrob.batch.side_by_side import convert_all
        from pgasrob.render.races_json import checked_races
        from pgasrob.robustness.watch import unwatched

        convert = partial(checked_races, strict=options.strict, every=options.all_pairs)
        results = convert_all(found.files, job, convert, display or unwatched)
    beside = None
    if options.analysis == "must-rma":
        in_json = options.output.format != "text"
        beside = partial(report_alarms, front_end=found.front_end, job=job, in_json=in_json)
    code_of = partial(code_of_races, expect=options.expect)
    return answer(found, results, _printer(options, found, known), writing, code_of, display, beside)


def _job(options: RaceOptions, front_end: FrontEnd, jobs: int) -> Job:
    """The job for each program, of which so many ``jobs`` run at a time."""
    from pgasrob.batch.job import Job
    from pgasrob.robustness.question import Races, Resources

    job = Job(
        options.nodes,
        races=Races(options.strict, options.all_pairs, "never" if options.no_robustness else "after"),
        reading=options.reading,
        limits=options.limits.limits(jobs),
        resources=Resources(options.limits.jobs, jobs),
        front_end=front_end,
        expect=options.expect,
    )
    return job if options.resume is None else replace(job, kept=kept_in(options.resume, job, "race"))


def _printer(options: RaceOptions, found: Found, known: Baseline | None) -> Printer[RaceResult]:
    from pgasrob.render.printers import PrintOptions, printer
    from pgasrob.render.result_forms import RaceForm

    form = RaceForm(options.expect, options.assumptions, options.full, options.verbose)
    printing = PrintOptions(options.output.format, options.verbose, options.brief, baseline=known)
    return printer(found.files, form, printing)


def _in_memory_model(options: RaceOptions, model: MemoryModel) -> int:
    """Decide and print program by program, in a memory model of MPI; the gravest exit code."""
    from pgasrob.races.mpi import decide_file, expected_status
    from pgasrob.render.lines import terminal_width, write
    from pgasrob.render.memory_model import model_report, model_to_json

    found = programs(options.paths, options.front_end, options.limits.timeout)
    codes = {ERROR} if found.problems or not found.files else set()
    for number, (file, count) in enumerate((file, count) for file in found.files for count in options.nodes or (None,)):
        verdict = decide_file(
            file, model, count, every=options.every, timeout=options.limits.timeout, front_end=found.front_end
        )
        result = model_to_json(verdict)
        code = CRASHED if is_crash(result) else CODES[result["verdict"]]
        if options.expect and code != CRASHED:
            expected = expected_status(verdict)
            result["expected"], result["as_expected"] = expected, expected == verdict.status
            code = ERROR if expected is None else NO_RACE if expected == verdict.status else RACE
        codes.add(code)
        if options.output.format == "json":
            print_json(result)
            continue
        if number:
            click.echo()
        write(model_report(result, terminal_width(), list_assumptions=options.assumptions), sys.stdout)
    return gravest(codes)
