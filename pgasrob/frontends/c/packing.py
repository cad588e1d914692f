"""Structs that are packed: by `__attribute__((packed))` on one, or by `#pragma pack` for all that follow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pgasrob.frontends.c.tokens import PACK, Token, error
from pgasrob.stop_points import stop_point

_ATTRIBUTES = frozenset({"__attribute__", "__attribute"})


def with_packing(tokens: Sequence[Token]) -> list[Token]:
    """``tokens`` without what packs structs; each `struct` and `union` says how far its members may be aligned."""
    kept: list[Token] = []
    pushed: list[int] = []
    opened: list[int | None] = []  # by brace, the place of the struct that it begins
    most, place = 0, 0
    struct: int | None = None
    closed: int | None = None
    while place < len(tokens):
        stop_point()
        token = tokens[place]
        place += 1
        if token.kind == PACK:
            most = _packed(token, most, pushed)
            continue
        if token.text in _ATTRIBUTES and (end := _end_of_packed(tokens, place)):
            at = struct if struct is not None or not kept or kept[-1].text != "}" else closed
            if at is not None:
                kept[at] = replace(kept[at], most=1)
                place = end
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
        kept.append(token)
    return kept


def _end_of_packed(tokens: Sequence[Token], place: int) -> int | None:
    """Behind the attribute whose brackets begin at ``place``, if it says that a struct is packed and nothing else."""
    words = [each.text for each in tokens[place : place + 5]]
    return place + 5 if words in (["(", "(", name, ")", ")"] for name in ("packed", "__packed__")) else None


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
