"""`pgasrob explain`: show each definition and lemma of the theory on one program."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pgasrob.cli.declare import Rule, argument, check_rules, command, group, option
from pgasrob.cli.exit_codes import ERROR, ROBUST, UNKNOWN
from pgasrob.cli.option_groups import COptions, ReadingOptions, memory_model_option, node_count_option, timeout_option
from pgasrob.cli.parameter_types import ProgramPath
from pgasrob.cli.shared_steps import limited, mention_a_missing_kernel, mention_the_count, refuse

if TYPE_CHECKING:
    from pgasrob.frontends.options import FrontEnd
    from pgasrob.program.reading import Reading
    from pgasrob.races.mpi import MemoryModel
    from pgasrob.render.explanation.chapters import Chapter

EXAMPLES = """\b
Examples:
  pgasrob explain ring.pgas                       all chapters, in the terminal
  pgasrob explain ring.pgas --only normal-form    one of them
  pgasrob explain ring.pgas -o ring.html          as a page, with pictures
  pgasrob explain put.c --memory-model separate -o put.svg    an execution in MPI
"""
CODE = re.compile(r"PG\d{3}", re.IGNORECASE | re.ASCII)


@dataclass(frozen=True)
class ExplainOptions:
    """The options of `pgasrob explain`."""

    # fmt: off
    file: str = argument(type=ProgramPath())
    nodes: int | None = node_count_option()
    only: str | None = option("--only", metavar="CHAPTER",
        help="One chapter, by its number or name: program, computation, happens-before, sigma, normal-form, heads, "
        "marked-word, emptiness, attack.")
    output: str | None = option("-o", "--output", type=click.Path(dir_okay=False), metavar="OUT.html",
        help="Write a page for a browser, which needs no network connection; with --memory-model a picture (.svg).")
    max_states: int = option("--max-states", type=click.IntRange(min=1), default=20_000, show_default=True,
        help="Stop each of the searches that are compared after so many states.")
    timeout: float = timeout_option("The time limit for the verdict, and again for everything that follows.", 6.0)
    memory_model: MemoryModel | None = memory_model_option()
    reading: Reading = group(ReadingOptions)
    front_end: FrontEnd = group(COptions)
    # fmt: on

    @property
    def code(self) -> str:
        """The file as an error code."""
        return self.file.upper()


RULES: tuple[Rule[ExplainOptions], ...] = (
    Rule(
        "{o.file} is an error code: `pgasrob explain-error {o.code}` explains it",
        lambda o: CODE.fullmatch(o.file) and not Path(o.file).exists(),
    ),
    Rule(
        "--memory-model goes without --only, --failed-polls and --conflicts.",
        "--memory-model",
        ("--only", "--failed-polls", "--conflicts"),
    ),
)


@command(ExplainOptions, examples=EXAMPLES)
def explain(options: ExplainOptions) -> int:
    """Explain the theory on one program, step by step.

    The command applies the definitions and lemmas of the paper to the program: its control automata, a computation with
    its happens-before relation, the last command e and sigma, the normal form, what each head generates, the marked
    word and the automata that accept it, the cost of the decision, and what the attack search does instead.

    With --memory-model, for MPI, the command instead draws an execution with its program order, synchronisation order,
    happens-before, consistency order and consistent happens-before. If some execution has a race, it is the first of
    these.

    The exit code is 0 if it is known whether the program is robust, 2 for an error, and 3 if it is not known.
    """
    check_rules(options, RULES)
    if options.memory_model is not None:
        return _draw_execution(options, options.memory_model)
    from pgasrob.diagnostics import SourceError, visible
    from pgasrob.render.algebra import simplify_guard
    from pgasrob.render.english import on_nodes
    from pgasrob.render.explanation.chapters import SEARCHES, chapters
    from pgasrob.robustness.explanation import explain as explained
    from pgasrob.robustness.limits import Limits
    from pgasrob.robustness.load import load

    name = _chapter(options)
    limits = Limits(timeout=2 * options.timeout)  # once for the verdict, and again for all that follows
    try:
        program = limited(limits, "while reading the program", partial(load, options.file, options.front_end))
        mention_a_missing_kernel()
        compared = name is None or name in SEARCHES
        explaining = partial(
            explained, program, options.nodes, options.max_states, options.timeout, compared, simplify_guard,
            options.reading,
        )  # fmt: skip
        found = limited(limits, "while explaining", explaining)
    except SourceError as error:
        refuse(str(error))
    mention_the_count(found.instance.program)
    verdict = found.verdict
    by_value = ", with waits read by value (--waits value)" * (found.tests and verdict.verdict == "not robust")
    title = f"{visible(options.file)}: {verdict.verdict}{on_nodes(verdict.nodes)}{by_value}"
    _show(options.output, title, chapters(found, name), found.instance.program.source.text)
    return {"error": ERROR, "unknown": UNKNOWN}.get(verdict.verdict, ROBUST)


def _chapter(options: ExplainOptions) -> str | None:
    """The name of the chapter to show; None for all. Ends the command where there is none."""
    from pgasrob.render.explanation.chapters import NoSuchChapter, chapter_name

    if options.output is not None and not options.output.endswith((".html", ".htm")):
        message = f"{options.output!r} is no .html file; without -o it is printed here."
        raise click.BadParameter(message, param_hint="-o")
    try:
        return None if options.only is None else chapter_name(options.only)
    except NoSuchChapter as error:
        raise click.BadParameter(f"{error}.", param_hint="--only") from None


def _show(output: str | None, title: str, written: list[Chapter], source: str) -> None:
    """Print the chapters, or write the page with them."""
    if output is None:
        from pgasrob.render.explanation.terminal import explanation_lines
        from pgasrob.render.lines import glyphs_for, terminal_width, write

        write(explanation_lines(title, written, terminal_width(), glyphs_for(sys.stdout)), sys.stdout)
        return
    from pgasrob.render.explanation.html import to_html
    from pgasrob.whole_files import replace_file

    replace_file(output, to_html(title, written, source).encode(errors="replace"))
    count = "1 chapter" if len(written) == 1 else f"{len(written)} chapters"
    click.echo(f"{output}: {count} on {title}", err=True)


def _draw_execution(options: ExplainOptions, model: MemoryModel) -> int:
    """Draw an execution in a memory model of MPI, the first that is undefined where there is one."""
    from pgasrob.races.mpi import decide_file
    from pgasrob.render.lines import terminal_width, write
    from pgasrob.render.memory_model import model_report, model_to_json
    from pgasrob.render.mpi_execution import execution_lines, execution_svg
    from pgasrob.whole_files import replace_file

    output = options.output
    if output is not None and not output.endswith(".svg"):
        raise click.BadParameter(f"{output!r} is no .svg file; without -o it is printed here.", param_hint="-o")
    verdict = decide_file(options.file, model, options.nodes, options.front_end, timeout=options.timeout)
    if verdict.execution is None or verdict.instance is None:
        write(model_report(model_to_json(verdict), terminal_width()), sys.stderr)
        return ERROR if verdict.status == "error" else UNKNOWN
    if output is None:
        write(model_report(model_to_json(verdict), terminal_width()), sys.stdout)
        write(execution_lines(verdict.execution, verdict.instance), sys.stdout)
        return ROBUST
    replace_file(output, execution_svg(verdict.execution, verdict.instance))
    click.echo(f"{output}: an execution of {options.file}, {verdict.status} in the {model} model", err=True)
    return ROBUST
