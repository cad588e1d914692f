"""What of the declarative semantics holds: Figure 9 as it is or changed, and which rules are left out."""

from __future__ import annotations

from dataclasses import dataclass

from pgasrob.models.rdma_tso.orders import CELLS, FIGURE_9, RULES, Orders


@dataclass(frozen=True, slots=True)
class Rules:
    """What the definitions say: Figure 9, and which of :data:`RULES` are left out."""

    orders: Orders = FIGURE_9
    without: frozenset[str] = frozenset()
    pcie: bool = True
    placed: bool = False

    @staticmethod
    def of(*, pcie: bool = True, placed: bool = False, without: frozenset[str] = frozenset()) -> Rules:
        """Raises ValueError for a name that is not in :data:`RULES`."""
        if unknown := sorted(without - RULES.keys()):
            raise ValueError(f"RDMA-TSO has no rule {', '.join(unknown)}")
        return Rules.with_orders(FIGURE_9, pcie=pcie, placed=placed, without=without)

    @staticmethod
    def with_orders(orders: Orders, *, pcie: bool, placed: bool, without: frozenset[str]) -> Rules:
        """The same for other tables than those of Figure 9."""
        for cell in without & frozenset(CELLS):
            orders = orders.with_cell(cell, "no")
        if not pcie:
            orders = orders.with_cell("oppo.G8", "no").with_cell("oppo.G9", "no")
        return Rules(orders, without - frozenset(CELLS), pcie, placed)

    def leaving_out(self, without: frozenset[str]) -> Rules:
        """The same without these rules, too."""
        more = self.without | without
        return Rules.with_orders(self.orders, pcie=self.pcie, placed=self.placed, without=more)

    def has(self, rule: str) -> bool:
        return rule not in self.without
