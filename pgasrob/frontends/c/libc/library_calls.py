"""The table of functions of the C library, and what their handlers share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from pgasrob.analysis.intervals import Interval
from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.apis.interface import Call, Handler, Look, Outcome
from pgasrob.frontends.apis.prototypes import Prototypes
from pgasrob.frontends.c.nondeterminism import ANY, INPUT, leaves_of, only_leaves
from pgasrob.frontends.c.problem import Faults
from pgasrob.frontends.c.types import UCHAR, Opaque, Pointer
from pgasrob.frontends.c.values import Address, Known, Unknown, Value
from pgasrob.program.assumptions import Kind
from pgasrob.stop_points import stop_point

if TYPE_CHECKING:
    from pgasrob.frontends.c.calls import MachineCall

TABLE = Prototypes()
H = TypeVar("H", bound=Handler)


def calls(prototypes: str) -> Callable[[H], H]:
    """`TABLE.calls` for handlers that say less than they could of unknown arguments. Lowering for all node counts stops
    at such a call."""

    def add(handler: H) -> H:
        def handled(call: Call) -> Outcome | Look | Sequence[Outcome | Look]:
            for value in call.arguments:
                needs_number(call, value)
            return handler(call)

        TABLE.add(prototypes, handled)
        return handler

    return add


def needs_number(call: Call, value: Value | None) -> None:
    """Raise :class:`~pgasrob.frontends.c.symbolic.NumberNeeded` when lowering for all node counts and ``value`` is not
    known: it may be known for one of the counts, where the call would say more."""
    if call.symbolic and isinstance(value, Unknown):
        call.number_needed(f"what `{call.name}` is given")


FILE = Pointer(Opaque("FILE"))
VALUE = Known(0)
LONGEST_STRING = 65_536
MOST_DIGITS = 100
"""A number with so many is in no type; Python takes its time over many more, and refuses some thousands."""


def machine_of(call: Call) -> MachineCall:
    """``call`` with the machine that makes it, on whose memory the library works."""
    from pgasrob.frontends.c.calls import MachineCall

    assert isinstance(call, MachineCall)
    return call


def spelled(text: bytes, base: int) -> int:
    """The integer that ``text`` spells, with blanks, a sign and the prefix of ``base`` before it, where a type has it;
    else another one that no type has."""
    digits = text.strip().lstrip(b"+-").lower()
    digits = (digits.removeprefix(b"0x") if base == 16 else digits).lstrip(b"0")[:MOST_DIGITS]
    return int(digits or b"0", base) * (-1 if b"-" in text else 1)


def unknown_value(call: Call, interval: Interval = ANY, *, reported: bool = True, computed: bool = False) -> Value:
    """A value within ``interval`` of which no more is known; ``reported``: the verdict says that it rests on this;
    ``computed``: of the arguments and memory alone, so that others may have the same."""
    if reported:
        call.rests_on(Kind.UNKNOWN_VALUES, f"{call.name}()")
    of = [leaf for value in call.arguments for leaf in leaves_of(value)]
    value = machine_of(call).machine.undecided.new_leaf(INPUT, interval, exact=False, of=of)
    of_run = computed and any(map(_is_of_run, call.arguments))
    own = value.own and not (of_run or (computed and not of))
    return Unknown(replace(value, own=own, fixed=value.fixed or (of_run and not of)))


def _is_of_run(value: Value) -> bool:
    """Whether ``value`` depends on registers of the run."""
    return isinstance(value, Unknown) and not only_leaves(value.expr)


def unknown_answer(call: Call, interval: Interval = ANY) -> Outcome:
    """The outcome of a call whose result is not known."""
    return Outcome(result=unknown_value(call, interval))


def unknown_result(call: Call, interval: Interval = ANY) -> Outcome:
    """The same of a call that computes it of its arguments and memory."""
    return Outcome(result=unknown_value(call, interval, computed=True))


def known_bytes(call: Call, index: int, size: int) -> bytes | None:
    """The ``size`` bytes that argument ``index`` points to; None where they are not known."""
    address = call.pointer(index)
    if address is None:
        call.fail(Wrong.POINTER, f"`{call.name}` of a null pointer", "pass memory")
    found = []
    for place in range(size):
        stop_point()
        value = _byte(call, call.moved(address, place))
        if not isinstance(value, Known):
            needs_number(call, value)
            return None
        found.append(value.value)
    return bytes(found)


def _byte(call: Call, place: Address) -> Value | None:
    """The byte at ``place``, one's own; None where it is not known. Raises
    :class:`~pgasrob.frontends.c.problem.Faults` outside of the object."""
    machine = machine_of(call).machine
    machine.objects.object(place.object)
    if machine.position.whose(place) is None and isinstance(place.offset, int) and not machine.objects.within(place, 1):
        raise Faults(machine.objects.outside(place, 1))
    return call.load(place, UCHAR)


def string_at(call: Call, address: Address, most: int | None = None) -> bytes | None:
    """The string at ``address``, or its first ``most`` bytes; None where it is not known. A run in which it has no end
    in its object is in error; not so where ``most`` are read, for some functions read no further than they must."""
    found = bytearray()
    while most is None or len(found) < most:
        stop_point()
        place = call.moved(address, len(found))
        value = _byte(call, place) if most is None else call.load(place, UCHAR)
        needs_number(call, value)
        if not isinstance(value, Known) or len(found) > LONGEST_STRING:
            return None
        if not value.value:
            break
        found.append(value.value)
    return bytes(found)


def text_of(call: Call, index: int, most: int | None = None) -> bytes | None:
    """The string that argument ``index`` points to, or its first ``most`` bytes; None where it is not known."""
    address = call.pointer(index)
    if address is None:
        given = machine_of(call).machine.world.program.arguments
        more = "" if given else "; arguments of the program are given by --args"
        call.fail(Wrong.POINTER, f"`{call.name}` of a null pointer", f"pass a string{more}")
    return string_at(call, address, most)


def known_string(call: Call, index: int) -> bytes:
    """The string that argument ``index`` points to, which must be known."""
    found = text_of(call, index)
    if found is None:
        call.fail(
            Wrong.UNKNOWN_LIMIT, f"`{call.name}` of a string that is not known here", "use string literals, or numbers"
        )
    return found
