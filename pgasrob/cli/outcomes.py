"""`pgasrob outcomes`: the final values of a loop-free program, under SC and on the network."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING

import click

from pgasrob.cli.exit_codes import ERROR, NOT_ROBUST, ROBUST, UNKNOWN
from pgasrob.cli.litmus import ModelNames, litmus
from pgasrob.cli.options import (
    HELP,
    MOST_STATES,
    FromTable,
    ProgramPath,
    Size,
    c_options,
    limited,
    listed,
    load_instance,
    memory_for,
    node_count,
    print_json,
    progress_display,
    refuse,
    seconds,
)
from pgasrob.cli.witness_files import RunPath, Witnesses, endings, fold_option, of_one_run, write_witness

if TYPE_CHECKING:
    from collections.abc import Collection

    from pgasrob.cli.options import Empty
    from pgasrob.frontends.options import FrontEnd
    from pgasrob.program.instance import Instance
    from pgasrob.render.one_run_json import RunResult
    from pgasrob.render.outcomes_json import OutcomesResult
    from pgasrob.robustness.limits import Limits
    from pgasrob.runs.outcomes import Outcomes

LITMUS = ".litmus"
EXAMPLES = """\b
Exit code:
  0  no outcome is network-only (which does not make the program robust)
  1  some outcome is
  2  a program with an error or a loop, or wrong usage
  3  a limit was hit before all outcomes were known

\b
Examples:
  pgasrob outcomes sb.pgas
  pgasrob outcomes sb.pgas --of r             only the register r of every rank
  pgasrob outcomes sb.pgas --example 1        with a run that ends so
  pgasrob outcomes sb.pgas --format json | jq '.outcomes[].values'
"""


@click.command(context_settings=HELP, epilog=EXAMPLES)
@click.argument("file", type=ProgramPath())
@node_count
@click.option("-m", "--model", "models", type=ModelNames(), multiple=True, metavar="NAMES",
              help="Of a litmus test (FILE.litmus): in these memory models, as `pgasrob litmus` has them. Default: "
              "pgas,sc.")  # fmt: skip
@click.option("--of", "names", metavar="NAMES",
              help="Only these registers and cells: r@0,y@1 or r for all ranks. Default: all.")  # fmt: skip
@click.option("--example", type=click.IntRange(min=1), metavar="N", help="Show a shortest run with outcome N.")
@click.option("--witness", "witnesses", type=RunPath(), multiple=True, metavar="PATH",
              cls=FromTable, told=lambda: f"Write the example to a file: {endings(of_one_run)} by its ending. Without "
              "--example that of the first network-only outcome, else of the first. Can be repeated.")  # fmt: skip
@fold_option
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", show_default=True,
              help="json: one object, with an example of every outcome.")  # fmt: skip
@click.option("--max-states", type=click.IntRange(min=0), default=MOST_STATES, show_default=True, metavar="N",
              help="Give up after so many states; 0: never.")  # fmt: skip
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), callback=seconds, metavar="SECONDS",
              help="Give up after so many seconds. Default: never.")  # fmt: skip
@click.option("--memory-limit", type=Size(), metavar="SIZE",
              help="Give up when it takes so much memory: 500M, 2G; 0: never. Default: three quarters of what is "
              "available.")  # fmt: skip
@c_options
@click.pass_context
def outcomes(
    ctx: click.Context,
    /,
    file: str,
    nodes: int | None,
    models: tuple[tuple[str, ...], ...],
    names: str | None,
    example: int | None,
    witnesses: tuple[str, ...],
    cycle_only: bool,
    format_: str,
    max_states: int,
    timeout: float | None,
    memory_limit: int | None,
    front_end: FrontEnd,
) -> None:
    """List the final values of a program's runs.

    Under SC and on the network, for programs without loops. Every run is counted: a run goes on until nothing more can
    happen. An outcome is network-only when no sequentially consistent (SC) run has it. Of a litmus test the answer is
    that of `pgasrob litmus`.
    """
    if file.endswith(LITMUS):
        if wrong := _given(ctx, ("file", "models", "format_", "max_states", "timeout", "memory_limit")):
            told = f"{file} is a litmus test, which {listed(wrong, 'and')} {'is' if len(wrong) == 1 else 'are'} not for"
            raise click.UsageError(f"{told}: --model, --format and limits are.")
        ctx.invoke(
            litmus,
            tests=(file,),
            models=models or (("pgas", "sc"),),
            format_=format_,
            max_states=max_states,
            timeout=timeout,
            memory_limit=memory_limit,
        )
    if models:
        raise click.UsageError("--model is for litmus tests (.litmus).")
    from pgasrob.render.lines import glyphs_for, terminal_width, write
    from pgasrob.render.outcomes import example_report, outcomes_report
    from pgasrob.render.outcomes_json import no_outcomes, outcomes_to_json
    from pgasrob.robustness.limits import Limits

    in_json = partial(no_outcomes, file) if format_ == "json" else None
    limits = Limits(max_states or None, timeout, memory_for(memory_limit, 1))
    instance = limited(
        limits, "while reading the program", lambda: load_instance(file, nodes, front_end, in_json), in_json
    )
    writing = Witnesses(witnesses, [file], None if nodes is None else [nodes], cycle_only)
    found = limited(limits, "in the search for outcomes", lambda: _found(instance, names, limits, in_json), in_json)
    chosen = _chosen(found, example, bool(witnesses))
    result = outcomes_to_json(found, None if format_ == "json" else {chosen} - {None})  # type: ignore[arg-type]
    if format_ == "json":
        print_json(result)
    else:
        width, glyphs = terminal_width(), glyphs_for(sys.stdout)
        write(outcomes_report(result, width, glyphs), sys.stdout)
        if example:
            write([[], *example_report(result, example, width, glyphs)], sys.stdout)
    if witnesses and chosen:
        good = write_witness(writing, _example_result(result, chosen))
        for target in writing.written:
            click.echo(f"pgasrob: {target} has a run with outcome {chosen}", err=True)
        if not good:
            ctx.exit(ERROR)
    elif witnesses:
        click.echo(
            f"pgasrob: no outcome is known, so there is no run to draw; not written: {', '.join(witnesses)}", err=True
        )
    ctx.exit(NOT_ROBUST if found.network_only and found.complete else ROBUST if found.complete else UNKNOWN)


def _given(ctx: click.Context, but: Collection[str]) -> list[str]:
    """The options on the command line, ``but`` those of these names."""
    given = click.core.ParameterSource.COMMANDLINE
    return [
        max(each.opts, key=len)
        for each in ctx.command.params
        if each.name not in but and ctx.get_parameter_source(each.name or "") == given
    ]


def _found(instance: Instance, names: str | None, limits: Limits, in_json: Empty | None) -> Outcomes:
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


def _example_result(result: OutcomesResult, row: int) -> RunResult:
    """The example of ``row`` by itself, to be drawn."""
    from pgasrob.render.one_run_json import no_run

    drawn = no_run(result["file"], [])
    drawn["program"], drawn["nodes"] = result["program"], result["nodes"]
    outcome = result["outcomes"][row - 1]
    drawn["witness"] = outcome["example"]
    drawn["outcome"] = {
        "row": row,
        "ending": outcome["ending"],
        "values": outcome["values"],
        "chosen": result["chosen"],
        "network_only": outcome["network_only"],
    }
    return drawn
