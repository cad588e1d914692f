"""Library setup, queries, memory, contexts and teams (1.5, sections 9.1 to 9.4)."""

from __future__ import annotations

from collections.abc import Callable

from pgasrob.frontends.apis.interface import Call, Outcome
from pgasrob.frontends.apis.openshmem.arguments import Arguments, context_of, queue_of, team_of
from pgasrob.frontends.apis.openshmem.names import CONTEXT, FUNCTIONS, TEAM
from pgasrob.frontends.apis.openshmem.ordering import meeting
from pgasrob.frontends.apis.transfers import Steps
from pgasrob.frontends.c.types import CHAR, INT, CType
from pgasrob.frontends.c.values import NULL, Handle, Known, Value
from pgasrob.program.assumptions import Kind
from pgasrob.program.commands import Wait

MULTIPLE = 3


@FUNCTIONS.calls("""
    void shmem_init(void); void start_pes(int npes); void shmem_start_pes(int npes);
    void shmem_set_cache_inv(void); void shmem_set_cache_line_inv(void *target);
    void shmem_clear_cache_inv(void); void shmem_clear_cache_line_inv(void *target);
    void shmem_udcflush(void); void shmem_udcflush_line(void *target);
    void shmem_pcontrol(int level, ...);
    void shmem_session_start(shmem_ctx_t ctx, long options); void shmem_session_stop(shmem_ctx_t ctx);
    void shmem_ctx_session_start(shmem_ctx_t ctx, long options, const void *config, long config_mask);
    void shmem_ctx_session_stop(shmem_ctx_t ctx);
""")
def nothing(call: Call) -> Outcome:
    """What has no effect that a program could see: caches are coherent, hints of sessions promise nothing."""
    if "_session_" in call.name:
        call.rests_on(Kind.HINTS, call.name)
    return Outcome()


@FUNCTIONS.calls("int shmem_init_thread(int requested, int *provided)")
def init_thread(call: Call) -> Outcome:
    call.rests_on(Kind.THREAD_LEVEL, call.name)
    return _answer(call, (1, Known(call.known(0)), INT), result=Known(0))


@FUNCTIONS.calls("void shmem_query_thread(int *provided)")
def query_thread(call: Call) -> Outcome:
    call.rests_on(Kind.FIXED_ANSWERS, call.name)
    return _answer(call, (0, Known(MULTIPLE), INT))


@FUNCTIONS.calls("void shmem_query_initialized(int *initialized)")
def query_initialized(call: Call) -> Outcome:
    call.rests_on(Kind.FIXED_ANSWERS, call.name)
    return _answer(call, (0, Known(1), INT))


@FUNCTIONS.calls("void shmem_info_get_version(int *major, int *minor)")
def version(call: Call) -> Outcome:
    call.rests_on(Kind.FIXED_ANSWERS, call.name)
    return _answer(call, (0, Known(1), INT), (1, Known(5), INT))


@FUNCTIONS.calls("void shmem_info_get_name(char *name)")
def name(call: Call) -> Outcome:
    call.rests_on(Kind.FIXED_ANSWERS, call.name)
    return _answer(call, (0, Known(0), CHAR))


def _answer(call: Call, *answers: tuple[int, Value, CType], result: Value | None = None) -> Outcome:
    """Values that go where arguments point to, unless those are null."""
    steps = Steps(call)
    for index, value, type in answers:
        address = call.pointer(index)
        if address is not None:
            steps.store(address, value, type)
    return steps.outcome() if result is None else steps.outcome(result)


@FUNCTIONS.calls("void shmem_finalize(void)")
def finalize(call: Call) -> Outcome:
    """Includes a barrier that completes what is pending, in every context (1.5, section 9.1)."""
    contexts = [Wait(queue_of(call, number)) for number in sorted(_live(call))]
    return Outcome(call.do(*contexts, *meeting(call)))


@FUNCTIONS.calls("void shmem_global_exit(int status)")
def global_exit(call: Call) -> Outcome:
    call.rests_on(Kind.ENDS_ONE_RANK, call.name)
    return Outcome(ends=True)


@FUNCTIONS.calls("int shmem_my_pe(void); int _my_pe(void); int my_pe(void)")
def my_pe(call: Call) -> Outcome:
    return Outcome(result=Known(call.rank))


@FUNCTIONS.calls("int shmem_n_pes(void); int _num_pes(void); int num_pes(void); int shmem_num_pes(void)")
def n_pes(call: Call) -> Outcome:
    return Outcome(result=Known(call.nodes))


