"""Queue pairs, as far as both machines of RDMA-TSO have the same rules (Figure 7): the write-back buffers, and polling.

``placed``, "polled means placed": hardware of today acknowledges a put when it has been placed, so that Figure 3d
cannot be seen. Only the rule of the poll has the premise: a notification of a put can be polled once the write of that
put has left wbR. (A premise of the acknowledgement would order more: an rfence would then wait for placing, too, and so
would what comes later in the pipe.)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Generic, Literal, NamedTuple, Protocol, Self, TypeVar

from pgasrob.models.operational import Access, Option, Queue, Result, Step, at, fixed
from pgasrob.models.rdma_tso import processor
from pgasrob.models.rdma_tso.processor import Entry, Local, PairChange, Processor, Update, left_out, locks_of

PREMISES = (
    *processor.PREMISES,
    "put-reads-behind-wbL",
    "put-looks-in-wbL",
    "put-takes-the-latest-in-wbL",
    "get-waits-for-wbR",
    "get-looks-in-wbR",
    "get-takes-the-latest-in-wbR",
    "value-before-notification",
    "fifo-wbR",
    "fifo-wbL",
    "atomic-waits-for-wbR",
    "atomic-waits-for-the-lock",
    "failed-atomic-waits-for-the-lock",
)
"""The premises of the CPU's rules, then those of the write-back buffers. put-reads-behind-wbL, get-waits-for-wbR: those
that Figure 7 highlights. ...-looks-in-..., ...-takes-the-latest-in-...: M ◁ wb, which replaces them without the
guarantee of PCI Express. value-before-notification: (x := v) is older than its cn. atomic-...: wbR = ε, with that
guarantee and without; no other remote atomic on the node has fetched and not written."""

Write = tuple[int, int]
"""The location and the value of a write in a write-back buffer."""
NOTIFIED_PUT: Write = (-1, 0)
NOTIFIED_GET: Write = (-1, 1)
"""Notifications in wbL; only ``placed`` has to distinguish them."""


class End(NamedTuple):
    """An end of an operation at which it reads. ``step``: the name of the step; ``stage``: the queue in which reads
    wait; ``writes``: the queue of the writes that wait in the write-back buffer; then the premises about that
    buffer."""

    step: str
    stage: Literal["source", "fetch"]
    writes: Literal["land", "place"]
    waits: str
    looks: str
    takes_the_latest: str


SOURCE = End("read source", "source", "land", "put-reads-behind-wbL", "put-looks-in-wbL", "put-takes-the-latest-in-wbL")
FETCH = End("fetch", "fetch", "place", "get-waits-for-wbR", "get-looks-in-wbR", "get-takes-the-latest-in-wbR")


class QueuePair(Protocol):
    """A queue pair: ``remote`` is wbR, ``returned`` wbL, each with the oldest entry first."""

    @property
    def remote(self) -> tuple[Write, ...]: ...

    @property
    def returned(self) -> tuple[Write, ...]: ...

    def _replace(self, *, remote: tuple[Write, ...] = ..., returned: tuple[Write, ...] = ...) -> Self: ...


Pair = TypeVar("Pair", bound=QueuePair)
Then = Callable[[Pair], Local[Pair]]


class QueuePairs(ABC, Generic[Pair]):
    """The steps of the queue pairs of a thread. A machine adds the steps of what is before the write-back buffers, and
    says which of those may come first in the sense of `operational`; reading a source, fetching, placing and landing
    may, where no other part accesses the location.
    """

    def __init__(self, thread: Processor[Pair], pcie: bool, placed: bool, glob: bool) -> None:
        self._thread, self._pcie, self._placed, self._glob = thread, pcie, placed, glob
        self._number, self._locks = thread.number, locks_of(thread.program)

    @property
    @abstractmethod
    def empty(self) -> Pair: ...

    @abstractmethod
    def drained(self, pair: Pair) -> bool:
        """Whether nothing but notifications is left."""

    @abstractmethod
    def enter(self, pair: Pair, operation: Entry) -> Pair:
        """The pair with an ``operation`` that has left the store buffer."""

    @abstractmethod
    def inside(self, local: Local[Pair], number: int, pair: Pair, then: Then[Pair]) -> Iterator[PairChange]:
        """The steps of ``pair`` before the write-back buffers. ``then`` puts a changed pair into the thread."""

    @abstractmethod
    def acknowledgements(self, pair: Pair) -> int:
        """How many puts have entered wbR and have no notification yet."""

    @abstractmethod
    def unread(self, pair: Pair) -> bool:
        """Whether a put has not read its source yet."""

    def changes(self, local: Local[Pair], number: int) -> Iterator[PairChange]:
        """The next steps of pair ``number``, each with whether it can be done first."""
        pair = local.pairs[number]

        def then(new: Pair) -> Local[Pair]:
            return local._replace(pairs=at(local.pairs, number, new))

        yield from self.inside(local, number, pair, then)
        node = self._thread.nodes[number]
        for before, (location, value) in enumerate(pair.remote):
            if before and self._has("fifo-wbR"):
                break
            new = pair._replace(remote=left_out(pair.remote, before))
            yield self._written("place", node, before, location, value, then(new))
        before = 0
        for place, (location, value) in enumerate(pair.returned):
            if location >= 0:
                if before and self._has("fifo-wbL"):
                    break
                new = pair._replace(returned=left_out(pair.returned, place))
                yield self._written("land", node, before, location, value, then(new))
                before += 1

    def polled(self, pair: Pair) -> Pair | None:
        """The pair after a poll, which takes the oldest notification unless something in wbL is older; None while it
        waits.

        ``placed``: the oldest put that has not been polled is in memory if wbR has fewer writes than there are unpolled
        puts, for both are in the order of the puts."""
        returned, place = pair.returned, 0
        if not self._has("poll-takes-the-oldest"):
            place = next((place for place, (location, _) in enumerate(returned) if location < 0), 0)
        if len(returned) <= place or returned[place][0] >= 0:
            return None if self._has("poll-waits") else pair
        if self._placed and self._has("placed-before-polled") and returned[place] == NOTIFIED_PUT:
            unpolled = self.acknowledgements(pair) + returned.count(NOTIFIED_PUT)
            if len(pair.remote) >= unpolled:
                return None
        return pair._replace(returned=left_out(returned, place)) if self._has("poll-takes-away") else pair

    def _has(self, premise: str) -> bool:
        return premise not in self._thread.without

    def _written(self, name: str, node: int, before: int, location: int, value: int, after: Local[Pair]) -> PairChange:
        queue: Queue = ("place", node) if name == "place" else ("land", node)
        step = Step(self._number, name, None, (), (Access(queue, before, location, None, value),))
        alone = self._thread.sharing.own((name, self._number, node), location)
        return alone, fixed(Result((step,), after, ((location, value),)))

    def _silent(self, name: str, after: Local[Pair]) -> Option:
        """A step inside the pair."""
        return fixed(Result((Step(self._number, name),), after))

    def _notified(self, local: Local[Pair], number: int) -> tuple[Write, ...]:
        """wbL of the pair with one more notification, of a put."""
        return (*local.pairs[number].returned, *self._kept(local, number, NOTIFIED_PUT))

    def _return(self, local: Local[Pair], number: int, location: int, value: int) -> tuple[Write, ...]:
        """wbL of the pair with the write of a fetched get and its notification."""
        entries: tuple[Write, ...] = ((location, value), *self._kept(local, number, NOTIFIED_GET))
        if not self._has("value-before-notification"):
            entries = entries[::-1]
        return (*local.pairs[number].returned, *entries)

    def _kept(self, local: Local[Pair], number: int, notification: Write) -> tuple[Write, ...]:
        """The notification, unless no poll can come that could take it: nothing else depends on it, and a loop of puts
        that are never polled would have infinitely many states if notifications piled up."""
        needed = not self._thread.reduced or number in self._thread.polls_ahead[local.control]
        return (notification,) if needed else ()

    def _may_put(self, local: Local[Pair], number: int) -> bool:
        """Whether a put of pair ``number`` has not read its source yet, or may still come: it would have to wait for
        the value of a get in wbL."""
        return (
            number in self._thread.puts_ahead[local.control]
            or any(kind == "put" and pair == number for kind, _, _, pair in local.buffer)
            or self.unread(local.pairs[number])
        )

    def _read(
        self, end: End, number: int, pair: Pair, location: int, before: int, after: Callable[[int], Local[Pair]]
    ) -> Iterator[PairChange]:
        """A put or a get, with so many ``before`` it that have not read, reads ``location`` at this ``end``: when no
        write waits in the write-back buffer there, or through that buffer."""
        node, has = self._thread.nodes[number], self._has
        writes = pair.remote if end is FETCH else tuple(write for write in pair.returned if write[0] >= 0)
        if self._pcie and writes and has(end.waits):
            return
        mine: list[int] = []
        if not self._pcie and has(end.looks):
            mine = [place for place, write in enumerate(writes) if write[0] == location]
            mine = mine[-1:] if has(end.takes_the_latest) else mine

        def result(value: int, own: int | None = None) -> Result:
            source: tuple[Queue, int] | None = None if own is None else ((end.writes, node), own)
            access = Access((end.stage, node), before, location, value, None, source)
            return Result((Step(self._number, end.step, None, (), (access,)),), after(value))

        for own in mine:
            yield False, fixed(result(writes[own][1], own))
        if not mine:
            calm = self._thread.sharing.calm((end.stage, self._number, node), location)
            yield calm, Option((location,), result)

    def _fetch_to_update(
        self, number: int, pair: Pair, request: int, before: tuple[int, int], after: Callable[[str, int], Local[Pair]]
    ) -> Iterator[PairChange]:
        """A remote atomic, with so many ``before`` it that have not fetched and not written, fetches. ``after`` has its
        entry become "held" with the number of an :class:`Update`, or "got" with the value where nothing is written or,
        with IBV_ATOMIC_GLOB, everything is in this step."""
        node, has = self._thread.nodes[number], self._has
        if pair.remote and has("atomic-waits-for-wbR"):
            return
        wanted, lock = self._thread.requests[request], self._locks[node]

        def result(held: int, locked: int) -> Result | None:
            new = wanted.written(held)
            waits = "failed-atomic-waits-for-the-lock" if new is None else "atomic-waits-for-the-lock"
            if locked and has(waits):
                return None
            fetched = Access(("fetch", node), before[0], wanted.remote, held)
            written = Access(("update", node), before[1], wanted.remote, None, new)
            if new is not None and not self._glob:
                step = Step(self._number, "fetch to update", None, (), (fetched,))
                update = self._thread.updates.number(Update(wanted.remote, held, new))
                return Result((step,), after("held", update), ((lock, 1),))
            name = "failed rcas" if new is None else "fetch and update"
            writes = () if new is None else ((wanted.remote, new),)
            return Result((Step(self._number, name, None, (), (fetched, written)),), after("got", held), writes)

        yield False, Option((wanted.remote, lock), result)

    def _update(
        self, number: int, update: int, before: int, after: Callable[[str, int], Local[Pair]]
    ) -> Iterator[PairChange]:
        """A remote atomic, with so many ``before`` it that have not written, writes to memory; only then it is
        answered."""
        node, (remote, held, new) = self._thread.nodes[number], self._thread.updates[update]
        access = Access(("update", node), before, remote, None, new)
        writes = (remote, new), (self._locks[node], 0)
        yield False, fixed(Result((Step(self._number, "update", None, (), (access,)),), after("got", held), writes))
