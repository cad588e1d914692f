"""GASPI's processes, configuration, queues, information and time (17.1, section 5; queues: 8)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.apis.call_arguments import target
from pgasrob.frontends.apis.call_steps import Steps, prints
from pgasrob.frontends.apis.gaspi import rules
from pgasrob.frontends.apis.gaspi.header import CONFIG, CONFIGURATION, FUNCTIONS, OTHERS, QUEUES, SUCCESS
from pgasrob.frontends.apis.gaspi.queues import open_queues, queue, segments, timed
from pgasrob.frontends.apis.interface import Call, Outcome
from pgasrob.frontends.apis.lifetime import Lifetime
from pgasrob.frontends.c.libc.library_calls import unknown_value
from pgasrob.frontends.c.libc.reads import read_texts
from pgasrob.frontends.c.libc.string_functions import forget
from pgasrob.frontends.c.types import CHAR, FLOAT, INT, UCHAR, UINT, ULONG, USHORT, CType, Pointer
from pgasrob.frontends.c.values import NULL, Known
from pgasrob.program.assumptions import Kind
from pgasrob.program.commands import Wait, WaitLocal
from pgasrob.program.expressions import Expr
from pgasrob.program.outside_memory import ENDING

FIXED = Kind.FIXED_ANSWERS
LIFE = Lifetime(
    "gaspi", rules.NOT_RUNNING, "gaspi_proc_init", "p?gaspi_proc_init", "p?gaspi_proc_term",
    r"p?gaspi_(proc_(rank|num)|segment|write|read|not|wait|barrier|allreduce|atomic|passive|queue_(create|size)|group)\w*",
    r"\w+_(max|num|rank)",
)  # fmt: skip

# Set up or tear down: no access to segments, and no promise that others have arrived. A timeout is no chance of failure
# here: programs repeat these calls until they succeed.
FUNCTIONS.nothing("""
    gaspi_proc_init(gaspi_timeout_t timeout); gaspi_proc_term(gaspi_timeout_t timeout);
    gaspi_connect(gaspi_rank_t rank, gaspi_timeout_t timeout);
    gaspi_disconnect(gaspi_rank_t rank, gaspi_timeout_t timeout);
    gaspi_segment_unregister(gaspi_segment_id_t segment, gaspi_rank_t rank, gaspi_timeout_t timeout);
    gaspi_queue_delete(gaspi_queue_id_t queue); gaspi_group_commit(gaspi_group_t group, gaspi_timeout_t timeout)
""")
FUNCTIONS.nothing("gaspi_config_set(gaspi_config_t configuration)", Kind.HINTS)
# What changes nothing that a program sees, all ranks being alive.
FUNCTIONS.nothing(
    """
    gaspi_set_socket_affinity(gaspi_uchar socket); gaspi_statistic_verbosity_level(gaspi_number_t level);
    gaspi_statistic_counter_reset(gaspi_statistic_counter_t counter);
    gaspi_proc_ping(gaspi_rank_t rank, gaspi_timeout_t timeout)
    """,
    Kind.NO_EFFECT,
)
OTHERS.nothing("void gaspi_logger(void)", Kind.NO_EFFECT)


@OTHERS.does("""
    void gaspi_printf(const char *format, ...); void gaspi_printf_to(gaspi_rank_t rank, const char *format, ...);
    void gaspi_print_affinity_mask(void)
