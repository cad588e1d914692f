"""Windows (MPI-4, chapter 12): creation, and the three kinds of synchronisation.

Every (window, target) has its own unordered queue, and so has every request. What a rank has used is noted, so that the
calls that complete wait for these queues alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pgasrob.frontends.apis.flags import Group, barrier
from pgasrob.frontends.apis.interface import Call, Outcome
from pgasrob.frontends.apis.mpi.handles import SUCCESS, answer, communicator, group, handle, places, ranks, split
from pgasrob.frontends.apis.mpi.names import GROUP, LOCK_EXCLUSIVE, LOCK_SHARED, PROC_NULL, WINDOW, calls
from pgasrob.frontends.apis.transfers import Steps
from pgasrob.frontends.c.types import INT, LONG, VOID, Pointer
from pgasrob.frontends.c.values import NULL, Address, Handle, Known
from pgasrob.program.commands import AwaitAdd, FetchAdd, Notify, Wait, WaitLocal
from pgasrob.program.expressions import Const, Expr


@dataclass(frozen=True, slots=True)
class Window:
    """A window: its ``number`` and the ranks of its group."""

    number: int
    members: tuple[int, ...]

    def key(self, what: str) -> str:
        """A name in the API's state, or of a published fact."""
        return f"mpi.{what}.{self.number}"

    def group(self) -> Group:
        return Group(("mpi", "window", self.number), self.members)

    def queue(self, call: Call, target: int, request: int | None = None) -> Const:
        """The queue of what is issued to ``target``, by itself or with a request."""
        name = f"win{self.number}_to{target}"
        if request is None:
            return call.queue("mpi", "window", self.number, target, name=name)
        return call.queue("mpi", "window", self.number, target, request, name=f"{name}_request{request}")

    def cell(self, call: Call, what: str, *key: int) -> Expr:
        """A cell of the window's own on every node."""
        name = "_".join(map(str, (f"win{self.number}", what, *key)))
        return call.cell(call.internal("mpi", what, self.number, *key, name=name), 8)

    # What a rank has used: queues as (target, request or -1)

    def use(self, steps: Steps, target: int, request: int | None = None) -> Const:
        used = self._used(steps) | {(target, -1 if request is None else request)}
        steps.note(self.key("used"), used)
        return self.queue(steps.call, target, request)

    def _used(self, steps: Steps) -> frozenset[tuple[int, int]]:
        used = steps.recall(self.key("used"), frozenset())
        assert isinstance(used, frozenset)
        return used

    def queues(self, steps: Steps, targets: Iterable[int] | None = None) -> list[Const]:
        """The queues used so far, to some targets."""
        chosen = None if targets is None else set(targets)
        return [
            self.queue(steps.call, target, None if request < 0 else request)
            for target, request in sorted(self._used(steps))
            if chosen is None or target in chosen
        ]

    def complete(self, steps: Steps, targets: Iterable[int] | None = None) -> None:
        """At both sides."""
        steps.do(*(Wait(queue) for queue in self.queues(steps, targets)))


def window(call: Call, index: int) -> Window:
    number, members = handle(call, index, "window").data
    assert isinstance(number, int) and isinstance(members, tuple)
    return Window(number, ranks(members))


# Creation


@dataclass(frozen=True, slots=True)
class Part:
    """What one rank brings into a window: told to all others, as they compute addresses from it."""

    base: Address | None
    bytes: int
    unit: int


def _create(call: Call, communicator_index: int, window_index: int, part: Part, steps: Steps) -> Window:
    """Make the next window. Everybody must know everybody's part, so all meet."""
    if part.unit <= 0 or part.bytes < 0:
        call.fail(f"{call.name} of {part.bytes} bytes in units of {part.unit}", "sizes and units are positive")
    members = communicator(call, communicator_index).members
    made = Window(next_number(steps), members)
    call.publish(made.key("part"), part)
    barrier(steps, communicator(call, communicator_index))
    address = call.pointer(window_index)
    if address is not None:
        steps.store(address, Handle("window", (made.number, members)), WINDOW)
    return made


