"""Library setup, queries, memory, contexts and teams (1.5, sections 9.1 to 9.4)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from typing import cast

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.apis import thread_levels
from pgasrob.frontends.apis.call_arguments import elements
from pgasrob.frontends.apis.call_steps import Given, NotAllowed, Steps, ends_all, freed, least_free
from pgasrob.frontends.apis.flags import may_wait
from pgasrob.frontends.apis.interface import Call
from pgasrob.frontends.apis.openshmem import rules
from pgasrob.frontends.apis.openshmem.contexts import (
    LIFE,
    LIVE,
    PRIVATE,
    TEAMS,
    Arguments,
    context_of,
    does,
    for_threads,
    group_of,
    is_invalid,
    live_contexts,
    live_teams,
    maker_of,
    queue_of,
    team_of,
)
from pgasrob.frontends.apis.openshmem.header import CONTEXT, FUNCTIONS, TEAM
from pgasrob.frontends.apis.openshmem.ordering import wait_for_all
from pgasrob.frontends.apis.transfers import copied
from pgasrob.frontends.c.symbolic import Extent
from pgasrob.frontends.c.types import CHAR, INT
from pgasrob.frontends.c.values import NULL, Address, Handle, Known, Value
from pgasrob.program.assumptions import Kind
from pgasrob.program.commands import Wait

THREAD_MULTIPLE = 3

# Without an effect that a program could see: caches are coherent, hints of sessions promise nothing.
FUNCTIONS.nothing("void shmem_init(void); void start_pes(int npes); void shmem_start_pes(int npes)")
FUNCTIONS.nothing(
    """
    void shmem_set_cache_inv(void); void shmem_set_cache_line_inv(void *target);
    void shmem_clear_cache_inv(void); void shmem_clear_cache_line_inv(void *target);
    void shmem_udcflush(void); void shmem_udcflush_line(void *target)
    """,
    Kind.NO_EFFECT,
)
FUNCTIONS.nothing(
    """
    void shmem_pcontrol(int level, ...);
    void shmem_session_start(shmem_ctx_t ctx, long options); void shmem_session_stop(shmem_ctx_t ctx);
    void shmem_ctx_session_start(shmem_ctx_t ctx, long options, const void *config, long config_mask);
    void shmem_ctx_session_stop(shmem_ctx_t ctx)
    """,
    Kind.HINTS,
)
FUNCTIONS.stores("void shmem_query_thread(int *provided)", INT, THREAD_MULTIPLE, Kind.FIXED_ANSWERS)
FUNCTIONS.stores("void shmem_query_initialized(int *initialized)", INT, LIFE.has_begun)
FUNCTIONS.stores("void shmem_info_get_name(char *name)", CHAR, 0, Kind.FIXED_ANSWERS)
FUNCTIONS.stores("void shmem_query_finalized(int *finalized)", INT, lambda call: LIFE.ended in call.state)
FUNCTIONS.calls("void shmem_global_exit(int status)")(ends_all)
FUNCTIONS.returns("int shmem_my_pe(void); int _my_pe(void); int my_pe(void)", lambda call: call.me)
FUNCTIONS.returns(
    "int shmem_n_pes(void); int _num_pes(void); int num_pes(void); int shmem_num_pes(void)", lambda call: call.count
)
FUNCTIONS.returns("int shmem_pe_accessible(int pe)", lambda call: 0 <= call.known(0) < call.nodes, Kind.FIXED_ANSWERS)


@FUNCTIONS.does("int shmem_init_thread(int requested, int *provided)")
def init_thread(call: Call, steps: Steps) -> int:
    call.rests_on(Kind.THREAD_LEVEL, call.name)
    steps.answer(1, call.known(0), INT)
    thread_levels.SHMEM.ask(steps, call.known(0))
    return 0


@FUNCTIONS.does("void shmem_info_get_version(int *major, int *minor)")
def version(call: Call, steps: Steps) -> None:
    call.rests_on(Kind.FIXED_ANSWERS, call.name)
    steps.answer(0, 1, INT)
    steps.answer(1, 5, INT)


@FUNCTIONS.does("void shmem_finalize(void)")
def finalize(call: Call, steps: Steps) -> None:
    """Includes a barrier that completes what is pending, in every context (1.5, section 9.1)."""
    steps.do(*(Wait(queue_of(call, number)) for number in sorted(live_contexts(call))))
    wait_for_all(steps)


@FUNCTIONS.does("int shmem_addr_accessible(const void *addr, int pe)")
def addr_accessible(call: Call, steps: Steps) -> int:
    call.rests_on(Kind.FIXED_ANSWERS, call.name)
    address = call.pointer(0)
    accessible = address is not None and address.object.kind in ("global", "symmetric", "segment")
    return accessible and 0 <= call.known(1) < call.nodes


@FUNCTIONS.does("void *shmem_ptr(const void *dest, int pe)")
def ptr(call: Call, steps: Steps) -> Value:
    """An address in the memory of a PE that shares it with the caller, which is then reached by loads and stores; a
    null pointer where the PE does not, or where the object is not remotely accessible (1.5, section 9.3)."""
    return _direct(call, call.pointer(0), call.known(1))


def _direct(call: Call, address: Address | None, pe: int) -> Value:
    neighbours = call.neighbours()
    if address is None or pe not in neighbours or address.object.kind in PRIVATE:
        return NULL
    return replace(address, owner=None if pe == call.rank else pe)


@FUNCTIONS.does("void *shmem_team_ptr(shmem_team_t team, const void *dest, int pe)")
def team_ptr(call: Call, steps: Steps) -> Value:
    members, address, place = team_of(call, 0), call.pointer(1), call.known(2)
    inside = members is not None and 0 <= place < len(members)
    return _direct(call, address, members[place]) if members and inside else NULL


# Memory: allocation is collective and ends with a barrier, freeing begins with one.


def _allocated(steps: Steps, size: int | Extent) -> Value:
    """New symmetric memory of ``size`` bytes; a null pointer for none."""
    if size == 0:
        return NULL
    memory = steps.call.allocate("symmetric", size)
    steps.note(_size_of(memory), size)
    if not steps.call.symbolic:
        _agree_on_size(steps, memory, size)
    return memory


def _agree_on_size(steps: Steps, memory: Address, size: int | Extent) -> None:
    """Find PEs that never ask for ``size`` bytes where this one does: by what they ask for when they come here."""
    call, key = steps.call, f"shmem.sizes.{memory.object.number}"
    asked = {pe: cast("frozenset[int]", call.published(pe, key) or frozenset()) for pe in call.everyone}
    call.publish(key, asked[call.rank] | {size})
    for pe, sizes in asked.items():
        if sizes and size not in sizes:
            why = f"{call.name} of {size} bytes, where PE {pe} asks for {' or '.join(map(str, sorted(sizes)))}"
            steps.illegal(rules.SIZES_DIFFER, why)


def _size_of(memory: Address) -> str:
    """The key in the state for the size of allocated memory."""
    return f"shmem.size.{memory.object.number}"


def _allocation(prototypes: str, bytes: Callable[[Call], int | Extent]) -> None:
    def allocate(call: Call, steps: Steps) -> Value:
        size = bytes(call)
        if size != 0:
            if call.name.endswith("malloc_with_hints"):
                call.rests_on(Kind.HINTS, call.name)
            wait_for_all(steps)
        return _allocated(steps, size)

    FUNCTIONS.does(prototypes)(allocate)


_allocation("void *shmem_malloc(size_t size); void *shmalloc(size_t size)", lambda call: call.extent(0))
_allocation("void *shmem_malloc_with_hints(size_t size, long hints)", lambda call: call.extent(0))
_allocation("void *shmem_calloc(size_t count, size_t size)", lambda call: elements(call, 0, 1))
_allocation(
    "void *shmem_align(size_t alignment, size_t size); void *shmemalign(size_t alignment, size_t size)",
    lambda call: call.extent(1),
)


@FUNCTIONS.does("void *shmem_realloc(void *ptr, size_t size); void *shrealloc(void *ptr, size_t size)")
def reallocate(call: Call, steps: Steps) -> Value:
    """New memory, with as many bytes of the old as fit; a barrier before and after (1.5, section 9.3)."""
    old, size = call.pointer(0), call.known(1)
    held = None if old is None else call.state.get(_size_of(old))
    if old is not None:
        if old.object.kind != "symmetric" or old.offset != 0 or not isinstance(held, int):
            call.fail(
                Wrong.ARGUMENT,
                f"{call.texts[0]} is not an address from shmem_malloc",
                "pass one, or a null pointer",
            )
        call.rests_on(Kind.FREED_MEMORY, call.name)
    wait_for_all(steps)
    memory = _allocated(steps, size)
    if isinstance(memory, Address) and old is not None and isinstance(held, int):
        copied(steps, memory, old, min(size, held))
        wait_for_all(steps)
        steps.free(old, rules.FREED)
    return memory


@FUNCTIONS.does("void shmem_free(void *ptr); void shfree(void *ptr)")
def free(call: Call, steps: Steps) -> None:
    address = call.pointer(0)
    if address is None:
        return
    call.rests_on(Kind.FREED_MEMORY, call.name)
    object, before = address.object, freed(call.state).get(address.object)
    if before is not None:
        raise NotAllowed(rules.FREED_TWICE, f"{call.name} of memory that has been freed", before[0])
    if object.kind != "symmetric" or address.offset != 0:
        raise NotAllowed(rules.FREED_TWICE, f"{call.name} of something that is not an address from shmem_malloc")
    wait_for_all(steps)
    steps.free(address, rules.FREED)


# Contexts: each has its own queue. Numbers are used again, so that loops come back to the state they began in.


@FUNCTIONS.does("int shmem_ctx_create(long options, shmem_ctx_t *ctx)")
def ctx_create(call: Call, steps: Steps) -> int:
    return _create(steps, 1, ("world",))


@FUNCTIONS.does("int shmem_team_create_ctx(shmem_team_t team, long options, shmem_ctx_t *ctx)")
def team_create_ctx(call: Call, steps: Steps) -> int:
    members, team = team_of(call, 0), call.arguments[0]
    if members is None or not isinstance(team, Handle):
        steps.answer(2, 0, CONTEXT)
        return -1
    number = team.data[-1]
    return _create(steps, 2, (members, number if isinstance(number, int) else 0))


def _create(steps: Steps, pointer: int, team: tuple[str | int | tuple[int, ...], ...]) -> int:
    """Make a context of a team, which is what its handle holds: its members and its number."""
    call, options = steps.call, steps.call.arguments[pointer - 1]
    if options != Known(0):
        call.rests_on(Kind.HINTS, call.name)
    live = live_contexts(call)
    number = least_free(live, 1)
    steps.note(LIVE, live | {number})
    steps.answer(pointer, Handle("context", (number, *team, *for_threads(call, options))), CONTEXT)
    return 0


@FUNCTIONS.does("void shmem_ctx_destroy(shmem_ctx_t ctx)")
def ctx_destroy(call: Call, steps: Steps) -> None:
    """Completes what the context has pending. SHMEM_CTX_INVALID has nothing pending."""
    if is_invalid(call, 0):
        return
    number, _ = context_of(call, 0)
    if number == 0:
        call.fail(
            Wrong.ARGUMENT, "shmem_ctx_destroy of SHMEM_CTX_DEFAULT", "the default context lives as long as the program"
        )
    steps.do(Wait(queue_of(call, number)))
    steps.note(LIVE, live_contexts(call) - {number})


@does("int shmem_ctx_get_team(shmem_ctx_t ctx, shmem_team_t *team)")
def ctx_get_team(at: Arguments, steps: Steps) -> int:
    context, invalid = at.call.arguments[0], is_invalid(at.call, 0)
    own = context.data[1:] if isinstance(context, Handle) else ("world",)
    own = own[:-1] if maker_of(context) else own
    steps.store(at.pointer(0), 0 if invalid else Handle("team", own), TEAM)
    return -1 if invalid else 0


# Teams: nobody waits for anybody when they are made; that their makers wait for each other is not promised.


@FUNCTIONS.does("int shmem_team_my_pe(shmem_team_t team)")
def team_my_pe(call: Call, steps: Steps) -> Given:
    members = team_of(call, 0)
    if members == call.everyone:
        return call.me
    return members.index(call.rank) if members and call.rank in members else -1


@FUNCTIONS.does("int shmem_team_n_pes(shmem_team_t team)")
def team_n_pes(call: Call, steps: Steps) -> Given:
    members = team_of(call, 0)
    if members == call.everyone:
        return call.count
    return -1 if members is None else len(members)


@FUNCTIONS.does("int shmem_team_translate_pe(shmem_team_t src_team, int src_pe, shmem_team_t dest_team)")
def translate_pe(call: Call, steps: Steps) -> int:
    source, place, destination = team_of(call, 0), call.known(1), team_of(call, 2)
    if source is None or destination is None or not 0 <= place < len(source) or source[place] not in destination:
        return -1
    return destination.index(source[place])


@FUNCTIONS.does("int shmem_team_get_config(shmem_team_t team, long config_mask, shmem_team_config_t *config)")
def get_config(call: Call, steps: Steps) -> int:
    if team_of(call, 0) is None:
        return -1
    call.rests_on(Kind.FIXED_ANSWERS, call.name)
    steps.answer(2, 0, INT)
    return 0


@FUNCTIONS.does("void shmem_team_destroy(shmem_team_t team)")
def team_destroy(call: Call, steps: Steps) -> None:
    """No effect that a program sees. SHMEM_TEAM_INVALID is ignored (1.5, section 9.4.9)."""
    value = call.arguments[0]
    if isinstance(value, Handle):
        steps.note(TEAMS, tuple(each for each in live_teams(call) if each != value.data))


@FUNCTIONS.does("""
    int shmem_team_split_strided(shmem_team_t parent_team, int start, int stride, int size,
                                 const shmem_team_config_t *config, long config_mask, shmem_team_t *new_team)
