"""`pgasrob lsp`: the language server, which an editor starts and talks to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pgasrob.cli.options import HELP, NodeCounts, Size, c_options, reading_options, refuse, seconds

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
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), default=10.0, show_default=True,
              callback=seconds, metavar="SECONDS", help="What a check on one node count may take.")  # fmt: skip
@click.option("--memory-limit", type=Size(), default="1G", show_default=True, metavar="SIZE",
              help="Give up a check when it takes so much memory: 500M, 2G.")  # fmt: skip
@click.option("--races/--no-races", default=True, show_default=True, help="Tell of races, too.")
@reading_options
@c_options
def lsp(
    nodes: tuple[int, ...] | None,
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
        if missing.name not in ("pygls", "lsprotocol", "anyio"):
            raise
        refuse(f"pgasrob: lsp needs {missing.name}: pip install 'pgasrob[lsp]'")

    if not memory_limit:
        raise click.BadParameter("an editor's checks need a limit; write 500M or 2G.", param_hint="--memory-limit")
    server(Settings(nodes, timeout, memory_limit, races, front_end, reading)).start_io()
