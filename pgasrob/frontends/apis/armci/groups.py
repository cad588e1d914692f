"""ARMCI's groups of processes (`ARMCI_Group_...`), their memory and their collectives.

A group is a handle with its members, in absolute numbers, and a number that tells those of the same members apart,
which all members give alike; that of all processes which is there from the beginning has 0. Members are numbered in the
parent group from which the group is made, the default one being that of all processes until the program says otherwise.

The state of a rank: ``armci.default`` its default group, ``armci.groups`` the groups that it has made and not freed,
``armci.allocated...`` how often it has allocated memory with a group.
"""

from __future__ import annotations

from functools import partial
from itertools import count
from typing import cast

from pgasrob.frontends.apis import flags
from pgasrob.frontends.apis.armci import queues
from pgasrob.frontends.apis.armci.header import GROUP
from pgasrob.frontends.apis.armci.setup import REDUCED, reduction
from pgasrob.frontends.apis.call_arguments import integers, member_in, target
from pgasrob.frontends.apis.flags import Group
from pgasrob.frontends.apis.interface import Address, Call, Outcome
from pgasrob.frontends.apis.prototypes import Prototypes
from pgasrob.frontends.apis.transfers import Steps
from pgasrob.frontends.c.types import INT, VOID, CType, Pointer
from pgasrob.frontends.c.values import NULL, Handle, Known
from pgasrob.program.assumptions import Kind
from pgasrob.program.expressions import Const

PROTOTYPES = Prototypes()
OK = Known(0)
DEFAULT = "armci.default"

MADE = "armci.groups"

Members = tuple[int, ...]
Made = tuple[int, Members]
"""A group: its number among those of its members."""


def _made_group(call: Call, index: int) -> Made:
    """The group that argument ``index`` points to."""
    value = call.load(target(call, index), GROUP)
    if not isinstance(value, Handle) or value.kind != "armci.group":
        call.fail(f"{call.texts[index]} points to no group here", "make one with ARMCI_Group_create first")
    return cast(Made, value.data)


def _members(call: Call, index: int) -> Members:
    return _made_group(call, index)[1]


def _default(call: Call) -> Made:
    return cast(Made, call.state.get(DEFAULT, (0, call.everyone)))


def _live(call: Call) -> tuple[Made, ...]:
    return cast("tuple[Made, ...]", call.state.get(MADE, ()))


def _group(call: Call, index: int) -> Group:
    """The group of a collective call."""
    number, members = _made_group(call, index)
    if call.rank not in members:
        call.fail(
            f"process {call.rank} calls {call.name} and is not of the group {', '.join(map(str, members))}",
            "only members of a group may call its collectives",
        )
    return Group(("armci", *members, "group", number) if number else ("armci", *members), members)


def _made(call: Call, out: int, parent: Members) -> Outcome:
    """The group of the processes that the first two arguments list."""
    places = integers(call, 1, call.known(0), INT)
    if any(not 0 <= place < len(parent) for place in places) or len({*places}) < len(places):
        listed = ", ".join(map(str, places))
        call.fail(f"processes {listed} of a group of {len(parent)}", "list members of the parent group, each once")
    steps, members = Steps(call), tuple(parent[place] for place in places)
    made = next((number, members) for number in count(1) if (number, members) not in _live(call))
    steps.store(target(call, out), Handle("armci.group", made), GROUP)
    steps.note(MADE, tuple(sorted((*_live(call), made))))
    return steps.outcome()


@PROTOTYPES.calls("void ARMCI_Group_create(int n, int *processes, ARMCI_Group *group);")
def create(call: Call) -> Outcome:
    return _made(call, 2, _default(call)[1])


@PROTOTYPES.calls("void ARMCI_Group_create_child(int n, int *processes, ARMCI_Group *group, ARMCI_Group *parent);")
def create_child(call: Call) -> Outcome:
    return _made(call, 2, _members(call, 3))


@PROTOTYPES.calls("void ARMCI_Group_free(ARMCI_Group *group);")
def free(call: Call) -> Outcome:
    freed = _made_group(call, 0)
    return Outcome(state={MADE: tuple(each for each in _live(call) if each != freed)})


