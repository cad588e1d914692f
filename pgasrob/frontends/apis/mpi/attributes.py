"""Attributes of communicators and windows, with the functions that copy and delete them (MPI-4.1, section 7.7), and
error handlers (9.3), which nobody calls, as no call fails."""

from __future__ import annotations

from typing import cast

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.apis.call_steps import CallFirst, Steps, least_free
from pgasrob.frontends.apis.interface import Call
from pgasrob.frontends.apis.mpi.handles import pointer
from pgasrob.frontends.apis.mpi.header import (
    COMM,
    DUP_FN,
    KEYVAL_INVALID,
    OPAQUE,
    TAG_UB,
    WINDOW,
    does,
    nothing,
    stores,
)
from pgasrob.frontends.c.types import INT, VOID, CType, Pointer
from pgasrob.frontends.c.values import NULL, Address, Code, Handle, Known, Value
from pgasrob.program.assumptions import Kind

MOST_TAG = 2**31 - 1
FIRST_KEY = 100
"""The least number of a key that the program makes."""
KEYS, ATTRIBUTES, COPIES = "mpi.keyvals", "mpi.attributes", "mpi.copies"
"""What the state holds: number, functions to copy and to delete, and extra state of each key; object, key and value of
each attribute, in the order in which they were set; for each key of what is being copied where its copy is."""
Key = tuple[int, Value, Value, Value]
Attribute = tuple[Value, int, Value]
FREES: dict[str, CType | None] = {
    "MPI_Win_free": WINDOW, "MPI_Comm_free": COMM, "MPI_Comm_disconnect": COMM, "MPI_Finalize": None,
}  # fmt: skip
"""The calls that free the object of a type that their first argument points to, or MPI_COMM_SELF (11.2.2)."""


def _keys(steps: Steps) -> dict[int, Key]:
    return {key[0]: key for key in cast("tuple[Key, ...]", steps.recall(KEYS) or ())}


def _attributes(steps: Steps) -> tuple[Attribute, ...]:
    return cast("tuple[Attribute, ...]", steps.recall(ATTRIBUTES) or ())


def _kept(call: Call, index: int) -> Value:
    """Argument ``index``, which is kept for later calls."""
    value = call.arguments[index]
    known = isinstance(value, Known | Handle | Code) or (isinstance(value, Address) and isinstance(value.offset, int))
    if not known:
        call.fail(
            Wrong.UNKNOWN_LIMIT,
            f"argument {index + 1} of {call.name} is not known here",
            "pass a constant or the address of an object",
        )
    return value


@does("""
    Comm_create_keyval(MPI_Comm_copy_attr_function *copy, MPI_Comm_delete_attr_function *del, int *key, void *extra);
    Win_create_keyval(MPI_Win_copy_attr_function *copy, MPI_Win_delete_attr_function *del, int *key, void *extra);
    Keyval_create(MPI_Copy_function *copy, MPI_Delete_function *del, int *key, void *extra)
""")
def create_keyval(call: Call, steps: Steps) -> None:
    keys = _keys(steps)
    number = least_free(keys, FIRST_KEY)
    copy, delete, extra = (_kept(call, index) for index in (0, 1, 3))
    steps.note(KEYS, (*keys.values(), (number, copy, delete, extra)))
    steps.store(pointer(call, 2), number, INT)


@does("Comm_free_keyval(int *key); Win_free_keyval(int *key); Keyval_free(int *key)")
def free_keyval(call: Call, steps: Steps) -> None:
    """The key stays as long as there are attributes with it (7.7.1)."""
    place = pointer(call, 0)
    number = call.load(place, INT)
    if not any(Known(key) == number for _, key, _ in _attributes(steps)):
        steps.note(KEYS, tuple(key for key in _keys(steps).values() if Known(key[0]) != number) or None)
    steps.store(place, KEYVAL_INVALID, INT)


@does("""
    Comm_set_attr(MPI_Comm comm, int key, void *value); Win_set_attr(MPI_Win win, int key, void *value);
    Attr_put(MPI_Comm comm, int key, void *value)
""")
def set_attr(call: Call, steps: Steps) -> None:
    """An attribute that is replaced is deleted first (7.7.3)."""
    object, key, value = call.arguments[0], _own_key(steps), _kept(call, 2)
    _delete(steps, object, key)
    steps.note(ATTRIBUTES, (*_attributes(steps), (object, key, value)))


@does("""
    Comm_delete_attr(MPI_Comm comm, int key); Win_delete_attr(MPI_Win win, int key);
    Attr_delete(MPI_Comm comm, int key)
""")
def delete_attr(call: Call, steps: Steps) -> None:
    _delete(steps, call.arguments[0], _own_key(steps))


def _own_key(steps: Steps) -> int:
    call = steps.call
    key = call.known(1)
    if key not in _keys(steps):
        call.fail(
            Wrong.ARGUMENT,
            f"{call.name} with a key that the program has not made",
            "make one with MPI_Comm_create_keyval",
        )
    return key


