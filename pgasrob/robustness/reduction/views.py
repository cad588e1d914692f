"""What is known of two ranks at once: where others have been when one is at some control state.

It rests on values that must have been written before they are read (`proofs/every-n.md`, section 4).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

States = int
"""A set of control states: bit s for state s."""


class Writer(NamedTuple):
    """A command that may have written what is read: that of ``rank`` before ``state``, whose access number ``access``
    writes, and which leads to ``target``. ``command``: its identity."""

    rank: int
    state: int
    target: int
    command: int
    access: int


@dataclass(frozen=True)
class Views:
    """``known``: for each rank and control state and each rank the states in which that one may be meanwhile, with all
    that follow these; None when no rank comes there. ``after``: for each rank and control state what may follow it, and
    itself. ``writers``: by the identities of commands that can be issued only when one of these has been."""

    known: Sequence[Sequence[Sequence[States] | None]]
    after: Sequence[Sequence[States]]
    writers: Mapping[int, Sequence[Writer]]

    def may_meet(self, rank: int, state: int, other: int, at: int) -> bool:
        """Whether ``rank`` may be at ``state`` while ``other`` is ``at`` some state."""
        one, two = self.known[rank][state], self.known[other][at]
        return one is not None and two is not None and bool(one[other] >> at & 1 and two[rank] >> state & 1)
