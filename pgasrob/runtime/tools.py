"""Finds the compilers and launchers of communication libraries, and runs programs with them."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pgasrob.runtime.interposed import HeaderError, Library

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TO_INSTALL = "Debian and Ubuntu: apt-get install openmpi-bin libopenmpi-dev; else any OpenSHMEM or MPI with gcc"


class ToolError(Exception):
    """A compiler or a launcher is missing, or is not the right one; the message says what to do."""


def found(tool: str) -> str:
    """The path of a tool. Raises ``ToolError`` when it is not installed."""
    if (path := shutil.which(tool)) is None:
        raise ToolError(f"there is no {tool} on the PATH ({TO_INSTALL})")
    return path


def library_of(compiler: str) -> Library:
    """The library of a compiler wrapper, by its name: ``oshcc``, ``shmemcc``: OpenSHMEM, else MPI."""
    name = Path(compiler).name
    return "openshmem" if name.startswith(("osh", "shmem")) else "mpi"


def is_fortran(compiler: str) -> bool:
    return Path(compiler).name.endswith(("fort", "f77", "f90", "f08"))


def c_compiler_of(compiler: str) -> str:
    """The C compiler wrapper beside that of another language: ``mpicc`` of ``mpifort``."""
    name, folder = Path(compiler).name, Path(found(compiler)).parent
    for prefix in ("oshmpi", "osh", "shmem", "mpi"):
        if name.startswith(prefix):
            beside = folder / f"{prefix}cc"
            return str(beside) if beside.exists() else found(f"{prefix}cc")
    raise ToolError(f"{compiler} is no compiler wrapper of OpenSHMEM or MPI (oshcc, mpicc, mpicxx, mpifort, ...)")


def has_header(compiler: str, library: Library) -> bool:
    from pgasrob.runtime.interposed import functions

    try:
        return bool(functions([compiler], library))
    except HeaderError:
        return False


@cache
def is_gcc(compiler: str) -> bool:
    """Whether the wrapper runs GCC, the only compiler whose calls at each access the recording runtime answers."""
    printed = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=False).stdout
    return "Free Software Foundation" in printed


def launch(library: Library, ranks: int, *, tagged: bool = False) -> tuple[list[str], dict[str, str]]:
    """The command line, up to the program, that runs ``ranks`` ranks on this machine, and its environment.

    ``tagged``: each line of output begins with its rank, in the way of Open MPI. Raises ``ToolError`` when the launcher
    is missing, or cannot do that.
    """
    environment = dict(os.environ)
    tool = found("oshrun" if library == "openshmem" else "mpirun")
    asked = subprocess.run([tool, "--version"], capture_output=True, text=True, errors="replace", check=False)
    printed, command = asked.stdout, [tool, "-n", str(ranks)]
    if "Open MPI" in printed or "OpenRTE" in printed or "Open RTE" in printed:
        # More ranks than cores are normal here, and they must not take each other's time while they wait.
        command += ["--oversubscribe", "--mca", "mpi_yield_when_idle", "1"]
        command += ["--mca", "btl_base_warn_component_unused", "0"]
        command += ["--tag-output"] if tagged else []
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    elif tagged:
        what = printed.strip().partition("\n")[0] or "something else"
        raise ToolError(f"{tool} is not that of Open MPI, which is needed, but {what} ({TO_INSTALL})")
    return command, environment


GRACE = 5.0
"""Seconds between the signals that ask the launcher to end and that kill it."""


@dataclass(frozen=True, slots=True)
class Ran:
    """The output of a run, if ``captured``, and its end. ``exit_code``: that of the launcher; negative: minus the
    signal. ``stopped``: this process ended it, because its time was up or by Ctrl-C."""

    output: str
    errors: str
    exit_code: int
    stopped: Literal["timeout", "interrupt"] | None


def run(
    command: Sequence[str], environment: Mapping[str, str], timeout: float | None, *, captured: bool = False
) -> Ran:
    """Runs ``command``, for ``timeout`` seconds at most. ``captured``: its output is kept, and its input is empty.

    Raises ``OSError`` when it cannot be started.
    """
    pipe = subprocess.PIPE if captured else None
    # A session of its own, so that what the launcher started ends with it.
    running = subprocess.Popen(
        command, stdin=subprocess.DEVNULL if captured else None, stdout=pipe, stderr=pipe,
        text=True, errors="replace", env=environment, start_new_session=True,
    )  # fmt: skip
    stopped: Literal["timeout", "interrupt"] | None = None
    try:
        output, errors = running.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        stopped = "timeout"
        output, errors = _ended(running)
    except KeyboardInterrupt:
        stopped = "interrupt"
        output, errors = _ended(running)
    except BaseException:
        _ended(running)
        raise
    return Ran(output or "", errors or "", running.returncode, stopped)


def _ended(running: subprocess.Popen[str]) -> tuple[str, str]:
    """Ends the launcher, which ends its ranks, then all that is left of its session; returns the output so far."""
    output = None
    for kind in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(running.pid, kind)
        if output is None:
            with suppress(subprocess.TimeoutExpired):
                output = running.communicate(timeout=GRACE)
    return output or running.communicate()
