"""Scalars that are no cell of their own: a part of one, or several. Loads put together what lies in cells, stores take
apart what they set."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import NamedTuple

from pgasrob.frontends.c.arithmetic import LONG, WORD, expression, value_of
from pgasrob.frontends.c.contents import Contents, from_bytes, to_bytes
from pgasrob.frontends.c.issuing import MOST_KNOWN, Issuer
from pgasrob.frontends.c.layout import size_of
from pgasrob.frontends.c.nondeterminism import UNKNOWN, range_of
from pgasrob.frontends.c.number_kinds import has_float
from pgasrob.frontends.c.objects import Objects
from pgasrob.frontends.c.pieces import LARGEST_NUMBER, NUMBERS
from pgasrob.frontends.c.pointers import Pointers
from pgasrob.frontends.c.problem import Problem
from pgasrob.frontends.c.registers import Registers, registers_in
from pgasrob.frontends.c.types import DOUBLE, FLOAT, CType, Floating, Integer
from pgasrob.frontends.c.undecided import Undecided
from pgasrob.frontends.c.values import Address, Known, Undefined, Unknown, Value
from pgasrob.program import commands
from pgasrob.program.assumptions import Kind
from pgasrob.program.expressions import Binary, Const, Expr, IntType, Register, Unary, folded


class Part(NamedTuple):
    """What a scalar has of one cell, that of ``whole``, which has ``size`` bytes: those from ``first`` to ``last``,
    which are the scalar's from ``at`` on."""

    whole: Address
    size: int
    first: int
    last: int
    at: int

    @property
    def bytes(self) -> tuple[tuple[int, int], ...]:
        """The bytes of the cell, for its one access; none where these are all."""
        return () if (self.first, self.last) == (0, self.size) else ((self.first, self.last),)


