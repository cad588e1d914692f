"""Headers choose APIs, and names are like those of an API."""

from __future__ import annotations

import pytest

from pgasrob.frontends.apis.registry import API_MODULES, Registry, api_like, api_of


@pytest.mark.parametrize("header", API_MODULES)
def test_a_header_chooses_the_api_that_names_it(header: str) -> None:
    api = api_of(header)
    assert api is not None and api.name == API_MODULES[header]
    assert header in api.headers or api_of(api.headers[0]) is api


def test_other_headers_choose_none() -> None:
    assert api_of("stdio.h") is None
    assert Registry().by_header("mine.h") is None
    assert [api.name for api in Registry().always()] == ["C"]


@pytest.mark.parametrize(
    ("name", "api"),
    [
        ("MPI_Put", "mpi"),
        ("MPI_Frobnicate", "mpi"),
        ("shmem_int_frobnicate", "openshmem"),
        ("gaspi_frobnicate", "gaspi"),
        ("gex_Frobnicate", "gasnet"),
        ("ARMCI_Frobnicate", "armci"),
        ("frobnicateGPI", "gpi"),
        ("start_pes", "openshmem"),
        ("frobnicate", None),
        ("my_function", None),
    ],
)
def test_the_api_with_names_like_it(name: str, api: str | None) -> None:
    found = api_like(name)
    assert (None if found is None else found.name) == api
