"""Cells to which a rank alone writes, and always the same (`proofs/every-n.md`, section 4): what that proves, and what
the conditions are for."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pgasrob.program import core
from pgasrob.program.parser import parse
from pgasrob.robustness.every_n.settled_cells import SettledCells
from tests.robustness.every_n.test_lock_tokens import with_text
from tests.robustness.every_n.test_named_views import proof, verdict

HEADER = "program some; memory c, f = 2, x, y; register r; queue q; process {{ {} }}"
SENT = "write(c, 1, f, q); wait(q);"
SEEN = "if (me == 1) { await(mem[f] == 0); write(x, 1, y, q); r <- mem[y]; }"
"""Not robust, if something brings 0."""


def test_what_is_always_the_same() -> None:
    assert proof(parse(HEADER.format(f"if (me == 0) {{ mem[c] <- 1; {SENT} }} {SEEN}"))).holds


RULES: dict[str, tuple[Callable[[pytest.MonkeyPatch], None], str]] = {
    "after a store": (
        lambda patch: patch.setattr(SettledCells, "is_stored", lambda *_: True),
        f"if (me == 0) {{ {SENT} mem[c] <- 1; }} {SEEN}",
    ),
    "whoever writes": (
        lambda patch: patch.setattr(
            SettledCells, "_stores", lambda _, form: isinstance(form, core.Immediate) and form.update is not None
        ),
        f"if (me == 0) {{ mem[c] <- 1; {SENT} }} if (me == 2) {{ mem[c @ 0] <- 0; }} {SEEN}",
    ),
    "by whatever command": (
        with_text(SettledCells, "_note", ("value if of.get(rank, value) == value else None", "value")),
        f"if (me == 0) {{ choose {{ mem[c] <- 0; }} or {{ mem[c] <- 1; }} {SENT} }} {SEEN}",
    ),
}


@pytest.mark.parametrize("name", RULES)
def test_without_a_condition_there_is_a_wrong_proof(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mutation, block = RULES[name]
    program = parse(HEADER.format(block))
    found = proof(program)
    assert not found.holds and found.cutoff is not None
    assert verdict(program, found.cutoff) == "not robust"
    mutation(monkeypatch)
    assert proof(program).holds
