"""`pgasrob check`: decide whether programs are robust."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from pgasrob.cli.exit_codes import ERROR, NOT_ROBUST, ROBUST, UNKNOWN
from pgasrob.cli.many import (
    Found,
    answer,
    baseline_in,
    jobs_for,
    kept_in,
    limit_options,
    output_options,
    paths_argument,
    programs,
    resume_option,
    spared,
)
from pgasrob.cli.network import LITMUS, asked_for, on_network, refuse_options
from pgasrob.cli.options import (
    DEFAULT_ENGINE,
    HELP,
    MOST_SC_STATES,
    EngineName,
    FromTable,
    Lines,
    NodeCounts,
    Reduction,
    TwoLines,
    c_options,
    listed,
    mention_a_missing_kernel,
    progress_display,
    reading_options,
)
from pgasrob.cli.recorded import checked_traces, traces
from pgasrob.cli.witness_files import Witnesses

if TYPE_CHECKING:
    from pgasrob.batch.headers import Header
    from pgasrob.batch.job import Job
    from pgasrob.frontends.options import FrontEnd
    from pgasrob.program.declarations import Source
    from pgasrob.program.reading import Reading
    from pgasrob.render.progress import Display
    from pgasrob.render.verdict_json import Result

FIX_SECONDS = 5.0
"""As the help says."""
ONE_FILE = "--why is about two lines of one FILE, on this machine."
ONE_CERTIFICATE = "--certificate is about one FILE on one node count, or all, with --cpu sc, on this machine."
EXAMPLES = """\b
Exit code:
  0  all robust
  1  some not robust
  2  a program with an error, or wrong usage
  3  unknown: a limit was hit
Of several the gravest, in the order 2, 3, 1, 0. With --expect: 0 all as
expected, 1 some not, 2 a header is missing or an error was not expected,
3 unknown. After Ctrl-C 130, once what is known so far has been printed.

\b
Examples:
  pgasrob check ring.pgas -n 2..5 --timeout 60
  pgasrob check ring.pgas -n all          for every number of nodes
  pgasrob check main.c ring.c -I include -D N=4
  pgasrob check --compile-commands build
  pgasrob check run.pgastrace             all runs of what was recorded
  pgasrob check programs --expect
  pgasrob check handed_in --expect --headers key
  pgasrob check programs -v | less        with every counterexample
  pgasrob check programs --format json > verdicts.jsonl
  pgasrob check programs --resume kept.db    goes on where it was ended
  pgasrob check ring.pgas --network rdma-tso --placed
  pgasrob check programs --cluster tcp://head:8786
  pgasrob check ring.pgas --witness ring.svg --witness ring.html
  pgasrob check ring.pgas --witness slide.svg --fold
  pgasrob check ring.pgas --certificate ring.json
  pgasrob check programs --witness {name}-{nodes}.svg
