"""The declarations that calls are compiled with: all are C, and as in the headers of a library where there is one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pgasrob.frontends.apis.interface import Api, Outcome
from pgasrob.frontends.apis.mpi import API as MPI
from pgasrob.frontends.apis.mpi.header import FUNCTIONS as MPI_FUNCTIONS
from pgasrob.frontends.apis.openshmem import API as OPENSHMEM
from pgasrob.frontends.apis.openshmem.header import CONTEXT
from pgasrob.frontends.apis.openshmem.header import FUNCTIONS as OPENSHMEM_FUNCTIONS
from pgasrob.frontends.apis.prototypes import Prototypes, enumerators
from pgasrob.frontends.c.compiler import declared_function
from pgasrob.frontends.c.types import DOUBLE, INT, ULONG, Pointer
from pgasrob.frontends.c.values import UNDEFINED, Known
from pgasrob.program.assumptions import Kind
from pgasrob.program.commands import Store
from pgasrob.program.expressions import Const
from tests.frontends.apis.recorder import Argument, RecordedCall, lines, variable

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


def a_table() -> Prototypes:
    """One function for each way to add some."""
    table = Prototypes("int ", Known(4))
    table.nothing("idle(void)", Kind.HINTS)
    table.returns("size(int n); sign(int n)", lambda call: call.known(0) + 1)
    table.stores("get(int *first, const int *unused, int *to, int last)", INT, 6, Kind.FIXED_ANSWERS)
    table.does("step(void)")(lambda call, steps: steps.do(Store(Const(1), Const(2))))
    table.returning(UNDEFINED).does("double other(void)")(lambda call, steps: None)
    return table


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("idle", (), ["return 4"]),
        ("size", (7,), ["return 8"]),
        ("sign", (-1,), ["return 0"]),
        ("get", (variable("a"), variable("b"), variable("c"), 3), ["*('c',)+0 = 6", "return 4"]),
        ("get", (variable("a"), variable("b"), None, 3), ["return 4"]),
        ("step", (), ["mem[1] <- 2", "return 4"]),
        ("other", (), []),
    ],
)
def test_functions_of_a_table(name: str, arguments: tuple[Argument, ...], expected: list[str]) -> None:
    handler = a_table().handler(name)
    assert handler is not None
    outcome = handler(RecordedCall(name, arguments))  # type: ignore[arg-type]
    assert isinstance(outcome, Outcome) and lines(outcome) == expected


def test_a_table_has_declarations_and_assumptions() -> None:
    table, call = a_table(), RecordedCall("idle", ())
    table.alias(lambda name: f"p{name}")
    assert table.declaration("psize", ()) == "int psize(int n);"
    assert table.declaration("other", ()) == "double other(void);"
    handler = table.handler("pidle")
    assert handler is not None and handler(call)  # type: ignore[arg-type]
    assert call.assumed == [(Kind.HINTS, ("idle",))]


def test_enumerators_are_numbered_as_in_c() -> None:
    assert enumerators("A, B = 7, C,\n D = -2, E") == {"A": 0, "B": 7, "C": 8, "D": -2, "E": -1}
