"""Collectives as data flow (1.5, section 9.9; before 1.5 over active sets).

A collective promises that one's own destination is ready and one's own source may be used again, no more. So whoever
needs data of all waits for all; the root of a broadcast waits for nobody.
"""

from __future__ import annotations

from collections.abc import Sequence

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.apis import flags
from pgasrob.frontends.apis.call_steps import Steps
from pgasrob.frontends.apis.flags import Group
from pgasrob.frontends.apis.interface import Call
from pgasrob.frontends.apis.openshmem import rules
from pgasrob.frontends.apis.openshmem.contexts import Arguments, active_set, does, does_typed, group_of
from pgasrob.frontends.apis.openshmem.header import ALL, INTEGERS
from pgasrob.frontends.apis.transfers import element, value_at
from pgasrob.frontends.c.types import Pointer
from pgasrob.program.commands import AwaitAdd, Bundle, Fence, Load, Put, Signal, Store
from pgasrob.program.expressions import Const, Expr

STRIDED = "void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems"
SET = "int PE_start, int logPE_stride, int PE_size"
TIMES = 64
"""How many calls of `collect` at one place may bring different numbers of elements."""


class Collective(Arguments):
    """The arguments of a collective: its group, destination, source, and more.

    Calls with a team have it as first argument; the others end with an active set from argument ``active`` on.
    """

    def __init__(self, call: Call, active: int) -> None:
        super().__init__(call)
        self.with_team = not isinstance(call.types[0], Pointer)
        self.first = 1 if self.with_team else 0
        self.group: Group = group_of(call, 0) if self.with_team else active_set(call, active)

    @property
    def place(self) -> int:
        """The place of this rank in the group."""
        return self.group.place(self.call.rank)

    def cells(self, destination: int, source: int, count: int = 1) -> list[tuple[Expr, Expr]]:
        """The cells of ``count`` elements, destination before source, from these elements on."""
        if count == 0:
            return []
        size = self.element_size
        to = self.call.moved(self.symmetric(0), destination * size)
        start = self.call.moved(self.symmetric(1), source * size)
        return self.call.paired_cells(to, start, count * size, None)


def _loaded(steps: Steps, cells: Sequence[tuple[Expr, Expr]]) -> list[Expr]:
    """The values of source cells."""
    values: list[Expr] = []
    for _, source in cells:
        register = steps.call.register("value")
        steps.do(Load(register, source))
        values.append(steps.call.held(source, register))
    return values


def _stored(steps: Steps, cells: Sequence[tuple[Expr, Expr]], values: Sequence[Expr]) -> None:
    steps.do(*(Store(to, value) for (to, _), value in zip(cells, values, strict=True)))


# Broadcast


@does(f"""
    void shmem_broadcast32(void *dest, const void *source, size_t nelems, int PE_root, {SET}, long *pSync);
    void shmem_broadcast64(void *dest, const void *source, size_t nelems, int PE_root, {SET}, long *pSync);
    int shmem_broadcastmem(shmem_team_t team, void *dest, const void *source, size_t nelems, int PE_root)
""")
@does_typed("int shmem_{N}_broadcast(shmem_team_t team, {C} *dest, const {C} *source, size_t nelems, int PE_root)")
def broadcast(at: Arguments, steps: Steps) -> int:
    """The root puts into the destinations of the others, each with a signal that it has arrived, and goes on.

    The broadcasts of a root that is ahead stay in order: each begins with a fence, and the signals count. Only the form
    for teams writes the destination of the root too.
    """
    call, collective = at.call, Collective(at.call, 4)
    group, root = collective.group, collective.known(3)
    if not 0 <= root < len(group.members):
        call.fail(
            Wrong.RANK,
            f"the root of {call.name} is PE {root} of {len(group.members)}",
            "it counts within the team or set",
        )
    order = flags.may_wait(steps, group, f"{call.name} of {collective.count(2)} from {root}")
    arrived = call.own_cell("shmem", "broadcast", *group.key[1:], root, order % flags.IN_ORDER, name="shmem_broadcast")
    cells = collective.cells(0, 0, collective.count(2))
    if collective.place != root:
        steps.do(AwaitAdd(call.me, arrived, ">", Const(0), Const(-1)))
        call.arrived([to for to, _ in cells])
        return 0
    queue = call.queue("shmem", "broadcast", name="shmem_broadcast")
    steps.do(Fence(queue, None))
    for member in group.members:
        if member != call.rank:
            rank = Const(member)
            steps.do(Bundle())
            steps.do(*(Put(source, rank, to, queue) for to, source in cells))
            steps.do(Signal("add", Const(1), rank, arrived, queue))
    if collective.with_team:
        own = [(to, source) for to, source in cells if to != source]
        _stored(steps, own, _loaded(steps, own))
    return 0


