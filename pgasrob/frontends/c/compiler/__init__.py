"""Compiles C text to the code that the machine runs.

An `Emitter` holds the code of one function in the making, and a `Context` what is known of the file. The others are
built on these two, each on some of those before it: conversions, operations, constants, type names, initialisers,
lvalues, branches and calls, which ask an `Evaluator` for the expressions inside of them; expressions, which are that
evaluator; then local declarations, statements, and files with their functions.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from pgasrob.diagnostics import SourceError, in_order
from pgasrob.frontends.apis.interface import Api
from pgasrob.frontends.apis.registry import Registry
from pgasrob.frontends.c.code import Unit
from pgasrob.frontends.c.compiler.file_code import File, declared_function
from pgasrob.frontends.c.compiler.scopes import Context, Scope
from pgasrob.frontends.c.preprocessor import NO_FLAGS, preprocess
from pgasrob.frontends.c.standard import STRUCTS
from pgasrob.frontends.c.syntax_tree import parse
from pgasrob.frontends.c.tokens import Source
from pgasrob.frontends.options import Flags
from pgasrob.program.files import DISK, Files, name_of
from pgasrob.program.statements import NOWHERE

RECURSION = 30_000
"""Python frames for trees of `parser.MAX_DEPTH` levels."""

_WRITTEN: dict[str, Unit] = {}
"""The code of functions that APIs have written in C, by their text."""


@dataclass(frozen=True, slots=True)
class OtherFiles:
    """The files around a C file: ``files``, where its headers are read; ``first``, the first file of its program, when
    that is another one; and whether others may define what it uses (``elsewhere``)."""

    files: Files = DISK
    first: str = ""
    elsewhere: bool = False


def compile_unit(
    file: str,
    text: str,
    registry: Registry | None = None,
    flags: Flags = NO_FLAGS,
    pure: frozenset[str] = frozenset(),
    others: OtherFiles = OtherFiles(),
) -> Unit:
    """The code of a C file: ``text``, with messages that name it ``file``.

    ``registry`` says which APIs its headers choose. ``pure``: the functions that are assumed to touch no shared memory.
    Raises `SourceError` with what is wrong or not supported; those in functions of which it is not
    certain that they are called are kept in `Unit.broken`.
    """
    with deep():
        registry, first = registry or Registry(), others.first
        source = Source(file, text, name_of(file, first) if first else "")
        found = preprocess(source, registry, flags, others.files, first)
        types = {name for api in found.apis for name in api.types}
        try:
            parsed = parse(found.tokens, found.source, types)
        except SourceError as why:
            raise SourceError(in_order([*found.wrong, *why.diagnostics])) from None
        parsed.mistaken[""] = parsed.mistaken.get("", set()) | found.mistaken
        parsed = replace(parsed, wrong=(*found.wrong, *parsed.wrong))
        unit = Unit(file, text, found.headers, tuple(found.unread), flags.macros, texts=found.texts)
        unit.tokens = tuple(parsed.tokens)
        scope = Scope()
        scope.tags.update({tag: tag for tag in STRUCTS})
        unread = ", ".join(f"<{header}>" for header, _ in found.unread)
        context = Context(
            parsed.tokens, found.apis, registry.like, declared_function, unread, pure, unit, scope, others.elsewhere
        )
        context.threadprivate |= parsed.thread_locals
        File(context).compile(parsed, further=bool(first))
        for name, api in context.written.items():
            if text != api.source and name not in unit.functions and name in _written(api).functions:
                unit.functions[name] = _written(api).functions[name]
    return unit


def _written(api: Api) -> Unit:
    """The functions that ``api`` has written in C. No place in the program is theirs."""
    if api.source not in _WRITTEN:
        unit = compile_unit(f"<{api.name}>", api.source, Registry(lambda header: None, lambda: (api,)))
        for name, function in unit.functions.items():
            unit.functions[name] = replace(function, spans=[NOWHERE] * len(function.spans))
        _WRITTEN[api.source] = unit
    return _WRITTEN[api.source]


@contextmanager
def deep() -> Iterator[None]:
    """A context with a recursion limit that is high enough for the trees of C texts."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, RECURSION))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


__all__ = ["OtherFiles", "compile_unit", "declared_function"]
