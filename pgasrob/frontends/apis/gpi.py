"""GPI, the older API of the Fraunhofer ITWM (`GPI.h`): the paper's model.

One memory of the same size on every rank, named by offsets; queues keep the order of operations to the same rank (one
FIFO queue of the calculus for each queue and rank), and `waitDmaGPI` waits for both sides.

The state of a rank: ``gpi.queues`` the pairs of queue and rank with something to wait for.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import cast

from pgasrob.frontends.apis.call_arguments import limited, target
from pgasrob.frontends.apis.flags import Group, reduce
from pgasrob.frontends.apis.interface import Address, Api, Call, ObjectId, Outcome, Way
from pgasrob.frontends.apis.prototypes import Prototypes
from pgasrob.frontends.apis.transfers import Steps, as_value, element
from pgasrob.frontends.c.libc.reads import read_texts
from pgasrob.frontends.c.types import DOUBLE, FLOAT, INT, LONG, UINT, ULONG, CType
from pgasrob.frontends.c.values import NULL, Known, Unknown, Value
from pgasrob.program.assumptions import Kind
from pgasrob.program.commands import (
    AwaitAdd,
    Barrier,
    CompareSwap,
    Fetch,
    FetchAdd,
    Read,
    Swap,
    Wait,
    Write,
)
from pgasrob.program.expressions import Const, Expr, IntType, is_of_rank, name_of

PROTOTYPES = Prototypes()
UNSIGNED = IntType(64, False)
QUEUES = COUNTERS = 8
OK, FAILED = Known(0), Known(-1)

# Start, end, information


@PROTOTYPES.calls("""
    void shutdownGPI(void);
    void killProcsGPI(void);
    void setNpGPI(const unsigned int n);
    void gpi_printf(const char *format, ...);
    void gpi_printf_to(const int rank, const char *format, ...);
