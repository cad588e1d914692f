"""`pgasrob build`: compile a program so that it records what it does."""

from __future__ import annotations

import click

from pgasrob.cli.declare import HELP
from pgasrob.cli.shared_steps import refuse

EXAMPLES = """\b
Examples:
  pgasrob build -- oshcc ring.c -o ring
  pgasrob build -- mpicxx -O2 -c halo.cpp
  make CC="pgasrob build -- mpicc"
"""


@click.command(context_settings={**HELP, "ignore_unknown_options": True}, epilog=EXAMPLES)
@click.argument("command", metavar="-- COMPILER ARGUMENT...", nargs=-1, required=True, type=click.UNPROCESSED)
@click.pass_context
def build(ctx: click.Context, /, command: tuple[str, ...]) -> None:
    """Build a program so that it can be recorded.

    COMPILER is a compiler of MPI or OpenSHMEM that is based on GCC: mpicc, mpicxx, mpifort, oshcc, ... It is called
    with its arguments and with options that make the program report its accesses and calls to `pgasrob record`.
    Started without `pgasrob record`, the program runs as usual, but more slowly. The exit code is the
    compiler's.
    """
    from pgasrob.runtime.child_processes import ended_by_signals
    from pgasrob.runtime.record.build import build as built
    from pgasrob.runtime.tools import ToolError

    try:
        with ended_by_signals():
            code = built(command)
    except ToolError as error:
        refuse(f"pgasrob: {error}")
    ctx.exit(code)
