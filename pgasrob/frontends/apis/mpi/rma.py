"""One-sided communication (MPI-4, section 12.3): puts, gets and accumulates, all nonblocking, and with requests."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pgasrob.frontends.apis.interface import Call, Outcome
from pgasrob.frontends.apis.mpi.handles import Datatype, datatype, handle, places, pointer, size, split, told
from pgasrob.frontends.apis.mpi.names import PROC_NULL, REQUEST, calls
from pgasrob.frontends.apis.mpi.requests import rma_request
from pgasrob.frontends.apis.mpi.windows import Part, Window, window
from pgasrob.frontends.apis.transfers import Steps, bounded, int_type
from pgasrob.frontends.c.types import CType, Floating
from pgasrob.frontends.c.values import Address
from pgasrob.program.commands import Command, Read, UpdateFrom, Write
from pgasrob.program.expressions import Const, Expr


class Operation:
    """One call to one target: where its operands lie.

    ``place`` is the index of the target rank among the arguments; displacement, count and type follow, then the window.
    """

    def __init__(self, steps: Steps, of: Window, place: int, target: int, displacement: int) -> None:
        self.steps = steps
        self.call = call = steps.call
        self.rank = Const(of.members[target])
        self.part = told(call, of.members[target], of.key("part"), "the window")
        self.of = of
        self.displacement = displacement
        self.place = place
        self.target = target

    def remote(self, count: int, type: Datatype) -> list[Address] | None:
        """Where the basic elements lie at the target; None as long as its part of the window is not known."""
        if not isinstance(self.part, Part):
            return None
        start = self.displacement * self.part.unit
        places = [start + place for place in type.elements(count)]
        base, end = self.part.base, size(self.call, type)
        if places and (base is None or min(places) < 0 or max(places) + end > self.part.bytes):
            self.call.fail(
                f"{self.call.name} at displacement {self.displacement} of rank {self.target} is outside its window of "
                f"{self.part.bytes} bytes",
                "displacements count in the unit that the target gave when the window was made",
            )
        return [] if base is None else [self.call.moved(base, place) for place in places]

    def local(self, index: int, count: int, type: Datatype) -> list[Address]:
        if count == 0:
            return []
        base = pointer(self.call, index)
        return [self.call.moved(base, place) for place in type.elements(count)]


def _cells(call: Call, addresses: list[Address], type: Datatype) -> list[Expr]:
    return [call.cell(address, size(call, type)) for address in addresses]


def _targets(call: Call, place: int, window_index: int, go: Callable[[Operation, Window], None]) -> list[Outcome]:
    """The outcomes for every target and displacement that the call may have."""
    of = window(call, window_index)
    parts = [call.published(member, of.key("part")) for member in of.members]
    most = max((part.bytes // part.unit for part in parts if isinstance(part, Part)), default=1)

    def one(steps: Steps, values: Mapping[int, int]) -> None:
        target = values[place]
        if target == PROC_NULL:
            return
        go(Operation(steps, of, place, target, values[place + 1]), of)

    return split(call, {place: places(of.group()), place + 1: range(most)}, one)


def _queue(operation: Operation, request_index: int | None) -> Const:
    """The queue of the target, or one of its own for a call with a request, which is stored."""
    if request_index is None:
        return operation.of.use(operation.steps, operation.target)
    request, number = rma_request(operation.steps, operation.of, operation.target)
    address = operation.call.pointer(request_index)
    if address is not None:
        operation.steps.store(address, request, REQUEST)
    return operation.of.use(operation.steps, operation.target, number)


# Put and get


def _transfer(call: Call, make: Callable[[Expr, Expr, Expr, Expr], Command]) -> list[Outcome]:
    request = 8 if call.name.startswith("MPI_R") else None

    def go(operation: Operation, of: Window) -> None:
        queue = _queue(operation, request)
        local_type, remote_type = datatype(call, 2), datatype(call, 6)
        local = operation.local(0, bounded(call, 1), local_type)
        remote = operation.remote(bounded(call, 5), remote_type)
        for here, there in _pairs(call, local, local_type, remote, remote_type):
            operation.steps.do(make(here, operation.rank, there, queue))

    return _targets(call, 3, 7, go)


def _pairs(
    call: Call, local: list[Address], local_type: Datatype, remote: list[Address] | None, remote_type: Datatype
) -> list[tuple[Expr, Expr]]:
    """The cells of a transfer, element by element."""
    if remote is None or not local:
        return []
    here, there = size(call, local_type), size(call, remote_type)
    if len(local) * here != len(remote) * there:
        call.fail(
            f"{call.name} moves {len(local) * here} bytes to {len(remote) * there}",
            "give count and type of both sides for the same elements",
        )
    if here != there or local_type.name == "BYTE":
        # Bytes say nothing about what is moved: whatever lies there, which must lie together.
        return call.paired_cells(local[0], remote[0], len(local) * here, None)
    return list(zip(_cells(call, local, local_type), _cells(call, remote, remote_type), strict=True))


_BUFFERS = (
    "int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, int target_count, "
    "MPI_Datatype target_datatype"
)


@calls(f"""
    Put(const void *origin_addr, {_BUFFERS}, MPI_Win win);
    Rput(const void *origin_addr, {_BUFFERS}, MPI_Win win, MPI_Request *request)