def next_number(steps: Steps) -> int:
    """Windows are numbered in the order in which a rank makes them; that is the same in all members of one."""
    number = steps.recall("mpi.windows", 0)
    assert isinstance(number, int)
    steps.note("mpi.windows", number + 1)
    return number


@calls("Win_create(void *base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win *win)")
def create(call: Call) -> Outcome:
    steps = Steps(call)
    _create(call, 4, 5, Part(call.pointer(0), call.known(1), call.known(2)), steps)
    return steps.outcome(SUCCESS)


@calls("Win_allocate(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr, MPI_Win *win)")
def allocate(call: Call) -> Outcome:
    steps = Steps(call)
    number = steps.recall("mpi.windows", 0)
    assert isinstance(number, int)
    name = call.texts[4].replace("(void *)", "").replace("(void*)", "").strip("& ()") if call.texts else ""
    memory = call.allocate(
        "symmetric", call.known(0), name if name.isidentifier() else f"window{number}", key=("mpi", number)
    )
    _create(call, 3, 5, Part(memory, call.known(0), call.known(1)), steps)
    pointer = call.pointer(4)
    if pointer is not None:
        steps.store(pointer, memory, Pointer(VOID))
    return steps.outcome(SUCCESS)


@calls("Win_free(MPI_Win *win)")
def free(call: Call) -> Outcome:
    """Nobody returns before all have called it (12.2.5)."""
    address = call.pointer(0)
    value = None if address is None else call.load(address, WINDOW)
    if address is None or not isinstance(value, Handle) or value.kind != "window":
        call.fail("MPI_Win_free of what is no window here", "pass the address of a window that has been made")
    number, members = value.data
    assert isinstance(number, int) and isinstance(members, tuple)
    steps = Steps(call)
    barrier(steps, Window(number, ranks(members)).group())
    steps.store(address, NULL, WINDOW)
    return steps.outcome(SUCCESS)


@calls("Win_get_attr(MPI_Win win, int win_keyval, void *attribute_val, int *flag)")
def get_attr(call: Call) -> Outcome:
    """The base as it is; the others as pointers to integers (12.2.6)."""
    of, key = window(call, 0), call.known(1)
    part = call.published(call.rank, of.key("part"))
    if not isinstance(part, Part):
        return answer(call, (3, Known(0), INT))
    numbers = {8: (part.bytes, LONG), 9: (part.unit, INT), 10: (1, INT), 11: (0, INT)}
    if key == 7:
        return answer(call, (2, part.base or NULL, Pointer(VOID)), (3, Known(1), INT))
    if key not in numbers:
        return answer(call, (3, Known(0), INT))
    value, type = numbers[key]
    place = call.allocate("heap", 8, "attribute")
    steps = Steps(call)
    steps.store(place, Known(value), type)
    for index, given, of_type in ((2, place, Pointer(VOID)), (3, Known(1), INT)):
        address = call.pointer(index)
        if address is not None:
            steps.store(address, given, of_type)
    return steps.outcome(SUCCESS)


@calls("Win_get_group(MPI_Win win, MPI_Group *group)")
def get_group(call: Call) -> Outcome:
    return answer(call, (1, Handle("group", (window(call, 0).members,)), GROUP))


@calls("""
    Win_set_name(MPI_Win win, const char *name); Win_set_errhandler(MPI_Win win, MPI_Errhandler errhandler);
    Win_set_info(MPI_Win win, MPI_Info info); Win_sync(MPI_Win win)
""")
def nothing(call: Call) -> Outcome:
    """What changes nothing; there is one copy of a window's memory (MPI_WIN_UNIFIED), so sync has nothing to do."""
    return Outcome(result=SUCCESS)


# Fence


