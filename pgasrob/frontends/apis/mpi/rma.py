"""One-sided communication (MPI-4, section 12.3): puts, gets and accumulates, all nonblocking, and with requests."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, cast

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.apis.call_steps import NotAllowed, Steps
from pgasrob.frontends.apis.interface import Call, Outcome
from pgasrob.frontends.apis.lent import used_by_call
from pgasrob.frontends.apis.mpi import epochs, rules
from pgasrob.frontends.apis.mpi.addresses import elements, number_of
from pgasrob.frontends.apis.mpi.datatypes import Datatype, datatype
from pgasrob.frontends.apis.mpi.handles import handle, places, published, split
from pgasrob.frontends.apis.mpi.header import BASIC, BITWISE, PROC_NULL, REQUEST, SYNONYMS, calls
from pgasrob.frontends.apis.mpi.requests import rma_request
from pgasrob.frontends.apis.mpi.targets import Target, Window, window
from pgasrob.frontends.apis.mpi.window_calls import RmaCall, RmaKind
from pgasrob.frontends.apis.mpi.windows import Part
from pgasrob.frontends.apis.transfers import MOST, Transfer, bounded, int_type
from pgasrob.frontends.c.arithmetic import LONG
from pgasrob.frontends.c.symbolic import EVERYONE, Extent
from pgasrob.frontends.c.types import FLOAT, CType, Floating
from pgasrob.frontends.c.values import NULL, Address, Handle, Known, ObjectId
from pgasrob.program.commands import Assign, Fetch, Read, UpdateFrom, Write
from pgasrob.program.expressions import Binary, Const, Expr, constant


class Element(NamedTuple):
    """A basic element of a buffer: where it lies, also in bytes from the beginning, and its type."""

    address: Address
    place: int
    type: CType


class Operation:
    """One call to one target: where its operands lie.

    ``place`` is the index of the target rank among the arguments; displacement, count and type follow, then the window.
    """

    def __init__(self, steps: Steps, of: Window, place: int, target: Target, displacement: int | Expr) -> None:
        self.steps = steps
        self.call = call = steps.call
        self.rank = of.rank(target)
        self.of = of
        self.target = target
        self.part = self._published("part", "the window")
        self.displacement = displacement
        self.place = place
        handles = (isinstance(each, Handle) and each.kind == "window" for each in call.arguments)
        self.window = next(text for text, found in zip(call.texts, handles, strict=False) if found)

    def _published(self, key: str, what: str) -> Hashable | None:
        """The fact that the target has published under ``key``; where any rank may be the target, the fact that all
        share."""
        for member in self.of.ranks(self.target):
            return published(self.call, member, self.of.key(key), what)
        return self.call.own_fact(self.of.key(key))

    def remote(self, count: int, type: Datatype) -> list[Element] | None:
        """The basic elements at the target; None as long as its part of the window is not known, or where there is
        nothing to access."""
        if not isinstance(self.part, Part):
            return None
        found = list(type.elements(count))
        first = min((place for place, _ in found), default=0)
        end = max((place + self.call.size_of(kind) for place, kind in found), default=0)
        base = self._base(self.part, first, end) if found else None
        if base is None:
            return None if found else []
        owner = constant(self.rank)
        if owner is not None:  # which may have allocated more of it than this rank
            base = replace(base, owner=owner)
        return [Element(self.call.moved(base, place), place, kind) for place, kind in found]

    def _base(self, part: Part, first: int, end: int) -> Address | None:
        """The address at the target that the displacement names. Bytes ``first`` to ``end`` from there are accessed."""
        if isinstance(part.bytes, Extent):
            return self._within_growing(part, part.bytes, first, end)
        assert isinstance(self.displacement, int)
        start = self.displacement * part.unit
        if part.dynamic:
            pieces = self._published("attached", "memory of the window")
            if pieces is None:
                return None
            for object, offset, bytes in cast("frozenset[tuple[ObjectId, int, int]]", pieces):
                low = number_of(object) + offset
                if low <= start + first and start + end <= low + bytes:
                    return Address(object, start - low + offset)
            self._outside(part, "memory", "that is not attached there")
            return None
        if part.base is None or start + first < 0 or start + end > part.bytes:
            accessed = f"bytes {start + first} to {start + end - 1}"
            self._outside(part, accessed, f"which has {part.bytes or 'no'} bytes there")
            return None
        return self.call.moved(part.base, start)

    def _within_growing(self, part: Part, bytes: Extent, first: int, end: int) -> Address:
        """The address that the displacement names in a window whose size depends on the number of nodes."""
        assert part.base is not None
        place = Const(self.displacement) if isinstance(self.displacement, int) else self.displacement
        start = Binary("*", place, Const(part.unit), LONG)
        size = Binary("+", Binary("*", self.call.count, Const(bytes.each), LONG), Const(bytes.more), LONG)
        within = Binary(
            "&&",
            Binary(">=", Binary("+", start, Const(first), LONG), Const(0), LONG),
            Binary("<=", Binary("+", start, Const(end), LONG), size, LONG),
        )
        self.steps.do(Assign(self.call.register("inside"), Binary("/", Const(1), within)))
        return self.call.element(part.base, place, part.unit)

    def _outside(self, part: Part, accessed: str, but: str) -> None:
        """The access is outside of the window, which is a mistake unless the displacement is but one of several."""
        if not isinstance(self.call.arguments[self.place + 1], Known):
            nowhere = self.call.nowhere(f"{self.call.name} accesses {accessed} of the window {self.window}, {but}")
            self.steps.do(Fetch(self.call.register("outside"), self.call.me, nowhere))
            return
        self.call.fail(
            Wrong.BOUNDS,
            f"{self.call.name} at displacement {self.displacement} of rank {self.target} accesses {accessed} of the "
            f"window {self.window}, {but}",
            "attach the memory before, and send the address that MPI_Get_address gives"
            if part.dynamic
            else "displacements count in the unit that the target gave when the window was made",
        )

    def local(self, index: int, count: int, type: Datatype, *, stores: bool = False) -> list[Element]:
        """The basic elements of the buffer in argument ``index``, which the call reads, or ``stores``."""
        places = [place for place, _ in type.elements(count)]
        found = elements(self.call, index, count, type)
        for address, kind in found:
            used_by_call(self.steps, address, self.call.size_of(kind), stores=stores)
        return [Element(address, place, kind) for place, (address, kind) in zip(places, found, strict=True)]


def _numbers(call: Call, found: list[Element], update: str = "") -> list[Expr]:
    """The cells of elements that are updated by ``update``, or of its operands or results."""
    compared = update.rstrip(".") in ("min", "max", "compare_swap")
    return [call.number(each.address, each.type, compared=compared) for each in found]


def _targets(
    call: Call, place: int, window_index: int, type_index: int, go: Callable[[Operation, Window], None]
) -> list[Outcome]:
    """The outcomes for every target and displacement that the call may have; ``type_index``: the type there."""
    of = window(call, window_index)
    target = call.arguments[place]
    members = of.members
    if members is not EVERYONE and isinstance(target, Known) and 0 <= target.value < len(members):
        members = (members[target.value],)
    within: list[int] = []
    part = call.own_fact(of.key("part")) if members is EVERYONE else None
    grows = isinstance(part, Part) and isinstance(part.bytes, Extent)
    if not isinstance(call.arguments[place + 1], Known) and not grows:
        known = (None,) if members is EVERYONE else members
        each = [run for member in known for run in _displacements(call, of, member, type_index)]
        if sum(map(len, each)) > MOST * len(known):
            call.fail(
                Wrong.SIZE_LIMIT,
                f"{call.name} at a displacement that is not known, in a window of more than {MOST} places",
                "compute the displacement from ranks and constants, or make the window smaller",
            )
        within = sorted(set().union(*each))

    def one(steps: Steps, values: Mapping[int, Target]) -> None:
        target = values[place]
        displacement = call.expression(place + 1) if grows else values[place + 1]
        if target != PROC_NULL:
            go(Operation(steps, of, place, target, displacement), of)

    return split(call, {place: places(of.group())} | ({} if grows else {place + 1: within}), one)


def _displacements(call: Call, of: Window, member: int | None, type_index: int) -> Sequence[range]:
    """The displacements at which the window of ``member``, or of any rank, may have memory."""
    part = call.own_fact(of.key("part")) if member is None else call.published(member, of.key("part"))
    if not isinstance(part, Part):
        return (range(1),)
    if not part.dynamic:
        assert isinstance(part.bytes, int), "there is a number of nodes, or it is known that it grows"
        return (range(part.bytes // part.unit),)
    pieces = (None if member is None else call.published(member, of.key("attached"))) or frozenset()
    step = min(map(call.size_of, datatype(call, type_index).types), default=1)
    return [
        range(begin := number_of(object) + offset, begin + bytes, step)
        for object, offset, bytes in cast("frozenset[tuple[ObjectId, int, int]]", pieces)
    ]


@dataclass(frozen=True, slots=True)
class Accumulation:
    """How a call updates elements of C ``type``: by ``operation`` on the basic ``datatype``, as MPI calls them without
    `MPI_` ("sum", "INT"), which is the update ``name`` of the calculus."""

    operation: str
    datatype: str
    name: str
    type: CType

    def command(
        self, target: Operation, operand: Expr | None, there: Expr, queue: Const, old: Expr | None = None,
        expected: Expr | None = None,
    ) -> UpdateFrom:  # fmt: skip
        """The update of one element. It excludes updates of its basic datatype (12.7.1) that do the same, or nothing.
        For that is what `accumulate_ops` is by default (12.2.1), and no value of it lets operations differ. Whether a
        compare and swap, which has no operation, excludes those that have one, is left open."""
        if self.type == FLOAT and self.operation in ("sum", "prod"):
            # Cells hold doubles, and these sums are rounded to floats.
            target.call.become_unknown([each for each in (there, old) if each is not None])
        excluded = f"MPI_{self.datatype}" if self.operation == "no_op" else f"MPI_{self.datatype} by {self.operation}"
        return UpdateFrom(
            self.name, operand, target.rank, there, queue, old, expected, located=True, type=int_type(self.type),
            atomic=excluded,
        )  # fmt: skip


def _accumulation(call: Call, type: Datatype, index: int | None = None) -> Accumulation:
    """The accumulation with the operation in argument ``index``; a compare and swap where there is none."""
    if type.single is None:
        call.fail(
            Wrong.ARGUMENT,
            f"{call.name} of elements of several types",
            "accumulate elements of one basic type, such as MPI_INT",
        )
    name, of = SYNONYMS.get(type.single, type.single), BASIC[type.single]
    if index is None:
        return Accumulation("compare_swap", name, "compare_swap", of)
    return Accumulation(str(handle(call, index, "op").data[0]), name, update_name(call, index, of), of)


def _queue(operation: Operation, request: int | None, kind: RmaKind, update: Accumulation | None = None) -> Const:
    """The queue of the target; one of its own for a call with a request, which goes to argument ``request``. ``kind``
    and ``update``: what the call is, for its mark."""
    steps, of = operation.steps, operation.of
    epochs.communicates(steps, of, operation.target, request is not None)
    of.await_fence(steps, operation.target)
    number = None
    if request is not None:
        made, number = rma_request(steps, of, operation.target)
    named = (update.operation, update.datatype) if update is not None else ("", "")
    for target in of.ranks(operation.target):
        steps.mark(RmaCall(steps.call.name, kind, of.name, target, *named, number))
    if request is not None:
        steps.answer(request, made, REQUEST)
    return of.use(steps, operation.target, number)


# Put and get


def _transfer(call: Call, kind: RmaKind, command: type[Read] | type[Write]) -> list[Outcome]:
    """Put or get (12.3): one transfer of contiguous elements of one size, else one command for each pair of cells."""
    request = 8 if call.name.startswith("MPI_R") else None

    def go(operation: Operation, of: Window) -> None:
        queue = _queue(operation, request, kind)
        local_type, remote_type = datatype(call, 2), datatype(call, 6)
        local = operation.local(0, bounded(call, 1), local_type, stores=kind == "get")
        remote = operation.remote(bounded(call, 5), remote_type)
        if local and remote and _is_plain(call, local_type, local, remote):
            size = call.size_of(local[0].type)
            whole = Transfer(local[0].address, operation.rank, remote[0].address, len(local) * size, size)
            whole.issue(operation.steps, command, queue)
            return
        for here, there in _pairs(call, local, local_type, remote):
            operation.steps.do(command(here, operation.rank, there, queue))

    return _targets(call, 3, 7, 6, go)


def _is_plain(call: Call, type: Datatype, local: list[Element], remote: list[Element]) -> bool:
    """Whether the elements of both sides are of one size, and lie next to each other."""
    sizes = {call.size_of(each.type) for side in (local, remote) for each in side}
    together = len(local) == len(remote) and len(_runs(call, local)) == len(_runs(call, remote)) == 1
    return type.single != "BYTE" and len(sizes) == 1 and together


def _pairs(
    call: Call, local: list[Element], local_type: Datatype, remote: list[Element] | None
) -> list[tuple[Expr, Expr]]:
    """The cells of a transfer, element by element."""
    if remote is None:
        return []
    here, there = ([call.size_of(each.type) for each in side] for side in (local, remote))
    if sum(here) != sum(there):
        call.fail(
            Wrong.ARGUMENT,
            f"{call.name} moves {sum(here)} bytes to {sum(there)}",
            "give count and type of both sides for the same elements",
        )
    if here == there and local_type.single != "BYTE":
        found = zip(local, remote, here, strict=True)
        return [pair for ours, its, size in found for pair in call.paired_cells(ours.address, its.address, size, size)]
    # Bytes say nothing about what is moved: it is whatever lies there.
    return [pair for piece in _pieces(call, local, remote) for pair in call.paired_cells(*piece, None)]


def _pieces(call: Call, local: list[Element], remote: list[Element]) -> Iterator[tuple[Address, Address, int]]:
    """The pieces of a transfer that are contiguous on both sides: from where to where, and how many bytes."""
    ours, theirs = _runs(call, local), _runs(call, remote)
    while ours and theirs:
        (here, some), (there, more) = ours.pop(), theirs.pop()
        bytes = min(some, more)
        yield here, there, bytes
        if some > bytes:
            ours.append((call.moved(here, bytes), some - bytes))
        if more > bytes:
            theirs.append((call.moved(there, bytes), more - bytes))


def _runs(call: Call, found: list[Element]) -> list[tuple[Address, int]]:
    """The contiguous pieces of a buffer with their sizes, the last one first."""
    runs: list[tuple[Address, int, int]] = []
    for address, place, type in found:
        size = call.size_of(type)
        if runs and runs[-1][1] + runs[-1][2] == place:
            runs[-1] = (*runs[-1][:2], runs[-1][2] + size)
        else:
            runs.append((address, place, size))
    return [(address, bytes) for address, _, bytes in reversed(runs)]


_BUFFERS = (
    "int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, int target_count, "
    "MPI_Datatype target_datatype"
)


@calls(f"""
    Put(const void *origin_addr, {_BUFFERS}, MPI_Win win);
    Rput(const void *origin_addr, {_BUFFERS}, MPI_Win win, MPI_Request *request)
