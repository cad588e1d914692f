"""Structs that are packed: by `__attribute__((packed))` on one, or by `#pragma pack` for all that follow; and what is
aligned further than its type: by `__attribute__((aligned(n)))` or `_Alignas(n)`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pgasrob.frontends.c.tokens import PACK, Token, error
from pgasrob.stop_points import stop_point

_QUALIFIERS = frozenset(("const", "volatile", "register", "static", "extern", "_Thread_local", "__thread"))
LARGEST = 16
"""How far `aligned` aligns that names no number."""
_ATTRIBUTES = frozenset({"__attribute__", "__attribute"})


def with_packing(tokens: Sequence[Token]) -> list[Token]:
    """``tokens`` without what packs structs; each `struct` and `union` says how far its members may be aligned. What is
    aligned further says so at the `struct`, at the last token of a declarator, or at the first one of a declaration."""
    kept: list[Token] = []
    pushed: list[int] = []
    opened: list[int | None] = []  # by brace, the place of the struct that it begins
    most, least, place = 0, 0, 0
    struct: int | None = None
    closed: int | None = None
    while place < len(tokens):
        stop_point()
        token = tokens[place]
        place += 1
        if token.kind == PACK:
            most = _packed(token, most, pushed)
            continue
        if token.text in _ATTRIBUTES and (found := _attributes(tokens, place)) is not None:
            end, packed, aligned = found
            at = struct if struct == len(kept) - 1 else None
            if kept and kept[-1].text == "}":
                at = closed
            if at is not None:
                kept[at] = replace(kept[at], most=1 if packed else kept[at].most, least=max(aligned, kept[at].least))
                place = end
                continue
            if not packed:
                if kept and (kept[-1].kind == "name" or kept[-1].text == "]"):
                    kept[-1] = replace(kept[-1], least=max(aligned, kept[-1].least))
                else:
                    least = aligned
                place = end
                continue
        if token.text == "_Alignas" and (number := _number(tokens, place)) is not None:
            place, least = place + 3, max(least, number)
            continue
        if token.kind == "name" and token.text in ("struct", "union"):
            struct = len(kept)
            token = replace(token, most=most)
        elif token.kind == "sign" and token.text == "{":
            opened.append(struct)
            struct = None
        elif token.kind == "sign" and token.text == "}":
            closed, struct = (opened.pop() if opened else None), None
        elif token.kind == "sign":
            struct = None
        if least and token.text not in _QUALIFIERS:
            token, least = replace(token, least=least), 0
        kept.append(token)
    return kept


def _attributes(tokens: Sequence[Token], place: int) -> tuple[int, bool, int] | None:
    """Behind the attributes whose brackets begin at ``place``, if they say that something is packed, or how far it is
    aligned, and nothing else; whether it is packed, and how far it is aligned, 0 if they do not say."""
    if [each.text for each in tokens[place : place + 2]] != ["(", "("]:
        return None
    packed, aligned, place = False, 0, place + 2
    while place < len(tokens):
        word = tokens[place].text.strip("_")
        if word == "packed":
            packed, place = True, place + 1
        elif word == "aligned":
            number = _number(tokens, place + 1)
            if number is None and tokens[place + 1 : place + 2] and tokens[place + 1].text == "(":
                return None
            aligned, place = max(aligned, number or LARGEST), place + (1 if number is None else 4)
        else:
            return None
        if [each.text for each in tokens[place : place + 2]] == [")", ")"]:
            return place + 2, packed, aligned
        if tokens[place : place + 1] and tokens[place].text == ",":
            place += 1
    return None


def _number(tokens: Sequence[Token], place: int) -> int | None:
    """The number in the brackets that begin at ``place``, if there is nothing else in them."""
    match [each.text for each in tokens[place : place + 3]]:
        case ["(", text, ")"] if text.isdigit():
            return int(text)
    return None


def _packed(pragma: Token, most: int, pushed: list[int]) -> int:
    """The largest alignment of members behind ``pragma``, where it was ``most``; 0: that of their types."""
    words = [each.text for each in pragma.parts if each.text not in ("(", ")", ",")]
    if words[:1] == ["push"]:
        pushed.append(most)
    elif words[:1] == ["pop"]:
        return pushed.pop() if pushed else 0
    elif not words:
        return 0
    numbers = [each for each in words if each.isdigit()]
    if words[0] != "push" and numbers != words:
        raise error(
            "PG104", f"`{pragma.text}` is not supported", pragma, "`pack(1)`, `pack(push, 1)` and `pack(pop)` are"
        )
    return int(numbers[0]) if numbers else most
