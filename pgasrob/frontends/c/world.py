"""What the runs of all ranks of a program share."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.apis.interface import Exposed
from pgasrob.frontends.c.cells import Cells
from pgasrob.frontends.c.compiled import Compiled
from pgasrob.frontends.c.facts import Facts
from pgasrob.frontends.c.followed import Followed
from pgasrob.frontends.c.symbolic import EVERYONE, NumberNeeded, Path, Rank
from pgasrob.frontends.c.thread_facts import Forks
from pgasrob.frontends.c.values import ObjectId
from pgasrob.frontends.options import neighbours
from pgasrob.program.assumptions import Noted
from pgasrob.program.count_note import RankEnd
from pgasrob.program.expressions import MOST_NODES, Const, Me, Nodes, Register, const_of
from pgasrob.program.statements import Span


@dataclass
class Budget:
    """How many instructions may still be executed, by all ranks in all passes."""

    left: int


LEAST_GAIN, MOST_ALONE = 1.5, 4
"""Ranks that are parted into so many classes that there are not so many times more of them are each executed alone, and
so are those of which so often one has been parted from the others."""


@dataclass
class Classes:
    """Which ranks are executed at once, since they have done the same so far but with other numbers."""

    of: list[tuple[int, ...]] = field(default_factory=list)
    by_rank: set[str] = field(default_factory=set)
    """Functions whose calls are another thing on each rank."""
    alone: int = 0
    """How often one rank has been parted from at least two others."""

    def begin(self, nodes: int) -> None:
        """All ranks are in one class."""
        self.of = [tuple(range(nodes))]

    def part(self, ranks: tuple[int, ...], values: Sequence[Hashable]) -> None:
        """``ranks``, which are one class, do different things by ``values``, one for each."""
        parts: dict[Hashable, list[int]] = {}
        for rank, value in zip(ranks, values, strict=True):
            parts.setdefault(value, []).append(rank)
        self.of = sorted([*(each for each in self.of if each != ranks), *map(tuple, parts.values())])
        self.alone += len(parts) == 2 < len(ranks) and any(len(each) == 1 for each in parts.values())
        if len(self.of) * LEAST_GAIN > sum(map(len, self.of)) or self.alone > MOST_ALONE:
            self.apart()

    def apart(self) -> None:
        """Execute each rank by itself from now on."""
        self.of = sorted((rank,) for ranks in self.of for rank in ranks)


@dataclass
class World:
    """The program, the facts, and the numbers of registers and queues given in one pass over the ranks."""

    program: Compiled
    number_of_nodes: int | None
    facts: Facts
    marked: bool = False
    """Whether calls say what they are (:class:`~pgasrob.program.commands.Mark`)."""
    outside: bool = False
    """Whether calls say what they do to files and the terminal (:class:`~pgasrob.program.outside_memory.Outside`)."""
    cells: Cells = field(init=False)
    registers: dict[str, int] = field(default_factory=dict)
    queues: dict[Hashable, tuple[int, str, bool]] = field(default_factory=dict)
    gaps: dict[str, None] = field(default_factory=dict)
    """Where branches end at an unknown value that is not followed any further, each once."""
    faults: dict[tuple[str, str], int] = field(default_factory=dict)
    """Why commands have no meaning, each with the address that a command has then."""
    blind_awaits: bool = False
    """Whether an await looks at an unknown value, so that it is not known whether it waits for ever."""
    assumptions: Noted = field(default_factory=Noted)
    """What calls and other constructs take for granted."""
    compared: set[tuple[ObjectId, ...]] = field(default_factory=set)
    """Arrays between which transfers move values, of which it is known in this pass whether their types are alike."""
    variables: dict[str, str] = field(default_factory=dict)
    """The registers that are variables of the source, with the names that these have there."""
    looked_at: dict[tuple[Span, int], bool | None] = field(default_factory=dict)
    """Whether the source looks at what is read at a place into a register; None where that is not known."""
    most_nodes: int = MOST_NODES
    """Up to so many nodes the program is what is made, where it is made for every number of them."""
    ends: list[RankEnd] = field(default_factory=list)
    """Where the runs of ranks end, where these have numbers."""
    moves_data: bool = False
    """Whether a rank makes a call that may move data between ranks."""
    returns_more: bool = False
    """Whether main returns what may be other than 0."""
    numbers: dict[Hashable, int] = field(default_factory=dict)
    """What ranks show beside numbers, texts, each with a number that stands for it."""
    forks: dict[int, Forks] = field(default_factory=dict)
    """Where ranks fork threads."""
    followed: dict[int, Followed] | None = None
    """What each rank does by the branches that it takes, where that is asked for."""

    leaving: frozenset[Path] = frozenset()
    """Ways by the number of nodes on which it is known that every rank leaves at once (`size_checks`): where the number
    is a symbol they end where they begin."""

    budget: Budget | None = None
    """What may be spent, where less than usual."""
    classes: Classes = field(default_factory=Classes)
    """The ranks that are executed at once."""

    def __post_init__(self) -> None:
        self.cells = Cells(self.facts)
        if not self.classes.of and self.number_of_nodes is not None:
            self.classes.begin(self.number_of_nodes)

    @property
    def count(self) -> Const | Nodes:
        """The number of nodes in commands."""
        return Nodes() if self.number_of_nodes is None else Const(self.number_of_nodes)

    @property
    def nodes(self) -> int:
        """The number of nodes. Raises :class:`NumberNeeded` where it is a symbol."""
        if self.number_of_nodes is None:
            raise NumberNeeded("what is done here differs between numbers of nodes")
        return self.number_of_nodes

    @property
    def ranks(self) -> tuple[Rank, ...]:
        """The ranks that machines are run for: a symbol alone where the number of nodes is one."""
        if self.number_of_nodes is None:
            return (Rank(Me()),)
        return tuple(Rank(const_of(together)) for together in self.classes.of)

    @property
    def everyone(self) -> tuple[int, ...]:
        """All ranks."""
        return EVERYONE if self.number_of_nodes is None else tuple(range(self.number_of_nodes))

    def begin(self) -> None:
        """Another pass over all ranks, with the facts as they are now."""
        self.facts.begin()
        self.cells = Cells(self.facts)
        self.gaps.clear()
        self.faults.clear()
        self.assumptions = Noted()
        self.blind_awaits = False
        self.compared.clear()
        self.registers.clear()
        self.variables.clear()
        self.looked_at.clear()
        self.queues.clear()
        self.ends.clear()
        self.forks.clear()
        self.moves_data = self.returns_more = False

    def exposed(self) -> dict[tuple[str, int], frozenset[int]]:
        """The cells of each rank in each window, where calls are marked."""
        found: dict[tuple[str, int], set[int]] = defaultdict(set)
        for published in self.facts.published.values() if self.marked else ():
            for rank, fact in published.items():
                if isinstance(fact, Exposed) and isinstance(fact.begin.offset, int):
                    object, first = fact.begin.object, fact.begin.offset
                    places = range(first, first + fact.bytes)
                    found[fact.window, rank].update(
                        cell for cell, (its, offset) in self.cells.at.items() if its == object and offset in places
                    )
        return {key: frozenset(cells) for key, cells in found.items()}

    def register(self, name: str) -> Register:
        return Register(name, self.registers.setdefault(name, len(self.registers)))

    def nowhere(self, why: str, code: str = Wrong.BOUNDS) -> Const:
        """An address that no cell has: a command that accesses it is in error, and reports say ``why``."""
        return Const(self.faults.setdefault((why, code), -1 - len(self.faults)))

    def queue(self, key: Hashable, name: str, unordered: bool) -> Const:
        """The number of the queue ``key``, which is declared with ``name`` when it is asked for first."""
        known = self.queues.get(key)
        if known is None:
            taken = {each for _, each, _ in self.queues.values()}
            unique, number = name, 2
            while unique in taken:
                unique, number = f"{name}_{number}", number + 1
            known = self.queues[key] = (len(self.queues), unique, unordered)
        return Const(known[0])

    def neighbours(self, rank: int) -> range:
        """The ranks whose memory ``rank`` reaches by loads and stores, itself among them."""
        return neighbours(self.program.shared_memory, rank, self.nodes)
