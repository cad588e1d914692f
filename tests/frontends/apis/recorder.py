"""Handlers of APIs without a machine: calls whose services record what is asked of them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import NoReturn

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.apis.interface import Api, Look, Outcome, Way
from pgasrob.frontends.c.layout import size_of
from pgasrob.frontends.c.types import VOID, CType, Pointer
from pgasrob.frontends.c.values import Address, Known, ObjectId, Undefined, Unknown, Value
from pgasrob.program.assumptions import Kind
from pgasrob.program.commands import show
from pgasrob.program.expressions import Const, Expr, Register, Symbol, render
from pgasrob.program.statements import NOWHERE, Do, Span, Statement

Argument = int | Value | Register | None


class Refused(Exception):
    """What a handler has said with `Call.fail`."""


@dataclass
class World:
    """What calls of a test share: facts that ranks have published (two ranks have two segments of GASPI), and scalars
    that are known without an access."""

    published: dict[tuple[int, str], Hashable] = field(
        default_factory=lambda: {
            (rank, f"gaspi.{fact}.{segment}"): value
            for rank, segment in product(range(2), repeat=2)
            for fact, value in (("size", 64), ("registered", frozenset((0, 1))))
        }
    )
    contents: dict[Address, Value] = field(default_factory=dict)


def variable(name: str, offset: int = 0, owner: int | None = None) -> Address:
    """The address of a global object, ``offset`` bytes on."""
    return Address(ObjectId("global", (name,)), offset, owner)


class RecordedCall:
    """A call: cells are four bytes unless it says otherwise, and are named after their object."""

    span: Span = NOWHERE
    strict = False
    in_open_loop = False

    def __init__(
        self,
        name: str,
        arguments: tuple[Argument, ...],
        *,
        rank: int = 0,
        nodes: int = 2,
        state: Mapping[str, Hashable] | None = None,
        dialects: tuple[str, ...] = (),
        world: World | None = None,
    ) -> None:
        self.name = name
        self.arguments = tuple(map(_value, arguments))
        self.types: tuple[CType, ...] = tuple(Pointer(VOID) for _ in arguments)
        self.texts = tuple(f"argument {index}" for index in range(len(arguments)))
        self.rank, self.nodes, self.dialects = rank, nodes, frozenset(dialects)
        self.me, self.count, self.everyone = Const(rank), Const(nodes), tuple(range(nodes))
        self.symbolic = False
        self.state = dict(state or {})
        self.world = world or World()
        self.names: dict[ObjectId, str] = {}
        self.registers = 0
        self.assumed: list[tuple[Kind, tuple[str, ...]]] = []

    def reading(self, register: Register, address: Address, type: CType) -> tuple[()]:
        return ()

    def questions(self, group: str) -> tuple[Expr, ...]:
        return ()

    def known(self, index: int) -> int:
        value = self.arguments[index]
        assert isinstance(value, Known), f"argument {index} is not known"
        return value.value

    def outside(self, done: object) -> None:
        """What calls do to files is not marked here."""

    def try_each(self, index: int) -> None:
        """No argument is an unknown value here."""

    def expression(self, index: int) -> Expr:
        return self.value_expression(self.arguments[index])

    def pointer(self, index: int, *, of_others: bool = False) -> Address | None:
        value = self.arguments[index]
        assert value == Known(0) or isinstance(value, Address), f"argument {index} is no address"
        return value if isinstance(value, Address) else None

    def value_expression(self, value: Value) -> Expr:
        assert isinstance(value, Known | Unknown)
        return Const(value.value) if isinstance(value, Known) else value.expr

    def size_of(self, type: CType) -> int:
        return size_of(type)

    def moved(self, address: Address, bytes: int) -> Address:
        assert isinstance(address.offset, int)
        return Address(address.object, address.offset + bytes, address.owner)

    def cell(self, address: Address, size: int) -> Expr:
        assert isinstance(address.offset, int)
        return Symbol(f"{self._name(address.object)}+{address.offset}", address.offset)

    def number(self, address: Address, type: CType, *, compared: bool = False) -> Expr:
        return self.cell(address, size_of(type))

    def as_number(self, register: Register, address: Address, type: CType) -> Expr:
        return register

    def _name(self, object: ObjectId) -> str:
        parts = object.number if isinstance(object.number, tuple) else (object.kind, object.number)
        return self.names.get(object, "_".join(map(str, parts)))

    def neighbours(self, about: str = "", *, of: int | None = None) -> range:
        self.rests_on(Kind.SEPARATE_MEMORY, about or self.name)
        rank = self.rank if of is None else of
        return range(rank, rank + 1)

    def paired_cells(self, first: Address, second: Address, bytes: int, element: int | None) -> list[tuple[Expr, Expr]]:
        size = element or 4
        places = range(0, bytes, size)
        return [(self.cell(self.moved(first, at), size), self.cell(self.moved(second, at), size)) for at in places]

    def walked_cells(
        self, first: Address, second: Address, bytes: int, element: int | None
    ) -> tuple[Register, int, Expr, Expr] | None:
        return None

    slots = None
    """Collectives lay out what they move in as many sets of cells as they need."""

    def unknown_in(self, cells: Sequence[Expr], type: CType, own: Expr | None = None) -> Expr | None:
        return None

    def lays(self, cell: Expr, value: Expr) -> None:
        """No number is looked for here."""

    def laid(self, rank: int, cell: Expr, register: Register) -> Expr:
        return register

    def become_unknown(self, cells: Sequence[Expr]) -> None:
        pass

    def load(self, address: Address, type: CType) -> Value | None:
        return self.world.contents.get(address)

    def allocate(
        self,
        kind: str,
        bytes: int,
        name: str | None = None,
        key: tuple[int | str, ...] | None = None,
        *,
        to: Address | None = None,
        asked_for: bool = True,
    ) -> Address:
        return Address(ObjectId(kind, key or 0), 0)

    def own_element(self, memory: Address, table: Address, rank: str) -> None:
        """Nothing here has a name but what the calls give one."""

    def gets_rank(self, to: Address | None = None) -> None:
        """As above."""

    def internal(self, kind: str, *key: int | str, bytes: int = 8, initial: int = 0, name: str) -> Address:
        object = ObjectId(f"internal {kind}", key)
        self.names[object] = name
        return Address(object, 0)

    def own_cell(self, kind: str, *key: int | str, name: str) -> Expr:
        return self.cell(self.internal(kind, *key, name=name), 8)

    def publish(self, key: str, value: Hashable, *, by_all: bool = False) -> None:
        self.world.published[self.rank, key] = value

    def published(self, rank: int, key: str) -> Hashable | None:
        return self.world.published.get((rank, key))

    def own_fact(self, key: str) -> Hashable | None:
        return self.published(self.rank, key)

    def all_facts(self, key: str) -> list[Hashable]:
        return [fact for rank in self.everyone if (fact := self.published(rank, key)) is not None]

    def among(self, members: tuple[int, ...]) -> bool:
        return self.rank in members

    def may_be(self, index: int, value: int) -> bool:
        return True

    def number_needed(self, what: str) -> NoReturn:
        raise AssertionError("the number is known")

    def at_most(self, nodes: int) -> None:
        pass

    def queue(self, *key: int | str, name: str) -> Const:
        return Symbol(name, 0)  # type: ignore[return-value]  # to be seen by its name

    def fifo_queue(self, *key: int | str, name: str) -> Const:
        return Symbol(f"fifo_{name}", 0)  # type: ignore[return-value]

    def register(self, hint: str = "result") -> Register:
        self.registers += 1
        return Register(hint, self.registers)

    def do(self, *commands: object) -> tuple[Statement, ...]:
        return tuple(Do(command, self.span) for command in commands)  # type: ignore[arg-type]

    def rests_on(self, kind: Kind, *about: str) -> None:
        self.assumed.append((kind, about))

    def nowhere(self, why: str, code: Wrong = Wrong.BOUNDS) -> Const:
        return Const(-1)

    def fail(self, code: Wrong, message: str, hint: str) -> NoReturn:
        raise Refused(message)


def _value(argument: Argument) -> Value:
    if argument is None:
        return Known(0)
    if isinstance(argument, int):
        return Known(argument)
    return Unknown(argument) if isinstance(argument, Register) else argument


def outcomes(api: Api, call: RecordedCall) -> list[Way]:
    """What the API's handler says of the call, wherever it stands."""
    assert api.declaration(call.name, call.types), f"{call.name} is not declared"
    handler = api.functions.get(call.name)
    assert handler is not None, f"{call.name} has no handler"
    result = handler(call)
    return [result] if isinstance(result, Outcome | Look) else list(result)