class Views:
    """Loads and stores of such scalars by one rank."""

    def __init__(
        self, registers: Registers, undecided: Undecided, issuer: Issuer, objects: Objects, pointers: Pointers
    ) -> None:
        self.position = objects.position
        self.registers = registers
        self.undecided = undecided
        self.issuer = issuer
        self.objects = objects
        self.pointers = pointers
        self.facts = objects.facts

    def of(self, address: Address, size: int) -> tuple[Part, ...]:
        """What the scalar of ``size`` bytes at ``address``, which lies in cells, has of these; nothing where it is one
        cell that holds it as it is."""
        id, facts = address.object, self.facts.objects[address.object]
        if isinstance(address.offset, int):
            self.facts.share(id, address.offset, size)
        if facts.pieces is not None:
            return tuple(self._in_pieces(address, size))
        if not isinstance(address.offset, int):
            return ()
        begin = facts.covered[address.offset]
        if (begin, facts.shared[begin]) == (address.offset, size):
            return ()
        if any(has_float(facts, each) for each in range(begin, begin + facts.shared[begin])):
            self.facts.split(id)
            return self.of(address, size)
        self.position.rests_on(Kind.PARTS, facts.name)
        first = address.offset - begin
        return (Part(Address(id, begin, address.owner), facts.shared[begin], first, first + size, 0),)

    def _in_pieces(self, address: Address, size: int) -> Iterator[Part]:
        facts, at = self.facts.objects[address.object], 0
        if size > LARGEST_NUMBER:
            raise Problem(
                "PG142", f"a long double lies in `{facts.name}`, memory that is accessed in several sizes",
                "use double, or access it as a long double alone",
            )  # fmt: skip
        if facts.dense:
            offset = address.offset
            granule = self.facts.finer(address.object, size, *([offset] if isinstance(offset, int) else address.steps))
            for at in range(0, size, granule):
                moved = self.pointers.offset(address, Known(at), 1)
                assert isinstance(moved, Address)
                yield Part(moved, granule, 0, granule, at)
            return
        while at < size:
            assert isinstance(address.offset, int)
            begin = facts.covered[address.offset + at]
            first = address.offset + at - begin
            last = min(facts.shared[begin], first + size - at)
            if (first, last) != (0, facts.shared[begin]):
                self.position.rests_on(Kind.PARTS, facts.name)
                last = first + next(each for each in NUMBERS if each <= last - first)
            yield Part(Address(address.object, begin, address.owner), facts.shared[begin], first, last, at)
            at += last - first

    def _cell(self, part: Part) -> Expr:
        """The cell of ``part``."""
        if isinstance(part.whole.offset, int):
            return self.pointers.placed(part.whole, part.size)
        return self.pointers.cell(part.whole, part.size)

    def reading(self, register: Register, address: Address, type: CType) -> tuple[commands.Command, ...]:
        """The commands that load the scalar at ``address``, which lies in cells, into ``register``."""
        if isinstance(address.offset, int):
            self.facts.note(address.object, address.offset, type)
        parts, owner = self.of(address, size_of(type)), self.position.whose(address)
        loaded = [register, *(self.registers.keep("piece") for _ in parts[1:])]
        if not parts:
            return (commands.Load(register, self.pointers.cell(address, size_of(type)), owner),)
        return (
            *(commands.Load(each, self._cell(part), owner, bytes=part.bytes)
              for each, part in zip(loaded, parts, strict=True)),
            commands.Assign(register, self._together(parts, loaded, type)),
        )  # fmt: skip

    def taken_apart(self, address: Address, value: Expr, type: CType) -> list[tuple[Expr, Expr]]:
        """The cells of the scalar at ``address``, with what they get where it becomes ``value``."""
        parts = self._whole_parts(address, size_of(type))
        known = value_of(value)
        return [(self._cell(part), piece_of(known, type, part.at, part.size)) for part in parts]

    def put_together(self, address: Address, type: CType) -> tuple[list[tuple[Expr, Register]], Expr]:
        """The cells of the scalar at ``address``, with registers, and what it is when these have been read."""
        parts = self._whole_parts(address, size_of(type))
        read = [self.registers.keep("result" if part.at == 0 else "piece") for part in parts]
        return [*zip(map(self._cell, parts), read, strict=True)], self._together(parts, read, type)

    def _whole_parts(self, address: Address, size: int) -> tuple[Part, ...]:
        parts, pieces = self.of(address, size), self.facts.objects[address.object].pieces
        for part in parts:
            if part.bytes and isinstance(part.whole.offset, int) and pieces is not None:
                raise pieces.torn(part.whole.offset, size, part.whole.offset + part.first - part.at)
        return parts

    def load(self, parts: tuple[Part, ...], address: Address, type: CType) -> Value:
        """The scalar of ``type`` at ``address``, which has these ``parts`` of cells."""
        owner, read = self.position.whose(address), self.issuer.flows.read
        loaded: list[Register] = []
        for part in parts:
            loaded.append(self.registers.register("t", before=False))
            self.registers.taken.add(loaded[-1].index)
            self.issuer.issue(commands.Load(loaded[-1], self._cell(part), owner, bytes=part.bytes))
        unknown = [read[each.index] for each in loaded if each.index in read]
        if unknown and len(parts) == 1 and not parts[0].bytes:
            return Unknown(self.issuer.flows.tied(unknown[0], range_of(type), as_type(loaded[0], type), loaded[0]))
        if unknown:
            return Unknown(self.undecided.new_leaf(UNKNOWN, range_of(type), exact=False, of=unknown))
        if (held := self.held(address, type)) is not None:
            return held
        return value_of(self._together(parts, loaded, type))

    def _together(self, parts: tuple[Part, ...], loaded: list[Register], type: CType) -> Expr:
        """What ``parts``, which have been ``loaded``, are together as a number of ``type``."""
        if len(parts) == 1 and parts[0].size == size_of(type):
            return as_type(loaded[0], type)
        if len(parts) == 1:
            return as_type(extracted(loaded[0], parts[0]), type)
        taken = (
            _moved(Unary("cast", extracted(each, part), IntType(8 * (part.last - part.first), False)), part.at)
            for each, part in zip(loaded, parts, strict=True)
        )
        return as_type(reduce(lambda left, right: Binary("|", left, right, WORD), taken), type)

    def held(self, address: Address, type: CType) -> Value | None:
        """What the shared scalar at ``address`` holds, when that is known all the same."""
        if self.position.whose(address) or not isinstance(address.offset, int):
            return None
        places = self._cells_of(address, size_of(type))
        steady = all(self.facts.is_steady(address.object, each) for each in places)
        if not steady and (not self.issuer.moved.looked_for or len(places) > 1):
            return None
        value = self.objects.contents(address.object).load(address.offset, type)
        known = isinstance(value, Known) and (steady or self.issuer.moved.number_at(address) is not None)
        return value if known else None

    def _cells_of(self, address: Address, size: int) -> set[int]:
        """Where the cells begin that the scalar at ``address`` lies in."""
        assert isinstance(address.offset, int)
        covered = self.facts.objects[address.object].covered
        return {covered.get(each, each) for each in range(address.offset, address.offset + size)}

    def store(self, parts: tuple[Part, ...], address: Address, value: Value, type: CType) -> None:
        """The scalar of ``type`` at ``address``, which has these ``parts`` of cells, becomes ``value``, a number."""
        assert isinstance(value, Known | Unknown | Undefined)
        self.registers.taken |= registers_in(value)
        owner = self.position.whose(address)
        for part in parts:
            if isinstance(value, Unknown) and len(parts) == 1 and part.bytes:
                self._store_part(part, bits_of(value.expr, type))
                continue
            mine = piece_of(value, type, part.at, part.last - part.first)
            if part.bytes:
                self._store_part(part, mine)
            else:
                self.issuer.issue_store(commands.Store(self._cell(part), mine, owner))
                if owner is None:
                    self.hold(part.whole, value_of(mine), Integer(IntType(8 * part.size, True)))

    def _store_part(self, part: Part, value: Expr) -> None:
        """Set a part of a cell: as it then is, where that is known, else by turning round the bits of it that are
        others, at once, so that what other ranks do to other parts meanwhile is kept."""
        id, owner, whole, size = part.whole.object, self.position.whose(part.whole), part.whole, part.size
        assert isinstance(whole.offset, int)
        type = Integer(IntType(8 * (part.last - part.first), True))
        wide = self.wide_type(whole, size)
        if owner is None and isinstance(value, Const) and self.facts.is_steady(id, whole.offset):
            self.hold(Address(id, whole.offset + part.first), Known(value.value), type)
            contents = self.objects.contents(id)
            now = [contents.byte(each) or 0 for each in range(whole.offset, whole.offset + size)]
            if all(isinstance(each, int) for each in now):
                number = from_bytes(bytes(each for each in now if isinstance(each, int)), wide)
                self.issuer.issue_store(commands.Store(self._cell(part), Const(number), bytes=part.bytes))
                return
        self.facts.unsettle(id, whole.offset)
        held = self.registers.register("whole")
        self.issuer.issue(commands.Load(held, self._cell(part), owner, bytes=part.bytes))
        self.registers.taken.add(held.index)
        bits = turned(held, part, value)
        as_double = DOUBLE in self.facts.objects[id].accesses.types(whole.offset)
        kind = wide.type if isinstance(wide, Integer) and not as_double else IntType(8 * size, True)
        rank, before = self.position.me if owner is None else owner, self.registers.register("before")
        update = commands.FetchUpdate("xor", before, rank, self._cell(part), bits, kind, atomic="", bytes=part.bytes)
        self.issuer.issue_store(update)
        self.registers.taken.discard(held.index)

    def wide_type(self, whole: Address, size: int) -> CType:
        """The type of the number that the cell at ``whole`` holds."""
        if self.facts.objects[whole.object].pieces is not None:
            return Integer(IntType(8 * size, True))
        return self.objects.scalar_type(whole, size)

    def hold(self, address: Address, value: Value, type: CType) -> None:
        """Note what a store has put into the shared scalar at ``address``."""
        id = address.object
        if not isinstance(address.offset, int) or len(self.facts.objects[id].shared) > MOST_KNOWN:
            self.facts.unsettle(id, None)
            return
        if isinstance(value, Unknown):
            self.facts.unsettle(id, address.offset)
        elif self.facts.is_steady(id, address.offset) or self.issuer.moved.looked_for:
            known = Known(0) if isinstance(value, Undefined) else value
            self.objects.contents(id, write=True).store(address.offset, known, type)


