"""The numbers and types of `GASPI.h`, as in GPI-2."""

from __future__ import annotations

import pytest

from pgasrob.frontends.apis.gaspi.header import CONSTANTS, TYPES
from pgasrob.frontends.c.layout import size_of
from pgasrob.frontends.c.values import Known


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("GASPI_ERROR", -1), ("GASPI_SUCCESS", 0), ("GASPI_TIMEOUT", 1), ("GASPI_ERR_EMFILE", 2),
        ("GASPI_ERR_MEMALLOC", 28), ("GASPI_QUEUE_FULL", 23), ("GASPI_ERR_MANY_Q_REQS", 23), ("GASPI_OP_SUM", 2),
        ("GASPI_TYPE_ULONG", 5), ("GASPI_ETHERNET", 2), ("GASPI_TOPOLOGY_DYNAMIC", 2), ("GASPI_BLOCK", 2**64 - 1),
        ("GASPI_TEST", 0), ("GASPI_GROUP_ALL", 0), ("GASPI_MEM_INITIALIZED", 1), ("GASPI_MAX_QSIZE", 4096),
    ],
)  # fmt: skip
def test_numbers_of_constants(name: str, number: int) -> None:
    assert CONSTANTS[name][1] == Known(number)


def test_sizes_of_types() -> None:
    sizes = {"gaspi_rank_t": 2, "gaspi_segment_id_t": 1, "gaspi_notification_t": 4, "gaspi_timeout_t": 8}
    assert {name: size_of(TYPES[name]) for name in sizes} == sizes
    assert size_of(TYPES["gaspi_config_t"]) == 96