@PROTOTYPES.calls("int ARMCI_Group_rank(ARMCI_Group *group, int *rank);")
def rank(call: Call) -> Outcome:
    """Who is not of the group is -1 there."""
    members, steps = _members(call, 0), Steps(call)
    steps.store(target(call, 1), Known(members.index(call.rank) if call.rank in members else -1), INT)
    return steps.outcome(OK)


@PROTOTYPES.calls("void ARMCI_Group_size(ARMCI_Group *group, int *size);")
def size(call: Call) -> Outcome:
    steps = Steps(call)
    steps.store(target(call, 1), Known(len(_members(call, 0))), INT)
    return steps.outcome()


@PROTOTYPES.calls("int ARMCI_Absolute_id(ARMCI_Group *group, int rank);")
def absolute(call: Call) -> Outcome:
    members, place = _members(call, 0), call.known(1)
    if not 0 <= place < len(members):
        call.fail(f"process {place} of a group of {len(members)}", f"processes 0 to {len(members) - 1} are there")
    return Outcome(result=Known(members[place]))


@PROTOTYPES.calls("void ARMCI_Group_set_default(ARMCI_Group *group);")
def set_default(call: Call) -> Outcome:
    return Outcome(state={DEFAULT: _made_group(call, 0)})


@PROTOTYPES.calls("void ARMCI_Group_get_default(ARMCI_Group *group); void ARMCI_Group_get_world(ARMCI_Group *group);")
def get(call: Call) -> Outcome:
    found = (0, call.everyone) if call.name.endswith("world") else _default(call)
    steps = Steps(call)
    steps.store(target(call, 0), Handle("armci.group", found), GROUP)
    return steps.outcome()


@PROTOTYPES.calls("int ARMCI_Uses_shm_grp(ARMCI_Group *group);")
def uses_shared_memory(call: Call) -> Outcome:
    members = _members(call, 0)
    return Outcome(result=Known(int(len([rank for rank in call.neighbours() if rank in members]) > 1)))


# Memory


@PROTOTYPES.calls("int ARMCI_Malloc_group(void **addresses, armci_size_t bytes, ARMCI_Group *group);")
def malloc(call: Call) -> Outcome:
    """As ARMCI_Malloc, with the addresses of the members in their order."""
    call.rests_on(Kind.CREATION_WAITS, call.name)
    table, asked, group = target(call, 0), call.known(1), _group(call, 2)
    steps = Steps(call)
    key = (*group.key, "memory", steps.count(group.name("allocated")))
    memory = call.allocate("segment", asked, member_in(call, 0) or "memory", key)
    name = ".".join(map(str, ("armci.size", *key)))
    call.publish(name, asked, by_all=True)
    flags.barrier(steps, group)
    for place, member in enumerate(group.members):
        there = asked if member == call.rank else call.published(member, name)
        owner = None if member == call.rank else member
        steps.store(
            call.moved(table, 8 * place), NULL if there == 0 else Address(memory.object, 0, owner), Pointer(VOID)
        )
    return steps.outcome(OK)


@PROTOTYPES.calls("int ARMCI_Free_group(void *address, ARMCI_Group *group);")
def free_memory(call: Call) -> Outcome:
    call.rests_on(Kind.FREED_MEMORY, call.name)
    _members(call, 1)
    return Outcome(result=OK)


# Completion and collectives


@PROTOTYPES.calls("void ARMCI_GroupFence(ARMCI_Group *group);")
def fence(call: Call) -> Outcome:
    """Every put and accumulate to the members is complete there."""
    steps = Steps(call)
    for member in _members(call, 0):
        queues.fence(steps, Const(member))
    return steps.outcome()


@PROTOTYPES.calls("void armci_msg_group_barrier(ARMCI_Group *group);")
def barrier(call: Call) -> Outcome:
    """All members arrive; nothing is completed."""
    steps = Steps(call)
    flags.barrier(steps, _group(call, 0))
    return steps.outcome()


def _reduction(call: Call, type: CType) -> Outcome:
    return reduction(call, _group(call, 3), type)


for _letter, _type, _c in REDUCED:
    PROTOTYPES.add(
        f"void armci_msg_group_{_letter}gop({_c} *x, int n, char *op, ARMCI_Group *group);",
        partial(_reduction, type=_type),
    )
