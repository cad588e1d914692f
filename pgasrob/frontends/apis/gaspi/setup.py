"""GASPI's processes, configuration, queues, information and time: what touches no shared memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from pgasrob.frontends.apis.call_arguments import target
from pgasrob.frontends.apis.gaspi.header import CONFIG, CONFIGURATION, QUEUES, SUCCESS
from pgasrob.frontends.apis.gaspi.queues import done, open_queues, queue, segments, timed
from pgasrob.frontends.apis.interface import Call, Outcome
from pgasrob.frontends.apis.prototypes import Prototypes
from pgasrob.frontends.apis.transfers import as_value
from pgasrob.frontends.c.libc.reads import read_texts
from pgasrob.frontends.c.types import CHAR, FLOAT, INT, UCHAR, UINT, ULONG, USHORT, CType, Pointer
from pgasrob.frontends.c.values import NULL, Known, Value
from pgasrob.program.assumptions import Kind
from pgasrob.program.commands import Wait, WaitLocal
from pgasrob.program.expressions import Expr, float_bits

PROTOTYPES = Prototypes()


@PROTOTYPES.calls("""
    gaspi_return_t gaspi_proc_init(gaspi_timeout_t timeout);
    gaspi_return_t gaspi_proc_term(gaspi_timeout_t timeout);
    gaspi_return_t gaspi_config_set(gaspi_config_t configuration);
    gaspi_return_t gaspi_connect(gaspi_rank_t rank, gaspi_timeout_t timeout);
    gaspi_return_t gaspi_disconnect(gaspi_rank_t rank, gaspi_timeout_t timeout);
    gaspi_return_t gaspi_segment_register(gaspi_segment_id_t segment, gaspi_rank_t rank, gaspi_timeout_t timeout);
    gaspi_return_t gaspi_queue_delete(gaspi_queue_id_t queue);
    gaspi_return_t gaspi_group_commit(gaspi_group_t group, gaspi_timeout_t timeout);
    gaspi_return_t gaspi_segment_unregister(gaspi_segment_id_t segment, gaspi_rank_t rank, gaspi_timeout_t timeout);
""")
def nothing(call: Call) -> Outcome:
    """Set up or tear down: no access to segments, and no promise that others have arrived.

    A timeout is not taken as a chance of failure here: programs repeat these calls until they succeed.
    """
    if call.name == "gaspi_config_set":
        call.rests_on(Kind.HINTS, call.name)
    return done(call)


@PROTOTYPES.calls("""
    void gaspi_printf(const char *format, ...); void gaspi_printf_to(gaspi_rank_t rank, const char *format, ...);
    void gaspi_logger(void); void gaspi_print_affinity_mask(void);
""")
def printed(call: Call) -> Outcome:
    if call.name.startswith("gaspi_printf"):
        read_texts(call, format=int(call.name == "gaspi_printf_to"))
    call.rests_on(Kind.NO_EFFECT, call.name)
    return Outcome()


@PROTOTYPES.calls("""
    gaspi_return_t gaspi_set_socket_affinity(gaspi_uchar socket);
    gaspi_return_t gaspi_statistic_verbosity_level(gaspi_number_t level);
    gaspi_return_t gaspi_statistic_counter_reset(gaspi_statistic_counter_t counter);
    gaspi_return_t gaspi_proc_ping(gaspi_rank_t rank, gaspi_timeout_t timeout);
""")
def idle(call: Call) -> Outcome:
    """What changes nothing that a program sees, all ranks being alive."""
    call.rests_on(Kind.NO_EFFECT, call.name)
    return done(call)


@PROTOTYPES.calls("gaspi_return_t gaspi_machine_type(char *type);")
def machine_type(call: Call) -> Outcome:
    call.rests_on(Kind.FIXED_ANSWERS, call.name)
    return done(call, stores=[(0, Known(0), CHAR)])


@PROTOTYPES.calls("""
    gaspi_return_t gaspi_statistic_counter_info(gaspi_statistic_counter_t counter, gaspi_statistic_argument_t *argument,
        gaspi_string_t *name, gaspi_string_t *description, gaspi_number_t *level);
