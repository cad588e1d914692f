"""The instructions of litmus programs, the locations that each of them accesses, and their visitor.

A model gives the meaning of each instruction in a method of :class:`Visitor`; what does not depend on the model is in
:func:`accesses` and :func:`node_of`. When an instruction is added, the type checker names these places and every model
that leaves it out.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar, Generic, Literal, NamedTuple, Never, TypeVar, assert_never

from pgasrob.program.expressions import Expr
from pgasrob.program.statements import NOWHERE, Span


@dataclass(frozen=True, slots=True)
class Cell:
    """A mention of the location with this name; ``atomic``: whether this access is (coreRMA)."""

    name: str
    atomic: bool = True


class Part(NamedTuple):
    """The place of an instruction among those that one command has become, and whether more of them follow."""

    place: int = 0
    more: bool = False


WHOLE = Part()
"""An instruction that is a command by itself, as each one of a litmus test is."""


@dataclass(frozen=True, slots=True)
class _Instruction:
    """``word``: the word with which the text of the instruction begins, or the text after its `=`; empty for a plain
    assignment. A register is its place among the registers of its thread; expressions are over these."""

    word: ClassVar[str] = ""
    span: Span = field(default=NOWHERE, kw_only=True)
    part: Part = field(default=WHOLE, kw_only=True)


@dataclass(frozen=True, slots=True)
class Load(_Instruction):
    """``a = x``: the CPU reads a location of its node."""

    register: int
    cell: Cell


@dataclass(frozen=True, slots=True)
class Store(_Instruction):
    """``x = a + 1``: the CPU writes a location of its node."""

    cell: Cell
    value: Expr


@dataclass(frozen=True, slots=True)
class Assign(_Instruction):
    """``a = b + 1``."""

    register: int
    value: Expr


@dataclass(frozen=True, slots=True)
class Assume(_Instruction):
    """``assume(a == 1)``: runs in which it does not hold are discarded."""

    word = "assume"
    condition: Expr


@dataclass(frozen=True, slots=True)
class MemoryFence(_Instruction):
    """``mfence``."""

    word = "mfence"


@dataclass(frozen=True, slots=True)
class CompareAndSet(_Instruction):
    """``a = CAS(x, expected, new)``: the CPU does so to a location of its node in one step; ``register`` (None: none)
    gets what it held."""

    word = "CAS"
    register: int | None
    cell: Cell
    expected: Expr
    new: Expr


@dataclass(frozen=True, slots=True)
class Get(_Instruction):
    """``x = z^2``, ``x = get(z^2)``: the adapter reads ``remote`` and writes ``local``, a location of the thread's
    node."""

    word = "get"
    local: Cell
    remote: Cell


@dataclass(frozen=True, slots=True)
class Put(_Instruction):
    """``z^2 = x``, ``put(z^2, x)``: the adapter reads ``local`` and writes ``remote``."""

    word = "put"
    remote: Cell
    local: Cell


@dataclass(frozen=True, slots=True)
class GetAccumulate(_Instruction):
    """``x = rga(z^2, y)``: read ``operand``, add it to ``remote`` in one step, write what that held to ``local``."""

    word = "rga"
    local: Cell
    remote: Cell
    operand: Cell


@dataclass(frozen=True, slots=True)
class RemoteCompareAndSet(_Instruction):
    """``x = cas(z^2, y, w)``: read ``expected`` and ``new``, write the one to ``remote`` if that holds the other, write
    what it held to ``local``."""

    word = "cas"
    local: Cell
    remote: Cell
    expected: Cell
    new: Cell


@dataclass(frozen=True, slots=True)
class NicCompareAndSet(_Instruction):
    """``x = rcas(z^2, expected, new)``: fetch ``remote``, write ``new`` there if it held ``expected``, write what it
    held to ``local``; the operands are computed when it is issued (RDMA-TSO)."""

    word = "rcas"
    local: Cell
    remote: Cell
    expected: Expr
    new: Expr


@dataclass(frozen=True, slots=True)
class NicFetchAdd(_Instruction):
    """``x = rfaa(z^2, operand)``: fetch ``remote``, write the sum there, write what it held to ``local``; the operand
    is computed when it is issued (RDMA-TSO)."""

    word = "rfaa"
    local: Cell
    remote: Cell
    operand: Expr


@dataclass(frozen=True, slots=True)
class Flush(_Instruction):
    """``flush(2)``: all operations of the thread to that node complete (coreRMA)."""

    word = "flush"
    node: int


@dataclass(frozen=True, slots=True)
class Poll(_Instruction):
    """``poll(2)``: the oldest operation to that node that has not been polled completes (RDMA-TSO)."""

    word = "poll"
    node: int


@dataclass(frozen=True, slots=True)
class RemoteFence(_Instruction):
    """``rfence(2)``: later operations to that node come after the earlier ones (RDMA-TSO)."""

    word = "rfence"
    node: int


NicAtomic = NicCompareAndSet | NicFetchAdd
"""The remote read-modify-writes with operands in the request, as InfiniBand has them."""
Remote = Get | Put | GetAccumulate | RemoteCompareAndSet | NicAtomic
"""The operations that the adapter does later, on the node of the cell ``remote``."""
OnNode = Flush | Poll | RemoteFence
"""The instructions that name a node."""
Instruction = Load | Store | Assign | Assume | MemoryFence | CompareAndSet | Remote | OnNode

ON_NODES = {each.word: each for each in (Flush, Poll, RemoteFence)}
"""The instructions that name a node, by their words."""


Stage = Literal["cpu", "source", "place", "fetch", "update", "land"]
"""Who accesses memory, and when: the CPU at once, or the adapter later. The adapter reads the sources of an operation,
places the value of a put, fetches from the remote location (which an atomic of coreRMA changes in the same access, and
one of RDMA-TSO updates in one of its own), and lands the result."""


class CellAccess(NamedTuple):
    """An access of an instruction to the location of ``cell``."""

    stage: Stage
    cell: Cell
    reads: bool
    writes: bool


def accesses(instruction: Instruction) -> tuple[CellAccess, ...]:
    """The accesses of ``instruction``, in the order in which it makes them."""
    match instruction:
        case Load(_, cell):
            return (CellAccess("cpu", cell, True, False),)
        case Store(cell):
            return (CellAccess("cpu", cell, False, True),)
        case CompareAndSet(_, cell):
            return (CellAccess("cpu", cell, True, True),)
        case Put(remote, local):
            return CellAccess("source", local, True, False), CellAccess("place", remote, False, True)
        case Get(local, remote):
            return CellAccess("fetch", remote, True, False), CellAccess("land", local, False, True)
        case NicCompareAndSet(local, remote) | NicFetchAdd(local, remote):
            fetched, updated = CellAccess("fetch", remote, True, False), CellAccess("update", remote, False, True)
            return fetched, updated, CellAccess("land", local, False, True)
        case GetAccumulate(local, remote, operand):
            sources: tuple[Cell, ...] = (operand,)
        case RemoteCompareAndSet(local, remote, expected, new):
            sources = (expected, new)
        case Assign() | Assume() | MemoryFence() | Flush() | Poll() | RemoteFence():
            return ()
        case _:
            assert_never(instruction)
    read = tuple(CellAccess("source", source, True, False) for source in sources)
    return *read, CellAccess("fetch", remote, True, True), CellAccess("land", local, False, True)


def node_of(instruction: Instruction, owners: dict[str, int]) -> int | None:
    """The node that the adapter works on, None for an instruction of the CPU; ``owners``: that of each location."""
    match instruction:
        case Get() | Put() | GetAccumulate() | RemoteCompareAndSet() | NicCompareAndSet() | NicFetchAdd():
            return owners[instruction.remote.name]
        case Flush(node) | Poll(node) | RemoteFence(node):
            return node
        case Load() | Store() | Assign() | Assume() | MemoryFence() | CompareAndSet():
            return None
        case _:
            assert_never(instruction)


Result = TypeVar("Result")


def refused(_: object, instruction: _Instruction) -> Never:
    """The method of a visitor for each instruction that its model refuses (`models.forms`)."""
    raise AssertionError(f"an instruction that its model refuses: {instruction}")


class Visitor(ABC, Generic[Result]):
    """Maps every instruction to a result; for those that its model refuses the method is :func:`refused`."""

    def visit(self, instruction: Instruction) -> Result:
        match instruction:
            case Load():
                return self.load(instruction)
            case Store():
                return self.store(instruction)
            case Assign():
                return self.assign(instruction)
            case Assume():
                return self.assume(instruction)
            case MemoryFence():
                return self.memory_fence(instruction)
            case CompareAndSet():
                return self.compare_and_set(instruction)
            case Get():
                return self.get(instruction)
            case Put():
                return self.put(instruction)
            case GetAccumulate():
                return self.get_accumulate(instruction)
            case RemoteCompareAndSet():
                return self.remote_compare_and_set(instruction)
            case NicCompareAndSet():
                return self.nic_compare_and_set(instruction)
            case NicFetchAdd():
                return self.nic_fetch_add(instruction)
            case Flush():
                return self.flush(instruction)
            case Poll():
                return self.poll(instruction)
            case RemoteFence():
                return self.remote_fence(instruction)
            case _:
                assert_never(instruction)

    @abstractmethod
    def load(self, instruction: Load, /) -> Result: ...
    @abstractmethod
    def store(self, instruction: Store, /) -> Result: ...
    @abstractmethod
    def assign(self, instruction: Assign, /) -> Result: ...
    @abstractmethod
    def assume(self, instruction: Assume, /) -> Result: ...
    @abstractmethod
    def memory_fence(self, instruction: MemoryFence, /) -> Result: ...
    @abstractmethod
    def compare_and_set(self, instruction: CompareAndSet, /) -> Result: ...
    @abstractmethod
    def get(self, instruction: Get, /) -> Result: ...
    @abstractmethod
    def put(self, instruction: Put, /) -> Result: ...
    @abstractmethod
    def get_accumulate(self, instruction: GetAccumulate, /) -> Result: ...
    @abstractmethod
    def remote_compare_and_set(self, instruction: RemoteCompareAndSet, /) -> Result: ...
    @abstractmethod
    def nic_compare_and_set(self, instruction: NicCompareAndSet, /) -> Result: ...
    @abstractmethod
    def nic_fetch_add(self, instruction: NicFetchAdd, /) -> Result: ...
    @abstractmethod
    def flush(self, instruction: Flush, /) -> Result: ...
    @abstractmethod
    def poll(self, instruction: Poll, /) -> Result: ...
    @abstractmethod
    def remote_fence(self, instruction: RemoteFence, /) -> Result: ...
