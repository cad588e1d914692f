"""Windows (MPI-4, chapter 12): creation, and synchronisation but for locks (`locks.py`)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.apis import split_barriers
from pgasrob.frontends.apis.call_arguments import member_in, no_handle
from pgasrob.frontends.apis.call_steps import NotAllowed, Steps
from pgasrob.frontends.apis.flags import all_at_once, barrier, may_wait_at_all
from pgasrob.frontends.apis.interface import Call, Exposed, Outcome, Way
from pgasrob.frontends.apis.mpi import epochs, rules
from pgasrob.frontends.apis.mpi.attributes import own_attribute
from pgasrob.frontends.apis.mpi.handles import NAMED, SUCCESS, communicator, group, pointer, published
from pgasrob.frontends.apis.mpi.header import (
    GROUP,
    NOCHECK,
    NOPRECEDE,
    NOSUCCEED,
    PROC_NULL,
    WIN_BASE,
    WIN_CREATE_FLAVOR,
    WIN_DISP_UNIT,
    WIN_MODEL,
    WIN_SIZE,
    WINDOW,
    calls,
    does,
    nothing,
    stores,
)
from pgasrob.frontends.apis.mpi.infos import pairs_of
from pgasrob.frontends.apis.mpi.targets import Closed, Target, Window, at_target, modes, of_handle, window
from pgasrob.frontends.apis.mpi.window_calls import Shared, SyncKind
from pgasrob.frontends.c.libc.reads import read_texts
from pgasrob.frontends.c.symbolic import EVERYONE, Extent
from pgasrob.frontends.c.types import INT, LONG, VOID, Pointer
from pgasrob.frontends.c.values import NULL, Address, Handle, ObjectId, Value
from pgasrob.program.assumptions import Kind
from pgasrob.program.commands import AwaitAdd, Fetch, Notify, Wait, WaitLocal
from pgasrob.program.expressions import Binary, Const

# Creation


@dataclass(frozen=True, slots=True)
class Part:
    """What one rank brings into a window. It is published, as the others compute addresses from it. Memory is attached
    to a ``dynamic`` window later, and its displacements are addresses."""

    base: Address | None
    bytes: int | Extent
    unit: int
    dynamic: bool = False


def _bytes(call: Call, part: Part) -> int:
    """How large a part is, as a number."""
    return part.bytes if isinstance(part.bytes, int) else call.number_needed("how large the window is")


def _create(steps: Steps, communicator_index: int, part: Part) -> Window:
    """Make the next window, which goes to the last argument. All ranks must know the parts of all, so they wait for
    each other."""
    call, window_index = steps.call, len(steps.call.arguments) - 1
    if part.unit <= 0 or (isinstance(part.bytes, int) and part.bytes < 0):
        call.fail(
            Wrong.ARGUMENT, f"{call.name} of {part.bytes} bytes in units of {part.unit}", "sizes and units are positive"
        )
    call.rests_on(Kind.CREATION_WAITS, call.name)
    call.rests_on(Kind.UNIFIED_WINDOWS)
    of = communicator(call, communicator_index)
    # Windows of a communicator are numbered as they are made, alike on all its members.
    made = Window((*of.key[1:], steps.count(of.name("windows"))), of.members)
    call.publish(made.key("part"), part, by_all=True)
    if part.base is not None and isinstance(part.bytes, int):
        call.expose(Exposed(made.name, part.base, part.bytes))
    with made.marked(steps, "create", (call.rank,) if call.marked else ()):
        barrier(steps, of)
    steps.note(made.key("closed"), Closed())
    steps.answer(window_index, Handle("window", (made.id, made.members)), WINDOW)
    return made


@does("Win_create(void *base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win *win)")
def create(call: Call, steps: Steps) -> None:
    _create(steps, 4, Part(call.pointer(0), call.extent(1), call.known(2)))


@does("Win_allocate(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr, MPI_Win *win)")
def allocate(call: Call, steps: Steps) -> None:
    _allocate(call, steps)


def _allocate(call: Call, steps: Steps) -> tuple[Window, Address]:
    """The window that is made, and the rank's own memory in it."""
    of = communicator(call, 3)
    number = steps.recall(of.name("windows"), 0)
    assert isinstance(number, int)
    pointer = call.pointer(4)
    memory = call.allocate("symmetric", call.extent(0), member_in(call, 4), ("mpi", *of.key[1:], number), to=pointer)
    made = _create(steps, 3, Part(memory, call.extent(0), call.known(1)))
    steps.answer(4, memory, Pointer(VOID))
    return made, memory


