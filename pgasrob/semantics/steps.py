"""The steps of a remote command: a chain of accesses that happen after its issue, in order.

A read or write has two, popa and popb. Everything that orders or waits for steps looks at the properties given here, so
a longer or shorter chain needs no change elsewhere.
"""

from __future__ import annotations

from typing import NamedTuple

from pgasrob.program.instance import Operands
from pgasrob.semantics.accesses import Access


class Step(NamedTuple):
    """One step.

    ``stage``: its place in the FIFO order, in which every stage of a queue is a queue of its own (the paper's fa and
    fb): 0 reads the source, 1 updates the destination. ``local``: wait_local waits for it. ``fenced``:
    fences order it, as the destination write of a put.
    """

    kind: str
    access: Access
    stage: int
    local: bool
    fenced: bool


def steps_of(operands: Operands) -> tuple[Step, ...]:
    """The steps of a remote command; empty for every other command."""
    if operands.source is None or operands.destination is None:
        return ()
    write = operands.kind == "write"
    return (
        Step("popa", Access(operands.source, reads=True, writes=False), 0, local=write, fenced=False),
        Step("popb", Access(operands.destination, reads=False, writes=True), 1, local=not write, fenced=write),
    )
