"""Compiles and links a program so that it records what it does (`pgasrob build`).

For its loads and stores, GCC's ``-fsanitize=thread`` inserts a call before each, which the runtime of this folder
answers instead of the sanitizer's. For its communication, shim functions (`pgasrob.runtime.interposed`) are linked
before the library's.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
import warnings
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pgasrob import file_input
from pgasrob.runtime.child_processes import finished
from pgasrob.runtime.interposed import HeaderError
from pgasrob.runtime.record import mpi, openshmem
from pgasrob.runtime.tools import ToolError, c_compiler_of, found, has_header, is_fortran, is_gcc, library_of
from pgasrob.scratch_folders import scratch_folder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pgasrob.runtime.interposed import Library

SOURCES = Path(__file__).parent
SHARED = SOURCES.parent
NOT_LINKING = ("-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "--version", "-v", "--help", "-dumpversion")
IN_MEMORY = ("memcpy", "memmove", "memset", "memcmp", "strlen", "strcpy", "strncpy")
"""Functions of the C library whose accesses the runtime records."""
ALLOCATING = (
    *("malloc", "calloc", "realloc", "aligned_alloc", "posix_memalign", "free"),
    *("_Znwm", "_Znam", "_ZdlPv", "_ZdlPvm", "_ZdaPv"),
)
"""The functions by which C and C++ allocate: the runtime records which line a block of memory comes from."""
DIGESTS = "sha256sums"
"""The file with the digests of the others in a folder of the cache."""
MARK = b"pgasrob records: "
"""Marks a program that records; the name of the library follows."""


def build(command: Sequence[str]) -> int:
    """Runs the compiler ``command`` with the options for recording, and returns its exit code.

    Raises ``ToolError`` when the compiler is missing, is none of OpenSHMEM or MPI, or cannot build for recording.
    """
    compiler, *arguments = command
    path = found(compiler)
    c_compiler = c_compiler_of(compiler)
    if not is_gcc(path):
        raise ToolError(f"{compiler} is not GCC, for which alone recording is made: let it use gcc (OMPI_CC=gcc, ...)")
    for argument in arguments:
        if argument.startswith("-fsanitize=") or argument == "-static":
            raise ToolError(f"{argument} and recording exclude each other: leave it out")
    if is_fortran(compiler) and library_of(compiler) == "openshmem":
        raise ToolError("OpenSHMEM's interface for Fortran, which version 1.4 deprecates, cannot be recorded")
    flags = instrumenting(compiler)
    if any(argument in NOT_LINKING for argument in arguments):
        return finished([path, *flags, *arguments], captured=False).exit_code
    folder = runtime(c_compiler, library_of(compiler))
    linked: list[str] = [f"-L{folder}", "-Wl," + ",".join(f"--wrap={name}" for name in IN_MEMORY)]
    if "-shared" in arguments:
        linked += [str(folder / "module.o")]
    else:
        linked += [f"-Wl,--wrap={name}" for name in ALLOCATING]
        linked += [*map(str, sorted(folder.glob("*.o"))), "-ldl", "-lpthread"]
        linked += [f"-Wl,--export-dynamic-symbol={names}" for names in ("__tsan_*", "pgasrob_module")]
    return finished([path, *flags, f"-L{folder}", *arguments, *linked], captured=False).exit_code


def instrumenting(compiler: str) -> list[str]:
    """The compiler options for recording. Copies are left to the C library, whose functions are wrapped at linking."""
    flags = ["-g", "-fsanitize=thread", "--param=tsan-distinguish-volatile=1"]
    flags += ["--param=tsan-instrument-func-entry-exit=0", "-U_FORTIFY_SOURCE"]
    return flags if is_fortran(compiler) else [*flags, *(f"-fno-builtin-{name}" for name in IN_MEMORY)]


def runtime(c_compiler: str, library: Library) -> Path:
    """The folder with the compiled runtime, which is cached, and compiled again when it is damaged. Raises
    ``ToolError``."""
    sources = generated(c_compiler, library)
    for path in (*SOURCES.glob("*.[ch]"), *SHARED.glob("*.[ch]")):
        sources[f"{path.parent.name}/{path.name}"] = path.read_text(encoding="utf-8")
    version = subprocess.run([c_compiler, "--version"], capture_output=True, text=True, check=False).stdout
    key = hashlib.sha256(repr((c_compiler, version, DIGESTS, sorted(sources.items()))).encode()).hexdigest()[:16]
    kept = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser(), "pgasrob", f"record-{key}")
    if kept.exists() and not _is_whole(kept):
        warnings.warn(f"{kept} is damaged: the recording runtime is compiled again", stacklevel=2)
        shutil.rmtree(kept)
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent) as made:
            whole = Path(made, "whole")
            whole.mkdir()
            _compile(c_compiler, library, sources, whole)
            (whole / DIGESTS).write_text(_digests(whole), encoding="ascii")
            with suppress(OSError):  # another build has made it meanwhile
                os.rename(whole, kept)
    return kept


def _is_whole(kept: Path) -> bool:
    """Whether each file in the folder is as it was made, and none is missing or new."""
    with suppress(OSError):
        return file_input.read(kept / DIGESTS) == _digests(kept).encode()
    return False


def _digests(folder: Path) -> str:
    """A line with a digest for each file in the folder."""
    files = sorted(path for path in folder.iterdir() if path.name != DIGESTS)
    return "".join(f"{hashlib.sha256(file_input.read(path)).hexdigest()}  {path.name}\n" for path in files)


def generated(c_compiler: str, library: Library) -> dict[str, str]:
    """The C sources that are generated from the library's header, by name."""
    try:
        texts = {"record/generated_openshmem.c": openshmem.recording([c_compiler])} if library == "openshmem" else {}
        if library == "mpi" or has_header(c_compiler, "mpi"):
            texts["record/generated_mpi.c"] = mpi.recording([c_compiler])
    except HeaderError as error:
        raise ToolError(str(error)) from None
    mark = f'__attribute__((used)) static const char mark[] = "{MARK.decode()}{library}";\n'
    return {**texts, "record/mark.c": mark}


