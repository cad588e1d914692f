"""C files as programs: what :class:`~pgasrob.program.program.Program` is for `.pgas` files.

How many nodes there are decides what a C program does, so the text is compiled once and lowered for every node count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pgasrob.diagnostics import Diagnostic, SourceError
from pgasrob.diagnostics.suggestions import did_you_mean
from pgasrob.display import Displayed
from pgasrob.frontends.options import FrontEnd
from pgasrob.program.declarations import Source
from pgasrob.program.expectation import COMMENT, node_count
from pgasrob.program.files import DISK, Files
from pgasrob.program.parser import read_source
from pgasrob.program.program import DEFAULT_NODES, Program
from pgasrob.program.reading import DEFAULT_READING, Reading

if TYPE_CHECKING:
    from pgasrob.frontends.apis.interface import Api
    from pgasrob.frontends.c.code import Unit
    from pgasrob.program.instance import Instance

DIALECT = re.compile(r"[ \t*]*api[ \t]*:[ \t]*(?P<names>[^\r\n]*?)[ \t*]*$", re.MULTILINE)


@dataclass(slots=True)
class CProgram(Displayed):
    """A C file; ``instantiate`` lowers it. ``nodes`` is the count that its first comments name."""

    name: str
    nodes: int | None
    source: Source
    unit: Unit
    apis: Sequence[Api]
    dialects: frozenset[str] = frozenset()
    pure: frozenset[str] = frozenset()
    lowered: dict[int, Program] = field(default_factory=dict)
    """By node count."""

    def program(self, nodes: int | None = None) -> Program:
        """The program of the calculus on ``nodes`` nodes (its own count, or 2, when None)."""
        from pgasrob.frontends.c.driver import lower

        count = next(count for count in (nodes, self.nodes, DEFAULT_NODES) if count is not None)
        if count not in self.lowered:
            self.lowered[count] = lower(self.unit, self.apis, count, self.name, self.dialects, self.pure)
        return self.lowered[count]

    def instantiate(self, nodes: int | None = None, reading: Reading = DEFAULT_READING) -> Instance:
        """As for a `.pgas` program; raises :class:`pgasrob.diagnostics.SourceError` for what cannot be lowered."""
        program = self.program(nodes)
        return program.instantiate(program.nodes, reading)


def load_c(path: str | Path, options: FrontEnd | None = None, files: Files = DISK) -> CProgram:
    """The C program in file ``path``. Raises :class:`pgasrob.diagnostics.SourceError` when it is none."""
    return parse_c(read_source(Path(path), files), str(path), options, files)


def read_c(path: str | Path, options: FrontEnd | None, files: Files) -> None:
    """Read from ``files`` what :func:`load_c` does: the file, and what it includes as the macros have it."""
    from pgasrob.frontends.apis.registry import Registry
    from pgasrob.frontends.c.compiler import deep
    from pgasrob.frontends.c.preprocessor import preprocess

    # What is wrong is told by who loads it, who comes as far.
    with suppress(SourceError), deep():
        text = read_source(Path(path), files)
        preprocess(str(path), text, Registry(), (options or FrontEnd()).defined, files)


def parse_c(text: str, file: str = "<string>", options: FrontEnd | None = None, files: Files = DISK) -> CProgram:
    """The C program ``text``; headers beside it are read from ``files``."""
    from pgasrob.frontends.apis.registry import Registry
    from pgasrob.frontends.c.compiler import compile_unit

    options = options or FrontEnd()
    registry = Registry()
    for name in options.pure:
        _check_pure(name, registry.like(name), file)
    unit = compile_unit(file, text, registry, options.defined, frozenset(options.pure), files)
    apis = {api.name: api for header in unit.headers if (api := registry.by_header(header)) is not None}
    return CProgram(
        Path(file).stem,
        node_count(text, file),
        Source(file, text, shows_commands=False),
        unit,
        [*apis.values(), *registry.always()],
        frozenset((*options.dialects, *_dialects_of(text, file))),
        frozenset(options.pure),
    )


def _check_pure(name: str, api: Api | None, file: str) -> None:
    """A function of ``api``, or one that is called like its functions, is not to be taken for pure."""
    if api is not None:
        near = "" if name in api.functions else did_you_mean(name, api.functions, 0.75)
        hint = f"{near} the header <{api.headers[0]}> has such functions: include it, and leave the option out"
        message = f"`{name}` cannot be assumed to be pure: it is called like a function of an API"
        raise SourceError([Diagnostic("PG162", message, file, hint=hint.strip())])


def _dialects_of(text: str, file: str) -> Iterable[str]:
    """The dialects that the comments at the head of ``text`` name: `// api: gaspi-1.01`."""
    end = 0
    while comment := COMMENT.match(text, end):
        for match in DIALECT.finditer(comment[comment.lastgroup or "line"]):
            names = [name.strip() for name in match["names"].split(",") if name.strip()]
            for name in names:
                FrontEnd.check_dialect(name, lambda message, hint: _no_dialect(message, hint, file))
            yield from names
        end = comment.end()


def _no_dialect(message: str, hint: str, file: str) -> None:
    raise SourceError([Diagnostic("PG161", message, file, hint=hint)])
