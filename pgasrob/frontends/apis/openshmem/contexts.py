"""Reads the arguments of calls that name contexts, teams and active sets (1.5, sections 9.4 and 9.9)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.apis.call_arguments import no_handle
from pgasrob.frontends.apis.call_steps import Given, NotAllowed, Steps, refuse_freed
from pgasrob.frontends.apis.flags import Group
from pgasrob.frontends.apis.interface import Call, Handler, Outcome
from pgasrob.frontends.apis.lifetime import Lifetime
from pgasrob.frontends.apis.openshmem import rules
from pgasrob.frontends.apis.openshmem.header import ALL, CONTEXT, FUNCTIONS
from pgasrob.frontends.apis.thread_levels import SERIALIZED_CONTEXT
from pgasrob.frontends.apis.transfers import bounded
from pgasrob.frontends.c.layout import shown
from pgasrob.frontends.c.symbolic import EVERYONE
from pgasrob.frontends.c.types import ULONG, CType, Pointer, Void
from pgasrob.frontends.c.values import NULL, UNDEFINED, Address, Handle, Known, Unknown, Value
from pgasrob.program.assumptions import Kind
from pgasrob.program.expressions import Binary, Const, Expr, Nodes

SIGNAL = shown(ULONG)
"""The type of signals. They exclude signals that do the same, what fetches signals, waits and tests, and no other
atomics (1.5, section 9.8.1)."""
LIVE = "shmem.contexts"
"""Key in the state of the numbers of the contexts that there are."""
LIFE = Lifetime(
    "shmem", rules.NOT_RUNNING, "shmem_init", r"p?shmem_init(_thread)?|(shmem_)?start_pes", "p?shmem_finalize",
    r"p?shm(?!em_(query_|info_get_|global_exit|pcontrol))\w+|_?(my_pe|num_pes)", r"\w*(my_pe|n(um)?_pes)",
)  # fmt: skip
PRIVATE = {
    "local": "a local variable",
    "heap": "memory of malloc",
    "string": "a string",
    "argv": "an argument of main",
}
"""The kinds of objects that other PEs cannot name."""


class Arguments:
    """The arguments of a call; ``index`` counts from the one after the context, if there is one."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self.first = 1 if call.types and call.types[0] == CONTEXT else 0

    def known(self, index: int) -> int:
        return self.call.known(self.first + index)

    def count(self, index: int) -> int:
        return bounded(self.call, self.first + index)

    def expression(self, index: int) -> Expr:
        return self.call.expression(self.first + index)

    def given(self, index: int) -> Address | None:
        """A pointer that may be null, which means that the argument is not used."""
        return self.call.pointer(self.first + index)

    def pointer(self, index: int) -> Address:
        """A pointer that must not be null."""
        address = self.given(index)
        if address is None:
            self.call.fail(
                Wrong.POINTER,
                f"argument {self.first + index + 1} of {self.call.name} is a null pointer",
                "pass the address of a symmetric object",
            )
        refuse_freed(self.call, address, f"argument {self.first + index + 1} of {self.call.name} is memory")
        return address

    def symmetric(self, index: int) -> Address:
        """A pointer that is an address on another PE too (1.5, section 3: remotely accessible data objects)."""
        address = self.pointer(index)
        if address.object.kind in PRIVATE:
            raise _not_symmetric(self.call, self.first + index + 1, address)
        return address

    def target(self, index: int) -> CType:
        """The type that a pointer parameter points to, by the prototype."""
        type = self.call.types[self.first + index]
        assert isinstance(type, Pointer), type
        return type.to

    @property
    def element_size(self) -> int:
        """The bytes of an element of what the first pointer points to; by the name of the call for untyped data."""
        if not isinstance(self.target(0), Void):
            return self.call.size_of(self.target(0))
        digits = "".join(letter for letter in self.call.name if letter.isdigit())
        return int(digits) // 8 if digits else 1

    def atomic(self, index: int) -> str:
        """The name of the atomics that exclude an atomic on what a pointer points to: those of its type (1.5, section
        3.2), and not signals, which have the type of `uint64_t`."""
        name = shown(self.target(index))
        return f"{name} by atomic" if name == SIGNAL else name

    def pe(self, index: int) -> Expr:
        """The rank of a PE of the context's team."""
        number = self.expression(index)
        members = self.members
        if members == self.call.everyone:
            return number
        if isinstance(number, Const):
            if not 0 <= number.value < len(members):
                self.call.fail(
                    Wrong.RANK,
                    f"the team of this context has no PE {number.value}: it has {len(members)}",
                    "PE numbers are those of the team that the context was made for",
                )
            return Const(members[number.value])
        stride = Const(members[1] - members[0]) if len(members) > 1 else Const(1)
        return Binary("+", Const(members[0]), Binary("*", number, stride))

    @property
    def context(self) -> tuple[int, tuple[int, ...]]:
        """The number of the context and its members."""
        if not self.first:
            return 0, self.call.everyone
        return context_of(self.call, 0)

    @property
    def members(self) -> tuple[int, ...]:
        return self.context[1]

    @property
    def queue(self) -> Const:
        """The queue of the context: operations issued in it and not complete."""
        return queue_of(self.call, self.context[0])


