"""The branches of a rank that are still to be executed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pgasrob.frontends.apis.interface import Way
from pgasrob.frontends.c.nondeterminism import leaves, only_leaves
from pgasrob.frontends.c.snapshots import State
from pgasrob.frontends.c.undecided import Undecided, committed
from pgasrob.frontends.c.writer import Writer, disturbed
from pgasrob.program.expressions import Expr
from pgasrob.program.statements import Statement


@dataclass(slots=True)
class Branch:
    """A node that is still empty, the state to execute from, and what comes first: a statement, or an outcome ``way``
    of the current call; ``again`` is the node that makes this call."""

    label: str
    state: State
    way: Way | None = None
    first: Statement | None = None
    again: str | None = None


class Branching:
    """The branches of one rank that have not been executed. ``pending``: the last one is executed next."""

    def __init__(self, writer: Writer, undecided: Undecided) -> None:
        self.position = writer.position
        self.writer = writer
        self.undecided = undecided
        self.pending: list[Branch] = []

    def settled(self, condition: Expr) -> Expr | bool:
        """``condition`` as one to branch on, or whether it holds where that is known."""
        if not only_leaves(condition):
            condition = self.undecided.exactly(condition)
        if leaves(condition):
            decided = self.undecided.decided(condition)
            if decided is not None:
                return decided
            self.undecided.decisive([condition])
        return condition

    def fork(self, condition: Expr, yes: Branch, no: Branch) -> None:
        """Go on at ``yes`` when ``condition`` holds, else at ``no``; at either when it is an unknown value."""
        unknown = bool(leaves(condition))
        for branch in (yes, no):
            disturbed(branch.state)
        if unknown:
            for truth, branch in ((True, yes), (False, no)):
                self.undecided.assume(branch.state, condition, truth)
                branch.first = committed(self.position.span)
        # The branch of a condition that holds is written first, so that programs read as their source does.
        self.pending += (no, yes)
        self.writer.close(yes.label, no.label, condition=None if unknown else condition)

    def any_of(self, branches: Sequence[Branch]) -> None:
        """Go on at any of ``branches``."""
        self.pending += branches[::-1]
        self.writer.close(*(branch.label for branch in branches))

    def branch(self, way: Way | None, again: str) -> Branch:
        """The branch from here on in which the current call, which the node ``again`` makes, ends like ``way``."""
        state = self.position.state.copy()
        disturbed(state)
        return Branch(self.writer.fresh().label, state, way, again=again)
