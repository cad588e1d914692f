"""The simplified machine of RDMA-TSO (section 3.3): a queue pair is one pipe and the two write-back buffers.

Its rules stand in the extended version of the paper alone. They are rebuilt here from the concrete ones: an entry of
the pipe does what the concrete machine would let it do when no older entry keeps it from the buffer where it does that.

- put: its source is read when nothing older is a put that has not been read or an rfence, and wbL is cn*;
- put with its value: it goes to wbR, and an acknowledgement stays, when nothing older is a put or an rfence;
- get: it is fetched when nothing older is a put or an rfence, and wbR is empty;
- at the head: an acknowledgement becomes a notification in wbL, a get that has been fetched a write and a notification
  there, an rfence nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from pgasrob.models.litmus.program import Program
from pgasrob.models.operational import Access, Machine, Option, Result, Step
from pgasrob.models.rdma_tso import processor
from pgasrob.models.rdma_tso.processor import (
    Change,
    Entry,
    Local,
    Processor,
    at,
    fixed,
    latest,
    left_out,
    sharing_of,
    silent,
)

PREMISES = (
    *processor.PREMISES,
    "source-behind-puts",
    "source-behind-rfence",
    "put-reads-behind-wbL",
    "put-looks-in-wbL",
    "put-takes-the-latest-in-wbL",
    "arrival-behind-puts",
    "fetch-behind-puts",
    "fetch-behind-rfence",
    "get-waits-for-wbR",
    "get-looks-in-wbR",
    "get-takes-the-latest-in-wbR",
    "acknowledged-at-the-head",
    "returned-at-the-head",
    "rfence-at-the-head",
    "value-before-notification",
    "fifo-wbR",
    "fifo-wbL",
)
"""Those of the CPU, then those above. ...-looks-in-..., ...-takes-the-latest-in-... belong to the machine without the
guarantee of PCI Express, in place of put-reads-behind-wbL and get-waits-for-wbR."""

Write = tuple[int, int]


class SimplePair(NamedTuple):
    """A queue pair, the oldest first everywhere.

    ``pipe``: ("put", remote, local), ("value", remote, value), ("ack", 0, 0), ("get", local, remote), ("got", local,
    value), ("fence", -1, -1). ``returned`` (wbL): (location, value) or a notification, NOTIFIED_PUT or NOTIFIED_GET.
    """

    pipe: tuple[tuple[str, int, int], ...] = ()
    remote: tuple[Write, ...] = ()
    returned: tuple[Write, ...] = ()


NOTIFIED_PUT: Write = (-1, 0)
NOTIFIED_GET: Write = (-1, 1)
"""Notifications, told apart for the sake of ``placed`` alone."""


After = Callable[[SimplePair], Local[SimplePair]]
"""The state of the thread with this pair in place of what it was."""


class SimplePairs:
    """What the queue pairs of a thread do."""

    empty = SimplePair()

    def __init__(self, thread: Processor[SimplePair], pcie: bool, placed: bool) -> None:
        self._thread, self._pcie, self._placed = thread, pcie, placed
        self._has = {premise: premise not in thread.without for premise in PREMISES}

    def drained(self, pair: SimplePair) -> bool:
        return not pair.pipe and not pair.remote and all(location < 0 for location, _ in pair.returned)

    def enter(self, pair: SimplePair, operation: Entry) -> SimplePair:
        return pair._replace(pipe=(*pair.pipe, operation[:3]))

    def polled(self, pair: SimplePair) -> SimplePair | None:
        """Taking the oldest notification, which has to be the oldest in wbL.

        ``placed``: the write of the put that it is about has left wbR. That is so when there are fewer writes in wbR
        than puts that went there and have not been polled, for both are in the order of their puts."""
        place = 0
        if not self._has["poll-takes-the-oldest"]:
            place = next((n for n, (location, _) in enumerate(pair.returned) if location < 0), 0)
        if len(pair.returned) <= place or pair.returned[place][0] >= 0:
            return None if self._has["poll-waits"] else pair
        if self._placed and self._has["placed-before-polled"] and pair.returned[place] == NOTIFIED_PUT:
            unpolled = sum(entry[0] == "ack" for entry in pair.pipe) + pair.returned.count(NOTIFIED_PUT)
            if len(pair.remote) >= unpolled:
                return None
        if not self._has["poll-takes-away"]:
            return pair
        return pair._replace(returned=pair.returned[:place] + pair.returned[place + 1 :])

    def changes(self, local: Local[SimplePair], number: int) -> Iterator[Change]:
        """What may be done next. First may come, in the sense of `operational`:

        - an acknowledgement or an rfence at the head, which goes away;
        - a value of a get at the head, unless a put might yet read its source before that is in wbL;
        - a put with its value that is to go to wbR, unless an older get might yet be fetched before it is there;
        - reading a source, fetching, placing, landing where nobody else has to do with the location.
        """
        has, thread = self._has, self._thread.number
        pair = local.pairs[number]
        node = self._thread.nodes[number]
        sharing = self._thread.sharing
        pipe = pair.pipe

        def after(new: SimplePair) -> Local[SimplePair]:
            return local._replace(pairs=at(local.pairs, number, new))

        unread = unplaced = fence = unfetched = False
        reads = fetches = 0
        for place, (kind, first, second) in enumerate(pipe):
            if kind == "put":
                behind = (unread and has["source-behind-puts"]) or (fence and has["source-behind-rfence"])
                if not behind:
                    yield from self._source(local, number, after, place, reads)
                unread = unplaced = True
                reads += 1
            elif kind == "value":
                if not (unplaced and has["arrival-behind-puts"]):
                    new = pair._replace(pipe=at(pipe, place, ("ack", 0, 0)), remote=(*pair.remote, (first, second)))
                    yield not unfetched, silent(thread, "acknowledge", after(new))
                unplaced = True
            elif kind == "get":
                if not (unplaced and has["fetch-behind-puts"]) and not (fence and has["fetch-behind-rfence"]):
                    yield from self._fetch(local, number, after, place, fetches)
                unfetched = True
                fetches += 1
            elif kind == "fence":
                if not (place and has["rfence-at-the-head"]):
                    index = sum(entry[0] == "fence" for entry in pipe[:place])
                    step = Step(thread, "pass rfence", None, (), (Access(("fence", node), index),))
                    yield True, fixed(Result((step,), after(pair._replace(pipe=left_out(pipe, place)))))
                fence = True
            elif kind == "ack":
                if not (place and has["acknowledged-at-the-head"]):
                    new = pair._replace(pipe=left_out(pipe, place), returned=(*pair.returned, NOTIFIED_PUT))
                    yield True, silent(thread, "notify", after(new))
            elif not (place and has["returned-at-the-head"]):  # "got"
                entries = ((first, second), NOTIFIED_GET)
                if not has["value-before-notification"]:
                    entries = entries[::-1]
                new = pair._replace(pipe=left_out(pipe, place), returned=(*pair.returned, *entries))
                yield not self._may_put(local, number), silent(thread, "return", after(new))
        for place, (location, value) in enumerate(pair.remote):
            if place and has["fifo-wbR"]:
                break
            step = Step(thread, "place", None, (), (Access(("place", node), place, location, None, value),))
            result = Result((step,), after(pair._replace(remote=left_out(pair.remote, place))), ((location, value),))
            yield sharing.own(("place", thread, node), location), fixed(result)
        index = 0
        for place, (location, value) in enumerate(pair.returned):
            if location >= 0:
                if index and has["fifo-wbL"]:
                    break
                step = Step(thread, "land", None, (), (Access(("land", node), index, location, None, value),))
                new = pair._replace(returned=left_out(pair.returned, place))
                yield (
                    sharing.own(("land", thread, node), location),
                    fixed(Result((step,), after(new), ((location, value),))),
                )
                index += 1

    def _may_put(self, local: Local[SimplePair], number: int) -> bool:
        """Whether a put of the pair has not read its source yet, or may still come."""
        return (
            number in self._thread.puts_ahead[local.control]
            or any(kind == "put" and pair == number for kind, _, _, pair in local.buffer)
            or any(kind == "put" for kind, _, _ in local.pairs[number].pipe)
        )

    def _source(self, local: Local[SimplePair], number: int, after: After, place: int, index: int) -> Iterator[Change]:
        """The put at ``place`` of the pipe reads its source, ``index`` puts before it have not."""
        thread, node, pair = self._thread.number, self._thread.nodes[number], local.pairs[number]
        _, remote, source = pair.pipe[place]
        pending = [write for write in pair.returned if write[0] >= 0]
        if self._pcie and pending and self._has["put-reads-behind-wbL"]:
            return
        looks = not self._pcie and self._has["put-looks-in-wbL"]
        mine = latest(pending, source, self._has["put-takes-the-latest-in-wbL"]) if looks else []

        def then(value: int, own: int | None = None) -> Result:
            access = Access(
                ("source", node), index, source, value, None, None if own is None else (("land", node), own)
            )
            new = pair._replace(pipe=at(pair.pipe, place, ("value", remote, value)))
            return Result((Step(thread, "read source", None, (), (access,)),), after(new))

        for own in mine:
            yield False, fixed(then(pending[own][1], own))
        if not mine:
            yield self._thread.sharing.calm(("source", thread, node), source), Option((source,), then)

    def _fetch(self, local: Local[SimplePair], number: int, after: After, place: int, index: int) -> Iterator[Change]:
        """The get at ``place`` of the pipe is fetched, ``index`` gets before it have not been."""
        thread, node, pair = self._thread.number, self._thread.nodes[number], local.pairs[number]
        _, target, remote = pair.pipe[place]
        if self._pcie and pair.remote and self._has["get-waits-for-wbR"]:
            return
        looks = not self._pcie and self._has["get-looks-in-wbR"]
        mine = latest(pair.remote, remote, self._has["get-takes-the-latest-in-wbR"]) if looks else []

        def then(value: int, own: int | None = None) -> Result:
            access = Access(
                ("fetch", node), index, remote, value, None, None if own is None else (("place", node), own)
            )
            new = pair._replace(pipe=at(pair.pipe, place, ("got", target, value)))
            return Result((Step(thread, "fetch", None, (), (access,)),), after(new))

        for own in mine:
            yield False, fixed(then(pair.remote[own][1], own))
        if not mine:
            yield self._thread.sharing.calm(("fetch", thread, node), remote), Option((remote,), then)


def simplified(
    program: Program,
    pcie: bool = True,
    placed: bool = False,
    without: frozenset[str] = frozenset(),
    reduced: bool = True,
) -> Machine[Local[SimplePair]]:
    """The machine of ``program``, which RDMA-TSO must not refuse. ``without``: some of :data:`PREMISES`, which also
    switches the reduction off."""
    sharing = sharing_of(program)
    threads = [
        Processor(
            program,
            number,
            sharing,
            without,
            reduced and not without,
            lambda thread: SimplePairs(thread, pcie, placed),
        )
        for number in range(len(program.threads))
    ]
    return Machine(program, threads, sharing.constant(program) if reduced else frozenset())
