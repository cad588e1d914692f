"""Searches for the cheapest repairs: each violation gives a clause, and the cheapest hitting set of all is tried."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from pgasrob.display import Result
from pgasrob.program.program import Program
from pgasrob.repairs import remedies
from pgasrob.repairs.candidates import Candidate, Clauses, Costs
from pgasrob.repairs.cheapest import Cheapest
from pgasrob.repairs.edits import Edit, overlap
from pgasrob.repairs.output_order import Loosens
from pgasrob.repairs.sc_outcomes import Same
from pgasrob.repairs.texts import diff
from pgasrob.repairs.verifier import Parse, Tried, Verifier
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.verdict import RaceConsequences, Verdict, Witness
from pgasrob.stop_points import stop_point

if TYPE_CHECKING:
    from pgasrob.repairs.verifier import AnyProgram

MOST_CHECKS = 400
"""Changed programs that are tried at most."""
MANY = 1_000
"""The weight of a unit of cost in the solver, where burdens only decide between sets of one cost."""
GROW_EVERY = 4
"""Of so many sets that leave a violation, one is grown."""
Goal = Literal["robust", "races"]
State = Literal["robust", "repaired", "not repaired", "unknown", "error"]


@dataclass(frozen=True, slots=True)
class Broken:
    """A violation of the source with ``edits``."""

    witness: Witness
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """A set of candidates that makes the program robust, the text that it gives, and what it does.

    ``breaks``: for each candidate the violations that it makes impossible. ``same``: what is known of the SC outcomes.
    """

    candidates: tuple[Candidate, ...]
    cost: int
    text: str
    breaks: tuple[tuple[Broken, ...], ...]
    same: Same


@dataclass(frozen=True, slots=True)
class Rejected:
    """Candidates that are no repair, and why, as a clause of a sentence. ``undecided``: a limit left it open, or an
    internal error, by which they have ``crashed``; ``left``: a violation that the program has with them."""

    candidates: tuple[Candidate, ...]
    why: str
    undecided: bool = False
    left: Broken | None = None
    crashed: bool = False


@dataclass(frozen=True, slots=True, repr=False)
class Repair(Result):
    """The result of a search: `robust` (nothing to repair), `repaired`, `not repaired` (no candidates help:
    ``survivor`` is a violation that the last ones tried have left), `unknown` (a limit) or `error`.

    Of a robust program ``races``, by node count, were to be repaired, if that was asked; it stays `robust` where no
    candidates help. ``left``: those that the first answer leaves to a program that was not robust.

    ``answers`` all have the smallest cost; there are at most as many as were asked for. ``verdicts``: of the source, by
    node count. ``rejected``: the sets that were tried and are no repairs. ``checks``: the number of changed programs
    that were checked. ``reason``: why the search ended early. ``text``: the source.
    """

    state: State
    nodes: tuple[int, ...]
    verdicts: tuple[Verdict, ...]
    answers: tuple[Answer, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    survivor: Broken | None = None
    races: tuple[RaceConsequences, ...] = ()
    left: tuple[RaceConsequences, ...] = ()
    checks: int = 0
    seconds: float = 0.0
    reason: str = ""
    text: str = ""

    @property
    def against_races(self) -> bool:
        """Whether the source is robust, and races that matter were to be repaired."""
        return any(each.matters for each in self.races)

    def diff(self, answer: Answer) -> str:
        """What ``answer`` changes, as `diff -u` prints it."""
        return diff(self.verdicts[0].file, self.text, answer.text)


def repair(
    program: AnyProgram,
    parse: Parse,
    nodes: Sequence[int],
    costs: Costs | None = None,
    max_answers: int = 3,
    limits: Limits | None = None,
    goal: Goal | None = None,
) -> Repair:
    """The cheapest repairs of ``program``, which ``parse`` has read, verified on each of ``nodes``.

    ``costs``: of the kinds of candidates. ``limits`` are for each check. ``goal``: "robust", or "races", where a robust
    program is repaired so that no race changes the result; None: that of a C program. Nothing is written.
    """
    started = time.monotonic()
    verifier = Verifier(program, parse, nodes, limits or Limits(), MOST_CHECKS)
    races = goal == "races" if goal else not isinstance(program, Program)
    found = _Search(verifier, costs or Costs(), races).run(max_answers)
    return replace(found, checks=verifier.checks, seconds=time.monotonic() - started, text=verifier.statements.text)


class _Search:
    def __init__(self, verifier: Verifier, costs: Costs, races: bool) -> None:
        self._verifier, self._asks_for_races = verifier, races
        self._clauses = Clauses(verifier.statements, costs)
        self._sets: Cheapest[Candidate] = Cheapest()
        self._seen: list[tuple[frozenset[Candidate], Broken]] = []
        self._rejected: list[Rejected] = []
        self._barriers: list[Candidate] = []
        """The barriers that are known; a repair has at most one."""
        self._left: Broken | None = None

    def run(self, max_answers: int) -> Repair:
        return replace(self._run(max_answers), rejected=tuple(self._rejected))

    def _run(self, max_answers: int) -> Repair:
        verifier, verdicts = self._verifier, self._verifier.verdicts
        nothing = Repair("unknown", verifier.nodes, verdicts)
        if error := next((each for each in verdicts if each.verdict == "error"), None):
            return replace(nothing, state="error", reason=str(error.reason or ""))
        first = next((each for each in verdicts if each.verdict == "not robust"), None)
        if first is None and any(each.verdict != "robust" for each in verdicts):
            return replace(nothing, reason=verifier.unknown)
        if first is not None:
            if not self._learn(first, frozenset()):
                return replace(nothing, state="not repaired", survivor=self._left)
            found = self._searched(nothing, first, max_answers)
            if not (self._asks_for_races and found.answers):
                return found
            return replace(found, left=verifier.races_with(_edits(found.answers[0].candidates)))
        nothing = replace(nothing, races=verifier.races if self._asks_for_races else ())
        if not self._learn_races(nothing.races):
            return replace(nothing, state="robust")
        found = self._searched(nothing, None, max_answers)
        return found if found.answers else replace(found, state="robust")

    def _searched(self, nothing: Repair, first: Verdict | None, max_answers: int) -> Repair:
        """The cheapest sets that hit all clauses, those too that are learnt on the way. ``first``: the violation that
        is to be repaired; None where races are."""
        verifier = self._verifier
        answers: list[Answer] = []
        failed = 0
        while len(answers) < max_answers:
            stop_point()
            try:
                chosen = self._next()
            except TimeoutError:
                return self._limited(nothing, answers)
            if chosen is None:
                break
            cost = sum(each.cost for each in chosen)
            if answers and cost > answers[0].cost:
                break
            if verifier.limit:
                return self._limited(nothing, answers)
            tried, using = self._tried(chosen)
            if tried.violation is not None:
                assert tried.violation.witness is not None
                left = Broken(tried.violation.witness, _edits(using))
                self._rejected.append(Rejected(tuple(sorted(chosen)), "a violation is left", left=left))
                self._learn(tried.violation, using)
                failed += 1
                if using == chosen and failed % GROW_EVERY == 0 and not verifier.limit:
                    grown = self._grown(chosen)
                    more = self._with(grown)
                    if more.violation is not None:
                        self._learn(more.violation, grown)
            elif tried.why:
                blamed = _blamed(tried, chosen)
                self._rejected.append(
                    Rejected(tuple(sorted(blamed)), tried.why, tried.undecided, crashed=tried.crashed)
                )
                self._sets.forbid(blamed)
            else:
                assert tried.same is not None
                ordered = tuple(sorted(chosen))
                breaks = tuple(self._broken_by(each, ordered) for each in ordered)
                if all(each.text.split() != tried.text.split() for each in answers):  # else only line ends differ
                    answers.append(Answer(ordered, cost, tried.text, breaks, tried.same))
                self._sets.forbid(ordered)
        if not answers and any(each.undecided for each in self._rejected):
            return replace(nothing, reason="no change is known to repair it")
        if not answers:
            if first is None:
                return nothing
            assert first.witness is not None
            return replace(nothing, state="not repaired", survivor=self._left or Broken(first.witness))
        return replace(nothing, state="repaired", answers=tuple(answers))

    def _limited(self, nothing: Repair, answers: list[Answer]) -> Repair:
        state: State = "repaired" if answers else "unknown"
        return replace(nothing, state=state, answers=tuple(answers), reason=self._verifier.limit)

    def _next(self) -> frozenset[Candidate] | None:
        """The cheapest set of candidates that hits every clause; None when there is none that is left."""
        found = self._sets.next(self._verifier.seconds_left)
        return None if found is None else frozenset(found)

    def _learn_races(self, races: Sequence[RaceConsequences]) -> bool:
        """Look for a barrier that leaves no race that matters, if there are ``races`` that do; whether there may be
        one.

        All that waits for operations alone leaves SC runs, and so these races, as they are.
        """
        runs = (run for each in races for race in each.matters for run in race.runs)
        clause = frozenset(each for run in runs for each in self._clauses.barriers(run))
        if clause:
            self._verifier.against_races = True
            self._add(clause)
            self._sets.demand(sorted(clause), ())
        return bool(clause)

    def _add(self, clause: Iterable[Candidate]) -> None:
        for new in sorted(clause):
            self._sets.add(new, new.cost * MANY + new.burden)
            if new.kind == "barrier" and new not in self._barriers:
                for other in self._barriers:
                    self._sets.forbid((new, other))
                self._barriers.append(new)

    def _learn(self, verdict: Verdict, chosen: frozenset[Candidate]) -> bool:
        """Add the clause of a violation; returns whether it has any candidate.

        A chosen candidate that adds runs may have added the violation, and so may a barrier by the order that it gives
        to what its ranks do. Then the clause holds only for repairs that have this candidate, too.
        """
        assert verdict.witness is not None
        edits, run = _edits(chosen), verdict.witness.run
        clause = self._clauses.clause(run, edits) - chosen
        ordered = any(each.kind == "barrier" for each in chosen) and self._clauses.needs_barriers(run, edits)
        only_with = [each for each in chosen if each.adds_runs or (ordered and each.kind == "barrier")]
        if not clause:
            # No candidate excludes it, so all programs have it but those without one of these.
            self._sets.forbid(only_with)
            self._left = Broken(verdict.witness, edits)
            return False
        self._seen.append((clause, Broken(verdict.witness, edits)))
        self._add(clause)
        self._sets.demand(sorted(clause), only_with)
        return True

    def _broken_by(self, candidate: Candidate, chosen: Iterable[Candidate]) -> tuple[Broken, ...]:
        """The violations that ``candidate`` makes impossible; if possible only those of the source with edits of
        ``chosen``."""
        found = [broken for clause, broken in self._seen if candidate in clause]
        edits = set(_edits(chosen))
        return tuple(broken for broken in found if edits.issuperset(broken.edits)) or tuple(found)

    def _with(self, chosen: Collection[Candidate]) -> Tried:
        marks = (
            None
            if not any(each.is_collective for each in chosen)
            else [
                edit
                for each in chosen
                if each.is_collective and each.beside is not None
                for edit in self._verifier.statements.marked_on_the_way(each.beside, remedies.mark(each.text))
            ]
        )
        loosens: Loosens = "all runs" if any(each.takes for each in chosen) else "nothing"
        return self._verifier.tried(_edits(chosen), any(each.acts_in_sc for each in chosen), marks, loosens)

    def _tried(self, chosen: frozenset[Candidate]) -> tuple[Tried, frozenset[Candidate]]:
        """Check the source with ``chosen``, or with more candidates if these fail too; the result is about the latter.

        A set with a barrier, for which places are many, is tried with all harmless candidates first, and by itself only
        if these leave no violation.
        """
        if any(each.kind == "barrier" for each in chosen) and (grown := self._grown(chosen)) != chosen:
            tried = self._with(grown)
            if tried.violation is not None or tried.in_sc:
                return tried, grown
        return self._with(chosen), chosen

    def _grown(self, chosen: frozenset[Candidate]) -> frozenset[Candidate]:
        """``chosen`` with all other candidates that only take runs away, and none of SC.

        If these leave a violation too, its clause is a strong one: implicit hitting set solvers grow failing sets so.
        In a program that polls, nothing is added within loops, where it might make a loop a poll, or no poll.
        """
        edits, grown = _edits(chosen), set(chosen)
        polls = any(each.polls is not False for each in self._verifier.verdicts)
        for each in self._sets.things:
            harmless = not each.acts_in_sc and not each.adds_runs and not (polls and each.repeats)
            if harmless and not overlap((*edits, *each.edits)):
                grown.add(each)
                edits = _edits(grown)
        return frozenset(grown)


def _blamed(tried: Tried, chosen: frozenset[Candidate]) -> frozenset[Candidate]:
    """The candidates of ``chosen`` that are no repair together, whatever others there are.

    Only those that act in SC runs can have changed these. A call that is not allowed where it is put is not with others
    either, unless they begin an epoch.
    """
    acting = frozenset(each for each in chosen if each.acts_in_sc)
    if tried.in_sc and acting:
        return acting
    if tried.forbidden is not None:
        return acting | {each for each in chosen if tried.forbidden in each.edits}
    return chosen


def _edits(candidates: Iterable[Candidate]) -> tuple[Edit, ...]:
    return tuple(edit for each in candidates for edit in each.edits)
