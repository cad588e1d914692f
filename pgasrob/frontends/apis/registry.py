"""Which header chooses which API."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module

from pgasrob.frontends.apis.interface import Api

API_MODULES = {
    "shmem.h": "openshmem",
    "shmemx.h": "openshmem",
    "mpp/shmem.h": "openshmem",
    "mpp/shmemx.h": "openshmem",
    "GASPI.h": "gaspi",
    "GASPI_Ext.h": "gaspi",
    "GASPI_types.h": "gaspi",
    "GPI.h": "gpi",
    "gpi.h": "gpi",
    "armci.h": "armci",
    "ARMCI.h": "armci",
    "gasnet.h": "gasnet",
    "gasnet_tools.h": "gasnet",
    "gasnet_coll.h": "gasnet",
    "gasnetex.h": "gasnet",
    "GPI2.h": "gaspi",
    "message.h": "armci",
    "mpi.h": "mpi",
}
"""The module, in this folder, of the API that each header chooses. Each has the API as `API`."""


@cache
def api_of(header: str) -> Api | None:
    """The API that ``header`` chooses; None when it is no header of an API."""
    name = API_MODULES.get(header)
    if name is None:
        return None
    api = import_module(f"pgasrob.frontends.apis.{name}").API
    assert isinstance(api, Api)
    return api


def _library() -> Sequence[Api]:
    library = import_module("pgasrob.frontends.c.library").LIBRARY
    assert isinstance(library, Api)
    return (library,)


@dataclass(frozen=True, slots=True)
class Registry:
    """The APIs that a C file can use: ``always`` without any header, and ``by_header``."""

    by_header: Callable[[str], Api | None] = api_of
    always: Callable[[], Sequence[Api]] = _library
