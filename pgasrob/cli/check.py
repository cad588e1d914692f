"""`pgasrob check`: decide whether programs are robust."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from pgasrob.cli.check_options import NETWORK_RULES, ONE_FILE, PROGRAM_RULES, RULES, CheckOptions
from pgasrob.cli.declare import check_rules, command
from pgasrob.cli.exit_codes import ROBUST, code_of_verdict
from pgasrob.cli.further import certify, look_for_fixes, say_why
from pgasrob.cli.many import Found, answer, kept_in, programs
from pgasrob.cli.network import on_network
from pgasrob.cli.option_groups import DEFAULT_ENGINE
from pgasrob.cli.recorded import are_traces, checked_traces, traces
from pgasrob.cli.shared_steps import mention_a_missing_kernel, progress_display, refuse
from pgasrob.cli.witness_files import Witnesses

if TYPE_CHECKING:
    from pgasrob.batch.headers import Header
    from pgasrob.batch.job import Job
    from pgasrob.frontends.options import FrontEnd
    from pgasrob.render.baseline import Baseline
    from pgasrob.render.printers import Printer
    from pgasrob.render.progress import Display
    from pgasrob.render.verdict_json import Result
    from pgasrob.robustness.question import AboutRobustness

ONE_CERTIFICATE = "--certificate is about one FILE on one node count, or all, with --cpu sc, on this machine."
EXAMPLES = """\b
Exit code:
  0  every program is as it should be: C programs are correctly synchronised,
     .pgas files robust, with no deadlock and no failing assertion found
  1  some program is not
  2  a program has an error, or the command is used wrongly
  3  unknown: a limit was reached
Of several results the gravest counts, in the order 70 (an internal error;
please report it), 2, 3, 1, 0. With --expect: 0 all results are as expected,
1 some are not, 2 a header is missing or an error was not expected, 3 unknown.
After Ctrl-C the results so far are printed, and the exit code is 130.

\b
Examples:
  pgasrob check ring.pgas -n 2..5 --timeout 60
  pgasrob check ring.pgas -n all          for every number of nodes
  pgasrob check main.c ring.c -I include -D N=4
  pgasrob check --compile-commands build
  pgasrob check run.pgastrace             all runs of a recorded program
  pgasrob check main.c --only robust      deadlocks and races do not count
  pgasrob check programs --expect
  pgasrob check handed_in --expect --headers key
  pgasrob check programs -v | less        with every counterexample
  pgasrob check programs --format json > verdicts.jsonl
  pgasrob check programs --resume kept.db    resumes after an interruption
  pgasrob check ring.pgas --network rdma-tso --placed
  pgasrob check programs --cluster tcp://head:8786
  pgasrob check ring.pgas --witness ring.svg --witness ring.html
  pgasrob check ring.pgas --witness slide.svg --fold
  pgasrob check ring.pgas --certificate ring.json
  pgasrob check programs --witness {name}-{nodes}.svg
