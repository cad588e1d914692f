"""What a process does: structured statements, as written in the source, or a graph of pieces of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from pgasrob.program.commands import Command
from pgasrob.program.expressions import Expr


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of source text: lines and columns count from 1, the end column is the first one after it.

    ``turn``, where code is written out that is executed several times: one number for each time. ``holds``: whether
    the condition that stands there does, on the way that is taken. Reports tell of them; spans are equal without.
    """

    line: int
    column: int
    end_line: int
    end_column: int
    turn: int = field(default=0, compare=False, repr=False)
    holds: bool | None = field(default=None, compare=False, repr=False)


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


@dataclass(frozen=True, slots=True)
class Piece:
    """Statements and what comes after them: the pieces of all the labels in ``goes_to``, any of which may be taken.

    With a ``condition`` there are two: where it holds and where not; ``turned``: it is the negation of what the source
    has. Without labels the process has ended.
    """

    label: str
    statements: tuple[Statement, ...]
    goes_to: tuple[str, ...]
    condition: Expr | None
    span: Span
    turned: bool = False


@dataclass(frozen=True, slots=True)
class FlowGraph:
    """A process that begins with the first of its ``pieces``; every piece can be reached."""

    pieces: tuple[Piece, ...]


Body = Block | FlowGraph


def statements_in(body: Body | Sequence[Statement]) -> Iterator[Statement]:
    """The statements of ``body`` and those inside of them."""
    if isinstance(body, FlowGraph):
        for piece in body.pieces:
            yield from statements_in(piece.statements)
        return
    for statement in body.statements if isinstance(body, Block) else body:
        yield statement
        match statement:
            case If(_, then, otherwise):
                yield from statements_in(then)
                yield from statements_in(otherwise or ())
            case While(_, inner) | Loop(inner):
                yield from statements_in(inner)
            case Choose(branches):
                for branch in branches:
                    yield from statements_in(branch)
            case Labelled(_, labelled):
                yield from statements_in((labelled,))
            case Do() | Skip() | Goto():
                pass
            case _:
                assert_never(statement)
