"""Turns a graph of pieces into structured statements for readers: few labels, and no `goto` to the next statement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from pgasrob.program.statements import Block, Body, Choose, FlowGraph, Goto, If, Labelled, Skip, Statement
from pgasrob.stop_points import stop_point

MOST_NESTED = 30
"""Blocks in blocks; what is deeper is put beside them with a label."""
END = "end"


def structured(body: Body) -> Block:
    """``body`` as one block: that of a graph begins with its first piece."""
    return body if isinstance(body, Block) else _Structure(body).block()


def nesting(start: str, goes_to: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """How many branches enclose each label in the text that begins at ``start``; labels in the order of the text.

    The target of a single jump is put where that jump is, other targets after the whole text that jumps there first.
    """
    uses = Counter(each for ways in goes_to.values() for each in ways)
    depths: dict[str, int] = {}
    waiting = [start]
    while waiting:
        stop_point()
        stack = [(waiting.pop(), 0)]
        while stack:
            label, depth = stack.pop()
            if label in depths:
                continue
            if depth and (uses[label] > 1 or depth > MOST_NESTED):
                waiting.append(label)
                continue
            depths[label] = depth
            ways = goes_to[label]
            stack += [(each, depth + (len(ways) > 1)) for each in reversed(ways)]
    return depths


class _Structure:
    """The text of one graph; ``used``: the labels that some `goto` names."""

    def __init__(self, graph: FlowGraph) -> None:
        self.pieces = {piece.label: piece for piece in graph.pieces}
        self.depths = nesting(graph.pieces[0].label, {each.label: each.goes_to for each in graph.pieces})
        self.used: set[str] = set()

    def block(self) -> Block:
        outermost = [label for label, depth in self.depths.items() if not depth]
        texts = [self.text(label, after) for label, after in zip(outermost, [*outermost[1:], END], strict=True)]
        statements: list[Statement] = []
        for label, text in zip([*outermost, END], [*texts, []], strict=True):
            if label in self.used:
                text[:1] = [Labelled(label, text[0] if text else Skip())]
            statements += text
        return Block(tuple(statements))

    def text(self, label: str, after: str) -> list[Statement]:
        """The statements from ``label`` on, which the label ``after`` follows."""
        statements: list[Statement] = []
        while True:
            piece = self.pieces[label]
            statements += piece.statements
            match piece.goes_to:
                case ():
                    return statements + self.go_to(END, after)
                case (label,):
                    if not self.depths[label]:
                        return statements + self.go_to(label, after)
                case ways:
                    blocks = [Block(tuple(self.way(each, after))) for each in ways]
                    if piece.condition is None:
                        return [*statements, Choose(tuple(blocks))]
                    yes, no = blocks
                    return [*statements, If(piece.condition, yes, no if no.statements else None, piece.span)]

    def way(self, label: str, after: str) -> list[Statement]:
        return self.text(label, after) if self.depths[label] else self.go_to(label, after)

    def go_to(self, label: str, after: str) -> list[Statement]:
        if label == after:
            return []
        self.used.add(label)
        return [Goto(label)]
