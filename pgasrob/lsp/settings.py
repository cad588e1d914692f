"""What the command line says once for all programs of an editor, and the bounds of what is looked at."""

from __future__ import annotations

from dataclasses import dataclass

from pgasrob.frontends.options import FrontEnd
from pgasrob.program.reading import DEFAULT_READING, Reading

MOST_TEXT = 256 * 1024
"""Characters of a program that is looked at while it is typed."""
COUNTS = (2, 3, 4)
"""The node counts of a program that says none."""
DEBOUNCE = 0.3
"""Seconds without a change after which a text is looked at."""
MOST_AT_ONCE = 2
"""Texts that are looked at at a time, each in a process of its own."""
GRACE = 5.0
"""Seconds beyond the time limit after which a process is ended that has not looked at the clock."""
ROOM = 2 << 30
"""Bytes of address space that a process may have beside what a search may take: what is loaded, stacks."""


DEFAULT_FRONT_END = FrontEnd()


@dataclass(frozen=True, slots=True)
class Settings:
    """``counts``: node counts; None for the program's own, or else :data:`COUNTS`. ``seconds`` and ``memory`` bound the
    search on each of them. ``races``: look for these, too."""

    counts: tuple[int, ...] | None = None
    seconds: float = 10.0
    memory: int = 1 << 30
    races: bool = True
    front_end: FrontEnd = DEFAULT_FRONT_END
    reading: Reading = DEFAULT_READING
