"""The environment, communicators, groups and memory (MPI-4, chapters 7, 9, 11)."""

from __future__ import annotations

from collections.abc import Callable

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.apis.call_steps import Steps, ends_all, refuse_freed
from pgasrob.frontends.apis.flags import Group, barrier, may_wait, waits_where_strict
from pgasrob.frontends.apis.interface import Call
from pgasrob.frontends.apis.mpi import rules
from pgasrob.frontends.apis.mpi.attributes import copied, copy_attributes
from pgasrob.frontends.apis.mpi.datatypes import entry
from pgasrob.frontends.apis.mpi.handles import NAMED, communicator, grid_of, group, group_of, pointer, published
from pgasrob.frontends.apis.mpi.header import (
    COMM,
    FUNCTIONS,
    GROUP,
    PROC_NULL,
    THREAD_MULTIPLE,
    UNDEFINED,
    calls,
    does,
    nothing,
    stores,
)
from pgasrob.frontends.apis.transfers import bounded, element
from pgasrob.frontends.c.libc.library_calls import unknown_value
from pgasrob.frontends.c.libc.reads import read_texts
from pgasrob.frontends.c.libc.string_functions import forget
from pgasrob.frontends.c.types import CHAR, INT, VOID, Pointer
from pgasrob.frontends.c.values import NULL, Handle
from pgasrob.program.assumptions import Kind

MOST_TEXT = 256
"""MPI_MAX_PROCESSOR_NAME, MPI_MAX_ERROR_STRING and MPI_MAX_LIBRARY_VERSION_STRING."""
FIXED = Kind.FIXED_ANSWERS
Members = tuple[int, ...]

# Without an effect on memory that a program shares
nothing("Op_free(MPI_Op *op); Buffer_attach(void *buffer, int size)")
nothing("Pcontrol(int level, ...)", Kind.HINTS)
stores("Is_thread_main(int *flag)", INT, lambda call: not call.thread)
stores("Query_thread(int *provided)", INT, THREAD_MULTIPLE, FIXED)
stores("Error_class(int errorcode, int *errorclass)", INT, lambda call: call.arguments[0])
stores(
    "Alloc_mem(MPI_Aint size, MPI_Info info, void *baseptr)",
    Pointer(VOID),
    lambda call: call.allocate("heap", call.known(0)),
)
calls("Abort(MPI_Comm comm, int errorcode)")(ends_all)
FUNCTIONS.returns("double MPI_Wtime(void)", lambda call: call.clock())
FUNCTIONS.returns("double MPI_Wtick(void)", lambda call: call.clock())


@does("Free_mem(void *base)")
def free_mem(call: Call, steps: Steps) -> None:
    call.rests_on(Kind.FREED_MEMORY, call.name)
    if (address := call.pointer(0)) is not None:
        refuse_freed(call, address, f"{call.name} of memory")
        steps.free(address, rules.MEMORY_FREED)


@does("Comm_set_name(MPI_Comm comm, const char *name)")
def set_name(call: Call, steps: Steps) -> None:
    read_texts(call, 1)
    steps.note(NAMED, True)


@does("Comm_get_name(MPI_Comm comm, char *name, int *resultlen); "
      "Win_get_name(MPI_Win win, char *name, int *resultlen)")  # fmt: skip
def name(call: Call, steps: Steps) -> None:
    """An empty string, of what the program has not named."""
    if steps.recall(NAMED):
        call.fail(
            Wrong.CALL_LIMIT, f"{call.name} behind MPI_Comm_set_name or MPI_Win_set_name", "keep the name in a variable"
        )
    call.rests_on(FIXED, call.name)
    steps.answer(1, 0, CHAR)
    steps.answer(2, 0, INT)


@does("Get_processor_name(char *name, int *resultlen); Get_library_version(char *version, int *resultlen); "
      "Error_string(int errorcode, char *string, int *resultlen)")  # fmt: skip
def text(call: Call, steps: Steps) -> None:
    """What the machine or the library says of itself, which is not known; there is room for all of it (MPI-4, section
    9.1.2)."""
    to = pointer(call, len(call.arguments) - 2)
    forget(call, to, MOST_TEXT)
    steps.answer(len(call.arguments) - 1, unknown_value(call, (0, MOST_TEXT - 1)), INT)


