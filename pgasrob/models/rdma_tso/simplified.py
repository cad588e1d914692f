"""The simplified machine of RDMA-TSO (section 3.3): a queue pair is one pipe and the two write-back buffers.

Only the extended version of the paper has its rules. They are rebuilt here from the concrete ones: an entry of
the pipe does what the concrete machine would let it do when no older entry keeps it from the buffer where it does that.

- put: its source is read when nothing older is a put that has not been read or an rfence, and wbL is cn*;
- put with its value: it goes to wbR, and an acknowledgement stays, when nothing older is a put or an rfence;
- get: it is fetched when nothing older is a put or an rfence, and wbR is empty;
- remote atomic: it fetches when a get would be, with or without PCI Express; then it writes, and then it is as a get
  that has been fetched;
- at the head: an acknowledgement becomes a notification in wbL, a get that has been fetched a write and a notification
  there, an rfence nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from pgasrob.models.litmus.litmus_program import Program
from pgasrob.models.operational import Access, Machine, Result, Step, at, fixed
from pgasrob.models.rdma_tso import queue_pairs as pairs
from pgasrob.models.rdma_tso.processor import Entry, Local, PairChange, left_out, machine_of
from pgasrob.models.rdma_tso.queue_pairs import FETCH, SOURCE, QueuePairs, Then, Write

PREMISES = (
    *pairs.PREMISES,
    "source-behind-puts",
    "source-behind-rfence",
    "arrival-behind-puts",
    "arrival-behind-rfence",
    "fetch-behind-puts",
    "fetch-behind-rfence",
    "atomic-behind-puts",
    "atomic-behind-rfence",
    "acknowledged-at-the-head",
    "returned-at-the-head",
    "rfence-at-the-head",
)
"""The premises of both machines, and those of the rules above."""


class SimplePair(NamedTuple):
    """``pipe``: ("put", remote, local), ("value", remote, value), ("ack", 0, 0), ("get", local, remote), ("got", local,
    value), ("fence", -1, -1), ("atomic", local, request), ("held", local, update). ``remote`` is wbR, ``returned``
    wbL."""

    pipe: tuple[tuple[str, int, int], ...] = ()
    remote: tuple[Write, ...] = ()
    returned: tuple[Write, ...] = ()


class SimplePairs(QueuePairs[SimplePair]):
    empty = SimplePair()

    def drained(self, pair: SimplePair) -> bool:
        return not pair.pipe and not pair.remote and all(location < 0 for location, _ in pair.returned)

    def enter(self, pair: SimplePair, operation: Entry) -> SimplePair:
        return pair._replace(pipe=(*pair.pipe, operation[:3]))

    def acknowledgements(self, pair: SimplePair) -> int:
        return sum(kind == "ack" for kind, _, _ in pair.pipe)

    def unread(self, pair: SimplePair) -> bool:
        return any(kind == "put" for kind, _, _ in pair.pipe)

    def inside(
        self, local: Local[SimplePair], number: int, pair: SimplePair, then: Then[SimplePair]
    ) -> Iterator[PairChange]:
        """The steps of the entries of the pipe. These may come first:

        - an acknowledgement or an rfence at the head, which goes away;
        - a get that has been fetched, at the head, unless a put might read its source before that get is in wbL;
        - a put with its value, unless an older get might be fetched before that put is in wbR.
        """
        pipe, has = pair.pipe, self._has
        unread = unplaced = fenced = unfetched = False
        sources = fetches = fences = updates = 0
        for place, (kind, first, second) in enumerate(pipe):

            def becomes(kind: str, value: int, place: int = place, target: int = first) -> Local[SimplePair]:
                return then(pair._replace(pipe=at(pipe, place, (kind, target, value))))

            match kind:
                case "put":
                    if not (unread and has("source-behind-puts")) and not (fenced and has("source-behind-rfence")):
                        yield from self._read(SOURCE, number, pair, second, sources, partial(becomes, "value"))
                    unread = unplaced = True
                    sources += 1
                case "value":
                    if not (unplaced and has("arrival-behind-puts")) and not (fenced and has("arrival-behind-rfence")):
                        acknowledged = at(pipe, place, ("ack", 0, 0))
                        new = pair._replace(pipe=acknowledged, remote=(*pair.remote, (first, second)))
                        # An older get is only fetched while wbR is empty, so this put could keep it from that.
                        yield not unfetched, self._silent("acknowledge", then(new))
                    unplaced = True
                case "get":
                    if not (unplaced and has("fetch-behind-puts")) and not (fenced and has("fetch-behind-rfence")):
                        yield from self._read(FETCH, number, pair, second, fetches, partial(becomes, "got"))
                    unfetched = True
                    fetches += 1
                case "atomic":
                    if not (unplaced and has("atomic-behind-puts")) and not (fenced and has("atomic-behind-rfence")):
                        yield from self._fetch_to_update(number, pair, second, (fetches, updates), becomes)
                    unfetched = True
                    fetches += 1
                    updates += 1
                case "held":
                    yield from self._update(number, second, updates, becomes)
                    updates += 1
                case "fence":
                    if not place or not has("rfence-at-the-head"):
                        access = Access(("fence", self._thread.nodes[number]), fences)
                        step = Step(self._number, "pass rfence", None, (), (access,))
                        yield True, fixed(Result((step,), then(pair._replace(pipe=left_out(pipe, place)))))
                    fenced = True
                    fences += 1
                case "ack":
                    if not place or not has("acknowledged-at-the-head"):
                        new = pair._replace(pipe=left_out(pipe, place), returned=self._notified(local, number))
                        yield True, self._silent("notify", then(new))
                case _:  # "got"
                    if not place or not has("returned-at-the-head"):
                        returned = self._return(local, number, first, second)
                        new = pair._replace(pipe=left_out(pipe, place), returned=returned)
                        yield not self._may_put(local, number), self._silent("return", then(new))


def simplified(
    program: Program,
    pcie: bool = True,
    placed: bool = False,
    without: frozenset[str] = frozenset(),
    reduced: bool = True,
    glob: bool = False,
) -> Machine[Local[SimplePair]]:
    """The machine of ``program``, which RDMA-TSO must not refuse. ``without``: some of :data:`PREMISES`, which also
    switches the reduction off."""
    return machine_of(program, lambda thread: SimplePairs(thread, pcie, placed, glob), without, PREMISES, reduced)
