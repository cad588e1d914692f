"""Computes the actions of a coreRMA program (Table 3) and the edges of hb that follow from its text alone (Figure 4).

It repeats `pgasrob.models.corerma` for atomic straight-line programs, for speed: a generator calls it for every
program. The tests compare the two.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from pgasrob.models.generate.programs import Shape

RULES = ("R1", "R2", "F1", "F2", "F3", "IR", "GA", "PG", "CAS-F", "CAS-T", "LO", "WS")
"""The rules that give edges, in the order of Table 6."""


TABLE_3 = {
    "load": (("r", 0),),
    "store": (("w", 0),),
    "get": (("er", 1), ("ew", 0)),
    "put": (("er", 1), ("ew", 0)),
    "rga": (("er", 2), ("erw", 1), ("ew", 0)),
    "cas": (("er", 2), ("er", 3), ("erw", 1), ("ew", 0)),
}
"""The actions of each statement but a flush, with the operand that each of them is about."""
REMOTE_ACTION = {"get": 0, "put": 1, "rga": 1, "cas": 2}
"""Which of these is in the set Remote of section 5.3."""


class Action(NamedTuple):
    """``kind``: r, w, er, ew, erw or flush; ``reads``, ``writes``: locations or None; ``remote``: whether it is in the
    set Remote of section 5.3; ``source``, ``target``: processes."""

    kind: str
    thread: int
    statement: int
    source: int
    target: int
    reads: int | None
    writes: int | None
    remote: bool


class Edge(NamedTuple):
    """``application``: edges with the same number are from one application of the rule."""

    before: int
    after: int
    rule: str
    application: int


@dataclass(frozen=True, slots=True)
class Actions:
    """All actions of a program, thread by thread in program order, and its static edges.

    Edges of a cas have the rule "CAS": which of the two rules it is depends on the values.
    """

    shape: Shape
    actions: tuple[Action, ...]
    edges: tuple[Edge, ...]
    readers: tuple[tuple[int, ...], ...]
    """Of each location."""
    writers: tuple[tuple[int, ...], ...]


def actions_of(shape: Shape, ir_own: bool = True, local_order: str = "all") -> Actions:
    """The actions and static edges of a program; ``ir_own``: IR without its premise dst != src; ``local_order``: as
    the conventions of that name."""
    actions: list[Action] = []
    owners = shape.owners
    statements: list[tuple[str, list[int]]] = []
    for thread, (process, text) in enumerate(zip(shape.nodes, shape.threads, strict=True)):
        for number, (kind, operands) in enumerate(text):
            begin = len(actions)
            if kind == "flush":
                actions.append(Action(kind, thread, number, process, operands[0], None, None, False))
            elif kind not in TABLE_3:
                raise ValueError(f"coreRMA has no {kind}")
            for at, (action, operand) in enumerate(TABLE_3.get(kind, ())):
                place = operands[operand]
                reads, writes = (place if letter in action else None for letter in "rw")
                remote = REMOTE_ACTION.get(kind) == at
                actions.append(Action(action, thread, number, process, owners[place], reads, writes, remote))
            statements.append((kind, list(range(begin, len(actions)))))
    places_count = len(owners)
    return Actions(
        shape,
        tuple(actions),
        tuple(_edges(actions, statements, ir_own, local_order)),
        tuple(tuple(n for n, a in enumerate(actions) if a.reads == place) for place in range(places_count)),
        tuple(tuple(n for n, a in enumerate(actions) if a.writes == place) for place in range(places_count)),
    )


def _edges(
    actions: list[Action], statements: list[tuple[str, list[int]]], ir_own: bool, local_order: str
) -> Iterator[Edge]:
    application = 0
    for kind, members in statements:
        pairs = []
        match kind:
            case "get" | "put":
                rule, pairs = "PG", [(0, 1)]
            case "rga":
                rule, pairs = "GA", [(0, 1), (1, 2)]
            case "cas":
                rule, pairs = "CAS", [(0, 2), (1, 2), (2, 3)]
        for before, after in pairs:
            yield Edge(members[before], members[after], rule, application)
        application += 1
    remote_of = [next((n for n in members if actions[n].remote), None) for _, members in statements]
    for at, (kind, members) in enumerate(statements):
        first = members[0]
        thread = actions[first].thread
        later = [s for s in range(at + 1, len(statements)) if actions[statements[s][1][0]].thread == thread]
        remote = remote_of[at]
        if remote is not None:
            for s in later:
                other = remote_of[s]
                action = actions[remote]
                if (
                    other is not None
                    and actions[other].target == action.target
                    and (ir_own or action.target != action.source)
                ):
                    yield Edge(remote, other, "IR", application)
                    application += 1
                if statements[s][0] == "flush" and actions[statements[s][1][0]].target == action.target:
                    for member in members:
                        yield Edge(member, statements[s][1][0], "F2", application)
                        application += 1
        elif kind == "flush":
            for s in later:
                other = remote_of[s]
                if other is not None and actions[other].target == actions[first].target:
                    for member in statements[s][1]:
                        yield Edge(first, member, "F3", application)
                        application += 1
                elif actions[statements[s][1][0]].kind in ("r", "w"):
                    yield Edge(first, statements[s][1][0], "F1", application)
                    application += 1
        else:
            behind = {"all": None, "local": ("load", "store"), "flush": ("load", "store", "flush")}[local_order]
            for s in later:
                if behind is None or statements[s][0] in behind:
                    for member in statements[s][1]:
                        yield Edge(first, member, "LO", application)
                        application += 1
