"""The environment, communicators, groups and memory (MPI-4, chapters 7, 9, 11)."""

from __future__ import annotations

from pgasrob.frontends.apis.flags import Group, barrier, in_order
from pgasrob.frontends.apis.interface import Call, Outcome
from pgasrob.frontends.apis.mpi.datatypes import entry
from pgasrob.frontends.apis.mpi.handles import (
    SUCCESS,
    answer,
    communicator,
    group,
    pointer,
    told,
)
from pgasrob.frontends.apis.mpi.header import (
    COMM,
    FUNCTIONS,
    GROUP,
    OPAQUE,
    PROC_NULL,
    UNDEFINED,
    calls,
)
from pgasrob.frontends.apis.transfers import Steps, bounded, element, ends_all
from pgasrob.frontends.c.libc.reads import read_texts
from pgasrob.frontends.c.types import CHAR, INT, VOID, Pointer
from pgasrob.frontends.c.values import NULL, Handle, Known
from pgasrob.program.assumptions import Kind
from pgasrob.program.expressions import float_bits

MULTIPLE = 3
TAG_UB, MOST_TAG = 0, 2**31 - 1
"""An attribute of communicators, and its value."""


@calls("""
    Init(int *argc, char ***argv); Finalize(void); Pcontrol(int level, ...);
    Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler); Comm_set_name(MPI_Comm comm, const char *name);
    Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler); Errhandler_free(MPI_Errhandler *errhandler);
    Info_delete(MPI_Info info, const char *key); Op_free(MPI_Op *op);
    Free_mem(void *base); Buffer_attach(void *buffer, int size)
""")
def nothing(call: Call) -> Outcome:
    """What has no effect on memory that a program shares."""
    if call.name in ("MPI_Comm_set_name", "MPI_Info_delete"):
        read_texts(call, 1)
    if call.name == "MPI_Free_mem":
        call.rests_on(Kind.FREED_MEMORY, call.name)
    if call.name == "MPI_Pcontrol":
        call.rests_on(Kind.HINTS, call.name)
    return Outcome(result=SUCCESS)


@calls("Info_set(MPI_Info info, const char *key, const char *value)")
def info_set(call: Call) -> Outcome:
    """Hints say how a program behaves, and one takes a promise of MPI away (MPI-4, section 12.2.1)."""
    read_texts(call, 1, 2)
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
    return ends_all(call)


@FUNCTIONS.calls("double MPI_Wtime(void)")
def wtime(call: Call) -> Outcome:
    return Outcome(result=call.clock())


@FUNCTIONS.calls("double MPI_Wtick(void)")
def wtick(call: Call) -> Outcome:
    call.rests_on(Kind.FIXED_ANSWERS, call.name)
    return Outcome(result=Known(float_bits(1e-9)))


@calls("""
    Get_processor_name(char *name, int *resultlen); Get_library_version(char *version, int *resultlen);
    Comm_get_name(MPI_Comm comm, char *name, int *resultlen);
    Win_get_name(MPI_Win win, char *name, int *resultlen); Error_string(int errorcode, char *string, int *resultlen)
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


@calls("Info_dup(MPI_Info info, MPI_Info *newinfo)")
def info_dup(call: Call) -> Outcome:
    return answer(call, (1, Handle("info"), OPAQUE["Info"]))


@calls("Info_get(MPI_Info info, const char *key, int valuelen, char *value, int *flag)")
def info_get(call: Call) -> Outcome:
    """An implementation need not keep any hint."""
    read_texts(call, 1)
    call.rests_on(Kind.FIXED_ANSWERS, call.name)
    return answer(call, (4, Known(0), INT))


@calls("""
    Comm_get_attr(MPI_Comm comm, int keyval, void *attribute_val, int *flag);
    Attr_get(MPI_Comm comm, int keyval, void *attribute_val, int *flag)
""")
def comm_get_attr(call: Call) -> Outcome:
    """MPI_TAG_UB as a pointer to it; the others need not be set (MPI-4, section 11.1.2)."""
    call.rests_on(Kind.FIXED_ANSWERS, call.name)
    if call.known(1) != TAG_UB:
        return answer(call, (3, Known(0), INT))
    place, steps = call.allocate("heap", 8, "attribute", asked_for=False), Steps(call)
    steps.store(place, Known(MOST_TAG), INT)
    steps.store(pointer(call, 2), place, Pointer(VOID))
    steps.store(pointer(call, 3), Known(1), INT)
    return steps.outcome(SUCCESS)


@calls("""
    Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler *errhandler);
    Win_get_errhandler(MPI_Win win, MPI_Errhandler *errhandler)
