"""`pgasrob examples`: list, print or copy the programs of the corpus that comes with the package."""

from __future__ import annotations

from pathlib import Path

import click

from pgasrob.cli.declare import HELP
from pgasrob.cli.parameter_types import OneOf
from pgasrob.cli.shared_steps import print_json, refuse

EXAMPLES = """\b
Examples:
  pgasrob examples                                 the folders, and how many programs each has
  pgasrob examples c/mpi                           its programs, with what is expected of them and why
  pgasrob examples barrier_halo                    the text of one
  pgasrob examples barrier_halo c/gaspi --copy .   copies ./barrier_halo.c and ./gaspi
  pgasrob examples c --format json | jq -r 'select(.expected == "robust") | .file'
"""


@click.command(context_settings=HELP, epilog=EXAMPLES)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--copy",
    "target",
    type=click.Path(file_okay=False),
    metavar="FOLDER",
    help="Copy them there, or all without a name.",
)
@click.option("--format", "format_", type=OneOf(["text", "json"]), default="text", show_default=True,
              help="json: one object per program, one per line.")  # fmt: skip
def examples(names: tuple[str, ...], target: str | None, format_: str) -> None:
    """List, print or copy example programs.

    NAME is a folder of the list, or a program: a path below the corpus, or a file name that is unique. If a different
    file of the same name exists at the target, nothing is copied.
    """
    from pgasrob.program import corpus
    from pgasrob.render import english
    from pgasrob.render.example_list import example_to_json, folder_lines, program_lines
    from pgasrob.render.lines import terminal_width

    if target is not None and format_ != "text":
        raise click.UsageError("--format is for what is listed: leave --copy out, or it.")
    try:
        paths = [corpus.named(name) for name in names]
        if target is not None:
            try:
                written = corpus.copy(paths or corpus.folders(), Path(target))
            except OSError as error:
                refuse(f"pgasrob: {error}")
            only = written[0] if len(written) == 1 else None
            click.echo(f"{only or english.count(len(written), 'file')}{'' if only else f' below {target}'}")
            return
        if format_ == "json":
            for each in dict.fromkeys(each for path in paths or corpus.folders() for each in corpus.programs_of(path)):
                print_json(example_to_json(each, corpus.corpus() / each, corpus.read(each)))
            return
        if not paths:
            click.echo("\n".join(folder_lines(corpus.programs(), terminal_width())))
        for path in paths:
            if path in corpus.programs():
                click.echo(corpus.read(path), nl=False)
            else:
                below = [(each, corpus.read(each)) for each in corpus.programs(str(path))]
                click.echo("\n".join(program_lines(below, terminal_width())))
    except corpus.NoExample as error:
        raise click.UsageError(str(error)) from None
