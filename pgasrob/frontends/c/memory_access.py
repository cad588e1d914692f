"""The memory of one rank: loads and stores."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import reduce
from math import gcd

from pgasrob.frontends.apis.call_steps import FREED, NEVER, freed
from pgasrob.frontends.apis.lent import LENT, Lent, lent_of, wrongly_accessed
from pgasrob.frontends.c.arithmetic import LONG, expression, value_of
from pgasrob.frontends.c.contents import ANYTHING, Contents, from_bytes
from pgasrob.frontends.c.facts import LARGEST_CELL, ObjectFacts, shortest
from pgasrob.frontends.c.issuing import Issuer
from pgasrob.frontends.c.layout import size_of
from pgasrob.frontends.c.nondeterminism import INPUT, leaves, only_leaves, range_of
from pgasrob.frontends.c.number_kinds import kinds, signs
from pgasrob.frontends.c.objects import Objects
from pgasrob.frontends.c.parts import is_uneven
from pgasrob.frontends.c.pieces import NUMBERS, number_of
from pgasrob.frontends.c.pointers import Pointers
from pgasrob.frontends.c.problem import Problem
from pgasrob.frontends.c.registers import Registers, registers_in
from pgasrob.frontends.c.symbolic import NumberNeeded
from pgasrob.frontends.c.thread_buffers import Buffers
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
    has_known_offset,
    of_registers,
)
from pgasrob.frontends.c.views import Views, as_type, assembled, piece_of
from pgasrob.program import commands
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
        self.views = Views(registers, undecided, issuer, objects, pointers)
        self.world = self.position.world
        self.facts = self.position.facts
        self.sharing = Buffers(pointers, issuer)

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
        self.sharing.reads(address, size)
        if isinstance(address.offset, int):
            if not self.objects.within(address, size):
                self.issuer.fault(self.objects.outside(address, size))
                return UNDEFINED
            self.facts.note(address.object, address.offset, type)
            if owner is None and not self.facts.is_shared(address.object, address.offset, size):
                value = self.objects.contents(address.object).load(address.offset, type)
                return self._unknown_part(address, type) if value is None else value
        else:
            self.facts.note_each(address.object, self.pointers.offsets(address, size), type)
        if not self.unset.is_set(address, size):
            return UNDEFINED
        if parts := self.views.of(address, size):
            return self.views.load(parts, address, type)
        register = self.registers.register("t", before=False)
        self.issuer.issue(commands.Load(register, self.pointers.cell(address, size), owner))
        if register.index in self.flows.read:
            return self._unknown_read(register, type, address)
        if (held := self.views.held(address, type)) is not None:
            return held
        return self.loaded(address, register, type)

    def _unknown_read(self, register: Register, type: CType, whole: Address) -> Unknown:
        """What ``register`` holds after a load from the cell of the scalar at ``whole``, which may hold an unknown
        value."""
        read, number = self.flows.read[register.index], None
        with suppress(Problem):
            number = self.loaded(whole, register, type).expr
        return Unknown(self.flows.tied(read, range_of(type), number, register))

    def reading(self, register: Register, address: Address, type: CType) -> tuple[commands.Command, ...]:
        """The commands that load the scalar at ``address`` into ``register``, where that is no cell of its own; none
        where it is."""
        facts = self.facts.objects.get(address.object)
        if facts is None:
            return ()
        begin = facts.covered.get(address.offset, -1) if isinstance(address.offset, int) else -1
        in_others = facts.pieces is not None or facts.shared.get(begin, 0) > size_of(type)
        return self.views.reading(register, address, type) if in_others else ()

    def _unknown_part(self, address: Address, type: CType) -> Value:
        """The scalar of ``type`` at ``address``, where parts of unknown values lie, or unknown bytes."""
        assert isinstance(address.offset, int)
        if self.position.rank.is_symbol:
            # On one number it may be a part of a number.
            what = f"a part of a value in `{self.facts.objects[address.object].name}`"
            raise NumberNeeded(f"{what} differs between numbers of nodes")
        contents = self.objects.contents(address.object)
        parts = contents.unknown_parts(address.offset, size_of(type))
        if parts is not None and not any(leaves(value.expr) for value in parts):
            bits = assembled(contents, address.offset, size_of(type)) if size_of(type) <= LARGEST_CELL else None
            if bits is not None:
                return Unknown(as_type(bits, type))
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

    def loaded(self, address: Address, register: Register, type: CType) -> Unknown:
        """``register``, which has been loaded from the cell at ``address``, as a value of ``type``.

        The cell may hold what a transfer or another access put there as a type of the same size with other values.
        """
        object = self.facts.objects[address.object]
        if object.pieces is not None:
            return Unknown(as_type(register, type))
        offsets = self.pointers.offsets(address, size_of(type))
        declared, types = self.facts.declared(address.object, offsets), object.accesses.types(*offsets)
        known = types | declared if isinstance(address.offset, int) else types
        if not isinstance(type, Integer):
            mixed = object.mixed or any(isinstance(each, Integer) for each in known)
            if type == FLOAT and any(isinstance(each, Integer) and size_of(each) == 4 for each in known):
                self.facts.split(address.object)
            return Unknown(Unary("cast", register, LONG) if mixed and type == DOUBLE else register)
        if size_of(type) != 8 and any(isinstance(each, Floating) for each in known):
            self.facts.split(address.object)
        alike = declared == {type} and len(types) <= 1 and not object.mixed
        return Unknown(register if alike else Unary("cast", register, type.type))

    def number_at(self, address: Address, type: CType, *, compared: bool, in_pieces: bool = False) -> None:
        """A call uses the scalar at ``address``, which lies in a cell, as one of ``type``. Cells hold numbers of the
        types that they have where they come from, so a call that compares them (``compared``) needs one type, and one
        that computes with floats needs cells that hold such, unless it takes them ``in_pieces``."""
        stop_point()  # a call may be about thousands of them
        id, size, offsets = address.object, size_of(type), self.pointers.offsets(address, size_of(type))
        if not isinstance(address.offset, int):
            self.facts.note_each(id, offsets, type)
        elif self.objects.within(address, size):
            self.facts.note(id, address.offset, type)
        object = self.facts.objects[id]
        if len({kind for offset in offsets for kind in kinds(self.facts, id, offset)}) > 1:
            self.facts.split(id)
        if object.pieces is not None and type == FLOAT and not in_pieces:
            raise self._of_two_kinds(object)
        several = len({sign for offset in offsets for sign in signs(self.facts, id, offset, size)}) > 1
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
            f"a call uses a float in `{object.name}`, in bytes that are accessed in other sizes or as integers, too",
            "use one type for what such calls use: they compute, compare or wait",
        )

    def store(self, address: Address, value: Value, type: CType) -> None:
        """The scalar of ``type`` at ``address`` becomes ``value``."""
        size, owner = size_of(type), self.position.whose(address)
        self._is_allowed(address, size, stores=True)
        self.objects.object(address.object)
        self.sharing.writes(address, size, value, type)
        if isinstance(address.offset, int):
            if not self.objects.within(address, size):
                return self.issuer.fault(self.objects.outside(address, size))
            self.facts.note(address.object, address.offset, type)
            if owner is None and not self.facts.is_shared(address.object, address.offset, size):
                value = self._unmixed(address, value)
                if not isinstance(value, Unknown) or only_leaves(value.expr):
                    if isinstance(value, Address) and not has_known_offset(value):
                        raise Problem("PG143", "a pointer is stored, and it is not known where it points",
                                      "keep an index instead")  # fmt: skip
                    if of_registers(value):
                        raise NumberNeeded("a pointer is stored, and to whose memory differs each time")
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
        if parts := self.views.of(address, size):
            self.views.store(parts, address, value, type)
            return None
        self.issuer.issue_store(commands.Store(self.pointers.cell(address, size), expr, owner))
        if owner is None:
            self.views.hold(address, value, type)
        return None

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

    def fill(self, address: Address, byte: int, bytes: int) -> None:
        """Set ``bytes`` bytes from ``address`` on to ``byte``, one from 0 to 255, or to ``ANYTHING``."""
        self._is_allowed(address, bytes, stores=True)
        self.objects.object(address.object)
        if bytes <= 0:
            return None
        self.sharing.fills(address, bytes)
        if not isinstance(address.offset, int):
            for place, type in self._elements(bytes, address):
                self._fill_scalar(self._inside(address, place), byte, type)
            return None
        if not self.objects.within(address, bytes):
            return self.issuer.fault(self.objects.outside(address, bytes))
        start, end = address.offset, address.offset + bytes
        facts = self.facts.objects[address.object]
        if facts.pieces is not None and not facts.dense:
            self.facts.learn(facts.pieces.cut(start) | facts.pieces.cut(end))
        for offset, size in self.pointers.pieces(address, bytes).items():
            within = start <= offset and offset + size <= end
            if within and byte != ANYTHING and facts.is_only_moved(offset):
                self._set_run(Address(address.object, offset, address.owner), size, number_of(byte.to_bytes() * size))
            elif not within:
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

    def _set_run(self, address: Address, size: int, value: Expr | int) -> None:
        """The piece of ``size`` bytes at ``address``, which is only moved, gets the number of its contents."""
        assert isinstance(address.offset, int)
        self.unset.initialise(address, size)
        if isinstance(value, Expr):
            self.facts.unsettle(address.object, address.offset)
        cell, owner = self.pointers.placed(address, size), self.position.whose(address)
        self.issuer.issue_store(commands.Store(cell, Const(value) if isinstance(value, int) else value, owner))

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
        self.sharing.reads(of, bytes)
        self.sharing.fills(to, bytes)
        if not isinstance(to.offset, int) or not isinstance(of.offset, int):
            return self._copy_elements(to, of, bytes)
        if self._in_parts(to, bytes) or self._in_parts(of, bytes):
            return self._copy_bytes(to, of, bytes)
        source = self.objects.contents(of.object).copy()
        read = self.pointers.pieces(of, bytes)
        shift = to.offset - of.offset
        written = {offset - shift: size for offset, size in self.pointers.pieces(to, bytes).items()}
        known = {offset: (size, value, floating) for offset, size, value, floating in
                 source.inside(of.offset, of.offset + bytes)}  # fmt: skip
        scalars = {offset: held[0] for offset, held in known.items()}
        if any(scalars.get(each, size) != size for each, size in read.items()) or is_uneven(scalars | read, written):
            return self._copy_bytes(to, of, bytes)
        values: list[tuple[int, Value, CType]] = []
        for offset in sorted({*read, *written, *known}):
            size = read.get(offset) or written.get(offset) or known[offset][0]
            place = Address(of.object, offset, of.owner)
            there = Address(to.object, offset + shift)
            held = None if offset in read else known.get(offset)
            type = self.objects.copied_type(place, there, size, held)
            if offset in read:
                self.facts.note(of.object, offset, type)
            values.append((offset, self._copied(place, size, type, source, offset in read), type))
        self.objects.contents(to.object, write=True).copy_fills(source, of.offset, bytes, to.offset)
        for offset, value, type in values:
            self.store(Address(to.object, offset + shift, to.owner), value, type)
        return None

    def _in_parts(self, address: Address, bytes: int) -> bool:
        """Whether the object at ``address`` lies in pieces, or a scalar has some of ``bytes`` bytes there, and more."""
        facts, start, contents = (
            self.facts.objects[address.object],
            address.offset,
            self.objects.contents(address.object),
        )
        assert isinstance(start, int)
        borders = (start, start + bytes)
        ends = [
            (each, (contents.get(each) or (1,))[0])
            for border in borders
            for each in contents.overlapping(border, border + 1)
        ]
        cells = self.pointers.pieces(address, bytes).items() if facts.pieces is None else ()
        torn = any(each < border < each + size for border in borders for each, size in (*ends, *cells))
        return facts.pieces is not None or torn

    def _copy_bytes(self, to: Address, of: Address, bytes: int) -> None:
        """Copy ``bytes`` bytes, of which some may be parts of scalars: all is read before anything is set."""
        assert isinstance(to.offset, int) and isinstance(of.offset, int)
        self.pointers.pair(of, to, bytes)
        source = self.objects.contents(of.object).copy()
        found, place = list[tuple[int, int, Value | Expr, CType | None]](), 0
        while place < bytes:
            stop_point()
            here, there = (Address(each.object, base + place, each.owner)
                           for each, base in ((of, of.offset), (to, to.offset)))  # fmt: skip
            size, value, type = self._piece(here, there, bytes - place, source)
            if value is not None:
                found.append((place, size, value, type))
            place += size
        self.objects.contents(to.object, write=True).copy_fills(source, of.offset, bytes, to.offset)
        for place, size, value, type in found:
            goal = Address(to.object, to.offset + place, to.owner)
            if isinstance(value, Const):
                self._set_run(goal, size, value.value)
                for at in range(place, place + size):
                    byte = source.load(of.offset + at, CHAR) or UNDEFINED
                    self.objects.contents(to.object, write=True).store(to.offset + at, byte, CHAR)
            elif isinstance(value, Expr):
                self._set_run(goal, size, value)
            elif type is not None:
                self.store(goal, value, type)

    def _piece(
        self, of: Address, to: Address, most: int, source: Contents
    ) -> tuple[int, Value | Expr | None, CType | None]:
        """The size of the next piece of a copy, of ``most`` bytes, and what it is, with the type that it is stored as;
        an expression for a run that is only moved, None for what filled ranges say."""
        assert isinstance(of.offset, int) and isinstance(to.offset, int)
        read, room = self.pointers.piece_at(of, most)
        written, room = self.pointers.piece_at(to, room)
        if self._is_run(of, room) and self._is_run(to, room):
            register = self.registers.register("t")
            self.issuer.issue(commands.Load(register, self.pointers.placed(of, room), self.position.whose(of)))
            self.registers.taken.add(register.index)
            return room, self.flows.read.get(register.index, register), None
        held = source.get(of.offset)
        if not read and not written:
            if held is not None and held[0] <= room:
                return held[0], held[1], Floating(8 * held[0]) if held[2] else Integer(IntType(8 * held[0], True))
            if held is None and source.is_free(of.offset, 1):
                return 1, None, None
        if self._is_run(to, room) and not read:
            data = [source.byte(each) or 0 for each in range(of.offset, of.offset + room)]
            if all(isinstance(each, int) for each in data):
                return room, Const(number_of(bytes(each for each in data if isinstance(each, int)))), None
        size = next(each for each in NUMBERS if each <= room and not (held and each > held[0]))
        type = Integer(IntType(8 * size, True))
        return size, self._bits_at(of, type, source, bool(read)), type

    def _is_run(self, address: Address, size: int) -> bool:
        """Whether the ``size`` bytes at ``address`` are a piece that is only moved."""
        facts = self.facts.objects[address.object]
        own = facts.shared.get(address.offset) if isinstance(address.offset, int) else None
        return facts.pieces is not None and size not in NUMBERS and own == size

    def _bits_at(self, place: Address, type: Integer, source: Contents, shared: bool) -> Value:
        """The bytes at ``place`` as an integer of ``type``."""
        assert isinstance(place.offset, int)
        size = size_of(type)
        if not shared:
            value = source.load(place.offset, type)
            bits = assembled(source, place.offset, size) if value is None else None
            return value or (self._unknown_part(place, type) if bits is None else Unknown(as_type(bits, type)))
        if not self.unset.is_set(place, size):
            return UNDEFINED
        if parts := self.views.of(place, size):
            return self.views.load(parts, place, type)
        own = self.objects.scalar_type(place, size)
        found = self._copied(place, size, own, source, shared)
        return value_of(piece_of(found, own, 0, size)) if isinstance(found, Known | Unknown) else found

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
        steady = self.views.held(place, type)
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
