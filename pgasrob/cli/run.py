"""`pgasrob run`: one random run of a program."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

import click

from pgasrob.cli.exit_codes import ERROR, NOT_ROBUST, ROBUST
from pgasrob.cli.options import (
    HELP,
    FromTable,
    ProgramPath,
    c_options,
    load_instance,
    node_count,
    print_json,
    reading_options,
    refuse,
)
from pgasrob.cli.witness_files import RunPath, Witnesses, endings, fold_option, of_one_run, write_witness

if TYPE_CHECKING:
    from pgasrob.frontends.options import FrontEnd
    from pgasrob.program.instance import Instance
    from pgasrob.program.reading import Reading
    from pgasrob.runs.simulate import Bias, Simulated, Wanted

DEFAULT_STEPS = 1_000  # those of semantics.simulate, which is not imported for the help text
DEFAULT_TRIES = 1_000
MOST_SEED = 1_000_000

EXAMPLES = """\b
Exit code:
  0  there is a run to show
  1  no run was found that --until wants, which says nothing of the others
  2  a program with an error, or wrong usage

\b
Examples:
  pgasrob run ring.pgas                      a run on the network
  pgasrob run ring.pgas --seed 7             always the same one
  pgasrob run ring.pgas --sc                 a sequentially consistent run
  pgasrob run ring.pgas --until assertion    the first in which one fails
"""


@click.command(context_settings=HELP, epilog=EXAMPLES)
@click.argument("file", type=ProgramPath())
@node_count
@click.option("--seed", type=click.IntRange(min=0), metavar="S",
              help="The same seed gives the same run. Default: any, which is printed.")  # fmt: skip
@click.option("--sc/--network", "sc", default=False, help="A sequentially consistent run, or one on the network (the "
              "default).")  # fmt: skip
@click.option("--bias", type=click.Choice(["late", "even", "early"]), default="even", show_default=True,
              help="When steps that are pending happen: late and early are likelier, not certain.")  # fmt: skip
@click.option("--steps", type=click.IntRange(min=1), default=DEFAULT_STEPS, show_default=True, metavar="N",
              help="Cut the run after so many events; what is pending then still happens.")  # fmt: skip
@click.option("--until", type=click.Choice(["violation", "assertion", "deadlock", "fault"]),
              help="Try the seeds S, S + 1, ... until a run has a happens-before cycle, fails an assertion, ends in a "
              "deadlock or at a fault.")  # fmt: skip
@click.option("--tries", type=click.IntRange(min=1), default=DEFAULT_TRIES, show_default=True, metavar="N",
              help="How many seeds --until tries.")  # fmt: skip
@click.option("--witness", "witnesses", type=RunPath(), multiple=True, metavar="PATH",
              cls=FromTable, told=lambda: f"Write the run to a file: {endings(of_one_run)} by its ending. Can be "
              "repeated.")  # fmt: skip
@fold_option
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", show_default=True,
              help="json: one object, in which the run is the witness.")  # fmt: skip
@reading_options
@c_options
@click.pass_context
def run(
    ctx: click.Context,
    /,
    file: str,
    nodes: int | None,
    seed: int | None,
    sc: bool,
    bias: Bias,
    steps: int,
    until: Wanted | None,
    tries: int,
    witnesses: tuple[str, ...],
    cycle_only: bool,
    format_: str,
    reading: Reading,
    front_end: FrontEnd,
) -> None:
    """Simulate one random run of a program.

    It says why it went as it did: a run on the network either looks like an SC run, which is shown, or has a
    happens-before cycle. One run says nothing about the others: `pgasrob check` looks at all.
    """
    from pgasrob.render.lines import glyphs_for, terminal_width, write
    from pgasrob.render.one_run import simulation_report
    from pgasrob.render.one_run_json import no_run, simulated_to_json

    if until == "violation" and sc:
        raise click.UsageError("no SC run has a happens-before cycle: leave out --sc or --until violation.")
    in_json = partial(no_run, file) if format_ == "json" else None
    instance = load_instance(file, nodes, front_end, in_json, reading)
    writing = Witnesses(witnesses, [file], None if nodes is None else [nodes], cycle_only)
    first = _any_seed() if seed is None else seed
    found = _simulated(instance, first, sc, bias, steps, until, tries)
    if found is None:
        reason = f"no run of the {tries:,} with the seeds from {first} on shows what --until {until} wants"
        told = f"pgasrob: {reason}; other runs may: `pgasrob check` looks at all"
        refuse(told, NOT_ROBUST, in_json, reason=reason)
    result = simulated_to_json(found, steps)
    if not write_witness(writing, result):
        ctx.exit(ERROR)
    if format_ == "json":
        print_json(result)
    else:
        write(simulation_report(result, terminal_width(), glyphs_for(sys.stdout)), sys.stdout)
    ctx.exit(ROBUST)


def _any_seed() -> int:
    """A seed that is short enough to be typed again."""
    import random

    return random.SystemRandom().randrange(MOST_SEED)


def _simulated(
    instance: Instance, seed: int, sc: bool, bias: Bias, steps: int, until: Wanted | None, tries: int
) -> Simulated | None:
    from pgasrob.runs.simulate import search, simulate

    def simulated(seed: int) -> Simulated:
        return simulate(instance, seed, not sc, bias, steps)

    return simulated(seed) if until is None else search(simulated, until, range(seed, seed + tries))
