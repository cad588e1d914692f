"""Consistency of RDMA-TSO as acyclicity of a graph, in which each event is one point in time or two.

An event has a point of issue and a point of observation. They are one point if the event is instantaneous; otherwise
issue comes first. An edge of ib goes from issue to issue, one of ob from observation to observation. A cycle in this
graph is a cycle of ib, of ob, or of ([Inst]; ib; ob)+, for only at an instantaneous event can a path return from
observation to issue. So an execution is consistent (Definition 4.4) if and only if its graph has no cycle
(`proofs/models.md`, "Points in time").
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pgasrob.models.candidate_executions import INITIAL, Candidate
from pgasrob.models.rdma_tso.expansion import same_queue_pair
from pgasrob.models.rdma_tso.orders import FLUSHED, INSTANTANEOUS, Rules
from pgasrob.models.relations import Rows, with_pairs
from pgasrob.stop_points import stop_point

Edges = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """Two events of which one must come first, with the edges for either: two writes to a location, a read and a write
    of an adapter, or what two remote atomics on a node fetch."""

    first: int
    second: int
    forward: Edges
    backward: Edges


class Graph:
    """The points of a candidate's events, the edges that do not depend on rf, mo and nfo, and those that do."""

    def __init__(self, candidate: Candidate, rules: Rules, polled: Mapping[int, int]) -> None:
        self.candidate, self.rules, self.polled = candidate, rules, polled
        actions, count = candidate.actions, len(candidate.actions)
        self.issue = list(range(count))
        self.seen = list(range(count))
        size = count
        third = rules.has("third")
        for number, action in enumerate(actions):
            exempt = action.kind in INSTANTANEOUS or not rules.has(f"Inst.{action.kind}")
            if not third or not exempt:
                self.seen[number] = size
                size += 1
        self.updates = {number - 1: number for number, action in enumerate(actions) if action.kind == "naW"}
        """The naW of each remote atomic that writes, by its naR; with IBV_ATOMIC_GLOB both have one point."""
        for fetched, updated in self.updates.items() if rules.glob else ():
            self.issue[updated], self.seen[updated] = self.issue[fetched], self.seen[fetched]
        self.modified = self.seen
        if not rules.has("ob.mo"):
            self.modified = list(range(size, size + count))
            size += count
        self.size = size

    @property
    def start(self) -> Rows | None:
        """The closure of the edges that hold whatever is read; None when they have a cycle."""
        rules, issue, seen = self.rules, self.issue, self.seen
        edges: list[tuple[int, int]] = []
        if rules.has("third"):
            edges += [(i, o) for i, o in zip(issue, seen, strict=True) if i != o]
        if rules.has("ib"):
            edges += [(issue[a], issue[b]) for a, b in self.preserved("ippo")]
        if rules.has("ob"):
            edges += [(seen[a], seen[b]) for a, b in self.preserved("oppo")]
        if rules.has("ob") and rules.has("ob.rmw") and not rules.glob:
            edges += [(seen[fetched], seen[updated]) for fetched, updated in self.updates.items()]
        for poll, write in self.polled.items():
            if rules.has("ib.pf") and rules.has("ib"):
                edges.append((issue[write], issue[poll]))
            local = self.candidate.actions[write].kind == "nlW"
            if rules.has("ob") and ((local and rules.has("ob.nlW-pf")) or (not local and rules.placed)):
                edges.append((seen[write], seen[poll]))
        return with_pairs([0] * self.size, edges)

    def preserved(self, table: str) -> Iterator[tuple[int, int]]:
        """The pairs of ippo or oppo."""
        holds = self.rules.orders.holds
        for first, earlier in enumerate(self.candidate.actions):
            stop_point()
            for second in range(first + 1, len(self.candidate.actions)):
                later = self.candidate.actions[second]
                if later.thread != earlier.thread:
                    break
                if holds(table, earlier.kind, later.kind, earlier.towards == later.towards is not None):
                    yield first, second

    def by_read(self, write: int, read: int) -> Edges:
        """The edges that hold when ``read`` reads from ``write``."""
        edges = []
        if self.rules.has("ib") and self.rules.has("ib.rf"):
            edges.append((self.issue[write], self.issue[read]))
        if self.rules.has("ob") and self.rules.has("ob.rfb") and not self.buffered_rf(write, read):
            edges.append((self.seen[write], self.seen[read]))
        return tuple(edges)

    def by_later_write(self, read: int, write: int) -> Edges:
        """The edges that hold when ``read`` reads from a write that is before ``write`` in mo."""
        if self.rules.glob and self.updates.get(read) == write:
            return ()
        edges = []
        if self.rules.has("ib") and self.rules.has("ib.rbb") and self.buffered_rb(read, write):
            edges.append((self.issue[read], self.issue[write]))
        if self.rules.has("ob") and self.rules.has("ob.rb"):
            edges.append((self.seen[read], self.seen[write]))
        return tuple(edges)

    def buffered_rf(self, write: int, read: int) -> bool:
        """Whether this pair of rf is in rf_b (Definition 4.4)."""
        return self._buffered("rfb", write, "lW", read, "lR")

    def buffered_rb(self, read: int, write: int) -> bool:
        """Whether this pair of rb is in rb_b (Definition 4.4)."""
        return self._buffered("rbb", read, "lR", write, "lW")

    def _buffered(self, name: str, source: int, first: str, target: int, second: str) -> bool:
        has, one, other = self.rules.has, self.candidate.actions[source], self.candidate.actions[target]
        if not self.rules.pcie and has(f"{name}.sqp") and same_queue_pair(self.candidate, source, target):
            return True
        return (
            (one.kind == first or not has(f"{name}.{first}"))
            and (one.thread == other.thread or not has(f"{name}.sthd"))
            and (other.kind == second or not has(f"{name}.{second}"))
        )

    def order_choices(self, sources: Sequence[int | None]) -> list[Choice]:
        """mo: a choice for any two writes to a location, with the edges that follow for the reads from them."""
        readers: dict[int, list[int]] = {}
        for read in self.candidate.reads:
            source = sources[read]
            if source is not None and source != INITIAL:
                readers.setdefault(source, []).append(read)

        def edges(first: int, second: int) -> Edges:
            found = [(self.modified[first], self.modified[second])]
            for read in readers.get(first, ()):
                if read != second:
                    found += self.by_later_write(read, second)
            return tuple(found)

        return [
            Choice(first, second, edges(first, second), edges(second, first))
            for writes in self.candidate.writes.values()
            for place, first in enumerate(writes)
            for second in writes[place + 1 :]
        ]

    def lock_choices(self) -> list[Choice]:
        """The lock of the adapter of each node: a choice for any two remote atomics there."""
        rules, seen = self.rules, self.seen
        if rules.glob or not (rules.has("ob") and rules.has("ob.lock")):
            return []
        actions = self.candidate.actions
        fetches = [
            number
            for number, action in enumerate(actions)
            if action.kind == "naR" and (number in self.updates or rules.has("lock.failed"))
        ]
        return [
            Choice(
                one,
                other,
                ((seen[self.updates.get(one, one)], seen[other]),),
                ((seen[self.updates.get(other, other)], seen[one]),),
            )
            for place, one in enumerate(fetches)
            for other in fetches[place + 1 :]
            if actions[one].towards == actions[other].towards
        ]

    def flush_choices(self) -> list[Choice]:
        """nfo: a choice for each read and write of one adapter; without PCIe for what remote atomics fetch alone."""
        rules = self.rules
        into_issue = rules.has("ib") and rules.has("ib.nfo")
        into_seen = rules.has("ob") and rules.has("ob.nfo")
        if not (into_issue or into_seen):
            return []

        def edges(first: int, second: int) -> Edges:
            found = [(self.issue[first], self.issue[second])] if into_issue else []
            return (*found, (self.seen[first], self.seen[second])) if into_seen else tuple(found)

        actions = self.candidate.actions
        return [
            Choice(read, write, edges(read, write), edges(write, read))
            for reading, (writing, name) in FLUSHED.items()
            if rules.has(f"nfo.{name}") and (rules.pcie or reading == "naR")
            for read, one in enumerate(actions)
            if one.kind == reading
            for write, other in enumerate(actions)
            if other.kind == writing and same_queue_pair(self.candidate, read, write)
        ]
