"""How types lie in memory: sizes, alignments and offsets as on 64-bit Unix."""

from __future__ import annotations

from collections.abc import Sequence

from pgasrob.frontends.c.types import (
    Array,
    CType,
    Field,
    Floating,
    Function,
    Integer,
    Opaque,
    Pointer,
    Struct,
    Void,
)


def size_of(type: CType) -> int:
    """The bytes of a value of ``type``, 1 for `void` and functions as in GNU C."""
    match type:
        case Integer(integer):
            return integer.bits // 8
        case Floating(bits):
            return bits // 8
        case Pointer() | Opaque():
            return 8
        case Array(of, length):
            return size_of(of) * (length or 0)
        case Struct():
            return type.size
        case Void() | Function():
            return 1


def align_of(type: CType) -> int:
    match type:
        case Array(of):
            return align_of(of)
        case Struct():
            return type.alignment
        case _:
            return size_of(type)


def struct_of(tag: str, members: Sequence[tuple[str, CType]]) -> Struct:
    """A struct with these members one behind the other, each aligned."""
    offset, alignment = 0, 1
    fields = []
    for name, type in members:
        need = align_of(type)
        offset = -(-offset // need) * need
        fields.append(Field(name, type, offset))
        offset += size_of(type)
        alignment = max(alignment, need)
    return Struct(tag, tuple(fields), -(-offset // alignment) * alignment, alignment)


def scalars(type: CType) -> int:
    """How many scalars a value of ``type`` consists of."""
    match type:
        case Array(of, length):
            return scalars(of) * (length or 0)
        case Struct(_, fields):
            return sum(scalars(field.type) for field in fields)
        case _:
            return 1


def shown(type: CType) -> str:
    """``type`` as C writes it, for messages."""
    match type:
        case Void():
            return "void"
        case Integer(integer, boolean):
            if boolean:
                return "bool"
            name = {8: "char", 16: "short", 32: "int", 64: "long"}[integer.bits]
            return name if integer.signed else f"unsigned {name}"
        case Floating(bits):
            return "float" if bits == 32 else "double"
        case Pointer(Function()):
            return "pointer to a function"
        case Pointer(to):
            return f"{shown(to)} *"
        case Array(of, length):
            return f"{shown(of)}[{'' if length is None else length}]"
        case Struct(tag):
            return f"struct {tag}" if not tag.startswith("<") else "struct"
        case Function():
            return "function"
        case Opaque(name):
            return name
