"""The memory of one rank: loads and stores."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import reduce
from math import gcd

from pgasrob.frontends.apis.call_steps import FREED, NEVER, freed
from pgasrob.frontends.apis.lent import LENT, Lent, lent_of, wrongly_accessed
from pgasrob.frontends.c.arithmetic import LONG, WORD, expression
from pgasrob.frontends.c.contents import ANYTHING, Contents, from_bytes
from pgasrob.frontends.c.facts import LARGEST_CELL, ObjectFacts, shortest
from pgasrob.frontends.c.issuing import MOST_KNOWN, Issuer
from pgasrob.frontends.c.layout import size_of
from pgasrob.frontends.c.nondeterminism import INPUT, leaves, only_leaves, range_of
from pgasrob.frontends.c.objects import Objects
from pgasrob.frontends.c.pointers import Pointers
from pgasrob.frontends.c.problem import Problem
from pgasrob.frontends.c.registers import Registers, registers_in
from pgasrob.frontends.c.symbolic import NumberNeeded
from pgasrob.frontends.c.types import CHAR, DOUBLE, FLOAT, CType, Floating, Integer
from pgasrob.frontends.c.undecided import Undecided
from pgasrob.frontends.c.unset import Unset
from pgasrob.frontends.c.values import (
    UNDEFINED,
    Address,
    Code,
    Entry,
    Handle,
    Known,
    ObjectId,
    Undefined,
    Unknown,
    Value,
    of_registers,
)
from pgasrob.program import commands
from pgasrob.program.assumptions import Kind
from pgasrob.program.expressions import Binary, Const, Expr, IntType, Register, Symbol, Unary
from pgasrob.program.illegal_calls import Illegal, IllegalCall, Opened, Rule
from pgasrob.program.statements import Block, Do, While
from pgasrob.stop_points import stop_point


class Memory:
    """Loads and stores. What is known is kept in `State.memory`; scalars with cells are accessed by commands."""

    def __init__(
        self,
        registers: Registers,
        undecided: Undecided,
        unset: Unset,
        issuer: Issuer,
        objects: Objects,
        pointers: Pointers,
    ) -> None:
        self.position = objects.position
        self.registers = registers
        self.undecided = undecided
        self.unset = unset
        self.issuer = issuer
        self.flows = issuer.flows
        self.objects = objects
        self.pointers = pointers
        self.world = self.position.world
        self.facts = self.position.facts

    def is_forbidden(self, id: ObjectId) -> bool:
        """Whether the program may not access all of the object: it has been given back, or lent to a call."""
        notes = self.position.state.notes
        return id in freed(notes) or bool(lent_of(notes, id))

    def _is_allowed(self, address: Address, size: int, stores: bool = False) -> None:
        """Note that the program itself accesses ``size`` bytes at ``address``, which may be in no memory that has been
        given back, or lent to a call."""
        notes = self.position.state.notes
        known = freed(notes) if FREED in notes else {}
        wrong = []
        if address.object in known:
            opened, rule = known[address.object]
            wrong.append((rule, "an access to `{}`, which has been freed", opened))
        if self._is_own_and_lent(address):
            for lent in wrongly_accessed(notes, address, size, stores):
                wrong.append((lent.rule, lent.what("`{}`"), lent.call))
            offset = address.offset
            for lent in lent_of(notes, address.object):
                if isinstance(offset, int) or not (stores or lent.receives):
                    continue
                if not self.facts.objects[address.object].grows:
                    unless = self._is_beside(offset, size, lent)
                    self._forbidden(address.object, lent.rule, lent.what("`{}`"), lent.call, unless)
        for rule, sentence, opened in wrong:
            self._forbidden(address.object, rule, sentence, opened)

    def _is_beside(self, offset: Expr, size: int, lent: Lent) -> Expr:
        """Whether none of the ``size`` bytes from ``offset`` on, which counts cells, is lent."""
        begin = Binary("*", offset, Const(self.facts.objects[lent.object].granule), LONG)
        beside = (
            Binary("||", Binary("<=", Binary("+", begin, Const(size), LONG), Const(first), LONG),
                   Binary(">=", begin, Const(last), LONG))
            for first, last in lent.pieces
        )  # fmt: skip
        return reduce(lambda one, other: Binary("&&", one, other), beside)

    def _is_own_and_lent(self, address: Address) -> bool:
        return LENT in self.position.state.notes and self.position.whose(address) is None

    def _forbidden(self, id: ObjectId, rule: Rule, sentence: str, opened: Opened, unless: Expr = NEVER) -> None:
        """The program does by itself what ``rule`` forbids with the object, whose name belongs into ``sentence``,
        ``unless`` a condition holds."""
        name = shortest(id, self.facts.objects[id])
        call = IllegalCall(rule, self.position.span, sentence.format(name), opened)
        self.issuer.issue(Illegal(unless, call))

    def load(self, address: Address, type: CType) -> Value:
        """The scalar of ``type`` at ``address``; loaded into a register if it has a cell, as all has that is in the
        memory of another rank."""
        size, owner = size_of(type), self.position.whose(address)
        self._is_allowed(address, size)
        if isinstance(address.offset, int):
            if not self.objects.within(address, size):
                self.issuer.fault(self.objects.outside(address, size))
                return UNDEFINED
            self.facts.note(address.object, address.offset, type)
            if owner is None and not self.facts.is_shared(address.object, address.offset, size):
                value = self.objects.contents(address.object).load(address.offset, type)
                if value is None:
                    return self._unknown_part(address, type)
                return value
        else:
            self.facts.note_each(address.object, self.pointers.offsets(address, size), type)
        if not self.unset.is_set(address, size):
            return UNDEFINED
        around = self._around(address, size)
        register = self.registers.register("t", before=False)
        bytes = () if around is None else _bytes_of(address, size, around[0])
        self.issuer.issue(commands.Load(register, self.pointers.cell(*(around or (address, size))), owner, bytes=bytes))
        if register.index in self.flows.read:
            return self._unknown_read(register, type, None if around else address)
        if (held := self.held(address, type)) is not None:
            return held
        if around is None:
            return self.loaded(address, register, type)
        assert isinstance(type, Integer) and isinstance(address.offset, int) and isinstance(around[0].offset, int)
        return Unknown(extracted(register, around[1], address.offset - around[0].offset, type))

    def _unknown_read(self, register: Register, type: CType, whole: Address | None) -> Unknown:
        """What ``register`` holds after a load from a cell that may hold an unknown value, the one of the scalar at
        ``whole`` if given."""
        read, number = self.flows.read[register.index], None
        if whole is not None:
            with suppress(Problem):
                number = self.loaded(whole, register, type).expr
        return Unknown(self.flows.tied(read, range_of(type), number, register))

    def is_part(self, address: Address, size: int) -> bool:
        """Whether the scalar of ``size`` bytes at ``address`` is a part of a larger one that has a cell."""
        facts = self.facts.objects.get(address.object)
        if facts is None or not isinstance(address.offset, int):
            return False
        return facts.shared.get(facts.covered.get(address.offset, -1), 0) > size

    def reading(self, register: Register, address: Address, type: Integer = CHAR) -> tuple[commands.Command, ...]:
        """The commands that load the integer at ``address``, which is known, into ``register``. It lies in a cell then,
        or in a part of one."""
        assert isinstance(address.offset, int)
        self.facts.note(address.object, address.offset, type)
        around, owner = self._around(address, size_of(type)), self.position.whose(address)
        if around is None:
            return (commands.Load(register, self.pointers.cell(address, size_of(type)), owner),)
        whole, size = around
        assert isinstance(whole.offset, int)
        bytes = _bytes_of(address, size_of(type), whole)
        load = commands.Load(register, self.pointers.cell(whole, size), owner, bytes=bytes)
        return load, commands.Assign(register, extracted(register, size, address.offset - whole.offset, type))

    def _around(self, address: Address, size: int) -> tuple[Address, int] | None:
        """The scalar that has the cell and its size, where the one at ``address`` is only a part of it."""
        if not isinstance(address.offset, int):
            return None
        self.facts.share(address.object, address.offset, size)
        facts = self.facts.objects[address.object]
        begin = facts.covered[address.offset]
        if (begin, facts.shared[begin]) == (address.offset, size):
            return None
        self.position.rests_on(Kind.PARTS, facts.name)
        for offset in range(begin, begin + facts.shared[begin]):
            if Floating(32) in facts.accesses.types(offset):
                raise Problem(
                    "PG142", f"a part of a float in `{facts.name}`, memory that other ranks access, is read or set",
                    "access shared memory with one type per variable",
                )  # fmt: skip
        return Address(address.object, begin, address.owner), facts.shared[begin]

    def _unknown_part(self, address: Address, type: CType) -> Value:
        """The scalar of ``type`` at ``address``, where parts of unknown values lie, or unknown bytes."""
        assert isinstance(address.offset, int)
        if self.position.rank.is_symbol:
            # On one number it may be a part of a number.
            what = f"a part of a value in `{self.facts.objects[address.object].name}`"
            raise NumberNeeded(f"{what} is another thing on every number of nodes")
        contents = self.objects.contents(address.object)
        parts = contents.unknown_parts(address.offset, size_of(type))
        if parts is None or any(not only_leaves(value.expr) for value in parts):
            raise Problem(
                "PG142",
                f"a part of a value in `{self.facts.objects[address.object].name}` is read as another type",
                "read what was stored, with the same type",
            )
        of = [leaf for value in parts for leaf in leaves(value.expr)]
        value = Unknown(self.undecided.new_leaf(INPUT, range_of(type), exact=False, of=of))
        if not of:
            self.objects.contents(address.object, write=True).store(address.offset, value, type)  # it stays what it was
        return value

    def held(self, address: Address, type: CType) -> Value | None:
        """What the shared scalar at ``address`` holds, when that is known all the same."""
        if self.position.whose(address) or not isinstance(address.offset, int):
            return None
        steady = self.facts.is_steady(address.object, address.offset)
        if not steady and not self.issuer.moved.looked_for:
            return None
        value = self.objects.contents(address.object).load(address.offset, type)
        known = isinstance(value, Known) and (steady or self.issuer.moved.number_at(address) is not None)
        return value if known else None

    def loaded(self, address: Address, register: Register, type: CType) -> Unknown:
        """``register``, which has been loaded from the cell at ``address``, as a value of ``type``.

        The cell may hold what a transfer or another access put there as a type of the same size with other values.
        """
        object = self.facts.objects[address.object]
        offsets = self.pointers.offsets(address, size_of(type))
        declared, types = self.facts.declared(address.object, offsets), object.accesses.types(*offsets)
        known = types | declared if isinstance(address.offset, int) else types
        if not isinstance(type, Integer):
            mixed = object.mixed or any(isinstance(each, Integer) for each in known)
            if type == FLOAT and any(isinstance(each, Integer) and size_of(each) == 4 for each in known):
                raise self._of_two_kinds(object)
            return Unknown(Unary("cast", register, LONG) if mixed and type == DOUBLE else register)
        if size_of(type) != 8 and any(isinstance(each, Floating) for each in known):
            raise self._of_two_kinds(object)
        alike = declared == {type} and len(types) <= 1 and not object.mixed
        return Unknown(register if alike else Unary("cast", register, type.type))

    def number_at(self, address: Address, type: CType, *, compared: bool) -> None:
        """A call uses the scalar at ``address``, which lies in a cell, as one of ``type``. Cells hold numbers of the
        types that they have where they come from, so a call that compares them (``compared``) needs one type."""
        stop_point()  # a call may be about thousands of them
        id, size, offsets = address.object, size_of(type), self.pointers.offsets(address, size_of(type))
        if not isinstance(address.offset, int):
            self.facts.note_each(id, offsets, type)
        elif self.objects.within(address, size):
            self.facts.note(id, address.offset, type)
        object = self.facts.objects[id]
        if len({kind for offset in offsets for kind in self.facts.kinds(id, offset)}) > 1:
            raise self._of_two_kinds(object)
        several = len({sign for offset in offsets for sign in self.facts.signs(id, offset, size)}) > 1
        if several:
            self.facts.mix(id)
        if compared and (several or (object.mixed and not object.dense)):
            raise Problem(
                "PG142",
                f"a call compares what `{object.name}` holds, which is set with another sign, or in parts",
                "use the type of the variable in all calls",
            )

    def _of_two_kinds(self, object: ObjectFacts) -> Problem:
        return Problem(
            "PG142",
            f"`{object.name}` holds an integer and a floating-point number",
            "access shared memory with one type per variable",
        )

    def store(self, address: Address, value: Value, type: CType) -> None:
        """The scalar of ``type`` at ``address`` becomes ``value``."""
        size, owner = size_of(type), self.position.whose(address)
        self._is_allowed(address, size, stores=True)
        if isinstance(address.offset, int):
            if not self.objects.within(address, size):
                return self.issuer.fault(self.objects.outside(address, size))
            self.facts.note(address.object, address.offset, type)
            if owner is None and not self.facts.is_shared(address.object, address.offset, size):
                value = self._unmixed(address, value)
                if not isinstance(value, Unknown) or only_leaves(value.expr):
                    if isinstance(value, Address) and not isinstance(value.offset, int | Const):
                        raise Problem("PG143", "a pointer is stored of which it is not known where it points",
                                      "keep an index instead")  # fmt: skip
                    if of_registers(value):
                        raise NumberNeeded("a pointer is stored, and to whose memory is another thing each time")
                    self.objects.contents(address.object, write=True).store(address.offset, value, type)
                    return None
                self.facts.share(address.object, address.offset, size)
        else:
            self.facts.note_each(address.object, self.pointers.offsets(address, size), type)
        if isinstance(value, Address | Entry | Code | Handle):
            raise Problem(
                "PG143",
                f"a pointer is stored in `{self.facts.objects[address.object].name}`, memory that other ranks access",
                "keep pointers apart from data that is transferred; transfer indices",
            )
        if owner is None:
            self.unset.initialise(address, size, isinstance(value, Undefined))
        expr = Const(0) if isinstance(value, Undefined) else expression(value)
        if owner and any(to in (None, address.owner) for _, to in self.issuer.fenced):
            raise Problem(
                "PG143",
                f"memory of rank {address.owner} is set through a pointer behind a fence of puts",
                "a fence puts it after them, which is not supported: wait for the puts to be complete instead",
            )
        around = self._around(address, size)
        if around is not None:
            self._store_part(*around, address, value, type)
            return None
        self.issuer.issue_store(commands.Store(self.pointers.cell(address, size), expr, owner))
        if owner is None:
            self._hold(address, value, type)
        return None

    def _store_part(self, whole: Address, size: int, part: Address, value: Value, type: CType) -> None:
        """Set a part of the cell of ``whole``: as it then is, where that is known, else by turning round the bits of it
        that are others, at once, so that what other ranks do to other parts meanwhile is kept."""
        id, owner = whole.object, self.position.whose(whole)
        assert isinstance(type, Integer) and isinstance(whole.offset, int) and isinstance(part.offset, int)
        wide, bytes = self.objects.scalar_type(whole, size), _bytes_of(part, size_of(type), whole)
        if owner is None and not isinstance(value, Unknown) and self.facts.is_steady(id, whole.offset):
            self._hold(part, value, type)
            now = self.objects.contents(id).load(whole.offset, wide)
            if isinstance(now, Known):
                self.issuer.issue_store(commands.Store(self.pointers.cell(whole, size), Const(now.value), bytes=bytes))
                return
        self.facts.unsettle(id, whole.offset)
        held = self.registers.register("whole")
        self.issuer.issue(commands.Load(held, self.pointers.cell(whole, size), owner, bytes=bytes))
        self.registers.taken.add(held.index)
        assert isinstance(value, Known | Unknown | Undefined)
        new = Const(0) if isinstance(value, Undefined) else expression(value)
        bits = turned(held, part.offset - whole.offset, new, type)
        as_double = DOUBLE in self.facts.objects[id].accesses.types(whole.offset)
        kind = wide.type if isinstance(wide, Integer) and not as_double else IntType(8 * size, True)
        rank = self.position.me if owner is None else owner
        cell = self.pointers.cell(whole, size)
        before = self.registers.register("before")
        self.issuer.issue_store(commands.FetchUpdate("xor", before, rank, cell, bits, kind, atomic="", bytes=bytes))
        self.registers.taken.discard(held.index)

    def _unmixed(self, address: Address, value: Value) -> Value:
        """``value`` as memory outside of cells can hold it, without registers: one in which registers and unknown
        values are mixed becomes unknown itself, unless its unknown values are to be chosen, since something depends on
        it."""
        if not isinstance(value, Unknown) or not leaves(value.expr) or only_leaves(value.expr):
            return value
        expr, place = value.expr, (address.object, address.offset)
        assert isinstance(address.offset, int)
        if self.facts.decisive_cells.has(address.object, address.offset):
            expr = self.undecided.exactly(expr)
        return Unknown(self.undecided.blurred(expr, origins=frozenset({place})) if leaves(expr) else expr)

    def _hold(self, address: Address, value: Value, type: CType) -> None:
        """Note what a store has put into the shared scalar at ``address``."""
        if not isinstance(address.offset, int) or len(self.facts.objects[address.object].shared) > MOST_KNOWN:
            self.facts.unsettle(address.object, None)
        elif isinstance(value, Unknown):
            self.facts.unsettle(address.object, address.offset)
        elif self.facts.is_steady(address.object, address.offset) or self.issuer.moved.looked_for:
            known = Known(0) if isinstance(value, Undefined) else value
            self.objects.contents(address.object, write=True).store(address.offset, known, type)

    def fill(self, address: Address, byte: int, bytes: int) -> None:
        """Set ``bytes`` bytes from ``address`` on to ``byte``, one from 0 to 255, or to ``ANYTHING``."""
        self._is_allowed(address, bytes, stores=True)
        self.objects.object(address.object)
        if bytes <= 0:
            return None
        if not isinstance(address.offset, int):
            for place, type in self._elements(bytes, address):
                self._fill_scalar(self._inside(address, place), byte, type)
            return None
        if not self.objects.within(address, bytes):
            return self.issuer.fault(self.objects.outside(address, bytes))
        start, end = address.offset, address.offset + bytes
        for offset, size in self.pointers.pieces(address, bytes).items():
            if offset < start or offset + size > end:
                for place in range(max(start, offset), min(end, offset + size)):
                    self._fill_scalar(Address(address.object, place, address.owner), byte, CHAR)
            else:
                scalar = Address(address.object, offset, address.owner)
                self._fill_scalar(scalar, byte, self.objects.scalar_type(scalar, size))
        self.objects.contents(address.object, write=True).fill(start, end, byte)
        return None

    def _fill_scalar(self, address: Address, byte: int, type: CType) -> None:
        if byte == ANYTHING:
            value: Value = Unknown(self.undecided.new_leaf(INPUT, range_of(type), exact=False))
        else:
            value = Known(from_bytes(byte.to_bytes() * size_of(type), type))
        self.store(address, value, type)

    def _split(self, address: Address) -> Problem:
        return Problem(
            "PG142", f"a part of a scalar in `{self.facts.objects[address.object].name}` is set", "set whole variables"
        )

    def copy(self, to: Address, of: Address, bytes: int) -> None:
        """Copy ``bytes`` bytes of one's own memory."""
        self._is_allowed(of, bytes)
        self._is_allowed(to, bytes, stores=True)
        self.objects.object(to.object)
        self.objects.object(of.object)
        for each in (to, of):
            if isinstance(each.offset, int) and not self.objects.within(each, bytes):
                return self.issuer.fault(self.objects.outside(each, bytes))
        if bytes <= 0:
            return None
        if not isinstance(to.offset, int) or not isinstance(of.offset, int):
            return self._copy_elements(to, of, bytes)
        source = self.objects.contents(of.object).copy()
        read = self.pointers.pieces(of, bytes)
        shift = to.offset - of.offset
        written = {offset - shift: size for offset, size in self.pointers.pieces(to, bytes).items()}
        known = {offset: (size, value, floating) for offset, size, value, floating in
                 source.inside(of.offset, of.offset + bytes)}  # fmt: skip
        target = self.objects.contents(to.object, write=True)
        for start, end, byte in source.fills:
            first, last = max(start, of.offset), min(end, of.offset + bytes)
            if first < last:
                target.fill(first + shift, last + shift, byte)
        values: list[tuple[int, Value, CType]] = []
        for offset in sorted({*read, *written, *known}):
            size = read.get(offset) or written.get(offset) or known[offset][0]
            floating = known[offset][2] if offset in known else None
            place = Address(of.object, offset, of.owner)
            there = Address(to.object, offset + shift)
            if floating:
                type: CType = Floating(8 * size)
            elif offset in written and offset not in read and offset not in known:
                type = self.objects.scalar_type(there, size)
            else:
                type = self.objects.known_type(place, size) or self.objects.scalar_type(there, size)
            if offset in read:
                self.facts.note(of.object, offset, type)
            if offset < of.offset or offset + size > of.offset + bytes:
                raise self._split(of)
            values.append((offset, self._copied(place, size, type, source, offset in read), type))
        for offset, value, type in values:
            self.store(Address(to.object, offset + shift, to.owner), value, type)
        return None

    def _copy_elements(self, to: Address, of: Address, bytes: int) -> None:
        """Copy ``bytes`` bytes where it is not known from or to where: all is read before anything is set."""
        elements, values = self._elements(bytes, of, to), list[Value]()
        for place, type in elements:
            values.append(self.load(self._inside(of, place), type))
            self.registers.taken |= registers_in(values[-1])
        for (place, type), value in zip(elements, values, strict=True):
            self.store(self._inside(to, place), value, type)

    def _inside(self, address: Address, place: int) -> Address:
        moved = self.pointers.offset(address, Known(place), 1)
        assert isinstance(moved, Address)
        return moved

    def _elements(self, bytes: int, *regions: Address) -> list[tuple[int, CType]]:
        """The scalars among ``bytes`` bytes from ``regions`` on, by their places, where it is not known of each region
        where it begins: those that the program names there, and between them pieces as large as they may be."""
        finest = gcd(bytes, LARGEST_CELL)
        for each in regions:
            finest = gcd(finest, self.facts.objects[each.object].granule)
            finest = gcd(finest, *((each.offset,) if isinstance(each.offset, int) else each.steps))
        found, place = list[tuple[int, CType]](), 0
        while place < bytes:
            stop_point()
            named = [self._named(each, place) for each in regions]
            types = [each for type in named for each in type if each is not None and place + size_of(each) <= bytes]
            if types:
                found.append((place, min(types, key=size_of)))
            elif not any(None in each for each in named):  # else a byte between the members of a struct
                found.append((place, Integer(IntType(8 * gcd(place, finest), True))))
            place += size_of(found[-1][1]) if found and found[-1][0] == place else 1
        return found

    def _named(self, region: Address, place: int) -> frozenset[CType | None]:
        """As what the program names a scalar that begins ``place`` bytes into ``region``, wherever that begins; None:
        its declaration has none there."""
        facts = self.facts.objects[region.object]
        if isinstance(region.offset, int):
            offsets: Sequence[int] = (region.offset + place,)
        else:
            start, step = region.steps
            first = (start + place) % step if step else start + place
            offsets = range(first, max(facts.size, first + 1), step or facts.size)
            self.facts.few(region.object, offsets)
        held = self.objects.contents(region.object).get(offsets[0]) if isinstance(region.offset, int) else None
        if held is not None:
            return frozenset((Floating(8 * held[0]) if held[2] else Integer(IntType(8 * held[0], True)),))
        known: frozenset[CType | None] = facts.accesses.types(*offsets)
        if not known and facts.type is not None:
            known = self.facts.declared(region.object, offsets)
        return frozenset(
            each if each is None or isinstance(each, Integer | Floating) else Integer(IntType(8 * size_of(each), True))
            for each in known
        )

    def _copied(self, place: Address, size: int, type: CType, source: Contents, shared: bool) -> Value:
        assert isinstance(place.offset, int)
        if not shared:
            held = source.get(place.offset)
            if held is not None and held[0] == size:
                return held[1]
            value = source.load(place.offset, type)
            return self._unknown_part(place, type) if value is None else value
        if not self.unset.is_set(place, size):
            return UNDEFINED
        register = self.registers.register("t")
        self.issuer.issue(commands.Load(register, self.pointers.cell(place, size)))
        if register.index in self.flows.read:
            return self._unknown_read(register, type, place)
        steady = self.held(place, type)
        if steady is None:
            self.registers.taken.add(register.index)
        return steady or Unknown(register)

    def give_up(self, id: ObjectId, offset: int, size: int, expr: Expr) -> None:
        self.facts.share(id, offset, size)
        self.facts.unsettle(id, offset)
        cell = self.pointers.cell(Address(id, offset), size)
        if not self.world.cells.is_new(cell):  # else the next pass has it there from the beginning
            self.issuer.issue_store(commands.Store(cell, expr))

    def end_of_life(self, id: ObjectId) -> None:
        """The memory of an object is given back and holds anything from now on: an operation that still reads or writes
        it is in conflict with the next user of the memory. None of it may be lent to a call."""
        for lent in lent_of(self.position.state.notes, id):
            self._forbidden(id, lent.rule, lent.what("`{}`", "the end of the life of"), lent.call)
        if id in self.facts.objects:
            self.facts.objects[id].given_back = True
        if id in self.facts.objects and self.facts.objects[id].grows:
            self._give_back_growing(id)
        elif id in self.facts.objects and self.facts.objects[id].lent:
            for offset, size in sorted(self.pointers.pieces(Address(id, 0), self.objects.size(Address(id, 0))).items()):
                cell = self.pointers.cell(Address(id, offset), size)
                self.issuer.issue_store(commands.Store(cell, Const(0), ends=True))
        self.position.state.memory.pop(id, None)
        self.position.state.tables.pop(id, None)
        self.position.state.initialised.pop(id, None)

    def _give_back_growing(self, id: ObjectId) -> None:
        cells = self.world.cells
        if not self.facts.objects[id].lent or id not in cells.granule:
            return
        place = self.registers.register("element")
        first, count = Symbol(self.facts.objects[id].name, cells.base[id]), self.pointers.cells_of(id)
        store = commands.Store(Binary("+", first, place, LONG), Const(0), ends=True)
        step = commands.Assign(place, Binary("+", place, Const(1), LONG))
        body = Block((Do(store, self.position.span), Do(step, self.position.span)))
        self.issuer.emit(
            Do(commands.Assign(place, Const(0)), self.position.span),
            While(Binary("<", place, count, LONG), body, self.position.span),
        )


