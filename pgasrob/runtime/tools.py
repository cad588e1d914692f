"""Finds the compilers and launchers of communication libraries."""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

from pgasrob.runtime.interposed import HeaderError, Library

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
        environment["OMPI_MCA_odls_base_sigkill_timeout"] = "0"  # who ends the launcher has asked the ranks to end
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    elif tagged:
        what = printed.strip().partition("\n")[0] or "something else"
        raise ToolError(f"{tool} is not that of Open MPI, which is needed, but {what} ({TO_INSTALL})")
    return command, environment
