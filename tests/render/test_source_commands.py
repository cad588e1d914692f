"""Commands as a report shows them: as written, with the rank folded in."""

from __future__ import annotations

import pytest

from tests.render.test_verdict_json import result


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("write(a + me, (me + 1) % nodes, a + 2 * me, q);", "write(a + 1, 0, a + 2, q)"),
        ("mem[a] <- r * (nodes - 1);", "mem[a] <- r * 1"),
        ("if (me == 1) { mem[a] <- 1; }", "assume(me == 1)"),
        ("r <- me ? r : nodes;", "r <- 1 ? r : 2"),
        ("if (!r) { skip; } assert(r == me - 1 + 3 * r);", "assume(!r)"),
    ],
)
def test_commands_are_shown_as_written_with_the_rank_folded_in(command: str, shown: str) -> None:
    text = "memory a[4]; register r; queue q; process 0 { } process 1 { COMMAND assert(r == 9); }"
    events = result(text.replace("COMMAND", command))["assertion_run"]["computation"]
    assert events[0]["command"] == shown


def test_the_command_of_a_fault_is_as_written() -> None:
    found = result("memory a[2], b; register r; process { choose { skip; } or { r <- mem[a + me + 2 * b + r]; } }")
    assert found["witness"]["fault"]["command"] == "r <- mem[a + 0 + 2 * b + r]"
    assert found["reason"].startswith("rank 0 faults at r <- mem[a + 0 + 2 * b + r]: address 4 is outside the memory")