@does("Get_version(int *version, int *subversion)")
def version(call: Call, steps: Steps) -> None:
    call.rests_on(FIXED, call.name)
    steps.answer(0, 3, INT)
    steps.answer(1, 1, INT)


# Communicators. The key of a new one is its parent's key and how many have been made of the parent before, which is the
# same in all members: making one is collective.


@does("Comm_rank(MPI_Comm comm, int *rank)")
def comm_rank(call: Call, steps: Steps) -> None:
    of = communicator(call, 0)
    everyone = of.members == call.everyone
    if everyone:
        call.gets_rank(call.pointer(1))
    steps.answer(1, call.me if everyone else of.place(call.rank), INT)


@does("Comm_size(MPI_Comm comm, int *size)")
def comm_size(call: Call, steps: Steps) -> None:
    of = communicator(call, 0)
    steps.answer(1, call.count if of.members == call.everyone else len(of.members), INT)


@does("Comm_dup(MPI_Comm comm, MPI_Comm *newcomm)")
def comm_dup(call: Call, steps: Steps) -> None:
    parent, attributes = communicator(call, 0), copied(call, call.arguments[0])
    copy = made(steps, parent, parent.members, grid=grid_of(call, 0))
    copy_attributes(steps, copy, attributes)
    steps.store(pointer(call, 1), copy, COMM)


@does("Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *newcomm)")
def comm_split(call: Call, steps: Steps) -> None:
    """All ranks must know the colours of all, so they wait for each other."""
    call.rests_on(Kind.CREATION_WAITS, call.name)
    parent, own = communicator(call, 0), (call.known(1), call.known(2))
    split = f"{parent.name('split')}.{steps.recall(parent.name('made'), 0)}"
    call.publish(split, own)
    barrier(steps, parent)
    chosen = []
    for place, member in enumerate(parent.members):
        other = own if member == call.rank else published(call, member, split, "the colour")
        if isinstance(other, tuple) and other[0] == own[0]:
            chosen.append((other[1], place, member))
    members = tuple(member for _, _, member in sorted(chosen))
    part = made(steps, parent, members, own[0])
    steps.store(pointer(call, 3), NULL if own[0] == UNDEFINED else part, COMM)


@does("Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm *newcomm)")
def comm_split_type(call: Call, steps: Steps) -> None:
    """Split into the ranks that share memory. They keep the order of the parent, whatever the keys are."""
    parent, kind = communicator(call, 0), call.known(1)
    if kind == UNDEFINED:
        may_wait(steps, parent)
        steps.store(pointer(call, 4), NULL, COMM)
        return
    together = call.neighbours()
    members = tuple(member for member in parent.members if member in together)
    steps.store(pointer(call, 4), made(steps, parent, members, members[0]), COMM)


@does("Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm)")
def comm_create(call: Call, steps: Steps) -> None:
    parent, members = communicator(call, 0), group(call, 1)
    part = made(steps, parent, members, *members)
    steps.store(pointer(call, 2), part if call.rank in members else NULL, COMM)


@does("Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *newcomm)")
def comm_create_group(call: Call, steps: Steps) -> None:
    """Collective over the group alone (7.4.2), so it has a count of its own: others of the parent do not call it."""
    parent, members = communicator(call, 0), group(call, 1)
    own = Group((*parent.key, "group", call.known(2), *members), members)
    steps.store(pointer(call, 3), made(steps, own, members) if call.rank in members else NULL, COMM)


def made(
    steps: Steps,
    parent: Group,
    members: tuple[int, ...],
    *key: int,
    grid: tuple[tuple[int, int], ...] | None = None,
) -> Handle:
    """The next communicator that is made of ``parent``, by its members, with a ``grid`` if it has one."""
    if steps.call.name != "MPI_Comm_split":  # in which all wait for all
        may_wait(steps, parent)
    more = () if grid is None else (grid,)
    return Handle("comm", ((*parent.key[1:], "made", steps.count(parent.name("made")), *key), members, *more))


