"""Builds a program with the shim, and runs it."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pgasrob.runtime.child_processes import Ran, finished
from pgasrob.runtime.interposed import Function, HeaderError, Library, functions
from pgasrob.runtime.reproduce.wrappers import interposed, wrappers
from pgasrob.runtime.tools import TO_INSTALL, ToolError, found, launch

HERE = Path(__file__).parent
COMPILERS: dict[Library, str] = {"openshmem": "oshcc", "mpi": "mpicc"}
LIBRARY_NAMES: dict[Library, str] = {"openshmem": "OpenSHMEM", "mpi": "MPI"}
OWN_NAMES: dict[Library, re.Pattern[str]] = {
    "openshmem": re.compile(r"shmemx?_\w+|start_pes"),
    "mpi": re.compile(r"MPIX?_\w+"),
}
TAGGED = re.compile(r"\[\d+,(\d+)\]<(stdout|stderr|stddiag)>:(.*)")
PLAIN_FLAGS = ("-g", "-O0", "-w")

Mode = Literal["watch", "follow", "hold"]


class CannotRun(ToolError):
    """This program cannot be built or run, though the tools work; the message says why, and what to do."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A C file of the program: where it is, its text as it is compiled, and the compiler's options for it."""

    path: str
    text: str
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Execution:
    """The result of a run. ``output``: the lines of each rank; ``errors``: those of standard error, the launcher's
    among them. ``code``: the exit code of the launcher, None when it was stopped because the program did not end.

    ``read``: the values that statements reported, by their numbers; ``called``: those that calls read, by the numbers
    of the calls; ``cells``: those at the end, by number and rank. ``stopped_at``: the turn at which the schedule was
    given up; ``ended``: for each rank whether it reached its end.
    """

    output: tuple[tuple[str, ...], ...]
    errors: tuple[str, ...]
    code: int | None
    read: Mapping[int, bytes] = field(default_factory=dict)
    called: Mapping[int, bytes] = field(default_factory=dict)
    cells: Mapping[tuple[int, int], bytes] = field(default_factory=dict)
    stopped_at: int | None = None
    ended: tuple[bool, ...] = ()

    @property
    def failed_assertion(self) -> str | None:
        """The message of an assertion that has failed."""
        return next((line for line in self.errors if "Assertion" in line and "failed" in line), None)


def library_functions(library: Library) -> tuple[Function, ...]:
    """The functions of the library that is installed. Raises ``ToolError``."""
    try:
        return functions([found(COMPILERS[library])], library)
    except HeaderError as error:
        raise ToolError(f"{error} ({TO_INSTALL})") from None


@dataclass(frozen=True, slots=True)
class Program:
    """An executable with the shim, and the ``arguments`` that it is started with."""

    path: Path
    library: Library
    nodes: int
    arguments: tuple[str, ...] = ()


def build(folder: Path, library: Library, units: Sequence[Unit], nodes: int, known: Sequence[Function]) -> Program:
    """The program of these ``units``, in ``folder``. Raises ``ToolError``, :class:`CannotRun` among it."""
    compiler = found(COMPILERS[library])
    launch(library, nodes, tagged=True)
    objects = []
    for number, unit in enumerate(units):
        source, made = folder / f"unit{number}.c", folder / f"unit{number}.o"
        source.write_text(unit.text, errors="surrogateescape")
        beside = ["-I", os.path.dirname(os.path.abspath(unit.path))]
        _compile([compiler, *PLAIN_FLAGS, *beside, *unit.flags, "-c", str(source), "-o", str(made)])
        objects.append(str(made))
    listed = subprocess.run([found("nm"), "-u", *objects], capture_output=True, text=True, check=False)
    needed = {line.split()[-1] for line in listed.stdout.splitlines() if line.split()[:1] == ["U"]}
    names = {function.name for function in known}
    lacking = sorted(name for name in needed if OWN_NAMES[library].fullmatch(name) and name not in names)
    if lacking:
        raise CannotRun(f"the {LIBRARY_NAMES[library]} that is installed has no {', '.join(lacking)}")
    (folder / "wrappers.c").write_text(wrappers(library, [each for each in known if each.name in needed]))
    own = [folder / "wrappers.c", HERE / f"hold_{library}.c", HERE / "hold.c", *sorted(HERE.parent.glob("*.c"))]
    headers = ["-I", str(HERE), "-I", str(HERE.parent)]
    path = folder / "program"
    _compile(
        [compiler, "-g", "-O1", "-w", *headers, *objects, *map(str, own), "-o", str(path), "-lm", "-ldl", "-lpthread"]
    )
    return Program(path, library, nodes)


def _compile(command: Sequence[str]) -> None:
    compiled = finished(command)
    if compiled.exit_code:
        errors = compiled.errors.splitlines()
        lines = [line for line in errors if "error" in line or "undefined" in line] or [compiled.errors]
        raise CannotRun(f"{os.path.basename(command[0])} does not compile it: {lines[0].strip()}")


def execute(program: Program, mode: Mode, schedule: str = "", timeout: float = 20, **environment: str) -> Execution:
    """Run ``program`` in ``mode``: watch (interfere with nothing), follow (the turns of ``schedule``), hold (hold back
    all operations as long as possible)."""
    folder = program.path.parent
    for old in folder.glob("seen.*"):
        old.unlink()
    (folder / "schedule").write_text(schedule)
    (folder / "control").write_bytes(bytes(1 << 15))
    command, inherited = launch(program.library, program.nodes, tagged=True)
    patience = str(min(timeout / 2, 10))  # with a rank that does not come to its turn
    shown = {"PGASROB_MODE": mode, "PGASROB_FOLDER": str(folder), "PGASROB_PATIENCE": patience, **environment}
    ran = finished([*command, str(program.path), *program.arguments], {**inherited, **shown}, timeout)
    return _execution(program, ran)


def _execution(program: Program, ran: Ran) -> Execution:
    output: list[list[str]] = [[] for _ in range(program.nodes)]
    errors = []
    for line in f"{ran.output}\n{ran.errors}".splitlines():
        match = TAGGED.fullmatch(line)
        if match and match[2] == "stdout":
            output[int(match[1])].append(match[3])
        elif match or line.strip():
            errors.append(match[3] if match else line)
    read: dict[int, bytes] = {}
    called: dict[int, bytes] = {}
    cells: dict[tuple[int, int], bytes] = {}
    stopped = None
    ended = []
    for rank in range(program.nodes):
        path = program.path.parent / f"seen.{rank}"
        lines = path.read_text().splitlines() if path.exists() else []
        ended.append(any(line.startswith("followed") for line in lines))
        for line in lines:
            what, number, *value = line.split()
            data = bytes.fromhex(value[0]) if value else b""
            match what:
                case "read":
                    read[int(number)] = data
                case "call":
                    called[int(number)] = data
                case "cell":
                    cells[int(number), rank] = data
                case "abandoned":
                    stopped = int(number)
    code = None if ran.stopped else ran.exit_code
    return Execution(tuple(map(tuple, output)), tuple(errors), code, read, called, cells, stopped, tuple(ended))


def interposed_functions(library: Library, known: Sequence[Function]) -> frozenset[str]:
    return frozenset(function.name for function in known if interposed(library, function))
