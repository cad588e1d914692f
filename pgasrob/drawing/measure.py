"""Measures texts in a fixed-width font, and shortens long ones.

The unit of all pictures is a thirteenth of the size of their letters.
"""

from __future__ import annotations

import re
from unicodedata import combining, east_asian_width

CHARACTER = 8.0
"""Width of a letter of a fixed-width font of size 13: the widest of the usual ones take 0.615 of their size."""
LINE = 17.0
"""From one line of a box to the next."""
PADDING = 8.0
"""Between the side of a box and its text."""
NAME = re.compile(r"[A-Za-z_$][\w$]*", re.ASCII)
SHORTEST = 8
"""Characters of a name that is shortened."""


def width_of(text: str) -> float:
    """Room for ``text`` in a fixed-width font; East Asian letters take two places."""
    return CHARACTER * sum(0 if combining(char) else 1 + (east_asian_width(char) in "WF") for char in text)


def cut(text: str, room: int) -> str:
    """``text`` in at most ``room`` places, an ellipsis at the end where it is longer."""
    if width_of(text) <= room * CHARACTER:
        return text
    while text and width_of(text) > (room - 1) * CHARACTER:
        text = text[:-1]
    return text.rstrip() + "…"


def fitted(text: str, room: int) -> str:
    """``text`` in at most ``room`` places: long names lose their middle, so that values stay whole; only when that does
    not suffice is its end cut."""
    longest = max(map(len, NAME.findall(text)), default=0)
    for most in range(longest, SHORTEST - 1, -1):
        shorter = NAME.sub(lambda name: _middle_out(name[0], most), text)  # noqa: B023
        if width_of(shorter) <= room * CHARACTER:
            return shorter
        text = shorter if most == SHORTEST else text
    return cut(text, room)


def _middle_out(name: str, most: int) -> str:
    """``name`` in at most ``most`` places, an ellipsis for what is left out of its middle."""
    end = (most - 1) // 2
    return name if len(name) <= most else f"{name[: most - 1 - end]}…{name[len(name) - end :]}"
