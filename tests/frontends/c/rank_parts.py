"""The parts of a machine at the beginning of `main`, for tests of one part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pgasrob.frontends.c.code import Slot
from pgasrob.frontends.c.contents import Contents
from pgasrob.frontends.c.facts import Facts
from pgasrob.frontends.c.layout import size_of
from pgasrob.frontends.c.machine_parts import Parts
from pgasrob.frontends.c.snapshots import Frame, State
from pgasrob.frontends.c.types import INT, CType
from pgasrob.frontends.c.values import Address, ObjectId
from pgasrob.frontends.c.world import World
from pgasrob.frontends.lower import parse_c
from pgasrob.frontends.options import NO_SHARED_MEMORY, FrontEnd
from pgasrob.program.commands import Command
from pgasrob.program.statements import Do

MAIN = "int main(void) { int i = 0; int j = 0; return i + j; }"


def parts_of(text: str = MAIN, nodes: int | None = 2, rank: int = 0, shared_memory: str = NO_SHARED_MEMORY) -> Parts:
    """The parts for ``rank`` of the program ``text`` on ``nodes`` nodes, with a node that is open. A
    function `f` need not be defined."""
    compiled = replace(parse_c(text, "program.c", FrontEnd(pure=("f",))).compiled, shared_memory=shared_memory)
    world = World(compiled, nodes, Facts())
    world.classes.apart()
    parts = Parts(world, world.ranks[rank])
    main = compiled.unit.functions["main"]
    parts.position.go_to(State([Frame(main, compiled.live_slots(main), 0, None, INT)]))
    parts.writer.node, parts.writer.open = parts.writer.fresh(), True
    return parts


def variable(parts: Parts, name: str, type: CType, size: int | None = None) -> Address:
    """The address of a new object of ``type``, called ``name``, that is all zero."""
    id = ObjectId("global", (name,))
    parts.objects.declare(id, name, size_of(type) if size is None else size, type, Contents(0))
    return Address(id, 0)


def slot(parts: Parts, name: str) -> Slot:
    """The number of the variable ``name`` of the current call."""
    slots = parts.position.frame.function.slots
    return next(number for number, each in enumerate(slots) if each.name == name)


def written(parts: Parts) -> Sequence[Command]:
    """The commands written to the open node so far."""
    return [each.command for each in parts.writer.node.statements if isinstance(each, Do)]
