"""Proves which assertions hold in all SC runs on every number of nodes, and that none comes to a deadlock
(`proofs/every-n.md`, section 8)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from pgasrob.program import core
from pgasrob.program.control import ControlAutomaton, Transition
from pgasrob.program.expressions import INT32
from pgasrob.program.illegal_calls import Claim as Claimed
from pgasrob.program.illegal_calls import IllegalCall
from pgasrob.program.rounds import endless
from pgasrob.program.statements import Span
from pgasrob.robustness.every_n import sc_pairs as two
from pgasrob.robustness.every_n.flow import Flow
from pgasrob.robustness.every_n.known import Known
from pgasrob.robustness.every_n.named_commands import Rules
from pgasrob.robustness.every_n.proof import Claim, CommandText
from pgasrob.robustness.every_n.rank_cases import Case
from pgasrob.robustness.every_n.sc_pairs import ScPairs, TooManyPairs
from pgasrob.robustness.every_n.stuck import Dependency, Stuck, can_wait, comes_back
from pgasrob.robustness.every_n.unfold import Unfolded

IN_A_LOOP = "could not exclude that the loop around {} goes round for ever"
IN_A_CIRCLE = "could not exclude that ranks wait for each other in a circle"
EVER_MORE = "could not exclude a deadlock before {}, which waits for a number without a bound"
GROWS = "deadlocks are not excluded of programs whose memory grows with the number of nodes"
BLIND = "the program may wait for what is not followed"


class Facts:
    """Goes through the cases of a program: each rank is the first one in one of them. ``text`` has the text of its
    commands; ``unlooked``: why deadlocks are not looked for, if they are not; ``each_way``: as of
    :class:`~pgasrob.robustness.every_n.stuck.Stuck`."""

    def __init__(
        self,
        automata: Sequence[ControlAutomaton],
        initial: Sequence[int],
        rules: Rules,
        text: Callable[[Transition], CommandText],
        unlooked: str = "",
        each_way: bool = False,
    ) -> None:
        self._initial, self._rules, self._text = initial, rules, text
        self._blocks = {id(automaton): number for number, automaton in enumerate(automata)}
        transitions = [transition for automaton in automata for transition in automaton.transitions]
        asserts = [(claim, each) for each in transitions if (claim := _claim(each))]
        self._asserts = dict(sorted(asserts, key=lambda each: (each[1].span.line, each[1].span.column)))
        self._endless = {
            (number, state)
            for number, automaton in enumerate(automata)
            for state, without_end in enumerate(endless(automaton))
            if without_end
        }
        self._waits = bool(self._endless) or any(can_wait(each.form) for each in transitions)
        self._unlooked, self._each_way = unlooked, each_way
        self._false: dict[_Asserted, str] = {}
        self._deadlock: Claim | None = None
        self._dependencies: set[Dependency] = set()
        self._looks = 0

    @property
    def assertions(self) -> list[Claim]:
        """What is known of each assertion of the program, in the order of the source."""
        return [self._claim(claim) for claim in self._asserts if not isinstance(claim[1], IllegalCall)]

    @property
    def legal(self) -> list[Claim]:
        """Of each call that is not allowed where it stands, whether no run comes to it."""
        return [self._claim(claim) for claim in self._asserts if isinstance(claim[1], IllegalCall)]

    def _claim(self, claim: _Asserted) -> Claim:
        place = self._text(self._asserts[claim])
        return Claim(self._false[claim].format(place) if claim in self._false else "", place)

    @property
    def deadlock(self) -> Claim | None:
        """Whether it is known that there is no deadlock; None where nothing can wait."""
        if not self._waits:
            return None
        if self._unlooked:
            return Claim(self._unlooked)
        return self._deadlock or Claim(IN_A_CIRCLE if comes_back(self._dependencies) else "")

    def look_at(self, case: Case, flow: Flow) -> None:
        """Note which assertions may fail, and which waits may last for ever, for the first rank of ``case``."""
        false = self._may_be_false(flow) - self._false.keys()
        if flow.layout.growing:  # of which pairs of ranks know nothing
            for claim in false:
                self._false.setdefault(claim, _open(claim, case))
            return
        looks_for_deadlocks = not self._unlooked and self._waits and self._deadlock is None
        if looks_for_deadlocks and (waits := next(_waits_for_ever_more(flow), None)):
            place = self._text(waits)
            self._deadlock, looks_for_deadlocks = Claim(EVER_MORE.format(place), place), False
        if not false and not looks_for_deadlocks:
            return
        stuck: Stuck | None = None
        try:
            unfolded = Unfolded(flow, [each.automaton for each in flow.ranks])
            false &= self._may_be_false(unfolded)
            if not false and not looks_for_deadlocks:
                return
            pairs = ScPairs(case, unfolded, self._initial, self._rules, self._looks)
            labels = [
                [(self._blocks[id(ranks.automaton)], leaving[0][0] if leaving else -1) for leaving in origins]
                for ranks, origins in zip(flow.ranks, unfolded.origins, strict=True)
            ]
            for _ in range(two.MOST_ROUNDS):
                false = self._may_be_false(pairs) & false
                stuck = Stuck(pairs, labels, self._endless, self._each_way) if looks_for_deadlocks else None
                if not (false or (stuck and stuck.open)) or not pairs.refine():
                    break
            self._looks = pairs.looks
        except TooManyPairs:
            self._looks = two.MOST_LOOKS
            too_many = f"more than {two.MOST_LOOKS:,} commands were followed"
            why = f"for {{}} {too_many}"
            for claim in false:
                self._false.setdefault(claim, why)
            self._deadlock = self._deadlock or Claim(too_many)
        else:
            for claim in false:
                self._false.setdefault(claim, _open(claim, case))
            if stuck:
                self._dependencies |= stuck.dependencies
                if stuck.open:
                    place = self._text(stuck.open)
                    stands = f"could not exclude that {case.text} is stuck before {place}"
                    self._deadlock = Claim(IN_A_LOOP.format(place) if stuck.spins else stands, place)

    def _may_be_false(self, known: Known) -> set[_Asserted]:
        """The assertions that may be false where the first rank comes to them."""
        values, found = known.values[0], set()
        for file, leaving in zip(known.files[0], known.ranks[0].automaton.out, strict=True):
            for transition in leaving:
                match transition.form:
                    case core.Test(condition, blocks=False, claim=claimed) if file is not None:
                        if values.narrowed(condition, False, file) is not None:
                            found.add((transition.span, claimed))
        return found


_Asserted = tuple[Span, Claimed]
"""An assert: where it stands, and of one that a call is allowed, what is wrong where it is not."""


def _claim(transition: Transition) -> _Asserted | None:
    form = transition.form
    return (transition.span, form.claim) if isinstance(form, core.Test) and not form.blocks else None


def _open(claim: _Asserted, case: Case) -> str:
    wrong = "not allowed" if isinstance(claim[1], IllegalCall) else "false"
    return f"could not exclude that {{}} is {wrong} for {case.text}"


def _waits_for_ever_more(flow: Flow) -> Iterator[Transition]:
    """The waits until a cell is large for a number of which no bound is known. What follows tells numbers apart, so
    that it would find no end of them."""
    for ranks, values, files in zip(flow.ranks, flow.values, flow.files, strict=True):
        for file, leaving in zip(files, ranks.automaton.out, strict=True):
            for transition in leaving:
                condition = transition.form.condition if isinstance(transition.form, core.Immediate) else None
                if file is None or condition is None or condition.relation not in (">", ">="):
                    continue
                awaited = values.of(condition.value, file)
                if awaited is not None and values.domain.span(awaited)[1] >= INT32.range[1]:
                    yield transition
