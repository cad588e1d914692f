"""One state for all that differ by an exchange of the names of interchangeable ranks (`analysis.symmetry`).

The search stores a representative of all states that renaming makes of each other.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import assert_never

from pgasrob.analysis.placement import Kind, Placement, Slot
from pgasrob.analysis.rank_types import Symmetry
from pgasrob.analysis.touched import Touched
from pgasrob.program.core import Cell
from pgasrob.program.instance import Instance
from pgasrob.reference.attack import Attack, State

READ, WRITTEN, DELAYED_READ, DELAYED_WRITTEN = 1, 2, 4, 8
"""The ways in which a cell has been touched, in the key of a rank."""
FIXED = -1
"""The colour of a rank that is in no class."""

Renaming = tuple[int, ...]
"""For every rank the one whose place it takes."""
Mark = tuple[int, int]
"""What a value says of ranks, whatever their names."""


def representative(instance: Instance, symmetry: Symmetry, state: State) -> tuple[State, Renaming]:
    """The state that stands for all that renaming makes of ``state``, and the renaming that leads to it.

    Ranks are coloured by what distinguishes them, first by their class and then by their key, until no more of them can
    be distinguished; they are named in the order of their colours. Ranks of one colour keep their order, so now and
    then a few states that renaming makes of each other have different representatives.
    """
    renaming = list(range(instance.nodes))
    if not symmetry.classes:
        return state, tuple(renaming)
    colours = _Colouring(instance, symmetry, state).colours()
    for ranks in symmetry.classes:
        for place, rank in zip(ranks, sorted(ranks, key=lambda rank: (colours[rank], rank)), strict=True):
            renaming[rank] = place
    return renamed(instance, symmetry, state, tuple(renaming)), tuple(renaming)


def renamed(instance: Instance, symmetry: Symmetry, state: State, renaming: Renaming) -> State:
    """``state`` with the ranks of every class renamed; ``renaming`` maps each class to itself, and other ranks too."""
    nodes, size = instance.nodes, instance.size
    if renaming == tuple(range(nodes)):
        return state
    origin = [renaming.index(rank) for rank in range(nodes)]
    moving = frozenset(symmetry.moving)

    def value(value: int, k: int | None) -> int:
        return renaming[value - k] + k if k is not None and 0 <= value - k < nodes else value

    def target(rank: int) -> int:
        return renaming[rank] if symmetry.targets else rank

    sources = [
        origin[rank] * size + address if address in moving else rank * size + address
        for rank in range(nodes)
        for address in range(size)
    ]

    def slot(slot: Slot) -> Slot:
        match slot.kind:
            case Kind.FENCED | Kind.BOUND:
                return slot._replace(of=target(slot.of))
            case Kind.LOCATED:
                return slot._replace(of=sources.index(slot.of))
            case Kind.PENDING | Kind.LOCAL | Kind.STAGE | Kind.BUNDLED:
                return slot
            case _:
                assert_never(slot.kind)

    def placement(placement: Placement) -> Placement:
        return tuple(sorted((slot(each), part) for each, part in placement))

    def cells(bits: int) -> int:
        return sum(1 << cell for cell, source in enumerate(sources) if bits >> source & 1) if bits else 0

    def touched(touched: Touched) -> Touched:
        updated = tuple((kind, cells(bits)) for kind, bits in touched.updated)
        return Touched(cells(touched.read), cells(touched.written), updated)

    attack = state.attack
    if attack is not None:
        source = attack.source
        attack = Attack(
            source._replace(cell=sources.index(source.cell)),
            sum(1 << rank for rank in range(nodes) if attack.tainted >> origin[rank] & 1),
            touched(attack.done),
            touched(attack.delayed),
            attack.kind,
        )
    return State(
        tuple(state.control[rank] for rank in origin),
        tuple(tuple(map(value, state.registers[rank], symmetry.registers)) for rank in origin),
        tuple(value(state.memory[cell], symmetry.cells[index % size]) for index, cell in enumerate(sources)),
        tuple(placement(state.placement[rank]) for rank in origin),
        attack,
    )


class _Colouring:
    """Distinguishes the ranks of a state by colours, as partition refinement does for the nodes of a graph."""

    def __init__(self, instance: Instance, symmetry: Symmetry, state: State) -> None:
        self.instance = instance
        self.symmetry = symmetry
        self.state = state
        self.ranks = [rank for ranks in symmetry.classes for rank in ranks]
        moving = frozenset(symmetry.moving)
        # Ranks in cells that stay where they are, ascending.
        self.named = [
            state.memory[cell] - k
            for cell in range(len(state.memory))
            if instance.index(cell) not in moving and (k := symmetry.cells[instance.index(cell)]) is not None
        ]

    def colours(self) -> list[int]:
        """For every rank its colour in the end; FIXED when it is in no class."""
        colour = [FIXED] * self.instance.nodes
        for number, ranks in enumerate(self.symmetry.classes):
            for rank in ranks:
                colour[rank] = number
        distinguished = len(self.symmetry.classes)
        while True:
            keys = {rank: self.key(rank, colour) for rank in self.ranks}
            distinct = sorted(set(keys.values()))
            for rank, key in keys.items():
                colour[rank] = bisect_left(distinct, key)
            if len(distinct) == distinguished:
                return colour
            distinguished = len(distinct)

    def key(self, rank: int, colour: Sequence[int]) -> tuple[object, ...]:
        """All that ``state`` says of ``rank`` without calling ranks by their names."""
        state, symmetry, size = self.state, self.symmetry, self.instance.size
        attack = state.attack
        mine = range(rank * size, (rank + 1) * size)
        source = 0
        if attack is not None and attack.source.cell in mine:
            address = attack.source.cell - rank * size
            source = 1 + symmetry.moving.index(address) if address in symmetry.moving else 0
        return (
            colour[rank],
            state.control[rank],
            int(attack is not None and attack.taints(rank)),
            tuple(
                self.mark(value, k, rank, colour)
                for value, k in zip(state.registers[rank], symmetry.registers, strict=True)
            ),
            tuple(
                (
                    *self.mark(state.memory[mine[address]], symmetry.cells[address], rank, colour),
                    self.touched(mine[address]),
                )
                for address in symmetry.moving
            ),
            source,
            tuple(sorted(self.placed(rank, colour))) if attack is not None else (),
            tuple(int(named == rank) for named in self.named),
        )

    def mark(self, value: int, k: int | None, rank: int, colour: Sequence[int]) -> Mark:
        """What ``value`` in a register or cell of type ``k`` says of ``rank``."""
        if k is None or not 0 <= value - k < self.instance.nodes:
            return 0, value
        named = value - k
        if named == rank:
            return 1, 0
        return (2, colour[named]) if colour[named] != FIXED else (3, named)

    def touched(self, cell: Cell) -> int:
        """In which ways tainted commands have touched ``cell``."""
        attack = self.state.attack
        if attack is None:
            return 0
        ways = (
            (attack.done.read, READ),
            (attack.done.written, WRITTEN),
            (attack.delayed.read, DELAYED_READ),
            (attack.delayed.written, DELAYED_WRITTEN),
        )
        return sum(way for cells, way in ways if cells >> cell & 1)

    def placed(self, rank: int, colour: Sequence[int]) -> list[tuple[int, Mark, int]]:
        """The placement of ``rank`` as rows (queue, whose entry, bits); the queue's own entry has the mark (-1, 0).

        A located cell has a row (-2 - address, the rank it lies on, 1).
        """
        own: dict[int, int] = {}
        targets: dict[tuple[int, int], int] = {}
        located: list[tuple[int, Mark, int]] = []
        for (queue, kind, of), _ in self.state.placement[rank]:
            match kind:
                case Kind.PENDING | Kind.LOCAL | Kind.STAGE | Kind.BUNDLED:
                    own[queue] = own.get(queue, 0) | 1 << _BIT[kind] + of
                case Kind.FENCED | Kind.BOUND:
                    targets[queue, of] = targets.get((queue, of), 0) | 1 << _BIT[kind]
                case Kind.LOCATED:
                    owner, address = divmod(of, self.instance.size)
                    mark = self.mark(owner, 0 if address in self.symmetry.moving else None, rank, colour)
                    located.append((-2 - address, mark, 1))
                case _:
                    assert_never(kind)
        of_ranks = 0 if self.symmetry.targets else None
        return [
            *((queue, (-1, 0), bits) for queue, bits in own.items()),
            *((queue, self.mark(target, of_ranks, rank, colour), bits) for (queue, target), bits in targets.items()),
            *located,
        ]


_BIT = {Kind.PENDING: 0, Kind.LOCAL: 1, Kind.STAGE: 2, Kind.BUNDLED: 5, Kind.FENCED: 0, Kind.BOUND: 1}
"""The bit of a slot in its row, of a stage the first one's."""
