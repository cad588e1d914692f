"""Which accesses of a thread of RDMA-TSO have to come late because earlier ones do, and which commands have to wait for
these (`proofs/rdma-normal-form.md`, section 2).

In a run in normal form some accesses of the adapter and of the store buffer are *late*: they come behind all that is
executed. What is known of those of a thread are a few bits, and how many of its operations can be polled.
"""

from __future__ import annotations

from typing import NamedTuple

from pgasrob.models.operational import at

UNBOUNDED = 1 << 40
"""Operations that can be polled: as many as are asked for."""


class Pair(NamedTuple):
    """A queue pair: whether some put reads its source late (``sources``) or writes late (``placings``), some get reads
    late (``fetches``) or writes late (``landings``), or the notification of some operation comes late; ``fence_waits``:
    an rfence has not passed; ``behind_landings``: one has passed behind gets some of which write late."""

    sources: bool = False
    placings: bool = False
    fetches: bool = False
    landings: bool = False
    notifications: bool = False
    fence_waits: bool = False
    behind_landings: bool = False


class Delays(NamedTuple):
    """What is late of a thread: a store (``stores``), and what of its queue ``pairs``."""

    stores: bool
    pairs: tuple[Pair, ...]

    def with_pair(self, number: int, pair: Pair) -> Delays:
        return self._replace(pairs=at(self.pairs, number, pair))


class Variant(NamedTuple):
    """The variant of RDMA-TSO, as of :class:`~pgasrob.models.rdma_tso.RdmaTso`; ``glob``: remote atomics are atomic
    against everything."""

    pcie: bool
    placed: bool
    glob: bool = False


class Orders:
    """The pairs of accesses that a thread has to do one after the other, by ``variant``."""

    def __init__(self, variant: Variant) -> None:
        self._pcie, self._placed, _ = variant

    def source_waits(self, delays: Delays, number: int) -> bool:
        """Whether a put of pair ``number`` has to read its source late."""
        pair = delays.pairs[number]
        return delays.stores or pair.fence_waits or pair.sources or (self._pcie and pair.behind_landings)

    def place_waits(self, delays: Delays, number: int) -> bool:
        """Whether a put that has read its source has to write late."""
        return delays.pairs[number].placings

    def fetch_waits(self, delays: Delays, number: int) -> bool:
        """Whether a get has to read late: behind puts, with the guarantee of PCI Express behind their writes."""
        pair = delays.pairs[number]
        return delays.stores or pair.fence_waits or (pair.placings if self._pcie else pair.sources)

    def atomic_waits(self, delays: Delays, number: int) -> bool:
        """Whether a remote atomic has to read late: behind the writes of puts, in any variant."""
        pair = delays.pairs[number]
        return delays.stores or pair.fence_waits or pair.placings

    def landing_waits(self, delays: Delays, number: int) -> bool:
        """Whether a get, or a remote atomic, that has got its value has to write it late."""
        return delays.pairs[number].landings

    def after_put(self, pair: Pair, source: bool, placing: bool) -> Pair:
        """The pair with a put whose read and write are late, or not."""
        return pair._replace(
            sources=pair.sources or source,
            placings=pair.placings or placing,
            notifications=pair.notifications or source or (self._placed and placing),
        )

    def after_get(self, pair: Pair, fetch: bool, landing: bool) -> Pair:
        """The pair with a get, or a remote atomic, whose value is got late, or written late, or not."""
        return pair._replace(
            fetches=pair.fetches or fetch,
            landings=pair.landings or landing,
            notifications=pair.notifications or landing,
        )

    def after_fence(self, pair: Pair) -> Pair:
        """The pair with an rfence, which passes when the puts before it have been read and the gets before it too."""
        waits = pair.fence_waits or pair.sources or pair.fetches
        return pair._replace(fence_waits=waits, behind_landings=pair.behind_landings or pair.landings)
