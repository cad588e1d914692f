"""Writes the recording functions of OpenSHMEM: for each function the records before and after the library's own call.

Names and operands are those of OpenSHMEM 1.4, section 9 and the deprecated names; from 1.5 the operations with a signal
and the nonblocking atomics. A function that is neither described nor known to be irrelevant is recorded as unknown.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pgasrob.runtime.interposed import functions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pgasrob.runtime.interposed import Function

SILENT = re.compile(
    r"shmemx?_(my_pe|n_pes|info_get_.*|pe_accessible|addr_accessible|query_thread|udcflush(_line)?|(set|clear)_cache_.*"
    r"|wtime|team_my_pe|team_n_pes|team_translate_pe|team_get_config|pcontrol)"
)
"""Functions that neither communicate nor order anything."""

UPDATES = {
    "fetch": "UPDATE_NONE",
    "set": "UPDATE_SET",
    "swap": "UPDATE_SET",
    "compare_swap": "UPDATE_COMPARE_SWAP",
    "cswap": "UPDATE_COMPARE_SWAP",
    "inc": "UPDATE_ADD",
    "add": "UPDATE_ADD",
    "finc": "UPDATE_ADD",
    "fadd": "UPDATE_ADD",
    "and": "UPDATE_AND",
    "or": "UPDATE_OR",
    "xor": "UPDATE_XOR",
    "min": "UPDATE_MIN",
    "max": "UPDATE_MAX",
    "sum": "UPDATE_ADD",
    "prod": "UPDATE_PRODUCT",
}

TRANSFER = re.compile(r"shmemx?_(ctx_)?((\w+?)_)?(i?)(put|get)(mem|8|16|32|64|128)?(_signal)?(_nbi)?")
SINGLE = re.compile(r"shmemx?_(ctx_)?(\w+)_([pg])")
ATOMIC = re.compile(r"shmemx?_(ctx_)?(\w+?)_atomic_((fetch)_)?(\w+?)(_nbi)?")
OLD_ATOMIC = re.compile(r"shmemx?_((\w+?)_)?(swap|cswap|fadd|finc|add|inc|fetch|set)")
WAIT = re.compile(r"shmemx?_((\w+?)_)?(wait|wait_until|test)")
REDUCTION = re.compile(r"shmemx?_(\w+?)_(\w+)_to_all")
COLLECTIVES = {
    "broadcast": "COLLECTIVE_BROADCAST",
    "collect": "COLLECTIVE_COLLECT",
    "fcollect": "COLLECTIVE_FCOLLECT",
    "alltoall": "COLLECTIVE_ALLTOALL",
    "alltoalls": "COLLECTIVE_ALLTOALLS",
}
COLLECTIVE = re.compile(rf"shmem_({'|'.join(COLLECTIVES)})(32|64|)")


def recording(compiler: Sequence[str]) -> str:
    """C source that defines the functions of the header that ``compiler`` finds. Raises ``HeaderError``."""
    from pgasrob.runtime.interposed import definitions

    return '#include "pgasrob_openshmem.h"\n' + definitions("openshmem", functions(compiler, "openshmem"), body)


def body(function: Function) -> str | None:
    """The body of the recording function; None for functions that need none."""
    if SILENT.fullmatch(function.name):
        return None
    if (special := SPECIAL.get(function.name)) is not None:
        return special(function)
    before, after = described(function)
    return around(function, before, after)


def around(function: Function, before: str, after: str) -> str:
    """The call of the library's function between two statements, which are skipped in calls from within the library."""
    result = f"{function.result} result = " if function.result != "void" else ""
    return (
        "    bool recorded = pgasrob_enter();\n"
        f"    if (recorded) {{ {before} }}\n"
        f"    {result}real({function.passed});\n"
        f"    if (recorded) {{ {after} }}\n"
        "    pgasrob_leave();\n"
        f"{'    return result;' if result else ''}\n"
    )


def pointed(declared: str) -> str:
    """The C type that a parameter points to: "long" of "volatile long *lock"."""
    return " ".join(word for word in declared.partition("*")[0].split() if word not in ("const", "volatile"))


def arguments(function: Function, context: str | None) -> tuple[str, list[str]]:
    """The queue, and the names of the parameters but for the context."""
    names = [parameter.name for parameter in function.parameters]
    return (f"pgasrob_queue({names[0]})", names[1:]) if context else ("0", names)


