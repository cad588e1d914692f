"""Options that several commands share: node counts, limits, how C is read, what counts as an event and a conflict."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from pgasrob.cli.declare import flag, option
from pgasrob.cli.parameter_types import Arguments, Dialect, Macro, NodeCounts, OneOf, SharedMemory, Size, seconds
from pgasrob.cli.shared_steps import refuse

if TYPE_CHECKING:
    from pgasrob.frontends.compile_commands import Compiled
    from pgasrob.frontends.options import FrontEnd
    from pgasrob.program.reading import Conflicts, FailedPolls, Reading, Waits
    from pgasrob.robustness.limits import Limits

DEFAULT_ENGINE = "portfolio"  # those of robustness, which is not imported for the help text
MOST_STATES, MOST_SC_STATES = 1_000_000, 50_000
DEFAULT_COUNT = "Default: the program's own, else 2, or for C programs that need more, the smallest one up to 8."


def node_count_option() -> Any:
    """A field for one node count; None: the program's own."""
    return option("-n", "--nodes", type=click.IntRange(min=1), help=f"Node count. {DEFAULT_COUNT}")


def node_counts_option(help: str = f"Node counts: 2, 2..5 or 2,4. {DEFAULT_COUNT}") -> Any:
    """A field for node counts; None: the program's own."""
    return option("-n", "--nodes", type=NodeCounts(), metavar="COUNTS", help=help)


def memory_model_option() -> Any:
    """A field for a memory model of MPI; None: the calculus."""
    return option(
        "--memory-model", type=OneOf(("unified", "separate")),
        help="For MPI: ask whether the results are defined in this memory model of MPI-3 (Hoefler et al., 2014).",
    )  # fmt: skip


def format_option(*formats: str, help: str) -> Any:
    """A field for what is printed: text, unless another of the ``formats`` is asked for."""
    return option("--format", type=OneOf(["text", *formats]), default="text", show_default=True, help=help)


def max_states_option(help: str) -> Any:
    """A field for a number of states; 0: any number."""
    return option(
        "--max-states", type=click.IntRange(min=0), default=MOST_STATES, show_default=True, metavar="N", help=help
    )


def timeout_option(help: str, default: float | None = None) -> Any:
    """A field for seconds."""
    return option(
        "--timeout", type=click.FloatRange(min=0, min_open=True), callback=seconds, metavar="SECONDS",
        **({} if default is None else {"default": default, "show_default": True}), help=help,
    )  # fmt: skip


def memory_option(help: str, **attributes: Any) -> Any:
    """A field for bytes; 0: any number."""
    return option("--memory-limit", type=Size(), metavar="SIZE", **attributes, help=help)


def memory_for(given: int | None, jobs: int) -> int | None:
    """The bytes that a check may take when ``jobs`` run at a time; None for as many as it likes."""
    from pgasrob.robustness.limits import spare_memory

    return spare_memory(jobs) if given is None else given or None


@dataclass(frozen=True)
class TimeAndMemory:
    """Limits of a search in time and memory: `Limits`."""

    # fmt: off
    timeout: float | None = timeout_option("Give up after SECONDS. Default: no limit.")
    memory_limit: int | None = memory_option(
        "Give up when it needs more memory than this{beside}: 500M, 2G; 0: no limit. Default: three quarters of the "
        "available memory.")
    # fmt: on

    def value(self) -> Limits:
        from pgasrob.robustness.limits import Limits

        return Limits(None, self.timeout, memory_for(self.memory_limit, 1))


@dataclass(frozen=True)
class SearchLimits:
    """Limits of a search in states, time and memory: `Limits`."""

    max_states: int = max_states_option("{states}; 0: no limit.")
    timeout: float | None = timeout_option("{seconds}. Default: no limit.")
    memory_limit: int | None = memory_option(
        "{memory}: 500M, 2G; 0: no limit. Default: three quarters of the available memory."
    )

    def value(self) -> Limits:
        from pgasrob.robustness.limits import Limits

        return Limits(self.max_states or None, self.timeout, memory_for(self.memory_limit, 1))