""")
def put(call: Call) -> list[Outcome]:
    return _transfer(call, Write)


@calls(f"""
    Get(void *origin_addr, {_BUFFERS}, MPI_Win win);
    Rget(void *origin_addr, {_BUFFERS}, MPI_Win win, MPI_Request *request)
""")
def get(call: Call) -> list[Outcome]:
    return _transfer(call, Read)


# Accumulates: atomic element by element, in program order for each location


@calls(f"""
    Accumulate(const void *origin_addr, {_BUFFERS}, MPI_Op op, MPI_Win win);
    Raccumulate(const void *origin_addr, {_BUFFERS}, MPI_Op op, MPI_Win win, MPI_Request *request)
""")
def accumulate(call: Call) -> list[Outcome]:
    request = 9 if call.name == "MPI_Raccumulate" else None

    def go(operation: Operation, of: Window) -> None:
        queue = _queue(operation, request)
        local_type, remote_type = datatype(call, 2), datatype(call, 6)
        name = update_name(call, 7, remote_type.type)
        local = operation.local(0, bounded(call, 1), local_type)
        remote = operation.remote(bounded(call, 5), remote_type)
        if name == "fetch":  # MPI_NO_OP
            return
        for here, there in _pairs(call, local, local_type, remote, remote_type):
            operation.steps.do(_update(name, here, operation, there, queue, None, remote_type))

    return _targets(call, 3, 8, go)


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
        queue = _queue(operation, request)
        local_type, result_type, remote_type = datatype(call, 2), datatype(call, 5), datatype(call, 9)
        name = update_name(call, 10, remote_type.type)
        remote = operation.remote(bounded(call, 8), remote_type)
        if remote is None:
            return
        there = _cells(call, remote, remote_type)
        result = _cells(call, operation.local(3, bounded(call, 4), result_type), result_type)
        # With MPI_NO_OP the operand and its count are ignored.
        local: list[Expr | None] = [None] * len(there)
        if name != "fetch":
            local = list(_cells(call, operation.local(0, bounded(call, 1), local_type), local_type))
        if not len(local) == len(there) == len(result):
            call.fail(f"the counts of {call.name} differ", "give the same number of elements for all three buffers")
        for operand, target, old in zip(local, there, result, strict=True):
            operation.steps.do(_update(name, operand, operation, target, queue, old, remote_type))

    return _targets(call, 6, 11, go)


@calls("""
    Fetch_and_op(const void *origin_addr, void *result_addr, MPI_Datatype datatype, int target_rank,
        MPI_Aint target_disp, MPI_Op op, MPI_Win win)
""")
def fetch_and_op(call: Call) -> list[Outcome]:
    def go(operation: Operation, of: Window) -> None:
        queue, type = _queue(operation, None), datatype(call, 2)
        name, remote = update_name(call, 5, type.type), operation.remote(1, type)
        if remote is None:
            return
        operand = None if name == "fetch" else _cells(call, operation.local(0, 1, type), type)[0]
        (there,), (old,) = _cells(call, remote, type), _cells(call, operation.local(1, 1, type), type)
        operation.steps.do(_update(name, operand, operation, there, queue, old, type))

    return _targets(call, 3, 6, go)


@calls("""
    Compare_and_swap(const void *origin_addr, const void *compare_addr, void *result_addr, MPI_Datatype datatype,
        int target_rank, MPI_Aint target_disp, MPI_Win win)
""")
def compare_and_swap(call: Call) -> list[Outcome]:
    def go(operation: Operation, of: Window) -> None:
        queue, type = _queue(operation, None), datatype(call, 3)
        remote = operation.remote(1, type)
        if remote is None:
            return
        new, expected, old = (_cells(call, operation.local(index, 1, type), type)[0] for index in (0, 1, 2))
        (there,) = _cells(call, remote, type)
        update = UpdateFrom(
            "compare_swap", new, operation.rank, there, queue, old, expected, located=True, type=int_type(type.type)
        )
        operation.steps.do(update)

    return _targets(call, 4, 6, go)


def _update(
    name: str, local: Expr | None, operation: Operation, remote: Expr, queue: Const, result: Expr | None, type: Datatype
) -> UpdateFrom:
    return UpdateFrom(name, local, operation.rank, remote, queue, result, located=True, type=int_type(type.type))


_UPDATES = {"sum": "add", "prod": "mul", "min": "min", "max": "max"}
_BITS = {"and": "and", "or": "or", "xor": "xor", "replace": "set", "no_op": "fetch"}


def update_name(call: Call, index: int, type: CType) -> str:
    """The atomic update that an MPI_Op is on elements of ``type``."""
    name = handle(call, index, "op").data[0]
    assert isinstance(name, str)
    if name in _UPDATES:
        if not isinstance(type, Floating):
            return _UPDATES[name]
        if type.bits == 64 or name in ("min", "max"):
            return f"{_UPDATES[name]}."
        call.fail(f"{call.name} of floats with an operation that rounds", "accumulate doubles (MPI_DOUBLE)")
    if name not in _BITS:
        call.fail(
            f"{call.name} with a logical operation is not supported",
            "use MPI_BAND, MPI_BOR or MPI_BXOR on values that are 0 or 1",
        )
    return _BITS[name]