""")
def get_errhandler(call: Call) -> Outcome:
    return answer(call, (1, Handle("errhandler", ("got",)), OPAQUE["Errhandler"]))


@calls("Error_class(int errorcode, int *errorclass)")
def error_class(call: Call) -> Outcome:
    return answer(call, (1, call.arguments[0], INT))


@calls("Alloc_mem(MPI_Aint size, MPI_Info info, void *baseptr)")
def alloc_mem(call: Call) -> Outcome:
    return answer(call, (2, call.allocate("heap", call.known(0)), Pointer(VOID)))


# Communicators. A new one is told apart by its parent's key and how many have been made of the parent before, which is
# the same in all members: making one is collective.


@calls("Comm_rank(MPI_Comm comm, int *rank)")
def comm_rank(call: Call) -> Outcome:
    of = communicator(call, 0)
    if of.members == call.everyone:
        call.gets_rank(call.pointer(1))
        return answer(call, (1, call.me, INT))
    return answer(call, (1, Known(of.place(call.rank)), INT))


@calls("Comm_size(MPI_Comm comm, int *size)")
def comm_size(call: Call) -> Outcome:
    of = communicator(call, 0)
    return answer(call, (1, call.count if of.members == call.everyone else Known(len(of.members)), INT))


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
    """By nodes: those that share memory. The order within one is that of the parent, whatever the keys are."""
    steps, parent, kind = Steps(call), communicator(call, 0), call.known(1)
    if kind == UNDEFINED:
        in_order(steps, parent)
        steps.store(pointer(call, 4), NULL, COMM)
        return steps.outcome(SUCCESS)
    together = call.neighbours()
    members = tuple(member for member in parent.members if member in together)
    steps.store(pointer(call, 4), _made(steps, parent, members, members[0]), COMM)
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
    if steps.call.name != "MPI_Comm_split":  # which meets
        in_order(steps, parent)
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


def _places(call: Call, count: int, array: int, members: tuple[int, ...], *others: int) -> list[int]:
    """An array of ranks within a group, or of ``others``."""
    places = []
    for index in range(bounded(call, count)):
        place = entry(call, array, index, INT)
        if not 0 <= place < len(members) and place not in others:
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


@calls("Group_translate_ranks(MPI_Group one, int n, const int *ranks, MPI_Group other, int *places)")
def group_translate_ranks(call: Call) -> Outcome:
    one, other, steps = group(call, 0), group(call, 3), Steps(call)
    for n, place in enumerate(_places(call, 1, 2, one, PROC_NULL)):
        found = place if place == PROC_NULL else other.index(one[place]) if one[place] in other else UNDEFINED
        steps.store(element(call, pointer(call, 4), n, INT), Known(found), INT)
    return steps.outcome(SUCCESS)


@calls("""
    Group_union(MPI_Group one, MPI_Group other, MPI_Group *newgroup);
    Group_intersection(MPI_Group one, MPI_Group other, MPI_Group *newgroup);
    Group_difference(MPI_Group one, MPI_Group other, MPI_Group *newgroup)
""")
def group_of_two(call: Call) -> Outcome:
    one, other = group(call, 0), group(call, 1)
    if call.name.endswith("union"):
        return _new_group(call, 2, (*one, *(member for member in other if member not in one)))
    both = call.name.endswith("intersection")
    return _new_group(call, 2, tuple(member for member in one if (member in other) == both))


@calls("""
    Group_compare(MPI_Group one, MPI_Group other, int *result); Comm_compare(MPI_Comm one, MPI_Comm other, int *result)
""")
def compare(call: Call) -> Outcome:
    """MPI_IDENT, MPI_CONGRUENT for other communicators of the same ranks, MPI_SIMILAR in another order, or
    MPI_UNEQUAL."""
    of_groups = call.name == "MPI_Group_compare"
    one, other = (group(call, n) if of_groups else communicator(call, n).members for n in (0, 1))
    same = of_groups or call.arguments[0] == call.arguments[1]
    result = (0 if same else 1) if one == other else 2 if {*one} == {*other} else 3
    return answer(call, (2, Known(result), INT))


@calls("Group_free(MPI_Group *group)")
def group_free(call: Call) -> Outcome:
    return answer(call, (0, NULL, GROUP))
