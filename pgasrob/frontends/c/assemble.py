"""From the nodes of what a rank does to the graph that is its process: what makes no difference is left out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping
from dataclasses import replace

from pgasrob.frontends.c.arithmetic import negation
from pgasrob.frontends.c.graph import Node
from pgasrob.frontends.c.needed import needed_registers, without_idle_assignments
from pgasrob.program.statements import FlowGraph, Piece
from pgasrob.program.structure import nesting
from pgasrob.stop_points import stop_point


def assemble(nodes: dict[str, Node]) -> FlowGraph:
    """The graph that begins at the first of ``nodes``. Those that nothing reaches are left out.

    Its pieces stand in the order of its text. A branch with nothing in its text but an `else` is turned round.
    """
    simplified(nodes)
    finals: dict[str, str] = {}
    start = _final(next(iter(nodes)), nodes, finals)
    ways: dict[str, tuple[str, ...]] = {}
    reached = [start]
    while reached:
        stop_point()
        label = reached.pop()
        if label not in ways:
            after = tuple(_final(each, nodes, finals) for each in nodes[label].goes_to)
            # A branch to one label twice is none: conditions do not fault.
            ways[label] = after if len(set(after)) > 1 else after[:1]
            reached += after
    pieces: list[Piece] = []
    follows: str | None = None  # the outermost label that is next in the text
    depths = nesting(start, ways)
    for label, depth in reversed(depths.items()):
        node, goes_to = nodes[label], ways[label]
        condition, turned = node.condition if len(goes_to) == 2 else None, False
        if condition is not None:
            yes = goes_to[0]
            ends = depths[yes] and not (nodes[yes].statements or ways[yes])
            if yes == follows or (ends and follows is None):
                condition, goes_to, turned = negation(condition), goes_to[::-1], True
        pieces.append(Piece(label, tuple(node.statements), goes_to, condition, node.span, turned))
        follows = follows if depth else label
    return FlowGraph(tuple(reversed(pieces)))


def simplified(nodes: dict[str, Node]) -> None:
    """Leave out what makes no difference; nodes go to the first of those from which on exactly the same is done."""
    while True:
        stop_point()
        merged = _merged(nodes)
        before = sum(len(node.statements) + (node.condition is not None) for node in nodes.values())
        for node in nodes.values():
            if node.condition is not None and len({merged[each] for each in node.goes_to}) == 1:
                node.condition, node.goes_to = None, node.goes_to[:1]
        drop_idle_assignments(nodes)
        if before == sum(len(node.statements) + (node.condition is not None) for node in nodes.values()):
            for node in nodes.values():
                node.goes_to = tuple(merged[each] for each in node.goes_to)
            return


def drop_idle_assignments(nodes: dict[str, Node]) -> None:
    """Leave out assignments to registers that nothing but such assignments reads, or branches that decide about nothing
    else: a counter of rounds that begins anew now and then."""
    decisive: set[str] = set()
    while True:
        stop_point()
        conditions = [condition for label in decisive if (condition := nodes[label].condition) is not None]
        needed = needed_registers(nodes.values(), conditions)
        kept = {label: _without_idle_assignments(node, needed) for label, node in nodes.items()}
        finals: dict[str, str] = {}
        found = {
            label
            for label, node in kept.items()
            if node.condition is not None and len({_final(each, kept, finals) for each in node.goes_to}) > 1
        }
        if found <= decisive:
            break
        decisive |= found
    for label, node in kept.items():
        nodes[label].statements = node.statements


def _without_idle_assignments(node: Node, needed: set[int]) -> Node:
    """``node`` itself where it has none."""
    statements = [*without_idle_assignments(node.statements, needed)]
    return node if statements == node.statements else replace(node, statements=statements)


def _merged(nodes: dict[str, Node]) -> dict[str, str]:
    """For each label the first one from which on exactly the same is done.

    Hopcroft's refinement of the classes of nodes that do the same themselves, in about linear time.
    """
    own: dict[Hashable, list[str]] = defaultdict(list)
    sources: dict[str, list[tuple[int, str]]] = {label: [] for label in nodes}
    for label, node in nodes.items():
        own[tuple(node.statements), node.condition, len(node.goes_to)].append(label)
        for way, target in enumerate(node.goes_to):
            sources[target].append((way, label))
    classes = [set(labels) for labels in own.values()]
    number = {label: index for index, labels in enumerate(classes) for label in labels}
    waiting = [*range(len(classes))]
    while waiting:
        stop_point()
        leading: dict[tuple[int, int], set[str]] = defaultdict(set)
        for way, label in [source for target in classes[waiting.pop()] for source in sources[target]]:
            leading[way, number[label]].add(label)
        for way, index in list(leading):
            # A class may have been split by another way.
            parts: dict[int, set[str]] = defaultdict(set)
            for label in leading[way, index]:
                parts[number[label]].add(label)
            for of, part in parts.items():
                rest = len(classes[of]) - len(part)
                if rest == 0:
                    continue
                if rest < len(part):
                    part = classes[of] - part
                classes[of] -= part
                number.update(dict.fromkeys(part, len(classes)))
                waiting.append(len(classes))
                classes.append(part)
    first: dict[int, str] = {}
    return {label: first.setdefault(number[label], label) for label in nodes}


def _final(label: str, nodes: Mapping[str, Node], finals: dict[str, str]) -> str:
    """The first label from ``label`` on with statements or a branch; a circle of empty labels stays where it is."""
    passed: list[str] = []
    while label not in finals:
        stop_point()
        passed.append(label)
        finals[label] = label  # for a circle
        node = nodes[label]
        ways = set(node.goes_to)
        if len(ways) > 1 and not node.statements:
            ways = {_final(each, nodes, finals) for each in ways}
        if node.statements or len(ways) != 1:
            break
        label = ways.pop()
    finals.update(dict.fromkeys(passed, finals[label]))
    return finals[label]
