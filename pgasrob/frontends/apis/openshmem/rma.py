"""Puts and gets (1.5, sections 9.5 and 9.6), and puts with a signal (9.8)."""

from __future__ import annotations

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.apis import transfers
from pgasrob.frontends.apis.call_steps import Steps
from pgasrob.frontends.apis.openshmem.contexts import SIGNAL, Arguments, does_typed, moves
from pgasrob.frontends.apis.openshmem.header import SIGNAL_OPERATIONS
from pgasrob.frontends.apis.transfers import Transfer, int_type
from pgasrob.frontends.c.types import ULONG, Void
from pgasrob.program.commands import Bundle, Fetch, Put, Read, Signal, Update, Wait, Write
from pgasrob.program.expressions import Expr


def _extent(at: Arguments, count: int) -> tuple[int, int | None]:
    """The bytes of a transfer of ``count`` elements, and the size of an element where that says something: programs
    also move other objects with functions for untyped data and characters."""
    size = at.element_size
    typed = not isinstance(at.target(0), Void) and size > 1
    return count * size, size if typed else None


def _copy(at: Arguments, steps: Steps, kind: type[Put] | type[Write]) -> None:
    """The transfer of a put: to argument 0, from argument 1."""
    bytes, element = _extent(at, at.known(2))
    if bytes:
        Transfer(at.pointer(1), _rank(at), at.symmetric(0), bytes, element).issue(steps, kind, at.queue)


@moves("void shmem_{ctx}{N}_put{S}({ctx_t}{C} *dest, const {C} *source, size_t nelems, int pe)")
def put(at: Arguments, steps: Steps) -> None:
    """The source may be used again at return, delivery comes later."""
    _copy(at, steps, Put)


@moves("void shmem_{ctx}{N}_put{S}_nbi({ctx_t}{C} *dest, const {C} *source, size_t nelems, int pe)")
def put_nbi(at: Arguments, steps: Steps) -> None:
    _copy(at, steps, Write)


@moves("void shmem_{ctx}{N}_get{S}({ctx_t}{C} *dest, const {C} *source, size_t nelems, int pe)")
def get(at: Arguments, steps: Steps) -> None:
    bytes, element = _extent(at, at.known(2))
    if bytes:
        Transfer(at.pointer(0), at.pe(3), at.symmetric(1), bytes, element).get(steps, "shmem")


@moves("void shmem_{ctx}{N}_get{S}_nbi({ctx_t}{C} *dest, const {C} *source, size_t nelems, int pe)")
def get_nbi(at: Arguments, steps: Steps) -> None:
    bytes, element = _extent(at, at.known(2))
    if bytes:
        Transfer(at.pointer(0), at.pe(3), at.symmetric(1), bytes, element).issue(steps, Read, at.queue)


@does_typed("void shmem_{ctx}{N}_p({ctx_t}{C} *dest, {C} value, int pe)")
def p(at: Arguments, steps: Steps) -> None:
    type = at.target(0)
    for cell, value in at.call.taken_apart(at.symmetric(0), at.expression(1), type):
        steps.do(Update("set", value, at.pe(2), cell, at.queue, type=int_type(type), atomic=""))


@does_typed("{C} shmem_{ctx}{N}_g({ctx_t}const {C} *source, int pe)")
def g(at: Arguments, steps: Steps) -> Expr:
    cells, value = at.call.put_together(at.symmetric(0), at.target(0))
    steps.do(*(Fetch(register, at.pe(1), cell, atomic="") for cell, register in cells))
    return value


# Strided: iput and iget take an element of every stride, ibput and ibget (1.6) a block of elements.

ELEMENTS = "{C} *dest, const {C} *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe"
BLOCKS = "{C} *dest, const {C} *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe"


def _strided(at: Arguments, *, to_target: bool) -> list[tuple[Expr, Expr]]:
    """The cells of a strided transfer, local before remote."""
    call = at.call
    size = at.element_size
    destination = at.symmetric(0) if to_target else at.pointer(0)
    source = at.pointer(1) if to_target else at.symmetric(1)
    blocks = "ibput" in call.name or "ibget" in call.name
    block, count = (at.count(4), at.count(5)) if blocks else (1, at.count(4))
    strides = at.known(2) * size, at.known(3) * size
    local, remote = (source, destination) if to_target else (destination, source)
    local_stride, remote_stride = reversed(strides) if to_target else strides
    result: list[tuple[Expr, Expr]] = []
    for index in range(count):
        here, there = call.moved(local, index * local_stride), call.moved(remote, index * remote_stride)
        result += call.paired_cells(here, there, block * size, None if size > 8 else size)
    return result


def _rank(at: Arguments) -> Expr:
    """The PE, which is the last argument."""
    return at.pe(len(at.call.arguments) - at.first - 1)


@moves(f"void shmem_{{ctx}}{{N}}_iput{{S}}({{ctx_t}}{ELEMENTS})", mem=False)
@moves(f"void shmem_{{ctx}}{{N}}_ibput{{S}}({{ctx_t}}{BLOCKS})", mem=False)
def iput(at: Arguments, steps: Steps) -> None:
    rank = _rank(at)
    steps.do(*(Put(here, rank, there, at.queue) for here, there in _strided(at, to_target=True)))


@moves(f"void shmem_{{ctx}}{{N}}_iget{{S}}({{ctx_t}}{ELEMENTS})", mem=False)
@moves(f"void shmem_{{ctx}}{{N}}_ibget{{S}}({{ctx_t}}{BLOCKS})", mem=False)
def iget(at: Arguments, steps: Steps) -> None:
    rank, queue = _rank(at), transfers.blocking_queue(at.call, "shmem")
    cells = _strided(at, to_target=False)
    steps.do(*(Read(here, rank, there, queue) for here, there in cells))
    if cells:
        steps.do(Wait(queue))


# Signals

SIGNALLED = "{C} *dest, const {C} *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe"


def _put_signal(at: Arguments, steps: Steps, kind: type[Put] | type[Write]) -> None:
    steps.do(Bundle())
    _copy(at, steps, kind)
    cell = at.call.cell(at.symmetric(3), 8)
    # The extensions before 1.5 could only set: they have no argument for that.
    number = at.known(5) if len(at.call.arguments) - at.first == 7 else SIGNAL_OPERATIONS.index("set")
    if not 0 <= number < len(SIGNAL_OPERATIONS):
        at.call.fail(Wrong.ARGUMENT, f"{number} is not a signal operation", "use SHMEM_SIGNAL_SET or SHMEM_SIGNAL_ADD")
    operation = SIGNAL_OPERATIONS[number]
    atomic = f"{SIGNAL} by signal {operation}"
    steps.do(Signal(operation, at.expression(4), _rank(at), cell, at.queue, int_type(ULONG), atomic=atomic))


@moves(f"void shmem_{{ctx}}{{N}}_put{{S}}_signal({{ctx_t}}{SIGNALLED})")
def put_signal(at: Arguments, steps: Steps) -> None:
    """The signal comes after its own payload and says nothing of earlier puts."""
    _put_signal(at, steps, Put)


@moves(f"void shmem_{{ctx}}{{N}}_put{{S}}_signal_nbi({{ctx_t}}{SIGNALLED})")
def put_signal_nbi(at: Arguments, steps: Steps) -> None:
    _put_signal(at, steps, Write)
