"""ARMCI's processes and memory, and the collectives that come with it (armci_msg_...)."""

from __future__ import annotations

from functools import partial
from typing import cast

from pgasrob.frontends.apis import flags
from pgasrob.frontends.apis.armci import queues
from pgasrob.frontends.apis.call_arguments import limited, member_in, reached, target
from pgasrob.frontends.apis.flags import Group
from pgasrob.frontends.apis.interface import Address, Call, ObjectId, Outcome
from pgasrob.frontends.apis.prototypes import Prototypes
from pgasrob.frontends.apis.transfers import Steps, as_value, copied, element, ends_all, pairs
from pgasrob.frontends.c.libc.reads import read_texts
from pgasrob.frontends.c.types import CHAR, DOUBLE, FLOAT, INT, LONG, VOID, CType, Pointer
from pgasrob.frontends.c.values import NULL, Known
from pgasrob.program.assumptions import Kind
from pgasrob.program.commands import Load, Store
from pgasrob.program.expressions import Expr

PROTOTYPES = Prototypes()
OK = Known(0)


@PROTOTYPES.calls("""
    int ARMCI_Init(void);
    int ARMCI_Init_args(int *argc, char ***argv);
    int ARMCI_Init_thread(int level);
    int ARMCI_Finalize(void);
    void armci_msg_init(int *argc, char ***argv);
    void armci_msg_finalize(void);
    int ARMCI_Free(void *address);
    int ARMCI_Free_local(void *address);
    void ARMCI_INIT_HANDLE(armci_hdl_t *handle);
    void ARMCI_Access_begin(void *address);
    void ARMCI_Access_end(void *address);
    void ARMCI_Set_shm_limit(unsigned long limit);
""")
def nothing(call: Call) -> Outcome:
    """No access to memory, and no promise that others have arrived."""
    if call.name in ("ARMCI_Free", "ARMCI_Free_local"):
        call.rests_on(Kind.FREED_MEMORY, call.name)
    if call.name == "ARMCI_Set_shm_limit":
        call.rests_on(Kind.HINTS, call.name)
    if call.name == "ARMCI_Init_thread":
        call.rests_on(Kind.THREAD_LEVEL, call.name)
    return Outcome(result=OK)


@PROTOTYPES.calls("""
    void ARMCI_Error(const char *text, int code);
    void ARMCI_Cleanup(void);
    void armci_msg_abort(int code);
""")
def end(call: Call) -> Outcome:
    if call.name == "ARMCI_Error":
        read_texts(call, 0)
    return ends_all(call)


@PROTOTYPES.calls("int ARMCI_Initialized(void);")
def initialised(call: Call) -> Outcome:
    call.rests_on(Kind.FIXED_ANSWERS, call.name)
    return Outcome(result=Known(1))


@PROTOTYPES.calls("int ARMCI_Same_node(int proc); int armci_domain_same_id(armci_domain_t domain, int proc);")
def same_node(call: Call) -> Outcome:
    return Outcome(result=Known(int(call.known(len(call.arguments) - 1) in call.neighbours())))


def _domains(call: Call) -> list[range]:
    """The nodes, each with its processes."""
    return list(dict.fromkeys(call.neighbours(of=rank) for rank in range(call.nodes)))


def _domain(call: Call, index: int) -> range:
    """The node in argument ``index``; -1 is that of the process itself."""
    number, domains = call.known(index), _domains(call)
    if not -1 <= number < len(domains):
        call.fail(f"there is no node {number}", f"nodes 0 to {len(domains) - 1} are there")
    return call.neighbours() if number < 0 else domains[number]


@PROTOTYPES.calls("int armci_domain_count(armci_domain_t domain);")
def domain_count(call: Call) -> Outcome:
    return Outcome(result=Known(len(_domains(call))))


@PROTOTYPES.calls(
    "int armci_domain_my_id(armci_domain_t domain); int armci_domain_id(armci_domain_t domain, int proc);"
)
def domain_id(call: Call) -> Outcome:
    process = call.rank if call.name.endswith("my_id") else call.known(1)
    return Outcome(result=Known(_domains(call).index(call.neighbours(of=process))))


@PROTOTYPES.calls("int armci_domain_nprocs(armci_domain_t domain, int id);")
def domain_processes(call: Call) -> Outcome:
    return Outcome(result=Known(len(_domain(call, 1))))


@PROTOTYPES.calls("int armci_domain_glob_proc_id(armci_domain_t domain, int id, int local);")
def domain_process(call: Call) -> Outcome:
    domain, place = _domain(call, 1), call.known(2)
    if not 0 <= place < len(domain):
        call.fail(f"there is no process {place} on a node of {len(domain)}", "count from 0 to armci_domain_nprocs - 1")
    return Outcome(result=Known(domain[place]))


@PROTOTYPES.calls("int ARMCI_Uses_shm(void);")
def uses_shared_memory(call: Call) -> Outcome:
    return Outcome(result=Known(int(len(call.neighbours()) > 1)))


@PROTOTYPES.calls("""
    void ARMCI_SET_AGGREGATE_HANDLE(armci_hdl_t *handle); void ARMCI_UNSET_AGGREGATE_HANDLE(armci_hdl_t *handle);
""")
def aggregate(call: Call) -> Outcome:
    """What is posted with such a handle may be joined, and begin as late as the wait for the handle."""
    return Outcome(state=queues.aggregated(call, queues.handle(call, 0), "UNSET" not in call.name))


