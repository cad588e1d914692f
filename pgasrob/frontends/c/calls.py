"""What the handler of an API's function may ask of the machine at a call of it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import accumulate
from operator import itemgetter
from typing import NoReturn, cast

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.apis.interface import Exposed
from pgasrob.frontends.c import code
from pgasrob.frontends.c.arithmetic import expression, value_of
from pgasrob.frontends.c.by_rank import look_alike, notes_at, on_rank
from pgasrob.frontends.c.contents import Contents
from pgasrob.frontends.c.layout import size_of
from pgasrob.frontends.c.machine_parts import Parts
from pgasrob.frontends.c.nondeterminism import CLOCK, TIME, leaves_of, range_of
from pgasrob.frontends.c.parts import pointed_to, scalars_of, with_lengths
from pgasrob.frontends.c.problem import Beyond, Problem, Several
from pgasrob.frontends.c.symbolic import SOME, Extent, NumberNeeded, extent_of
from pgasrob.frontends.c.thread_facts import OBJECTS_OF_THREAD
from pgasrob.frontends.c.types import LONG, Array, CType, Pointer, Void
from pgasrob.frontends.c.values import Address, Known, ObjectId, Undefined, Unknown, Value
from pgasrob.program.assumptions import Kind
from pgasrob.program.commands import Command, Mark
from pgasrob.program.expressions import Const, Expr, Me, Nodes, Register, alike, depends_on_rank, is_of_rank
from pgasrob.program.illegal_calls import Illegal, IllegalCall, Rule
from pgasrob.program.outside_memory import Outside
from pgasrob.program.statements import NOWHERE, Choose, Do, Goto, If, Labelled, Loop, Skip, Span, Statement, While

LONGEST_NAME = 40
"""Of a pointer, as which memory is shown that it points to."""
STATEMENTS = (Do, Skip, Goto, If, While, Choose, Loop, Labelled)


class MachineCall:
    """The protocol :class:`~pgasrob.frontends.apis.interface.Call`, by a machine at a call instruction."""

    def __init__(self, machine: Parts, call: code.Call, name: str) -> None:
        self.machine = machine
        self.call = call
        self.name = name
        self.strict = machine.world.program.strict
        slots, place = machine.position.frame.slots, machine.position.place
        self.arguments: tuple[Value, ...] = tuple(slots[slot] for slot in call.arguments)
        if place is not None:
            self.arguments = tuple(on_rank(each, place) for each in self.arguments)
        self.types = call.types
        self.texts = call.texts
        self.span: Span = machine.position.span
        self.dialects = machine.world.program.dialects

    @property
    def symbolic(self) -> bool:
        return self.machine.position.rank.is_symbol

    @property
    def rank(self) -> int:
        if self.symbolic:
            raise NumberNeeded(f"what `{self.name}` does here differs between ranks", self.span)
        return self.machine.position.rank.number

    @property
    def thread(self) -> int:
        return self.machine.position.thread

    @property
    def thread_id(self) -> tuple[int, int]:
        size, fork = self.machine.threads.team
        return self.thread, fork if size == 1 else 0

    @property
    def nodes(self) -> int:
        if self.symbolic:
            raise NumberNeeded(f"what `{self.name}` does here differs between numbers of nodes", self.span)
        return self.machine.world.nodes

    @property
    def me(self) -> Const | Me:
        return self.machine.position.me

    @property
    def count(self) -> Const | Nodes:
        return self.machine.world.count

    @property
    def everyone(self) -> tuple[int, ...]:
        return self.machine.world.everyone

    def among(self, members: tuple[int, ...]) -> bool:
        return members == self.everyone or self.machine.position.rank.each(lambda rank: rank in members)

    def may_be(self, index: int, value: int) -> bool:
        bounds = self.machine.undecided.bounds(self.expression(index))
        return bounds is not None and value in bounds

    def number_needed(self, what: str) -> NoReturn:
        raise NumberNeeded(f"{what} differs between numbers of nodes", self.span)

    def at_most(self, nodes: int) -> None:
        world = self.machine.world
        world.most_nodes = min(world.most_nodes, nodes)

    @property
    def in_open_loop(self) -> bool:
        return self.machine.merge_points.in_open_loop

    @property
    def state(self) -> Mapping[str, Hashable]:
        return notes_at(self.machine.position.state.notes, self.machine.position.place)

    # Arguments

    def known(self, index: int) -> int:
        self.try_each(index)
        value = self._argument(index)
        if isinstance(value, Known):
            return value.value
        if self.machine.position.facts_changed:
            raise Problem("PG140", "an argument that is not known yet")
        if isinstance(value, Undefined):
            raise self._not_set(index)
        if isinstance(value, Unknown) and is_of_rank(value.expr):
            between = "ranks" if depends_on_rank(value.expr) else "numbers of nodes"
            raise NumberNeeded(f"{self._which(index)} differs between {between}", self.span)
        raise Problem(
            "PG140",
            f"{self._which(index)} is not known here",
            "it must be the same in every run of a rank: compute it from ranks and constants, not from shared memory",
            self.span,
        )

    def extent(self, index: int) -> int | Extent:
        value = self._argument(index)
        if self.symbolic and isinstance(value, Unknown) and (found := extent_of(value.expr)) is not None:
            return found if found.each else found.more
        return self.known(index)

    def try_each(self, index: int) -> None:
        value = self._argument(index)
        if isinstance(value, Unknown) and leaves_of(value):
            raise Several(value.expr, self._which(index))

    def expression(self, index: int) -> Expr:
        value = self._argument(index)
        if not isinstance(value, Undefined):
            return self.value_expression(value)
        if not any(len(node.goes_to) > 1 for node in self.machine.writer.nodes.values()):
            raise self._not_set(index)
        # Behind a branch on a register perhaps no run comes here; one that does is in error.
        if self.machine.writer.open:
            self.machine.issuer.fault(f"{self._which(index)} has not been set", Wrong.UNSET)
        return Const(0)

    def _not_set(self, index: int) -> Problem:
        hint = "give the variable a value before the call: until then it may hold anything"
        return Problem(Wrong.UNSET, f"{self._which(index)} has not been set", hint, self.span)

    def pointer(self, index: int, *, of_others: bool = False) -> Address | None:
        value = self._argument(index)
        if isinstance(value, Address):
            if not of_others and isinstance(value.owner, Expr):
                raise NumberNeeded(f"in whose memory {self._which(index)} points differs between ranks", self.span)
            if not of_others and self.machine.position.whose(value) is not None:
                raise Problem(
                    Wrong.ELSEWHERE,
                    f"{self._which(index)} points into the memory of rank {value.owner}",
                    "copy it to memory of the rank's own first, or pass the rank's own address of a symmetric object",
                    self.span,
                )
            return value
        if value == Known(0):
            return None
        if leaves_of(value):
            raise Beyond(f"{self._which(index)} is an unknown value")
        if isinstance(value, Undefined):
            raise self._not_set(index)
        what, hint = "is no address that is known", "pass the address of a variable or of memory"
        raise Problem("PG143", f"{self._which(index)} {what}", hint, self.span)

    def value_expression(self, value: Value) -> Expr:
        if isinstance(value, Known | Unknown):
            return expression(value)
        if isinstance(value, Undefined):
            return Const(0)
        raise Problem("PG143", f"a pointer where `{self.name}` takes a number", "transfer indices, not pointers")

    def _argument(self, index: int) -> Value:
        if index >= len(self.arguments):
            raise Problem(
                "PG126",
                f"`{self.name}` is called with {len(self.arguments)} arguments",
                "see its declaration",
                self.span,
            )
        return self.arguments[index]

    def _which(self, index: int) -> str:
        text = f" `{self.texts[index]}`" if index < len(self.texts) else ""
        return f"argument {index + 1}{text} of `{self.name}`"

    # Memory

    def size_of(self, type: CType) -> int:
        return size_of(type)

    def moved(self, address: Address, bytes: int) -> Address:
        moved = self.machine.pointers.offset(address, Known(bytes), 1)
        assert isinstance(moved, Address)
        return moved

    def element(self, address: Address, index: Expr, size: int) -> Address:
        moved = self.machine.pointers.offset(address, value_of(index), size)
        assert isinstance(moved, Address)
        return moved

    def cell(self, address: Address, size: int) -> Expr:
        return self.machine.pointers.cell(address, size)

    def number(self, address: Address, type: CType, *, compared: bool = False) -> Expr:
        machine = self.machine
        cell = machine.pointers.cell(address, size_of(type))
        machine.memory.number_at(address, type, compared=compared)
        return cell

    def reading(self, register: Register, address: Address, type: CType) -> tuple[Command, ...]:
        return self.machine.memory.reading(register, address, type)

    def taken_apart(self, address: Address, value: Expr, type: CType) -> list[tuple[Expr, Expr]]:
        if (cell := self._one_cell(address, type)) is not None:
            return [(cell, value)]
        return self.machine.memory.views.taken_apart(address, value, type)

    def put_together(self, address: Address, type: CType) -> tuple[list[tuple[Expr, Register]], Expr]:
        if (cell := self._one_cell(address, type)) is not None:
            register = self.register()
            return [(cell, register)], self.as_number(register, address, type)
        return self.machine.memory.views.put_together(address, type)

    def _one_cell(self, address: Address, type: CType) -> Expr | None:
        """The cell of the number at ``address``, unless it lies in pieces."""
        machine = self.machine
        cell = machine.pointers.cell(address, size_of(type), at_once=False)
        machine.memory.number_at(address, type, compared=False, in_pieces=True)
        return cell if machine.facts.objects[address.object].pieces is None else None

    def as_number(self, register: Register, address: Address, type: CType) -> Expr:
        return self.value_expression(self.machine.memory.loaded(address, register, type))

    def paired_cells(self, first: Address, second: Address, bytes: int, element: int | None) -> list[tuple[Expr, Expr]]:
        return self.machine.transferred.paired(first, second, bytes, element)

    def scalars_in(self, address: Address, bytes: int) -> tuple[tuple[int, CType], ...]:
        return self.machine.objects.scalars_in(address, bytes)

    def walked_cells(
        self, first: Address, second: Address, bytes: int, element: int | None
    ) -> tuple[Register, int, Expr, Expr] | None:
        return self.machine.transferred.walked(first, second, bytes, element)

    def load(self, address: Address, type: CType) -> Value | None:
        place, value = self.machine.position.place, self._load(address, type)
        return value if place is None or value is None else on_rank(value, place)

    def _load(self, address: Address, type: CType) -> Value | None:
        machine = self.machine
        machine.objects.object(address.object)
        if (
            machine.position.whose(address)
            or not isinstance(address.offset, int)
            or not machine.objects.within(address, size_of(type))
        ):
            return None
        machine.memory.sharing.reads(address, size_of(type))
        if machine.facts.is_shared(address.object, address.offset, size_of(type)):
            return machine.memory.views.held(address, type)
        return machine.objects.contents(address.object).load(address.offset, type)

    def allocate(
        self,
        kind: str,
        bytes: int | Extent,
        name: str | None = None,
        key: tuple[int | str, ...] | None = None,
        *,
        to: Address | None = None,
        asked_for: bool = True,
    ) -> Address:
        if asked_for:
            self.rests_on(Kind.ALLOCATION, self.name.removeprefix("__"))
        return self.allocated(kind, self._next(kind) if key is None else key, bytes, name, to)

    def _next(self, kind: str) -> int:
        """The number of the next object of ``kind``."""
        notes = self.machine.position.state.notes
        counter = f"machine.{kind}"
        number = cast(int, notes.get(counter, 0))
        notes[counter] = number + 1
        return number + OBJECTS_OF_THREAD * self.machine.position.thread

    def allocated(
        self,
        kind: str,
        number: int | tuple[int | str, ...],
        bytes: int | Extent,
        name: str | None,
        to: Address | None = None,
    ) -> Address:
        """The object ``number`` of ``kind``; the variable that the pointer to it goes to gives its name and type.

        Its bytes are zero until they are set, as cells are.
        """
        wanted, type = self._result_variable() if to is None else (self.variable_at(to), None)
        id = ObjectId(kind, number)
        shown = name or wanted or (f"{kind}{number}" if isinstance(number, int) else kind)
        if isinstance(bytes, Extent):
            self.machine.objects.declare_growing(id, shown, bytes, type, self.span)
        else:
            self.machine.objects.declare(id, shown, bytes, type, Contents(0), self.span)
        if to is not None:
            self.machine.facts.objects[id].seen_as = shown, self._pointed_to(to)
        if isinstance(bytes, Extent):
            return Address(id, Const(0), steps=(0, self.machine.facts.objects[id].size))
        return Address(id, 0)

    @property
    def is_for_pointers(self) -> bool:
        """Whether there are pointers in what the variable points to that the call's result is assigned to."""
        _, type = self._result_variable()
        of = type.of if isinstance(type, Array) else None
        return (
            of is not None and not isinstance(of, Void) and any(isinstance(each, Pointer) for _, each in scalars_of(of))
        )

    def allocate_table(self, each: int) -> Address:
        """Memory of the heap with ``each`` bytes for each rank."""
        self.rests_on(Kind.ALLOCATION, self.name.removeprefix("__"))
        number = self._next("heap")
        name, type = self._result_variable()
        id = ObjectId("heap", number)
        self.machine.tables.declare_table(id, name or f"heap{number}", each, type, self.span)
        return Address(id, 0)

    def own_element(self, memory: Address, table: Address, rank: str) -> None:
        facts, name = self.machine.facts, self.variable_at(table)
        if name is not None and memory.object in facts.objects:
            array, bracket, member = name.rpartition("[0]")
            own = f"{array}[{facts.rank or rank}]{member}" if bracket else name
            object, seen_as = facts.objects[memory.object], (own, self._pointed_to(table))
            if object.seen_as not in (None, seen_as):
                facts.changed()  # its cells are called otherwise
            object.seen_as = seen_as

    def gets_rank(self, to: Address | None = None) -> None:
        facts = self.machine.facts
        if facts.rank is None:
            facts.rank = self._result_variable()[0] if to is None else self.variable_at(to)

    def variable_at(self, address: Address) -> str | None:
        """What C calls the variable at ``address``, where that is known and not too long (lists may be)."""
        if not isinstance(address.offset, int):
            return None
        name = self.machine.facts.expression(address.object, address.offset)
        return None if name is None or len(name) > LONGEST_NAME else name

    def _pointed_to(self, pointer: Address) -> CType | None:
        facts = self.machine.facts
        return facts.pointer_type(pointer.object, pointer.offset) if isinstance(pointer.offset, int) else None

    def _result_variable(self) -> tuple[str | None, CType | None]:
        """Name of the variable that the call's result is assigned to, and the array that it points to."""
        machine, frame = self.machine, self.machine.position.frame
        slot = machine.registers.destination()
        if slot is not None:
            variable = frame.function.slots[slot]
            return variable.name, pointed_to(with_lengths(variable.type, frame.slots))
        source = self.call.target
        for instruction in frame.function.code[frame.pc + 1 : frame.pc + 6]:
            match instruction:
                case code.Convert(target, of) | code.Move(target, of) if of == source:
                    source = target
                case code.Store(pointer, of, type) if of == source:
                    address = frame.slots[pointer]
                    name = self.variable_at(address) if isinstance(address, Address) else None
                    return name, pointed_to(type)
        return None, None

    def fill_table(self, table: Address, entry: int, fields: tuple[tuple[int, Address | Known], ...]) -> None:
        self.machine.tables.fill_table(table, entry, fields)

    def internal(self, kind: str, *key: int | str, bytes: int = 8, initial: int = 0, name: str) -> Address:
        id = ObjectId(f"internal {kind}", key)
        if id not in self.machine.facts.objects:
            contents = Contents(0)
            for offset in range(0, bytes, 8):
                contents.store(offset, Known(initial), LONG)
            type = Array(LONG, bytes // 8) if bytes > 8 else None
            self.machine.objects.declare(id, name, bytes, type, contents, NOWHERE)
        return Address(id, 0)

    def own_cell(self, kind: str, *key: int | str, name: str) -> Expr:
        address = self.internal(kind, *key, name=name)
        self.machine.facts.hide(address.object)
        return self.machine.pointers.placed(address, 8)

    def clock(self, most: int | None = None) -> Value:
        self.rests_on(Kind.UNKNOWN_VALUES, f"{self.name}() ({'from 0 on' if most is None else f'0 to {most}'})")
        return Unknown(self.machine.undecided.new_leaf(CLOCK, (0, TIME[1] if most is None else most), exact=False))

    def unknown_in(self, cells: Sequence[Expr], type: CType, own: Expr | None = None) -> Expr | None:
        places = [place for cell in cells for place in self.machine.world.cells.named_by(cell)]
        return self.machine.flows.unknown_in(places, range_of(type), own)

    def become_unknown(self, cells: Sequence[Expr]) -> None:
        self.machine.facts.unknowns = True
        for cell in cells:
            for place in self.machine.world.cells.named_by(cell):
                self.machine.facts.doubt(*place)

    # Across ranks

    def questions(self, group: str) -> tuple[Expr, ...]:
        return self.machine.flows.questions_to(group)

    def answer(self, group: str, asked: Expr, values: Sequence[Expr | None]) -> Expr:
        return self.machine.flows.answer(group, asked, values)

    @property
    def slots(self) -> int | None:
        return self.machine.facts.moved.slots

    def lays(self, cell: Expr, value: Expr) -> None:
        self.machine.issuer.moved.lays(cell, value)

    def laid(self, rank: int, cell: Expr, register: Register) -> Expr:
        return self.machine.issuer.moved.laid(rank, cell, register)

    def arrived(self, cells: Sequence[Expr]) -> None:
        self.machine.issuer.moved.arrived(cells)

    def held(self, cell: Expr, register: Register) -> Expr:
        return self.machine.issuer.moved.held(cell, register)

    def note_at(self, rank: int, key: str) -> None:
        for own in self.machine.position.rank.numbers:
            self.machine.facts.note_at(rank, key, own)

    def noted(self, key: str) -> tuple[int, ...]:
        noted = self.machine.facts.noted
        found = alike([tuple(sorted(noted.get((rank, key), ()))) for rank in self.machine.position.rank.numbers])
        assert isinstance(found, tuple)
        return found

    def noted_by(self, rank: int, key: str) -> tuple[int, ...]:
        return tuple(sorted(self.machine.facts.noted_by.get((rank, key), ())))

    def publish(self, key: str, value: Hashable, *, by_all: bool = False) -> None:
        if not self.symbolic:
            look_alike(value)  # others will take it for a thing of one rank
            for rank in self.machine.position.rank.numbers:
                self.machine.facts.publish(rank, key, value)
            return
        if by_all:
            self.machine.agreements.by_all(key, self.name, self.span)
        known = self.own_fact(key)
        collects = isinstance(known, frozenset | tuple) and isinstance(value, type(known)) and set(known) <= set(value)
        if known not in (None, value) and not collects:
            raise NumberNeeded(f"what `{self.name}` is given differs between ranks", self.span)
        self.machine.facts.publish(SOME, key, value)

    def published(self, rank: int, key: str) -> Hashable | None:
        if self.symbolic:
            raise NumberNeeded(f"`{self.name}` needs to know what rank {rank} does", self.span)
        return self.machine.facts.published.get(key, {}).get(rank)

    def published_here(self, key: str) -> Hashable | None:
        if self.symbolic:
            raise NumberNeeded(f"`{self.name}` needs to know what each rank does", self.span)
        return self.own_fact(key)

    def own_fact(self, key: str) -> Hashable | None:
        published = self.machine.facts.published.get(key, {})
        return alike([published.get(rank) for rank in self.machine.position.rank.publishers])

    def all_facts(self, key: str) -> list[Hashable]:
        published = self.machine.facts.published.get(key, {})
        return [fact for _, fact in sorted(published.items(), key=itemgetter(0)) if fact is not None]

    def neighbours(self, about: str = "", *, of: int | None = None) -> range:
        self.machine.position.rests_on_memory(about or self.name)
        return self.machine.world.neighbours(self.rank if of is None else of)

    @property
    def marked(self) -> bool:
        return self.machine.world.marked

    def outside(self, done: Outside) -> None:
        if self.machine.world.outside:
            self.machine.issuer.issue(Mark(Const(1), done), self.span)

    def may_be_illegal(self, rule: Rule, sentence: str) -> None:
        self.machine.issuer.issue(Illegal(Const(0), IllegalCall(rule, self.span, sentence)), self.span)

    def expose(self, part: Exposed) -> None:
        if not self.marked or not isinstance(part.begin.offset, int):
            return
        self.machine.objects.object(part.begin.object)
        start = part.begin.offset
        self.publish(f"exposed.{part.window}.{part.begin.object}.{start}", part)
        for offset, size in (
            self.machine.facts.objects[part.begin.object].accesses.sizes(start, start + part.bytes).items()
        ):
            self.machine.facts.share(part.begin.object, offset, size)

    def contiguous(self, memory: Address, parts: Sequence[tuple[int, int]]) -> None:
        begins = accumulate((bytes for _, bytes in parts), initial=0)
        row = tuple((rank, begin, bytes) for (rank, bytes), begin in zip(parts, begins, strict=False))
        self.machine.facts.rows[memory.object] = row

    # Building

    def queue(self, *key: int | str, name: str) -> Const:
        return self.machine.world.queue(("unordered", *key), name, True)

    def fifo_queue(self, *key: int | str, name: str) -> Const:
        return self.machine.world.queue(("fifo", *key), name, False)

    def register(self, hint: str = "result") -> Register:
        return self.machine.registers.keep(hint)

    def do(self, *commands: object) -> tuple[Statement, ...]:
        return tuple(
            command if isinstance(command, STATEMENTS) else Do(cast(Command, command), self.span)
            for command in commands
        )

    def rests_on(self, kind: Kind, *about: str) -> None:
        self.machine.position.rests_on(kind, *about)

    # Errors

    def nowhere(self, why: str, code: Wrong = Wrong.BOUNDS) -> Const:
        return self.machine.world.nowhere(why, code)

    def fail(self, code: Wrong, message: str, hint: str) -> NoReturn:
        raise Problem(code, message, hint, self.span)