def _not_symmetric(call: Call, place: int, address: Address) -> NotAllowed:
    why = f"argument {place} of {call.name} is not symmetric: it is {PRIVATE[address.object.kind]}"
    return NotAllowed(rules.NOT_SYMMETRIC, why)


Doing = Callable[[Arguments, Steps], Given | None]
"""Adds what a call does to the steps of its only outcome; what the call returns, None for nothing."""
D = TypeVar("D", bound=Doing)


def _handler(doing: Doing) -> Handler:
    def handler(call: Call) -> Outcome:
        steps = Steps(call)
        result = doing(Arguments(call), steps)
        return steps.outcome(UNDEFINED if result is None else result)

    return handler


def does(prototypes: str) -> Callable[[D], D]:
    """A decorator: the function does what calls of ``prototypes`` do."""

    def add(doing: D) -> D:
        FUNCTIONS.add(prototypes, _handler(doing))
        return doing

    return add


def does_typed(template: str, types: dict[str, str] = ALL) -> Callable[[D], D]:
    """A decorator: the same for a function that there is for each of ``types``, and for each of the alternatives that
    the template has in brackets (`[add|and]`)."""

    def add(doing: D) -> D:
        before, _, rest = template.partition("[")
        alternatives, _, after = rest.partition("]")
        for each in alternatives.split("|"):
            FUNCTIONS.typed(before + each + after, types, _handler(doing))
        return doing

    return add


def moves(template: str, *, mem: bool = True) -> Callable[[D], D]:
    """A decorator: the same for functions of one name for each type, for untyped data of each size in bits (``{S}``)
    and, with ``mem``, for bytes."""

    def add(doing: D) -> D:
        FUNCTIONS.typed(template.replace("{S}", ""), ALL, _handler(doing))
        FUNCTIONS.sized(template.replace("{N}_", "").replace("{C}", "void"), _handler(doing), mem=mem)
        return doing

    return add


def is_invalid(call: Call, index: int) -> bool:
    """Whether a context is SHMEM_CTX_INVALID, for which the standard defines some calls."""
    return call.arguments[index] == NULL


def context_of(call: Call, index: int) -> tuple[int, tuple[int, ...]]:
    """The number and the members of a context."""
    value = call.arguments[index]
    if is_invalid(call, index):
        call.fail(
            Wrong.ARGUMENT,
            f"{call.name} on SHMEM_CTX_INVALID",
            "what it does there is undefined: use a context that was created",
        )
    if not isinstance(value, Handle) or value.kind != "context":
        call.fail(
            no_handle(value),
            f"argument {index + 1} of {call.name} is not a context here",
            "a context has to be known at every place: SHMEM_CTX_DEFAULT, or what shmem_ctx_create has set",
        )
    number, members, *_ = value.data
    assert isinstance(number, int)
    if number and number not in live_contexts(call):
        raise NotAllowed(rules.CONTEXT_DESTROYED, f"{call.name} on a context that has been destroyed")
    kind, *maker = maker_of(value) or ("",)
    if kind == "private" and (*maker,) != call.thread_id:
        raise NotAllowed(rules.CONTEXT_PRIVATE, f"{call.name} on a private context that another thread has made")
    return number, _ranks(members) if isinstance(members, tuple) else call.everyone


def for_threads(call: Call, options: Value) -> tuple[tuple[str | int, ...], ...]:
    """What the handle of a context that this thread makes with ``options`` holds of those that may use it."""
    if isinstance(options, Known) and options.value & 3:
        return (("private" if options.value & 1 else SERIALIZED_CONTEXT, *call.thread_id),)
    return ()


