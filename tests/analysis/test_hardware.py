"""What RDMA and x86 do otherwise than the calculus, where the text of a program gives it an occasion."""

from __future__ import annotations

import pytest

from pgasrob.analysis.hardware import occasions
from pgasrob.program.parser import parse

HEAD = "memory x, y, z, to = 1, too; register r; queue q, p, u unordered;\n"
OTHERS = "process { write(to, 0, x, q); write(to, 0, y, p); r <- mem[to]; }\n"
"""Rank 1 puts x and y."""


def found(block: str, others: str = OTHERS, nodes: int = 2) -> dict[str, tuple[int, ...]]:
    """The differences that rank 0 gives an occasion to by ``block``, with their lines from 1."""
    given = occasions(parse(f"{HEAD}process 0 {{\n{block}\n}}\n{others}").instantiate(nodes))
    assert given is not None
    # The others issue to one rank in two queues, and wait for nothing.
    return {each.difference.value: tuple(line - 2 for line in each.lines) for each in given}


@pytest.mark.parametrize(
    ("block", "given"),
    [
        ("barrier;", {}),
        ("write(z, 1, to, q);\nwait_local(q);\nr <- 1;", {}),
        # a wait for puts, unless nothing comes behind it
        ("write(z, 1, to, q);\nwait(q);\nr <- 1;", {"puts-placed": (2,)}),
        ("write(z, 1, to, q);\nwait(q);", {}),
        ("write(z, 1, to, q);\nwait(p);\nr <- 1;", {}),
        ("update(add, 1, 1, to, q);\nwait(q);\nr <- 1;", {"puts-placed": (2,)}),
        ("read(z, 1, to, q);\nwait(q);\nr <- mem[z];", {}),
        # one completion for each poll
        ("write(z, 1, to, q);\nwrite(z, 1, too, q);\nwait_local(q);", {"every-completion": (3,)}),
        ("write(z, 1, to, q);\nwrite(z, 1, too, p);\nwait_local(q);", {}),
        ("write(z, 1, to, q);\nwait(q);\nwrite(z, 1, too, q);\nwait(q);", {"puts-placed": (2,)}),
        ("loop { write(z, 1, to, q); }\nwait(q);", {"every-completion": (2,)}),
        # gets in order, where it matters what they fetch
        ("read(z, 1, to, q);\nread(to, 1, too, q);\nwait(q);", {"every-completion": (3,)}),
        ("read(z, 0, x, q);\nread(to, 0, y, q);", {"gets-in-order": (1, 2)}),
        ("read(z, 0, x, q);\nread(to, 0, too, q);", {}),
        ("read(z, 0, too, q);\nread(to, 0, x, q);", {}),
        ("read(z, 0, x, u);\nread(to, 0, y, u);", {}),
        ("read(z, 0, x, q);\nread(to, 0, y, p);", {}),
        ("read(z, 0, x, q);\nwait_local(q);\nread(to, 0, y, q);", {}),
        ("read(z, 0, x, q);\nwait(q);\nread(to, 0, y, q);", {}),
        # a put behind a get
        ("read(z, 0, x, q);\nwrite(to, 0, too, q);", {"put-after-get": (1, 2)}),
        ("read(z, 0, x, q);\nwrite(to, 0, too, u);", {}),
        ("read(z, 0, too, q);\nwrite(to, 0, y, q);", {}),
        ("read(z, 0, too, q);\nwrite(to, 0, z, q);", {"put-after-get": (1, 2)}),  # both write z
        ("read(x, 0, too, q);\nwrite(to, 0, z, q);", {"put-after-get": (1, 2)}),  # others see x
        # its own rank looks while the get may be pending: rank 1 may have told it of the put
        ("read(z, 0, too, q);\nwrite(to, 0, y, q);\nr <- mem[z];", {"put-after-get": (1, 2)}),
        ("read(z, 0, too, q);\nwrite(to, 0, y, q);\nwrite(z, 0, y, u);", {"put-after-get": (1, 2)}),
        ("read(z, 0, too, q);\nwrite(to, 0, y, q);\nwait(q);\nr <- mem[z];",
         {"every-completion": (3,), "puts-placed": (3,)}),
        # a get behind a put
        ("write(to, 0, too, q);\nread(z, 0, x, q);\nwait_local(q);", {"pcie": (1, 2), "every-completion": (3,)}),
        ("write(to, 0, too, q);\nread(z, 0, x, p);\nwait_local(p);", {}),
        # one queue for several ranks
        ("write(to, 0, too, q);\nwrite(to, 1, too, q);", {"queue-pairs": (1, 2)}),
        ("write(to, 0, too, u);\nwrite(to, 1, too, u);", {}),
        ("write(to, r, too, q);\nwrite(to, r, too, q);", {"queue-pairs": (1, 2)}),
        # fences and notifications
        ("write(z, 1, to, u);\nfence(u);\nwrite(z, 1, too, u);", {"fence": (2,)}),
        ("write(z, 1, to, q);\nfence(q);\nwrite(z, 1, too, q);", {}),
        ("fence(u);\nwrite(z, 1, too, u);", {}),
        ("write(z, 1, to, u);\nnotify(set, 1, 1, too, u);", {"fence": (1, 2)}),
        # the store buffer
        ("mem[x] <- 1;\nr <- mem[y];", {"store-buffer": (1, 2)}),
        ("mem[x] <- 1;\nr <- fetch_add(me, y, 1);", {}),
    ],
)  # fmt: skip
def test_occasions(block: str, given: dict[str, tuple[int, ...]]) -> None:
    block = block.replace("r, too", "r & 1, too")
    if "r & 1" in block:
        block = f"r <- mem[x]; {block}"
    assert found(block) == given


def test_a_program_that_is_too_large_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pgasrob.analysis.hardware.MOST_COMMANDS", 2)
    assert occasions(parse(f"{HEAD}process {{ r <- 1; r <- 2; r <- 3; }}").instantiate(1)) is None