@calls("Win_fence(int assert, MPI_Win win)")
def fence(call: Call) -> Outcome:
    """Completes one's own operations, and all meet. Assertions may save an implementation work and promise nothing."""
    steps, of = Steps(call), window(call, 1)
    of.complete(steps)
    barrier(steps, of.group())
    return steps.outcome(SUCCESS)


# Flush


@calls("Win_flush(int rank, MPI_Win win); Win_flush_local(int rank, MPI_Win win)")
def flush(call: Call) -> list[Outcome]:
    of, wait = window(call, 1), _wait(call)

    def go(steps: Steps, values: Mapping[int, int]) -> None:
        if values[0] != PROC_NULL:
            steps.do(*(wait(queue) for queue in of.queues(steps, (values[0],))))

    return split(call, {0: places(of.group())}, go)


@calls("Win_flush_all(MPI_Win win); Win_flush_local_all(MPI_Win win)")
def flush_all(call: Call) -> Outcome:
    steps, of, wait = Steps(call), window(call, 0), _wait(call)
    steps.do(*(wait(queue) for queue in of.queues(steps)))
    return steps.outcome(SUCCESS)


def _wait(call: Call) -> type[Wait] | type[WaitLocal]:
    return WaitLocal if "_local" in call.name else Wait


# Locks: a cell at the target is -1 when it is held exclusively, else the number of ranks that share it.
#
# Ranks that share a lock do not see each other. They leave the cell alone when no rank ever takes this window's locks
# exclusively, as then there is nobody to keep out. Where some rank does, those that share are ordered among each other
# as well: that is more than is promised, and may show as a cycle that there is not.


@calls("Win_lock(int lock_type, int rank, int assert, MPI_Win win)")
def lock(call: Call) -> list[Outcome]:
    of, kind = window(call, 3), call.known(0)
    if kind not in (LOCK_EXCLUSIVE, LOCK_SHARED):
        call.fail(f"{kind} is no kind of lock", "use MPI_LOCK_SHARED or MPI_LOCK_EXCLUSIVE")
    if kind == LOCK_EXCLUSIVE:
        call.publish(of.key("exclusive"), True)

    def go(steps: Steps, values: Mapping[int, int]) -> None:
        if values[1] != PROC_NULL:
            _acquire(steps, of, values[1], kind)

    return split(call, {1: places(of.group())}, go)


@calls("Win_lock_all(int assert, MPI_Win win)")
def lock_all(call: Call) -> Outcome:
    steps, of = Steps(call), window(call, 1)
    for target in range(len(of.members)):
        _acquire(steps, of, target, LOCK_SHARED)
    return steps.outcome(SUCCESS)


@calls("Win_unlock(int rank, MPI_Win win)")
def unlock(call: Call) -> list[Outcome]:
    of = window(call, 1)

    def go(steps: Steps, values: Mapping[int, int]) -> None:
        if values[0] != PROC_NULL:
            of.complete(steps, (values[0],))
            _release(steps, of, values[0])

    return split(call, {0: places(of.group())}, go)


@calls("Win_unlock_all(MPI_Win win)")
def unlock_all(call: Call) -> Outcome:
    steps, of = Steps(call), window(call, 0)
    of.complete(steps)
    for target in range(len(of.members)):
        _release(steps, of, target)
    return steps.outcome(SUCCESS)


def _acquire(steps: Steps, of: Window, target: int, kind: int) -> None:
    held = _held(steps, of)
    if target in dict(held):
        steps.call.fail(f"rank {target} of the window is locked already", "unlock it before it is locked again")
    steps.note(of.key("held"), tuple(sorted((*held, (target, kind)))))
    rank, cell = Const(of.members[target]), of.cell(steps.call, "lock")
    if kind == LOCK_EXCLUSIVE:
        steps.do(AwaitAdd(rank, cell, "==", Const(0), Const(-1)))
    elif _contended(steps.call, of):
        steps.do(AwaitAdd(rank, cell, ">=", Const(0), Const(1)))


