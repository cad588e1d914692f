"""Click's types of option values: names, node counts, sizes, macros, lines. They parse a value or say what is wrong."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from pgasrob import file_input
from pgasrob.diagnostics.suggestions import did_you_mean

if TYPE_CHECKING:
    from pgasrob.models.litmus_answers import Values

TwoLines = tuple[tuple[str, int], tuple[str, int]]


class OneOf(click.Choice):  # type: ignore[type-arg]  # generic from click 8.2 on
    """A choice whose error says which word was most likely meant."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            hint = did_you_mean(str(value), self.choices)
            self.fail(f"{error.message.rstrip('.')}; {hint}" if hint else error.message, param, ctx)


class Name(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.5 on
    """One of the names in a ``table`` ("module:NAME"), which is imported when the option is used or explained."""

    table: str

    def names(self) -> Sequence[str]:
        module, _, table = self.table.partition(":")
        return list(getattr(import_module(module), table))

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


class EngineName(Name):
    """The name of an engine."""

    name, table = "engine", "pgasrob.robustness.engines:ENGINES"

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        return f"[{'|'.join(self.names())}]"

    def descriptions(self) -> str:
        """What each engine is, in a sentence."""
        from pgasrob.robustness.engines import ENGINES

        return " ".join(f"{name}: {(create.__doc__ or '').partition('.')[0]}." for name, create in ENGINES.items())


class ProgramPath(click.Path):
    """The path of a program; `-` is the standard input, by the name that reports give it."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value != "-":
            return super().convert(value, param, ctx)
        from pgasrob.program.files import give

        try:
            return give(file_input.standard_input(file_input.SOURCE))
        except OSError as error:
            self.fail(f"cannot read the standard input: {'; '.join(file_input.why(error))}.", param, ctx)


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


class LineName(Name):
    """A line of whether a program is correctly synchronised."""

    name, table = "line", "pgasrob.robustness.verdict:LINES"


class LineNames(click.ParamType):  # type: ignore[type-arg]
    """Some lines, ``robust,races``; they are put into the order of reports."""

    name = "lines"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        if isinstance(value, tuple):
            return value
        line = LineName()
        given = [line.convert(piece.strip(), param, ctx) for piece in str(value).split(",")]
        return tuple(name for name in line.names() if name in given)


class Reduction(Name):
    """The name of a reduction of the attack engine."""

    name, table = "reduction", "pgasrob.robustness.reduction:REDUCTIONS"


class Dialect(Name):
    """A version of an API."""

    name, table = "dialect", "pgasrob.frontends.options:DIALECTS"


class SharedMemory(click.ParamType):  # type: ignore[type-arg]
    """Which ranks share memory."""

    name = "shared"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from pgasrob.frontends.options import FrontEnd

        FrontEnd.check_shared_memory(value, lambda message, hint: self.fail(f"{message}; {hint}.", param, ctx))
        return str(value)


class Arguments(click.ParamType):  # type: ignore[type-arg]
    """The arguments of a program, or a command with its own, in one text as for a shell."""

    name = "arguments"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        from pgasrob.frontends.options import split_arguments

        if isinstance(value, tuple):
            return value
        return split_arguments(str(value), lambda message, hint: self.fail(f"{message}; {hint}.", param, ctx))


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


class ModelNames(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.5 on
    """Names of models, parted by commas: ``corerma,rdma-tso``."""

    name = "models"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        if isinstance(value, tuple):
            return value
        from pgasrob.models.model_table import parted

        found = parted(str(value))
        if not found:
            self.fail("it names no model.", param, ctx)
        return found

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
        from click.shell_completion import CompletionItem

        from pgasrob.models.model_table import NAMES

        before, comma, last = incomplete.rpartition(",")
        return [CompletionItem(f"{before}{comma}{name}") for name in NAMES if name.startswith(last)]


class ValuesOfNames(click.ParamType):  # type: ignore[type-arg]
    """Values of registers and locations, as expectations have them: ``a=0 b=T``."""

    name = "values"
    form = re.compile(r"([A-Za-z_]\w*)=(-?\d{1,10}|T)", re.ASCII)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Values:
        if isinstance(value, tuple):
            return value
        found: dict[str, int | Literal["T"]] = {}
        for piece in str(value).replace(",", " ").split():
            match = self.form.fullmatch(piece)
            if match is None:
                self.fail(f"{piece!r} is no value of a name; write a=0 b=1 or a=T.", param, ctx)
            if match[1] in found:
                self.fail(f"the value of `{match[1]}` is given twice; drop one of them.", param, ctx)
            found[match[1]] = "T" if match[2] == "T" else int(match[2])
        if not found:
            self.fail("it takes values like a=0 b=1.", param, ctx)
        return tuple(found.items())


class GraphPath(click.Path):
    """A file for execution graphs, whose ending says the format."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if Path(value).suffix not in (".svg", ".dot"):
            self.fail(f"{value}: the ending says the format, .svg or .dot.", param, ctx)
        return str(value)
