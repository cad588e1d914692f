"""Reads links of the page: a program and a run of it behind the `#` of an address, which no browser sends to a server.

It is `#p=` and JSON, deflated and in the alphabet of base64 for addresses; the page writes and reads the same.
"""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from typing import NamedTuple

from pgasrob.explore.request_bounds import MOST_CHOICES, MOST_NODES, MOST_TEXT

MARK = "#p="
MOST_JSON = 8 * MOST_TEXT


class Linked(NamedTuple):
    """The program and run of a link; ``language`` is "pgas" or "c", ``nodes`` None for the program's own count."""

    text: str
    language: str
    nodes: int | None
    run: tuple[str, ...]


def is_link(text: str) -> bool:
    return MARK in text


def from_link(link: str) -> Linked:
    """Unpack the address or fragment ``link``. Raises ValueError with what is wrong with it."""
    _, _, packed = link.partition(MARK)
    try:
        data = base64.b64decode(packed + "=" * (-len(packed) % 4), altchars=b"-_", validate=True)
        unpacker = zlib.decompressobj(wbits=-15)
        text = unpacker.decompress(data, MOST_JSON)
        if not unpacker.eof:
            raise ValueError("the link is cut short, or its program is too long")
        value = json.loads(text)
    except (binascii.Error, zlib.error, UnicodeDecodeError, json.JSONDecodeError, RecursionError):
        raise ValueError("the link is damaged: copy the whole address") from None
    match value:
        case {"text": str(program), "language": "pgas" | "c" as language, "nodes": nodes, "run": str(run)}:
            choices = tuple(filter(None, run.split(",")))
            fits = nodes is None or (type(nodes) is int and 1 <= nodes <= MOST_NODES)
            if len(program) <= MOST_TEXT and len(choices) <= MOST_CHOICES and fits:
                return Linked(program, language, nodes, choices)
    raise ValueError("the link holds no program and run that can be shown")
