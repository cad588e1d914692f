"""`pgasrob schema`: the JSON Schema of what other commands print."""

from __future__ import annotations

from collections.abc import Sequence

import click

from pgasrob.cli.options import HELP, Name, print_json


class Output(Name):
    """A command that prints JSON."""

    name = "command"

    def names(self) -> Sequence[str]:
        from pgasrob.render.schema import OUTPUTS

        return [name.replace(" ", "-") for name in OUTPUTS]


@click.command(context_settings=HELP)
@click.argument("command", type=Output(), required=False)
def schema(command: str | None) -> None:
    """Print the JSON Schema of what COMMAND prints with --format json.

    COMMAND is check, race, outcomes, litmus, litmus-generate, run, repair, thrift, reproduce, course-grade or examples;
    without one it is the schema of all that they print. Each object, one a line, says in "schema" which version of it
    this is.
    """
    from pgasrob.render.schema import schema as made

    print_json(made(command and command.replace("-", " ")))
