"""The numbers and types of `gasnet.h` and `gasnetex.h`."""

from __future__ import annotations

import pytest

from pgasrob.frontends.apis.gasnet.header import CONSTANTS, TYPES
from pgasrob.frontends.c.layout import size_of
from pgasrob.frontends.c.values import Known


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("GASNET_OK", 0), ("GASNET_ERR_NOT_INIT", 10001), ("GASNET_ERR_RESOURCE", 10003),
        ("GASNET_ERR_NOT_READY", 10004),
        ("GASNET_ERR_BARRIER_MISMATCH", 10005), ("GASNET_BARRIERFLAG_MISMATCH", 2), ("GASNET_WAIT_SPINBLOCK", 2),
        ("GEX_EC_ALL", 3), ("GEX_EC_PUT", 1), ("GEX_EC_GET", 2), ("GEX_EC_LC", 4), ("GEX_RANK_INVALID", 2**32 - 1),
    ],
)  # fmt: skip
def test_numbers_of_constants(name: str, number: int) -> None:
    assert CONSTANTS[name][1] == Known(number)


def test_sizes_of_types() -> None:
    sizes = {"gasnet_node_t": 4, "gasnet_seginfo_t": 16, "gasnet_handlerentry_t": 16, "gex_Event_t": 8}
    assert {name: size_of(TYPES[name]) for name in sizes} == sizes
