"""The two tables of Figure 9: which pairs of events of a thread are issued, and which become observable, in program
order.

Two tables of ten rows (the earlier event) and ten columns (the later one). A cell is named as in the figure by a letter
and a number, "ippo.G8" is that of an nrW before an nrR in the upper table. How the figure's rows G to J are read is in
proofs/models.md. Rows K and L and columns 11 and 12 are not the figure's: they are for the two accesses of a remote
atomic.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

Cell = Literal["yes", "no", "sqp"]
"""In order; not in order; in order if both are of one queue pair."""
Table = tuple[tuple[Cell, ...], ...]

KINDS = ("lR", "lW", "CAS", "F", "P", "nlR", "nrW", "nrR", "nlW", "nF", "naR", "naW")
"""The types of events (Definition 4.1), in the order of the rows and columns; naR and naW: what a remote atomic
fetches, and what it writes there."""
FIGURE = KINDS[:10]
"""Those that Figure 9 has."""
NUMBER = {kind: number for number, kind in enumerate(KINDS)}
ROWS = "ABCDEFGHIJKL"
INSTANTANEOUS = frozenset(KINDS) - {"lW", "nlW", "nrW"}
"""Inst: issued and observable at once."""

FLUSHED = {"nlR": ("nlW", "local"), "nrR": ("nrW", "remote"), "naR": ("nrW", "atomic")}
"""The reads that nfo orders (Definition 4.2), each with the writes that wait at the same adapter, and the rule that
does so. What remote atomics fetch waits for these without PCIe, too."""

_MEANING: dict[str, Cell] = {"+": "yes", ".": "no", "q": "sqp"}


def _table(text: str) -> Table:
    return tuple(tuple(_MEANING[mark] for mark in line.split()[1:]) for line in text.split("\n")[2:-1])


IPPO = _table("""
    #  1 2 3 4 5 6 7 8 9 10 11 12
    A  + + + + + + + + + +  +  +
    B  + + + + + + + + + +  +  +
    C  + + + + + + + + + +  +  +
    D  + + + + + + + + + +  +  +
    E  + + + + + + + + + +  +  +
    F  . . . . . q q q q q  q  q
    G  . . . . . . q q q q  q  q
    H  . . . . . . . . q q  .  .
    I  . . . . . . . . q q  .  .
    J  . . . . . q q q q q  q  q
    K  . . . . . . . . q q  .  .
    L  . . . . . . . . q q  .  .
""")
OPPO = _table("""
    #  1 2 3 4 5 6 7 8 9 10 11 12
    A  + + + + + + + + + +  +  +
    B  . + + + . + + + + +  +  +
    C  + + + + + + + + + +  +  +
    D  + + + + + + + + + +  +  +
    E  + + + + + + + + + +  +  +
    F  . . . . . q q q q q  q  q
    G  . . . . . . q q q .  q  q
    H  . . . . . . . . q q  .  .
    I  . . . . . . . . q .  .  .
    J  . . . . . q q q q q  q  q
    K  . . . . . . . . q q  .  .
    L  . . . . . . . . q q  .  .
