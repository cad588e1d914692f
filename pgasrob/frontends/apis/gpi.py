"""GPI, the older API of the Fraunhofer ITWM (`GPI.h`): the paper's model.

One memory of the same size on every rank, named by offsets; queues keep the order of operations to the same rank (one
FIFO queue of the calculus for each queue and rank), and `waitDmaGPI` waits for both sides.

The state of a rank: ``gpi.queues`` the pairs of queue and rank with something to wait for.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import cast

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.apis.call_arguments import limited, target
from pgasrob.frontends.apis.call_steps import Steps, prints
from pgasrob.frontends.apis.flags import Group, reduce
from pgasrob.frontends.apis.interface import Address, Api, Call, ObjectId, Outcome, Way
from pgasrob.frontends.apis.prototypes import Prototypes, enumerators
from pgasrob.frontends.apis.transfers import element
from pgasrob.frontends.c.libc.outside import unknown_text
from pgasrob.frontends.c.libc.reads import read_texts
from pgasrob.frontends.c.types import DOUBLE, FLOAT, INT, LONG, UINT, ULONG, CType
from pgasrob.frontends.c.values import Known, Value
from pgasrob.program.assumptions import Kind
from pgasrob.program.commands import AwaitAdd, Barrier, CompareSwap, Fetch, FetchAdd, Read, Swap, Wait, Write
from pgasrob.program.expressions import Const, Expr, IntType, Register, is_of_rank, name_of

FUNCTIONS = Prototypes()
DONE = FUNCTIONS.returning(Known(0))
UNSIGNED = IntType(64, False)
QUEUES = COUNTERS = 8
OK, FAILED = Known(0), Known(-1)

# Start, end, information

FUNCTIONS.nothing(
    "void shutdownGPI(void); void killProcsGPI(void); void setNpGPI(const unsigned int n)", Kind.NO_EFFECT
)


@FUNCTIONS.does("""
    void gpi_printf(const char *format, ...); void gpi_printf_to(const int rank, const char *format, ...)
