"""The environment, communicators, groups, datatypes and memory (MPI-4, chapters 5, 7, 9, 11)."""

from __future__ import annotations

from pgasrob.frontends.apis.flags import Group, barrier
from pgasrob.frontends.apis.interface import Call, Outcome
from pgasrob.frontends.apis.mpi.handles import (
    SUCCESS,
    Datatype,
    answer,
    communicator,
    datatype,
    group,
    pointer,
    size,
    told,
)
from pgasrob.frontends.apis.mpi.names import (
    COMM,
    DATATYPE,
    FUNCTIONS,
    GROUP,
    OPAQUE,
    UNDEFINED,
    calls,
)
from pgasrob.frontends.apis.transfers import MOST, Steps, bounded, element
from pgasrob.frontends.c.types import CHAR, INT, LONG, VOID, Pointer
from pgasrob.frontends.c.values import NULL, Handle, Known
from pgasrob.program.assumptions import Kind
from pgasrob.program.expressions import float_bits

MULTIPLE = 3


@calls("""
    Init(int *argc, char ***argv); Finalize(void); Pcontrol(int level, ...);
    Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler); Comm_set_name(MPI_Comm comm, const char *name);
    Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler); Errhandler_free(MPI_Errhandler *errhandler);
    Type_commit(MPI_Datatype *datatype);
    Free_mem(void *base); Buffer_attach(void *buffer, int size)
""")
def nothing(call: Call) -> Outcome:
    """What has no effect on memory that a program shares."""
    if call.name == "MPI_Free_mem":
        call.rests_on(Kind.FREED_MEMORY, call.name)
    return Outcome(result=SUCCESS)


@calls("Info_set(MPI_Info info, const char *key, const char *value)")
def info_set(call: Call) -> Outcome:
    """Hints say how a program behaves, and one takes a promise of MPI away (MPI-4, section 12.2.1)."""
    key, value = (_text(call, index) for index in (1, 2))
    if key == "accumulate_ordering" and value != "rar,raw,war,waw":
        call.fail(
            f"accumulates that are ordered by `{value}` alone",
            "leave the default: accumulates of one origin to one location in program order",
        )
    call.rests_on(Kind.HINTS, call.name)
    return Outcome(result=SUCCESS)


def _text(call: Call, index: int) -> str:
    """A string that is a literal; anything else is shown as written."""
    address = call.pointer(index)
    if address is not None and address.object.kind == "string" and isinstance(address.object.number, tuple):
        return str(address.object.number[0])
    return call.texts[index]


@calls("Init_thread(int *argc, char ***argv, int required, int *provided)")
def init_thread(call: Call) -> Outcome:
    call.rests_on(Kind.THREAD_LEVEL, call.name)
    return answer(call, (3, Known(call.known(2)), INT))


@calls("Initialized(int *flag); Is_thread_main(int *flag)")
def yes(call: Call) -> Outcome:
    call.rests_on(Kind.FIXED_ANSWERS, call.name)
    return answer(call, (0, Known(1), INT))


@calls("Finalized(int *flag)")
def no(call: Call) -> Outcome:
    call.rests_on(Kind.FIXED_ANSWERS, call.name)
    return answer(call, (0, Known(0), INT))


@calls("Query_thread(int *provided)")
def query_thread(call: Call) -> Outcome:
    call.rests_on(Kind.FIXED_ANSWERS, call.name)
    return answer(call, (0, Known(MULTIPLE), INT))


@calls("Abort(MPI_Comm comm, int errorcode)")
def abort(call: Call) -> Outcome:
    call.rests_on(Kind.ENDS_ONE_RANK, call.name)
    return Outcome(ends=True)


@FUNCTIONS.calls("double MPI_Wtime(void)")
def wtime(call: Call) -> Outcome:
    return Outcome(result=call.clock())


@FUNCTIONS.calls("double MPI_Wtick(void)")
def wtick(call: Call) -> Outcome:
    call.rests_on(Kind.FIXED_ANSWERS, call.name)
    return Outcome(result=Known(float_bits(1e-9)))


@calls("""
    Get_processor_name(char *name, int *resultlen); Get_library_version(char *version, int *resultlen);
    Comm_get_name(MPI_Comm comm, char *name, int *resultlen); Error_string(int errorcode, char *string, int *resultlen)
""")
def text(call: Call) -> Outcome:
    """An empty string."""
    call.rests_on(Kind.FIXED_ANSWERS, call.name)
    last = len(call.arguments) - 1
    return answer(call, (last - 1, Known(0), CHAR), (last, Known(0), INT))


@calls("Get_version(int *version, int *subversion)")
def version(call: Call) -> Outcome:
    call.rests_on(Kind.FIXED_ANSWERS, call.name)
    return answer(call, (0, Known(3), INT), (1, Known(1), INT))