def lines(outcome: Way | None) -> list[str]:
    """The commands, the stores and the result of an outcome, each as text; what a look decides in one line for each
    way."""
    if outcome is None:
        return ["again"]
    if isinstance(outcome, Look):
        looks = [show(statement.command) for statement in outcome.statements if isinstance(statement, Do)]
        yes, no = ("; ".join(lines(way)) for way in (outcome.yes, outcome.no))
        return [*looks, f"if {render(outcome.condition)}: {yes}", f"else: {no}"]
    found = [show(statement.command) for statement in outcome.statements if isinstance(statement, Do)]
    for address, value, _ in outcome.stores:
        found.append(f"*{address.object.number}+{address.offset} = {_shown(value)}")
    if not isinstance(outcome.result, Undefined):
        found.append(f"return {_shown(outcome.result)}")
    return found + (["end"] if outcome.ends else [])


def _shown(value: Value) -> str:
    match value:
        case Known(number):
            return str(number)
        case Unknown(expression):
            return render(expression)
        case Address(object, offset, owner):
            where = "" if owner is None else f" of {owner}"
            return f"&{object.number}+{offset}{where}"
    return str(value)


def lowered(api: Api, name: str, *arguments: Argument, **options: object) -> list[list[str]]:
    """The lines of each outcome of a call; ``options`` as for `RecordedCall`."""
    return [lines(outcome) for outcome in outcomes(api, RecordedCall(name, arguments, **options))]  # type: ignore[arg-type]


class Rank:
    """One rank that makes calls one after the other: the state and the facts go on."""

    def __init__(self, api: Api, rank: int = 0, nodes: int = 2, dialects: tuple[str, ...] = ()) -> None:
        self.api, self.rank, self.nodes, self.dialects = api, rank, nodes, dialects
        self.world = World()
        self.state: dict[str, Hashable] = {}

    def call(self, name: str, *arguments: Argument, outcome: int = 0) -> list[str]:
        """Make a call, of whose outcomes the one given happens; its lines."""
        call = RecordedCall(
            name,
            arguments,
            rank=self.rank,
            nodes=self.nodes,
            state=self.state,
            dialects=self.dialects,
            world=self.world,
        )
        chosen = outcomes(self.api, call)[outcome]
        assert isinstance(chosen, Outcome), "the way that is chosen begins with a look"
        self.state |= chosen.state
        for address, value, _ in chosen.stores:
            self.world.contents[address] = value
        return lines(chosen)


def named(value: object) -> str:
    """The ids of parametrised calls: their names."""
    return value if isinstance(value, str) else ""