@PROTOTYPES.calls("int armci_msg_me(void);")
def me(call: Call) -> Outcome:
    call.gets_rank()
    return Outcome(result=as_value(call.me))


@PROTOTYPES.calls("int armci_msg_nproc(void);")
def processes(call: Call) -> Outcome:
    return Outcome(result=as_value(call.count))


@PROTOTYPES.calls("double armci_timer(void);")
def timer(call: Call) -> Outcome:
    return Outcome(result=call.clock())


# Memory


@PROTOTYPES.calls("int ARMCI_Malloc(void **addresses, armci_size_t bytes);")
def malloc(call: Call) -> Outcome:
    """Everyone learns the addresses of all, so all have arrived. Who asks for nothing has a null pointer."""
    call.rests_on(Kind.CREATION_WAITS, call.name)
    table, size = target(call, 0), call.known(1)
    memory = call.allocate("segment", size, member_in(call, 0) or "memory")
    call.own_element(memory, table, "armci_msg_me()")
    name = f"armci.size.{memory.object.number}"
    call.publish(name, size, by_all=True)
    steps = Steps(call)
    barrier_of_all(steps)
    if call.symbolic:
        call.fill_table(table, 8, ((0, NULL if size == 0 else memory),))
        return steps.outcome(OK)
    for rank in range(call.nodes):
        asked = size if rank == call.rank else call.published(rank, name)
        owner = None if rank == call.rank else rank
        address = NULL if asked == 0 else Address(memory.object, 0, owner)
        steps.store(call.moved(table, 8 * rank), address, Pointer(VOID))
    return steps.outcome(OK)


@PROTOTYPES.calls("void *ARMCI_Malloc_local(armci_size_t bytes);")
def malloc_local(call: Call) -> Outcome:
    return Outcome(result=call.allocate("heap", call.known(0)))


@PROTOTYPES.calls("void ARMCI_Copy(void *src, void *dst, int bytes);")
def copy(call: Call) -> Outcome:
    """A memcpy."""
    steps = Steps(call)
    copied(steps, reached(call, 1), reached(call, 0), call.known(2))
    return steps.outcome()


# Collectives


def everyone(call: Call) -> Group:
    return Group(("armci", "all"), call.everyone)


def barrier_of_all(steps: Steps) -> None:
    """All arrive; nothing is completed."""
    flags.barrier(steps, everyone(steps.call))


OPERATIONS = {"+": "sum", "*": "prod", "max": "max", "min": "min", "or": "or"}


def reduction(call: Call, group: Group, type: CType) -> Outcome:
    """Every member contributes to every result, in place."""
    text = _text(call, 2)
    if text not in OPERATIONS:
        call.fail(f'the operation "{text}"', "use one of " + ", ".join(f'"{known}"' for known in OPERATIONS))
    steps, data, count = Steps(call), target(call, 0), limited(call, call.known(1), "elements")
    results = flags.reduce(steps, group, OPERATIONS[text], data, type, count)
    for index, value in enumerate(results):
        steps.store(element(call, data, index, type), value, type)
    return steps.outcome()


def _text(call: Call, index: int) -> str:
    address, text = target(call, index), ""
    while isinstance(letter := call.load(call.moved(address, len(text)), CHAR), Known) and letter.value > 0:
        text += chr(letter.value)
    return text


def _reduction(call: Call, type: CType) -> Outcome:
    return reduction(call, everyone(call), type)


REDUCED = (
    ("i", INT, "int"),
    ("l", LONG, "long"),
    ("ll", LONG, "long long"),
    ("d", DOUBLE, "double"),
    ("f", FLOAT, "float"),
)
"""The types of reductions: what stands for each in the names, and how it is written."""
for _letter, _type, _c in REDUCED:
    PROTOTYPES.add(f"void armci_msg_{_letter}gop({_c} *x, int n, char *op);", partial(_reduction, type=_type))


@PROTOTYPES.calls("""
    void armci_msg_bcast(void *data, int bytes, int root);
    void armci_msg_brdcst(void *data, int bytes, int root);
""")
def broadcast(call: Call) -> Outcome:
    """Everyone waits for the root's data, and the root for no one."""
    steps, root = Steps(call), call.known(2)
    cells = shaped(call, target(call, 0), call.known(1))

    def values(place: int) -> list[Expr]:
        return cast("list[Expr]", loaded)

    loaded = []
    if call.rank == root:
        for cell in cells:
            loaded.append(call.register("data"))
            steps.do(Load(loaded[-1], cell))
    received = flags.scatter(steps, everyone(call), root, len(cells), values)
    if call.rank != root:
        steps.do(*(Store(cell, value) for cell, value in zip(cells, received, strict=True)))
    return steps.outcome()


def shaped(call: Call, data: Address, size: int) -> list[Expr]:
    """The cells of a message. All ranks pair them with one object of this API, so that they cut it alike."""
    call.allocate("symmetric", size, "broadcast", ("armci", "broadcast"), asked_for=False)
    shape = Address(ObjectId("symmetric", ("armci", "broadcast")), 0)
    return [here for here, _ in pairs(call, data, shape, size)]
