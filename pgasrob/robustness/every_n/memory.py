"""The memory of a node where its size depends on the number of nodes: cells with numbers, and elements of what grows.

Of all elements of one growing object it is known together what they hold. Which of them a command accesses is known by
a linear form, or by two that it lies between.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pgasrob.program.declarations import Declared, Growing
from pgasrob.robustness.every_n.linear import NODES, Domain, Linear, Value, between, number


@dataclass(frozen=True)
class Layout:
    """The memory of a node: ``cells`` that have numbers, from 0 on, and what grows.

    *Slots* are these cells, and one after them for each growing object: for what any of its elements holds.
    """

    cells: int
    growing: tuple[Growing, ...] = ()

    @classmethod
    def of(cls, program: Declared) -> Layout:
        return cls(program.cells, program.growing)

    @property
    def slots(self) -> int:
        return self.cells + len(self.growing)

    @property
    def bounds(self) -> Value:
        """The bounds between which an address has to lie; with more than one object not every address between them is
        legal."""
        return number(0), self._spans[-1][1] if self.growing else number(self.cells - 1)

    @property
    def _spans(self) -> list[Value]:
        """The addresses of the elements of each growing object."""
        return [
            (number(each.address), number(each.address + each.more - 1).plus(NODES, each.each)) for each in self.growing
        ]

    def may_be_illegal(self, domain: Domain, address: Value) -> bool:
        """Whether ``address`` may lie outside the memory."""
        ranges = [between(0, self.cells - 1), *self._spans]
        return not any(domain.always(low, address[0]) and domain.always(address[1], high) for low, high in ranges)

    def numbered(self, domain: Domain, address: Value | None) -> Sequence[int]:
        """The cells with numbers that ``address`` may be."""
        if address is None:
            return range(0)
        low, high = domain.span(address)
        return range(max(low, 0), min(high, self.cells - 1) + 1)

    def elements(self, domain: Domain, address: Value | None) -> Iterator[tuple[int, Value]]:
        """The growing objects that ``address`` may lie in, by their slots, and between which elements."""
        for place, (first, last) in enumerate(self._spans if address is not None else ()):
            assert address is not None
            low, high = address
            if domain.range(last.minus(low))[1] >= 0 and domain.range(high.minus(first))[1] >= 0:
                yield (
                    self.cells + place,
                    (
                        low.minus(first) if domain.always(first, low) else number(0),
                        high.minus(first) if domain.always(high, last) else last.minus(first),
                    ),
                )

    def whole(self, slot: int) -> Element:
        """Any element of the growing object with ``slot``."""
        first, last = self._spans[slot - self.cells]
        return Element(slot, number(0), last.minus(first), None)

    def held_in(self, domain: Domain, address: Value | None) -> Sequence[int]:
        """The slots that ``address`` may be in."""
        numbered = self.numbered(domain, address)
        return [*numbered, *(slot for slot, _ in self.elements(domain, address))] if self.growing else numbered


class Element(NamedTuple):
    """An element of the growing object with ``slot``, or any between two: by forms over the ranks that are named, or
    over the ranks of the rest with number ``rest``, each of which has its own."""

    slot: int
    low: Linear
    high: Linear
    rest: int | None

    @property
    def exact(self) -> bool:
        return self.low == self.high