""")
def split_strided(call: Call, steps: Steps) -> int:
    """PEs that are not in the new team get SHMEM_TEAM_INVALID, and 0 as the others do."""
    _configured(call, 5)
    parent = team_of(call, 0)
    if parent is None:
        return _new_teams(steps, (6, None), result=-1)
    may_wait(steps, group_of(call, 0))
    start, stride, size = call.known(1), call.known(2), call.known(3)
    places = [start + index * stride for index in range(min(size, len(parent) + 1))]
    if not places or any(not 0 <= place < len(parent) for place in places) or len(set(places)) < len(places):
        return _new_teams(steps, (6, None), result=-1)
    return _new_teams(steps, (6, tuple(parent[place] for place in places)))


@FUNCTIONS.does("""
    int shmem_team_split_2d(shmem_team_t parent_team, int xrange,
                            const shmem_team_config_t *xaxis_config, long xaxis_mask, shmem_team_t *xaxis_team,
                            const shmem_team_config_t *yaxis_config, long yaxis_mask, shmem_team_t *yaxis_team)
""")
def split_2d(call: Call, steps: Steps) -> int:
    """Rows of ``xrange`` PEs, and the columns across them."""
    _configured(call, 3, 6)
    parent, width = team_of(call, 0), call.known(1)
    if parent is None or width < 1 or call.rank not in parent:
        return _new_teams(steps, (4, None), (7, None), result=-1)
    may_wait(steps, group_of(call, 0))
    row, column = divmod(parent.index(call.rank), width)
    return _new_teams(steps, (4, parent[row * width : (row + 1) * width]), (7, parent[column::width]))


def _configured(call: Call, *masks: int) -> None:
    """A team's configuration is a hint. It says nothing where its mask, one of the arguments ``masks``, is 0."""
    if any(call.arguments[index] != Known(0) for index in masks):
        call.rests_on(Kind.HINTS, call.name)


def _new_teams(steps: Steps, *teams: tuple[int, tuple[int, ...] | None], result: int = 0) -> int:
    """Make teams: each is the index of the pointer argument to store it through, and its members."""
    call, live = steps.call, live_teams(steps.call)
    for index, members in teams:
        own = members is not None and call.among(members)
        team: Value = Known(0)
        if members and own:
            # The team of all has the number 0.
            first = int(members == call.everyone)
            number = next(number for number in count(first) if (members, number) not in live)
            live = (*live, (members, number))
            team = Handle("team", (members, number))
        steps.answer(index, team, TEAM)
    steps.note(TEAMS, live)
    return result
