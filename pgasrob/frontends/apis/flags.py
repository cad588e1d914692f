"""Makes the commands of collectives (barriers, exchanges, messages): accesses to cells that no program names.

Every function adds to the `Steps` of a call, for a :class:`Group` that has the same key and members on all ranks that
take part. A rank remembers from call to call only counts modulo a small number, so that loops come back to the state
that they began in.

All accesses here happen when they are issued. Each protocol orders exactly what the collective promises: everything
before an arrival comes before everything after a departure, and what a sender did before what its receiver does next.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import cast

from pgasrob.frontends.apis.call_steps import Steps
from pgasrob.frontends.apis.interface import Call, Outcome, Way
from pgasrob.frontends.apis.transfers import combined, element, value_at
from pgasrob.frontends.c.symbolic import EVERYONE
from pgasrob.frontends.c.together import Bringing
from pgasrob.frontends.c.types import CType, Floating
from pgasrob.frontends.c.values import Address
from pgasrob.program.assumptions import Kind
from pgasrob.program.commands import Assign, Await, AwaitAdd, Barrier, Fetch, Load, Store
from pgasrob.program.expressions import Binary, Const, Expr, evaluator
from pgasrob.program.statements import Block, While
from pgasrob.program.value_classes import record
from pgasrob.stop_points import stop_point

Key = tuple[int | str, ...]

LEAST_DEPTH, MOST_DEPTH, WAITS = 4, 64, 256
"""How many messages of one channel may be under way: at first, and at most in loops of which it is not known how often
they are passed; and where so many are, the sender waits until there is room as at first."""
IN_ORDER = 4
"""Collective calls of a group between two barriers have numbers modulo this. A barrier also knows the names of the last
ones, one less than this."""


@record
class Group:
    """The ranks of a collective in order; ``key`` begins with the API's name and is the group's own."""

    key: Key
    members: tuple[int, ...]

    def name(self, what: str) -> str:
        """A key in the API's state for ``what``."""
        return ".".join(map(str, (self.key[0], what, *self.key[1:])))

    def place(self, rank: int) -> int:
        return self.members.index(rank)


# The members of a group make its collective calls in one order. Calls that wait for all members have names, and ranks
# wait for each other only in calls of one name. Calls that wait for some, or for nobody, are numbered between those.


def may_wait(steps: Steps, group: Group, collective: str = "") -> int:
    """The number of a blocking collective call as of `in_order`, which is `waits_where_strict`."""
    waits_where_strict(steps, group, collective)
    return in_order(steps, group, collective)


def waits_where_strict(steps: Steps, group: Group, collective: str = "") -> None:
    """The call may wait for all members, and where calls are strict (`Call.strict`) it does."""
    may_wait_at_all(steps, group)
    if steps.call.strict:
        barrier(steps, group, collective)


def may_wait_at_all(steps: Steps, group: Group) -> None:
    """Note that the call may wait for all members, if there are others."""
    if group.members is EVERYONE or len(group.members) > 1:
        steps.call.rests_on(Kind.NOT_SYNCHRONISING, steps.call.name)


def in_order(steps: Steps, group: Group, collective: str = "") -> int:
    """The number of a collective call that does not wait for all members, since the last barrier: modulo `IN_ORDER`,
    and modulo the slots for messages. ``collective`` is its name, by default that of the call."""
    number, last = _order(steps, group)
    last = (*last, collective or steps.call.name)[1 - IN_ORDER :]
    steps.note(group.name("order"), ((number + 1) % max(IN_ORDER, _depth(steps.call, group)[0]), last))
    for name in {*steps.call.state, *steps.state}:
        if name.startswith(f"{group.name('lead')}.") and (lead := steps.recall(name)):
            steps.note(name, min(cast(int, lead) + 1, MOST_DEPTH + 1))
    return number


def _order(steps: Steps, group: Group) -> tuple[int, tuple[str, ...]]:
    """How many such calls there have been since the last barrier, modulo `IN_ORDER`, and what the last ones were."""
    return cast("tuple[int, tuple[str, ...]]", steps.recall(group.name("order"), (0, ())))


# Barriers


