"""The constructs of the calculus that have no counterpart in RDMA-TSO or coreRMA, with the reason.

Translations refuse a program only by these entries. For the other direction, `models.pgas` has what the calculus lacks.
"""

from __future__ import annotations

from dataclasses import dataclass

from pgasrob.models.model_interface import Refusal
from pgasrob.program.statements import Span

RDMA_TSO, CORERMA = "rdma-tso", "corerma"


@dataclass(frozen=True, slots=True)
class Missing:
    """A construct that has no counterpart in ``model``. ``why`` is a clause; ``instead`` says what to do about it."""

    construct: str
    model: str
    why: str
    instead: str = ""

    def refusal(self, span: Span, what: str = "") -> Refusal:
        """The refusal of ``what``, one such construct in the words of the program."""
        instead = f"; {self.instead}" if self.instead else ""
        return Refusal(f"{what + ': ' if what else ''}{self.why}{instead}", span)


def _both(construct: str, why: str, instead: str = "") -> tuple[Missing, Missing]:
    """The entries of both models; in ``why`` {} stands for the name of the model."""
    return (
        Missing(construct, RDMA_TSO, why.format("RDMA-TSO"), instead),
        Missing(construct, CORERMA, why.format("coreRMA"), instead),
    )


OF_THE_CALCULUS = (
    *_both(
        "barrier",
        "{} has no barriers: a barrier of the ranks is a program of its own there",
        "write out the flags or messages that it is made of",
    ),
    *_both("notification", "{} has no notifications: no write can ask to come after others"),
    *_both("signal", "{} has no signals that are bundled with operations"),
    Missing(
        "remote atomic",
        RDMA_TSO,
        "RDMA's remote atomics are an addition and a compare-and-set, here of `int`: no swap, and no other operation",
        "write it as a loop around compare_swap",
    ),
    Missing(
        "deferred atomic",
        CORERMA,
        "coreRMA's remote atomics are an addition and a compare-and-set of 32 bits with operands and result in memory",
        "put the operands into cells, and take the result in one",
    ),
    Missing(
        "blocking remote access",
        RDMA_TSO,
        "RDMA-TSO has no store to the memory of another node that has arrived when it is over, and no wait for a value "
        "there",
        "put the value, or fetch it in a loop",
    ),
    Missing(
        "blocking remote access",
        CORERMA,
        "coreRMA has no instruction that accesses the memory of another node at once",
        "issue it, wait, and use what has arrived",
    ),
    *_both(
        "atomic on own memory",
        "{} has no such atomic: its only one on a node's own memory is a compare-and-set",
        "write it as a loop around compare_swap",
    ),
    Missing("compare_swap", CORERMA, "coreRMA has no atomics on a process' own memory"),
    *_both("operand that is computed", "in {} instructions name locations: an address, rank or queue is no register"),
    Missing("operation to itself", RDMA_TSO, "RDMA-TSO has no queue pair to the own node", "load and store"),
    Missing(
        "wait",
        RDMA_TSO,
        "in RDMA-TSO a put that has been polled is acknowledged, and need not be placed: nothing says that it is",
        "read something back from the same rank behind the puts and wait for that (with PCI Express a get that has "
        "arrived places the puts before it), or say --placed for adapters that place before they acknowledge",
    ),
    Missing(
        "wait without PCI Express",
        RDMA_TSO,
        "in RDMA-TSO a put that has been polled is acknowledged, and need not be placed: without PCI Express nothing "
        "says that it is",
        "say --placed for adapters that place before they acknowledge",
    ),
    Missing(
        "unbounded waiting",
        RDMA_TSO,
        "so many operations may be pending here that the polls of a wait cannot be written out",
        "wait more often",
    ),
    Missing("wait_local", CORERMA, "coreRMA has no local completion: its flush completes puts at their target, too"),
    Missing("fence", CORERMA, "coreRMA does not order puts without waiting for them", "wait between them"),
    Missing(
        "wait of one queue",
        CORERMA,
        "coreRMA's flush completes all operations to a node: here some are pending that this wait is not about",
    ),
    Missing("control flow", CORERMA, "coreRMA's programs have no choices, loops or conditions"),
    Missing("await", CORERMA, "coreRMA's programs wait for no value"),
    *_both("exit", "in {} nobody ends the run of all"),
)
"""The constructs, model by model. A failed compare_swap is a difference and not refused: it reads and writes in the
calculus, and only reads in RDMA-TSO."""

_FOUND = {(missing.construct, missing.model): missing for missing in OF_THE_CALCULUS}


def missing(construct: str, model: str) -> Missing:
    """The entry of ``construct`` for ``model``."""
    return _FOUND[construct, model]
