"""What the options of several commands take, and what is done with them.

Only click is imported at the top, so that `--help` costs little.
"""

from __future__ import annotations

import functools
import math
import os
import re
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click

from pgasrob.cli.exit_codes import ERROR, UNKNOWN
from pgasrob.diagnostics.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pgasrob.frontends.compile_commands import Compiled
    from pgasrob.frontends.options import FrontEnd
    from pgasrob.program.instance import Instance
    from pgasrob.program.reading import Conflicts, FailedPolls, Reading
    from pgasrob.render.progress import Display
    from pgasrob.render.shared_json import Error
    from pgasrob.robustness.limits import Limits

    Empty = Callable[[list[Error], str | None], object]
    """What a command prints as JSON when it has no answer, of the errors in the program and a reason."""

T = TypeVar("T")

TwoLines = tuple[tuple[str, int], tuple[str, int]]
DEFAULT_ENGINE = "portfolio"  # those of robustness, which is not imported for the help text
MOST_STATES, MOST_SC_STATES = 1_000_000, 50_000
HELP = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class Name(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.5 on
    """One of some names, which are looked up when the option is used or explained."""

    def names(self) -> Sequence[str]:
        raise NotImplementedError

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        names = self.names()
        if value not in names:
            hint = did_you_mean(value, names)
            self.fail(f"{value!r} is not one of {', '.join(names)}{hint and '; '}{hint}", param, ctx)
        return str(value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
        from click.shell_completion import CompletionItem

        return [CompletionItem(name) for name in self.names() if name.startswith(incomplete)]


def listed(names: Iterable[str], last: str = "or") -> str:
    """The names in a sentence: ``a, b or c``."""
    *others, final = names
    return f"{', '.join(others)} {last} {final}" if others else final


def sentence(text: str) -> str:
    """``text`` with a full stop, where it does not end as a sentence does."""
    return text if text.endswith(("?", ".", "!")) else f"{text}."


class FromTable(click.Option):
    """An option whose help says what is in a table: ``told`` makes it when it is shown, for a table is not imported
    before."""

    def __init__(self, *names: Any, told: Callable[[], str], **options: Any) -> None:
        self.told = told
        super().__init__(*names, **options)

    @property
    def help(self) -> str:
        return self.told()

    @help.setter
    def help(self, _: str | None) -> None:
        """Click sets what the option was made with, which is nothing."""


class EngineName(Name):
    """The name of an engine."""

    name = "engine"

    def names(self) -> Sequence[str]:
        from pgasrob.robustness.engines import ENGINES

        return list(ENGINES)

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        return f"[{'|'.join(self.names())}]"

    def told(self) -> str:
        """What each engine is, in a sentence."""
        from pgasrob.robustness.engines import ENGINES

        return " ".join(f"{name}: {(create.__doc__ or '').partition('.')[0]}." for name, create in ENGINES.items())


class ProgramPath(click.Path):
    """The path of a program; `-` is the standard input, by the name that reports give it."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value != "-":
            return super().convert(value, param, ctx)
        from pgasrob.program.files import give
        from pgasrob.program.parser import MAX_FILE

        return give(sys.stdin.buffer.read(MAX_FILE + 1))


node_count = click.option(
    "-n", "--nodes", type=click.IntRange(min=1), help="Node count. Default: the program's own, or 2."
)


class Lines(click.ParamType):  # type: ignore[type-arg]
    """Two lines of a program, each with the name of its file, "" for the first one: ``16,20`` or ``16,ring.c:20``."""

    name = "lines"
    form = re.compile(r"(?:([^,]+):)?([1-9]\d{0,8}),(?:([^,]+):)?([1-9]\d{0,8})", re.ASCII)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> TwoLines:
        if isinstance(value, tuple):
            return value
        found = self.form.fullmatch(value)
        if found is None:
            self.fail(f"{value!r} is not two lines like 16,20 or 16,ring.c:20", param, ctx)
        return (found[1] or "", int(found[2])), (found[3] or "", int(found[4]))


ALL_COUNTS = "all"


class NodeCounts(click.ParamType):  # type: ignore[type-arg]
    """Node counts: ``2``, ``2..5``, ``2,4``, or ranges and numbers mixed; ``all``, where ``every`` says so."""

    name = "nodes"

    def __init__(self, every: bool = False) -> None:
        self.every = every

    form = re.compile(r"(\d{1,9})(?:\.\.(\d{1,9}))?", re.ASCII)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...] | str:
        from pgasrob.program.instance import MAX_NODES

        if isinstance(value, tuple):
            return value
        if self.every and value == ALL_COUNTS:
            return ALL_COUNTS
        counts: list[int] = []
        for piece in str(value).split(","):
            match = self.form.fullmatch(piece.strip())
            if not match:
                examples = "2, 2..5, 2,4 or all" if self.every else "2, 2..5 or 2,4"
                self.fail(f"{piece.strip()!r} is no node count; write {examples}.", param, ctx)
            first, last = int(match[1]), int(match[2] or match[1])
            if not 1 <= first <= MAX_NODES or not 1 <= last <= MAX_NODES:
                self.fail(f"{piece.strip()}: a program runs on 1..{MAX_NODES} nodes.", param, ctx)
            if last < first:
                self.fail(f"{piece.strip()}: the range is empty; write {last}..{first}.", param, ctx)
            counts += range(first, last + 1)
        return tuple(dict.fromkeys(counts))


class Reduction(Name):
    """The name of a reduction of the attack engine."""

    name = "reduction"

    def names(self) -> Sequence[str]:
        from pgasrob.robustness.reduction import REDUCTIONS

        return REDUCTIONS


class Dialect(Name):
    """A version of an API."""

    name = "dialect"

    def names(self) -> Sequence[str]:
        from pgasrob.frontends.options import DIALECTS

        return DIALECTS


class SharedMemory(click.ParamType):  # type: ignore[type-arg]
    """Which ranks share memory."""

    name = "shared"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from pgasrob.frontends.options import FrontEnd

        FrontEnd.check_shared_memory(value, lambda message, hint: self.fail(f"{message}; {hint}.", param, ctx))
        return str(value)


class Macro(click.ParamType):  # type: ignore[type-arg]
    """A macro of the C preprocessor: ``NAME`` (which is 1) or ``NAME=VALUE``."""

    name = "macro"
    form = re.compile(r"([A-Za-z_]\w*)(?:=(.*))?", re.ASCII | re.DOTALL)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        if isinstance(value, tuple):
            return value
        match = self.form.fullmatch(value)
        if not match:
            self.fail(f"{value!r} is no macro; write -D NAME or -D NAME=VALUE.", param, ctx)
        return match[1], "1" if match[2] is None else match[2]


def c_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options about C files, which ``command`` gets as its parameter ``front_end``."""

    @functools.wraps(command)
    def with_front_end(
        *arguments: Any,
        dialects: tuple[str, ...],
        pure: tuple[str, ...],
        defines: tuple[tuple[str, str], ...],
        folders: tuple[str, ...],
        units: tuple[str, ...],
        database: str | None,
        shared_memory: str | None,
        **options: Any,
    ) -> Any:
        from pgasrob.frontends.options import FrontEnd
        from pgasrob.frontends.sources import parts

        for folder in folders:
            if not os.path.isdir(folder):
                raise click.UsageError(f"-I {folder}: there is no such folder.")
        commands = () if database is None else _compiled(database)
        front_end = FrontEnd(dialects, pure, defines, shared_memory, folders, units, commands)
        if commands:
            front_end = replace(front_end, units=(*units, *parts((file for file, _, _ in commands), front_end)))
        return command(*arguments, front_end=front_end, **options)

    options = (
        click.option("--api", "dialects", type=Dialect(), multiple=True, metavar="DIALECT",
                     help="C: which version of an API is meant where versions differ: gaspi-17 (the default) or "
                     "gaspi-1.01. Can be repeated."),
        click.option("--assume-pure", "pure", multiple=True, metavar="NAME",
                     help="C: the function NAME, which is not in the file, accesses no memory of the program; it may "
                     "return any value. Can be repeated."),
        click.option("-D", "defines", type=Macro(), multiple=True, metavar="NAME[=VALUE]",
                     help="C: define a macro. Can be repeated."),
        click.option("-I", "folders", type=click.Path(), multiple=True, metavar="FOLDER",
                     help="C: look for headers in this folder. Can be repeated."),
        click.option("--with", "units", type=click.Path(), multiple=True, metavar="FILE",
                     help="C: a further file, which is part of a program that needs what it defines. Can be repeated."),
        click.option("--compile-commands", "database", type=click.Path(), metavar="PATH",
                     help="C: the compilation database of a project, or its folder: which files there are, with their "
                     "macros and folders of headers."),
        click.option("--shared-memory", type=SharedMemory(), metavar="none|all|nodes=K",
                     help="C: which ranks reach each other's memory by loads and stores, through what shmem_ptr and "
                     "the like give: none (the default), all, or those of each block of K consecutive ranks."),
    )  # fmt: skip
    decorated: Callable[..., Any] = with_front_end
    for option in reversed(options):
        decorated = option(decorated)
    return decorated


def _compiled(database: str) -> tuple[Compiled, ...]:
    """What the compilation ``database`` says; ends the command when it is none."""
    from pgasrob.diagnostics import SourceError
    from pgasrob.frontends.compile_commands import read

    try:
        return read(database)
    except SourceError as error:
        refuse(str(error))


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options about what counts as an event and as a conflict, which ``command`` gets as its parameter
    ``reading``."""

    @functools.wraps(command)
    def with_reading(*arguments: Any, failed_polls: FailedPolls, conflicts: Conflicts, **options: Any) -> Any:
        from pgasrob.program.reading import Reading

        return command(*arguments, reading=Reading(failed_polls, conflicts), **options)

    options = (
        click.option("--failed-polls", type=click.Choice(["wait", "count"]), default="wait", show_default=True,
                     help="A read after which a rank can but come back and read again: wait: it is no event, so that "
                     "a polling loop waits; count: it is one like any other."),
        click.option("--conflicts", type=click.Choice(["commuting", "all"]), default="commuting", show_default=True,
                     help="Two additions to one cell that fetch nothing (or two `or`, `min`, ...): commuting: they do "
                     "not conflict; all: they do, as any two writes."),
    )  # fmt: skip
    decorated: Callable[..., Any] = with_reading
    for option in reversed(options):
        decorated = option(decorated)
    return decorated


class Size(click.ParamType):  # type: ignore[type-arg]
    """An amount of memory in bytes: ``500M``, ``1.5G``; ``0`` for none."""

    name = "size"
    form = re.compile(r"(\d{1,9}(?:\.\d{1,9})?) ?([KMGT])B?", re.ASCII | re.IGNORECASE)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int) or value == "0":
            return int(value)
        match = self.form.fullmatch(value)
        size = int(float(match[1]) * 1000 ** (1 + "KMGT".index(match[2].upper()))) if match else 0
        if not size:
            self.fail(f"{value!r} is no amount of memory; write 500M or 2G, or 0 for no limit.", param, ctx)
        return size


def seconds(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
    if value is not None and not math.isfinite(value):
        raise click.BadParameter("it takes a number of seconds.", ctx, param)
    return value


def memory_for(given: int | None, jobs: int) -> int | None:
    """The bytes that a check may take when ``jobs`` run at a time; None for as many as it likes."""
    from pgasrob.robustness.limits import spare_memory

    return spare_memory(jobs) if given is None else given or None


def mention_a_missing_kernel(engine: str) -> None:
    import warnings

    from pgasrob.twins import MissingKernelWarning, missing_kernel

    message = missing_kernel()
    if engine in ("portfolio", "attack", "traces") and message is not None:
        click.echo(f"pgasrob: {message}", err=True)
        warnings.simplefilter("ignore", MissingKernelWarning)


def progress_display(max_states: int | None) -> Display | None:
    """A progress display where stderr is a terminal."""
    if not sys.stderr.isatty():
        return None
    from pgasrob.render.progress import Display

    return Display(sys.stderr, max_states)


def print_json(value: object) -> None:
    from pgasrob.render.places import dumps

    click.echo(dumps(value))


def refuse(
    told: str,
    exit_code: int = ERROR,
    in_json: Empty | None = None,
    errors: Sequence[Error] = (),
    reason: str | None = None,
) -> NoReturn:
    """End the command without an answer.

    ``told`` goes to stderr, or with ``in_json`` the object that this makes of ``errors`` and ``reason`` to stdout.
    """
    if in_json is None:
        click.echo(told, err=True)
    else:
        print_json(in_json(list(errors), reason))
    raise click.exceptions.Exit(exit_code) from None


def limited(limits: Limits, phase: str, work: Callable[[], T], in_json: Empty | None = None) -> T:
    """What ``work`` gives, which looks at ``limits`` itself as far as it can; ends the command (`refuse`) where it does
    not come to its end by them."""
    from pgasrob.robustness.watch import LimitReached, Watch

    try:
        return Watch(limits, None, time.monotonic()).within(phase, work, looks=True)
    except LimitReached as limit:
        refuse(f"pgasrob: {limit}", UNKNOWN, in_json, reason=str(limit))


def load_instance(
    file: str,
    nodes: int | None,
    front_end: FrontEnd | None = None,
    in_json: Empty | None = None,
    reading: Reading | None = None,
) -> Instance:
    """The program in ``file`` on ``nodes`` nodes; ends the command (`refuse`) when it is none.

    ``reading``: every command is an event when None, for runs as they are.
    """
    from pgasrob.diagnostics import SourceError
    from pgasrob.program.reading import LITERAL_READING
    from pgasrob.robustness.load import load

    try:
        return load(file, front_end).instantiate(nodes, reading or LITERAL_READING)
    except SourceError as error:
        if in_json is None:
            refuse(str(error))
        from pgasrob.render.shared_json import errors_to_json

        refuse(str(error), ERROR, in_json, errors_to_json(error.diagnostics, file))