def maker_of(context: Value) -> tuple[str | int | None, ...]:
    """Of a private or serialized context that it is one, and the thread that has made it."""
    last = context.data[-1] if isinstance(context, Handle) else None
    return (*last,) if type(last) is tuple and last[0] in ("private", SERIALIZED_CONTEXT) else ()


def live_contexts(call: Call) -> frozenset[int]:
    """The numbers of the contexts that have been made and not destroyed."""
    live = call.state.get(LIVE, frozenset())
    assert isinstance(live, frozenset)
    return live


def queue_of(call: Call, context: int) -> Const:
    name = "shmem" if context == 0 else f"shmem_ctx{context}"
    return call.queue("shmem", "context", context, name=name)


def default_queue(call: Call) -> Const:
    return queue_of(call, 0)


def team_of(call: Call, index: int) -> tuple[int, ...] | None:
    """The ranks of a team in the order of its PE numbers; None for SHMEM_TEAM_INVALID."""
    value = call.arguments[index]
    if value == NULL:
        return None
    if not isinstance(value, Handle) or value.kind != "team":
        call.fail(
            no_handle(value),
            f"argument {index + 1} of {call.name} is not a team here",
            "a team has to be known at every place: SHMEM_TEAM_WORLD, or what a split has set",
        )
    members = value.data[0]
    if isinstance(members, tuple):
        if len(value.data) > 1 and value.data not in live_teams(call):
            raise NotAllowed(rules.TEAM_DESTROYED, f"{call.name} on a team that has been destroyed")
        return _ranks(members)
    if members == "world":
        return call.everyone
    return tuple(call.neighbours("SHMEM_TEAM_SHARED"))


TEAMS = "shmem.teams"
"""Key in the state of the teams that this rank is in, their members and numbers. Several teams may have the same
members: all of these make them in one order, so a number says which it is. Numbers are used again."""


def live_teams(call: Call) -> tuple[tuple[tuple[int, ...], int], ...]:
    """The teams that this rank is in, their members and numbers."""
    return cast("tuple[tuple[tuple[int, ...], int], ...]", call.state.get(TEAMS, ()))


def group_of(call: Call, index: int) -> Group:
    """The team of a collective call."""
    members = team_of(call, index)
    if members is None:
        call.fail(
            Wrong.ARGUMENT, f"{call.name} on SHMEM_TEAM_INVALID", "only members of a team may call its collectives"
        )
    value = call.arguments[index]
    number = value.data[-1] if isinstance(value, Handle) else 0
    found = group(call, members)
    return Group((*found.key, "team", number), members) if isinstance(number, int) and number else found


def active_set(call: Call, index: int) -> Group:
    """The ranks that `PE_start, logPE_stride, PE_size` name from argument ``index`` on."""
    for place, value in enumerate(call.arguments[index + 3 :], index + 4):
        if isinstance(value, Address) and value.object.kind in PRIVATE:
            raise _not_symmetric(call, place, value)
    # More than 30 doublings are as far beyond all PEs as 30 are.
    call.rests_on(Kind.WORK_ARRAYS, call.name)
    if call.arguments[index : index + 3] == (Known(0), Known(0), Unknown(Nodes())):
        return everyone(call)
    start, stride, size = call.known(index), 1 << min(max(call.known(index + 1), 0), 30), bounded(call, index + 2)
    members = tuple(start + place * stride for place in range(size))
    if not members or not 0 <= members[0] <= members[-1] < call.nodes:
        call.fail(
            Wrong.RANK,
            f"the active set of {call.name} is {size} PEs from {start} on, {stride} apart; there are {call.nodes} PEs",
            "check the program with as many nodes as it needs",
        )
    return group(call, members)


def everyone(call: Call) -> Group:
    return group(call, call.everyone)


def group(call: Call, members: tuple[int, ...]) -> Group:
    """The group of ``members``. Active sets of the same members are one: their collectives come in one order on all."""
    if not call.among(members):
        call.fail(
            Wrong.ARGUMENT,
            f"PE {call.rank} calls {call.name} and is not of the set {', '.join(map(str, members))}",
            "only members of a team or active set may call its collectives",
        )
    return Group(("shmem", *(("all",) if members is EVERYONE else members)), members)


def _ranks(members: tuple[object, ...]) -> tuple[int, ...]:
    return EVERYONE if members is EVERYONE else tuple(member for member in members if isinstance(member, int))