""")
def nothing(call: Call) -> Outcome:
    """Nothing that the memory shows."""
    if call.name.startswith("gpi_printf"):
        read_texts(call, format=int(call.name == "gpi_printf_to"))
    call.rests_on(Kind.NO_EFFECT, call.name)
    return Outcome()


def _constant(prototypes: str, value: Callable[[Call], Value]) -> None:
    PROTOTYPES.add(prototypes, lambda call: Outcome(result=value(call)))


_constant("int getRankGPI(void);", lambda call: as_value(call.me))
_constant("int getNodeCountGPI(void);", lambda call: as_value(call.count))


def _fixed(prototypes: str, value: Value) -> None:
    def answer(call: Call) -> Value:
        call.rests_on(Kind.FIXED_ANSWERS, call.name)
        return value

    _constant(prototypes, answer)


_fixed("int getNumberOfQueuesGPI(void); int getNumberOfCountersGPI(void);", Known(QUEUES))
_fixed("int getQueueDepthGPI(void);", Known(1024))
_fixed("char *getHostnameGPI(const unsigned int rank);", NULL)
_fixed(
    """int checkEnvGPI(int argc, char **argv); int setNetworkGPI(int type); int setPortGPI(unsigned short port);
    int setMtuSizeGPI(const unsigned int size); int generateHostlistGPI(void); int pingDaemonGPI(const char *host);
    int runIBTestGPI(const char *host); int findProcGPI(const char *host); int checkPortGPI(const char *host, int port);
    int checkSharedLibsGPI(const char *host); int isMasterGPI(int argc, char **argv); float getVersionGPI(void);""",
    OK,
)


@PROTOTYPES.calls("int startGPI(int argc, char **argv, const char *command, const unsigned long size);")
def start(call: Call) -> Outcome:
    """Every rank gets the same memory. Ranks have met before anyone returns, which nothing can see yet."""
    call.allocate("segment", call.known(3), "dma", ("gpi", "dma"))
    return Outcome(result=OK)


def memory(call: Call, offset: int = 0) -> Address:
    return call.moved(Address(ObjectId("segment", ("gpi", "dma")), 0), offset)


@PROTOTYPES.calls("void *getDmaMemPtrGPI(void);")
def pointer(call: Call) -> Outcome:
    return Outcome(result=memory(call))


@PROTOTYPES.calls("void barrierGPI(void);")
def barrier(call: Call) -> Outcome:
    return Outcome(call.do(Barrier(call.name)))


OPERATIONS = ("min", "max", "sum")
DATA = (INT, UINT, FLOAT, DOUBLE, LONG, ULONG)
"""By the numbers of `GPI_OP` and `GPI_TYPE`."""


@PROTOTYPES.calls("int allReduceGPI(void *send, void *receive, const unsigned char count, GPI_OP op, GPI_TYPE type);")
def allreduce(call: Call) -> Outcome:
    """Every rank contributes to every result, so all have arrived."""
    source, result, operation, data = target(call, 0), target(call, 1), call.known(3), call.known(4)
    count = limited(call, call.known(2), "elements")
    if not 0 <= operation < len(OPERATIONS) or not 0 <= data < len(DATA):
        call.fail("this reduction is not known", "use GPI_MIN, GPI_MAX or GPI_SUM and the types of GPI_TYPE")
    steps, type = Steps(call), DATA[data]
    everyone = Group(("gpi", "all"), call.everyone)
    for index, value in enumerate(reduce(steps, everyone, OPERATIONS[operation], source, type, count)):
        steps.store(element(call, result, index, type), value, type)
    return steps.outcome(OK)


# Transfers


def open_queues(call: Call) -> tuple[tuple[int, str], ...]:
    return cast("tuple[tuple[int, str], ...]", call.state.get("gpi.queues", ()))


def _number(call: Call, index: int) -> int:
    number = call.known(index)
    if not 0 <= number < QUEUES:
        call.fail(f"there is no queue {number}", f"GPI has the queues GPIQueue0 to GPIQueue{QUEUES - 1}")
    return number


def _transfer(call: Call, kind: type[Read] | type[Write]) -> Outcome:
    """One element: the queue keeps the order of operations, and elements of one transfer have none."""
    size, rank, number = call.known(2), _target(call), _number(call, 4)
    pairs = call.paired_cells(memory(call, call.known(0)), memory(call, call.known(1)), size, None)
    if len(pairs) > 1:
        call.fail(
            f"a transfer of {len(pairs)} elements in a queue that keeps the order",
            "transfer one element per call, or write the program for GASPI (GPI-2), whose queues are unordered",
        )
    call.rests_on(Kind.QUEUE_ROOM, call.name)
    state: dict[str, Hashable] = {"gpi.queues": tuple(sorted({*open_queues(call), (number, name_of(rank))}))}
    queue = _queue(call, number, name_of(rank))
    return Outcome(call.do(*(kind(here, rank, there, queue) for here, there in pairs)), OK, (), state)


def _target(call: Call) -> Expr:
    """The rank of a transfer; queues keep the order of what goes to one rank, so it has to be the same each time."""
    rank = call.expression(3)
    return rank if is_of_rank(rank) else Const(call.known(3))


def _queue(call: Call, number: int, rank: str) -> Const:
    """Queue ``number`` as far as it goes to a ``rank``."""
    return call.fifo_queue(
        "gpi", number, rank, name=f"queue_{number}_to_{rank}" if rank.isdigit() else f"queue_{number}"
    )


_TRANSFER = "unsigned long local, unsigned long remote, int size, unsigned int rank, unsigned int queue"
PROTOTYPES.add(f"int readDmaGPI({_TRANSFER});", lambda call: _transfer(call, Read))
PROTOTYPES.add(f"int writeDmaGPI({_TRANSFER});", lambda call: _transfer(call, Write))


@PROTOTYPES.calls("int waitDmaGPI(const unsigned int queue); int waitDma2GPI(const unsigned int queue);")
def wait(call: Call) -> Outcome:
    """Both sides of everything in the queue, whatever the rank. It returns the number of events: here 1 for some."""
    call.rests_on(Kind.FIXED_ANSWERS, call.name)
    number = _number(call, 0)
    mine = [(queue, rank) for queue, rank in open_queues(call) if queue == number]
    waits = [Wait(_queue(call, queue, rank)) for queue, rank in mine]
    left = tuple(pair for pair in open_queues(call) if pair not in mine)
    return Outcome(call.do(*waits), Known(min(len(mine), 1)), (), {"gpi.queues": left})


@PROTOTYPES.calls("int openDMARequestsGPI(const unsigned int queue);")
def open_requests(call: Call) -> Sequence[Outcome]:
    """What is in the queue now may be less than what was posted, and says nothing about completion: there is
    something in it or nothing, unless nothing has been posted since the queue was waited for."""
    call.rests_on(Kind.FIXED_ANSWERS, call.name)
    number = _number(call, 0)
    sizes = (0, 1) if any(queue == number for queue, _ in open_queues(call)) else (0,)
    return [Outcome(result=Known(size)) for size in sizes]


# Counters and the global lock: cells of rank 0


def _cell(call: Call, kind: str, number: int | str, name: str = "") -> Expr:
    return call.cell(call.internal("gpi", kind, number, name=name or f"{kind} {number}"), 8)


def _lock(call: Call) -> Expr:
    return _cell(call, "lock", "global", "global resource lock")


def _counter(call: Call, index: int | None) -> Expr:
    if index is None:
        return _cell(call, "counter", "tile")
    number = call.known(index)
    if not 0 <= number < COUNTERS:
        call.fail(f"there is no counter {number}", f"GPI has the counters GPICounter0 to GPICounter{COUNTERS - 1}")
    return _cell(call, "counter", number)


def _fetch_add(call: Call, counter: int | None) -> Outcome:
    register = call.register("count")
    command = FetchAdd(register, Const(0), _counter(call, counter), call.expression(0), UNSIGNED)
    return Outcome(call.do(command), Unknown(register))


def _compare_swap(call: Call, counter: int | None) -> Outcome:
    register = call.register("count")
    command = CompareSwap(register, Const(0), _counter(call, counter), call.expression(0), call.expression(1))
    return Outcome(call.do(command), Unknown(register))


def _reset(call: Call, counter: int | None) -> Outcome:
    command = Swap(call.register("count"), Const(0), _counter(call, counter), Const(0))
    return Outcome(call.do(command), OK)


_LONG, _WHICH = "const unsigned long", "const unsigned int counter"
PROTOTYPES.add(f"unsigned long atomicFetchAddCntGPI({_LONG} value, {_WHICH});", lambda call: _fetch_add(call, 1))
PROTOTYPES.add(f"unsigned long atomicFetchAddTileCntGPI({_LONG} value);", lambda call: _fetch_add(call, None))
PROTOTYPES.add(
    f"unsigned long atomicCmpSwapCntGPI({_LONG} expected, {_LONG} value, {_WHICH});",
    lambda call: _compare_swap(call, 2),
)
PROTOTYPES.add(
    f"unsigned long atomicCmpSwapTileCntGPI({_LONG} expected, {_LONG} value);", lambda call: _compare_swap(call, None)
)
PROTOTYPES.add(f"int atomicResetCntGPI({_WHICH});", lambda call: _reset(call, 0))
PROTOTYPES.add("int atomicResetTileCntGPI(void);", lambda call: _reset(call, None))


@PROTOTYPES.calls("int globalResourceLockGPI(void);")
def lock(call: Call) -> Sequence[Way]:
    """A try: 0 with the lock, or -1 when another rank has it. No answer comes of a look at a free lock."""
    cell, steps, taken = _lock(call), Steps(call), call.register("lock")
    steps.do(Fetch(taken, Const(0), cell))
    return [
        Outcome(call.do(AwaitAdd(Const(0), cell, "==", Const(0), Const(1))), OK),
        steps.look(taken, Outcome(result=FAILED), None),
    ]


@PROTOTYPES.calls("int globalResourceUnlockGPI(void);")
def unlock(call: Call) -> Outcome:
    return Outcome(call.do(Swap(call.register("lock"), Const(0), _lock(call), Const(0))), OK)


_ENUMERATIONS = {
    **{f"GPIQueue{number}": number for number in range(QUEUES)},
    **{f"GPICounter{number}": number for number in range(COUNTERS)},
    **{name: number for number, name in enumerate(("GPI_MIN", "GPI_MAX", "GPI_SUM"))},
    **{f"GPI_{name}": number for number, name in enumerate(("INT", "UINT", "FLOAT", "DOUBLE", "LONG", "ULONG"))},
    "GPI_IB": 0,
    "GPI_ETHERNET": 1,
}
CONSTANTS: dict[str, tuple[CType, Value]] = {name: (INT, Known(number)) for name, number in _ENUMERATIONS.items()}

API = Api(
    name="gpi",
    headers=("GPI.h", "gpi.h"),
    types={"GPI_OP": INT, "GPI_TYPE": INT, "GPI_NETWORK_TYPE": INT},
    constants=CONSTANTS,
    declaration=PROTOTYPES.declaration,
    handler=PROTOTYPES.handler,
    functions=PROTOTYPES.handlers,
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
