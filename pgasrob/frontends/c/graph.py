"""The graph of what a rank does, while it is made."""

from __future__ import annotations

from dataclasses import dataclass, field

from pgasrob.program.commands import Assume
from pgasrob.program.expressions import Const, Expr
from pgasrob.program.statements import NOWHERE, Do, Span, Statement


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
