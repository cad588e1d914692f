"""ARMCI's groups, aggregate handles and messages: what whole programs do."""

from __future__ import annotations

import pytest

import pgasrob
from pgasrob.diagnostics import SourceError
from pgasrob.frontends.lower import parse_c
from pgasrob.frontends.options import FrontEnd

PROGRAM = """#include <armci.h>
#include <assert.h>
#include <stddef.h>
int main(int argc, char **argv) {
  ARMCI_Init();
  int me = armci_msg_me(), n = armci_msg_nproc();
  int even[2] = {0, 2}, last[1] = {1}, place = 9, count = 0, x = me + 1;
  int *at[3] = {NULL, NULL, NULL};
  ARMCI_Group g, h, w;
  armci_hdl_t handle;
  %s
  ARMCI_Barrier();
  ARMCI_Finalize();
}"""
MAKE = "ARMCI_Group_create(2, even, &g); ARMCI_Group_rank(&g, &place); ARMCI_Group_size(&g, &count);"
MALLOC = "ARMCI_Malloc((void **)at, 8);"


def checked(body: str, shared: str | None = None) -> pgasrob.Verdict:
    return pgasrob.check(parse_c(PROGRAM.replace("%s", body), options=FrontEnd(shared_memory=shared)), 3)


@pytest.mark.parametrize(
    ("before", "claim"),
    [
        (MAKE, "place == (me == 1 ? -1 : me / 2)"),
        (MAKE, "count == 2 && ARMCI_Absolute_id(&g, 1) == 2 && ARMCI_Absolute_id(&g, 0) == 0"),
        # A child's members are numbered in its parent, and so are those of the default group.
        (MAKE + "ARMCI_Group_create_child(1, last, &h, &g);", "ARMCI_Absolute_id(&h, 0) == 2"),
        (MAKE + "ARMCI_Group_set_default(&g); ARMCI_Group_create(1, last, &h);", "ARMCI_Absolute_id(&h, 0) == 2"),
        ("ARMCI_Group_get_world(&w); ARMCI_Group_size(&w, &count);", "count == 3"),
        (MAKE + "ARMCI_Group_set_default(&g); ARMCI_Group_get_default(&w); ARMCI_Group_rank(&w, &place);",
         "place == (me == 1 ? -1 : me / 2)"),
        (MAKE + "if (me != 1) armci_msg_group_igop(&x, 1, \"+\", &g);", "x == (me == 1 ? 2 : 4)"),
        ("", "ARMCI_Uses_shm() == 0 && ARMCI_Same_node(me) && !ARMCI_Same_node((me + 1) % n)"),
        # Messages of a tag come in their order.
        ("""if (me == 0) { armci_msg_snd(7, &x, 4, 1); x = 5; armci_msg_snd(7, &x, 4, 1); }
            if (me == 1) { armci_msg_rcv(7, &place, 4, NULL, 0); armci_msg_rcv(7, &x, 4, &count, 0); }""",
         "me != 1 || (place == 1 && x == 5 && count == 4)"),
    ],
)  # fmt: skip
def test_groups_and_messages(before: str, claim: str) -> None:
    found = checked(f"{before} assert({claim});")
    assert (found.verdict, found.deadlock) == ("robust", False)
    assert found.assertions in (None, "hold")
    assert checked(f"{before} assert(!({claim}));").assertions == "violated"


PUT = MAKE + "if (me != 1) { ARMCI_Malloc_group((void **)at, 4, &g); if (me == 0) { ARMCI_Put(&x, at[1], 4, 2); %s }"
USE = "armci_msg_group_barrier(&g); if (me == 2) { assert(*at[1] == 1); *at[1] = 0; } }"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        # A barrier of a group completes nothing, and a fence of the group does.
        (PUT.replace("%s", "") + USE, "not robust"),
        (PUT.replace("%s", "ARMCI_GroupFence(&g);") + USE, "robust"),
        (PUT.replace("%s", "ARMCI_Fence(2);") + USE, "robust"),
        (PUT.replace("%s", "ARMCI_Fence(1);") + USE, "not robust"),
    ],
)
def test_memory_and_barriers_of_a_group(body: str, expected: str) -> None:
    found = checked(body)
    assert (found.verdict, found.deadlock) == (expected, False)
    assert found.assertions == ("hold" if expected == "robust" else found.assertions)