@does("Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *win)")
def create_dynamic(call: Call, steps: Steps) -> None:
    made = _create(steps, 1, Part(None, 0, 1, dynamic=True))
    if call.published_here(made.key("attached")) is None:
        call.publish(made.key("attached"), frozenset())


@does("Win_attach(MPI_Win win, void *base, MPI_Aint size)")
def attach(call: Call, steps: Steps) -> None:
    """Others learn of it when they get the address (12.2.4). That they do is not looked at: what is ever attached may
    be accessed at any time."""
    of, base, bytes = window(call, 0), pointer(call, 1), call.known(2)
    if not isinstance(base.offset, int) or bytes < 0:
        call.fail(
            Wrong.UNKNOWN_LIMIT, f"{call.name} of memory that is not known here", "attach objects that each rank knows"
        )
    attached = call.published_here(of.key("attached"))
    if not isinstance(attached, frozenset):
        call.fail(Wrong.ARGUMENT, f"{call.name} to a window that is not dynamic", "make it with MPI_Win_create_dynamic")
    call.publish(of.key("attached"), attached | {(base.object, base.offset, bytes)}, by_all=True)
    call.expose(Exposed(of.name, base, bytes))


@does("Win_detach(MPI_Win win, const void *base)")
def detach(call: Call, steps: Steps) -> None:
    window(call, 0)
    call.rests_on(Kind.FREED_MEMORY, call.name)


@does("""
    Win_allocate_shared(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr, MPI_Win *win)
""")
def allocate_shared(call: Call, steps: Steps) -> None:
    """The ranks of the communicator have to share memory. That of each rank lies behind that of the one before, unless
    alloc_shared_noncontig allows otherwise (12.2.3)."""
    apart = set(communicator(call, 3).members) - set(call.neighbours())
    if apart:
        call.fail(
            Wrong.ARGUMENT,
            f"MPI_Win_allocate_shared on ranks {call.rank} and {min(apart)}, which share no memory",
            "let ranks share memory with --shared-memory, or make a communicator of those that do: MPI_Comm_split_type",
        )
    call.rests_on(Kind.WINDOW_SYNC, call.name)
    steps.mark(Shared(call.name))
    made, memory = _allocate(call, steps)
    if call.arguments[2] != NULL and pairs_of(steps, 2).get(b"alloc_shared_noncontig", b"false") != b"false":
        return
    parts = [published(call, member, made.key("part"), "the window") for member in made.members]
    sizes = [part.bytes for part in parts if isinstance(part, Part) and isinstance(part.bytes, int)]
    if len(sizes) == len(made.members):
        call.contiguous(memory, tuple(zip(made.members, sizes, strict=True)))


@does("Win_shared_query(MPI_Win win, int rank, MPI_Aint *size, int *disp_unit, void *baseptr)")
def shared_query(call: Call, steps: Steps) -> None:
    """The memory of one rank, or for MPI_PROC_NULL that of the first one that has some."""
    of, place = window(call, 0), call.known(1)
    if place != PROC_NULL and not 0 <= place < len(of.members):
        call.fail(Wrong.RANK, f"{call.name} of rank {place} of {len(of.members)}", "ranks count from 0 in the window")
    size, unit, base = 0, 1, cast(Value, NULL)
    for member in of.members if place == PROC_NULL else of.members[place : place + 1]:
        part = published(call, member, of.key("part"), "the window")
        if isinstance(part, Part) and (part.bytes or place != PROC_NULL):
            size, unit = _bytes(call, part), part.unit
            if part.base is not None and member in call.neighbours():
                base = replace(part.base, owner=None if member == call.rank else member)
            break
    steps.answer(2, size, LONG)
    steps.answer(3, unit, INT)
    steps.answer(4, base, Pointer(VOID))


@does("Win_free(MPI_Win *win)")
def free(call: Call, steps: Steps) -> None:
    """Nobody returns before all have called it (12.2.5)."""
    address = call.pointer(0)
    value = None if address is None else call.load(address, WINDOW)
    if value == NULL:
        raise NotAllowed(rules.FREED, f"{call.name} of MPI_WIN_NULL, which MPI_Win_free leaves behind")
    if address is None or not isinstance(value, Handle) or value.kind != "window":
        call.fail(
            no_handle(value),
            "MPI_Win_free of something that is not a window here",
            "pass the address of a window that has been made",
        )
    call.rests_on(Kind.FREED_MEMORY, call.name)
    of = of_handle(value)
    if call.state.get(of.key("freed")) is not None:
        raise NotAllowed(rules.FREED, f"{call.name} of a window that has been freed")
    epochs.frees(steps, of)
    part = call.own_fact(of.key("part"))
    allocated = ObjectId("symmetric", ("mpi", *of.id))  # by MPI_Win_allocate
    if isinstance(part, Part) and part.base is not None and part.base.object == allocated:
        steps.free(part.base, rules.MEMORY_FREED)
    barrier(steps, of.group())
    steps.store(address, NULL, WINDOW)


