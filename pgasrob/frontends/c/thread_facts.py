"""What lowering has found out about the threads of ranks: which memory they share, and what they change of what APIs
remember of their rank."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import NamedTuple

from pgasrob.frontends.apis.lent import Lent
from pgasrob.frontends.c.snapshots import State
from pgasrob.frontends.c.values import Address, ObjectId
from pgasrob.program.commands import Command
from pgasrob.program.expressions import Expr
from pgasrob.program.statements import Span

Change = frozenset[tuple[str, Hashable]]
"""Notes that are others afterwards; None for one that is taken away."""
MOST_THREADS = 8
"""Of a rank."""
OBJECTS_OF_THREAD = 1 << 20
"""So many objects of one kind a thread of a rank allocates at most."""
TEAM, OUTER, ALIVE = "C.team", "C.outer", "C.alive"
"""Keys in `State.notes`: how large the team is that a thread is in, and the number of its fork; the same of the teams
around it; the threads that run beside it otherwise, each with the number of its fork and what APIs remembered there."""
MET, INSIDE = "C.met", "C.inside"
"""Keys in `State.notes`: where the threads of a team have met last, since they were forked; the `single` that this one
is in."""
BEGIN, END = 0, -1
"""In place of the number of a fork: a thread begins with the first one, and ends behind the last one."""


class Part(NamedTuple):
    """Bytes of an object; None: any."""

    offset: int | None
    size: int

    def meets(self, other: Part) -> bool:
        if self.offset is None or other.offset is None:
            return True
        return self.offset < other.offset + other.size and other.offset < self.offset + self.size


@dataclass(slots=True)
class ThreadFacts:
    """``any``: whether a rank has several threads. ``touched``: the parts of objects that loads and stores have named,
    with the threads that have. ``stored``: the scalars in which they have stored pointers and handles, with when and
    who. ``changes``: by where
    threads meet, what they have done to what APIs remember, as it was in the latest pass; ``ways``: by rank and thread,
    the forks that may follow each fork."""

    any: bool = False
    touched: dict[ObjectId, dict[Part, set[int]]] = field(default_factory=lambda: defaultdict(dict))
    stored: dict[tuple[ObjectId, int], dict[tuple[Hashable, int], None]] = field(default_factory=dict)
    changes: dict[Hashable, set[Change]] = field(default_factory=dict)
    ways: dict[tuple[int, int], dict[int, set[int]]] = field(default_factory=dict)
    issued: dict[Expr, set[int]] = field(default_factory=lambda: defaultdict(set))
    """The threads that issue operations, by their queues."""
    busy: dict[tuple[Hashable, int], dict[tuple[Expr | None, str | None], None]] = field(default_factory=dict)
    """By where the threads of a team have met last and by the thread: that it does something before they meet again, in
    which queues, and within which `single`."""
    asks: dict[Hashable, dict[int, dict[Command, int]]] = field(default_factory=dict)
    """By where they have met last: the threads that are asked to wait where they meet again, the waits and their
    numbers."""
    waiters: dict[Address, set[int]] = field(default_factory=lambda: defaultdict(set))
    """By condition variables, the threads that wait for them at times."""
    has_results: bool = False
    """Whether the result of a thread is asked for."""
    tasks: set[int] = field(default_factory=set)
    """The threads that execute a task each."""
    lent: dict[ObjectId, dict[tuple[Lent, int], None]] = field(default_factory=lambda: defaultdict(dict))
    """Buffers that threads lend to calls while others run, with the threads."""
    watched: dict[Hashable, int] = field(default_factory=dict)
    """Those of them that other threads access, by what they have in common, with the numbers of their cells."""
    new_changes: dict[Hashable, set[Change]] = field(default_factory=dict)
    new_ways: dict[tuple[int, int], dict[int, set[int]]] = field(default_factory=dict)

    def begin(self) -> None:
        """Begin another pass."""
        self.new_changes, self.new_ways = {}, {}

    def settle(self) -> bool:
        """Whether this pass has found other changes or ways than the one before; they hold from now on."""
        same = (self.changes, self.ways) == (self.new_changes, self.new_ways)
        self.changes, self.ways = self.new_changes, self.new_ways
        return not same

    def touch(self, id: ObjectId, part: Part, thread: int) -> bool:
        """Note that ``thread`` names ``part`` of an object; whether that is new."""
        threads = self.touched[id].setdefault(part, set())
        new = thread not in threads
        threads.add(thread)
        return new

    def touching(self, id: ObjectId, part: Part) -> set[int]:
        """The threads that name some of ``part`` of an object."""
        parts = self.touched.get(id, {})
        return {thread for each, threads in parts.items() if each.meets(part) for thread in threads}

    def parts_in(self, id: ObjectId, part: Part) -> list[Part]:
        """The parts that lie in ``part``, as far as anybody has named them."""
        return [each for each in self.touched.get(id, {}) if each.offset is not None and each.meets(part)]

    def way(self, rank: int, thread: int, before: int, after: int) -> None:
        """Note that ``thread`` of ``rank`` may come from fork ``before`` to fork ``after``."""
        self.new_ways.setdefault((rank, thread), {}).setdefault(before, set()).add(after)


@dataclass(slots=True)
class Forks:
    """The forks of one rank in one pass, by their numbers: the states in which other threads begin, where in the text,
    and the objects of the frame that each thread has for itself. ``threads``: those that there are."""

    numbers: dict[Hashable, int] = field(default_factory=dict)
    states: dict[int, State] = field(default_factory=dict)
    spans: dict[int, Span] = field(default_factory=dict)
    own: dict[int, frozenset[str] | None] = field(default_factory=dict)
    requests: dict[int, tuple[int, Command]] = field(default_factory=dict)
    """Other numbers in mailboxes: requests to wait, with the fork behind which a thread does it, and the command."""
    threads: set[int] = field(default_factory=set)


__all__ = ["BEGIN", "END", "Change", "Forks", "Part", "ThreadFacts"]
