"""Info objects (MPI-4.1, chapter 10): keys and values that the program sets. Hints change nothing, but for one."""

from __future__ import annotations

from typing import cast

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.apis.call_steps import Steps, least_free
from pgasrob.frontends.apis.interface import Call
from pgasrob.frontends.apis.mpi.handles import handle, pointer
from pgasrob.frontends.apis.mpi.header import MAX_INFO_VALUE, OPAQUE, does, stores
from pgasrob.frontends.c.libc.library_calls import text_of
from pgasrob.frontends.c.libc.reads import read_texts
from pgasrob.frontends.c.libc.string_functions import forget, written
from pgasrob.frontends.c.types import INT
from pgasrob.frontends.c.values import NULL, Handle, Known
from pgasrob.program.assumptions import Kind

INFO = OPAQUE["Info"]
HELD = "mpi.infos"
"""What the state holds the objects under: number, and pairs of key and value, which is None where it is not known."""
Pairs = tuple[tuple[bytes, bytes | None], ...]


def _all(steps: Steps) -> dict[int, Pairs]:
    return dict(cast("tuple[tuple[int, Pairs], ...]", steps.recall(HELD) or ()))


def _keep(steps: Steps, held: dict[int, Pairs]) -> None:
    steps.note(HELD, tuple(sorted(held.items())) or None)


def _made(steps: Steps, index: int, pairs: Pairs) -> None:
    """Store a new object where argument ``index`` points to."""
    held = _all(steps)
    number = least_free(held)
    _keep(steps, held | {number: pairs})
    steps.store(pointer(steps.call, index), Handle("info", (number,)), INFO)


def pairs_of(steps: Steps, index: int = 0) -> dict[bytes, bytes | None]:
    """What the object in argument ``index`` holds. It is the environment's or empty where the program did not make
    it."""
    (number,) = handle(steps.call, index, "info").data
    if number not in (held := _all(steps)):
        steps.call.rests_on(Kind.FIXED_ANSWERS, steps.call.name)
    return dict(held.get(cast(int, number), ()))


def _key(steps: Steps) -> bytes:
    read_texts(steps.call, 1)
    key = text_of(steps.call, 1)
    if key is None:
        steps.call.fail(
            Wrong.UNKNOWN_LIMIT, f"{steps.call.name} with a key that is not known here", "use a string literal"
        )
    return key


@does("Info_create(MPI_Info *info)")
def info_create(call: Call, steps: Steps) -> None:
    _made(steps, 0, ())


@does("Info_dup(MPI_Info info, MPI_Info *newinfo)")
def info_dup(call: Call, steps: Steps) -> None:
    _made(steps, 1, tuple(pairs_of(steps).items()))


@does("Win_get_info(MPI_Win win, MPI_Info *info); Comm_get_info(MPI_Comm comm, MPI_Info *info)")
def info_of_object(call: Call, steps: Steps) -> None:
    """An implementation need not keep any hint (12.2.7)."""
    call.rests_on(Kind.FIXED_ANSWERS, call.name)
    _made(steps, 1, ())


@does("Info_free(MPI_Info *info)")
def info_free(call: Call, steps: Steps) -> None:
    place = pointer(call, 0)
    match call.load(place, INFO):
        case Handle("info", (int(number),)):
            _keep(steps, {each: pairs for each, pairs in _all(steps).items() if each != number})
    steps.store(place, NULL, INFO)


@does("Info_set(MPI_Info info, const char *key, const char *value)")
def info_set(call: Call, steps: Steps) -> None:
    """Hints say how a program behaves, and one takes a promise of MPI away (12.2.1)."""
    read_texts(call, 2)
    key, value = _key(steps), text_of(call, 2)
    if key == b"accumulate_ordering" and value != b"rar,raw,war,waw":
        shown = call.texts[2] if value is None else value.decode(errors="replace")
        call.fail(
            Wrong.CALL_LIMIT,
            f"accumulates that are ordered by `{shown}` alone",
            "leave the default: accumulates of one origin to one location in program order",
        )
    call.rests_on(Kind.HINTS, call.name)
    _change(steps, pairs_of(steps) | {key: value})


@does("Info_delete(MPI_Info info, const char *key)")
def info_delete(call: Call, steps: Steps) -> None:
    key = _key(steps)
    _change(steps, {each: value for each, value in pairs_of(steps).items() if each != key})


def _change(steps: Steps, pairs: dict[bytes, bytes | None]) -> None:
    (number,) = handle(steps.call, 0, "info").data
    if isinstance(number, int):
        _keep(steps, _all(steps) | {number: tuple(pairs.items())})


@does("""
    Info_get(MPI_Info info, const char *key, int valuelen, char *value, int *flag);
    Info_get_string(MPI_Info info, const char *key, int *buflen, char *value, int *flag)
""")
def info_get(call: Call, steps: Steps) -> None:
    """The value, cut off where it is longer than there is room for (10.1)."""
    key, pairs = _key(steps), pairs_of(steps)
    steps.answer(4, int(key in pairs), INT)
    if key not in pairs:
        return
    value, of_string = pairs[key], call.name.endswith("string")
    room = call.load(pointer(call, 2), INT) if of_string else Known(call.known(2) + 1)
    if not isinstance(room, Known):
        call.fail(Wrong.UNKNOWN_LIMIT, f"{call.name} with a length that is not known here", "give a constant")
    if of_string:
        steps.answer(2, (MAX_INFO_VALUE if value is None else len(value)) + 1, INT)
    if value is None:
        forget(call, pointer(call, 3), room.value)
    elif room.value > 0:
        steps.stores += written(call, pointer(call, 3), value[: room.value - 1] + b"\0")


@does("Info_get_valuelen(MPI_Info info, const char *key, int *valuelen, int *flag)")
def info_get_length(call: Call, steps: Steps) -> None:
    key, pairs = _key(steps), pairs_of(steps)
    value = pairs.get(key)
    if key in pairs:
        steps.answer(2, MAX_INFO_VALUE if value is None else len(value), INT)
    steps.answer(3, int(key in pairs), INT)


@does("Info_get_nthkey(MPI_Info info, int n, char *key)")
def info_get_key(call: Call, steps: Steps) -> None:
    keys, number = [*pairs_of(steps)], call.known(1)
    if not 0 <= number < len(keys):
        call.fail(Wrong.ARGUMENT, f"{call.name} of key {number} of {len(keys)}", "keys count from 0")
    steps.stores += written(call, pointer(call, 2), keys[number] + b"\0")


@does("Info_get_nkeys(MPI_Info info, int *nkeys)")
def info_get_count(call: Call, steps: Steps) -> None:
    steps.answer(1, len(pairs_of(steps)), INT)


stores("Get_hw_resource_info(MPI_Info *info)", INFO, Handle("info", ("env",)), Kind.FIXED_ANSWERS)
