"""`pgasrob certify`: check a certificate, without the engines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pgasrob.cli.exit_codes import NOT_ROBUST
from pgasrob.cli.options import HELP, c_options, refuse

if TYPE_CHECKING:
    from pgasrob.frontends.options import FrontEnd

EXAMPLES = """\b
Exit code:
  0  the certificate proves that the program is robust
  1  it does not
  2  wrong usage, or a program with an error

\b
Examples:
  pgasrob check ring.pgas -n 4 --certificate ring.json
  pgasrob certify ring.pgas ring.json
  pgasrob check ring.pgas --nodes all --certificate ring.json
"""


@click.command(context_settings=HELP, epilog=EXAMPLES)
@click.argument("file", type=click.Path())
@click.argument("certificate", type=click.Path())
@c_options
@click.pass_context
def certify(ctx: click.Context, /, file: str, certificate: str, front_end: FrontEnd) -> None:
    """Check a certificate that `pgasrob check --certificate` has written.

    The certificate says on how many nodes and in which reading the program is robust, and has evidence for it. The
    checker shares with the engines what programs do and nothing else; what it refuses may be robust all the same. The
    other files of a C program are given by --with.
    """
    from pgasrob.certificates.check.accept import examine
    from pgasrob.diagnostics import SourceError
    from pgasrob.robustness.check import load

    try:
        text = Path(certificate).read_text(encoding="utf-8")
    except OSError as error:
        refuse(f"pgasrob: {certificate} cannot be read: {error.strerror}")
    except UnicodeDecodeError:
        text = ""
    try:
        told = examine(load(file, front_end), text)
    except SourceError as error:
        refuse(str(error))
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
