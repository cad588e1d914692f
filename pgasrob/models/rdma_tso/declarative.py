"""The declarative semantics of RDMA-TSO (section 4): outcomes, consistent executions, and why an outcome is forbidden.

Figure 9 is in `orders`, the definitions as printed are in `axioms`, the search for executions in `execution_search` and
`points`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pgasrob.models.litmus.litmus_program import Outcome, Program, Value
from pgasrob.models.model_interface import Execution, Forbidden, Outcomes
from pgasrob.models.rdma_tso.execution_search import Search, Solution, execution
from pgasrob.models.rdma_tso.forbidden import why
from pgasrob.models.rdma_tso.orders import FIGURE_9, Orders, Rules
from pgasrob.robustness.stopping import until_limit
from pgasrob.robustness.watch import Watch


class Declarative:
    """RDMA-TSO by Definitions 4.1 to 4.4.

    ``pcie``: with the guarantee of PCIe that reads flush buffers ("Declarative Semantics without PCIe"). ``placed``: a
    put that is polled is in the remote memory. ``glob``: remote atomics are atomic against everything. ``without``:
    names of :data:`orders.RULES`; ValueError for others.
    """

    def __init__(
        self,
        *,
        pcie: bool = True,
        placed: bool = False,
        glob: bool = False,
        without: frozenset[str] = frozenset(),
        orders: Orders = FIGURE_9,
    ) -> None:
        Rules.of(without=without)
        self.rules = Rules.with_orders(orders, pcie=pcie, placed=placed, glob=glob, without=without)

    def outcomes(self, program: Program, watch: Watch | None = None) -> Outcomes:
        """All outcomes of a bounded program, with an execution for each."""
        search, found = Search(program, self.rules, watch), dict[Outcome, Solution]()
        with until_limit() as stopped:
            for _ in search.each_new(found):
                pass
        executions = {outcome: execution(found[outcome]) for outcome in sorted(found)}
        return Outcomes(executions, stopped.reason, search.looked_at)

    def executions(self, program: Program, watch: Watch | None = None) -> Iterator[Execution]:
        """All consistent executions of a bounded program, one for each rf and mo (with one nfo)."""
        return map(execution, Search(program, self.rules, watch).solutions())

    def forbidden(self, program: Program, outcome: Mapping[str, Value]) -> Forbidden | None:
        """Why no consistent execution has these values, by name; None when one has. KeyError for an unknown name."""
        places = {name: place for place, name in enumerate(program.names)}
        wanted = [(places[name], value) for name, value in outcome.items()]
        return why(program, lambda found: all(found[place] == value for place, value in wanted), self.rules)
