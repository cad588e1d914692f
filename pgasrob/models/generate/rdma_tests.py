"""Generates tests for a cell of RDMA-TSO's Figure 9: programs whose outcomes change when only that cell is changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from pgasrob.models.generate.programs import Shape, plainest
from pgasrob.models.generate.rdma_shapes import Bounds, shapes
from pgasrob.models.litmus.expected_outcomes import Expectation, LitmusTest
from pgasrob.models.litmus.litmus_printer import printed
from pgasrob.models.litmus.litmus_program import Outcome, Program
from pgasrob.models.rdma_tso.declarative import Declarative
from pgasrob.models.rdma_tso.orders import CELLS_OF_THE_FIGURE, FIGURE_9, Orders, cell_of, kinds_of
from pgasrob.models.relations import closed
from pgasrob.program.declarations import Source

BOUNDS = Bounds(threads=2, nodes=2, locations=3)

EVENTS = {
    "load": (("lR",),),
    "store": (("lW",),),
    "CAS": (("CAS",), ("F", "lR")),
    "mfence": (("F",),),
    "get": (("nrR", "nlW"),),
    "put": (("nlR", "nrW"),),
    "poll": (("P",),),
    "rfence": (("nF",),),
}
"""The events of a statement, in their order; a CAS succeeds or fails."""


RULES = (*CELLS_OF_THE_FIGURE, *(cell.partition(".")[2] for cell in CELLS_OF_THE_FIGURE if cell.startswith("ippo")))
"""The names of rules to test: each cell of the two tables (`ippo.G8`), and both cells in one place together (`G8`)."""


def cells_of(rule: str) -> tuple[str, ...]:
    """The cells of a rule. Raises ValueError if there is no such rule."""
    if rule not in RULES:
        raise ValueError(
            f"Figure 9 has no cell {rule!r}: there is ippo.G8, oppo.G8, or G8 for both, with a letter A to J and a "
            "number 1 to 10"
        )
    return (rule,) if "." in rule else (f"ippo.{rule}", f"oppo.{rule}")


def changed(rule: str) -> Orders:
    """Figure 9 with the cells of ``rule`` changed: unordered if they order events, ordered if they do not."""
    orders = FIGURE_9
    for cell in cells_of(rule):
        orders = orders.with_cell(cell, "yes" if FIGURE_9.at(cell) == "no" else "no")
    return orders


@dataclass(frozen=True)
class CellTest:
    """A program with its outcomes in RDMA-TSO, and in RDMA-TSO with the cells of ``rule`` changed."""

    rule: str
    shape: Shape
    program: Program
    allowed: frozenset[Outcome]
    changed: frozenset[Outcome]

    @property
    def forbidden(self) -> frozenset[Outcome]:
        """Outcomes that the rule forbids; empty for one that allows some."""
        return self.changed - self.allowed

    @property
    def lost(self) -> frozenset[Outcome]:
        """Outcomes that exist because the rule orders nothing."""
        return self.allowed - self.changed

    @property
    def name(self) -> str:
        return f"{self.rule}-{self.shape.statements}"

    def litmus(self, name: str = "") -> LitmusTest:
        """The test, with a line for each outcome of the stock model; outcomes that depend on the rule come first."""
        names = self.program.names
        lines: list[Expectation] = []

        def line(allowed: bool, outcome: Outcome, variant: str = "") -> None:
            lines.append(Expectation(allowed, tuple(zip(names, outcome, strict=True)), (("rdma-tso", variant),)))

        for outcome in sorted(self.forbidden, key=str):
            line(False, outcome)
        for outcome in sorted(self.lost, key=str):
            line(True, outcome)
        for outcome in sorted(self.allowed - self.lost, key=str):
            line(True, outcome)
        lines.append(Expectation(False, (), (("rdma-tso", ""),)))
        left_out = [cell for cell in cells_of(self.rule) if FIGURE_9.at(cell) != "no"]
        if left_out == [*cells_of(self.rule)]:
            for outcome in sorted(self.forbidden, key=str):
                line(True, outcome, ", ".join(f"without {cell}" for cell in left_out))
        return LitmusTest(self.program, tuple(lines), Source(f"{name or self.name}.litmus", ""), name or self.name)

    def text(self, name: str = "") -> str:
        """The `.litmus` file."""
        meaning = "".join(f"// RDMA-TSO, Figure 9: {_meaning(cell)}\n" for cell in cells_of(self.rule))
        if self.forbidden:
            effect = "without it also: " + "; ".join(self._in_words(self.forbidden))
        else:
            effect = "with an order not: " + "; ".join(self._in_words(self.lost))
        return f"{meaning}// {effect}\n{printed(self.litmus(name))}"

    def _in_words(self, outcomes: frozenset[Outcome]) -> list[str]:
        named = [zip(self.program.names, outcome, strict=True) for outcome in sorted(outcomes, key=str)]
        return [" ".join(f"{name}={value}" for name, value in pairs) for pairs in named]


def generate(
    rules: Sequence[str],
    size: int,
    bounds: Bounds = BOUNDS,
    note: Callable[[int, int], None] | None = None,
    most: int | None = None,
) -> Iterator[CellTest]:
    """All tests (at ``most`` so many for each rule) of up to ``size`` statements, by size, then plain ones
    first. ``note`` is called with the programs looked at and the tests found."""
    other = {rule: changed(rule) for rule in rules}
    models = {rule: Declarative(orders=orders) for rule, orders in other.items()}
    left = dict.fromkeys(rules, most)
    stock = Declarative()
    looked = found = 0
    for exactly in range(1, size + 1):
        for shape in sorted(shapes(exactly, bounds), key=plainest):
            looked += 1
            if note is not None:
                note(looked, found)
            sensitive = Sensitive(shape)
            wanted = [rule for rule in left if any(sensitive.to(cell, other[rule]) for cell in cells_of(rule))]
            if not wanted:
                continue
            program = shape.litmus(tuple(range(len(shape.owners))))
            allowed = frozenset(stock.outcomes(program).found)
            for rule in wanted:
                now = frozenset(models[rule].outcomes(program).found)
                if allowed != now:
                    found += 1
                    yield CellTest(rule, shape, program, allowed, now)
                    if (rest := left[rule]) is not None:
                        left[rule] = rest - 1
                        if rest == 1:
                            del left[rule]
            if not left:
                return


def _meaning(cell: str) -> str:
    earlier, later = kinds_of(cell)
    order = {"yes": "in order", "no": "in no order", "sqp": "in order on one queue pair"}[FIGURE_9.at(cell)]
    return f"{cell}, {earlier} and a later {later}, {order}"


class Sensitive:
    """Finds the cells that can matter to a program: those that order a pair of its events that no other cells order.

    The axioms use only the closures of ib and ob, so a pair makes no difference if the other pairs of its table order
    its events.
    """

    def __init__(self, shape: Shape) -> None:
        self.shape = shape

    @cached_property
    def threads(self) -> list[list[tuple[str, int]]]:
        """Each path through each thread: the types and queue pairs (-1: none) of its events."""
        found = []
        for statements in self.shape.threads:
            ways: list[list[tuple[str, int]]] = [[]]
            for kind, operands in statements:
                node = -1
                if kind in ("poll", "rfence"):
                    node = operands[0]
                elif kind in ("get", "put"):
                    node = self.shape.owners[operands[1 if kind == "get" else 0]]
                ways = [way + [(event, node) for event in events] for way in ways for events in EVENTS[kind]]
            found += ways
        return found

    @cached_property
    def cells(self) -> frozenset[str]:
        """The cells of all pairs of events."""
        return frozenset(
            cell_of(table, first[0], second[0])
            for way in self.threads
            for at, first in enumerate(way)
            for second in way[at + 1 :]
            for table in ("ippo", "oppo")
        )

    def to(self, cell: str, other: Orders) -> bool:
        """Whether changing ``cell`` to its value in ``other`` changes which pairs of events are in order."""
        table = cell.partition(".")[0]
        if cell not in self.cells:
            return False
        return any(
            closed(_ordered(way, table, FIGURE_9)) != closed(_ordered(way, table, other)) for way in self.threads
        )


def _ordered(way: list[tuple[str, int]], table: str, orders: Orders) -> list[int]:
    rows = [0] * len(way)
    for at, (first, node) in enumerate(way):
        for later in range(at + 1, len(way)):
            second, other = way[later]
            if orders.holds(table, first, second, node == other and node >= 0):
                rows[at] |= 1 << later
    return rows