""")
def put(call: Call) -> list[Outcome]:
    return _transfer(call, "put", Write)


@calls(f"""
    Get(void *origin_addr, {_BUFFERS}, MPI_Win win);
    Rget(void *origin_addr, {_BUFFERS}, MPI_Win win, MPI_Request *request)
""")
def get(call: Call) -> list[Outcome]:
    return _transfer(call, "get", Read)


# Accumulates: atomic element by element, in program order for each location


@calls(f"""
    Accumulate(const void *origin_addr, {_BUFFERS}, MPI_Op op, MPI_Win win);
    Raccumulate(const void *origin_addr, {_BUFFERS}, MPI_Op op, MPI_Win win, MPI_Request *request)
""")
def accumulate(call: Call) -> list[Outcome]:
    request = 9 if call.name == "MPI_Raccumulate" else None

    def go(operation: Operation, of: Window) -> None:
        remote_type = datatype(call, 6)
        local_type = remote_type if call.arguments[2] == NULL else datatype(call, 2)
        update = _accumulation(call, remote_type, 7)
        queue = _queue(operation, request, "accumulate", update)
        remote = operation.remote(bounded(call, 5), remote_type)
        if update.name == "fetch":  # MPI_NO_OP
            return
        local = operation.local(0, bounded(call, 1), local_type)
        for side in (local, remote or []):
            _numbers(call, side, update.name)
        for here, there in _pairs(call, local, local_type, remote):
            operation.steps.do(update.command(operation, here, there, queue))

    return _targets(call, 3, 8, 6, go)


@calls("""
    Get_accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, void *result_addr,
        int result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp, int target_count,
        MPI_Datatype target_datatype, MPI_Op op, MPI_Win win);
    Rget_accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, void *result_addr,
        int result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp, int target_count,
        MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request)
