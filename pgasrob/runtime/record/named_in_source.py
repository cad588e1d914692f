"""What a line of a source calls the memory and the window that a call in it makes.

``int *inbox = shmem_malloc(n)`` gives ``inbox``, ``MPI_Win_allocate(n, 1, info, comm, &table, &win)`` gives ``table``
and ``win``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tree_sitter import Node

NAME = re.compile(r"[A-Za-z_]\w*(?:(?:->|\.)[A-Za-z_]\w*|\[\w*\])*")
"""What is shown as a name: a variable, a member, an element."""
LONGEST = 60
_BASES = {
    "MPI_Win_create": 0, "MPI_Win_allocate": 4, "MPI_Win_allocate_shared": 4, "MPI_Win_attach": 1, "MPI_Alloc_mem": 2,
    "posix_memalign": 0,
}  # fmt: skip
"""The argument that is the memory, or a pointer to where its address goes."""
_FORTRAN = re.compile(r"\ballocate\s*\(\s*(\w+)", re.IGNORECASE)


class Named(NamedTuple):
    """What memory and a window are called; "" where that cannot be seen."""

    memory: str = ""
    window: str = ""


def named(source: str, line: int) -> Named:
    """What the call in a ``line`` of a C source makes."""
    lines = source.split("\n")
    if not 0 < line <= len(lines):
        return Named()
    if fortran := _FORTRAN.search(lines[line - 1]):
        return Named(fortran[1].lower())
    for node in _calls(_parsed(source), line - 1):
        function = _text(node.child_by_field_name("function"))
        arguments = node.child_by_field_name("arguments")
        given = [] if arguments is None else [each for each in arguments.named_children if each.type != "comment"]
        window = _name(given[-1]) if function.startswith("MPI_Win_") and given else ""
        if function in _BASES:
            at = _BASES[function]
            return Named(_name(given[at]) if at < len(given) else "", "" if function == "MPI_Win_attach" else window)
        if window:
            return Named("", window)
        if (target := _assigned(node)) is not None:
            return Named(_name(target))
    return Named()


def _assigned(call: Node) -> Node | None:
    """What the result of a call is assigned to."""
    below, node = call, call.parent
    while node is not None and node.type in ("cast_expression", "parenthesized_expression", "conditional_expression"):
        below, node = node, node.parent
    if node is None or node.type not in ("init_declarator", "assignment_expression"):
        return None
    target = node.child_by_field_name("declarator" if node.type == "init_declarator" else "left")
    return None if target is None or target == below else target


def _name(node: Node) -> str:
    while True:
        inner = node.child_by_field_name("value" if node.type == "cast_expression" else "declarator")
        if node.type in ("pointer_expression", "parenthesized_expression"):
            inner = node.child_by_field_name("argument") or node.named_children[0]
        if inner is None:
            break
        node = inner
    text = _text(node).replace(" ", "")
    return text if NAME.fullmatch(text) and len(text) <= LONGEST else ""


def _text(node: Node | None) -> str:
    return "" if node is None or node.text is None else node.text.decode(errors="replace")


@lru_cache(maxsize=8)
def _parsed(source: str) -> Node:
    import tree_sitter_c
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_c.language())).parse(source.encode()).root_node


def _calls(root: Node, row: int) -> Iterator[Node]:
    """The calls that a row has a part of, the outermost first."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.type == "call_expression":
            yield node
        waiting += [each for each in reversed(node.named_children) if each.start_point[0] <= row <= each.end_point[0]]
