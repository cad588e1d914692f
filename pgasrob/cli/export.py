"""`pgasrob export`: write the question whether a program is robust for another tool (Promela for SPIN)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from pgasrob.cli.declare import argument, command, group, option
from pgasrob.cli.option_groups import COptions, ReadingOptions, TimeAndMemory, node_count_option
from pgasrob.cli.parameter_types import OneOf, ProgramPath
from pgasrob.cli.shared_steps import limited, load_instance, refuse

if TYPE_CHECKING:
    from pgasrob.frontends.options import FrontEnd
    from pgasrob.program.reading import Reading
    from pgasrob.robustness.limits import Limits

EXAMPLES = """\b
Exit code:
  0  it is written
  2  a program with an error or without a model, or wrong usage
  3  a limit was reached before it was done

\b
Examples:
  pgasrob export ring.pgas --to promela -n 4 -o ring.pml
"""


@dataclass(frozen=True)
class ExportOptions:
    """The options of `pgasrob export`."""

    # fmt: off
    file: str = argument(type=ProgramPath())
    language: str = option("--to", type=OneOf(["promela"]), required=True, help="The language to write.")
    nodes: int | None = node_count_option()
    output: str | None = option("-o", "--output", type=click.Path(dir_okay=False), metavar="FILE",
        help="Default: standard output.")
    limits: Limits = group(TimeAndMemory, beside="")
    reading: Reading = group(ReadingOptions)
    front_end: FrontEnd = group(COptions)
    # fmt: on


@command(ExportOptions, examples=EXAMPLES)
def export(options: ExportOptions) -> None:
    """Write the question for another tool.

    promela: a model in which SPIN finds a violated assertion if and only if the program is not robust. Its first
    comment says how to run SPIN on it. (`pgasrob check --engine spin` does all of that and shows the counterexample.)
    """
    from pgasrob.export.promela import Unsupported, to_promela
    from pgasrob.whole_files import replace_file

    def written() -> str:
        return to_promela(load_instance(options.file, options.nodes, options.front_end, reading=options.reading))

    try:
        text = limited(options.limits, "while writing the model", written, looks=False)
    except Unsupported as error:
        refuse(f"pgasrob: {options.file} has no {options.language} model: {error}")
    if options.output is None:
        click.echo(text, nl=False)
    else:
        replace_file(options.output, text)