""")
def printed(call: Call, steps: Steps) -> None:
    if call.name != "gaspi_print_affinity_mask":
        read_texts(call, format=int(call.name == "gaspi_printf_to"))
    prints(call)


# Information

for _name, _number in {
    "gaspi_segment_max": 32,
    "gaspi_group_max": 32,
    "gaspi_queue_size_max": 1024,
    "gaspi_queue_max": 16,
    "gaspi_notification_num": 65536,
    "gaspi_allreduce_elem_max": 255,
    "gaspi_rw_list_elem_max": 255,
    "gaspi_statistic_counter_max": 0,
}.items():
    FUNCTIONS.stores(f"{_name}(gaspi_number_t *number)", UINT, _number, FIXED)
for _name, _number in {
    "gaspi_transfer_size_min": 1,
    "gaspi_transfer_size_max": 1 << 30,
    "gaspi_passive_transfer_size_max": 65536,
    "gaspi_allreduce_buf_size": 4096,
}.items():
    FUNCTIONS.stores(f"{_name}(gaspi_size_t *size)", ULONG, _number, FIXED)


def _of_ranks(call: Call, number: Expr) -> Expr:
    """``number`` as a `gaspi_rank_t`. There are no more ranks than that type has numbers."""
    call.at_most(USHORT.type.range[1])
    return number


FUNCTIONS.stores("gaspi_proc_rank(gaspi_rank_t *rank)", USHORT, lambda call: _of_ranks(call, call.me))
FUNCTIONS.stores("gaspi_proc_num(gaspi_rank_t *number)", USHORT, lambda call: _of_ranks(call, call.count))
FUNCTIONS.stores("gaspi_proc_local_rank(gaspi_rank_t *rank)", USHORT, lambda call: call.neighbours().index(call.rank))
FUNCTIONS.stores("gaspi_proc_local_num(gaspi_rank_t *number)", USHORT, lambda call: len(call.neighbours()))
FUNCTIONS.stores("gaspi_initialized(gaspi_number_t *flag)", UINT, LIFE.has_begun)
FUNCTIONS.stores("gaspi_network_type(gaspi_network_t *type)", INT, 2, FIXED)
FUNCTIONS.stores("gaspi_version(float *version)", FLOAT, 0, FIXED)
FUNCTIONS.stores("gaspi_time_get(gaspi_time_t *time)", FLOAT, lambda call: call.clock())
FUNCTIONS.stores("gaspi_time_ticks(gaspi_cycles_t *ticks)", ULONG, lambda call: call.clock())
FUNCTIONS.stores("gaspi_cpu_frequency(gaspi_float *frequency)", FLOAT, lambda call: call.clock())
FUNCTIONS.stores("gaspi_segment_num(gaspi_number_t *number)", UINT, lambda call: len(segments(call)))
FUNCTIONS.stores("gaspi_queue_num(gaspi_number_t *number)", UINT, lambda call: QUEUES + _created(call))
FUNCTIONS.stores("gaspi_numa_socket(gaspi_uchar *socket)", UCHAR, lambda call: unknown_value(call, UCHAR.type.range))
FUNCTIONS.stores(
    """
    gaspi_error_message(gaspi_return_t code, gaspi_string_t *text);
    gaspi_print_error(gaspi_return_t code, gaspi_string_t *text)
    """,
    Pointer(CHAR),
    NULL,
    FIXED,
)


@FUNCTIONS.does("gaspi_machine_type(char *type)")
def machine_type(call: Call, steps: Steps) -> None:
    """A name of 16 characters (GPI-2)."""
    forget(call, target(call, 0), 16)


OTHERS.returns("gaspi_string_t gaspi_error_str(gaspi_return_t code)", NULL, FIXED)
# How much has been sent, or how long something took: nothing in the program decides it.
FUNCTIONS.stores(
    """
    gaspi_statistic_counter_get(gaspi_statistic_counter_t counter, gaspi_number_t argument, unsigned long *value)
    """,
    ULONG,
    lambda call: call.clock(),
)


@FUNCTIONS.does("""
    gaspi_statistic_counter_info(gaspi_statistic_counter_t counter, gaspi_statistic_argument_t *argument,
        gaspi_string_t *name, gaspi_string_t *description, gaspi_number_t *level)
