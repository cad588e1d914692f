"""GASNet's job, segment and polling."""

from __future__ import annotations

from dataclasses import replace

from pgasrob.frontends.apis.call_arguments import target
from pgasrob.frontends.apis.call_steps import Steps, ends_all
from pgasrob.frontends.apis.gasnet import queues, rules
from pgasrob.frontends.apis.gasnet.header import FUNCTIONS, OK, SEGMENT_SIZE
from pgasrob.frontends.apis.interface import Address, Call, Outcome
from pgasrob.frontends.apis.lifetime import Lifetime
from pgasrob.frontends.c.types import ULONG, VOID, Pointer
from pgasrob.frontends.c.values import NULL, Known
from pgasrob.program.assumptions import Kind
from pgasrob.program.commands import Barrier
from pgasrob.program.expressions import Expr

DONE = FUNCTIONS.returning(Known(OK))
LIFE = Lifetime(
    "gasnet", rules.NOT_ATTACHED, "gasnet_attach", "gasnet_attach|gex_Client_Init", r"\b\B",
    r"gasnet_(put|get(?!Max|env)|memset|barrier|wait_s|try_s|begin_|end_|AMPoll)\w*|gex_(RMA|NBI|Coll|Segment_Attach)\w*",
)  # fmt: skip

# No access to memory, and no promise that others have arrived. Handler-safe locks keep handlers and threads of one rank
# apart, of which there are none here.
DONE.nothing("""
    int gasnet_init(int *argc, char ***argv); int gasnet_AMPoll(void);
    void gasnet_hsl_init(gasnet_hsl_t *lock); void gasnet_hsl_destroy(gasnet_hsl_t *lock);
    void gasnet_hsl_lock(gasnet_hsl_t *lock); void gasnet_hsl_unlock(gasnet_hsl_t *lock);
    int gasnet_hsl_trylock(gasnet_hsl_t *lock); void gasnet_hold_interrupts(void); void gasnet_resume_interrupts(void)
""")
DONE.nothing("int gasnet_set_waitmode(int mode)", Kind.HINTS)
FUNCTIONS.returns("gasnet_node_t gasnet_nodes(void)", lambda call: call.count)
FUNCTIONS.returns(
    "size_t gasnet_getMaxLocalSegmentSize(void); size_t gasnet_getMaxGlobalSegmentSize(void)",
    SEGMENT_SIZE,
    Kind.FIXED_ANSWERS,
)
FUNCTIONS.returns("char *gasnet_getenv(const char *name)", NULL, Kind.ENVIRONMENT)
FUNCTIONS.returns("char *gasnet_ErrorName(int code); char *gasnet_ErrorDesc(int code)", NULL, Kind.FIXED_ANSWERS)


@FUNCTIONS.calls("void gasnet_exit(int code)")
def exit(call: Call) -> Outcome:
    """Ends the run of all ranks. One that ends well has synchronised its operations."""
    steps, ending = Steps(call), ends_all(call)
    if call.arguments[0] == Known(0) and queues.open_handles(steps):
        steps.illegal(rules.HANDLE_LEFT, f"{call.name} before a handle has been synchronised")
    return replace(ending, statements=(*steps.outcome().statements, *ending.statements))


@FUNCTIONS.does("gasnet_node_t gasnet_mynode(void)")
def rank(call: Call, steps: Steps) -> Expr:
    call.gets_rank()
    return call.me


@DONE.does("int gasnet_attach(gasnet_handlerentry_t *table, int entries, size_t size, size_t offset)")
def attach(call: Call, steps: Steps) -> None:
    """Everyone learns of all segments, so all have arrived.

    Handlers of active messages may be given: no program that is accepted sends any.
    """
    allocate(steps, call.known(2))


def allocate(steps: Steps, size: int) -> None:
    """The segment of every rank."""
    steps.call.rests_on(Kind.CREATION_WAITS, steps.call.name)
    steps.call.allocate("segment", size, "segment", ("gasnet", "segment"))
    steps.call.publish("gasnet.size", size, by_all=True)
    steps.note("gasnet.size", size)
    steps.do(Barrier(steps.call.name))


def own_segment() -> Address:
    return Address(queues.SEGMENT, 0)


def segment_of(call: Call, rank: int | Expr, *, here: bool = False) -> Address:
    """The address of a rank's segment there; or ``here``, where the ranks share memory."""
    own = rank == (call.me if call.symbolic else call.rank)
    return Address(queues.SEGMENT, 0, None if own else rank, own or here)


def size_of(call: Call, rank: int | Expr) -> int:
    if not isinstance(rank, int):
        return own_size(call)  # all have attached one of the same size, and know it when they all have
    size = own_size(call) if rank == call.rank else call.published(rank, "gasnet.size")
    return size if isinstance(size, int) else 0


def own_size(call: Call) -> int:
    size = call.state.get("gasnet.size")
    if not isinstance(size, int):
        if call.symbolic:
            call.number_needed("how large the segments are before there are any")
        return 0
    return size


@DONE.does("int gasnet_getSegmentInfo(gasnet_seginfo_t *table, int entries)")
def segment_info(call: Call, steps: Steps) -> None:
    table = target(call, 0)
    call.own_element(own_segment(), table, "gasnet_mynode()")
    if call.symbolic:
        if call.expression(1) != call.count:
            call.number_needed(f"the number of ranks that `{call.name}` describes")
        call.fill_table(table, 16, ((0, Address(queues.SEGMENT, 0, mapped=False)), (8, Known(own_size(call)))))
        return
    for rank in range(min(call.known(1), call.nodes)):
        steps.store(call.moved(table, 16 * rank), segment_of(call, rank), Pointer(VOID))
        steps.store(call.moved(table, 16 * rank + 8), size_of(call, rank), ULONG)
