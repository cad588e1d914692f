"""ARMCI, `setup`: what calls lower to."""

from __future__ import annotations

import pytest

from pgasrob.frontends.apis.armci import API
from pgasrob.frontends.c.values import Address, ObjectId
from tests.frontends.apis.recorder import Argument, World, lowered, variable

CALLS: list[tuple[str, tuple[Argument, ...], list[str]]] = [
    ("ARMCI_Init", (), ["return 0"]),
    ("ARMCI_Error", (Address(ObjectId("string", ("text",)), 0), 1), ["exit", "end"]),
    ("armci_msg_me", (), ["return 0"]),
    ("armci_msg_nproc", (), ["return 2"]),
    ("ARMCI_Malloc", (variable("table"), 64), [
        "barrier(ARMCI_Malloc)",
        "*('table',)+0 = &0+0",
        "*('table',)+8 = &0+0 of 1",
        "return 0",
    ]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "arguments", "expected"), CALLS, ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_call_lowers_to(name: str, arguments: tuple[Argument, ...], expected: list[str]) -> None:
    assert lowered(API, name, *arguments) == [expected]


def test_a_process_without_memory_has_no_address() -> None:
    world = World(published={(1, "armci.size.0"): 0})
    found = lowered(API, "ARMCI_Malloc", variable("table"), 64, world=world)
    assert found[0][2] == "*('table',)+8 = 0"