def _bytes_of(part: Address, size: int, whole: Address) -> tuple[tuple[int, int], ...]:
    """The bytes of the cell of ``whole`` that the scalar of ``size`` bytes at ``part`` lies in, for the one access."""
    assert isinstance(part.offset, int) and isinstance(whole.offset, int)
    first = part.offset - whole.offset
    return ((first, first + size),)


def extracted(cell: Register, size: int, at: int, type: Integer) -> Expr:
    """The integer of ``type`` that lies ``at`` bytes into the ``cell`` of ``size`` bytes."""
    bits = IntType(8 * size, False)
    whole = Unary("cast", cell, bits)
    moved = Binary(">>", whole, Const(8 * at), bits) if at else whole
    if type.boolean:
        return Binary("!=", Unary("cast", moved, IntType(8, False)), Const(0))
    return Unary("cast", moved, type.type)


def turned(cell: Register, at: int, value: Expr, type: Integer) -> Expr:
    """The bits of ``cell`` that are others when ``value``, of ``type``, comes to lie ``at`` bytes into it."""
    held = Unary("cast", cell, WORD)
    if at:
        held = Binary(">>", held, Const(8 * at), WORD)  # type: ignore[assignment]
    other = Binary("&", Binary("^", held, value, WORD), Const((1 << 8 * size_of(type)) - 1), WORD)
    return Binary("<<", other, Const(8 * at), WORD) if at else other