""")
def printed(call: Call, steps: Steps) -> None:
    read_texts(call, format=int(call.name == "gpi_printf_to"))
    prints(call)


FUNCTIONS.returns("int getRankGPI(void)", lambda call: call.me)
FUNCTIONS.returns("int getNodeCountGPI(void)", lambda call: call.count)
FUNCTIONS.returns("int getNumberOfQueuesGPI(void); int getNumberOfCountersGPI(void)", QUEUES, Kind.FIXED_ANSWERS)
FUNCTIONS.returns("int getQueueDepthGPI(void)", 1024, Kind.FIXED_ANSWERS)
FUNCTIONS.returns("char *getHostnameGPI(const unsigned int rank)", unknown_text)
DONE.nothing(
    """
    int checkEnvGPI(int argc, char **argv); int setNetworkGPI(int type); int setPortGPI(unsigned short port);
    int setMtuSizeGPI(const unsigned int size); int generateHostlistGPI(void); int pingDaemonGPI(const char *host);
    int runIBTestGPI(const char *host); int findProcGPI(const char *host); int checkPortGPI(const char *host, int port);
    int checkSharedLibsGPI(const char *host); int isMasterGPI(int argc, char **argv); float getVersionGPI(void)
    """,
    Kind.FIXED_ANSWERS,
)


@DONE.does("int startGPI(int argc, char **argv, const char *command, const unsigned long size)")
def start(call: Call, steps: Steps) -> None:
    """Every rank gets the same memory. Nobody returns before all have called it, which nothing can see yet."""
    call.allocate("segment", call.known(3), "dma", ("gpi", "dma"))


def memory(call: Call, offset: int = 0) -> Address:
    return call.moved(Address(ObjectId("segment", ("gpi", "dma")), 0), offset)


FUNCTIONS.returns("void *getDmaMemPtrGPI(void)", memory)


@FUNCTIONS.does("void barrierGPI(void)")
def barrier(call: Call, steps: Steps) -> None:
    steps.do(Barrier(call.name))


OPERATIONS = ("min", "max", "sum")
DATA = (INT, UINT, FLOAT, DOUBLE, LONG, ULONG)
"""By the numbers of `GPI_OP` and `GPI_TYPE`."""


@DONE.does("int allReduceGPI(void *send, void *receive, const unsigned char count, GPI_OP op, GPI_TYPE type)")
def allreduce(call: Call, steps: Steps) -> None:
    """Every rank contributes to every result, so all have arrived."""
    source, result, operation, data = target(call, 0), target(call, 1), call.known(3), call.known(4)
    count = limited(call, call.known(2), "elements")
    if not 0 <= operation < len(OPERATIONS) or not 0 <= data < len(DATA):
        call.fail(
            Wrong.ARGUMENT, "this reduction is not known", "use GPI_MIN, GPI_MAX or GPI_SUM and the types of GPI_TYPE"
        )
    type, everyone = DATA[data], Group(("gpi", "all"), call.everyone)
    for index, value in enumerate(reduce(steps, everyone, OPERATIONS[operation], source, type, count)):
        steps.store(element(call, result, index, type), value, type)


# Transfers


def open_queues(call: Call) -> tuple[tuple[int, str], ...]:
    return cast("tuple[tuple[int, str], ...]", call.state.get("gpi.queues", ()))


def _number(call: Call, index: int) -> int:
    number = call.known(index)
    if not 0 <= number < QUEUES:
        call.fail(
            Wrong.ARGUMENT, f"there is no queue {number}", f"GPI has the queues GPIQueue0 to GPIQueue{QUEUES - 1}"
        )
    return number


def _transfer(steps: Steps, kind: type[Read] | type[Write]) -> None:
    """A transfer of one element: the queue orders operations, but not the elements of one transfer."""
    call = steps.call
    size, rank, number = call.known(2), _target(call), _number(call, 4)
    pairs = call.paired_cells(memory(call, call.known(0)), memory(call, call.known(1)), size, None)
    if len(pairs) > 1:
        call.fail(
            Wrong.CALL_LIMIT,
            f"a transfer of {len(pairs)} elements in a queue that keeps the order",
            "transfer one element per call, or write the program for GASPI (GPI-2), whose queues are unordered",
        )
    call.rests_on(Kind.QUEUE_ROOM, call.name)
    steps.note("gpi.queues", tuple(sorted({*open_queues(call), (number, name_of(rank))})))
    queue = _queue(call, number, name_of(rank))
    steps.do(*(kind(here, rank, there, queue) for here, there in pairs))


def _target(call: Call) -> Expr:
    """The rank of a transfer; queues keep the order of what goes to one rank, so it has to be the same each time."""
    rank = call.expression(3)
    return rank if is_of_rank(rank) else Const(call.known(3))


def _queue(call: Call, number: int, rank: str) -> Const:
    """The part of queue ``number`` that goes to ``rank``."""
    return call.fifo_queue(
        "gpi", number, rank, name=f"queue_{number}_to_{rank}" if rank.isdigit() else f"queue_{number}"
    )


_TRANSFER = "unsigned long local, unsigned long remote, int size, unsigned int rank, unsigned int queue"
DONE.does(f"int readDmaGPI({_TRANSFER})")(lambda call, steps: _transfer(steps, Read))
DONE.does(f"int writeDmaGPI({_TRANSFER})")(lambda call, steps: _transfer(steps, Write))


@FUNCTIONS.does("int waitDmaGPI(const unsigned int queue); int waitDma2GPI(const unsigned int queue)")
def wait(call: Call, steps: Steps) -> int:
    """Wait until all operations in the queue are complete on both sides, whatever the rank. It returns the number of
    events: here 1 for some."""
    call.rests_on(Kind.FIXED_ANSWERS, call.name)
    number = _number(call, 0)
    mine = [(queue, rank) for queue, rank in open_queues(call) if queue == number]
    steps.do(*(Wait(_queue(call, queue, rank)) for queue, rank in mine))
    steps.note("gpi.queues", tuple(pair for pair in open_queues(call) if pair not in mine))
    return min(len(mine), 1)


@FUNCTIONS.calls("int openDMARequestsGPI(const unsigned int queue)")
def open_requests(call: Call) -> Sequence[Outcome]:
    """The number of operations in the queue now: 0 or 1 here, and 0 if nothing was posted since the last wait for the
    queue. It may be less than what was posted, and says nothing about completion."""
    call.rests_on(Kind.FIXED_ANSWERS, call.name)
    number = _number(call, 0)
    sizes = (0, 1) if any(queue == number for queue, _ in open_queues(call)) else (0,)
    return [Outcome(result=Known(size)) for size in sizes]


# Counters and the global lock: cells of rank 0


def _cell(call: Call, kind: str, number: int | str, name: str = "") -> Expr:
    return call.own_cell("gpi", kind, number, name=name or f"{kind} {number}")


def _lock(call: Call) -> Expr:
    return _cell(call, "lock", "global", "global resource lock")


def _counter(call: Call, index: int | None) -> Expr:
    if index is None:
        return _cell(call, "counter", "tile")
    number = call.known(index)
    if not 0 <= number < COUNTERS:
        call.fail(
            Wrong.ARGUMENT,
            f"there is no counter {number}",
            f"GPI has the counters GPICounter0 to GPICounter{COUNTERS - 1}",
        )
    return _cell(call, "counter", number)


def _fetch_add(call: Call, steps: Steps, counter: int | None) -> Register:
    old = call.register("count")
    steps.do(FetchAdd(old, Const(0), _counter(call, counter), call.expression(0), UNSIGNED))
    return old


def _compare_swap(call: Call, steps: Steps, counter: int | None) -> Register:
    old = call.register("count")
    steps.do(CompareSwap(old, Const(0), _counter(call, counter), call.expression(0), call.expression(1)))
    return old


def _reset(call: Call, steps: Steps, counter: int | None) -> None:
    steps.do(Swap(call.register("count"), Const(0), _counter(call, counter), Const(0)))


_LONG = "unsigned long"
for _tile, _comma, _which in (("", ", ", "const unsigned int counter"), ("Tile", "", "")):
    FUNCTIONS.does(f"{_LONG} atomicFetchAdd{_tile}CntGPI(const {_LONG} value{_comma}{_which})")(
        partial(_fetch_add, counter=None if _tile else 1)
    )
    FUNCTIONS.does(f"{_LONG} atomicCmpSwap{_tile}CntGPI(const {_LONG} expected, const {_LONG} value{_comma}{_which})")(
        partial(_compare_swap, counter=None if _tile else 2)
    )
    DONE.does(f"int atomicReset{_tile}CntGPI({_which or 'void'})")(partial(_reset, counter=None if _tile else 0))


@FUNCTIONS.calls("int globalResourceLockGPI(void)")
def lock(call: Call) -> Sequence[Way]:
    """A try: 0 with the lock, or -1 when another rank has it. A look at a free lock gives no answer: it is repeated."""
    cell, steps, taken = _lock(call), Steps(call), call.register("lock")
    steps.do(Fetch(taken, Const(0), cell))
    return [
        Outcome(call.do(AwaitAdd(Const(0), cell, "==", Const(0), Const(1))), OK),
        steps.look(taken, Outcome(result=FAILED), None),
    ]


@DONE.does("int globalResourceUnlockGPI(void)")
def unlock(call: Call, steps: Steps) -> None:
    steps.do(Swap(call.register("lock"), Const(0), _lock(call), Const(0)))


_ENUMERATIONS = {
    **{f"GPIQueue{number}": number for number in range(QUEUES)},
    **{f"GPICounter{number}": number for number in range(COUNTERS)},
    **enumerators("GPI_MIN, GPI_MAX, GPI_SUM, GPI_INT = 0, GPI_UINT, GPI_FLOAT, GPI_DOUBLE, GPI_LONG, GPI_ULONG"),
    **enumerators("GPI_IB, GPI_ETHERNET"),
}
CONSTANTS: dict[str, tuple[CType, Value]] = {name: (INT, Known(number)) for name, number in _ENUMERATIONS.items()}

API = Api(
    name="gpi",
    headers=("GPI.h", "gpi.h"),
    types={"GPI_OP": INT, "GPI_TYPE": INT, "GPI_NETWORK_TYPE": INT},
    constants=CONSTANTS,
    declaration=FUNCTIONS.declaration,
    handler=FUNCTIONS.handler,
    functions=FUNCTIONS.handlers,
    specifications={"": "GPI (as in Calin et al., FSTTCS 2013)"},
    unsupported={
        "sendDma*": "use writeDmaGPI and a flag, two-sided communication is not modelled",
        "recvDma*": "use writeDmaGPI and a flag, two-sided communication is not modelled",
        "waitDmaPassiveGPI": "passive communication is not modelled",
        "getCommand*": "use a flag written with writeDmaGPI, or a barrier",
        "setCommand*": "use a flag written with writeDmaGPI, or a barrier",
        "getErrorVectorGPI": "leave error recovery out: no operation fails here",
    },
)
