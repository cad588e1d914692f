"""`pgasrob certify`: check a certificate, without the engines."""

from __future__ import annotations

import time
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING

import click

from pgasrob.cli.exit_codes import NOT_ROBUST, UNKNOWN
from pgasrob.cli.options import HELP, Size, c_options, memory_for, progress_display, refuse, seconds

if TYPE_CHECKING:
    from pgasrob.frontends.options import FrontEnd

EXAMPLES = """\b
Exit code:
  0  the certificate proves that the program is robust
  1  it does not
  2  wrong usage, or a program with an error
  3  undecided: a limit was reached

\b
Examples:
  pgasrob check ring.pgas -n 4 --certificate ring.json
  pgasrob certify ring.pgas ring.json
  pgasrob check ring.pgas --nodes all --certificate ring.json.gz
  pgasrob certify ring.pgas ring.json.gz --timeout 60
"""


@click.command(context_settings=HELP, epilog=EXAMPLES)
@click.argument("file", type=click.Path())
@click.argument("certificate", type=click.Path())
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), callback=seconds, metavar="SECONDS",
              help="Give up after so many seconds. Default: never.")  # fmt: skip
@click.option("--memory-limit", type=Size(), metavar="SIZE",
              help="Give up when it takes so much memory beside the process: 500M, 2G; 0: never. Default: three "
              "quarters of what is available.")  # fmt: skip
@c_options
@click.pass_context
def certify(
    ctx: click.Context,
    /,
    file: str,
    certificate: str,
    timeout: float | None,
    memory_limit: int | None,
    front_end: FrontEnd,
) -> None:
    """Check a certificate that `pgasrob check --certificate` has written.

    The certificate says on how many nodes and in which reading the program is robust, and has evidence for it. The
    checker shares with the engines what programs do and nothing else; what it refuses may be robust all the same. A
    certificate whose name ends with .gz is unpacked. The other files of a C program are given by --with.
    """
    from pgasrob.certificates.check.accept import Answer, examine
    from pgasrob.certificates.files import BadFile, stored
    from pgasrob.diagnostics import SourceError
    from pgasrob.robustness.limits import Limits
    from pgasrob.robustness.load import load
    from pgasrob.robustness.watch import LimitReached, Watch

    limits = Limits(None, timeout, memory_for(memory_limit, 1))
    display = progress_display(None)
    try:
        with display(f"{file}, {certificate}") if display else nullcontext() as progress:
            watch = Watch(limits, progress, time.monotonic())

            def answer() -> Answer:
                program, look = load(file, front_end), partial(watch.look_around, "checking the certificate", 0)
                try:
                    return examine(program, stored(certificate), look)
                except BadFile as problem:
                    return Answer(str(problem))

            told = watch.within("while checking it", answer)
    except OSError as error:
        refuse(f"pgasrob: {certificate} cannot be read: {error.strerror}")
    except SourceError as error:
        refuse(str(error))
    except LimitReached as limit:
        refuse(f"{file}: undecided: {limit}", UNKNOWN)
    reason, found = told
    if reason is not None or found is None:
        click.echo(f"{file}: refused: {reason}")
        ctx.exit(NOT_ROBUST)
    reading, frame = found["reading"], found["frame"]
    count = found["nodes"] if frame is None else "every number of"
    options = f"--failed-polls {reading.failed_polls} --conflicts {reading.conflicts}"
    click.echo(f"{file}: robust on {count} nodes, read with {options}")
    sources = sum(len(part["infeasible"]) for part in found["parts"])
    states = sum(len(part["states"]) for part in found["parts"])
    evidence = [f"{sources} infeasible sources"] * bool(sources) + [f"{states} states"] * bool(states)
    click.echo(f"  accepted by {' and '.join(evidence) or 'the commands, none of which has steps'}")
