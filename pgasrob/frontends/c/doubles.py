"""Which memory objects and registers hold doubles, and nothing else: reports show their values as such."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import assert_never

from pgasrob.frontends.c.cells import is_flat, places_in
from pgasrob.frontends.c.layout import size_of
from pgasrob.frontends.c.parts import scalar_at
from pgasrob.frontends.c.types import DOUBLE, CType, Floating, Void
from pgasrob.frontends.c.world import World
from pgasrob.program import core
from pgasrob.program.core import Form
from pgasrob.program.declarations import MemoryObject, Process
from pgasrob.program.expressions import RELATIONS, Binary, Conditional, Const, Expr, Register, Unary
from pgasrob.program.statements import Do, statements_in
from pgasrob.stop_points import stop_point

LEAST_BITS = 1 << 52
"""The bits of a double that is neither 0 nor tiny are at least as much, as a signed integer in absolute value."""
Place = str | int
"""A register by its name, a memory object by the address of its first cell."""


def doubles(world: World, processes: Iterable[Process]) -> frozenset[str]:
    """The names of what always holds a double (or a float, which is held as one) in the program of ``processes``.

    A memory object does when the program uses it as doubles and nothing else ever gets into it. A register does when
    every command that sets it gives a double; so does memory that an API has for itself.
    """
    memory = world.cells.memory
    if world.cells.growing:
        return frozenset()
    flows = _Flows(memory, world.registers)
    for process in processes:
        for statement in statements_in(process.body):
            if isinstance(statement, Do):
                flows.command(core.lower(statement.command))
    if flows.lost:
        return frozenset()
    used = {each.address: _use(world, each) for each in memory}
    typed: set[Place] = {address for address, use in used.items() if use is True}
    unknown = {address for address, use in used.items() if use is None}
    found: set[Place] = {*typed, *unknown, *(each for each in flows.into if isinstance(each, str))}
    while wrong := {each for each in found if not all(flows.fits(value, found) for value in flows.into.get(each, ()))}:
        stop_point()
        found -= wrong
    # What is only ever 0, or handed round among such places, may as well be an integer.
    proven = found & typed
    while more := {each for each in found - proven if any(flows.shows(it, proven) for it in flows.into.get(each, ()))}:
        stop_point()
        proven |= more
    names = {each.address: (each.name, *each.elements) for each in memory}
    held = {name for each in proven for name in ((each,) if isinstance(each, str) else names[each])}
    # A name of both a register and memory counts only if both hold doubles.
    both = {name for each in names.values() for name in each} & set(world.registers)
    wrong_name = {each.name for each in memory if each.address not in proven} | (set(world.registers) - proven)
    return frozenset(held - (both & wrong_name))


def _use(world: World, memory: MemoryObject) -> bool | None:
    """Whether the program uses ``memory`` as doubles alone; None when nothing says as what."""
    types: set[CType] = set()
    id, _ = world.cells.at[memory.address]
    object = world.facts.objects[id]
    cells = range(memory.address, memory.address + memory.cells)
    if object.dense and is_flat(object.type, object.granule):
        types, cells = object.accesses.numbers, cells[:1]  # the others are like the first
    for cell in cells:
        stop_point()
        id, offset = world.cells.at[cell]
        object = world.facts.objects[id]
        if id.of_api:
            return None
        types |= object.accesses.types(offset)
        size = world.facts.size_at(id, offset)
        if object.pieces is not None and size != size_of(DOUBLE):
            return False
        declared = scalar_at(object.type, offset) if object.type else None
        if declared is not None and not isinstance(declared, Void) and size_of(declared) == size:
            types.add(declared)
    return all(isinstance(each, Floating) for each in types) if types else None


class _Flows:
    """What commands put where: ``into`` has for every place the values and the places that it gets them from.

    ``lost``: of some address it is not known into which objects it leads.
    """

    def __init__(self, memory: Sequence[MemoryObject], registers: Iterable[str]) -> None:
        self.registers = list(registers)  # by number
        self.owner = {cell: each.address for each in memory for cell in range(each.address, each.address + each.cells)}
        self.into: dict[Place, list[Expr | int]] = {each.address: [*map(Const, each.initial)] for each in memory}
        self.lost = False

    def objects(self, address: Expr) -> Iterator[int]:
        """The objects that a cell at ``address`` may belong to."""
        places = [address.value] if isinstance(address, Const) else [*places_in(address)]
        self.lost = self.lost or not places
        for place in places:
            if place in self.owner:
                yield self.owner[place]

    def command(self, form: Form) -> None:
        match form:
            case core.Assign(register, value):
                self.put(self.registers[register], [value])
            case core.Immediate(access, _, update, loaded):
                address = access.cell.address
                if loaded is not None:
                    self.put(self.registers[loaded], self.objects(address))
                if update is not None:
                    self.update(update.operation, address, [update.operand])
            case core.Transfer(_, _, steps, captured, update):
                carried: list[Expr | int] = []
                if captured is not None:
                    carried = list(self.objects(captured.cell.address))
                elif update is not None and update.operand is not None:
                    carried = [update.operand]
                for step in steps:
                    address = step.access.cell.address
                    match step.kind:
                        case "popa":
                            carried = list(self.objects(address))
                        case "popd":
                            pass
                        case "popb" if update is not None:
                            self.update(update.operation, address, carried)
                            carried = list(self.objects(address))
                        case "popb" | "popc":
                            self.put_at(address, carried)
                        case _:
                            assert_never(step.kind)
            case core.Test() | core.Wait() | core.Fence() | core.Bundle() | core.Barrier():
                pass
            case _:
                assert_never(form)

    def update(self, operation: str, address: Expr, operands: Iterable[Expr | int | None]) -> None:
        """Integers are added; the operations for doubles give doubles, and some take the operand as it is."""
        if operation in ("set", "compare_swap"):
            self.put_at(address, [operand for operand in operands if operand is not None])
        elif operation != "fetch" and not operation.endswith("."):
            self.put_at(address, [Const(1)])

    def put_at(self, address: Expr, values: Iterable[Expr | int]) -> None:
        """The same for the objects that a cell at ``address`` may belong to."""
        held = list(values)
        for object in self.objects(address):
            self.put(object, held)

    def put(self, place: Place, values: Iterable[Expr | int]) -> None:
        """``values``, expressions or the addresses of objects, may come to be in ``place``."""
        self.into.setdefault(place, []).extend(values)

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
                return operator.endswith(".") or operator in ("float", "float32", "of_bits32")
            case Binary(operator):
                return operator.endswith(".") and operator[:-1] not in RELATIONS
            case Conditional(_, then, otherwise):
                return self.shows(then, found) or self.shows(otherwise, found)
        return False