def _release(steps: Steps, of: Window, target: int) -> None:
    held = dict(_held(steps, of))
    kind = held.pop(target, None)
    if kind is None:
        steps.call.fail(f"{steps.call.name} of rank {target}, which is not locked", "lock it on every way to here")
    steps.note(of.key("held"), tuple(sorted(held.items())))
    if kind == LOCK_EXCLUSIVE or _contended(steps.call, of):
        change = Const(1 if kind == LOCK_EXCLUSIVE else -1)
        register = steps.call.register("lock")
        steps.do(FetchAdd(register, Const(of.members[target]), of.cell(steps.call, "lock"), change))


def _held(steps: Steps, of: Window) -> tuple[tuple[int, int], ...]:
    held = steps.recall(of.key("held"), ())
    assert isinstance(held, tuple)
    return held


def _contended(call: Call, of: Window) -> bool:
    return any(call.published(member, of.key("exclusive")) for member in of.members)


# Post, start, complete and wait: a cell per pair of ranks counts the posts, and one the completions. A start takes a
# post off, and a wait takes a completion off.


@calls("Win_post(MPI_Group group, int assert, MPI_Win win)")
def post(call: Call) -> Outcome:
    steps, of, origins = Steps(call), window(call, 2), group(call, 0)
    for origin in origins:
        steps.do(AwaitAdd(Const(origin), of.cell(call, "posted", call.rank), ">=", Const(0), Const(1)))
    steps.note(of.key("posted"), origins)
    return steps.outcome(SUCCESS)


@calls("Win_start(MPI_Group group, int assert, MPI_Win win)")
def start(call: Call) -> Outcome:
    steps, of, targets = Steps(call), window(call, 2), group(call, 0)
    for target in targets:
        steps.do(_take(call, of, "posted", target))
    steps.note(of.key("started"), targets)
    return steps.outcome(SUCCESS)


@calls("Win_complete(MPI_Win win)")
def complete(call: Call) -> Outcome:
    """Completes at the origin; each target is told behind the operations to it."""
    steps, of = Steps(call), window(call, 0)
    targets = _epoch(steps, of, "started", "MPI_Win_start")
    places = [of.members.index(target) for target in targets]
    steps.do(*(WaitLocal(queue) for queue in of.queues(steps, places)))
    for target, place in zip(targets, places, strict=True):
        queue = of.use(steps, place)
        steps.do(Notify("add", Const(1), Const(target), of.cell(call, "completed", call.rank), queue))
    return steps.outcome(SUCCESS)


@calls("Win_wait(MPI_Win win)")
def wait(call: Call) -> Outcome:
    steps, of = Steps(call), window(call, 0)
    for origin in _epoch(steps, of, "posted", "MPI_Win_post"):
        steps.do(_take(call, of, "completed", origin))
    return steps.outcome(SUCCESS)


@calls("Win_test(MPI_Win win, int *flag)")
def test(call: Call) -> list[Outcome]:
    """As a wait, or 0, which it may answer at any time."""
    steps, of = Steps(call), window(call, 0)
    for origin in _epoch(steps, of, "posted", "MPI_Win_post"):
        steps.do(_take(call, of, "completed", origin))
    address = call.pointer(1)
    if address is not None:
        steps.store(address, Known(1), INT)
    return [steps.outcome(SUCCESS), answer(call, (1, Known(0), INT))]


def _take(call: Call, of: Window, what: str, rank: int) -> AwaitAdd:
    return AwaitAdd(Const(call.rank), of.cell(call, what, rank), ">", Const(0), Const(-1))


def _epoch(steps: Steps, of: Window, what: str, opened_by: str) -> tuple[int, ...]:
    """The ranks of the epoch that is open, which ends here."""
    members = steps.recall(of.key(what))
    if not isinstance(members, tuple):
        steps.call.fail(f"{steps.call.name} without {opened_by}", f"{opened_by} has to come first on every way to here")
    steps.note(of.key(what), None)
    return members
