"""The cheapest repairs: each violation gives a clause, and the cheapest hitting set of all clauses is tried."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, Protocol

from pgasrob.diagnostics import SourceError
from pgasrob.repair.candidates import Candidate, Clauses, Costs
from pgasrob.repair.edits import Edit, Overlap, applied, unified_diff
from pgasrob.repair.outcomes import Compared, Same, compared
from pgasrob.repair.statements import Statements
from pgasrob.robustness.check import check
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.verdict import Verdict, Witness

if TYPE_CHECKING:
    from pgasrob.frontends.lower import CProgram
    from pgasrob.program.program import Program

    AnyProgram = Program | CProgram

MOST_CHECKS = 400
"""Changed programs that are tried at most."""
State = Literal["robust", "repaired", "not repaired", "unknown", "error"]


class Parse(Protocol):
    """Reads a changed text as the source was read."""

    def __call__(self, text: str) -> AnyProgram: ...


@dataclass(frozen=True, slots=True)
class Broken:
    """A violation of the source with ``edits``, that a candidate makes impossible."""

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
    """Candidates that do not do, and why: a sentence."""

    candidates: tuple[Candidate, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Repair:
    """What has been found out: `robust` (nothing to repair), `repaired`, `not repaired` (nothing in the catalogue
    helps: ``survivor`` is a violation of the source that is left), `unknown` (a limit) or `error`.

    ``answers`` are all of the smallest cost, up to the number asked for. ``verdicts``: of the source, by node count.
    ``rejected``: what was tried and does not do. ``checks``: how many changed programs were looked at. ``reason``: why
    it ended early. ``text``: of the source.
    """

    state: State
    nodes: tuple[int, ...]
    verdicts: tuple[Verdict, ...]
    answers: tuple[Answer, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    survivor: Witness | None = None
    checks: int = 0
    seconds: float = 0.0
    reason: str = ""

    text: str = ""

    def diff(self, answer: Answer) -> str:
        """What ``answer`` changes, as `diff -u` prints it."""
        return unified_diff(self.verdicts[0].file, self.text, answer.text)


def repair(
    program: AnyProgram,
    parse: Parse,
    nodes: Sequence[int],
    costs: Costs | None = None,
    max_answers: int = 3,
    limits: Limits | None = None,
    max_checks: int = MOST_CHECKS,
) -> Repair:
    """The cheapest repairs of ``program``, which ``parse`` has read, verified on each of ``nodes``.

    ``costs``: of the kinds of candidates. ``limits`` are for each check. Nothing is written.
    """
    return _Search(program, parse, tuple(nodes), costs or Costs(), limits or Limits(), max_checks).run(max_answers)


@dataclass(slots=True)
class _Tried:
    """What a changed text gives: verdicts as far as they were asked for; ``why`` it does not do, "" when it does."""

    text: str
    verdicts: list[Verdict] = field(default_factory=list)
    why: str = ""
    violation: Verdict | None = None
    same: Same | None = None


class _Search:
    def __init__(
        self, program: AnyProgram, parse: Parse, nodes: tuple[int, ...], costs: Costs, limits: Limits, max_checks: int
    ) -> None:
        from pysat.examples.hitman import Hitman  # type: ignore[import-untyped]

        self._program, self._parse, self._nodes, self._limits = program, parse, nodes, limits
        self._ends = None if limits.timeout is None else time.monotonic() + limits.timeout
        self._statements = Statements.of(program)
        self._clauses = Clauses(self._statements, costs)
        self._max_checks = max_checks
        self._hitting = Hitman(solver="g4", htype="sorted")
        self._known: set[Candidate] = set()
        self._seen: list[tuple[frozenset[Candidate], Broken]] = []
        self._rejected: list[Rejected] = []
        self._alone: dict[Candidate, str] = {}
        self._checks = 0

    def run(self, max_answers: int) -> Repair:
        started = time.monotonic()
        found = self._run(max_answers)
        return replace(
            found, rejected=tuple(self._rejected), checks=self._checks, seconds=time.monotonic() - started,
            text=self._statements.text,
        )  # fmt: skip

    def _run(self, max_answers: int) -> Repair:
        verdicts = tuple(self._check(self._program, each) for each in self._nodes)
        nothing = Repair("unknown", self._nodes, verdicts)
        if any(each.verdict == "error" for each in verdicts):
            return replace(nothing, state="error")
        first = next((each for each in verdicts if each.verdict == "not robust"), None)
        if first is None:
            robust = all(each.verdict == "robust" for each in verdicts)
            return replace(nothing, state="robust" if robust else "unknown", reason=_why_unknown(verdicts))
        self._before = verdicts
        if not self._learn(first, frozenset()):
            return replace(nothing, state="not repaired", survivor=first.witness)
        answers: list[Answer] = []
        while len(answers) < max_answers:
            chosen = self._next()
            if chosen is None:
                break
            cost = sum(each.cost for each in chosen)
            if answers and cost > answers[0].cost:
                break
            if limit := self._limit():
                state: State = "repaired" if answers else "unknown"
                return replace(nothing, state=state, answers=tuple(answers), reason=limit)
            tried = self._try(chosen)
            if tried.violation is not None:
                if not self._learn(tried.violation, chosen):
                    self._reject(chosen, "a violation is left that no candidate breaks")
            elif tried.why:
                self._reject(chosen, tried.why)
            else:
                assert tried.same is not None
                ordered = tuple(sorted(chosen, key=lambda each: each.edits))
                breaks = tuple(
                    tuple(broken for clause, broken in self._seen if each in clause)
                    for each in ordered
                )  # fmt: skip
                answers.append(Answer(ordered, cost, tried.text, breaks, tried.same))
                self._hitting.block(chosen)
        if not answers:
            return replace(nothing, state="not repaired", survivor=first.witness)
        return replace(nothing, state="repaired", answers=tuple(answers))

    def _check(self, program: AnyProgram, nodes: int) -> Verdict:
        left = None if self._ends is None else max(self._ends - time.monotonic(), 0.001)
        return check(program, nodes, limits=replace(self._limits, timeout=left), effect=False)

    def _limit(self) -> str:
        """The limit that has been hit, as a sentence; "" for none."""
        if self._checks >= self._max_checks:
            return f"{self._checks} changed programs were tried"
        if self._ends is not None and time.monotonic() >= self._ends:
            return f"the time limit of {self._limits.timeout:g} s was reached after {self._checks} changed programs"
        return ""

    def _next(self) -> frozenset[Candidate] | None:
        """The cheapest set of candidates that hits every clause; None when there is none that is left."""
        found = self._hitting.get()
        return None if found is None else frozenset(found)

    def _learn(self, verdict: Verdict, chosen: frozenset[Candidate]) -> bool:
        """The clause of a violation; whether there is any candidate in it."""
        assert verdict.witness is not None
        edits = tuple(edit for each in chosen for edit in each.edits)
        clause = self._clauses.clause(verdict.witness.run, edits) - chosen
        if not clause:
            return False
        self._seen.append((clause, Broken(verdict.witness, edits)))
        self._known |= clause
        self._hitting.hit(clause, weights={each: each.cost for each in clause})
        return True

    def _reject(self, chosen: frozenset[Candidate], why: str) -> None:
        """No repair has all of ``chosen``."""
        self._rejected.append(Rejected(tuple(sorted(chosen, key=lambda each: each.edits)), why))
        self._hitting.block(chosen)

    def _try(self, chosen: frozenset[Candidate]) -> _Tried:
        self._checks += 1
        try:
            text = applied(self._statements.text, [edit for each in chosen for edit in each.edits])
        except Overlap:
            return _Tried("", why="two of the changes are of the same call")
        tried = _Tried(text)
        try:
            program = self._parse(text)
            for nodes, before in zip(self._nodes, self._before, strict=True):
                verdict = self._check(program, nodes)
                tried.verdicts.append(verdict)
                if verdict.verdict == "not robust":
                    tried.violation = verdict
                    return tried
                if why := _worse(before, verdict):
                    tried.why = why
                    return tried
        except SourceError as error:
            tried.why = f"it is no program any more: {error.diagnostics[0].message}"
            return tried
        tried.same = compared(self._program, program, self._nodes, chosen)
        if tried.same.compared is Compared.DIFFERENT:
            tried.why = tried.same.why
        return tried


def _worse(before: Verdict, after: Verdict) -> str:
    """Why ``after``, which has no violation, is not better than ``before``; "" when it is."""
    where = f"on {after.nodes} nodes"
    if after.verdict == "error":
        return f"{where} there is an error: {after.reason}"
    if after.verdict == "unknown":
        return f"{where} it is not known whether it is robust: {after.reason}"
    if after.deadlock is True and before.deadlock is not True:
        return f"{where} there is a deadlock that was not there before"
    if after.assertions == "violated" and before.assertions != "violated":
        return f"{where} an assertion fails in an SC run that held before"
    return ""


def _why_unknown(verdicts: Iterable[Verdict]) -> str:
    return next((str(each.reason) for each in verdicts if each.verdict == "unknown"), "")
