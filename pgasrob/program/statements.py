"""Structured statements of a process block, as written in the source."""

from __future__ import annotations

from dataclasses import dataclass

from pgasrob.program.commands import Command
from pgasrob.program.expressions import Expr


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of source text: lines and columns count from 1, the end column is the first one after it."""

    line: int
    column: int
    end_line: int
    end_column: int


NOWHERE = Span(0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Do:
    """Issue one command."""

    command: Command
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Skip:
    pass


@dataclass(frozen=True, slots=True)
class Goto:
    label: str


@dataclass(frozen=True, slots=True)
class If:
    condition: Expr
    then: Block
    otherwise: Block | None
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class While:
    condition: Expr
    body: Block
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Choose:
    branches: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Loop:
    body: Block


@dataclass(frozen=True, slots=True)
class Labelled:
    label: str
    statement: Statement


@dataclass(frozen=True, slots=True)
class Block:
    statements: tuple[Statement, ...]


Statement = Do | Skip | Goto | If | While | Choose | Loop | Labelled