def barrier(steps: Steps, group: Group, collective: str = "") -> None:
    """All members arrive before any goes on. Nothing is completed.

    They have to name the same ``collective``, by default the call; else they wait for ever. For some of the ranks the
    first member holds a counter, one for even and one for odd phases, which counts up to the number of members and,
    next time, down to 0. A member that counts in phase k + 2 has seen phase k + 1 complete, so that all have left phase
    k: none can miss the number that it waits for.
    """
    call, collective = steps.call, collective or steps.call.name
    number, last = _order(steps, group)
    if last:
        collective += f", {number % IN_ORDER} after {', '.join(last)}"
        steps.note(group.name("order"), (0, ()))
    _begin_anew(steps, group)
    if group.members == call.everyone or len(group.members) == call.nodes:
        heard_from(steps, group)
        usual = len(group.key) == 2 or (group.members is not EVERYONE and group.key[1:] == group.members)
        steps.do(Barrier(collective if usual else f"{collective} ({' '.join(map(str, group.key[1:]))})"))
        return
    if len(group.members) == 1:
        return
    heard_from(steps, group)
    phase, size = steps.count(group.name(f"barrier.{collective}"), 4), len(group.members)
    root = Const(group.members[0])
    cell = cell_of(call, group, collective, phase & 1)
    begin, end = (size, 0) if phase & 2 else (0, size)
    relation, step = (">", -1) if phase & 2 else ("<", 1)
    steps.do(AwaitAdd(root, cell, relation, Const(max(begin, end) if step > 0 else 0), Const(step)))
    # Those that wait look at the counter where it lies: the last one cannot notify them all at once.
    steps.do(AwaitAdd(root, cell, "==", Const(end), Const(0)))


# Exchanges, to which all contribute and for which all wait


def exchange(
    steps: Steps,
    group: Group,
    values: Sequence[Expr],
    wanted: Iterable[tuple[int, int]],
    collective: str = "",
    *,
    alike: bool = False,
) -> list[Expr]:
    """Every member lays out ``values``, and all wait for all, as in a `barrier` for ``collective``. The result has
    value ``index`` of ``rank`` for every (rank, index) in ``wanted``; ``alike``: on all members the call stores them.
    """
    cell = _exchange(steps, group)
    for index, value in enumerate(values):
        lay(steps, cell(index), value)
    answers = Answers(steps, group, [], steps.call.rank == group.members[0]) if alike else None
    if answers is not None:
        steps.do(*map(Store, answers.cells, answers.given))
    _meet(steps, group, collective)
    if answers is not None:
        answers.fetch(group.members[0])
    return [_of(steps, rank, cell(index), values[index] if rank == steps.call.rank else None) for rank, index in wanted]


def _exchange(steps: Steps, group: Group) -> Callable[[int], Expr]:
    """The cells of another exchange, in which the values of each member lie, by their number. There are two sets, for
    even and odd exchanges: a member that lays out exchange k + 2 knows that all have begun k + 1, and so have read what
    they wanted of k."""
    parity = cast(int, steps.recall(group.name("exchange")) or 0)
    steps.note(group.name("exchange"), (parity + 1) % (steps.call.slots or 2) or None)
    return lambda index: cell_of(steps.call, group, "value", parity, index)


def lay(steps: Steps, cell: Expr, value: Expr) -> None:
    """Lay out ``value`` in ``cell``, one of a collective's own."""
    steps.call.lays(cell, value)
    steps.do(Store(cell, value))


def _of(steps: Steps, rank: int, cell: Expr, own: Expr | None) -> Expr:
    """What ``rank`` has laid out in ``cell``, which is ``own`` if that is this rank."""
    if rank == steps.call.rank:
        assert own is not None
        return own
    register = steps.call.register("value")
    steps.do(Fetch(register, Const(rank), cell))
    return steps.call.laid(rank, cell, register)


Combine = Callable[[Sequence[Sequence[Expr]], Sequence[CType]], list[Expr]]
"""Combines the values of all members, of these types, one by one."""


def reduce(steps: Steps, group: Group, operation: str, source: Address, type: CType, count: int) -> list[Expr]:
    """The ``count`` scalars at ``source`` combined over all members, by `transfers.combined`."""
    own = [value_at(steps, element(steps.call, source, index, type), type) for index in range(count)]
    return reduce_values(steps, group, operation, own, [type] * count, f"{steps.call.name} of {count}")