# Collect: the blocks of all, one after the other. With fcollect all are of one size.


@does(f"""
    void shmem_fcollect32(void *dest, const void *source, size_t nelems, {SET}, long *pSync);
    void shmem_fcollect64(void *dest, const void *source, size_t nelems, {SET}, long *pSync);
    void shmem_collect32(void *dest, const void *source, size_t nelems, {SET}, long *pSync);
    void shmem_collect64(void *dest, const void *source, size_t nelems, {SET}, long *pSync);
    int shmem_fcollectmem(shmem_team_t team, void *dest, const void *source, size_t nelems);
    int shmem_collectmem(shmem_team_t team, void *dest, const void *source, size_t nelems)
""")
@does_typed("int shmem_{N}_fcollect(shmem_team_t team, {C} *dest, const {C} *source, size_t nelems)")
@does_typed("int shmem_{N}_collect(shmem_team_t team, {C} *dest, const {C} *source, size_t nelems)")
def collect(at: Arguments, steps: Steps) -> int:
    call, collective = at.call, Collective(at.call, 3)
    counts = _counts(steps, collective)
    wanted, places = [], []
    begin = 0
    own: list[tuple[Expr, Expr]] = []
    for member, count in zip(collective.group.members, counts, strict=True):
        # The source is paired with every block of the destination: there are as many cells in each element.
        cells = collective.cells(begin, 0, count)
        wanted += [(member, index) for index in range(len(cells))]
        places += cells
        own = cells if member == call.rank else own
        begin += count
    values = flags.exchange(steps, collective.group, _loaded(steps, own), wanted)
    _stored(steps, places, values)
    return 0


def _counts(steps: Steps, collective: Collective) -> list[int]:
    """How many elements each member brings. With `collect` each publishes its number, for each place in the program.

    Where the number changes from call to call, the calls at one place are numbered too, modulo `TIMES`.
    """
    call = steps.call
    own, members = collective.count(2), collective.group.members
    if "fcollect" in call.name:
        return [own] * len(members)
    place = f"{collective.group.name('collect')}.{call.span.line}.{call.span.column}"
    varies = any(call.published(member, f"{place}.varies") for member in members)
    key = f"{place}.{steps.count(place, TIMES)}" if varies else place
    if call.published_here(key) not in (None, own):
        if varies:
            call.fail(
                Wrong.CALL_LIMIT,
                f"PE {call.rank} brings different numbers of elements to one call of {call.name}",
                f"the number may change from call to call, {TIMES} times, but must be the same in every run",
            )
        call.publish(f"{place}.varies", True)
    else:
        call.publish(key, own)
    published = {member: call.published(member, key) for member in members}
    counts = [count for count in published.values() if isinstance(count, int)]
    if len(counts) < len(members):
        missing = next(member for member, count in published.items() if not isinstance(count, int))
        call.fail(
            Wrong.ARGUMENT,
            f"PE {missing} does not come to this call of {call.name}",
            "let all members call it at one place",
        )
    return counts


# All to all: block j of everybody's source becomes a block of member j's destination.


