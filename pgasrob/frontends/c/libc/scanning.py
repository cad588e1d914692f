"""scanf and its like: what they read is known where the text is, as of arguments of the program."""

from __future__ import annotations

import re

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.apis.interface import Call, Outcome
from pgasrob.frontends.c.libc.library_calls import calls, known_string, machine_of, spelled, text_of, unknown_value
from pgasrob.frontends.c.libc.string_functions import forget
from pgasrob.frontends.c.nondeterminism import ANY
from pgasrob.frontends.c.types import CHAR, DOUBLE, LONG_DOUBLE, CType, Floating, Integer
from pgasrob.frontends.c.values import Address, Known, Value
from pgasrob.program.expressions import Const, IntType, Unary, constant, float_bits, folded
from pgasrob.stop_points import stop_point

_DIRECTIVE = re.compile(rb"%(\*?)(\d*)(hh|h|ll|l|z|j|t|L)?(\[\^?\]?[^\]]*\]|[diouxXcsfFeEgGpn%])")
_PIECE = re.compile(rb"(?P<blank>\s+)|" + _DIRECTIVE.pattern + rb"|(?P<other>[^%])", re.DOTALL)
_INTEGERS = {
    b"d": rb"[-+]?\d+", b"u": rb"[-+]?\d+", b"o": rb"[-+]?[0-7]+", b"x": rb"[-+]?(0[xX])?[0-9a-fA-F]+",
    b"i": rb"[-+]?(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9]\d*)",
}  # fmt: skip
_FLOAT = rb"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?"
_BASES = {b"d": 10, b"u": 10, b"o": 8, b"x": 16}


@calls(
    """
    int sscanf(const char *of, const char *format, ...); int scanf(const char *format, ...);
    int fscanf(FILE *of, const char *format, ...);
    """
)
def scan(call: Call) -> Outcome:
    """Of what is read from files only the types are known."""
    place = 0 if call.name == "scanf" else 1
    form = known_string(call, place)
    text = text_of(call, 0) if call.name == "sscanf" else None
    found = None if text is None else _read(text, form)
    if found is not None:
        values, count = found
        stores: list[tuple[Address, Value, CType]] = []
        for index, (value, type) in enumerate(values, place + 1):
            to = _target(call, index)
            if isinstance(value, bytes):
                stores += ((call.moved(to, at), Known(_signed(byte)), CHAR) for at, byte in enumerate(value))
            else:
                stores.append((to, value, type))
        return Outcome(result=Known(count), stores=tuple(stores))
    return _unknown(call, place, form)


def _target(call: Call, index: int) -> Address:
    to = call.pointer(index)
    if to is None:
        call.fail(
            Wrong.POINTER, f"a null pointer where `{call.name}` puts what it has read", "pass the address of a variable"
        )
    return to


def _unknown(call: Call, place: int, form: bytes) -> Outcome:
    """What is read is not known."""
    stores: list[tuple[Address, Value, CType]] = []
    computed = call.name == "sscanf"
    index, count = place + 1, 0
    for skipped, width, size, kind in _DIRECTIVE.findall(form):
        if skipped or kind == b"%":
            continue
        to = _target(call, index)
        index, count = index + 1, count + (kind != b"n")
        if kind[:1] in (b"s", b"["):
            room = machine_of(call).machine.objects.room(to)
            forget(call, to, min(room, spelled(width, 10) + 1 if width else room))
        else:
            type = _scanned(size, kind)
            interval = type.type.range if isinstance(type, Integer) else None
            stores.append((to, unknown_value(call, interval or ANY, computed=computed), type))
    return Outcome(result=unknown_value(call, (-1, count), computed=computed), stores=tuple(stores))


def _read(text: bytes, form: bytes) -> tuple[list[tuple[Value | bytes, CType]], int] | None:
    """What is read of ``text`` by ``form``: values, or the bytes of strings, with their types, and the result of the
    call; None where the format is not understood."""
    found: list[tuple[Value | bytes, CType]] = []
    count, at, position = 0, 0, 0
    while position < len(form):
        stop_point()
        piece = _PIECE.match(form, position)
        if piece is None:
            return None
        position = piece.end()
        skipped, width, size, kind = piece.groups()[1:5]
        if kind is None or kind[:1] not in b"cn[":
            at += len(text[at:]) - len(text[at:].lstrip(b" \t\n\v\f\r")) if piece["other"] is None else 0
        if piece["blank"] is not None:
            continue
        if kind is None or kind == b"%":
            if text[at : at + 1] != (piece["other"] or b"%"):
                break
            at += 1
            continue
        if kind == b"n":
            found.append((Known(at), _scanned(size or b"", kind)))
            continue
        one = _one(text[at:][: spelled(width, 10) if width else None], kind, size or b"", spelled(width or b"1", 10))
        if one is None:
            if kind == b"p":
                return None
            if at >= len(text) and not count:
                return found, -1
            break
        value, length = one
        at += length
        if not skipped:
            found.append((value, _scanned(size or b"", kind)))
            count += 1
    return found, count


def _one(text: bytes, kind: bytes, size: bytes, width: int) -> tuple[Value | bytes, int] | None:
    """What one directive reads at the beginning of ``text``, and how many bytes that is; None where nothing fits."""
    if kind == b"c":
        return (text[:width], width) if len(text) >= width else None
    if kind in b"s" or kind[:1] == b"[":
        match = re.match(rb"[^ \t\n\v\f\r]+" if kind == b"s" else _set(kind) + b"+", text, re.DOTALL)
        return (match[0] + b"\0", match.end()) if match else None
    kind = kind.lower()
    if kind in b"feg":
        match = re.match(_FLOAT, text)
        bits = Const(float_bits(float(match[0]))) if match else Const(0)
        value = bits if size else folded(Unary("float32", bits))
        known = constant(value)
        return (Known(known), match.end()) if match and known is not None else None
    match = re.match(_INTEGERS[kind], text) if kind in _INTEGERS else None
    if match is None:
        return None
    digits = match[0].lstrip(b"-+").lower()
    base = _BASES.get(kind) or (16 if digits.startswith(b"0x") else 8 if digits.startswith(b"0") else 10)
    type = _scanned(size, kind)
    assert isinstance(type, Integer)
    return Known(type.type.wrap(spelled(match[0], base))), match.end()


def _set(kind: bytes) -> bytes:
    """The characters of `%[...]` as those of a regular expression, where they mean what they do in scanf."""
    inside = kind[1:-1]
    negated = inside.startswith(b"^")
    inside = inside[negated:]
    return b"[" + b"^" * negated + re.sub(rb"[\\\[\]^&~|]", rb"\\\g<0>", inside) + b"]"


def _signed(byte: int) -> int:
    return IntType(8, True).wrap(byte)


def _scanned(size: bytes, kind: bytes) -> CType:
    """The type of what a directive reads."""
    if kind in b"fFeEgG":
        return {b"l": DOUBLE, b"L": LONG_DOUBLE}.get(size, Floating(32))
    if kind == b"c":
        return CHAR
    bits = {b"hh": 8, b"h": 16, b"": 64 if kind == b"p" else 32}.get(size, 64)
    return Integer(IntType(bits, kind in b"din"))