def reduce_values(
    steps: Steps, group: Group, operation: str, own: Sequence[Expr], types: Sequence[CType], collective: str
) -> list[Expr]:
    """The values ``own`` of all members, of these types, combined one by one."""
    if group.members is EVERYONE:
        return _reduced_by_all(steps, group, operation, own, types, collective)
    return reduced(steps, group, own, types, collective, partial(folded, steps, operation))


def reduced(
    steps: Steps,
    group: Group,
    own: Sequence[Expr],
    types: Sequence[CType],
    collective: str,
    combine: Combine,
    width: int = 1,
) -> list[Expr]:
    """The values ``own`` of all members combined, ``width`` of them at a time.

    What comes of unknown values is one unknown value for all: the first member draws it, and the others fetch that.
    """
    call, cells = steps.call, [*map(_exchange(steps, group), range(len(own)))]
    drawn = drawn_in(steps, cells, own, types, width)
    first = group.members[0]
    for cell, value, unknown in zip(cells, own, drawn, strict=True):
        if unknown is None or call.rank == first:
            lay(steps, cell, value if unknown is None else unknown)
    answers = Answers(steps, group, drawn, call.rank == first)
    steps.do(*map(Store, answers.cells, answers.given))
    _meet(steps, group, collective)
    answers.fetch(first)
    result: list[Expr] = []
    for begin in range(0, len(own), width):
        places = range(begin, begin + width)
        if drawn[begin] is None:
            blocks = [[_of(steps, member, cells[place], own[place]) for place in places] for member in group.members]
            result += combine(blocks, types[begin : begin + width])
        else:
            result += [_of(steps, first, cells[place], drawn[place]) for place in places]
    return result


class Answers:
    """The answers to what a collective is asked of the values that it brings (`together.py`), which the rank that
    gives ``values`` has too. ``given``: by this rank, if it ``gives`` any; ``cells``: where these go to."""

    def __init__(self, steps: Steps, group: Group, values: Sequence[Expr | None], gives: bool) -> None:
        self.steps, self.group, self.name = steps, group, group.name("brought")
        self.asked = steps.call.questions(self.name)
        self.given = [steps.call.answer(self.name, each, values) for each in self.asked] if gives else []
        if gives:
            self.bring(self.given)

    @property
    def cells(self) -> list[Expr]:
        call = self.steps.call
        parity = (cast(int, self.steps.recall(self.group.name("exchange")) or 0) - 1) % (call.slots or 2)
        return [cell_of(call, self.group, "answer", parity, index) for index in range(len(self.asked))]

    def fetch(self, giver: int) -> None:
        """Get what ``giver`` has answered, if this rank has not."""
        if not self.given:
            registers = [self.steps.call.register("answer") for _ in self.asked]
            self.steps.do(*(Fetch(each, Const(giver), cell) for each, cell in zip(registers, self.cells, strict=True)))
            self.bring(registers)

    def bring(self, answers: Sequence[Expr], values: Sequence[Expr] = ()) -> None:
        """The call brings ``values``, which are what it stores if not given, and these ``answers``."""
        self.steps.brought = Bringing(self.name, tuple(zip(self.asked, answers, strict=True)), tuple(values))


def drawn_in(
    steps: Steps, cells: Sequence[Expr], own: Sequence[Expr], types: Sequence[CType], width: int
) -> list[Expr | None]:
    """An unknown value for each cell that may hold one, and for the others of each ``width`` of them: what comes of
    this rank's ``own`` values and those of others."""
    found = [steps.call.unknown_in([cell], type, value) for cell, value, type in zip(cells, own, types, strict=True)]
    for begin in range(0, len(cells), width):
        if width > 1 and any(each is not None for each in found[begin : begin + width]):
            for place in range(begin, begin + width):
                found[place] = steps.call.unknown_in(cells[begin : begin + width], types[place], own[place])
    return found


