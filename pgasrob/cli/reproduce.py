"""`pgasrob reproduce`: a counterexample on the real library."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

import click

from pgasrob.cli.exit_codes import ERROR, NOT_ROBUST, ROBUST, UNKNOWN
from pgasrob.cli.options import (
    DEFAULT_ENGINE,
    HELP,
    c_options,
    limited,
    mention_a_missing_kernel,
    node_count,
    print_json,
    refuse,
    seconds,
)

if TYPE_CHECKING:
    from pgasrob.frontends.options import FrontEnd

EXAMPLES = """\b
Exit code:
  0  the program is robust: there is nothing to reproduce (--hold-all: nothing differs)
  1  the counterexample was reproduced in every run (--hold-all: something differs)
  2  a program with an error, what is needed is not installed, or wrong usage
  3  not reproduced, or it is not known whether the program is robust

\b
Examples:
  pgasrob reproduce ring.c -n 2           the run of the counterexample, beside a normal one
  pgasrob reproduce ring.c --runs 3       three times in a row
  pgasrob reproduce ring.c --hold-all     everything as late as it may be
"""


@click.command(context_settings=HELP, epilog=EXAMPLES)
@click.argument("file", type=click.Path())
@node_count
@click.option("--runs", type=click.IntRange(1, 1000), default=1, show_default=True, metavar="N",
              help="Follow the counterexample so many times.")  # fmt: skip
@click.option("--hold-all", is_flag=True,
              help="Follow nothing: hold back every operation for as long as the library may. Nothing may differ where "
              "the result of a robust program is deterministic.")  # fmt: skip
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), default=20.0, show_default=True,
              callback=seconds, metavar="SECONDS", help="What a run may take, and the check before.")  # fmt: skip
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", show_default=True,
              help="json: one object.")  # fmt: skip
@c_options
def reproduce(
    file: str, nodes: int | None, runs: int, hold_all: bool, timeout: float, format_: str, front_end: FrontEnd
) -> None:
    """Run a program that is not robust so that it shows.

    The C program in FILE, which uses OpenSHMEM or MPI, is built and run with the library that is installed, once as it
    goes and once in the order of the counterexample: operations that are late there are held back until then, and ranks
    wait for each other. Both runs are shown side by side. The library may have any such run by itself: nothing is held
    back beyond what its specification allows.
    """
    from pgasrob.diagnostics import SourceError
    from pgasrob.frontends.lower import CProgram
    from pgasrob.render.lines import terminal_width, write
    from pgasrob.render.reproduced import nothing_reproduced, pieces_of, reproduced_lines, reproduced_to_json
    from pgasrob.render.shared_json import errors_to_json
    from pgasrob.robustness.check import check
    from pgasrob.robustness.limits import Limits
    from pgasrob.robustness.load import load
    from pgasrob.robustness.question import Question
    from pgasrob.robustness.session import Session
    from pgasrob.runtime.reproduce.reproduce import hold_all as all_held
    from pgasrob.runtime.reproduce.reproduce import reproduce as reproduced
    from pgasrob.runtime.tools import ToolError

    def nothing(state: str, told: str, code: int) -> None:
        if format_ == "json":
            print_json(nothing_reproduced(file, nodes, state, told))
        else:
            click.echo(f"pgasrob: {told}", err=code == ERROR)
        raise click.exceptions.Exit(code)

    in_json = (
        (lambda errors, reason: nothing_reproduced(file, nodes, "error", reason, errors)) if format_ == "json" else None
    )
    limits = Limits(timeout=timeout)
    try:
        program = limited(limits, "while reading the program", partial(load, file, front_end), in_json)
        if not isinstance(program, CProgram):
            refuse(f"pgasrob: {file}: only C programs can be run", ERROR, in_json, reason="only C programs can be run")
        mention_a_missing_kernel(DEFAULT_ENGINE)
        if hold_all:
            instance = program.instantiate(nodes)
            found = all_held(program, instance, front_end, max(runs, 2), timeout)
            doubles, state = instance.program.doubles, "different" if found.shown else "same"
            if found.why_not is not None:
                state = "unknown"
        else:
            verdict = check(Session(Question(program, nodes, limits=limits)))
            if verdict.verdict != "not robust":
                code = {"robust": ROBUST, "error": ERROR}.get(verdict.verdict, UNKNOWN)
                reason = f": {verdict.reason}" if verdict.reason is not None else ""
                nothing(verdict.verdict, f"{file} is {verdict.verdict} on {verdict.nodes} nodes{reason}", code)
            found = reproduced(program, verdict, pieces_of, front_end, runs, timeout)
            assert verdict.witness is not None
            doubles = verdict.witness.run.instance.program.doubles
            state = "reproduced" if found.shown else "not reproduced"
    except SourceError as error:
        refuse(str(error), ERROR, in_json, errors_to_json(error.diagnostics, file))
    except ToolError as error:
        nothing("error", f"{file}: {error}", ERROR)
    if format_ == "json":
        print_json(reproduced_to_json(file, found, state, doubles))
    else:
        write(reproduced_lines(file, found, state, doubles, terminal_width()), sys.stdout)
    codes = {
        "reproduced": NOT_ROBUST,
        "different": NOT_ROBUST,
        "same": ROBUST,
        "not reproduced": UNKNOWN,
        "unknown": UNKNOWN,
    }
    raise click.exceptions.Exit(codes[state])
