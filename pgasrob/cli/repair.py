"""`pgasrob repair`: the cheapest insertions and changes that make a program robust."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pgasrob.cli.exit_codes import ERROR, NOT_ROBUST, ROBUST, UNKNOWN
from pgasrob.cli.options import (
    DEFAULT_ENGINE,
    HELP,
    MOST_STATES,
    NodeCounts,
    Size,
    c_options,
    memory_for,
    mention_a_missing_kernel,
    print_json,
    refuse,
    seconds,
)

if TYPE_CHECKING:
    from pgasrob.frontends.options import FrontEnd
    from pgasrob.repair import Costs, Repair

EXAMPLES = """\b
Exit code:
  0  the program is robust, or a repair was found
  1  nothing in the catalogue repairs it
  2  a program with an error, or wrong usage
  3  a limit was hit before there was an answer

\b
Examples:
  pgasrob repair halo.c -n 2..5           the cheapest repairs, as diffs
  pgasrob repair halo.c --write           write the first into the file
  pgasrob repair halo.c --format diff | patch -p1
"""
CODES = {"robust": ROBUST, "repaired": ROBUST, "not repaired": NOT_ROBUST, "error": ERROR, "unknown": UNKNOWN}
BACKUP = ".orig"


@click.command(context_settings=HELP, epilog=EXAMPLES)
@click.argument("file", type=click.Path())
@click.option("-n", "--nodes", type=NodeCounts(), metavar="COUNTS",
              help="Node counts on which it has to hold: 2..5 or 2,4. Default: the program's own, or 2.")  # fmt: skip
@click.option("--max-answers", type=click.IntRange(min=1), default=3, show_default=True, metavar="N",
              help="Repairs of the smallest cost to look for.")  # fmt: skip
@click.option("--costs", "costs_file", type=click.Path(exists=True, dir_okay=False), metavar="FILE",
              help="A TOML file with costs: order (1), local-completion (2), completion (4), notification "
              "(6), barrier (8), and loop (3), by which each loop around the place multiplies.")  # fmt: skip
@click.option("--write", "writes", is_flag=True,
              help=f"Write the first repair into FILE; what was there is kept in FILE{BACKUP}.")  # fmt: skip
@click.option("--format", "format_", type=click.Choice(["text", "json", "diff", "sarif"]), default="text",
              show_default=True, help="diff: the first repair alone, for `patch -p1`.")  # fmt: skip
@click.option("--max-states", type=click.IntRange(min=0), default=MOST_STATES, show_default=True, metavar="N",
              help="Give up a check after so many states; 0: never.")  # fmt: skip
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), callback=seconds, metavar="SECONDS",
              help="Give up after so many seconds. Default: never.")  # fmt: skip
@click.option("--memory-limit", type=Size(), metavar="SIZE",
              help="Give up a check when it takes so much memory: 500M, 2G; 0: never. Default: three quarters of what "
              "is available.")  # fmt: skip
@c_options
def repair(
    file: str,
    nodes: tuple[int, ...] | None,
    max_answers: int,
    costs_file: str | None,
    writes: bool,
    format_: str,
    max_states: int,
    timeout: float | None,
    memory_limit: int | None,
    front_end: FrontEnd,
) -> None:
    """Find the cheapest changes that make a program robust.

    Waits, fences and barriers are inserted, and calls replaced by ones that do more, as the library of the program has
    them. Each answer is checked from the changed text on all node counts: it is robust, has no new deadlock, and its SC
    runs end as before.
    """
    from pgasrob.diagnostics import SourceError
    from pgasrob.program.program import DEFAULT_NODES, Program
    from pgasrob.repair import repair as repaired
    from pgasrob.repair.verifier import Parse
    from pgasrob.robustness.check import load
    from pgasrob.robustness.limits import Limits

    costs = _costs(costs_file)
    mention_a_missing_kernel(DEFAULT_ENGINE)
    try:
        program = load(file, front_end)
    except SourceError as error:
        refuse(str(error))
    parse: Parse
    if isinstance(program, Program):
        from pgasrob.program.parser import parse as parse_pgas

        parse = partial(parse_pgas, file=file)
    else:
        from pgasrob.frontends.lower import parse_c

        parse = partial(parse_c, file=file, options=front_end)
    limits = Limits(max_states or None, timeout, memory_for(memory_limit, 1))
    counts = nodes or (program.nodes or DEFAULT_NODES,)
    found = repaired(program, parse, counts, costs, max_answers, limits)
    _show(file, found, format_)
    if writes and found.answers:
        _write(file, found)
    raise click.exceptions.Exit(CODES[found.state])


def _costs(path: str | None) -> Costs:
    import tomllib

    from pgasrob.repair import Costs

    if path is None:
        return Costs()
    try:
        return Costs.read(tomllib.loads(Path(path).read_text(encoding="utf-8")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, ValueError) as error:
        raise click.BadParameter(f"{path}: {error}.", param_hint="--costs") from None


def _show(file: str, found: Repair, format_: str) -> None:
    if format_ == "json":
        from pgasrob.render.repair import repair_to_json

        print_json(repair_to_json(file, found))
    elif format_ == "diff" and found.answers:
        click.echo(found.diff(found.answers[0]), nl=False)
    elif format_ == "sarif":
        from pgasrob.render.repair import repair_to_sarif

        click.echo(repair_to_sarif(found), nl=False)
    else:
        from pgasrob.render.lines import terminal_width, write
        from pgasrob.render.repair import repair_lines

        write(repair_lines(file, found, terminal_width()), sys.stderr if format_ == "diff" else sys.stdout)


def _write(file: str, found: Repair) -> None:
    from pgasrob.program.files import DISK
    from pgasrob.program.parser import read_source
    from pgasrob.render.files import replace_file

    try:
        if read_source(Path(file), DISK) != found.text:
            refuse(f"{file} has changed since it was read: nothing is written")
        replace_file(file + BACKUP, found.text)
        replace_file(file, found.answers[0].text)
    except OSError as error:
        refuse(f"cannot write {file}: {error.strerror}")
    click.echo(f"{file}: repaired; what was there is in {file}{BACKUP}", err=True)
