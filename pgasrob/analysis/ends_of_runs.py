"""Whether every SC run ends with all ranks at their ends, found from the text: then there is no deadlock to look for.

No rank has to wait but at barriers, of which all ranks pass as many, and each loop ends: it is counted
(`program.rounds`), or each round takes a number from a cell that only grows, and goes on only while the number is below
a bound (`proofs/sc-runs.md`, section 5).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from pgasrob.analysis.counters import Counting, KnownCell, counting, known_cell
from pgasrob.analysis.ranges import ranges
from pgasrob.analysis.remembered import remembered
from pgasrob.program import core
from pgasrob.program.control import ControlAutomaton
from pgasrob.program.expressions import NEGATED, Register, Unary, constant
from pgasrob.program.instance import Instance
from pgasrob.program.rounds import Edge, edges_of, is_below, loops, uncounted_loops

MOST_STEP, MOST_BOUND, MOST_TRANSITIONS = 1 << 10, 1 << 29, 1 << 19
"""What a cell grows by at once, up to which bound it is compared, and the commands of all ranks that may change it once
more then: together less than where numbers wrap around."""


@remembered
def every_run_ends(instance: Instance) -> bool:
    """Whether each maximal SC run of ``instance`` that meets no fault is finite, and all ranks are at their ends
    behind it. False where it is not known."""
    if instance.has_threads or instance.commands > MOST_TRANSITIONS:
        return False
    if not all(_never_waits(automaton) for automaton in instance.automata):
        return False
    passed = {_barriers(automaton) for automaton in instance.automata}
    return len(passed) == 1 and None not in passed and _Loops(instance).all_end()


def _never_waits(automaton: ControlAutomaton) -> bool:
    """Whether in each state that is no end some command is enabled, but for a barrier."""
    forms = [[edge.form for edge in leaving] for leaving in automaton.out]
    if any(isinstance(form, core.Test) and form.ends for own in forms for form in own):
        return False
    return all(
        not own
        or any(map(_is_always_enabled, own))
        or any(_is_other_case(*pair) for pair in combinations(own, 2))
        or (len(own) == 1 and isinstance(own[0], core.Barrier))
        for own in forms
    )


def _is_always_enabled(form: core.Form) -> bool:
    match form:
        case core.Immediate(_, condition):
            return condition is None  # what a poll waits for it could also look for again and again: that is a loop
        case core.Test(condition, blocks):
            return not blocks or bool(constant(condition))
        case core.Barrier():
            return False
        case _:
            return True


def _is_other_case(one: core.Form, other: core.Form) -> bool:
    """Whether one of the commands is enabled whenever the other one is not."""
    match one, other:
        case core.Test(condition), core.Test(Unary("!", negated)):
            return condition == negated
        case core.Test(Unary("!", negated)), core.Test(condition):
            return condition == negated
        case core.Immediate(access, core.Comparison(relation, value)), core.Immediate(its, core.Comparison() as case):
            return access.cell == its.cell and case == core.Comparison(NEGATED[relation], value)
    return False


def _barriers(automaton: ControlAutomaton) -> tuple[str, ...] | None:
    """The barriers that a rank passes on each way to its end; None if these are different ones."""
    passed: dict[int, tuple[str, ...]] = {0: ()}
    for state in (waiting := [0]):
        for edge in automaton.out[state]:
            before = passed[state]
            behind = (*before, edge.form.name) if isinstance(edge.form, core.Barrier) else before
            if edge.target not in passed:
                passed[edge.target] = behind
                waiting.append(edge.target)
            elif passed[edge.target] != behind:
                return None
    ends = {passed[state] for state in passed if not automaton.out[state]}
    return ends.pop() if len(ends) == 1 else None


class _Loops:
    """The loops of ``instance`` that are not counted."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._grow: dict[KnownCell, bool] = {}

    def all_end(self) -> bool:
        return all(self._ends(loop) for own in self._instance.automata for loop in uncounted_loops(edges_of(own)))

    def _ends(self, loop: Sequence[Edge]) -> bool:
        """Whether a rank goes round only so often: each round tries to count, and the number that it takes is below a
        bound. All that it counts is one cell."""
        counted = [(edge.form, counts) for _, edge in loop if (counts := counting(edge.form)) is not None]
        cells = {_cell(form) for form, _ in counted}
        if len(cells) != 1 or (cell := cells.pop()) is None or not self._only_grows(cell):
            return False
        ways = (_Numbers.of(loop, cell, counts) for _, counts in counted)
        return any(way is not None and way.takes() for way in ways)

    def _only_grows(self, cell: KnownCell) -> bool:
        """Whether all that changes ``cell`` adds something to it, in no loops but those that are asked about."""
        if cell not in self._grow:
            self._grow[cell] = all(self._counts_alone(cell))
        return self._grow[cell]

    def _counts_alone(self, cell: KnownCell) -> Iterator[bool]:
        instance, known = self._instance, ranges(self._instance)
        bit = 1 << cell.rank * instance.size + cell.address
        for rank, automaton in enumerate(instance.automata):
            round_, endless = automaton.goes_round, instance.endless[rank]
            for state, leaving in enumerate(automaton.out):
                for edge in leaving:
                    if known.touched(rank, state, edge).changed & bit:
                        counts = counting(edge.form)
                        once = not (round_[state] and round_[edge.target])
                        yield (
                            counts is not None
                            and counts.step <= MOST_STEP
                            and _cell(edge.form) == cell
                            and (once or (endless[state] and endless[edge.target]))
                        )


