"""Numbers, characters and strings as written in C."""

from __future__ import annotations

import re

from pgasrob.frontends.c.tokens import Token, error
from pgasrob.frontends.c.types import DOUBLE, FLOAT, INT, LONG, LONG_DOUBLE, UINT, ULONG, CType, Integer

_INTEGER = re.compile(r"(0[xX][0-9a-fA-F]+|0[bB][01]+|0[0-7]*|[1-9][0-9]*)([uU]?(?:ll|LL|[lL])?|(?:ll|LL|[lL])[uU])")
_DECIMAL = re.compile(r"([0-9]+\.?[0-9]*(?:[eE][+-]?[0-9]+)?|\.[0-9]+(?:[eE][+-]?[0-9]+)?)([fFlL]?)")
_HEXADECIMAL = re.compile(r"(0[xX][0-9a-fA-F]*\.?[0-9a-fA-F]*[pP][+-]?[0-9]+)([fFlL]?)")
_ESCAPE = re.compile(rb"\\(?:([0-7]{1,3})|x([0-9a-fA-F]+)|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
_SIMPLE = {b"n": 10, b"t": 9, b"r": 13, b"0": 0, b"a": 7, b"b": 8, b"f": 12, b"v": 11, b"e": 27, b"E": 27}
_FLOATING: dict[str, CType] = {"f": FLOAT, "": DOUBLE, "l": LONG_DOUBLE}
_MAX_DIGITS = 2_000


def number(token: Token) -> tuple[int | float, CType]:
    """The value of a number and its type: for an integer the first that holds it (C11, 6.4.4.1)."""
    text = token.text
    if len(text) > _MAX_DIGITS:
        raise error("PG106", f"a number has at most {_MAX_DIGITS} digits", token)
    if match := _INTEGER.fullmatch(text):
        digits, suffix = match[1], match[2].lower()
        if digits[:2] in ("0x", "0X", "0b", "0B"):
            value = int(digits[2:], 16 if digits[1] in "xX" else 2)
        else:
            value = int(digits, 8 if digits[0] == "0" else 10)
        decimal = digits[0] != "0" or value == 0
        for type in (INT, UINT, LONG, ULONG):
            assert isinstance(type, Integer)
            if ("u" in suffix and type.type.signed) or ("l" in suffix and type.type.bits < 64):
                continue
            if "u" not in suffix and decimal and not type.type.signed and type is UINT:
                continue
            if value <= type.type.range[1]:
                return value, type
        raise error("PG106", f"`{text}` does not fit an integer of 64 bits", token)
    if (match := _DECIMAL.fullmatch(text)) and not match[1].isdigit():
        return float(match[1]), _FLOATING[match[2].lower()]
    if match := _HEXADECIMAL.fullmatch(text):
        try:
            return float.fromhex(match[1]), _FLOATING[match[2].lower()]
        except (ValueError, OverflowError):
            pass
    raise error("PG106", f"`{text}` is no number", token)


def _bytes(token: Token, text: str) -> bytes:
    def replaced(match: re.Match[bytes]) -> bytes:
        octal, hexadecimal, short, long, other = match.groups()
        if octal or hexadecimal:
            value = int(octal, 8) if octal else int(hexadecimal, 16)
            if value > 255:
                raise error("PG106", "a character has at most the value 255", token)
            return bytes([value])
        if short or long:
            code = int(short or long, 16)
            if code > 0x10FFFF or 0xD800 <= code < 0xE000:
                raise error("PG106", "there is no such character", token)
            return chr(code).encode()
        return bytes([_SIMPLE[other]]) if other in _SIMPLE else bytes(other)

    return _ESCAPE.sub(replaced, text.encode("utf-8", "surrogateescape"))


def character(token: Token) -> int:
    """The value of a character constant, an int."""
    if token.text[0] != "'":
        raise error("PG120", f"the character `{token.text}` is a wide one; only plain ones are supported", token)
    found = _bytes(token, token.text[1:-1])
    if len(found) != 1:
        raise error("PG106", f"`{token.text}` is not one character", token)
    return found[0] - 256 if found[0] > 127 else found[0]


def string(token: Token) -> str:
    """The bytes of a string literal, one character each."""
    prefix, _, rest = token.text.partition('"')
    if prefix not in ("", "u8"):
        raise error("PG120", "this string has wide characters; only plain ones are supported", token)
    return _bytes(token, rest[:-1]).decode("latin-1")
