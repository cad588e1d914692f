"""The compilers and launchers of communication libraries that tests build and run programs with, and skip without."""

from __future__ import annotations

import subprocess
from functools import cache
from shutil import which

import pytest

BEHIND = {
    "oshcc": ("oshcc", "oshrun", "gcc"),
    "oshc++": ("oshcc", "oshrun", "gcc", "g++"),
    "mpicc": ("mpicc", "mpirun", "gcc"),
    "mpifort": ("mpicc", "mpirun", "gcc", "gfortran"),
}
"""What a compiler wrapper and its programs need, the C compiler wrapper, with which the shims are compiled, first."""
RUNS_PROGRAMS = ("build", "record", "reproduce")
"""The commands of pgasrob that build or run programs."""


@cache
def _reason(compiler: str) -> str:
    """Why programs of ``compiler`` can be neither built nor run here, or ""."""
    wrapper = BEHIND[compiler][0]
    missing = [tool for tool in dict.fromkeys((compiler, *BEHIND[compiler], "addr2line", "nm")) if which(tool) is None]
    if not missing:
        header = "shmem.h" if wrapper == "oshcc" else "mpi.h"
        command = [wrapper, "-E", "-x", "c", "-"]
        read = subprocess.run(command, input=f"#include <{header}>", capture_output=True, text=True, check=False)
        missing = [header] if read.returncode else []
    packages = "openmpi-bin, libopenmpi-dev, gcc, g++, gfortran and binutils"
    return f"needs {', '.join(missing)} (Debian: of {packages})" if missing else ""


def needs(compiler: str) -> pytest.MarkDecorator:
    """Skips a test without what it builds and runs programs with."""
    return pytest.mark.skipif(bool(_reason(compiler)), reason=_reason(compiler))


def skip_unless_run(command: str) -> None:
    """Skips the test that is running when ``command``, words after ``pgasrob``, needs a library that is not there."""
    name, *_ = command.split()
    reason = _reason("mpicc" if "mpi" in command else "oshcc") if name in RUNS_PROGRAMS else ""
    if reason:
        pytest.skip(reason)