def _reduced_by_all(
    steps: Steps, group: Group, operation: str, own: Sequence[Expr], types: Sequence[CType], collective: str
) -> list[Expr]:
    """The values ``own`` of all ranks combined, where the number of ranks is not known: a rank fetches the values of
    all in a loop, its own too. Of unknown values it fetches what rank 0 has drawn."""
    call, cells = steps.call, [*map(_exchange(steps, group), range(len(own)))]
    drawn = drawn_in(steps, cells, own, types, 1)
    for cell, value, unknown in zip(cells, own, drawn, strict=True):
        steps.do(Store(cell, value if unknown is None else unknown))
    _meet(steps, group, collective)
    if any(isinstance(type, Floating) for type in types) and operation in ("sum", "prod"):
        call.rests_on(Kind.REDUCTION_ORDER, call.name)
    totals: list[Expr] = []
    for cell, type, unknown in zip(cells, types, drawn, strict=True):
        rank, value, total = (call.register(hint) for hint in ("rank", "value", "total"))
        steps.do(Fetch(total, Const(0), cell))
        totals.append(total)
        if unknown is not None:
            continue
        each = call.do(
            Fetch(value, rank, cell),
            Assign(total, combined(operation, total, value, type)),
            Assign(rank, Binary("+", rank, Const(1))),
        )
        steps.do(Assign(rank, Const(1)))
        steps.do(While(Binary("<", rank, call.count), Block(each), call.span))
    return totals


def folded(steps: Steps, operation: str, blocks: Sequence[Sequence[Expr]], types: Sequence[CType]) -> list[Expr]:
    """The blocks of all members combined element by element."""
    return [fold(steps, operation, parts, type) for parts, type in zip(zip(*blocks, strict=True), types, strict=True)]


def fold(steps: Steps, operation: str, values: Sequence[Expr], type: CType) -> Expr:
    """The values combined from left to right, in a register. Of two floating-point numbers it does not matter which is
    the first one; of three it does."""
    if isinstance(type, Floating) and operation in ("sum", "prod") and len(values) > 2:
        steps.call.rests_on(Kind.REDUCTION_ORDER, steps.call.name)
    total, *rest = values
    for value in rest:
        both = combined(operation, total, value, type)
        if isinstance(total, Const) and isinstance(value, Const):
            total = Const(evaluator(both)(()))
            continue
        # In a register of its own each time: a minimum names its operands twice.
        register = steps.call.register("total")
        steps.do(Assign(register, both))
        total = register
    return total


# Messages, for which only the receiver waits


def send(
    steps: Steps,
    channel: Group,
    values: Sequence[Expr],
    number: int = 0,
    *,
    until_received: bool = False,
    collective: bool = False,
    group: Group | None = None,
) -> None:
    """Send ``values`` over ``channel``, whose members are the sender, this rank, and the receiver, which has to expect
    the same ``number``.

    The values lie with the sender until the receiver has fetched them. The sender goes on at once, or waits until they
    have been received (``until_received``). To wait for room would order the sender after the receiver, which no
    specification promises. So there is room for twice as many messages as the sender sends without hearing from the
    receiver (`_lead`), and where that is not enough, 1 / 0 is a fault. ``collective``: every message of the channel
    has as many values, so that what lies there is what the sender has laid out. ``group``: of which it is a blocking
    collective, if it is one, and its ``number`` chooses the slot. Of these a rank may make any number before another
    one follows, so that in the end it does wait for room (`Kind.BOUNDED_LEAD`).
    """
    call = steps.call
    depth, waits = _deepened(steps, channel, group)
    slots = call.slots if collective else None
    slot = steps.count(channel.name("sent"), slots or depth) if group is None or slots else number % depth
    full = cell_of(call, channel, "full", slot)
    filled: Expr = Const(1 + number % IN_ORDER)
    if waits:
        call.rests_on(Kind.BOUNDED_LEAD, call.name)
        steps.do(Await(full, "==", Const(0)))
    else:
        taken = call.register(f"of_{depth}_messages_under_way")
        steps.do(Load(taken, full))
        filled = Binary("/", filled, Binary("==", taken, Const(0)))
    for index, value in enumerate(values):
        cell = cell_of(call, channel, "message", slot, index)
        if collective:
            call.lays(cell, value)
        steps.do(Store(cell, value))
    steps.do(Store(full, filled))
    if until_received:
        steps.do(Await(full, "==", Const(0)))
        steps.note(_lead(channel, None), None)


def _depth(call: Call, group: Group) -> tuple[int, bool]:
    """How many messages of a channel, or of blocking collectives of a group, there is room for, and whether a sender
    waits for room: what is most of what the members publish."""
    if call.symbolic:
        return LEAST_DEPTH, False
    known = [call.published(member, group.name("depth")) for member in group.members]
    depth = max((each for each in known if isinstance(each, int)), default=LEAST_DEPTH)
    return (LEAST_DEPTH, True) if depth == WAITS else (depth, False)


