"""The branches of a rank that are still to be executed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pgasrob.frontends.apis.interface import Way
from pgasrob.frontends.c.asked import MOST_WAYS, answered
from pgasrob.frontends.c.nondeterminism import Leaf, leaves, only_leaves, replaced
from pgasrob.frontends.c.problem import TryAgain, TwoAnswers
from pgasrob.frontends.c.roots import without_roots
from pgasrob.frontends.c.snapshots import State
from pgasrob.frontends.c.undecided import Undecided, committed
from pgasrob.frontends.c.writer import Writer, disturbed
from pgasrob.program.expressions import Const, Expr
from pgasrob.program.statements import Statement


@dataclass(slots=True)
class Branch:
    """A node that is still empty, the state to execute from, and what comes first: a statement, or an outcome ``way``
    of the current call; ``again`` is the node that makes this call. ``loaded``: the unknown values that have just been
    loaded, with what they are of registers; ``replies``: the answers to conditions that a
    collective has just brought, in registers, with the conditions."""

    label: str
    state: State
    way: Way | None = None
    first: Statement | None = None
    again: str | None = None
    loaded: tuple[tuple[Leaf, Expr], ...] = ()
    replies: tuple[tuple[Expr, Expr], ...] = ()


class Branching:
    """The branches of one rank that have not been executed. ``pending``: the last one is executed next."""

    def __init__(self, writer: Writer, undecided: Undecided) -> None:
        self.position = writer.position
        self.writer = writer
        self.undecided = undecided
        self.pending: list[Branch] = []
        self.answers = 0

    def settled(self, condition: Expr) -> Expr | bool:
        """``condition`` as one to branch on, or whether it holds where that is known."""
        if not only_leaves(condition):
            condition = self.undecided.exactly(condition)
        if leaves(condition):
            condition = without_roots(condition)
            decided = self.undecided.decided(condition)
            if decided is not None:
                return decided
            self.undecided.decisive([condition])
            self.undecided.ask(condition)
        return condition

    def fork(self, condition: Expr, yes: Branch, no: Branch, *, given: bool = False) -> None:
        """Go on at ``yes`` when ``condition`` holds, else at ``no``; at either when it is an unknown value. ``given``:
        it is about a value that others get from this rank, with the answer."""
        unknown = bool(leaves(condition))
        free = unknown and not given and self.undecided.is_free(condition)
        for branch in (yes, no):
            disturbed(branch.state)
        if unknown:
            for truth, branch in ((True, yes), (False, no)):
                branch.first = self.undecided.commit(condition, truth, free, branch.state)
                self.undecided.assume(branch.state, condition, truth)
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

    def either(self, asked: TwoAnswers, before: State, way: Way | None, again: str | None) -> None:
        """Execute what ``before`` is the state of once for each answer to what a cell is asked of what is stored there:
        an instruction, or the end of a call like ``way``."""
        self._count_answer()
        self.position.go_to(before)
        self.undecided.ask(asked.condition)
        yes, no = (Branch(self.writer.fresh().label, before.copy(), way, again=again) for _ in range(2))
        self.fork(asked.condition, yes, no, given=True)
        for truth, branch in ((True, yes), (False, no)):
            self.undecided.assume_all(branch.state, {asked.condition: truth})

    def _count_answer(self) -> None:
        self.answers += 1
        if self.answers > MOST_WAYS:
            self.position.facts.ask_less()
            raise TryAgain

    def by_loaded(self, loaded: Sequence[tuple[Leaf, Expr]], replies: Sequence[tuple[Expr, Expr]]) -> None:
        """Branch by ``replies`` that a collective has brought, and by what cells are asked of the values that have been
        ``loaded`` from them."""
        for place, (answer, condition) in enumerate(replies, 1):
            if self.undecided.decided(condition) is not None:
                continue
            if isinstance(answer, Const):
                self.undecided.assume_all(self.position.state, {condition: bool(answer.value)})
                continue
            self._by_answer(answer, condition, loaded, replies[place:])
            return
        for value, number in loaded:
            if value.site not in self.position.facts.sites:
                continue
            asked = self.undecided.questions.of(value.cells)
            self.undecided.questions.pass_on(value.cells, asked)
            assert value.found is not None
            of_value = {each: replaced(each, value.found, value) for each in asked}
            asked = tuple(each for each in asked if only_leaves(of_value[each]))
            decided = {each: self.undecided.decided(of_value[each]) for each in asked}
            answers, open = answered(asked, decided.__getitem__)
            known = {of_value[each]: answer for each, answer in zip(asked, answers, strict=False)}
            self.undecided.assume_all(self.position.state, known)
            if open is None:
                continue
            self._by_answer(replaced(open, value.found, number), of_value[open], loaded, ())
            return

    def _by_answer(
        self, answer: Expr, condition: Expr, loaded: Sequence[tuple[Leaf, Expr]], replies: Sequence[tuple[Expr, Expr]]
    ) -> None:
        """Branch by the ``answer`` to a ``condition``, and then by the others."""
        self._count_answer()
        yes, no = (
            Branch(self.writer.fresh().label, self.position.state.copy(), loaded=tuple(loaded), replies=tuple(replies))
            for _ in range(2)
        )
        self.fork(answer, yes, no)
        for truth, branch in ((True, yes), (False, no)):
            if self.position.facts.free_ways:
                branch.first = committed(self.position.span)
            self.undecided.assume_all(branch.state, {condition: truth})
