"""`pgasrob serve`: serve a page on which many can try pgasrob without installing it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from pgasrob.cli.declare import command, option
from pgasrob.cli.explore import needs_extra, started
from pgasrob.cli.parameter_types import Size

if TYPE_CHECKING:
    from pgasrob.explore.service import Service

EXAMPLES = """\b
Exit code:
  2    wrong usage, or a port that is taken
  130  Ctrl-C, SIGTERM or SIGHUP ended it

\b
Examples:
  pgasrob serve                                     for the browsers of this machine, on port 8000
  pgasrob serve --host 0.0.0.0                      for everyone who reaches this machine
  pgasrob serve --host 0.0.0.0 --jobs 8 --rate 0    for a lecture in which all share one address
"""
FIRST = "c/mpi/barrier_halo.c"
"""The example that the page opens with."""


@dataclass(frozen=True)
class ServeOptions:
    """The options of `pgasrob serve`."""

    # fmt: off
    host: str = option("--host", metavar="ADDRESS", default="127.0.0.1", show_default=True, help="The address of this "
        "machine to listen at. 0.0.0.0 is all of them: then everyone who reaches this machine can use the page.")
    port: int = option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="The port to "
        "listen at; 0: any free one.")
    jobs: int = option("--jobs", type=click.IntRange(1, 256), default=2, show_default=True, help="How many requests "
        "are answered at a time, each in a process of its own. Others wait for their turn.")
    memory_limit: int = option("--memory-limit", type=Size(), metavar="SIZE", default="2G", show_default=True,
        help="The memory that one such process may use.")
    rate: int = option("--rate", type=click.IntRange(0, 1_000_000), metavar="REQUESTS", default=600, show_default=True,
        help="How many requests an address may make in a minute, where a check counts for 5 and a repair for 10; "
        "0: any number.")
    behind: str = option("--behind", metavar="ADDRESS", default="", help="The address of a proxy in front of this "
        "server, which says in X-Forwarded-For who asks.")
    # fmt: on


@command(ServeOptions, examples=EXAMPLES)
def serve(options: ServeOptions) -> None:
    """Serve a page on which many can try pgasrob.

    Those who open the page need to install nothing. It has a menu of examples, an editor for C and .pgas, the verdict,
    a picture of the run that shows it, the repair, and the live explorer. A link shares program and run; the server
    keeps nothing. Each request is answered in a process of its own, within limits of time, memory and output. Programs
    are never compiled or executed, and read no file of this machine. Needs the extra `explore`.
    """
    needs_extra("serve")
    from pgasrob.explore.app import Shown
    from pgasrob.explore.example_menu import example
    from pgasrob.explore.link import Linked
    from pgasrob.explore.service import Service
    from pgasrob.frontends.options import FrontEnd
    from pgasrob.program.reading import DEFAULT_READING

    if not options.memory_limit:
        raise click.UsageError("--memory-limit: a page for many needs one.")
    service = Service(
        "serve",
        options.host,
        options.port,
        at_once=options.jobs,
        waiting=100,
        memory=options.memory_limit,
        rate=options.rate,
        behind=options.behind,
        connections=512,
    )
    opening = Linked(example({"name": FIRST})["text"], "c", None, ())
    shown = Shown(FIRST, opening, FrontEnd(), DEFAULT_READING, alone=True)
    started(shown, service, False, lambda address: _announce(address, service))


def _announce(address: str, service: Service) -> None:
    from pgasrob.explore.request_bounds import SECONDS
    from pgasrob.robustness.limits import size_text

    click.echo(f"Serving at {address}")
    if service.local:
        click.echo("It is for the browsers of this machine; --host 0.0.0.0 serves everyone who reaches it.")
    else:
        most = f"{service.at_once} at a time, {SECONDS['check']:g} s and {size_text(service.memory)} for each check"
        click.echo(
            f"Exposed to everyone who reaches {service.host}: the page, the examples, and checks of programs that"
        )
        click.echo(f"they send ({most}). No file of this machine is exposed. There is no password")
        click.echo("and no encryption; a proxy in front of it can add both.")
    click.echo("Ctrl-C ends it.")