@calls("Info_create(MPI_Info *info)")
def info_create(call: Call) -> Outcome:
    return answer(call, (0, Handle("info"), OPAQUE["Info"]))


@calls("Info_free(MPI_Info *info)")
def info_free(call: Call) -> Outcome:
    return answer(call, (0, NULL, OPAQUE["Info"]))


@calls("Alloc_mem(MPI_Aint size, MPI_Info info, void *baseptr)")
def alloc_mem(call: Call) -> Outcome:
    return answer(call, (2, call.allocate("heap", call.known(0)), Pointer(VOID)))


# Communicators. A new one is told apart by its parent's key and how many have been made of the parent before, which is
# the same in all members: making one is collective.


@calls("Comm_rank(MPI_Comm comm, int *rank)")
def comm_rank(call: Call) -> Outcome:
    of = communicator(call, 0)
    if of.members == tuple(range(call.nodes)):
        call.gets_rank(call.pointer(1))
    return answer(call, (1, Known(of.place(call.rank)), INT))


@calls("Comm_size(MPI_Comm comm, int *size)")
def comm_size(call: Call) -> Outcome:
    return answer(call, (1, Known(len(communicator(call, 0).members)), INT))


@calls("Comm_dup(MPI_Comm comm, MPI_Comm *newcomm)")
def comm_dup(call: Call) -> Outcome:
    steps, parent = Steps(call), communicator(call, 0)
    steps.store(pointer(call, 1), _made(steps, parent, parent.members), COMM)
    return steps.outcome(SUCCESS)


@calls("Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *newcomm)")
def comm_split(call: Call) -> Outcome:
    """Everybody must know the colours of all, so all meet."""
    call.rests_on(Kind.CREATION_WAITS, call.name)
    steps, parent = Steps(call), communicator(call, 0)
    own = (call.known(1), call.known(2))
    split = f"{parent.name('split')}.{steps.recall(parent.name('made'), 0)}"
    call.publish(split, own)
    barrier(steps, parent)
    chosen = []
    for place, member in enumerate(parent.members):
        other = own if member == call.rank else told(call, member, split, "the colour")
        if isinstance(other, tuple) and other[0] == own[0]:
            chosen.append((other[1], place, member))
    members = tuple(member for _, _, member in sorted(chosen))
    made = _made(steps, parent, members, own[0])
    steps.store(pointer(call, 3), NULL if own[0] == UNDEFINED else made, COMM)
    return steps.outcome(SUCCESS)


@calls("Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm *newcomm)")
def comm_split_type(call: Call) -> Outcome:
    """No two ranks share memory here."""
    call.rests_on(Kind.SEPARATE_MEMORY, call.name)
    steps, parent = Steps(call), communicator(call, 0)
    steps.store(pointer(call, 4), _made(steps, parent, (call.rank,), call.rank), COMM)
    return steps.outcome(SUCCESS)


@calls("Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm)")
def comm_create(call: Call) -> Outcome:
    steps, parent, members = Steps(call), communicator(call, 0), group(call, 1)
    made = _made(steps, parent, members, *members)
    steps.store(pointer(call, 2), made if call.rank in members else NULL, COMM)
    return steps.outcome(SUCCESS)


@calls("Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *newcomm)")
def comm_create_group(call: Call) -> Outcome:
    """Collective over the group alone (7.4.2), so it has a count of its own: others of the parent do not call it."""
    steps, parent, members = Steps(call), communicator(call, 0), group(call, 1)
    own = Group((*parent.key, "group", call.known(2), *members), members)
    steps.store(pointer(call, 3), _made(steps, own, members) if call.rank in members else NULL, COMM)
    return steps.outcome(SUCCESS)


def _made(steps: Steps, parent: Group, members: tuple[int, ...], *key: int) -> Handle:
    """The next communicator that is made of ``parent``, by its members."""
    return Handle("comm", ((*parent.key[1:], "made", steps.count(parent.name("made")), *key), members))


@calls("Comm_free(MPI_Comm *comm); Comm_disconnect(MPI_Comm *comm)")
def comm_free(call: Call) -> Outcome:
    return answer(call, (0, NULL, COMM))


@calls("Comm_group(MPI_Comm comm, MPI_Group *group)")
def comm_group(call: Call) -> Outcome:
    return answer(call, (1, Handle("group", (communicator(call, 0).members,)), GROUP))


# Groups


@calls("Group_incl(MPI_Group group, int n, const int *ranks, MPI_Group *newgroup)")
def group_incl(call: Call) -> Outcome:
    members = group(call, 0)
    return _new_group(call, 3, tuple(members[place] for place in _places(call, 1, 2, members)))


