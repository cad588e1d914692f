"""`pgasrob certify`: check a certificate, without the engines."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pgasrob.cli.declare import argument, command, group
from pgasrob.cli.exit_codes import NOT_ROBUST, ROBUST, UNKNOWN
from pgasrob.cli.option_groups import COptionsToTake, TimeAndMemory
from pgasrob.cli.shared_steps import progress_display, refuse

if TYPE_CHECKING:
    from pgasrob.certificates.check.accept import Answer
    from pgasrob.program.program import Instantiable
    from pgasrob.robustness.limits import Limits
    from pgasrob.robustness.watch import Watch

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


@dataclass(frozen=True)
class CertifyOptions:
    """The options of `pgasrob certify`."""

    file: str = argument(type=click.Path())
    certificate: str = argument(type=click.Path())
    limits: Limits = group(TimeAndMemory, beside=" beside the process")
    c: COptionsToTake = group(COptionsToTake)


@command(CertifyOptions, examples=EXAMPLES)
def certify(options: CertifyOptions) -> int:
    """Check the certificate of a robust program.

    `pgasrob check --certificate` writes it.

    The certificate names the node count and the options for which the program is robust, and has the evidence. The
    checker shares only the meaning of programs with the engines (for C the whole front end). A program whose
    certificate is refused may still be robust. A certificate whose name ends with .gz is unpacked. The other files of a
    C program are given by --with.
    """
    file = options.file
    reason, found = _examined(options)
    if reason is not None or found is None:
        click.echo(f"{file}: refused: {reason}")
        return NOT_ROBUST
    reading, frame = found["reading"], found["frame"]
    count = found["nodes"] if frame is None else "every number of"
    read_with = f"--failed-polls {reading.failed_polls} --conflicts {reading.conflicts}"
    click.echo(f"{file}: robust on {count} nodes, read with {read_with}")
    sources = sum(len(part["infeasible"]) for part in found["parts"])
    states = sum(len(part["states"]) for part in found["parts"])
    evidence = [f"{sources} infeasible sources"] * bool(sources) + [f"{states} states"] * bool(states)
    click.echo(f"  accepted by {' and '.join(evidence) or 'the commands, none of which has steps'}")
    return ROBUST


def _program(options: CertifyOptions) -> Instantiable:
    """The program; nothing is imported for C where it is a .pgas file."""
    if options.file.endswith(".pgas"):
        from pgasrob.program.parser import parse_file

        return parse_file(Path(options.file))
    from pgasrob.robustness.load import load

    return load(options.file, options.c.front_end())


def _examined(options: CertifyOptions) -> Answer:
    """The answer of the checker; ends the command when the program or the certificate cannot be read."""
    from pgasrob.certificates.certificate_files import BadFile, stored
    from pgasrob.certificates.check.accept import Answer, examine
    from pgasrob.diagnostics import SourceError
    from pgasrob.file_input import why
    from pgasrob.robustness.stopping import Stopped, within_limits

    file, certificate = options.file, options.certificate

    def answer(watch: Watch) -> Answer:
        try:
            return examine(
                _program(options), stored(certificate), partial(watch.look_around, "checking the certificate", 0)
            )
        except BadFile as problem:
            return Answer(str(problem))

    display = progress_display(None)
    try:
        with display(f"{file}, {certificate}") if display else nullcontext() as progress:
            found = within_limits(options.limits, "while checking it", answer, progress)
    except OSError as error:
        refuse(f"pgasrob: {certificate} cannot be read: {'; '.join(why(error))}")
    except SourceError as error:
        refuse(str(error))
    if isinstance(found, Stopped):
        refuse(f"{file}: undecided: {found.reason}", UNKNOWN)
    return found
