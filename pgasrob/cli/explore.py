"""`pgasrob explore`: serve a page to this machine on which a run is chosen step by step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from pgasrob.cli.declare import argument, command, group, option
from pgasrob.cli.exit_codes import ERROR
from pgasrob.cli.option_groups import COptions, ReadingOptions, node_count_option
from pgasrob.cli.parameter_types import ProgramPath
from pgasrob.cli.shared_steps import refuse

if TYPE_CHECKING:
    from collections.abc import Callable

    from pgasrob.explore.app import Shown
    from pgasrob.explore.service import Service
    from pgasrob.frontends.options import FrontEnd
    from pgasrob.program.reading import Reading

EXAMPLES = """\b
Exit code:
  2    a program that cannot be read, wrong usage, or a port that is taken
  130  Ctrl-C, SIGTERM or SIGHUP ended it

\b
Examples:
  pgasrob explore ring.pgas                         choose each step in a browser
  pgasrob explore halo.c -n 3 --no-browser          print the address alone
  pgasrob explore ring.pgas --run 0.0,1.0,s0.0      begin with a run
  pgasrob explore --run 'http://127.0.0.1:.../#p=...'
                                                    the program and run of a link
"""


@dataclass(frozen=True)
class ExploreOptions:
    """The options of `pgasrob explore`."""

    # fmt: off
    file: str | None = argument(type=ProgramPath(), required=False)
    nodes: int | None = node_count_option()
    run: str = option("--run", metavar="RUN", default="",
        help="Begin with this run: a list of choices (0.0,1.0,s0.0), or a link that the page has made, which "
        "contains its own program.")
    port: int = option("--port", type=click.IntRange(0, 65535), default=0, help="The port to listen at. Default: any "
        "free one.")
    browser: bool = option("--browser/--no-browser", default=True, help="Open the page, or only print its address.")
    reading: Reading = group(ReadingOptions)
    front_end: FrontEnd = group(COptions)
    # fmt: on


@command(ExploreOptions, examples=EXAMPLES)
def explore(options: ExploreOptions) -> None:
    """Explore a program live in the browser.

    A page on this machine shows which steps may happen next, and why others may not. There you can choose a command or
    a delayed step, go back, try another way, watch the happens-before graph grow, ask for the nearest violation, edit
    the program, and share a run as a link. Ctrl-C ends the server. Only you can use it: it listens only to this
    machine, and the address contains a secret token. Needs the extra `explore`.
    """
    needs_extra("explore")
    shown = _shown(options)

    def announce(address: str) -> None:
        click.echo(f"Exploring {shown.file} at {address}")
        click.echo("Ctrl-C ends it.")

    from secrets import token_urlsafe

    from pgasrob.explore.service import Service

    started(shown, Service("explore", port=options.port, token=token_urlsafe(24)), options.browser, announce)


def needs_extra(command: str) -> None:
    """End the ``command`` where a package is missing that the server needs."""
    try:
        import pgasrob.explore.serve  # noqa: F401
    except ModuleNotFoundError as missing:
        if missing.name not in ("starlette", "uvicorn", "anyio", "h11"):
            raise
        refuse(f"pgasrob: {command} needs {missing.name}: pip install 'pgasrob[explore]'")


def started(shown: Shown, service: Service, browser: bool, announce: Callable[[str], None]) -> None:
    """Serve until a signal ends it."""
    from pgasrob.explore.serve import serve
    from pgasrob.runtime.child_processes import ended_by_signals

    try:
        with ended_by_signals():
            serve(shown, service, browser, announce)
    except OSError as error:
        at = "" if service.local else f" of {service.host}"
        refuse(f"pgasrob: cannot listen on port {service.port}{at}: {error.strerror}", ERROR)


def _shown(options: ExploreOptions) -> Shown:
    """The program and run that the page opens with. The program may have errors: it can be edited there."""
    from pgasrob.diagnostics import SourceError
    from pgasrob.explore.app import Shown
    from pgasrob.explore.link import Linked, from_link, is_link
    from pgasrob.explore.request_bounds import MOST_NODES, MOST_TEXT
    from pgasrob.program.files import DISK
    from pgasrob.program.parser import read_source

    file, nodes, run = options.file, options.nodes, options.run
    if nodes is not None and nodes > MOST_NODES:
        raise click.UsageError(f"the explorer shows at most {MOST_NODES} nodes.")
    if is_link(run):
        if file is not None:
            raise click.UsageError("a link has its own program: leave out FILE, or give the choices alone.")
        try:
            linked = from_link(run)
        except ValueError as error:
            raise click.BadParameter(f"{error}.", param_hint="--run") from None
        name = "program.c" if linked.language == "c" else "program.pgas"
        return Shown(name, linked._replace(nodes=nodes or linked.nodes), options.front_end, options.reading)
    if file is None:
        raise click.UsageError("name a FILE, or give the --run of a link.")
    if not file.endswith((".pgas", ".c")):
        raise click.UsageError(f"{file}: programs to explore end in .pgas or .c.")
    from pathlib import Path

    try:
        text = read_source(Path(file), DISK)
    except SourceError as error:
        refuse(str(error))
    if len(text) > MOST_TEXT:
        refuse(f"pgasrob: {file} has {len(text):,} characters; the explorer takes at most {MOST_TEXT:,}")
    choices = tuple(filter(None, run.replace(" ", "").split(",")))
    return Shown(
        file, Linked(text, "c" if file.endswith(".c") else "pgas", nodes, choices), options.front_end, options.reading
    )
