"""Private memory with an entry for each rank, where the program is made for every number of nodes.

Such an object has ``each * nodes`` bytes. It is in no cells, and nothing but a call that fills it puts anything there:
the same in all entries, but that an address is one in the memory of the entry's rank. So it is enough to know one entry
(:class:`~pgasrob.frontends.c.values.Table`), and a pointer into an entry names the rank
(:class:`~pgasrob.frontends.c.values.Entry`). Whatever else is done with the object would have to know how large it is,
which is refused.
"""

from __future__ import annotations

from dataclasses import replace

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.c import arithmetic
from pgasrob.frontends.c.contents import Contents
from pgasrob.frontends.c.facts import shortest
from pgasrob.frontends.c.issuing import Issuer
from pgasrob.frontends.c.layout import size_of
from pgasrob.frontends.c.nondeterminism import leaves, values_of
from pgasrob.frontends.c.objects import Objects
from pgasrob.frontends.c.registers import Registers
from pgasrob.frontends.c.symbolic import NumberNeeded
from pgasrob.frontends.c.types import CType, Floating, Integer
from pgasrob.frontends.c.values import Address, Entry, Known, ObjectId, Table, Unknown, Value
from pgasrob.program import commands
from pgasrob.program.expressions import MOST_NODES, Binary, Const, Expr, IntType, Me, Nodes, Unary
from pgasrob.program.statements import Block, Do, If, Span

LONG = IntType(64, True)
FIELD = 8
"""The bytes of a pointer, and of what else lies in a table."""


def for_each_rank(value: Value) -> int | None:
    """How many bytes for each rank ``value`` is, where it is a number of nodes times some; else None."""
    each = _factor(value.expr) if isinstance(value, Unknown) else 0
    return each if each > 0 else None


def _factor(expr: Expr) -> int:
    """The number that ``expr`` is `nodes` times, without wrapping around; 0 where it is no such thing."""
    match expr:
        case Nodes():
            return 1
        case Unary("cast", operand, type):
            each = _factor(operand)
        case Binary("*", one, Const(number), type) | Binary("*", Const(number), one, type):
            each = _factor(one) * number
        case _:
            return 0
    return each if type.wrap(each * MOST_NODES) == each * MOST_NODES else 0


class Tables:
    """The objects of a rank that have an entry for each rank."""

    def __init__(self, objects: Objects, registers: Registers, issuer: Issuer) -> None:
        self.position = objects.position
        self.objects = objects
        self.registers = registers
        self.issuer = issuer
        self.world = self.position.world
        self.facts = self.position.facts

    def declare_table(self, id: ObjectId, name: str, each: int, type: CType | None, span: Span) -> None:
        """The object ``id``, of ``each`` bytes for each rank."""
        known = self.facts.objects.get(id)
        if known is not None and known.each != each:
            raise NumberNeeded(f"the size of `{name}` differs between paths through the program", span)
        self.facts.declare(id, name, 0, type, Contents(0), span).each = each

    def fill_table(self, address: Address, entry: int, fields: tuple[tuple[int, Address | Known], ...]) -> None:
        """Put ``fields`` into each entry of the table at ``address``, which must have entries of so many bytes."""
        self.objects.object(address.object)
        object = self.facts.objects[address.object]
        if object.each != entry or address.offset != 0:
            name = shortest(address.object, object)
            raise NumberNeeded(
                f"`{name}` does not have an entry for each rank, however many there are", self.position.span
            )
        self.position.state.tables[address.object] = Table(entry, fields)

    def entry(self, pointer: Value) -> Entry | None:
        """The entry of a table that ``pointer`` points into, if it does."""
        if not isinstance(pointer, Address):
            return pointer if isinstance(pointer, Entry) else None
        each = self._each(pointer.object)
        if not each:
            return None
        assert isinstance(pointer.offset, int)
        return Entry(pointer.object, Const(pointer.offset // each), pointer.offset % each)

    def _each(self, id: ObjectId) -> int:
        object = self.facts.objects.get(id)
        return 0 if object is None else object.each

    def moved_entry(self, pointer: Entry, index: Known | Unknown, size: int) -> Entry:
        """``pointer`` moved by ``index`` elements of ``size`` bytes: inside of its entry, or to another rank's."""
        each = self._each(pointer.object)
        if isinstance(index, Known) and 0 <= pointer.byte + LONG.wrap(index.value) * size < each:
            return replace(pointer, byte=pointer.byte + LONG.wrap(index.value) * size)
        if size != each or (isinstance(index, Unknown) and leaves(index.expr)):
            name = shortest(pointer.object, self.facts.objects[pointer.object])
            raise NumberNeeded(f"which entry of `{name}` this is, differs between numbers of nodes", self.position.span)
        moved = arithmetic.binary("+", arithmetic.value_of(pointer.rank), index, Integer(LONG))
        assert isinstance(moved, Known | Unknown)
        return replace(pointer, rank=arithmetic.expression(moved))

    def from_table(self, entry: Entry, type: CType) -> Value:
        """The scalar of ``type`` at ``entry``. A run in which there is no such rank faults."""
        table, name = self.position.state.tables.get(entry.object), self.facts.objects[entry.object].name
        held = None if table is None else dict(table.fields).get(entry.byte)
        if held is None or isinstance(type, Floating) or size_of(type) != FIELD:
            raise NumberNeeded(
                f"what is read of `{name}` is no field that a call has put there for each rank", self.position.span
            )
        self._check_rank(entry.rank, name)
        if isinstance(held, Known):
            return Known(type.type.wrap(held.value)) if isinstance(type, Integer) else held
        own = entry.rank == Me()
        return replace(held, owner=None if own else entry.rank, mapped=held.mapped or own)

    def _check_rank(self, rank: Expr, name: str) -> None:
        if is_a_rank(rank):
            return
        outside = Binary("||", Binary("<", rank, Const(0), LONG), Binary(">=", rank, Nodes(), LONG))
        nowhere = self.world.nowhere(f"`{name}` has no entry of a rank that is not there", Wrong.RANK)
        fault = Do(commands.Load(self.registers.register("undefined"), nowhere), self.position.span)
        self.issuer.emit(If(outside, Block((fault,)), None, self.position.span))


def is_a_rank(expr: Expr) -> bool:
    """Whether ``expr`` is a rank on every number of nodes, by its form."""
    match expr:
        case Me() | Const(0):
            return True
        case Binary("%", of, Nodes(), type):
            found = values_of(of, {})
            return not type.signed or (found is not None and found.low >= 0)
    return False
