"""The bits of a model that say which steps of a rank are delayed, reduced to those that matter.

The rules of the instrumentation ask for bits and set them wherever placements say so. A bit that no command before can
have set is not asked for, and one that no command behind asks for is not set; what is left out may spare other bits, so
the rules are gone through until nothing changes.
"""

from __future__ import annotations

from collections import defaultdict

Bit = str


class Bits:
    """The bits of one rank.

    The rules are gone through command by command: ``enter`` says which, then they ``ask``, ``put`` and ``clear`` bits;
    each answers with the bits that there are. ``settle`` ends a round and says whether there has to be another one.
    """

    def __init__(self) -> None:
        self._before: dict[int, frozenset[Bit]] | None = None  # by control state: bits that may be set
        self._behind: dict[int, frozenset[Bit]] | None = None  # and bits that may be asked for
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
        """The command can never be issued, so what it asked for and put is forgotten."""
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
        """``bit``, if it may be set and some later command asks for it. Bits that the command puts later come
        before."""
        may_be_set = self._before is None or bit in self._before.get(self._flows[self._edge][0], ())
        found = [bit] if may_be_set and self.is_asked(bit) else []
        self._cleared[self._edge].add(bit)
        return found

    def is_asked(self, bit: Bit) -> bool:
        """Whether a later command asks for ``bit``."""
        if bit in self._cleared[self._edge]:
            return False
        return self._behind is None or bit in self._behind.get(self._flows[self._edge][1], ())

    def settle(self) -> bool:
        """End a round; False when it was the last one."""
        before = self._flow(self._set, [(edge, state, target) for edge, (state, target) in self._flows.items()])
        behind = self._flow(self._asked, [(edge, target, state) for edge, (state, target) in self._flows.items()])
        if (before, behind) == (self._before, self._behind):
            return False
        self._before, self._behind = before, behind
        self._start()
        return True

    def _flow(self, made: dict[int, set[Bit]], flows: list[tuple[int, int, int]]) -> dict[int, frozenset[Bit]]:
        """By control state the bits that come to it along ``flows``, with those that are made on their ways."""
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
