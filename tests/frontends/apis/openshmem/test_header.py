"""The numbers and types of `shmem.h`."""

from __future__ import annotations

import pytest

from pgasrob.frontends.apis.openshmem.header import CONSTANTS, TYPES
from pgasrob.frontends.c.layout import size_of
from pgasrob.frontends.c.values import Known


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("SHMEM_CMP_EQ", 0), ("SHMEM_CMP_NE", 1), ("SHMEM_CMP_GT", 2), ("SHMEM_CMP_LE", 3), ("SHMEM_CMP_LT", 4),
        ("SHMEM_CMP_GE", 5), ("_SHMEM_CMP_GE", 5), ("SHMEM_SIGNAL_SET", 0), ("SHMEM_SIGNAL_ADD", 1),
        ("SHMEM_THREAD_MULTIPLE", 3), ("SHMEM_SYNC_VALUE", -1), ("_SHMEM_SYNC_VALUE", -1), ("SHMEM_MAX_NAME_LEN", 256),
        ("SHMEM_CTX_NOSTORE", 4), ("SHMEM_CTX_SESSION_SAME_AMO", 2), ("SHMEM_MALLOC_SIGNAL_REMOTE", 2),
    ],
)  # fmt: skip
def test_numbers_of_constants(name: str, number: int) -> None:
    assert CONSTANTS[name][1] == Known(number)


def test_sizes_of_configurations() -> None:
    assert [size_of(TYPES[name]) for name in ("shmem_team_config_t", "shmem_ctx_session_config_t")] == [4, 8]
