"""Writes the shim functions that replace those of a communication library in a reproduced run.

The name of a function determines by its specification whether its operations may be held back, what it completes, and
whether it blocks. Functions without any of these properties are not replaced.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import assert_never

from pgasrob.runtime.interposed import INCLUDES, Function, Library

CONTEXT = r"shmemx?_(?:ctx_)?"
PUT = re.compile(CONTEXT + r"(?:\w+_put|put(?:\d+|mem))(_nbi)?")
STRIDED_PUT = re.compile(CONTEXT + r"(?:\w+_iput|iput\d+)")
P = re.compile(CONTEXT + r"\w+_p")
GET_NBI = re.compile(CONTEXT + r"(?:\w+_get|get(?:\d+|mem))_nbi")
UPDATE = re.compile(CONTEXT + r"[a-z0-9]+_atomic_(?:set|inc|add|and|or|xor)|shmemx?_[a-z0-9]+_(?:set|inc|add)")
FETCHING = re.compile(
    CONTEXT + r"(?:\w+_(?:get|iget|g|fetch|swap|cswap|fadd|finc|compare_swap|fetch_\w+)|i?get(?:\d+|mem))"
)
WAIT = re.compile(r"shmemx?_(\w+)_wait(_until)?|shmem_wait")
TEST = re.compile(r"shmem_(?:\w+_)?test(?:_lock)?")
COLLECTIVE = re.compile(
    r"(?P<completes>shmem_barrier|(?P<world>shmem_(?:barrier_all|malloc|calloc|free|realloc|align)|sh(?:m|re)alloc"
    r"|shmemalign|shfree))|(?P<sync>shmem_sync_all)"
    r"|shmemx?_(?:sync|f?collect\d+|broadcast\d+|alltoalls?\d+|\w+_to_all)"
)
ELEMENT = re.compile(r"i?(?:put|get)(?:(\d+)|mem)")

TRANSFERS = {
    "MPI_Put": "PUT", "MPI_Get": "GET", "MPI_Accumulate": "ACCUMULATE", "MPI_Get_accumulate": "GET_ACCUMULATE",
    "MPI_Fetch_and_op": "FETCH_AND_OP", "MPI_Compare_and_swap": "COMPARE_AND_SWAP",
    "MPI_Rput": "PUT", "MPI_Rget": "GET", "MPI_Raccumulate": "ACCUMULATE", "MPI_Rget_accumulate": "GET_ACCUMULATE",
}  # fmt: skip
BLOCKING = re.compile(
    r"MPI_(?:Barrier|Bcast|(?:All)?[Rr]educe|(?:All)?[Gg]atherv?|Scatterv?|Alltoall[vw]?|Scan|Exscan|Reduce_scatter(?:_block)?"
    r"|Win_(?:allocate\w*|create\w*|free|fence|start|wait)|(?:S|Ss|R)end|Recv|Sendrecv|Probe|Finalize|Comm_(?:split|dup|create|free))"
)
"""Calls in which a rank may wait for others."""
SYNCHRONISING = ("MPI_Win_fence",)
"""Calls in which the library makes all ranks wait for each other, though the specification does not require it."""
ALONE = re.compile(r"MPI_(?:Isend|Irecv|Issend|Iprobe|Win_(?:post|test|sync|lock|unlock|lock_all|unlock_all|flush\w*))")

PROFILING: dict[Library, str] = {"openshmem": "#include <pshmem.h>\n", "mpi": ""}
LEAVE = "    pgasrob_leave(entry);\n"


def wrappers(library: Library, functions: Iterable[Function]) -> str:
    """C source that defines those of the ``functions`` of ``library`` that the shim replaces."""
    own = f'#define _GNU_SOURCE\n#include "real.h"\n#include "hold_{library}.h"'
    made = [_wrapper(function, body) for function in functions if (body := _body(library, function)) is not None]
    return "\n".join([own, INCLUDES[library], PROFILING[library], *made]) + "\n"


def interposed(library: Library, function: Function) -> bool:
    """Whether the shim replaces ``function``."""
    return _body(library, function) is not None


def holds(name: str) -> bool:
    """Whether the operations of the function ``name`` can be held back."""
    return name in TRANSFERS or any(each.fullmatch(name) for each in (PUT, STRIDED_PUT, P, GET_NBI, UPDATE))


def collective(name: str) -> bool:
    """Whether ranks wait for each other within the function ``name``, and data moves that cannot be held back."""
    return COLLECTIVE.fullmatch(name) is not None or BLOCKING.fullmatch(name) is not None


def _wrapper(function: Function, body: str) -> str:
    """The shim's definition of ``function`` with a ``body``, which calls from within the library skip."""
    name = function.name
    call = f"real_{name}({function.passed});"
    on = f"{{ {call} return; }}" if function.result == "void" else f"return {call}"
    return (
        f"static {function.result} (*real_{name})({function.declared});\n{_kept(function)}#undef {name}\n"
        f"{function.result} {name}({function.declared}) {{\n"
        f'    if (!real_{name}) real_{name} = pgasrob_real("{function.profiling_name}", "{name}");\n'
        f"    if (pgasrob_inside) {on}\n{body}}}\n"
    )