@does("Comm_free(MPI_Comm *comm); Comm_disconnect(MPI_Comm *comm)")
def comm_free(call: Call, steps: Steps) -> None:
    """It may wait for all members (7.4.3)."""
    address = pointer(call, 0)
    freed = call.load(address, COMM)
    if isinstance(freed, Handle) and len(freed.data) > 1:  # else it is there from the beginning
        key, members, *_ = freed.data
        assert isinstance(key, tuple)
        waits_where_strict(steps, group_of(("mpi", *key), members))
    steps.store(address, NULL, COMM)


stores(
    "Comm_group(MPI_Comm comm, MPI_Group *group)", GROUP, lambda call: Handle("group", (communicator(call, 0).members,))
)


# Groups


def makes_group(prototypes: str) -> Callable[[Callable[[Call], Members]], Callable[[Call], Members]]:
    """A decorator: the function gives the members of the group that goes where the last argument points to."""

    def add(members: Callable[[Call], Members]) -> Callable[[Call], Members]:
        stores(prototypes, GROUP, lambda call: Handle("group", (members(call),)))
        return members

    return add


@makes_group("Group_incl(MPI_Group group, int n, const int *ranks, MPI_Group *newgroup)")
def group_incl(call: Call) -> Members:
    members = group(call, 0)
    return tuple(members[place] for place in _places(call, 1, 2, members))


@makes_group("Group_excl(MPI_Group group, int n, const int *ranks, MPI_Group *newgroup)")
def group_excl(call: Call) -> Members:
    members = group(call, 0)
    left_out = _places(call, 1, 2, members)
    return tuple(member for place, member in enumerate(members) if place not in left_out)


@makes_group("Group_union(MPI_Group one, MPI_Group other, MPI_Group *newgroup)")
def group_union(call: Call) -> Members:
    one, other = group(call, 0), group(call, 1)
    return (*one, *(member for member in other if member not in one))


@makes_group("""
    Group_intersection(MPI_Group one, MPI_Group other, MPI_Group *newgroup);
    Group_difference(MPI_Group one, MPI_Group other, MPI_Group *newgroup)
""")
def group_part(call: Call) -> Members:
    one, other = group(call, 0), group(call, 1)
    both = call.name.endswith("intersection")
    return tuple(member for member in one if (member in other) == both)


def _places(call: Call, count: int, array: int, members: tuple[int, ...], *others: int) -> list[int]:
    """An array of ranks within a group, or of ``others``."""
    places = []
    for index in range(bounded(call, count)):
        place = entry(call, array, index, INT)
        if not 0 <= place < len(members) and place not in others:
            call.fail(Wrong.RANK, f"{call.name} with rank {place} of {len(members)}", "ranks count from 0 in the group")
        places.append(place)
    return places


stores("Group_size(MPI_Group group, int *size)", INT, lambda call: len(group(call, 0)))
stores("Group_free(MPI_Group *group)", GROUP, NULL)


@does("Group_rank(MPI_Group group, int *rank)")
def group_rank(call: Call, steps: Steps) -> None:
    members = group(call, 0)
    steps.answer(1, members.index(call.rank) if call.rank in members else UNDEFINED, INT)


@does("Group_translate_ranks(MPI_Group one, int n, const int *ranks, MPI_Group other, int *places)")
def group_translate_ranks(call: Call, steps: Steps) -> None:
    one, other = group(call, 0), group(call, 3)
    for n, place in enumerate(_places(call, 1, 2, one, PROC_NULL)):
        found = place if place == PROC_NULL else other.index(one[place]) if one[place] in other else UNDEFINED
        steps.store(element(call, pointer(call, 4), n, INT), found, INT)


@does("""
    Group_compare(MPI_Group one, MPI_Group other, int *result); Comm_compare(MPI_Comm one, MPI_Comm other, int *result)
""")
def compare(call: Call, steps: Steps) -> None:
    """MPI_IDENT, MPI_CONGRUENT for other communicators of the same ranks, MPI_SIMILAR in another order, or
    MPI_UNEQUAL."""
    of_groups = call.name == "MPI_Group_compare"
    one, other = (group(call, n) if of_groups else communicator(call, n).members for n in (0, 1))
    same = of_groups or call.arguments[0] == call.arguments[1]
    steps.answer(2, (0 if same else 1) if one == other else 2 if {*one} == {*other} else 3, INT)
