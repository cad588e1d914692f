"""Grids of ranks: numbers worked out by hand, and lengths compared with all factorisations."""

from __future__ import annotations

from itertools import product
from math import prod

import pytest

from pgasrob.diagnostics import SourceError
from pgasrob.frontends.apis.mpi.topologies import _factors
from pgasrob.frontends.lower import parse_c
from tests.frontends.apis.mpi.claims import checked, hold, text_of

GRID = """int dims[2] = {2, 3}, periods[2] = {0, 1}, at[2], left, right, up, down;
MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &c);"""
LENGTHS = {
    (4, (0, 0)): (2, 2), (6, (0, 0)): (3, 2), (12, (0, 0)): (4, 3), (7, (0, 0)): (7, 1), (1, (0, 0, 0)): (1, 1, 1),
    (8, (0, 0, 0)): (2, 2, 2), (12, (0, 0, 0)): (3, 2, 2), (24, (0, 0, 0)): (4, 3, 2), (6, (0, 3)): (2, 3),
    (12, (0, 3, 0)): (2, 3, 2), (6, (2, 3)): (2, 3), (5, (0,)): (5,),
}  # fmt: skip


@pytest.mark.parametrize(("nodes", "given"), LENGTHS)
def test_lengths(nodes: int, given: tuple[int, ...]) -> None:
    """The first three lines are those of the standard's table (8.5.2)."""
    array = ", ".join(map(str, given))
    claims = " ".join(f"assert(dims[{at}] == {each});" for at, each in enumerate(LENGTHS[nodes, given]))
    hold(f"int dims[] = {{{array}}}; MPI_Dims_create({nodes}, {len(given)}, dims); {claims}")


def test_lengths_are_as_close_as_any() -> None:
    for number, count in product(range(1, 37), (1, 2, 3)):
        every = {
            tuple(sorted(each, reverse=True)) for each in product(range(1, number + 1), repeat=count)
            if prod(each) == number
        }  # fmt: skip
        assert _factors(number, count) == min(every)
        # The first of these in their order is the one whose lengths differ least.
        assert min(every) == min(every, key=lambda each: (each[0] - each[-1], each))


@pytest.mark.parametrize(
    "body",
    [
        "MPI_Comm_rank(c, &number); assert(number == me); MPI_Comm_size(c, &number); assert(number == 6);",
        "MPI_Cart_coords(c, 4, 2, at); assert(at[0] == 1); assert(at[1] == 1);",
        "if (me == 5) { MPI_Cart_shift(c, 1, 1, &left, &right); assert(left == 4); assert(right == 3); }",
        "if (me == 5) { MPI_Cart_shift(c, 0, 1, &up, &down); assert(up == 2); assert(down == MPI_PROC_NULL); }",
        "if (me == 1) { MPI_Cart_shift(c, 0, -1, &up, &down); assert(up == 4); assert(down == MPI_PROC_NULL); }",
        "if (me == 0) { MPI_Cart_shift(c, 1, 2, &left, &right); assert(left == 1); assert(right == 2); }",
        "at[0] = 1; at[1] = -1; MPI_Cart_rank(c, at, &number); assert(number == 5);",
        "at[0] = 0; at[1] = 7; MPI_Cart_rank(c, at, &number); assert(number == 1);",
        "int e[2], q[2]; if (me == 4) { MPI_Cart_get(c, 2, e, q, at); assert(e[1] == 3); assert(!q[0]); assert(q[1]);"
        "assert(at[0] == 1); }",
        "MPI_Cartdim_get(c, &number); assert(number == 2);",
        "MPI_Topo_test(c, &number); assert(number == MPI_CART);",
        "MPI_Topo_test(MPI_COMM_WORLD, &number); assert(number == MPI_UNDEFINED);",
        "MPI_Comm_dup(c, &d); MPI_Cart_coords(d, 3, 2, at); assert(at[0] == 1); assert(at[1] == 0);",
        "int keep[2] = {0, 1}; MPI_Cart_sub(c, keep, &d); MPI_Comm_size(d, &number); assert(number == 3);"
        "MPI_Comm_rank(d, &number); assert(number == me % 3); MPI_Cartdim_get(d, &number); assert(number == 1);",
        "int keep[2] = {1, 0}; MPI_Cart_sub(c, keep, &d); MPI_Comm_rank(d, &number); assert(number == me / 3);"
        "if (me == 4) { MPI_Cart_shift(d, 0, 1, &up, &down); assert(up == 0); assert(down == MPI_PROC_NULL); }",
        "dims[0] = 1; MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &d); if (me > 2) assert(d == MPI_COMM_NULL);"
        "if (me == 2) { MPI_Cart_shift(d, 1, 1, &left, &right); assert(right == 0); }",
    ],
)
def test_places_and_neighbours(body: str) -> None:
    hold(GRID + body, nodes=6)


HALO = """int dims[2] = {0, 0}, periods[2] = {1, 1}, left, right, up, down; MPI_Dims_create(n, 2, dims);
MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &c); MPI_Comm_rank(c, &me);
MPI_Cart_shift(c, 0, 1, &up, &down); MPI_Cart_shift(c, 1, 1, &left, &right);
MPI_Win_allocate(8, 4, MPI_INFO_NULL, c, &p, &w); MPI_Win_fence(0, w);
MPI_Put(&me, 1, MPI_INT, right, 0, 1, MPI_INT, w); MPI_Put(&me, 1, MPI_INT, down, 1, 1, MPI_INT, w);
FENCE assert(p[0] == left && p[1] == up); MPI_Win_fence(0, w);"""


def test_a_halo() -> None:
    for nodes in (2, 4):
        assert checked(HALO.replace("FENCE", "MPI_Win_fence(0, w);"), nodes=nodes) == ("robust", "hold")
    wrong = HALO.replace("FENCE", "MPI_Win_fence(0, w);").replace("p[1] == up", "p[1] == down")
    assert checked(wrong, nodes=2)[1] == "hold" and checked(wrong, nodes=6)[1] == "violated"
    assert checked(HALO.replace("FENCE", "MPI_Barrier(c);"), nodes=2)[0] == "not robust"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("int dims[2] = {4, 0}; MPI_Dims_create(6, 2, dims);", "must divide the number"),
        ("int dims[2] = {4, 1}; MPI_Dims_create(6, 2, dims);", "must divide the number"),
        (
            "int s[2] = {300, 300}, o[2] = {0, 0}; MPI_Datatype t;"
            "MPI_Type_create_subarray(2, s, s, o, MPI_ORDER_C, MPI_INT, &t);",
            "more than 65536 elements",
        ),
        (
            "static int much[70000]; MPI_Win_create(much, sizeof much, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &w);"
            "MPI_Win_fence(0, w); MPI_Put(much, 1, MPI_INT, 0, rand(), 1, MPI_INT, w);",
            "a window of more than 65536 places",
        ),
        (GRID.replace("{2, 3}", "{3, 3}"), "a grid of 9 ranks among 6"),
        (GRID + "at[0] = 2; at[1] = 0; MPI_Cart_rank(c, at, &number);", "outside of the grid"),
        (GRID + "MPI_Cart_shift(c, 2, 1, &up, &down);", "dimension 2 of 2"),
        (GRID + "MPI_Cart_coords(c, 6, 2, at);", "rank 6, which the grid does not have"),
        ("MPI_Cartdim_get(MPI_COMM_WORLD, &number);", "a communicator without a grid"),
    ],
)
def test_what_is_refused(body: str, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        parse_c(text_of(body)).program(6)