def assembled(contents: Contents, offset: int, size: int) -> Expr | None:
    """The ``size`` bytes at ``offset`` of memory that is in no cell, as an integer of 64 bits; None where bytes are no
    part of a number."""
    total, place = list[Expr](), offset
    while place < offset + size:
        at = next(iter(contents.overlapping(place, place + 1)), place)
        length, value, floating = contents.get(at) or (1, None, False)
        if not isinstance(value, Unknown):
            byte = contents.byte(place)
            if isinstance(byte, str):
                return None
            total.append(Const((byte or 0) << 8 * (place - offset)))
            place += 1
            continue
        if length > LARGEST_NUMBER:
            return None
        last = min(at + length, offset + size)
        bits = Unary("cast", bits_of(value.expr, Floating(8 * length) if floating else Integer(LONG)), WORD)
        moved = Binary(">>", bits, Const(8 * (place - at)), WORD) if place > at else bits
        mine = Binary("&", moved, Const((1 << 8 * (last - place)) - 1), WORD)
        total.append(_moved(mine, place - offset))
        place = last
    return reduce(lambda left, right: folded(Binary("|", left, right, WORD)), total)


def as_type(bits: Expr, type: CType) -> Expr:
    """``bits``, an integer, as a number of ``type``."""
    if type == FLOAT:
        return folded(Unary("of_bits32", bits))
    if not isinstance(type, Integer):
        return folded(Unary("cast", bits, LONG))
    if type.boolean:
        return folded(Binary("!=", folded(Unary("cast", bits, IntType(8, False))), Const(0)))
    return folded(Unary("cast", bits, type.type))


