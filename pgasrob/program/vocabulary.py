"""The words of the language: keywords, and the commands in call syntax with what they take."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from pgasrob.program.commands import (
    UPDATES,
    Assert,
    Assume,
    Command,
    CompareSwap,
    Fence,
    Fetch,
    FetchAdd,
    FetchUpdate,
    Notify,
    Put,
    Read,
    Signal,
    Swap,
    Update,
    UpdateFrom,
    Wait,
    WaitLocal,
    Write,
)

# What a command in call syntax takes; the last argument of a fence may be left out.
OPERATIONS: dict[str, tuple[Callable[..., Command], tuple[str, ...]]] = {
    "assume": (Assume, ("condition",)),
    "assert": (Assert, ("condition",)),
    "read": (Read, ("local", "rank", "remote", "queue")),
    "write": (Write, ("local", "rank", "remote", "queue")),
    "put": (Put, ("local", "rank", "remote", "queue")),
    "wait": (Wait, ("queue",)),
    "wait_local": (WaitLocal, ("queue",)),
    "fence": (Fence, ("queue", "rank")),
    "fetch": (Fetch, ("rank", "address")),
    "fetch_add": (FetchAdd, ("rank", "address", "operand")),
    "swap": (Swap, ("rank", "address", "value")),
    "compare_swap": (CompareSwap, ("rank", "address", "expected", "new")),
}

# What an update may do with the cell: the operations that have a word of their own here.
SIMPLE = tuple(name for name in UPDATES if name.isalpha() and name != "fetch")
OPERATIONS_OF: dict[str, tuple[str, ...]] = {
    "update": (*SIMPLE, "compare_swap"),
    "update_located": (*SIMPLE, "compare_swap"),
    "update_from": (*SIMPLE, "compare_swap", "fetch"),
    "update_from_located": (*SIMPLE, "compare_swap", "fetch"),
    "notify": ("set", "add"),
    "notify_all": ("set", "add"),
    "signal": ("set", "add"),
    "fetch_update": SIMPLE,
}
"""The commands whose first argument says what they do with the cell, and what it may be."""

KEYWORDS = frozenset((
    "program", "nodes", "memory", "made_up", "register", "queue", "unordered", "process", "mem", "me", "skip",
    "barrier", "bundle", "exit", "await", "await_add", *OPERATIONS, *OPERATIONS_OF, "as", "if", "else", "while",
    "choose", "or", "loop", "goto",
))  # fmt: skip

_UPDATING: dict[str, Callable[..., Command]] = {
    "update": Update,
    "update_located": partial(Update, located=True),
    "update_from": UpdateFrom,
    "update_from_located": partial(UpdateFrom, located=True),
    "notify": Notify,
    "notify_all": partial(Notify, everywhere=True),
    "signal": Signal,
    "fetch_update": FetchUpdate,
}


def updating(name: str, operation: str) -> tuple[Callable[..., Command], tuple[str, ...], int]:
    """For the command ``name`` with ``operation``: its constructor, the names of its arguments in order, and how many
    of the last may be left out."""
    if name == "fetch_update":
        return _UPDATING[name], ("rank", "address", "operand"), 0
    place = ("rank", "remote", "queue")
    operand = "local" if name.startswith("update_from") else "value"
    operands = {"fetch": (), "compare_swap": (operand, "expected")}.get(operation, (operand,))
    if not name.startswith("update"):
        return _UPDATING[name], (*operands, *place), 0
    made = partial(_UPDATING[name], local=None) if operation == "fetch" else _UPDATING[name]
    return made, (*operands, *place, "result"), 1
