"""`pgasrob repair`: the cheapest insertions and changes that make a program robust."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from pgasrob.cli.changes import BACKUP, can_write, change_options, costs_in, read, write_changes
from pgasrob.cli.exit_codes import ERROR, NOT_ROBUST, ROBUST, UNKNOWN
from pgasrob.cli.options import HELP, FromTable, ProgramPath, limited, memory_for, print_json
from pgasrob.cli.witness_files import Witnesses, WitnessPath, endings, fold_option

if TYPE_CHECKING:
    from pgasrob.frontends.options import FrontEnd
    from pgasrob.repairs import Repair

EXAMPLES = """\b
Exit code:
  0  the program is robust, or a repair was found
  1  nothing in the catalogue repairs it
  2  a program with an error, or wrong usage
  3  a limit was hit before there was an answer

\b
Examples:
  pgasrob repair halo.c -n 2..5           the cheapest repairs, as diffs
  pgasrob repair halo.c --write           write the first into the file
  pgasrob repair halo.c --format diff | patch -p1
"""
CODES = {"robust": ROBUST, "repaired": ROBUST, "not repaired": NOT_ROBUST, "error": ERROR, "unknown": UNKNOWN}


@click.command(context_settings=HELP, epilog=EXAMPLES)
@click.argument("file", type=ProgramPath())
@click.option("--max-answers", type=click.IntRange(min=1), default=3, show_default=True, metavar="N",
              help="Repairs of the smallest cost to look for.")  # fmt: skip
@click.option("--write", "writes", is_flag=True,
              help=f"Write the first repair into FILE; what was there is kept in FILE{BACKUP} (or {BACKUP}.1 and so "
              "on).")  # fmt: skip
@click.option("--format", "format_", type=click.Choice(["text", "json", "diff", "sarif"]), default="text",
              show_default=True, help="diff: the first repair alone, for `patch -p1`.")  # fmt: skip
@click.option("--witness", "witnesses", type=WitnessPath(), multiple=True, metavar="PATH",
              cls=FromTable, told=lambda: f"Write the run with the first repair beside it: {endings()} by its ending. "
              "Can be repeated.")  # fmt: skip
@fold_option
@change_options
def repair(
    file: str,
    nodes: tuple[int, ...] | None,
    max_answers: int,
    costs_file: str | None,
    writes: bool,
    format_: str,
    witnesses: tuple[str, ...],
    cycle_only: bool,
    max_states: int,
    timeout: float | None,
    memory_limit: int | None,
    front_end: FrontEnd,
) -> None:
    """Find the cheapest changes that make a program robust.

    Waits, fences and barriers are inserted, and calls replaced by ones that do more, as the library of the program has
    them. Each answer is checked from the changed text on all node counts: it is robust, has no new deadlock, and its SC
    runs end as before.
    """
    from pgasrob.program.program import DEFAULT_NODES
    from pgasrob.repairs import repair as repaired
    from pgasrob.robustness.limits import Limits

    can_write(writes, file)
    costs = costs_in(costs_file)
    writing = Witnesses(witnesses, [file], None, cycle_only)
    limits = Limits(max_states or None, timeout, memory_for(memory_limit, 1))
    program, parse = limited(limits, "while reading the program", lambda: read(file, front_end))
    counts = nodes or (program.nodes or DEFAULT_NODES,)
    found = limited(
        limits, "in the search for repairs", lambda: repaired(program, parse, counts, costs, max_answers, limits)
    )
    _show(file, found, format_)
    if witnesses:
        from pgasrob.render.repair import beside

        writing.result(beside(found))
        if not writing.end():
            raise click.exceptions.Exit(ERROR)
    if writes and found.answers:
        write_changes(file, found.text, found.answers[0].text, "repaired")
    raise click.exceptions.Exit(CODES[found.state])


def _show(file: str, found: Repair, format_: str) -> None:
    from pgasrob.diagnostics import on_screen
    from pgasrob.render import repair as render

    if format_ == "json":
        print_json(render.repair_to_json(file, found))
    elif format_ == "diff" and found.answers:
        diff = found.diff(found.answers[0])
        # For `patch` it stays as it is.
        click.echo(on_screen(diff) if sys.stdout.isatty() else diff, nl=False)
    elif format_ == "sarif":
        click.echo(render.repair_to_sarif(found), nl=False)
    else:
        from pgasrob.render.lines import terminal_width, write

        write(render.repair_lines(file, found, terminal_width()), sys.stderr if format_ == "diff" else sys.stdout)
