"""Cells to which ranks only add are known not to wrap around (`proofs/every-n.md`, section 2): what that proves, and
what the conditions are for."""

from __future__ import annotations

import pytest

from pgasrob.api import check
from pgasrob.program.parser import parse
from pgasrob.robustness.every_n import counting_cells
from tests.robustness.every_n.test_lock_tokens import with_text
from tests.robustness.every_n.test_named_views import proof

HEADER = "program some; memory c, most = 2147483642, a[8], b; register r, s; queue q; process {{ {} }}"


@pytest.mark.parametrize(
    "block",
    [
        "r <- fetch_add(0, c, 1); mem[a + r % 8] <- 1;",
        "r <- fetch_add(0, c, 3); mem[a + (r >= 0 && r <= 3 * nodes ? 0 : 99)] <- 1;",
        "update(add, 2, 0, c, q); update(add, 1, 0, c, q); r <- fetch(0, c); mem[a + (r <= 3 * nodes ? 0 : 99)] <- 1;",
        "r <- fetch_add(0, c, 1); s <- 0; while (s != r) { s <- fetch_add(0, b, 0); } mem[a + r % 8] <- 1; "
        "s <- fetch_add(0, b, 1);",
    ],
)
def test_what_is_known(block: str) -> None:
    """In the second last case, what is added to a cell later than it is issued; in the last one, what adds nothing is
    done again and again."""
    found = proof(parse(HEADER.format(block)))
    assert all(each.kind != "fault" for each in found.obstacles)


RULES = {
    "nothing else is written": (
        "_counting", ("elif not alone or len(slots) == 1", "elif False"),
        "if (me == 3) { mem[c @ 0] <- -1; } r <- fetch_add(0, c, 1); mem[a + (r < 0 ? 99 : 0)] <- 1;",
    ),
    "not for ever": (
        "_commands", ("most = None", "pass"),
        "s <- 0; while (s < 3) { s <- s + 1; r <- fetch_add(0, c, 1); } mem[a + (r <= nodes ? 0 : 99)] <- 1;",
    ),
    "not by much": (
        "_counting", ("0 <= first <= INT32.range[1] - each * most", "True"),
        "r <- fetch_add(0, most, 1); r <- fetch(0, most); mem[a + (r < 0 ? 99 : 0)] <- 1;",
    ),
    "as much as is added": (
        "_added_once", ("return high if", "return 1 if"),
        "r <- fetch_add(0, c, 5); mem[a + (r <= nodes ? 0 : 99)] <- 1;",
    ),
    "by each command": (
        "_counting", ("of.get(slots[0], 0) + each", "each"),
        "r <- fetch_add(0, c, 1); r <- fetch_add(0, c, 1); mem[a + (r <= nodes ? 0 : 99)] <- 1;",
    ),
    "no less than 0": (
        "_added_once", ("low >= 0", "True"),
        "r <- fetch_add(0, c, -1); mem[a + (r < 0 ? 99 : 0)] <- 1;",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RULES)
def test_without_a_condition_there_is_a_wrong_proof(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    method, change, block = RULES[name]
    program = parse(HEADER.format(block))
    found = proof(program)
    assert {each.kind for each in found.obstacles} == {"fault"} and found.cutoff is not None
    assert check(program, max(found.cutoff, 7), effect=False).verdict == "error"
    with_text(counting_cells, method, change)(monkeypatch)
    assert proof(program).holds


def test_what_is_guessed_is_looked_at_again() -> None:
    """If it were 0 to the number of nodes, nothing else would be written."""
    wrong = "r <- fetch_add(0, c, 1); if (r < 0 || r > nodes) { r <- 0; } mem[c + r] <- -1; mem[a + r % 8] <- 1;"
    assert not proof(parse(HEADER.format(wrong))).holds
