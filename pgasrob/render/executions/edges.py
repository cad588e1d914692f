"""Which edges of an execution graph are drawn: rf, mo and rb as far as they do not follow from others, and a cycle."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from pgasrob.render.litmus_json import ExecutionObject

DRAWN = ("rf", "mo", "rb")
NAMES = {
    "po": "program order",
    "rf": "reads from",
    "mo": "modification order",
    "rb": "reads before",
}
"""The relations that every model has."""
OTHERS = {
    "ippo": "issue-preserved program order",
    "oppo": "observation-preserved program order",
    "pf": "polls from",
    "nfo": "NIC flush order",
    "hb": "happens before",
}
"""Those of some."""


@dataclass(frozen=True, slots=True)
class Edge:
    """``number`` counts the edges of a cycle from 1; ``rule`` is what the edge is by, where that says more."""

    source: int
    target: int
    relation: str
    number: int | None = None
    rule: str = ""

    @property
    def label(self) -> str:
        """``rf``, in a cycle ``2 rf``."""
        return self.relation if self.number is None else f"{self.number} {self.relation}"


def edges(execution: ExecutionObject, relations: Collection[str] = DRAWN) -> list[Edge]:
    """The edges to draw, those of the cycle last. What the initial values are to others is left out unless the cycle
    passes there."""
    cycle = [
        Edge(edge["source"], edge["target"], edge["relation"], number, _rule(edge["rule"], edge["relation"]))
        for number, edge in enumerate(execution["cycle"], 1)
    ]
    on_cycle = {(edge.source, edge.target) for edge in cycle}
    found = []
    for relation in relations:
        for source, target in _immediate(execution, relation):
            if execution["events"][source]["thread"] is not None and (source, target) not in on_cycle:
                found.append(Edge(source, target, relation))
    return found + cycle


def _rule(rule: str, relation: str) -> str:
    return "" if rule == relation else rule


def _immediate(execution: ExecutionObject, relation: str) -> list[tuple[int, int]]:
    """The pairs of ``relation`` between which no write stands: of mo those that do not follow from two others, of rb
    those to the first of the writes."""
    pairs = {(source, target) for source, target in execution["relations"].get(relation, [])}
    if relation not in ("mo", "rb"):
        return sorted(pairs)
    later = {(source, target) for source, target in execution["relations"].get("mo", [])}
    return sorted(
        (source, target)
        for source, target in pairs
        if not any((source, middle) in pairs and (middle, target) in later for _, middle in pairs)
    )
