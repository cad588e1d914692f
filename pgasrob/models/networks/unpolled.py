"""What a rank has pending to each peer on RDMA-TSO: the operations that it has not polled, and puts that it has polled
and that may not be in memory yet."""

from __future__ import annotations

from typing import Literal, NamedTuple


class Unpolled(NamedTuple):
    """An operation that has not been polled; ``copy``: the location that is made for it, if there is one."""

    kind: Literal["put", "get", "atomic"]
    queue: int
    copy: str = ""


class Peer(NamedTuple):
    """The pending operations of a rank to a peer: the unpolled ones, the oldest first, and the queues that have a
    polled put which may not be in memory yet."""

    unpolled: tuple[Unpolled, ...] = ()
    unplaced: frozenset[int] = frozenset()

    def polled(self, count: int, *, pcie: bool, placed: bool) -> Peer:
        """The peer when its oldest ``count`` operations have been polled.

        A get that has been polled has placed the puts before it (with PCI Express), and so has an atomic: it fetches
        only when all of them are in memory.
        """
        unplaced = self.unplaced
        for operation in self.unpolled[:count]:
            if operation.kind == "put":
                unplaced |= set() if placed else {operation.queue}
            elif pcie or operation.kind == "atomic":
                unplaced = frozenset()
        return Peer(self.unpolled[count:], unplaced)


Peers = tuple[Peer, ...]


def copies(peers: Peers) -> set[str]:
    """The locations made for operations that are pending."""
    return {operation.copy for peer in peers for operation in peer.unpolled}


def changed(peers: Peers, rank: int, peer: Peer) -> Peers:
    """``peers`` with this one for ``rank``."""
    return (*peers[:rank], peer, *peers[rank + 1 :])


def issued(peers: Peers, rank: int, operation: Unpolled) -> Peers:
    """``peers`` when an operation to ``rank`` has been issued."""
    peer = peers[rank]
    return changed(peers, rank, peer._replace(unpolled=(*peer.unpolled, operation)))