@calls("Group_excl(MPI_Group group, int n, const int *ranks, MPI_Group *newgroup)")
def group_excl(call: Call) -> Outcome:
    members = group(call, 0)
    left_out = _places(call, 1, 2, members)
    return _new_group(call, 3, tuple(member for place, member in enumerate(members) if place not in left_out))


def _places(call: Call, count: int, array: int, members: tuple[int, ...]) -> list[int]:
    """An array of ranks within a group."""
    places = []
    for index in range(bounded(call, count)):
        place = _entry(call, array, index)
        if not 0 <= place < len(members):
            call.fail(f"{call.name} with rank {place} of {len(members)}", "ranks count from 0 in the group")
        places.append(place)
    return places


def _new_group(call: Call, index: int, members: tuple[int, ...]) -> Outcome:
    return answer(call, (index, Handle("group", (members,)), GROUP))


@calls("Group_size(MPI_Group group, int *size)")
def group_size(call: Call) -> Outcome:
    return answer(call, (1, Known(len(group(call, 0))), INT))


@calls("Group_rank(MPI_Group group, int *rank)")
def group_rank(call: Call) -> Outcome:
    members = group(call, 0)
    return answer(call, (1, Known(members.index(call.rank) if call.rank in members else UNDEFINED), INT))


@calls("Group_free(MPI_Group *group)")
def group_free(call: Call) -> Outcome:
    return answer(call, (0, NULL, GROUP))


# Datatypes: repetitions of basic ones


@calls("Type_size(MPI_Datatype datatype, int *size)")
def type_size(call: Call) -> Outcome:
    type = datatype(call, 0)
    return answer(call, (1, Known(size(call, type) * len(type.displacements)), INT))


@calls("Type_extent(MPI_Datatype datatype, MPI_Aint *extent)")
def type_extent(call: Call) -> Outcome:
    return answer(call, (1, Known(datatype(call, 0).extent), LONG))


@calls("Type_get_extent(MPI_Datatype datatype, MPI_Aint *lb, MPI_Aint *extent)")
def type_get_extent(call: Call) -> Outcome:
    return answer(call, (1, Known(0), LONG), (2, Known(datatype(call, 0).extent), LONG))


@calls("Type_contiguous(int count, MPI_Datatype oldtype, MPI_Datatype *newtype)")
def type_contiguous(call: Call) -> Outcome:
    old, count = datatype(call, 1), bounded(call, 0)
    return _new_type(call, 2, old, list(range(count)), count)


@calls("""
    Type_vector(int count, int blocklength, int stride, MPI_Datatype oldtype, MPI_Datatype *newtype)
""")
def type_vector(call: Call) -> Outcome:
    count, block, stride = bounded(call, 0), bounded(call, 1), call.known(2)
    items = [first * stride + index for first in range(count) for index in range(block)]
    return _new_type(call, 4, datatype(call, 3), items, max(items, default=-1) + 1)


@calls("""
    Type_indexed(int count, const int *blocklengths, const int *displacements, MPI_Datatype oldtype,
        MPI_Datatype *newtype)
""")
def type_indexed(call: Call) -> Outcome:
    items: list[int] = []
    for index in range(bounded(call, 0)):
        length, first = (_entry(call, array, index) for array in (1, 2))
        if not 0 <= length <= MOST:
            call.fail(f"{call.name} with a block of {length} elements", f"blocks have 0 to {MOST} elements")
        items += range(first, first + length)
    return _new_type(call, 4, datatype(call, 3), items, max(items, default=-1) + 1)


def _entry(call: Call, array: int, index: int) -> int:
    value = call.load(element(call, pointer(call, array), index, INT), INT)
    if not isinstance(value, Known):
        call.fail(f"{call.name} with an array that is not known here", "compute it from ranks and constants")
    return value.value


def _new_type(call: Call, index: int, old: Datatype, items: list[int], extent: int) -> Outcome:
    """A type of ``items`` of an old one; the extent counts items too."""
    if len(items) * len(old.displacements) > MOST:
        call.fail(f"{call.name} of more than {MOST} elements", "few elements are enough to show a mistake")
    places = tuple(item * old.extent + place for item in items for place in old.displacements)
    return answer(call, (index, Datatype(old.name, extent * old.extent, places).handle(), DATATYPE))


@calls("Type_create_resized(MPI_Datatype oldtype, MPI_Aint lb, MPI_Aint extent, MPI_Datatype *newtype)")
def type_resized(call: Call) -> Outcome:
    old = datatype(call, 0)
    if call.known(1):
        call.fail("MPI_Type_create_resized with a lower bound", "use a lower bound of 0")
    return answer(call, (3, Datatype(old.name, call.known(2), old.displacements).handle(), DATATYPE))


@calls("Type_free(MPI_Datatype *datatype)")
def type_free(call: Call) -> Outcome:
    return answer(call, (0, NULL, DATATYPE))
