"""Runs a program that was built to record, and writes its trace (`pgasrob record`)."""

from __future__ import annotations

import errno
import os
import platform
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pgasrob.runtime.child_processes import run, signals
from pgasrob.runtime.record import trace
from pgasrob.runtime.record.build import library_of_program
from pgasrob.runtime.tools import ToolError, launch

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Recorded:
    """A recorded run. ``exit_code``: that of the launcher; negative: minus the signal."""

    path: Path
    exit_code: int
    timed_out: bool
    interrupted: bool
    contents: trace.Contents


def record(
    command: Sequence[str], ranks: int, output: Path, timeout: float | None, limit: int, launcher: Sequence[str] = ()
) -> Recorded:
    """Runs ``command`` on ``ranks`` ranks of this machine and writes the trace to ``output``.

    However the program ends, its trace is whole up to the last full record of each rank. Until then it is beside
    ``output``, under a name with the number of this process. ``launcher``: the command line to use instead of
    ``oshrun`` or ``mpirun``. Raises ``ToolError`` when the launcher or the program is missing or the program does not
    record, ``OSError`` when the trace cannot be written.
    """
    if (path := shutil.which(command[0])) is None:
        raise ToolError(f"there is no program {command[0]}: build it first, by `pgasrob build -- oshcc ...`")
    program = Path(path)
    library = library_of_program(program)
    before, environment = launch(library, ranks) if not launcher else (list(launcher), dict(os.environ))
    about: dict[str, object] = {
        "command": list(command),
        "program": str(program.resolve()),
        "host": platform.node(),
        "library": library,
    }
    target = output.resolve()
    if target.exists() and not target.is_file():
        raise OSError(errno.EINVAL, "it is no regular file")
    made = target.with_name(f"{target.stem}.{os.getpid()}{trace.SUFFIX}")
    environment["PGASROB_TRACE"] = str(made)
    with signals(held=True):
        try:
            trace.create(made, about, limit)
            ran = run([*before, str(program), *command[1:]], environment, timeout)
            timed_out = ran.stopped == "timeout"
            ended = trace.ENDED_BY_TIMEOUT if timed_out else trace.ENDED_BADLY if ran.exit_code else trace.ENDED_WELL
            contents = trace.finish(made, ended, ran.exit_code)
            if contents is None and ran.stopped == "interrupt":
                raise KeyboardInterrupt
            if contents is None:
                why = "it did not come to shmem_init or MPI_Init"
                raise ToolError(f"{command[0]} recorded nothing: {why} (exit code {ran.exit_code})")
            os.replace(made, target)
        except (ToolError, OSError, KeyboardInterrupt):
            made.unlink(missing_ok=True)
            raise
    return Recorded(output, ran.exit_code, timed_out, ran.stopped == "interrupt", contents)
