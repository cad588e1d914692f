"""`pgasrob explain`: the theory on one program."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pgasrob.cli.exit_codes import ERROR, UNKNOWN
from pgasrob.cli.memory_model import explain_in, memory_model_option
from pgasrob.cli.options import (
    DEFAULT_ENGINE,
    HELP,
    ProgramPath,
    c_options,
    limited,
    mention_a_missing_kernel,
    node_count,
    reading_options,
    refuse,
    seconds,
)

if TYPE_CHECKING:
    from pgasrob.frontends.options import FrontEnd
    from pgasrob.program.reading import Reading
    from pgasrob.races.mpi import MemoryModel

EXAMPLES = """\b
Examples:
  pgasrob explain ring.pgas                       all chapters, in the terminal
  pgasrob explain ring.pgas --only normal-form    one of them
  pgasrob explain ring.pgas -o ring.html          as a page, with pictures
  pgasrob explain put.c --memory-model separate -o put.svg    an execution in MPI
"""
CODE = re.compile(r"PG\d{3}", re.IGNORECASE | re.ASCII)


@click.command(context_settings=HELP, epilog=EXAMPLES)
@click.argument("file", type=ProgramPath())
@node_count
@click.option("--only", metavar="CHAPTER", help="One chapter, by its number or name: program, computation, "
              "happens-before, sigma, normal-form, heads, marked-word, emptiness, attack.")  # fmt: skip
@click.option("-o", "--output", type=click.Path(dir_okay=False), metavar="OUT.html",
              help="Write a page to look at in a browser, which needs no network; a picture (.svg) with "
              "--memory-model.")  # fmt: skip
@click.option("--max-states", type=click.IntRange(min=1), default=20_000, show_default=True,
              help="States after which each of the searches that are compared stops.")  # fmt: skip
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), default=6.0, show_default=True,
              callback=seconds, metavar="SECONDS",
              help="What the verdict may take, and again all that follows.")  # fmt: skip
@memory_model_option
@reading_options
@c_options
def explain(
    file: str,
    nodes: int | None,
    only: str | None,
    output: str | None,
    max_states: int,
    timeout: float,
    memory_model: MemoryModel | None,
    reading: Reading,
    front_end: FrontEnd,
) -> None:
    """Explain the theory on one program, step by step.

    What the paper's definitions and lemmas are for it: its control automata, a computation with its happens-before
    relation, the last command e and sigma, the normal form, what each head generates, the marked word and the automata
    that accept it, what the decision costs, and what the attack search does instead.

    With --memory-model, for MPI, an execution is drawn instead with its program order, synchronisation order,
    happens-before, consistency order and consistent happens-before: the first with a race where there is one.

    Exit code 0, whether the program is robust or not; 2 for an error; 3 when it is not known.
    """
    from pgasrob.diagnostics import SourceError, visible
    from pgasrob.program.reading import DEFAULT_READING
    from pgasrob.render.algebra import simplify_guard
    from pgasrob.render.english import on_nodes
    from pgasrob.render.explanation.chapters import SEARCHES, NoSuchChapter, chapter_name, chapters
    from pgasrob.robustness.explanation import explain as explained
    from pgasrob.robustness.limits import Limits
    from pgasrob.robustness.load import load

    if CODE.fullmatch(file) and not Path(file).exists():
        raise click.UsageError(f"{file} is an error code: `pgasrob explain-error {file.upper()}` explains it")
    if memory_model is not None:
        if only is not None or reading != DEFAULT_READING:
            raise click.UsageError("--memory-model goes without --only, --failed-polls and --conflicts.")
        explain_in(file, nodes, memory_model, timeout, output, front_end)
        return
    if output is not None and not output.endswith((".html", ".htm")):
        raise click.BadParameter(f"{output!r} is no .html file; without -o it is printed here.", param_hint="-o")
    try:
        name = None if only is None else chapter_name(only)
    except NoSuchChapter as error:
        raise click.BadParameter(f"{error}.", param_hint="--only") from None
    try:
        # For the verdict, and again for all that follows.
        limits = Limits(timeout=2 * timeout)
        program = limited(limits, "while reading the program", lambda: load(file, front_end))
        mention_a_missing_kernel(DEFAULT_ENGINE)
        compared = name is None or name in SEARCHES
        found = limited(
            limits,
            "while explaining",
            lambda: explained(program, nodes, max_states, timeout, compared, simplify_guard, reading),
        )
    except SourceError as error:
        refuse(str(error))
    verdict = found.verdict
    title = f"{visible(file)}: {verdict.verdict}{on_nodes(verdict.nodes)}"
    written = chapters(found, name)
    if output is None:
        from pgasrob.render.explanation.text import explanation_lines
        from pgasrob.render.lines import glyphs_for, terminal_width, write

        write(explanation_lines(title, written, terminal_width(), glyphs_for(sys.stdout)), sys.stdout)
    else:
        from pgasrob.render.explanation.html import to_html

        page = to_html(title, written, found.instance.program.source.text)
        try:
            Path(output).write_text(page, encoding="utf-8", errors="replace")
        except OSError as error:
            raise click.UsageError(f"cannot write {output}: {error.strerror}") from None
        chapters_ = "1 chapter" if len(written) == 1 else f"{len(written)} chapters"
        click.echo(f"{output}: {chapters_} on {title}", err=True)
    if verdict.verdict in ("error", "unknown"):
        raise click.exceptions.Exit(ERROR if verdict.verdict == "error" else UNKNOWN)
