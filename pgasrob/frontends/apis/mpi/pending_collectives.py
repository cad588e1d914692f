"""What nonblocking collectives bring (MPI-4, section 6.12): a rank gives its values at the call, and gets at the wait
what others have given. Who needs a value comes after who gave it, and nothing else is ordered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pgasrob.frontends.apis import flags, split_barriers
from pgasrob.frontends.apis.call_steps import Steps
from pgasrob.frontends.apis.flags import Group, channel
from pgasrob.frontends.apis.interface import Call
from pgasrob.frontends.apis.mpi.datatypes import Datatype, datatype_of
from pgasrob.frontends.apis.mpi.handles import key_of, ranks
from pgasrob.frontends.apis.mpi.reductions import LOCATED, folded
from pgasrob.frontends.c.values import Address, Handle, ObjectId
from pgasrob.program.assumptions import Kind
from pgasrob.program.commands import Fetch
from pgasrob.program.expressions import Const, Expr


@dataclass(frozen=True, slots=True)
class Pending:
    """A nonblocking collective ``name`` of a ``group`` that this rank has begun, and that brings it ``length`` values
    of each of the ``givers``, which ``operation`` combines if it is not empty, to ``count`` items of a ``type`` at
    ``place``.

    ``numbers``: of an exchange, to which all give, its phase; else the number of the collective in its order, and the
    slots of the messages of the givers. ``drawn``: which of the values are unknown and drawn by the first member.
    ``begun``: the phase of the barrier by which it waits besides until all have begun (`Call.strict`), if it does.
    """

    group: Group
    name: str
    operation: str
    givers: tuple[int, ...]
    length: int
    numbers: tuple[int, ...]
    drawn: tuple[int, ...]
    place: Address
    count: int
    type: Datatype
    begun: tuple[int, ...] = ()

    @property
    def id(self) -> tuple[flags.Key, int]:
        """The key and the number by which it is known while it is under way."""
        return (*self.group.key, self.name), self.numbers[-1]

    def handle(self) -> Handle:
        """The request that completes it."""
        assert isinstance(self.place.offset, int)
        return Handle(
            "request",
            ("collective", self.group.key, self.group.members, self.name, self.operation, self.givers, self.length,
             self.numbers, self.drawn, self.begun, self.place.object, self.place.offset, self.count,
             *self.type.handle().data),
        )  # fmt: skip

    @staticmethod
    def of(data: Sequence[object]) -> Pending:
        """The collective that a request with these ``data`` completes."""
        _, key, members, name, operation, givers, length, numbers, drawn, begun, *to = data
        object, offset, count, *type = to
        assert isinstance(key, tuple) and isinstance(members, tuple) and isinstance(givers, tuple)
        assert isinstance(name, str) and isinstance(operation, str) and isinstance(object, ObjectId)
        assert isinstance(numbers, tuple) and isinstance(drawn, tuple) and isinstance(begun, tuple)
        assert isinstance(length, int) and isinstance(offset, int) and isinstance(count, int)
        group, place = Group(key_of(key), ranks(members)), Address(object, offset)
        return Pending(
            group, name, operation, ranks(givers), length, ranks(numbers), ranks(drawn), place, count,
            datatype_of(type), ranks(begun),
        )  # fmt: skip

    def brings(self, steps: Steps) -> list[Expr]:
        """Wait for the values, and get them."""
        if len(self.numbers) > 1:
            blocks = self._received(steps)
            for phase in self.begun:
                steps.call.rests_on(Kind.NOT_SYNCHRONISING, steps.call.name)
                split_barriers.end(steps, self.group, begun(self.name), phase)
            return self._combined(steps, blocks)
        (phase,) = self.numbers
        split_barriers.end(steps, self.group, self.name, phase)
        cells = cells_of(steps.call, self.group, self.name, phase, self.length)
        if not self.operation:
            return [_fetched(steps, giver, cell) for giver in self.givers for cell in cells]
        values, width = list[Expr](), width_of(self.operation)
        for begin in range(0, self.length, width):
            givers = self.givers[:1] if begin in self.drawn else self.givers
            blocks = [[_fetched(steps, giver, cell) for cell in cells[begin : begin + width]] for giver in givers]
            values += blocks[0] if len(givers) == 1 else self._combined(steps, blocks, begin)
        return values

    def _received(self, steps: Steps) -> list[list[Expr]]:
        number, *slots = self.numbers
        blocks = list[list[Expr]]()
        for giver, slot in zip(self.givers, slots, strict=True):
            way = channel(self.group, giver, steps.call.rank, self.name)
            blocks.append(flags.receive(steps, way, self.length, slot, number, collective=True))
        return blocks

    def _combined(self, steps: Steps, blocks: Sequence[Sequence[Expr]], begin: int = 0) -> list[Expr]:
        """The ``blocks`` of values from number ``begin`` on as one."""
        types = self.type.types
        types = types[begin % len(types) :] + types[: begin % len(types)]
        if self.operation:
            return folded(steps, self.operation, blocks, types)
        return [value for block in blocks for value in block]


def begun(name: str) -> str:
    """The name of the barrier by which a collective of that ``name`` waits until all have begun it."""
    return f"{name}, begun"


def width_of(operation: str) -> int:
    """How many values an operation combines at a time."""
    return 2 if operation in LOCATED else 1


def cells_of(call: Call, group: Group, name: str, phase: int, length: int) -> list[Expr]:
    """The cells in which every member lays out its values in an exchange."""
    set = phase % split_barriers.sets_of(call, group, name)
    return [flags.cell_of(call, group, name, "value", set, index) for index in range(length)]


def _fetched(steps: Steps, giver: int, cell: Expr) -> Expr:
    register = steps.call.register("value")
    steps.do(Fetch(register, Const(giver), cell))
    return steps.call.laid(giver, cell, register)