@does("Win_get_attr(MPI_Win win, int win_keyval, void *attribute_val, int *flag)")
def get_attr(call: Call, steps: Steps) -> None:
    """The base as it is; the others as pointers to integers (12.2.6)."""
    of, key = window(call, 0), call.known(1)
    if own_attribute(steps):
        return
    part = call.published_here(of.key("part"))
    size = _bytes(call, part) if isinstance(part, Part) else 0
    if not isinstance(part, Part) or not WIN_BASE <= key <= WIN_MODEL:
        steps.answer(3, 0, INT)
        return
    found: Value = part.base or NULL
    if key != WIN_BASE:
        numbers = {WIN_SIZE: (size, LONG), WIN_DISP_UNIT: (part.unit, INT), WIN_CREATE_FLAVOR: (1, INT)}
        value, type = numbers.get(key, (0, INT))
        found = call.allocate("heap", 8, "attribute", asked_for=False)
        steps.store(found, value, type)
    steps.answer(2, found, Pointer(VOID))
    steps.answer(3, 1, INT)


stores("Win_get_group(MPI_Win win, MPI_Group *group)", GROUP, lambda call: Handle("group", (window(call, 0).members,)))
nothing("Win_set_info(MPI_Win win, MPI_Info info)", Kind.HINTS)


@does("Win_set_name(MPI_Win win, const char *name)")
def set_name(call: Call, steps: Steps) -> None:
    read_texts(call, 1)
    steps.note(NAMED, True)


@does("Win_sync(MPI_Win win)")
def sync(call: Call, steps: Steps) -> None:
    """There is one copy of a window's memory (MPI_WIN_UNIFIED), so there is nothing to do."""
    of = window(call, 0)
    epochs.flushes(steps, of, None, rules.SYNC_UNLOCKED)
    call.rests_on(Kind.UNIFIED_WINDOWS)
    with of.marked(steps, "win_sync", (call.rank,) if call.marked else ()):
        pass


# Fence


@does("Win_fence(int assert, MPI_Win win)")
def fence(call: Call, steps: Steps) -> None:
    """Completes the rank's own operations; all ranks wait for each other.

    A call that ends no epoch "does not necessarily act as a barrier" (MPI-4, 12.5.1). With MPI_MODE_NOPRECEDE it is
    none: the window of a rank is accessed after its call, for which the others wait when they access it. Without, it is
    one here as it usually is, so that mistakes that show only in an implementation that leaves it out are not found
    (`Kind.FENCE_BARRIER`). Where calls are strict (`Call.strict`) all are.
    """
    of, given = window(call, 1), call.known(0)
    modes(call, 0)
    epochs.fences(steps, of, bool(given & NOPRECEDE), bool(given & NOSUCCEED))
    with of.marked(steps, "fence"):
        of.complete(steps)
        if given & NOPRECEDE:
            may_wait_at_all(steps, of.group())
            if not call.strict:
                _begin_epoch(steps, of)
                return
        else:
            call.rests_on(Kind.FENCE_BARRIER)
        if of.fences_awaited(steps) is not None:
            split_barriers.end_phase(steps, of.group(), call.name)
            steps.note(of.key("fences"), None)
        barrier(steps, of.group())


def _begin_epoch(steps: Steps, of: Window) -> None:
    """A fence that is no barrier: this rank says that it has come, and waits for others when it accesses their parts of
    the window."""
    call, awaited = steps.call, of.fences_awaited(steps)
    if awaited is not None:  # no barrier has come since the last such fence
        if of.members is EVERYONE:
            call.number_needed("who waits for whom in a second fence with MPI_MODE_NOPRECEDE")
        for member in of.members:
            if member not in (*awaited, call.rank):
                split_barriers.await_arrival(steps, of.group(), call.name, member, chosen=True)
        split_barriers.end_phase(steps, of.group(), call.name)
    split_barriers.arrive(steps, of.group(), call.name, chosen=True)
    steps.note(of.key("fences"), ())


# Flush


@calls("Win_flush(int rank, MPI_Win win); Win_flush_local(int rank, MPI_Win win)")
def flush(call: Call) -> list[Outcome]:
    of, wait = window(call, 1), _wait(call)
    kind: SyncKind = "flush_local" if "_local" in call.name else "flush"

    def await_operations(steps: Steps, target: Target) -> None:
        epochs.flushes(steps, of, target)
        steps.do(*(wait(queue) for queue in of.queues(steps, (target,))))

    return at_target(call, 0, of, kind, await_operations)


