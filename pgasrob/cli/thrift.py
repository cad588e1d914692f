"""`pgasrob thrift`: what a robust program can do without."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from pgasrob.cli.changes import BACKUP, can_write, change_options, costs_in, read, write_changes
from pgasrob.cli.exit_codes import ERROR, NOT_ROBUST, ROBUST, UNKNOWN
from pgasrob.cli.options import HELP, ProgramPath, limited, memory_for, print_json

if TYPE_CHECKING:
    from pgasrob.frontends.options import FrontEnd

EXAMPLES = """\b
Exit code:
  0  it was found out what can go, if anything
  1  the program is not robust
  2  a program with an error, or wrong usage
  3  a limit was hit before there was an answer

\b
Examples:
  pgasrob thrift halo.c -n 2..5           each wait, fence, barrier and blocking call
  pgasrob thrift halo.c --write           leave out what saves most
"""
CODES = {"thrifty": ROBUST, "can save": ROBUST, "not robust": NOT_ROBUST, "error": ERROR, "unknown": UNKNOWN}


@click.command(context_settings=HELP, epilog=EXAMPLES)
@click.argument("file", type=ProgramPath())
@click.option("--write", "writes", is_flag=True,
              help=f"Write what saves most into FILE; what was there is kept in FILE{BACKUP} (or {BACKUP}.1 and so "
              "on).")  # fmt: skip
@click.option("--format", "format_", type=click.Choice(["text", "json", "diff"]), default="text",
              show_default=True, help="diff: what saves most, for `patch -p1`.")  # fmt: skip
@change_options
def thrift(
    file: str,
    nodes: tuple[int, ...] | None,
    costs_file: str | None,
    writes: bool,
    format_: str,
    max_states: int,
    timeout: float | None,
    memory_limit: int | None,
    front_end: FrontEnd,
) -> None:
    """Find the waits, fences, barriers and blocking calls that a robust program can do without.

    Each is tried alone, left out and with a call that does less in its place, and then the set of them that saves most
    together. The program stays robust on all node counts, its assertions hold, and its SC runs end as before: a barrier
    that only keeps a result deterministic stays.
    """
    from pgasrob.program.program import DEFAULT_NODES
    from pgasrob.render import thrift as render
    from pgasrob.repairs.thrift import thrift as thrifty
    from pgasrob.robustness.limits import Limits

    can_write(writes, file)
    costs = costs_in(costs_file)
    limits = Limits(max_states or None, timeout, memory_for(memory_limit, 1))
    program, parse = limited(limits, "while reading the program", lambda: read(file, front_end))
    counts = nodes or (program.nodes or DEFAULT_NODES,)
    found = limited(limits, "in the search for savings", lambda: thrifty(program, parse, counts, costs, limits))
    if format_ == "json":
        print_json(render.thrift_to_json(file, found))
    elif format_ == "diff":
        click.echo(render.diff(file, found), nl=False)
    else:
        from pgasrob.render.lines import terminal_width, write

        write(render.thrift_lines(file, found, terminal_width()), sys.stdout)
    if writes and found.together:
        write_changes(file, found.text, found.after, "what can go is left out")
    raise click.exceptions.Exit(CODES[found.state])
