"""ARMCI's processes, nodes and memory."""

from __future__ import annotations

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.apis.armci import queues, rules
from pgasrob.frontends.apis.armci.collectives import barrier_of_all
from pgasrob.frontends.apis.armci.header import DONE, FUNCTIONS, HANDLE
from pgasrob.frontends.apis.call_arguments import member_in, reached, target
from pgasrob.frontends.apis.call_steps import Steps, ends_all, refuse_freed
from pgasrob.frontends.apis.interface import Address, Call, Outcome
from pgasrob.frontends.apis.lifetime import Lifetime
from pgasrob.frontends.apis.transfers import copied
from pgasrob.frontends.c.libc.reads import read_texts
from pgasrob.frontends.c.types import VOID, Pointer
from pgasrob.frontends.c.values import NULL, Handle
from pgasrob.program.assumptions import Kind
from pgasrob.program.expressions import Expr

LIFE = Lifetime(
    "armci", rules.NOT_RUNNING, "ARMCI_Init", r"P?ARMCI_Init(_args|_thread)?", "P?ARMCI_Finalize",
    r"P?ARMCI_(?!(Init\w*|Error|Cleanup|INIT_HANDLE|\w*SET_AGGREGATE_HANDLE|Set_shm_limit)$)\w+",
)  # fmt: skip

# No access to memory, and no promise that others have arrived.
DONE.nothing("""
    int ARMCI_Init(void); int ARMCI_Init_args(int *argc, char ***argv);
    void armci_msg_init(int *argc, char ***argv); void armci_msg_finalize(void);
    void ARMCI_Access_begin(void *address); void ARMCI_Access_end(void *address)
""")
DONE.nothing("int ARMCI_Init_thread(int level)", Kind.THREAD_LEVEL)
DONE.nothing("int ARMCI_Free_local(void *address)", Kind.FREED_MEMORY)
DONE.nothing("void ARMCI_Set_shm_limit(unsigned long limit)", Kind.HINTS)
FUNCTIONS.returns("int ARMCI_Initialized(void)", LIFE.has_begun)
FUNCTIONS.returns("int armci_msg_nproc(void)", lambda call: call.count)
FUNCTIONS.returns("double armci_timer(void)", lambda call: call.clock())
FUNCTIONS.returns("int ARMCI_Uses_shm(void)", lambda call: len(call.neighbours()) > 1)
FUNCTIONS.returns(
    "int ARMCI_Same_node(int proc); int armci_domain_same_id(armci_domain_t domain, int proc)",
    lambda call: call.known(len(call.arguments) - 1) in call.neighbours(),
)


@FUNCTIONS.does("int armci_msg_me(void)")
def me(call: Call, steps: Steps) -> Expr:
    call.gets_rank()
    return call.me


@FUNCTIONS.calls(
    "void ARMCI_Error(const char *text, int code); void ARMCI_Cleanup(void); void armci_msg_abort(int code)"
)
def end(call: Call) -> Outcome:
    if call.name == "ARMCI_Error":
        read_texts(call, 0)
    return ends_all(call)


@FUNCTIONS.does("void ARMCI_INIT_HANDLE(armci_hdl_t *handle)")
def init_handle(call: Call, steps: Steps) -> None:
    steps.store(target(call, 0), Handle("armci.handle"), HANDLE)


def _domains(call: Call) -> list[range]:
    """The nodes, each with its processes."""
    return list(dict.fromkeys(call.neighbours(of=rank) for rank in range(call.nodes)))


def _domain(call: Call, index: int) -> range:
    """The node in argument ``index``; -1 is that of the process itself."""
    number, domains = call.known(index), _domains(call)
    if not -1 <= number < len(domains):
        call.fail(Wrong.RANK, f"there is no node {number}", f"nodes 0 to {len(domains) - 1} are there")
    return call.neighbours() if number < 0 else domains[number]


