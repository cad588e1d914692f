"""`pgasrob repair`: find the cheapest insertions and changes that make a program robust."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import click

from pgasrob.cli.changes import BACKUP, ChangeOptions, can_write, write_changes
from pgasrob.cli.declare import argument, command, flag, group, option
from pgasrob.cli.exit_codes import ERROR, NOT_ROBUST, ROBUST, UNKNOWN
from pgasrob.cli.option_groups import format_option
from pgasrob.cli.parameter_types import OneOf, ProgramPath
from pgasrob.cli.shared_steps import limited, print_json, reported
from pgasrob.cli.witness_files import Witnesses, fold_option, witness_option

if TYPE_CHECKING:
    from pgasrob.repairs import Repair
    from pgasrob.repairs.search import Goal

EXAMPLES = """\b
Exit code:
  0  a repair was found, or the program is robust, whatever else is wrong
  1  nothing in the catalogue repairs it
  2  a program with an error, or wrong usage
  3  a limit was reached before there was an answer

\b
Examples:
  pgasrob repair halo.c -n 2..5           the cheapest repairs, as diffs
  pgasrob repair halo.c --write           write the first into the file
  pgasrob repair halo.c --format diff | patch -p1
"""
CODES = {"robust": ROBUST, "repaired": ROBUST, "not repaired": NOT_ROBUST, "error": ERROR, "unknown": UNKNOWN}


@dataclass(frozen=True)
class RepairOptions:
    """The options of `pgasrob repair`."""

    # fmt: off
    file: str = argument(type=ProgramPath())
    max_answers: int = option("--max-answers", type=click.IntRange(min=1), default=3, show_default=True, metavar="N",
        help="The number of repairs of the smallest cost to look for.")
    goal: Goal | None = option("--for", type=OneOf(["robust", "races"]), default=None,
        help="What to repair: robust: violations of robustness; races: races that change the result of a robust "
        "program, by a barrier. Default: both for C, the first for .pgas files.")
    write: bool = flag("--write",
        help=f"Write the first repair into FILE; the original is kept in FILE{BACKUP} (or {BACKUP}.1 and so on).")
    format: str = format_option("json", "diff", "sarif", help="diff: only the first repair, for `patch -p1`.")
    witnesses: tuple[str, ...] = witness_option("Write the run with the first repair beside it")
    fold: bool = fold_option()
    change: ChangeOptions = group(ChangeOptions)
    # fmt: on


@command(RepairOptions, examples=EXAMPLES)
def repair(options: RepairOptions) -> int:
    """Find the cheapest changes that make a program robust.

    The command inserts waits, fences and barriers of the program's library, and replaces calls by others that do more.
    Each repaired text is checked on all node counts: it is robust, has no new deadlock, and its SC runs end as before.
    If a C program is robust but a race changes its result, the command looks for a barrier after which no race does;
    each SC run of the repaired program then ends as some SC run did before.
    """
    from pgasrob.render.repair_text import beside, no_repair
    from pgasrob.repairs import repair as repaired

    file, limits = options.file, options.change.limits
    can_write(options.write, file)
    costs = options.change.costs()
    writing = Witnesses(options.witnesses, [file], None, options.fold)
    in_json = partial(no_repair, file) if options.format == "json" else None
    with reported(file, in_json):
        searching = partial(repaired, *options.change.read(file), costs, options.max_answers, limits, options.goal)
        found = limited(limits, "in the search for repairs", searching, in_json)
    _show(file, found, options.format)
    if options.witnesses:
        writing.result(beside(found))
        if not writing.end():
            return ERROR
    if options.write and found.answers:
        write_changes(file, found.text, found.answers[0].text, "repaired")
    return CODES[found.state]


def _show(file: str, found: Repair, format: str) -> None:
    from pgasrob.diagnostics import on_screen
    from pgasrob.render import repair_text as render

    if format == "json":
        print_json(render.repair_to_json(file, found))
    elif format == "diff" and found.answers:
        diff = found.diff(found.answers[0])
        # For `patch` it stays as it is.
        click.echo(on_screen(diff) if sys.stdout.isatty() else diff, nl=False)
    elif format == "sarif":
        click.echo(render.repair_to_sarif(found), nl=False)
    else:
        from pgasrob.render.lines import terminal_width, write

        write(render.repair_lines(file, found, terminal_width()), sys.stderr if format == "diff" else sys.stdout)
