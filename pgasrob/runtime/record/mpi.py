"""Writes the recording functions of MPI: for each function the records before and after the call of the library's own.

Names and operands are those of MPI 3.1. A function that is neither described here nor known to be irrelevant is
recorded as unknown. ``mpi.c`` has the functions whose statuses the recording needs even if the caller ignores them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pgasrob.runtime.interposed import definitions, functions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pgasrob.runtime.interposed import Function

WRITTEN_OUT = {
    *("Recv", "Sendrecv", "Wait", "Waitall", "Waitany", "Waitsome", "Test", "Testall", "Testany", "Testsome")
}
SILENT = re.compile(
    r"MPI_(Comm_(rank|size|get_\w+|set_\w+|compare|group|remote_\w+|test_inter|call_errhandler|create_errhandler"
    r"|create_keyval|free_keyval|delete_attr|free)"
    r"|Win_(get_\w+|set_\w+|call_errhandler|create_errhandler|create_keyval|free_keyval|delete_attr)"
    r"|Type_\w+|Info_\w+|Group_\w+|Error_\w+|Errhandler_\w+|Add_error_\w+|Address|Aint_\w+|Alloc_mem|Free_mem|Attr_\w+"
    r"|Keyval_\w+|Cart_(coords|get|map|rank|shift)|Cartdim_get|Dims_create|Dist_graph_neighbors\w*"
    r"|Graph_(get|map|neighbors\w*)|Graphdims_get|Get_(address|count|elements|elements_x|library_version|processor_name"
    r"|version)|Op_\w+|Pack_size|Pack_external_size|Pcontrol|Query_thread|Initialized|Finalized|Is_thread_main|Status_\w+"
    r"|T_\w+|Topo_test|Test_cancelled|Wtick|Wtime|Buffer_\w+|Register_datarep"
    r"|File_(call_errhandler|create_errhandler|delete|get_\w+|open|close|preallocate|seek|seek_shared|set_\w+|sync)"
    r"|(Comm|File|Message|Request|Win)_(c2f|f2c)|Publish_name|Unpublish_name|Lookup_name|Open_port|Close_port)"
)
"""Functions that neither communicate, nor order accesses, nor touch the program's data."""

NO_REQUEST, REQUEST = "0", "made_request"
Described = tuple[str, str]
"""C statements before and after the call. ``{0}``, ``{1}``, ... are the parameters, ``{name}`` the function's name in
quotes, ``made_request`` the identity of the request that the function makes."""


def _part(first: int) -> str:
    return f"(struct part){{{{{{{first}}}, {{{first + 1}}}, {{{first + 2}}}}}}}"


NOTHING = "(struct part){{NULL, 0, MPI_BYTE}}"


def _rma(operation: str, request: bool) -> Described:
    before = (
        f"pgasrob_rma({operation}, {{name}}, HERE, {_part(0)}, {{3}}, {{4}}, {{5}}, {{6}}, {{7}}, "
        f"{REQUEST if request else NO_REQUEST});"
    )
    return before, f"if ({{3}} != MPI_PROC_NULL) {_made(8)}" if request else ""


def _made(request: int, receives: bool = False, communicator: str = "MPI_COMM_NULL") -> str:
    return f"pgasrob_requested(*{{{request}}}, made_request, {str(receives).lower()}, {communicator});"


def _accumulate(request: bool) -> Described:
    before = (
        f"pgasrob_accumulate(0, {{name}}, HERE, {_part(0)}, {NOTHING}, {NOTHING}, {{3}}, {{4}}, {{5}}, {{6}}, "
        f"pgasrob_update({{7}}), {{8}}, {REQUEST if request else NO_REQUEST});"
    )
    return before, f"if ({{3}} != MPI_PROC_NULL) {_made(9)}" if request else ""


def _get_accumulate(request: bool) -> Described:
    before = (
        f"pgasrob_accumulate(CALL_FETCHING, {{name}}, HERE, {_part(0)}, {_part(3)}, {NOTHING}, {{6}}, {{7}}, {{8}}, "
        f"{{9}}, pgasrob_update({{10}}), {{11}}, {REQUEST if request else NO_REQUEST});"
    )
    return before, f"if ({{6}} != MPI_PROC_NULL) {_made(12)}" if request else ""