FUNCTIONS.returns("int armci_domain_count(armci_domain_t domain)", lambda call: len(_domains(call)))
FUNCTIONS.returns("int armci_domain_nprocs(armci_domain_t domain, int id)", lambda call: len(_domain(call, 1)))


@FUNCTIONS.does("int armci_domain_my_id(armci_domain_t domain); int armci_domain_id(armci_domain_t domain, int proc)")
def domain_id(call: Call, steps: Steps) -> int:
    process = call.rank if call.name.endswith("my_id") else call.known(1)
    if not 0 <= process < call.nodes:
        call.fail(
            Wrong.RANK,
            f"there is no process {process} of {call.nodes}",
            "check the program with as many nodes as it needs",
        )
    return _domains(call).index(call.neighbours(of=process))


@FUNCTIONS.does("int armci_domain_glob_proc_id(armci_domain_t domain, int id, int local)")
def domain_process(call: Call, steps: Steps) -> int:
    domain, place = _domain(call, 1), call.known(2)
    if not 0 <= place < len(domain):
        call.fail(
            Wrong.RANK,
            f"there is no process {place} on a node of {len(domain)}",
            "count from 0 to armci_domain_nprocs - 1",
        )
    return domain[place]


@FUNCTIONS.does("""
    void ARMCI_SET_AGGREGATE_HANDLE(armci_hdl_t *handle); void ARMCI_UNSET_AGGREGATE_HANDLE(armci_hdl_t *handle)
""")
def aggregate(call: Call, steps: Steps) -> None:
    """Operations posted with such a handle may be joined, and may begin as late as the wait for the handle."""
    queues.aggregate(steps, queues.handle(call, 0), "UNSET" not in call.name)


# Memory


@DONE.does("int ARMCI_Malloc(void **addresses, armci_size_t bytes)")
def malloc(call: Call, steps: Steps) -> None:
    """Everyone learns the addresses of all, so all have arrived. Who asks for nothing has a null pointer."""
    call.rests_on(Kind.CREATION_WAITS, call.name)
    table, size = target(call, 0), call.known(1)
    memory = call.allocate("segment", size, member_in(call, 0) or "memory")
    call.own_element(memory, table, "armci_msg_me()")
    name = f"armci.size.{memory.object.number}"
    call.publish(name, size, by_all=True)
    barrier_of_all(steps)
    if call.symbolic:
        call.fill_table(table, 8, ((0, NULL if size == 0 else memory),))
    else:
        fill_table(steps, memory, name, tuple(range(call.nodes)))


def fill_table(steps: Steps, memory: Address, sizes: str, members: tuple[int, ...]) -> None:
    """Store the address that ``memory`` has at each of ``members`` into the table in argument 0: a null pointer for a
    member that asks for no bytes (argument 1), by the facts that the members publish under ``sizes``."""
    call, table = steps.call, target(steps.call, 0)
    for place, member in enumerate(members):
        own = member == call.rank
        asked = call.known(1) if own else call.published(member, sizes)
        address = NULL if asked == 0 else Address(memory.object, 0, None if own else member)
        steps.store(call.moved(table, 8 * place), address, Pointer(VOID))


@DONE.does("int ARMCI_Free(void *address)")
def free(call: Call, steps: Steps) -> None:
    call.rests_on(Kind.FREED_MEMORY, call.name)
    address = call.pointer(0)
    if address is not None:
        refuse_freed(call, address, f"{call.name} of memory")
        steps.free(address, rules.FREED)


@DONE.does("int ARMCI_Finalize(void)")
def finalize(call: Call, steps: Steps) -> None:
    """No promise that others have arrived."""
    queues.never_waited_for(steps)


FUNCTIONS.returns("void *ARMCI_Malloc_local(armci_size_t bytes)", lambda call: call.allocate("heap", call.known(0)))


@FUNCTIONS.does("void ARMCI_Copy(void *src, void *dst, int bytes)")
def copy(call: Call, steps: Steps) -> None:
    """A memcpy."""
    copied(steps, reached(call, 1), reached(call, 0), call.known(2))