def _compile(c_compiler: str, library: Library, sources: dict[str, str], into: Path) -> None:
    """Compiles all C sources for the library, and makes an empty archive to replace the sanitizer's library."""
    with scratch_folder() as folder:
        for name, text in sources.items():
            path = Path(folder, "runtime" if "/" not in name else "", name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        wanted = {Path(folder, name) for name in sources if name.endswith(".c")}
        wanted -= {Path(folder, "record/openshmem.c")} if library == "mpi" else set()
        wanted -= set() if "record/generated_mpi.c" in sources else {Path(folder, "record/mpi.c")}
        for path in sorted(wanted):
            flags = ["-O2", "-std=gnu11", "-fPIC", "-ftls-model=initial-exec", "-w", f"-I{folder}/record"]
            command = [c_compiler, *flags, f"-I{folder}/runtime", "-c", str(path), "-o", str(into / f"{path.stem}.o")]
            compiled = finished(command)
            if compiled.exit_code:
                raise ToolError(f"{c_compiler} cannot compile the recording runtime:\n{compiled.errors}")
    (into / "libtsan.a").write_bytes(b"!<arch>\n")


def library_of_program(program: Path) -> Library:
    """The library with which ``program`` records. Raises ``ToolError`` when it was not built by `pgasrob build`."""
    try:
        content = file_input.read(program)
    except OSError as error:
        raise ToolError(f"cannot read {program}: {'; '.join(file_input.why(error))}") from None
    for library in ("openshmem", "mpi"):
        if MARK + library.encode() in content:
            return "openshmem" if library == "openshmem" else "mpi"
    raise ToolError(
        f"{program} does not record: build it with `pgasrob build -- oshcc ...` (or mpicc, mpicxx, mpifort)"
    )
