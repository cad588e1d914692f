"""C text to the code that the machine runs.

An `Emitter` holds the code of one function in the making, and a `Context` what is known of the file. On them stand,
each on some of those before it: conversions, operations, constants, types, initialisers, places, branches and calls,
which ask an `Evaluator` for the expressions inside of them; expressions, which are that evaluator; then declarations,
statements, functions and files.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from pgasrob.frontends.apis.registry import Registry
from pgasrob.frontends.c.code import Unit
from pgasrob.frontends.c.compiler.files import File, declared_function
from pgasrob.frontends.c.compiler.scopes import Context, Scope
from pgasrob.frontends.c.parser import parse
from pgasrob.frontends.c.preprocessor import preprocess
from pgasrob.frontends.c.standard import STRUCTS
from pgasrob.program.files import DISK, Files

RECURSION = 30_000
"""Python frames for trees of `parser.MAX_DEPTH` levels."""


def compile_unit(
    file: str,
    text: str,
    registry: Registry | None = None,
    defines: Mapping[str, str] = {},
    pure: frozenset[str] = frozenset(),
    files: Files = DISK,
) -> Unit:
    """The code of a C file: ``text``, with messages that name it ``file``.

    ``registry`` says which APIs its headers choose. ``defines``: macros by their heads, as `-D` gives them. ``pure``:
    the functions that are taken to touch no shared memory. ``files``: where headers are. Raises `SourceError` with
    what is wrong or not supported.
    """
    with deep():
        registry = registry or Registry()
        found = preprocess(file, text, registry, defines, files)
        types = {name for api in found.apis for name in api.types}
        parsed = parse(found.tokens, found.source, types)
        unit = Unit(file, text, found.headers, tuple(found.unread), tuple(defines.items()))
        scope = Scope()
        scope.tags.update({tag: tag for tag in STRUCTS})
        unread = ", ".join(f"<{header}>" for header, _ in found.unread)
        context = Context(
            found.source, parsed.tokens, found.apis, registry.like, declared_function, unread, pure, unit, scope
        )
        File(context).compile(parsed.root)
    return unit


@contextmanager
def deep() -> Iterator[None]:
    """A context for what goes down into texts."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, RECURSION))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


__all__ = ["compile_unit", "declared_function"]
