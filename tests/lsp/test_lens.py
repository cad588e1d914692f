"""What stands above a program: verdicts in short, where the program begins."""

from __future__ import annotations

import pytest
from lsprotocol.types import Position

from pgasrob.lsp.edited_program import Found
from pgasrob.lsp.lens import lenses, summary


def found(*verdicts: tuple[int | None, str]) -> list[Found]:
    return [Found(nodes, verdict, (), ()) for nodes, verdict in verdicts]


@pytest.mark.parametrize(
    ("verdicts", "text"),
    [
        ([(2, "robust"), (3, "robust"), (4, "robust")], "robust on 2..4 nodes"),
        ([(2, "robust"), (4, "robust")], "robust on 2, 4 nodes"),
        ([(1, "not robust")], "not robust on 1 node"),
        (
            [(2, "robust"), (3, "not robust"), (4, "unknown")],
            "robust on 2 nodes; not robust on 3 nodes; not known on 4 nodes",
        ),
    ],
)
def test_verdicts_in_short(verdicts: list[tuple[int | None, str]], text: str) -> None:
    assert summary(found(*verdicts)) == text


@pytest.mark.parametrize(
    ("file", "text", "line", "column"),
    [
        ("a.c", '/* main( */ // main(\nchar *s = "main(";\n  int main(void) {}', 2, 6),
        ("a.pgas", "// a program\n  program p;", 1, 2),
        ("a.pgas", "memory x; process { skip; }", 0, 10),
        ("a.c", "int f(void);", 0, 0),
    ],
)
def test_it_stands_where_the_program_begins(file: str, text: str, line: int, column: int) -> None:
    (lens,) = lenses(file, text, found((2, "robust")))
    assert lens.range.start == Position(line, column)
    assert lens.command is not None and lens.command.title == "robust on 2 nodes"


def test_there_is_none_where_nothing_was_looked_at() -> None:
    assert lenses("a.c", "int main(void) {}", []) == lenses("a.c", "int main(void) {}", found((None, "unknown"))) == []