""")
def get_accumulate(call: Call) -> list[Outcome]:
    request = 12 if call.name == "MPI_Rget_accumulate" else None

    def go(operation: Operation, of: Window) -> None:
        result_type, remote_type = datatype(call, 5), datatype(call, 9)
        update = _accumulation(call, remote_type, 10)
        queue = _queue(operation, request, "get_accumulate", update)
        remote = operation.remote(bounded(call, 8), remote_type)
        if remote is None:
            return
        there = _numbers(call, remote, update.name)
        result = _numbers(call, operation.local(3, bounded(call, 4), result_type, stores=True))
        # With MPI_NO_OP the operand, its count and its type are ignored.
        local: list[Expr | None] = [None] * len(there)
        if update.name != "fetch":
            local = list(_numbers(call, operation.local(0, bounded(call, 1), datatype(call, 2)), update.name))
        if not len(local) == len(there) == len(result):
            call.fail(
                Wrong.ARGUMENT,
                f"the counts of {call.name} differ",
                "give the same number of elements for all three buffers",
            )
        for operand, target, old in zip(local, there, result, strict=True):
            operation.steps.do(update.command(operation, operand, target, queue, old))

    return _targets(call, 6, 11, 9, go)


@calls("""
    Fetch_and_op(const void *origin_addr, void *result_addr, MPI_Datatype datatype, int target_rank,
        MPI_Aint target_disp, MPI_Op op, MPI_Win win)
