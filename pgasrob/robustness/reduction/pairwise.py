"""What the fixpoint asks about two ranks at once: where the others have been when one is at some control state.

It rests on values that must have been written before they are read (`proofs/every-n.md`, section 4).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

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
    itself. ``writers``: by the identities of commands that can be issued only when one of these has been.
    """

    known: Sequence[Sequence[Sequence[States] | None]]
    after: Sequence[Sequence[States]]
    writers: Mapping[int, Sequence[Writer]]

    def may_be_at_once(self, rank: int, state: int, other: int, at: int) -> bool:
        """Whether ``rank`` may be at ``state`` while ``other`` is ``at`` some state."""
        one, two = self.known[rank][state], self.known[other][at]
        return one is not None and two is not None and bool(one[other] >> at & 1 and two[rank] >> state & 1)


Happened = AbstractSet[tuple[int, int]]
"""Accesses, each by the identity of its command and its number there."""


class Token(NamedTuple):
    """What at most one rank has. ``holding``: for each rank the states at which it has it. ``putting``: the accesses by
    which it may be handed on, each by the identity of its command and its number there. ``needing``: the identities of
    the commands that only a rank which has it can issue, or by which one takes it; but for those of the source's rank
    where that has it. As long as one of the accesses ``waking`` is delayed, those that are ``elsewhere`` are to other
    cells."""

    holding: Sequence[States]
    putting: Happened
    needing: AbstractSet[int]
    waking: Happened = frozenset()
    elsewhere: Happened = frozenset()


class BeforeBarrier(NamedTuple):
    """Where other ranks may be until a barrier comes after the choice of a source: ``states_of_others``, by rank.
    ``issued``: the identities of the commands that any rank may issue until then."""

    states_of_others: Sequence[set[int]]
    issued: set[int]


class Pairwise(Protocol):
    """What is known of two ranks step by step."""

    def before_barrier(
        self, states_of_others: Sequence[set[int]], source: int, delayed: Callable[[Any], bool], happened: Happened
    ) -> BeforeBarrier:
        """What may come when the first rank chooses the source in a state while the others are in ``states_of_others``.
        ``delayed``: whether an access must hit what is delayed then. ``happened``: what the first rank has done
        without delay, for certain or perhaps."""