def described(function: Function) -> tuple[str, str]:
    """The statements that record ``function`` before and after the call."""
    name = function.name
    for pattern, describe in FAMILIES:
        if (match := pattern.fullmatch(name)) is not None and (found := describe(function, match)) is not None:
            return found
    return f'pgasrob_not_known("{name}", "the function is not described", HERE);', ""


def _type(function: Function) -> str:
    pointers = [parameter.declared for parameter in function.parameters if "*" in parameter.declared]
    found = pointed(pointers[0]) if pointers else ""
    return "" if found == "void" else found


def _transfer(function: Function, match: re.Match[str]) -> tuple[str, str] | None:
    context, _, _, strided, which, width, signal, nbi = match.groups()
    queue, names = arguments(function, context)
    if len(names) != 4 + 2 * bool(strided) + 3 * bool(signal):
        return None
    target, source = names[:2]
    strides = names[2:4] if strided else ["1", "1"]
    count, pe = names[4 if strided else 2], names[-1]
    size = str(int(width) // 8) if width and width != "mem" else "1" if width else f"sizeof *{target}"
    remote, local = (target, source) if which == "put" else (source, target)
    at_remote, at_local = strides if which == "put" else reversed(strides)
    operation = "OP_PUT_SIGNAL" if signal else f"OP_{which.upper()}"
    signals = "NULL"
    if signal:
        cell, value, how = names[3:6]
        signals = f"(const word[]){{(word){cell}, {value}, {how} == SHMEM_SIGNAL_SET ? UPDATE_SET : UPDATE_ADD}}"
    flags = "CALL_NONBLOCKING" if nbi else "0"
    after = ""
    if which == "get" and not nbi:
        after = f"pgasrob_return(OP_GET, WORDS(pgasrob_value({local}, {count} * ({size}))));"
    return (
        f'pgasrob_transfer({operation}, {flags}, "{function.name}", "{_type(function)}", HERE, {queue}, '
        f"(struct side){{{remote}, {at_remote}}}, (struct side){{{local}, {at_local}}}, {size}, {count}, {pe}, 0, "
        f"{signals});"
    ), after


def _single(function: Function, match: re.Match[str]) -> tuple[str, str]:
    context, _, which = match.groups()
    queue, names = arguments(function, context)
    put = which == "p"
    value = f"pgasrob_value(&{names[1]}, sizeof {names[1]})" if put else "0"
    return (
        f'pgasrob_transfer({"OP_PUT" if put else "OP_GET"}, CALL_VALUE, "{function.name}", "{_type(function)}", HERE, '
        f"{queue}, (struct side){{{names[0]}, 1}}, (struct side){{NULL, 1}}, sizeof *{names[0]}, 1, {names[-1]}, "
        f"{value}, NULL);"
    ), "" if put else "pgasrob_return(OP_GET, WORDS(pgasrob_value(&result, sizeof result)));"


def _atomic(function: Function, match: re.Match[str]) -> tuple[str, str] | None:
    context, _, _, fetching, what, nbi = match.groups()
    queue, names = arguments(function, context)
    return _update(function, queue, names, what, bool(fetching) or what in ("fetch", "swap", "compare_swap"), bool(nbi))


def _old_atomic(function: Function, match: re.Match[str]) -> tuple[str, str] | None:
    _, _, what = match.groups()
    names = [parameter.name for parameter in function.parameters]
    return _update(function, "0", names, what, function.result != "void", False)


def _update(
    function: Function, queue: str, names: list[str], what: str, fetching: bool, nbi: bool
) -> tuple[str, str] | None:
    if what not in UPDATES:
        return None
    kept, target = "NULL", names[0]
    if nbi:
        kept, target, names = names[0], names[1], names[1:]
    operands = names[1:-1]
    if len(operands) != {"fetch": 0, "inc": 0, "finc": 0, "compare_swap": 2, "cswap": 2}.get(what, 1):
        return None
    values = [f"pgasrob_value(&{operand}, sizeof {operand})" for operand in operands]
    expected = values[0] if len(values) == 2 else "0"
    operand = values[-1] if values else "0" if what == "fetch" else "1"
    flags = " | ".join(
        ["0"] + (["CALL_FETCHING"] if fetching else []) + (["CALL_NONBLOCKING"] if nbi or not fetching else [])
    )
    returns = fetching and not nbi
    return (
        f'pgasrob_atomic({flags}, "{function.name}", "{_type(function)}", HERE, {queue}, {target}, sizeof *{target}, '
        f"{UPDATES[what]}, {operand}, {expected}, {kept}, {names[-1]});"
    ), "pgasrob_return(OP_ATOMIC, WORDS(pgasrob_value(&result, sizeof result)));" if returns else ""


def _wait(function: Function, match: re.Match[str]) -> tuple[str, str]:
    names = [parameter.name for parameter in function.parameters]
    what = match.group(3)
    operation = "OP_TEST" if what == "test" else "OP_WAIT_UNTIL"
    comparison, value = ("SHMEM_CMP_NE", names[1]) if what == "wait" else names[1:3]
    read = f"pgasrob_value((const void *){names[0]}, sizeof *{names[0]})"
    results = f"(word)result, {read}" if what == "test" else read
    return (
        f'pgasrob_wait({operation}, "{function.name}", "{_type(function)}", HERE, {names[0]}, sizeof *{names[0]}, '
        f"{comparison}, pgasrob_value(&{value}, sizeof {value}));"
    ), f"pgasrob_return({operation}, WORDS({results}));"


def _reduction(function: Function, match: re.Match[str]) -> tuple[str, str] | None:
    names = [parameter.name for parameter in function.parameters]
    update = UPDATES.get(match.group(2))
    if update is None or len(names) != 8:
        return None
    data = f"{names[0]}, {names[1]}, sizeof *{names[0]}, {names[2]}"
    return _collected(f"COLLECTIVE_REDUCE_ALL, {update}", function, names[3:6], "-1", data)


def _collective(function: Function, match: re.Match[str]) -> tuple[str, str] | None:
    names = [parameter.name for parameter in function.parameters]
    what, width = match.groups()
    extra = {"broadcast": 1, "alltoalls": 2}.get(what, 0)
    if len(names) != 7 + extra:
        return None
    root = names[3] if what == "broadcast" else "-1"
    count = names[4] if what == "alltoalls" else names[2]
    size = str(int(width) // 8) if width else "1"
    data = f"{names[0]}, {names[1]}, {size}, {count}"
    return _collected(f"{COLLECTIVES[what]}, UPDATE_NONE", function, names[-4:-1], root, data)


def _collected(kind: str, function: Function, where: list[str], root: str, data: str) -> tuple[str, str]:
    """The statements before and after a collective. ``data``: destination, source, size of an element, count."""
    place = f'"{function.name}", "{_type(function)}", HERE, {", ".join(where)}'
    return f"pgasrob_set_collective({kind}, {place}, {root}, {data});", "pgasrob_return(OP_COLLECTIVE, NULL, 0);"


FAMILIES: tuple[tuple[re.Pattern[str], Callable[[Function, re.Match[str]], tuple[str, str] | None]], ...] = (
    (ATOMIC, _atomic),
    (COLLECTIVE, _collective),
    (REDUCTION, _reduction),
    (WAIT, _wait),
    (SINGLE, _single),
    (OLD_ATOMIC, _old_atomic),
    (TRANSFER, _transfer),
)


def _initialised(function: Function) -> str:
    result = "int result = " if function.result == "int" else ""
    level = f"*{function.parameters[1].name}" if function.name.endswith("_thread") else "-1"
    return (
        f"    pgasrob_enter();\n    {result}real({function.passed});\n"
        f'    pgasrob_shmem_begin(0, {level}, "{function.name}", HERE);\n'
        f"    pgasrob_leave();\n{'    return result;' if result else ''}\n"
    )


def _finalised(function: Function) -> str:
    return (
        f'    if (pgasrob_enter()) pgasrob_call(OP_FINALISE, 0, "{function.name}", NULL, HERE, NULL, 0);\n'
        "    pgasrob_finalise(real);\n"
        f'    if (pgasrob_begun) pgasrob_shmem_end("{function.name}", HERE);\n'
        "    pgasrob_leave();\n"
    )


def _plain(operation: str, operands: str, after: str) -> Callable[[Function], str]:
    """Records one call; in ``operands`` and ``after``, ``{0}`` is the first parameter."""

    def special(function: Function) -> str:
        names = [parameter.name for parameter in function.parameters]
        words = f"WORDS({operands.format(*names)})" if operands else "NULL, 0"
        before = f'pgasrob_call({operation}, 0, "{function.name}", "{_type(function)}", HERE, {words});'
        return around(function, before, after.format(*names))

    return special


def _allocated(bytes_: str, alignment: str = "0") -> Callable[[Function], str]:
    return _plain("OP_ALLOCATE", f"{bytes_}, {alignment}", f"pgasrob_allocated(result, {bytes_}, HERE);")


def _reallocated(function: Function) -> str:
    """Records a reallocation as a free and an allocation."""
    old, size = (parameter.name for parameter in function.parameters)
    name = function.name
    return around(
        function,
        f'if ({old}) {{ pgasrob_call(OP_FREE, 0, "{name}", "", HERE, WORDS((word){old})); pgasrob_freed({old}); }} '
        f'pgasrob_call(OP_ALLOCATE, 0, "{name}", "", HERE, WORDS({size}, 0));',
        f"pgasrob_allocated(result, {size}, HERE);",
    )


def _set_of_all(kind: str, completing: bool, whole: bool) -> Callable[[Function], str]:
    def special(function: Function) -> str:
        where = "0, 0, -1" if whole else ", ".join(parameter.name for parameter in function.parameters[:3])
        return around(
            function,
            f'pgasrob_set_collective({kind}, UPDATE_NONE, "{function.name}", "", HERE, {where}, -1, NULL, NULL, 0, 0);',
            "pgasrob_return(OP_COLLECTIVE, NULL, 0);" + (" pgasrob_buffers_done(0, -1);" if completing else ""),
        )

    return special


def _quieted(queue: str) -> Callable[[Function], str]:
    return _plain("OP_QUIET", queue, f"pgasrob_quieted({queue});")


_LOCKED = "pgasrob_return({}, {});"
SPECIAL: dict[str, Callable[[Function], str]] = {
    "shmem_init": _initialised,
    "start_pes": _initialised,
    "shmem_init_thread": _initialised,
    "shmem_finalize": _finalised,
    "shmem_global_exit": _plain("OP_EXIT", "(word)(int64_t){0}", ""),
    "shmem_malloc": _allocated("{0}"),
    "shmalloc": _allocated("{0}"),
    "shmemx_malloc_with_hint": _allocated("{0}"),
    "shmem_malloc_with_hints": _allocated("{0}"),
    "shmem_calloc": _allocated("({0}) * ({1})"),
    "shmem_align": _allocated("{1}", "{0}"),
    "shmemalign": _allocated("{1}", "{0}"),
    "shmem_realloc": _reallocated,
    "shrealloc": _reallocated,
    "shmem_free": _plain("OP_FREE", "(word){0}", "pgasrob_freed({0});"),
    "shfree": _plain("OP_FREE", "(word){0}", "pgasrob_freed({0});"),
    "shmem_ptr": _plain("OP_POINTER", "(word)(int64_t){1}, (word){0}", "pgasrob_pointer(result, {0}, {1}, HERE);"),
    "shmem_ctx_create": _plain(
        "OP_CONTEXT_CREATE", "(word){0}", "pgasrob_context_created(result ? NULL : *{1}, result);"
    ),
    "shmem_ctx_destroy": _plain("OP_CONTEXT_DESTROY", "pgasrob_queue({0})", "pgasrob_context_destroyed({0});"),
    "shmem_fence": _plain("OP_FENCE", "0", ""),
    "shmem_ctx_fence": _plain("OP_FENCE", "pgasrob_queue({0})", ""),
    "shmem_quiet": _quieted("0"),
    "shmem_ctx_quiet": _quieted("pgasrob_queue({0})"),
    "shmem_barrier_all": _set_of_all("COLLECTIVE_BARRIER", True, True),
    "shmem_barrier": _set_of_all("COLLECTIVE_BARRIER", True, False),
    "shmem_sync_all": _set_of_all("COLLECTIVE_SYNC", False, True),
    "shmem_sync": _set_of_all("COLLECTIVE_SYNC", False, False),
    "shmem_set_lock": _plain("OP_SET_LOCK", "(word){0}", _LOCKED.format("OP_SET_LOCK", "NULL, 0")),
    "shmem_test_lock": _plain("OP_TEST_LOCK", "(word){0}", _LOCKED.format("OP_TEST_LOCK", "WORDS((word)result)")),
    "shmem_clear_lock": _plain("OP_CLEAR_LOCK", "(word){0}", _LOCKED.format("OP_CLEAR_LOCK", "NULL, 0")),
    "shmem_signal_fetch": _plain(
        "OP_ATOMIC",
        "(word)pgasrob_own_pe(), (word){0}, 8, 1, UPDATE_NONE, 0, 0, 0, 0, 0, 0",
        "pgasrob_return(OP_ATOMIC, WORDS((word)result));",
    ),
}