def _window(operation: str, operands: str, *after: str) -> Described:
    """The statements of a call that orders accesses."""
    before = f"pgasrob_call({operation}, 0, {{name}}, NULL, HERE, WORDS({operands}));"
    return before, " ".join([f"pgasrob_return({operation}, NULL, 0);", *after])


def _made_window(flavour: str, address: str, size: str, unit: str, communicator: int, window: int) -> Described:
    before = (
        "pgasrob_call(OP_WINDOW_CREATE, 0, {name}, NULL, HERE, "
        f"WORDS(pgasrob_group_of({{{communicator}}}), {flavour}, (word)({size}), (word)(int64_t)({unit}), 2));"
    )
    return before, f"pgasrob_window(*{{{window}}}, {{{communicator}}}, {flavour}, {address}, {size}, {unit}, HERE);"


def _send(mode: int, nonblocking: bool) -> Described:
    before = (
        f"pgasrob_send({'CALL_NONBLOCKING' if nonblocking else '0'}, {{name}}, HERE, {mode}, {_part(0)}, {{3}}, {{4}}, "
        f"{{5}}, {REQUEST if nonblocking else NO_REQUEST});"
    )
    sent = "if ({3} != MPI_PROC_NULL && pgasrob_group_of({5})) "
    return before, sent + (_made(6) if nonblocking else "pgasrob_return(OP_SEND, NULL, 0);")


def _collective(
    kind: str, data: str, communicator: int, root: str = "-1", update: str = "UPDATE_NONE"
) -> tuple[str, int]:
    """The call that records a collective, up to its request, and the place of the communicator among the parameters.
    ``data``: destination, source, count, type."""
    call = f"pgasrob_mpi_collective({kind}, {update}, {{name}}, HERE, {root}, {data}, {{{communicator}}}, "
    return call, communicator


def _probe(waits: str) -> str:
    return f"pgasrob_probe({{name}}, HERE, {{0}}, {{1}}, {{2}}, {waits});"


COLLECTIVES: dict[str, tuple[str, int]] = {
    "Barrier": _collective("COLLECTIVE_SYNC", "NULL, NULL, 0, MPI_DATATYPE_NULL", 0),
    "Bcast": _collective("COLLECTIVE_BROADCAST", "{0}, {0}, {1}, {2}", 4, "{3}"),
    "Allgather": _collective("COLLECTIVE_FCOLLECT", "{3}, {0}, {4}, {5}", 6),
    "Allgatherv": _collective("COLLECTIVE_COLLECT", "{3}, {0}, -1, {6}", 7),
    "Alltoall": _collective("COLLECTIVE_ALLTOALL", "{3}, {0}, {4}, {5}", 6),
    "Alltoallv": _collective("COLLECTIVE_ALLTOALL", "{4}, {0}, -1, {7}", 8),
    "Alltoallw": _collective("COLLECTIVE_ALLTOALL", "{4}, {0}, -1, MPI_DATATYPE_NULL", 8),
    "Allreduce": _collective("COLLECTIVE_REDUCE_ALL", "{1}, {0}, {2}, {3}", 5, update="pgasrob_update({4})"),
    "Reduce": _collective("COLLECTIVE_REDUCE", "{1}, {0}, {2}, {3}", 6, "{5}", "pgasrob_update({4})"),
    "Gather": _collective("COLLECTIVE_GATHER", "{3}, {0}, {1}, {2}", 7, "{6}"),
    "Gatherv": _collective("COLLECTIVE_GATHER", "{3}, {0}, {1}, {2}", 8, "{7}"),
    "Scatter": _collective("COLLECTIVE_SCATTER", "{3}, {0}, {4}, {5}", 7, "{6}"),
    "Scatterv": _collective("COLLECTIVE_SCATTER", "{4}, {0}, {5}, {6}", 8, "{7}"),
    "Scan": _collective("COLLECTIVE_SCAN", "{1}, {0}, {2}, {3}", 5, update="pgasrob_update({4})"),
    "Exscan": _collective("COLLECTIVE_EXSCAN", "{1}, {0}, {2}, {3}", 5, update="pgasrob_update({4})"),
    "Reduce_scatter": _collective("COLLECTIVE_REDUCE_SCATTER", "{1}, {0}, -1, {3}", 5, update="pgasrob_update({4})"),
    "Reduce_scatter_block": _collective(
        "COLLECTIVE_REDUCE_SCATTER", "{1}, {0}, {2}, {3}", 5, update="pgasrob_update({4})"
    ),
}

