"""Which files calls of the C library read and write, and which write to the terminal.

That is noted where a program is lowered to compare what its ranks do outside of memory (`World.outside`); nothing else
depends on it. Files are known by their names, where these are known; a stream or descriptor of which it is not known
what was opened may be that of any file. What reads from the terminal counts as writing there: somebody types what the
program has asked for.
"""

from __future__ import annotations

from pgasrob.frontends.apis.interface import Call
from pgasrob.frontends.c.libc.library_calls import machine_of, string_at
from pgasrob.frontends.c.libc.shared_strings import in_cells
from pgasrob.frontends.c.problem import Faults
from pgasrob.frontends.c.values import Address, Handle, Known, Value
from pgasrob.program.outside_memory import ANY_FILE, ENDING, EVERYWHERE, TERMINAL, Outside

STREAM = Handle("stream")
"""The streams of the terminal; and all streams, as long as it does not matter which is which."""
PIPE = Handle("stream", ("pipe",))
"""To a program or from one, which may do anything."""
PRIVATE = Handle("stream", ("private",))
"""A file without a name."""

AT_TERMINAL = frozenset((
    "printf", "puts", "putchar", "vprintf", "perror", "warn", "warnx", "err", "errx", "syslog", "getchar", "gets",
    "scanf", "backtrace_symbols_fd",
))  # fmt: skip
WRITES_STREAM = {
    **dict.fromkeys(("fputs", "fputc", "putc"), 1), **dict.fromkeys(("fprintf", "vfprintf", "dprintf", "vdprintf"), 0),
    "fwrite": 3, "write": 0, "fsync": 0, "ftruncate": 0, "fflush": 0, "fclose": 0, "pclose": 0, "close": 0,
}  # fmt: skip
"""The argument with the stream or descriptor that is written to: what is written may get there as late as it is
closed."""
READS_STREAM = {
    **dict.fromkeys(("fgetc", "getc", "fscanf", "read", "pread", "recv", "fstat"), 0), "fgets": 2, "fread": 3,
}  # fmt: skip
READS_NAME = frozenset(("access", "stat", "lstat"))
WRITES_NAME = frozenset(("mkdir", "unlink", "remove", "rmdir", "truncate", "creat", "mkfifo"))
JOINS = frozenset(("rename", "link", "symlink"))
"""Calls with two names of files, which may be names of one from then on."""
ANYTHING = frozenset(("system", "popen", "kill"))
"""What they do is done by others: a program that is started, a rank that gets a signal."""
SHOWS = frozenset((
    *AT_TERMINAL, *WRITES_STREAM, *WRITES_NAME, *JOINS, *ANYTHING, "open", "fopen", "freopen", "fseek", "rewind",
))  # fmt: skip
"""All of these that others may see something of."""
ENDS = frozenset(("exit", "_exit", "_Exit", "quick_exit", "err", "errx"))
_WRITES = 1 | 2 | 64 | 512
"""O_WRONLY, O_RDWR, O_CREAT, O_TRUNC."""
_OUTPUT_OF_PROCESS = ("/dev/", "/proc/")


def note_outside(call: Call) -> None:
    """Note what ``call``, of a function of the C library, does to files and the terminal, where that is asked for."""
    if machine_of(call).machine.world.outside:
        for each in _done(call):
            call.outside(each)


def opened(call: Call, mode: str | None) -> Handle:
    """The stream that ``call`` opens in ``mode``, None where that is not known."""
    if not machine_of(call).machine.world.outside:
        return STREAM
    if call.name in ("popen", "tmpfile"):
        return PIPE if call.name == "popen" else PRIVATE
    places = _files(call, 0) if call.name in ("fopen", "freopen") else (ANY_FILE,)
    return Handle("stream", ("file", int(mode is None or _changes(mode)), *places))


def _done(call: Call) -> list[Outside]:
    name = call.name
    done: list[Outside] = []
    if name in AT_TERMINAL:
        done.append(Outside((TERMINAL,), writes=True))
    if name in WRITES_STREAM:
        done += _through(call.arguments[WRITES_STREAM[name]], writes=True)
    if name in READS_STREAM:
        done += _through(call.arguments[READS_STREAM[name]], writes=False)
    if name in READS_NAME:
        done.append(Outside(_files(call, 0), writes=False))
    if name in WRITES_NAME:
        done.append(Outside(_files(call, 0), writes=True))
    if name in JOINS:
        done.append(Outside((*_files(call, 0), *_files(call, 1)), writes=True, joins=True))
    if name == "open":
        flags = call.arguments[1]
        done.append(Outside(_files(call, 0), not isinstance(flags, Known) or bool(flags.value & _WRITES)))
    if name in ("fopen", "freopen"):
        done += _opening(call)
    if name in ANYTHING:
        done.append(Outside(EVERYWHERE, writes=True))
    if name in ENDS and call.arguments[0] != Known(0):
        done.append(ENDING)
    return [each for each in done if each.places]


def _opening(call: Call) -> list[Outside]:
    mode = _text(call, call.arguments[1])
    places, writes = _files(call, 0), mode is None or _changes(mode)
    if call.name == "fopen":
        return [Outside(places, writes)]
    of = {place for each in _through(call.arguments[2], writes=True) for place in each.places}
    return [Outside((*places, *sorted(of.difference(places))), writes=True, joins=True)]


def _through(of: Value, writes: bool) -> list[Outside]:
    """What is done by a call that reads or ``writes`` through ``of``, a stream or a descriptor."""
    match of:
        case Handle("stream", ()) | Known(1 | 2):
            return [Outside((TERMINAL,), writes=True)]
        case Handle("stream", ("private",)):
            return []
        case Handle("stream", ("file", changes, *places)):
            # To close or flush what was opened for reading changes nothing.
            return [Outside(tuple(map(str, places)), writes and bool(changes))] if places else []
        case Known(0):  # the standard input, or NULL for all streams
            return [Outside(EVERYWHERE, writes=True)]
    return [Outside((ANY_FILE,), writes) if not isinstance(of, Handle) else Outside(EVERYWHERE, writes=True)]


def _files(call: Call, index: int) -> tuple[str, ...]:
    """The file that argument ``index`` names; none for what keeps nothing."""
    name = _text(call, call.arguments[index])
    if name is None:
        return (ANY_FILE,)
    if name == "/dev/null":
        return ()
    return (TERMINAL, name) if name.startswith(_OUTPUT_OF_PROCESS) else (name,)


def _text(call: Call, value: Value) -> str | None:
    """The string that ``value`` points to; None where it is not known."""
    if not isinstance(value, Address) or (value.object.kind != "string" and in_cells(call, value)):
        return None
    try:
        found = string_at(call, value)
    except Faults:  # it has no end: what becomes of the call is not for here
        return None
    return None if found is None else found.decode(errors="replace")


def _changes(mode: str) -> bool:
    """Whether a file that is opened in ``mode`` can be written to; other modes than those of fopen count as that."""
    return mode[:1] != "r" or "+" in mode
