"""What functions of the C library read and write through the pointers that they are given.

Memory that other ranks may write lies in cells, and to read it is an access, whoever reads: `printf` of a string that
a put has brought reads it byte by byte up to the zero at its end. What lies in a rank's own memory alone, or is
written by nobody else, needs none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.apis.call_steps import Steps
from pgasrob.frontends.apis.interface import Call, Handler, Way
from pgasrob.frontends.c.libc.file_calls import note_outside
from pgasrob.frontends.c.libc.library_calls import TABLE, machine_of, spelled, string_at
from pgasrob.frontends.c.libc.shared_strings import (
    argument_named,
    in_cells,
    issue,
    may_change,
    read_bytes,
    read_string,
    refuse_cells,
)
from pgasrob.frontends.c.libc.string_functions import forget
from pgasrob.frontends.c.values import Address, Value
from pgasrob.stop_points import stop_point

STRING = "const char *"

HANDLED: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(("memcpy", "memmove", "__builtin_memcpy", "bcopy", "memcmp", "bcmp", "__swap", "__order"), (0, 1)),
    **dict.fromkeys(("memset", "bzero", "__builtin_memset", "realloc", "reallocarray", "__sorting", "memchr"), (0,)),
    **dict.fromkeys(("time", "gettimeofday", "posix_memalign", "fgets", "gets", "fread"), (0,)),
    **dict.fromkeys(("clock_gettime", "clock_getres", "read", "recv", "pread", "getrusage", "getitimer"), (1,)),
    **dict.fromkeys(("stat", "lstat", "fstat"), (1,)),
    **dict.fromkeys(("uname", "gethostname", "getcwd", "getdomainname", "strftime", "sigemptyset", "sigfillset"), (0,)),
    "backtrace": (0,),
    **dict.fromkeys(("sprintf", "snprintf", "vsprintf", "vsnprintf"), (0,)),
    **dict.fromkeys(("strtol", "strtoll", "strtoul", "strtoull", "strtod", "strtof", "strtold"), (1,)),
    **dict.fromkeys(("strcmp", "strncmp", "strcasecmp", "strncasecmp", "strcpy", "stpcpy", "strcat"), (0, 1)),
    **dict.fromkeys(("strncpy", "strncat", "strlen", "strnlen", "__builtin_strlen", "strdup", "strndup"), (0, 1)),
    **dict.fromkeys(("strcoll", "atoi", "atol", "atoll"), (0, 1)), **dict.fromkeys(("basename", "strtok"), (0,)),
    "strtok_r": (0, 2),
}  # fmt: skip
"""The arguments, by their places, through which the handlers themselves load and store, or refuse to."""
UNUSED: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(("free", "cfree", "atexit"), (0,)), **dict.fromkeys(("signal", "nanosleep"), (1,)),
    **dict.fromkeys(("getopt", "getopt_long", "getopt_long_only"), (1, 3, 4)), "clock_nanosleep": (3,),
    **dict.fromkeys(("pthread_create", "thrd_create"), (0, 2, 3)), **dict.fromkeys(("pthread_join", "thrd_join"), (1,)),
    **dict.fromkeys((f"pthread_mutex_{each}" for each in ("init", "destroy", "lock", "trylock", "unlock")), (0,)),
}  # fmt: skip
"""The arguments that are not read through: no signals arrive, and options of the program are known or refused."""
BYTES: dict[str, dict[int, Callable[[Call], int]]] = {
    "fwrite": {0: lambda call: call.known(1) * call.known(2)}, "write": {1: lambda call: call.known(2)},
    **{name: {0: lambda call: 8} for name in ("localtime", "gmtime", "ctime")},
    "nanosleep": {0: lambda call: 16}, "clock_nanosleep": {2: lambda call: 16}, "rand_r": {0: lambda call: 4},
    **{name: {0: lambda call: 6} for name in ("nrand48", "erand48")}, "sigaddset": {0: lambda call: 128},
    "sigprocmask": {1: lambda call: 128}, "setitimer": {1: lambda call: 32}, "sigaction": {1: lambda call: 152},
}  # fmt: skip
"""How many bytes are read of what an argument points to."""
FILLED: dict[str, dict[int, int]] = {
    "rand_r": {0: 4}, "nrand48": {0: 6}, "erand48": {0: 6}, "sigaddset": {0: 128}, "sigprocmask": {2: 128},
    "setitimer": {2: 32}, "sigaction": {2: 152}, "gettimeofday": {1: 8},
}  # fmt: skip
"""How many bytes at the address in an argument get unknown contents, where they lie in cells."""
FORMATS = {
    "printf": 0, "warn": 0, "warnx": 0, "fprintf": 1, "dprintf": 1, "sprintf": 1, "syslog": 1, "err": 1, "errx": 1,
    "snprintf": 2,
}  # fmt: skip
"""Where the formats are; what follows is printed."""
SCANS = {"scanf": 0, "fscanf": 1, "sscanf": 1}
"""Where the formats are; what follows is stored through."""
_DIRECTIVE = re.compile(rb"%[-+ #0']*(\*|\d+)?(?:\.(\*|\d*))?(hh|h|ll|l|q|L|j|z|t)?([a-zA-Z%])")


@cache
def parameters(name: str) -> tuple[str, ...]:
    """The declarations of the parameters of a function of the library, as it is written in the table."""
    text = TABLE.declarations[name]
    inside = text[text.index("(") + 1 : text.rindex(")")]
    return tuple(each.strip() for each in re.split(r",(?![^()]*\))", inside))


def careful(name: str, handler: Handler) -> Handler:
    """``handler`` of the function ``name``, after the reads of the function; reads that cannot be modelled are
    refused."""
    return partial(_after_reading, handler) if name in TABLE.declarations else handler


def _after_reading(handler: Handler, call: Call) -> Way | Sequence[Way]:
    steps = Steps(call)
    fills: list[tuple[Address, int]] = []
    for index, value in enumerate(call.arguments):
        address = _followed(call, index, value)
        if address is not None and in_cells(call, address):
            _look_at(steps, index, address)
            if index in FILLED.get(call.name, {}):
                call.pointer(index)  # which refuses memory of another rank
                fills.append((address, FILLED[call.name][index]))
    issue(steps)
    for address, size in fills:
        forget(call, address, size)
    found = handler(call)
    note_outside(call)
    return found


def read_texts(call: Call, *strings: int, format: int | None = None) -> None:
    """Issue what a call of an API reads: its arguments ``strings``, and with a ``format`` what that prints."""
    steps = Steps(call)
    for index, value in enumerate(call.arguments):
        address = _followed(call, index, value) if index in strings or format is not None else None
        if address is None or not in_cells(call, address):
            continue
        if index in strings or index == format:
            read_string(steps, index, address)
        elif format is not None and index > format:
            _read_printed(steps, index, address, format)
    issue(steps)


def _followed(call: Call, index: int, value: Value) -> Address | None:
    """Argument ``index`` where it is a pointer into memory, which literals are not: nobody writes them."""
    if not isinstance(value, Address) or value.object.kind == "string":
        return None
    if index in UNUSED.get(call.name, ()) or index in HANDLED.get(call.name, ()):
        return None
    machine = machine_of(call).machine
    return value if machine.position.whose(value) is None else machine.pointers.followed(value, "read")


def _look_at(steps: Steps, index: int, address: Address) -> None:
    """What the call reads through the pointer ``address`` into cells, its argument ``index``."""
    call = steps.call
    name = call.name
    declared = parameters(name)
    if name in BYTES and index in BYTES[name]:
        if may_change(call, address):
            read_bytes(steps, index, address, BYTES[name][index](call))
    elif name == "atof":
        refuse_cells(call, index, address, "and how much is read there is not known")
    elif index < len(declared) and declared[index].startswith(STRING):
        read_string(steps, index, address)
    elif name in FORMATS and index > FORMATS[name]:
        _read_printed(steps, index, address, FORMATS[name])
    elif (name in SCANS and index > SCANS[name]) or index in FILLED.get(name, {}):
        return
    else:
        refuse_cells(call, index, address, "which is not supported there")


# What is printed


def _read_printed(steps: Steps, index: int, address: Address, place: int) -> None:
    """What is read through the pointer ``address``, argument ``index``, by the format, argument ``place``."""
    call = steps.call
    form = call.arguments[place]
    text = string_at(call, form) if isinstance(form, Address) else None
    directives = None if text is None else list(_directives(call, text, place + 1))
    if directives is None or None in directives:
        call.fail(
            Wrong.UNKNOWN_LIMIT,
            f"{argument_named(call, index)} points to memory that other ranks access, and the format is not known",
            "print with a string literal as the format",
        )
    kind, most = next((each[1:] for each in directives if each is not None and each[0] == index), ("", None))
    match kind:
        case "s":
            read_string(steps, index, address, most)
        case "p" | "":
            return
        case _:
            call.fail(
                Wrong.ARGUMENT,
                f"{argument_named(call, index)} points to memory that other ranks access, and is printed as `%{kind}`",
                "print strings by `%s`, pointers by `%p`",
            )


def _directives(call: Call, form: bytes, index: int) -> Iterator[tuple[int, str, int | None] | None]:
    """The arguments that ``form`` prints, the first of them ``index``: place, kind, and of strings how many bytes at
    most. None stands for what is not understood."""
    position = 0
    while (percent := form.find(b"%", position)) >= 0:
        stop_point()
        found = _DIRECTIVE.match(form, percent)
        if found is None:
            yield None
            return
        width, digits, size, kind = found.groups()
        position = found.end()
        if kind in (b"%", b"m"):
            continue
        index += width == b"*"
        most = None
        if digits == b"*":
            # A negative one counts as none (C11, 7.21.6.1).
            most, index = (call.known(index) if kind == b"s" else 0), index + 1
            most = None if most < 0 else most
        elif digits is not None:
            most = spelled(digits, 10)
        yield index, (size or b"").decode() * (kind == b"s") + kind.decode(), most
        index += 1
