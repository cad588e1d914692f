"""`pgasrob record`: run a program and write its accesses and calls to a trace."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from pgasrob.cli.declare import argument, command, option
from pgasrob.cli.exit_codes import ERROR, INTERRUPTED, UNKNOWN
from pgasrob.cli.option_groups import timeout_option
from pgasrob.cli.parameter_types import Arguments, Size
from pgasrob.cli.shared_steps import refuse

DEFAULT_LIMIT = "16G"
EXAMPLES = """\b
Exit code:
  0  the program ended with exit code 0 and is recorded to its end
  2  it ended with another exit code or by a signal, cannot be run, does not record, or has damaged its trace
  3  the time was over, or the trace has reached its limit
  130  Ctrl-C, SIGTERM or SIGHUP ended it
In each case in which the program ran, the trace is complete up to its end.

\b
Examples:
  pgasrob record -n 4 -o run.pgastrace -- ./ring 100
  pgasrob record -n 2 --timeout 60 -- ./ring
"""


@dataclass(frozen=True)
class RecordOptions:
    """The options of `pgasrob record`."""

    # fmt: off
    nodes: int = option("-n", "--nodes", type=click.IntRange(min=1), default=2, show_default=True, metavar="N",
        help="The number of ranks, all on this machine.")
    output: Path = option(
        "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), default=Path("run.pgastrace"),
        show_default=True, metavar="FILE", help="The file for the trace.")
    timeout: float | None = timeout_option("End the program after SECONDS. Default: never.")
    limit: int = option("--limit", type=Size(), default=DEFAULT_LIMIT, show_default=True, metavar="SIZE",
        help="Stop recording, but not the program, when the trace has reached this size.")
    launcher: tuple[str, ...] = option("--launcher", type=Arguments(), metavar="COMMAND", default=(),
        help='The command that starts the ranks on this machine: "srun -n 4". Default: oshrun or mpirun, as the '
        "program needs.")
    command: tuple[str, ...] = argument(
        metavar="-- PROGRAM ARGUMENT...", nargs=-1, required=True, type=click.UNPROCESSED
    )
    # fmt: on


@command(RecordOptions, examples=EXAMPLES, ignore_unknown_options=True)
def record(options: RecordOptions) -> int:
    """Run a program and record its accesses and calls.

    PROGRAM was built by `pgasrob build`; its accesses and calls are written to a trace. If the program crashes or is
    ended, the trace stays readable up to the last full record of each rank.
    """
    from pgasrob.render.recorded_text import recorded_lines
    from pgasrob.runtime.child_processes import ended_by_signals
    from pgasrob.runtime.record.records import TraceError
    from pgasrob.runtime.record.run import record as run
    from pgasrob.runtime.tools import ToolError

    try:
        with ended_by_signals():
            recorded = run(
                options.command, options.nodes, options.output, options.timeout, options.limit, options.launcher
            )
    except (ToolError, TraceError) as error:
        refuse(f"pgasrob: {error}")
    except OSError as error:
        refuse(f"pgasrob: cannot write {options.output}: {error.strerror}")
    for line in recorded_lines(recorded, options.timeout):
        click.echo(f"pgasrob: {line}", err=True)
    if recorded.interrupted:
        return INTERRUPTED
    if recorded.timed_out or recorded.contents.full or recorded.contents.stopped:
        return UNKNOWN
    return ERROR if recorded.exit_code or recorded.contents.damage else 0