@does("Win_flush_all(MPI_Win win); Win_flush_local_all(MPI_Win win)")
def flush_all(call: Call, steps: Steps) -> None:
    of, wait = window(call, 0), _wait(call)
    kind: SyncKind = "flush_local_all" if "_local" in call.name else "flush_all"
    epochs.flushes(steps, of, None)
    with of.marked(steps, kind):
        steps.do(*(wait(queue) for queue in of.queues(steps)))


def _wait(call: Call) -> type[Wait] | type[WaitLocal]:
    return WaitLocal if "_local" in call.name else Wait


# Post, start, complete and wait: a cell per pair of ranks counts the posts, and one the completions. A start takes a
# post off, and a wait takes a completion off.


@does("Win_post(MPI_Group group, int assert, MPI_Win win)")
def post(call: Call, steps: Steps) -> None:
    of, origins = window(call, 2), group(call, 0)
    unchecked = bool(modes(call, 1) & NOCHECK)
    epochs.posts(steps, of, origins)
    epochs.agrees_on_checks(steps, of, "MPI_Win_start", origins, unchecked)
    with of.marked(steps, "post", origins):
        for origin in origins:
            steps.do(AwaitAdd(Const(origin), of.cell(call, "posted", call.rank), ">=", Const(0), Const(1)))


@does("Win_start(MPI_Group group, int assert, MPI_Win win)")
def start(call: Call, steps: Steps) -> None:
    of, targets = window(call, 2), group(call, 0)
    unchecked = bool(modes(call, 1) & NOCHECK)
    call.rests_on(Kind.EPOCHS_WAIT, call.name)
    epochs.begins(steps, of)
    epochs.agrees_on_checks(steps, of, "MPI_Win_post", targets, unchecked)
    with of.marked(steps, "start", targets):
        for target in targets:
            if unchecked:
                _has_posted(steps, of, target)
            steps.do(_take(call, of, "posted", target))
    steps.note(of.key("started"), epochs.Group(targets, steps.opened()))


@does("Win_complete(MPI_Win win)")
def complete(call: Call, steps: Steps) -> None:
    """Completes at the origin; each target is notified after the operations to it."""
    of = window(call, 0)
    begun = epochs.started(steps, of)
    if begun is None:
        steps.illegal(rules.COMPLETE_UNSTARTED, f"{call.name} without MPI_Win_start")
        return
    targets = begun.ranks
    places = [of.members.index(target) for target in targets]
    with of.marked(steps, "complete", targets):
        steps.do(*(WaitLocal(queue) for queue in of.queues(steps, places)))
        for target, place in zip(targets, places, strict=True):
            queue = of.use(steps, place)
            steps.do(Notify("add", Const(1), Const(target), of.cell(call, "completed", call.rank), queue))
    steps.note(of.key("started"), None)
    epochs.close(steps, of)


@does("Win_wait(MPI_Win win)")
def wait(call: Call, steps: Steps) -> None:
    of = window(call, 0)
    exposed = epochs.posted(steps, of)
    if exposed is None:
        steps.illegal(rules.WAIT_UNPOSTED, f"{call.name} without MPI_Win_post")
        return
    with of.marked(steps, "wait", exposed.ranks):
        for origin in exposed.ranks:
            steps.do(_take(call, of, "completed", origin))
    steps.note(of.key("posted"), None)


@calls("Win_test(MPI_Win win, int *flag)")
def test(call: Call) -> list[Way]:
    """Either wait and answer 1, or answer 0 at once, which it may at any time."""
    steps, not_yet = Steps(call), Steps(call)
    wait(call, steps)
    steps.answer(1, 1, INT)
    not_yet.answer(1, 0, INT)
    return [all_at_once(steps, steps.outcome(SUCCESS)), not_yet.outcome(SUCCESS)]


def _has_posted(steps: Steps, of: Window, target: int) -> None:
    """With MPI_MODE_NOCHECK the target has to have posted when the start is called (12.5.5)."""
    call, posts = steps.call, steps.call.register("posts")
    steps.do(Fetch(posts, call.me, of.cell(call, "posted", target)))
    why = f"{call.name} with MPI_MODE_NOCHECK before rank {target} has posted its window"
    steps.illegal(rules.FALSE_ASSERTION, why, unless=Binary(">", posts, Const(0)))


def _take(call: Call, of: Window, what: str, rank: int) -> AwaitAdd:
    return AwaitAdd(call.me, of.cell(call, what, rank), ">", Const(0), Const(-1))