@does(f"""
    void shmem_alltoall32(void *dest, const void *source, size_t nelems, {SET}, long *pSync);
    void shmem_alltoall64(void *dest, const void *source, size_t nelems, {SET}, long *pSync);
    int shmem_alltoallmem(shmem_team_t team, void *dest, const void *source, size_t nelems)
""")
@does_typed("int shmem_{N}_alltoall(shmem_team_t team, {C} *dest, const {C} *source, size_t nelems)")
def alltoall(at: Arguments, steps: Steps) -> int:
    collective = Collective(at.call, 3)
    return _alltoall(steps, collective, 1, 1, collective.count(2))


@does(f"""
    void shmem_alltoalls32({STRIDED}, {SET}, long *pSync);
    void shmem_alltoalls64({STRIDED}, {SET}, long *pSync);
    int shmem_alltoallsmem(shmem_team_t team, {STRIDED})
""")
@does_typed(f"int shmem_{{N}}_alltoalls(shmem_team_t team, {STRIDED.replace('void', '{C}')})")
def alltoalls(at: Arguments, steps: Steps) -> int:
    collective = Collective(at.call, 5)
    return _alltoall(steps, collective, collective.known(2), collective.known(3), collective.count(4))


def _alltoall(steps: Steps, collective: Collective, to_stride: int, from_stride: int, count: int) -> int:
    cells: list[tuple[Expr, Expr]] = []
    for place in range(len(collective.group.members)):
        for index in range(count):
            block = place * count + index
            cells += collective.cells(block * to_stride, block * from_stride)
    each = len(cells) // len(collective.group.members)
    wanted = [(member, collective.place * each + index) for member in collective.group.members for index in range(each)]
    values = flags.exchange(steps, collective.group, _loaded(steps, cells), wanted)
    _stored(steps, cells, values)
    return 0


# Reductions and scans


def _reduction(at: Arguments, steps: Steps) -> int:
    call, collective = at.call, Collective(at.call, 3)
    count, operation = collective.count(2), call.name.split("_")[-3 if call.name.endswith("_to_all") else -2]
    to, of = collective.symmetric(0), collective.symmetric(1)
    known = to.object == of.object and isinstance(to.offset, int) and isinstance(of.offset, int)
    if known and 0 < abs(to.offset - of.offset) < count * collective.element_size:  # type: ignore[operator]
        steps.illegal(rules.OVERLAP, f"the source and the destination of {call.name} overlap in part")
    for index, value in enumerate(flags.reduce(steps, collective.group, operation, of, collective.target(0), count)):
        steps.store(element(call, to, index, collective.target(0)), value, collective.target(0))
    return 0


def _scan(at: Arguments, steps: Steps) -> int:
    """Sums over the members before this one (1.6), itself included in `inscan`."""
    call, collective = at.call, Collective(at.call, 3)
    count, type = collective.count(2), collective.target(0)
    own = [value_at(steps, element(call, collective.symmetric(1), index, type), type) for index in range(count)]
    blocks = flags.from_lower(steps, collective.group, own)
    if call.name.endswith("inscan"):
        blocks.append(own)
    for index in range(count):
        parts = [block[index] for block in blocks]
        total = flags.fold(steps, "sum", parts, type) if parts else Const(0)
        steps.store(element(call, collective.symmetric(0), index, type), total, type)
    return 0


_REDUCED = (
    f"void shmem_{{N}}_OP_to_all({{C}} *dest, const {{C}} *source, int nreduce, {SET}, {{C}} *pWrk, long *pSync)",
    "int shmem_{N}_OP_reduce(shmem_team_t team, {C} *dest, const {C} *source, size_t nreduce)",
)
for _template in _REDUCED:
    for _operation in ("sum", "prod", "min", "max", "and", "or", "xor"):
        _types = INTEGERS if _operation in ("and", "or", "xor") else ALL
        does_typed(_template.replace("OP", _operation), _types)(_reduction)
for _kind in ("inscan", "exscan"):
    does_typed(f"int shmem_{{N}}_sum_{_kind}(shmem_team_t team, {{C}} *dest, const {{C}} *source, size_t nelems)")(
        _scan
    )
