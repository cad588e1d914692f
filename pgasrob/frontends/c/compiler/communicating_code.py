"""Which functions of a file communicate, and so which regions of OpenMP are executed by teams of threads here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from pgasrob.frontends.c.compiler.scopes import Context
from pgasrob.frontends.c.syntax_tree import Node

LIBRARY = "C"
"""The name of the API that the library of C is."""
_ASKS = re.compile(
    r"P?MPI_(Comm_(rank|size)|W(time|tick)|Query_thread|Is_thread_main|Initialized|Finalized)$"
    r"|p?shmem_(my_pe|n_pes|query_thread|ptr)$|p?gaspi_(proc_(rank|num)|time_get|segment_ptr)$"
)
"""Functions that only answer what does not change."""


def communicating(context: Context, bodies: Sequence[tuple[str, Node]]) -> frozenset[str]:
    """The functions that a call of communicates, directly or through others of ``bodies``, the functions of the file by
    their names."""
    calls = {name: set(_called(context, body)) for name, body in bodies}
    names = {name for called in calls.values() for name in called}
    found = {name for name in names if name not in calls and _communicates(context, name)}
    while more := {name for name, called in calls.items() if name not in found and called & found}:
        found |= more
    return frozenset(found)


def teams_in(context: Context, root: Node) -> Iterator[Node]:
    """The statements in ``root`` under a `parallel` in which a rank communicates, the outermost ones."""
    pending = [root]
    while pending:
        node = pending.pop()
        if is_team(context, node):
            yield node
        else:
            pending.extend(node.children)


def is_team(context: Context, node: Node) -> bool:
    """Whether a `parallel` stands before ``node`` in which a rank communicates, or counts its threads."""
    words = _directives(context, node)
    if not any("parallel" in each for each in words):
        return False
    shares = any(each & _SHARES - {"parallel"} for each in words)
    return communicates(context, node) or (not shares and _counts(context, node))


_SHARES = frozenset({"for", "sections", "section", "single", "master", "masked", "task", "taskloop", "parallel"})
"""Words of directives under which a statement is not executed once by every thread."""


def _counts(context: Context, team: Node) -> bool:
    """Whether every thread of a ``team`` changes a variable under `critical` or `atomic` by what is the same for all:
    then it is another one with another number of threads. What threads have computed each for itself, and then add up,
    need not be."""
    own = {*_declared(context, team, None)}.union(*_directives(context, team))
    pending = [*team.children]
    while pending:
        node = pending.pop()
        words = _directives(context, node)
        if any(each & _SHARES for each in words):
            continue
        if any(each & {"critical", "atomic"} for each in words):
            tokens = context.tokens[node.first : node.last + 1]
            signs = {each.text for each in tokens if each.kind == "sign"} - {"==", "!=", "<=", ">="}
            changes = any(each in ("++", "--") or each.endswith("=") for each in signs)
            if changes and own.isdisjoint(each.text for each in tokens if each.kind == "name"):
                return True
        else:
            pending.extend(node.children)
    return False


def _directives(context: Context, node: Node) -> list[set[str]]:
    """The words of each directive that stands before ``node``."""
    return [{part.text for part in each.parts} for each in context.token(node).parts]


def communicates(context: Context, node: Node) -> bool:
    """Whether ``node`` calls a function that communicates."""
    return not context.communicating.isdisjoint(_called(context, node))


def shared_names(context: Context, function: Node) -> set[str]:
    """The variables of ``function`` that its teams may share: those that are named in one and declared outside."""
    body, found = function["body"], set[str]()
    for team in teams_in(context, body):
        outside = {*_declared(context, function, team)}
        tokens = context.tokens[team.first : team.last + 1]
        named = [*tokens, *(each for pragma in context.token(team).parts for each in pragma.parts)]
        named += [each for token in tokens for pragma in token.parts for each in pragma.parts]
        found |= outside & {each.text for each in named if each.kind == "name"}
    return found


def _declared(context: Context, root: Node, team: Node | None) -> Iterator[str]:
    """The names that ``root`` declares outside of ``team``."""
    pending = [root]
    while pending:
        node = pending.pop()
        if node is team:
            continue
        if node.type in ("declaration", "parameter_declaration"):
            for declarator in node.fields.get("declarator", ()):
                inner: Node | None = declarator
                while inner is not None and inner.type != "identifier":
                    inner = inner.get("declarator")
                if inner is not None:
                    yield context.word(inner)
        pending.extend(node.children)


def _called(context: Context, node: Node) -> Iterable[str]:
    tokens = context.tokens[node.first : node.last + 1]
    pairs = pairwise(tokens)
    return (one.text for one, two in pairs if two.text == "(" and one.kind == "name")


def _communicates(context: Context, name: str) -> bool:
    return not _ASKS.match(name) and any(api.handler(name) is not None for api in context.apis if api.name != LIBRARY)