@FUNCTIONS.calls("int shmem_pe_accessible(int pe)")
def pe_accessible(call: Call) -> Outcome:
    call.rests_on(Kind.FIXED_ANSWERS, call.name)
    return Outcome(result=Known(int(0 <= call.known(0) < call.nodes)))


@FUNCTIONS.calls("int shmem_addr_accessible(const void *addr, int pe)")
def addr_accessible(call: Call) -> Outcome:
    call.rests_on(Kind.FIXED_ANSWERS, call.name)
    address = call.pointer(0)
    accessible = address is not None and address.object.kind in ("global", "symmetric", "segment")
    return Outcome(result=Known(int(accessible and 0 <= call.known(1) < call.nodes)))


@FUNCTIONS.calls("void *shmem_ptr(const void *dest, int pe)")
def ptr(call: Call) -> Outcome:
    """Only one's own memory is reached by loads and stores; for the others a PE gets a null pointer."""
    call.rests_on(Kind.SEPARATE_MEMORY, call.name)
    address = call.pointer(0)
    return Outcome(result=address if address is not None and call.known(1) == call.rank else NULL)


@FUNCTIONS.calls("void *shmem_team_ptr(shmem_team_t team, const void *dest, int pe)")
def team_ptr(call: Call) -> Outcome:
    call.rests_on(Kind.SEPARATE_MEMORY, call.name)
    members, address, place = team_of(call, 0), call.pointer(1), call.known(2)
    own = members is not None and 0 <= place < len(members) and members[place] == call.rank
    return Outcome(result=address if own and address is not None else NULL)


# Memory: allocation is collective and ends with a barrier, freeing begins with one.


def _allocation(prototype: str, bytes: Callable[[Call], int]) -> None:
    def allocate(call: Call) -> Outcome:
        size = bytes(call)
        if size == 0:
            return Outcome(result=NULL)
        if call.name == "shmem_malloc_with_hints":
            call.rests_on(Kind.HINTS, call.name)
        return Outcome(call.do(*meeting(call)), call.allocate("symmetric", size))

    FUNCTIONS.add(prototype, allocate)


_allocation("void *shmem_malloc(size_t size); void *shmalloc(size_t size)", lambda call: call.known(0))
_allocation("void *shmem_malloc_with_hints(size_t size, long hints)", lambda call: call.known(0))
_allocation("void *shmem_calloc(size_t count, size_t size)", lambda call: call.known(0) * call.known(1))
_allocation(
    "void *shmem_align(size_t alignment, size_t size); void *shmemalign(size_t alignment, size_t size)",
    lambda call: call.known(1),
)


@FUNCTIONS.calls("void shmem_free(void *ptr); void shfree(void *ptr)")
def free(call: Call) -> Outcome:
    if call.pointer(0) is None:
        return Outcome()
    call.rests_on(Kind.FREED_MEMORY, call.name)
    return Outcome(call.do(*meeting(call)))


# Contexts: each has its own queue. Numbers are used again, so that loops come back to the state they began in.

LIVE = "shmem.contexts"


@FUNCTIONS.calls("int shmem_ctx_create(long options, shmem_ctx_t *ctx)")
def ctx_create(call: Call) -> Outcome:
    return _create(call, 1, "world")


@FUNCTIONS.calls("int shmem_team_create_ctx(shmem_team_t team, long options, shmem_ctx_t *ctx)")
def team_create_ctx(call: Call) -> Outcome:
    members = team_of(call, 0)
    return Outcome(result=Known(-1)) if members is None else _create(call, 2, members)


def _create(call: Call, pointer: int, members: str | tuple[int, ...]) -> Outcome:
    steps = Steps(call)
    if call.arguments[pointer - 1] != Known(0):
        call.rests_on(Kind.HINTS, call.name)
    live = _live(call)
    number = next(number for number in range(1, len(live) + 2) if number not in live)
    steps.note(LIVE, live | {number})
    address = call.pointer(pointer)
    if address is not None:
        steps.store(address, Handle("context", (number, members)), CONTEXT)
    return steps.outcome(Known(0))


def _live(call: Call) -> frozenset[int]:
    live = call.state.get(LIVE, frozenset())
    assert isinstance(live, frozenset)
    return live


