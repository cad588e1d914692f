"""Definition 4.4 as it is printed, for one execution: ib, ob, and a cycle that breaks one of the three conditions.

Every edge of ib and ob has its relation and its rule (a cell of Figure 9, or a term), so that the edges of a cycle
explain why an execution is inconsistent.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from pgasrob.models.model_interface import CycleEdge, Event, Execution
from pgasrob.models.rdma_tso.orders import FLUSHED, INSTANTANEOUS, Rules, cell_of
from pgasrob.models.relations import shortest_path

Order = Literal["ib", "ob"]


@dataclass(frozen=True, slots=True)
class Edge:
    """A pair of ib or ob before closure, with the relation and the rule that it is by."""

    order: Order
    source: int
    target: int
    relation: str
    rule: str


def edges(execution: Execution, rules: Rules) -> Iterator[Edge]:
    """ib = (ippo, rf, pf, nfo, rb_b)+ and ob = (oppo, rf_b complement, [nlW]; pf, nfo, rb, mo)+ before closure, ob also
    with what remote atomics add. With IBV_ATOMIC_GLOB edges of an naW are its naR's."""
    if not rules.glob:
        yield from _edges(execution, rules)
        return
    fetched = {updated: fetch for fetch, updated in _updates(execution)}
    for edge in _edges(execution, rules):
        source, target = fetched.get(edge.source, edge.source), fetched.get(edge.target, edge.target)
        if (edge.target, edge.source) not in fetched.items():
            yield replace(edge, source=source, target=target)


def _updates(execution: Execution) -> Iterator[tuple[int, int]]:
    """The naR and the naW of each remote atomic that writes."""
    return ((number - 1, number) for number, event in enumerate(execution.events) if event.kind == "naW")


def _edges(execution: Execution, rules: Rules) -> Iterator[Edge]:
    events, relations, has = execution.events, execution.relations, rules.has
    for source, target in program_order(execution):
        one, other = events[source], events[target]
        if one.thread is None:
            continue  # nothing comes before an initial write: it is on no cycle
        for order, table in ORDERED_BY:
            if rules.orders.holds(table, one.kind, other.kind, same_queue_pair(one, other)):
                yield Edge(order, source, target, table, cell_of(table, one.kind, other.kind))
    for source, target in relations["rf"]:
        if has("ib.rf"):
            yield Edge("ib", source, target, "rf", "ib.rf")
        if has("ob.rfb") and not _buffered(rules, "rfb", events[source], "lW", events[target], "lR"):
            yield Edge("ob", source, target, "rf", "ob.rfb")
    for source, target in relations["pf"]:
        if has("ib.pf"):
            yield Edge("ib", source, target, "pf", "ib.pf")
        if events[source].kind == "nlW" and has("ob.nlW-pf"):
            yield Edge("ob", source, target, "pf", "ob.nlW-pf")
        if events[source].kind == "nrW" and rules.placed:
            yield Edge("ob", source, target, "pf", "placed")
    for source, target in relations["nfo"]:
        read = next(kind for kind in (events[source].kind, events[target].kind) if kind in FLUSHED)
        if has(f"nfo.{FLUSHED[read][1]}") and (rules.pcie or read == "naR"):
            if has("ib.nfo"):
                yield Edge("ib", source, target, "nfo", "ib.nfo")
            if has("ob.nfo"):
                yield Edge("ob", source, target, "nfo", "ob.nfo")
    for source, target in relations["rb"]:
        if has("ib.rbb") and _buffered(rules, "rbb", events[source], "lR", events[target], "lW"):
            yield Edge("ib", source, target, "rb", "ib.rbb")
        if has("ob.rb"):
            yield Edge("ob", source, target, "rb", "ob.rb")
    for source, target in relations["mo"]:
        if has("ob.mo"):
            yield Edge("ob", source, target, "mo", "ob.mo")
    for source, target in _updates(execution):
        if has("ob.rmw"):
            yield Edge("ob", source, target, "rmw", "ob.rmw")
    for source, target in () if rules.glob else relations.get("lock", ()):
        if has("ob.lock"):
            yield Edge("ob", source, target, "lock", "ob.lock")


ORDERED_BY: tuple[tuple[Order, str], ...] = (("ib", "ippo"), ("ob", "oppo"))


def program_order(execution: Execution) -> Iterator[tuple[int, int]]:
    """po: an execution holds its neighbours, in the order of the events' numbers."""
    events = execution.events
    for source, one in enumerate(events):
        for target in range(source + 1, len(events)):
            if one.thread is None or events[target].thread == one.thread:
                yield source, target


def same_queue_pair(one: Event, other: Event) -> bool:
    """sqp."""
    return one.thread == other.thread and one.towards == other.towards is not None


def _buffered(rules: Rules, name: str, one: Event, first: str, other: Event, second: str) -> bool:
    """Whether a pair of rf (rb) is one of rf_b (rb_b)."""
    if not rules.pcie and rules.has(f"{name}.sqp") and same_queue_pair(one, other):
        return True
    return (
        (one.kind == first or not rules.has(f"{name}.{first}"))
        and (one.thread == other.thread or not rules.has(f"{name}.sthd"))
        and (other.kind == second or not rules.has(f"{name}.{second}"))
    )


def instantaneous(event: Event, rules: Rules) -> bool:
    """Inst."""
    return event.kind in INSTANTANEOUS or not rules.has(f"Inst.{event.kind}")


def cycle(execution: Execution, rules: Rules) -> tuple[CycleEdge, ...]:
    """A cycle in ib, in ob, or in ([Inst]; ib; ob)+; empty for a consistent execution.

    It is a shortest one through points of time: of issue (along ib) and of observation (along ob), which are one point
    for an instantaneous event; for others there is a step from the former to the latter.
    """
    found = sorted(edges(execution, rules), key=lambda edge: (edge.source, edge.target, edge.order, edge.rule))
    third = rules.has("third")

    def point(event: int, order: Order) -> tuple[int, Order]:
        return event, "ib" if third and instantaneous(execution.events[event], rules) else order

    out: dict[tuple[int, Order], dict[tuple[int, Order], Edge | None]] = {}
    for edge in found:
        if rules.has(edge.order):
            out.setdefault(point(edge.source, edge.order), {}).setdefault(point(edge.target, edge.order), edge)
    for number in range(len(execution.events) if third else 0):
        if point(number, "ob") != (number, "ib"):
            out.setdefault((number, "ib"), {}).setdefault((number, "ob"), None)
    cycles = (shortest_path(out, start, start) for start in out)
    best = min(filter(None, cycles), key=len, default=[])
    steps = (out[point][following] for point, following in pairwise(best))
    return tuple(CycleEdge(edge.source, edge.target, edge.relation, edge.rule) for edge in steps if edge is not None)
