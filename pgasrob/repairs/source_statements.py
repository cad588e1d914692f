"""Finds the statements of a source text, and makes edits that insert or remove one."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, assert_never

from pgasrob.program.statements import (
    Choose,
    Do,
    FlowGraph,
    Goto,
    If,
    Labelled,
    Line,
    Loop,
    Skip,
    Span,
    While,
    place_of,
)
from pgasrob.program.statements import Statement as ProgramStatement
from pgasrob.repairs.edits import Edit, lines_of
from pgasrob.repairs.texts import joined, parts
from pgasrob.stop_points import stop_point

if TYPE_CHECKING:
    from tree_sitter import Node

    from pgasrob.frontends.lower import CProgram
    from pgasrob.program.program import Program

MARK, LAST, OUTSIDE = 50, 100, 200
"""The order of a mark, after what a repair inserts, and of a closing brace, after all insertions inside; and what is
added to the order of insertions outside."""
BLANK_OR_COMMENT = re.compile(r"[ \t]*(?://[^\n]*|/\*[^\n]*?\*/[ \t]*)?\r?\n")


@dataclass(frozen=True, slots=True)
class Statement:
    """``text[start:end]`` with its semicolon. ``head``: the head of an `if` or a loop, with other statements inside.

    ``loops``: the number of loops around it, in C also of those around the calls of its function. ``alone``: it is the
    only statement that an `if`, a loop without braces or a label governs. ``insertable``: whether another statement may
    be inserted before it. ``leaves``: control never reaches what follows. ``function``: the one that it is in.
    """

    start: int
    end: int
    loops: int
    head: bool = False
    alone: bool = False
    insertable: bool = True
    leaves: bool = False
    function: str = ""


class Statements:
    """The statements of one source."""

    def __init__(self, text: str, found: list[Statement], code: Collection[Span] | None = None) -> None:
        self.text = text
        self._found = found
        self._code = code
        self._parts = parts(text)
        self._lines = [[0, *accumulate(len(line) for line in lines_of(each.text))] for each in self._parts]
        self._of_file = {each.file: number for number, each in enumerate(self._parts)}
        self._starts = [each.start for each in self._parts]

    @classmethod
    def of(cls, program: Program | CProgram) -> Statements:
        """The statements of the text that ``program`` was read from."""
        from pgasrob.program.program import Program

        text = joined(program.source)
        if isinstance(program, Program):
            places = Statements(text, [])
            bodies = [process.body for process in program.processes]
            found = [
                each
                for body in bodies
                if not isinstance(body, FlowGraph)
                for each in _of_pgas(places, body.statements, 0)
            ]
            return cls(text, found)
        code = {span for function in program.compiled.unit.functions.values() for span in function.spans if span.line}
        return cls(text, list(_of_c(text)), code)._with_loops_of_callers()

    def offset(self, line: int, column: int) -> int:
        """The place of a line and column, which count from 1."""
        file, number = place_of(line)
        lines, start = self._lines[self._of_file[file]], self._starts[self._of_file[file]]
        return start + lines[min(number, len(lines)) - 1] + column - 1

    def line(self, offset: int) -> int:
        """The line that ``offset`` is in, from 1."""
        number = bisect_right(self._starts, offset) - 1
        part = self._parts[number]
        line = bisect_right(self._lines[number], offset - part.start)
        return Line(line, part.file, part.name) if part.file else line

    def column(self, offset: int) -> int:
        return offset - self.offset(self.line(offset), 1) + 1

    def around(self, offset: int) -> Statement | None:
        """The smallest statement that ``offset`` is in."""
        around = [each for each in self._found if each.start <= offset < each.end]
        return min(around, key=lambda each: each.end - each.start, default=None)

    def all(self) -> list[Statement]:
        """The statements, in the order of the text."""
        return sorted(self._found, key=lambda each: (each.start, -each.end))

    def is_compiled(self, statement: Statement) -> bool:
        """Whether the preprocessor keeps ``statement``."""
        at = bisect_left(self._places, statement.start)
        return self._code is None or (at < len(self._places) and self._places[at] < statement.end)

    @cached_property
    def _places(self) -> list[int]:
        """The offsets for which there is code, ascending."""
        return sorted({self.offset(span.line, span.column) for span in self._code or ()})

    def repeats(self, statement: Statement) -> bool:
        """Whether a rank may execute ``statement`` more than once."""
        return statement.loops > 0 or re.search(r"\bgoto\b", self.text) is not None

    def enclosing(self, statement: Statement, other: Statement | None) -> list[Statement]:
        """The `if` statements and loops that contain ``statement`` but not ``other``, which may be None."""
        return [
            each
            for each in self._found
            if each.head and each.start < statement.start and statement.end <= each.end
            if other is None or not (each.start <= other.start and other.end <= each.end)
        ]

    def callers(self, statement: Statement) -> list[Statement]:
        """The statements that call the function that ``statement`` is in, and those that call their functions."""
        found: list[Statement] = []
        functions = [statement.function]
        for function in functions:
            for caller in self._calls_of(function):
                if caller not in found:
                    found.append(caller)
                    if caller.function not in functions:
                        functions.append(caller.function)
        return found

    @cached_property
    def functions(self) -> frozenset[str]:
        """The names of the functions that the text defines and that have statements."""
        return frozenset(each.function for each in self._found)

    def _calls_of(self, function: str) -> Iterator[Statement]:
        for match in re.finditer(rf"\b{re.escape(function)}\s*\(", self.text) if function else ():
            caller = self.around(match.start())
            if caller is not None:
                yield caller

    def calls(self, names: str) -> Iterator[tuple[Statement, int, int]]:
        """The statements that are a call of a function that the pattern ``names`` matches, alone or within a macro that
        checks its result, each with where the call begins and ends."""
        pattern = re.compile(rf"(?:\w+\s*\(\s*)?((?:{names})\s*\()")
        for each in self._found:
            match = pattern.match(self.text, each.start, each.end)
            if match is not None and not each.head:
                end, depth = match.end(), 1
                while depth and end < each.end:
                    depth += (self.text[end] == "(") - (self.text[end] == ")")
                    end += 1
                yield each, match.start(1), end

    def _with_loops_of_callers(self) -> Statements:
        calls: dict[str, list[tuple[str, int]]] = {}
        for each in self._found:
            if each.function not in calls:
                calls[each.function] = []
                calls[each.function] += [(one.function, one.loops) for one in self._calls_of(each.function)]

        def around(function: str, inner: frozenset[str]) -> int:
            if function in inner:
                return 0
            found = (loops + around(caller, inner | {function}) for caller, loops in calls.get(function, ()))
            return max(found, default=0)

        loops = {function: around(function, frozenset()) for function in calls}
        found = [replace(each, loops=each.loops + loops[each.function]) for each in self._found]
        return Statements(self.text, found, self._code)

    def without(self, statement: Statement) -> Edit:
        """The edit that removes ``statement``, and its line if it has nothing else."""
        if statement.alone:
            return Edit(statement.start, statement.end, 0, ";")
        begin = self.text.rfind("\n", 0, statement.start) + 1
        rest = BLANK_OR_COMMENT.match(self.text, statement.end)
        if rest is None or self.text[begin : statement.start].strip():
            return Edit(statement.start, statement.end, 0, "")
        return Edit(begin, rest.end(), 0, "")

    def before(self, statement: Statement, text: str, order: int = 0) -> tuple[Edit, ...]:
        """The edits that insert ``text``, a statement, before ``statement``."""
        if statement.alone:
            return self._braced(statement, text, "", order)
        begin = self.text.rfind("\n", 0, statement.start) + 1
        indent = self.text[begin : statement.start]
        order += OUTSIDE
        if indent.strip():
            return (Edit(statement.start, statement.start, order, f"{text} "),)
        return (Edit(begin, begin, order, f"{indent}{text}{self._newline}"),)

    def after(self, statement: Statement, text: str, order: int = 0) -> tuple[Edit, ...]:
        """The edits that insert ``text``, a statement, after ``statement``."""
        if statement.alone:
            return self._braced(statement, "", text, order)
        rest = BLANK_OR_COMMENT.match(self.text, statement.end)
        begin = self.text.rfind("\n", 0, statement.start) + 1
        indent = self.text[begin : statement.start]
        order += OUTSIDE
        if rest is None or indent.strip():
            return (Edit(statement.end, statement.end, order, f" {text}"),)
        return (Edit(rest.end(), rest.end(), order, f"{indent}{text}{self._newline}"),)

    def marked_on_the_way(self, statement: Statement, text: str) -> Iterator[Edit]:
        """The edits that insert ``text`` before and after each `if` and loop around ``statement``, at the beginning of
        what these contain, and before the calls that lead to its function, with what is around those."""
        for place in (statement, *self.callers(statement)):
            if place != statement and place.insertable:
                yield from self.before(place, text, MARK)
            for head in self.enclosing(place, None):
                inside = [each for each in self._found if head.start < each.start and each.end <= head.end]
                for each in (head, min(inside, key=lambda each: each.start)):
                    if each.insertable:
                        yield from self.before(each, text, MARK)
                yield from self.after(head, text, MARK)

    @property
    def _newline(self) -> str:
        return "\r\n" if "\r\n" in self.text else "\n"

    def _braced(self, statement: Statement, first: str, last: str, order: int) -> tuple[Edit, ...]:
        """The edits that put ``statement`` in braces, after ``first`` and before ``last``, one of which is empty.

        The braces are equal edits for all insertions there, so that they are applied once.
        """
        ahead = self.text[: statement.start].rstrip()
        between = self.text[len(ahead) : statement.start]
        rest = BLANK_OR_COMMENT.match(self.text, statement.end)
        heads = (each for each in self._found if each.head and each.start < statement.start < each.end)
        head = max(heads, key=lambda each: each.start, default=None)
        governs = ahead.endswith((")", "else")) and not ahead.rpartition("\n")[2].lstrip().startswith("#")
        if head is None or rest is None or between.count("\n") != 1 or not governs:
            opening, closing = (
                Edit(statement.start, statement.start, -1, "{ "),
                Edit(statement.end, statement.end, LAST, " }"),
            )
            if first:
                return opening, Edit(statement.start, statement.start, order, f"{first} "), closing
            return opening, Edit(statement.end, statement.end, order, f" {last}"), closing
        line = self.text[self.text.rfind("\n", 0, head.start) + 1 :]
        outer, indent = line[: len(line) - len(line.lstrip())], between.rpartition("\n")[2]
        begin = statement.start - len(indent)
        where = begin if first else rest.end()
        return (
            Edit(len(ahead), len(ahead), 0, " {"),
            Edit(where, where, order, f"{indent}{first or last}{self._newline}"),
            Edit(rest.end(), rest.end(), LAST, f"{outer}}}{self._newline}"),
        )


def _of_pgas(places: Statements, statements: tuple[ProgramStatement, ...], loops: int) -> Iterator[Statement]:
    for statement in statements:
        match statement:
            case Do(_, span):
                start, end = _range(places, span)
                yield Statement(start, places.text.index(";", end) + 1, loops)
            case If(_, then, otherwise, span):
                start, end = _range(places, span)
                free = not places.text[:start].rstrip().endswith("else")
                yield Statement(start, _end_of_blocks(places.text, end), loops, head=True, insertable=free)
                yield from _of_pgas(places, then.statements, loops)
                yield from _of_pgas(places, otherwise.statements if otherwise else (), loops)
            case While(_, body, span):
                start, end = _range(places, span)
                yield Statement(start, _end_of_blocks(places.text, end), loops, head=True)
                yield from _of_pgas(places, body.statements, loops + 1)
            case Loop(body):
                yield from _of_pgas(places, body.statements, loops + 1)
            case Choose(branches):
                for branch in branches:
                    yield from _of_pgas(places, branch.statements, loops)
            case Labelled(_, labelled):
                yield from _of_pgas(places, (labelled,), loops)
            case Skip() | Goto():
                pass
            case _:
                assert_never(statement)


def _range(places: Statements, span: Span) -> tuple[int, int]:
    return places.offset(span.line, span.column), places.offset(span.end_line, span.end_column)


TOKEN = re.compile(r"//[^\n]*|/\*.*?\*/|\w+|\S", re.DOTALL)


def _end_of_blocks(text: str, start: int) -> int:
    """Where the block that comes next ends, with those that `else` joins to it."""
    depth, end = 0, start
    for token in TOKEN.finditer(text, start):
        match token[0]:
            case "{":
                depth += 1
            case "}" if depth > 0:
                depth -= 1
                end = token.end()
            case "else" if depth == 0:
                end = start
            case other if depth == 0 and (end > start or other == "}") and not other.startswith(("//", "/*")):
                break
    return end


LEAVING = frozenset(("return_statement", "break_statement", "continue_statement", "goto_statement"))
SIMPLE = LEAVING | {"expression_statement", "declaration"}
LOOPS = frozenset(("for_statement", "while_statement", "do_statement"))
HEADS = frozenset(("if_statement", "switch_statement", *LOOPS))


def _of_c(text: str) -> Iterator[Statement]:
    """The statements of C files as written, macros unexpanded: whatever looks like a call counts as one."""
    import tree_sitter_c
    from tree_sitter import Language, Parser

    parser = Parser(Language(tree_sitter_c.language()))
    for part in parts(text):
        data = part.text.encode()
        to_char = [part.start + place for place in _characters(data)]
        yield from _inside(parser.parse(data).root_node, to_char, data.split(b"\n"))


def _characters(data: bytes) -> list[int]:
    """For each byte the number of characters before it."""
    found, count = [], 0
    for byte in data:
        found.append(count if byte & 0xC0 != 0x80 else count - 1)
        count += byte & 0xC0 != 0x80
    return [*found, count]


def _inside(root: Node, to_char: list[int], lines: list[bytes]) -> Iterator[Statement]:
    stack = [(root, 0, "")]
    while stack:
        stop_point()
        node, loops, function = stack.pop()
        if node.type == "function_definition":
            function = _name_of(node)
        if node.type in SIMPLE or node.type in HEADS:
            parent = node.parent
            while parent is not None and parent.type.startswith("preproc_"):
                parent = parent.parent
            governed = parent is not None and (parent.type in HEADS or parent.type == "else_clause")
            in_header = governed and parent is not None and parent.child_by_field_name("initializer") == node
            if not in_header and not (parent is None or parent.type == "translation_unit"):
                start, end = to_char[node.start_byte], to_char[node.end_byte]
                above = _directive_above(node, lines)
                # A directive may separate it from the statement that governs it.
                alone = governed or _is_labelled(node) or (above is not None and node.type == "expression_statement")
                free = above is None or (alone and not above.startswith("#pragma"))
                yield Statement(start, end, loops, node.type in HEADS, alone, free, node.type in LEAVING, function)
        inner = loops + (node.type in LOOPS)
        stack += [(child, inner, function) for child in node.children]


def _directive_above(node: Node, lines: list[bytes]) -> str | None:
    """The directive on the line before the statement, other than an include or a define; None without one."""
    row, column = node.start_point
    if lines[row][:column].strip():
        return None
    above = next((line for line in reversed(lines[:row]) if line.strip()), b"")
    line = re.sub(r"#\s*", "#", above.decode(errors="replace").strip())
    return line if re.match(r"#(?!include|define|undef|line|error)", line) else None


def _is_labelled(node: Node) -> bool:
    """Whether ``node`` is the only statement of a label or a case, which needs one."""
    parent = node.parent
    if parent is None or parent.type not in ("labeled_statement", "case_statement"):
        return False
    before = node.prev_sibling
    return before is not None and before.type == ":" and node.next_sibling is None


def _name_of(function: Node) -> str:
    node = function.child_by_field_name("declarator")
    while node is not None and node.type != "identifier":
        node = node.child_by_field_name("declarator")
    return "" if node is None or node.text is None else node.text.decode()
