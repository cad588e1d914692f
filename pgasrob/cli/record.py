"""`pgasrob record`: run a program and write down what it does."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pgasrob.cli.exit_codes import ERROR, INTERRUPTED, UNKNOWN
from pgasrob.cli.options import HELP, Size, refuse, seconds

if TYPE_CHECKING:
    from pgasrob.runtime.record.run import Recorded

DEFAULT_LIMIT = "16G"
EXAMPLES = """\b
Exit code:
  0  the program ended with exit code 0 and is recorded to its end
  2  it ended with another one or by a signal, cannot be run, or does not record
  3  the time or the room for the trace was up
The trace is whole up to that point in every case but the second of 2.

\b
Examples:
  pgasrob record -n 4 -o run.pgastrace -- ./ring 100
  pgasrob record -n 2 --timeout 60 -- ./ring
"""


@click.command(context_settings={**HELP, "ignore_unknown_options": True}, epilog=EXAMPLES)
@click.option("-n", "--nodes", type=click.IntRange(min=1), default=2, show_default=True, metavar="N",
              help="So many ranks, all on this machine.")  # fmt: skip
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), default=Path("run.pgastrace"),
              show_default=True, metavar="FILE", help="The trace.")  # fmt: skip
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), callback=seconds, metavar="SECONDS",
              help="End the program after so long. Default: never.")  # fmt: skip
@click.option("--limit", type=Size(), default=DEFAULT_LIMIT, show_default=True, metavar="SIZE",
              help="Stop recording, not the program, when the trace is so large.")  # fmt: skip
@click.option("--launcher", metavar="COMMAND",
              help='What starts the ranks on this machine: "srun -n 4". Default: oshrun or mpirun, as the program '
              "needs.")  # fmt: skip
@click.argument("command", metavar="-- PROGRAM ARGUMENT...", nargs=-1, required=True, type=click.UNPROCESSED)
@click.pass_context
def record(
    ctx: click.Context,
    /,
    nodes: int,
    output: Path,
    timeout: float | None,
    limit: int,
    launcher: str | None,
    command: tuple[str, ...],
) -> None:
    """Run a program that `pgasrob build` made, and write its accesses and calls to a trace.

    The trace stays readable when the program crashes or is ended: up to the last full record of each rank.
    """
    from pgasrob.runtime.record.run import record as run
    from pgasrob.runtime.tools import ToolError

    try:
        recorded = run(command, nodes, output, timeout, limit, shlex.split(launcher or ""))
    except ToolError as error:
        refuse(f"pgasrob: {error}")
    except OSError as error:
        refuse(f"pgasrob: cannot write {output}: {error.strerror}")
    for line in told(recorded, timeout):
        click.echo(line, err=True)
    if recorded.interrupted:
        ctx.exit(INTERRUPTED)
    if recorded.timed_out or recorded.full:
        ctx.exit(UNKNOWN)
    ctx.exit(ERROR if recorded.exit_code else 0)


def told(recorded: Recorded, timeout: float | None) -> list[str]:
    """What is said at the end."""
    contents = recorded.contents
    size = contents.bytes / 1e6
    lines = [
        f"pgasrob: {recorded.path}: {contents.ranks} ranks, {contents.calls:,} calls, {contents.accesses:,} accesses, "
        f"{size:,.1f} MB"
    ]
    cut = sorted(contents.seen - contents.ended)
    missing = sorted(set(range(contents.ranks)) - contents.seen)
    if recorded.timed_out:
        lines.append(f"pgasrob: the program was ended after {timeout:g} s")
    elif recorded.interrupted:
        lines.append("pgasrob: the program was interrupted")
    elif recorded.exit_code:
        by = f"signal {-recorded.exit_code}" if recorded.exit_code < 0 else f"exit code {recorded.exit_code}"
        lines.append(f"pgasrob: the program failed ({by})")
    if recorded.full:
        lines.append("pgasrob: the trace was full before the program ended; --limit allows more")
    if cut:
        lines.append(f"pgasrob: up to its last full record only: rank {', '.join(map(str, cut))}")
    if missing:
        lines.append(f"pgasrob: nothing is recorded of rank {', '.join(map(str, missing))}")
    if contents.threaded:
        lines.append(
            "pgasrob: more than one thread made accesses or calls, and how threads wait for each other is not "
            f"recorded: rank {', '.join(map(str, sorted(contents.threaded)))}"
        )
    return lines
