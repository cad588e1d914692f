"""`pgasrob check --network`: decide programs and litmus tests on a real network, or litmus tests in the calculus."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pgasrob.cli.check_options import LITMUS, CheckOptions
from pgasrob.cli.exit_codes import ERROR, INTERRUPTED, code_of_network_verdict, code_of_verdict, gravest, is_crash
from pgasrob.cli.many import programs
from pgasrob.cli.recorded import SUFFIX
from pgasrob.cli.shared_steps import crashed, progress_display

if TYPE_CHECKING:
    from pgasrob.frontends.options import FrontEnd
    from pgasrob.robustness.limits import Limits


def on_network(options: CheckOptions) -> int:
    """Decide all programs and litmus tests one after the other, and print; the exit code.

    Where no network is asked about these are litmus tests, which become programs in the calculus.
    """
    if options.counts is not None and all(path.endswith(LITMUS) for path in options.paths):
        raise click.UsageError("--nodes is about programs: a litmus test names its nodes.")
    limits = options.limits.limits(1, options.max_sc_states or None)
    if options.network == "pgas":
        return _in_the_calculus(options, limits)
    from pgasrob.models.networks.network_verdict import verdicts
    from pgasrob.render.lines import terminal_width, write
    from pgasrob.render.network_json import network_to_json
    from pgasrob.render.network_text import network_headline, network_report
    from pgasrob.render.source_places import dumps
    from pgasrob.robustness.question import ProgramFile, Question, RobustnessOnNetwork
    from pgasrob.robustness.watch import unwatched

    asked = RobustnessOnNetwork("corerma")
    if options.network != "corerma":
        asked = RobustnessOnNetwork("rdma-tso", not options.no_pcie, options.placed, options.glob)
    files, front_end, problems = _files(options.paths, options.front_end)
    program = ProgramFile("", front_end)
    question = Question(program, asked=asked, reading=options.reading, limits=limits)
    width = terminal_width()
    display = progress_display(limits.max_states)
    codes = [ERROR] * len(problems)
    count = 0
    try:
        for verdict in verdicts(files, question, options.counts, options.expect, display or unwatched):
            result = network_to_json(verdict)
            codes.append(code_of_network_verdict(result, options.expect))
            if options.output.format == "json":
                print(dumps(result), flush=True)
            elif options.verbose or len(files) == 1 or is_crash(result) or result["errors"]:
                write([[]] * bool(count) + network_report(result, width), sys.stdout)
            else:
                write(network_headline(result, width), sys.stdout)
            count += 1
    except KeyboardInterrupt:
        click.echo("pgasrob: interrupted", err=True)
        return INTERRUPTED
    return gravest(codes)


def _in_the_calculus(options: CheckOptions, limits: Limits) -> int:
    from pgasrob.batch.litmus_checks import checked
    from pgasrob.render.printers import PrintOptions, printer
    from pgasrob.render.result_forms import VerdictForm
    from pgasrob.render.verdict_json import checked_to_json

    if others := [path for path in options.paths if not path.endswith(LITMUS)]:
        raise click.UsageError(f"{others[0]} is no litmus test: give programs and litmus tests apart, or a --network.")
    printing_options = PrintOptions(options.output.format, options.verbose)
    printing = printer(list(options.paths), VerdictForm(options.expect), printing_options)
    codes = []
    for path in options.paths:
        try:
            result = checked_to_json(checked(path, limits, options.reading, options.expect))
        except Exception as error:
            codes.append(crashed(error, path))
            continue
        printing.result(result)
        codes.append(code_of_verdict(result, options.expect, False))
    printing.end()
    return gravest(codes)


def _files(paths: Sequence[str], front_end: FrontEnd) -> tuple[list[str], FrontEnd, list[str]]:
    """The programs and litmus tests that ``paths`` stand for, how C is read, and what is wrong with folders."""
    from pgasrob.batch.job import SUFFIXES
    from pgasrob.program.files import files_below

    tests: list[str] = []
    others: list[str] = []
    problems: list[str] = []
    if traces := [path for path in paths if path.endswith(SUFFIX)]:
        raise click.UsageError(f"--network is about programs: the trace {traces[0]} was recorded on a network.")
    for path in paths:
        if path.endswith(LITMUS):
            tests.append(str(Path(path)))
        elif Path(path).is_dir():
            refused: list[OSError] = []
            found = sorted(files_below(path, (LITMUS,), refused.append))
            tests += map(str, found)
            if refused or any(files_below(path, SUFFIXES)):
                others.append(path)
            elif not found:
                problems.append(f"no .pgas, .c or .litmus file in the folder {path}")
                click.echo(f"pgasrob: {problems[-1]}", err=True)
        else:
            others.append(path)
    if not others and (tests or problems):
        return list(dict.fromkeys(tests)), front_end, problems
    found_programs = programs(tuple(others), front_end)
    problems += found_programs.problems
    return list(dict.fromkeys((*found_programs.files, *tests))), found_programs.front_end, problems
