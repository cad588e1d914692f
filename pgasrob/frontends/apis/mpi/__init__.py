"""MPI: one-sided communication of MPI-3 and MPI-4, and as much of the rest as one-sided programs use.

Every (window, target) has one unordered queue, every request of a one-sided call its own. Windows, communicators,
groups, datatypes and counts must be known at every place; target ranks and displacements need not be.
"""

from __future__ import annotations

from pgasrob.frontends.apis.interface import Api
from pgasrob.frontends.apis.mpi import (
    addresses,
    attributes,
    collectives,
    datatypes,
    files,
    infos,
    life,
    locks,
    messages,
    nonblocking,
    requests,
    rma,
    setup,
    topologies,
    windows,
)
from pgasrob.frontends.apis.mpi.further_functions import FURTHER
from pgasrob.frontends.apis.mpi.header import CONSTANTS, FUNCTIONS, TYPES

_VARYING = "blocks of different sizes are not supported: use the form with one count"

UNSUPPORTED = {
    "MPI_Alltoallv": _VARYING,
    "MPI_Alltoallw": _VARYING,
    "MPI_Op_create": "user-defined operations are not supported: use MPI_SUM or another predefined one",
    "MPI_Type_*": "this function on datatypes is not supported: only those that make, commit, free and measure them",
    "MPI_File_*": "of the calls on files, only those that open, close, read and write at once are supported",
    "MPI_Comm_spawn*": "processes cannot be added",
    "MPI_Start*": "persistent requests are not supported: use MPI_Isend and MPI_Irecv",
    "MPI_Send_init": "persistent requests are not supported: use MPI_Isend",
    "MPI_Recv_init": "persistent requests are not supported: use MPI_Irecv",
    "MPI_I*": "this nonblocking collective is not supported: use the blocking one",
    "MPI_T_*": "the tools interface is not supported",
    "PMPI_*": "call the function without the P of the profiling interface",
    "MPI_*": "not among the functions that are supported: one-sided communication, messages, simple collectives",
}

API = Api(
    name="mpi",
    headers=("mpi.h",),
    types=TYPES,
    constants=CONSTANTS,
    declaration=FUNCTIONS.declaration,
    handler=life.handler,
    functions=FUNCTIONS.handlers,
    unsupported=UNSUPPORTED,
    further=FURTHER | {f"P{name}" for name in FUNCTIONS.handlers},
    shows=frozenset(
        name
        for name in FUNCTIONS.handlers
        if name.startswith("MPI_File_") and not any(each in name for each in ("read", "get"))
    ),
    specifications={"": "MPI 4.0"},
)

__all__ = [
    "API", "addresses", "attributes", "collectives", "datatypes", "files", "infos", "life", "locks", "messages",
    "nonblocking", "requests", "rma", "setup", "topologies", "windows",
]  # fmt: skip
