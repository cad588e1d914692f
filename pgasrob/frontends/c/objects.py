"""The objects in the memory of one rank: what is in them, how large they are."""

from __future__ import annotations

from math import gcd

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.c import code
from pgasrob.frontends.c.contents import Contents, Held
from pgasrob.frontends.c.facts import shortest
from pgasrob.frontends.c.layout import size_of
from pgasrob.frontends.c.parts import scalar_at
from pgasrob.frontends.c.problem import Problem, TryAgain
from pgasrob.frontends.c.rank_position import Position
from pgasrob.frontends.c.snapshots import Frame
from pgasrob.frontends.c.symbolic import MOST_EACH, Extent, NumberNeeded
from pgasrob.frontends.c.types import CHAR, Array, CType, Floating, Integer, Void
from pgasrob.frontends.c.values import Address, Known, ObjectId
from pgasrob.program.expressions import IntType
from pgasrob.program.statements import NOWHERE, Span
from pgasrob.stop_points import stop_point


class Objects:
    """The objects of one rank, which are declared when they are named first. `State.memory` has their contents."""

    def __init__(self, position: Position) -> None:
        self.position = position
        self.facts = position.facts
        self.unit = position.unit
        self.writes = 0
        """How often contents have been asked for to be changed."""

    def declare(
        self, id: ObjectId, name: str, size: int, type: CType | None, initial: Contents, span: Span = NOWHERE
    ) -> None:
        known = self.facts.objects.get(id)
        if self.position.rank.is_symbol and known is not None and (known.size != size or known.grows or known.each):
            # Ways that only some ranks take on some numbers of nodes are made for all: the largest size is not theirs.
            raise NumberNeeded(f"the size of `{name}` differs between paths through the program", span)
        if id.allocated:
            self.position.state.sizes[id] = size
        self.facts.declare(id, name, size, type, initial, span)

    def declare_growing(self, id: ObjectId, name: str, extent: Extent, type: CType | None, span: Span) -> None:
        """The same for memory whose size depends on the number of nodes."""
        known, period = self.facts.objects.get(id), gcd(*extent)
        if not (0 < extent.each <= MOST_EACH and -extent.each < extent.more <= MOST_EACH):
            raise NumberNeeded(f"`{name}`, which has {extent}, differs between numbers of nodes", span)
        if known is not None and known.grows != extent:
            raise NumberNeeded(f"the size of `{name}` differs between paths through the program", span)
        of = type.of if isinstance(type, Array) else None
        if of is None or isinstance(of, Void) or period % size_of(of):
            type = None  # it does not come again in every period
        self.facts.declare(id, name, period, type, Contents(0), span, extent)

    def global_object(self, name: str) -> ObjectId:
        object, thread = self.unit.objects[name], self.position.thread
        if object.of_thread and thread in self.facts.threads.tasks:
            message = f"`{name}`, which each thread has for itself, in a task, which any thread may execute"
            raise Problem("PG104", message, "give its value to the task by `firstprivate`", self.position.span)
        return self._global(object, thread if object.of_thread else 0)

    def _global(self, object: code.Object, thread: int) -> ObjectId:
        """A global variable, or that which a further ``thread`` has for itself."""
        id = ObjectId("global", (object.name, thread) if thread else (object.name,))
        if id not in self.facts.objects:
            name = f"{object.name}_thread{thread}" if thread else object.name
            self.declare(id, name, size_of(object.type), object.type, initial_contents(object), object.span)
        return id

    def local_object(self, frame: Frame, name: str) -> ObjectId:
        id = frame.local(name)
        if id not in self.facts.objects:
            object = frame.function.objects[name]
            text = f"{frame.function.name}.{name.removeprefix(frame.function.name + '.')}"
            if frame.depth:
                text += f"^{frame.depth}"
            if frame.thread and id != ObjectId("local", (frame.function.name, name, frame.depth)):
                text += f"_thread{frame.thread}"
            self.declare(id, text, size_of(object.type), object.type, Contents(None), object.span)
        return id

    def string_object(self, text: str) -> ObjectId:
        return ObjectId("string", (text,))

    def object(self, id: ObjectId) -> None:
        """Make sure that the object is known; strings are declared when they are used."""
        if id in self.facts.objects:
            return
        if id.kind == "global":
            # Only an initialiser has named it so far.
            assert isinstance(id.number, tuple)
            self._global(self.unit.objects[str(id.number[0])], *map(int, id.number[1:] or (0,)))
            return
        if id.kind == "string":
            assert isinstance(id.number, tuple)
            data = string_bytes(str(id.number[0]))
            self.declare(id, "string", len(data), Array(CHAR, len(data)), text_contents(data))
            return
        if self.position.facts_changed:
            raise TryAgain
        raise Problem(
            Wrong.ELSEWHERE, "memory is accessed that no rank has allocated", "allocate it before it is accessed"
        )

    def contents(self, id: ObjectId, write: bool = False) -> Contents:
        """What is in an object; its own copy of this state, which may be changed, if it is to be written."""
        memory = self.position.state.memory
        found = memory.get(id)
        if found is None:
            self.object(id)
            initial = self.facts.objects[id].initial
            if not write:
                return initial
            found = memory[id] = initial.copy()
        elif write and found.shared:
            found = memory[id] = found.copy()
        if write:
            self.writes += 1
            found.shared = False
        return found

    def within(self, address: Address, size: int) -> bool:
        """Whether ``size`` bytes at ``address``, a known one, lie inside of its object."""
        assert isinstance(address.offset, int)
        return address.offset >= 0 and size <= self.room(address)

    def size(self, address: Address) -> int:
        """The bytes of the object of ``address``: as many as the rank has allocated, where it has. An object of another
        rank is as large as any rank has allocated it."""
        object = self.facts.objects.get(address.object)
        if object is None:
            self.object(address.object)
            object = self.facts.objects[address.object]
        if object.each or object.grows:
            what = f"how large `{shortest(address.object, object)}` is"
            raise NumberNeeded(f"{what} differs between numbers of nodes", self.position.span)
        if address.owner is not None and (self.position.rank.is_symbol or self.position.whose(address)):
            return object.size  # for a symbol it has this size on every rank
        return self.position.state.sizes.get(address.object, object.size)

    def room(self, address: Address) -> int:
        """The bytes from ``address`` to the end of its object, from its beginning where the place is not known."""
        return self.size(address) - (address.offset if isinstance(address.offset, int) else 0)

    def outside(self, address: Address, size: int) -> str:
        """That ``size`` bytes at ``address``, a known one, do not lie inside of its object."""
        assert isinstance(address.offset, int)
        id, at = address.object, address.offset
        match self.facts.objects[id].type:
            case Array(of, _) if (each := size_of(of)) and not at % each and size <= each:
                place = f"element {at // each} is outside"
            case _:
                place = f"byte {at} is outside" if size == 1 else f"bytes {at} to {at + size - 1} reach out"
        return f"{place} of {self.sized(address)}"

    def sized(self, address: Address) -> str:
        """The name of the object of ``address`` and how large it is, for messages."""
        object = self.facts.objects[address.object]
        if object.grows:
            return f"`{shortest(address.object, object)}`, which has {object.grows}"
        size = self.size(address)
        extent = f"{size:,} byte{'s' if size != 1 else ''}"
        match object.type:
            case Array(of, _) if each := size_of(of):
                count = size // each
                extent = f"{count:,} element{'s' if count != 1 else ''} ({extent})"
        return f"`{shortest(address.object, object)}`, which has {extent}"

    def scalar_type(self, address: Address, size: int) -> CType:
        """The type that the scalar at ``address`` is accessed as, or declared as; else a signed integer."""
        return self.known_type(address, size) or Integer(IntType(8 * size, True))

    def copied_type(self, of: Address, to: Address, size: int, held: Held | None) -> CType:
        """As what ``size`` bytes at ``of`` are copied to ``to``; ``held``: the scalar that is known to begin there, in
        no cell."""
        type = self.known_type(of, size) or self.scalar_type(to, size)
        if held is None or held[0] != size or isinstance(type, Floating) == held[2]:
            return type
        return Floating(8 * size) if held[2] else Integer(IntType(8 * size, True))

    def scalars_in(self, address: Address, bytes: int) -> tuple[tuple[int, CType], ...]:
        """The scalars that are accessed among ``bytes`` bytes from ``address`` on, and the bytes between them, by their
        places."""
        start, object = address.offset, self.facts.objects.get(address.object)
        found, end = list[tuple[int, CType]](), 0
        if object is None or not isinstance(start, int):
            return tuple((place, CHAR) for place in range(bytes))
        shared = {} if object.pieces else object.overlapping(object.shared, start, start + bytes)
        for offset, size in sorted({**object.accesses.sizes(start, start + bytes), **shared}.items()):
            place = offset - start
            if end <= place <= bytes - size:
                found += [(each, CHAR) for each in range(end, place)]
                found.append((place, self.scalar_type(Address(address.object, offset), size)))
                end = place + size
        return (*found, *((each, CHAR) for each in range(end, bytes)))

    def known_type(self, address: Address, size: int) -> CType | None:
        """As :meth:`scalar_type`; None where neither an access nor a declaration says it."""
        object = self.facts.objects[address.object]
        assert isinstance(address.offset, int)
        declared = scalar_at(object.type, address.offset) if object.type else None
        for each in (*object.accesses.types(address.offset), declared):
            if isinstance(each, Integer | Floating) and size_of(each) == size:
                return each
        return None


def initial_contents(object: code.Object) -> Contents:
    """What a global or static object holds at the beginning."""
    contents = Contents(0)
    for offset, value, type in object.initial:
        contents.store(offset, value, type)
    return contents


def text_contents(data: bytes) -> Contents:
    """What an array of characters holds whose bytes are ``data``."""
    contents = Contents(0)
    for offset, byte in enumerate(data):
        stop_point()
        contents.set(offset, 1, Known(IntType(8, True).wrap(byte)), False)
    return contents


def string_bytes(text: str) -> bytes:
    """The bytes of a string literal, with the zero at its end."""
    return text.encode("latin-1", "replace") + b"\0"
