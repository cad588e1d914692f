"""`pgasrob lsp`: the language server, which an editor starts and talks to."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from pgasrob.cli.options import HELP, MOST_STATES, NodeCounts, Size, c_options, reading_options, refuse, seconds

if TYPE_CHECKING:
    from pgasrob.frontends.options import FrontEnd
    from pgasrob.program.reading import Reading

EXAMPLES = """\b
Examples, of what the settings of an editor name as the command:
  pgasrob lsp                             on the program's own node count, or 2..4
  pgasrob lsp -n 2,3 --timeout 5
  pgasrob lsp --compile-commands build    macros, headers and units of a project
"""


@click.command(context_settings=HELP, epilog=EXAMPLES)
@click.option("-n", "--nodes", type=NodeCounts(), metavar="COUNTS",
              help="Node counts to check on: 2..5 or 2,4. Default: the program's own, or else 2..4 where it is for "
              "any number.")  # fmt: skip
@click.option("--max-states", type=click.IntRange(min=0), default=MOST_STATES, show_default=True, metavar="N",
              help="Give up a check after so many states; 0: never.")  # fmt: skip
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), default=10.0, show_default=True,
              callback=seconds, metavar="SECONDS", help="What a check on one node count may take.")  # fmt: skip
@click.option("--memory-limit", type=Size(), default="1G", show_default=True, metavar="SIZE",
              help="Give up a check when it takes so much memory: 500M, 2G.")  # fmt: skip
@click.option("--races/--no-races", default=True, show_default=True, help="Tell of races, too.")
@reading_options
@c_options
def lsp(
    nodes: tuple[int, ...] | None,
    max_states: int,
    timeout: float,
    memory_limit: int,
    races: bool,
    reading: Reading,
    front_end: FrontEnd,
) -> None:
    """Tell an editor what is wrong while a program is written.

    The editor starts this command and talks to it by its standard input and output, in the Language Server Protocol.
    Programs are checked as they are typed: violations, races, failing assertions, deadlocks and errors are marked in
    the text. Needs the extra `lsp`.
    """
    try:
        from pgasrob.lsp.server import server
        from pgasrob.lsp.settings import Settings
    except ModuleNotFoundError as missing:
        if (name := (missing.name or "").partition(".")[0]) not in ("pygls", "lsprotocol", "anyio"):
            raise
        refuse(f"pgasrob: lsp needs {name}: pip install 'pgasrob[lsp]'")

    if not memory_limit:
        raise click.BadParameter("an editor's checks need a limit; write 500M or 2G.", param_hint="--memory-limit")
    settings = Settings(nodes, timeout, memory_limit, max_states or None, races, front_end, reading)
    # The server closes what it writes to at its end.
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as out:
        server(settings).start_io(stdout=out)
