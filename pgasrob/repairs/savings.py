"""Finds what a program may leave out: waits, fences and barriers, and calls that can be replaced by weaker ones."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pgasrob.repairs.candidates import Costs
from pgasrob.repairs.edits import Edit
from pgasrob.repairs.remedies import CallText
from pgasrob.repairs.source_statements import Statement, Statements

Weight = tuple[str, ...]
"""The effects of a call, by the names of :class:`Costs`."""


@dataclass(frozen=True, slots=True)
class Saving:
    """The ``call`` in ``line``, left out or with ``instead`` in its place; ``saves`` is the cost of what goes.

    ``acts_in_sc``: the call synchronises ranks, so SC runs may change without it.
    """

    edits: tuple[Edit, ...]
    saves: int
    line: int
    call: str
    instead: str = ""
    acts_in_sc: bool = False


ORDER: Weight = ("order",)
LOCAL: Weight = ("local_completion",)
COMPLETION: Weight = ("completion",)
MEETING: Weight = ("barrier",)
BOTH: Weight = ("completion", "barrier")

CALLS: dict[str, Weight] = {
    # .pgas
    "wait": COMPLETION, "wait_local": LOCAL, "fence": ORDER, "barrier": MEETING,
    # OpenSHMEM
    "shmem_quiet": COMPLETION, "shmem_ctx_quiet": COMPLETION, "shmem_fence": ORDER, "shmem_ctx_fence": ORDER,
    "shmem_barrier_all": BOTH, "shmem_sync_all": MEETING, "shmem_barrier": BOTH, "shmem_sync": MEETING,
    "shmem_team_sync": MEETING,
    # MPI; calls that a request or an epoch must have are left alone, MPI_Win_fence above all
    "MPI_Win_flush": COMPLETION, "MPI_Win_flush_all": COMPLETION, "MPI_Win_flush_local": LOCAL,
    "MPI_Win_flush_local_all": LOCAL, "MPI_Barrier": MEETING,
    # GASPI, GPI
    "gaspi_wait": COMPLETION, "gaspi_barrier": MEETING, "waitDmaGPI": COMPLETION, "barrierGPI": MEETING,
    # ARMCI
    "ARMCI_Fence": COMPLETION, "ARMCI_AllFence": COMPLETION, "ARMCI_WaitAll": LOCAL, "ARMCI_WaitProc": LOCAL,
    "ARMCI_Barrier": BOTH, "armci_msg_barrier": MEETING,
    # GASNet; the wait for a handle frees it
    "gasnet_wait_syncnbi_puts": COMPLETION, "gasnet_wait_syncnbi_gets": COMPLETION,
    "gasnet_wait_syncnbi_all": COMPLETION, "gex_NBI_Wait": COMPLETION,
}  # fmt: skip
"""The calls that may be left out, with their effects."""

WEAKER: dict[str, tuple[str, Weight]] = {
    "wait": ("wait_local", LOCAL),
    "shmem_quiet": ("shmem_fence", ORDER),
    "shmem_ctx_quiet": ("shmem_ctx_fence", ORDER),
    "shmem_barrier_all": ("shmem_sync_all", MEETING),
    "shmem_barrier": ("shmem_sync", MEETING),
    "MPI_Win_flush": ("MPI_Win_flush_local", LOCAL),
    "MPI_Win_flush_all": ("MPI_Win_flush_local_all", LOCAL),
    "ARMCI_Barrier": ("armci_msg_barrier", MEETING),
}
"""For each call a weaker one with the same arguments, and its effects."""
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
NONBLOCKING = (
    (re.compile(r"(shmem(?:_ctx)?_(?!\w*_nbi$)\w*?(?:put|get)(?:8|16|32|64|128|mem)?)"), r"\1_nbi"),
    (re.compile(r"gasnet_(put|get)(_bulk)?"), r"gasnet_\1_nbi\2"),
)
"""Blocking calls, and the nonblocking ones, for which another call has to wait."""


def savings(statements: Statements, costs: Costs) -> Iterator[Saving]:
    """The calls that may be left out or weakened in the text of ``statements``, one at a time."""
    # Collective calls with a pSync must not overlap, nor begin before it is initialised everywhere.
    meets_for_sync = "SHMEM_SYNC_VALUE" in statements.text
    for statement in statements.all():
        if statement.head or statement.leaves or not statements.is_compiled(statement):
            continue
        text = statements.text[statement.start : statement.end]
        if re.fullmatch(r"barrier\b[^(]*", text.rstrip("; \t\n")):
            yield _left_out(statements, statement, "barrier", "barrier", costs)
            continue
        found = _call(statements, text)
        if found is None:
            continue
        start, call, alone = found
        if alone and call.name in CALLS and not (meets_for_sync and "barrier" in CALLS[call.name]):
            yield _left_out(statements, statement, str(call), call.name, costs)
        if call.name in WEAKER:
            name, brings = WEAKER[call.name]
            less = _cost(CALLS[call.name], statement, costs) - _cost(brings, statement, costs)
            yield _instead(statements, statement, start, call, name, less)
        for blocking, other in NONBLOCKING:
            if blocking.fullmatch(call.name):
                less = _cost(LOCAL, statement, costs)
                yield _instead(statements, statement, start, call, blocking.sub(other, call.name), less)


def _call(statements: Statements, text: str) -> tuple[int, CallText, bool] | None:
    """The call that the statement ``text`` begins with, or that it passes to a macro; where the call begins; and
    whether the statement does nothing else: no comma follows, and no function of the program gets the result."""
    whole = CallText.read(text)
    if whole is None:
        return None
    alone = not COMMENT.sub("", text[whole.end :]).strip("; \t\r\n")
    if len(whole.arguments) == 1 and whole.name not in CALLS:
        inner = CallText.read(whole.arguments[0])
        if inner is not None:
            macro = whole.name not in statements.functions
            return text.index(inner.name, len(whole.name)), inner, alone and macro
    return len(text) - len(text.lstrip()), whole, alone


def _cost(brings: Weight, statement: Statement, costs: Costs) -> int:
    return sum(int(getattr(costs, name)) for name in brings) * int(costs.loop**statement.loops)


def _left_out(statements: Statements, statement: Statement, call: str, name: str, costs: Costs) -> Saving:
    saves = _cost(CALLS[name], statement, costs)
    line = statements.line(statement.start)
    return Saving((statements.without(statement),), saves, line, call, acts_in_sc="barrier" in CALLS[name])


def _instead(statements: Statements, statement: Statement, start: int, call: CallText, name: str, saves: int) -> Saving:
    begin = statement.start + start
    edit = Edit(begin, begin + len(call.name), 0, name)
    return Saving((edit,), saves, statements.line(begin), str(call), str(CallText(name, call.arguments)))
