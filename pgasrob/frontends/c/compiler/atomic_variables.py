"""Atomic variables of C11 (<stdatomic.h>), which a program accesses by the functions of that header alone.

To read or set one without them is atomic as well (C11, 6.2.6.1), which is not supported.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pgasrob.frontends.c.standard import ATOMIC_TYPES
from pgasrob.frontends.c.tokens import Token, error

_HINT = "use atomic_load, atomic_store, atomic_fetch_add or a similar function, with the address of the variable"


def check_atomics(tokens: Sequence[Token]) -> None:
    """Raises `SourceError` for an atomic variable that is accessed otherwise, and for a pointer to one."""
    declared: dict[int, str] = {}
    for place, token in enumerate(tokens):
        if token.text in ATOMIC_TYPES and token.kind == "type":
            declared.update(_declared(tokens, place))
    names = set(declared.values())
    for place, token in enumerate(tokens):
        if token.text in names and token.kind == "name" and place not in declared and tokens[place - 1].text != "&":
            raise error("PG104", f"`{token.text}` is atomic, and is accessed here as other variables are", token, _HINT)


def _declared(tokens: Sequence[Token], place: int) -> Iterator[tuple[int, str]]:
    """The names that a declaration with an atomic type at ``place`` declares, with their places."""
    depth, expected = 0, True
    for number in range(place + 1, len(tokens)):
        text = tokens[number].text
        if expected:
            if tokens[number].kind != "name":
                raise error("PG104", "a pointer to an atomic variable is not supported", tokens[place], _HINT)
            yield number, text
            expected = False
            continue
        depth += (text in "([{") - (text in ")]}")
        if depth == 0 and text == ";":
            return
        expected = depth == 0 and text == ","
