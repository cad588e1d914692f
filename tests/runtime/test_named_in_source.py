"""Lines of C sources, and what their calls make is called."""

from __future__ import annotations

import pytest

from pgasrob.runtime.record.named_in_source import Named, named


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("int *inbox = shmem_malloc(8 * sizeof *inbox);", Named("inbox")),
        ("inbox = (long *) malloc(8);", Named("inbox")),
        ("if (!(inbox = malloc(8))) abort();", Named("inbox")),
        ("all->rows[k] = calloc(n, sizeof(double));", Named("all->rows[k]")),
        ("MPI_Win_allocate(n, 1, MPI_INFO_NULL, comm, &table, &win);", Named("table", "win")),
        ("MPI_Win_allocate_shared(n, 1, info, comm, (void *) &s.table, &s.win);", Named("s.table", "s.win")),
        ("MPI_Win_create(inbox, n, 1, info, comm, &windows[0]);", Named("inbox", "windows[0]")),
        ("MPI_Win_create(NULL, 0, 1, info, comm, win);", Named("NULL", "win")),
        ("MPI_Win_create_dynamic(info, comm, &win);", Named("", "win")),
        ("MPI_Win_attach(win, part, n);", Named("part")),
        ("posix_memalign((void **) &aligned, 64, n);", Named("aligned")),
        ("return malloc(n);", Named()),
        ("*where() = malloc(n);", Named()),
        ("    allocate (u(n, m))", Named("u")),
        ("/* nothing */", Named()),
    ],
)  # fmt: skip
def test_one_line(line: str, found: Named) -> None:
    assert named(f"void f(void) {{\n{line}\n}}\n", 2) == found


def test_a_call_over_several_lines_and_one_that_is_not_there() -> None:
    source = "int *p;\nvoid f(void) {\n  p =\n    malloc(\n      8);\n}\n"
    assert [named(source, line).memory for line in (3, 4, 5, 6, 0, 99)] == ["", "p", "p", "", "", ""]
