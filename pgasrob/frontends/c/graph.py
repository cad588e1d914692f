"""The graph of what a rank does, while it is made."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, cast

from pgasrob.program.commands import Assume, expressions_of
from pgasrob.program.expressions import Const, Expr, on_rank
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
    condition = None if node.condition is None else on_rank(node.condition, place)
    return replace(node, statements=[_on(each, place) for each in node.statements], condition=condition)


def _on(statement: Statement, place: int) -> Statement:
    """``statement``, which is the same object where all ranks do the same."""
    if isinstance(statement, Do):
        found = expressions_of(statement.command)
        its = {name: on_rank(expr, place) for name, expr in found.items()}
        if all(its[name] is expr for name, expr in found.items()):
            return statement
        return replace(statement, command=replace(statement.command, **cast("dict[str, Any]", its)))
    if isinstance(statement, Labelled):
        return Labelled(statement.label, _on(statement.statement, place))
    return rebuilt(
        statement,
        lambda block: Block(tuple(_on(each, place) for each in block.statements)),
        lambda expr: on_rank(expr, place),
    )
