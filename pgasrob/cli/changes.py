"""What `pgasrob repair` and `pgasrob thrift` share: reading a source, costs, and writing what it becomes."""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import count
from pathlib import Path
from shutil import copymode
from typing import TYPE_CHECKING, Any

import click

from pgasrob.cli.options import (
    DEFAULT_ENGINE,
    MOST_STATES,
    NodeCounts,
    Size,
    c_options,
    mention_a_missing_kernel,
    refuse,
    seconds,
)

if TYPE_CHECKING:
    from pgasrob.frontends.options import FrontEnd
    from pgasrob.repairs import Costs
    from pgasrob.repairs.verifier import AnyProgram, Parse

BACKUP = ".orig"
BYTE_ORDER_MARK = "\ufeff"


def change_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of a command that changes a source."""
    options = (
        click.option("-n", "--nodes", type=NodeCounts(), metavar="COUNTS",
                     help="Node counts on which it has to hold: 2..5 or 2,4. Default: the program's own, or 2."),
        click.option("--costs", "costs_file", type=click.Path(exists=True, dir_okay=False), metavar="FILE",
                     help="A TOML file with costs: order (1), local-completion (2), completion (4), notification (6), "
                     "barrier (8), and loop (3), by which each loop around the place multiplies."),
        click.option("--max-states", type=click.IntRange(min=0), default=MOST_STATES, show_default=True, metavar="N",
                     help="Give up a check after so many states; 0: never."),
        click.option("--timeout", type=click.FloatRange(min=0, min_open=True), callback=seconds, metavar="SECONDS",
                     help="Give up after so many seconds. Default: never."),
        click.option("--memory-limit", type=Size(), metavar="SIZE",
                     help="Give up a check when it takes so much memory: 500M, 2G; 0: never. Default: three quarters "
                     "of what is available."),
        c_options,
    )  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


def read(file: str, front_end: FrontEnd) -> tuple[AnyProgram, Parse]:
    """The program in ``file``, and how a changed text is read; ends the command when it is none."""
    from pgasrob.diagnostics import SourceError
    from pgasrob.repairs.reading import read as read_source

    mention_a_missing_kernel(DEFAULT_ENGINE)
    try:
        return read_source(file, front_end)
    except SourceError as error:
        refuse(str(error))


def can_write(asked: bool, file: str) -> None:
    """Refuse to write what comes from the standard input."""
    from pgasrob.program.files import GIVEN

    if asked and file in GIVEN:
        raise click.UsageError("--write: the standard input has no file to write to; --format diff prints the change.")


def costs_in(path: str | None) -> Costs:
    """The costs that the file ``path`` gives; those of the tool when None."""
    import tomllib

    from pgasrob.repairs import Costs

    if path is None:
        return Costs()
    try:
        return Costs.read(tomllib.loads(Path(path).read_text(encoding="utf-8")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, ValueError) as error:
        raise click.BadParameter(f"{path}: {error}.", param_hint="--costs") from None


def write_changes(first: str, before: str, after: str, what: str) -> None:
    """As :func:`_write_change` for each file that differs in two texts of all files, whose ``first`` this is."""
    from pgasrob.repairs.texts import changed

    for file, old, new in changed(before, after):
        _write_change(file or first, old, new, what)


def _write_change(file: str, before: str, after: str, what: str) -> None:
    """``after`` instead of ``before`` in ``file``, which is kept; nothing when it has changed meanwhile."""
    from pgasrob.diagnostics import SourceError
    from pgasrob.program.files import DISK
    from pgasrob.program.parser import read_source
    from pgasrob.render.files import replace_file

    try:
        now = read_source(Path(file), DISK)
        mark = BYTE_ORDER_MARK * (now.startswith(BYTE_ORDER_MARK) and not before.startswith(BYTE_ORDER_MARK))
        if now != mark + before:
            refuse(f"{file} has changed since it was read: nothing is written")
        kept = _free(file + BACKUP)
        replace_file(kept, now)
        copymode(file, kept)
        replace_file(file, mark + after)
    except SourceError as error:
        refuse(str(error))
    except OSError as error:
        refuse(f"cannot write {file}: {error.strerror}")
    click.echo(f"{file}: {what}; what was there is in {kept}", err=True)


def _free(path: str) -> str:
    """``path``, or with a number behind it when there is something already: no copy takes the place of another."""
    return next(name for number in count() if not os.path.lexists(name := f"{path}.{number}" if number else path))