_WINDOW = "pgasrob_window_of({0})"
_LAST_WINDOW = "pgasrob_window_of({1})"
_ALL = "UINT64_MAX"
_COMMUNICATOR = "pgasrob_call(OP_COMMUNICATOR, 0, {name}, NULL, HERE, WORDS(pgasrob_group_of({0})));"


def _flush(local: bool, every: bool) -> Described:
    window, rank = (_WINDOW, _ALL) if every else (_LAST_WINDOW, "pgasrob_rank_in({1}, {0})")
    flags = "CALL_LOCAL" if local else "0"
    return (
        f"pgasrob_call(OP_FLUSH, {flags}, {{name}}, NULL, HERE, WORDS({window}, {rank}));",
        f"pgasrob_return(OP_FLUSH, NULL, 0); pgasrob_buffers_done({window}, (int){rank});",
    )


DESCRIBED: dict[str, Described] = {
    "Put": _rma("OP_PUT", False),
    "Get": _rma("OP_GET", False),
    "Rput": _rma("OP_PUT", True),
    "Rget": _rma("OP_GET", True),
    "Accumulate": _accumulate(False),
    "Raccumulate": _accumulate(True),
    "Get_accumulate": _get_accumulate(False),
    "Rget_accumulate": _get_accumulate(True),
    "Fetch_and_op": (
        "pgasrob_accumulate(CALL_FETCHING, {name}, HERE, (struct part){{{0}, 1, {2}}}, (struct part){{{1}, 1, {2}}}, "
        f"{NOTHING}, {{3}}, {{4}}, 1, {{2}}, pgasrob_update({{5}}), {{6}}, 0);",
        "",
    ),
    "Compare_and_swap": (
        "pgasrob_accumulate(CALL_FETCHING, {name}, HERE, (struct part){{{0}, 1, {3}}}, (struct part){{{2}, 1, {3}}}, "
        "(struct part){{{1}, 1, {3}}}, {4}, {5}, 1, {3}, UPDATE_COMPARE_SWAP, {6}, 0);",
        "",
    ),
    "Win_create": _made_window("WINDOW_CREATE", "{0}", "{1}", "{2}", 4, 5),
    "Win_allocate": _made_window("WINDOW_ALLOCATE", "*(void **){4}", "{0}", "{1}", 3, 5),
    "Win_allocate_shared": _made_window("WINDOW_SHARED", "*(void **){4}", "{0}", "{1}", 3, 5),
    "Win_create_dynamic": _made_window("WINDOW_DYNAMIC", "NULL", "0", "1", 1, 2),
    "Win_free": (
        "gone = pgasrob_window_of(*{0}); pgasrob_call(OP_WINDOW_FREE, 0, {name}, NULL, HERE, WORDS(gone));",
        "pgasrob_window_gone(gone);",
    ),
    "Win_fence": _window(
        "OP_WINDOW_FENCE", f"{_LAST_WINDOW}, (word){{0}}", f"pgasrob_buffers_done({_LAST_WINDOW}, -1);"
    ),
    "Win_post": _window("OP_POST", "pgasrob_window_of({2}), (word){1}, pgasrob_members({0})"),
    "Win_start": _window("OP_START", "pgasrob_window_of({2}), (word){1}, pgasrob_members({0})"),
    "Win_complete": _window("OP_COMPLETE", _WINDOW, f"pgasrob_buffers_done({_WINDOW}, -1);"),
    "Win_wait": _window("OP_WAIT", _WINDOW),
    "Win_test": (
        f"pgasrob_call(OP_TEST_EXPOSURE, 0, {{name}}, NULL, HERE, WORDS({_WINDOW}));",
        "pgasrob_return(OP_TEST_EXPOSURE, WORDS((word)(*{1} != 0)));",
    ),
    "Win_lock": _window(
        "OP_LOCK", "pgasrob_window_of({3}), pgasrob_rank_in({3}, {1}), {0} == MPI_LOCK_EXCLUSIVE ? 1 : 2, (word){2}"
    ),
    "Win_unlock": _window(
        "OP_UNLOCK",
        f"{_LAST_WINDOW}, pgasrob_rank_in({{1}}, {{0}})",
        f"pgasrob_buffers_done({_LAST_WINDOW}, (int)pgasrob_rank_in({{1}}, {{0}}));",
    ),
    "Win_lock_all": _window("OP_LOCK_ALL", f"{_LAST_WINDOW}, (word){{0}}"),
    "Win_unlock_all": _window("OP_UNLOCK_ALL", _WINDOW, f"pgasrob_buffers_done({_WINDOW}, -1);"),
    "Win_flush": _flush(False, False),
    "Win_flush_all": _flush(False, True),
    "Win_flush_local": _flush(True, False),
    "Win_flush_local_all": _flush(True, True),
    "Win_sync": (f"pgasrob_call(OP_WINDOW_SYNC, 0, {{name}}, NULL, HERE, WORDS({_WINDOW}));", ""),
    "Win_attach": (
        f"pgasrob_call(OP_ATTACH, 0, {{name}}, NULL, HERE, WORDS({_WINDOW}, (word){{1}}, (word){{2}}));",
        f"pgasrob_region(REGION_WINDOW, {{1}}, (size_t){{2}}, {_WINDOW}, -1, 0, HERE);",
    ),
    "Win_detach": (
        f"pgasrob_call(OP_DETACH, 0, {{name}}, NULL, HERE, WORDS({_WINDOW}, (word){{1}})); "
        f"pgasrob_end_of_region(REGION_WINDOW, {{1}}, {_WINDOW});",
        "",
    ),
    "Win_shared_query": ("", ""),  # the views are written when the window is made
    **{f"{mode}end": _send(number, False) for number, mode in enumerate(("S", "Bs", "Ss", "Rs"))},
    **{f"I{mode}send": _send(number, True) for number, mode in enumerate(("", "b", "s", "r"))},
    "Irecv": (
        f"pgasrob_receive({{name}}, HERE, {_part(0)}, {{3}}, {{4}}, {{5}}, made_request);",
        "if ({3} != MPI_PROC_NULL && pgasrob_group_of({5})) " + _made(6, True, "{5}"),
    ),
    "Send_init": ("", "pgasrob_persistent(*{6}, false, 0, {0}, {1}, {2}, {3}, {4}, {5});"),
    "Bsend_init": ("", "pgasrob_persistent(*{6}, false, 1, {0}, {1}, {2}, {3}, {4}, {5});"),
    "Ssend_init": ("", "pgasrob_persistent(*{6}, false, 2, {0}, {1}, {2}, {3}, {4}, {5});"),
    "Rsend_init": ("", "pgasrob_persistent(*{6}, false, 3, {0}, {1}, {2}, {3}, {4}, {5});"),
    "Recv_init": ("", "pgasrob_persistent(*{6}, true, 0, {0}, {1}, {2}, {3}, {4}, {5});"),
    "Start": ("pgasrob_started(*{0}, {name}, HERE);", ""),
    "Startall": ("for (int i = 0; i < {0}; i++) pgasrob_started({1}[i], {name}, HERE);", ""),
    "Request_free": ("pgasrob_request_free(*{0}, {name}, HERE);", ""),
    "Cancel": ("pgasrob_not_known({name}, \"cancelled requests are not followed\", HERE);", ""),
    "Probe": (_probe("1"), "pgasrob_probed(1, {3}, {2});"),
    "Iprobe": (_probe("0"), "pgasrob_probed(*{3}, {4}, {2});"),
    "Comm_dup": (_COMMUNICATOR, "pgasrob_communicator(*{1});"),
    "Comm_dup_with_info": (_COMMUNICATOR, "pgasrob_communicator(*{2});"),
    "Comm_create": (_COMMUNICATOR, "pgasrob_communicator(*{2});"),
    "Comm_create_group": (_COMMUNICATOR, "pgasrob_communicator(*{3});"),
    "Comm_split": (_COMMUNICATOR, "pgasrob_communicator(*{3});"),
    "Comm_split_type": (_COMMUNICATOR, "pgasrob_communicator(*{4});"),
    "Cart_create": (_COMMUNICATOR, "pgasrob_communicator(*{5});"),
    "Cart_sub": (_COMMUNICATOR, "pgasrob_communicator(*{2});"),
    "Graph_create": (_COMMUNICATOR, "pgasrob_communicator(*{5});"),
    "Dist_graph_create": (_COMMUNICATOR, "pgasrob_communicator(*{8});"),
    "Dist_graph_create_adjacent": (_COMMUNICATOR, "pgasrob_communicator(*{9});"),
    "Abort": ("pgasrob_call(OP_EXIT, 0, {name}, NULL, HERE, WORDS((word)(int64_t){1}));", ""),
}  # fmt: skip
for _name, (_text, _communicator) in COLLECTIVES.items():
    DESCRIBED[_name] = (f"{_text}0);", "pgasrob_collected(0);")
    DESCRIBED[f"I{_name.lower()}"] = (f"{_text}made_request);", _made(_communicator + 1))
