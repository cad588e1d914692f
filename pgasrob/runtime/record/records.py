"""The records of a trace: their numbers in the file, and what the reader makes of them. ``FORMAT.md`` defines them."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple


class Kind(IntEnum):
    """The kinds of records, as in their first byte."""

    LOAD = 0x01
    STORE = 0x02
    LOAD_RANGE = 0x03
    STORE_RANGE = 0x04
    UPDATE = 0x05
    RUN = 0x06
    CALL = 0x10
    RETURN = 0x11
    STRING = 0x20
    SITE = 0x21
    MODULE = 0x22
    GROUP = 0x23
    REGION = 0x24
    END_OF_REGION = 0x25
    MEMORY = 0x26
    CONTENTS = 0x27
    END = 0x3F


class Operation(IntEnum):
    """The operations of calls."""

    PUT = 1
    GET = 2
    ATOMIC = 3
    PUT_SIGNAL = 4
    WAIT_UNTIL = 5
    TEST = 6
    FENCE = 7
    QUIET = 8
    COLLECTIVE = 9
    SET_LOCK = 10
    TEST_LOCK = 11
    CLEAR_LOCK = 12
    ALLOCATE = 13
    FREE = 14
    INITIALISE = 15
    FINALISE = 16
    EXIT = 17
    CONTEXT_CREATE = 18
    CONTEXT_DESTROY = 19
    POINTER = 20
    WINDOW_CREATE = 24
    WINDOW_FREE = 25
    WINDOW_FENCE = 26
    POST = 27
    START = 28
    COMPLETE = 29
    WAIT = 30
    TEST_EXPOSURE = 31
    LOCK = 32
    UNLOCK = 33
    LOCK_ALL = 34
    UNLOCK_ALL = 35
    FLUSH = 36
    WINDOW_SYNC = 37
    ATTACH = 38
    DETACH = 39
    SEND = 40
    RECEIVE = 41
    COMPLETE_REQUESTS = 42
    REQUEST_FREE = 43
    PROBE = 44
    COMMUNICATOR = 45
    NOT_KNOWN = 255


_SIDES = "rank remote blocks block stride local local_blocks local_block local_stride element value queue"
OPERANDS: dict[Operation, tuple[str, ...]] = {
    Operation[operation]: tuple(names.split())
    for operations, names in (
        ("PUT GET", f"{_SIDES} request"),
        ("PUT_SIGNAL", f"{_SIDES} signal signal_value update"),
        ("ATOMIC", "rank remote element elements update operand expected local expected_at result queue request"),
        ("WAIT_UNTIL TEST", "address element elements comparison value mode status"),
        ("FENCE QUIET CONTEXT_DESTROY", "queue"),
        ("COLLECTIVE", "group which kind root destination source element elements update request"),
        ("SET_LOCK TEST_LOCK CLEAR_LOCK FREE", "address"),
        ("ALLOCATE", "bytes alignment"),
        ("INITIALISE", "rank ranks level"),
        ("FINALISE NOT_KNOWN", ""),
        ("EXIT", "status"),
        ("CONTEXT_CREATE", "options"),
        ("POINTER", "rank remote"),
        ("WINDOW_CREATE", "group flavour bytes unit unified"),
        ("WINDOW_FREE COMPLETE WAIT TEST_EXPOSURE UNLOCK_ALL WINDOW_SYNC", "window"),
        ("WINDOW_FENCE LOCK_ALL", "window assertion"),
        ("POST START", "window assertion group"),
        ("LOCK", "window rank exclusive_or_shared assertion"),
        ("UNLOCK FLUSH", "window rank"),
        ("ATTACH", "window address bytes"),
        ("DETACH", "window address"),
        ("SEND", "group rank tag address bytes mode request"),
        ("RECEIVE", "group rank tag address bytes request"),
        ("COMPLETE_REQUESTS", "asked waits"),
        ("REQUEST_FREE", "request"),
        ("PROBE", "group rank tag waits"),
        ("COMMUNICATOR", "parent"),
    )
    for operation in operations.split()
}
"""The names of the operands of each call; an operand `request` is present only with the flag for it."""
WITH_REQUEST = 16
"""The flag for a call that has a request."""
RESULTS: dict[Operation, int] = {
    Operation[operation]: count
    for count, operations in enumerate(
        (
            "COLLECTIVE QUIET SET_LOCK CLEAR_LOCK FREE INITIALISE FINALISE CONTEXT_DESTROY WINDOW_FREE WINDOW_FENCE "
            "POST START COMPLETE WAIT LOCK UNLOCK LOCK_ALL UNLOCK_ALL FLUSH SEND",
            "GET ATOMIC WAIT_UNTIL TEST_LOCK ALLOCATE POINTER TEST_EXPOSURE COMMUNICATOR",
            "TEST CONTEXT_CREATE",
            "WINDOW_CREATE RECEIVE",
            "PROBE",
        )
    )
    for operation in operations.split()
}
"""How many results a call has that returns. Others do not, but COMPLETE_REQUESTS, which has 4 of each request."""
ADDRESSES = 1 << 48
"""Addresses are below, and sizes."""
UPDATES, COMPARISONS = 18, 6
"""How many there are, whose numbers begin with 0."""
_ADDRESS, _COUNT, _SIGNED = (0, ADDRESSES), (-1, ADDRESSES), (-ADDRESSES, ADDRESSES)
LIMITED: dict[str, tuple[int, int]] = {
    name: limits
    for names, limits in (
        ("remote local result expected_at signal address", _ADDRESS),
        ("source destination elements", _COUNT),
        ("blocks block local_blocks local_block element bytes", _ADDRESS),
        ("stride local_stride", _SIGNED),
        ("comparison", (0, COMPARISONS)),
        ("update", (0, UPDATES)),
    )
    for name in names.split()
}
"""What operands may be: from the first number on and less than the second. Ranks are those of the trace or -1; others
may be any."""


def signed(word: int) -> int:
    """A word as C's int64_t."""
    return word - (1 << 64) if word >> 63 else word


