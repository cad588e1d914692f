"""The concrete machine of RDMA-TSO (section 3.1, Figures 5 and 7): the six buffers of a queue pair.

A get goes from reqL by inR to outR, is fetched there (G3), and goes by rspL to wbL, from where it lands. So does a
remote atomic, which fetches and writes in outR. A put is read
when it leaves reqL, goes from inR to wbR, from where it is placed, and its acknowledgement by outR and rspL to wbL.
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
    "fifo-reqL",
    "fifo-inR",
    "fifo-outR",
    "fifo-rspL",
    "fetch-in-outR",
    "atomic-in-outR",
    "rfence-waits-for-inR",
    "rfence-waits-for-outR",
    "rfence-waits-for-rspL",
)
"""The premises of both machines, and: fifo-...: α · entry, the oldest; fetch-in-outR: a get is not fetched in inR
already, atomic-in-outR: nor is a remote atomic; rfence-...: these buffers are empty."""

Entries = tuple[tuple[str, int, int], ...]


class ConcretePair(NamedTuple):
    """The buffers in the order in which operations go through them, wbR and wbL being ``remote`` and ``returned``.

    Entries: ("put", remote, local), ("value", remote, value), ("ack", 0, 0), ("get", local, remote), ("got", local,
    value), ("fence", -1, -1), ("atomic", local, request), ("held", local, update).
    """

    request: Entries = ()
    inbox: Entries = ()
    remote: tuple[Write, ...] = ()
    outbox: Entries = ()
    response: Entries = ()
    returned: tuple[Write, ...] = ()


class ConcretePairs(QueuePairs[ConcretePair]):
    empty = ConcretePair()

    def drained(self, pair: ConcretePair) -> bool:
        full = pair.request or pair.inbox or pair.remote or pair.outbox or pair.response
        return not full and all(location < 0 for location, _ in pair.returned)

    def enter(self, pair: ConcretePair, operation: Entry) -> ConcretePair:
        return pair._replace(request=(*pair.request, operation[:3]))

    def acknowledgements(self, pair: ConcretePair) -> int:
        return sum(kind == "ack" for kind, _, _ in pair.outbox + pair.response)

    def unread(self, pair: ConcretePair) -> bool:
        return any(kind == "put" for kind, _, _ in pair.request)

    def inside(
        self, local: Local[ConcretePair], number: int, pair: ConcretePair, then: Then[ConcretePair]
    ) -> Iterator[PairChange]:
        """The steps of the entries of the buffers. Steps from one buffer to the next may come first, but for

        - a put that goes to wbR while an older get has not been fetched;
        - a get that goes to wbL while a put might read its source before.
        """
        yield from self._requests(number, pair, then)
        has = self._has
        for place, (kind, first, second) in enumerate(pair.inbox[: 1 if has("fifo-inR") else None]):
            rest = left_out(pair.inbox, place)
            if kind == "value":
                outbox = (*pair.outbox, ("ack", 0, 0))
                new = pair._replace(inbox=rest, remote=(*pair.remote, (first, second)), outbox=outbox)
                # An older get is only fetched while wbR is empty, so this put could keep it from that.
                yield (
                    not any(kind in ("get", "atomic") for kind, _, _ in pair.outbox),
                    self._silent("acknowledge", then(new)),
                )
            else:
                new = pair._replace(inbox=rest, outbox=(*pair.outbox, (kind, first, second)))
                yield True, self._silent("to outR", then(new))
        yield from self._fetches(number, pair, then)
        for place, entry in enumerate(pair.outbox[: 1 if has("fifo-outR") else None]):
            if entry[0] not in ("get", "atomic", "held"):
                new = pair._replace(outbox=left_out(pair.outbox, place), response=(*pair.response, entry))
                yield True, self._silent("to rspL", then(new))
        for place, (kind, first, second) in enumerate(pair.response[: 1 if has("fifo-rspL") else None]):
            rest = left_out(pair.response, place)
            if kind == "ack":
                new = pair._replace(response=rest, returned=self._notified(local, number))
                yield True, self._silent("notify", then(new))
            else:
                new = pair._replace(response=rest, returned=self._return(local, number, first, second))
                yield not self._may_put(local, number), self._silent("return", then(new))

    def _requests(self, number: int, pair: ConcretePair, then: Then[ConcretePair]) -> Iterator[PairChange]:
        """The steps out of reqL."""
        sources = fences = 0
        for place, (kind, first, second) in enumerate(pair.request[: 1 if self._has("fifo-reqL") else None]):
            rest = left_out(pair.request, place)
            if kind == "put":

                def read(value: int, rest: Entries = rest, remote: int = first) -> Local[ConcretePair]:
                    return then(pair._replace(request=rest, inbox=(*pair.inbox, ("value", remote, value))))

                yield from self._read(SOURCE, number, pair, second, sources, read)
                sources += 1
            elif kind in ("get", "atomic"):
                new = pair._replace(request=rest, inbox=(*pair.inbox, (kind, first, second)))
                yield True, self._silent("to inR", then(new))
            else:
                buffers = {"inR": pair.inbox, "outR": pair.outbox, "rspL": pair.response}
                if not any(buffer and self._has(f"rfence-waits-for-{name}") for name, buffer in buffers.items()):
                    access = Access(("fence", self._thread.nodes[number]), fences)
                    step = Step(self._number, "pass rfence", None, (), (access,))
                    yield True, fixed(Result((step,), then(pair._replace(request=rest))))
                fences += 1

    def _fetches(self, number: int, pair: ConcretePair, then: Then[ConcretePair]) -> Iterator[PairChange]:
        """The steps in which a get is fetched, or a remote atomic fetches or writes: any in outR."""
        fetches = updates = 0
        both = self._has("fetch-in-outR") and self._has("atomic-in-outR")
        for early, entries in ((False, pair.outbox), (True, () if both else pair.inbox)):
            for place, (kind, target, second) in enumerate(entries):

                def changed(
                    kind: str, value: int, early: bool = early, place: int = place, target: int = target
                ) -> Local[ConcretePair]:
                    after = at(pair.inbox if early else pair.outbox, place, (kind, target, value))
                    return then(pair._replace(inbox=after) if early else pair._replace(outbox=after))

                if kind == "held":
                    yield from self._update(number, second, updates, changed)
                elif kind == "get" and not (early and self._has("fetch-in-outR")):
                    yield from self._read(FETCH, number, pair, second, fetches, partial(changed, "got"))
                elif kind == "atomic" and not (early and self._has("atomic-in-outR")):
                    yield from self._fetch_to_update(number, pair, second, (fetches, updates), changed)
                fetches += kind in ("get", "atomic")
                updates += kind in ("atomic", "held")


def concrete(
    program: Program,
    pcie: bool = True,
    placed: bool = False,
    without: frozenset[str] = frozenset(),
    reduced: bool = True,
    glob: bool = False,
) -> Machine[Local[ConcretePair]]:
    """The machine of ``program``, which RDMA-TSO must not refuse. ``without``: some of :data:`PREMISES`, which also
    switches the reduction off."""
    return machine_of(program, lambda thread: ConcretePairs(thread, pcie, placed, glob), without, PREMISES, reduced)
