"""Makes variants of a program with some commands replaced, to find out what a call is needed for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from pgasrob.program.program import Program
from pgasrob.program.statements import Block, Body, Do, FlowGraph, Labelled, Statement, rebuilt

Change = Callable[[Do], Sequence[Do]]
"""What comes in the place of a command: itself, another one, or several. Never none: control states would merge."""


def with_commands(program: Program, change: Change) -> Program:
    """``program`` with every command changed, of all processes."""
    processes = tuple(replace(process, body=_body(process.body, change)) for process in program.processes)
    return replace(program, processes=processes)


def _body(body: Body, change: Change) -> Body:
    if isinstance(body, FlowGraph):
        pieces = (replace(piece, statements=_all(piece.statements, change)) for piece in body.pieces)
        return FlowGraph(tuple(pieces))
    return _block(body, change)


def _block(block: Block, change: Change) -> Block:
    return Block(_all(block.statements, change))


def _all(statements: Sequence[Statement], change: Change) -> tuple[Statement, ...]:
    return tuple(new for statement in statements for new in _changed(statement, change))


def _changed(statement: Statement, change: Change) -> Sequence[Statement]:
    match statement:
        case Do():
            return change(statement)
        case Labelled(label, inner):
            first, *rest = _changed(inner, change)
            return (Labelled(label, first), *rest)
    return (rebuilt(statement, partial(_block, change=change), lambda expr: expr),)
