"""What a process does: structured statements, as written in the source, or a graph of pieces of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field, replace
from typing import assert_never

from pgasrob.program.commands import Command
from pgasrob.program.expressions import Expr
from pgasrob.program.value_classes import record


class Line(int):
    """The number of a line in a ``file`` beside the first one of its program: `util.c:12`, as ``name`` calls it.

    A line of the first file is a plain integer. Lines are ordered by their files, that of the program before all.
    """

    file: str
    name: str

    def __new__(cls, number: int, file: str, name: str) -> Line:
        self = super().__new__(cls, number)
        self.file, self.name = file, name
        return self

    def __reduce__(self) -> tuple[type[Line], tuple[int, str, str]]:
        return Line, (int(self), self.file, self.name)

    def __str__(self) -> str:
        return f"{self.name}:{int(self)}"

    def __format__(self, form: str) -> str:
        return format(str(self), form)

    def _key(self) -> tuple[str, int]:
        return self.file, int(self)

    def __hash__(self) -> int:
        return hash(self._key())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, int) and self._key() == place_of(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __lt__(self, other: int) -> bool:
        return self._key() < place_of(other)

    def __le__(self, other: int) -> bool:
        return self._key() <= place_of(other)

    def __gt__(self, other: int) -> bool:
        return self._key() > place_of(other)

    def __ge__(self, other: int) -> bool:
        return self._key() >= place_of(other)


def place_of(line: int) -> tuple[str, int]:
    """The file that ``line`` is in, "" for the first one of the program, and its number there."""
    return (line.file if isinstance(line, Line) else ""), int(line)


@record
class Span:
    """A piece of source text: lines and columns count from 1, the end column is the first one after it.

    ``turn``, where code is written out that is executed several times: one number for each time. ``holds``: whether
    the condition that stands there does, on the way that is taken. Reports tell of them; spans are equal without.
    Both lines are a :class:`Line` where the file is not the first one of the program.
    """

    line: int
    column: int
    end_line: int
    end_column: int
    turn: int = field(default=0, compare=False, repr=False)
    holds: bool | None = field(default=None, compare=False, repr=False)


NOWHERE = Span(0, 0, 0, 0)


@record
class Do:
    """Issue one command."""

    command: Command
    span: Span = NOWHERE


@record
class Skip:
    pass


@record
class Goto:
    label: str


@record
class If:
    condition: Expr
    then: Block
    otherwise: Block | None
    span: Span = NOWHERE


@record
class While:
    condition: Expr
    body: Block
    span: Span = NOWHERE


@record
class Choose:
    branches: tuple[Block, ...]


@record
class Loop:
    body: Block


@record
class Labelled:
    label: str
    statement: Statement


@record
class Block:
    statements: tuple[Statement, ...]


Statement = Do | Skip | Goto | If | While | Choose | Loop | Labelled


@record
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


@record
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


def rebuilt(statement: Statement, block: Callable[[Block], Block], expr: Callable[[Expr], Expr]) -> Statement:
    """``statement`` with the blocks and the condition that it has as ``block`` and ``expr`` change them; commands, and
    what is labelled, stay."""
    match statement:
        case If(condition, then, otherwise):
            no = block(otherwise) if otherwise else None
            return replace(statement, condition=expr(condition), then=block(then), otherwise=no)
        case While(condition, body):
            return replace(statement, condition=expr(condition), body=block(body))
        case Loop(body):
            return Loop(block(body))
        case Choose(branches):
            return Choose(tuple(map(block, branches)))
        case Do() | Skip() | Goto() | Labelled():
            return statement
        case _:
            assert_never(statement)
