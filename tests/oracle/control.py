"""Control automata: which commands may come next (the design: section 2, "Control automata have no silent edges").

A control state is what is left of a block. Its edges are the commands that may come next, each with what is left after
it; `choose` and `loop` give several and commit to none. A state without edges has *ended*.
"""

from __future__ import annotations

from dataclasses import dataclass

from .expressions import op
from .syntax import Assume, Block, Choose, If, Loop, Skip, Statement, While


@dataclass(frozen=True, slots=True)
class Edge:
    """`command` may come next, and leads to the state numbered `target`."""

    command: Statement
    target: int


def next_commands(rest: Block, seen: frozenset[Block] = frozenset()) -> list[tuple[Statement, Block]]:
    """The commands that may come next when `rest` is left, each with what is left after it."""
    if not rest or rest in seen:  # seen: a loop around nothing leads back here without a command
        return []
    first, after = rest[0], rest[1:]
    seen |= {rest}
    match first:
        case Skip():
            return next_commands(after, seen)
        case If(condition=condition, then=then, otherwise=otherwise, line=line):
            return _test(condition, line, then + after, (otherwise or ()) + after)
        case While(condition=condition, body=body, line=line):
            return _test(condition, line, body + rest, after)
        case Choose(branches=branches):
            ways = [branch + after for branch in branches]
        case Loop(body=body):
            ways = [body + rest, after]
        case _:
            return [(first, after)]
    edges = [edge for way in ways for edge in next_commands(way, seen)]
    return list(dict.fromkeys(edges))


def _test(condition: object, line: int, yes: Block, no: Block) -> list[tuple[Statement, Block]]:
    """Each test of an `if` or `while` is one assume event (the design: section 3)."""
    return [(Assume(condition, line=line), yes), (Assume(op("!", condition), line=line), no)]


def may_end(body: Block) -> list[bool]:
    """For every control state of `automaton` whether the process may end there without another command."""
    states = {body: 0}
    found = []
    for rest in (unread := [body]):
        for _, after in next_commands(rest):
            if after not in states:
                states[after] = len(states)
                unread.append(after)
        found.append(_may_end(rest))
    return found


def _may_end(rest: Block, seen: frozenset[Block] = frozenset()) -> bool:
    if not rest:
        return True
    if rest in seen:
        return False
    first, after = rest[0], rest[1:]
    seen |= {rest}
    match first:
        case Skip():
            return _may_end(after, seen)
        case Choose(branches=branches):
            return any(_may_end(branch + after, seen) for branch in branches)
        case Loop(body=body):
            return _may_end(after, seen) or _may_end(body + rest, seen)
    return False


def automaton(body: Block) -> list[list[Edge]]:
    """The edges of every control state that `body` can come to; it starts in state 0."""
    states = {body: 0}
    table: list[list[Edge]] = []
    for rest in (unread := [body]):
        edges = []
        for command, after in next_commands(rest):
            if after not in states:
                states[after] = len(states)
                unread.append(after)
            edges.append(Edge(command, states[after]))
        table.append(edges)
    return table