def _deepened(steps: Steps, channel: Group, group: Group | None) -> tuple[int, bool]:
    """Make room for the next message that this rank sends; the result is as of `_depth`."""
    of, key = group or channel, _lead(channel, group)
    depth, waits = _depth(steps.call, of)
    most = MOST_DEPTH if group is not None or steps.call.in_open_loop else 2 * MOST_DEPTH
    if waits or (depth >= most and group is None):
        return depth, waits
    ahead = cast(int, steps.recall(key) or 0)
    if group is None or not ahead:  # from then on `in_order` counts, for it is their number that slots are used by
        steps.note(key, ahead + 1)
    while depth < min(2 * (ahead + 1), most):
        stop_point()
        depth *= 2
    if group is not None and (ahead >= MOST_DEPTH or (ahead >= LEAST_DEPTH and steps.call.in_open_loop)):
        depth = WAITS
    steps.call.publish(of.name("depth"), depth)
    return _depth(steps.call, of)


def _lead(channel: Group, group: Group | None) -> str:
    """Key in the state: how many messages of its channels, or collectives of a ``group``, this rank is ahead of the
    receiver of ``channel``, since it heard from it and up to a bound."""
    api, receiver = channel.key[0], channel.members[1]
    return f"{api}.ahead.{receiver}" if group is None else f"{group.name('lead')}.{receiver}"


def heard_from(steps: Steps, group: Group) -> None:
    """Note that this rank has heard from the others of the group, which most likely have received all it sent
    before."""
    before = tuple(f"{group.key[0]}.{what}." for what in ("ahead", "lead"))
    for name in {*steps.call.state, *steps.state}:
        if name.startswith(before) and steps.recall(name) and int(name.rpartition(".")[2]) in group.members:
            steps.note(name, None)


def next_message(steps: Steps, channel: Group, *, collective: bool = False) -> int:
    """The slot of the next message over ``channel`` to this rank, to be received now or later. ``collective``: as of
    `send`."""
    slots = steps.call.slots if collective else None
    return steps.count(channel.name("received"), slots or _depth(steps.call, channel)[0])


def receive(
    steps: Steps,
    channel: Group,
    count: int,
    slot: int | None = None,
    number: int = 0,
    *,
    collective: bool = False,
    group: Group | None = None,
) -> list[Expr]:
    """Receive ``count`` values over ``channel``, whose second member is this rank: the next message, or that in
    ``slot``, which `next_message` gave. This rank waits until the message has the right ``number``. ``collective`` and
    ``group``: as of `send`."""
    call = steps.call
    if slot is None and group is not None and not call.slots:
        slot = number % _depth(call, group)[0]
    if slot is None:
        slot = next_message(steps, channel, collective=collective)
    sender, full = Const(channel.members[0]), cell_of(call, channel, "full", slot)
    number %= IN_ORDER
    steps.do(AwaitAdd(sender, full, "==", Const(1 + number), Const(0)))
    result: list[Expr] = []
    for index in range(count):
        register, cell = call.register("message"), cell_of(call, channel, "message", slot, index)
        steps.do(Fetch(register, sender, cell))
        result.append(call.laid(channel.members[0], cell, register) if collective else register)
    steps.do(AwaitAdd(sender, full, "==", Const(1 + number), Const(-1 - number)))
    heard_from(steps, Group(channel.key, channel.members[:1]))
    return result


def await_message(steps: Steps, channel: Group) -> None:
    """Wait until the next message over ``channel`` is there, and leave it there."""
    slot = steps.recall(channel.name("received"), 0)
    assert isinstance(slot, int)
    full = cell_of(steps.call, channel, "full", slot % _depth(steps.call, channel)[0])
    steps.do(AwaitAdd(Const(channel.members[0]), full, "==", Const(1), Const(0)))


