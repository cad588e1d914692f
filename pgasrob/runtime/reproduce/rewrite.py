"""Rewrites a C source so that it reports to the shim when statements are executed.

A *statement* is an expression statement, a declaration, a condition, the last part of a `for`, or a `return`. Calls
are inserted before and after it, on its line, so that line numbers stay the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from tree_sitter import Node

    from pgasrob.program.statements import Span

Kind = Literal["statement", "declaration", "condition", "expression", "return"]

PROTOTYPES = (
    "void pgasrob_at(int); long pgasrob_done(int); void pgasrob_last(int); "
    "void pgasrob_show(int, int, const volatile void *, unsigned long); "
    "void pgasrob_cell(int, const volatile void *, unsigned long);"
)
BLOCKS = ("compound_statement", "case_statement")
NAME = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class Statement:
    """The bytes from ``start`` to ``end`` of a file; ``number``: the same for the whole program."""

    number: int
    kind: Kind
    start: int
    end: int


@dataclass(slots=True)
class Shown:
    """A value to report: that of the C expression ``text``, with a ``number`` of its own."""

    number: int
    text: str

    @property
    def passed(self) -> str:
        return f"{self.number}, &({self.text}), sizeof({self.text})"


def located(path: str, text: str) -> str:
    """``text``, to be compiled as if it stood in ``path``."""
    name = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'#line 1 "{name}"\n{text}'


class Rewriting:
    """The file ``path`` with its ``text``; ``first``: the number of its first statement."""

    def __init__(self, path: str, text: str, first: int = 0) -> None:
        import tree_sitter_c
        from tree_sitter import Language, Parser

        self.path, self.text, self.first = path, text, first
        self.statements: dict[tuple[int, int], Statement] = {}
        self._bytes = self.text.encode(errors="surrogateescape")
        self._tree = Parser(Language(tree_sitter_c.language())).parse(self._bytes)
        self._lines = [0]
        for line in self.text.split("\n"):
            self._lines.append(self._lines[-1] + len(line.encode(errors="surrogateescape")) + 1)

    def statement(self, span: Span) -> Statement | None:
        """The statement around ``span``; None where none can be reported: in the definition of a macro, or outside
        functions."""
        start, end = self._offset(span.line, span.column), self._offset(span.end_line, span.end_column)
        node = self._tree.root_node.descendant_for_byte_range(start, max(start, end - 1))
        found = None if node is None else _around(node)
        if found is None:
            return None
        kind, node = found
        place = node.start_byte, node.end_byte
        return self.statements.setdefault(place, Statement(self.first + len(self.statements), kind, *place))

    def names(self, statement: Statement) -> set[str]:
        """The identifiers in ``statement``."""
        return set(NAME.findall(self._bytes[statement.start : statement.end].decode(errors="replace")))

    def declares(self, name: str) -> bool:
        """Whether the file declares a global variable ``name`` that is no pointer."""
        return any(_declares(node, name) for node in self._tree.root_node.children if node.type == "declaration")

    def rewritten(
        self, traced: Iterable[int], shown: Mapping[int, Sequence[Shown]], cells: Sequence[Shown] = ()
    ) -> str:
        """The file with calls that report the ``traced`` statements, by their numbers, the values ``shown`` before each
        of them, and the ``cells`` at the end of the run."""
        inserted: list[tuple[int, str]] = []
        chosen = set(traced)
        for statement in self.statements.values():
            if statement.number in chosen:
                before, after = _around_text(statement, shown.get(statement.number, ()))
                inserted += [(statement.start, before), (statement.end, after)]
        pieces, last = [], 0
        for place, text in sorted(inserted, key=lambda each: each[0]):
            pieces += [self._bytes[last:place].decode(errors="surrogateescape"), text]
            last = place
        pieces.append(self._bytes[last:].decode(errors="surrogateescape"))
        given = "".join(f" pgasrob_cell({cell.passed});" for cell in cells)
        constructor = f"\n__attribute__((constructor)) static void pgasrob_cells(void) {{{given} }}\n" if cells else ""
        return f"{PROTOTYPES}\n{located(self.path, ''.join(pieces))}{constructor}"

    def _offset(self, line: int, column: int) -> int:
        text = self.text.split("\n")[int(line) - 1] if 0 < int(line) < len(self._lines) else ""
        return self._lines[min(int(line), len(self._lines)) - 1] + len(
            text[: column - 1].encode(errors="surrogateescape")
        )


def _declares(node: Node, name: str) -> bool:
    """Whether ``node``, a declaration or a declarator in one, declares ``name``."""
    if node.type == "identifier":
        return node.text == name.encode()
    if node.type not in ("declaration", "init_declarator", "array_declarator"):
        return False
    return any(_declares(child, name) for child in node.children_by_field_name("declarator"))


def _around(node: Node) -> tuple[Kind, Node] | None:
    """The smallest statement around ``node``, and its kind."""
    for inner, outer in _upwards(node):
        match inner.type:
            case "expression_statement":
                return "statement", inner
            case "return_statement":
                return ("return", inner) if inner.named_children else None
            case "declaration":
                return ("declaration", inner) if outer.type in BLOCKS else None
        if inner == outer.child_by_field_name("condition"):
            if inner.type == "parenthesized_expression" and outer.type != "for_statement":
                inside = [child for child in inner.named_children if child.type != "comment"]
                return ("condition", inside[0]) if len(inside) == 1 else None
            return ("condition", inner) if outer.type == "for_statement" else _around(outer)
        if inner == outer.child_by_field_name("update"):
            return "expression", inner
    return None


def _upwards(node: Node) -> Iterator[tuple[Node, Node]]:
    """``node`` with its parent, that with its own, and so on, within a function."""
    while (parent := node.parent) is not None and node.type not in ("function_definition", "preproc_def"):
        yield node, parent
        node = parent


def _around_text(statement: Statement, shown: Sequence[Shown]) -> tuple[str, str]:
    """The texts inserted before and after ``statement``."""
    number = statement.number
    shows = "".join(f" pgasrob_show({number}, {each.passed});" for each in shown)
    at, done = f"pgasrob_at({number});{shows}", f"pgasrob_done({number});"
    match statement.kind:
        case "statement":
            return f"{{ {at} ", f" {done} }}"
        case "declaration":
            return f"{at} ", f" {done}"
        case "condition":
            return f"({{ {at} __auto_type pgasrob_value = (", f"); {done} pgasrob_value; }})"
        case "expression":
            return f"({{ {at} (void)(", f"); {done} }})"
        case "return":
            return f"{{ {at} pgasrob_last({number}); ", " }"
