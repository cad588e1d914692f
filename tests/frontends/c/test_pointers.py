"""Pointers: arithmetic, what may be followed, and the cells at addresses."""

import pytest

from pgasrob import check
from pgasrob.diagnostics import SourceError
from pgasrob.frontends.c.problem import Beyond, Problem
from pgasrob.frontends.c.symbolic import NumberNeeded
from pgasrob.frontends.c.types import INT, LONG, Array
from pgasrob.frontends.c.values import UNDEFINED, Address, Known, Unknown
from pgasrob.frontends.lower import parse_c
from pgasrob.program.expressions import Conditional, Const, Me, Register, Symbol, render
from pgasrob.program.statements import Do, statements_in
from pgasrob.robustness.limits import Limits
from tests.frontends.c.rank_parts import parts_of, variable

R = Register("r", 0)


def test_a_known_index_moves_a_pointer_by_bytes() -> None:
    parts = parts_of()
    x = variable(parts, "x", Array(INT, 8))
    moved = parts.pointers.offset(Address(x.object, 4, owner=1, mapped=False), Known(3), 4)
    assert moved == Address(x.object, 16, owner=1, mapped=False)
    assert parts.pointers.offset(x, Known((1 << 64) - 1), 4) == Address(x.object, -4)  # -1 without a sign
    assert parts.pointers.offset(x, UNDEFINED, 4) == parts.pointers.offset(UNDEFINED, Known(1), 4) == UNDEFINED
    assert parts.pointers.offset(Known(0), Known(3), 4) == Known(12)


def test_an_index_in_a_register_makes_an_object_dense() -> None:
    parts = parts_of()
    x = variable(parts, "x", Array(INT, 8))
    moved = parts.pointers.offset(Address(x.object, 8), Unknown(R), 16)
    assert isinstance(moved, Address) and moved.steps == (8, 16)
    assert parts.facts.objects[x.object].dense and parts.facts.objects[x.object].granule == 8
    assert list(parts.pointers.offsets(moved, 4)) == list(parts.pointers.offsets(moved, 8)) == [8, 24]
    again = parts.pointers.offset(moved, Known(1), 4)
    assert isinstance(again, Address) and again.steps == (12, 16)
    assert parts.facts.objects[x.object].granule == 4


def test_differences() -> None:
    parts = parts_of()
    x, y = variable(parts, "x", Array(LONG, 8)), variable(parts, "y", LONG)
    assert parts.pointers.difference(Address(x.object, 24), Address(x.object, 8), 8) == Known(2)
    with pytest.raises(Problem, match="the difference of pointers into different objects"):
        parts.pointers.difference(x, y, 8)


def test_a_known_place_is_put_in_cells_beside_one_that_is_not() -> None:
    parts = parts_of()
    x = variable(parts, "x", Array(INT, 8))
    moved = parts.pointers.offset(x, Unknown(R), 4)
    left, right = parts.pointers.alike(Address(x.object, 12), moved)
    assert left == Address(x.object, Const(3), steps=(12, 0)) and right == moved
    assert parts.pointers.alike(Known(1), moved) == (Known(1), moved)


def test_what_can_be_followed() -> None:
    parts = parts_of()
    x = variable(parts, "x", INT)
    assert parts.pointers.followed(x, "read") == x
    assert parts.pointers.followed(Known(0), "read") is parts.pointers.followed(UNDEFINED, "read") is None
    with pytest.raises(Problem, match="memory of rank 1 is read through a pointer by rank 0"):
        parts.pointers.followed(Address(x.object, 0, owner=1), "read")
    with pytest.raises(Problem, match="it is not known where it points"):
        parts.pointers.followed(Unknown(R), "read")
    with pytest.raises(Beyond):
        parts.pointers.followed(Unknown(parts.undecided.new_leaf("random")), "read")


def test_memory_of_others_is_followed_where_it_is_shared() -> None:
    parts = parts_of(shared_memory="all")
    there = Address(variable(parts, "x", INT).object, 0, owner=1)
    assert parts.pointers.followed(there, "set") == there
    everyone = parts_of(nodes=None, shared_memory="all")
    somewhere = Address(variable(everyone, "x", INT).object, 0, owner=Me())
    with pytest.raises(NumberNeeded):
        everyone.pointers.followed(somewhere, "set")


def test_the_cell_of_a_scalar_is_known_in_the_next_pass() -> None:
    parts = parts_of()
    x = variable(parts, "x", Array(INT, 4))
    cells = parts.world.cells
    new = parts.pointers.cell(Address(x.object, 8), 4)
    assert render(new) == "x[2]" and cells.is_new(new) and cells.named_by(new) == [(x.object, 8)]
    other = parts.pointers.cell(Address(x.object, 4), 4)
    assert cells.is_new(other) and cells.named_by(other) == [(x.object, 4)]
    parts.world.begin()
    assert parts.pointers.cell(Address(x.object, 8), 4) == Symbol("x[2]", 1)
    assert not parts.world.cells.is_new(Symbol("x[2]", 1))
    outside = parts.pointers.cell(Address(x.object, 16), 4)
    assert isinstance(outside, Const) and outside.value < 0


