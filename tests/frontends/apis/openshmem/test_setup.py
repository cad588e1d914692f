# ruff: noqa: E501
"""OpenSHMEM, `setup`: what calls lower to on rank 0, read against API_SEMANTICS line by line."""

from __future__ import annotations

import pytest

from pgasrob.diagnostics import SourceError
from tests.frontends.apis.openshmem.calls import lowered

CALLS = {
    "int major, minor; shmem_info_get_version(&major, &minor); char nm[SHMEM_MAX_NAME_LEN]; shmem_info_get_name(nm);": "",
    "shmem_global_exit(0);": "exit;",
    "shmem_finalize();": "wait(0); barrier;",
}

ERRORS = {
    "void *p = shmem_realloc(&x, 4);": "&x is not an address from shmem_malloc",
}


@pytest.mark.parametrize(("call", "expected"), CALLS.items())
def test_call(call: str, expected: str) -> None:
    assert lowered(call) == expected


@pytest.mark.parametrize(("call", "expected"), ERRORS.items())
def test_error(call: str, expected: str) -> None:
    with pytest.raises(SourceError, match=expected):
        lowered(call)
