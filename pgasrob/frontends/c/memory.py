"""The memory of one rank: its objects, loads and stores, pointers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import gcd
from typing import cast

from pgasrob.analysis.intervals import Interval
from pgasrob.frontends.c import arithmetic, code
from pgasrob.frontends.c.arithmetic import LONG, expression
from pgasrob.frontends.c.contents import ANYTHING, Contents, from_bytes
from pgasrob.frontends.c.facts import shortest
from pgasrob.frontends.c.flows import UNKNOWN
from pgasrob.frontends.c.layout import size_of
from pgasrob.frontends.c.nondeterminism import INPUT, leaves, leaves_of, only_leaves, range_of
from pgasrob.frontends.c.parts import part_name, scalar_at
from pgasrob.frontends.c.problem import Beyond, Problem, TryAgain
from pgasrob.frontends.c.snapshots import Frame
from pgasrob.frontends.c.symbolic import NumberNeeded
from pgasrob.frontends.c.types import CHAR, DOUBLE, Array, CType, Floating, Integer
from pgasrob.frontends.c.unset import Unset
from pgasrob.frontends.c.values import UNDEFINED, Address, Code, Handle, Known, ObjectId, Undefined, Unknown, Value
from pgasrob.frontends.c.views import extracted, turned
from pgasrob.frontends.options import NO_SHARED_MEMORY
from pgasrob.program import commands, core
from pgasrob.program.assumptions import Kind
from pgasrob.program.expressions import Binary, Conditional, Const, Expr, IntType, Register, Symbol, Unary, constant
from pgasrob.program.statements import (
    NOWHERE,
    Choose,
    Do,
    If,
    Labelled,
    Loop,
    Span,
    Statement,
    While,
    statements_in,
)

NOT_YET = Const(-2)
"""The address of what is not laid out yet: the machine will run again."""
PUT, FENCED = "machine.put", "machine.fenced"
"""What the state holds the queues under with ranks to which puts of theirs may be pending, and those of which such have
been fenced. None: to any rank."""
MOST_KNOWN = 64
"""Scalars in cells of one object, up to which it is kept what they hold: nobody decides by a large buffer."""


class Memory(Unset):
    """Loads and stores. What is known is kept in `State.memory`; scalars with cells are accessed by commands."""

    # Objects

    def declare(
        self, id: ObjectId, name: str, size: int, type: CType | None, initial: Contents, span: Span = NOWHERE
    ) -> None:
        known = self.facts.objects.get(id)
        if self.world.symbolic and known is not None and known.size != size:
            # Ways that only some ranks take on some numbers of nodes are made for all: the largest size is not theirs.
            raise NumberNeeded(f"the size of `{name}` is another one on some ways", span)
        if id.allocated:
            self.state.sizes[id] = size
        self.facts.declare(id, name, size, type, initial, span)

    def global_object(self, name: str) -> ObjectId:
        id = ObjectId("global", (name,))
        if id not in self.facts.objects:
            object = self.unit.objects[name]
            self.declare(id, name, size_of(object.type), object.type, initial_contents(object), object.span)
        return id

    def local_object(self, frame: Frame, name: str) -> ObjectId:
        id = frame.local(name)
        if id not in self.facts.objects:
            object = frame.function.objects[name]
            text = f"{frame.function.name}.{name.removeprefix(frame.function.name + '.')}"
            if frame.depth:
                text += f"^{frame.depth}"
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
            self.global_object(str(id.number[0]))
            return
        if id.kind == "string":
            assert isinstance(id.number, tuple)
            data = string_bytes(str(id.number[0]))
            contents = Contents(0)
            for offset, byte in enumerate(data):
                contents.set(offset, 1, Known(IntType(8, True).wrap(byte)), False)
            self.declare(id, "string", len(data), Array(CHAR, len(data)), contents)
            return
        if self.facts_changed:
            raise TryAgain
        raise Problem("PG143", "memory is accessed that no rank has allocated", "allocate it before it is accessed")

    def contents(self, id: ObjectId, write: bool = False) -> Contents:
        self.object(id)
        found = self.state.memory.get(id)
        if found is None:
            initial = self.facts.objects[id].initial
            if not write:
                return initial
            found = self.state.memory[id] = initial.copy()
        elif write and found.shared:
            found = self.state.memory[id] = found.copy()
        if write:
            found.shared = False
        return found

    # Accesses

    def within(self, address: Address, size: int) -> bool:
        """Whether ``size`` bytes at ``address``, a known one, lie inside of its object."""
        assert isinstance(address.offset, int)
        return address.offset >= 0 and size <= self.room(address)

    def size(self, address: Address) -> int:
        """The bytes of the object of ``address``: as many as the rank has allocated on this way, where it has. What is
        another rank's is as large as any has made it."""
        self.object(address.object)
        largest = self.facts.objects[address.object].size
        return largest if self.whose(address) else self.state.sizes.get(address.object, largest)

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
        object, size = self.facts.objects[address.object], self.size(address)
        extent = f"{size:,} byte{'s' if size != 1 else ''}"
        match object.type:
            case Array(of, _) if each := size_of(of):
                count = size // each
                extent = f"{count:,} element{'s' if count != 1 else ''} ({extent})"
        return f"`{shortest(address.object, object)}`, which has {extent}"

    def load(self, address: Address, type: CType) -> Value:
        """The scalar of ``type`` at ``address``; loaded into a register if it has a cell, as all has that is in the
        memory of another rank."""
        size, owner = size_of(type), self.whose(address)
        if isinstance(address.offset, int):
            if not self.within(address, size):
                self.fault(self.outside(address, size))
                return UNDEFINED
            self.facts.note(address.object, address.offset, type)
            if owner is None and not self.facts.is_shared(address.object, address.offset, size):
                value = self.contents(address.object).load(address.offset, type)
                if value is None:
                    return self._unknown_part(address, type)
                return value
        else:
            self.facts.note_each(address.object, self._offsets(address, size), type)
        if not self.is_set(address, size):
            return UNDEFINED
        around = self._around(address, size)
        register = self.register("t", before=False)
        bytes = () if around is None else _bytes_of(address, size, around[0])
        self.issue(commands.Load(register, self.cell(*(around or (address, size))), owner, bytes=bytes))
        if register.index in self.read:
            return Unknown(self.new_leaf(UNKNOWN, range_of(type), exact=False, of=[self.read[register.index]]))
        if (held := self.held(address, type)) is not None:
            return held
        if around is None:
            return self.loaded(address, register, type)
        assert isinstance(type, Integer) and isinstance(address.offset, int) and isinstance(around[0].offset, int)
        return Unknown(extracted(register, around[1], address.offset - around[0].offset, type))

    def _offsets(self, address: Address, size: int) -> Sequence[int]:
        """Where the scalar of ``size`` bytes at ``address`` may begin in its object."""
        if isinstance(address.offset, int):
            return (address.offset,)
        start, step = address.steps
        return range(start, self.facts.objects[address.object].size - size + 1, step) if step else (start,)

    def reading(self, register: Register, address: Address) -> tuple[commands.Command, ...]:
        """The commands that load the byte at ``address``, which is known, into ``register``. It lies in a cell then, or
        in a part of one."""
        assert isinstance(address.offset, int)
        self.facts.note(address.object, address.offset, CHAR)
        around, owner = self._around(address, 1), self.whose(address)
        if around is None:
            return (commands.Load(register, self.cell(address, 1), owner),)
        whole, size = around
        assert isinstance(whole.offset, int)
        load = commands.Load(register, self.cell(whole, size), owner, bytes=_bytes_of(address, 1, whole))
        return load, commands.Assign(register, extracted(register, size, address.offset - whole.offset, CHAR))

    def _around(self, address: Address, size: int) -> tuple[Address, int] | None:
        """The scalar that has the cell and its size, where the one at ``address`` is only a part of it."""
        if not isinstance(address.offset, int):
            return None
        self.facts.share(address.object, address.offset, size)
        facts = self.facts.objects[address.object]
        begin = facts.covered[address.offset]
        if (begin, facts.shared[begin]) == (address.offset, size):
            return None
        self.rests_on(Kind.PARTS, facts.name)
        for offset in range(begin, begin + facts.shared[begin]):
            if Floating(32) in facts.accesses.types(offset):
                raise Problem(
                    "PG142", f"a part of a float in `{facts.name}`, memory that other ranks access, is read or set",
                    "access shared memory with one type per variable",
                )  # fmt: skip
        return Address(address.object, begin, address.owner), facts.shared[begin]

    def _unknown_part(self, address: Address, type: CType) -> Value:
        """The scalar of ``type`` at ``address``, where parts of unknown values lie, or what nobody knows."""
        assert isinstance(address.offset, int)
        if self.world.symbolic:
            # On one number it may be a part of a number.
            what = f"a part of a value in `{self.facts.objects[address.object].name}`"
            raise NumberNeeded(f"{what} is another thing on every number of nodes")
        contents = self.contents(address.object)
        parts = contents.unknown_parts(address.offset, size_of(type))
        if parts is None or any(not only_leaves(value.expr) for value in parts):
            raise Problem(
                "PG142",
                f"a part of a value in `{self.facts.objects[address.object].name}` is read as another type",
                "read what was stored, with the same type",
            )
        of = [leaf for value in parts for leaf in leaves(value.expr)]
        value = Unknown(self.new_leaf(INPUT, range_of(type), exact=False, of=of))
        if not of:
            self.contents(address.object, write=True).store(address.offset, value, type)  # it stays what it was
        return value

    def held(self, address: Address, type: CType) -> Value | None:
        """What the shared scalar at ``address`` holds, when that is known all the same."""
        if self.whose(address) or not isinstance(address.offset, int):
            return None
        if not self.facts.is_steady(address.object, address.offset):
            return None
        value = self.contents(address.object).load(address.offset, type)
        return value if isinstance(value, Known) else None

    def loaded(self, address: Address, register: Register, type: CType) -> Value:
        """``register``, which has been loaded from the cell at ``address``, as a value of ``type``.

        The cell may hold what a transfer or another access put there as a type of the same size with other values.
        """
        object = self.facts.objects[address.object]
        offsets = self._offsets(address, size_of(type))
        declared, types = self.facts.declared(address.object, offsets), object.accesses.types(*offsets)
        if not isinstance(type, Integer):
            mixed = object.mixed or any(isinstance(each, Integer) for each in types)
            return Unknown(Unary("cast", register, LONG) if mixed and type == DOUBLE else register)
        if size_of(type) != 8 and any(isinstance(each, Floating) for each in types):
            raise Problem(
                "PG142",
                f"`{object.name}` holds an integer and a floating-point number",
                "access shared memory with one type per variable",
            )
        alike = declared == {type} and len(types) <= 1 and not object.mixed
        return Unknown(register if alike else Unary("cast", register, type.type))

    def store(self, address: Address, value: Value, type: CType) -> None:
        """The scalar of ``type`` at ``address`` becomes ``value``."""
        size, owner = size_of(type), self.whose(address)
        if isinstance(address.offset, int):
            if not self.within(address, size):
                return self.fault(self.outside(address, size))
            self.facts.note(address.object, address.offset, type)
            if owner is None and not self.facts.is_shared(address.object, address.offset, size):
                value = self._unmixed(address, value)
                if not isinstance(value, Unknown) or only_leaves(value.expr):
                    if isinstance(value, Address) and not isinstance(value.offset, int):
                        raise Problem("PG143", "a pointer is stored of which it is not known where it points",
                                      "keep an index instead")  # fmt: skip
                    self.contents(address.object, write=True).store(address.offset, value, type)
                    return None
                self.facts.share(address.object, address.offset, size)
        else:
            self.facts.note_each(address.object, self._offsets(address, size), type)
        if isinstance(value, Address | Code | Handle):
            raise Problem(
                "PG143",
                f"a pointer is stored in `{self.facts.objects[address.object].name}`, memory that other ranks access",
                "keep pointers apart from data that is transferred; transfer indices",
            )
        if owner is None:
            self.initialise(address, size, isinstance(value, Undefined))
        expr = Const(0) if isinstance(value, Undefined) else expression(value)
        if owner and any(to in (None, address.owner) for _, to in self._fenced):
            raise Problem(
                "PG143",
                f"memory of rank {address.owner} is set through a pointer behind a fence of puts",
                "a fence puts it after them, which is not supported: wait for the puts to be complete instead",
            )
        around = self._around(address, size)
        if around is not None:
            self._store_part(*around, address, value, type)
            return None
        self._issue_store(commands.Store(self.cell(address, size), expr, owner))
        if owner is None:
            self._hold(address, value, type)
        return None

    def _store_part(self, whole: Address, size: int, part: Address, value: Value, type: CType) -> None:
        """Set a part of the cell of ``whole``: as it then is, where that is known, else by turning round the bits of it
        that are others, at once, so that what other ranks do to other parts meanwhile is kept."""
        id, owner = whole.object, self.whose(whole)
        assert isinstance(type, Integer) and isinstance(whole.offset, int) and isinstance(part.offset, int)
        wide, bytes = self.scalar_type(whole, size), _bytes_of(part, size_of(type), whole)
        if owner is None and not isinstance(value, Unknown) and self.facts.is_steady(id, whole.offset):
            self._hold(part, value, type)
            now = self.contents(id).load(whole.offset, wide)
            if isinstance(now, Known):
                self._issue_store(commands.Store(self.cell(whole, size), Const(now.value), bytes=bytes))
                return
        self.facts.unsettle(id, whole.offset)
        held = self.register("whole")
        self.issue(commands.Load(held, self.cell(whole, size), owner, bytes=bytes))
        self.taken.add(held.index)
        assert isinstance(value, Known | Unknown | Undefined)
        new = Const(0) if isinstance(value, Undefined) else expression(value)
        bits = turned(held, part.offset - whole.offset, new, type)
        as_double = DOUBLE in self.facts.objects[id].accesses.types(whole.offset)
        kind = wide.type if isinstance(wide, Integer) and not as_double else IntType(8 * size, True)
        rank = self.me if owner is None else owner
        cell = self.cell(whole, size)
        before = self.register("before")
        self._issue_store(commands.FetchUpdate("xor", before, rank, cell, bits, kind, atomic="", bytes=bytes))
        self.taken.discard(held.index)

    def _unmixed(self, address: Address, value: Value) -> Value:
        """``value`` as one's own memory can hold it, which has no registers: one that unknown values are mixed with is
        unknown itself, unless these can be chosen and something depends on it."""
        if not isinstance(value, Unknown) or not leaves(value.expr) or only_leaves(value.expr):
            return value
        expr, place = value.expr, (address.object, address.offset)
        assert isinstance(address.offset, int)
        if self.facts.decisive_cells.has(address.object, address.offset):
            expr = self.exactly(expr)
        return Unknown(self.blurred(expr, origins=frozenset({place})) if leaves(expr) else expr)

    def _hold(self, address: Address, value: Value, type: CType) -> None:
        """Note what a store has put into the shared scalar at ``address``."""
        if not isinstance(address.offset, int) or len(self.facts.objects[address.object].shared) > MOST_KNOWN:
            self.facts.unsettle(address.object, None)
        elif isinstance(value, Unknown):
            self.facts.unsettle(address.object, address.offset)
        elif self.facts.is_steady(address.object, address.offset):
            known = Known(0) if isinstance(value, Undefined) else value
            self.contents(address.object, write=True).store(address.offset, known, type)

    def cell(self, address: Address, size: int) -> Expr:
        """The address in the calculus of the scalar at ``address``, which lies in a cell from now on."""
        self.object(address.object)
        id, cells = address.object, self.world.cells
        if isinstance(address.offset, int):
            if not self.within(address, size):
                return self.world.nowhere(self.outside(address, size))
            self.facts.share(id, address.offset, size)
            facts = self.facts.objects[id]
            begin = facts.covered[address.offset]
            if (begin, facts.shared[begin]) != (address.offset, size):
                raise Problem(
                    "PG142",
                    f"a call accesses {size} of the {facts.shared[begin]} bytes of a scalar in `{facts.name}`",
                    "only loads and stores may access parts of a scalar: let calls access the whole",
                )
            return self.placed(address, size)
        self.facts.share_each(id, self._offsets(address, size), size)
        if id not in cells.granule:
            return NOT_YET
        name, base, count = self.facts.objects[id].name, cells.base[id], self.size(address) // cells.granule[id]
        inside = Binary("&&", Binary(">=", address.offset, Const(0), LONG),
                        Binary("<", address.offset, Const(count), LONG))  # fmt: skip
        outside = self.world.nowhere(f"an index is outside of {self.sized(address)}")
        return Conditional(inside, Binary("+", Symbol(name, base), address.offset, LONG), outside)

    def placed(self, address: Address, size: int) -> Symbol:
        """The cell at ``address``, which is known to be one; it may not be laid out before the next run."""
        id, cells = address.object, self.world.cells
        assert isinstance(address.offset, int)
        place = cells.cells.get((id, address.offset))
        if place is None and id in cells.granule:
            place = cells.base[id] + address.offset // cells.granule[id]
        object = self.facts.objects[id]
        name = part_name(object.name, object.type, address.offset, size) if object.size > size else object.name
        return Symbol(name, NOT_YET.value if place is None else place)

    def pieces(self, address: Address, bytes: int) -> dict[int, int]:
        """The scalars that lie in cells among ``bytes`` bytes from ``address``, which is known: offset -> size."""
        assert isinstance(address.offset, int)
        start, end = address.offset, address.offset + bytes
        facts = self.facts.objects[address.object]
        if facts.dense:
            for offset in range(start, end, max(1, facts.granule)):
                if offset not in facts.covered:
                    self.facts.share(address.object, offset, min(facts.granule, end - offset))
        found = facts.overlapping(facts.filler, start, end) | facts.overlapping(facts.shared, start, end)
        return dict(sorted(found.items()))

    def fill(self, address: Address, byte: int, bytes: int) -> None:
        """Set ``bytes`` bytes from ``address`` on to ``byte``, one from 0 to 255, or to ``ANYTHING``."""
        self.object(address.object)
        if not isinstance(address.offset, int):
            raise Problem("PG140", "memory is filled, and it is not known from where on", "use a known index")
        if not self.within(address, bytes):
            return self.fault(self.outside(address, bytes))
        if bytes <= 0:
            return None
        start, end = address.offset, address.offset + bytes
        for offset, size in self.pieces(address, bytes).items():
            if offset < start or offset + size > end:
                for place in range(max(start, offset), min(end, offset + size)):
                    self._fill_scalar(Address(address.object, place, address.owner), byte, CHAR)
            else:
                scalar = Address(address.object, offset, address.owner)
                self._fill_scalar(scalar, byte, self.scalar_type(scalar, size))
        self.contents(address.object, write=True).fill(start, end, byte)
        return None

    def _fill_scalar(self, address: Address, byte: int, type: CType) -> None:
        if byte == ANYTHING:
            value: Value = Unknown(self.new_leaf(INPUT, range_of(type), exact=False))
        else:
            value = Known(from_bytes(byte.to_bytes() * size_of(type), type))
        self.store(address, value, type)

    def scalar_type(self, address: Address, size: int) -> CType:
        """As what the scalar at ``address`` is used."""
        object = self.facts.objects[address.object]
        assert isinstance(address.offset, int)
        declared = scalar_at(object.type, address.offset) if object.type else None
        for each in (*object.accesses.types(address.offset), declared):
            if isinstance(each, Integer | Floating) and size_of(each) == size:
                return each
        return Integer(IntType(8 * size, True))

    def _split(self, address: Address) -> Problem:
        return Problem(
            "PG142",
            f"a part of a scalar in `{self.facts.objects[address.object].name}` is set",
            "set whole variables",
        )

    def copy(self, to: Address, of: Address, bytes: int) -> None:
        """Copy ``bytes`` bytes of one's own memory."""
        self.object(to.object)
        self.object(of.object)
        if not isinstance(to.offset, int) or not isinstance(of.offset, int):
            raise Problem("PG140", "memory is copied, and it is not known from or to where", "use a known index")
        if not self.within(to, bytes) or not self.within(of, bytes):
            return self.fault(self.outside(of if self.within(to, bytes) else to, bytes))
        if bytes <= 0:
            return None
        source = self.contents(of.object).copy()
        read = self.pieces(of, bytes)
        shift = to.offset - of.offset
        written = {offset - shift: size for offset, size in self.pieces(to, bytes).items()}
        known = {offset: (size, value, floating) for offset, size, value, floating in
                 source.inside(of.offset, of.offset + bytes)}  # fmt: skip
        target = self.contents(to.object, write=True)
        for start, end, byte in source.fills:
            first, last = max(start, of.offset), min(end, of.offset + bytes)
            if first < last:
                target.fill(first + shift, last + shift, byte)
        values: list[tuple[int, Value, CType]] = []
        for offset in sorted({*read, *written, *known}):
            size = read.get(offset) or written.get(offset) or known[offset][0]
            floating = known[offset][2] if offset in known else None
            place = Address(of.object, offset, of.owner)
            type = self.scalar_type(place, size)
            if floating:
                type = Floating(8 * size)
            elif offset in written and offset not in read and offset not in known:
                type = self.scalar_type(Address(to.object, offset + shift), size)
            if offset < of.offset or offset + size > of.offset + bytes:
                raise self._split(of)
            values.append((offset, self._copied(place, size, type, source, offset in read), type))
        for offset, value, type in values:
            self.store(Address(to.object, offset + shift, to.owner), value, type)
        return None

    def _copied(self, place: Address, size: int, type: CType, source: Contents, shared: bool) -> Value:
        assert isinstance(place.offset, int)
        if not shared:
            held = source.get(place.offset)
            if held is not None and held[0] == size:
                return held[1]
            value = source.load(place.offset, type)
            return self._unknown_part(place, type) if value is None else value
        if not self.is_set(place, size):
            return UNDEFINED
        register = self.register("t")
        self.issue(commands.Load(register, self.cell(place, size)))
        if register.index in self.read:
            return Unknown(self.new_leaf(UNKNOWN, range_of(type), exact=False, of=[self.read[register.index]]))
        steady = self.held(place, type)
        if steady is None:
            self.taken.add(register.index)
        return steady or Unknown(register)

    def given_up(self, id: ObjectId, offset: int, size: int, expr: Expr) -> None:
        self.facts.share(id, offset, size)
        self.facts.unsettle(id, offset)
        self._issue_store(commands.Store(self.cell(Address(id, offset), size), expr))

    def _issue_store(self, store: commands.Store | commands.FetchUpdate) -> None:
        """One of the program's own stores: who makes it notes what it stores, unless in the memory of another rank."""
        read, chosen = self.read, self.chosen
        known = self.without_unknowns((Do(store, self.span),))
        if store.rank not in (None, self.me):
            self._unsettle(core.lower(store))
        super().emit(*known)
        self.read, self.chosen = read, chosen

    def emit(self, *statements: Statement) -> None:
        known = self.without_unknowns(statements)
        for statement in known:
            self._look_for_writes(statement)
        self.look_for_initialised(known)
        super().emit(*known)

    def _look_for_writes(self, statement: Statement) -> None:
        """Scalars that operations write are not what their rank has stored in them."""
        match statement:
            case Do(command):
                form = core.lower(command)
                self._unsettle(form)
                for expr in addresses_lent(form):
                    for id, _ in self.cells_at(expr):
                        self.facts.lend(id)
                self._look_for_fences(form)
                if isinstance(form, core.Transfer):
                    self._look_for_mixing([place for each in core.accesses_of(form)
                                           for place in self.cells_at(each.cell.address)])  # fmt: skip
                if any(not id.of_api for expr in addresses_computed(form) for id, _ in self.cells_at(expr)):
                    self.rests_on(Kind.ATOMIC_TO_ALL, self.called)
            case Choose(branches):
                for branch in branches:
                    for each in branch.statements:
                        self._look_for_writes(each)
            case If(_, then, otherwise):
                for each in (*then.statements, *(otherwise.statements if otherwise else ())):
                    self._look_for_writes(each)
            case Loop(body) | While(_, body):
                for each in body.statements:
                    self._look_for_writes(each)
            case Labelled(_, inner):
                self._look_for_writes(inner)

    def _unsettle(self, form: core.Form) -> None:
        self.look_for_reached(form)
        for expr in addresses_written(form):
            for id, offset in self.cells_at(expr):
                large = len(self.facts.objects[id].shared) > MOST_KNOWN
                self.facts.unsettle(id, None if large else offset)

    @property
    def _fenced(self) -> frozenset[tuple[Expr, int | None]]:
        return cast("frozenset[tuple[Expr, int | None]]", self.state.notes.get(FENCED, frozenset()))

    def _look_for_mixing(self, places: Sequence[tuple[ObjectId, int | None]]) -> None:
        """What a transfer moves may come from integers with a sign to some without, which are other numbers there."""
        key = tuple(id for id, _ in places)
        if key in self.world.compared:
            return
        known = [(id, offset, self.facts.objects[id]) for id, offset in places if not id.of_api]
        signs: set[bool] = set()
        for id, offset, object in known:
            size = object.granule if offset is None else object.shared.get(offset, object.granule)
            signs |= self.facts.signs(id, offset, size)
        if len(signs) > 1 or any(object.mixed for _, _, object in known):
            for id, _, _ in known:
                self.facts.mix(id)
        if all(isinstance(each.type, Array) and isinstance(each.type.of, Integer | Floating) for _, _, each in known):
            self.world.compared.add(key)

    def in_mixed_cells(self, statements: Sequence[Statement]) -> bool:
        """Whether commands read what may be no value of its type."""
        forms = (core.lower(each.command) for each in statements_in(statements) if isinstance(each, Do))
        places = (
            place for form in forms for made in core.accesses_of(form) for place in self.cells_at(made.cell.address)
        )
        return any(self.facts.objects[id].mixed for id, _ in places)

    def _look_for_fences(self, form: core.Form) -> None:
        """A fence puts what a rank stores later in the memory of others behind its earlier puts."""
        if self.world.shared_memory == NO_SHARED_MEMORY:
            return
        put, fenced = self.state.notes.get(PUT, frozenset()), self._fenced
        assert isinstance(put, frozenset)
        match form:
            case core.Transfer(rank, queue, steps) if any(step.fenced for step in steps):
                put |= {(queue, constant(rank))}
            case core.Fence(queue, rank):
                to = None if rank is None else constant(rank)
                fenced |= {each for each in put if each[0] == queue and (to is None or each[1] in (None, to))}
            case core.Wait(queue, local=False):
                put, fenced = (frozenset(each for each in queues if each[0] != queue) for queues in (put, fenced))
        self.state.notes.update({key: queues for key, queues in ((PUT, put), (FENCED, fenced)) if queues})
        for key, queues in ((PUT, put), (FENCED, fenced)):
            if not queues:
                self.state.notes.pop(key, None)

    def end_of_life(self, id: ObjectId) -> None:
        """The memory of an object is given back and holds anything from now on: an operation that still reads or writes
        it is in conflict with whoever has it next."""
        if id in self.facts.objects:
            self.facts.objects[id].given_back = True
        if id in self.facts.objects and self.facts.objects[id].lent:
            for offset, size in sorted(self.pieces(Address(id, 0), self.size(Address(id, 0))).items()):
                self._issue_store(commands.Store(self.cell(Address(id, offset), size), Const(0)))
        self.state.memory.pop(id, None)
        self.state.initialised.pop(id, None)

    # Pointers

    def offset(self, pointer: Value, index: Value, size: int) -> Value:
        """``pointer`` moved by ``index`` elements of ``size`` bytes."""
        if isinstance(pointer, Undefined) or isinstance(index, Undefined):
            return UNDEFINED
        if isinstance(pointer, Known) and isinstance(index, Known):
            return Known(IntType(64, False).wrap(pointer.value + index.value * size))
        if leaves_of(pointer):
            raise Beyond("arithmetic on a pointer that is an unknown value")
        if not isinstance(pointer, Address) or not isinstance(index, Known | Unknown):
            raise Problem("PG143", "arithmetic on a pointer of which more must be known", "index an array instead")
        if isinstance(index, Known):
            distance = LONG.wrap(index.value) * size
            if isinstance(pointer.offset, int):
                return Address(pointer.object, pointer.offset + distance, pointer.owner, pointer.mapped)
            if not distance:
                return pointer
            granule = self.facts.finer(pointer.object, distance)
            moved = arithmetic.binary("+", Unknown(pointer.offset), Known(distance // granule), Integer(LONG))
            steps = pointer.steps[0] + distance, pointer.steps[1]
        else:
            index = Unknown(self.settled(index.expr, "an index", self._inside(pointer, size)))
            start = pointer.offset if isinstance(pointer.offset, int) else 0
            granule = self.facts.index(pointer.object, start, size)
            base: Value = Known(start // granule) if isinstance(pointer.offset, int) else Unknown(pointer.offset)
            scaled = arithmetic.binary("*", index, Known(size // granule), Integer(LONG))
            moved = arithmetic.binary("+", scaled, base, Integer(LONG))
            steps = (
                (start, size) if isinstance(pointer.offset, int) else (pointer.steps[0], gcd(pointer.steps[1], size))
            )
        moved = self.materialised(moved, "index")
        assert isinstance(moved, Known | Unknown)
        if isinstance(moved, Known):
            return Address(pointer.object, moved.value * granule, pointer.owner, pointer.mapped)
        first, step = steps
        return replace(pointer, offset=moved.expr, steps=(first % step if step else first, step))

    def _inside(self, pointer: Address, size: int) -> Interval | None:
        """The indices of elements of ``size`` bytes with which ``pointer`` stays in its object."""
        if not isinstance(pointer.offset, int) or not size:
            return None
        return -(pointer.offset // size), self.room(pointer) // size - 1

    def difference(self, left: Value, right: Value, size: int) -> Value:
        if isinstance(left, Undefined) or isinstance(right, Undefined):
            return UNDEFINED
        if isinstance(left, Address) and isinstance(right, Address) and left.place == right.place and size:
            if isinstance(left.offset, int) and isinstance(right.offset, int):
                return Known((left.offset - right.offset) // size)
            granule = self.facts.finer(left.object, size)
            cells = [
                Known(each.offset // granule) if isinstance(each.offset, int) else Unknown(each.offset)
                for each in (left, right)
            ]
            distance = arithmetic.binary("-", cells[0], cells[1], Integer(LONG))
            return arithmetic.binary("/", distance, Known(max(1, size // granule)), Integer(LONG))
        raise Problem("PG143", "the difference of pointers into different objects", "subtract indices instead")

    def alike(self, left: Value, right: Value) -> tuple[Value, Value]:
        """Two operands; of pointers into one object of which one is known and one is not, the known one is in cells,
        too."""
        if not (isinstance(left, Address) and isinstance(right, Address) and left.place == right.place):
            return left, right
        if isinstance(left.offset, int) == isinstance(right.offset, int):
            return left, right
        first, second = (
            replace(
                each, offset=Const(each.offset // self.facts.finer(each.object, each.offset)), steps=(each.offset, 0)
            )
            if isinstance(each.offset, int)
            else each
            for each in (left, right)
        )
        return first, second

    def followed(self, pointer: Value, what: str) -> Address | None:
        """``pointer`` where it is followed; None when that has no meaning (a null pointer), so that a run faults."""
        if isinstance(pointer, Address):
            if self.whose(pointer) is None:
                return pointer
            self.rests_on_memory("a pointer")
            if not pointer.mapped or pointer.owner not in self.world.neighbours(self.rank):
                say = ", or, where the ranks share memory, say so: `--shared-memory all`" if pointer.mapped else ""
                raise Problem(
                    "PG143",
                    f"memory of rank {pointer.owner} is {what} through a pointer by rank {self.rank}",
                    f"use a put or get of the API{say}",
                )
            return pointer
        if isinstance(pointer, Known | Undefined):
            return None
        if leaves_of(pointer):
            raise Beyond(f"memory is {what} through a pointer that is an unknown value")
        raise Problem(
            "PG143", "a pointer is followed of which it is not known where it points", "use an index into one array"
        )


def _bytes_of(part: Address, size: int, whole: Address) -> tuple[tuple[int, int], ...]:
    """The bytes of the cell of ``whole`` that the scalar of ``size`` bytes at ``part`` lies in, for the one access."""
    assert isinstance(part.offset, int) and isinstance(whole.offset, int)
    first = part.offset - whole.offset
    return ((first, first + size),)


def addresses_written(form: core.Form) -> Iterator[Expr]:
    """The addresses that a command may write, now or later."""
    return (made.cell.address for made in core.accesses_of(form) if made.writes)


def addresses_lent(form: core.Form) -> Iterator[Expr]:
    """The addresses here that a command reads or writes some time after its issue."""
    places = (step.access.cell for step in core.steps_of(form))
    return (place.address for place in places if place.rank is None)


def addresses_computed(form: core.Form) -> Iterator[Expr]:
    """The addresses at which a command learns what is there and writes at once."""
    made = zip(core.accesses_of(form), core.observed(form), strict=True)
    return (access.cell.address for access, learns in made if access.writes and learns)


def initial_contents(object: code.Object) -> Contents:
    """What a global or static object holds at the beginning."""
    contents = Contents(0)
    for offset, value, type in object.initial:
        contents.store(offset, value, type)
    return contents


def string_bytes(text: str) -> bytes:
    """The bytes of a string literal, with the zero at its end."""
    return text.encode("latin-1", "replace") + b"\0"
