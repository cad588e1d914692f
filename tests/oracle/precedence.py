"""Happens-before kept from prefix to prefix, and what of it the rest of a run can still see.

Only the memo mode of `decide` uses this; the self-tests hold it against `happens_before`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

from .operations import STEPS, Operation, local_marks
from .semantics import Event, Run


@dataclass(frozen=True, slots=True)
class Precedence:
    """The commands of a run, numbered in the order of their issue, and which of them reach which.

    Sets of commands are bit masks. The accesses of a cell are taken in rounds of successive ones that do not conflict
    with each other: reads, updates that commute, or one other write. All of a round conflict with all of the next, so
    that an access that begins a round comes after the round before it, and one more of a round after the round before
    that. A barrier is one command of all ranks.
    """

    number: dict[tuple[int, int], int]  # (rank, operation): command
    reach: tuple[int, ...]  # by command: those it reaches, itself among them
    last: tuple[int, ...]  # by rank: the command issued last, as a mask
    rounds: dict[
        Hashable, tuple[str, int, int]
    ]  # by cell or condition: what the last round does; the round before it, and it, as masks
    cyclic: bool = False  # a cycle of two commands or more

    @classmethod
    def empty(cls, nodes: int) -> Precedence:
        return cls({}, (), (0,) * nodes, {})

    def extended(self, events: Iterable[Event]) -> Precedence:
        """After one event more, or after the N events of a barrier."""
        number, reach, last = dict(self.number), list(self.reach), list(self.last)
        rounds, cyclic = dict(self.rounds), self.cyclic
        command = None
        for event in events:
            before = 0
            if event.is_step:
                command = number[event.rank, event.operation]
            else:
                if command is None:  # the events of a barrier share their command
                    command = len(reach)
                    reach.append(1 << command)
                number[event.rank, event.operation] = command
                before |= last[event.rank]
                last[event.rank] = 1 << command
            for place, kind in _places(event):
                known, earlier, latest = rounds.get(place, ("none", 0, 0))
                if kind != known or kind == "write":
                    earlier, latest = latest, 0
                before |= earlier
                rounds[place] = (kind, earlier, latest | 1 << command)
            before &= ~(1 << command)  # an edge from a command to itself counts for nothing
            cyclic = cyclic or bool(reach[command] & before)
            reach = [reached | reach[command] if reached & before else reached for reached in reach]
        return Precedence(number, tuple(reach), tuple(last), rounds, cyclic)


def _places(event: Event) -> list[tuple[Hashable, str]]:
    """What an event accesses, and how: its cell, and the conditions on it that it turns; of a test its condition alone.
    Of an add that is only compared beside the cell what says whether it turns any."""
    if event.place is None:
        return []
    if event.is_test:
        return [((event.place, event.tests), "read")]
    kind = event.commutes or ("write" if event.writes else "read")
    found = [(event.place, f"count {event.counts}" if event.counts is not None else kind)]
    found += [((event.place, each), "write") for each in sorted(event.turns)]
    if event.counts is not None or event.turns:
        found.append(((event.place, "turned"), "write" if event.turns else "read"))
    return found


def key(run: Run, precedence: Precedence) -> Hashable:
    """Two acyclic runs with equal keys can be continued by the same events, with a cycle for both or for neither.

    *The same events.* What may happen depends on control, registers, memory, the pending operations with the values
    they carry, and the order among pending steps. Operations with no step to come hold up nothing. A fence matters
    for a pending operation issued before it, and so does, of the fences between two pending operations of a rank, the
    set of their queues and ranks; likewise a bundle, since it holds what is pending out of the signals after it.

    *The same cycles.* Every later event adds edges *into* its own command: into a new one, or into a pending one. A
    cycle that is to come enters the commands of today at pending commands and leaves them where a new edge can begin:
    at the last command of a rank (po), at the last two rounds of a cell (cf). So of today's relation only this counts:
    which pending commands reach which pending commands, which last commands, and for each cell which of the two rounds,
    and what the last one does. A cell's edge into the command that made the access itself is none, so that for cells
    "reaches the access of another command" and "made the access itself" are told apart.

    *Failed reads.* Where a rank has been says which reads of it will fail.
    """
    pending = run.pending()
    masks = [1 << precedence.number[name] for name in pending]
    rows = []
    for name, own in zip(pending, masks, strict=True):
        reached = precedence.reach[precedence.number[name]]
        commands = tuple(bool(reached & mask) for mask in (*masks, *precedence.last))
        cells = set()
        for place, (kind, *last) in precedence.rounds.items():
            for which, accesses in enumerate(last):
                if reached & accesses & ~own:
                    cells.add((place, kind, which, "another's"))
                if accesses & own:
                    cells.add((place, kind, which, "its own"))
        rows.append((commands, frozenset(cells)))
    return run.control, run.registers, run.memory, run.been, _pending_operations(run, pending), tuple(rows)


def _pending_operations(run: Run, pending: list[tuple[int, int]]) -> Hashable:
    found = []
    for index, (rank, number) in enumerate(pending):
        following = pending[index + 1] if index + 1 < len(pending) else (None, None)
        end = following[1] if following[0] == rank else len(run.issued[rank])
        between: tuple[Operation, ...] = run.issued[rank][number + 1 : end]
        carried = tuple(run.done.get((rank, number, step)) for step in STEPS)  # None: no such step, or still to come
        found.append((rank, run.issued[rank][number], carried, frozenset(local_marks(between))))
    return tuple(found)
