"""`pgasrob outcomes`: list the final values of a loop-free program, under SC and on the network."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import click

from pgasrob.cli.declare import argument, command, group, option, typed, with_defaults
from pgasrob.cli.exit_codes import ERROR, NOT_ROBUST, ROBUST, UNKNOWN
from pgasrob.cli.litmus import LitmusOptions, ask_about_tests
from pgasrob.cli.option_groups import COptions, SearchLimits, format_option, node_count_option
from pgasrob.cli.parameter_types import ModelNames, ProgramPath, listed
from pgasrob.cli.shared_steps import limited, load_instance, print_json, progress_display, refuse, reported
from pgasrob.cli.witness_files import RunPath, Witnesses, fold_option, witness_option, write_witness

if TYPE_CHECKING:
    from pgasrob.cli.shared_steps import NoAnswer
    from pgasrob.frontends.options import FrontEnd
    from pgasrob.program.instance import Instance
    from pgasrob.robustness.limits import Limits
    from pgasrob.runs.outcomes import Outcomes

LITMUS = ".litmus"
OF_LITMUS_TESTS = ("file", "models", "format", "max_states", "timeout", "memory_limit")
EXAMPLES = """\b
Exit code:
  0  no outcome is network-only (which does not make the program robust)
  1  some outcome is
  2  a program with an error or a loop, or wrong usage
  3  a limit was reached before all outcomes were known

\b
Examples:
  pgasrob outcomes sb.pgas
  pgasrob outcomes sb.pgas --of r             only the register r of every rank
  pgasrob outcomes sb.pgas --example 1        with a run that ends so
  pgasrob outcomes sb.pgas --format json | jq '.outcomes[].values'
"""


@dataclass(frozen=True)
class OutcomesOptions:
    """The options of `pgasrob outcomes`."""

    # fmt: off
    file: str = argument(type=ProgramPath())
    nodes: int | None = node_count_option()
    models: tuple[tuple[str, ...], ...] = option("-m", "--model", type=ModelNames(), multiple=True, metavar="NAMES",
        help="For a litmus test (FILE.litmus): the memory models, as for `pgasrob litmus`. Default: pgas,sc.")
    names: str | None = option("--of", metavar="NAMES",
        help="Show only these registers and cells: r@0,y@1 or r for all ranks. Default: all.")
    example: int | None = option("--example", type=click.IntRange(min=1), metavar="N",
        help="Show a shortest run with outcome N.")
    witnesses: tuple[str, ...] = witness_option(
        "Write the example to a file", RunPath,
        lambda: "Without --example that of the first network-only outcome, else of the first. ")
    fold: bool = fold_option()
    format: str = format_option("json", help="json: one object, with an example of every outcome.")
    limits: Limits = group(
        SearchLimits,
        states="Give up after so many states",
        seconds="Give up after SECONDS",
        memory="Give up when it takes so much memory",
    )
    front_end: FrontEnd = group(COptions)
    # fmt: on


@command(OutcomesOptions, examples=EXAMPLES)
def outcomes(options: OutcomesOptions) -> int:
    """List the final values of a program's runs.

    The command counts runs under sequential consistency (SC) and runs on the network, for programs without loops. A run
    continues until nothing more can happen. An outcome is network-only if no SC run has it. For a litmus test the
    answer is that of `pgasrob litmus`.
    """
    file = options.file
    if file.endswith(LITMUS):
        return _of_litmus_test(options)
    if options.models:
        raise click.UsageError("--model is for litmus tests (.litmus).")
    from pgasrob.render.lines import glyphs_for, terminal_width, write
    from pgasrob.render.one_run_json import example_result
    from pgasrob.render.outcomes_json import no_outcomes, outcomes_to_json
    from pgasrob.render.outcomes_text import example_report, outcomes_report

    json, nodes, example = options.format == "json", options.nodes, options.example
    in_json = partial(no_outcomes, file) if json else None
    reading = partial(load_instance, file, nodes, options.front_end, in_json)
    writing = Witnesses(options.witnesses, [file], None if nodes is None else [nodes], options.fold)
    with reported(file, in_json):
        instance = limited(options.limits, "while reading the program", reading, in_json)
        search = partial(_found, instance, options.names, options.limits, in_json)
        found = limited(options.limits, "in the search for outcomes", search, in_json)
    chosen = _chosen(found, example, bool(options.witnesses))
    result = outcomes_to_json(found, None if json else {chosen} - {None})  # type: ignore[arg-type]
    if json:
        print_json(result)
    else:
        width, glyphs = terminal_width(), glyphs_for(sys.stdout)
        write(outcomes_report(result, width, glyphs), sys.stdout)
        if example:
            write([[], *example_report(result, example, width, glyphs)], sys.stdout)
    if options.witnesses and chosen:
        good = write_witness(writing, example_result(result, chosen))
        for target in writing.written:
            click.echo(f"pgasrob: {target} has a run with outcome {chosen}", err=True)
        if not good:
            return ERROR
    elif options.witnesses:
        paths = ", ".join(options.witnesses)
        click.echo(f"pgasrob: no outcome is known, so there is no run to draw; not written: {paths}", err=True)
    return NOT_ROBUST if found.network_only and found.complete else ROBUST if found.complete else UNKNOWN


def _of_litmus_test(options: OutcomesOptions) -> int:
    """Answer as `pgasrob litmus` does; ends the command when an option is given that is not for litmus tests."""
    if wrong := [max(each.opts, key=len) for each in typed() if each.name not in OF_LITMUS_TESTS]:
        verb = "is" if len(wrong) == 1 else "are"
        raise click.UsageError(
            f"{options.file} is a litmus test, which {listed(wrong, 'and')} {verb} not for: --model, --format and "
            "limits are."
        )
    models = options.models or (("pgas", "sc"),)
    return ask_about_tests(
        with_defaults(LitmusOptions, tests=(options.file,), models=models, format=options.format, limits=options.limits)
    )


def _found(instance: Instance, names: str | None, limits: Limits, in_json: NoAnswer | None) -> Outcomes:
    from pgasrob.runs.chosen import UnknownPlace
    from pgasrob.runs.outcomes import HasLoop
    from pgasrob.runs.outcomes import outcomes as outcomes_of

    file = instance.program.source.file
    display = progress_display(limits.max_states)
    of = None if names is None else [name.strip() for name in names.split(",") if name.strip()]
    try:
        with display(file) if display else nullcontext() as note:
            return outcomes_of(instance, of, limits, note)
    except UnknownPlace as error:
        raise click.BadParameter(str(error), param_hint="'--of'") from None
    except HasLoop as loop:
        reason = f"{loop}, which this command does not follow; `pgasrob run {file}` simulates one of them"
        refuse(f"{file}:{loop.line}: {reason}", ERROR, in_json, reason=reason)


def _chosen(found: Outcomes, example: int | None, wanted: bool) -> int | None:
    """The row whose example is wanted."""
    count = len(found.outcomes)
    if example is not None:
        if example > count:
            there = f"there are 1..{count}" if count else "none is known"
            raise click.BadParameter(f"no outcome {example}; {there}.", param_hint="'--example'")
        return example
    if not wanted or not count:
        return None
    return next((row for row, outcome in enumerate(found.outcomes, 1) if outcome.network_only), 1)
