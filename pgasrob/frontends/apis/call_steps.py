"""Puts the outcome of a call together step by step."""

from __future__ import annotations

from collections.abc import Container, Hashable, Mapping
from itertools import count
from typing import cast

from pgasrob.frontends.apis.interface import Call, Look, Outcome, Way
from pgasrob.frontends.c.arithmetic import value_of
from pgasrob.frontends.c.together import Bringing
from pgasrob.frontends.c.types import CType
from pgasrob.frontends.c.values import UNDEFINED, Address, Known, ObjectId, Value
from pgasrob.program.assumptions import Kind
from pgasrob.program.commands import Exit, Mark
from pgasrob.program.expressions import Const, Expr
from pgasrob.program.illegal_calls import Illegal, IllegalCall, Opened, Rule
from pgasrob.program.outside_memory import ENDING, TERMINAL, Outside

NEVER = Const(0)
Given = Value | Expr | int
"""What a call gives to the program: a value of C, an expression of the calculus, or a number."""
NUMBERED = ".numbered"
"""In the keys of notes of which the parts are numbered by the order in which a rank makes them."""


def as_value(given: Given) -> Value:
    """A result or stored value as a value of C."""
    if isinstance(given, int):
        return Known(int(given))
    return given if isinstance(given, Value) else value_of(given)


FREED = "freed"
"""Key in the state of the objects that have been given back."""


def least_free(taken: Container[int], first: int = 0) -> int:
    """The least number from ``first`` on that is not ``taken``: numbers are used again, so that loops come back to the
    state they began in."""
    return next(number for number in count(first) if number not in taken)


def freed(notes: Mapping[str, Hashable]) -> dict[ObjectId, tuple[Opened, Rule]]:
    """The objects of which a rank has noted that they have been given back, by which calls, and the rules that those
    who use them all the same break."""
    return dict(cast("tuple[tuple[ObjectId, tuple[Opened, Rule]], ...]", notes.get(FREED, ())))


def refuse_freed(call: Call, address: Address, which: str) -> None:
    """Raises :class:`NotAllowed` if ``address`` is in memory that has been given back; ``which`` memory it is."""
    if (found := freed(call.state).get(address.object)) is not None:
        raise NotAllowed(found[1], f"{which} that has been freed", found[0])


class Alike:
    """What an API remembers that is the same whichever threads of a rank have done it."""

    __slots__ = ()


class NotAllowed(Exception):
    """Raised by a handler of a call that breaks ``rule`` and does nothing more that could be said: it is not made, and
    what it returns is 0. The other arguments are as of :meth:`Steps.illegal`."""

    def __init__(self, rule: Rule, sentence: str, opened: Opened | None = None) -> None:
        super().__init__(sentence)
        self.rule, self.sentence, self.opened = rule, sentence, opened

    def outcome(self, call: Call) -> Outcome:
        """The outcome of the ``call`` that is not made."""
        steps = Steps(call)
        steps.illegal(self.rule, self.sentence, self.opened)
        return steps.outcome(0)


class CallFirst(Exception):
    """Raised by a handler before it does anything: the rank calls ``function`` of the program with these ``arguments``,
    and makes the call again when that has returned. ``state`` is as of an :class:`Outcome`."""

    def __init__(self, function: Value, arguments: tuple[Value, ...], state: dict[str, Hashable]) -> None:
        super().__init__()
        self.function, self.arguments, self.state = function, arguments, state


class Steps:
    """The outcome of a call in the making: commands, stores, and what the API remembers of the rank.

    A part of a call sees in `recall` what earlier parts of the same call have noted.
    """

    def __init__(self, call: Call) -> None:
        self.call = call
        self.commands: list[object] = []
        self.stores: list[tuple[Address, Value, CType]] = []
        self.state: dict[str, Hashable] = {}
        self.brought: Bringing | None = None

    def do(self, *commands: object) -> None:
        """Add commands or statements."""
        self.commands.extend(commands)

    def mark(self, fact: Hashable) -> None:
        """Add a mark that says what the call does here, where the program is to be marked."""
        if self.call.marked:
            self.do(Mark(Const(1), fact))

    def store(self, address: Address, value: Given, type: CType) -> None:
        """Assign through a pointer, after all commands."""
        self.stores.append((address, as_value(value), type))

    def answer(self, index: int, value: Given, type: CType) -> None:
        """Store ``value`` where the pointer in argument ``index`` points to. A null pointer asks for nothing."""
        address = self.call.pointer(index)
        if address is not None:
            self.store(address, value, type)

    def illegal(
        self, rule: Rule, sentence: str, opened: Opened | None = None, remedy: str = "", unless: Expr = NEVER
    ) -> None:
        """Add that the call breaks ``rule`` here, ``unless`` a condition holds that is known at run time only; the
        caller goes on as well as it can. ``sentence`` says what the call does wrong, without a full stop; ``opened``
        is the earlier call by which it is wrong, ``remedy`` what mends it if the rule does not say."""
        self.do(Illegal(unless, IllegalCall(rule, self.call.span, sentence, opened, remedy)))

    def opened(self) -> Opened:
        """This call, to be noted as the one that opens something."""
        return Opened(self.call.name, self.call.span)

    def note(self, key: str, value: Hashable) -> None:
        """Remember ``value`` on this rank."""
        self.state[key] = value

    def recall(self, key: str, default: Hashable = None) -> Hashable:
        """The note that this rank keeps under ``key``."""
        if key in self.state:
            return self.state[key]
        return self.call.state.get(key, default)

    def hold(self, key: str, name: str, holds: bool) -> bool:
        """Note under ``key`` whether this rank ``holds`` the lock ``name`` from now on; whether it has held it."""
        held = cast("tuple[str, ...]", self.recall(key, ()))
        self.note(key, tuple(sorted({*held, name} if holds else {*held} - {name})))
        return name in held

    def holds(self, key: str, name: str) -> bool:
        """Whether this rank holds the lock ``name`` noted under ``key``."""
        return name in cast("tuple[str, ...]", self.recall(key, ()))

    def free(self, memory: Address, rule: Rule) -> None:
        """Note that this call has given ``memory`` back, so that an access to it breaks ``rule``."""
        known = {**freed(self.call.state), memory.object: (self.opened(), rule)}
        self.note(FREED, tuple(sorted(known.items(), key=lambda each: repr(each[0]))))

    def count(self, key: str, modulus: int | None = None) -> int:
        """How often this method was called before for ``key`` on this rank, modulo ``modulus`` if there is one."""
        number = self.recall(key, 0)
        assert isinstance(number, int)
        self.note(key, number + 1 if modulus is None else (number + 1) % modulus)
        return number

    def outcome(self, result: Given = UNDEFINED) -> Outcome:
        return Outcome(
            self.call.do(*self.commands), as_value(result), tuple(self.stores), self.state, brought=self.brought
        )

    def look(self, condition: Expr, yes: Way | None, no: Way | None = None) -> Look:
        """The commands as a look at memory that decides between two ways to go on."""
        return Look(self.call.do(*self.commands), condition, yes, no)


def prints(call: Call) -> None:
    """The call does nothing but write to the terminal."""
    call.rests_on(Kind.NO_EFFECT, call.name)
    call.outside(Outside((TERMINAL,), writes=True))


def ends_all(call: Call) -> Outcome:
    """The call ends the run of all ranks."""
    call.rests_on(Kind.ENDS_ALL_RANKS, call.name)
    call.outside(ENDING)
    return Outcome(call.do(Exit()), ends=True)
