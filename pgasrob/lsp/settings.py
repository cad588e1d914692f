"""What the command line sets for all programs of an editor, and the bounds of what is checked while typing."""

from __future__ import annotations

from dataclasses import dataclass

from pgasrob.frontends.options import FrontEnd
from pgasrob.program.reading import Reading
from pgasrob.robustness.limits import Limits

MOST_TEXT = 256 * 1024
"""Characters of a program that is looked at while it is typed."""
COUNTS = (2, 3, 4)
"""The node counts of a program that says none."""
DEBOUNCE = 0.3
"""Seconds without a change after which a text is looked at."""
MOST_AT_ONCE = 2
"""Texts that are looked at at a time, each in a process of its own."""
REPAIR_CHECKS = 6
"""So many times what a check may take is for a search for repairs."""
GRACE = 30.0
"""Seconds beyond the time limit after which a process is ended that has not looked at the clock, or is still starting
on a busy machine."""
ROOM = 2 << 30
"""Bytes of address space that a process may have beside what a search may take: what is loaded, stacks."""


@dataclass(frozen=True, slots=True)
class Settings:
    """``counts``: node counts; None for the program's own, or else :data:`COUNTS`. ``limits``, of which time and memory
    are some, bound the check on each of them. ``races``: look for these, too."""

    counts: tuple[int, ...] | None
    limits: Limits
    races: bool
    front_end: FrontEnd
    reading: Reading

    @property
    def seconds(self) -> float:
        assert self.limits.timeout is not None, "asked for"
        return self.limits.timeout

    @property
    def memory(self) -> int:
        assert self.limits.memory is not None, "asked for"
        return self.limits.memory
