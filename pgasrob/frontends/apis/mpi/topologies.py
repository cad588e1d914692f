"""Cartesian communicators (MPI-4.1, chapter 8): the ranks of a communicator as a grid, the last dimension first to
change. A communicator without a grid has no more than its key and its members."""

from __future__ import annotations

from functools import cache
from math import isqrt, prod

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.apis.call_arguments import integers
from pgasrob.frontends.apis.call_steps import Steps
from pgasrob.frontends.apis.interface import Call
from pgasrob.frontends.apis.mpi.handles import communicator, grid_of, pointer
from pgasrob.frontends.apis.mpi.header import CART, COMM, PROC_NULL, UNDEFINED, does
from pgasrob.frontends.apis.mpi.setup import made
from pgasrob.frontends.apis.transfers import element
from pgasrob.frontends.c.types import INT
from pgasrob.frontends.c.values import NULL
from pgasrob.program.assumptions import Kind
from pgasrob.stop_points import stop_point

Grid = tuple[tuple[int, int], ...]
"""The length of each dimension, and 1 where it is periodic."""


@does("Dims_create(int nnodes, int ndims, int *dims)")
def dims_create(call: Call, steps: Steps) -> None:
    """Lengths for the dimensions that are 0, in descending order and as close to each other as possible (8.5.2): the
    greatest is as small as it can be, then the next one."""
    nodes, given = call.known(0), integers(call, 2, call.known(1), INT)
    fixed, free = prod(each for each in given if each), given.count(0)
    if min(given, default=0) < 0 or nodes % fixed or (not free and nodes != fixed):
        call.fail(
            Wrong.ARGUMENT,
            f"{call.name} of {nodes} ranks with the lengths {given}",
            "their product must divide the number",
        )
    lengths = iter(_factors(nodes // fixed, free))
    for place, length in enumerate(given):
        if not length:
            steps.store(element(call, pointer(call, 2), place, INT), next(lengths), INT)


def _factors(number: int, count: int) -> tuple[int, ...]:
    """The least of the ways to write ``number`` as a product of so many factors in descending order."""
    small = [each for each in range(1, isqrt(number) + 1) if number % each == 0]
    divisors = sorted({*small, *(number // each for each in small)})

    @cache
    def least(rest: int, count: int, most: int) -> tuple[int, ...] | None:
        """The same of ``rest``, with factors of at most ``most``."""
        if count == 0 or rest == 1:
            return (1,) * count if rest == 1 else None
        for first in divisors:
            stop_point()
            if first > most or first > rest:
                break
            if first**count >= rest and rest % first == 0:
                others = least(rest // first, count - 1, first)
                if others is not None:
                    return first, *others
        return None

    return least(number, count, number) or ()


def _grid(call: Call, index: int) -> Grid:
    grid = grid_of(call, index)
    if grid is None:
        call.fail(Wrong.ARGUMENT, f"{call.name} of a communicator without a grid", "make one with MPI_Cart_create")
    return grid


def _coordinates(grid: Grid, rank: int) -> list[int]:
    """Where ``rank`` is (8.5.4)."""
    found: list[int] = []
    for length, _ in reversed(grid):
        rank, place = divmod(rank, length)
        found.insert(0, place)
    return found


def _rank(grid: Grid, coordinates: list[int]) -> int | None:
    """The rank at ``coordinates``, None outside of a dimension that is not periodic."""
    rank = 0
    for (length, periodic), place in zip(grid, coordinates, strict=True):
        if not 0 <= place < length and not periodic:
            return None
        rank = rank * length + place % length
    return rank


def _store(steps: Steps, index: int, numbers: list[int], most: int) -> None:
    for place, number in enumerate(numbers[:most]):
        steps.store(element(steps.call, pointer(steps.call, index), place, INT), number, INT)


@does("""
    Cart_create(MPI_Comm comm, int ndims, const int *dims, const int *periods, int reorder, MPI_Comm *newcomm)
""")
def cart_create(call: Call, steps: Steps) -> None:
    """Ranks keep their order, also where ``reorder`` allows another one (8.5.1)."""
    parent, count = communicator(call, 0), call.known(1)
    lengths, periods = (integers(call, index, count, INT) for index in (2, 3))
    size = prod(lengths)
    if min(lengths, default=1) < 1 or size > len(parent.members):
        call.fail(
            Wrong.ARGUMENT,
            f"{call.name} of a grid of {size} ranks among {len(parent.members)}",
            "make the grid smaller",
        )
    if call.known(4):
        call.rests_on(Kind.RANKS_KEPT, call.name)
    grid = tuple((length, int(periodic != 0)) for length, periodic in zip(lengths, periods, strict=True))
    comm = made(steps, parent, parent.members[:size], grid=grid)
    steps.store(pointer(call, 5), comm if call.rank in parent.members[:size] else NULL, COMM)


@does("Cart_sub(MPI_Comm comm, const int *remain_dims, MPI_Comm *newcomm)")
def cart_sub(call: Call, steps: Steps) -> None:
    """A grid for each place in the dimensions that are left out (8.5.7)."""
    parent, grid = communicator(call, 0), _grid(call, 0)
    kept = [bool(each) for each in integers(call, 1, len(grid), INT)]
    left_out = [
        tuple(place for place, keep in zip(_coordinates(grid, rank), kept, strict=True) if not keep)
        for rank in range(len(parent.members))
    ]
    own = left_out[parent.place(call.rank)]
    members = tuple(member for member, place in zip(parent.members, left_out, strict=True) if place == own)
    part = tuple(each for each, keep in zip(grid, kept, strict=True) if keep)
    steps.store(pointer(call, 2), made(steps, parent, members, *own, grid=part), COMM)


@does("Cart_coords(MPI_Comm comm, int rank, int maxdims, int *coords)")
def cart_coords(call: Call, steps: Steps) -> None:
    grid, rank = _grid(call, 0), call.known(1)
    if not 0 <= rank < prod(length for length, _ in grid):
        call.fail(Wrong.RANK, f"{call.name} of rank {rank}, which the grid does not have", "ranks count from 0")
    _store(steps, 3, _coordinates(grid, rank), call.known(2))


@does("Cart_rank(MPI_Comm comm, const int *coords, int *rank)")
def cart_rank(call: Call, steps: Steps) -> None:
    grid = _grid(call, 0)
    coordinates = integers(call, 1, len(grid), INT)
    rank = _rank(grid, coordinates)
    if rank is None:
        call.fail(
            Wrong.ARGUMENT,
            f"{call.name} of {coordinates}, which lies outside of the grid",
            "only periodic dimensions wrap round",
        )
    steps.answer(2, rank, INT)


@does("Cart_shift(MPI_Comm comm, int direction, int disp, int *rank_source, int *rank_dest)")
def cart_shift(call: Call, steps: Steps) -> None:
    """The neighbours at that distance, or MPI_PROC_NULL (8.5.6)."""
    grid, direction, distance = _grid(call, 0), call.known(1), call.known(2)
    if not 0 <= direction < len(grid):
        call.fail(Wrong.ARGUMENT, f"{call.name} along dimension {direction} of {len(grid)}", "dimensions count from 0")
    here = _coordinates(grid, communicator(call, 0).place(call.rank))
    for index, way in ((3, -distance), (4, distance)):
        there = _rank(grid, [place + way * (n == direction) for n, place in enumerate(here)])
        steps.answer(index, PROC_NULL if there is None else there, INT)


@does("Cart_get(MPI_Comm comm, int maxdims, int *dims, int *periods, int *coords)")
def cart_get(call: Call, steps: Steps) -> None:
    grid, most = _grid(call, 0), call.known(1)
    here = _coordinates(grid, communicator(call, 0).place(call.rank))
    for index, numbers in ((2, [length for length, _ in grid]), (3, [each for _, each in grid]), (4, here)):
        _store(steps, index, numbers, most)


@does("Cartdim_get(MPI_Comm comm, int *ndims)")
def cartdim_get(call: Call, steps: Steps) -> None:
    steps.answer(1, len(_grid(call, 0)), INT)


@does("Topo_test(MPI_Comm comm, int *status)")
def topo_test(call: Call, steps: Steps) -> None:
    steps.answer(1, UNDEFINED if grid_of(call, 0) is None else CART, INT)
