"""The declarative semantics of RDMA-TSO (section 4): outcomes, consistent executions, and why others are not.

What is decided by points in time (`points`) is said here with the paper's relations: :func:`relations` gives those of
an execution, :func:`violated` the conditions of Definition 4.4 that it does not satisfy, as they are printed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pgasrob.models.candidates import INITIAL
from pgasrob.models.litmus.program import Outcome, Program, Value
from pgasrob.models.model import Execution, Forbidden, Outcomes, Pairs
from pgasrob.models.rdma_tso.orders import FIGURE_9, Orders
from pgasrob.models.rdma_tso.rules import Rules
from pgasrob.models.rdma_tso.search import Search, Solution
from pgasrob.robustness.watch import LimitReached, Watch


class Declarative:
    """RDMA-TSO by Definitions 4.1 to 4.4.

    ``pcie``: with the guarantee of PCIe that reads flush buffers ("Declarative Semantics without PCIe"). ``placed``: a
    put that is polled is in the remote memory. ``without``: names of :data:`orders.RULES`; ValueError for others.
    """

    def __init__(
        self,
        *,
        pcie: bool = True,
        placed: bool = False,
        without: frozenset[str] = frozenset(),
        orders: Orders = FIGURE_9,
    ) -> None:
        Rules.of(without=without)
        self.rules = Rules.with_orders(orders, pcie=pcie, placed=placed, without=without)
        self._options = (pcie, placed, without, orders)

    def outcomes(self, program: Program, watch: Watch | None = None) -> Outcomes:
        """All outcomes of a bounded program, with an execution for each."""
        search, found, reason = Search(program, self.rules, watch), dict[Outcome, Solution](), None
        try:
            for _ in search.each_new(found):
                pass
        except LimitReached as limit:
            reason = limit.reason
        executions = {outcome: execution(found[outcome]) for outcome in sorted(found)}
        return Outcomes(executions, reason, search.looked_at)

    def executions(self, program: Program, watch: Watch | None = None) -> Iterator[Execution]:
        """All consistent executions of a bounded program, one for each rf and mo (with one nfo)."""
        return map(execution, Search(program, self.rules, watch).solutions())

    def forbidden(self, program: Program, outcome: Mapping[str, Value]) -> Forbidden | None:
        """Why no consistent execution has these values."""
        raise NotImplementedError


def execution(solution: Solution) -> Execution:
    """What the search has found, as others read it: initial writes come first; po of neighbours, mo of all pairs."""
    graph, candidate = solution.graph, solution.graph.candidate
    events = candidate.events(solution.values)
    first = len(events) - len(candidate.actions)
    place = {location: number for number, location in enumerate(candidate.locations)}

    def pairs_of(found: Iterator[tuple[int, int]]) -> Pairs:
        return frozenset((a + first, b + first) for a, b in found)

    actions = candidate.actions
    writes, sources = candidate.writes, solution.sources
    rf, rb, mo = set(), set(), set()
    for location, each in writes.items():
        mo |= {(place[location], write + first) for write in each}
        mo |= {(a + first, b + first) for a in each for b in each if solution.precedes(a, b)}
    for read in candidate.reads:
        at, source = actions[read].location, sources[read]
        assert at is not None and source is not None
        origin = place[at] if source == INITIAL else source + first
        rf.add((origin, read + first))
        rb |= {(read + first, later) for before, later in mo if before == origin and later != read + first}
    return Execution(
        candidate.program,
        events,
        {
            "po": pairs_of((a, a + 1) for a in range(len(actions) - 1) if actions[a].thread == actions[a + 1].thread),
            "rf": frozenset(rf),
            "mo": frozenset(mo),
            "rb": frozenset(rb),
            "pf": pairs_of((write, poll) for poll, write in graph.polled.items()),
            "nfo": pairs_of(iter(solution.flushed())),
            "ippo": pairs_of(graph.preserved("ippo")),
            "oppo": pairs_of(graph.preserved("oppo")),
        },
        solution.outcome,
    )