@dataclass(frozen=True)
class ReadingOptions:
    """Which commands are events, and which events conflict: a `Reading`."""

    # fmt: off
    failed_polls: FailedPolls = option(
        "--failed-polls", type=OneOf(["wait", "count"]), default="wait", show_default=True,
        help="How to treat a read after which a rank can only come back and read again. wait: it is not an event, so "
        "a polling loop is a wait; count: it is an event like any other.")
    conflicts: Conflicts = option(
        "--conflicts", type=OneOf(["commuting", "all"]), default="commuting", show_default=True,
        help="Whether two additions (or two `or`, `min`, ...) to one cell that fetch nothing conflict. commuting: "
        "they do not; all: they do, like any two writes.")
    waits: Waits = option(
        "--waits", type=OneOf(["condition", "value"]), default="condition", show_default=True,
        help="With which changes of its cell an await conflicts. condition: with those that make its condition true "
        "or false, and a compare-and-swap that fails is a read; value: with all, and it is a write.")
    # fmt: on

    def value(self) -> Reading:
        from pgasrob.program.reading import Reading

        return Reading(self.failed_polls, self.conflicts, self.waits)


@dataclass(frozen=True)
class COptionsToTake:
    """How C files are read, for a command that takes no notice of it where it reads no C."""

    # fmt: off
    dialects: tuple[str, ...] = option("--api", type=Dialect(), multiple=True, metavar="DIALECT",
        help="C: the version of an API to use where versions differ: gaspi-17 (the default) or gaspi-1.01. Can be "
        "repeated.")
    pure: tuple[str, ...] = option("--assume-pure", multiple=True, metavar="NAME",
        help="C: the function NAME, which is not in the file, accesses no memory of the program; it may return any "
        "value. Can be repeated.")
    defines: tuple[tuple[str, str], ...] = option("-D", type=Macro(), multiple=True, metavar="NAME[=VALUE]",
        help="C: define a macro. Can be repeated.")
    folders: tuple[str, ...] = option("-I", type=click.Path(), multiple=True, metavar="FOLDER",
        help="C: look for headers in this folder. Can be repeated.")
    units: tuple[str, ...] = option("--with", type=click.Path(), multiple=True, metavar="FILE",
        help="C: a further file, which is linked with the programs that need its definitions. Can be repeated.")
    database: str | None = option("--compile-commands", type=click.Path(), metavar="PATH",
        help="C: the compilation database of a project, or its folder. It lists the files of the project, with their "
        "macros and header folders.")
    shared_memory: str | None = option("--shared-memory", type=SharedMemory(), metavar="none|all|nodes=K",
        help="C: which ranks can load and store each other's memory, through pointers from shmem_ptr and similar "
        "calls: none (the default), all, or the ranks of each block of K consecutive ranks.")
    arguments: tuple[str, ...] | None = option("--args", type=Arguments(), metavar="ARGUMENTS",
        help='C: the arguments that the program is started with, in one string: "-n 4 out.txt". Default: none.')
    empty_configs: bool = flag("--define-missing-config",
        help="C: if a header that the build generates (config.h) does not exist, read it as an empty file; the "
        "verdict says so.")
    # fmt: on

    def front_end(self) -> FrontEnd:
        """Ends the command where a folder or the database is missing."""
        from pgasrob.frontends.options import FrontEnd
        from pgasrob.frontends.sources import parts

        for folder in self.folders:
            if not os.path.isdir(folder):
                raise click.UsageError(f"-I {folder}: there is no such folder.")
        commands = () if self.database is None else _compiled(self.database)
        front_end = FrontEnd(
            self.dialects,
            self.pure,
            self.defines,
            self.shared_memory,
            self.folders,
            self.units,
            commands,
            self.arguments,
            self.empty_configs,
        )
        if not commands:
            return front_end
        return replace(front_end, units=(*self.units, *parts((file for file, _, _ in commands), front_end)))


@dataclass(frozen=True)
class COptions(COptionsToTake):
    """How C files are read: a `FrontEnd`."""

    value = COptionsToTake.front_end


def _compiled(database: str) -> tuple[Compiled, ...]:
    """The entries of the compilation ``database``; ends the command when it is none."""
    from pgasrob.diagnostics import SourceError
    from pgasrob.frontends.compile_commands import read

    try:
        return read(database)
    except SourceError as error:
        refuse(str(error))
