"""The three conditions of Definition 4.4, as they are printed."""

from __future__ import annotations

from collections.abc import Sequence

from pgasrob.models.model_interface import Execution
from pgasrob.models.rdma_tso.axioms import edges, instantaneous
from pgasrob.models.rdma_tso.orders import Rules
from pgasrob.models.relations import Rows, closed, of_pairs, pairs


def acyclic(rows: Sequence[int]) -> bool:
    """Whether the closure of ``rows`` is irreflexive."""
    return not any(row >> number & 1 for number, row in enumerate(closed(rows)))


def violated(execution: Execution, rules: Rules) -> tuple[str, ...]:
    """The conditions that do not hold: some of "ib", "ob", "third"."""
    events, found = execution.events, tuple(edges(execution, rules))

    def closure(order: str) -> Rows:
        return closed(of_pairs(len(events), ((edge.source, edge.target) for edge in found if edge.order == order)))

    ib, ob = closure("ib"), closure("ob")
    through = [(a, b) for a, b in pairs(ib) if instantaneous(events[a], rules)]
    both = [(a, c) for a, b in through for c in range(len(events)) if ob[b] >> c & 1]
    holds = {"ib": acyclic(ib), "ob": acyclic(ob), "third": acyclic(of_pairs(len(events), both))}
    return tuple(name for name, kept in holds.items() if rules.has(name) and not kept)
