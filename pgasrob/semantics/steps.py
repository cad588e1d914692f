"""The steps of a remote command: a chain of accesses that happen after its issue, in order.

A read or write has two, popa and popb; deferred atomics have up to four. Everything that orders or waits for steps
looks at the properties given here, so a longer or shorter chain needs no change elsewhere.
"""

from __future__ import annotations

from typing import NamedTuple

from pgasrob.program.commands import REMOTE
from pgasrob.program.instance import Operands
from pgasrob.semantics.accesses import Access


class Step(NamedTuple):
    """One step.

    ``stage``: its place in the FIFO order, in which every stage of a queue is a queue of its own (the paper's fa and
    fb): 0 reads the source, 1 updates the destination, 2 writes a result. ``local``: wait_local waits for it.
    ``fenced``: fences order it, as the destination write of a put. ``after_writes``: it comes after the fenced steps to
    its target that are of earlier operations (a notification). ``after_bundle``: it comes after all steps of the
    rank's latest bundle (a signal). ``located``: it comes after the rank's earlier located steps to its cell.
    """

    kind: str
    access: Access
    stage: int
    local: bool = False
    fenced: bool = False
    after_writes: bool = False
    after_bundle: bool = False
    located: bool = False


def steps_of(operands: Operands) -> tuple[Step, ...]:
    """The steps of a remote command; empty for every other command."""
    kind = operands.kind
    if kind not in REMOTE:
        return ()
    source, destination, expected, result = (
        operands.source, operands.destination, operands.expected, operands.result
    )  # fmt: skip
    chain: list[Step] = []
    if source is not None:
        # A fetch reads at its target: nothing there is ready for reuse, the result is what arrives.
        at_target = kind == "read" or operands.operation == "fetch"
        located = operands.located and at_target
        chain.append(Step("popa", Access(source, reads=True, writes=False), 0, local=not at_target, located=located))
    if expected is not None:
        chain.append(Step("popd", Access(expected, reads=True, writes=False), 0, local=True))
    if destination is not None:
        chain.append(
            Step(
                "popb",
                Access(destination, reads=operands.operation not in (None, "set"), writes=True),
                1,
                local=kind == "read",
                fenced=kind not in ("read", "notify"),
                after_writes=kind == "notify",
                after_bundle=kind == "signal",
                located=operands.located,
            )
        )
    if result is not None:
        chain.append(Step("popc", Access(result, reads=False, writes=True), 2, local=True))
    return tuple(chain)