def _body(library: Library, function: Function) -> str | None:
    """The body of the shim's ``function``; None if the shim does not replace it."""
    if function.variadic:
        return None
    match library:
        case "openshmem":
            return _operation(function) or _synchronisation(function)
        case "mpi":
            return _mpi(function)
        case _:
            assert_never(library)


def _enter(function: Function, blocking: str = "ALONE") -> str:
    return f'    struct entry *entry = pgasrob_enter("{function.name}", {blocking});\n'


def _context(function: Function) -> tuple[str, list[str]]:
    """The context of ``function`` and its other parameters."""
    parameters = [parameter.name for parameter in function.parameters]
    if re.match(r"shmemx?_ctx_(?!create)", function.name):
        return parameters[0], parameters[1:]
    return "SHMEM_CTX_DEFAULT", parameters


def _operation(function: Function) -> str | None:
    """The body for an operation on the memory of another PE, or a look at one's own."""
    name, size = function.name, _size(function)
    context, parameters = _context(function)
    if match := PUT.fullmatch(name):
        to, source, count, pe = parameters
        body = f"    pgasrob_put(entry, {context}, {to}, {source}, {size}, {count}, 1, 1, {pe}, {int(not match[1])});\n"
    elif STRIDED_PUT.fullmatch(name):
        to, source, to_stride, stride, count, pe = parameters
        strides = f"{to_stride}, {stride}"
        body = f"    pgasrob_put(entry, {context}, {to}, {source}, {size}, {count}, {strides}, {pe}, 1);\n"
    elif P.fullmatch(name):
        to, value, pe = parameters
        body = f"    pgasrob_put(entry, {context}, {to}, &{value}, sizeof {value}, 1, 1, 1, {pe}, 1);\n"
    elif GET_NBI.fullmatch(name):
        to, source, count, pe = parameters
        body = f"    pgasrob_get(entry, {context}, {to}, {source}, {size}, {count}, {pe});\n"
    elif UPDATE.fullmatch(name):
        body = _update(function, context, parameters[-1])
    elif FETCHING.fullmatch(name):
        return _enter(function) + _called(function) + _saw(function) + LEAVE + "    pgasrob_poll();\n" + _back(function)
    elif match := WAIT.fullmatch(name):
        fails = f"!pshmem_{match[1]}_test({function.passed})" if match[2] else f"*{parameters[0]} == {parameters[1]}"
        wait = f"    while (pgasrob_holding_all() && {fails}) pgasrob_idle();\n"
        return _enter(function) + wait + _called(function) + LEAVE
    elif TEST.fullmatch(name):
        return _enter(function) + _called(function) + LEAVE + "    if (!result) pgasrob_poll();\n" + _back(function)
    else:
        return None
    return _enter(function) + body + LEAVE


def _synchronisation(function: Function) -> str | None:
    """The body for a function that completes or orders operations, or makes PEs wait for each other."""
    name, call = function.name, _called(function)
    context, _ = _context(function)
    complete = f"    pgasrob_complete((void *){context}, -1);\n"
    match name:
        case "shmem_init" | "shmem_init_thread" | "start_pes":
            return call + "    pgasrob_begin();\n" + _back(function)
        case "shmem_finalize":
            own = f"    pgasrob_inside++;\n    pgasrob_finish(real_{name});\n    pgasrob_inside--;\n"
            return f'    pgasrob_enter("{name}", BLOCKING);\n    pgasrob_complete_all();\n{own}'
        case "shmem_quiet" | "shmem_ctx_quiet" | "shmem_clear_lock":
            return _enter(function) + complete + call + LEAVE
        case "shmem_ctx_destroy":
            return (
                _enter(function) + f"    pgasrob_complete((void *){function.parameters[0].name}, -1);\n" + call + LEAVE
            )
        case "shmem_fence" | "shmem_ctx_fence":
            return _enter(function) + f"    pgasrob_fence((void *){context});\n" + call + LEAVE
        case "shmem_set_lock":
            # The holder of the lock may need operations of this PE to be performed before it releases it.
            return _enter(function) + "    pgasrob_release_slowly();\n" + call + LEAVE
    if found := COLLECTIVE.fullmatch(name):
        complete = complete if found["completes"] else ""
        meet = "gather" if found["world"] or found["sync"] else "release_slowly"
        return _enter(function, "BLOCKING") + complete + f"    pgasrob_{meet}();\n" + call + LEAVE + _back(function)
    return None