"""


@click.command(context_settings=HELP, epilog=EXAMPLES)
@paths_argument
@click.option("-n", "--nodes", type=NodeCounts(every=True), metavar="COUNTS",
              help="Node counts: 2, 2..5 or 2,4; all: every number of nodes, by a proof from some number on. Default: "
              "the program's own, or 2.")  # fmt: skip
@click.option("--engine", type=EngineName(), default=DEFAULT_ENGINE, show_default=True,
              cls=FromTable, told=lambda: f"How to decide. {EngineName().told()}")  # fmt: skip
@click.option("--cpu", type=click.Choice(["sc", "tso"]), default="sc", show_default=True,
              help="How a rank's stores reach memory. sc: in program order; tso: by a store buffer, which its loads "
              "may overtake, as on x86.")  # fmt: skip
@click.option("--network", type=click.Choice(["pgas", "rdma-tso", "corerma"]), default="pgas", show_default=True,
              help="Which network FILE runs on, which may be a .litmus test, too. pgas: the calculus; rdma-tso: "
              "InfiniBand verbs between x86 CPUs (Ambal et al. 2024); corerma: coreRMA (Dan et al. 2016). What the "
              "network has no counterpart of is refused.")  # fmt: skip
@click.option("--no-pcie", is_flag=True,
              help="RDMA-TSO without the guarantee of PCI Express that a read places the writes before "
              "it.")  # fmt: skip
@click.option("--placed", is_flag=True,
              help="RDMA-TSO on adapters that acknowledge a put when it is in memory, as all do today.")  # fmt: skip
@click.option("--max-sc-states", type=click.IntRange(min=0), default=MOST_SC_STATES, show_default=True, metavar="N",
              help="Leave assertions and deadlocks open after so many SC states that are looked at for them alone; 0: "
              "never.")  # fmt: skip
@limit_options("check")
@click.option("--cluster", metavar="ADDRESS",
              help="Check on the workers of the Dask scheduler there (tcp://host:8786), one job per thread of theirs. "
              "The same pgasrob has to be on all machines.")  # fmt: skip
@resume_option
@output_options("the run")
@click.option("--expect", is_flag=True, help="Compare every verdict with the program's header `// expect: ...`.")
@click.option("--headers", "key", type=click.Path(file_okay=False), metavar="KEY",
              help="With --expect: compare with the headers of the programs of the same names in the folder KEY, on "
              "the node counts of those, whatever the programs themselves say.")  # fmt: skip
@click.option("--strict", is_flag=True,
              help="A failing assertion or a deadlock makes the exit code 1; when left open, 3.")  # fmt: skip
@click.option("--report", type=click.Choice(["all", "outcomes"]), default="all", show_default=True,
              help="What makes the exit code 1. outcomes: of what is not robust only that of which some run on the "
              "network has an outcome, or fails an assertion, that no SC run has or fails, as far as one is "
              "found.")  # fmt: skip
@click.option("-v", "--verbose", is_flag=True, help="Show every counterexample, also of several programs.")
@click.option(
    "--brief", is_flag=True, help="A line per program, as compilers print: file:line:column: not robust: why."
)
@click.option("--races", is_flag=True,
              help="Say too whether there are races, as `pgasrob race` does; the exit code is as without.")  # fmt: skip
@click.option("--why", "pair", type=Lines(), metavar="LINE,LINE",
              help="Say why the operations and accesses of two lines of a robust FILE (16,20 or, of a further file, "
              "16,ring.c:20) are in order: what would be without each command between them.")  # fmt: skip
@click.option("--full", is_flag=True,
              help="Show every event of a run; else what its cycle does not need is folded.")  # fmt: skip
@click.option("--certificate", type=click.Path(dir_okay=False), metavar="PATH",
              help="Write evidence that FILE is robust, which `pgasrob certify` checks without the engines (packed if "
              "PATH ends with .gz); where it would be too large, or a limit is reached, the exit code is "
              "3.")  # fmt: skip
@click.option("--fixes", is_flag=True,
              help="Look for repairs of what is not robust, too, for 5 seconds each at most: `fixes` in JSON and in "
              ".sarif. `pgasrob repair` takes its time.")  # fmt: skip
@click.option("--assumptions", is_flag=True, help="List all that each verdict rests on, in reports of all results.")
@click.option("--heads", type=click.IntRange(2, 4), metavar="2|3|4",
              help="Heads of the product engine: 2 suffice, 4 are the paper to the letter.  [default: 2]")  # fmt: skip
@click.option("--no-reduction", is_flag=True,
              help="The plain search of the attack engine, which passes more states, for comparison.")  # fmt: skip
@click.option("--without", type=Reduction(), multiple=True, metavar="NAME",
              cls=FromTable, told=lambda: "The attack engine without one of its reductions: "
              f"{listed(Reduction().names())}. Can be repeated.")  # fmt: skip
@reading_options
@c_options
@click.pass_context
def check(
    ctx: click.Context,
    /,
    paths: tuple[str, ...],
    nodes: tuple[int, ...] | str | None,
    engine: str,
    cpu: str,
    network: str,
    no_pcie: bool,
    placed: bool,
    max_states: int,
    max_sc_states: int,
    timeout: float | None,
    memory_limit: int | None,
    jobs: int | None,
    resume: str | None,
    cluster: str | None,
    format_: str,
    baseline: str | None,
    witnesses: tuple[str, ...],
    cycle_only: bool,
    expect: bool,
    key: str | None,
    strict: bool,
    report: str,
    verbose: bool,
    brief: bool,
    races: bool,
    pair: TwoLines | None,
    full: bool,
    certificate: str | None,
    fixes: bool,
    assumptions: bool,
    heads: int | None,
    no_reduction: bool,
    without: tuple[str, ...],
    reading: Reading,
    front_end: FrontEnd,
) -> None:
    """Decide whether programs are robust.

    For a program that is not, a run on the network is shown that no sequentially consistent run looks like. Folders
    are searched for .pgas and .c files, with --network for .litmus files, too, hidden ones left out. Several programs
    give a table of their verdicts. `-` is a program on the standard input.

    A C file with `main` is a program, together with those of the other C files that define what it needs. With
    --compile-commands and no FILE all programs of the database are checked.
    """
    from pgasrob.batch.job import Job, unwatched
    from pgasrob.batch.side_by_side import convert_all
    from pgasrob.program.reading import DEFAULT_READING
    from pgasrob.render.printers import PrintOptions, VerdictForm, printer
    from pgasrob.render.races_json import checked_with_races
    from pgasrob.render.verdict_json import checked_to_json
    from pgasrob.robustness.limits import Limits
    from pgasrob.robustness.question import (
        AboutRobustness,
        EngineChoice,
        Races,
        Resources,
        Robustness,
        RobustnessOnEveryCount,
        RobustnessOnTso,
    )

    if heads is not None and engine != "product":
        raise click.UsageError("--heads is for the product engine: add --engine product.")
    for option, given in (("--no-reduction", no_reduction), ("--without", without)):
        if given and engine == DEFAULT_ENGINE:
            engine = "attack"
        if given and engine != "attack":
            raise click.UsageError(f"{option} is for the attack engine.")
    if pair is not None and (cluster is not None or any(map(os.path.isdir, paths)) or not paths):
        raise click.UsageError(ONE_FILE)
    if brief and (verbose or full or assumptions or format_ != "text"):
        raise click.UsageError("--brief prints a line each: leave --verbose, --full, --assumptions and --format out.")
    if fixes and (reading != DEFAULT_READING or cpu != "sc"):
        raise click.UsageError("--fixes are found for --cpu sc, --failed-polls wait and --conflicts commuting alone.")
    if cluster is not None and jobs is not None:
        raise click.UsageError("--jobs is for this machine: workers of a cluster do as many jobs as they have threads.")
    if cluster is not None and resume is not None:
        raise click.UsageError("--resume keeps the results of this machine alone: leave --cluster out.")
    if cluster is not None and engine == "spin":
        raise click.UsageError("the spin engine works on this machine alone: leave --cluster out.")
    if key is not None and not expect:
        raise click.UsageError("--headers says with what --expect compares: add that.")
    every_count = isinstance(nodes, str)
    if every_count:
        _refuse_for_every_count(
            {"--cpu": cpu != "sc", "--network": network != "pgas", "--why": pair is not None, "--races": races}
        )
    counts = None if isinstance(nodes, str) else nodes
    if network != "pgas" or any(path.endswith(LITMUS) for path in paths):
        refuse_options(
            network,
            {"--engine": engine != DEFAULT_ENGINE and not (no_reduction or without), "--no-reduction": no_reduction,
             "--without": bool(without), "--cpu": cpu != "sc", "--cluster": cluster is not None,
             "--witness": bool(witnesses), "--fold": cycle_only, "--strict": strict, "--report": report != "all",
             "--brief": brief, "--races": races, "--why": pair is not None, "--full": full, "--jobs": jobs is not None,
             "--resume": resume is not None, "--baseline": baseline is not None, "--fixes": fixes,
             "--headers": key is not None, "--format " + format_: format_ not in ("text", "json"),
             "--assumptions": assumptions, "--certificate": certificate is not None,
             "--max-sc-states": max_sc_states != MOST_SC_STATES and network != "pgas",
             "--conflicts": reading.conflicts != "commuting" and network != "pgas",
             "--failed-polls": reading.failed_polls != "wait" and network != "pgas"
             and all(path.endswith(LITMUS) for path in paths)},
        )  # fmt: skip
        limits = Limits(max_states or None, timeout, spared(memory_limit, 1), max_sc_states or None)
        on_network(
            ctx,
            paths,
            counts,
            asked_for(network, not no_pcie, placed),
            limits,
            format_,
            expect,
            verbose,
            front_end,
            reading,
            outcome,
        )
    if no_pcie or placed:
        raise click.UsageError(f"{'--no-pcie' if no_pcie else '--placed'} is for --network rdma-tso.")
    recorded = traces(
        paths,
        front_end,
        {"--nodes": nodes is not None, "--expect": expect, "--races": races, "--why": pair is not None,
         "--cluster": cluster is not None, "--engine": engine != DEFAULT_ENGINE, "--cpu": cpu != "sc",
         "--certificate": certificate is not None, "--resume": resume is not None, "--fixes": fixes},
    )  # fmt: skip
    found = recorded or programs(paths, front_end)
    files, front_end = found.files, found.front_end
    if pair is not None and len(paths) > 1 + len(found.units):
        raise click.UsageError(ONE_FILE)
    if certificate is not None and (len(found.files) != 1 or len(counts or (0,)) > 1 or cluster or cpu == "tso"):
        raise click.UsageError(ONE_CERTIFICATE)
    known = baseline_in(baseline, expect)
    headers = None if key is None else _headers_of(key, found)
    all_counts = counts
    if headers is not None and counts is None and not every_count:
        all_counts = tuple(sorted({count for header in headers.values() for count in header.counts})) or None
    writing = Witnesses(witnesses, files, all_counts, cycle_only, known)
    mention_a_missing_kernel(engine)
    if engine == "spin":
        _require_spin()
    jobs = jobs_for(jobs, files, all_counts)
    memory = spared(memory_limit, jobs, cluster is not None)
    asked: AboutRobustness = RobustnessOnEveryCount() if every_count else Robustness()
    if cpu == "tso":
        if pair is not None:
            raise click.UsageError("--why is about --cpu sc: store buffers are not asked what keeps accesses in order.")
        asked = RobustnessOnTso()
    job = Job(
        counts,
        asked,
        Races() if races else None,
        EngineChoice(engine, heads, _reductions(no_reduction, without)),
        reading,
        Limits(max_states or None, timeout, memory, max_sc_states or None),
        Resources(jobs=jobs, cluster=cluster, worker_memory=memory_limit is None),
        front_end,
        expect=expect,
        headers=headers,
    )
    if resume is not None:
        job = replace(job, kept=kept_in(resume, job, "check"))
    options = PrintOptions(format_, verbose, brief, strict, len(all_counts or ()) > 1, known)
    printing = printer(files, VerdictForm(expect, assumptions, full), options)
    display = progress_display(job.limits.max_states)
    convert = checked_with_races if races else checked_to_json
    watch = display or unwatched
    if recorded is not None:
        results: Iterable[Result] = checked_traces(recorded, reading, job.limits)
    else:
        results = convert_all(files, job, convert, watch)
    uncertified = ROBUST

    def further(result: Result) -> None:
        nonlocal uncertified
        if pair is not None:
            _tell_why(result, pair, job)
        if fixes and result["verdict"] == "not robust":
            _look_for_fixes(result, job)
        if certificate is not None and result["verdict"] == "robust":
            uncertified = _certify(result, certificate, job, display)

    answer(
        ctx,
        found,
        all_counts,
        results,
        printing,
        writing,
        lambda result: max(outcome(result, expect, strict, report == "outcomes"), uncertified),
        display,
        named=bool(paths),
        further=further,
        baseline=known,
    )


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


def _refuse_for_every_count(given: dict[str, bool]) -> None:
    """Refuse options that are not about every number of nodes."""
    for option in (option for option, is_given in given.items() if is_given):
        raise click.UsageError(f"{option} is about some node counts: leave --nodes all out.")


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
    told = listed(names.values(), "and") if names else "no further files"
    raise click.UsageError(f"--why: the program has no file {file}; it has {told}.")


def _tell_why(result: Result, pair: TwoLines, job: Job) -> None:
    """Put into ``result`` why the accesses in a ``pair`` of lines are in order."""
    from pgasrob.diagnostics import SourceError
    from pgasrob.render.why import why_to_json
    from pgasrob.robustness.load import load
    from pgasrob.robustness.why import why

    with contextlib.suppress(SourceError):  # which the result tells of
        program, nodes = load(result["file"], job.front_end), result["nodes"]
        assert nodes != "all", "refused"
        first, second = (_line(program.source, *each) for each in pair)
        question = replace(job.question(result["file"], nodes), program=program)
        found = why(question, result["verdict"], (first, second))
        result["why"] = why_to_json(found)


def _look_for_fixes(result: Result, job: Job) -> None:
    """Put repairs into a ``result`` that is not robust, where they are found soon."""
    import time

    from pgasrob.diagnostics import SourceError
    from pgasrob.render.repair import fixes
    from pgasrob.repairs import repair
    from pgasrob.repairs.reading import read
    from pgasrob.robustness.watch import LimitReached, Watch

    nodes = result["nodes"]
    if not isinstance(nodes, int):
        return
    limits = replace(job.limits, timeout=FIX_SECONDS)
    with contextlib.suppress(SourceError, LimitReached):
        found = Watch(limits, None, time.monotonic()).within(
            "in the search for repairs", lambda: repair(*read(result["file"], job.front_end), (nodes,), limits=limits)
        )
        result["fixes"] = fixes(found)


def _certify(result: Result, path: str, job: Job, display: Display | None) -> int:
    """Write the certificate of a ``result``, within the limits of a check; the exit code that this stands for."""
    import time
    from contextlib import nullcontext
    from functools import partial

    from pgasrob.certificates.files import BadFile, store
    from pgasrob.certificates.write import NoCertificate, write, write_for_every_count
    from pgasrob.robustness.load import load
    from pgasrob.robustness.watch import LimitReached, Watch

    title = f"{result['file']}, {result['nodes']} nodes"
    try:
        with display(title) if display else nullcontext() as progress:
            watch = Watch(job.limits, progress, time.monotonic())

            def text() -> str:
                program, nodes = load(result["file"], job.front_end), result["nodes"]
                look = partial(watch.look_around, "writing the certificate", 0)
                if nodes == "all":
                    return write_for_every_count(program, job.reading, look=look).text
                return write(program, nodes, job.reading, look=look).text

            written = watch.within("while writing it", text)
        store(path, written)
    except (NoCertificate, LimitReached, BadFile) as reason:
        click.echo(f"pgasrob: no certificate is written: {reason}", err=True)
        return UNKNOWN
    return ROBUST


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
        click.echo(f"pgasrob: {error}", err=True)
        raise click.exceptions.Exit(ERROR) from None


def outcome(result: Result, expect: bool, strict: bool, outcomes_alone: bool = False) -> int:
    """The exit code that ``result`` alone stands for (the design, section 6).

    ``outcomes_alone``: a violation of which no outcome was found that only the network has counts for nothing.
    """
    verdict = result["verdict"]
    fails = strict and (result["assertions"] == "violated" or result["deadlock"] is True)
    leaves_open = strict and not fails and "unknown" in (result["assertions"], result["deadlock"])
    good = NOT_ROBUST if fails else UNKNOWN if leaves_open else ROBUST
    if not expect:
        if outcomes_alone and result.get("effect") == "none found":
            return good
        codes = {"robust": ROBUST, "not robust": NOT_ROBUST, "error": ERROR, "unknown": UNKNOWN}
        return codes[verdict] or good
    expected = result.get("expected")
    if expected is None or (verdict == "error" and expected != "error"):
        return ERROR
    if verdict == "unknown":
        return UNKNOWN
    return good if verdict == expected else NOT_ROBUST
