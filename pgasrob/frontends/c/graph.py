"""The graph of what a rank does, while it is made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from pgasrob.program.commands import Assume, map_expressions
from pgasrob.program.expressions import Const, Expr, on_rank, rewritten
from pgasrob.program.statements import NOWHERE, Block, Do, Labelled, Span, Statement, rebuilt


@dataclass(slots=True)
class Node:
    """Straight code and what follows it: nothing (the rank has ended), one label, a branch, or any of some labels."""

    label: str
    statements: list[Statement] = field(default_factory=list)
    goes_to: tuple[str, ...] = ()
    condition: Expr | None = None
    span: Span = NOWHERE


def go_round(nodes: dict[str, Node]) -> None:
    """Where a rank goes round ``nodes`` in which nothing stands, let it pass a condition that holds: it spins there, as
    in `while (1) skip;`, and has not ended."""
    seen: set[str] = set()
    for first in nodes.values():
        way: dict[str, Node] = {}
        node = first
        while node.label not in seen and not node.statements and node.condition is None and len(node.goes_to) == 1:
            seen.add(node.label)
            way[node.label] = node
            node = nodes[node.goes_to[0]]
        if node.label in way:
            node.statements.append(Do(Assume(Const(1)), node.span))


def of_rank(node: Node, place: int) -> Node:
    """What the rank at ``place``, of those for which ``node`` has been made, does there."""
    its = on_rank(place)
    condition = None if node.condition is None else rewritten(node.condition, its)
    return replace(node, statements=[mapped(each, its) for each in node.statements], condition=condition)


def mapped(statement: Statement, change: Callable[[Expr], Expr | None], deep: bool = True) -> Statement:
    """``statement`` with ``change`` made in its expressions, those of statements inside of it too if ``deep``; one with
    a command is the same object where nothing changes."""

    def block(inner: Block) -> Block:
        return Block(tuple(mapped(each, change) for each in inner.statements)) if deep else inner

    match statement:
        case Do(command):
            new = map_expressions(command, lambda expr: rewritten(expr, change))
            return statement if new is command else replace(statement, command=new)
        case Labelled(label, inner):
            return Labelled(label, mapped(inner, change) if deep else inner)
    return rebuilt(statement, block, lambda expr: rewritten(expr, change))
