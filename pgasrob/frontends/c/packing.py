"""Structs that are packed: by `__attribute__((packed))` on one, or by `#pragma pack` for all that follow; and what is
aligned further than its type: by `__attribute__((aligned(n)))` or `_Alignas(n)`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from pgasrob.diagnostics import SourceError
from pgasrob.frontends.c.conditions import Arithmetic
from pgasrob.frontends.c.tokens import PACK, Token, error
from pgasrob.stop_points import stop_point

_QUALIFIERS = frozenset(("const", "volatile", "register", "static", "extern", "_Thread_local", "__thread"))
LARGEST = 16
"""How far `aligned` aligns that names no number."""
MOST = 1 << 28
"""No more is something aligned."""
SIZES = {
    "char": 1, "short": 2, "int": 4, "long": 8, "long long": 8, "float": 4, "double": 8, "long double": 16,
    "void *": 8, "size_t": 8, "int32_t": 4, "int64_t": 8, "uint32_t": 4, "uint64_t": 8, "max_align_t": 16,
}  # fmt: skip
"""Of types by which something may be aligned."""
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
        if token.text == "_Alignas":
            inner, place = _in_brackets(tokens, place)
            least = max(least, _number(inner, token))
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
    """Behind the attributes whose brackets begin at ``place``, if one says that something is packed, or how far it is
    aligned; whether it is packed, and how far it is aligned, 0 if they do not say."""
    if [each.text for each in tokens[place : place + 2]] != ["(", "("]:
        return None
    packed, aligned, place = False, 0, place + 2
    while place < len(tokens) and tokens[place].text != ")":
        word, place = tokens[place], place + 1
        inner, place = _in_brackets(tokens, place)
        if word.text.strip("_") == "packed":
            packed = True
        elif word.text.strip("_") == "aligned":
            aligned = max(aligned, _number(inner, word) if inner else LARGEST)
    return (place + 2, packed, aligned) if packed or aligned else None


def _in_brackets(tokens: Sequence[Token], place: int) -> tuple[Sequence[Token], int]:
    """What is in the brackets that begin at ``place``, if some do, and the place behind them."""
    end, depth = place, 0
    while end < len(tokens) and (depth or tokens[end].text == "("):
        depth += {"(": 1, ")": -1}.get(tokens[end].text, 0)
        end += 1
        if not depth:
            break
    return tokens[place + 1 : end - 1], end


def _number(inner: Sequence[Token], word: Token) -> int:
    """The number that ``inner``, the brackets of ``word``, has."""
    texts, known = [each.text for each in inner], list[Token]()
    place = 0
    while place < len(inner):
        of, end = _in_brackets(inner, place + 1) if texts[place] in ("sizeof", "_Alignof") else ((), place + 1)
        size = SIZES.get(" ".join(each.text for each in of))
        known.append(inner[place] if size is None else replace(inner[place], kind="number", text=str(size)))
        place = place + 1 if size is None else end
    found = SIZES.get(" ".join(texts), -1)
    if found < 0:
        with suppress(SourceError):
            found = Arithmetic(known, word, _unknown).value()
    if not 0 <= found <= MOST or found & (found - 1):
        what = f"`{word.text}({' '.join(texts)[:40]})`"
        raise error("PG120", f"{what} is not supported", word, f"a number is: a power of 2 up to {MOST:,}")
    return found


def _unknown(name: str) -> int:
    raise SourceError([])


def _packed(pragma: Token, most: int, pushed: list[int]) -> int:
    """The largest alignment of members behind ``pragma``, where it was ``most``; 0: that of their types."""
    words = [each.text for each in pragma.parts if each.text not in ("(", ")", ",")]
    if words[:1] == ["push"]:
        pushed.append(most)
    elif words[:1] == ["pop"]:
        return pushed.pop() if pushed else 0
    elif not words:
        return 0
    numbers = [each for each in words if each.isdigit() and len(each) < 4]
    if words[0] != "push" and numbers != words:
        raise error(
            "PG120", f"`{pragma.text}` is not supported", pragma, "`pack(1)`, `pack(push, 1)` and `pack(pop)` are"
        )
    return int(numbers[0]) if numbers else most
