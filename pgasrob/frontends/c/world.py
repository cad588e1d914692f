"""What the runs of all ranks of a program share."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from pgasrob.frontends.apis.interface import Api, Exposed, Handler
from pgasrob.frontends.c.cells import Cells
from pgasrob.frontends.c.code import CompiledFunction, Jump, Label, Unit
from pgasrob.frontends.c.facts import Facts
from pgasrob.frontends.c.known_loops import KnownLoop, translated
from pgasrob.frontends.c.liveness import live_slots
from pgasrob.frontends.c.needed import needed_slots
from pgasrob.frontends.c.symbolic import EVERYONE, NumberNeeded, Rank
from pgasrob.frontends.c.values import ObjectId
from pgasrob.frontends.options import NO_SHARED_MEMORY, neighbours
from pgasrob.program.assumptions import Noted
from pgasrob.program.expressions import MOST_NODES, Const, Me, Nodes, Register


@dataclass
class World:
    """The program, the facts, and the numbers of registers and queues given in one pass over the ranks."""

    unit: Unit
    apis: Sequence[Api]
    number_of_nodes: int | None
    facts: Facts
    dialects: frozenset[str] = frozenset()
    pure: frozenset[str] = frozenset()
    shared_memory: str = NO_SHARED_MEMORY
    marked: bool = False
    """Whether calls say what they are (:class:`~pgasrob.program.commands.Mark`)."""
    cells: Cells = field(init=False)
    registers: dict[str, int] = field(default_factory=dict)
    queues: dict[Hashable, tuple[int, str, bool]] = field(default_factory=dict)
    live: dict[str, list[int]] = field(default_factory=dict)
    names: dict[str, list[str]] = field(default_factory=dict)
    loop_ends: dict[str, dict[int, int]] = field(default_factory=dict)
    known_loops: dict[tuple[str, Label], KnownLoop | None] = field(default_factory=dict)
    handlers: dict[str, Handler | None] = field(default_factory=dict)
    gaps: dict[str, None] = field(default_factory=dict)
    """Where ways end at an unknown value that is not followed any further, each once."""
    faults: dict[str, int] = field(default_factory=dict)
    """Why commands have no meaning, each with the address that stands for it."""
    blind_awaits: bool = False
    """Whether an await looks at an unknown value, so that nobody can say whether it waits for ever."""
    assumptions: Noted = field(default_factory=Noted)
    """What calls and other constructs take for granted."""
    compared: set[tuple[ObjectId, ...]] = field(default_factory=set)
    """Arrays between which transfers move values, of which it is known in this pass whether their types are alike."""
    variables: dict[str, str] = field(default_factory=dict)
    """The registers that are variables of the source, with the names that these have there."""
    most_nodes: int = MOST_NODES
    """Up to so many nodes the program is what is made, where it is made for every number of them."""

    def __post_init__(self) -> None:
        self.cells = Cells(self.facts)

    @property
    def count(self) -> Const | Nodes:
        """The number of nodes in commands."""
        return Nodes() if self.number_of_nodes is None else Const(self.number_of_nodes)

    @property
    def nodes(self) -> int:
        """The number of nodes. Raises :class:`NumberNeeded` where it is a symbol."""
        if self.number_of_nodes is None:
            raise NumberNeeded("what is done here is another thing on every number of nodes")
        return self.number_of_nodes

    @property
    def ranks(self) -> tuple[Rank, ...]:
        """The ranks that machines are run for: a symbol alone where the number of nodes is one."""
        if self.number_of_nodes is None:
            return (Rank(Me()),)
        return tuple(Rank(Const(number)) for number in range(self.number_of_nodes))

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
        self.queues.clear()

    def exposed(self) -> dict[tuple[str, int], frozenset[int]]:
        """The cells of each rank in each window, where calls are marked."""
        found: dict[tuple[str, int], set[int]] = defaultdict(set)
        for (rank, _), fact in self.facts.published.items() if self.marked else ():
            if isinstance(fact, Exposed) and isinstance(fact.begin.offset, int):
                object, first = fact.begin.object, fact.begin.offset
                places = range(first, first + fact.bytes)
                found[fact.window, rank].update(
                    cell for cell, (its, offset) in self.cells.at.items() if its == object and offset in places
                )
        return {key: frozenset(cells) for key, cells in found.items()}

    def register(self, name: str) -> Register:
        return Register(name, self.registers.setdefault(name, len(self.registers)))

    def nowhere(self, why: str) -> Const:
        """An address that no cell has: a command that accesses it is in error, and reports say ``why``."""
        return Const(self.faults.setdefault(why, -1 - len(self.faults)))

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

    def handler(self, name: str) -> Handler | None:
        """What the first API that knows the function ``name`` does at a call of it."""
        if name not in self.handlers:
            found = (api.handler(name) for api in self.apis)
            self.handlers[name] = next((each for each in found if each is not None), None)
        return self.handlers[name]

    def neighbours(self, rank: int) -> range:
        """The ranks whose memory ``rank`` reaches by loads and stores, itself among them."""
        return neighbours(self.shared_memory, rank, self.nodes)

    def is_output(self, name: str) -> bool:
        """Whether a call of the function does nothing with its arguments, so that they need not be chosen for it."""
        return any(name in api.output for api in self.apis)

    def live_slots(self, function: CompiledFunction) -> list[int]:
        """The live slots at every place of ``function`` and at its end, as the bits of an integer."""
        found = self.live.get(function.name)
        if found is None:
            sets = live_slots(function)
            counts = needed_slots(function, self.is_output)
            found = self.live[function.name] = [*(sum(1 << slot for slot in each & counts) for each in sets), 0]
        return found

    def loops(self, function: CompiledFunction) -> dict[int, int]:
        """Where the loops of ``function`` begin, each with the last place from which it goes back there."""
        found = self.loop_ends.get(function.name)
        if found is None:
            found = self.loop_ends[function.name] = {}
            for place, instruction in enumerate(function.code):
                if isinstance(instruction, Jump) and instruction.to <= place:
                    found[instruction.to] = place
        return found

    def known_loop(self, function: CompiledFunction, head: Label) -> KnownLoop | None:
        """The loop that begins at ``head`` as a function of Python, if it can be one."""
        key = function.name, head
        if key not in self.known_loops:
            self.known_loops[key] = translated(function, head)
        return self.known_loops[key]

    @cached_property
    def named(self) -> frozenset[str]:
        """The names of the registers of all variables of the source."""
        return frozenset(
            name
            for function in self.unit.functions.values()
            for variable, name in zip(function.slots, self.slot_names(function), strict=True)
            if variable.name is not None
        )

    def slot_names(self, function: CompiledFunction) -> list[str]:
        """The names of the registers for the slots of ``function``: `x` in main, elsewhere `f.x`."""
        names = self.names.get(function.name)
        if names is None:
            names = self.names[function.name] = []
            prefix = "" if function.name == "main" else f"{function.name}."
            taken: set[str] = set()
            for slot, variable in enumerate(function.slots):
                name = prefix + (f"t{slot}" if variable.name is None else variable.name)
                names.append(f"{name}_{slot}" if name in taken else name)
                taken.add(names[-1])
        return names
