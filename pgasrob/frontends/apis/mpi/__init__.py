"""MPI: one-sided communication of MPI-3 and MPI-4, and as much of the rest as one-sided programs use.

Every (window, target) has one unordered queue, every request of a one-sided call its own. Windows, communicators,
groups, datatypes and counts must be known at every place; target ranks and displacements need not be.
"""

from __future__ import annotations

from pgasrob.frontends.apis.interface import Api
from pgasrob.frontends.apis.mpi import messages, requests, rma, setup, windows
from pgasrob.frontends.apis.mpi.names import CONSTANTS, FUNCTIONS, TYPES

_SHARED = "no rank reaches another one's memory by loads and stores: use MPI_Win_allocate and MPI_Put"
_DYNAMIC = "addresses of other ranks as displacements are not supported: use MPI_Win_create or MPI_Win_allocate"
_VARYING = "blocks of different sizes are not supported: use the form with one count"

UNSUPPORTED = {
    "MPI_Win_allocate_shared": _SHARED,
    "MPI_Win_shared_query": _SHARED,
    "MPI_Win_create_dynamic": _DYNAMIC,
    "MPI_Win_attach": _DYNAMIC,
    "MPI_Win_detach": _DYNAMIC,
    "MPI_Get_address": _DYNAMIC,
    "MPI_Address": _DYNAMIC,
    "MPI_Gatherv": _VARYING,
    "MPI_Scatterv": _VARYING,
    "MPI_Allgatherv": _VARYING,
    "MPI_Alltoallv": _VARYING,
    "MPI_Alltoallw": _VARYING,
    "MPI_Op_create": "operations of the program's own are not supported: use MPI_SUM and the like",
    "MPI_Type_*": "this kind of datatype is not supported: use basic types, MPI_Type_contiguous or MPI_Type_vector",
    "MPI_Probe": "receive with a known source, tag and count",
    "MPI_Iprobe": "receive with a known source, tag and count",
    "MPI_File_*": "files are not supported",
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
    handler=FUNCTIONS.handler,
    functions=FUNCTIONS.handlers,
    unsupported=UNSUPPORTED,
    specifications={"": "MPI 4.0"},
)

__all__ = ["API", "messages", "requests", "rma", "setup", "windows"]
