"""The cases of the proof: where the rank of the source is, and the names of the ranks around it.

The source's rank is near one of the ends, or far from both; in each case some ranks around it and some at the ends have
names of their own, and all others are in the class `rest`, of any size but never empty.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pgasrob.program.expressions import MOST_NODES
from pgasrob.robustness.every_n.linear import NODES, RANK, Domain, Linear, number


@dataclass(frozen=True)
class Name:
    """A rank, or all ranks that have no other name.

    ``text``: its name in reports. ``me``: its rank, over ``domain``; it is x itself for those of the ``rest``, of which
    there are many.
    """

    text: str
    me: Linear
    domain: Domain
    rest: bool = False


@dataclass(frozen=True)
class Case:
    """The source's rank is the first of ``names``."""

    names: tuple[Name, ...]

    @property
    def text(self) -> str:
        """Where the source's rank is."""
        return self.names[0].text

    @property
    def nodes(self) -> int:
        """The remainder of the numbers of nodes that this case is about, by the modulus."""
        return self.names[0].domain.n


@dataclass(frozen=True)
class Frame:
    """How far names reach: ``around`` the source's rank, and how many there are at each of the ``ends``.

    With ``modulus`` ranks and node counts with different remainders are different cases. There are at
    most ``most`` nodes.
    """

    around: int
    ends: int
    modulus: int = 1
    most: int = MOST_NODES

    @property
    def near(self) -> int:
        """How many ranks are near an end. One that is not has neighbours that have no names there."""
        return self.ends + 2 * self.around

    @property
    def cutoff(self) -> int:
        """The least number of nodes that the cases are about."""
        at_an_end = self.near + 2 * self.around + max(self.ends, self.around)
        return max(at_an_end + self.modulus, 2 * (self.ends + self.around + self.modulus))

    def cases(self) -> Iterator[Case]:
        """All cases. Of every number of nodes from ``cutoff`` on each rank is the source's in one of them."""
        for nodes in range(self.modulus):
            for place in range(self.near):
                yield self._at_an_end(nodes, place, 0)
                yield self._at_an_end(nodes, place, 1)
            for rank in range(self.modulus):
                yield self._far(nodes, rank)

    def _at_an_end(self, nodes: int, place: int, side: int) -> Case:
        """The source's rank is ``place``, counted from the low end (``side`` 0) or the high end (1)."""
        domain = Domain(self.cutoff, 0, 0, self.modulus, 0, nodes, self.most)
        near = max(self.ends, place + self.around + 1)
        beyond = max(self.ends, self.around - place)  # the neighbours of the first ranks are the last ones
        sizes = (near, beyond) if side == 0 else (beyond, near)
        names = [*(_low(p, domain) for p in range(sizes[0])), *(_high(p, domain) for p in range(sizes[1]))]
        source = names.pop(place if side == 0 else sizes[0] + place)
        return self._with_rest([source, *names], self.modulus, nodes, *sizes)

    def _far(self, nodes: int, rank: int) -> Case:
        """The source's rank is not near any end."""
        domain = Domain(max(self.cutoff, 2 * self.near + 1), self.near, self.near, self.modulus, rank, nodes, self.most)
        around = [_around(by, domain) for by in range(-self.around, self.around + 1) if by]
        ends = [end(p, domain) for end in (_low, _high) for p in range(self.ends)]
        others = 2 * self.modulus - 1  # then of the ranks in a row, on one side of the source or the other, there are m
        return self._with_rest([_around(0, domain), *around, *ends], others, nodes, self.ends, self.ends)

    def _with_rest(self, names: list[Name], others: int, nodes: int, low: int, high: int) -> Case:
        least = names[0].domain.least
        assert len(names) + others <= least, "there are ranks of every kind in the rest"
        assert all(one.domain.differ(one.me, other.me) for place, one in enumerate(names) for other in names[:place]), (
            "names are of different ranks"
        )
        rest = [
            Name(
                "any other rank" + (f" that leaves {rank} (modulo {self.modulus})" if self.modulus > 1 else ""),
                RANK,
                Domain(least, low, high, self.modulus, rank, nodes, self.most),
                rest=True,
            )
            for rank in range(self.modulus)
        ]
        return Case((*names, *rest))


def _low(place: int, domain: Domain) -> Name:
    return Name(f"rank {place}", number(place), domain)


def _high(place: int, domain: Domain) -> Name:
    return Name(f"rank nodes - {place + 1}", NODES.shifted(-1 - place), domain)


def _around(by: int, domain: Domain) -> Name:
    text = "a rank far from both ends" if by == 0 else f"the rank {abs(by)} {'above' if by > 0 else 'below'} it"
    return Name(text, RANK.shifted(by), domain)
