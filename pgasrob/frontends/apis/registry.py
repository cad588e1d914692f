"""Finds the API that a header chooses, or that has functions of names like a given one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import takewhile

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
SEVERAL = 3
"""How many names, or letters, show a pattern."""


@cache
def api_of(header: str) -> Api | None:
    """The API that ``header`` chooses; None when it is no header of an API."""
    name = API_MODULES.get(header)
    if name is None:
        return None
    api = import_module(f"pgasrob.frontends.apis.{name}").API
    assert isinstance(api, Api)
    return api


def api_like(name: str) -> Api | None:
    """The API that has a function ``name``, else one whose functions begin or end as ``name`` does."""
    headers = {module: header for header, module in API_MODULES.items()}.values()
    apis = [api for header in headers if (api := api_of(header)) is not None]
    having = [api for api in apis if name in api.functions]
    like = (api for api in apis if name.startswith(_beginnings(api)) or name.endswith(_endings(api)))
    return next((api for each in (having, like) for api in each), None)


def _beginnings(api: Api) -> tuple[str, ...]:
    """The beginnings that several functions of ``api`` share, up to the first `_`: `shmem_`."""
    counts = Counter(f"{name.partition('_')[0]}_" for name in api.functions if "_" in name)
    # All that begin so are not supported: `shmemx_*`.
    whole = (pattern[:-1] for pattern in api.unsupported if pattern.endswith("_*") and pattern.count("_") == 1)
    return tuple({each for each, count in counts.items() if count >= SEVERAL and len(each) > 1} | set(whole))


def _endings(api: Api) -> tuple[str, ...]:
    """The common ending of the names of ``api`` that have no such beginning: `GPI`."""
    plain = [name for name in api.functions if "_" not in name]
    common = takewhile(lambda letters: len(set(letters)) == 1, zip(*map(reversed, plain), strict=False))
    ending = "".join(letters[0] for letters in common)[::-1]
    return (ending,) if len(plain) >= SEVERAL and len(ending) >= SEVERAL else ()


def _library() -> Sequence[Api]:
    library = import_module("pgasrob.frontends.c.library").LIBRARY
    assert isinstance(library, Api)
    return (library,)


@dataclass(frozen=True, slots=True)
class Registry:
    """The APIs that a C file can use: ``always`` without any header, and ``by_header``; and the one with functions of
    names ``like`` a given one."""

    by_header: Callable[[str], Api | None] = api_of
    always: Callable[[], Sequence[Api]] = _library
    like: Callable[[str], Api | None] = api_like
