"""The memory of one rank: its objects, loads and stores, pointers."""

from __future__ import annotations

from collections.abc import Iterator

from pgasrob.analysis.intervals import Interval
from pgasrob.frontends.c import arithmetic, code
from pgasrob.frontends.c.arithmetic import LONG, expression
from pgasrob.frontends.c.contents import Contents, from_bytes
from pgasrob.frontends.c.flows import UNKNOWN, Flows
from pgasrob.frontends.c.layout import size_of
from pgasrob.frontends.c.nondeterminism import leaves, leaves_of, only_leaves, range_of
from pgasrob.frontends.c.output import OUTSIDE
from pgasrob.frontends.c.parts import part_name, scalar_at
from pgasrob.frontends.c.problem import Beyond, Problem, TryAgain
from pgasrob.frontends.c.snapshots import Frame
from pgasrob.frontends.c.types import CHAR, Array, CType, Floating, Integer, Void
from pgasrob.frontends.c.values import UNDEFINED, Address, Code, Handle, Known, ObjectId, Undefined, Unknown, Value
from pgasrob.program import commands, core
from pgasrob.program.assumptions import Kind
from pgasrob.program.expressions import Binary, Conditional, Const, Expr, IntType, Register, Symbol, Unary
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
)

NOT_YET = Const(-2)
"""The address of what is not laid out yet: the machine will run again."""
MOST_KNOWN = 64
"""Scalars in cells of one object, up to which it is kept what they hold: nobody decides by a large buffer."""