"""


@command(CheckOptions, examples=EXAMPLES)
def check(options: CheckOptions) -> int:
    """Decide whether programs are correctly synchronised.

    A C program is correctly synchronised if all its calls are legal, no rank gets stuck, the program is robust, and no
    race changes the result. Of a .pgas program the command asks whether it is robust; other mistakes that it finds are
    reported, too. Each mistake is shown by a run; if the program is not robust, by a run on the network that no
    sequentially consistent run looks like.

    Folders are searched for .pgas and .c files (with --network also for .litmus files), except hidden ones. For several
    programs the command prints a table of verdicts. `-` is a program on the standard input.

    Each C file with `main` is a program, which is linked with those other C files that define what it needs. With
    --compile-commands and no FILE all programs of the database are checked.
    """
    check_rules(options, RULES)
    if options.on_network:
        check_rules(options, NETWORK_RULES)
        return on_network(options)
    check_rules(options, PROGRAM_RULES)
    found = traces(options.paths, options.front_end) or programs(
        options.paths, options.front_end, options.limits.timeout
    )
    _check_number_of_files(options, found)
    known = options.output.known(options.expect)
    headers = None if options.key is None else _headers_of(options.key, found)
    counts = _counts(options, headers)
    writing = Witnesses(options.output.witnesses, found.files, counts, options.output.fold, known)
    mention_a_missing_kernel(options.engine)
    if options.engine == "spin":
        _require_spin()
    jobs = options.limits.at_a_time(found.files, counts)
    job = _job(options, found.front_end, headers, jobs)
    display = progress_display(job.limits.max_states)
    uncertified = ROBUST

    def further(result: Result) -> None:
        nonlocal uncertified
        if options.why is not None:
            say_why(result, options.why, job)
        if options.fixes and result["verdict"] == "not robust":
            look_for_fixes(result, job)
        if options.certificate is not None and result["verdict"] == "robust":
            uncertified = certify(result, options.certificate, job, display)

    def code_of(result: Result) -> int:
        code = code_of_verdict(result, options.expect, options.strict, options.report == "outcomes")
        return max(code, uncertified)

    results = _results(options, found, job, display)
    return answer(found, results, _printer(options, found, counts, known), writing, code_of, display, further)


def _check_number_of_files(options: CheckOptions, found: Found) -> None:
    """End the command where --why or --certificate, which are about one program, are given with several."""
    if options.why is not None and len(options.paths) > 1 + len(found.units):
        raise click.UsageError(ONE_FILE)
    several = len(found.files) != 1 or len(options.counts or (0,)) > 1
    if options.certificate is not None and (several or options.cluster or options.cpu == "tso"):
        raise click.UsageError(ONE_CERTIFICATE)


def _counts(options: CheckOptions, headers: Mapping[str, Header] | None) -> tuple[int, ...] | None:
    """The node counts of all results: those of the headers of a key, where none are given."""
    if headers is None or options.nodes is not None:
        return options.counts
    return tuple(sorted({count for header in headers.values() for count in header.counts})) or None


def _job(options: CheckOptions, front_end: FrontEnd, headers: Mapping[str, Header] | None, jobs: int) -> Job:
    """The job for each program, of which so many ``jobs`` run at a time."""
    from pgasrob.batch.job import Job
    from pgasrob.robustness.question import EngineChoice, Races, Resources

    # Only the attack engine has reductions to leave out: who does so asks for it.
    attack = options.engine == DEFAULT_ENGINE and (options.no_reduction or options.without)
    reductions = _reductions(options.no_reduction, options.without)
    job = Job(
        options.counts,
        _asked(options),
        Races() if options.races else None,
        EngineChoice("attack" if attack else options.engine, options.heads, reductions),
        options.reading,
        options.limits.limits(jobs, options.max_sc_states or None, options.cluster is not None),
        Resources(options.limits.jobs, jobs, options.cluster, worker_memory=options.limits.memory_limit is None),
        front_end,
        expect=options.expect,
        headers=headers,
    )
    return job if options.resume is None else replace(job, kept=kept_in(options.resume, job, "check"))


def _asked(options: CheckOptions) -> AboutRobustness:
    """The machine and the node counts that are asked about."""
    from pgasrob.robustness.question import RobustnessOnEveryCount, RobustnessOnTso, Synchronisation

    if options.every_count:
        return RobustnessOnEveryCount(options.only)
    return RobustnessOnTso(options.only) if options.cpu == "tso" else Synchronisation(options.only)


def _results(options: CheckOptions, found: Found, job: Job, display: Display | None) -> Iterable[Result]:
    if are_traces(found.files):
        return checked_traces(found, options.reading, job.limits)
    from pgasrob.batch.side_by_side import convert_all
    from pgasrob.render.races_json import checked_with_races
    from pgasrob.render.verdict_json import checked_to_json
    from pgasrob.robustness.watch import unwatched

    return convert_all(found.files, job, checked_with_races if options.races else checked_to_json, display or unwatched)


def _printer(
    options: CheckOptions, found: Found, counts: tuple[int, ...] | None, known: Baseline | None
) -> Printer[Result]:
    from pgasrob.render.printers import PrintOptions, printer
    from pgasrob.render.result_forms import VerdictForm

    printing = PrintOptions(options.output.format, options.verbose, options.brief, options.strict, known)
    return printer(found.files, VerdictForm(options.expect, options.assumptions, options.full), printing)


def _headers_of(key: str, found: Found) -> Mapping[str, Header]:
    """The headers of the folder ``key`` for the programs ``found``. Says what of the key is not among these."""
    from pgasrob.batch.headers import BadKey, headers
    from pgasrob.batch.job import SUFFIXES

    try:
        known, missing = headers(key, found.files, SUFFIXES)
    except BadKey as error:
        raise click.UsageError(f"--headers {key}: {error}") from None
    for file in missing:
        found.problems.append(f"no FILE stands for {file} of the key")
        click.echo(f"pgasrob: {found.problems[-1]}", err=True)
    return known


def _reductions(none: bool, without: tuple[str, ...]) -> tuple[str, ...] | None:
    """The reductions to use; None for all there are."""
    if none or not without:
        return () if none else None
    from pgasrob.robustness.reduction import REDUCTIONS

    return tuple(name for name in REDUCTIONS if name not in without)


def _require_spin() -> None:
    from pgasrob.robustness.spin import MissingProgram, needed_programs

    try:
        needed_programs()
    except MissingProgram as error:
        refuse(f"pgasrob: {error}")