class _Numbers(NamedTuple):
    """A ``loop`` that may take numbers: with ``counts`` it counts ``cell`` from the ``register`` on, or by an add that
    brings the number there."""

    loop: Sequence[Edge]
    cell: KnownCell
    counts: Counting
    register: int

    @staticmethod
    def of(loop: Sequence[Edge], cell: KnownCell, counts: Counting) -> _Numbers | None:
        """The one in which ``loop`` counts so; None where no register has the number."""
        number = counts.register if counts.expected is None else counts.expected
        register = number.index if isinstance(number, Register) else number
        return _Numbers(loop, cell, counts, register) if isinstance(register, int) else None

    def takes(self) -> bool:
        """Whether each round tries to count and gets a number from the cell, and passes a test that it is below a bound
        where it tries."""
        untested = loops([edge for edge in self.loop if not is_below(edge[1].form, self.register, MOST_BOUND)])
        return (
            all(map(self._gets, self._sets(self.register)))
            and all(not uncounted_loops(self._without(has)) for has in (self._gets, self._tries))
            and not any(self._tries(edge.form) for inside in untested for _, edge in inside)
        )

    def _without(self, has: Callable[[core.Form], bool]) -> list[Edge]:
        return [edge for edge in self.loop if not has(edge[1].form)]

    def _sets(self, register: int | None) -> list[core.Form]:
        return [edge.form for _, edge in self.loop if core.register_set(edge.form) == register]

    def _gets(self, form: core.Form) -> bool:
        """Whether the register gets what the cell holds, or what was found when it was last tried."""
        match form:
            case core.Assign(self.register, Register(_, index)):
                found = self.counts.register
                return index == found and all(self._brings(each, index) for each in self._sets(index))
            case _:
                return self._brings(form, self.register)

    def _brings(self, form: core.Form, register: int) -> bool:
        return isinstance(form, core.Immediate) and form.register == register and _cell(form) == self.cell

    def _tries(self, form: core.Form) -> bool:
        if counting(form) == self.counts:
            return True
        if self.counts.expected is None or not isinstance(form, core.Immediate) or _cell(form) != self.cell:
            return False
        fails = core.Comparison("!=", self.counts.expected)
        return form.condition == fails and form.register == self.counts.register


def _cell(form: core.Form) -> KnownCell | None:
    """The cell that a command accesses at once, if the text says so."""
    return known_cell(form.access.cell) if isinstance(form, core.Immediate) else None
