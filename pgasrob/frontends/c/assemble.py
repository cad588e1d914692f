"""From the graph of what a rank does to structured statements: few labels, so that the program reads well."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace

from pgasrob.frontends.c.arithmetic import negation
from pgasrob.frontends.c.graph import Node
from pgasrob.frontends.c.needed import drop_idle_assignments
from pgasrob.program.statements import Block, Choose, Goto, If, Labelled, Skip, Statement

MOST_NESTED = 30
"""Blocks in blocks; what is deeper is put beside them with a label."""
END = "end"


def assemble(start: str, nodes: dict[str, Node]) -> Block:
    """The block that begins at label ``start``. Labels that nothing reaches are left out."""
    merged = simplified(nodes)
    statements = _Assembler(merged[start], {label: nodes[label] for label in set(merged.values())}, merged).statements
    statements = _without_detours([*statements, Labelled(END, Skip())], None)
    used = {label for statement in statements for label in _gone_to(statement)}
    if END not in used:
        statements.pop()
    return Block(_without_labels(statements, used))


def simplified(nodes: dict[str, Node]) -> dict[str, str]:
    """Leave out what makes no difference; gives for each label the first one from which on exactly the same is done."""
    while True:
        merged = _merged(nodes)
        before = sum(len(node.statements) + (node.condition is not None) for node in nodes.values())
        for node in nodes.values():
            if node.condition is not None and len({merged[each] for each in node.goes_to}) == 1:
                node.condition, node.goes_to = None, node.goes_to[:1]
        drop_idle_assignments(nodes.values())
        if before == sum(len(node.statements) + (node.condition is not None) for node in nodes.values()):
            return merged


def _merged(nodes: dict[str, Node]) -> dict[str, str]:
    """For each label the first one from which on exactly the same is done."""
    classes = _numbered({label: (tuple(node.statements), node.condition) for label, node in nodes.items()})
    count = 0
    while count != len(set(classes.values())):
        count = len(set(classes.values()))
        classes = _numbered(
            {label: (classes[label], *(classes[each] for each in node.goes_to)) for label, node in nodes.items()}
        )
    first: dict[int, str] = {}
    return {label: first.setdefault(classes[label], label) for label in nodes}


def _numbered(keys: Mapping[str, Hashable]) -> dict[str, int]:
    numbers: dict[Hashable, int] = {}
    return {label: numbers.setdefault(key, len(numbers)) for label, key in keys.items()}


class _Assembler:
    """Puts every node into one list of statements, a node that is reached once where it is reached."""

    def __init__(self, start: str, nodes: dict[str, Node], merged: dict[str, str]) -> None:
        self.nodes = {
            label: replace(node, goes_to=tuple(merged[each] for each in node.goes_to)) for label, node in nodes.items()
        }
        self.finals: dict[str, str] = {}
        self.uses: Counter[str] = Counter()
        self.written: set[str] = set()
        self.waiting = [self.final(start)]
        self.count(self.final(start))
        self.statements: list[Statement] = []
        while self.waiting:
            label = self.waiting.pop()
            if label not in self.written:
                self.statements += self.chain(label, 0)

    def final(self, label: str) -> str:
        """Where ``label`` leads when nothing is done on the way; a circle of such labels stays where it is."""
        passed: list[str] = []
        while label not in self.finals:
            passed.append(label)
            node = self.nodes[label]
            ways = set(node.goes_to)
            if len(ways) > 1 and not node.statements:
                self.finals[label] = label  # for a circle
                ways = {self.final(each) for each in ways}
            if node.statements or len(ways) != 1:
                self.finals[label] = label
                break
            self.finals[label] = label
            label = ways.pop()
        found = self.finals[label]
        for each in passed:
            self.finals[each] = found
        return found

    def count(self, start: str) -> None:
        seen, stack = {start}, [start]
        while stack:
            for label in self.after(stack.pop()):
                self.uses[label] += 1
                if label not in seen:
                    seen.add(label)
                    stack.append(label)

    def after(self, label: str) -> list[str]:
        """Where the code at ``label`` may lead. A branch whose ways are the same is none: conditions do not fault."""
        ways = [self.final(each) for each in self.nodes[label].goes_to]
        return ways if len(set(ways)) > 1 else ways[:1]

    def chain(self, label: str, depth: int) -> list[Statement]:
        """The code from ``label`` on, as far as one piece leads to the next."""
        statements: list[Statement] = []
        while True:
            self.written.add(label)
            node = self.nodes[label]
            after = self.after(label)
            go_on: str | None = None
            piece = [*node.statements]
            if len(after) == 2 and node.condition is not None:
                piece.append(If(node.condition, self.branch(after[0], depth), self.branch(after[1], depth), node.span))
            elif len(after) > 1:
                piece.append(Choose(tuple(self.branch(each, depth) for each in after)))
            elif not after:
                piece.append(Goto(END))
            elif after[0] in self.written or (self.uses[after[0]] > 1 and depth):
                piece.append(self.go_to(after[0]))
            else:
                go_on = after[0]
            first, *rest = piece or [Skip()]
            statements += [Labelled(label, first), *rest]
            if go_on is None:
                return statements
            label = go_on

    def branch(self, label: str, depth: int) -> Block:
        if label not in self.written and self.uses[label] == 1 and depth < MOST_NESTED:
            return Block(tuple(self.chain(label, depth + 1)))
        return Block((self.go_to(label),))

    def go_to(self, label: str) -> Statement:
        if label not in self.written:
            self.waiting.append(label)
        return Goto(label)


def _without_detours(statements: Sequence[Statement], after: str | None) -> list[Statement]:
    """``statements`` without a goto to what comes next anyway; ``after`` is the label that follows them all."""
    kept: list[Statement] = []
    follows = after
    for statement in reversed(statements):
        if statement == Goto(follows or ""):
            continue
        statement = _inside(statement, follows)
        kept.append(statement)
        follows = statement.label if isinstance(statement, Labelled) else None
    return kept[::-1]


def _inside(statement: Statement, follows: str | None) -> Statement:
    match statement:
        case Labelled(label, inner):
            inner = _inside(inner, follows)
            return Labelled(label, Skip() if follows and inner == Goto(follows) else inner)
        case If(_, then, otherwise):
            yes = Block(tuple(_without_detours(then.statements, follows)))
            no = Block(tuple(_without_detours(otherwise.statements if otherwise else (), follows)))
            return replace(statement, then=yes, otherwise=no if no.statements else None)
        case Choose(branches):
            return Choose(tuple(Block(tuple(_without_detours(each.statements, follows))) for each in branches))
    return statement


def _gone_to(statement: Statement) -> list[str]:
    match statement:
        case Goto(label):
            return [label]
        case Labelled(_, inner):
            return _gone_to(inner)
        case If(_, then, otherwise):
            inner_blocks = [then, otherwise] if otherwise else [then]
            return [label for block in inner_blocks for each in block.statements for label in _gone_to(each)]
        case Choose(branches):
            return [label for block in branches for each in block.statements for label in _gone_to(each)]
    return []


def _without_labels(statements: Sequence[Statement], used: set[str]) -> tuple[Statement, ...]:
    """``statements`` without the labels that nothing goes to."""
    kept: list[Statement] = []
    for statement in statements:
        label = None
        if isinstance(statement, Labelled):
            label, statement = statement.label, statement.statement
        match statement:
            case If(condition, then, otherwise):
                yes = Block(_without_labels(then.statements, used))
                no = Block(_without_labels(otherwise.statements, used)) if otherwise else None
                if no and no.statements and not yes.statements:
                    condition, yes, no = negation(condition), no, None
                statement = replace(statement, condition=condition, then=yes, otherwise=no)
            case Choose(branches):
                statement = Choose(tuple(Block(_without_labels(each.statements, used)) for each in branches))
        if label in used and label is not None:
            kept.append(Labelled(label, statement))
        elif not isinstance(statement, Skip):
            kept.append(statement)
    return tuple(kept)
