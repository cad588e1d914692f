"""Cells are called what the program calls them: by its variables, and by its pointers to memory that it allocates."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pgasrob.frontends.lower import load_c, parse_c
from pgasrob.program.program import Program
from tests.support import sampled

ROOT = Path(__file__).parents[3]
PROGRAMS = sorted((ROOT / "programs").rglob("*.c"))


def cells(program: Program) -> list[str]:
    return [program.cell_name(address) for address in range(program.cells)]


def armci(body: str, before: str = "") -> list[str]:
    """The cells of a program with a table ``base``."""
    return cells(
        parse_c(f"""
#include <armci.h>
#include <mpi.h>
{before}
int main(int argc, char **argv) {{
  MPI_Init(&argc, &argv); ARMCI_Init(); {body} ARMCI_Finalize(); return 0;
}}""").program(2)
    )


TABLES = ("base", "(void **) base", "(void**)base", "( void ** ) (base)", "((void **)(char *)base)", "&base[0]")
PUT = "ARMCI_PutValueInt(1, (int *) base[1 - me] + 1, 1 - me);"


@pytest.mark.parametrize("table", TABLES)
def test_memory_in_a_table_of_pointers_is_the_element_of_the_rank(table: str) -> None:
    """No pointer of the program's points to it: `base[1]` would be the pointer to the memory of rank 1."""
    assert armci(f"int *base[2]; ARMCI_Malloc((void **) {table}, 8); int me = armci_msg_me(); {PUT}") == ["base[me][1]"]


RANKS = {
    "void *base[2]; int me; MPI_Comm_rank(MPI_COMM_WORLD, &me); ARMCI_Malloc(base, 8);": "base[me][1]",
    "void *base[2]; ARMCI_Malloc(base, 8); int me; me = armci_msg_me();": "base[me][1]",
    "void *base[2]; ARMCI_Malloc(base, 8); int me = 1 - armci_msg_me(); me = 1 - me;": "base[armci_msg_me()][1]",
    "void *base[2]; ARMCI_Malloc(base, 8); int me = armci_msg_me(); int *cells = base[me];": "cells[1]",
    "void *base[2]; ARMCI_Malloc(base, 8); int me = armci_msg_me(); int *on = (int *) base[me] + 1;": "base[me][1]",
    "void *base[2]; ARMCI_Malloc(base, 8); int me = armci_msg_me(); long *wide = base[me];": "wide[0]+4",
    "void *base[2]; ARMCI_Malloc(base, 8); int me = armci_msg_me(); char *bytes = base[me];": "base[me][1]",
    # A variable that points to the memory of each rank in turn is no name for one's own.
    "void *base[2]; ARMCI_Malloc(base, 8); int me = armci_msg_me(); int *p = base[0]; p = base[1];": "base[me][1]",
    "static int *base[2]; static int *mine; ARMCI_Malloc((void **) base, 8); int me = armci_msg_me(); mine = base[me];":
        "mine[1]",
}  # fmt: skip


@pytest.mark.parametrize(("body", "name"), RANKS.items())
def test_the_pointer_by_which_a_rank_sees_its_memory_or_its_element(body: str, name: str) -> None:
    assert armci(f"{body} {PUT}") == [name]


def test_two_memories_that_pointers_of_one_name_point_to() -> None:
    before = "static void *one[2], *two[2]; static int me;" + "".join(
        f"static void set_{table}(void) {{ int *p = {table}[me]; p[0] = 1; }}" for table in ("one", "two")
    )
    puts = "".join(
        f"ARMCI_Malloc({table}, 8); ARMCI_PutValueInt(1, {table}[1 - me], 1 - me);" for table in ("one", "two")
    )
    assert armci(f"me = armci_msg_me(); {puts} set_one(); set_two();", before) == ["one[me][0]", "two[me][0]"]


def test_the_rank_in_a_part_is_not_the_rank() -> None:
    mine = (
        "MPI_Comm alone; MPI_Comm_split(MPI_COMM_WORLD, armci_msg_me(), 0, &alone); int in; MPI_Comm_rank(alone, &in);"
    )
    table = "void *base[2]; ARMCI_Malloc(base, 8); int me = 1 - armci_msg_me(); me = 1 - me;"
    assert armci(f"{mine} {table} {PUT}") == ["base[armci_msg_me()][1]"]


def test_a_table_that_is_a_member() -> None:
    before = "struct places { int rank; int *base[2]; };"
    body = "struct places all; MPI_Comm_rank(MPI_COMM_WORLD, &all.rank); ARMCI_Malloc((void **) all.base, 8);"
    put = "ARMCI_PutValueInt(1, all.base[1 - all.rank] + 1, 1 - all.rank);"
    assert armci(f"{body} {put}", before) == ["all.base[all.rank][1]"]


def test_one_element_is_what_the_pointer_points_to() -> None:
    put = "ARMCI_PutValueInt(1, base[1 - me], 1 - me);"
    body = "void *base[2]; ARMCI_Malloc(base, 4); int me = armci_msg_me(); int *y = base[me];"
    assert armci(f"{body} {put}") == ["*y"]


POINTERS = {
    "&p": "p[1]",
    "(void *) &p": "p[1]",
    "(void*)&p": "p[1]",
    "( void  * ) (&p)": "p[1]",
    "(void **) &p": "p[1]",
    "&both[1]": "both[1][1]",
    "&both[one]": "both[1][1]",
    "&s.field": "s.field[1]",
    "&to->field": "to->field[1]",
    "both + one": "both[1][1]",
}


