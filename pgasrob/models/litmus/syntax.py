"""The syntax tree of a litmus text, before names are resolved to locations of a node or registers.

Expressions are :class:`pgasrob.program.expressions.Expr`; a name in one is a ``Symbol`` whose value is the number of
its :class:`Mention`.
"""

from __future__ import annotations

from dataclasses import dataclass

from pgasrob.models.litmus.litmus_program import Value
from pgasrob.program.expressions import Expr
from pgasrob.program.statements import Span


@dataclass(frozen=True, slots=True)
class Mention:
    """``x``, ``x.n``, ``z^2``: a name where a value is read or written, with the ``node`` after it."""

    name: str
    span: Span
    node: int | None = None
    atomic: bool = True


@dataclass(frozen=True, slots=True)
class Declared:
    """``x@1=0``."""

    name: str
    node: int
    initial: int
    span: Span


@dataclass(frozen=True, slots=True)
class Operand:
    """An argument of a statement, which is an expression; ``mention``, when it is a single name."""

    expr: Expr
    mention: Mention | None
    span: Span


@dataclass(frozen=True, slots=True)
class Set:
    """``target = value``: a load, store, register arithmetic, get or put."""

    target: Mention
    value: Operand
    span: Span


@dataclass(frozen=True, slots=True)
class Call:
    """``poll(2)``, ``x = rga(z^2, y)``: a word with what it takes, and the name that gets what it gives."""

    word: str
    arguments: tuple[Operand, ...]
    target: Mention | None
    span: Span


@dataclass(frozen=True, slots=True)
class Choice:
    branches: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """``most``: how often at most; None: any number of times."""

    most: int | None
    body: Part
    span: Span


Part = tuple["Set | Call | Choice | Repeat", ...]


@dataclass(frozen=True, slots=True)
class ThreadText:
    node: int
    body: Part
    span: Span


@dataclass(frozen=True, slots=True)
class Line:
    """A line of expectations: its models with the words after each (none: every model), and its values (None:
    ``otherwise``)."""

    allowed: bool
    models: tuple[tuple[str, tuple[str, ...], Span], ...]
    values: tuple[tuple[str, Value, Span], ...] | None
    span: Span


@dataclass(frozen=True, slots=True)
class Text:
    locations: tuple[Declared, ...]
    threads: tuple[ThreadText, ...]
    lines: tuple[Line, ...]
    mentions: tuple[Mention, ...]
