"""Steps that several commands share: read a program within limits, show progress, print JSON, end without an answer.

Only click is imported at the top, so that `--help` costs little.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn, TypeVar

import click

from pgasrob.cli.exit_codes import CRASHED, ERROR, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pgasrob.frontends.options import FrontEnd
    from pgasrob.program.declarations import Declared
    from pgasrob.program.instance import Instance
    from pgasrob.program.reading import Reading
    from pgasrob.render.progress import Display
    from pgasrob.render.shared_json import Error
    from pgasrob.robustness.limits import Limits
    from pgasrob.robustness.verdict import Verdict

    NoAnswer = Callable[[list[Error], str | None], object]
    """Makes the JSON object of a command without an answer from the errors in the program and a reason."""

T = TypeVar("T")
PROGRAM = "pgasrob"
"""What internal errors are about where no file is at work."""


def mention_a_missing_kernel(engine: str = "portfolio") -> None:
    import warnings

    from pgasrob.twins import MissingKernelWarning, missing_kernel

    message = missing_kernel()
    if engine in ("portfolio", "attack", "traces") and message is not None:
        click.echo(f"pgasrob: {message}", err=True)
        warnings.simplefilter("ignore", MissingKernelWarning)


def mention_the_count(program: Declared | Verdict) -> None:
    """Say that ``program``, or that of a verdict, is not meant for its number of nodes, or why that was chosen."""
    if program.count_note is not None:
        from pgasrob.render.count_note_json import sentence

        click.echo(f"pgasrob: {sentence(program.count_note)}", err=True)


def progress_display(max_states: int | None) -> Display | None:
    """A progress display where stderr is a terminal."""
    if not sys.stderr.isatty():
        return None
    from pgasrob.render.progress import Display

    return Display(sys.stderr, max_states)


def print_json(value: object) -> None:
    from pgasrob.render.source_places import dumps

    click.echo(dumps(value))


def refuse(
    message: str,
    exit_code: int = ERROR,
    in_json: NoAnswer | None = None,
    errors: Sequence[Error] = (),
    reason: str | None = None,
) -> NoReturn:
    """End the command without an answer.

    The ``message`` goes to stderr, or with ``in_json`` the object that this makes of ``errors`` and ``reason`` to
    stdout.
    """
    if in_json is None:
        click.echo(message, err=True)
    else:
        print_json(in_json(list(errors), reason))
    raise click.exceptions.Exit(exit_code) from None


PASSED_ON = (click.ClickException, click.exceptions.Exit, click.Abort, OSError)
"""Exceptions that say how a command ends, or that nobody reads its output."""


def crashed(error: Exception, file: str, in_json: NoAnswer | None = None) -> int:
    """Say that ``error`` has ended what was asked about ``file``; the exit code. Raises what is passed on (click's
    exceptions, those of the output), so that it can be called for any exception."""
    if isinstance(error, PASSED_ON):
        raise error
    if isinstance(error, MemoryError):
        click.echo(f"pgasrob: {file}: out of memory", err=True)
        return UNKNOWN
    from pgasrob.diagnostics.internal_error import internal_error

    found = internal_error(error, file)
    if in_json is None:
        click.echo(found.render(), err=True)
    else:
        from pgasrob.render.shared_json import errors_to_json

        print_json(in_json(errors_to_json((found,), file), found.message))
    return CRASHED


@contextmanager
def reported(file: str, in_json: NoAnswer | None = None) -> Iterator[None]:
    """Within, an exception that should not have been raised is a finding about ``file``, which ends the command."""
    try:
        yield
    except Exception as error:
        raise click.exceptions.Exit(crashed(error, file, in_json)) from error


def limited(
    limits: Limits, phase: str, work: Callable[[], T], in_json: NoAnswer | None = None, *, looks: bool = True
) -> T:
    """What ``work`` gives, which looks at ``limits`` itself as far as it can; ends the command (`refuse`) where it
    reaches one of them before its end."""
    from pgasrob.robustness.stopping import Stopped, within_limits

    found = within_limits(limits, phase, lambda watch: work(), looks=looks)
    if isinstance(found, Stopped):
        refuse(f"pgasrob: {found.reason}", UNKNOWN, in_json, reason=str(found.reason))
    return found


def load_instance(
    file: str,
    nodes: int | None,
    front_end: FrontEnd | None = None,
    in_json: NoAnswer | None = None,
    reading: Reading | None = None,
) -> Instance:
    """The program in ``file`` on ``nodes`` nodes; ends the command (`refuse`) when it is none.

    ``reading``: every command is an event when None, for runs as they are.
    """
    from pgasrob.diagnostics import SourceError
    from pgasrob.program.reading import LITERAL_READING
    from pgasrob.robustness.load import load

    try:
        instance = load(file, front_end).instantiate(nodes, reading or LITERAL_READING)
        mention_the_count(instance.program)
        return instance
    except SourceError as error:
        if in_json is None:
            refuse(str(error))
        from pgasrob.render.shared_json import errors_to_json

        refuse(str(error), ERROR, in_json, errors_to_json(error.diagnostics, file))