@pytest.mark.parametrize(("argument", "name"), POINTERS.items())
def test_a_window_is_what_its_pointer_points_to(argument: str, name: str) -> None:
    text = f"""
#include <mpi.h>
int main(int argc, char **argv) {{
  int *p, *both[2], one = 1; MPI_Win w; struct {{ int rank; int *field; }} s, *to = &s;
  MPI_Init(&argc, &argv);
  MPI_Win_allocate(8, 4, MPI_INFO_NULL, MPI_COMM_WORLD, {argument}, &w);
  MPI_Win_fence(0, w); int x = 1; MPI_Put(&x, 1, MPI_INT, 1, 1, 1, MPI_INT, w); MPI_Win_fence(0, w);
  MPI_Finalize(); return 0;
}}"""
    assert set(cells(parse_c(text).program(2))) == {"x", name}


GASNET = """
#include <gasnet.h>
static gasnet_seginfo_t segments[8];
int main(int argc, char **argv) {{
  gasnet_init(&argc, &argv); gasnet_attach(NULL, 0, GASNET_PAGESIZE, 0); gasnet_getSegmentInfo(segments, 2);
  const int me = gasnet_mynode(); {body}
  int x = 1; gasnet_put(1 - me, (int *) segments[1 - me].addr + 1, &x, 4); return 0;
}}"""


@pytest.mark.parametrize(
    ("body", "name"), {"": "segments[me].addr[1]", "int *mine = segments[me].addr;": "mine[1]"}.items()
)
def test_a_segment_in_gasnet(body: str, name: str) -> None:
    assert name in cells(parse_c(GASNET.format(body=body)).program(2))


def test_a_segment_in_gaspi_whose_address_goes_straight_to_the_pointer() -> None:
    text = """
#include <GASPI.h>
int main(void) {
  int *mine; gaspi_rank_t me;
  gaspi_proc_init(GASPI_BLOCK); gaspi_proc_rank(&me);
  gaspi_segment_create(0, 8, GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED);
  gaspi_segment_ptr(0, (gaspi_pointer_t *) &mine);
  mine[0] = 1; gaspi_write(0, 0, 1 - me, 0, 4, 4, 0, GASPI_BLOCK); return 0;
}"""
    assert cells(parse_c(text).program(2)) == ["mine[0]", "mine[1]"]


ARRAYS = {
    "static int a[1];": ("shmem_int_p(&a[0], 1, 1);", ["a[0]"]),
    "static int a[2][3];": ("shmem_int_p(&a[1][0], 1, 1);", ["a[1][0]"]),
    "static int b[2][2];": (
        "static long i; shmem_int_p(&b[shmem_long_g(&i, 1)][1], 1, 1);",
        ["i", "b[0][0]", "b[0][1]", "b[1][0]", "b[1][1]"],
    ),
    "static struct { int x, y; } c[2];": (
        "static long i; shmem_int_p(&c[shmem_long_g(&i, 1)].y, 1, 1);", ["i", "c[0].x", "c[0].y", "c[1].x", "c[1].y"],
    ),
    "static int d[2];": ("static long i; shmem_int_p(&d[shmem_long_g(&i, 1)], 1, 1);", ["i", "d[0]", "d[1]"]),
    "struct node { int next, value; };": (
        "struct node *n = shmem_malloc(sizeof *n); shmem_int_p(&n->value, 1, 1);", ["n->value"],
    ),
    "struct node { int next, value; }; ": (
        "struct node *n = shmem_malloc(2 * sizeof *n); shmem_int_p(&n[1].value, 1, 1);", ["n[1].value"],
    ),
    "struct all { int n; int *data; }; static struct all all;": (
        "all.data = shmem_malloc(8); shmem_int_p(all.data + 1, 1, 1);", ["all.data[1]"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("before", "rest"), ARRAYS.items())
def test_what_is_in_arrays_and_structs(before: str, rest: tuple[str, list[str]]) -> None:
    """Also where it is not known which element is accessed, so that all lie in cells."""
    body, names = rest
    text = f"#include <shmem.h>\n{before} int main(void) {{ shmem_init(); {body} shmem_finalize(); return 0; }}"
    assert sorted(cells(parse_c(text).program(2))) == sorted(names)


def test_doubles_are_told_by_the_names_of_their_cells() -> None:
    text = """#include <shmem.h>
static double b[2][2]; static long i;
int main(void) { shmem_init(); shmem_double_p(&b[shmem_long_g(&i, 1)][1], 0.5, 1); return 0; }"""
    assert {"b[0][1]", "b[1][1]"} <= parse_c(text).program(2).doubles


WORDS = re.compile(r"(notification|mutex|counter) \d+|notification by \d+|global resource lock")
"""What libraries have and users know, by no name of the program."""
HIDDEN = {"passive"}
"""Memory that the front end needs for itself; no event of a report is there."""
EXPRESSION = re.compile(r"\*?[A-Za-z_]\w*(\[\w+\]|->\w+|\.\w+)*")


def test_every_name_is_an_expression_over_names_of_the_source() -> None:
    """Cells that libraries have for themselves are not told by their names; all others are. One program in
    sixteen, with --nightly all."""
    strange, names, chosen = [], 0, sampled(PROGRAMS, 16)
    for path in chosen:
        program = load_c(path).program()
        source = re.sub(r"/\*.*?\*/|//[^\n]*", "", path.read_text(), flags=re.DOTALL)
        known = set(re.findall(r"[A-Za-z_]\w*", source))
        for memory in program.memory:
            for name in {program.cell_name(memory.address), program.cell_name(memory.address + memory.cells - 1)}:
                if memory.made_up and (name.isidentifier() or WORDS.fullmatch(name)):
                    continue
                names += 1
                if not EXPRESSION.fullmatch(name) or not {*re.findall(r"[A-Za-z_]\w*", name)} <= known | HIDDEN:
                    strange.append((path.stem, name))
    assert not strange
    assert len(PROGRAMS) >= 242 and names > 2 * len(chosen)
