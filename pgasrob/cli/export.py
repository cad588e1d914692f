"""`pgasrob export`: the question for another tool."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pgasrob.cli.options import HELP, ProgramPath, c_options, load_instance, node_count, reading_options, refuse

if TYPE_CHECKING:
    from pgasrob.frontends.options import FrontEnd
    from pgasrob.program.reading import Reading


EXAMPLES = """\b
Examples:
  pgasrob export ring.pgas --to promela -n 4 -o ring.pml
"""


@click.command(context_settings=HELP, epilog=EXAMPLES)
@click.argument("file", type=ProgramPath())
@click.option("--to", "language", type=click.Choice(["promela"]), required=True, help="The language to write.")
@node_count
@click.option("-o", "--output", type=click.Path(dir_okay=False), metavar="FILE", help="Default: standard output.")
@reading_options
@c_options
def export(
    file: str,
    language: str,
    nodes: int | None,
    output: str | None,
    reading: Reading,
    front_end: FrontEnd,
) -> None:
    """Write the question for another tool.

    promela: a model in which SPIN finds a violated assertion exactly when the program is not robust. Its first comment
    says how to run SPIN on it. (`pgasrob check --engine spin` does all of that and shows the counterexample.)
    """
    from pgasrob.export.promela import Unsupported, to_promela

    try:
        text = to_promela(load_instance(file, nodes, front_end, reading=reading))
    except Unsupported as error:
        refuse(f"pgasrob: {file} has no {language} model: {error}")
    if output is None:
        click.echo(text, nl=False)
    else:
        Path(output).write_text(text, encoding="utf-8")