def bits_of(value: Expr, type: CType) -> Expr:
    """The bits of a number of ``type``, as an integer."""
    return folded(Unary("bits32", value)) if type == FLOAT else value


def piece_of(value: Known | Unknown | Undefined, type: CType, at: int, size: int) -> Expr:
    """The ``size`` bytes of a ``value`` of ``type`` from the one numbered ``at`` on, as a signed integer."""
    if isinstance(value, Undefined):
        return Const(0)
    if isinstance(value, Known):
        data = to_bytes(value, size_of(type), isinstance(type, Floating)) or b""
        return Const(int.from_bytes(data[at : at + size], "little", signed=True))
    bits = bits_of(expression(value), type)
    if at:
        bits = Binary(">>", Unary("cast", bits, WORD), Const(8 * at), WORD)
    return Unary("cast", bits, IntType(8 * size, True))


def extracted(cell: Expr, part: Part) -> Expr:
    """An unsigned integer that begins with the bytes that ``part`` has of a ``cell``."""
    bits = IntType(8 * part.size, False)
    whole = Unary("cast", cell, bits)
    return Binary(">>", whole, Const(8 * part.first), bits) if part.first else whole


def _moved(bits: Expr, at: int) -> Expr:
    return Binary("<<", bits, Const(8 * at), WORD) if at else bits


def turned(cell: Register, part: Part, value: Expr) -> Expr:
    """The bits of ``cell`` that are others when ``value`` comes to be its ``part``."""
    held: Expr = Unary("cast", cell, WORD)
    if part.first:
        held = Binary(">>", held, Const(8 * part.first), WORD)
    mask = (1 << 8 * (part.last - part.first)) - 1
    other = Binary("&", Binary("^", held, value, WORD), Const(mask), WORD)
    return _moved(other, part.first)
