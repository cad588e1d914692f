"""The numbers and types of `armci.h`, as in ARMCI-MPI."""

from __future__ import annotations

import pytest

from pgasrob.frontends.apis.armci.header import CONSTANTS, TYPES
from pgasrob.frontends.c.layout import size_of
from pgasrob.frontends.c.values import Known


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("ARMCI_ACC_INT", 0), ("ARMCI_ACC_DBL", 3), ("ARMCI_ACC_DCP", 5), ("ARMCI_FETCH_AND_ADD", 0),
        ("ARMCI_FETCH_AND_ADD_LONG", 1), ("ARMCI_SWAP_LONG", 3), ("ARMCI_DOUBLE", 4), ("SCOPE_MASTERS", 2),
        ("ARMCI_DOMAIN_SMP", 0),
    ],
)  # fmt: skip
def test_numbers_of_constants(name: str, number: int) -> None:
    assert CONSTANTS[name][1] == Known(number)


def test_sizes_of_types() -> None:
    assert [size_of(TYPES[name]) for name in ("armci_giov_t", "armci_size_t", "armci_hdl_t")] == [24, 8, 8]