@FUNCTIONS.calls("void shmem_ctx_destroy(shmem_ctx_t ctx)")
def ctx_destroy(call: Call) -> Outcome:
    """Completes what the context has pending; a context that is none has nothing."""
    if call.arguments[0] == Known(0):
        return Outcome()
    number, _ = context_of(call, 0)
    if number == 0:
        call.fail("shmem_ctx_destroy of SHMEM_CTX_DEFAULT", "the default context lives as long as the program")
    steps = Steps(call)
    steps.do(Wait(queue_of(call, number)))
    steps.note(LIVE, _live(call) - {number})
    return steps.outcome()


@FUNCTIONS.calls("int shmem_ctx_get_team(shmem_ctx_t ctx, shmem_team_t *team)")
def ctx_get_team(call: Call) -> Outcome:
    at = Arguments(call)
    steps = Steps(call)
    steps.store(at.pointer(0), _team(at.members), TEAM)
    return steps.outcome(Known(0))


# Teams: nobody waits for anybody when they are made; that their makers meet is not promised.


@FUNCTIONS.calls("int shmem_team_my_pe(shmem_team_t team)")
def team_my_pe(call: Call) -> Outcome:
    members = team_of(call, 0)
    return Outcome(result=Known(members.index(call.rank) if members and call.rank in members else -1))


@FUNCTIONS.calls("int shmem_team_n_pes(shmem_team_t team)")
def team_n_pes(call: Call) -> Outcome:
    members = team_of(call, 0)
    return Outcome(result=Known(-1 if members is None else len(members)))


@FUNCTIONS.calls("int shmem_team_translate_pe(shmem_team_t src_team, int src_pe, shmem_team_t dest_team)")
def translate_pe(call: Call) -> Outcome:
    source, place, destination = team_of(call, 0), call.known(1), team_of(call, 2)
    if source is None or destination is None or not 0 <= place < len(source) or source[place] not in destination:
        return Outcome(result=Known(-1))
    return Outcome(result=Known(destination.index(source[place])))


@FUNCTIONS.calls("int shmem_team_get_config(shmem_team_t team, long config_mask, shmem_team_config_t *config)")
def get_config(call: Call) -> Outcome:
    call.rests_on(Kind.FIXED_ANSWERS, call.name)
    return _answer(call, (2, Known(0), INT), result=Known(0))


@FUNCTIONS.calls("void shmem_team_destroy(shmem_team_t team)")
def team_destroy(call: Call) -> Outcome:
    return Outcome()


@FUNCTIONS.calls("""
    int shmem_team_split_strided(shmem_team_t parent_team, int start, int stride, int size,
                                 const shmem_team_config_t *config, long config_mask, shmem_team_t *new_team)
""")
def split_strided(call: Call) -> Outcome:
    """Those that are not of the new team get SHMEM_TEAM_INVALID and 0 as the others do."""
    parent = team_of(call, 0)
    if parent is None:
        return _new_teams(call, (6, None), result=-1)
    start, stride, size = call.known(1), call.known(2), call.known(3)
    places = [start + index * stride for index in range(min(size, len(parent) + 1))]
    if not places or any(not 0 <= place < len(parent) for place in places) or len(set(places)) < len(places):
        return _new_teams(call, (6, None), result=-1)
    return _new_teams(call, (6, tuple(parent[place] for place in places)))


@FUNCTIONS.calls("""
    int shmem_team_split_2d(shmem_team_t parent_team, int xrange,
                            const shmem_team_config_t *xaxis_config, long xaxis_mask, shmem_team_t *xaxis_team,
                            const shmem_team_config_t *yaxis_config, long yaxis_mask, shmem_team_t *yaxis_team)
""")
def split_2d(call: Call) -> Outcome:
    """Rows of ``xrange`` PEs, and the columns across them."""
    parent, width = team_of(call, 0), call.known(1)
    if parent is None or width < 1 or call.rank not in parent:
        return _new_teams(call, (4, None), (7, None), result=-1)
    row, column = divmod(parent.index(call.rank), width)
    return _new_teams(call, (4, parent[row * width : (row + 1) * width]), (7, parent[column::width]))


def _new_teams(call: Call, *teams: tuple[int, tuple[int, ...] | None], result: int = 0) -> Outcome:
    answers = []
    for index, members in teams:
        own = members is not None and call.rank in members
        answers.append((index, _team(members) if members and own else Known(0), TEAM))
    return _answer(call, *answers, result=Known(result))


def _team(members: tuple[int, ...]) -> Handle:
    return Handle("team", (members,))
