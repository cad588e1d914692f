"""How types lie in memory: sizes, alignments and offsets as on 64-bit Unix."""

from __future__ import annotations

from collections.abc import Sequence

from pgasrob.frontends.c.types import Array, CType, Field, Floating, Function, Integer, Opaque, Pointer, Struct, Void


def size_of(type: CType) -> int:
    """The bytes of a value of ``type``, 1 for `void` and functions as in GNU C."""
    match type:
        case Integer():
            return type.type.bits // 8
        case Floating():
            return type.bits // 8
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


def struct_of(
    tag: str,
    members: Sequence[tuple[str, CType]],
    union: bool = False,
    most: int = 0,
    least: int = 0,
    aligned: Sequence[int] = (),
) -> Struct:
    """A struct with these members one behind the other, each aligned; or a union, with all at its beginning. ``most``:
    the largest alignment of a member, if it is packed. ``least``: how far the struct is aligned at least, and
    ``aligned``, if given, each member."""
    offset, size, alignment = 0, 0, max(1, least)
    fields = []
    for (name, type), further in zip(members, aligned or (0,) * len(members), strict=True):
        need = max(min(align_of(type), most or align_of(type)), further)
        offset = 0 if union else -(-offset // need) * need
        fields.append(Field(name, type, offset))
        offset += size_of(type)
        size, alignment = max(size, offset), max(alignment, need)
    return Struct(tag, tuple(fields), -(-size // alignment) * alignment, alignment, union)


def scalars(type: CType) -> int:
    """How many scalars a value of ``type`` consists of, those of all members of a union together."""
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
            return {32: "float", 64: "double", 128: "long double"}[bits]
        case Pointer(Function()):
            return "pointer to a function"
        case Pointer(to):
            return f"{shown(to)} *"
        case Array(of, length):
            return f"{shown(of)}[{'' if length is None else length}]"
        case Struct(tag):
            word = "union" if type.union else "struct"
            return f"{word} {tag}" if not tag.startswith("<") else word
        case Function():
            return "function"
        case Opaque(name):
            return name


def alike(first: CType, second: CType) -> bool:
    """Whether two declarations of a variable can be of one: a length may be missing."""
    if isinstance(first, Array) and isinstance(second, Array):
        return alike(first.of, second.of) and (first.length == second.length or None in (first.length, second.length))
    if isinstance(first, Struct) and isinstance(second, Struct):
        return first.tag == second.tag and _same_members(first, second)
    if isinstance(first, Pointer) and isinstance(second, Pointer):
        return True
    return first == second


def _same_members(first: Struct, second: Struct) -> bool:
    """Whether they have the same members, as far as they are known."""
    if not first.fields or not second.fields:
        return True
    pairs = zip(first.fields, second.fields, strict=False)
    same = all(one.name == two.name and one.offset == two.offset and alike(one.type, two.type) for one, two in pairs)
    return same and len(first.fields) == len(second.fields)


def with_article(type: CType, quote: str = "") -> str:
    """``type`` as :func:`shown`, with an article, and between ``quote``s."""
    text = shown(type)
    return f"{'an' if text[0] in 'aeiou' or text.startswith('MPI') else 'a'} {quote}{text}{quote}"


def member_of(struct: Struct, name: str) -> tuple[CType, int] | None:
    """The type and offset of a member, which may be in a member without a name."""
    for field in struct.fields:
        if field.name == name:
            return field.type, field.offset
        if not field.name and isinstance(field.type, Struct):
            inner = member_of(field.type, name)
            if inner is not None:
                return inner[0], field.offset + inner[1]
    return None
