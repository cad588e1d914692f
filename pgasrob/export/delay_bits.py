"""Reduces the bits of a Promela model, which say which steps of a rank are delayed, to those that matter.

The rules of the instrumentation read and set bits wherever placements say so. A bit that no earlier command can have
set is not read, and one that no later command reads is not set. Leaving out one bit may make others superfluous, so the
rules are repeated until nothing changes.
"""

from __future__ import annotations

from collections import defaultdict

Bit = str


class Bits:
    """The bits of one rank.

    In each round the rules go through all commands: ``enter`` names the command, then the rules ``ask``, ``put`` and
    ``clear`` bits, which return the bits that are needed. ``settle`` ends a round and says whether another is needed.
    """

    def __init__(self) -> None:
        self._before: dict[int, frozenset[Bit]] | None = None  # by control state: bits that may be set
        self._later: dict[int, frozenset[Bit]] | None = None  # and bits that may be asked for
        self._start()

    def _start(self) -> None:
        self._flows: dict[int, tuple[int, int]] = {}  # edge -> its states
        self._asked: dict[int, set[Bit]] = defaultdict(set)
        self._set: dict[int, set[Bit]] = defaultdict(set)
        self._cleared: dict[int, set[Bit]] = defaultdict(set)
        self._edge = -1

    @property
    def names(self) -> list[Bit]:
        """The bits that are set anywhere."""
        return sorted(set[Bit]().union(*self._set.values()))

    def enter(self, edge: int, state: int, target: int) -> None:
        """Begin the rules of the command of transition ``edge``, which leads from one control state to another."""
        self._edge = edge
        self._flows[edge] = state, target

    def drop(self) -> None:
        """Forget what the current command asked for and put: it can never be issued."""
        for known in (self._flows, self._asked, self._set, self._cleared):
            known.pop(self._edge, None)

    def ask(self, *bits: Bit) -> list[Bit]:
        """Those of ``bits`` that may be set."""
        before = None if self._before is None else self._before.get(self._flows[self._edge][0], ())
        found = [bit for bit in bits if before is None or bit in before]
        self._asked[self._edge].update(found)
        return found

    def put(self, *bits: Bit) -> list[Bit]:
        """Those of ``bits`` that some later command asks for."""
        found = [bit for bit in bits if self.is_asked(bit)]
        self._set[self._edge].update(found)
        return found

    def clear(self, bit: Bit) -> list[Bit]:
        """``bit``, if it may be set and some later command asks for it. Where the command puts it after this call, it
        does so before the bit is cleared, and no later command reads that."""
        may_be_set = self._before is None or bit in self._before.get(self._flows[self._edge][0], ())
        found = [bit] if may_be_set and self.is_asked(bit) else []
        self._cleared[self._edge].add(bit)
        return found

    def is_asked(self, bit: Bit) -> bool:
        """Whether a later command asks for ``bit``."""
        if bit in self._cleared[self._edge]:
            return False
        return self._later is None or bit in self._later.get(self._flows[self._edge][1], ())

    def settle(self) -> bool:
        """End a round; False when it was the last one."""
        before = self._flow(self._set, [(edge, state, target) for edge, (state, target) in self._flows.items()])
        later = self._flow(self._asked, [(edge, target, state) for edge, (state, target) in self._flows.items()])
        if (before, later) == (self._before, self._later):
            return False
        self._before, self._later = before, later
        self._start()
        return True

    def _flow(self, made: dict[int, set[Bit]], flows: list[tuple[int, int, int]]) -> dict[int, frozenset[Bit]]:
        """For each control state the bits that reach it along ``flows``, with those that ``made`` adds on the way."""
        found: dict[int, frozenset[Bit]] = {}
        nothing = frozenset[Bit]()
        changed = True
        while changed:
            changed = False
            for edge, origin, target in flows:
                known = found.get(target, nothing)
                joined = known | (found.get(origin, nothing) - self._cleared[edge]) | made[edge]
                if joined != known:
                    found[target] = joined
                    changed = True
        return found