def _update(function: Function, context: str, pe: str) -> str:
    """A deferred atomic: its arguments are kept, and it is done later."""
    name = function.name
    kept = f"struct kept_{name}"
    given = "".join(f"    kept->{each.name} = {each.name};\n" for each in function.parameters)
    return (
        "    struct operation *operation =\n"
        f"        pgasrob_operation((void *){context}, {pe}, do_{name}, sizeof({kept}));\n"
        f"    {kept} *kept = ({kept} *)operation->arguments;\n{given}"
        "    operation->fenced = 1;\n    pgasrob_issue(operation, entry, 0, 1);\n"
    )


def _mpi(function: Function) -> str | None:
    """The body for a function of MPI (MPI 3.1, chapter 11)."""
    name, call, given = function.name, _called(function), [parameter.name for parameter in function.parameters]
    enter, back = _enter(function), _back(function)
    if name in TRANSFERS:
        return enter + _transfer(name, given) + LEAVE + back
    match name:
        case "MPI_Init" | "MPI_Init_thread":
            return call + "    pgasrob_begin();\n" + back
        case "MPI_Finalize":
            own = "    pgasrob_complete_all();\n    pgasrob_inside++;\n    pgasrob_finish();\n    pgasrob_inside--;\n"
            return _enter(function, "BLOCKING") + own + call + LEAVE + back
        case "MPI_Win_flush" | "MPI_Win_unlock" | "MPI_Win_flush_local":
            rank, win = given
            local = "_locally" if name.endswith("local") else ""
            unlocked = f"    pgasrob_locked({win}, -1);\n" if name == "MPI_Win_unlock" else ""
            poll = "" if unlocked else "    pgasrob_poll();\n"
            return f"{enter}    pgasrob_complete{local}(PLACE({win}), {rank});\n{call}{unlocked}{LEAVE}{poll}{back}"
        case "MPI_Win_flush_all" | "MPI_Win_unlock_all" | "MPI_Win_flush_local_all":
            local = "_locally" if "local" in name else ""
            unlocked = f"    pgasrob_locked({given[0]}, -1);\n" if name == "MPI_Win_unlock_all" else ""
            return f"{enter}    pgasrob_complete{local}(PLACE({given[0]}), -1);\n{call}{unlocked}{LEAVE}{back}"
        case "MPI_Win_lock" | "MPI_Win_lock_all":
            # The holder of the lock may need operations of this PE to be performed before it releases it.
            return f"{enter}    pgasrob_release_slowly();\n{call}    pgasrob_locked({given[-1]}, 1);\n{LEAVE}{back}"
        case "MPI_Win_fence" | "MPI_Win_free" | "MPI_Win_start":
            win = f"*{given[0]}" if name == "MPI_Win_free" else given[-1]
            place = f"    const void *place = PLACE({win});\n"
            complete = "    pgasrob_complete(place, -1);\n    pgasrob_release_slowly();\n"
            return f"{_enter(function, 'BLOCKING')}{place}{complete}{call}    pgasrob_forget(place);\n{LEAVE}{back}"
        case "MPI_Win_create" | "MPI_Win_allocate" | "MPI_Win_allocate_shared":
            unit, _, comm = given[2:5] if name == "MPI_Win_create" else given[1:4]
            win = given[-1]
            own = f"    pgasrob_inside++;\n    pgasrob_window(*{win}, {unit}, {comm});\n    pgasrob_inside--;\n"
            return f"{_enter(function, 'BLOCKING')}    pgasrob_release_slowly();\n{call}{own}{LEAVE}{back}"
        case "MPI_Win_complete":
            return f"{enter}    pgasrob_ends({given[0]});\n{LEAVE}    return MPI_SUCCESS;\n"
        case "MPI_Wait":
            return f"{enter}    pgasrob_requests(1, {given[0]});\n{call}{LEAVE}{back}"
        case "MPI_Waitall" | "MPI_Waitany" | "MPI_Waitsome" | "MPI_Testall" | "MPI_Testany" | "MPI_Testsome":
            return f"{enter}    pgasrob_requests({given[0]}, {given[1]});\n{call}{LEAVE}{back}"
        case "MPI_Test":
            request, flag, _ = given
            no = f"{{ *{flag} = 0; {LEAVE.strip()} return MPI_SUCCESS; }}"
            not_yet = f"    if (pgasrob_not_yet(entry, {request})) {no}\n"
            return enter + not_yet + call + LEAVE + f"    if (!*{flag}) pgasrob_poll();\n" + back
        case "MPI_Barrier" | "MPI_Send" | "MPI_Recv":
            slow = {"MPI_Barrier": "barrier", "MPI_Send": "send", "MPI_Recv": "receive"}[name]
            either = f"pgasrob_holding_all() ? pgasrob_{slow}({function.passed}) : real_{name}({function.passed})"
            own = f"    pgasrob_inside++;\n    int result = {either};\n    pgasrob_inside--;\n"
            return _enter(function, "BLOCKING") + own + LEAVE + back
    if BLOCKING.fullmatch(name):
        return _enter(function, "BLOCKING") + "    pgasrob_release_slowly();\n" + call + LEAVE + back
    if ALONE.fullmatch(name):
        return enter + call + LEAVE + "    pgasrob_poll();\n" + back
    return None


