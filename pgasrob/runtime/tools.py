"""The compilers and launchers of communication libraries, and what is told when one is missing."""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from pgasrob.runtime.interposed import HeaderError, Library

if TYPE_CHECKING:
    from collections.abc import Sequence

TO_INSTALL = "Debian and Ubuntu: apt-get install openmpi-bin libopenmpi-dev; else any OpenSHMEM or MPI with gcc"


class ToolError(Exception):
    """A compiler, a launcher or what they need is missing or does not fit; the message says what to do."""


def found(tool: str) -> str:
    """Its path. Raises ``ToolError`` when it is not there."""
    if (path := shutil.which(tool)) is None:
        raise ToolError(f"there is no {tool} on the PATH ({TO_INSTALL})")
    return path


def library_of(compiler: str) -> Library:
    """By the name of the compiler wrapper: ``oshcc``, ``shmemcc``: OpenSHMEM, else MPI."""
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
    """Whether the compiler behind the wrapper is of GCC, whose calls for each access are known here."""
    told = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=False).stdout
    return "Free Software Foundation" in told


def launch(program: Path, library: Library, ranks: int) -> tuple[list[str], dict[str, str]]:
    """The command line before the program that runs ``ranks`` of it on this machine, and its environment.

    Raises ``ToolError`` when the launcher is not there.
    """
    environment = dict(os.environ)
    tool = found("oshrun" if library == "openshmem" else "mpirun")
    told = subprocess.run([tool, "--version"], capture_output=True, text=True, check=False).stdout
    command: Sequence[str] = [tool, "-n", str(ranks)]
    if "Open MPI" in told or "OpenRTE" in told or "Open RTE" in told:
        # More ranks than cores are normal here, and they must not take each other's time while they wait.
        command = [*command, "--oversubscribe", "--mca", "mpi_yield_when_idle", "1"]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    return list(command), environment
