"""ARMCI, `rma`: what calls lower to."""

from __future__ import annotations

import pytest

from pgasrob.frontends.apis.armci import API
from pgasrob.frontends.c.values import Known
from pgasrob.program.expressions import float_bits
from tests.frontends.apis.recorder import Argument, Rank, Refused, World, lowered, variable

HERE, THERE = variable("x"), variable("y", 8, owner=1)
"""A buffer here and an address of process 1."""

HANDLE, OUT = variable("handle"), variable("out")

CALLS: list[tuple[str, tuple[Argument, ...], list[str]]] = [
    ("ARMCI_Put", (HERE, THERE, 8, 1), ["put(x+0, 1, y+8, put_to_1)", "put(x+4, 1, y+12, put_to_1)", "return 0"]),
    ("ARMCI_NbPut", (HERE, THERE, 4, 1, None), ["write(x+0, 1, y+8, implicit_put_to_1)", "return 0"]),
    ("ARMCI_NbPut", (HERE, THERE, 4, 1, HANDLE), ["write(x+0, 1, y+8, handle_global_handle_0_put_to_1)", "return 0"]),
    ("ARMCI_Get", (THERE, HERE, 4, 1), ["read(x+0, 1, y+8, armci_get)", "wait(armci_get)", "return 0"]),
    ("ARMCI_NbGet", (THERE, HERE, 4, 1, None), ["read(x+0, 1, y+8, implicit_get_to_1)", "return 0"]),
    ("ARMCI_PutValueInt", (5, THERE, 1), ["update(set, 5, 1, y+8, put_to_1) as plain", "return 0"]),
    ("ARMCI_NbPutValueLong", (5, THERE, 1, None), ["update(set, 5, 1, y+8, implicit_put_to_1) as plain", "return 0"]),
    ("ARMCI_GetValueInt", (THERE, 1), ["value <- fetch(1, y+8) as plain", "return value"]),
    ("ARMCI_Put_flag", (HERE, THERE, 4, variable("f", 0, 1), 1, 1), [
        "put(x+0, 1, y+8, put_to_1)",
        "fence(put_to_1, 1)",
        "update(set, 1, 1, f+0, put_to_1) as plain",
        "return 0",
    ]),
    ("PARMCI_Put", (HERE, THERE, 4, 1), ["put(x+0, 1, y+8, put_to_1)", "return 0"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "arguments", "expected"), CALLS, ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_call_lowers_to(name: str, arguments: tuple[Argument, ...], expected: list[str]) -> None:
    assert lowered(API, name, *arguments) == [expected]


def test_blocking_puts_are_fenced_from_each_other() -> None:
    """And from accumulates, but not from nonblocking ones or from puts to another process."""
    rank = Rank(API, nodes=3)
    rank.call("ARMCI_NbPut", HERE, THERE, 4, 1, None)
    assert rank.call("ARMCI_Put", HERE, THERE, 4, 1)[0] == "put(x+0, 1, y+8, put_to_1)"
    assert rank.call("ARMCI_PutValueInt", 5, THERE, 1)[0] == "fence(put_to_1, 1)"
    assert rank.call("ARMCI_PutValueInt", 5, variable("y", 0, 2), 2)[0] == "update(set, 5, 2, y+0, put_to_2) as plain"
    rank.world.contents |= {OUT: Known(1), HERE: Known(7)}
    assert rank.call("ARMCI_Acc", 0, OUT, HERE, THERE, 4, 1)[:2] == [
        "fence(put_to_1, 1)",
        "update(add, 7, 1, y+8, put_to_1) as int by accumulate",
    ]


def array(name: str, *values: int) -> dict[object, Known]:
    return {variable(name, 4 * place): Known(value) for place, value in enumerate(values)}


def test_strided_puts_and_gets() -> None:
    """Two pieces of 4 bytes, along a stride of 8 here and 16 there."""
    world = World()
    world.contents |= array("here", 8) | array("there", 16) | array("count", 4, 2)  # type: ignore[arg-type]
    here, there, count = map(variable, ("here", "there", "count"))
    assert lowered(API, "ARMCI_PutS", HERE, here, THERE, there, count, 1, 1, world=world) == [
        ["put(x+0, 1, y+8, put_to_1)", "put(x+8, 1, y+24, put_to_1)", "return 0"]
    ]
    assert lowered(API, "ARMCI_GetS", THERE, there, HERE, here, count, 1, 1, world=world) == [
        ["read(x+0, 1, y+8, armci_get)", "read(x+8, 1, y+24, armci_get)", "wait(armci_get)", "return 0"]
    ]


def test_vectors() -> None:
    world = World()
    world.contents |= {
        variable("v"): variable("from"),
        variable("v", 8): variable("to"),
        variable("v", 16): Known(4),
        variable("v", 20): Known(1),
        variable("from"): HERE,
        variable("to"): THERE,
    }
    found = lowered(API, "ARMCI_NbPutV", variable("v"), 1, 1, None, world=world)
    assert found == [["write(x+0, 1, y+8, implicit_put_to_1)", "return 0"]]


def test_a_blocking_get_of_vectors_waits_though_the_last_is_empty() -> None:
    world = World()
    for place, bytes in ((0, 4), (24, 0)):
        world.contents |= {
            variable("v", place): variable("from"),
            variable("v", place + 8): variable("to"),
            variable("v", place + 16): Known(bytes),
            variable("v", place + 20): Known(1),
        }
    world.contents |= {variable("from"): THERE, variable("to"): HERE}
    found = lowered(API, "ARMCI_GetV", variable("v"), 2, 1, world=world)
    assert found == [["read(x+0, 1, y+8, armci_get)", "wait(armci_get)", "return 0"]]


def test_accumulates() -> None:
    world = World()
    world.contents |= {OUT: Known(float_bits(2.0))}
    blocking = lowered(API, "ARMCI_Acc", 3, OUT, HERE, THERE, 8, 1, world=world)
    assert blocking == [
        [
            "value <- mem[x+0]",
            f"update(add., {float_bits(2.0)} *. value, 1, y+8, put_to_1) as double by accumulate",
            "return 0",
        ]
    ]
    world.contents |= {OUT: Known(1)}
    assert lowered(API, "ARMCI_NbAcc", 1, OUT, HERE, THERE, 8, 1, None, world=world) == [
        ["update_from(add, x+0, 1, y+8, implicit_put_to_1) as long by accumulate", "return 0"]
    ]


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("ARMCI_Put", (HERE, THERE, 4, 0), "an address of rank 1, not of rank 0"),
        ("ARMCI_Put", (THERE, THERE, 4, 1), "an address of rank 1"),
        ("ARMCI_Put", (HERE, HERE, 4, 1), "an address of rank 0, not of rank 1"),
    ],
)
def test_refused(name: str, arguments: tuple[Argument, ...], message: str) -> None:
    with pytest.raises(Refused, match=message):
        lowered(API, name, *arguments)
