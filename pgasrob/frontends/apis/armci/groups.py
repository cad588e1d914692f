"""ARMCI's groups of processes (`ARMCI_Group_...`), their memory and their collectives.

A group is a handle with its members, in absolute numbers, and a number, for several groups may have the same members:
all members give them the same numbers, and the group of all processes that is there from the beginning has 0. Calls
number members within the parent group, which by default is the one of all processes.

The state of a rank: ``armci.default`` its default group, ``armci.groups`` the groups that it has made and not freed,
``armci.allocated...`` how often it has allocated memory with a group.
"""

from __future__ import annotations

from functools import partial
from itertools import count
from typing import cast

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.apis import flags
from pgasrob.frontends.apis.armci import queues
from pgasrob.frontends.apis.armci.collectives import REDUCED, reduction
from pgasrob.frontends.apis.armci.header import DONE, FUNCTIONS, GROUP
from pgasrob.frontends.apis.armci.setup import fill_table
from pgasrob.frontends.apis.call_arguments import integers, member_in, no_handle, target
from pgasrob.frontends.apis.call_steps import Steps
from pgasrob.frontends.apis.flags import Group
from pgasrob.frontends.apis.interface import Call
from pgasrob.frontends.c.types import INT, CType
from pgasrob.frontends.c.values import Handle
from pgasrob.program.assumptions import Kind
from pgasrob.program.expressions import Const

DEFAULT = "armci.default"
MADE = "armci.groups"

Members = tuple[int, ...]
Made = tuple[int, Members]
"""A group: its number among those of its members."""


def _made_group(call: Call, index: int) -> Made:
    """The group that argument ``index`` points to."""
    value = call.load(target(call, index), GROUP)
    if not isinstance(value, Handle) or value.kind != "armci.group":
        call.fail(
            no_handle(value),
            f"{call.texts[index]} points to no group here",
            "make one with ARMCI_Group_create first",
        )
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
            Wrong.ARGUMENT,
            f"process {call.rank} calls {call.name} and is not of the group {', '.join(map(str, members))}",
            "only members of a group may call its collectives",
        )
    return Group(("armci", *members, "group", number) if number else ("armci", *members), members)


def _create(steps: Steps, parent: Members) -> None:
    """Make the group of the processes that the first two arguments list; it goes to the third."""
    call = steps.call
    places = integers(call, 1, call.known(0), INT)
    if any(not 0 <= place < len(parent) for place in places) or len({*places}) < len(places):
        listed = ", ".join(map(str, places))
        call.fail(
            Wrong.RANK, f"processes {listed} of a group of {len(parent)}", "list members of the parent group, each once"
        )
    members = tuple(parent[place] for place in places)
    made = next((number, members) for number in count(1) if (number, members) not in _live(call))
    steps.store(target(call, 2), Handle("armci.group", made), GROUP)
    steps.note(MADE, tuple(sorted((*_live(call), made))))


@FUNCTIONS.does("void ARMCI_Group_create(int n, int *processes, ARMCI_Group *group)")
def create(call: Call, steps: Steps) -> None:
    _create(steps, _default(call)[1])


@FUNCTIONS.does("void ARMCI_Group_create_child(int n, int *processes, ARMCI_Group *group, ARMCI_Group *parent)")
def create_child(call: Call, steps: Steps) -> None:
    _create(steps, _members(call, 3))


@FUNCTIONS.does("void ARMCI_Group_free(ARMCI_Group *group)")
def free(call: Call, steps: Steps) -> None:
    freed = _made_group(call, 0)
    steps.note(MADE, tuple(each for each in _live(call) if each != freed))


@DONE.does("int ARMCI_Group_rank(ARMCI_Group *group, int *rank)")
def rank(call: Call, steps: Steps) -> None:
    """A process that is not in the group has the rank -1."""
    members = _members(call, 0)
    steps.store(target(call, 1), members.index(call.rank) if call.rank in members else -1, INT)


@FUNCTIONS.does("void ARMCI_Group_size(ARMCI_Group *group, int *size)")
def size(call: Call, steps: Steps) -> None:
    steps.store(target(call, 1), len(_members(call, 0)), INT)


@FUNCTIONS.does("int ARMCI_Absolute_id(ARMCI_Group *group, int rank)")
def absolute(call: Call, steps: Steps) -> int:
    members, place = _members(call, 0), call.known(1)
    if not 0 <= place < len(members):
        call.fail(
            Wrong.RANK, f"process {place} of a group of {len(members)}", f"processes 0 to {len(members) - 1} are there"
        )
    return members[place]


@FUNCTIONS.does("void ARMCI_Group_set_default(ARMCI_Group *group)")
def set_default(call: Call, steps: Steps) -> None:
    steps.note(DEFAULT, _made_group(call, 0))


@FUNCTIONS.does("void ARMCI_Group_get_default(ARMCI_Group *group); void ARMCI_Group_get_world(ARMCI_Group *group)")
def get(call: Call, steps: Steps) -> None:
    found = (0, call.everyone) if call.name.endswith("world") else _default(call)
    steps.store(target(call, 0), Handle("armci.group", found), GROUP)


@FUNCTIONS.does("int ARMCI_Uses_shm_grp(ARMCI_Group *group)")
def uses_shared_memory(call: Call, steps: Steps) -> int:
    members = _members(call, 0)
    return len([rank for rank in call.neighbours() if rank in members]) > 1


# Memory


@DONE.does("int ARMCI_Malloc_group(void **addresses, armci_size_t bytes, ARMCI_Group *group)")
def malloc(call: Call, steps: Steps) -> None:
    """ARMCI_Malloc for a group: the addresses of the memory of its members, in their order."""
    call.rests_on(Kind.CREATION_WAITS, call.name)
    target(call, 0)
    asked, group = call.known(1), _group(call, 2)
    key = (*group.key, "memory", steps.count(group.name("allocated")))
    memory = call.allocate("segment", asked, member_in(call, 0) or "memory", key)
    name = ".".join(map(str, ("armci.size", *key)))
    call.publish(name, asked, by_all=True)
    flags.barrier(steps, group)
    fill_table(steps, memory, name, group.members)


@DONE.does("int ARMCI_Free_group(void *address, ARMCI_Group *group)")
def free_memory(call: Call, steps: Steps) -> None:
    call.rests_on(Kind.FREED_MEMORY, call.name)
    _members(call, 1)


# Completion and collectives


@FUNCTIONS.does("void ARMCI_GroupFence(ARMCI_Group *group)")
def fence(call: Call, steps: Steps) -> None:
    """Every put and accumulate to the members is complete there."""
    for member in _members(call, 0):
        queues.fence(steps, Const(member))


@FUNCTIONS.does("void armci_msg_group_barrier(ARMCI_Group *group)")
def barrier(call: Call, steps: Steps) -> None:
    """All members arrive; nothing is completed."""
    flags.barrier(steps, _group(call, 0))


def _reduction(call: Call, steps: Steps, type: CType) -> None:
    reduction(steps, _group(call, 3), type)


for _letter, _type, _c in REDUCED:
    FUNCTIONS.does(f"void armci_msg_group_{_letter}gop({_c} *x, int n, char *op, ARMCI_Group *group)")(
        partial(_reduction, type=_type)
    )
