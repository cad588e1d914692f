"""`pgasrob lsp`: run the language server, which an editor starts and talks to."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, cast

import click

from pgasrob.cli.declare import command, group, option
from pgasrob.cli.option_groups import (
    COptions,
    ReadingOptions,
    max_states_option,
    memory_option,
    node_counts_option,
    timeout_option,
)
from pgasrob.cli.shared_steps import refuse

if TYPE_CHECKING:
    from pgasrob.frontends.options import FrontEnd
    from pgasrob.program.reading import Reading

EXAMPLES = """\b
Examples, of what the settings of an editor name as the command:
  pgasrob lsp                             on the program's own node count, or 2..4
  pgasrob lsp -n 2,3 --timeout 5
  pgasrob lsp --compile-commands build    macros, headers and units of a project
"""


@dataclass(frozen=True)
class LspOptions:
    """The options of `pgasrob lsp`."""

    nodes: tuple[int, ...] | None = node_counts_option(
        "Node counts to check on: 2..5 or 2,4. Default: the program's own; 2..4 if it is for any number of nodes."
    )
    max_states: int = max_states_option("Give up a check after so many states; 0: never.")
    timeout: float = timeout_option("The time limit of a check on one node count.", 10.0)
    memory_limit: int = memory_option(
        "Give up a check when it takes so much memory: 500M, 2G.", default="1G", show_default=True
    )
    races: bool = option("--races/--no-races", default=True, show_default=True, help="Also report races.")
    reading: Reading = group(ReadingOptions)
    front_end: FrontEnd = group(COptions)


@command(LspOptions, examples=EXAMPLES)
def lsp(options: LspOptions) -> None:
    """Start the language server for editors.

    The editor starts this command and talks to it by its standard input and output, in the Language Server Protocol.
    Programs are checked as they are typed: violations, races, failing assertions, deadlocks and errors are marked in
    the text. Needs the extra `lsp`.
    """
    try:
        from pgasrob.lsp.messages import Messages, log_to_stderr
        from pgasrob.lsp.server import server
        from pgasrob.lsp.settings import Settings
        from pgasrob.robustness.limits import Limits
    except ModuleNotFoundError as missing:
        if (name := (missing.name or "").partition(".")[0]) not in ("pygls", "lsprotocol", "anyio"):
            raise
        refuse(f"pgasrob: lsp needs {name}: pip install 'pgasrob[lsp]'")

    if not options.memory_limit:
        raise click.BadParameter("an editor's checks need a limit; write 500M or 2G.", param_hint="--memory-limit")
    limits = Limits(options.max_states or None, options.timeout, options.memory_limit)
    settings = Settings(options.nodes, limits, options.races, options.front_end, options.reading)
    # The server closes what it writes to at its end.
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as out:
        log_to_stderr()
        messages = Messages(sys.stdin.buffer, lambda text: click.echo(f"pgasrob: {text}", err=True))
        server(settings).start_io(cast(BinaryIO, messages), out)
    if messages.refused is not None:
        refuse(f"pgasrob: {messages.refused}")
