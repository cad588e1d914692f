"""Finds the commands of a violating computation that cannot be left out: all cycles or the control of a rank need them.

Commands of a computation are numbered in the order of their issue, and sets of them are bits. A set stands for the
computation without the other commands (`robustness.shrink`, `proofs/small-witnesses.md`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from pgasrob.program.control import ControlAutomaton
from pgasrob.program.instance import Instance
from pgasrob.semantics.computation import Computation, Event, writes
from pgasrob.semantics.happens_before import HappensBefore, LatestAccesses
from pgasrob.stop_points import stop_point

MOST_LINKS = 100_000
"""How many links between commands are followed to find a short cycle: part of a second."""
Commands = int
"""A set of commands, as bits."""


class Item(NamedTuple):
    """An event of ``command``, or the events of a barrier, which happen at once."""

    command: int
    events: tuple[Event, ...]


def items_of(computation: Computation) -> list[Item]:
    """The events of the computation, those of a barrier together."""
    items: list[Item] = []
    for command, event in zip(HappensBefore(computation).commands, computation, strict=True):
        if event.kind == "barrier" and items and items[-1].command == command:
            items[-1] = Item(command, (*items[-1].events, event))
        else:
            items.append(Item(command, (event,)))
    return items


def everything(items: Sequence[Item]) -> Commands:
    """All commands of a computation."""
    return (1 << 1 + max((item.command for item in items), default=-1)) - 1


class Cycles:
    """Which sets of commands of a computation have a happens-before cycle, when the others are left out.

    Leaving out events puts no write between two others, and makes a conflict edge of what was a path of them (Lemma 0
    of the proofs). So only commands that lie between two cycles or on one matter: the ``core``.
    """

    def __init__(self, items: Sequence[Item]) -> None:
        self._items = items
        before, after = self._links(-1)
        inner = _trimmed(before, after) & _trimmed(after, before)
        self.core: Commands = sum(1 << command for command in inner)
        self._after = {command: after[command] & inner for command in inner}
        self._items = [item for item in items if self.core >> item.command & 1]
        self._known: dict[Commands, bool] = {}

    def among(self, kept: Commands) -> bool:
        """Whether there is a cycle of commands that are ``kept``."""
        kept &= self.core
        known = self._known.get(kept)
        if known is None:
            known = self._known[kept] = bool(_trimmed(*self._links(kept)))
        return known

    def one(self) -> list[int]:
        """The commands of some cycle, in its order."""
        command = min(self._after)
        met: dict[int, int] = {}
        while command not in met:
            stop_point()
            met[command] = len(met)
            command = min(self._after[command])
        return [other for other, place in met.items() if place >= met[command]]

    def shortest(self) -> list[int]:
        """The commands of a cycle: of a shortest one, unless that would take too long to find."""
        found, effort = self.one(), 0
        for start in sorted(self._after):
            before: dict[int, int] = {}
            front = [start]
            for _ in range(len(found) - 1):
                stop_point()
                following: list[int] = []
                for command in front:
                    for after in self._after[command]:
                        effort += 1
                        if after not in before:
                            before[after] = command
                            following.append(after)
                if start in before or not following:
                    break
                front = following
            if start in before:
                found = [start]
                while before[found[-1]] != start:
                    stop_point()
                    found.append(before[found[-1]])
            if effort > MOST_LINKS:
                break
        return found

    @property
    def size(self) -> int:
        """How many events `among` looks at."""
        return len(self._items)

    def _links(self, kept: Commands) -> tuple[dict[int, set[int]], dict[int, set[int]]]:
        """For each command kept those directly before and after it, in program order or by a conflict."""
        before: dict[int, set[int]] = {}
        after: dict[int, set[int]] = {}
        last: dict[int, int] = {}
        cells: dict[int, LatestAccesses] = {}
        for command, events in self._items:
            if not kept >> command & 1:
                continue
            earlier = before.setdefault(command, set())
            after.setdefault(command, set())
            for event in events:
                if not event.is_step:
                    if event.rank in last:
                        earlier.add(last[event.rank])
                    last[event.rank] = command
                if event.cell is not None:
                    latest = cells.setdefault(event.cell, LatestAccesses())
                    earlier.update(latest.joined(command, writes(event.kind), event.commutes))
            earlier.discard(command)
        for command, earlier in before.items():
            for other in earlier:
                after[other].add(command)
        return before, after


def _trimmed(before: dict[int, set[int]], after: dict[int, set[int]]) -> set[int]:
    """The commands on cycles or after one: those with none left ``before`` them are taken away, again and again. None
    iff acyclic."""
    left = {command: len(earlier) for command, earlier in before.items()}
    free = deque(command for command, count in left.items() if count == 0)
    while free:
        stop_point()
        command = free.popleft()
        del left[command]
        for later in after[command]:
            left[later] -= 1
            if left[later] == 0:
                free.append(later)
    return set(left)


class Ways:
    """Where the control of each rank may stand so that it can still take all commands that must stay.

    Registers and memory are not looked at, so this only rules out.
    """

    def __init__(self, instance: Instance, items: Sequence[Item]) -> None:
        # The commands of each rank, with the states that they lead from and to.
        self._ranks: list[list[tuple[int, int, int]]] = [[] for _ in instance.automata]
        ends = [_ends(automaton) for automaton in instance.automata]
        for command, events in items:
            for event in events:
                if not event.is_step:
                    self._ranks[event.rank].append((command, *ends[event.rank].get(event.occurrence, (0, 0))))
        self._after: list[dict[int, int]] = [{} for _ in self._ranks]

    def take(self, needed: Commands) -> Commands:
        """Fix that the commands ``needed`` must stay. Returns them and those without which some rank could not issue
        one of them."""
        known = None
        while known != needed:  # a barrier that one rank needs is needed by all
            stop_point()
            known = needed
            for rank in range(len(self._ranks)):
                needed = self._look(rank, needed)
        return needed

    def _look(self, rank: int, needed: Commands) -> Commands:
        """Find the states from which the rest of the commands of ``rank`` can be issued; adds the commands needed for
        that."""
        issued, behind = self._ranks[rank], -1
        after = self._after[rank]
        for command, sources, targets in reversed(issued):
            after[command] = behind
            taking = sources if targets & behind else 0
            behind = taking if needed >> command & 1 else taking | behind
        reached = 1
        for command, sources, targets in issued:
            if not reached & after[command]:
                needed |= 1 << command
            taken = targets if reached & sources else 0
            reached = taken if needed >> command & 1 else taken | reached
        return needed

    def lead_on(self, rank: int, command: int, control: int) -> bool:
        """Whether ``rank`` may stand at ``control`` after its ``command``, taken or left out."""
        return bool(self._after[rank][command] >> control & 1)


def _ends(automaton: ControlAutomaton) -> dict[int, tuple[int, int]]:
    """For each occurrence of a command the states that it leads from and to, as bits."""
    ends: dict[int, tuple[int, int]] = {}
    for state, leaving in enumerate(automaton.out):
        for edge in leaving:
            sources, targets = ends.get(edge.occurrence, (0, 0))
            ends[edge.occurrence] = sources | 1 << state, targets | 1 << edge.target
    return ends
