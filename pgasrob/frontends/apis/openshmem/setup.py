"""Library setup, queries, memory, contexts and teams (1.5, sections 9.1 to 9.4)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from typing import cast

from pgasrob.frontends.apis.call_arguments import elements
from pgasrob.frontends.apis.interface import Call, Outcome
from pgasrob.frontends.apis.openshmem.contexts import PRIVATE, Arguments, context_of, is_invalid, queue_of, team_of
from pgasrob.frontends.apis.openshmem.header import CONTEXT, FUNCTIONS, TEAM
from pgasrob.frontends.apis.openshmem.ordering import meet
from pgasrob.frontends.apis.transfers import Steps, as_value, copied, ends_all
from pgasrob.frontends.c.symbolic import Extent
from pgasrob.frontends.c.types import CHAR, INT, CType
from pgasrob.frontends.c.values import NULL, Address, Handle, Known, Value
from pgasrob.program.assumptions import Kind
from pgasrob.program.commands import Wait

MULTIPLE = 3
FINALIZED = "shmem.finalized"


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
    if "_session_" in call.name or "pcontrol" in call.name:
        call.rests_on(Kind.HINTS, call.name)
    elif "cache" in call.name or "flush" in call.name:
        call.rests_on(Kind.NO_EFFECT, call.name)
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
    steps = Steps(call)
    steps.do(*(Wait(queue_of(call, number)) for number in sorted(_live(call))))
    meet(steps)
    steps.note(FINALIZED, True)
    return steps.outcome()


@FUNCTIONS.calls("void shmem_query_finalized(int *finalized)")
def query_finalized(call: Call) -> Outcome:
    return _answer(call, (0, Known(int(FINALIZED in call.state)), INT))


@FUNCTIONS.calls("void shmem_global_exit(int status)")
def global_exit(call: Call) -> Outcome:
    return ends_all(call)


@FUNCTIONS.calls("int shmem_my_pe(void); int _my_pe(void); int my_pe(void)")
def my_pe(call: Call) -> Outcome:
    return Outcome(result=as_value(call.me))


@FUNCTIONS.calls("int shmem_n_pes(void); int _num_pes(void); int num_pes(void); int shmem_num_pes(void)")
def n_pes(call: Call) -> Outcome:
    return Outcome(result=as_value(call.count))


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
    """An address in the memory of a PE that shares it with the caller, which is then reached by loads and stores; a
    null pointer where the PE does not, or where the object is not remotely accessible (1.5, section 9.3)."""
    return Outcome(result=_direct(call, call.pointer(0), call.known(1)))


def _direct(call: Call, address: Address | None, pe: int) -> Value:
    neighbours = call.neighbours()
    if address is None or pe not in neighbours or address.object.kind in PRIVATE:
        return NULL
    return replace(address, owner=None if pe == call.rank else pe)


@FUNCTIONS.calls("void *shmem_team_ptr(shmem_team_t team, const void *dest, int pe)")
def team_ptr(call: Call) -> Outcome:
    members, address, place = team_of(call, 0), call.pointer(1), call.known(2)
    if members is None or not 0 <= place < len(members):
        return Outcome(result=NULL)
    return Outcome(result=_direct(call, address, members[place]))


# Memory: allocation is collective and ends with a barrier, freeing begins with one.


def _allocation(prototype: str, bytes: Callable[[Call], int | Extent]) -> None:
    def allocate(call: Call) -> Outcome:
        size = bytes(call)
        if size == 0:
            return Outcome(result=NULL)
        if call.name == "shmem_malloc_with_hints":
            call.rests_on(Kind.HINTS, call.name)
        steps = Steps(call)
        meet(steps)
        memory = call.allocate("symmetric", size)
        steps.note(_size_of(memory), size)
        return steps.outcome(memory)

    FUNCTIONS.add(prototype, allocate)


def _size_of(memory: Address) -> str:
    """What the state holds the size of allocated memory under."""
    return f"shmem.size.{memory.object.number}"


_allocation("void *shmem_malloc(size_t size); void *shmalloc(size_t size)", lambda call: call.extent(0))
_allocation("void *shmem_malloc_with_hints(size_t size, long hints)", lambda call: call.extent(0))
_allocation("void *shmem_calloc(size_t count, size_t size)", lambda call: elements(call, 0, 1))
_allocation(
    "void *shmem_align(size_t alignment, size_t size); void *shmemalign(size_t alignment, size_t size)",
    lambda call: call.extent(1),
)


@FUNCTIONS.calls("void *shmem_realloc(void *ptr, size_t size); void *shrealloc(void *ptr, size_t size)")
def reallocate(call: Call) -> Outcome:
    """New memory with what the old holds, as far as it fits; a barrier before and after (1.5, section 9.3)."""
    old, size, steps = call.pointer(0), call.known(1), Steps(call)
    if old is None:
        meet(steps)
        if size == 0:
            return steps.outcome(NULL)
        memory = call.allocate("symmetric", size)
        steps.note(_size_of(memory), size)
        return steps.outcome(memory)
    held = call.state.get(_size_of(old))
    if old.object.kind != "symmetric" or old.offset != 0 or not isinstance(held, int):
        call.fail(f"{call.texts[0]} is no address that shmem_malloc has given", "pass one, or a null pointer")
    call.rests_on(Kind.FREED_MEMORY, call.name)
    meet(steps)
    if size == 0:
        return steps.outcome(NULL)
    memory = call.allocate("symmetric", size)
    steps.note(_size_of(memory), size)
    copied(steps, memory, old, min(size, held))
    meet(steps)
    return steps.outcome(memory)


@FUNCTIONS.calls("void shmem_free(void *ptr); void shfree(void *ptr)")
def free(call: Call) -> Outcome:
    if call.pointer(0) is None:
        return Outcome()
    steps = Steps(call)
    call.rests_on(Kind.FREED_MEMORY, call.name)
    meet(steps)
    return steps.outcome()


# Contexts: each has its own queue. Numbers are used again, so that loops come back to the state they began in.

LIVE = "shmem.contexts"


@FUNCTIONS.calls("int shmem_ctx_create(long options, shmem_ctx_t *ctx)")
def ctx_create(call: Call) -> Outcome:
    return _create(call, 1, ("world",))


@FUNCTIONS.calls("int shmem_team_create_ctx(shmem_team_t team, long options, shmem_ctx_t *ctx)")
def team_create_ctx(call: Call) -> Outcome:
    members, team = team_of(call, 0), call.arguments[0]
    if members is None or not isinstance(team, Handle):
        return _answer(call, (2, Known(0), CONTEXT), result=Known(-1))
    number = team.data[-1]
    return _create(call, 2, (members, number if isinstance(number, int) else 0))


def _create(call: Call, pointer: int, team: tuple[str | int | tuple[int, ...], ...]) -> Outcome:
    """A context of a team, which is what its handle holds: its members and its number."""
    steps = Steps(call)
    if call.arguments[pointer - 1] != Known(0):
        call.rests_on(Kind.HINTS, call.name)
    live = _live(call)
    number = next(number for number in range(1, len(live) + 2) if number not in live)
    steps.note(LIVE, live | {number})
    address = call.pointer(pointer)
    if address is not None:
        steps.store(address, Handle("context", (number, *team)), CONTEXT)
    return steps.outcome(Known(0))


def _live(call: Call) -> frozenset[int]:
    live = call.state.get(LIVE, frozenset())
    assert isinstance(live, frozenset)
    return live


@FUNCTIONS.calls("void shmem_ctx_destroy(shmem_ctx_t ctx)")
def ctx_destroy(call: Call) -> Outcome:
    """Completes what the context has pending; a context that is none has nothing."""
    if is_invalid(call, 0):
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
    at, context = Arguments(call), call.arguments[0]
    steps, invalid = Steps(call), is_invalid(call, 0)
    own = context.data[1:] if isinstance(context, Handle) else ("world",)
    steps.store(at.pointer(0), Known(0) if invalid else Handle("team", own), TEAM)
    return steps.outcome(Known(-1 if invalid else 0))


# Teams: nobody waits for anybody when they are made; that their makers meet is not promised.


@FUNCTIONS.calls("int shmem_team_my_pe(shmem_team_t team)")
def team_my_pe(call: Call) -> Outcome:
    members = team_of(call, 0)
    if members == call.everyone:
        return Outcome(result=as_value(call.me))
    return Outcome(result=Known(members.index(call.rank) if members and call.rank in members else -1))


@FUNCTIONS.calls("int shmem_team_n_pes(shmem_team_t team)")
def team_n_pes(call: Call) -> Outcome:
    members = team_of(call, 0)
    if members == call.everyone:
        return Outcome(result=as_value(call.count))
    return Outcome(result=Known(-1 if members is None else len(members)))


@FUNCTIONS.calls("int shmem_team_translate_pe(shmem_team_t src_team, int src_pe, shmem_team_t dest_team)")
def translate_pe(call: Call) -> Outcome:
    source, place, destination = team_of(call, 0), call.known(1), team_of(call, 2)
    if source is None or destination is None or not 0 <= place < len(source) or source[place] not in destination:
        return Outcome(result=Known(-1))
    return Outcome(result=Known(destination.index(source[place])))


@FUNCTIONS.calls("int shmem_team_get_config(shmem_team_t team, long config_mask, shmem_team_config_t *config)")
def get_config(call: Call) -> Outcome:
    if team_of(call, 0) is None:
        return Outcome(result=Known(-1))
    call.rests_on(Kind.FIXED_ANSWERS, call.name)
    return _answer(call, (2, Known(0), INT), result=Known(0))


@FUNCTIONS.calls("void shmem_team_destroy(shmem_team_t team)")
def team_destroy(call: Call) -> Outcome:
    """Nothing to see; a team that is none is left alone (1.5, section 9.4.9)."""
    value = call.arguments[0]
    if not isinstance(value, Handle):
        return Outcome()
    return Outcome(state={TEAMS: tuple(each for each in _teams(call) if each != value.data)})


@FUNCTIONS.calls("""
    int shmem_team_split_strided(shmem_team_t parent_team, int start, int stride, int size,
                                 const shmem_team_config_t *config, long config_mask, shmem_team_t *new_team)