""")
def counter_info(call: Call, steps: Steps) -> None:
    call.rests_on(FIXED, call.name)
    answers: tuple[tuple[int, CType], ...] = ((1, INT), (2, Pointer(CHAR)), (3, Pointer(CHAR)), (4, UINT))
    for index, type in answers:
        steps.answer(index, 0, type)


@FUNCTIONS.calls("gaspi_proc_kill(gaspi_rank_t rank, gaspi_timeout_t timeout)")
def kill(call: Call) -> Outcome:
    """Ends one rank at any time from now on. The rank goes on here, unless it is the caller: prefixes of runs are
    checked too. That the others must then do without the rank is not modelled."""
    rank = call.known(0)
    if rank == call.rank:
        return Outcome(ends=True)
    if not 0 <= rank < call.nodes:
        call.fail(Wrong.RANK, f"{call.name} of rank {rank} of {call.nodes}", "ranks count from 0")
    call.rests_on(Kind.KILLED_RANK, call.name)
    call.outside(ENDING)
    return Outcome(result=Known(SUCCESS))


@FUNCTIONS.does("gaspi_state_vec_get(gaspi_state_vector_t vector)")
def state_vector(call: Call, steps: Steps) -> None:
    """Every rank is healthy."""
    call.rests_on(FIXED, call.name)
    address = target(call, 0)
    for rank in range(call.nodes):
        steps.store(call.moved(address, rank), 0, UCHAR)


@FUNCTIONS.does("gaspi_config_get(gaspi_config_t *configuration)")
def configuration(call: Call, steps: Steps) -> None:
    call.rests_on(FIXED, call.name)
    address = target(call, 0)
    for field in CONFIG.fields:
        steps.store(call.moved(address, field.offset), CONFIGURATION[field.name][1], field.type)


# Queues


def _created(call: Call) -> int:
    return cast(int, call.state.get("gaspi.created", 0))


@FUNCTIONS.does("gaspi_queue_create(gaspi_queue_id_t *queue, gaspi_timeout_t timeout)")
def queue_create(call: Call, steps: Steps) -> None:
    """The next number. Numbers of deleted queues are not used again; programs cannot rely on either."""
    call.rests_on(FIXED, call.name)
    steps.answer(0, QUEUES + _created(call), UCHAR)
    steps.note("gaspi.created", _created(call) + 1)


@FUNCTIONS.calls("gaspi_queue_size(gaspi_queue_id_t queue, gaspi_number_t *size)")
def queue_size(call: Call) -> Sequence[Outcome]:
    """The size is what is in the queue now. It may be less than what was posted, and says nothing about completion: 0
    or 1 here, and 0 if nothing was posted since the last wait for the queue. Programs compare the size with its
    maximum, to wait when the queue is full: here it never is."""
    call.rests_on(FIXED, call.name)
    number = call.known(0)
    queue(call, number)
    outcomes = []
    for size in (0, 1) if number in open_queues(call) else (0,):
        steps = Steps(call)
        steps.answer(1, size, UINT)
        outcomes.append(steps.outcome(SUCCESS))
    return outcomes


@FUNCTIONS.does("gaspi_queue_purge(gaspi_queue_id_t queue, gaspi_timeout_t timeout)")
def queue_purge(call: Call, steps: Steps) -> None:
    """For use after an error. An empty queue stays empty; what is lost of others the standard does not say."""
    if call.known(0) in open_queues(call):
        call.fail(
            Wrong.CALL_LIMIT,
            "gaspi_queue_purge drops what is in the queue, or not",
            "wait for the queue with gaspi_wait instead",
        )


@FUNCTIONS.calls("gaspi_wait(gaspi_queue_id_t queue, gaspi_timeout_t timeout)")
def wait(call: Call) -> Sequence[Outcome]:
    """GASPI 17.1, 8.3: completed on the local side; the document of 2013 (1.01) says local and remote."""
    steps, number = Steps(call), call.known(0)
    where, pending = queue(call, number), open_queues(call)
    if number in pending:
        steps.do(Wait(where) if "gaspi-1.01" in call.dialects else WaitLocal(where))
        steps.note("gaspi.queues", tuple(other for other in pending if other != number))
    return timed(call, 1, steps.outcome(SUCCESS))