def _transfer(name: str, given: list[str]) -> str:
    """An operation of MPI, which may be held back; ``given``: its arguments, in the order of its kind."""
    request = "NULL"
    if name.startswith("MPI_R"):
        *given, request = given
    nothing = ["NULL", "0", "MPI_DATATYPE_NULL"]
    match TRANSFERS[name], given:
        case "PUT", [*source, rank, place, count, type, win]:
            passed = [*source, "NULL", *nothing, rank, place, count, type, "MPI_REPLACE", win]
        case "GET", [*result, rank, place, count, type, win]:
            passed = [*nothing, "NULL", *result, rank, place, count, type, "MPI_NO_OP", win]
        case "ACCUMULATE", [*source, rank, place, count, type, op, win]:
            passed = [*source, "NULL", *nothing, rank, place, count, type, op, win]
        case "GET_ACCUMULATE", [source, number, kind, *result, rank, place, count, type, op, win]:
            passed = [source, number, kind, "NULL", *result, rank, place, count, type, op, win]
        case "FETCH_AND_OP", [source, result, type, rank, place, op, win]:
            passed = [source, "1", type, "NULL", result, "1", type, rank, place, "1", type, op, win]
        case "COMPARE_AND_SWAP", [source, compared, result, type, rank, place, win]:
            passed = [source, "1", type, compared, result, "1", type, rank, place, "1", type, "MPI_REPLACE", win]
        case _:
            raise AssertionError(f"{name} has other parameters: {given}")
    call = f"pgasrob_transfer(entry, {TRANSFERS[name]}, {', '.join(passed)}, {request})"
    return f"    int result = {call};\n"


def _kept(function: Function) -> str:
    """The C struct for the arguments of a deferred atomic, and the function that performs it; "" for others."""
    if not UPDATE.fullmatch(function.name):
        return ""
    kept = f"struct kept_{function.name}"
    passed = ", ".join(f"kept->{parameter.name}" for parameter in function.parameters)
    fields = "".join(f"    {parameter.declared};\n" for parameter in function.parameters)
    return (
        f"{kept} {{\n{fields}}};\nstatic void do_{function.name}(struct operation *operation) {{\n"
        f"    {kept} *kept = ({kept} *)operation->arguments;\n    real_{function.name}({passed});\n}}\n"
    )


def _size(function: Function) -> str:
    """The bytes of one element that ``function`` transfers."""
    found = ELEMENT.search(function.name)
    if found is not None and found[1]:
        return str(int(found[1]) // 8)
    if found is not None and found[0].endswith("mem"):
        return "1"
    parameters = _context(function)[1]
    return f"sizeof *{parameters[0]}" if parameters else ""


def _called(function: Function) -> str:
    result = "" if function.result == "void" else f"{function.result} result = "
    return f"    pgasrob_inside++;\n    {result}real_{function.name}({function.passed});\n    pgasrob_inside--;\n"


def _back(function: Function) -> str:
    return "" if function.result == "void" else "    return result;\n"


def _saw(function: Function) -> str:
    """The code that reports what was read."""
    if function.result != "void":
        return "    pgasrob_saw(entry, &result, sizeof result);\n"
    return f"    pgasrob_saw(entry, {_context(function)[1][0]}, {_size(function)});\n"