def test_a_cell_by_an_index_is_checked_in_the_program() -> None:
    parts = parts_of()
    moved = parts.pointers.offset(variable(parts, "x", Array(INT, 4)), Unknown(R), 4)
    assert isinstance(moved, Address)
    new = parts.pointers.cell(moved, 4)
    assert parts.world.cells.is_new(new) and parts.world.cells.named_by(new) == [(moved.object, None)]
    parts.world.begin()
    assert isinstance(parts.pointers.cell(moved, 4), Conditional)
    assert parts.pointers.cells_of(moved.object) == Const(4)


def test_the_scalars_in_cells_among_bytes() -> None:
    parts = parts_of()
    x = variable(parts, "x", Array(INT, 8))
    for offset in (16, 4):
        parts.facts.share(x.object, offset, 4)
    assert parts.pointers.pieces(Address(x.object, 0), 16) == {4: 4}
    assert list(parts.pointers.pieces(Address(x.object, 0), 17)) == [4, 16]


def test_calls_that_need_a_variable_whole_need_the_same_bytes() -> None:
    parts = parts_of()
    x = variable(parts, "x", LONG)
    parts.pointers.cell(x, 8)
    parts.pointers.cell(x, 4)  # another pass: then the larger one is a scalar that lies in pieces, too
    with pytest.raises(Problem, match="whole as 4 bytes at offset 0 and as 8 bytes at offset 0"):
        parts.pointers.cell(x, 8)


ROWS = """
#include <shmem.h>
#include <stdlib.h>
static long at;
static void fill(int n, int m, long (*to)[m]) { for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) to[i][j] = i; }
static void put(int n, int m, long to[n][m], const long (*of)[m], int pe) {
  shmem_long_put(*(to + 2 - n / 2), of[1], m, pe);
}
int main(void) {
  shmem_init();
  int n = 2, m = M;
  long (*a)[m] = malloc(sizeof(long[n][m])), (*b)[m] = shmem_malloc(n * sizeof *b);
  fill(n, m, a);
  if (shmem_my_pe() == 0) { put(n, m, b, a, 1); at = b[at][m - 1]; }
  shmem_barrier_all();
  shmem_finalize();
}"""


def test_rows_whose_length_the_run_gives_are_those_of_a_constant_length() -> None:
    given = ROWS.replace("M;", "shmem_n_pes();")
    constant = ROWS.replace("M;", "2;").replace("[m]", "[2]").replace("[n]", "[2]")
    one, other = (
        [
            [str(each.command) for each in statements_in(process.body) if isinstance(each, Do)]
            for process in parse_c(text).program(2).processes
        ]
        for text in (given, constant)
    )
    assert one == other
    assert any("b[1][1]" in command for command in one[0])


def test_the_length_of_a_row_must_be_known() -> None:
    text = (
        ROWS.replace("M;", "shmem_long_g(&at, 0);").replace("sizeof(long[n][m])", "64").replace("n * sizeof *b", "64")
    )
    with pytest.raises(SourceError, match="the length of the elements of this array is not known here"):
        parse_c(text).program(2)


FEW = """
#include <shmem.h>
static long table[1UL << 28], key;
int main(void) {
  shmem_init();
  long k = shmem_long_g(&key, 0);
  for (int i = 0; i < 5; i++) shmem_long_p(&table[INDEX], 1, 0);
  shmem_finalize();
}"""


def test_a_large_array_has_cells_for_what_is_used() -> None:
    program = parse_c(FEW.replace("INDEX", "i * 50000000L")).program(2)
    assert sum(memory.cells for memory in program.memory) == 6
    with pytest.raises(SourceError, match=r"268435457 cells of shared memory per node"):
        parse_c(FEW.replace("INDEX", "k & 7")).program(2)


@pytest.mark.parametrize(
    ("bytes", "use", "told"),
    [
        ("8L << 50", "p[k] = 1", "1125899906842624 cells"),
        ("8L << 50", "memcpy(few, p + k, 16)", "1125899906842624 cells"),
        ("-1", "p[k] = 1", "has 18,446,744,073,709,551,615 bytes"),
    ],
)
def test_an_index_into_more_than_there_can_be_is_told_at_once(bytes: str, use: str, told: str) -> None:
    allocated = FEW.replace("table[1UL << 28]", "few[4]").replace("shmem_long_p(&table[INDEX], 1, 0)", use)
    text = "#include <string.h>\n" + allocated.replace("k =", f"*p = shmem_malloc({bytes}), k =")
    (found,) = check(parse_c(text), 2, limits=Limits(timeout=5)).errors
    assert found.code == "PG141" and told in found.message
