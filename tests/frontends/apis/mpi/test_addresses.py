"""Addresses as integers: each object has a range of its own, and an address is found again."""

from __future__ import annotations

from pgasrob.frontends.apis.mpi.addresses import RANGE, find, number_of
from pgasrob.frontends.c.values import Address, ObjectId
from tests.frontends.apis.mpi.calls import lowered

X, Y = ObjectId("global", ("x",)), ObjectId("heap", 0)


def test_a_number_leads_back_to_its_place() -> None:
    assert find(number_of(X) + 12, [Y, X]) == Address(X, 12)
    assert find(number_of(X) + RANGE, [Y, X]) is None
    assert find(number_of(X), [Y]) is None


def test_no_object_lies_where_mpi_bottom_is() -> None:
    assert all(number_of(each) >= RANGE and number_of(each) % RANGE == 0 for each in (X, Y))
    assert number_of(X) != number_of(Y)


def test_addresses_within_an_object_are_computed_with() -> None:
    text = """MPI_Aint p, q; MPI_Get_address(&a[3], &p); MPI_Get_address(&a[1], &q);
        MPI_Put(&x, 1, MPI_INT, 1, MPI_Aint_diff(p, q) / 4, 1, MPI_INT, w);
        MPI_Put(&x, 1, MPI_INT, 1, (MPI_Aint_add(q, 12) - q) / 4, 1, MPI_INT, w);"""
    assert lowered(text) == "barrier; write(x, 1, mem[2], 0); write(x, 1, mem[3], 0);"
