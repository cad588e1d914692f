"""C types: sizes as on 64-bit Unix (LP64), conversions as in C11, 6.3."""

from __future__ import annotations

from pgasrob.program.expressions import IntType
from pgasrob.program.value_classes import record


@record
class Void:
    pass


@record
class Integer:
    """An integer type; an enum is an int, `_Bool` has ``boolean`` set."""

    type: IntType
    boolean: bool = False


@record
class Floating:
    """`float` (32 bits), `double` (64) or `long double` (128 in memory; its values are those of a double)."""

    bits: int


@record
class Pointer:
    to: CType


@record
class Array:
    """``length`` None: not known yet (`int a[] = {...}`), that of a parameter, which is a pointer, or known in a run
    alone; then the slot ``bytes`` of the function has the size (C11, 6.7.6.2)."""

    of: CType
    length: int | None
    bytes: int | None = None


@record
class Field:
    name: str
    type: CType
    offset: int  # bytes from the beginning of the struct


@record
class Struct:
    """A struct or union with its layout; ``size`` and ``alignment`` in bytes."""

    tag: str
    fields: tuple[Field, ...]
    size: int
    alignment: int
    union: bool = False


@record
class Function:
    result: CType
    parameters: tuple[CType, ...]
    variadic: bool = False


@record
class Opaque:
    """A type of an API whose values programs only pass around: `MPI_Win`, `shmem_ctx_t`, `gasnet_handle_t`. 8 bytes."""

    name: str


CType = Void | Integer | Floating | Pointer | Array | Struct | Function | Opaque

VOID = Void()
BOOL = Integer(IntType(8, False), boolean=True)
CHAR = Integer(IntType(8, True))
UCHAR = Integer(IntType(8, False))
SHORT = Integer(IntType(16, True))
USHORT = Integer(IntType(16, False))
INT = Integer(IntType(32, True))
UINT = Integer(IntType(32, False))
LONG = Integer(IntType(64, True))
ULONG = Integer(IntType(64, False))
FLOAT = Floating(32)
DOUBLE = Floating(64)
LONG_DOUBLE = Floating(128)
SIZE = ULONG
