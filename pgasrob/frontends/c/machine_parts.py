"""The parts of a machine, put together for one rank."""

from __future__ import annotations

from weakref import proxy

from pgasrob.frontends.c.agreements import Agreements
from pgasrob.frontends.c.branching import Branching
from pgasrob.frontends.c.display_cells import Display
from pgasrob.frontends.c.evaluation import Evaluation
from pgasrob.frontends.c.flows import Flows
from pgasrob.frontends.c.issuing import Issuer
from pgasrob.frontends.c.lifetimes import Lifetimes
from pgasrob.frontends.c.memory_access import Memory
from pgasrob.frontends.c.merge_points import MergePoints
from pgasrob.frontends.c.moved_memory import MovedMemory
from pgasrob.frontends.c.objects import Objects
from pgasrob.frontends.c.pointers import Pointers
from pgasrob.frontends.c.rank_position import Position
from pgasrob.frontends.c.rank_tables import Tables
from pgasrob.frontends.c.rank_threads import Threads
from pgasrob.frontends.c.registers import Registers
from pgasrob.frontends.c.symbolic import Rank
from pgasrob.frontends.c.transferred import Transferred
from pgasrob.frontends.c.undecided import Undecided
from pgasrob.frontends.c.unset import Unset
from pgasrob.frontends.c.world import World
from pgasrob.frontends.c.writer import Writer


class Parts:
    """Each part works on those that are made before it. Only :class:`Undecided` asks :class:`Memory`, which comes
    later: a scalar for which it chooses a value may have to go to a cell."""

    def __init__(self, world: World, rank: Rank, thread: int = 0) -> None:
        self.world = world
        self.facts = world.facts
        self.position = position = Position(world, rank, thread)
        self.agreements = Agreements(position)
        self.objects = objects = Objects(position)
        self.unset = unset = Unset(position)
        self.writer = writer = Writer(position)
        self.registers = registers = Registers(position)
        self.undecided = undecided = Undecided(position, writer, registers)
        self.branching = Branching(writer, undecided)
        self.flows = flows = Flows(position, registers, undecided)
        self.issuer = issuer = Issuer(position, writer, registers, flows, unset, MovedMemory(objects))
        self.evaluation = evaluation = Evaluation(writer, registers, undecided, issuer)
        self.tables = tables = Tables(objects, registers, issuer)
        self.pointers = pointers = Pointers(objects, tables, undecided, evaluation)
        self.transferred = Transferred(registers, issuer, pointers)
        self.threads = Threads(registers, self.branching, pointers)
        self.memory = Memory(registers, undecided, unset, issuer, objects, pointers)
        # Without cycles of references the parts are freed at once, and the garbage collector has little to do.
        undecided.cells = proxy(self.memory)
        self.lifetimes = Lifetimes(self.memory)
        self.display = Display(self.memory)
        self.merge_points = MergePoints(writer, registers, undecided, issuer, self.memory)
