"""The numbers of nodes that C programs are meant for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pgasrob.frontends import fitting_counts
from pgasrob.frontends.c import driver
from pgasrob.frontends.c.compiled import Compiled
from pgasrob.frontends.c.driver import lower
from pgasrob.frontends.fitting_counts import ALONE, doubt, is_silent, keeps_to_itself
from pgasrob.frontends.lower import parse_c
from pgasrob.program.program import Program
from tests.frontends.counted_programs import PROGRAMS, shmem


@pytest.mark.parametrize("name", PROGRAMS)
def test_which_count_is_chosen_and_why(name: str) -> None:
    expected = PROGRAMS[name]
    program = parse_c(expected.text, "a.c")
    assert program.default_count == expected.chosen
    note = program.program(expected.chosen).count_note
    if expected.why is None:
        assert note is None or note.further is None
        return
    assert note is not None and note.chosen and (note.nodes, note.further) == (2, expected.chosen)
    assert note.why == expected.why
    if expected.at is not None:
        assert note.text == expected.at


def test_the_number_in_the_header_is_kept() -> None:
    program = parse_c("// nodes: 2\n" + PROGRAMS["a helper"].text, "a.c")
    assert program.default_count == 2
    note = program.program().count_note
    assert note is not None and (note.why, note.further, note.chosen) == ("leaves", 6, False)


def test_fewer_nodes_are_named_too() -> None:
    program = parse_c(PROGRAMS["not equal, MPI_Abort"].text, "a.c")
    note = program.program(6).count_note
    assert note is not None and (note.nodes, note.text, note.further) == (6, "n != 3", 3)
    alone = parse_c(shmem("if (me == 5) shmem_global_exit(1);"), "a.c").program(6).count_note
    assert alone is None  # the others do not have this rank, and nothing is compared


def test_ends_are_those_of_the_last_pass() -> None:
    text = PROGRAMS["more are needed than there are"].text
    ends = parse_c(text.replace("shmem_barrier_all", "y = x; shmem_barrier_all"), "a.c").program(3).ends
    assert [(each.rank, each.early, each.refuses, each.of_all) for each in ends] == [
        (rank, False, False, False) for rank in range(3)
    ]


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> list[int | None]:
    """The numbers of nodes for which something is lowered in the test."""
    counts: list[int | None] = []

    def noted(compiled: Compiled, nodes: int | None, *more: Any, **options: Any) -> Program:
        counts.append(nodes)
        return lower(compiled, nodes, *more, **options)

    monkeypatch.setattr(driver, "lower", noted)
    return counts


def test_nothing_else_is_lowered_for_a_program_that_is_fine(counts: list[int | None]) -> None:
    """Lowering is what start-up costs."""
    assert parse_c(PROGRAMS["more are needed than there are"].text, "a.c").default_count == 2
    assert counts == [2]
    counts.clear()
    program = parse_c(PROGRAMS["not equal, MPI_Abort"].text, "a.c")
    program.program()
    assert counts == [2, 2, 3]  # the second time it is followed, to be compared


@pytest.mark.parametrize(("most", "looked"), [(200_000, [2, 2, 3]), (1_000, [2, 2])])
def test_the_search_ends_when_it_has_executed_much(
    most: int, looked: list[int], counts: list[int | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fitting_counts, "MOST_INSTRUCTIONS", most)
    text = PROGRAMS["not equal, MPI_Abort"].text.replace("MPI_Init", "for (int i = 0; i < 400; i++);\nMPI_Init", 1)
    program = parse_c(text, "a.c").program(2)
    assert counts == looked and program.count_note is not None
    assert program.count_note.further == (3 if looked[2:] else None)


@pytest.mark.parametrize(
    ("before", "body", "looked"),
    [
        ("", 'printf("%d", abs(-1));', False),
        ("", "MPI_Win_fence(0, w);", True),
        ("static void go(void) { MPI_Win_fence(0, w); }", "", True),
        ("int (*f)(int, MPI_Win) = MPI_Win_fence;", "", True),
        ("", "int (*f)(int, MPI_Win) = MPI_Win_fence; f(0, w);", True),
        ("", "static int (*f[])(int, MPI_Win) = {MPI_Win_fence};", True),
    ],
)
def test_what_names_no_call_that_could_communicate_is_lowered_once(
    before: str, body: str, looked: bool, counts: list[int | None]
) -> None:
    main = f"int main(void) {{ MPI_Init(0, 0); {body} MPI_Finalize(); }}"
    parse_c(f"#include <mpi.h>\n#include <stdio.h>\n#include <stdlib.h>\nMPI_Win w;\n{before}\n{main}", "a.c").program(
        2
    )
    assert counts == [2, *range(2, 9)] if looked else [2]


@pytest.mark.parametrize("text", [
    """#include <shmem.h>
    int main(void) { shmem_init(); int me = shmem_my_pe(), n = shmem_n_pes(); long *a = shmem_malloc(n * 8);
      long *b = shmem_calloc(n, 8); *a = me; shmem_fence(); *b = *a; shmem_quiet(); shmem_barrier_all();
      shmem_sync_all(); shmem_free(a); shmem_free(b); if (me == 3) shmem_global_exit(1); shmem_finalize(); }""",
    """#include <mpi.h>
    int main(void) { long *a; MPI_Init(0, 0); int me, n; MPI_Comm_rank(MPI_COMM_WORLD, &me);
      MPI_Comm_size(MPI_COMM_WORLD, &n); MPI_Alloc_mem(8 * n, MPI_INFO_NULL, &a); a[me] = n;
      MPI_Barrier(MPI_COMM_WORLD); if (me == 3) MPI_Abort(MPI_COMM_WORLD, 1); MPI_Finalize(); }""",
    """#include <GASPI.h>
    int main(void) { gaspi_rank_t me, n; gaspi_proc_init(GASPI_BLOCK); gaspi_proc_rank(&me); gaspi_proc_num(&n);
      gaspi_proc_term(GASPI_BLOCK); }""",
])  # fmt: skip
def test_these_calls_access_no_memory_of_another_rank(text: str) -> None:
    program = parse_c(text, "a.c")
    assert keeps_to_itself(program.compiled)
    for nodes in (2, 3, 8):
        lowered = lower(program.compiled, nodes)
        assert is_silent(lowered) and doubt(lowered) == "silent"


def test_all_of_these_calls_are_looked_at_above() -> None:
    assert all(f"{name}(" in Path(__file__).read_text() for name in ALONE)