""")
def fetch_and_op(call: Call) -> list[Outcome]:
    def go(operation: Operation, of: Window) -> None:
        of_all = datatype(call, 2)
        update = _accumulation(call, of_all, 5)
        queue, remote = _queue(operation, None, "get_accumulate", update), operation.remote(1, of_all)
        if remote is None:
            return
        operand = None
        if update.name != "fetch":
            operand = _numbers(call, operation.local(0, 1, of_all), update.name)[0]
        (there,) = _numbers(call, remote, update.name)
        (old,) = _numbers(call, operation.local(1, 1, of_all, stores=True))
        operation.steps.do(update.command(operation, operand, there, queue, old))

    return _targets(call, 3, 6, 2, go)


@calls("""
    Compare_and_swap(const void *origin_addr, const void *compare_addr, void *result_addr, MPI_Datatype datatype,
        int target_rank, MPI_Aint target_disp, MPI_Win win)
""")
def compare_and_swap(call: Call) -> list[Outcome]:
    def go(operation: Operation, of: Window) -> None:
        of_all = datatype(call, 3)
        update = _accumulation(call, of_all)
        queue, remote = _queue(operation, None, "compare_and_swap", update), operation.remote(1, of_all)
        if remote is None:
            return
        (there,) = _numbers(call, remote, update.name)  # first: what is wrong there reaches the others by copies
        new, expected, old = (
            _numbers(call, operation.local(index, 1, of_all, stores=index == 2), update.name if index == 1 else "")[0]
            for index in (0, 1, 2)
        )
        operation.steps.do(update.command(operation, new, there, queue, old, expected))

    return _targets(call, 4, 6, 3, go)


_UPDATES = {"sum": "add", "prod": "mul", "min": "min", "max": "max"}
_BITS = {"and": "and", "or": "or", "xor": "xor", "replace": "set", "no_op": "fetch"}


def update_name(call: Call, index: int, type: CType) -> str:
    """The atomic update that an MPI_Op is on elements of ``type``."""
    name = handle(call, index, "op").data[0]
    assert isinstance(name, str)
    if name in BITWISE and isinstance(type, Floating):
        raise NotAllowed(rules.OPERATION, f"{call.name} with the bitwise {BITWISE[name]} on floating-point numbers")
    if name == "no_op" and call.name in ("MPI_Accumulate", "MPI_Raccumulate"):
        raise NotAllowed(rules.OPERATION, f"{call.name} with MPI_NO_OP")
    if name in _UPDATES:
        if not isinstance(type, Floating):
            return _UPDATES[name]
        return f"{_UPDATES[name]}."
    if name in ("minloc", "maxloc"):
        call.fail(
            Wrong.CALL_LIMIT,
            f"{call.name} with MPI_{name.upper()} is not supported, as it updates two elements at once",
            "pack value and place into one integer, and accumulate with MPI_MIN or MPI_MAX",
        )
    if name not in _BITS:
        call.fail(
            Wrong.CALL_LIMIT,
            f"{call.name} with a logical operation is not supported",
            "use MPI_BAND, MPI_BOR or MPI_BXOR on values that are 0 or 1",
        )
    return _BITS[name]