""")


@dataclass(frozen=True, slots=True)
class Orders:
    """The two tables."""

    ippo: Table = IPPO
    oppo: Table = OPPO

    def at(self, cell: str) -> Cell:
        """The entry of ``cell`` ("oppo.G8")."""
        table, row, column = _place(cell)
        found: Table = getattr(self, table)
        return found[row][column]

    def with_cell(self, cell: str, value: Cell) -> Orders:
        """The same with another ``value`` in ``cell``."""
        name, row, column = _place(cell)
        table: Table = getattr(self, name)
        line = (*table[row][:column], value, *table[row][column + 1 :])
        changed = (*table[:row], line, *table[row + 1 :])
        return replace(self, ippo=changed) if name == "ippo" else replace(self, oppo=changed)

    def holds(self, table: str, earlier: str, later: str, same_queue_pair: bool) -> bool:
        """Whether the table orders two events of these types, one before the other in the program order of a thread."""
        found: Table = getattr(self, table)
        cell = found[NUMBER[earlier]][NUMBER[later]]
        return cell == "yes" or (cell == "sqp" and same_queue_pair)


FIGURE_9 = Orders()


def cell_of(table: str, earlier: str, later: str) -> str:
    """The name of the cell for these types."""
    return f"{table}.{ROWS[NUMBER[earlier]]}{NUMBER[later] + 1}"


def kinds_of(cell: str) -> tuple[str, str]:
    """The types of the earlier and the later event that ``cell`` is about."""
    _, row, column = _place(cell)
    return KINDS[row], KINDS[column]


def _cells(kinds: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(cell_of(table, earlier, later) for table in ("ippo", "oppo") for earlier in kinds for later in kinds)


CELLS = _cells(KINDS)
"""The names of all cells."""
CELLS_OF_THE_FIGURE = _cells(FIGURE)
"""Those that Figure 9 has."""


def _place(cell: str) -> tuple[str, int, int]:
    table, _, place = cell.partition(".")
    return table, ROWS.index(place[0]), int(place[1:]) - 1


TERMS: dict[str, str] = {
    "ib.rf": "issued-before: a write that is read, before the read",
    "ib.pf": "issued-before: an operation that is polled, before the poll",
    "ib.nfo": "issued-before: the order of reads and writes at an adapter (PCIe)",
    "ib.rbb": "issued-before: a CPU's read, before its own thread's later write that it does not see",
    "ob.rfb": "observed-before: a write, before a read of it that is not out of the thread's own store buffer",
    "ob.nlW-pf": "observed-before: the local write of a get, before the poll of that get",
    "ob.nfo": "observed-before: the order of reads and writes at an adapter (PCIe)",
    "ob.rb": "observed-before: a read, before the writes that it does not see",
    "ob.mo": "observed-before: the writes to a location in the order in which they reach it",
    "ob.rmw": "observed-before: what a remote atomic fetches, before what it writes there",
    "ob.lock": "observed-before: of two remote atomics on a node all of the one, before what the other one fetches",
}
"""The terms of ib and ob (Definition 4.4) beside ippo and oppo."""

CONDITIONS: dict[str, str] = {
    "third": "Definition 4.4 (3): ([Inst]; ib; ob)+ is irreflexive",
}
"""The condition that can be left out. The first two are part of what a partial order is."""

PREMISES: dict[str, str] = {
    "rfb.lW": "rf_b starts in a CPU's write",
    "rfb.sthd": "rf_b is within a thread",
    "rfb.lR": "rf_b ends in a CPU's read",
    "rbb.lR": "rb_b starts in a CPU's read",
    "rbb.sthd": "rb_b is within a thread",
    "rbb.lW": "rb_b ends in a CPU's write",
    "nfo.local": "Definition 4.2: nlR and nlW of a queue pair are ordered by nfo",
    "nfo.remote": "Definition 4.2: nrR and nrW of a queue pair are ordered by nfo",
    "nfo.atomic": "naR and nrW of a queue pair are ordered by nfo, without PCIe, too",
    "Inst.lW": "a CPU's write is not instantaneous",
    "Inst.nrW": "the remote write of a put is not instantaneous",
    "Inst.nlW": "the local write of a get is not instantaneous",
    "pf.oldest": "Definition 4.3 (1): a poll is of the oldest operation not yet polled",
    "pf.once": "Definition 4.2: an operation is polled at most once",
    "rfb.sqp": "without PCIe: rf_b holds rf within a queue pair",
    "rbb.sqp": "without PCIe: rb_b holds rb within a queue pair",
    "lock.failed": "a remote compare-and-set that fails is ordered by the lock, too",
}
"""Premises of the definitions; leaving one out lifts its restriction (or its exemption)."""


def _meaning(cell: str) -> str:
    table, earlier, later = cell.partition(".")[0], *kinds_of(cell)
    same = " of the same queue pair" if FIGURE_9.at(cell) == "sqp" else ""
    verb = "issued" if table == "ippo" else "observed"
    where = "Figure 9" if cell in CELLS_OF_THE_FIGURE else "remote atomics"
    return f"{where}: {earlier} before {later}{same} is {verb} before it"


RULES: dict[str, str] = {
    **{cell: _meaning(cell) for cell in CELLS if FIGURE_9.at(cell) != "no"},
    **TERMS,
    **CONDITIONS,
    **PREMISES,
}
"""The rules that `--without` can leave out, each with its meaning."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules in force: Figure 9, and which of :data:`RULES` are left out. ``glob``: the two accesses of a remote
    atomic are one."""

    orders: Orders = FIGURE_9
    without: frozenset[str] = frozenset()
    pcie: bool = True
    placed: bool = False
    glob: bool = False

    @staticmethod
    def of(
        *, pcie: bool = True, placed: bool = False, glob: bool = False, without: frozenset[str] = frozenset()
    ) -> Rules:
        """Figure 9 as it is, ``without`` some rules. Raises ValueError for a name that is not in :data:`RULES`."""
        if unknown := sorted(without - RULES.keys()):
            raise ValueError(f"RDMA-TSO has no rule {', '.join(unknown)}")
        return Rules.with_orders(FIGURE_9, pcie=pcie, placed=placed, glob=glob, without=without)

    @staticmethod
    def with_orders(orders: Orders, *, pcie: bool, placed: bool, glob: bool, without: frozenset[str]) -> Rules:
        """The same for other ``orders`` than Figure 9."""
        for cell in without & frozenset(CELLS):
            orders = orders.with_cell(cell, "no")
        if not pcie:
            orders = orders.with_cell("oppo.G8", "no").with_cell("oppo.G9", "no")
        return Rules(orders, without - frozenset(CELLS), pcie, placed, glob)

    def leaving_out(self, without: frozenset[str]) -> Rules:
        """These rules without some more."""
        more = self.without | without
        return Rules.with_orders(self.orders, pcie=self.pcie, placed=self.placed, glob=self.glob, without=more)

    def has(self, rule: str) -> bool:
        return rule not in self.without
