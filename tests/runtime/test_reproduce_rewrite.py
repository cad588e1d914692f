"""Sources that tell where they are: what they do stays the same."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from pgasrob.program.statements import Span
from pgasrob.runtime.reproduce.rewrite import Rewriting, Shown

TEXT = """\
#include <stdio.h>
#define TWICE(x) do { x; x; } while (0)
static int a[3], n, *p;
static int next(int k)
{
    return k + 1;
}
int main(void)
{
    int x = next(0), y;
    y = x; n = y;
    if (x == 1) y = 2; else y = 3;
    while (n < 3)
        n = next(n);
    for (int i = 0; i < 3; i = next(i)) a[i] = i * y;
    do { n--; } while (n > 0);
    switch (y) {
    case 2: a[0] = 7; /* falls */
    default: a[1]++;
    }
    TWICE(n++);
again:
    n += 1;
    if (n < 5)
        goto again;
    printf("%d %d %d %d %d %d\\n", x, y, n, a[0], a[1], a[2]); printf("line %d\\n", __LINE__);
    return next(0) - 1;
}
"""
STUBS = """
#include <stdio.h>
static int at, done;
void pgasrob_at(int n) { (void)n; at++; }
long pgasrob_done(int n) { (void)n; done++; return 0; }
void pgasrob_last(int n) { (void)n; done++; }
void pgasrob_show(int n, int k, const volatile void *v, unsigned long b) {
    (void)n; printf("show %d %d %lu\\n", k, *(const volatile int *)v, b);
}
void pgasrob_cell(int n, const volatile void *v, unsigned long b) { (void)v; printf("cell %d %lu\\n", n, b); }
__attribute__((destructor)) static void told(void) { printf("%s\\n", at == done ? "even" : "odd"); }
"""
KINDS = ["condition", "declaration", "expression", "return", "statement"]


def span(text: str, piece: str, occurrence: int = 0) -> Span:
    """Where ``piece`` stands in ``text``."""
    place = -1
    for _ in range(occurrence + 1):
        place = text.index(piece, place + 1)
    line, column = text.count("\n", 0, place) + 1, place - text.rfind("\n", 0, place)
    return Span(line, column, line, column + len(piece))


def test_statements_of_every_kind() -> None:
    file = Rewriting("x.c", TEXT)
    pieces = ("x == 1", "x = next(0)", "i = next(i)", "k + 1", "y = 2")
    found = [file.statement(span(TEXT, piece)) for piece in pieces]
    assert [each and each.kind for each in found] == KINDS
    assert len({each.number for each in found if each}) == 5
    assert file.statement(span(TEXT, "x; x;")) is None  # the definition of a macro
    assert file.statement(span(TEXT, "i = 0")) is None  # the beginning of a `for`
    assert file.statement(span(TEXT, "a[3]")) is None  # no function
    first, again = file.statement(span(TEXT, "y = x")), file.statement(span(TEXT, "y = x"))
    assert first == again
    assert first is not None and file.names(first) == {"x", "y"}
    assert file.declares("n") and file.declares("a") and not file.declares("x")
    assert not file.declares("p")  # where it points to is not known before the program runs


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_a_program_of_which_everything_is_told_does_the_same(tmp_path: Path) -> None:
    file = Rewriting("x.c", TEXT)
    for line, text in enumerate(TEXT.split("\n"), 1):
        for column in range(1, len(text) + 1):
            file.statement(Span(line, column, line, column + 1))
    assert sorted({each.kind for each in file.statements.values()}) == KINDS
    shown = file.statement(span(TEXT, "n += 1"))
    assert shown is not None
    numbers = [each.number for each in file.statements.values()]
    told = file.rewritten(numbers, {shown.number: [Shown(4, "n")]}, [Shown(0, "a")])
    outputs = []
    for name, text in (("plain", TEXT), ("told", told)):
        source = tmp_path / f"{name}.c"
        source.write_text(text + (STUBS if name == "told" else ""))
        subprocess.run(["cc", "-w", str(source), "-o", str(tmp_path / name)], check=True)
        done = subprocess.run([str(tmp_path / name)], capture_output=True, text=True, check=True)
        outputs.append(done.stdout.splitlines())
    plain, rewritten = outputs
    assert rewritten[0] == "cell 0 12"
    assert [line for line in rewritten if line.startswith("show")] == ["show 4 2 4", "show 4 3 4", "show 4 4 4"]
    assert rewritten[-1] == "even"
    assert [line for line in rewritten if line.split()[0] not in ("show", "cell", "even")] == plain


def test_columns_count_characters_and_files_bytes() -> None:
    text = 'int x;\nvoid f(void) { /* äöü */ x = 1; g("é"); x = 2; }\n'
    file = Rewriting("a.c", text)
    assert file.statement(span(text, "x = 2")) is not None
    assert "{ pgasrob_at(0); x = 2; pgasrob_done(0); } }" in file.rewritten([0], {})
