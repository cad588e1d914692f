"""`pgasrob check --network`: the verdict on programs on a real network."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from pgasrob.cli.exit_codes import ERROR, INTERRUPTED, NOT_ROBUST, ROBUST, UNKNOWN, gravest

if TYPE_CHECKING:
    from pgasrob.frontends.options import FrontEnd
    from pgasrob.models.networks.decide import Asked
    from pgasrob.program.reading import Reading
    from pgasrob.render.network_json import NetworkResult
    from pgasrob.render.verdict_json import Result
    from pgasrob.robustness.limits import Limits

LITMUS = ".litmus"


def refuse_options(network: str, given: Mapping[str, bool]) -> None:
    """That options which are ``given`` are not for a network is wrong usage."""
    if wrong := [option for option, is_given in given.items() if is_given]:
        verb = "is" if len(wrong) == 1 else "are"
        about = f"--network {network}" if network != "pgas" else f"{LITMUS} tests in the calculus (--network pgas)"
        raise click.UsageError(f"{', '.join(wrong)} {verb} not for {about}.")


def asked_for(network: str, pcie: bool, placed: bool) -> Asked | None:
    """What is asked; None: the calculus. Raises UsageError for options that the network does not have."""
    from pgasrob.models.networks.decide import Asked

    if network == "pgas":
        refuse_options(network, {"--no-pcie": not pcie, "--placed": placed})
        return None
    if network == "corerma":
        refuse_options(network, {"--no-pcie": not pcie, "--placed": placed})
        return Asked("corerma")
    return Asked("rdma-tso", pcie, placed)


def on_network(
    ctx: click.Context,
    paths: Sequence[str],
    nodes: tuple[int, ...] | None,
    asked: Asked | None,
    limits: Limits,
    format_: str,
    expect: bool,
    verbose: bool,
    front_end: FrontEnd,
    reading: Reading,
    outcome_of: Callable[[Result, bool, bool], int],
) -> NoReturn:
    """Decide all programs and litmus tests of ``paths`` one after the other, print, and end with the exit code.

    ``asked``: None for litmus tests in the calculus, where they become programs; ``outcome_of`` gives the exit code of
    a verdict there, when it is compared with the header or not, and strict or not."""
    if nodes is not None and all(path.endswith(LITMUS) for path in paths):
        raise click.UsageError("--nodes is about programs: a litmus test names its nodes.")
    if asked is None:
        _in_the_calculus(ctx, paths, limits, format_, expect, verbose, reading, outcome_of)
    from pgasrob.models.networks.decide import verdicts
    from pgasrob.render.lines import terminal_width, write
    from pgasrob.render.network_json import network_to_json
    from pgasrob.render.network_text import network_headline, network_report
    from pgasrob.render.places import dumps

    files, front_end, problems = _files(paths, front_end)
    width = terminal_width()
    outcomes = [ERROR] * len(problems)
    count = 0
    try:
        for verdict in verdicts(files, asked, nodes, limits, front_end, reading, expect):
            result = network_to_json(verdict)
            outcomes.append(outcome(result, expect))
            if format_ == "json":
                print(dumps(result), flush=True)
            elif verbose or len(files) == 1:
                write([[]] * bool(count) + network_report(result, width), sys.stdout)
            else:
                write(network_headline(result, width), sys.stdout)
            count += 1
    except KeyboardInterrupt:
        click.echo("pgasrob: interrupted", err=True)
        ctx.exit(INTERRUPTED)
    ctx.exit(gravest(outcomes))


def _in_the_calculus(
    ctx: click.Context,
    paths: Sequence[str],
    limits: Limits,
    format_: str,
    expect: bool,
    verbose: bool,
    reading: Reading,
    outcome_of: Callable[[Result, bool, bool], int],
) -> NoReturn:
    from pgasrob.batch.litmus import checked
    from pgasrob.render.printers import PrintOptions, VerdictForm, printer
    from pgasrob.render.verdict_json import checked_to_json

    if others := [path for path in paths if not path.endswith(LITMUS)]:
        raise click.UsageError(f"{others[0]} is no litmus test: give programs and litmus tests apart, or a --network.")
    printing = printer(list(paths), VerdictForm(expect), PrintOptions(format_, verbose))
    outcomes = []
    for path in paths:
        result = checked_to_json(checked(path, limits, reading, expect))
        printing.result(result)
        outcomes.append(outcome_of(result, expect, False))
    printing.end()
    ctx.exit(gravest(outcomes))


def outcome(result: NetworkResult, expect: bool) -> int:
    """The exit code that ``result`` alone stands for."""
    verdict = result["verdict"]
    if not expect:
        return {"robust": ROBUST, "not robust": NOT_ROBUST, "unknown": UNKNOWN}.get(verdict, ERROR)
    if result.get("expected") is None or verdict == "error":
        return ERROR
    if verdict == "unknown":
        return UNKNOWN
    return ROBUST if result["as_expected"] else NOT_ROBUST


def _files(paths: Sequence[str], front_end: FrontEnd) -> tuple[list[str], FrontEnd, list[str]]:
    """The programs and litmus tests that ``paths`` stand for, how C is read, and what is wrong with folders."""
    from pgasrob.batch.job import SUFFIXES
    from pgasrob.cli.many import programs
    from pgasrob.cli.recorded import SUFFIX
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