""")
def counter_info(call: Call) -> Outcome:
    call.rests_on(Kind.FIXED_ANSWERS, call.name)
    texts = [(index, NULL, Pointer(CHAR)) for index in (2, 3)]
    return done(call, stores=[(1, Known(0), INT), *texts, (4, Known(0), UINT)])


@PROTOTYPES.calls("""
    gaspi_return_t gaspi_statistic_counter_get(gaspi_statistic_counter_t counter, gaspi_number_t argument,
                                               unsigned long *value);
""")
def counter(call: Call) -> Outcome:
    """How much has been sent, or how long something took: nothing in the program decides it."""
    return done(call, stores=[(2, call.clock(), ULONG)])


def _gives(prototype: str, type: CType, value: Callable[[Call], Value]) -> None:
    """A call that stores one ``value`` through its last pointer argument."""
    index = prototype.count(",")
    if prototype.endswith("timeout);"):
        index -= 1
    PROTOTYPES.add(prototype, lambda call: done(call, stores=[(index, value(call), type)]))


def _always(number: int) -> Callable[[Call], Value]:
    def answer(call: Call) -> Value:
        call.rests_on(Kind.FIXED_ANSWERS, call.name)
        return Known(number)

    return answer


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
    _gives(f"gaspi_return_t {_name}(gaspi_number_t *number);", UINT, _always(_number))
for _name, _number in {
    "gaspi_transfer_size_min": 1,
    "gaspi_transfer_size_max": 1 << 30,
    "gaspi_passive_transfer_size_max": 65536,
    "gaspi_allreduce_buf_size": 4096,
}.items():
    _gives(f"gaspi_return_t {_name}(gaspi_size_t *size);", ULONG, _always(_number))


@PROTOTYPES.calls("gaspi_return_t gaspi_proc_kill(gaspi_rank_t rank, gaspi_timeout_t timeout);")
def kill(call: Call) -> Outcome:
    """Ends one rank at any time from now on, which is as good as if it went on: every run is looked at to each of its
    prefixes too. Only that the others have to do without it then is left out, unless a rank kills itself."""
    rank = call.known(0)
    if rank == call.rank:
        return Outcome(ends=True)
    if not 0 <= rank < call.nodes:
        call.fail(f"{call.name} of rank {rank} of {call.nodes}", "ranks count from 0")
    call.rests_on(Kind.KILLED_RANK, call.name)
    return Outcome(result=Known(SUCCESS))


def _of_ranks(call: Call, number: Expr) -> Value:
    """``number`` as a `gaspi_rank_t`, which there are no more of than fit."""
    call.at_most(USHORT.type.range[1])
    return as_value(number)


_gives("gaspi_return_t gaspi_proc_rank(gaspi_rank_t *rank);", USHORT, lambda call: _of_ranks(call, call.me))
_gives("gaspi_return_t gaspi_proc_num(gaspi_rank_t *number);", USHORT, lambda call: _of_ranks(call, call.count))
_gives("gaspi_return_t gaspi_initialized(gaspi_number_t *flag);", UINT, _always(1))
_gives("gaspi_return_t gaspi_network_type(gaspi_network_t *type);", INT, _always(2))
_gives("gaspi_return_t gaspi_version(float *version);", FLOAT, _always(0))
_gives("gaspi_return_t gaspi_time_get(gaspi_time_t *time);", FLOAT, lambda call: call.clock())
_gives("gaspi_return_t gaspi_time_ticks(gaspi_cycles_t *ticks);", ULONG, lambda call: call.clock())
_gives("gaspi_return_t gaspi_cpu_frequency(gaspi_float *frequency);", FLOAT, _always(float_bits(1.0)))
_gives("gaspi_return_t gaspi_segment_num(gaspi_number_t *number);", UINT, lambda call: Known(len(segments(call))))
_gives("gaspi_return_t gaspi_queue_num(gaspi_number_t *number);", UINT, lambda call: Known(QUEUES + _created(call)))
_gives("gaspi_return_t gaspi_numa_socket(gaspi_uchar *socket);", UCHAR, _always(0))
_gives(
    "gaspi_return_t gaspi_proc_local_rank(gaspi_rank_t *rank);",
    USHORT,
    lambda call: Known(call.neighbours().index(call.rank)),
)
_gives("gaspi_return_t gaspi_proc_local_num(gaspi_rank_t *number);", USHORT, lambda call: Known(len(call.neighbours())))
for _name in ("gaspi_error_message", "gaspi_print_error"):
    _gives(f"gaspi_return_t {_name}(gaspi_return_t code, gaspi_string_t *text);", Pointer(CHAR), _always(NULL.value))


@PROTOTYPES.calls("gaspi_string_t gaspi_error_str(gaspi_return_t code);")
def error_text(call: Call) -> Outcome:
    call.rests_on(Kind.FIXED_ANSWERS, call.name)
    return Outcome(result=NULL)


@PROTOTYPES.calls("gaspi_return_t gaspi_state_vec_get(gaspi_state_vector_t vector);")
def state_vector(call: Call) -> Outcome:
    """Every rank is healthy."""
    call.rests_on(Kind.FIXED_ANSWERS, call.name)
    address = target(call, 0)
    stores = tuple((call.moved(address, rank), Known(0), UCHAR) for rank in range(call.nodes))
    return Outcome((), Known(SUCCESS), stores)


@PROTOTYPES.calls("gaspi_return_t gaspi_config_get(gaspi_config_t *configuration);")
def configuration(call: Call) -> Outcome:
    call.rests_on(Kind.FIXED_ANSWERS, call.name)
    address = target(call, 0)
    fields = [(field.offset, field.type, CONFIGURATION[field.name][1]) for field in CONFIG.fields]
    stores = tuple((call.moved(address, offset), Known(value), type) for offset, type, value in fields)
    return Outcome((), Known(SUCCESS), stores)


# Queues


def _created(call: Call) -> int:
    return cast(int, call.state.get("gaspi.created", 0))


@PROTOTYPES.calls("gaspi_return_t gaspi_queue_create(gaspi_queue_id_t *queue, gaspi_timeout_t timeout);")
def queue_create(call: Call) -> Outcome:
    """The next number. A number that was deleted does not come back, which programs cannot rely on."""
    call.rests_on(Kind.FIXED_ANSWERS, call.name)
    number = QUEUES + _created(call)
    return done(call, stores=[(0, Known(number), UCHAR)], state={"gaspi.created": _created(call) + 1})


@PROTOTYPES.calls("gaspi_return_t gaspi_queue_size(gaspi_queue_id_t queue, gaspi_number_t *size);")
def queue_size(call: Call) -> Sequence[Outcome]:
    """The size is what is in the queue now, which may be less than what was posted and says nothing about completion.
    Something is in it or nothing, unless nothing has been posted since the queue was waited for. Programs compare the
    size with its maximum, to wait when the queue is full: here it never is."""
    call.rests_on(Kind.FIXED_ANSWERS, call.name)
    number = call.known(0)
    queue(call, number)
    sizes = (0, 1) if number in open_queues(call) else (0,)
    return [done(call, stores=[(1, Known(size), UINT)]) for size in sizes]


@PROTOTYPES.calls("gaspi_return_t gaspi_queue_purge(gaspi_queue_id_t queue, gaspi_timeout_t timeout);")
def queue_purge(call: Call) -> Outcome:
    """After an error: an empty queue stays empty, what else may be lost nobody says."""
    if call.known(0) in open_queues(call):
        call.fail("gaspi_queue_purge drops what is in the queue, or not", "wait for the queue with gaspi_wait instead")
    return done(call)


@PROTOTYPES.calls("gaspi_return_t gaspi_wait(gaspi_queue_id_t queue, gaspi_timeout_t timeout);")
def wait(call: Call) -> Sequence[Outcome]:
    """GASPI 17.1, 8.3: completed on the local side; the document of 2013 (1.01) says local and remote."""

    number = call.known(0)
    where = queue(call, number)
    left = tuple(other for other in open_queues(call) if other != number)
    if left == open_queues(call):
        return timed(call, 1, done(call))
    command = Wait(where) if "gaspi-1.01" in call.dialects else WaitLocal(where)
    return timed(call, 1, done(call, [command], state={"gaspi.queues": left}))