def _delete(steps: Steps, object: Value, key: int | None = None) -> None:
    """Delete the attributes of ``object``, or the one with ``key``, the last one first. The program's function for that
    is called before anything else, so that the call comes here again without the attribute."""
    for each in reversed(_attributes(steps)):
        if each[0] != object or key not in (None, each[1]):
            continue
        left = tuple(other for other in _attributes(steps) if other is not each) or None
        _, _, delete, extra = _keys(steps)[each[1]]
        if delete != NULL:
            raise CallFirst(delete, (object, Known(each[1]), each[2], extra), {**steps.state, ATTRIBUTES: left})
        steps.note(ATTRIBUTES, left)


def delete_all(call: Call) -> None:
    """Call what the program has for deleting the attributes of the object that ``call`` frees."""
    type, object = FREES[call.name], Handle("comm", ("self",))
    found = object if type is None else call.load(pointer(call, 0), type)
    if found is not None:
        _delete(Steps(call), found)


def copied(call: Call, of: Value) -> tuple[tuple[int, Value], ...]:
    """The attributes of ``of`` that are copied when it is duplicated (7.7.1), each with its key and what it becomes.

    The program's functions for that are called one by one before anything else. Each says by its last arguments what
    the copy is, and whether there is one."""
    steps = Steps(call)
    results = cast("tuple[tuple[int, Address], ...]", steps.recall(COPIES) or ())
    found: list[tuple[int, Value]] = []
    for object, key, value in _attributes(steps):
        _, copy, _, extra = _keys(steps)[key]
        if object != of or copy == NULL:
            continue
        if copy == DUP_FN:
            found.append((key, value))
            continue
        place = dict(results).get(key)
        if place is None:
            place = call.allocate("heap", 16, f"copy of attribute {key}", asked_for=False)
            flag = call.moved(place, 8)
            raise CallFirst(copy, (of, Known(key), extra, value, place, flag), {COPIES: (*results, (key, place))})
        made, copies = call.load(place, Pointer(VOID)), call.load(call.moved(place, 8), INT)
        if not isinstance(copies, Known) or not isinstance(made, Known | Handle | Code | Address):
            call.fail(
                Wrong.UNKNOWN_LIMIT,
                f"what the copy of an attribute is is not known at {call.name}",
                "set constants or addresses",
            )
        if copies.value:
            found.append((key, made))
    return tuple(found)


def copy_attributes(steps: Steps, to: Value, copies: tuple[tuple[int, Value], ...]) -> None:
    """``to`` has these ``copies`` of attributes."""
    if copies:
        steps.note(ATTRIBUTES, (*_attributes(steps), *((to, key, value) for key, value in copies)))
    if steps.recall(COPIES) is not None:
        steps.note(COPIES, None)


def own_attribute(steps: Steps) -> bool:
    """Whether the key that is asked for is one of the program; then its value is what the call gives."""
    call = steps.call
    if call.known(1) < FIRST_KEY:
        return False
    found = [value for object, key, value in _attributes(steps) if (object, key) == (call.arguments[0], call.known(1))]
    for value in found:
        steps.store(pointer(call, 2), value, Pointer(VOID))
    steps.answer(3, len(found), INT)
    return True


@does("""
    Comm_get_attr(MPI_Comm comm, int keyval, void *attribute_val, int *flag);
    Attr_get(MPI_Comm comm, int keyval, void *attribute_val, int *flag)
""")
def comm_get_attr(call: Call, steps: Steps) -> None:
    """MPI_TAG_UB as a pointer to it; the others that MPI has need not be set (11.1.2)."""
    if own_attribute(steps):
        return
    call.rests_on(Kind.FIXED_ANSWERS, call.name)
    if call.known(1) != TAG_UB:
        steps.answer(3, 0, INT)
        return
    place = call.allocate("heap", 8, "attribute", asked_for=False)
    steps.store(place, MOST_TAG, INT)
    steps.store(pointer(call, 2), place, Pointer(VOID))
    steps.store(pointer(call, 3), 1, INT)


# Error handlers

_ERRHANDLER = OPAQUE["Errhandler"]
for _name in ("Comm", "Win", "File"):
    nothing(f"{_name}_set_errhandler(MPI_{_name} object, MPI_Errhandler errhandler)")
    _get = f"{_name}_get_errhandler(MPI_{_name} object, MPI_Errhandler *errhandler)"
    stores(_get, _ERRHANDLER, Handle("errhandler", ("got",)))
    _create = f"{_name}_create_errhandler(MPI_{_name}_errhandler_function *function, MPI_Errhandler *errhandler)"
    stores(_create, _ERRHANDLER, Handle("errhandler", ("own",)), Kind.NOT_CALLED)
nothing("Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler)")
stores("Errhandler_free(MPI_Errhandler *errhandler)", _ERRHANDLER, NULL)
_create = "Errhandler_create(MPI_Handler_function *function, MPI_Errhandler *errhandler)"
stores(_create, _ERRHANDLER, Handle("errhandler", ("own",)), Kind.NOT_CALLED)