REQUESTING = re.compile(r"I(?!nit|s_|nfo|probe|mprobe|mrecv|ntercomm)\w+|R(put|get|accumulate|get_accumulate)")


def recording(compiler: Sequence[str]) -> str:
    """C source that defines the functions of the header that ``compiler`` finds. Raises ``HeaderError``.

    Each has its name in the profiling interface as well: the libraries of Fortran's functions call that.
    """
    found = [function for function in functions(compiler, "mpi") if not function.name.startswith("MPI_T_")]
    aliases = [
        f'{function.result} P{function.name}({function.declared}) __attribute__((alias("{function.name}")));'
        for function in found
        if body(function) is not None
    ]
    return '#include "pgasrob_mpi.h"\n' + definitions("mpi", found, body) + "\n".join(aliases) + "\n"


def body(function: Function) -> str | None:
    """The body of the recording function; None for functions that need none, or that are written out in ``mpi.c``."""
    name = function.name.removeprefix("MPI_")
    if SILENT.fullmatch(function.name) or name in WRITTEN_OUT or function.variadic:
        return None
    parameters = [parameter.name for parameter in function.parameters]
    fixed = {"name": f'"{function.name}"'}
    if name in ("Init", "Init_thread"):
        level = f"*{parameters[-1]}" if name == "Init_thread" else "0"
        return (
            f"    pgasrob_enter();\n    int result = real({function.passed});\n"
            f'    pgasrob_mpi_begin({level}, "{function.name}", HERE);\n    pgasrob_leave();\n    return result;\n'
        )
    if name == "Finalize":
        return (
            '    if (pgasrob_enter()) pgasrob_call(OP_FINALISE, 0, "MPI_Finalize", NULL, HERE, NULL, 0);\n'
            "    int result = real();\n"
            "    if (pgasrob_begun) pgasrob_return(OP_FINALISE, NULL, 0), pgasrob_end();\n"
            "    pgasrob_leave();\n    return result;\n"
        )
    described = DESCRIBED.get(name)
    if described is None:
        described = ('pgasrob_not_known({name}, "the function is not described", HERE);', "")
    before, after = (text.format(*parameters, **fixed) for text in described)
    request = "pgasrob_request()" if REQUESTING.fullmatch(name) and name in DESCRIBED else "0"
    return (
        "    word made_request = 0, gone = 0;\n    (void)made_request, (void)gone;\n"
        "    bool recorded = pgasrob_enter();\n"
        f"    if (recorded) {{ made_request = {request}; {before} }}\n"
        f"    {function.result} result = real({function.passed});\n"
        f"    if (recorded) {{ {after} }}\n"
        "    pgasrob_leave();\n    return result;\n"
    )