""")
def split_strided(call: Call) -> Outcome:
    """Those that are not of the new team get SHMEM_TEAM_INVALID and 0 as the others do."""
    _configured(call, 5)
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
    _configured(call, 3, 6)
    parent, width = team_of(call, 0), call.known(1)
    if parent is None or width < 1 or call.rank not in parent:
        return _new_teams(call, (4, None), (7, None), result=-1)
    row, column = divmod(parent.index(call.rank), width)
    return _new_teams(call, (4, parent[row * width : (row + 1) * width]), (7, parent[column::width]))


def _configured(call: Call, *masks: int) -> None:
    """What the configuration of a team says, where the arguments ``masks`` say that it says something."""
    if any(call.arguments[index] != Known(0) for index in masks):
        call.rests_on(Kind.HINTS, call.name)


def _new_teams(call: Call, *teams: tuple[int, tuple[int, ...] | None], result: int = 0) -> Outcome:
    answers, live = [], _teams(call)
    for index, members in teams:
        own = members is not None and call.among(members)
        team: Value = Known(0)
        if members and own:
            # The team of all has the number 0.
            first = int(members == call.everyone)
            number = next(number for number in count(first) if (members, number) not in live)
            live = (*live, (members, number))
            team = Handle("team", (members, number))
        answers.append((index, team, TEAM))
    return replace(_answer(call, *answers, result=Known(result)), state={TEAMS: live})


TEAMS = "shmem.teams"
"""In the state: the teams that this rank is in, their members and numbers. Several teams may have the same members: all
of these make them in one order, so a number says which it is. Numbers are used again."""


def _teams(call: Call) -> tuple[tuple[tuple[int, ...], int], ...]:
    return cast("tuple[tuple[tuple[int, ...], int], ...]", call.state.get(TEAMS, ()))
