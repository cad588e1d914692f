"""`pgasrob run`: simulate one random run of a program."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import click

from pgasrob.cli.declare import Rule, argument, check_rules, command, group, option
from pgasrob.cli.exit_codes import ERROR, NOT_ROBUST, ROBUST
from pgasrob.cli.option_groups import COptions, ReadingOptions, TimeAndMemory, format_option, node_count_option
from pgasrob.cli.parameter_types import OneOf, ProgramPath
from pgasrob.cli.shared_steps import limited, load_instance, print_json, refuse, reported
from pgasrob.cli.witness_files import RunPath, Witnesses, fold_option, witness_option, write_witness

if TYPE_CHECKING:
    from pgasrob.frontends.options import FrontEnd
    from pgasrob.program.instance import Instance
    from pgasrob.program.reading import Reading
    from pgasrob.render.one_run_json import RunResult
    from pgasrob.robustness.limits import Limits
    from pgasrob.runs.simulate import Bias, Simulated, Wanted

DEFAULT_STEPS = 1_000  # those of semantics.simulate, which is not imported for the help text
DEFAULT_TRIES = 1_000
MOST_SEED = 1_000_000
"""Seeds that are drawn are smaller, so short enough to be typed again."""

EXAMPLES = """\b
Exit code:
  0  there is a run to show
  1  no run was found that --until wants, which says nothing of the others
  2  a program with an error, or wrong usage
  3  a limit was reached before it was done

\b
Examples:
  pgasrob run ring.pgas                      a run on the network
  pgasrob run ring.pgas --seed 7             always the same one
  pgasrob run ring.pgas --sc                 a sequentially consistent run
  pgasrob run ring.pgas --until assertion    the first in which one fails
"""


@dataclass(frozen=True)
class RunOptions:
    """The options of `pgasrob run`."""

    # fmt: off
    file: str = argument(type=ProgramPath())
    nodes: int | None = node_count_option()
    seed: int | None = option("--seed", type=click.IntRange(min=0), metavar="S",
        help="The same seed gives the same run. Default: a random seed, which is printed.")
    sc: bool = option("--sc/--network", default=False,
        help="A sequentially consistent run, or one on the network (the default).")
    bias: Bias = option("--bias", type=OneOf(["late", "even", "early"]), default="even", show_default=True,
        help="When pending steps happen: late and early make later and earlier times likelier, not certain.")
    steps: int = option("--steps", type=click.IntRange(min=1), default=DEFAULT_STEPS, show_default=True, metavar="N",
        help="Cut the run after N events; steps that are then pending still happen.")
    until: Wanted | None = option("--until", type=OneOf(["violation", "assertion", "deadlock", "fault"]),
        help="Try the seeds S, S + 1, ... until a run has a happens-before cycle, fails an assertion, ends in a "
        "deadlock or at a fault.")
    tries: int = option("--tries", type=click.IntRange(min=1), default=DEFAULT_TRIES, show_default=True, metavar="N",
        help="How many seeds --until tries.")
    witnesses: tuple[str, ...] = witness_option("Write the run to a file", RunPath)
    fold: bool = fold_option()
    format: str = format_option("json", help="json: one object, in which the run is the witness.")
    limits: Limits = group(TimeAndMemory, beside="")
    reading: Reading = group(ReadingOptions)
    front_end: FrontEnd = group(COptions)
    # fmt: on


RULES: tuple[Rule[RunOptions], ...] = (
    Rule(
        "no SC run has a happens-before cycle: leave out --sc or --until violation.",
        lambda o: o.until == "violation" and o.sc,
    ),
)


@command(RunOptions, examples=EXAMPLES)
def run(options: RunOptions) -> int:
    """Simulate one random run of a program.

    A run on the network either looks like an SC run, which is then shown, too, or has a happens-before cycle. One run
    says nothing about the others: `pgasrob check` considers all of them.
    """
    import random

    from pgasrob.render.lines import glyphs_for, terminal_width, write
    from pgasrob.render.one_run_json import no_run, simulated_to_json
    from pgasrob.render.one_run_text import simulation_report

    check_rules(options, RULES)
    in_json = partial(no_run, options.file) if options.format == "json" else None
    nodes = options.nodes
    writing = Witnesses(options.witnesses, [options.file], None if nodes is None else [nodes], options.fold)
    first = random.SystemRandom().randrange(MOST_SEED) if options.seed is None else options.seed

    def simulated() -> RunResult | None:
        instance = load_instance(options.file, nodes, options.front_end, in_json, options.reading)
        found = _simulated(instance, first, options)
        return None if found is None else simulated_to_json(found, options.steps)

    with reported(options.file, in_json):
        result = limited(options.limits, "while simulating the program", simulated, in_json, looks=False)
    if result is None:
        seeds = f"the {options.tries:,} with the seeds from {first} on"
        reason = f"no run of {seeds} shows what --until {options.until} wants"
        hint = "other runs may: `pgasrob check` looks at all"
        refuse(f"pgasrob: {reason}; {hint}", NOT_ROBUST, in_json, reason=reason)
    if not write_witness(writing, result):
        return ERROR
    if options.format == "json":
        print_json(result)
    else:
        write(simulation_report(result, terminal_width(), glyphs_for(sys.stdout)), sys.stdout)
    return ROBUST


def _simulated(instance: Instance, seed: int, options: RunOptions) -> Simulated | None:
    from pgasrob.runs.simulate import search, simulate

    def simulated(seed: int) -> Simulated:
        return simulate(instance, seed, not options.sc, options.bias, options.steps)

    if options.until is None:
        return simulated(seed)
    return search(simulated, options.until, range(seed, seed + options.tries))
