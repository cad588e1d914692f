"""The programs of the generators: statements over numbered locations, canonical forms, and the litmus program of each.

A :class:`Shape` has no names and no values: locations are numbers, each load has a register of its own, and the order
of the stores decides what they write. Two shapes are the same test when one becomes the other by renaming locations,
registers, processes and values; the least of them is their canonical form.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from pgasrob.models.litmus import instructions as litmus
from pgasrob.models.litmus.instructions import Cell, Instruction
from pgasrob.models.litmus.litmus_program import Location, Program, Thread, straight
from pgasrob.program.expressions import Const

Statement = tuple[str, tuple[int, ...]]
"""A kind and its operands: ("load", (x,)), ("store", (x,)), ("get", (x, z)), ("put", (z, x)), ("rga", (x, z, y)),
("cas", (x, z, y, w)) with numbers of locations in the order of the text; ("flush", (n,)), ("poll", (n,)),
("rfence", (n,)) with a node; ("mfence", ()); ("CAS", (x,)), which expects the initial value and has a register."""

ON_NODES = ("flush", "poll", "rfence", "wait")
"""Statements whose operand is a node."""
ACTIONS = {"load": 1, "store": 1, "get": 2, "put": 2, "rga": 3, "cas": 4, "flush": 1}
"""How many actions of coreRMA a statement has (Table 3)."""

REMOTE = {each.word: each for each in (litmus.Get, litmus.Put, litmus.GetAccumulate, litmus.RemoteCompareAndSet)}
"""The operations of the adapter on cells alone, by their words; operands are in the order of the text."""

RARE = {"poll": 1, "flush": 1, "wait": 1, "rfence": 2, "mfence": 2, "rga": 3, "cas": 3, "CAS": 3}
"""By how much a statement makes a program less plain than one of loads, stores, gets and puts."""

LOCATIONS = "xyzwvutsrqponm"
REGISTERS = "abcdefghijkl"


@dataclass(frozen=True, slots=True, order=True)
class Shape:
    """``owners``: the node of each location; ``nodes``: the node of each thread; ``threads``: their statements."""

    owners: tuple[int, ...]
    nodes: tuple[int, ...]
    threads: tuple[tuple[Statement, ...], ...]

    @property
    def actions(self) -> int:
        """The size in actions, initial writes among them (section 6.1)."""
        return len(self.owners) + sum(ACTIONS[statement[0]] for thread in self.threads for statement in thread)

    @property
    def statements(self) -> int:
        return sum(map(len, self.threads))

    @property
    def loads(self) -> int:
        return sum(statement[0] == "load" for thread in self.threads for statement in thread)

    def without(self, left_out: Collection[tuple[int, int]], initial: Sequence[int]) -> tuple[Shape, tuple[int, ...]]:
        """The program and its initial values without some statements, given by thread and place, and without the
        locations that nothing mentions then."""
        threads = tuple(
            tuple(statement for at, statement in enumerate(thread) if (number, at) not in left_out)
            for number, thread in enumerate(self.threads)
        )
        used = sorted(
            {at for thread in threads for kind, operands in thread if kind not in ON_NODES for at in operands}
        )
        places = {old: new for new, old in enumerate(used)}
        return Shape(
            tuple(self.owners[old] for old in used),
            self.nodes,
            tuple(
                tuple((kind, at if kind in ON_NODES else tuple(map(places.__getitem__, at))) for kind, at in thread)
                for thread in threads
            ),
        ), tuple(initial[old] for old in used)

    def litmus(self, initial: Sequence[int]) -> Program:
        """The litmus program: locations x, y, z..., registers a, b, c..., stores of distinct values from the least
        that is no initial value on, nodes from 1 on."""
        value = max((0, *initial)) + 1
        register, threads = 0, []
        for node, statements in zip(self.nodes, self.threads, strict=True):
            instructions: list[Instruction] = []
            names: list[str] = []
            for kind, operands in statements:
                cells = [] if kind in ON_NODES else [Cell(LOCATIONS[place]) for place in operands]
                if kind in ("load", "CAS"):
                    expected, new = Const(initial[operands[0]]), Const(value)
                    at = len(names), cells[0]
                    instructions.append(
                        litmus.Load(*at) if kind == "load" else litmus.CompareAndSet(*at, expected, new)
                    )
                    names.append(REGISTERS[register])
                    register += 1
                elif kind == "store":
                    instructions.append(litmus.Store(cells[0], Const(value)))
                elif kind in REMOTE:
                    instructions.append(REMOTE[kind](*cells))
                elif kind in litmus.ON_NODES:
                    instructions.append(litmus.ON_NODES[kind](operands[0] + 1))
                elif kind == "mfence":
                    instructions.append(litmus.MemoryFence())
                else:
                    raise ValueError(f"no statement {kind!r}")
                value += kind in ("store", "CAS")
            body = tuple(instructions)
            threads.append(Thread(node + 1, tuple(names), straight(body), body))
        locations = [Location(LOCATIONS[place], owner + 1, initial[place]) for place, owner in enumerate(self.owners)]
        return Program(tuple(locations), tuple(threads))


def plainest(shape: Shape) -> tuple[int, Shape]:
    """A sort key for programs of one size: programs of plain statements first, then by their canonical forms."""
    return sum(RARE.get(kind, 0) for thread in shape.threads for kind, _ in thread), shape


def renamed(shape: Shape, order: Sequence[int]) -> Shape:
    """The same program with its threads in ``order``, nodes and locations numbered as they are first mentioned; those
    that no statement mentions come last."""
    threads = [shape.threads[number] for number in order]
    nodes: dict[int, int] = {}
    places: dict[int, int] = {}
    for number in order:
        nodes.setdefault(shape.nodes[number], len(nodes))
    for thread in threads:
        for kind, operands in thread:
            for operand in operands:
                if kind in ON_NODES:
                    nodes.setdefault(operand, len(nodes))
                elif operand not in places:
                    nodes.setdefault(shape.owners[operand], len(nodes))
                    places[operand] = len(places)
    for place, owner in enumerate(shape.owners):
        nodes.setdefault(owner, len(nodes))
        places.setdefault(place, len(places))
    owners = [0] * len(places)
    for old, new in places.items():
        owners[new] = nodes[shape.owners[old]]
    return Shape(
        tuple(owners),
        tuple(nodes[shape.nodes[number]] for number in order),
        tuple(
            tuple((kind, tuple(map((nodes if kind in ON_NODES else places).__getitem__, at))) for kind, at in thread)
            for thread in threads
        ),
    )
