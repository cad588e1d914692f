"""Operands that are tested before they are used (`proofs/every-n.md`, section 2)."""

from __future__ import annotations

import pytest

from pgasrob.program.parser import parse
from pgasrob.program.reading import DEFAULT_READING
from pgasrob.robustness.every_n import known
from pgasrob.robustness.every_n.prove import Prover

HEADER = "program some; memory x, y; register d, r; queue q; process { d <- 1; while (d < nodes) { "
PUT = "write(x, me ^ d, y, q); wait(q);"


@pytest.mark.parametrize(
    ("block", "holds"),
    [
        (f"if ((me ^ d) < nodes) {{ {PUT} }}", True),
        (f"if (nodes > (me ^ d)) {{ {PUT} }}", True),
        (f"if (!((me ^ d) >= nodes || r == 1)) {{ {PUT} }}", True),
        (f"if ((me ^ d) >= nodes) {{ r <- mem[x]; }} else {{ {PUT} }}", True),
        (f"if ((me ^ d) <= nodes) {{ {PUT} }}", False),
        (f"if ((me ^ d) < nodes || r == 0) {{ {PUT} }}", False),
        (f"if ((me ^ d) < nodes) {{ d <- d + 1; {PUT} d <- d - 1; }}", False),
        (f"if ((me ^ d) < nodes) {{ r <- mem[x]; }} {PUT}", False),
    ],
)
def test_a_partner_that_is_a_rank(block: str, holds: bool) -> None:
    assert may_fault(block) is not holds


def test_without_what_has_been_tested_it_may_be_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known, "is_below_nodes", lambda *_: False)
    assert may_fault(f"if ((me ^ d) < nodes) {{ {PUT} }}")


def may_fault(block: str) -> bool:
    prover = Prover(parse(f"{HEADER}{block} barrier; d <- d + d; }} }}"), DEFAULT_READING)
    return any(True for _ in prover.flow(next(prover.frame.cases())).faults())
