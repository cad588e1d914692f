"""The graph of statements that one rank does, while it is written."""

from __future__ import annotations

from pgasrob.frontends.c.graph import Node
from pgasrob.frontends.c.rank_position import Position
from pgasrob.frontends.c.snapshots import State
from pgasrob.program import commands
from pgasrob.program.expressions import Expr
from pgasrob.program.statements import Do, Statement

UNDISTURBED = "machine.undisturbed"
"""Key in `State.notes`: true from where a call sets it as long as only registers are assigned and nothing branches."""
LEFT_OPEN = "machine.left_open"
"""Key in `State.notes` of a fact that a rank publishes if it ends before another call removes the key."""
MOST_STATEMENTS = 100_000
"""For one rank."""


class Writer:
    """``nodes``: by their labels. ``node`` is written to as long as it is ``open``. ``quiet``: nothing has been written
    since the latest merge point or branch."""

    def __init__(self, position: Position) -> None:
        self.position = position
        self.nodes: dict[str, Node] = {}
        self.statements = 0
        self.open = False
        self.quiet = True
        self.node: Node

    def fresh(self) -> Node:
        """A new node, which nothing is written to yet."""
        label = f"s{len(self.nodes)}"
        node = self.nodes[label] = Node(label)
        return node

    def close(self, *goes_to: str, condition: Expr | None = None) -> None:
        """End the node: the rank goes on at one of ``goes_to``, or it ends if there is none."""
        self.node.goes_to, self.node.condition, self.node.span = goes_to, condition, self.position.span
        self.open = False

    def write(self, *statements: Statement) -> None:
        """Append ``statements`` as they are; :class:`~pgasrob.frontends.c.issuing.Issuer` looks at what they do."""
        notes = self.position.state.notes
        if notes.get(UNDISTURBED) and not all(_is_assignment(each) for each in statements):
            notes[UNDISTURBED] = False
        if self.position.facts.threads.any and not all(_is_assignment(each) for each in statements):
            self.position.does()
        self.node.statements += statements
        self.quiet = False
        self.statements += len(statements)
        if self.statements > MOST_STATEMENTS:
            raise self.position.too_large(f"more than {MOST_STATEMENTS:,} commands for {self.position.rank}")


def _is_assignment(statement: Statement) -> bool:
    return isinstance(statement, Do) and isinstance(statement.command, commands.Assign)


def disturbed(state: State) -> None:
    """Note in ``state`` that something but assignments to registers has happened."""
    if state.notes.get(UNDISTURBED):
        state.notes[UNDISTURBED] = False
