"""Which memory objects and registers hold doubles, and nothing else: reports show their values as such."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pgasrob.frontends.c.layout import size_of
from pgasrob.frontends.c.memory import places_in
from pgasrob.frontends.c.parts import scalar_at
from pgasrob.frontends.c.types import CType, Floating, Void
from pgasrob.frontends.c.world import World
from pgasrob.program import commands
from pgasrob.program.commands import Command
from pgasrob.program.expressions import Binary, Conditional, Const, Expr, Register, Unary
from pgasrob.program.program import MemoryObject, Process
from pgasrob.program.statements import Block, Choose, Do, If, Labelled, Loop, Statement, While

LEAST_BITS = 1 << 52
"""The bits of a double that is neither 0 nor tiny are at least as much, as a signed integer in absolute value."""
ARITHMETIC = ("+.", "-.", "*.", "/.")
Place = str | int
"""A register by its name, a memory object by the address of its first cell."""


def doubles(world: World, processes: Iterable[Process]) -> frozenset[str]:
    """The names of what always holds a double (or a float, which is held as one) in the program of ``processes``.

    A memory object does when the program uses it as doubles and nothing else ever gets into it. A register does when
    every command that sets it gives a double; so does memory that an API has for itself.
    """
    memory = world.cells.memory
    flows = _Flows(memory)
    for process in processes:
        flows.block(process.body)
    if flows.lost:
        return frozenset()
    used = {each.address: _use(world, each) for each in memory}
    typed: set[Place] = {address for address, use in used.items() if use is True}
    unknown = {address for address, use in used.items() if use is None}
    found: set[Place] = {*typed, *unknown, *(each for each in flows.into if isinstance(each, str))}
    while wrong := {each for each in found if not all(flows.fits(value, found) for value in flows.into.get(each, ()))}:
        found -= wrong
    # What is only ever 0, or handed round among such places, may as well be an integer.
    proven = found & typed
    while more := {each for each in found - proven if any(flows.shows(it, proven) for it in flows.into.get(each, ()))}:
        proven |= more
    names = {each.address: each.name for each in memory}
    held = {each if isinstance(each, str) else names[each] for each in proven}
    # A name that stands for both tells nothing unless both hold doubles.
    both = set(names.values()) & set(world.registers)
    wrong_name = {each.name for each in memory if each.address not in proven} | (set(world.registers) - proven)
    return frozenset(held - (both & wrong_name))


def _use(world: World, memory: MemoryObject) -> bool | None:
    """Whether the program uses ``memory`` as doubles alone; None when nothing says as what."""
    types: set[CType] = set()
    for cell in range(memory.address, memory.address + memory.cells):
        id, offset = world.cells.at[cell]
        object = world.facts.objects[id]
        if id.kind.startswith("internal"):
            return None
        types |= object.types.get(offset, frozenset())
        size = {**object.filler, **object.shared}.get(offset, object.granule)
        declared = scalar_at(object.type, offset) if object.type else None
        if declared is not None and not isinstance(declared, Void) and size_of(declared) == size:
            types.add(declared)
    return all(isinstance(each, Floating) for each in types) if types else None


class _Flows:
    """What commands put where: ``into`` has for every place the values and the places that it gets them from.

    ``lost``: of some address it is not known into which objects it leads.
    """

    def __init__(self, memory: Sequence[MemoryObject]) -> None:
        self.owner = {cell: each.address for each in memory for cell in range(each.address, each.address + each.cells)}
        self.into: dict[Place, list[Expr | int]] = {each.address: [*map(Const, each.initial)] for each in memory}
        self.lost = False

    def block(self, block: Block) -> None:
        for statement in block.statements:
            self.statement(statement)

    def statement(self, statement: Statement) -> None:
        match statement:
            case Do(command):
                self.command(command)
            case Labelled(_, inner):
                self.statement(inner)
            case If(_, then, otherwise):
                self.block(then)
                self.block(otherwise or Block(()))
            case While(_, body) | Loop(body):
                self.block(body)
            case Choose(branches):
                for branch in branches:
                    self.block(branch)

    def objects(self, address: Expr | None) -> Iterator[int]:
        """The objects that a cell at ``address`` may belong to."""
        if address is None:
            return
        places = [address.value] if isinstance(address, Const) else [*places_in(address)]
        self.lost = self.lost or not places
        for place in places:
            if place in self.owner:
                yield self.owner[place]

    def command(self, command: Command) -> None:
        match command:
            case commands.Assign(register, value):
                self.put(register, [value])
            case commands.Store(address, value):
                self.put(address, [value])
            case commands.Load(register, address) | commands.Fetch(register, _, address):
                self.put(register, self.objects(address))
            case commands.Read(local, _, remote):
                self.put(local, self.objects(remote))
            case commands.Write(local, _, remote) | commands.Put(local, _, remote):
                self.put(remote, self.objects(local))
            case commands.Update(operation, value, _, remote, _, result):
                self.update(operation, remote, [value])
                self.put(result, self.objects(remote))
            case commands.UpdateFrom(operation, local, _, remote, _, result):
                self.update(operation, remote, list(self.objects(local)))
                self.put(result, self.objects(remote))
            case commands.Notify(operation, value, _, remote) | commands.Signal(operation, value, _, remote):
                self.update(operation, remote, [value])
            case commands.AwaitAdd(_, address):
                self.update("add", address, [])
            case commands.FetchAdd(register, _, address):
                self.update("add", address, [])
                self.put(register, self.objects(address))
            case commands.FetchUpdate(operation, register, _, address, operand):
                self.update(operation, address, [operand])
                self.put(register, self.objects(address))
            case commands.Swap(register, _, address, value) | commands.CompareSwap(register, _, address, _, value):
                self.put(register, self.objects(address))
                self.put(address, [value])

    def update(self, operation: str, remote: Expr, operands: list[Expr | int]) -> None:
        """Integers are added; the operations for doubles give doubles, and some take the operand as it is."""
        if operation in ("set", "compare_swap"):
            self.put(remote, operands)
        elif operation != "fetch" and not operation.endswith("."):
            self.put(remote, [Const(1)])

    def put(self, target: Register | Expr | None, values: Iterable[Expr | int]) -> None:
        """``values``, expressions or the addresses of objects, may come to be in ``target``."""
        held = list(values)
        for place in [target.name] if isinstance(target, Register) else self.objects(target):
            self.into.setdefault(place, []).extend(held)

    def fits(self, value: Expr | int, found: set[Place]) -> bool:
        """Whether ``value`` may be a double when all in ``found`` are."""
        match value:
            case Const(number):
                return number == 0 or abs(number) >= LEAST_BITS
            case Conditional(_, then, otherwise):
                return self.fits(then, found) and self.fits(otherwise, found)
        return self.shows(value, found)

    def shows(self, value: Expr | int, found: set[Place]) -> bool:
        """Whether ``value`` is a double for sure when all in ``found`` are."""
        match value:
            case int():
                return value in found
            case Register(name):
                return name in found
            case Unary(operator):
                return operator in ("-.", "float", "float32")
            case Binary(operator):
                return operator in ARITHMETIC
            case Conditional(_, then, otherwise):
                return self.shows(then, found) or self.shows(otherwise, found)
        return False
