"""`pgasrob thrift`: find the synchronisation that a robust program can do without."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import click

from pgasrob.cli.changes import BACKUP, ChangeOptions, can_write, write_changes
from pgasrob.cli.declare import argument, command, flag, group, option
from pgasrob.cli.exit_codes import ERROR, NOT_ROBUST, ROBUST, UNKNOWN
from pgasrob.cli.option_groups import format_option
from pgasrob.cli.parameter_types import OneOf, ProgramPath
from pgasrob.cli.shared_steps import limited, print_json, reported

if TYPE_CHECKING:
    from pgasrob.repairs.output_order import OutputOrder

EXAMPLES = """\b
Exit code:
  0  it was found out which calls can be removed, if any
  1  the program is not robust
  2  a program with an error, or wrong usage
  3  a limit was reached before there was an answer

\b
Examples:
  pgasrob thrift halo.c -n 2..5           each wait, fence, barrier and blocking call
  pgasrob thrift halo.c --write           leave out what saves most
"""
CODES = {"thrifty": ROBUST, "can save": ROBUST, "not robust": NOT_ROBUST, "error": ERROR, "unknown": UNKNOWN}


@dataclass(frozen=True)
class ThriftOptions:
    """The options of `pgasrob thrift`."""

    # fmt: off
    file: str = argument(type=ProgramPath())
    write: bool = flag("--write",
        help=f"Make the changes that save most in FILE; the original is kept in FILE{BACKUP} (or {BACKUP}.1 and so "
        f"on).")
    format: str = format_option("json", "diff", help="diff: the set of changes that saves most, for `patch -p1`.")
    output_order: OutputOrder = option(
        "--output-order", type=OneOf(["kept", "free"]), default="kept", show_default=True,
        help="kept: what ranks write to the terminal must come in an order that is possible now; free: in any order. "
        "Accesses to files keep their order in either case.")
    change: ChangeOptions = group(ChangeOptions)
    # fmt: on


@command(ThriftOptions, examples=EXAMPLES)
def thrift(options: ThriftOptions) -> int:
    """Find calls that a robust program does not need.

    The calls are waits, fences, barriers and blocking puts and gets. The command removes each one, or replaces it by a
    call that does less, and checks the program again; then it does the same for the set of changes that saves most. The
    changed program stays robust on all node counts, its assertions hold, its SC runs end as before, and its file
    accesses and output come in no new order: a barrier that only keeps a result or output deterministic stays.
    """
    from pgasrob.render import thrift_text as render
    from pgasrob.repairs.thrift import thrift as thrifty

    file, limits = options.file, options.change.limits
    can_write(options.write, file)
    costs = options.change.costs()
    in_json = partial(render.no_thrift, file) if options.format == "json" else None
    with reported(file, in_json):
        searching = partial(thrifty, *options.change.read(file), costs, limits, options.output_order)
        found = limited(limits, "in the search for savings", searching, in_json)
    if options.format == "json":
        print_json(render.thrift_to_json(file, found))
    elif options.format == "diff":
        click.echo(render.diff(file, found), nl=False)
    else:
        from pgasrob.render.lines import terminal_width, write

        write(render.thrift_lines(file, found, terminal_width()), sys.stdout)
    if options.write and found.together:
        write_changes(file, found.text, found.after, "what can go is left out")
    return CODES[found.state]