def all_at_once(steps: Steps, outcome: Outcome) -> Way:
    """``outcome``, that of the steps, as a way that begins only when none of their waits for other ranks will block:
    all of it happens, or nothing.

    For calls that test and do not wait. What they look at does not change until this rank takes it.
    """
    waits: dict[tuple[Expr, Expr, str, Expr], None] = {}
    for command in steps.commands:
        if isinstance(command, AwaitAdd):
            waits[command.rank, command.address, command.relation, command.value] = None
        elif isinstance(command, Await):
            waits[steps.call.me, command.address, command.relation, command.value] = None
    way: Way = outcome
    if len(waits) < 2:
        return way  # the machine makes a choice only when its first command can go on
    for rank, address, relation, value in reversed(waits):
        look, register = Steps(steps.call), steps.call.register("ready")
        look.do(Fetch(register, rank, address))
        way = look.look(Binary(relation, register, value), way)
    return way


def channel(group: Group, sender: int, receiver: int, *key: int | str) -> Group:
    """The channel of a group from one rank to another, or one of several by ``key`` (a tag)."""
    return Group((*group.key, *key, sender, receiver), (sender, receiver))


def gather(
    steps: Steps,
    group: Group,
    root: int,
    values: Sequence[Expr],
    collective: str = "",
    lengths: Sequence[int] | None = None,
) -> list[list[Expr]] | None:
    """The root gets the values of every member, in order; the others go on without waiting. ``lengths``: how many each
    brings, by default as many as the root."""
    call, kind = steps.call, collective or steps.call.name
    number = may_wait(steps, group, f"{kind} to {root}")
    if call.rank != root:
        send(steps, channel(group, call.rank, root, kind, len(values)), values, number, collective=True, group=group)
        return None
    blocks: list[list[Expr]] = []
    for member, length in zip(group.members, lengths or [len(values)] * len(group.members), strict=True):
        if member == root:
            blocks.append(list(values))
        else:
            way = channel(group, member, root, kind, length)
            blocks.append(receive(steps, way, length, None, number, collective=True, group=group))
    return blocks


def scatter(steps: Steps, group: Group, root: int, count: int, values: Callable[[int], Sequence[Expr]]) -> list[Expr]:
    """Every member gets the ``count`` values that the root has for it: ``values`` gives those by place in the group,
    and is called at the root only."""
    call = steps.call
    number = may_wait(steps, group, f"{call.name} from {root}")
    if call.rank != root:
        way = channel(group, root, call.rank, call.name, count)
        return receive(steps, way, count, None, number, collective=True, group=group)
    own: list[Expr] = []
    for place, member in enumerate(group.members):
        if member == root:
            own = list(values(place))
        else:
            block = values(place)
            send(
                steps, channel(group, root, member, call.name, len(block)), block, number, collective=True, group=group
            )
    return own


def from_lower(steps: Steps, group: Group, values: Sequence[Expr]) -> list[list[Expr]]:
    """The values of the members before this one, in order, as in a scan. Nobody waits for a later member."""
    call, place = steps.call, group.place(steps.call.rank)
    key = (call.name, len(values))
    number = may_wait(steps, group, f"{key[0]} of {key[1]}")
    for member in group.members[place + 1 :]:
        send(steps, channel(group, call.rank, member, *key), values, number, collective=True, group=group)
    return [
        receive(steps, channel(group, member, call.rank, *key), len(values), None, number, collective=True, group=group)
        for member in group.members[:place]
    ]


# What is used in turn


def _begin_anew(steps: Steps, group: Group) -> None:
    """At a barrier nothing of earlier collectives of the ``group`` is under way: whoever has come to it has received
    what these have sent to him, and has got what he wanted of earlier exchanges. So all that is used in turn begins
    anew, and loops come back sooner to a state that they have been in. Not so where it is to be known which number
    each collective moves (`Call.slots`)."""
    if steps.call.slots is None and steps.recall(group.name("exchange")) is not None:
        steps.note(group.name("exchange"), None)


def _meet(steps: Steps, group: Group, collective: str) -> None:
    """The barrier of an exchange, the values of which are got behind it: the next one has other cells."""
    another = steps.recall(group.name("exchange"))
    barrier(steps, group, collective)
    steps.note(group.name("exchange"), another)


def cell_of(call: Call, group: Group, *what: int | str) -> Expr:
    """A cell of the group's own, on every node."""
    stop_point()
    name = re.sub(r"\W+", "_", "_".join(map(str, (*group.key, *what))))
    return call.own_cell(str(group.key[0]), *group.key[1:], *what, name=name)