class Memory(Flows):
    """Loads and stores. What is known is kept in `State.memory`; scalars with cells are accessed by commands."""

    # Objects

    def declare(
        self, id: ObjectId, name: str, size: int, type: CType | None, initial: Contents, span: Span = NOWHERE
    ) -> None:
        self.facts.declare(id, name, size, type, initial, span)

    def global_object(self, name: str) -> ObjectId:
        id = ObjectId("global", (name,))
        if id not in self.facts.objects:
            object = self.unit.objects[name]
            self.declare(id, name, size_of(object.type), object.type, initial_contents(object), object.span)
        return id

    def local_object(self, frame: Frame, name: str) -> ObjectId:
        id = local_id(frame, name)
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
                contents.scalars[offset] = (1, Known(IntType(8, True).wrap(byte)), False)
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
        self.object(address.object)
        assert isinstance(address.offset, int)
        return address.offset >= 0 and address.offset + size <= self.facts.objects[address.object].size

    def load(self, address: Address, type: CType) -> Value:
        """The scalar of ``type`` at ``address``, which is one's own memory; loaded into a register if it has a cell."""
        size = size_of(type)
        if isinstance(address.offset, int):
            if not self.within(address, size):
                self.fault()
                return UNDEFINED
            self.facts.note(address.object, address.offset, type)
            if not self.facts.is_shared(address.object, address.offset, size):
                value = self.contents(address.object).load(address.offset, type)
                if value is None:
                    raise Problem(
                        "PG142",
                        f"a part of a value in `{self.facts.objects[address.object].name}` is read as another type",
                        "read what was stored, with the same type",
                    )
                return value
        register = self.register("t", before=False)
        self.issue(commands.Load(register, self.cell(address, size)))
        if register.index in self.read:
            return Unknown(self.new_leaf(UNKNOWN, range_of(type), exact=False, of=[self.read[register.index]]))
        return self._held(address, type) or self.loaded(address, register, type)

    def _held(self, address: Address, type: CType) -> Value | None:
        """What the shared scalar at ``address`` holds, when that is known all the same."""
        if not isinstance(address.offset, int) or not self.facts.is_steady(address.object, address.offset):
            return None
        value = self.contents(address.object).load(address.offset, type)
        return value if isinstance(value, Known) else None

    def loaded(self, address: Address, register: Register, type: CType) -> Value:
        """``register``, which has been loaded from the cell at ``address``, as a value of ``type``.

        The cell may hold what a transfer or another access put there as a type of the same size with other values.
        """
        if not isinstance(type, Integer):
            return Unknown(register)
        object = self.facts.objects[address.object]
        offset = address.offset if isinstance(address.offset, int) else 0
        declared = scalar_at(object.type, offset) if object.type else None
        types = object.types.get(offset, frozenset())
        if any(isinstance(each, Floating) for each in types):
            raise Problem(
                "PG142",
                f"`{object.name}` holds an integer and a floating-point number",
                "access shared memory with one type per variable",
            )
        alike = declared == type and len(types) <= 1
        return Unknown(register if alike else Unary("cast", register, type.type))

    def store(self, address: Address, value: Value, type: CType) -> None:
        """The scalar of ``type`` at ``address``, which is one's own memory, becomes ``value``."""
        size = size_of(type)
        if isinstance(address.offset, int):
            if not self.within(address, size):
                return self.fault()
            self.facts.note(address.object, address.offset, type)
            if not self.facts.is_shared(address.object, address.offset, size):
                value = self._unmixed(address, value)
                if not isinstance(value, Unknown) or only_leaves(value.expr):
                    if isinstance(value, Address) and not isinstance(value.offset, int):
                        raise Problem("PG143", "a pointer is stored of which it is not known where it points",
                                      "keep an index instead")  # fmt: skip
                    self.contents(address.object, write=True).store(address.offset, value, type)
                    return None
                self.facts.share(address.object, address.offset, size)
        if isinstance(value, Address | Code | Handle):
            raise Problem(
                "PG143",
                f"a pointer is stored in `{self.facts.objects[address.object].name}`, memory that other ranks access",
                "keep pointers apart from data that is transferred; transfer indices",
            )
        expr = Const(0) if isinstance(value, Undefined) else expression(value)
        self._issue_store(commands.Store(self.cell(address, size), expr))
        self._hold(address, value, type)
        return None

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
                return OUTSIDE
            self.facts.share(id, address.offset, size)
            return self.placed(address, size)
        if id not in cells.granule:
            return NOT_YET
        name, base, count = self.facts.objects[id].name, cells.base[id], cells.counts[id]
        inside = Binary("&&", Binary(">=", address.offset, Const(0), LONG),
                        Binary("<", address.offset, Const(count), LONG))  # fmt: skip
        return Conditional(inside, Binary("+", Symbol(name, base), address.offset, LONG), OUTSIDE)

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
                self.facts.share(address.object, offset, min(facts.granule, end - offset))
        found = {**facts.filler, **facts.shared}
        return {offset: size for offset, size in sorted(found.items()) if offset < end and offset + size > start}

    def fill(self, address: Address, byte: int, bytes: int) -> None:
        """Set ``bytes`` bytes from ``address`` on to ``byte``."""
        self.object(address.object)
        if not isinstance(address.offset, int):
            raise Problem("PG140", "memory is filled, and it is not known from where on", "use a known index")
        if not self.within(address, bytes):
            return self.fault()
        if bytes <= 0:
            return None
        start, end = address.offset, address.offset + bytes
        for offset, size in self.pieces(address, bytes).items():
            if offset < start or offset + size > end:
                raise self._split(address)
            self._store_bytes(Address(address.object, offset, address.owner), bytes_of(byte, size), size)
        self.contents(address.object, write=True).fill(start, end, byte)
        return None

    def _store_bytes(self, address: Address, data: bytes, size: int) -> None:
        type = self.scalar_type(address, size)
        self._issue_store(commands.Store(self.cell(address, size), Const(from_bytes(data, type))))

    def scalar_type(self, address: Address, size: int) -> CType:
        """As what the scalar at ``address`` is used."""
        object = self.facts.objects[address.object]
        assert isinstance(address.offset, int)
        declared = scalar_at(object.type, address.offset) if object.type else None
        for each in (*object.types.get(address.offset, ()), declared):
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
            return self.fault()
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
            held = source.scalars.get(place.offset)
            if held is not None and held[0] == size:
                return held[1]
            value = source.load(place.offset, type)
            if value is None:
                raise self._split(place)
            return value
        register = self.register("t")
        self.issue(commands.Load(register, self.cell(place, size)))
        if register.index in self.read:
            return Unknown(self.new_leaf(UNKNOWN, range_of(type), exact=False, of=[self.read[register.index]]))
        steady = self._held(place, type)
        if steady is None:
            self.taken.add(register.index)
        return steady or Unknown(register)

    def given_up(self, id: ObjectId, offset: int, size: int, expr: Expr) -> None:
        self.facts.share(id, offset, size)
        self.facts.unsettle(id, offset)
        self._issue_store(commands.Store(self.cell(Address(id, offset), size), expr))

    def _issue_store(self, store: commands.Store) -> None:
        """One of the program's own stores: who makes it notes what it stores."""
        read, chosen = self.read, self.chosen
        super().emit(*self.without_unknowns((Do(store, self.span),)))
        self.read, self.chosen = read, chosen

    def emit(self, *statements: Statement) -> None:
        known = self.without_unknowns(statements)
        for statement in known:
            self._look_for_writes(statement)
        super().emit(*known)

    def _look_for_writes(self, statement: Statement) -> None:
        """Scalars that operations write are not what their rank has stored in them."""
        match statement:
            case Do(command):
                form = core.lower(command)
                for expr in addresses_written(form):
                    for id, offset in self.cells_at(expr):
                        large = len(self.facts.objects[id].shared) > MOST_KNOWN
                        self.facts.unsettle(id, None if large else offset)
                for expr in addresses_lent(form):
                    for id, _ in self.cells_at(expr):
                        self.facts.lend(id)
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

    def end_of_life(self, id: ObjectId) -> None:
        """The memory of an object is given back and holds anything from now on: an operation that still reads or writes
        it is in conflict with whoever has it next."""
        if id in self.facts.objects:
            self.facts.objects[id].given_back = True
        if id in self.facts.objects and self.facts.objects[id].lent:
            for offset, size in sorted(self.pieces(Address(id, 0), self.facts.objects[id].size).items()):
                self._issue_store(commands.Store(self.cell(Address(id, offset), size), Const(0)))
        self.state.memory.pop(id, None)

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
                return Address(pointer.object, pointer.offset + distance, pointer.owner)
            if not distance:
                return pointer
            granule = self.facts.finer(pointer.object, distance)
            moved = arithmetic.binary("+", Unknown(pointer.offset), Known(distance // granule), Integer(LONG))
        else:
            index = Unknown(self.settled(index.expr, "an index", self._inside(pointer, size)))
            start = pointer.offset if isinstance(pointer.offset, int) else 0
            granule = self.facts.index(pointer.object, start, size)
            base: Value = Known(start // granule) if isinstance(pointer.offset, int) else Unknown(pointer.offset)
            scaled = arithmetic.binary("*", index, Known(size // granule), Integer(LONG))
            moved = arithmetic.binary("+", scaled, base, Integer(LONG))
        moved = self.materialised(moved, "index")
        assert isinstance(moved, Known | Unknown)
        if isinstance(moved, Known):
            return Address(pointer.object, moved.value * granule, pointer.owner)
        return Address(pointer.object, moved.expr, pointer.owner)

    def _inside(self, pointer: Address, size: int) -> Interval | None:
        """The indices of elements of ``size`` bytes with which ``pointer`` stays in its object."""
        if not isinstance(pointer.offset, int) or not size:
            return None
        self.object(pointer.object)
        return -(pointer.offset // size), (self.facts.objects[pointer.object].size - pointer.offset) // size - 1

    def difference(self, left: Value, right: Value, size: int) -> Value:
        if isinstance(left, Undefined) or isinstance(right, Undefined):
            return UNDEFINED
        if isinstance(left, Address) and isinstance(right, Address) and left.object == right.object and size:
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

    def followed(self, pointer: Value, what: str) -> Address | None:
        """``pointer`` where it is followed; None when that has no meaning (a null pointer), so that a run faults."""
        if isinstance(pointer, Address):
            if pointer.owner not in (None, self.rank):
                raise Problem(
                    "PG143",
                    f"memory of rank {pointer.owner} is {what} through a pointer by rank {self.rank}",
                    "use a put or get of the API, or a pointer into one's own memory",
                )
            return pointer
        if isinstance(pointer, Known | Undefined):
            return None
        if leaves_of(pointer):
            raise Beyond(f"memory is {what} through a pointer that is an unknown value")
        raise Problem(
            "PG143", "a pointer is followed of which it is not known where it points", "use an index into one array"
        )


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


def bytes_of(byte: int, size: int) -> bytes:
    return bytes([byte & 255] * size)


def local_id(frame: Frame, name: str) -> ObjectId:
    return ObjectId("local", (frame.function.name, name, frame.depth))


def initial_contents(object: code.Object) -> Contents:
    """What a global or static object holds at the beginning."""
    contents = Contents(0)
    for offset, value in object.initial:
        type = scalar_at(object.type, offset)
        if type is None or isinstance(type, Void):
            raise Problem("PG143", f"an initial value of `{object.name}` that is no scalar", "", object.span)
        contents.scalars[offset] = (size_of(type), value, isinstance(type, Floating))
    return contents


def string_bytes(text: str) -> bytes:
    """The bytes of a string literal, with the zero at its end."""
    return text.encode("latin-1", "replace") + b"\0"