class Place(NamedTuple):
    """A program counter as an offset in a module; (0, 0): unknown."""

    module: int
    offset: int


class Module(NamedTuple):
    """The program (the first) or a shared library that was built to record. ``base``: its load address."""

    path: str
    base: int
    bytes: int


class Access(NamedTuple):
    """A load, a store or an atomic update. ``value``: its bytes as a number; None where it is unknown, as of all loads
    in runs and of ranges. ``update``: operation, operand, expected, value before and value after."""

    kind: Kind
    flags: int
    address: int
    bytes: int
    place: Place
    value: int | None = None
    update: tuple[int, int, int, int, int] | None = None


class Call(NamedTuple):
    operation: Operation
    flags: int
    function: str
    type: str
    place: Place
    operands: tuple[int, ...]
    number: int

    def named(self) -> dict[str, int]:
        """The operands by name, with the sign that C's int64_t would give them."""
        return dict(zip(OPERANDS[self.operation], map(signed, self.operands), strict=False))


class Return(NamedTuple):
    operation: Operation
    results: tuple[int, ...]
    number: int


class Region(NamedTuple):
    """A piece of memory that other ranks can access; ``rank``: for a view the rank whose memory it shows, else -1."""

    kind: int
    region: int
    address: int
    bytes: int
    identity: int
    rank: int
    remote: int
    place: Place


class EndOfRegion(NamedTuple):
    region: int


BLOCK, FRAME = 1, 2
"""How memory has its name: from where it was allocated, or as the frame of a function."""


class Memory(NamedTuple):
    """A block that was allocated at ``place``, or the frame of the function that ``place`` is in."""

    how: int
    address: int
    bytes: int
    place: Place


class Contents(NamedTuple):
    """What ``size`` bytes of memory held; behind the ``data`` they are 0."""

    address: int
    size: int
    data: bytes


class Group(NamedTuple):
    group: int
    members: tuple[int, ...]


class End(NamedTuple):
    """The rank ended by itself."""

    number: int


Record = Access | Call | Return | Region | EndOfRegion | Memory | Contents | Group | End


class TraceError(Exception):
    """The file is no trace, or it is damaged; the message says why and where."""
