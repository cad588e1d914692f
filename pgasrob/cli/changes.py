"""Shared by `pgasrob repair` and `pgasrob thrift`: their options, costs, and writing the changed source."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from shutil import copymode
from typing import TYPE_CHECKING, NamedTuple

import click

from pgasrob import file_input
from pgasrob.cli.declare import group, option
from pgasrob.cli.option_groups import DEFAULT_COUNT, COptions, SearchLimits, node_counts_option
from pgasrob.cli.shared_steps import limited, mention_a_missing_kernel, mention_the_count, refuse

if TYPE_CHECKING:
    from pgasrob.frontends.options import FrontEnd
    from pgasrob.repairs import Costs
    from pgasrob.repairs.verifier import AnyProgram, Parse
    from pgasrob.robustness.limits import Limits

BACKUP = ".orig"
BYTE_ORDER_MARK = "\ufeff"


class Changeable(NamedTuple):
    """A program, how a changed text of it is read, and the node counts on which the change has to hold."""

    program: AnyProgram
    parse: Parse
    counts: tuple[int, ...]


@dataclass(frozen=True)
class ChangeOptions:
    """The options that `pgasrob repair` and `pgasrob thrift` share."""

    # fmt: off
    nodes: tuple[int, ...] | None = node_counts_option(
        f"Node counts on which it has to hold: 2..5 or 2,4. {DEFAULT_COUNT}"
    )
    costs_file: str | None = option("--costs", type=click.Path(exists=True, dir_okay=False), metavar="FILE",
        help="A TOML file with costs: order (1), local-completion (2), completion (4), notification (6), barrier (8), "
        "and loop (3), by which each loop around the place multiplies.")
    limits: Limits = group(
        SearchLimits,
        states="Give up a check after so many states",
        seconds="Give up after SECONDS",
        memory="Give up a check when it takes so much memory",
    )
    front_end: FrontEnd = group(COptions)
    # fmt: on

    def read(self, file: str) -> Changeable:
        """Read the program in ``file``; ends the command when it is none."""
        from pgasrob.diagnostics import SourceError
        from pgasrob.program.program import Program
        from pgasrob.repairs.read_again import read

        mention_a_missing_kernel()
        try:
            program, parse = limited(self.limits, "while reading the program", partial(read, file, self.front_end))
        except SourceError as error:
            refuse(str(error))
        counts = self.nodes or limited(self.limits, "while lowering the program", lambda: (program.default_count,))
        for number in counts:
            with suppress(SourceError):  # reported by the check
                if not isinstance(program, Program):
                    lowered = limited(self.limits, "while lowering the program", partial(program.program, number))
                    mention_the_count(lowered)
                else:
                    mention_the_count(program)
        return Changeable(program, parse, counts)

    def costs(self) -> Costs:
        """The costs in the file of --costs; the usual ones when there is none."""
        import tomllib

        from pgasrob.repairs import Costs

        if self.costs_file is None:
            return Costs()
        try:
            return Costs.read(tomllib.loads(file_input.text(self.costs_file, file_input.SOURCE)))
        except OSError as error:
            why = "; ".join(file_input.why(error))
            raise click.BadParameter(f"{self.costs_file}: {why}.", param_hint="--costs") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, ValueError) as error:
            raise click.BadParameter(f"{self.costs_file}: {error}.", param_hint="--costs") from None


def can_write(asked: bool, file: str) -> None:
    """Refuse to write what comes from the standard input."""
    from pgasrob.program.files import GIVEN

    if asked and file in GIVEN:
        raise click.UsageError("--write: the standard input has no file to write to; --format diff prints the change.")


def write_changes(first: str, before: str, after: str, what: str) -> None:
    """Write each file that differs between two texts of a whole program, whose ``first`` file this is; print ``what``
    was done to it."""
    from pgasrob.repairs.texts import changed

    for file, old, new in changed(before, after):
        _write_change(file or first, old, new, what)


def _write_change(file: str, before: str, after: str, what: str) -> None:
    """Write ``after`` into ``file`` in place of ``before``, which is kept beside it; refuse if the file has changed
    meanwhile."""
    from pgasrob.diagnostics import SourceError
    from pgasrob.program.files import DISK
    from pgasrob.program.parser import read_source
    from pgasrob.whole_files import replace_file

    try:
        now = read_source(Path(file), DISK)
        mark = BYTE_ORDER_MARK * (now.startswith(BYTE_ORDER_MARK) and not before.startswith(BYTE_ORDER_MARK))
        if now != mark + before:
            refuse(f"{file} has changed since it was read: nothing is written")
        # A number behind the name where it is taken: no copy replaces another.
        names = (f"{file}{BACKUP}.{number}" if number else file + BACKUP for number in count())
        kept = next(name for name in names if not os.path.lexists(name))
        replace_file(kept, now)
        copymode(file, kept)
        replace_file(file, mark + after)
    except SourceError as error:
        refuse(str(error))
    click.echo(f"{file}: {what}; the original is in {kept}", err=True)
