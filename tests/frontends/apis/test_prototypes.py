"""The declarations that calls are compiled with: all are C, and as in the headers of a library where there is one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pgasrob.frontends.apis.interface import Api
from pgasrob.frontends.apis.mpi import API as MPI
from pgasrob.frontends.apis.mpi.header import FUNCTIONS as MPI_FUNCTIONS
from pgasrob.frontends.apis.openshmem import API as OPENSHMEM
from pgasrob.frontends.apis.openshmem.header import CONTEXT
from pgasrob.frontends.apis.openshmem.header import FUNCTIONS as OPENSHMEM_FUNCTIONS
from pgasrob.frontends.apis.prototypes import Prototypes
from pgasrob.frontends.c.compiler import declared_function
from pgasrob.frontends.c.types import DOUBLE, INT, ULONG, Pointer

APIS = [(OPENSHMEM, OPENSHMEM_FUNCTIONS), (MPI, MPI_FUNCTIONS)]
HEADERS = Path("/usr/lib/x86_64-linux-gnu/openmpi/include")


@pytest.mark.parametrize(("api", "functions"), APIS, ids=["openshmem", "mpi"])
def test_every_declaration_is_c(api: Api, functions: Prototypes) -> None:
    for name, text in functions.declarations.items():
        declared_function(text, name, [api])
        assert api.handler(name) is not None, name


@pytest.mark.parametrize(
    ("functions", "header", "mark"),
    [(OPENSHMEM_FUNCTIONS, "shmem.h", "OSHMEM_DECLSPEC"), (MPI_FUNCTIONS, "mpi.h", "OMPI_DECLSPEC")],
    ids=["openshmem", "mpi"],
)
def test_declarations_are_those_of_the_header(functions: Prototypes, header: str, mark: str) -> None:
    if not (HEADERS / header).exists():
        pytest.skip(f"no {header} of Open MPI here")
    real = declared(HEADERS / header, mark)
    common = real.keys() & functions.declarations.keys()
    assert len(common) > 100
    for name in common:
        text = functions.declarations[name]
        assert shape(text[text.index("(") + 1 : text.rindex(")")]) == shape(real[name]), name


def test_every_function_of_the_header_is_known() -> None:
    if not (HEADERS / "shmem.h").exists():
        pytest.skip("no shmem.h of Open MPI here")
    names = declared(HEADERS / "shmem.h", "OSHMEM_DECLSPEC")
    missing = [name for name in names if OPENSHMEM.handler(name) is None and "complex" not in name]
    assert not missing


def test_generic_names_choose_by_the_types() -> None:
    put = (Pointer(DOUBLE), Pointer(DOUBLE), ULONG, INT)
    assert OPENSHMEM.declaration("shmem_put", put) == (
        "void shmem_put(double *dest, const double *source, size_t nelems, int pe);"
    )
    assert "shmem_ctx_t ctx, double *dest" in (OPENSHMEM.declaration("shmem_put", (CONTEXT, *put)) or "")
    assert OPENSHMEM.declaration("shmem_atomic_fetch_inc", (Pointer(INT), INT)) == (
        "int shmem_atomic_fetch_inc(int *dest, int pe);"
    )


def declared(header: Path, mark: str) -> dict[str, str]:
    """The parameters of all functions that a header declares, as text."""
    text = re.sub(r"/\*.*?\*/", " ", header.read_text(), flags=re.DOTALL)
    declarations = re.finditer(mark + r"\s+[\w\s*]+?\**\b(\w+)\s*\(([^;]*?)\)\s*(?:__\w+\(.*?\)\s*)*;", text, re.DOTALL)
    return {found[1]: found[2] for found in declarations}


def shape(parameters: str) -> list[int]:
    """How often each parameter is a pointer."""
    texts = [parameter.strip() for parameter in parameters.split(",")]
    return [text.count("*") + text.count("[") for text in texts if text not in ("void", "")]
