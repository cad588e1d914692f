"""What must be known of the body of a function before its code is made."""

from __future__ import annotations

from dataclasses import dataclass, field

from pgasrob.frontends.c.code import Label, Leave
from pgasrob.frontends.c.compiler.emitter import Emitter
from pgasrob.frontends.c.compiler.scopes import Scope
from pgasrob.frontends.c.syntax_tree import Node


@dataclass(slots=True)
class Target:
    """A label of the program. ``loops``: something behind it jumps to it. ``forward``: something before it does.
    ``head``: of the loop that begins there, once it is ``placed``. ``scopes``: the blocks around it, then; ``leaving``:
    what jumps to it before that, each with the blocks around."""

    label: Label
    loops: bool
    forward: bool
    placed: bool = False
    head: tuple[int, int] | None = None
    scopes: list[Scope] = field(default_factory=list)
    leaving: list[tuple[int, Leave, dict[Scope, tuple[str, ...]]]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Body:
    """The variables whose address is taken, and the labels."""

    addressed: set[str] = field(default_factory=set)
    targets: dict[str, Target] = field(default_factory=dict)


def survey(root: Node, emitter: Emitter) -> Body:
    """Look at the whole body ``root``; its labels are those of ``emitter``."""
    context = emitter.context
    body = Body()
    gotos: list[tuple[str, int]] = []
    labels: list[tuple[str, Node]] = []
    pending = [root]
    while pending:
        node = pending.pop()
        if node.type == "pointer_expression" and node["operator"].type == "&":
            inner = context.inside(node["argument"])
            if inner.type == "identifier":
                body.addressed.add(context.word(inner))
        elif node.type == "goto_statement":
            gotos.append((context.word(node["label"]), node.first))
        elif node.type == "labeled_statement":
            labels.append((context.word(node["label"]), node))
        pending.extend(node.children)
    for name, node in labels:
        if name in body.targets:
            raise context.error("PG121", f"the label `{name}` stands twice", node)
        jumps = [first for target, first in gotos if target == name]
        loops, forward = any(first > node.first for first in jumps), any(first < node.first for first in jumps)
        body.targets[name] = Target(emitter.new_label(), loops, forward)
    return body