def test_groups_of_the_same_members_are_told_apart() -> None:
    """Their barriers meet only in one order; a number comes back when its group has been freed."""
    both = MAKE + "ARMCI_Group_create(2, even, &h); if (me == 0) { %s } if (me == 2) { %s }"
    one, other = "armci_msg_group_barrier(&g);", "armci_msg_group_barrier(&h);"
    alike = checked(both.replace("%s", one + other))
    crossed = checked(both.replace("%s", one + other, 1).replace("%s", other + one))
    assert (alike.deadlock, crossed.deadlock) == (False, True)
    again = MAKE + "ARMCI_Group_free(&g); ARMCI_Group_create(2, even, &h); if (me != 1) armci_msg_group_barrier(&h);"
    assert checked(again).deadlock is False


AGGREGATE = (
    MALLOC
    + """
  ARMCI_INIT_HANDLE(&handle); %s
  if (me == 0) { ARMCI_NbPut(&x, at[1], 4, 1, &handle); ARMCI_NbPut(&x, at[1] + 1, 4, 1, &handle); %s }
  armci_msg_barrier();
  if (me == 1) assert(at[1][0] + at[1][1] == 2);"""
)


@pytest.mark.parametrize(
    ("set", "wait", "expected"),
    [
        ("", "ARMCI_Fence(1);", "robust"),
        # What is aggregated need not have begun before it is waited for.
        ("ARMCI_SET_AGGREGATE_HANDLE(&handle);", "ARMCI_Fence(1);", "not robust"),
        ("ARMCI_SET_AGGREGATE_HANDLE(&handle);", "ARMCI_Wait(&handle);", "not robust"),
        ("ARMCI_SET_AGGREGATE_HANDLE(&handle);", "ARMCI_Wait(&handle); ARMCI_Fence(1);", "robust"),
        ("ARMCI_SET_AGGREGATE_HANDLE(&handle); ARMCI_UNSET_AGGREGATE_HANDLE(&handle);", "ARMCI_Fence(1);", "robust"),
    ],
)
def test_aggregate_handles(set: str, wait: str, expected: str) -> None:
    assert checked(AGGREGATE.replace("%s", set, 1).replace("%s", wait)).verdict == expected


STRIDED = (
    MALLOC
    + """
  int strides[1] = {4}, counts[2] = {4, 2}, *flag = NULL;
  if (me == 0) { int two[2] = {3, 4}; ARMCI_PutS_flag(two, strides, at[1], strides, counts, %s, 1); }
  if (me == 1) { while (((volatile int *)at[1])[%s] == 0) ; assert(at[1][0] == 3); }"""
)


def test_a_flag_comes_after_the_strided_put_before_it() -> None:
    text = STRIDED.replace("ARMCI_Malloc((void **)at, 8)", "ARMCI_Malloc((void **)at, 12)")
    found = checked(text.replace("%s", "1, at[1] + 2, 1", 1).replace("%s", "2"))
    assert (found.verdict, found.assertions) == ("robust", "hold")


def test_who_shares_memory() -> None:
    found = checked("assert(ARMCI_Uses_shm() && ARMCI_Same_node((me + 1) % n));", "all")
    assert (found.verdict, found.assertions) == ("robust", None)


@pytest.mark.parametrize(
    "claim",
    [
        "armci_domain_count(ARMCI_DOMAIN_SMP) == 2 && armci_domain_my_id(ARMCI_DOMAIN_SMP) == me / 2",
        "armci_domain_nprocs(ARMCI_DOMAIN_SMP, 0) == 2 && armci_domain_nprocs(ARMCI_DOMAIN_SMP, 1) == 1",
        "armci_domain_nprocs(ARMCI_DOMAIN_SMP, -1) == (me == 2 ? 1 : 2) && armci_domain_id(ARMCI_DOMAIN_SMP, 2) == 1",
        "armci_domain_glob_proc_id(ARMCI_DOMAIN_SMP, 1, 0) == 2",
        "armci_domain_same_id(ARMCI_DOMAIN_SMP, 1) == (me < 2)",
    ],
)
def test_nodes(claim: str) -> None:
    assert checked(f"assert({claim});", "nodes=2").assertions is None
    assert checked(f"assert(!({claim}));", "nodes=2").assertions == "violated"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (MAKE + "armci_msg_group_barrier(&g);", "process 1 calls armci_msg_group_barrier and is not of the group 0, 2"),
        ("int twice[2] = {1, 1}; ARMCI_Group_create(2, twice, &g);", "processes 1, 1 of a group of 3"),
        ("ARMCI_Group_size(&h, &count);", "points to no group here"),
        ("if (me == 0) armci_msg_snd(7, &x, 4, 1); if (me == 1) armci_msg_rcv(7, &x, 2, NULL, 0);",
         "a message of 4 bytes comes to a buffer of 2"),
    ],
)  # fmt: skip
def test_refused(body: str, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        parse_c(PROGRAM.replace("%s", body)).program(3)
